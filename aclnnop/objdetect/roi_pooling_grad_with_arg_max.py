"""aclnnRoiPoolingGradWithArgMax: the gradient of aclnnRoiPoolingWithArgMax."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT32
from acl_emu.core.errors import DeviceFault
from acl_emu.spec import (
    Array,
    Double,
    Example,
    In,
    InOut,
    Int,
    Operand,
    Plan,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
)
from aclnnop.objdetect.regions import image_number
from aclnnop.objdetect.roi_pooling_with_arg_max import NEWEST, TYPES

MOST_REGIONS = 1024


@operator(products=NEWEST)
def aclnnRoiPoolingGradWithArgMax(
    gradOutput: Annotated[Operand, In(*TYPES, rank=4)],
    gradInputRef: Annotated[Operand, InOut(*TYPES, rank=4)],
    rois: Annotated[Operand, In(*TYPES, rank=2)],
    argmax: Annotated[Operand, In(INT32, rank=4)],
    pooledH: Int,
    pooledW: Int,
    spatialScale: Double,
) -> Plan:
    """Add up the gradients of cells at the places of their largest elements."""
    same_dtype(gradOutput, gradInputRef)
    shape_is(rois, (rois.shape[0], 5), "the number of an image and four coordinates")
    for name, value in (("pooledH", pooledH), ("pooledW", pooledW)):
        require(value > 0, f"{name} is {value}, expected a value above 0")
    require(rois.shape[0] <= MOST_REGIONS, f"rois has {rois.shape[0]} regions, expected at most {MOST_REGIONS}")
    for operand in (gradOutput, argmax):
        shape_is(operand, (rois.shape[0], gradInputRef.shape[1], pooledH, pooledW), "regions, channels, pooledH, pooledW")
    if 0 in gradInputRef.shape:
        return nothing()
    return direct(returned, reads=(gradOutput, rois, argmax), writes=(gradInputRef,), scratch={}, names=(rois.name, argmax.name))


def returned(grad: Array, rois: Array, places: Array, out: Array, *, names: tuple[str, str]) -> None:
    """A place below 0 is that of an empty cell; one outside is a fault."""
    samples, channels, high, wide = out.shape
    if places.size and int(places.max()) >= high * wide:
        raise DeviceFault(f"{names[1]} has a place {int(places.max())}, expected places in a plane of {high * wide} elements")
    numbers_ = [image_number(np.floor(float(value)), samples, f"{names[0]}[{k}, 0]") for k, value in enumerate(rois[:, 0])]
    planes = (np.array(numbers_, np.int64)[:, None] * channels + np.arange(channels)).reshape(*places.shape[:2], 1, 1)
    taken = places >= 0
    index = (planes * (high * wide) + places)[taken]
    out[...] = np.bincount(index, weights=grad[taken].astype(np.float64), minlength=out.size).reshape(out.shape)


@aclnnRoiPoolingGradWithArgMax.example
def examples() -> Iterator[Example]:
    """Cells of two images, empty ones among them."""
    for dtype in (FLOAT, FLOAT16):
        yield {
            "gradOutput": numbers((3, 2, 2, 3), dtype, 1),
            "gradInputRef": numbers((2, 2, 4, 5), dtype, 2),
            "rois": np.array([[0, 0, 3, 0, 4], [1, 2, 4, 1, 3], [1, 0, 2, 2, 3]]).astype(dtype.numpy),
            "argmax": (np.arange(36).reshape(3, 2, 2, 3) * 7 % 21 - 1).astype(np.int32),
            "pooledH": 2,
            "pooledW": 3,
            "spatialScale": 1.0,
        }
