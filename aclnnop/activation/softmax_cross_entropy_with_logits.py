"""aclnnSoftmaxCrossEntropyWithLogits: cross entropy of each row with a distribution, and its gradient."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import (
    ALL,
    Array,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    mapped,
    nothing,
    numbers,
    operator,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.activation.along_axis import rest_of_exponentials

Features = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=2)]
Labels = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=2, const=False)]
Loss = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=1)]
Backprop = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=2)]


@operator(products=ALL - {Product.A310B})
def aclnnSoftmaxCrossEntropyWithLogits(features: Features, labels: Labels, loss: Loss, backprop: Backprop) -> Plan:
    """Minus the sum of ``labels`` times the log softmax of ``features``; softmax minus labels."""
    same_dtype(features, labels, loss, backprop)
    same_shape(features, labels)
    shape_is(loss, features.shape[:1], "first length of features")
    same_shape(features, backprop)
    if 0 in features.shape:
        return nothing()
    return mapped(loss_and_gradient, reads=(features, labels), writes=(loss, backprop), dtype=features.dtype)


@aclnnSoftmaxCrossEntropyWithLogits.example
def examples() -> Iterator[Example]:
    """Each type."""
    for dtype in (FLOAT, FLOAT16, BF16):
        yield {
            "features": numbers((4, 6), dtype, 1),
            "labels": np.abs(numbers((4, 6), dtype, 2)),
            "loss": numbers((4,), dtype, 3),
            "backprop": numbers((4, 6), dtype, 4),
        }


def loss_and_gradient(features: Array, labels: Array) -> tuple[Array, Array]:
    """Both formulas."""
    differences = features - features.max(axis=1, keepdims=True)
    rest = rest_of_exponentials(differences, axis=1)
    logarithms = differences - np.log1p(rest)
    return -(labels * logarithms).sum(axis=1), np.exp(differences) / (1 + rest) - labels
