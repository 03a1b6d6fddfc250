"""What convolutions check: arrays of lengths, channels and groups, the shape of the result, and what a chip cannot do."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from acl_emu.core import soc
from acl_emu.core.constants import ACL_FORMAT_NCDHW, ACL_FORMAT_NCHW, ACL_FORMAT_NCL
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, DType
from acl_emu.core.errors import AclnnInnerNullptr
from acl_emu.engine.matmul import Taken
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import IntKind, Operand, require
from aclnnop.conv.windows import AXES, Window, three
from aclnnop.matmul.cube import OLDER, CubeMathType, rounding

FLOATS = (FLOAT, FLOAT16, BF16)
IMAGES = frozenset({ACL_FORMAT_NCL, ACL_FORMAT_NCHW, ACL_FORMAT_NCDHW})
"""Formats that say which axis is which; ND does not."""
MOST_GROUPS = 65535


class ConvMathType(enum.IntEnum):
    """How the matrix unit may compute."""

    KEEP_DTYPE = 0
    ALLOW_FP32_DOWN_PRECISION = 1
    USE_FP16 = 2
    USE_HF32 = 3


ConvMath = Annotated[int, IntKind("int8_t", choices=ConvMathType)]


def conv_rounding(mode: int, dtype: DType) -> Taken:
    """What inputs of a type are rounded to; of a mode that a type has no use for nothing is left on newer chips."""
    if mode == CubeMathType.USE_HF32 and dtype is not FLOAT and soc.current().product not in OLDER:
        return Taken.UNCHANGED
    return rounding(mode, dtype)


class Settings(NamedTuple):
    """The attributes of a convolution."""

    stride: IntArray
    padding: IntArray
    dilation: IntArray
    transposed: bool
    outputPadding: IntArray
    groups: int


def window_of(image: Operand, weight: Operand, settings: Settings) -> Window:
    """Check the attributes, and take them for three axes."""
    axes = image.rank - 2
    require(weight.rank == image.rank, f"{weight.name} has {weight.rank} dimensions, expected as many as {image.name}: {image.rank}")
    counts = {"stride": (axes,), "padding": padding_lengths(axes, settings.transposed), "dilation": (axes,)}
    if settings.transposed:
        counts["outputPadding"] = (axes,)
    arrays: dict[str, tuple[int, ...]] = {name: getattr(settings, name).values for name in counts}
    for name, values in arrays.items():
        wanted = " or ".join(map(str, counts[name]))
        require(len(values) in counts[name], f"{name} has {len(values)} values, expected {wanted} for images of {axes} dimensions")
    for name, values in arrays.items():
        least = 1 if name in ("stride", "dilation") else 0
        require(min(values) >= least, f"{name} is {list(values)}, expected values of at least {least}")
    stride, dilation, padding = arrays["stride"], arrays["dilation"], arrays["padding"]
    pairs = [padding[2 * i : 2 * i + 2] for i in range(axes)] if len(padding) > axes else [(value, value) for value in padding]
    groups = settings.groups
    require(1 <= groups <= MOST_GROUPS, f"groups is {groups}, expected 1 to {MOST_GROUPS}")
    require(0 not in weight.shape[2:], f"{weight.name} has shape {list(weight.shape)}, expected a kernel of at least one element")
    return Window(
        padded(weight.shape[2:], 1),
        padded(stride, 1),
        padded(dilation, 1),
        padded([pair[0] for pair in pairs], 0),
        padded([pair[1] for pair in pairs], 0),
        groups,
    )


def padding_lengths(axes: int, transposed: bool) -> tuple[int, ...]:
    """How many values a padding has: one for each axis, or one for each side of it."""
    return (axes,) if axes == AXES or (axes == 1 and transposed) else (axes, 2 * axes)


def padded(values: Sequence[int], other: int) -> tuple[int, int, int]:
    """For three axes."""
    return three((*[other] * (AXES - len(values)), *values))


def result_shape(x: Operand, weight: Operand, window: Window, settings: Settings) -> tuple[int, ...]:
    """The shape of a convolution of ``x``; refuses channels that do not fit, and kernels that are too large."""
    groups, axes = window.groups, x.rank - 2
    first, second, *_ = weight.shape
    channels = first if settings.transposed else second * groups
    require(
        x.shape[1] == channels,
        f"{x.name} has shape {list(x.shape)}, expected {channels} channels for {groups} groups of {weight.name}: {list(weight.shape)}",
    )
    require(first % groups == 0, f"{weight.name} has shape {list(weight.shape)}, expected a first length that {groups} groups divide")
    image = padded(x.shape[2:], 1)
    if settings.transposed:
        extra = padded(settings.outputPadding.values, 0)
        for i in range(AXES - axes, AXES):
            require(
                extra[i] < max(window.stride[i], window.dilation[i]),
                f"outputPadding is {settings.outputPadding}, expected values below those of stride or dilation",
            )
        places = [
            (image[i] - 1) * window.stride[i]
            - window.before[i]
            - window.after[i]
            + window.dilation[i] * (window.kernel[i] - 1)
            + extra[i]
            + 1
            for i in range(AXES)
        ]
        require(min(places) >= 0, f"{x.name} has shape {list(x.shape)}, of which padding leaves nothing: {places[-axes:]}")
        return (x.shape[0], second * groups, *places[-axes:])
    extents = [window.dilation[i] * (window.kernel[i] - 1) + 1 for i in range(AXES)]
    around = [image[i] + window.before[i] + window.after[i] for i in range(AXES)]
    require(
        all(extent <= length for extent, length in zip(extents, around, strict=True)),
        f"{x.name} has shape {list(x.shape)}, with padding {around[-axes:]}, expected at least the kernel with its gaps: {extents[-axes:]}",
    )
    return (x.shape[0], first, *window.places(image)[-axes:])


Limits = dict[tuple[bool, int], dict[str, int]]
"""The largest values along height and width, by ``transposed`` and the number of axes."""


def within_limits(window: Window, axes: int, transposed: bool, limits: Limits) -> None:
    """What the matrix unit can do; a chip that cannot finds no kernel."""
    padding = [max(pair) for pair in zip(window.before, window.after, strict=True)]
    given = {"stride": window.stride, "padding": padding, "dilation": window.dilation, "kernel": window.kernel}
    for name, most in limits.get((transposed, axes), {}).items():
        values = list(given[name][-min(axes, 2) :])
        if max(values) > most:
            raise AclnnInnerNullptr(f"{name} is {values} along the last axes, expected at most {most} on {soc.current().name}")
