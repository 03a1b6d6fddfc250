"""aclnnDropoutV3: dropout, and the mask that it drew."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT64, UINT8
from acl_emu.spec import Double, Example, FloatIn, FloatOut, In, Int, Operand, Plan, numbers, operator, require
from aclnnop.random.drawing import NEWEST, Seed
from aclnnop.random.dropout_masks import MaskOut, dropped, mask_bytes


@operator(products=NEWEST)
def aclnnDropoutV3(
    input: FloatIn,
    optionalNoiseShape: Annotated[Operand | None, In(INT64, optional=True)],
    p: Double,
    seed: Int,
    offset: Int,
    out: FloatOut,
    maskOut: MaskOut,
) -> Plan:
    """Make elements 0 with the probability ``p`` and the others larger by ``1 / (1 - p)``; the noise shape is reserved."""
    plan = dropped(input, p, Seed(seed, offset), out, maskOut)
    require(offset % 4 == 0, f"offset is {offset}, expected a multiple of 4")
    return plan


@aclnnDropoutV3.example
def examples() -> Iterator[Example]:
    """Each type, and what is certain."""
    for dtype, p in ((FLOAT, 0.5), (FLOAT16, 0.1), (BF16, 0.3), (FLOAT, 0.0), (FLOAT, 1.0)):
        yield {
            "input": numbers((9, 15), dtype, 1),
            "optionalNoiseShape": None,
            "p": p,
            "seed": 1234,
            "offset": 8,
            "out": numbers((9, 15), dtype, 2),
            "maskOut": numbers((mask_bytes(135),), UINT8, 3),
        }
