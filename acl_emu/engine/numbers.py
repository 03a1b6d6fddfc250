"""The numbers of a kernel, as far as it only computes with them: they are filled into a program that serves all of their values.

A kernel gets its numbers as attributes, or has them from the function that it was made in. While it is captured, a ``Number`` stands
for each one of floating point. Where it meets an array, it becomes a constant that is filled in. Where it meets other numbers, the
result is computed anew for each call, in Python, as the kernel would. Where the kernel asks for a value, or branches on one, its graph
holds for this answer only.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import CellType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from acl_emu.engine.graph import DType, Expression, Values
from acl_emu.runtime.tensor import Operand, Scalar, View

_KINDS = frozenset({float, np.float16, np.float32, np.float64})
"""Types of numbers that are filled in; others, lengths and choices among them, are part of what is captured."""
_PASSING = (Operand, Scalar, View)
"""What is another object in every call."""
_DEEP = 8


class Unknown(Exception):
    """There is no saying whether two kernels are the same, or a number is of another type than it was."""


# What tells kernels apart


def described(value: Any, numbers: list[Any], depth: int = 0) -> Any:
    """What tells a kernel or an attribute apart from others, but for its numbers, which are added to ``numbers``.

    It refers to code by address: whoever keeps it has to keep the value.
    """
    kind = value.__class__
    if kind in _KINDS:
        numbers.append(value)
        return kind
    if kind is FunctionType:
        if depth > _DEEP:
            raise Unknown
        code, cells, defaults, named = value.__code__, value.__closure__, value.__defaults__, value.__kwdefaults__
        if cells is None and defaults is None and named is None:
            return id(code)
        inside = [described(part, numbers, depth + 1) for part in _parts(cells, defaults, named)]
        return (id(code), *inside)
    if kind is tuple or kind is list or (isinstance(value, tuple) and hasattr(kind, "_make")):
        return (kind, *[described(part, numbers, depth + 1) for part in value])
    if kind is dict:
        return (kind, *value, *[described(part, numbers, depth + 1) for part in value.values()])
    if kind is partial:
        return (kind, *[described(part, numbers, depth + 1) for part in (value.func, value.args, value.keywords)])
    if isinstance(value, _PASSING):
        raise Unknown
    if isinstance(value, np.generic):
        return kind, value.tobytes()  # zeros of different sign are equal
    return (kind, repr(value)) if kind is complex else (kind, value)


def _parts(cells: tuple[CellType, ...] | None, defaults: tuple[Any, ...] | None, named: dict[str, Any] | None) -> Iterator[Any]:
    """What a function was made with."""
    try:
        for cell in cells or ():
            yield cell.cell_contents
    except ValueError:
        raise Unknown from None  # it has not been made yet
    yield from defaults or ()
    yield from (named or {}).values()


def with_numbers(value: Any, numbers: Iterator[Number]) -> Any:
    """The same with the next of some ``Number`` in place of each, in the order of ``described``."""
    kind = value.__class__
    if kind in _KINDS:
        return next(numbers)
    if kind is FunctionType:
        cells = tuple(CellType(with_numbers(cell.cell_contents, numbers)) for cell in value.__closure__ or ())
        defaults = tuple(with_numbers(part, numbers) for part in value.__defaults__ or ())
        made = FunctionType(value.__code__, value.__globals__, value.__name__, defaults or None, cells or None)
        made.__kwdefaults__ = value.__kwdefaults__ and {name: with_numbers(part, numbers) for name, part in value.__kwdefaults__.items()}
        return made
    if kind is tuple or kind is list or (isinstance(value, tuple) and hasattr(kind, "_make")):
        parts = [with_numbers(part, numbers) for part in value]
        return kind._make(parts) if hasattr(kind, "_make") else kind(parts)
    if kind is dict:
        return {name: with_numbers(part, numbers) for name, part in value.items()}
    if kind is partial:
        function, arguments, named = (with_numbers(part, numbers) for part in (value.func, value.args, value.keywords))
        return partial(function, *arguments, **named)
    return value


# What is filled in


class Derived:
    """A number that is computed from others; it has the type that it had when it was captured."""

    __slots__ = ("arguments", "function", "kind", "options")

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Any], options: dict[str, Any], kind: type[Any]) -> None:
        self.function = function
        self.arguments = [argument.expression if type(argument) is Number else _Fixed(argument) for argument in arguments]
        self.options = options
        self.kind = kind

    def __call__(self, values: Values) -> Any:
        """Its value."""
        found = self.function(*[argument(values) for argument in self.arguments], **self.options)
        if type(found) is not self.kind:
            raise Unknown
        return found


class _Fixed(NamedTuple):
    """A number that the kernel has written down."""

    value: Any

    def __call__(self, _: Values) -> Any:
        return self.value


class Answers:
    """What a kernel wanted to know of its numbers while it was captured."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.given: list[tuple[Expression, Any]] = []
        """What was asked, in order, and what tells the answer apart from others."""

    def numbers(self) -> Iterator[Number]:
        """What stands for the values."""
        return (Number(value, operator.itemgetter(place), self) for place, value in enumerate(self.values))

    def ask(self, expression: Expression) -> None:
        """From here on the graph depends on what an expression is."""
        self.given.append((expression, told_apart(expression(self.values))))

    def ask_all(self) -> None:
        """The graph depends on all values."""
        self.ask(tuple)


def told_apart(value: Any) -> Any:
    """What tells a value apart from others that may be equal."""
    return (value.__class__, repr(value)) if value.__class__ is not bool else value


class Number:
    """Stands for a number in a kernel that is being captured."""

    __slots__ = ("_answers", "_value", "expression")

    def __init__(self, value: Any, expression: Expression, answers: Answers) -> None:
        self._value = value
        self._answers = answers
        self.expression = expression

    @property  # type: ignore[misc]
    def __class__(self) -> type[Any]:
        """What a kernel takes it for."""
        return type(self._value)

    @property
    def sample(self) -> Any:
        """A number of its type: nothing but the type may depend on it."""
        return self._value

    def asked(self) -> Any:
        """Its value, on which the graph depends from here on."""
        self._answers.ask(self.expression)
        return self._value

    def astype(self, dtype: Any) -> Any:
        """In another type; for kernels whose number has that method."""
        return self.derived(lambda value: value.astype(dtype), (self,))

    def cast(self, dtype: DType) -> Any:
        """As a Python number that a type holds."""
        return self.derived(lambda value: np.asarray(value).astype(dtype).item(), (self,))

    @property
    def dtype(self) -> DType:
        """Its type; Python's own numbers have none."""
        found: DType = self._value.dtype
        return found

    ndim = 0

    def derived(self, function: Callable[..., Any], arguments: Sequence[Any], options: dict[str, Any] | None = None) -> Any:
        """What a function makes of some numbers: another one."""
        value = function(*[one._value if type(one) is Number else one for one in arguments], **(options or {}))
        return Number(value, Derived(function, arguments, options or {}, type(value)), self._answers)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if all(type(one) is Number or isinstance(one, (bool, int, float, np.generic)) for one in inputs):
            return self.derived(getattr(ufunc, method), inputs, options)
        if any(hasattr(type(one), "__array_ufunc__") and type(one) is not Number and not isinstance(one, np.ndarray) for one in inputs):
            return NotImplemented  # a symbol knows what to do
        return getattr(ufunc, method)(*[one.asked() if type(one) is Number else one for one in inputs], **options)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.asked(), dtype)

    def __bool__(self) -> bool:
        truth: bool = self.derived(bool, (self,)).asked()
        return truth

    def __float__(self) -> float:
        return float(self.asked())

    def __int__(self) -> int:
        return int(self.asked())

    def __hash__(self) -> int:
        return hash(self.asked())

    def __format__(self, how: str) -> str:
        return format(self.asked(), how)

    def __str__(self) -> str:
        return str(self.asked())

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.asked(), digits)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # numpy looks for protocols
        return getattr(self.asked(), name)


def sample_of(value: Any) -> Any:
    """A number of the same type."""
    return value.sample if type(value) is Number else value


def _give_operators() -> None:
    """Numbers combine with numbers as they are; who knows more of the other one than a number does has the word."""

    def takes(other: Any) -> bool:
        return type(other) is Number or type(other) in (bool, int) or isinstance(other, (float, np.generic))

    def binary(function: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
        def forward(self: Number, other: Any) -> Any:
            return self.derived(function, (self, other)) if takes(other) else NotImplemented

        def reflected(self: Number, other: Any) -> Any:
            return self.derived(function, (other, self)) if takes(other) else NotImplemented

        return forward, reflected

    def unary(function: Callable[..., Any]) -> Callable[[Number], Any]:
        return lambda self: self.derived(function, (self,))

    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
        forward, reflected = binary(getattr(operator, name))
        setattr(Number, f"__{name}__", forward)
        setattr(Number, f"__r{name}__", reflected)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(Number, f"__{name}__", binary(getattr(operator, name))[0])
    for name in ("neg", "pos", "abs"):
        setattr(Number, f"__{name}__", unary(getattr(operator, name)))


_give_operators()
