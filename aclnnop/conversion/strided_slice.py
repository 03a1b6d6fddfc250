"""aclnnStridedSlice: slices in steps, with masks that say which bounds count."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX32, COMPLEX64, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64
from acl_emu.core.errors import AclnnInvalid
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import Array, Example, In, Int, IntArrayIn, Operand, Out, Plan, Product, numbers, operator, require, same_dtype, shape_is
from aclnnop.conversion.moves import EIGHTS, rearranged

TYPES = (INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FLOAT, FLOAT16, BF16, BOOL, COMPLEX32, COMPLEX64, *EIGHTS)
Key = tuple[int | slice | None, ...]


@operator(products=frozenset({Product.A950}), elsewhere=AclnnInvalid)
def aclnnStridedSlice(
    self: Annotated[Operand, In(*TYPES)],
    begin: IntArrayIn,
    end: IntArrayIn,
    strides: IntArrayIn,
    beginMask: Int,
    endMask: Int,
    ellipsisMask: Int,
    newAxisMask: Int,
    shrinkAxisMask: Int,
    out: Annotated[Operand, Out(*TYPES)],
) -> Plan:
    """Take a slice for each entry of ``begin``; bit i of a mask says that entry i has no bound, stands for many, is new or is left out."""
    same_dtype(self, out)
    for name, values in (("end", end), ("strides", strides)):
        require(len(values) == len(begin), f"{name} has {len(values)} values, expected {len(begin)} as begin")
    require(0 not in strides.values, f"strides is {strides}, expected no 0")
    require(bin(ellipsisMask & ((1 << len(begin)) - 1)).count("1") <= 1, f"ellipsisMask is {ellipsisMask}, expected at most one bit")
    masks = {"begin": beginMask, "end": endMask, "ellipsis": ellipsisMask, "new": newAxisMask, "shrink": shrinkAxisMask}
    key = chosen(self, begin, end, strides, masks)
    empty = np.broadcast_to(np.zeros((), np.uint8), self.shape)[key]
    shape_is(out, empty.shape, "that of the slices")
    return rearranged(taken, (self,), out, key=key)


def chosen(self: Operand, begin: IntArray, end: IntArray, strides: IntArray, masks: dict[str, int]) -> Key:
    """The entries as numpy has them."""
    count = len(begin)
    bits = {name: [bool(mask >> place & 1) for place in range(count)] for name, mask in masks.items()}
    used = sum(not bits["new"][place] and not bits["ellipsis"][place] for place in range(count))
    require(
        used <= self.rank, f"begin has {used} entries for dimensions, expected at most {self.rank} for self of shape {list(self.shape)}"
    )
    key: list[int | slice | None] = []
    axis = 0
    for place, (first, last, step) in enumerate(zip(begin.values, end.values, strides.values, strict=True)):
        if bits["ellipsis"][place]:
            key += [slice(None)] * (self.rank - used)
            axis += self.rank - used
        elif bits["new"][place]:
            key.append(None)
        elif bits["shrink"][place]:
            length = self.shape[axis]
            require(step > 0, f"strides[{place}] is {step}, expected a positive value where shrinkAxisMask has its bit")
            require(-length <= first < length, f"begin[{place}] is {first}, expected a value in [{-length}, {length - 1}]")
            key.append(first)
            axis += 1
        else:
            key.append(slice(None if bits["begin"][place] else first, None if bits["end"][place] else last, step))
            axis += 1
    return tuple(key)


@aclnnStridedSlice.example
def examples() -> Iterator[Example]:
    """Bounds, steps back, a new dimension, one that is left out, and an ellipsis."""
    plain = {"beginMask": 0, "endMask": 0, "ellipsisMask": 0, "newAxisMask": 0, "shrinkAxisMask": 0}
    calls = (
        (FLOAT, [0, 1, 3], [3, 4, -5], [2, 1, -2], {"endMask": 4}, (2, 3, 2)),
        (INT8, [1, 0, 1], [2, 0, 4], [1, 1, 1], {"shrinkAxisMask": 1, "newAxisMask": 2}, (1, 3, 5)),
        (BF16, [0, 0, 2], [0, 0, 5], [1, 1, 1], {"ellipsisMask": 2, "beginMask": 1, "endMask": 1}, (3, 4, 3)),
    )
    for dtype, begin, end, strides, masks, shape in calls:
        bounds = {"begin": begin, "end": end, "strides": strides}
        yield {"self": numbers((3, 4, 5), dtype, 1, 9), **bounds, **plain, **masks, "out": numbers(shape, dtype, 2)}


def taken(x: Array, *, key: Key) -> Array:
    """As it lies."""
    found: Array = x[key]
    return found
