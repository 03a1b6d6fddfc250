"""aclnnTransQuantParam: scales and offsets in the program's memory as the hardware takes them, in 64 bits."""

from typing import Annotated

import numpy as np

from acl_emu.core.soc import Product
from acl_emu.spec import IntKind, require
from acl_emu.spec.kinds import FloatsKind
from acl_emu.spec.single_phase import Result, single_phase
from aclnnop.quant.trans_quant_param_v2 import codes

STEP = 16
"""The number of codes is a multiple of this."""
Count = Annotated[int, IntKind("uint64_t")]
Floats = list[float]


@single_phase(products=frozenset({Product.A950, Product.A3, Product.A2}))
def aclnnTransQuantParam(
    scaleArray: Annotated[FloatsKind.Found, FloatsKind()],
    scaleSize: Count,
    offsetArray: Annotated[FloatsKind.Found | None, FloatsKind(optional=True)],
    offsetSize: Count,
) -> tuple[Annotated[list[int], Result("uint64_t*", "quantParam", "list[int]")], Annotated[int, Result("uint64_t", "quantParamSize")]]:
    """Put the upper 19 bits of each scale and 9 bits of each offset into one number."""
    require(scaleSize >= 1, f"scaleSize is {scaleSize}, expected at least 1")
    if offsetArray is None:
        require(offsetSize == 0, f"offsetSize is {offsetSize}, expected 0 as offsetArray is a null pointer")
    else:
        require(offsetSize >= 1, f"offsetSize is {offsetSize}, expected at least 1")
    count = max(scaleSize, offsetSize)
    scales = spread(scaleArray(scaleSize), count)
    offsets = None if offsetArray is None else spread(offsetArray(offsetSize), count)
    found = np.zeros(-(-count // STEP) * STEP, np.uint64)
    codes(scales, offsets, found[:count], rounded=False)
    return found.tolist(), len(found)


def spread(values: Floats, count: int) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    """One number for all; others are followed by zeros."""
    found = np.zeros(count, np.float32)
    found[: len(values)] = values
    return np.broadcast_to(found[:1], count).copy() if len(values) == 1 else found
