"""aclnnResize: images made larger or smaller, by nearest neighbours or linear interpolation."""

import math
from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import (
    Example,
    FloatArrayIn,
    In,
    Operand,
    Out,
    Plan,
    Product,
    StringKind,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.image.resampling import Axis, Rule, moved, resampled
from aclnnop.image.upsampling import EVERY, FLOATS, HALVES, first_axis

OLDER = dict.fromkeys(EVERY - {Product.A950}, HALVES)
RULES = {"nearest": Rule.NEAREST, "bilinear": Rule.LINEAR}


@operator(products=EVERY)
def aclnnResize(
    self: Annotated[Operand, In(*FLOATS, rank=4, on=OLDER)],
    scales: FloatArrayIn,
    mode: Annotated[str, StringKind(choices=tuple(RULES))],
    out: Annotated[Operand, Out(*FLOATS, rank=4, on=OLDER)],
) -> Plan:
    """Make height and width so many times larger, and take the nearest element, or interpolate between two."""
    same_dtype(self, out)
    require(len(scales) == 4, f"scales has {len(scales)} values, expected 4")
    factors = scales.values
    require(all(math.isfinite(one) and one > 0 for one in factors), f"scales is {list(factors)}, expected finite values above 0")
    sizes = [math.floor(length * factor) for length, factor in zip(self.shape, factors, strict=True)]
    start = first_axis(out, self.shape, sizes[1:3])
    resized = (start, start + 1)
    require(
        all(factor == 1 for axis, factor in enumerate(factors) if axis not in resized),
        f"scales is {list(factors)}, expected 1 for samples and channels",
    )
    shape_is(out, sizes, "self by scales")
    if 0 in out.shape:
        return nothing()
    axes = tuple(Axis(RULES[mode], self.shape[axis], sizes[axis], factors[axis]) for axis in resized)
    return direct(moved if mode == "nearest" else resampled, reads=(self,), writes=(out,), scratch={}, axes=axes, first=start)


@aclnnResize.example
def examples() -> Iterator[Example]:
    """Larger and smaller."""
    for dtype, mode, scales, size in (
        (FLOAT, "nearest", (1, 1, 2, 1.5), (8, 4)),
        (FLOAT16, "bilinear", (1, 1, 2, 1.5), (8, 4)),
        (FLOAT, "bilinear", (1, 1, 0.5, 1), (2, 3)),
    ):
        yield {"self": numbers((2, 3, 4, 3), dtype, 1), "scales": scales, "mode": mode, "out": numbers((2, 3, *size), dtype, 2)}


@aclnnResize.example_on(Product.A950)
def newest() -> Iterator[Example]:
    """BF16."""
    images = {"self": numbers((1, 2, 3, 4), BF16, 1), "out": numbers((1, 2, 6, 4), BF16, 2)}
    yield {"self": images["self"], "scales": (1, 1, 2, 1), "mode": "bilinear", "out": images["out"]}
