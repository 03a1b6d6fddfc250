"""aclnnIm2col: the patches of images, as columns."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import (
    BF16,
    BOOL,
    COMPLEX32,
    COMPLEX64,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
)
from acl_emu.spec import Array, Example, In, IntArrayIn, Operand, Out, Plan, Product, numbers, operator, require, same_dtype, shape_is
from aclnnop.conversion.moves import NEWER, rearranged

TYPES = (BF16, FLOAT16, FLOAT)
NEWEST = {Product.A950: (*TYPES, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, DOUBLE, BOOL, COMPLEX32, COMPLEX64)}


@operator(products=NEWER)
def aclnnIm2col(
    self: Annotated[Operand, In(*TYPES, rank=(3, 4), on=NEWEST)],
    kernelSize: IntArrayIn,
    dilation: IntArrayIn,
    padding: IntArrayIn,
    stride: IntArrayIn,
    out: Annotated[Operand, Out(*TYPES, rank=(2, 3), const=True, on=NEWEST)],
) -> Plan:
    """Lay every patch of ``kernelSize`` that a window meets on its way over an image into a column."""
    same_dtype(self, out)
    arrays = {"kernelSize": kernelSize, "dilation": dilation, "padding": padding, "stride": stride}
    for name, values in arrays.items():
        require(len(values) == 2, f"{name} has {len(values)} values, expected 2")
        least = 0 if name == "padding" else 1
        require(min(values.values) >= least, f"{name} is {values}, expected values of at least {least}")
    require(0 not in self.shape[-3:], f"self has shape {list(self.shape)}, expected no empty dimension but the first of four")
    size = [
        (self.shape[-2 + i] + 2 * padding.values[i] - dilation.values[i] * (kernelSize.values[i] - 1) - 1) // stride.values[i] + 1
        for i in range(2)
    ]
    require(min(size) > 0, f"self has shape {list(self.shape)}, in which a patch has {size} places, expected at least one")
    channels = self.shape[-3] * kernelSize.values[0] * kernelSize.values[1]
    shape_is(out, (*self.shape[:-3], channels, size[0] * size[1]), "channels times kernelSize, and places")
    settings = {name: values.values for name, values in arrays.items()}
    return rearranged(patches, (self,), out, size=size, **settings)


@aclnnIm2col.example
def examples() -> Iterator[Example]:
    """One image and two, with gaps and borders."""
    yield {
        "self": numbers((2, 5, 6), FLOAT, 1),
        "kernelSize": [2, 3],
        "dilation": [1, 1],
        "padding": [0, 0],
        "stride": [1, 1],
        "out": numbers((12, 16), FLOAT, 2),
    }
    yield {
        "self": numbers((2, 2, 5, 6), BF16, 1),
        "kernelSize": [2, 2],
        "dilation": [2, 1],
        "padding": [1, 0],
        "stride": [2, 2],
        "out": numbers((2, 8, 9), BF16, 2),
    }


def patches(
    x: Array,
    *,
    size: list[int],
    kernelSize: tuple[int, int],
    dilation: tuple[int, int],
    padding: tuple[int, int],
    stride: tuple[int, int],
) -> Array:
    """A view of the padded images with a dimension for each place within a patch, and each place of one."""
    high, wide = padding
    full = np.zeros((*x.shape[:-2], x.shape[-2] + 2 * high, x.shape[-1] + 2 * wide), x.dtype)
    full[..., high : high + x.shape[-2], wide : wide + x.shape[-1]] = x
    *outer, down, right = full.strides
    shape = (*x.shape[:-2], *kernelSize, *size)
    strides = (*outer, down * dilation[0], right * dilation[1], down * stride[0], right * stride[1])
    view = np.lib.stride_tricks.as_strided(full, shape, strides)
    return view.reshape(*x.shape[:-3], x.shape[-3] * kernelSize[0] * kernelSize[1], size[0] * size[1])
