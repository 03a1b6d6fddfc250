"""aclnnDropoutV3Grad: the gradient of dropout."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, UINT8
from acl_emu.spec import Double, Example, FloatIn, FloatOut, In, Operand, Plan, between, numbers, operator
from aclnnop.random.drawing import NEWEST
from aclnnop.random.dropout_masks import check_shapes, mask_bytes, multiplied


@operator(products=NEWEST)
def aclnnDropoutV3Grad(gradY: FloatIn, mask: Annotated[Operand, In(UINT8)], scale: Double, gradX: FloatOut) -> Plan:
    """Multiply every element by its bit and by ``scale``: what is not finite stays so."""
    check_shapes(gradY, mask, gradX)
    return multiplied(gradY, mask, scale, gradX)


@aclnnDropoutV3Grad.example
def examples() -> Iterator[Example]:
    """Each type; no scale at all."""
    for dtype, scale in ((FLOAT, 2.0), (FLOAT16, 1.25), (BF16, 1.5), (FLOAT, 0.0)):
        mask = between(0, 256, (mask_bytes(135),), UINT8, 2)
        yield {"gradY": numbers((9, 15), dtype, 1), "mask": mask, "scale": scale, "gradX": numbers((9, 15), dtype, 3)}
