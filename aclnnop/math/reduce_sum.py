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
        return mapped(zeros, reads=(), writes=(out,), via=out.dtype, shape=out.shape)
    shape = reduced_shape(self, axes, keepDims)
    shape_is(out, shape, "self without the reduced dimensions")
    if out.dtype in (FLOAT, FLOAT16, BF16) and self.dtype is out.dtype and out.size:
        return unbuffered(sum_along, reads=(self,), writes=(out,), compute=np.float64, single=True, axes=axes, shape=out.shape)
    return mapped(total, reads=(self,), writes=(out,), via=out.dtype, raw=(self,), axes=axes, shape=shape, dtype=out.dtype)


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
    """The sums of all slices."""
    sums: Array = (values.sum(axis=axes) if values.ndim else values).reshape(shape)
    return sums


def total(values: Array, *, axes: tuple[int, ...], shape: tuple[int, ...], dtype: DType) -> Array:
    """Whole numbers wrap around in their type, truth values are counted, others are added in the widest type of their kind."""
    wide = {"float": np.float64, "complex": np.complex128, "bool": np.int64}.get(dtype.kind, dtype.numpy)
    terms = converted(values, dtype)
    sums: Array = (terms.sum(axis=axes, dtype=wide) if terms.ndim else terms.astype(wide)).reshape(shape)
    return sums
