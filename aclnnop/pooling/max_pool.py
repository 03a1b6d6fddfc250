"""aclnnMaxPool: the largest element of each window along the last two axes, with a padding for each side."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT16
from acl_emu.spec import ConstInt, Example, In, IntArrayIn, Operand, Out, Plan, Product, numbers, operator, require
from aclnnop.pooling.average import PLANE
from aclnnop.pooling.maximum import NEWER, maximum
from aclnnop.pooling.windows import check_windows, per_axis, sliding, spatial

TYPES = (FLOAT16, FLOAT, BF16, INT32, INT64, UINT8, INT16, INT8, UINT16)
ON = {Product.A910: (FLOAT16,), Product.A3: (FLOAT16, FLOAT), Product.A2: (FLOAT16, FLOAT)}


@operator(products=NEWER | {Product.A910})
def aclnnMaxPool(
    self: Annotated[Operand, In(*TYPES, rank=PLANE, on=ON)],
    kernelShape: IntArrayIn,
    strides: IntArrayIn,
    autoPad: ConstInt,
    pads: IntArrayIn,
    dilations: IntArrayIn,
    ceilMode: ConstInt,
    out: Annotated[Operand, Out(*TYPES, rank=PLANE, on=ON)],
) -> Plan:
    """Take the largest element of each window; ``pads`` are above, left, below and right, or the same on both sides."""
    sizes = per_axis(kernelShape, "kernelShape", 2, low=1)
    steps = per_axis(strides, "strides", 2, low=1, default=(1, 1))
    require(autoPad == 0, f"autoPad is {autoPad}, expected 0: the padding is what pads says")
    given = pads.values or (0,)
    require(len(given) in (1, 2, 4), f"pads has {len(given)} values, expected 0, 1, 2 or 4")
    around = tuple(given) if len(given) == 4 else (tuple(given) if len(given) == 2 else tuple(given) * 2) * 2
    require(all(pad >= 0 for pad in around), f"pads is {list(around)}, expected no negative value")
    for size, before, after in zip(sizes, around[:2], around[2:], strict=True):
        require(before + after <= size, f"pads is {list(around)}, expected at most kernelShape together: {list(sizes)}")
    require(len(dilations) in (0, 1, 2, 4), f"dilations has {len(dilations)} values, expected 0, 1, 2 or 4")
    require(set(dilations.values) <= {1}, f"dilations is {list(dilations.values)}, expected 1")
    axes = tuple(
        sliding(length, size, step, both, 1, ceilMode != 0)
        for length, size, step, both in zip(spatial(self, 2), sizes, steps, zip(around[:2], around[2:], strict=True), strict=True)
    )
    check_windows(self, axes)
    return maximum(self, axes, out)


@aclnnMaxPool.example
def examples() -> Iterator[Example]:
    """Defaults, different paddings, a rest at the end."""
    for dtype, shape, kernel, strides, pads, ceil, out in (
        (FLOAT, (2, 3, 5, 6), (2, 3), (), (), 0, (2, 3, 4, 4)),
        (FLOAT16, (3, 5, 6), (3, 3), (2,), (1, 0, 1, 2), 0, (3, 3, 3)),
        (FLOAT, (1, 2, 5, 6), (2,), (2, 2), (0, 1), 1, (1, 2, 3, 4)),
    ):
        yield {
            "self": numbers(shape, dtype, 1, 9),
            "kernelShape": kernel,
            "strides": strides,
            "autoPad": 0,
            "pads": pads,
            "dilations": (1, 1),
            "ceilMode": ceil,
            "out": numbers(out, dtype, 2),
        }
