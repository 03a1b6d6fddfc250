"""The family of reductions along dimensions: which dimensions, the shape of the result, the plan, and the kernels that members share."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, COMPLEX128, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, DType
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import (
    ALL,
    Array,
    Example,
    Operand,
    Operator,
    Plan,
    Product,
    between,
    mapped,
    numbers,
    require,
    same_shape,
    shape_is,
    unbuffered,
    wrap_dim,
)
from acl_emu.spec.kinds import BoolKind, DataTypeKind, HandleKind, IntKind, TensorKind

FLOATS = (FLOAT, FLOAT16, BF16)
ORDERED = (*FLOATS, DOUBLE, INT8, INT16, INT32, INT64, UINT8)
ORDERED_OR_BOOL = (*ORDERED, BOOL)
NUMBERS = (*ORDERED, COMPLEX64, COMPLEX128)

NEWER = frozenset({Product.A950, Product.A3, Product.A2})
NOT_310B = ALL - {Product.A310B}


def without_bf16(*types: DType) -> dict[Product, tuple[DType, ...]]:
    """What Ascend310B takes of them: it has BF16, and some operators not for it."""
    return {Product.A310B: tuple(dtype for dtype in types if dtype is not BF16)}


def reduced_axes(dims: IntArray | None, operand: Operand, name: str) -> tuple[int, ...]:
    """The listed dimensions, counted from the front, each once; all where none is listed."""
    if dims is None:
        return tuple(range(operand.rank))
    axes = [wrap_dim(dim, operand, name) for dim in dims.values]
    require(len(set(axes)) == len(axes), f"{name} is {dims}, expected every dimension once for {operand.name} of {operand.rank} dimensions")
    return tuple(sorted(axes)) if axes else tuple(range(operand.rank))


def reduced_shape(operand: Operand, axes: Sequence[int], keep: bool) -> tuple[int, ...]:
    """What is left of the shape; a kept dimension has length 1."""
    return tuple(1 if axis in axes else length for axis, length in enumerate(operand.shape) if keep or axis not in axes)


def declared_dtype(code: int, types: Sequence[DType], name: str = "dtype") -> DType:
    """The type that an attribute names, if it is one of these."""
    require(code in {dtype.code for dtype in types}, f"{name} is {dtypes.dtype_name(code)}, expected one of {', '.join(map(str, types))}")
    return dtypes.BY_CODE[code]


def dtype_of_out(code: int, types: Sequence[DType], out: Operand) -> DType:
    """The type that ``dtype`` names, which has to be that of ``out``."""
    dtype = declared_dtype(code, types)
    require(dtype is out.dtype, f"dtype is {dtype}, expected that of {out.name}: {out.dtype}")
    return dtype


def convertible(operand: Operand, dtype: DType) -> None:
    """The operand can be converted to the type that is computed in."""
    require(dtypes.can_cast(operand.dtype, dtype), f"{operand.name} has dtype {operand.dtype}, which cannot be cast to dtype: {dtype}")


def reduced(
    kernel: Callable[..., Any],
    self: Operand,
    axes: Sequence[int],
    keep: bool,
    *outs: Operand,
    dtype: DType,
    of_none: float | None = None,
    raw: Sequence[Operand] = (),
    **attributes: Any,
) -> Plan:
    """``outs = kernel(self, axes=axes)``, computed in ``dtype``, whether it keeps the dimensions or not; a number counts as a row of one.

    ``of_none`` is the result of a slice without elements; where it is None such a slice is 161002.
    """
    if of_none is None:
        for axis in axes[: self.rank]:
            require(
                self.shape[axis] > 0,
                f"{self.name} has shape {list(self.shape)}, expected no length of 0 in dimension {axis}, which is reduced",
            )
    shape = reduced_shape(self, axes, keep)
    for out in outs:
        shape_is(out, shape, f"{self.name} without the reduced dimensions, or with length 1 there")
    if 0 in self.shape:
        return filled(outs, 0.0 if of_none is None else of_none)
    row = self if self.rank else self.in_view((1,))
    along = tuple(axes) if self.rank else (0,)

    def in_shape(values: Array) -> Any:
        results = kernel(values, axes=along, **attributes)
        return tuple(one.reshape(shape) for one in results) if isinstance(results, tuple) else results.reshape(shape)

    if dtype in FLOATS and 0 not in shape and all(operand.dtype is dtype for operand in (self, *outs)):
        return unbuffered(in_shape, reads=(row,), writes=outs, dtype=dtype)
    return mapped(in_shape, reads=(row,), writes=outs, dtype=dtype, raw=raw)


def unreduced(self: Operand, out: Operand) -> Plan:
    """No dimension is reduced: the elements as they are, cast to the type of ``out``."""
    same_shape(self, out)
    return mapped(lambda values: values, reads=(self,), writes=(out,), dtype=self.dtype)


def filled(outs: Sequence[Operand], value: float) -> Plan:
    """Every element of the results is one number; integers have 0 for NaN and infinities."""

    def constants() -> Any:
        whole = value if math.isfinite(value) else 0
        return tuple(np.full(out.shape, value if out.dtype.kind in ("float", "complex") else whole) for out in outs)

    return mapped(constants, reads=(), writes=outs, dtype=outs[0].dtype)


# The kernels. Sums and products are taken in the widest type of their kind and rounded once.


def wide(values: Array) -> Any:
    """The type that numbers are accumulated in: integers wrap around in their own."""
    return {"f": np.float64, "c": np.complex128, "b": np.int64}.get(values.dtype.kind, values.dtype)


def largest(values: Array, *, axes: tuple[int, ...]) -> Array:
    """The largest element of each slice; NaN is larger than everything."""
    found: Array = values.max(axis=axes)
    return found


def smallest(values: Array, *, axes: tuple[int, ...]) -> Array:
    """The smallest element of each slice; NaN, if there is one."""
    found: Array = values.min(axis=axes)
    return found


def sum_along(values: Array, *, axes: tuple[int, ...]) -> Array:
    """Truth values are counted."""
    sums: Array = values.sum(axis=axes, dtype=wide(values))
    return sums


def product(values: Array, *, axes: tuple[int, ...]) -> Any:
    """Of truth values it is true where all are."""
    return values.all(axis=axes) if values.dtype == np.bool_ else values.prod(axis=axes, dtype=wide(values))


def count(values: Array, axes: tuple[int, ...]) -> int:
    """How many elements a slice has."""
    return math.prod(values.shape[axis] for axis in axes)


def average(values: Array, *, axes: tuple[int, ...]) -> Array:
    """The mean of each slice; that of integers is cut off towards zero."""
    if values.dtype.kind in "iu":
        sums = values.sum(axis=axes, dtype=np.int64)
        truncated: Array = np.sign(sums) * (np.abs(sums) // count(values, axes))
        return truncated
    mean: Array = sum_along(values, axes=axes) / count(values, axes)
    return mean


def rounded_average(values: Array, *, axes: tuple[int, ...]) -> Array:
    """The same in the computing type, where the result is stored in another one."""
    return average(values, axes=axes).astype(values.dtype)


def variance(values: Array, *, axes: tuple[int, ...], correction: int) -> Array:
    """The mean of squared differences to the mean, of which ``correction`` are not counted; nothing cancels in float64."""
    exact = values.astype(np.float64)
    apart = exact - exact.sum(axis=axes, keepdims=True) / count(values, axes)
    found: Array = (apart * apart).sum(axis=axes) / float(max(count(values, axes) - correction, 0))
    return found


def deviation(values: Array, *, axes: tuple[int, ...], correction: int) -> Array:
    """The root of the variance."""
    found: Array = np.sqrt(variance(values, axes=axes, correction=correction))
    return found


def norm(values: Array, *, axes: tuple[int, ...], order: float) -> Array:
    """The vector norm of each slice, its dimensions kept. Order 0 counts what is not zero; infinite orders are extremes.

    The largest magnitude is taken out of other powers, for negative orders the smallest, so that none overflows.
    """
    size = np.abs(values)
    found: Array
    if order == 0:
        found = (values != 0).sum(axis=axes, keepdims=True).astype(np.float64)
    elif order == 1:
        found = size.sum(axis=axes, keepdims=True, dtype=np.float64)
    elif order == 2:
        exact = values.astype(np.float64)
        found = np.sqrt((exact * exact).sum(axis=axes, keepdims=True))
    elif math.isinf(order):
        found = size.max(axis=axes, keepdims=True) if order > 0 else size.min(axis=axes, keepdims=True)
    else:
        outer = size.max(axis=axes, keepdims=True) if order > 0 else size.min(axis=axes, keepdims=True)
        usual = (outer > 0) & (outer < np.inf)
        divisor = np.where(usual, outer, np.float32(1))
        sums = np.power(size / divisor, np.float32(order)).sum(axis=axes, keepdims=True, dtype=np.float64)
        found = np.where(usual, divisor * np.power(sums.astype(np.float32), np.float32(1 / order)), outer)
    return found


def log_sum_exp(values: Array, *, axes: tuple[int, ...]) -> Array:
    """The logarithm of the sum of exponentials, the largest element taken out; one that is infinite is the result."""
    top = values.max(axis=axes, keepdims=True)
    shift = np.where(np.abs(top) < np.inf, top, np.float32(0))
    sums = np.exp(values - shift).sum(axis=axes, keepdims=True, dtype=np.float64).astype(np.float32)
    found: Array = np.log(sums) + shift
    return found


_CALLS: tuple[tuple[list[int], bool], ...] = (([1], False), ([-1, 0], True), ([], False))
_SHAPE = (3, 4, 5)


def reduction_examples(operator: Operator, **others: Sequence[Any]) -> Iterator[Example]:
    """One axis, several, all; of each kind of type. ``others`` are values of other parameters, taken in turn.

    Without DOUBLE: strides decide in which order it is added, and its last digit shows that.
    """
    parameters = dict(operator.parameters)
    taken = next(kind for kind in parameters.values() if isinstance(kind, TensorKind))
    along_some = any(isinstance(kind, HandleKind) and kind.kind is IntArray for kind in parameters.values())
    along_one = any(isinstance(kind, IntKind) and name == "dim" for name, kind in parameters.items())
    chosen = [dtype for dtype in (FLOAT, BF16, INT32, INT64, BOOL, COMPLEX64) if dtype in taken.allowed]
    for index, dtype in enumerate(chosen):
        dims, keep = _CALLS[index % 3] if along_some else ([index % 3], index % 2 == 1)
        axes = [dim % 3 for dim in dims] if dims and (along_some or along_one) else [0, 1, 2]
        shape = tuple(
            1 if axis in axes else length for axis, length in enumerate(_SHAPE) if (keep and (along_some or along_one)) or axis not in axes
        )
        example: Example = {}
        for name, kind in parameters.items():
            if name in others:
                example[name] = others[name][index % len(others[name])]
            elif isinstance(kind, TensorKind) and kind.io == "out":
                result = INT64 if name.startswith("indices") else next(one for one in (dtype, *kind.allowed) if one in kind.allowed)
                example[name] = numbers(shape, result, 2)
            elif isinstance(kind, TensorKind):
                example[name] = between(0, 2, _SHAPE, dtype, 1) if dtype is BOOL else numbers(_SHAPE, dtype, 1, 3)
            elif isinstance(kind, HandleKind):
                example[name] = dims
            elif isinstance(kind, BoolKind):
                example[name] = keep
            elif isinstance(kind, DataTypeKind):
                given = next(one for other, one in parameters.items() if isinstance(one, TensorKind) and one.io == "out")
                example[name] = next(one for one in (dtype, *given.allowed) if one in given.allowed).code
            else:
                example[name] = dims[0]
        yield example
