"""aclnnCrossEntropySumExpAndIndexLogit: this shard's part of a vocabulary-parallel cross entropy, between the two exchanges."""

from typing import Annotated

import numpy as np

from acl_emu.dtypes import BF16, FLOAT, INT32
from acl_emu.spec import Array, In, Int, Operand, Out, Plan, Product, direct, operator, require, same_dtype, same_shape, shape_is
from aclnnop.loss.shifted_exponentials import exponential_scratch, exponentials

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
    return direct(
        sum_and_index,
        reads=(vocabParallelLogits, target, globalLogitsMax),
        writes=(predictedLogitsOut, sumExpLogitsOut, expLogitsOut, targetOffsetOut, targetMaskOut),
        scratch=exponential_scratch(leading[-1], words),
        start=vocabStartIndex,
        end=vocabEndIndex,
    )


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
    room: Array,
    start: int,
    end: int,
) -> None:
    """The formulas, in float64 rounded once; of three dimensions a matrix at a time."""
    if logits.ndim == 3:
        for arrays in zip(logits, target, maximum, predicted, sum_exp, exp_logits, offset, mask, strict=True):
            sum_and_index(*arrays, room=room, start=start, end=end)
        return
    masked = (target < start) | (target >= end)
    local = np.where(masked, 0, target.astype(np.int64) - start)
    mask[...] = masked
    offset[...] = local
    at_target = np.take_along_axis(logits, local[:, np.newaxis], axis=1)[:, 0].astype(np.float64)
    predicted[...] = np.where(masked, 0, at_target - maximum.astype(np.float64))
    for rows, values in exponentials(logits, maximum, room):
        exp_logits[rows] = values
        sum_exp[rows] = values.sum(axis=1)
