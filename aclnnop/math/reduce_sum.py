"""aclnnReduceSum: sums along some dimensions."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32, INT64, DType
from acl_emu.spec import (
    ALL,
    Array,
    Bool,
    DataType,
    Example,
    In,
    IntArrayIn,
    Operand,
    Out,
    Plan,
    Product,
    direct,
    mapped,
    numbers,
    operator,
    require,
    shape_is,
    unbuffered,
)
from aclnnop.math.arithmetic import NUMBERS
from aclnnop.math.conversion import converted
from aclnnop.math.reduction import reduced_axes, reduced_shape


@operator(products=ALL - {Product.A310B})
def aclnnReduceSum(
    self: Annotated[Operand, In(*NUMBERS)],
    dims: IntArrayIn,
    keepDims: Bool,
    dtype: DataType,
    out: Annotated[Operand, Out(*NUMBERS)],
) -> Plan:
    """Add up the elements of every slice along ``dims``, converted to ``dtype`` first."""
    axes = reduced_axes(dims, self, "dims")
    require(
        dtype in (known.code for known in NUMBERS), f"dtype is {dtypes.dtype_name(dtype)}, expected one of {', '.join(map(str, NUMBERS))}"
    )
    require(dtype == out.dtype.code, f"dtype is {dtypes.dtype_name(dtype)}, expected that of out: {out.dtype}")
    require(0 not in self.shape or out.dtype.kind != "complex", f"out has dtype {out.dtype}, expected no complex type where self is empty")
    if 0 in self.shape:  # whatever the shape of out is
        return mapped(zeros, reads=(), writes=(out,), dtype=out.dtype, shape=out.shape)
    shape = reduced_shape(self, axes, keepDims)
    shape_is(out, shape, "self without the reduced dimensions")
    if out.dtype in (FLOAT, FLOAT16, BF16) and self.dtype is out.dtype and out.size:
        return unbuffered(sum_along, reads=(self,), writes=(out,), dtype=out.dtype, axes=axes, shape=out.shape)
    narrower = out.dtype in (FLOAT16, BF16) and self.dtype is not out.dtype
    if (
        (narrower or self.dtype.kind != out.dtype.kind)
        and self.dtype.kind in ("float", "complex")
        and out.dtype.kind != "complex"
        and out.size
    ):
        return direct(sum_converted, reads=(self,), writes=(out,), scratch={}, dtype=out.dtype, axes=axes, shape=out.shape)
    return mapped(sum_along, reads=(self,), writes=(out,), dtype=out.dtype, axes=axes, shape=shape)


@aclnnReduceSum.example
def examples() -> Iterator[Example]:
    """One axis, several, all; into other types."""
    for dtype, dims, out, shape in ((FLOAT, [1], FLOAT, (3, 5)), (FLOAT16, [-1, 0], BF16, (4,)), (INT32, [], INT64, ())):
        yield {
            "self": numbers((3, 4, 5), dtype, 1, 9),
            "dims": dims,
            "keepDims": False,
            "dtype": out.code,
            "out": numbers(shape, out, 2),
        }


def zeros(*, shape: tuple[int, ...]) -> Array:
    """The sum of no elements."""
    return np.zeros(shape)


def sum_along(values: Array, *, axes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """Whole numbers wrap around in their type, truth values are counted, others are added in the widest type of their kind."""
    wide = {"f": np.float64, "c": np.complex128, "b": np.int64}.get(values.dtype.kind, values.dtype)
    sums: Array = (values.sum(axis=axes, dtype=wide) if values.ndim else values.astype(wide)).reshape(shape)
    return sums


def sum_converted(values: Array, out: Array, *, dtype: DType, axes: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """The same of numbers that another type holds in part only."""
    out[...] = converted(sum_along(converted(values, dtype).astype(dtype.compute, copy=False), axes=axes, shape=shape), dtype)
