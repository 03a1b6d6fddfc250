"""aclnnInplaceMaskedScatter: the elements of a tensor, one after the other, where a mask is true."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, INT8, INT64, UINT8
from acl_emu.core.errors import DeviceFault
from acl_emu.spec import Array, Example, In, InOut, Operand, Plan, between, broadcasts_to, numbers, operator, same_dtype
from aclnnop.conversion.moves import NEWER
from aclnnop.index.gathering import REAL
from aclnnop.index.scattering import Changes, changed


@operator(products=NEWER)
def aclnnInplaceMaskedScatter(
    selfRef: Annotated[Operand, InOut(*REAL, const=False)],
    mask: Annotated[Operand, In(BOOL, UINT8)],
    source: Annotated[Operand, In(*REAL)],
) -> Plan:
    """Write the elements of ``source``, one after the other, to the elements of ``selfRef`` where ``mask`` is true."""
    broadcasts_to(selfRef.shape, "that of selfRef", mask)
    same_dtype(selfRef, source)
    return changed(spread, selfRef, (mask, source), selfRef, axes=range(max(selfRef.rank, 1)))


@aclnnInplaceMaskedScatter.example
def examples() -> Iterator[Example]:
    """Masks of both types, some of them broadcast."""
    for dtype, mask, shape in (
        (FLOAT, BOOL, (3, 4)),
        (BF16, UINT8, (4,)),
        (INT64, BOOL, (3, 1)),
        (BOOL, BOOL, (1, 4)),
        (INT8, UINT8, (3, 4)),
        (DOUBLE, BOOL, ()),
    ):
        yield {"selfRef": numbers((3, 4), dtype, 1, 9), "mask": between(0, 2, shape, mask, 2), "source": numbers((2, 7), dtype, 3, 9)}


def spread(target: Array, mask: Array, source: Array) -> Changes:
    """In the order of the elements."""
    key = np.nonzero(np.broadcast_to(mask != 0, target.shape))
    count = key[0].size
    if count > source.size:
        raise DeviceFault(f"source has {source.size} elements, expected at least {count}: as many as mask chooses")
    return Changes(key, source.reshape(-1)[:count])
