"""Which checks phase one makes, in order, with what it makes them: for people who want to see them.

Operators call their checks as plain functions, from wherever they share them, and none of that is slowed down or changed. Who wants to
know lets them be made once more, which phase one allows because it never touches data: meanwhile Python tells of every function that
the thread enters, and those that are checks are noted.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, NamedTuple

from acl_emu.core import formats
from acl_emu.core.errors import AclError
from acl_emu.runtime.executor import Plan
from acl_emu.runtime.tensor import Operand, Scalar
from acl_emu.spec import checks
from acl_emu.spec.kinds import IntKind
from acl_emu.spec.operator import DTYPE, LENGTH, NULL, RANK, STANDARD_ORDER, Operator
from acl_emu.tools import spell

_EACH = RANK.__code__
"""Formats, dimensions and choices share their code."""


class Step(NamedTuple):
    """One check."""

    rule: str
    detail: str
    failure: str = ""
    check: str = ""
    """The name of the function that makes it."""
    result: Any = None


class Outcome(NamedTuple):
    """What phase one came to."""

    steps: list[Step]
    plan: Plan | None
    error: AclError | None


def made(operator: Operator, arguments: Sequence[Any]) -> list[Step]:
    """The checks of phase one, up to the first that fails."""
    return follow(operator, arguments).steps


def order(operator: Operator) -> list[Step]:
    """The checks that an operator makes before those in its own function."""
    own = _own_checks(operator)
    return [
        Step(rule, "", check=method)
        if (rule := _EACH_RULES.get(method := _method(check)))
        else Step(own[check.__code__], "", check=_name(check))
        for check in operator.checks
    ]


def follow(operator: Operator, arguments: Sequence[Any]) -> Outcome:
    """Make the checks of phase one. No executor comes of it; nothing is told to whoever watches."""
    follower = _Follower(operator)
    failure: AclError | None = None
    plan: Plan | None = None
    profiler = sys.getprofile()
    sys.setprofile(follower.hear)
    try:
        replaced = operator._replaceable
        values = tuple(
            None if kind in replaced and arguments[replaced[kind]] else kind.take(name, value)
            for (name, kind), value in zip(operator.parameters, arguments, strict=True)
        )
        plan = operator._plan(values)
    except AclError as error:
        failure = error
    finally:
        sys.setprofile(profiler)
    return Outcome(follower.steps(failure), plan, failure)


class _Follower:
    """Notes the checks among the functions that a thread enters."""

    def __init__(self, operator: Operator) -> None:
        self._known = _own_checks(operator)
        self._steps: list[tuple[CodeType, Step]] = []
        self._inside: FrameType | None = None

    def steps(self, error: AclError | None) -> list[Step]:
        """The checks up to now; ``error`` is what ended them."""
        self._inside = None
        steps = [Step("Every handle stands for a living object of its kind", "")] + [step for _, step in self._steps]
        if error is not None:
            if not self._steps or self._steps[-1][0] in _codes(error):
                steps[-1] = steps[-1]._replace(failure=str(error))
            else:
                steps.append(Step("A rule of this operator", "", str(error)))
        return steps

    def hear(self, frame: FrameType, event: str, result: Any) -> None:
        """A function is entered, or returns."""
        if event == "call":
            if self._inside is None and (frame.f_code in self._known or frame.f_code is _EACH):
                self._inside = frame
                check = frame.f_locals.get("method", "") if frame.f_code is _EACH else frame.f_code.co_name
                self._steps.append((frame.f_code, _described(frame, self._known)._replace(check=check)))
        elif event == "return" and frame is self._inside:
            self._inside = None
            if result is not None:
                code, step = self._steps[-1]
                self._steps[-1] = (code, step._replace(detail=f"{step.detail} → {_value(result)}", result=result))


def _codes(error: AclError) -> set[CodeType]:
    found, traceback = set(), error.__traceback__
    while traceback is not None:
        found.add(traceback.tb_frame.f_code)
        traceback = traceback.tb_next
    return found


def _summary(function: Any) -> str:
    text = inspect.getdoc(function) or str(getattr(function, "__name__", "check"))
    return text.splitlines()[0].rstrip(".")


def _own_checks(operator: Operator) -> dict[CodeType, str]:
    """The shared checks, and those that are only this operator's."""
    own = {function for function in operator.checks if function not in STANDARD_ORDER and hasattr(function, "__code__")}
    return _shared_checks() | {function.__code__: _summary(function) for function in own}


def _method(check: Any) -> str:
    """Of a standard check that asks each parameter: what it asks."""
    return str(inspect.getclosurevars(check).nonlocals["method"]) if check.__code__ is _EACH else ""


def _name(check: Any) -> str:
    return str(check.__code__.co_name)


@lru_cache(maxsize=None)
def _shared_checks() -> dict[CodeType, str]:
    known = {
        function.__code__: _summary(function)
        for name, function in vars(checks).items()
        if inspect.isfunction(function) and function.__module__ == checks.__name__ and not name.startswith("_")
    }
    known[checks.require.__code__] = "A rule of this operator"
    known[NULL.__code__] = "No null pointer where none is allowed"
    known[LENGTH.__code__] = "Every list has a number of members that the operator takes"
    known[DTYPE.__code__] = "Every data type is one that the operator takes on this chip"
    return known


_EACH_RULES = {
    "check_format": "Every format is one that the operator takes",
    "check_rank": "Every tensor has a number of dimensions that the operator takes, none of them negative",
    "check_choice": "Every other value is one of those that are declared",
}


def _described(frame: FrameType, known: dict[CodeType, str]) -> Step:
    code, given = frame.f_code, frame.f_locals
    if code is _EACH:
        method = given.get("method", "")
        return Step(_EACH_RULES.get(method, method), _standard(given, method))
    if code in (NULL.__code__, LENGTH.__code__, DTYPE.__code__):
        return Step(known[code], _standard(given, code.co_name))
    if code is checks.require.__code__:
        return Step(known[code], str(given["text"]))
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = [given[name] for name in names if name in given]
    if code.co_flags & inspect.CO_VARARGS:
        values += given[code.co_varnames[code.co_argcount + code.co_kwonlyargcount]]
    if values and isinstance(values[0], Operator):
        return Step(known[code], "")  # it was given all parameters, and its rule says which it looked at
    return Step(known[code], f"{code.co_name}({', '.join(_value(value) for value in values)})")


_FACTS = {
    "DTYPE": lambda operand: spell.dtype(operand.view.dtype_code),
    "check_format": lambda operand: formats.format_name(operand.view.format).removeprefix("ACL_FORMAT_"),
    "check_rank": lambda operand: f"{operand.rank} ({list(operand.shape)})",
}


def _standard(given: dict[str, Any], what: str) -> str:
    """What a standard check looked at, parameter by parameter, lists member by member."""
    said = []
    for (name, kind), value in zip(given["operator"].parameters, given["values"], strict=True):
        if what == "LENGTH" and isinstance(value, list):
            said.append(f"{name} {len(value)}")
        elif what == "NULL" and not kind.pointer:
            continue
        elif what == "check_choice" and isinstance(value, (int, float, str)):
            choices = kind.choices._value2member_map_ if isinstance(kind, IntKind) and kind.choices is not None else {}
            said.append(f"{name} = {spell.argument(value)}" + (f" ({choices[value].name.lower()})" if value in choices else ""))
        else:
            parts = [(f"{name}[{i}]", member) for i, member in enumerate(value)] if isinstance(value, list) else [(name, value)]
            said += [text for part, one in parts if (text := _member(part, one, what))]
    return ", ".join(said)


def _member(name: str, value: Any, what: str) -> str:
    """What a standard check looked at of a tensor or scalar."""
    if what == "NULL":
        return f"{name} is null" if value is None else name
    if isinstance(value, Operand) and what in _FACTS:
        return f"{name} {_FACTS[what](value)}"
    return f"{name} {value.dtype.name}" if isinstance(value, Scalar) and what == "DTYPE" else ""


def _value(value: Any) -> str:
    if isinstance(value, Operand):
        return f"{value.name} {spell.view(value.view)}"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_value, value))}]"
    return str(value) or '""'
