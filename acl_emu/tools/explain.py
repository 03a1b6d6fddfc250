"""What phase one of an operator would do with some arguments: its checks in order, what they decide, the plan and its workspace.

No program and no data is needed, because phase one never touches data. Arguments are written as ``name=value``:

===========================  ==================================================================================
tensor                       ``4x8:FLOAT``, ``scalar:FLOAT`` or ``:FLOAT`` for no dimensions; behind it, if need be,
                             ``:strides=1x4``, ``:offset=2``, ``:format=NCHW``
scalar                       ``1.5``, ``1:INT32``, ``true``
array, list                  ``[1,2]``, ``[4x8:FLOAT,4x8:FLOAT]``
number, truth value, string  ``0.5``, ``mean`` (where values have names), ``true``, ``text``
data type                    ``FLOAT16``
null pointer                 ``null``
===========================  ==================================================================================

What is left out and may be null is null, a truth value is false, ``alpha`` is 1, and outputs get the shape and type that the operator
asks for. Anything else has to be given.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from acl_emu.core import constants as c
from acl_emu.core import dtypes, handles, soc
from acl_emu.core.dtypes import DType
from acl_emu.core.errors import AclError
from acl_emu.runtime import objects
from acl_emu.runtime.tensor import (
    BoolArray,
    FloatArray,
    IntArray,
    Scalar,
    Shape,
    Tensor,
    make_view,
)
from acl_emu.spec import checks
from acl_emu.spec.kinds import BoolKind, DataTypeKind, FloatKind, HandleKind, IntKind, Kind, ListKind, TensorKind, tensor_kind
from acl_emu.spec.operator import Operator
from acl_emu.tools import describe
from acl_emu.tools.checks_made import Outcome, Step, follow, order

_FIRST_STEP = 1
"""The first step that is noted is about handles, which are all alive here."""
_MOST_GUESSES = 40
_TRUTH = {"true": True, "false": False}
_ALIASES = {"FLOAT32": "FLOAT", "BFLOAT16": "BF16", "FLOAT64": "DOUBLE", "HALF": "FLOAT16"}
_DTYPES = {dtype.name: dtype for dtype in dtypes.BY_CODE.values()}
_COMPLAINT = re.compile(r"(?:aclnn\w+: )?(?P<name>\w+) has (?P<what>shape|dtype|\d+ dimensions|\d+ elements)")


class Mistake(ValueError):
    """An argument that means nothing."""


@dataclass
class Argument:
    """One argument: as the operator gets it, and in words."""

    name: str
    kind: Kind
    value: Any = None
    words: str = "null"
    assumed: bool = False


@dataclass
class Explanation:
    """What phase one does with some arguments."""

    operator: Operator
    chip: soc.Soc
    arguments: list[Argument]
    outcome: Outcome

    @property
    def steps(self) -> list[Step]:
        """The checks that were made, and that of the chip."""
        steps = [step for step in self.outcome.steps[_FIRST_STEP:] if step.check != "CHIP"]
        if self.outcome.error is None:
            return [*steps, chip_step(self.operator)]
        last = steps[-1] if steps else self.outcome.steps[0]
        if "has no kernel for" in last.failure:
            return [*steps[:-1], chip_step(self.operator)._replace(failure=last.failure)]
        return steps or [last]

    @property
    def missed(self) -> list[Step]:
        """The declared checks that were not reached."""
        if self.outcome.error is None:
            return []
        done = [step.check for step in self.outcome.steps]
        declared = order(self.operator)
        reached = 0
        for step in declared:
            if step.check in done:
                done.remove(step.check)
                reached += 1
        return declared[reached:]

    @property
    def message(self) -> str:
        """Why phase one fails, as aclGetRecentErrMsg says it."""
        text = str(self.outcome.error or "")
        return text if not text or text.startswith(self.operator.name) else f"{self.operator.name}: {text}"

    def decided(self, *names: str) -> list[Step]:
        """The checks of these names that gave a result."""
        return [step for step in self.outcome.steps if step.check in names and step.result is not None]


def chip_step(operator: Operator) -> Step:
    """The last check: whether the chip has the operator at all."""
    return Step(
        "The chip has a kernel for it",
        f"this one is {soc.current().product.short}, kernels are for {describe.products(operator)}",
        check="CHIP",
    )


def find(name: str) -> Operator:
    """An operator, by a name as people type it; Mistake where there is none."""
    try:
        return describe.find(name)
    except LookupError as error:
        raise Mistake(str(error)) from None


# Arguments


class _Maker:
    """Makes the objects that words stand for, and forgets them afterwards."""

    def __init__(self) -> None:
        self.handles: list[tuple[int, type[Any]]] = []

    def _issue(self, thing: Any) -> int:
        handle = objects.make(thing)
        self.handles.append((handle, type(thing)))
        return handle

    def make(self, name: str, kind: Kind, text: str) -> Argument:
        """The argument that a text stands for."""
        if text == "null":
            return Argument(name, kind)
        try:
            return self._make(name, kind, text)
        except (Mistake, TypeError, OverflowError, ValueError) as error:
            raise Mistake(f"{name}={text}: {error}") from None

    def _make(self, name: str, kind: Kind, text: str) -> Argument:
        if isinstance(kind, TensorKind):
            return self.tensor(name, kind, *_tensor(text))
        if isinstance(kind, ListKind):
            return Argument(name, kind, *self._list(name, kind, text))
        if isinstance(kind, HandleKind):
            return Argument(name, kind, *self._object(kind, text))
        if isinstance(kind, IntKind):
            named = {choice.name.lower(): int(choice) for choice in kind.choices or ()}
            number = named[text.lower()] if text.lower() in named else kind.take(name, _integer(text))
            choice = next((label for label, value in named.items() if value == number), "")
            return Argument(name, kind, number, f"{number} ({choice})" if choice else str(number))
        if isinstance(kind, DataTypeKind):
            code = int(text) if text.lstrip("-").isdecimal() else _dtype(text).code
            return Argument(name, kind, code, dtypes.dtype_name(code).removeprefix("ACL_"))
        if isinstance(kind, FloatKind):
            return Argument(name, kind, float(text), text)
        if isinstance(kind, BoolKind):
            if text.lower() not in (*_TRUTH, "0", "1"):
                raise Mistake("expected true or false")
            value = _TRUTH.get(text.lower(), text == "1")
            return Argument(name, kind, value, str(value).lower())
        return Argument(name, kind, text, f'"{text}"')

    def tensor(self, name: str, kind: Kind, shape: Shape, dtype: DType, extra: dict[str, Any] | None = None) -> Argument:
        """A tensor without memory."""
        extra = extra or {}
        plain = kind.format_for(len(shape)) if isinstance(kind, TensorKind) else c.ACL_FORMAT_ND
        view = make_view(shape, dtype.code, extra.get("strides"), extra.get("offset", 0), extra.get("format", plain), shape)
        if len(view.strides) != len(shape):
            raise Mistake(f"{len(view.strides)} strides for {len(shape)} dimensions")
        words = f"{shape_text(shape)} {dtype.name}"
        words += f", strides {shape_text(extra['strides'])}" if "strides" in extra else ""
        words += f", from element {extra['offset']}" if "offset" in extra else ""
        words += f", {extra['format_name']}" if "format" in extra else ""
        return Argument(name, kind, self._issue(Tensor(view, None)), words)

    def _object(self, kind: HandleKind, text: str) -> tuple[int, str]:
        if kind.kind is Scalar:
            scalar = _scalar(text)
            return self._issue(scalar), f"{scalar.value} {scalar.dtype.name}"
        items = _items(text)
        readers: dict[type[Any], Callable[[str], Any]] = {IntArray: _integer, FloatArray: float, BoolArray: _truth}
        array = kind.kind([readers[kind.kind](item) for item in items])
        return self._issue(array), repr(array)

    def _list(self, name: str, kind: ListKind, text: str) -> tuple[int, str]:
        members = [self.make(f"{name}[{i}]", kind.member, item) for i, item in enumerate(_items(text))]
        listed = kind.kind([member.value for member in members])
        return self._issue(listed), f"[{', '.join(member.words for member in members)}]"

    def retire(self) -> None:
        """The objects are needed no more."""
        for handle, kind in self.handles:
            handles.destroy(handle, kind)


def _items(text: str) -> list[str]:
    if not (text.startswith("[") and text.endswith("]")):
        raise Mistake("expected values in brackets, such as [1,2]")
    return [item.strip() for item in text[1:-1].split(",") if item.strip()]


def _integer(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise Mistake("expected an integer") from None


def _truth(text: str) -> bool:
    if text.lower() not in _TRUTH:
        raise Mistake("expected true or false")
    return _TRUTH[text.lower()]


def _dtype(text: str) -> DType:
    name = text.upper().removeprefix("ACL_")
    found = _DTYPES.get(_ALIASES.get(name, name))
    if found is None:
        near = difflib.get_close_matches(name, list(_DTYPES), 1)
        raise Mistake(f"{text or 'nothing'} is no data type" + (f"; did you mean {near[0]}?" if near else ", such as FLOAT or INT64"))
    return found


def _lengths(text: str) -> Shape:
    words = text.strip("[]() ")
    if words in ("", "scalar"):
        return ()
    try:
        return tuple(int(word) for word in re.split("[x,]", words))
    except ValueError:
        raise Mistake(f"{text} is no shape, such as 4x8") from None


def _tensor(text: str) -> tuple[Shape, DType, dict[str, Any]]:
    shape, *rest = text.split(":")
    if not rest:
        raise Mistake("expected a shape and a data type, such as 4x8:FLOAT, or null")
    extra: dict[str, Any] = {}
    for item in rest[1:]:
        key, _, value = item.partition("=")
        if key == "strides":
            extra[key] = _lengths(value)
        elif key == "offset":
            extra[key] = _integer(value)
        elif key == "format":
            code = getattr(c, f"ACL_FORMAT_{value.upper()}", None)
            if code is None:
                raise Mistake(f"{value} is no format, such as ND or NCHW")
            extra |= {"format": code, "format_name": value.upper()}
        else:
            raise Mistake(f"{item} is not understood; behind the data type may stand strides=, offset= and format=")
    return _lengths(shape), _dtype(rest[0]), extra


def _scalar(text: str) -> Scalar:
    number, _, named = text.partition(":")
    value: Any
    if number.lower() in _TRUTH:
        value, dtype = _TRUTH[number.lower()], dtypes.BOOL
    else:
        try:
            value = int(number) if re.fullmatch(r"[+-]?\d+", number) else complex(number) if number.endswith(("j", "j)")) else float(number)
        except ValueError:
            raise Mistake("expected a number, such as 1.5 or 1:INT32") from None
        dtype = dtypes.INT64 if isinstance(value, int) else dtypes.COMPLEX64 if isinstance(value, complex) else dtypes.FLOAT
    if named:
        dtype = _dtype(named)
    if not dtype.numpy_name:
        raise Mistake(f"a scalar of {dtype.name} is not understood here")
    with np.errstate(all="ignore"):
        return Scalar(dtype, np.asarray(value).astype(dtype.numpy).tobytes())


# Explaining


@contextmanager
def explained(name: str, words: Sequence[str]) -> Iterator[Explanation]:
    """Phase one of an operator with these arguments; Mistake where they mean nothing. Its objects live inside."""
    operator = find(name)
    maker = _Maker()
    try:
        yield _explain(operator, _given(operator, words), maker)
    finally:
        maker.retire()


def _given(operator: Operator, words: Sequence[str]) -> dict[str, str]:
    names = [parameter.name for parameter in operator.parameters]
    given: dict[str, str] = {}
    for word in words:
        key, separator, value = word.partition("=")
        if not separator:
            raise Mistake(f"{word}: expected name=value")
        if key not in names:
            near = difflib.get_close_matches(key, names, 1)
            raise Mistake(
                f"{operator.name} has no parameter {key}" + (f"; did you mean {near[0]}?" if near else f"; it has {', '.join(names)}")
            )
        if key in given:
            raise Mistake(f"{key} is given twice")
        given[key] = value
    return given


def _explain(operator: Operator, given: dict[str, str], maker: _Maker) -> Explanation:
    arguments: list[Argument] = []
    missing: list[str] = []
    for name, kind in operator.parameters:
        if name in given:
            arguments.append(maker.make(name, kind, given[name]))
        elif kind.optional:
            arguments.append(Argument(name, kind, assumed=True))
        elif isinstance(kind, BoolKind):
            arguments.append(Argument(name, kind, False, "false", assumed=True))
        elif name == "alpha" and isinstance(kind, HandleKind):
            made = maker.make(name, kind, "1")
            arguments.append(Argument(name, kind, made.value, made.words, assumed=True))
        elif isinstance(kind, TensorKind) and kind.io == "out":
            arguments.append(Argument(name, kind, assumed=True))
        else:
            missing.append(f"{name} ({_wanted(kind)})")
    if missing:
        raise Mistake(f"{operator.name} needs {', '.join(missing)} as well")
    return _with_outputs(operator, arguments, maker)


def _wanted(kind: Kind) -> str:
    if isinstance(kind, TensorKind):
        return "a tensor such as 4x8:FLOAT"
    if isinstance(kind, IntKind) and kind.choices is not None:
        return " or ".join(f"{choice.value} {choice.name.lower()}" for choice in kind.choices)
    if isinstance(kind, ListKind):
        return "a list such as [4x8:FLOAT,3:FLOAT]" if tensor_kind(kind) else "a list such as [1,0.5]"
    if isinstance(kind, HandleKind) and kind.kind is not Scalar:
        return f"{kind.kind.c_name} such as [1,2]"
    return "a data type" if isinstance(kind, DataTypeKind) else kind.c_type.removeprefix("const ")


def _with_outputs(operator: Operator, arguments: list[Argument], maker: _Maker) -> Explanation:
    """Outputs that were left out are first made like the inputs, then as the operator's complaints say."""
    chip = soc.current()
    inputs = [_view_of(argument) for argument in arguments if isinstance(argument.kind, TensorKind) and argument.value]
    shapes = list(dict.fromkeys([*(shape for shape, _ in inputs), *_broadcast([shape for shape, _ in inputs]), (), (1,)]))
    named = [dtypes.BY_CODE[one.value] for one in arguments if isinstance(one.kind, DataTypeKind) and one.value in dtypes.BY_CODE]
    guesses: dict[str, _Guess] = {}
    for argument in arguments:
        if argument.assumed and not argument.kind.optional and isinstance(argument.kind, TensorKind):
            allowed = argument.kind.dtypes_on(chip)
            likely = [*named, *_combined([dtype for _, dtype in inputs]), *(dtype for _, dtype in inputs)]
            types = list(dict.fromkeys([dtype for dtype in likely if not allowed or dtype in allowed] + list(allowed)))
            guesses[argument.name] = _Guess(list(shapes), types or [dtypes.FLOAT])
    for _ in range(_MOST_GUESSES if guesses else 1):
        for argument in arguments:
            if argument.name in guesses:
                guess = guesses[argument.name]
                made = maker.tensor(argument.name, argument.kind, guess.shapes[0], guess.types[0])
                argument.value, argument.words = made.value, made.words
        try:
            outcome = follow(operator, [argument.value for argument in arguments])
        except (TypeError, OverflowError, ValueError) as error:
            raise Mistake(str(error)) from None
        if outcome.error is None or not _corrected(outcome.error, guesses):
            break
    return Explanation(operator, chip, arguments, outcome)


@dataclass
class _Guess:
    """What an output may be like; the first is tried."""

    shapes: list[Shape]
    types: list[DType]


def _view_of(argument: Argument) -> tuple[Shape, DType]:
    tensor = handles.find(argument.value, Tensor)
    assert tensor is not None
    return tensor.view.shape, dtypes.BY_CODE[tensor.view.dtype_code]


def _broadcast(shapes: list[Shape]) -> list[Shape]:
    try:
        return [np.broadcast_shapes(*shapes)]
    except ValueError:
        return []


def _combined(types: list[DType]) -> list[DType]:
    common: DType | None = types[0] if types else None
    for dtype in types[1:]:
        common = dtypes.promote_types(common, dtype) if common else None
    return [common] if common else []


def _corrected(error: AclError, guesses: dict[str, _Guess]) -> bool:
    """Whether the complaint is about an output that was made up, and there is something else to try."""
    complaint = _COMPLAINT.match(str(error))
    guess = guesses.get(complaint["name"]) if complaint else None
    if complaint is None or guess is None:
        return False
    if complaint["what"] == "dtype":
        wanted = _local(error, checks.same_dtype, "first")
        guess.types = [wanted.dtype, *guess.types[1:]] if wanted is not None and wanted.dtype is not guess.types[0] else guess.types[1:]
        return bool(guess.types)
    expected = _local(error, checks.shape_is, "shape")
    guess.shapes = [tuple(expected), *guess.shapes[1:]] if expected is not None else guess.shapes[1:]
    return bool(guess.shapes)


def _local(error: AclError, function: Callable[..., Any], name: str) -> Any:
    """What a function that the error went through knew."""
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code is function.__code__:
            return traceback.tb_frame.f_locals.get(name)
        traceback = traceback.tb_next
    return None


def shape_text(shape: Sequence[int]) -> str:
    """A shape as arguments are written."""
    return "x".join(map(str, shape)) or "scalar"
