"""aclnnScaledMaskedSoftmax: softmax of scaled attention scores, some of which are masked."""

from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16
from acl_emu.core.errors import AclnnNullptr
from acl_emu.spec import NULL, Array, Bool, Double, In, Operand, Operator, Out, Plan, Product, mapped, operator, same_dtype, same_shape
from acl_emu.spec.operator import AFTER_NULL
from aclnnop.activation.along_axis import softmax
from aclnnop.vfusion.masked_rows import mask_fits, masked_examples, not_generated, row_length

Scores = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=4)]
Mask = Annotated[Operand | None, In(BOOL, rank=4, optional=True)]
ScoresOut = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=4)]

MASKED = -10000.0


def mask_or_triangle(operator: Operator, values: tuple[Any, ...]) -> None:
    """The mask may be null only where the operator is asked to make one."""
    _, mask, _, triangle, _ = values
    if mask is None and not triangle:
        raise AclnnNullptr("mask must not be a null pointer when fixTriuMask is false")


@operator(products=frozenset({Product.A2, Product.A3}), checks=(NULL, mask_or_triangle, *AFTER_NULL))
def aclnnScaledMaskedSoftmax(x: Scores, mask: Mask, scale: Double, fixTriuMask: Bool, y: ScoresOut) -> Plan:
    """Softmax of ``x * scale`` along the last axis, where ``mask`` is not set."""
    same_dtype(x, y)
    not_generated(fixTriuMask)
    assert mask is not None
    row_length(x)
    same_shape(x, y)
    mask_fits(mask, x)
    return mapped(masked_softmax, reads=(x, mask), writes=(y,), dtype=x.dtype, scale=scale)


aclnnScaledMaskedSoftmax.example(lambda: masked_examples("x", out="y"))


def masked_softmax(x: Array, mask: Array, *, scale: float) -> Array:
    """A masked score is replaced by one that is almost nothing next to others; where all are masked, all are alike."""
    return softmax(np.where(mask, MASKED, x * scale), axis=-1)
