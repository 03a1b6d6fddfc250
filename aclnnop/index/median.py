"""aclnnMedian, aclnnMedianDim, aclnnNanMedian and aclnnNanMedianDim: the lower median, and where it is."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    In,
    Int,
    Operand,
    Operator,
    Out,
    Plan,
    Product,
    direct,
    numbers,
    operator,
    require,
    same_dtype,
    shape_is,
    wrap_dim,
)
from aclnnop.math.ordering import length_along, order, ordering_examples
from aclnnop.math.reduction import NEWER, NOT_310B, filled, reduced_shape

TYPES = (FLOAT, FLOAT16, BF16, UINT8, INT8, INT16, INT32, INT64)
ValuesIn = Annotated[Operand, In(*TYPES)]
ValuesOut = Annotated[Operand, Out(*TYPES)]
IndicesOut = Annotated[Operand, Out(INT64)]


@operator(products=NOT_310B)
def aclnnMedian(self: ValuesIn, valuesOut: ValuesOut) -> Plan:
    """Find the median of all elements, the lower one of two; NaN, if there is one."""
    return of_all(self, valuesOut, skip_nan=False)


@operator(products=NEWER | {Product.A910})
def aclnnNanMedian(self: ValuesIn, out: ValuesOut) -> Plan:
    """Find the median of all elements that are not NaN, the lower one of two."""
    return of_all(self, out, skip_nan=True)


@operator(products=NOT_310B)
def aclnnMedianDim(self: ValuesIn, dim: Int, keepDim: Bool, valuesOut: ValuesOut, indicesOut: IndicesOut) -> Plan:
    """Find the median of every slice along ``dim``, the lower one of two, and its index; NaN, if there is one."""
    return of_slices(self, dim, keepDim, valuesOut, indicesOut, skip_nan=False)


@operator(products=NEWER | {Product.A910})
def aclnnNanMedianDim(self: ValuesIn, dim: Int, keepDim: Bool, valuesOut: ValuesOut, indicesOut: IndicesOut) -> Plan:
    """Find the median of the elements of every slice along ``dim`` that are not NaN, the lower one of two, and its index."""
    return of_slices(self, dim, keepDim, valuesOut, indicesOut, skip_nan=True)


def of_all(self: Operand, out: Operand, *, skip_nan: bool) -> Plan:
    """The median of nothing is NaN, as integer 0."""
    same_dtype(self, out)
    shape_is(out, (), "a single number")
    if 0 in self.shape:
        return filled((out,), float("nan"))
    return direct(median, reads=(self,), writes=(out, None), scratch={}, axis=None, skip_nan=skip_nan)


def of_slices(self: Operand, dim: int, keep: bool, values: Operand, indices: Operand, *, skip_nan: bool) -> Plan:
    """A slice of no elements has none."""
    same_dtype(self, values)
    axis = wrap_dim(dim, self)
    require(
        length_along(self, dim) > 0, f"self has shape {list(self.shape)}, expected no length of 0 in dimension {axis}, which is reduced"
    )
    for out in (values, indices):
        shape_is(out, reduced_shape(self, (axis,), keep), "self without dim, or with length 1 there")
    return direct(median, reads=(self,), writes=(values, indices), scratch={}, axis=axis, skip_nan=skip_nan)


def median(values: Array, found: Array, places: Array | None, *, axis: int | None, skip_nan: bool) -> None:
    """The element in the middle of the order; NaN comes last there, and is not counted, or is the result."""
    rows = values.reshape(-1) if axis is None or not values.ndim else values
    along = 0 if axis is None else axis
    ranks = order(rows, along, descending=False)
    odd = (rows != rows).sum(axis=along, keepdims=True)
    count = rows.shape[along] - odd
    middle = np.maximum(count - 1, 0) // 2 if skip_nan else np.where(odd > 0, count, (count - 1) // 2)
    chosen = np.take_along_axis(ranks, middle, along)
    found[...] = np.take_along_axis(rows, chosen, along).reshape(found.shape)
    if places is not None:
        places[...] = chosen.reshape(places.shape)


def examples_of_all(operator: Operator) -> Iterator[Example]:
    """Numbers of several types, an even count among them."""
    for index, dtype in enumerate((FLOAT, BF16, INT32)):
        yield {"self": numbers((3, 4 + index), dtype, 1, 9), operator.names[-1]: numbers((), dtype)}


def examples_of_slices(operator: Operator) -> Iterator[Example]:
    """Along every dimension."""
    return ordering_examples(
        operator,
        lambda dim, index: tuple(1 if axis == dim else length for axis, length in enumerate((3, 4, 5)) if index % 2 or axis != dim),
        keepDim=(False, True),
    )


for of_everything in (aclnnMedian, aclnnNanMedian):
    of_everything.example(lambda made=of_everything: examples_of_all(made))
for along_dim in (aclnnMedianDim, aclnnNanMedianDim):
    along_dim.example(lambda made=along_dim: examples_of_slices(made))
