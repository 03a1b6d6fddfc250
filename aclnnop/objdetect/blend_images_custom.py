"""aclnnBlendImagesCustom: an image with opacities over another one."""

from collections.abc import Iterator

from acl_emu.core.dtypes import UINT8
from acl_emu.spec import Example, Plan, between, operator
from aclnnop.objdetect.blending import INFERENCE_ONLY, blend, check_colours
from aclnnop.objdetect.mrgba_custom import Bytes, BytesOut


@operator(products=INFERENCE_ONLY)
def aclnnBlendImagesCustom(rgb: Bytes, alpha: Bytes, frame: Bytes, out: BytesOut) -> Plan:
    """Lay an image over ``frame`` by its opacity, of which 255 stands for all."""
    check_colours(alpha, rgb, frame)
    return blend(rgb, frame, alpha, 255, out)


@aclnnBlendImagesCustom.example
def examples() -> Iterator[Example]:
    """One image."""
    bytes_ = {"rgb": between(0, 256, (4, 5, 3), UINT8, 1), "alpha": between(0, 256, (4, 5, 1), UINT8, 2)}
    yield {**bytes_, "frame": between(0, 256, (4, 5, 3), UINT8, 3), "out": between(0, 256, (4, 5, 3), UINT8, 4)}
