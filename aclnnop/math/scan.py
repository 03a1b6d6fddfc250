"""The family of scans: every element of the result depends on the elements up to it along a dimension."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, INT32, INT64, DType
from acl_emu.spec import (
    ALL,
    Array,
    Example,
    In,
    IntKind,
    Operand,
    Operator,
    Out,
    Plan,
    Product,
    castable,
    mapped,
    numbers,
    shape_is,
    wrap_dim,
)
from acl_emu.spec.families import calling_module, derived
from acl_emu.spec.kinds import Kind, TensorKind
from aclnnop.math.reduction import ORDERED_OR_BOOL


def scanned(kernel: Callable[..., Any], self: Operand, dim: int, *outs: Operand, dtype: DType, raw: Sequence[Operand] = ()) -> Plan:
    """``outs = kernel(self, axis=dim)``, computed in ``dtype``; a number counts as a row of one."""
    axis = wrap_dim(dim, self)
    for out in outs:
        shape_is(out, self.shape, f"as {self.name}")
    rows = {id(operand): operand if operand.rank else operand.in_view((1,)) for operand in (self, *outs)}
    return mapped(
        lambda values: kernel(values, axis=axis),
        reads=(rows[id(self)],),
        writes=[rows[id(out)] for out in outs],
        dtype=dtype,
        raw=[rows[id(operand)] for operand in raw],
    )


def running_sum(values: Array, *, axis: int) -> Array:
    """Added in the widest type; integers wrap around."""
    return _wrapped(np.cumsum(values, axis=axis, dtype=_WIDEST[values.dtype.kind]), values)


def running_product(values: Array, *, axis: int) -> Array:
    """Multiplied in the widest type; integers wrap around."""
    return _wrapped(np.cumprod(values, axis=axis, dtype=_WIDEST[values.dtype.kind]), values)


_WIDEST: dict[str, Any] = {"f": np.float64, "c": np.complex128, "i": np.int64, "u": np.uint64}


def _wrapped(results: Array, values: Array) -> Array:
    """Integers in the type of the values."""
    return results.astype(values.dtype) if values.dtype.kind in "iu" else results


def running_extreme(
    name: str, ufunc: np.ufunc, doc: str, *, products: frozenset[Product] = ALL, on: dict[Product, tuple[DType, ...]] | None = None
) -> Operator:
    """``aclnnXxx(self, dim, valuesOut, indicesOut)``: the extreme so far, and where the last of them is; NaN, once there is one."""
    kinds: dict[str, Kind] = {
        "self": In(*ORDERED_OR_BOOL, on=on),
        "dim": IntKind(),
        "valuesOut": Out(*ORDERED_OR_BOOL, on=on),
        "indicesOut": Out(INT32, INT64),
    }

    def kernel(values: Array, *, axis: int) -> tuple[Array, Array]:
        found = ufunc.accumulate(values, axis=axis)
        places = np.arange(values.shape[axis]).reshape([-1 if one == axis else 1 for one in range(values.ndim)])
        reached = (values == found) | (values != values)
        return found, np.maximum.accumulate(np.where(reached, places, 0), axis=axis)

    def plan(self: Operand, dim: int, values: Operand, indices: Operand) -> Plan:
        castable(self.dtype, values)
        return scanned(kernel, self, dim, values, indices, dtype=self.dtype, raw=(indices,))

    made = derived(name, kinds, plan, module=calling_module(), doc=doc, products=products)
    made.example(lambda: scan_examples(made))
    return made


def scan_examples(operator: Operator, **others: Sequence[Any]) -> Iterator[Example]:
    """Along every dimension, of several types; ``others`` are values of other parameters, taken in turn."""
    taken = next(kind for _, kind in operator.parameters if isinstance(kind, TensorKind))
    for index, dtype in enumerate(one for one in (FLOAT, BF16, DOUBLE, INT32, INT64) if one in taken.allowed):
        example: Example = {}
        for name, kind in operator.parameters:
            if isinstance(kind, TensorKind):
                result = INT64 if name.startswith("indices") else dtype
                example[name] = numbers((3, 4, 5), result, 2 if kind.io == "out" else 1, 3)
            else:
                example[name] = (
                    {"dim": index % 3, "dtype": dtype.code}.get(name) if name not in others else others[name][index % len(others[name])]
                )
        yield example
