"""aclnnCrossEntropySumExpAndIndexLogit: this shard's part of a vocabulary-parallel cross entropy, between the two exchanges."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, INT32
from acl_emu.engine import apply
from acl_emu.engine.calls import code_of, even_stride, stride_of
from acl_emu.engine.chain import Chain
from acl_emu.spec import (
    Array,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    between,
    direct,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.loss.class_rows import THREADED_ROWS

Logits = Annotated[Operand, In(FLOAT, BF16, rank=(2, 3))]
RowMaximum = Annotated[Operand, In(FLOAT, BF16)]
Target = Annotated[Operand, In(INT32)]
FloatResult = Annotated[Operand, Out(FLOAT, const=True)]
IntResult = Annotated[Operand, Out(INT32, const=True)]

MOST_ROWS = 32 << 10
SMALLEST_SHARD, LARGEST_SHARD = 16, 200 << 10


@operator(products=frozenset({Product.A950}))
def aclnnCrossEntropySumExpAndIndexLogit(
    vocabParallelLogits: Logits,
    target: Target,
    globalLogitsMax: RowMaximum,
    vocabStartIndex: Int,
    vocabEndIndex: Int,
    predictedLogitsOut: FloatResult,
    sumExpLogitsOut: FloatResult,
    expLogitsOut: FloatResult,
    targetOffsetOut: IntResult,
    targetMaskOut: IntResult,
) -> Plan:
    """Exponentials below the global maximum, their sums, and the target's logit where it is in ``[start, end)``."""
    same_dtype(vocabParallelLogits, globalLogitsMax)
    require(vocabStartIndex >= 0, f"vocabStartIndex is {vocabStartIndex}, expected a value of at least 0")
    require(vocabEndIndex > vocabStartIndex, f"vocabEndIndex is {vocabEndIndex}, expected more than vocabStartIndex: {vocabStartIndex}")
    *leading, words = vocabParallelLogits.shape
    shape_is(target, leading, "vocabParallelLogits without its last length")
    same_shape(target, globalLogitsMax)
    require(1 <= target.size <= MOST_ROWS, f"target has {target.size} elements, expected 1 to {MOST_ROWS}")
    step = 16 if vocabParallelLogits.dtype is BF16 else 8
    require(
        SMALLEST_SHARD <= words <= LARGEST_SHARD and words % step == 0,
        f"vocabParallelLogits has shape {list(vocabParallelLogits.shape)}, "
        f"expected a last length from {SMALLEST_SHARD} to {LARGEST_SHARD} that is a multiple of {step}",
    )
    require(
        vocabEndIndex - vocabStartIndex == words,
        f"vocabEndIndex - vocabStartIndex is {vocabEndIndex - vocabStartIndex}, expected the last length of vocabParallelLogits: {words}",
    )
    same_shape(target, predictedLogitsOut, sumExpLogitsOut, targetOffsetOut, targetMaskOut)
    same_shape(vocabParallelLogits, expLogitsOut)
    outputs = (predictedLogitsOut, sumExpLogitsOut, expLogitsOut, targetOffsetOut, targetMaskOut)
    inputs = (vocabParallelLogits, target, globalLogitsMax)
    plan = direct(sum_and_index, reads=inputs, writes=outputs, scratch={}, start=vocabStartIndex, end=vocabEndIndex)
    return in_steps(plan, *inputs, *outputs, vocabStartIndex, vocabEndIndex)


@aclnnCrossEntropySumExpAndIndexLogit.example
def examples() -> Iterator[Example]:
    """A third of the words is on this device."""
    for shape, dtype in (((5, 24), FLOAT), ((2, 3, 32), BF16)):
        leading, words = shape[:-1], shape[-1]
        logits = numbers(shape, dtype, 1)
        yield {
            "vocabParallelLogits": logits,
            "target": between(0, 3 * words, leading, INT32, 2),
            "globalLogitsMax": logits.max(axis=-1),
            "vocabStartIndex": words,
            "vocabEndIndex": 2 * words,
            "predictedLogitsOut": numbers(leading, FLOAT, 3),
            "sumExpLogitsOut": numbers(leading, FLOAT, 4),
            "expLogitsOut": numbers(shape, FLOAT, 5),
            "targetOffsetOut": np.full(leading, 7, np.int32),
            "targetMaskOut": np.full(leading, 7, np.int32),
        }


def in_steps(
    plan: Plan,
    logits: Operand,
    target: Operand,
    maximum: Operand,
    predicted: Operand,
    sum_exp: Operand,
    exp_logits: Operand,
    offset: Operand,
    mask: Operand,
    start: int,
    end: int,
) -> Plan:
    """The plan, in C: what belongs to the targets, then the exponentials."""
    chain = Chain(plan)
    x, per_row = logits.view.layout, (target, maximum, predicted, offset, mask)
    found = [even_stride(x.shape[:-1], x.strides[:-1]), x.strides[-1], *map(stride_of, per_row)]
    strides = [stride for stride in found if stride is not None]
    if len(strides) < len(found):
        return plan
    numbers = (target.size, start, end, code_of(logits.dtype), x.dtype.itemsize, *strides)
    chain.call("acl_emu_rows_shard", numbers, [chain.of(one) for one in (logits, *per_row)], threaded=target.size >= THREADED_ROWS)
    reads = chain.of(logits), chain.of(maximum).with_axis(maximum.rank)
    writes = chain.of(exp_logits), chain.of(sum_exp).with_axis(sum_exp.rank)
    chain.kernel(exponentials_and_sum, reads, writes)
    return chain.planned()


def sum_and_index(
    logits: Array,
    target: Array,
    maximum: Array,
    predicted: Array,
    sum_exp: Array,
    exp_logits: Array,
    offset: Array,
    mask: Array,
    *,
    start: int,
    end: int,
) -> None:
    """The formulas; differences and sums as if in float64, rounded once."""
    masked = (target < start) | (target >= end)
    local = np.where(masked, 0, target.astype(np.int64) - start)
    mask[...] = masked
    offset[...] = local
    at_target = np.take_along_axis(logits, local[..., np.newaxis], axis=-1)[..., 0].astype(np.float64)
    predicted[...] = np.where(masked, 0, at_target - maximum.astype(np.float64))
    rows = (logits, maximum[..., np.newaxis]), (exp_logits, sum_exp[..., np.newaxis])
    apply(exponentials_and_sum, *rows)


def exponentials_and_sum(logits: Array, maximum: Array) -> tuple[Array, Array]:
    """Exponentials below a maximum that is known beforehand, and their sum along each row."""
    exponentials = np.exp(logits - maximum)
    return exponentials, exponentials.sum(axis=-1, keepdims=True)
