"""Means of windows, and their gradients: one kernel for sliding and adaptive ones, along two axes or three."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import Array, Example, In, Operand, Operator, Out, Plan, Product, direct, nothing, numbers, same_dtype, same_shape
from aclnnop.pooling.windows import Axis, check_results, sliding, spread, sums

FLOATS = (FLOAT, FLOAT16, BF16)
OLDER = dict.fromkeys((Product.A910, Product.A310P), (FLOAT, FLOAT16))
"""Products without BF16."""
PLANE, VOLUME = (3, 4), (4, 5)
"""Ranks: with and without samples."""

PlaneIn = Annotated[Operand, In(*FLOATS, rank=PLANE, on=OLDER)]
PlaneOut = Annotated[Operand, Out(*FLOATS, rank=PLANE, on=OLDER)]
VolumeIn = Annotated[Operand, In(*FLOATS, rank=VOLUME, on=OLDER)]
VolumeOut = Annotated[Operand, Out(*FLOATS, rank=VOLUME, on=OLDER)]


def average(self: Operand, axes: Sequence[Axis], out: Operand, *, padded: bool = False, divisor: int = 0) -> Plan:
    """The mean of each window: of its elements, ``padded``: with those of the padding; or its sum by ``divisor``, where that is not 0."""
    same_dtype(self, out)
    check_results(self, axes, out)
    if 0 in out.shape:
        return nothing()
    return direct(means, reads=(self,), writes=(out,), scratch={}, axes=axes, padded=padded, divisor=divisor)


def average_gradient(
    grad: Operand, self: Operand, axes: Sequence[Axis], result: Operand, *, padded: bool = False, divisor: int = 0
) -> Plan:
    """The gradient of that: each element gets its share of the windows that it is in."""
    same_dtype(grad, self, result)
    check_results(self, axes, grad)
    same_shape(self, result)
    if 0 in result.shape:
        return nothing()
    return direct(mean_gradients, reads=(grad,), writes=(result,), scratch={}, axes=axes, padded=padded, divisor=divisor)


def means(values: Array, out: Array, *, axes: Sequence[Axis], padded: bool, divisor: int) -> None:
    """In float64, rounded once."""
    out[...] = sums(values, axes) / divisors(axes, padded, divisor)


def mean_gradients(grad: Array, out: Array, *, axes: Sequence[Axis], padded: bool, divisor: int) -> None:
    """In float64, rounded once."""
    out[...] = spread(grad.astype(np.float64) / divisors(axes, padded, divisor), axes)


def divisors(axes: Sequence[Axis], padded: bool, divisor: int) -> Any:
    """What the sum of each window is divided by."""
    if divisor:
        return float(divisor)
    total: Array = np.ones((), np.float64)
    for axis in axes:
        total = np.multiply.outer(total, axis.padded_sizes if padded else axis.sizes)
    return total


def sliding_examples(operator: Operator, count: int) -> Iterator[Example]:
    """Plain windows; padding and steps that leave a rest; windows that lie close; a divisor of its own."""
    for turn, (dtype, sizes, strides, pads, ceil, counted, divisor) in enumerate(
        (
            (FLOAT, (2,) * count, (), (0,), False, True, 0),
            (FLOAT16, (3,), (2,), (1,), True, True, 0),
            (BF16, (2, 3, 2)[:count], (1, 2, 1)[:count], (1,) * count, False, False, 0),
            (FLOAT, (3,), (3,), (1,), True, False, 5),
        )
    ):
        shape = ((2, 3), (3,))[turn % 2] + (5, 6, 4)[:count]
        axes = zip(
            shape[-count:], *(given if len(given) == count else given * count for given in (sizes, strides or sizes, pads)), strict=True
        )
        lengths = tuple(sliding(length, size, stride, (pad, pad), 1, ceil).count for length, size, stride, pad in axes)
        small = shape[:-count] + lengths
        values: dict[str, Any] = {
            "gradOutput": numbers(small, dtype, 1),
            "self": numbers(shape, dtype, 2),
            **dict.fromkeys(("kernelSize",), sizes),
            **dict.fromkeys(("strides", "stride"), strides),
            **dict.fromkeys(("paddings", "padding"), pads),
            "ceilMode": ceil,
            "countIncludePad": counted,
            "divisorOverride": divisor,
            "cubeMathType": 1,
            "out": numbers(small, dtype, 3),
            **dict.fromkeys(("gradInput", "output"), numbers(shape, dtype, 4)),
        }
        yield {name: values[name] for name in operator.names}


def adaptive_examples(operator: Operator, count: int) -> Iterator[Example]:
    """Fewer windows than elements, more, and one."""
    for turn, (dtype, sizes) in enumerate(((FLOAT, (2, 3, 2)), (FLOAT16, (7, 2, 3)), (BF16, (1, 1, 1)))):
        shape = ((2, 3), (3,))[turn % 2] + (5, 6, 4)[:count]
        small = shape[:-count] + sizes[:count]
        values = {"self": numbers(shape, dtype, 1), "gradOutput": numbers(small, dtype, 2), "outputSize": sizes[:count]}
        values["out"] = numbers(shape if "gradOutput" in operator.names else small, dtype, 3)
        yield {name: values[name] for name in operator.names}
