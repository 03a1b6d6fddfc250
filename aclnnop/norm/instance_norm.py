"""aclnnInstanceNorm: every channel of every sample with mean 0 and standard deviation 1, scaled and shifted."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import constants as c
from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.core.errors import AclnnInner, AclnnInvalid
from acl_emu.spec import (
    Array,
    Double,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    StringKind,
    numbers,
    operator,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.norm import rows
from aclnnop.norm.rows import LEAST_ROW, Axes, centred, scaled
from aclnnop.norm.views import along, in_shapes

TYPES = (FLOAT, FLOAT16)
CHANNELS = {"NCHW": 1, "NHWC": 3}
"""The axis of the channels, by the name of a format."""
Factor = Annotated[Operand, In(*TYPES, rank=1)]
Images = Annotated[Operand, In(*TYPES, rank=4)]
ImagesOut = Annotated[Operand, Out(*TYPES, rank=4)]


@operator(products=frozenset({Product.A310P}), elsewhere=AclnnInvalid)
def aclnnInstanceNorm(
    x: Images,
    gamma: Factor,
    beta: Factor,
    dataFormat: Annotated[str, StringKind(choices=tuple(CHANNELS))],
    eps: Double,
    y: ImagesOut,
    mean: ImagesOut,
    variance: ImagesOut,
) -> Plan:
    """Normalise every channel of every sample, multiply by ``gamma`` and add ``beta``; give means and variances."""
    same_dtype(x, gamma, beta, y, mean, variance)
    axis = CHANNELS[dataFormat]
    for factor in (gamma, beta):
        shape_is(factor, (x.shape[axis],), "one for each channel of x")
    same_shape(x, y)
    samples, channels = x.shape[0], x.shape[axis]
    for statistic in (mean, variance):
        shape_is(statistic, (samples, channels, 1, 1), "samples, channels, 1, 1")
    axes = tuple(one for one in (1, 2, 3) if one != axis)
    size, count = x.dtype.storage.itemsize, x.shape[axes[0]] * x.shape[axes[1]]
    if x.size > 0 and min(channels, count) * size < LEAST_ROW:
        text = f"x has {channels} channels of {count} elements, expected at least {LEAST_ROW} bytes of both"
        raise AclnnInner(text, c.ACLNN_ERR_INNER_NULLPTR)
    kept = tuple(1 if one in axes else length for one, length in enumerate(x.shape))
    factors = [along(factor, 4, axis) for factor in (gamma, beta)]
    reads = ((x, x.shape), *((factor, factor.shape) for factor in factors))
    writes = ((y, x.shape), (mean, kept), (variance, kept))
    return in_shapes(instances, reads=reads, writes=writes, axes=axes, count=count, eps=eps)


def instances(x: Array, gamma: Array, beta: Array, *, axes: Axes, count: int, eps: float) -> tuple[Array, ...]:
    """The channels, their means and variances."""
    differences, mean = centred(x, axes, count)
    spread = rows.variance(differences, axes, count)
    rstd = (1 / np.sqrt(spread + eps)).astype(x.dtype)
    return scaled(differences * rstd, gamma, beta), mean, spread.astype(x.dtype)


@aclnnInstanceNorm.example
def examples() -> Iterator[Example]:
    """Both formats."""
    for dtype, form, shape in ((FLOAT, "NCHW", (2, 16, 4, 5)), (FLOAT16, "NHWC", (2, 4, 5, 16))):
        yield {
            "x": numbers(shape, dtype, 1, 3),
            "gamma": numbers((16,), dtype, 2),
            "beta": numbers((16,), dtype, 3),
            "dataFormat": form,
            "eps": 1e-5,
            "y": numbers(shape, dtype, 4),
            "mean": numbers((2, 16, 1, 1), dtype, 5),
            "variance": numbers((2, 16, 1, 1), dtype, 6),
        }
