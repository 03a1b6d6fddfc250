"""aclnnFusedLinearCrossEntropyLossGrad: gradients of a linear layer under a vocabulary-parallel cross entropy."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.dtypes import BOOL, FLOAT, UINT8, DType, round_to
from acl_emu.errors import AclnnNullptr, AclnnRuntime
from acl_emu.indexing import row_products
from acl_emu.matmul import matmul
from acl_emu.native import apply
from acl_emu.native.casting import cast
from acl_emu.spec import Array, Float, In, Operand, Operator, Plan, Product, direct, nothing, operator, require, same_dtype, shape_is
from acl_emu.spec.operator import STANDARD_ORDER
from aclnnop.matmul.vocabulary import (
    ND,
    Matrix,
    MatrixOut,
    Rows,
    Target,
    block_of_words,
    block_scratch,
    blocks,
    require_targets,
    targets_within,
    unpack_mask,
)

Mask = Annotated[Operand, In(UINT8, BOOL, rank=1, formats=ND)]
SavedRows = Annotated[Operand | None, In(FLOAT, optional=True, unless="softmaxOptional", rank=1, formats=ND)]
SavedSoftmax = Annotated[Operand | None, In(FLOAT, optional=True, rank=2, formats=ND)]

SMALLEST_VOCABULARY = 128
# Gradients of logits that are rounded at once.
PART_ELEMENTS = 1 << 20
# A logit in FLOAT is off by some rounding errors of its partial sums. They add up at random, as the square root of their number, which
# BLAS keeps below some hundreds; partial sums are about as large as the logit, or as those of numbers with random signs.
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
    return direct(
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
    room: Array,
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
    for words, vectors, p in blocks(input, weight, features, table, room):
        if softmax is not None:
            given = softmax[:, words]
            for part, halves in parts(p, least):
                apply(np.multiply, (given[part], grad[part, np.newaxis]), (halves,), compute=np.float64)
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


def parts(matrix: Array, room: Array) -> Iterator[tuple[slice, Array]]:
    """Some rows of a matrix at a time, and as much of a room for them."""
    rows, columns = matrix.shape
    for first in range(0, rows, len(room)):
        part = slice(first, min(first + len(room), rows))
        count = part.stop - first
        yield part, room.reshape(-1)[: count * columns].reshape(count, columns)


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
    unit = ROUNDING * min(width, LONGEST_SUM) ** 0.5
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
