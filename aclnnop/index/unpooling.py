"""The way back from pooling: elements go to the places that indices say, and gradients come from there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from acl_emu.core.dtypes import DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.runtime.tensor import IntArray, Shape
from acl_emu.spec import (
    Array,
    Example,
    Operand,
    Operator,
    Plan,
    castable,
    direct,
    nothing,
    numbers,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.index.places import within
from aclnnop.pooling.windows import output_sizes, planes

TYPES = (FLOAT, FLOAT16, INT16, INT32, INT64, INT8, UINT8, DOUBLE)
PLACES = (INT64, INT32)


def windows_of_a_volume(stride: IntArray, padding: IntArray) -> None:
    """The pooling's windows, which the indices already know: three numbers each, strides above 0."""
    for array, name in ((stride, "stride"), (padding, "padding")):
        require(len(array) == 3, f"{name} has {len(array)} values, expected 3")
    require(all(value > 0 for value in stride.values), f"stride is {list(stride.values)}, expected values above 0")


def holds(self: Operand, sizes: Shape) -> None:
    """There are at least as many places as elements."""
    small, large = math.prod(self.shape[self.rank - len(sizes) :]), math.prod(sizes)
    require(large >= small, f"outputSize is {list(sizes)}, expected at least the {small} elements of {self.name}")


def has_channels(self: Operand) -> None:
    """Only the number of samples may be 0."""
    require(all(self.shape[1:]), f"{self.name} has shape {list(self.shape)}, expected elements along all dimensions but the first")


def unpool(self: Operand, indices: Operand, size: IntArray, out: Operand, count: int) -> Plan:
    """``out`` is zero, but for the elements of ``self`` at their places in its planes or volumes."""
    same_dtype(self, out)
    same_shape(self, indices)
    sizes = output_sizes(size, count)
    holds(self, sizes)
    shape_is(out, self.shape[: self.rank - count] + sizes, "with the last dimensions of outputSize")
    if 0 in out.shape:
        return nothing()
    return direct(placed, reads=(self, indices), writes=(out,), scratch={}, count=count, name=indices.name)


def unpool_gradient(grad: Operand, self: Operand, indices: Operand, size: IntArray, out: Operand, count: int) -> Plan:
    """``out`` has the elements of ``grad`` at the places of ``indices``."""
    same_dtype(self, grad)
    castable(grad.dtype, out)
    same_shape(self, indices, out)
    shape_is(grad, self.shape[: self.rank - count] + output_sizes(size, count), "with the last dimensions of outputSize")
    if 0 in out.shape:
        return nothing()
    require(grad.size > 0, f"{grad.name} has shape {list(grad.shape)}, expected elements where self has them")
    return direct(fetched, reads=(grad, indices), writes=(out,), scratch={}, count=count, name=indices.name)


def placed(values: Array, indices: Array, out: Array, *, count: int, name: str) -> None:
    """Of elements at the same place the last one stays."""
    result = np.zeros_like(planes(out, count))
    places = planes(within(indices, result.shape[1], name), count)
    result[np.arange(len(places))[:, None], places] = planes(values, count)
    out[...] = result.reshape(out.shape)


def fetched(grad: Array, indices: Array, out: Array, *, count: int, name: str) -> None:
    """Each from its place."""
    rows = planes(grad, count)
    places = planes(within(indices, rows.shape[1], name), count)
    out[...] = np.take_along_axis(rows, places, 1).reshape(out.shape)


def unpool_examples(operator: Operator, count: int) -> Iterator[Example]:
    """Places that do not repeat."""
    for turn, (dtype, place) in enumerate(((FLOAT, INT64), (FLOAT16, INT64), (INT32, INT64))):
        shape = ((2, 3), (3,))[turn % 2] + (2, 3, 2)[:count]
        large = shape[:-count] + (4, 5, 3)[:count]
        rng, length = np.random.default_rng(turn), int(np.prod(large[-count:]))
        rows = [rng.permutation(length)[: int(np.prod(shape[-count:]))] for _ in range(int(np.prod(shape[:-count])))]
        values: dict[str, Any] = {
            "self": numbers(shape, dtype, 1, 9),
            "gradOutput": numbers(large, dtype, 2, 9),
            "indices": np.array(rows, place.numpy).reshape(shape),
            "outputSize": large[-count:],
            "stride": (2,) * count,
            "padding": (0,) * count,
            "out": numbers(shape if "gradOutput" in operator.names else large, dtype, 3, 9),
            "outRef": numbers(large, dtype, 4, 9),
        }
        yield {name: values[name] for name in operator.names}
