"""``@operator``: from one annotated function to both phases of an operator."""

from __future__ import annotations

import inspect
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar, get_type_hints

import numpy as np

from acl_emu.core import constants as c
from acl_emu.core import documented, handles, observe, soc
from acl_emu.core._bridge import ffi, lib
from acl_emu.core._fast import FastPath
from acl_emu.core.documented import PHASE_ONE
from acl_emu.core.errors import AclError, AclnnInner, report
from acl_emu.core.soc import ALL, Product
from acl_emu.runtime import objects, plans
from acl_emu.runtime.executor import Executor, Plan, find_executor, nothing
from acl_emu.runtime.plans import Planned
from acl_emu.runtime.tensor import TensorList
from acl_emu.spec.examples import Example, Examples
from acl_emu.spec.kinds import Kind, ListKind, TensorKind, tensor_kind
from acl_emu.spec.signatures import PhaseOne, PhaseTwo

Check = Callable[[Any, tuple[Any, ...]], Plan | None]
"""A check gets what is called, an operator mostly, and the arguments."""
_Build = TypeVar("_Build", bound=Callable[[], Iterable[Example]])


_PHASE_TWO = ("workspace", "workspaceSize", "executor", "stream")


class Parameter(NamedTuple):
    """One parameter of phase one."""

    name: str
    kind: Kind


# The standard checks, in the order in which most operators make them. An operator that departs from it lists its own order, and may
# put functions of its own between them; one that returns a plan ends the checks there.


def NULL(operator: Declaration, values: tuple[Any, ...]) -> None:
    """161001, or what the parameter declares, for a null pointer where none is allowed."""
    for (name, kind), value in zip(operator.parameters, values, strict=True):
        kind.check_null(name, value)


def LENGTH(operator: Declaration, values: tuple[Any, ...]) -> None:
    """161002 for a list with too few or too many members."""
    by_name = dict(zip(operator.names, values, strict=True))
    for name, kind in operator.parameters:
        if by_name[name] is not None:
            kind.check_length(name, by_name[name], by_name)


def _each(method: str) -> Check:
    def check(operator: Declaration, values: tuple[Any, ...]) -> None:
        for (name, kind), value in zip(operator.parameters, values, strict=True):
            if value is not None:
                getattr(kind, method)(name, value)

    return check


def DTYPE(operator: Declaration, values: tuple[Any, ...]) -> None:
    """161002 for a data type that the chip or the operator does not support."""
    chip = soc.current()
    for (name, kind), value in zip(operator.parameters, values, strict=True):
        if value is not None:
            kind.check_dtype(name, value, chip)


def EMPTY(operator: Declaration, values: tuple[Any, ...]) -> Plan | None:
    """Success at once where an input tensor has no elements; for operators that look at the output's shape after that."""
    for (_, kind), value in zip(operator.parameters, values, strict=True):
        if isinstance(kind, TensorKind) and kind.io == "in" and value is not None and 0 in value.shape:
            return nothing()
    return None


FORMAT = _each("check_format")
RANK = _each("check_rank")
CHOICE = _each("check_choice")

STANDARD_ORDER: tuple[Check, ...] = (NULL, LENGTH, DTYPE, FORMAT, RANK, CHOICE)
AFTER_NULL = STANDARD_ORDER[1:]
"""For operators with a check of their own behind the first."""
CHOICE_LATER = STANDARD_ORDER[:-1]
"""For operators that look at the values of their attributes themselves, after the shapes."""


class Declaration:
    """What an annotated function says about itself."""

    def __init__(
        self, function: Callable[..., Any], products: frozenset[Product], elsewhere: type[AclError], checks: tuple[Check, ...]
    ) -> None:
        self.function = function
        self.name = function.__name__
        self.summary = inspect.getdoc(function) or ""
        self.products = products
        self.elsewhere = elsewhere
        hints = get_type_hints(function, include_extras=True)
        self.parameters = tuple(
            Parameter(documented.official_name(name), _kind_of(self.name, name, hints[name]))
            for name in inspect.signature(function).parameters
        )
        self.names = tuple(parameter.name for parameter in self.parameters)
        self._has_lists = any(isinstance(kind, ListKind) for _, kind in self.parameters)
        self.checks = checks if self._has_lists else tuple(check for check in checks if check is not LENGTH)

    @property
    def module(self) -> str:
        """Where it is declared."""
        return self.function.__module__

    @property
    def header(self) -> str:
        """The official header that declares it; of an operator that is not documented, the one that its file is named after."""
        known = documented.table().get(self.name)
        return known.header if known else f"aclnnop/aclnn_{self.module.rpartition('.')[2]}.h"


class Operator(Declaration):
    """An operator: its declaration, and its two phases."""

    def __init__(
        self, function: Callable[..., Plan], products: frozenset[Product], elsewhere: type[AclError], checks: tuple[Check, ...]
    ) -> None:
        super().__init__(function, products, elsewhere, checks)
        self.example_sources: list[Examples] = []
        """What builds its examples, for those who have to know the products first."""
        self._kinds = tuple(parameter.kind for parameter in self.parameters)
        self._tensor_parameters = [index for index, kind in enumerate(self._kinds) if tensor_kind(kind) is not None]
        unless = [kind.unless if isinstance(kind, TensorKind) else "" for kind in self._kinds]
        self.number = plans.declare([kind.number for kind in self._kinds], [self.names.index(name) if name else -1 for name in unless])
        """What it is called in C."""
        letters = "".join(kind.letter for kind in self._kinds)
        self._packed = struct.Struct("".join({"f": "d", "d": "d"}.get(letter, "q" if letter in "bhiq" else "Q") for letter in letters))
        self._fast = FastPath(self.number, self._get_workspace_size, self._run, letters.encode())
        self.get_workspace_size: Callable[..., tuple[int, int | None, int]] = self._fast.phase_one(PhaseOne(self))
        """Phase one, as a program calls it: workspace size, executor, status."""
        self.run: Callable[[int | None, int, int | None, int | None], int] = self._fast.phase_two(PhaseTwo(self))
        """Phase two, as a program calls it: status."""
        self._replaceable = {
            kind: self.names.index(kind.unless) for _, kind in self.parameters if isinstance(kind, TensorKind) and kind.unless
        }

    def example(self, build: _Build) -> _Build:
        """Take a function that yields examples, for every product that has the operator. A decorator; families just call it."""
        self.example_sources.append(Examples(build, self.products))
        return build

    def example_on(self, *products: Product) -> Callable[[_Build], _Build]:
        """As ``example``, for calls that are valid on some of the products only."""

        def take(build: _Build) -> _Build:
            self.example_sources.append(Examples(build, frozenset(products)))
            return build

        return take

    def examples(self) -> Iterator[Example]:
        """Its examples, built one by one as they are asked for, each a valid call on the products it is for."""
        for source in self.example_sources:
            yield from source.build()

    def _get_workspace_size(self, /, *arguments: Any, **named: Any) -> tuple[int, int | None, int]:
        if named or len(arguments) != len(self.names):
            arguments = inspect.signature(self.function).bind(*arguments, **named).args
        if observe.watching is None:
            return self.plan(arguments)
        answer: tuple[int, int | None, int] = observe.watching.call(
            self.name + PHASE_ONE,
            self.names,
            arguments,
            lambda: self.plan(arguments),
            status_last=True,
            refuse=lambda error: (0, None, report(error, self.name + PHASE_ONE)),
        )
        return answer

    def plan(self, arguments: Sequence[Any]) -> tuple[int, int | None, int]:
        """Phase one with all arguments in order, told to nobody."""
        try:
            size, number = self._prepare(arguments)
        except AclError as error:
            return 0, None, self.refuse(error)
        if observe.watching is None:
            return size, handles.aclOpExecutor(number), c.ACLNN_SUCCESS
        executor = handles.find(number, Executor)
        handle = handles.made(number, executor)
        observe.watching.tell("planned", executor)
        return size, handle, c.ACLNN_SUCCESS

    def _run(self, workspace: int | None, workspaceSize: int, executor: int | None, stream: int | None) -> int:
        handles.check_type("workspace", workspace, "an address")
        handles.check_type("executor", executor, "a handle of an aclOpExecutor")
        handles.check_type("stream", stream, "a handle of an aclrtStream")
        if observe.watching is None:
            return self._phase_two(workspace, workspaceSize, executor, stream)
        arguments = (workspace, workspaceSize, executor, stream)

        def refuse(error: AclError) -> int:
            used = handles.find(executor, Executor)
            if used is not None and not used.repeatable:
                used.destroy()  # as by any phase two that fails
            return report(error, self.name)

        status: int = observe.watching.call(
            self.name, _PHASE_TWO, arguments, lambda: self._phase_two(*arguments), status_last=True, refuse=refuse
        )
        return status

    def _phase_two(self, workspace: int | None, workspaceSize: int, executor: int | None, stream: int | None) -> int:
        try:
            is_quick = observe.watching is None and executor and objects.remember_stream(stream)
            if not is_quick or not lib.acl_emu_start(self.number, workspace or 0, workspaceSize, executor, stream or 0):
                find_executor(executor, self.name).launch(workspace, workspaceSize, stream)
        except AclError as error:
            return report(error, self.name)
        return c.ACLNN_SUCCESS

    def _prepare(self, arguments: Sequence[Any]) -> tuple[int, int]:
        """Check, plan: size of the workspace, executor. No data is touched."""
        if self._replaceable:
            arguments = [
                None if kind in self._replaceable and arguments[self._replaceable[kind]] else value
                for kind, value in zip(self._kinds, arguments, strict=True)
            ]
        found = [kind.find(name, value) for kind, name, value in zip(self._kinds, self.names, arguments, strict=True)]
        kept, packed = self._pack(arguments, found)
        executor, size, hash = plans.find(self.number, packed)
        if not executor:
            planned = self._decide(found)
            executor, size = plans.keep(self.number, packed, hash, planned), planned.plan.workspace.size
            self._restate(planned.plan, arguments)
        del kept
        return size, executor

    def _restate(self, plan: Plan, arguments: Sequence[Any]) -> None:
        """Describe tensors as they are from here on."""
        if plan.restated:
            given = [arguments[index] for index in self._tensor_parameters]
            members = [thing.members if (thing := handles.find(value, TensorList)) else (value,) for value in given]
            tensors = [tensor for entry in members for tensor in entry]
            for operand in plan.restated:
                objects.restate(tensors[operand.place], operand.view)

    def _pack(self, arguments: Sequence[Any], found: Sequence[Any]) -> tuple[Any, Any]:
        """The arguments as C has them: what has to be kept for as long as they are used, and where they are."""
        kept: list[Any] = []
        values: list[Any] = []
        for kind, argument, thing in zip(self._kinds, arguments, found, strict=True):
            if kind.letter == "P":
                values.append(int(argument) if argument else 0)
            elif kind.letter == "s" and thing is not None:
                kept.append(ffi.new("char[]", thing.encode("utf-8", "surrogateescape")))
                values.append(int(ffi.cast("uintptr_t", kept[-1])))
            else:
                values.append(thing or 0)
        kept.append(ffi.from_buffer(self._packed.pack(*values)))
        return kept, ffi.cast("acl_emu_arg *", kept[-1])

    def refuse(self, error: AclError) -> int:
        """The status of a phase one that failed; its text names the operator."""
        if not str(error).startswith(self.name):
            error.args = (f"{self.name}: {error}",)
        return report(error, self.name + PHASE_ONE)

    def _decide(self, found: list[Any]) -> Planned:
        """Check and plan."""
        values = tuple(kind.given(name, thing) for kind, name, thing in zip(self._kinds, self.names, found, strict=True))
        parameters = [(values[index], self._kinds[index].io) for index in self._tensor_parameters]
        operands = [operand for value, _ in parameters for operand in (value if isinstance(value, list) else (value,))]
        for place, operand in enumerate(operands):
            if operand is not None:
                operand.place = place
        inputs = tuple(value for value, io in parameters if io != "out")
        outputs = tuple(value for value, io in parameters if io != "in")
        return Planned(self.name, self._plan(values), inputs, outputs)

    def _plan(self, values: tuple[Any, ...]) -> Plan:
        for check in self.checks:
            early = check(self, values)
            if early is not None:
                return early
        with np.errstate(all="ignore"):  # a scalar may overflow the type it is taken in
            plan: Plan = self.function(*values)
        chip = soc.current()
        if not plan.empty and chip.product not in self.products:
            code = c.ACLNN_ERR_INNER_NULLPTR if self.elsewhere is AclnnInner else None
            raise self.elsewhere(f"{self.name} has no kernel for {chip.name} ({chip.product.value})", code)
        return plan

    def __repr__(self) -> str:
        return f"<operator {self.name}>"


def _kind_of(operator_name: str, name: str, hint: Any) -> Kind:
    for note in getattr(hint, "__metadata__", ()):
        if isinstance(note, Kind):
            return note
    raise TypeError(f"{operator_name}: parameter {name} is not annotated with a parameter kind")


def operator(
    *, products: frozenset[Product] = ALL, elsewhere: type[AclError] = AclnnInner, checks: tuple[Check, ...] = STANDARD_ORDER
) -> Callable[[Callable[..., Plan]], Operator]:
    """Declare an operator.

    ``products``: where it runs; ``elsewhere``: how it fails on other chips (561103 where the kernel is merely missing,
    ``AclnnRuntime`` where the document promises 361001); ``checks``: the order of the standard checks, where it departs.
    """
    return lambda function: Operator(function, products, elsewhere, checks)
