"""aclnnMrgbaCustom: an image by its opacity."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import UINT8
from acl_emu.spec import Example, In, Operand, Out, Plan, between, operator
from aclnnop.objdetect.blending import INFERENCE_ONLY, blend, check_colours

Bytes = Annotated[Operand, In(UINT8)]
BytesOut = Annotated[Operand, Out(UINT8, const=True)]


@operator(products=INFERENCE_ONLY)
def aclnnMrgbaCustom(rgb: Bytes, alpha: Bytes, out: BytesOut) -> Plan:
    """Multiply an image by its opacity, of which 255 stands for all."""
    check_colours(alpha, rgb)
    return blend(rgb, None, alpha, 255, out)


@aclnnMrgbaCustom.example
def examples() -> Iterator[Example]:
    """One image."""
    bytes_ = {"rgb": between(0, 256, (4, 5, 3), UINT8, 1), "alpha": between(0, 256, (4, 5, 1), UINT8, 2)}
    yield {**bytes_, "out": between(0, 256, (4, 5, 3), UINT8, 3)}
