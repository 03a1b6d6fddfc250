"""aclnnUnfoldGrad: the gradient of windows along a dimension, added up where they overlap."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import Array, Example, In, Int, IntArrayIn, Operand, Out, Plan, numbers, operator, require, same_dtype, shape_is
from acl_emu.spec.tiling import in_tiling
from aclnnop.conversion.moves import NEWER, rearranged

FLOATS = (FLOAT, FLOAT16, BF16)
_MOST = ({4: 49088, 2: 32720}, {4: 88, 2: 72})
"""The largest ``size`` and ``step`` along the last dimension and the one before it, by the bytes of an element."""


@operator(products=NEWER)
def aclnnUnfoldGrad(
    gradOut: Annotated[Operand, In(*FLOATS, rank=(1, 8))],
    inputSizes: IntArrayIn,
    dim: Int,
    size: Int,
    step: Int,
    gradIn: Annotated[Operand, Out(*FLOATS, const=True)],
) -> Plan:
    """Give each element the sum over the windows of ``size`` elements, ``step`` apart, that it was in; ``gradOut`` has them last."""
    same_dtype(gradOut, gradIn)
    sizes = inputSizes.values
    with in_tiling():
        require(-len(sizes) <= dim < len(sizes), f"dim is {dim}, expected a value in [{-len(sizes)}, {len(sizes) - 1}]")
        axis = dim % len(sizes)
        behind = len(sizes) - 1 - axis
        require(behind < len(_MOST), f"dim is {dim}, expected one of the last two dimensions of inputSizes: {inputSizes}")
        require(step > 0, f"step is {step}, expected a value of at least 1")
        require(0 < size <= sizes[axis], f"size is {size}, expected a value from 1 to the length of dim: {sizes[axis]}")
        most = _MOST[behind][gradOut.dtype.itemsize]
        for name, value in (("size", size), ("step", step)):
            require(value <= most, f"{name} is {value}, expected at most {most} along dim {dim} for {gradOut.dtype}")
        count = (sizes[axis] - size) // step + 1
        shape_is(gradOut, (*sizes[:axis], count, *sizes[axis + 1 :], size), "inputSizes with the windows along dim, and size")
        shape_is(gradIn, sizes, "inputSizes")
    return rearranged(folded, (gradOut,), gradIn, axis=axis, step=step, length=sizes[axis])


@aclnnUnfoldGrad.example
def examples() -> Iterator[Example]:
    """Windows that overlap, and that leave gaps."""
    for dtype, shape, sizes, dim, step in ((FLOAT, (3, 3, 2), (3, 4), 1, 1), (BF16, (2, 4, 2), (5, 4), 0, 3)):
        settings = {"inputSizes": list(sizes), "dim": dim, "size": 2, "step": step}
        yield {"gradOut": numbers(shape, dtype, 1), **settings, "gradIn": numbers(sizes, dtype, 2)}


def folded(grad: Array, *, axis: int, step: int, length: int) -> Array:
    """In float64."""
    windows = np.moveaxis(grad.astype(np.float64), (axis, -1), (0, 1))
    count, size, *rest = windows.shape
    sums = np.zeros((length, *rest))
    np.add.at(sums, (np.arange(count) * step)[:, None] + np.arange(size), windows)
    return dtypes.round_to(np.ascontiguousarray(np.moveaxis(sums, 0, axis)), dtypes.from_numpy(grad.dtype))
