"""aclnnFusedLinearCrossEntropyLossGrad: gradients of a linear layer under a vocabulary-parallel cross entropy."""

from typing import Annotated, Any

import numpy as np

from acl_emu.dtypes import BOOL, FLOAT, UINT8
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
    return direct(
        gradients,
        reads=(grad, input, weight, targetMask, maskedTarget, logitsMaxOptional, sumExpLogitsOptional, softmaxOptional),
        writes=(inputGradOut, weightGradOut),
        scratch={
            **block_scratch(rows, width, block),
            "input_sum": ((rows, width), np.float32),
            "product": ((max(rows, block), width), np.float32),
        },
        rounded=input.dtype.numpy,
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
    input_sum: Array,
    product: Array,
    rounded: Any,
) -> None:
    """Both gradients, a block of the vocabulary at a time."""
    rows = len(input)
    counted = unpack_mask(mask, rows)
    target = target.astype(np.int64)
    require_targets("maskedTarget", counted, target, len(weight))
    input_sum[...] = 0
    for words, vectors, p in blocks(input, weight, features, table, room):
        if softmax is not None:
            p[...] = softmax[:, words]
        else:
            assert logits_max is not None
            assert sum_exp is not None
            matmul(features, vectors.T, out=p)
            p -= logits_max[:, np.newaxis]
            np.exp(p, out=p)
            p /= sum_exp[:, np.newaxis]
        p[targets_within(words, counted, target)] -= 1
        p *= grad[:, np.newaxis]
        for row in range(0, rows, 256):  # rounding to half precision needs a temporary: keep it small
            p[row : row + 256] = p[row : row + 256].astype(rounded)
        matmul(p, vectors, out=product[:rows])
        input_sum += product[:rows]
        matmul(p.T, features, out=product[: len(vectors)])
        weight_grad[words] = product[: len(vectors)]
    input_grad[...] = input_sum
