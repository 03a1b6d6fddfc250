"""The family of operators that do to every member of a list what a plain operator does to a tensor, in one launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, DType
from acl_emu.core.errors import AclError, AclnnInvalid, AclnnNullptr
from acl_emu.runtime.tensor import make_view
from acl_emu.spec import (
    DTYPE,
    FORMAT,
    LENGTH,
    NULL,
    RANK,
    Example,
    In,
    InOut,
    ListOf,
    Operand,
    Operator,
    Out,
    Plan,
    Product,
    between,
    require,
    same_dtype,
    together,
)
from acl_emu.spec.families import calling_module, derived
from acl_emu.spec.kinds import Kind, ListKind, TensorKind, tensor_kind
from acl_emu.spec.operator import Check
from acl_emu.spec.tiling import in_tiling

FLOATS = (FLOAT, FLOAT16, BF16)
PRODUCTS = frozenset({Product.A950, Product.A3, Product.A2})


On = dict[Product, tuple[DType, ...]] | None
"""Types of products that differ from the others."""


def TensorsIn(*types: DType, on: On = None, null: type[AclError] = AclnnNullptr) -> ListKind:
    """A list of inputs, which may be empty."""
    return ListOf(In(*types, on=on), least=0, null=null)


def TensorsOut(*types: DType, on: On = None, const: bool = True, null: type[AclError] = AclnnNullptr) -> ListKind:
    """A list of results; most prototypes of the family call it const."""
    return ListOf(Out(*types, on=on, const=const), least=0, null=null)


def TensorsInOut(*types: DType, const: bool = True, null: type[AclError] = AclnnNullptr) -> ListKind:
    """A list whose members are changed in place."""
    return ListOf(InOut(*types, const=const), least=0, null=null)


Results = Mapping[DType, tuple[DType, ...]]
"""Types of results, for the types of inputs whose results have not just their own."""


def foreach(
    plain: Operator,
    *types: DType,
    name: str = "",
    plan: Callable[[Operand, Operand], Plan] | None = None,
    results: Results | None = None,
    on: On = None,
) -> Operator:
    """``aclnnForeachXxx(x, out)`` of ``aclnnXxx(self, out)``; members are FLOAT, FLOAT16 or BF16 unless ``types`` says otherwise.

    ``plan`` is for types that the plain operator does not take, ``results`` for those whose results have another one.
    """
    member, taken = plan or plain.function, types or FLOATS
    given = dict.fromkeys(result for dtype in taken for result in (results or {}).get(dtype, (dtype,)))
    kinds = {"x": TensorsIn(*taken, on=on), "out": TensorsOut(*given, on=on)}
    checks = checks_of(results) if results else CHECKS
    made = _made(plain, name, "", kinds, lambda x, out: for_each(member, x, out), PRODUCTS, calling_module(), checks)
    made.example(lambda: examples(made))
    return made


def foreach_in_place(plain: Operator, *, name: str = "") -> Operator:
    """``aclnnForeachXxxInplace(xRef)`` of ``aclnnXxx(self, out)``; a null member is 161002 here."""
    kinds = {"xRef": TensorsInOut(*FLOATS, const=False, null=AclnnInvalid)}
    only = frozenset({Product.A950})
    made = _made(plain, name, "Inplace", kinds, lambda refs: for_each(plain.function, refs, refs), only, calling_module(), CHECKS)
    made.example(lambda: examples(made))
    return made


def _made(
    plain: Operator,
    name: str,
    suffix: str,
    kinds: Mapping[str, Kind],
    plan: Callable[..., Plan],
    products: frozenset[Product],
    module: str,
    checks: tuple[Check, ...],
) -> Operator:
    name = name or f"aclnnForeach{plain.name.removeprefix('aclnn')}{suffix}"
    doc = f"{plain.name} for every tensor of a list: {plain.summary[:1].lower()}{plain.summary[1:]}"
    return derived(name, kinds, plan, module=module, doc=doc, products=products, checks=checks)


def examples(operator: Operator) -> Iterator[Example]:
    """Lists of two members of different shapes, of the first and the last type: numbers from 0 to 1, where all functions are defined."""
    lists = _list_parameters(operator)
    listed = [dtype for dtype in lists[0][1].allowed if all(dtype in here for here in lists[0][1].on.values())]
    for dtype in dict.fromkeys((listed[0], listed[-1])):
        high = 1 if dtype.kind == "float" else 2
        typed = [(name, dtype if dtype in member.allowed else member.allowed[0]) for name, member in lists]
        yield {name: [between(0, high, shape, own, seed) for shape in ((3, 4), (2, 1, 5))] for seed, (name, own) in enumerate(typed)}


def for_each(plan: Callable[..., Plan], *lists: Sequence[Any]) -> Plan:
    """``plan`` for the first members of all lists, the second ones and so on, the last list being the results: one launch for all."""
    *inputs, results = lists
    return together([plan(*members, flat_as(members[0], result)) for *members, result in zip(*inputs, results, strict=True)])


def flat_as(source: Operand, result: Operand) -> Operand:
    """The first elements of a result that is larger than its input, or of another shape, in the shape of the input."""
    if source.shape == result.shape:
        return result
    require(result.contiguous, f"{result.name} has shape {list(result.shape)}, expected that of {source.name} where it is not contiguous")
    view = result.view
    return Operand(result.name, make_view(source.shape, view.dtype_code, None, view.offset, view.format, view.storage), result.place)


# The checks of the family. Lists are compared with the first one.


def same_types(operator: Operator, values: tuple[Any, ...]) -> None:
    """161002 for members at the same place that differ in their types."""
    first, *others = _lists(operator, values)
    for other in others:
        for mine, yours in zip(first, other, strict=False):
            same_dtype(mine, yours)


def results_in(results: Results) -> Check:
    """A check: 161002 for results of another type than ``results`` says for that of the input at the same place, by default its own."""

    def check(operator: Operator, values: tuple[Any, ...]) -> None:
        for source, result in zip(*_lists(operator, values), strict=False):
            allowed = results.get(source.dtype, (source.dtype,))
            listed = " or ".join(map(str, allowed))
            require(
                result.dtype in allowed, f"{result.name} has dtype {result.dtype}, expected {listed} for {source.name} of {source.dtype}"
            )

    return check


def same_lengths(operator: Operator, values: tuple[Any, ...]) -> None:
    """161002 for types that differ within a list, and for lists of different lengths."""
    lists = _lists(operator, values)
    first = _list_parameters(operator)[0][0]
    for (name, _), listed in zip(_list_parameters(operator), lists, strict=True):
        require(len(listed) == len(lists[0]), f"{name} has {len(listed)} members, expected {len(lists[0])} as {first}")
        for member in listed[1:]:
            same_dtype(listed[0], member)


def consistent(operator: Operator, values: tuple[Any, ...]) -> None:
    """161002 for ``same_lengths``, for inputs of different shapes, and for results that are too small."""
    same_lengths(operator, values)
    lists = _lists(operator, values)
    for (name, kind), listed in zip(_list_parameters(operator), lists, strict=True):
        for index, (source, member) in enumerate(zip(lists[0], listed, strict=True)):
            enough = member.size >= source.size if kind.io == "out" else member.shape == source.shape
            wanted = f"at least {source.size} elements" if kind.io == "out" else f"shape {list(source.shape)}"
            require(enough, f"{name}[{index}] has shape {list(member.shape)}, expected {wanted} as {source.name}")
            if kind.io == "out":
                flat_as(source, member)


def tiling(operator: Operator, values: tuple[Any, ...]) -> None:
    """561002 for ranks and for what ``consistent`` finds."""
    with in_tiling():
        RANK(operator, values)
        consistent(operator, values)


CHECKS = (NULL, LENGTH, DTYPE, FORMAT, same_types, tiling)


def checks_of(results: Results) -> tuple[Check, ...]:
    """``CHECKS`` where results have types of their own."""
    return (NULL, LENGTH, DTYPE, FORMAT, results_in(results), tiling)


def _list_parameters(operator: Operator) -> list[tuple[str, TensorKind]]:
    return [(name, member) for name, kind in operator.parameters if isinstance(kind, ListKind) and (member := tensor_kind(kind))]


def _lists(operator: Operator, values: tuple[Any, ...]) -> list[list[Operand]]:
    by_name = dict(zip(operator.names, values, strict=True))
    return [by_name[name] for name, _ in _list_parameters(operator)]
