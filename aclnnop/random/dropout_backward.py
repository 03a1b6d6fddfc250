"""aclnnDropoutBackward: the gradient of dropout."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, UINT8
from acl_emu.spec import Double, Example, FloatIn, FloatOut, In, Operand, Plan, between, numbers, operator, require
from aclnnop.random.drawing import TRAINING
from aclnnop.random.dropout_masks import check_shapes, mask_bytes, masked, unchanged, zeros


@operator(products=TRAINING)
def aclnnDropoutBackward(gradOutput: FloatIn, mask: Annotated[Operand, In(UINT8)], scale: Double, out: FloatOut) -> Plan:
    """Keep the elements whose bit is set, times ``scale``, and make the others 0; a scale of 1 keeps them all, one of 0 none."""
    require(scale == 0 or scale >= 1, f"scale is {scale}, expected 0 or a value of at least 1")
    check_shapes(gradOutput, mask, out)
    if scale in (0, 1):
        return unchanged(gradOutput, out) if scale else zeros(out)
    return masked(gradOutput, mask, scale, out)


@aclnnDropoutBackward.example
def examples() -> Iterator[Example]:
    """Each type, and what is certain."""
    for dtype, scale in ((FLOAT, 2.0), (FLOAT16, 1.25), (BF16, 1.5), (FLOAT, 1.0), (FLOAT16, 0.0)):
        mask = between(0, 256, (mask_bytes(135),), UINT8, 2)
        yield {"gradOutput": numbers((9, 15), dtype, 1), "mask": mask, "scale": scale, "out": numbers((9, 15), dtype, 3)}
