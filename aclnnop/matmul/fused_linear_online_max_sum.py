"""aclnnFusedLinearOnlineMaxSum: this shard's part of a vocabulary-parallel cross entropy, up to the first exchange between shards."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64, UINT8
from acl_emu.engine import apply
from acl_emu.engine.calls import code_of
from acl_emu.engine.casting import cast, same
from acl_emu.engine.chain import Chain
from acl_emu.engine.matmul import matmul
from acl_emu.spec import (
    Array,
    Example,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    between,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.matmul.vocabulary import (
    Matrix,
    RowsOut,
    Target,
    TargetOut,
    block_of_words,
    block_scratch,
    blocks,
    blocks_in_steps,
    pack_mask,
    require_targets,
    targets_within,
)

MaskOut = Annotated[Operand, Out(UINT8, rank=1)]
LogitsOut = Annotated[Operand | None, Out(FLOAT16, BF16, optional=True, rank=2)]

LARGEST_WIDTH = 65534


@operator(products=frozenset({Product.A2, Product.A3, Product.A950}))
def aclnnFusedLinearOnlineMaxSum(
    input: Matrix,
    weight: Matrix,
    target: Target,
    vocabStartIndex: Int,
    vocabEndIndex: Int,
    logitsMaxLocalOut: RowsOut,
    sumExpLogitsLocalOut: RowsOut,
    predictedLogitsLocalOut: RowsOut,
    targetMaskOut: MaskOut,
    maskedTargetOut: TargetOut,
    vocabParallelLogitsOutOptional: LogitsOut,
) -> Plan:
    """Largest logit of each row, the sum of exponentials below it, and the target's logit where it is in ``[start, end)``."""
    same_dtype(input, weight)
    same_dtype(target, maskedTargetOut)
    if vocabParallelLogitsOutOptional is not None:
        same_dtype(input, vocabParallelLogitsOutOptional)
    require(vocabStartIndex >= 0, f"vocabStartIndex is {vocabStartIndex}, expected a value of at least 0")
    require(vocabEndIndex >= vocabStartIndex, f"vocabEndIndex is {vocabEndIndex}, expected at least vocabStartIndex: {vocabStartIndex}")
    rows, width = input.shape
    vocabulary = weight.shape[0]
    require(width <= LARGEST_WIDTH, f"input has shape {list(input.shape)}, expected a second length of at most {LARGEST_WIDTH}")
    require(vocabulary > 0, f"weight has shape {list(weight.shape)}, expected a first length above 0")
    shape_is(weight, (vocabulary, width), "second length that of input")
    for per_row in (target, logitsMaxLocalOut, sumExpLogitsLocalOut, predictedLogitsLocalOut, maskedTargetOut):
        shape_is(per_row, (rows,), "first length of input")
    shape_is(targetMaskOut, (-(-rows // 8),), "a bit for each row of input")
    if vocabParallelLogitsOutOptional is not None:
        shape_is(vocabParallelLogitsOutOptional, (rows, vocabulary), "rows of input, rows of weight")
    if rows == 0 or width == 0:
        return nothing()
    results = (logitsMaxLocalOut, sumExpLogitsLocalOut, predictedLogitsLocalOut)
    plan = direct(
        max_and_sum,
        reads=(input, weight, target),
        writes=(*results, targetMaskOut, maskedTargetOut, vocabParallelLogitsOutOptional),
        scratch={
            **block_scratch(rows, width, block_of_words(rows, vocabulary)),
            "largest": ((rows, 1), np.float32),
            "total": ((rows, 1), np.float64),
            "block_largest": ((rows, 1), np.float32),
            "block_total": ((rows, 1), np.float32),
        },
        start=vocabStartIndex,
        end=vocabEndIndex,
    )
    shard = vocabStartIndex, vocabEndIndex
    return in_steps(plan, input, weight, target, shard, results, targetMaskOut, maskedTargetOut, vocabParallelLogitsOutOptional)


@aclnnFusedLinearOnlineMaxSum.example
def examples() -> Iterator[Example]:
    """With the logits, and without."""
    rows, vocabulary, width = 70, 300, 65
    for dtype, index, fast in ((FLOAT16, INT32, True), (BF16, INT64, False)):
        yield {
            "input": numbers((rows, width), dtype, 1, 0.5),
            "weight": numbers((vocabulary, width), dtype, 2, 0.5),
            "target": between(0, 900, (rows,), index, 3),
            "vocabStartIndex": 200,
            "vocabEndIndex": 499,
            "logitsMaxLocalOut": numbers((rows,), FLOAT, 4),
            "sumExpLogitsLocalOut": numbers((rows,), FLOAT, 5),
            "predictedLogitsLocalOut": numbers((rows,), FLOAT, 6),
            "targetMaskOut": np.zeros(-(-rows // 8), np.uint8),
            "maskedTargetOut": np.full(rows, 7, index.numpy),
            "vocabParallelLogitsOutOptional": numbers((rows, vocabulary), dtype, 7) if fast else None,
        }


def in_steps(
    plan: Plan,
    input: Operand,
    weight: Operand,
    target: Operand,
    shard: tuple[int, int],
    results: tuple[Operand, Operand, Operand],
    mask: Operand,
    masked_target: Operand,
    logits: Operand | None,
) -> Plan:
    """The plan, in C: the targets, then of each block the product, its largest logits and sums, and what they make with those before."""
    chain = Chain(plan)
    rows = input.shape[0]
    own, predicted = chain.buffer((rows,), np.int64), chain.buffer((rows,), np.float32)
    strides = [operand.view.layout.strides[0] for operand in (target, mask, masked_target)]
    reads = [chain.of(operand) for operand in (target, mask, masked_target)]
    chain.call("acl_emu_words_local", (rows, weight.shape[0], *shard, code_of(target.dtype), *strides), (*reads, own), threaded=False)
    so_far, of_block = ([chain.scratch(name) for name in names] for names in (("largest", "total"), ("block_largest", "block_total")))
    for words, table, p in blocks_in_steps(chain, input, weight):
        chain.product(chain.scratch("features"), table.transposed, p)
        if logits is not None:
            chain.kernel(same, (p,), (chain.of(logits).transposed.rows(words).transposed,))
        chain.kernel(largest_and_sum, (p,), of_block)
        numbers = (rows, words.start, words.stop - words.start)
        chain.call("acl_emu_words_merge", numbers, (p, own, *of_block, predicted, *so_far), threaded=False)
    strides = [operand.view.layout.strides[0] for operand in results]
    parts = (own, predicted, *so_far, *(chain.of(operand) for operand in results))
    chain.call("acl_emu_words_finish", (rows, *strides), parts, threaded=False)
    return chain.planned()


def max_and_sum(
    input: Array,
    weight: Array,
    target: Array,
    logits_max: Array,
    sum_exp: Array,
    predicted: Array,
    mask: Array,
    masked_target: Array,
    logits: Array | None,
    *,
    features: Array,
    table: Array,
    block_logits: Array,
    largest: Array,
    total: Array,
    block_largest: Array,
    block_total: Array,
    start: int,
    end: int,
) -> None:
    """One pass over the vocabulary; of what was summed before and in a block, the part below the larger maximum is scaled down."""
    counted = (target >= start) & (target < end)
    local = np.where(counted, target.astype(np.int64) - start, 0)
    require_targets("maskedTargetOut", counted, local, len(weight))
    mask[...] = pack_mask(counted, padding=start > 0 or end <= 0)  # as if there were targets of 0
    masked_target[...] = local
    predicted[...] = 0
    largest[...] = -np.inf
    total[...] = 0
    for words, vectors, p in blocks(input, weight, features, table, block_logits):
        matmul(features, vectors.T, out=p)
        if logits is not None:
            cast(p, logits[:, words])
        rows, columns = targets_within(words, counted, local)
        predicted[rows] = p[rows, columns]
        apply(largest_and_sum, (p,), (block_largest, block_total))
        before = largest.copy()
        np.maximum(before, block_largest, out=largest)
        total *= scale_below(before, largest)
        total += block_total * scale_below(block_largest, largest)
    logits_max[...] = largest[:, 0]
    sum_exp[...] = np.where(largest == -np.inf, np.nan, total)[:, 0]
    predicted[counted] -= largest[counted, 0]


def largest_and_sum(logits: Array) -> tuple[Array, Array]:
    """The largest logit of each row, and the sum of exponentials below it: 0 where all are -inf."""
    largest = logits.max(axis=1, keepdims=True)
    base = np.where(largest == -np.inf, 0, largest)
    return largest, np.exp(logits - base).sum(axis=1, keepdims=True)


def scale_below(lower: Array, upper: Array) -> Array:
    """What a sum of exponentials below one maximum is multiplied by, to be one below another: in float64."""
    return np.where(lower == upper, 1, np.exp(lower.astype(np.float64) - upper))
