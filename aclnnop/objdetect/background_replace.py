"""aclnnBackgroundReplace: an image over another one, as far as a mask says."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import FLOAT16, UINT8
from acl_emu.spec import Example, In, Operand, Out, Plan, between, operator, same_dtype
from aclnnop.objdetect.blending import INFERENCE_ONLY, blend

TYPES = (UINT8, FLOAT16)


@operator(products=INFERENCE_ONLY)
def aclnnBackgroundReplace(
    bkg: Annotated[Operand, In(*TYPES)],
    src: Annotated[Operand, In(*TYPES)],
    mask: Annotated[Operand, In(FLOAT16)],
    out: Annotated[Operand, Out(*TYPES, const=True)],
) -> Plan:
    """Put another background behind an image."""
    same_dtype(bkg, src, out)
    return blend(src, bkg, mask, 1, out)


@aclnnBackgroundReplace.example
def examples() -> Iterator[Example]:
    """Bytes, and FLOAT16."""
    for dtype, high in ((UINT8, 256), (FLOAT16, 2)):
        images = {name: between(0, high, (4, 5, 3), dtype, seed) for seed, name in enumerate(("bkg", "src", "out"))}
        yield {"bkg": images["bkg"], "src": images["src"], "mask": between(0, 1, (4, 5, 1), FLOAT16, 5), "out": images["out"]}
