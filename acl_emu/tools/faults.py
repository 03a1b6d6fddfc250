"""Faults on demand: calls and tasks that fail because ``ACL_EMU_FAULT`` says so, to test what a program does then.

Rules are separated by commas or semicolons. The first one that applies to a call or task decides.

===========================  ===========================================================================================
``aclrtMalloc:3=207001``     the third call is not carried out, and returns 207001
``aclrtMalloc=207001``       every call (also ``aclrtMalloc:*=207001``)
``aclrtMemcpy:10%@7=507899`` each call with a chance of 10 %; 7 is the seed (0 where none is given)
``aclCreateTensor:1=null``   a function whose result is a pointer returns null
``aclnnAdd:task:2=507015``   the second task that aclnnAdd puts on a stream fails there; without a number, every one
``aclnnAdd:hang``            the task does not end, until its stream is destroyed by force or the process ends
``memory=1GiB``              each device has no more than that free
===========================  ===========================================================================================

Codes are numbers or official names. Tasks are those of operators and of queued copies and fills.
"""

from __future__ import annotations

import difflib
import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

from acl_emu.api.border import FUNCTIONS
from acl_emu.core import constants
from acl_emu.core.documented import PHASE_ONE
from acl_emu.core.errors import AclError
from acl_emu.core.observe import Call, Tool, Work
from acl_emu.core.soc import ConfigurationError
from acl_emu.runtime import callbacks, memory
from acl_emu.runtime.stream import Stream
from aclnnop.registry import MODULES, SINGLE_PHASES

VARIABLE = "ACL_EMU_FAULT"

CALL, TASK, HANG = "call", "task", "hang"

_QUEUED = ("aclrtMemcpyAsync", "aclrtMemcpy2dAsync", "aclrtMemsetAsync")
_STATUS_RESULTS = ("aclError", "aclnnStatus")
_UNITS = {"": 1, "B": 1, "K": 1 << 10, "KIB": 1 << 10, "M": 1 << 20, "MIB": 1 << 20, "G": 1 << 30, "GIB": 1 << 30}
_HANG_STEP = 0.02

_RULE = re.compile(
    r"(?P<function>\w+)(?::(?P<target>task|hang))?(?::(?P<which>\*|\d+|(?P<rate>\d+(?:\.\d+)?)%(?:@(?P<seed>\d+))?))?(?:=(?P<code>\w+))?"
)
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-z]*)")


class Injected(AclError):
    """A fault that was asked for."""

    tag: ClassVar[str] = "EMU001"
    title: ClassVar[str] = "Injected_Fault"


@dataclass
class Rule:
    """One rule about calls or tasks of one function."""

    text: str
    function: str
    target: str
    code: int
    number: int | None = None
    """Which call or task; None for every one, or by chance."""
    rate: float | None = None
    seed: int = 0
    chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def applies(self, number: int) -> bool:
        """Whether to the call or task with this number, counted from 1."""
        if self.rate is not None:
            return self.chance.random() < self.rate
        return self.number is None or self.number == number


@dataclass
class Plan:
    """Everything that was asked for."""

    rules: list[Rule] = field(default_factory=list)
    memory: int | None = None


def parse(text: str) -> Plan:
    """Rules as they are written; ValueError for one that means nothing."""
    plan = Plan()
    for part in filter(None, (piece.strip() for piece in re.split("[,;]", text))):
        if part.startswith("memory="):
            plan.memory = _size(part)
        else:
            plan.rules.append(_rule(part))
    return plan


def _rule(text: str) -> Rule:
    match = _RULE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no fault rule; examples: aclrtMalloc:3=207001, aclnnAdd:task=507015, aclnnAdd:hang, memory=1GiB")
    function, target = _function(text, match["function"]), match["target"] or CALL
    if target != CALL and function not in MODULES and function not in _QUEUED:
        raise ValueError(f"{text!r}: {match['function']} puts no task on a stream")
    number = int(match["which"]) if match["which"] and match["which"].isdecimal() else None
    if number == 0:
        raise ValueError(f"{text!r}: calls and tasks are counted from 1")
    rate = float(match["rate"]) / 100 if match["rate"] else None
    if rate is not None and rate > 1:
        raise ValueError(f"{text!r}: {match['rate']}% is more than every call")
    return Rule(text, function, target, _code(text, target, function, match["code"]), number, rate, int(match["seed"] or 0))


def _function(text: str, name: str) -> str:
    """The name that calls are told by; an official second name stands for the first."""
    if name in FUNCTIONS:
        result = FUNCTIONS[name].prototype.result
        if result not in _STATUS_RESULTS and not result.endswith("*"):
            raise ValueError(f"{text!r}: {name} cannot fail, its result is {result}")
        return FUNCTIONS[name].python.__name__
    if name.removesuffix(PHASE_ONE) in MODULES or name in SINGLE_PHASES:
        return name
    known = [*FUNCTIONS, *MODULES, *SINGLE_PHASES, *(operator + PHASE_ONE for operator in MODULES)]
    near = difflib.get_close_matches(name, known, 1)
    raise ValueError(f"{text!r}: there is no function {name}" + (f"; did you mean {near[0]}?" if near else ""))


def _code(text: str, target: str, function: str, code: str | None) -> int:
    if target == HANG:
        if code is not None:
            raise ValueError(f"{text!r}: a task that hangs has no code")
        return constants.ACL_ERROR_RT_STREAM_SYNC_TIMEOUT
    returns_pointer = function in FUNCTIONS and FUNCTIONS[function].prototype.result.endswith("*")
    if code is None:
        raise ValueError(f"{text!r}: a code is missing, as in {text}={'null' if returns_pointer else 507899 if target == CALL else 507015}")
    if code == "null":
        if not returns_pointer:
            raise ValueError(f"{text!r}: the result of {function} is a status, not a pointer")
        return constants.ACL_ERROR_INTERNAL_ERROR
    found = _codes().get(code)
    if found is None:
        raise ValueError(f"{text!r}: {code} is no status code of a failure")
    return found


@lru_cache(maxsize=None)
def _codes() -> dict[str, int]:
    named = {name: value for name, value in vars(constants).items() if name.startswith(("ACL_ERROR_", "ACLNN_ERR_")) and value}
    return named | {str(value): value for value in named.values()}


def _size(text: str) -> int:
    match = _SIZE.fullmatch(text.removeprefix("memory="))
    unit = _UNITS.get(match["unit"].upper()) if match else None
    if match is None or unit is None:
        raise ValueError(f"{text!r}: expected a size such as memory=1GiB, memory=512MiB or memory=4096")
    return int(float(match["number"]) * unit)


class Faults(Tool):
    """Makes calls and tasks fail as rules say."""

    def __init__(self, rules: list[Rule]) -> None:
        self._rules: dict[tuple[str, str], list[Rule]] = {}
        for rule in rules:
            self._rules.setdefault((rule.function, CALL if rule.target == CALL else TASK), []).append(rule)
        self._counts: dict[tuple[str, str], int] = dict.fromkeys(self._rules, 0)
        self._lock = threading.Lock()

    def _next(self, function: str, target: str) -> tuple[Rule | None, int]:
        """Count one more; the rule that applies to it."""
        rules = self._rules.get((function, target))
        if rules is None:
            return None, 0
        with self._lock:
            number = self._counts[function, target] = self._counts[function, target] + 1
            applying = [rule for rule in rules if rule.applies(number)]  # each, so that chances do not depend on other rules
        return (applying[0] if applying else None), number

    def refuses(self, call: Call) -> AclError | None:
        """A call that is to fail."""
        rule, number = self._next(call.name, CALL)
        return Injected(f"{call.name}: fault injected into call {number} ({VARIABLE} has {rule.text})", rule.code) if rule else None

    def replaces(self, task: Callable[[], object], work: Work) -> Callable[[], object]:
        """A task that is to fail or to hang."""
        rule, number = self._next(work.call.name, TASK) if work.call is not None else (None, 0)
        if rule is None or work.stream is None:
            return task
        stream, function = work.stream, rule.function
        if rule.target == HANG:
            stream.expect_hang(f"{function}: hang injected into task {number} ({VARIABLE} has {rule.text})")
            return lambda: _hang(stream)

        def fail() -> None:
            raise Injected(f"{function}: fault injected into task {number} ({VARIABLE} has {rule.text})", rule.code)

        return fail


def _hang(stream: Stream) -> None:
    while not stream.closed and not callbacks.exiting:
        time.sleep(_HANG_STEP)


def from_environment(value: str) -> Tool | None:
    """What ``ACL_EMU_FAULT`` asks for."""
    try:
        plan = parse(value)
    except ValueError as error:
        raise ConfigurationError(f"{VARIABLE}: {error}") from None
    memory.available = plan.memory
    return Faults(plan.rules) if plan.rules else None
