"""Operators over lists that a formula declares, and the numbers that they take beside the lists.

A number is an aclScalar, the members of an aclScalarList, the only element of a tensor, or the elements of a tensor, one for each member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT32, INT64, DType
from acl_emu.core.errors import AclError, AclnnInvalid, AclnnNullptr
from acl_emu.runtime.tensor import Scalar, make_view
from acl_emu.spec import (
    DTYPE,
    FORMAT,
    LENGTH,
    NULL,
    RANK,
    Example,
    HandleKind,
    In,
    ListOf,
    Operand,
    Operator,
    Plan,
    Product,
    between,
    length_is,
    mapped,
    require,
    same_dtype,
)
from acl_emu.spec.families import calling_module, derived
from acl_emu.spec.kinds import Kind, ListKind, TensorKind
from acl_emu.spec.operator import Check
from acl_emu.spec.tiling import in_tiling
from aclnnop.foreach.each import CHECKS, PRODUCTS, On, TensorsIn, TensorsInOut, TensorsOut, consistent, for_each, same_types

Formula = Callable[..., Any]

ANY_NUMBER = (FLOAT, FLOAT16, INT32)
"""What the only element of a tensor may be."""
ANY_SCALAR = (FLOAT, FLOAT16, INT32, DOUBLE, INT64)
FLOAT_SCALAR = (FLOAT, FLOAT16, DOUBLE)
REFUSING_ALL = (NULL, LENGTH, DTYPE, FORMAT, same_types, RANK, consistent)
"""The checks of the newer forms: 161002 for everything but null pointers."""


class Number(NamedTuple):
    """The parameter that says a number, or one for each member."""

    name: str
    kind: Kind
    each: bool = False
    """Whether there is one for each member."""

    def members(self, value: Any, count: int) -> Sequence[Operand | Scalar]:
        """What it is for each of ``count`` members."""
        if not count:
            return []
        if isinstance(self.kind, ListKind):
            require(len(value) == count, f"{self.name} has {len(value)} members, expected {count}: one for each tensor")
            return value  # type: ignore[no-any-return]
        if not isinstance(value, Operand):
            return [value] * count
        length_is(value, count if self.each else 1, "one for each tensor" if self.each else "a single number")
        return [_element(value, index if self.each else 0) for index in range(count)]


def in_tensor(name: str, *types: DType) -> Number:
    """The only element of a tensor."""
    return Number(name, In(*(types or ANY_NUMBER)))


def in_scalar(name: str, *types: DType) -> Number:
    """A scalar."""
    return Number(name, HandleKind(Scalar, *(types or ANY_SCALAR)))


def in_scalars(*types: DType) -> Number:
    """A list of scalars, one for each member. Clients pass DOUBLE to all of these operators, and devices take it."""
    every = types if DOUBLE in types else (*types, DOUBLE)
    return Number("scalars", ListOf(HandleKind(Scalar, *every), least=0), each=True)


def in_elements(*types: DType) -> Number:
    """A tensor with an element for each member, of the members' type."""
    return Number("scalars", In(*types), each=True)


def over_lists(
    name: str,
    doc: str,
    formula: Formula,
    *types: DType,
    lists: tuple[str, ...] = ("x",),
    number: Number | None = None,
    integers: Formula | None = None,
    on: On = None,
    most: int | None = None,
    newer: bool = False,
    null: type[AclError] = AclnnNullptr,
    in_place: bool = False,
    number_first: bool = False,
) -> Operator:
    """Declare ``name(*lists, number, out)``: ``formula`` for the first members of all lists, the second ones and so on, in one launch.

    ``integers`` is the formula of integers where it is another one. ``newer``: the results are not
    const, and all that is wrong is 161002; ``null`` is what a null member is. ``most``: from 1 to as many members. ``in_place``: the
    first list holds the results, a null member is 161002, and 950 alone has it.
    """
    kinds: dict[str, Kind] = {one: TensorsIn(*types, on=on, null=null) for one in lists}
    products = PRODUCTS
    if in_place:
        kinds = {one: TensorsIn(*types, null=AclnnInvalid) for one in lists}
        kinds[lists[0]] = TensorsInOut(*types, const=False, null=AclnnInvalid)
        products = frozenset({Product.A950})
    if number is not None:
        given = {number.name: number.kind}
        kinds = {**given, **kinds} if number_first else {**kinds, **given}
    if not in_place:
        kinds["out"] = TensorsOut(*types, on=on, const=not newer, null=null)
    names = tuple(kinds)

    def plan(*values: Any) -> Plan:
        by_name = dict(zip(names, values, strict=True))
        inputs = [by_name[one] for one in lists]
        with in_tiling():
            require(most is None or 1 <= len(inputs[0]) <= most, f"{lists[0]} has {len(inputs[0])} members, expected 1 to {most}")
        if number is None:
            return for_each(member, *inputs, by_name.get("out", inputs[0]))
        for value in given_numbers(by_name[number.name]):
            for tensor in inputs[0][:1]:
                require_integer(value, number.name, tensor)
        with nullcontext() if newer else in_tiling():
            numbers = number.members(by_name[number.name], len(inputs[0]))
        return for_each(member, *inputs, numbers, by_name.get("out", inputs[0]))

    def member(*operands: Any) -> Plan:
        return computed(formula, integers or formula, *operands)

    checks: tuple[Check, ...] = REFUSING_ALL if newer else CHECKS
    if number is not None and number.each and isinstance(number.kind, TensorKind):
        checks = (*checks[:-1], _type_of_members, checks[-1])
    made = derived(name, kinds, plan, module=calling_module(), doc=doc, products=products, checks=checks)
    made.example(lambda: examples(made))
    return made


def computed(formula: Formula, integers: Formula, *operands: Any) -> Plan:
    """``out = formula(*inputs, number)`` in the type of the first input; half types in float32, rounded once."""
    *inputs, out = operands
    via = inputs[0].dtype
    applied = integers if via.kind == "integer" else formula
    number = inputs[-1]
    if isinstance(number, Scalar):
        value = number_in(number, via)
        return mapped(lambda *arrays: applied(*arrays, value), reads=inputs[:-1], writes=(out,), dtype=via)
    return mapped(applied, reads=inputs, writes=(out,), dtype=via)


def number_in(scalar: Scalar, via: DType) -> Any:
    """A scalar as formulas take it; next to half types it is a FLOAT."""
    return scalar.converted(via) if via.kind == "integer" else via.compute.type(scalar.converted(FLOAT))


def given_numbers(value: Any) -> Sequence[Operand | Scalar]:
    """All that the parameter names."""
    return value if isinstance(value, list) else [value]


def require_integer(number: Operand | Scalar, name: str, tensor: Operand) -> None:
    """Tensors of integers take no others."""
    require(
        tensor.dtype.kind == "float" or number.dtype.kind == "integer",
        f"{name} has dtype {number.dtype}, expected an integer for tensors of {tensor.dtype}",
    )


def examples(operator: Operator) -> Iterator[Example]:
    """Lists of two members of different shapes, of the first and the last type, and a number."""
    kinds = dict(operator.parameters)
    first = next(kind.member for kind in kinds.values() if isinstance(kind, ListKind))
    assert isinstance(first, TensorKind)
    on_all = [dtype for dtype in first.allowed if all(dtype in listed for listed in first.on.values())]
    for dtype in dict.fromkeys((on_all[0], on_all[-1])):
        example: Example = {}
        for seed, (name, kind) in enumerate(kinds.items()):
            example[name] = _example(kind, dtype, seed)
        yield example


def _example(kind: Kind, dtype: DType, seed: int) -> Any:
    if isinstance(kind, ListKind) and isinstance(kind.member, TensorKind):
        return [between(1, 4, shape, dtype, seed) for shape in ((3, 4), (2, 1, 5))]
    if isinstance(kind, ListKind):
        return [_number(dtype, kind.member.allowed)] * 2
    if isinstance(kind, HandleKind):
        return _number(dtype, kind.allowed)
    assert isinstance(kind, TensorKind)
    if dtype in kind.allowed and BF16 in kind.allowed:
        return between(1, 4, (2,), dtype, seed)
    return np.array([_number(dtype, kind.allowed)])


def _number(dtype: DType, allowed: tuple[DType, ...]) -> Any:
    taken = next((one for one in (dtype, *allowed) if one in allowed and one.kind == dtype.kind), allowed[0])
    return np.asarray(3 if taken.kind == "integer" else 1.5).astype(taken.numpy)[()]


def _element(operand: Operand, index: int) -> Operand:
    """One element of a tensor, as a tensor."""
    view = operand.view
    place = view.offset
    for length, stride in zip(reversed(view.shape), reversed(view.strides), strict=True):
        index, here = divmod(index, length)
        place += here * stride
    return Operand(operand.name, make_view((), view.dtype_code, None, place, view.format, view.storage), operand.place)


def _type_of_members(operator: Operator, values: tuple[Any, ...]) -> None:
    """161002 where the elements have another type than the members."""
    by_name = dict(zip(operator.names, values, strict=True))
    for member in by_name[operator.names[0]][:1]:
        same_dtype(member, by_name["scalars"])
