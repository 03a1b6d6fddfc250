"""Operators that are derived from another one, or from a row of a table, instead of being written again.

A derived operator is an ``Operator`` like any other: it has an official name, belongs to the module that it is assigned in, and everything
else (headers, stubs, checks, documents, tests) comes from its parameters.
"""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from acl_emu.core import dtypes
from acl_emu.core.dtypes import DType
from acl_emu.core.errors import AclError, AclnnInner
from acl_emu.core.soc import ALL, Product
from acl_emu.runtime.executor import Plan
from acl_emu.spec.examples import Example
from acl_emu.spec.kinds import InOut, Kind, TensorKind
from acl_emu.spec.operator import STANDARD_ORDER, Check, Operator


def derived(
    name: str,
    parameters: Mapping[str, Kind],
    plan: Callable[..., Plan],
    *,
    module: str,
    doc: str,
    products: frozenset[Product] = ALL,
    elsewhere: type[AclError] = AclnnInner,
    checks: tuple[Check, ...] = STANDARD_ORDER,
) -> Operator:
    """An operator that no function in a file declares: ``plan`` gets the parameters in order, as that function would."""

    def function(*values: Any) -> Plan:
        return plan(*values)

    annotations = {parameter: Annotated[Any, kind] for parameter, kind in parameters.items()}
    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__doc__ = doc
    function.__annotations__ = annotations
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(one, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=hint) for one, hint in annotations.items()]
    )
    return Operator(function, products, elsewhere, checks)


def calling_module() -> str:
    """The module whose code calls the function that asks: where a derived operator is declared."""
    return str(sys._getframe(2).f_globals["__name__"])


def in_place(
    plain: Operator,
    *types: DType,
    on: dict[Product, tuple[DType, ...]] | None = None,
    ref: str = "",
    const: bool = False,
    rank: tuple[int, int] | None = None,
    products: frozenset[Product] | None = None,
    instead: Mapping[str, Kind] | None = None,
    checks: tuple[Check, ...] = (),
) -> Operator:
    """``aclnnInplaceXxx`` of ``aclnnXxx(self, ..., out)``: the first parameter is also the output.

    It takes the types that are both inputs and outputs of the plain operator, unless ``types`` (and ``on``) says otherwise. ``ref`` is
    what the parameter is called where that is not the plain operator's with ``Ref`` behind it; ``const``: whether the prototype says so;
    ``instead``: the kinds of other parameters, by name, where they are not the plain operator's; ``checks`` come after its checks.
    """
    (first, taken), *others, (_, given) = plain.parameters
    if not (isinstance(taken, TensorKind) and isinstance(given, TensorKind) and given.io == "out"):
        raise TypeError(f"{plain.name} has no form in place: its first parameter is no tensor, or its last no output")
    if not types:
        products_that_differ = taken.on.keys() | given.on.keys()
        on = {one: _common(taken.on.get(one, taken.allowed), given.on.get(one, given.allowed)) for one in products_that_differ}
    allowed = types or _common(taken.allowed, given.allowed)
    limits = rank or (max(taken.least, given.least), min(taken.most, given.most))
    kind = InOut(*allowed, const=const, rank=limits, formats=taken.formats, on=on)
    made = derived(
        f"aclnnInplace{plain.name.removeprefix('aclnn')}",
        {ref or f"{first}Ref": kind, **dict(others), **(instead or {})},
        lambda changed, *values: plain.function(changed, *values, changed),
        module=plain.module,
        doc=f"{plain.name} in place: {plain.summary[:1].lower()}{plain.summary[1:]}",
        products=plain.products if products is None else products,
        elsewhere=plain.elsewhere,
        checks=(*plain.checks, *checks),
    )
    changed, (out, _) = made.names[0], plain.parameters[-1]

    @made.example
    def from_plain() -> Iterator[Example]:
        everywhere = (source.build() for source in plain.example_sources if source.products >= made.products)
        for example in itertools.chain.from_iterable(everywhere):
            source, result = example[first], example[out]
            if source.shape == result.shape and dtypes.from_numpy(source.dtype) in allowed:
                yield {changed: source, **{name: example[name] for name, _ in others}}

    return made


def _common(first: tuple[DType, ...], second: tuple[DType, ...]) -> tuple[DType, ...]:
    return tuple(dtype for dtype in first if dtype in second)
