"""The largest elements of windows with their places, and gradients that go back there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64
from acl_emu.runtime.executor import Indices
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import (
    Array,
    Example,
    In,
    Operand,
    Operator,
    Out,
    Plan,
    Product,
    direct,
    nothing,
    numbers,
    require,
    same_dtype,
    same_shape,
)
from aclnnop.pooling.average import FLOATS, PLANE, VOLUME
from aclnnop.pooling.windows import Axis, check_results, largest, planes, slide, sliding

NEWER = frozenset({Product.A950, Product.A3, Product.A2})
PLACES = (INT32, INT64)
SHORT_PLACES = dict.fromkeys((Product.A3, Product.A2), (INT32,))
"""Products whose indices are INT32."""
MOST_PLACES = 2**31 - 1
"""The largest INT32."""
STEPPING = (Product.A950,)
"""Products whose windows may have gaps."""

PlaneIn = Annotated[Operand, In(*FLOATS, rank=PLANE)]
PlaneOut = Annotated[Operand, Out(*FLOATS, rank=PLANE)]
VolumeIn = Annotated[Operand, In(*FLOATS, rank=VOLUME)]
VolumeOut = Annotated[Operand, Out(*FLOATS, rank=VOLUME)]
VolumePlaces = Annotated[Operand, In(*PLACES, rank=VOLUME, on=SHORT_PLACES)]
VolumePlacesOut = Annotated[Operand, Out(*PLACES, rank=VOLUME, on=SHORT_PLACES)]


def sliding_windows(
    self: Operand, count: int, kernel: IntArray, stride: IntArray, padding: IntArray, dilation: IntArray, *, ceil: bool
) -> tuple[Axis, ...]:
    """The windows of a largest element; on most products without gaps."""
    axes = slide(self, count, kernel, stride, padding, dilation, ceil=ceil)
    stepping = soc.current().product in STEPPING
    require(stepping or set(dilation.values) == {1}, f"dilation is {list(dilation.values)}, expected 1 on {soc.current().name}")
    return axes


def check_places(self: Operand, count: int) -> None:
    """161002 for planes or volumes with more elements than INT32 has places for."""
    found = math.prod(self.shape[self.rank - count :])
    rule = f"at most {MOST_PLACES} elements in its last {count} dimensions"
    require(found <= MOST_PLACES, f"{self.name} has shape {list(self.shape)}, expected {rule}")


def maximum(self: Operand, axes: Sequence[Axis], out: Operand, indices: Operand | None = None) -> Plan:
    """The largest element of each window, and its place in its plane or volume."""
    same_dtype(self, out)
    check_results(self, axes, out, *filter(None, (indices,)))
    if 0 in out.shape:
        return nothing()
    return direct(maxima, reads=(self,), writes=(out, indices), scratch={}, axes=axes)


def maximum_gradient(grad: Operand, self: Operand, indices: Operand, axes: Sequence[Axis], result: Operand) -> Plan:
    """Gradients of the largest elements, added up at their places; zero elsewhere. A place outside is a mistake that stops no device."""
    same_dtype(grad, self, result)
    check_results(self, axes, grad, indices)
    same_shape(self, result)
    if 0 in result.shape:
        return nothing()
    plan = direct(returned, reads=(grad, indices), writes=(result,), scratch={}, count=len(axes))
    plan.indices = (Indices(indices.name, indices.dtype.numpy, math.prod(axis.length for axis in axes)),)
    return plan


def maxima(values: Array, out: Array, indices: Array | None, *, axes: Sequence[Axis]) -> None:
    """NaN is larger than any number."""
    wide = values.astype(np.float32) if values.dtype.itemsize == 2 and values.dtype.kind not in "iu" else values
    best, places = largest(wide, axes)
    out[...] = best
    if indices is not None:
        indices[...] = places


def returned(grad: Array, indices: Array, out: Array, *, count: int) -> None:
    """Sums in float64, rounded once; a place outside counts for nothing."""
    length = int(np.prod(out.shape[out.ndim - count :]))
    places = planes(indices, count).astype(np.int64)
    there = (places >= 0) & (places < length)
    rows = (np.arange(len(places)) * length)[:, None]
    added = np.bincount((places + rows)[there], planes(grad, count).astype(np.float64)[there], out.size)
    out[...] = added.reshape(out.shape)


def sliding_examples(
    operator: Operator, count: int, types: Sequence[Any] = (FLOAT, FLOAT16, BF16), place: Any = INT32
) -> Iterator[Example]:
    """Windows side by side, close ones with padding, a rest at the end."""
    for turn, (dtype, sizes, strides, pads, ceil) in enumerate(
        zip(
            types,
            ((2,), (3,) * count, (2,) * count),
            ((), (1,) * count, (2,)),
            ((0,), (1,), (0,) * count),
            (False, False, True),
            strict=False,
        )
    ):
        shape = ((2, 3), (3,), (1, 2))[turn] + (5, 6, 4)[:count]
        if operator.name.endswith("MaskBackward"):  # has samples in any case
            shape = (2, 3, 5, 6)
        plain = [sliding(n, sizes[0], (strides or sizes)[0], (pads[0], pads[0]), 1, ceil).count for n in shape[-count:]]
        small = (*shape[:-count], *plain)
        values: dict[str, Any] = {
            "gradOutput": numbers(small, dtype, 1),
            "self": numbers(shape, dtype, 2, 9),
            "kernelSize": sizes,
            "stride": strides,
            "padding": pads,
            "dilation": (1,) * count,
            "ceilMode": ceil,
            "out": numbers(small, dtype, 3),
            "indices": first_places(shape, small, sizes[0], (strides or sizes)[0], pads[0], count).astype(place.numpy),
            "gradInput": numbers(shape, dtype, 4),
        }
        yield {name: values[name] for name in operator.names}


def first_places(shape: tuple[int, ...], small: tuple[int, ...], size: int, stride: int, pad: int, count: int) -> Array:
    """An element that is in each window: its first one."""
    total = np.zeros((1,) * len(shape), np.int64)
    for axis in range(len(shape) - count, len(shape)):
        starts = np.maximum(np.arange(small[axis]) * stride - pad, 0)
        total = total * shape[axis] + starts.reshape(-1, *(1,) * (len(shape) - 1 - axis))
    return np.array(np.broadcast_to(total, small))


def adaptive_examples(operator: Operator, count: int, place: Any = INT64) -> Iterator[Example]:
    """Fewer windows than elements, more, and one."""
    for turn, (dtype, sizes) in enumerate(((FLOAT, (2, 3, 2)), (FLOAT16, (7, 2, 3)), (BF16, (1, 1, 1)))):
        shape = ((2, 3), (3,))[turn % 2] + (5, 6, 4)[:count]
        small = shape[:-count] + sizes[:count]
        places = np.random.default_rng(turn).integers(0, int(np.prod(shape[-count:])), small).astype(place.numpy)
        values: dict[str, Any] = {
            "gradOutput": numbers(small, dtype, 1),
            "self": numbers(shape, dtype, 2, 9),
            "indices": places,
            "outputSize": sizes[:count],
            "gradInput": numbers(shape, dtype, 3),
            "outputOut": numbers(small, dtype, 4),
            "indicesOut": places,
        }
        yield {name: values[name] for name in operator.names}
