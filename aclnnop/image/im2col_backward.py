"""aclnnIm2colBackward: columns of patches, added up to images."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import (
    Array,
    Example,
    In,
    IntArrayIn,
    Operand,
    Out,
    Plan,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.image.upsampling import FLOATS, NEWER
from aclnnop.pooling.windows import Axis, sliding


@operator(products=NEWER)
def aclnnIm2colBackward(
    gradOutput: Annotated[Operand, In(*FLOATS, rank=(2, 3))],
    inputSize: IntArrayIn,
    kernelSize: IntArrayIn,
    dilation: IntArrayIn,
    padding: IntArrayIn,
    stride: IntArrayIn,
    out: Annotated[Operand, Out(*FLOATS, rank=(3, 4))],
) -> Plan:
    """Add up, for each element of the images, what the columns of the patches that it is in have for it."""
    same_dtype(gradOutput, out)
    arrays = {"inputSize": inputSize, "kernelSize": kernelSize, "dilation": dilation, "padding": padding, "stride": stride}
    for name, array in arrays.items():
        least = 0 if name == "padding" else 1
        require(len(array) == 2, f"{name} has {len(array)} values, expected 2")
        require(min(array.values) >= least, f"{name} is {list(array.values)}, expected values of at least {least}")
    axes = tuple(
        sliding(length, size, by, (pad, pad), step, False)
        for length, size, step, pad, by in zip(*(array.values for array in arrays.values()), strict=True)
    )
    *samples, rows, _ = gradOutput.shape
    elements = kernelSize.values[0] * kernelSize.values[1]
    require(rows > 0 and rows % elements == 0, f"gradOutput has shape {list(gradOutput.shape)}, expected rows for patches of {elements}")
    shape_is(gradOutput, (*samples, rows, axes[0].count * axes[1].count), "one column for each place of a patch")
    shape_is(out, (*samples, rows // elements, *inputSize.values), "channels and inputSize")
    if 0 in out.shape:
        return nothing()
    return direct(added_up, reads=(gradOutput,), writes=(out,), scratch={}, axes=axes, sizes=tuple(kernelSize.values))


def added_up(grad: Array, out: Array, *, axes: tuple[Axis, Axis], sizes: tuple[int, int]) -> None:
    """In float64, rounded once; elements of the padding are left out."""
    high, wide = axes
    parts = grad.reshape(*out.shape[:-2], *sizes, high.count, wide.count)
    total = np.zeros(out.shape)
    for row in range(sizes[0]):
        for column in range(sizes[1]):
            down, across = np.array(high.starts) + row * high.step, np.array(wide.starts) + column * wide.step
            own_rows, own_columns = ((at >= 0) & (at < axis.length) for at, axis in ((down, high), (across, wide)))
            taken = parts[..., row, column, :, :][..., own_rows, :][..., own_columns]
            total[..., down[own_rows][:, None], across[own_columns]] += taken
    out[...] = total


@aclnnIm2colBackward.example
def examples() -> Iterator[Example]:
    """One image and two, with gaps and borders."""
    for dtype, samples, kernel, dilation, padding, stride, places in (
        (FLOAT, (), (2, 3), (1, 1), (0, 0), (1, 1), 16),
        (FLOAT16, (2,), (2, 2), (2, 1), (1, 0), (2, 2), 9),
        (BF16, (2,), (3, 3), (1, 2), (1, 2), (1, 1), 30),
    ):
        yield {
            "gradOutput": numbers((*samples, 2 * kernel[0] * kernel[1], places), dtype, 1),
            "inputSize": (5, 6),
            "kernelSize": kernel,
            "dilation": dilation,
            "padding": padding,
            "stride": stride,
            "out": numbers((*samples, 2, 5, 6), dtype, 2),
        }
