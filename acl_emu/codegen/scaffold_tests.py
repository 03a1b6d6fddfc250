"""The tests of a new operator: every documented error as a line, and what else has to be tested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from acl_emu.codegen.scaffold_parameters import EASY, Parameter, call_text, joined
from acl_emu.core import constants as c
from acl_emu.core.soc import Product

if TYPE_CHECKING:
    from acl_emu.codegen.scaffold import Error

Described = tuple[str, Sequence[Parameter], Sequence[tuple["Error", bool]]]
"""Name, parameters, and the errors with whether the declaration finds them."""

_CODES = {value: name for name, value in vars(c).items() if name.startswith("ACLNN_ERR_")}

_TEMPLATE = '''"""{title}."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import acl_emu as acl
import aclnnop
from tests.conftest import message
from tests.operators.case import Case{meta}
from tests.operators.products import products_of

OPERATORS = {operators}


def call(operator: str) -> Case:
    """Its first example."""
    return Case(operator, next(aclnnop.find(operator).examples()))


@pytest.mark.parametrize("operator", OPERATORS)
def test_values(operator: str, device: int) -> None:
    pytest.fail("TODO: values against a float64 computation that shares no code with the kernel; each type and mode, empty, 0-dimensional")


{sample}ERRORS: list[tuple[str, dict[str, Any], int, str]] = [
{errors}]


@pytest.mark.parametrize(("operator", "changes", "status", "text"), ERRORS)
def test_errors(operator: str, changes: dict[str, Any], status: int, text: str) -> None:
    assert call(operator).but(**changes).status() == status
    assert text in message()


PRODUCTS = {products}


@pytest.mark.parametrize(("operator", "products"), PRODUCTS.items())
def test_products(operator: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(call(operator), chip) == products
'''


_SAMPLE = """@pytest.mark.parametrize("operator", OPERATORS)
def test_documented_sample(operator: str, device: int) -> None:
    pytest.fail("TODO: the page's own example, with the numbers that follow from its formula")


"""


def text(described: Sequence[Described], *, sample: bool) -> str:
    """The file."""
    names = [name for name, _, _ in described]
    errors = [line for one in described for line in _lines(one)]
    products = "".join(f'    "{name}": {{{_shorts(parameters)}}},\n' for name, parameters, _ in described)
    return _TEMPLATE.format(
        title=joined(names),
        sample=_SAMPLE if sample else "",
        operators="[" + ", ".join(f'"{name}"' for name in names) + "]",
        errors="".join(f"    {line},\n" for line in dict.fromkeys(errors)),
        products="{\n" + products + "}",
        meta=", Meta" if any("Meta(" in line for line in errors) else "",
    )


def _shorts(parameters: Sequence[Parameter]) -> str:
    return ", ".join(f'"{one.short}"' for one in Product if one in parameters[0].products)


def _lines(one: Described) -> Iterator[str]:
    name, parameters, errors = one
    by_name = {parameter.name: parameter for parameter in parameters}

    def line(*parts: str) -> str:
        return call_text("(", parts, ")", indent=4, follows=1)

    for error, filled in errors:
        status = f"acl.{_CODES[error.code]}"
        named = [by_name[parameter] for parameter in error.names] if filled else []
        calls = [wrong for parameter in named if (wrong := _wrong(error.what, parameter))]
        calls = calls[1:] if error.what == "dtype mismatch" else calls  # the first is what the others are compared with
        for changes, words in calls:
            yield line(f'"{name}"', changes, status, f'"{words}"')
        if not calls:
            yield line(f'"{name}"', "{}", status, f'"TODO {error.text}"')


def _wrong(what: str, one: Parameter) -> tuple[str, str] | None:
    """What is made wrong of a parameter, and what the message then says; None where that cannot be derived."""
    shape, first = f"(1,) * {one.least}" if one.least > 1 else "(1,)", one.example_type
    element = f"{one.name}[0]" if one.list else one.name

    def tensor(shape: str, dtype: str, form: str = "") -> str:
        meta = f"Meta({shape}, acl.ACL_{dtype}{form})"
        return f'{{"{one.name}": [{meta}]}}' if one.list else f'{{"{one.name}": {meta}}}'

    if what == "null pointer":
        return f'{{"{one.name}": None}}', f"{one.name} must not"
    if not one.tensor:
        return None
    if what == "dtype not supported":
        return tensor(shape, one.wrong_type), f"{element} has dtype"
    if what == "rank out of range":
        wrong = one.most + 1
        return tensor(f"(2,) * {wrong}", first), f"{element} has {wrong} dimensions"
    if what == "format not supported or mismatched":
        return tensor(shape, first, ", format=acl.ACL_FORMAT_FRACTAL_NZ"), f"{element} has format"
    second = next((name for name in EASY if name in one.types_on(Product.A2) and name != first), None)
    return (tensor(shape, second), f"{element} has dtype") if second else None
