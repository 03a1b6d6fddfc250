"""The family of operators that apply one function to every element: ``@unary(types)`` over the formula declares one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from acl_emu.core.dtypes import BF16, BOOL, COMPLEX64, COMPLEX128, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, DType
from acl_emu.core.formats import STRIDED
from acl_emu.spec import (
    ALL,
    Array,
    Example,
    In,
    Operand,
    Operator,
    Out,
    Plan,
    Product,
    between,
    castable,
    mapped,
    numbers,
    require,
    same_dtype,
    same_shape,
)
from acl_emu.spec.families import derived
from acl_emu.spec.kinds import TensorKind
from aclnnop.math.arithmetic import as_integer, is_true

Formula = Callable[[Array], Any]
Types = tuple[DType, ...]

FLOATS = (FLOAT, FLOAT16, BF16)
REALS = (*FLOATS, DOUBLE)
COMPLEX = (COMPLEX64, COMPLEX128)
FLOATING = (*REALS, *COMPLEX)
INTEGRAL = (INT8, INT16, INT32, INT64, UINT8, BOOL)
"""Integers and truth values."""

NEWER = frozenset({Product.A950, Product.A3, Product.A2})
OLDER = (Product.A310P, Product.A910)


# What the result is, and what is computed in: a rule checks the type of ``out`` and names the computing type.


def floating(self: Operand, out: Operand) -> DType:
    """A floating-point number; integers and truth values are taken as FLOAT, or as DOUBLE where the result is one."""
    via = self.dtype if self.dtype.kind in ("float", "complex") else DOUBLE if out.dtype is DOUBLE else FLOAT
    castable(via, out)
    return via


def same(self: Operand, out: Operand) -> DType:
    """A number of the input's type."""
    same_dtype(self, out)
    return self.dtype


def converted(self: Operand, out: Operand) -> DType:
    """A number of the input's type, cast to that of the output."""
    castable(self.dtype, out)
    return self.dtype


def unary(
    *types: DType,
    results: Types = (),
    rule: Callable[[Operand, Operand], DType] = floating,
    integers: Formula | None = None,
    on: dict[Product, Types] | None = None,
    products: frozenset[Product] = ALL,
    out: str = "out",
    const_out: bool = False,
    formats: frozenset[int] = STRIDED,
    one_format: bool = False,
) -> Callable[[Formula], Operator]:
    """Declare ``aclnnXxx(input, out)``, whose name, parameter's name, summary and formula are those of the function below.

    ``types`` are those of the input, ``on`` where a product has others. The output has the same ones, without integers where the
    ``rule`` is ``floating``, unless ``results`` lists them. ``integers`` is the formula of integers where it is another one.
    ``one_format``: the output has the very format of the input, also where both are strided.
    """

    def outputs(listed: Types) -> Types:
        return tuple(dtype for dtype in listed if rule is not floating or dtype.kind in ("float", "complex"))

    def declare(formula: Formula) -> Operator:
        (first,) = inspect.signature(formula).parameters
        taken = {Product.A310B: without_bf16(types), **(on or {})}
        given = {product: without_bf16(results) if results else outputs(listed) for product, listed in taken.items()}
        stored = Out(*(results or outputs(types)), const=const_out, on=given, formats=formats)
        kinds = {first: In(*types, on=taken, formats=formats), out: stored}

        def plan(self: Operand, result: Operand) -> Plan:
            via = rule(self, result)
            require(not one_format or self.view.format == result.view.format, f"{result.name} has another format than {self.name}")
            same_shape(self, result)
            return applied(formula, integers or formula, via, self, result)

        doc = inspect.getdoc(formula) or ""
        operator = derived(formula.__name__, kinds, plan, module=formula.__module__, doc=doc, products=products)
        operator.example(lambda: examples(operator))
        return operator

    return declare


def applied(formula: Formula, integers: Formula, via: DType, self: Operand, out: Operand) -> Plan:
    """``out = formula(self)``, evaluated in the type of ``via``; truth values are the integers 0 and 1."""
    if via.kind in ("integer", "bool"):
        kernel = integers if via is not BOOL else lambda x: is_true(integers(as_integer(x)))
        return mapped(kernel, reads=(self,), writes=(out,), dtype=via)
    return mapped(formula, reads=(self,), writes=(out,), dtype=via)


def in_float(formula: Formula) -> Callable[[Operand, Operand], Plan]:
    """The plan of members of a list, integers too: those are computed as FLOAT."""

    def plan(self: Operand, out: Operand) -> Plan:
        if self.dtype.kind != "integer":
            return applied(formula, formula, self.dtype, self, out)
        return mapped(formula, reads=(self,), writes=(out,), dtype=FLOAT)

    return plan


def without_bf16(types: Types) -> Types:
    """What Ascend310B takes: it has BF16, and none of these operators for it."""
    return tuple(dtype for dtype in types if dtype is not BF16)


def unchanged(x: Array) -> Array:
    """Integers as they are."""
    return x


def examples(operator: Operator) -> Iterator[Example]:
    """Numbers from 0 to 1, where all functions of the family are defined, of several types."""
    (first, taken), (out, given) = operator.parameters
    assert isinstance(taken, TensorKind)
    assert isinstance(given, TensorKind)
    for dtype in (FLOAT, BF16, DOUBLE, COMPLEX64, INT32, BOOL):
        if dtype in taken.allowed:
            result = next(one for one in (dtype, FLOAT, *given.allowed) if one in given.allowed)
            inside = (
                numbers((3, 4, 5), dtype, 1) if dtype.kind == "complex" else between(0, 1 + (dtype.kind != "float"), (3, 4, 5), dtype, 1)
            )
            yield {first: inside, out: numbers((3, 4, 5), result, 2)}
