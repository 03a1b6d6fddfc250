"""aclnnFusedLinearCrossEntropyLossGrad: gradients of a linear layer under a vocabulary-parallel cross entropy."""

import math
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16, INT32, INT64, UINT8, DType, round_to
from acl_emu.core.errors import AclnnNullptr, AclnnRuntime
from acl_emu.engine import apply
from acl_emu.engine.calls import code_of
from acl_emu.engine.casting import cast, same
from acl_emu.engine.chain import Chain
from acl_emu.engine.indexing import row_products
from acl_emu.engine.matmul import matmul
from acl_emu.spec import (
    Array,
    Example,
    Float,
    In,
    Operand,
    Operator,
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
from acl_emu.spec.operator import STANDARD_ORDER
from aclnnop.matmul.vocabulary import (
    Matrix,
    MatrixOut,
    Rows,
    Target,
    block_of_words,
    block_scratch,
    blocks,
    blocks_in_steps,
    require_targets,
    targets_within,
    unpack_mask,
)

Mask = Annotated[Operand, In(UINT8, BOOL, rank=1)]
SavedRows = Annotated[Operand | None, In(FLOAT, optional=True, unless="softmaxOptional", rank=1)]
SavedSoftmax = Annotated[Operand | None, In(FLOAT, optional=True, rank=2)]

SMALLEST_VOCABULARY = 128
# Gradients of logits that are rounded at once.
PART_ELEMENTS = 1 << 20
# From how many of them on a second thread is worth while.
THREADED_ELEMENTS = 1 << 15
# A logit in FLOAT is off by some rounding errors of its partial sums. They add up at random, as the square root of their number, of
# which there are as many as acl_emu/engine/c/gemm.h says; partial sums are about as large as the logit, or as those of numbers with random
# signs.
ROUNDING = 2.0**-24
LONGEST_SUM = 256
SPREAD = 3
# What the exponential, the quotient and the product may add.
FUNCTION_ERROR = 4 * ROUNDING


def one_mode(operator: Operator, values: tuple[Any, ...]) -> None:
    """Either the softmax is given (fast), or what it can be computed again from (memory-saving)."""
    *_, logits_max, sum_exp, softmax, _, _ = values
    for name, value in (("logitsMaxOptional", logits_max), ("sumExpLogitsOptional", sum_exp)):
        if softmax is None and value is None:
            raise AclnnNullptr(f"{name} must not be a null pointer when softmaxOptional is one")


@operator(products=frozenset({Product.A2, Product.A3}), elsewhere=AclnnRuntime, checks=(one_mode, *STANDARD_ORDER))
def aclnnFusedLinearCrossEntropyLossGrad(
    grad: Rows,
    input: Matrix,
    weight: Matrix,
    targetMask: Mask,
    maskedTarget: Target,
    labelSmoothing: Float,
    logitsMaxOptional: SavedRows,
    sumExpLogitsOptional: SavedRows,
    softmaxOptional: SavedSoftmax,
    inputGradOut: MatrixOut,
    weightGradOut: MatrixOut,
) -> Plan:
    """Send ``(softmax - one_hot(target)) * grad`` back through the product of ``input`` and ``weight``."""
    same_dtype(input, weight, inputGradOut, weightGradOut)
    require(labelSmoothing == 0, f"labelSmoothing is {labelSmoothing}, expected 0")
    rows, width = input.shape
    vocabulary = weight.shape[0]
    shape_is(weight, (vocabulary, width), "second length that of input")
    require(
        vocabulary >= SMALLEST_VOCABULARY,
        f"weight has shape {list(weight.shape)}, expected a first length of at least {SMALLEST_VOCABULARY}",
    )
    shape_is(grad, (rows,), "first length of input")
    shape_is(maskedTarget, (rows,), "first length of input")
    if targetMask.dtype is BOOL:
        shape_is(targetMask, (rows,), "one element per row")
    else:
        require(targetMask.size * 8 >= rows, f"targetMask has {targetMask.size} elements, expected a bit for each of {rows} rows")
    if softmaxOptional is not None:
        shape_is(softmaxOptional, (rows, vocabulary), "rows of input, rows of weight")
    elif logitsMaxOptional is not None and sumExpLogitsOptional is not None:
        shape_is(logitsMaxOptional, (rows,), "first length of input")
        shape_is(sumExpLogitsOptional, (rows,), "first length of input")
    shape_is(inputGradOut, (rows, width), "as input")
    shape_is(weightGradOut, (vocabulary, width), "as weight")
    if rows == 0 or width == 0:
        return nothing()
    block = block_of_words(rows, vocabulary)
    part = min(rows, max(1, PART_ELEMENTS // block))
    plan = direct(
        gradients,
        reads=(grad, input, weight, targetMask, maskedTarget, logitsMaxOptional, sumExpLogitsOptional, softmaxOptional),
        writes=(inputGradOut, weightGradOut),
        scratch={
            **block_scratch(rows, width, block),
            "feature_norms": ((rows, 1), np.float32),
            "table_norms": ((block, 1), np.float32),
            "least": ((part, block), input.dtype.numpy),
            "most": ((part, block), input.dtype.numpy),
            "input_sum": ((rows, width), np.float32),
            "product": ((block, width), np.float32),
        },
        rounded=input.dtype,
    )
    saved = None if logitsMaxOptional is None or sumExpLogitsOptional is None else (logitsMaxOptional, sumExpLogitsOptional)
    return in_steps(plan, grad, input, weight, targetMask, maskedTarget, saved, softmaxOptional, inputGradOut, weightGradOut)


@aclnnFusedLinearCrossEntropyLossGrad.example
def examples() -> Iterator[Example]:
    """In blocks of the logits, and from their softmax."""
    rows, vocabulary, width = 128, 1030, 128
    for dtype, index in ((BF16, INT64), (FLOAT16, INT32)):
        features, table = numbers((rows, width), dtype, 1, 0.5), numbers((vocabulary, width), dtype, 2, 0.5)
        logits = features.astype(np.float64) @ table.astype(np.float64).T
        largest = logits.max(axis=1).astype(np.float32)
        grown = np.exp(logits - largest[:, np.newaxis])
        sums = grown.sum(axis=1).astype(np.float32)
        saving: Example = {
            "grad": numbers((rows,), FLOAT, 4),
            "input": features,
            "weight": table,
            "targetMask": between(0, 256, (-(-rows // 8),), UINT8, 3),
            "maskedTarget": between(0, vocabulary, (rows,), index, 3),
            "labelSmoothing": 0.0,
            "logitsMaxOptional": largest,
            "sumExpLogitsOptional": sums,
            "softmaxOptional": None,
            "inputGradOut": numbers((rows, width), dtype, 5),
            "weightGradOut": numbers((vocabulary, width), dtype, 6),
        }
        yield saving
        softmax = (grown / sums[:, np.newaxis]).astype(np.float32)
        yield {**saving, "logitsMaxOptional": None, "sumExpLogitsOptional": None, "softmaxOptional": softmax}


def in_steps(
    plan: Plan,
    grad: Operand,
    input: Operand,
    weight: Operand,
    mask: Operand,
    target: Operand,
    saved: tuple[Operand, Operand] | None,
    softmax: Operand | None,
    input_grad: Operand,
    weight_grad: Operand,
) -> Plan:
    """The plan, in C: the targets, then of each block the gradients of its logits, and what they contribute to both results."""
    chain = Chain(plan)
    (rows, width), half = input.shape, code_of(input.dtype)
    own = chain.buffer((rows,), np.int64)
    strides = target.view.layout.strides[0], mask.dtype is UINT8, mask.view.layout.strides[0]
    numbers = (rows, weight.shape[0], code_of(target.dtype), *strides)
    chain.call("acl_emu_words_masked", numbers, (chain.of(mask), chain.of(target), own), threaded=False)
    features, input_sum, feature_norms = (chain.scratch(name) for name in ("features", "input_sum", "feature_norms"))
    unit = unit_of(width)
    for words, table, p in blocks_in_steps(chain, input, weight):
        count = words.stop - words.start
        across = chain.scratch("table_norms").rows(slice(0, count))
        if softmax is None:
            chain.product(features, table.transposed, p)
            if not words.start:
                chain.kernel(norms, (features,), (feature_norms,), scale=unit * SPREAD / width**0.5)
            chain.kernel(norms, (table,), (across,), scale=1.0)
        for part in slices(rows, chain.scratch("least").layout.shape[0]):
            shape = (part.stop - part.start, count)
            low, high, here, mine = chain.scratch("least").dense(shape), chain.scratch("most").dense(shape), p.rows(part), own.rows(part)
            scale = chain.of(grad).rows(part)
            (scale_stride,) = scale.layout.strides
            if softmax is not None:
                given = chain.of(softmax).rows(part).transposed.rows(words).transposed
                chain.kernel(np.multiply, (given, scale.with_axis(1)), (low,), dtype=np.float64)
                chain.kernel(same, (low,), (here,))
                numbers = (shape[0], words.start, count, half, *given.layout.strides, scale_stride)
                chain.call("acl_emu_words_given", numbers, (given, scale, mine, here), threaded=False)
            elif saved is not None:
                largest, total = (chain.of(operand).rows(part) for operand in saved)
                reads = (here, *(values.with_axis(1) for values in (largest, total, scale)), feature_norms.rows(part), across.transposed)
                chain.kernel(bounds, reads, (low, high), unit=unit)
                numbers = (shape[0], words.start, count, width, half, *largest.layout.strides, *total.layout.strides, scale_stride)
                parts = (low, high, features.rows(part), table, mine, largest, total, scale, here)
                chain.call("acl_emu_words_exact", numbers, parts, threaded=math.prod(shape) >= THREADED_ELEMENTS)
        chain.product(p, table, input_sum, add=words.start > 0)
        product = chain.scratch("product").rows(slice(0, count))
        chain.product(p.transposed, features, product)
        chain.kernel(same, (product,), (chain.of(weight_grad).rows(words),))
    chain.kernel(same, (input_sum,), (chain.of(input_grad),))
    return chain.planned()


def gradients(
    grad: Array,
    input: Array,
    weight: Array,
    mask: Array,
    target: Array,
    logits_max: Array | None,
    sum_exp: Array | None,
    softmax: Array | None,
    input_grad: Array,
    weight_grad: Array,
    *,
    features: Array,
    table: Array,
    block_logits: Array,
    feature_norms: Array,
    table_norms: Array,
    least: Array,
    most: Array,
    input_sum: Array,
    product: Array,
    rounded: DType,
) -> None:
    """Both gradients, a block of the vocabulary at a time, by way of that of the logits in the type of the matrices."""
    counted = unpack_mask(mask, len(input))
    target = target.astype(np.int64)
    require_targets("maskedTarget", counted, target, len(weight))
    input_sum[...] = 0
    for words, vectors, p in blocks(input, weight, features, table, block_logits):
        if softmax is not None:
            given = softmax[:, words]
            for part, halves in parts(p, least):
                apply(np.multiply, (given[part], grad[part, np.newaxis]), (halves,), dtype=np.float64)
                cast(halves, p[part])
            rows, columns = targets_within(words, counted, target)
            p[rows, columns] = round_to((given[rows, columns].astype(np.float64) - 1) * grad[rows], rounded)
        else:
            assert logits_max is not None
            assert sum_exp is not None
            matmul(features, vectors.T, out=p)
            own = np.where(counted, target - words.start, -1)
            logit_gradients(p, features, vectors, logits_max, sum_exp, grad, own, feature_norms, table_norms, least, most, rounded)
        matmul(p, vectors, out=input_sum, add=True)
        matmul(p.T, features, out=product[: len(vectors)])
        cast(product[: len(vectors)], weight_grad[words])
    cast(input_sum, input_grad)


def slices(rows: int, step: int) -> Iterator[slice]:
    """Some rows at a time."""
    return (slice(first, min(first + step, rows)) for first in range(0, rows, step))


def parts(matrix: Array, block_logits: Array) -> Iterator[tuple[slice, Array]]:
    """Some rows of a matrix at a time, and as much of a buffer for them."""
    rows, columns = matrix.shape
    for part in slices(rows, len(block_logits)):
        count = part.stop - part.start
        yield part, block_logits.reshape(-1)[: count * columns].reshape(count, columns)


def logit_gradients(
    p: Array,
    features: Array,
    vectors: Array,
    logits_max: Array,
    sum_exp: Array,
    grad: Array,
    own: Array,
    feature_norms: Array,
    table_norms: Array,
    least: Array,
    most: Array,
    rounded: DType,
) -> None:
    """Replace logits in ``p`` by their gradients, rounded to the type of the matrices; ``own`` is each row's target, or no column.

    One that is rounded to the wrong side shows in full where products cancel. So whatever lies too close to the middle between two
    numbers to be decided in FLOAT is computed again in float64.
    """
    width = features.shape[1]
    unit = unit_of(width)
    apply(norms, (features,), (feature_norms,), scale=unit * SPREAD / width**0.5)
    across = table_norms[: len(vectors)]
    apply(norms, (vectors,), (across,), scale=1.0)
    for (part, low), (_, high) in zip(parts(p, least), parts(p, most), strict=True):
        saved = logits_max[part, np.newaxis], sum_exp[part, np.newaxis], grad[part, np.newaxis]
        apply(bounds, (p[part], *saved, feature_norms[part], across.T), (low, high), unit=unit)
        apply(agreed, (low, high), (p[part],))
        mine = np.flatnonzero((own[part] >= 0) & (own[part] < len(vectors)))
        p[part][mine, own[part][mine]] = np.nan
        row, column = np.divmod(np.flatnonzero(np.isnan(p[part])), len(vectors))
        logits = row_products(features[part], vectors, row, column)
        exact = probability(logits, *(values[row, 0].astype(np.float64) for values in saved[:2]))
        exact -= own[part][row] == column
        p[part][row, column] = round_to(exact * grad[part][row], rounded)


def unit_of(width: int) -> float:
    """How far a logit may be off, relative to itself."""
    return ROUNDING * math.sqrt(min(width, LONGEST_SUM))


def probability(logits: Array, largest: Array, total: Array) -> Array:
    """The softmax, from what the forward pass has saved."""
    result: Array = np.exp(logits - largest) / total
    return result


def bounds(
    logits: Array, largest: Array, total: Array, grad: Array, feature_norm: Array, table_norm: Array, *, unit: float
) -> tuple[Array, Array]:
    """The gradient of a logit, less and plus as much as it may be off."""
    value = probability(logits, largest, total) * grad
    error = value * (np.abs(logits) * unit + feature_norm * table_norm + FUNCTION_ERROR)
    return value - error, value + error


def agreed(least: Array, most: Array) -> Array:
    """What both are, or NaN."""
    return np.where(least == most, least, np.nan)


def norms(vectors: Array, *, scale: float) -> Array:
    """The length of each row."""
    result: Array = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True)) * scale
    return result
