"""Masks of largest elements: for each place in a window a row of bits, one for each window of a plane.

Bit ``i`` of a row is bit ``i % 8`` of its byte ``i // 8``. The bytes behind the last window are 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from acl_emu.core.dtypes import FLOAT, INT8
from acl_emu.runtime.tensor import IntArray, Shape
from acl_emu.spec import Array, Example, Operand, Operator, Plan, direct, nothing, same_dtype, same_shape, shape_is
from aclnnop.pooling.maximum import maxima, sliding_examples
from aclnnop.pooling.windows import Axis, check_results, per_axis


def mask_shape(self: Shape, axes: Sequence[Axis], sizes: Sequence[int]) -> Shape:
    """A row for each place in a window, of whole blocks of 16 windows and one more, 32 bytes each."""
    windows = axes[0].count * axes[1].count
    return (*self[:-2], sizes[0] * sizes[1], (-(-windows // 16) + 1) * 32)


def masked_maximum(self: Operand, axes: Sequence[Axis], kernel: IntArray, out: Operand, indices: Operand) -> Plan:
    """The largest elements of windows, and the mask that says where they were."""
    sizes = per_axis(kernel, "kernelSize", 2, low=1)
    same_dtype(self, out)
    check_results(self, axes, out)
    shape_is(indices, mask_shape(self.shape, axes, sizes), "for the windows")
    if 0 in out.shape:
        return nothing()
    return direct(masked, reads=(self,), writes=(out, indices), scratch={}, axes=axes, sizes=sizes)


def masked_gradient(grad: Operand, self: Operand, indices: Operand, axes: Sequence[Axis], kernel: IntArray, result: Operand) -> Plan:
    """Gradients of the largest elements, added up where the mask says."""
    sizes = per_axis(kernel, "kernelSize", 2, low=1)
    same_dtype(grad, self, result)
    check_results(self, axes, grad)
    shape_is(indices, mask_shape(self.shape, axes, sizes), "for the windows")
    same_shape(self, result)
    if 0 in result.shape:
        return nothing()
    return direct(unmasked, reads=(grad, indices), writes=(result,), scratch={}, axes=axes, sizes=sizes)


def masked(values: Array, out: Array, mask: Array, *, axes: Sequence[Axis], sizes: Sequence[int]) -> None:
    """Each window has one bit."""
    places = np.empty(out.shape, np.int64)
    maxima(values, out, places, axes=axes)
    row, column = np.divmod(places, axes[1].length)
    inside = (row - np.array(axes[0].starts)[:, None]) * sizes[1] + column - np.array(axes[1].starts)
    bits = inside.reshape(*out.shape[:-2], 1, -1) == np.arange(sizes[0] * sizes[1])[:, None]
    packed = np.packbits(bits, axis=-1, bitorder="little").view(np.int8)
    mask[...] = 0
    mask[..., : packed.shape[-1]] = packed


def unmasked(grad: Array, mask: Array, out: Array, *, axes: Sequence[Axis], sizes: Sequence[int]) -> None:
    """Each place that has a bit gets the gradient of its window, in float64, rounded once; bits in the padding count for nothing."""
    windows = axes[0].count * axes[1].count
    bits = np.unpackbits(np.ascontiguousarray(mask).view(np.uint8), axis=-1, bitorder="little", count=windows)
    chosen = bits.reshape(*grad.shape[:-2], *sizes, *grad.shape[-2:]).astype(bool)
    values, total = grad.astype(np.float64), np.zeros(out.shape)
    for inside in np.ndindex(*sizes):
        places = [np.array(axis.starts) + number for axis, number in zip(axes, inside, strict=True)]
        there = [np.flatnonzero((place >= 0) & (place < axis.length)) for axis, place in zip(axes, places, strict=True)]
        given = np.where(chosen[(..., *inside, slice(None), slice(None))], values, 0)
        total[..., places[0][there[0]][:, None], places[1][there[1]]] += given[..., there[0][:, None], there[1]]
    out[...] = total


def mask_examples(operator: Operator) -> Iterator[Example]:
    """Those of indices, with the mask of the first elements of windows."""
    for example in sliding_examples(operator, 2, types=(FLOAT, FLOAT, FLOAT)):
        small = example["gradOutput" if "gradOutput" in example else "out"].shape
        size, pad = example["kernelSize"][0], example["padding"][0]
        rows, columns = (np.where(np.arange(n) == 0, pad, 0) for n in small[-2:])
        inside = np.broadcast_to(rows[:, None] * size + columns, small).reshape(*small[:-2], 1, -1)
        bits = inside == np.arange(size * size)[:, None]
        mask = np.zeros((*bits.shape[:-1], (-(-bits.shape[-1] // 16) + 1) * 32), INT8.numpy)
        packed = np.packbits(bits, axis=-1, bitorder="little").view(np.int8)
        mask[..., : packed.shape[-1]] = packed
        yield {**example, "indices": mask}
