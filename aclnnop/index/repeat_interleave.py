"""aclnnRepeatInterleave and its forms: every element several times in a row."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import Array, Example, In, Int, Operand, Out, Plan, numbers, operator, require, same_dtype, shape_is, wrap_dim
from aclnnop.conversion.moves import NEWER, rearranged
from aclnnop.index.counts import counted

TYPES = (UINT8, INT8, INT16, INT32, INT64, BOOL, FLOAT16, BF16, FLOAT)
AnyIn = Annotated[Operand, In(*TYPES)]
SlicesIn = Annotated[Operand, In(*TYPES, rank=(1, 8))]
AnyOut = Annotated[Operand, Out(*TYPES)]
Counts = Annotated[Operand, In(INT32, INT64, rank=(0, 1))]


@operator(products=NEWER)
def aclnnRepeatInterleaveInt(self: AnyIn, repeats: Int, outputSize: Int, out: AnyOut) -> Plan:
    """Repeat every element, all in a row, ``repeats`` times."""
    same_dtype(self, out)
    check_times(repeats, self.size, outputSize)
    shape_is(out, (outputSize,), "outputSize")
    return rearranged(repeated, (self,), out, times=repeats, axis=None)


@operator(products=NEWER)
def aclnnRepeatInterleaveIntWithDim(self: SlicesIn, repeats: Int, dim: Int, outputSize: Int, out: AnyOut) -> Plan:
    """Repeat every slice along ``dim`` ``repeats`` times."""
    same_dtype(self, out)
    axis = wrap_dim(dim, self)
    check_times(repeats, self.shape[axis], outputSize)
    shape_is(out, (*self.shape[:axis], outputSize, *self.shape[axis + 1 :]), "self with outputSize along dim")
    return rearranged(repeated, (self,), out, times=repeats, axis=axis)


@operator(products=NEWER)
def aclnnRepeatInterleave(self: AnyIn, repeats: Counts, outputSize: Int, out: AnyOut) -> Plan:
    """Repeat every element, all in a row, as often as ``repeats`` says: one number for all, or one for each."""
    same_dtype(self, out)
    check_counts(repeats, self.size, "elements of self")
    shape_is(out, (outputSize,), "outputSize")
    return rearranged(repeated_by, (self, repeats), out, axis=None, size=outputSize)


@operator(products=NEWER)
def aclnnRepeatInterleaveWithDim(self: SlicesIn, repeats: Counts, dim: Int, outputSize: Int, out: AnyOut) -> Plan:
    """Repeat every slice along ``dim`` as often as ``repeats`` says: one number for all, or one for each."""
    same_dtype(self, out)
    axis = wrap_dim(dim, self)
    check_counts(repeats, self.shape[axis], "slices of self")
    shape_is(out, (*self.shape[:axis], outputSize, *self.shape[axis + 1 :]), "self with outputSize along dim")
    return rearranged(repeated_by, (self, repeats), out, axis=axis, size=outputSize)


@operator(products=NEWER)
def aclnnRepeatInterleaveTensor(
    repeats: Annotated[Operand, In(INT32, INT64, rank=1)], outputSize: Int, out: Annotated[Operand, Out(INT32, INT64)]
) -> Plan:
    """Write every index as often as ``repeats`` says at it."""
    same_dtype(repeats, out)
    shape_is(out, (outputSize,), "outputSize")
    return rearranged(indices, (repeats,), out, size=outputSize)


def check_times(times: int, length: int, size: int) -> None:
    """161002 for a negative number, and for a size of the result that it does not lead to."""
    require(times >= 0, f"repeats is {times}, expected a value of at least 0")
    require(size == times * length, f"outputSize is {size}, expected {times * length}: repeats times {length}")


def check_counts(repeats: Operand, length: int, what: str) -> None:
    """161002 for another number of counts."""
    require(repeats.size in (1, length), f"repeats has {repeats.size} elements, expected 1 or as many as {what}: {length}")


@aclnnRepeatInterleaveInt.example
def each() -> Iterator[Example]:
    """Twice."""
    for dtype in (FLOAT, INT64):
        yield {"self": numbers((3, 4), dtype, 1, 9), "repeats": 2, "outputSize": 24, "out": numbers((24,), dtype, 2)}


@aclnnRepeatInterleaveIntWithDim.example
def each_slice() -> Iterator[Example]:
    """Columns and rows."""
    for dtype, dim, size, shape in ((FLOAT, -1, 12, (3, 12)), (BF16, 0, 9, (9, 4))):
        yield {"self": numbers((3, 4), dtype, 1, 9), "repeats": 3, "dim": dim, "outputSize": size, "out": numbers(shape, dtype, 2)}


@aclnnRepeatInterleave.example
def by_counts() -> Iterator[Example]:
    """One count for all, and one for each."""
    for dtype, counts in ((FLOAT, np.array([2])), (BOOL, np.array([3, 0, 1, 4, 2, 2], np.int32))):
        yield {"self": numbers((2, 3), dtype, 1, 9), "repeats": counts, "outputSize": 12, "out": numbers((12,), dtype, 2)}


@aclnnRepeatInterleaveWithDim.example
def slices_by_counts() -> Iterator[Example]:
    """Counts of rows."""
    out = numbers((6, 4), FLOAT, 2)
    yield {"self": numbers((3, 4), FLOAT, 1), "repeats": np.array([1, 3, 2]), "dim": 0, "outputSize": 6, "out": out}


@aclnnRepeatInterleaveTensor.example
def places() -> Iterator[Example]:
    """Some indices not at all."""
    for dtype in (np.int32, np.int64):
        yield {"repeats": np.array([1, 0, 3], dtype), "outputSize": 4, "out": np.zeros(4, dtype)}


def repeated(x: Array, *, times: int, axis: int | None) -> Array:
    """The same count everywhere."""
    return np.repeat(x, times, axis)


def repeated_by(x: Array, repeats: Array, *, axis: int | None, size: int) -> Array:
    """Counts that the device reads."""
    return np.repeat(x, counted(repeats, x.size if axis is None else x.shape[axis], size), axis)


def indices(repeats: Array, *, size: int) -> Array:
    """Of a list of counts."""
    return np.repeat(np.arange(repeats.size, dtype=repeats.dtype), counted(repeats, repeats.size, size))
