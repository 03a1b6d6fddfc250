"""aclnnFusedLinearCrossEntropyLossGrad: gradients of a linear layer under a vocabulary-parallel cross entropy."""

from typing import Annotated, Any

import numpy as np

from acl_emu.dtypes import BOOL, FLOAT, UINT8, DType, round_to
from acl_emu.errors import AclnnNullptr, AclnnRuntime
from acl_emu.matmul import matmul
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
# Probabilities that are held in float64 at once: 4 MiB, and as much again while they are rounded.
EXACT_ELEMENTS = 512 << 10


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
    part = min(block, max(64, EXACT_ELEMENTS // rows))
    return direct(
        gradients,
        reads=(grad, input, weight, targetMask, maskedTarget, logitsMaxOptional, sumExpLogitsOptional, softmaxOptional),
        writes=(inputGradOut, weightGradOut),
        scratch={
            **block_scratch(rows, width, block),
            "exact_features": ((rows, width), np.float64),
            "exact_table": ((part, width), np.float64),
            "exact_room": ((rows, part), np.float64),
            "input_sum": ((rows, width), np.float32),
            "product": ((max(rows, block), width), np.float32),
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
    exact_features: Array,
    exact_table: Array,
    exact_room: Array,
    input_sum: Array,
    product: Array,
    rounded: DType,
) -> None:
    """Both gradients, a block of the vocabulary at a time.

    The probabilities stay in float64 until they are rounded: one that falls on the wrong side shows in full where products cancel.
    """
    rows = len(input)
    counted = unpack_mask(mask, rows)
    target = target.astype(np.int64)
    require_targets("maskedTarget", counted, target, len(weight))
    input_sum[...] = 0
    exact_features[...] = input
    for words, vectors, p in blocks(input, weight, features, table, room):
        for first in range(0, len(vectors), len(exact_table)):
            part = slice(first, min(first + len(exact_table), len(vectors)))
            count = part.stop - part.start
            exact = exact_room.reshape(-1)[: rows * count].reshape(rows, count)
            if softmax is not None:
                exact[...] = softmax[:, words][:, part]
            else:
                assert logits_max is not None
                assert sum_exp is not None
                exact_table[:count] = vectors[part]
                matmul(exact_features, exact_table[:count].T, out=exact)
                exact -= logits_max[:, np.newaxis]
                np.exp(exact, out=exact)
                exact /= sum_exp[:, np.newaxis]
            exact[targets_within(slice(words.start + part.start, words.start + part.stop), counted, target)] -= 1
            exact *= grad[:, np.newaxis]
            p[:, part] = round_to(exact, rounded)
        matmul(p, vectors, out=product[:rows])
        input_sum += product[:rows]
        matmul(p.T, features, out=product[: len(vectors)])
        weight_grad[words] = product[: len(vectors)]
    input_grad[...] = input_sum
