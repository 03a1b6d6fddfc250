"""The plan cache: phase one does not decide again what it has decided before for arguments of the same kind.

What it is found by holds all that a plan can depend on: the operator, the chip, and of every argument what ``Kind.key`` says.
Addresses are not part of it, every call brings its own tensors, so that the cache shows in nothing but time. Errors are not kept.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Hashable
from functools import lru_cache
from typing import Any, NamedTuple

from acl_emu.core import _door
from acl_emu.core._bridge import ffi, lib
from acl_emu.runtime import stream
from acl_emu.runtime.executor import Launch, Parameters, Plan

_DEFAULT_LIMIT = 10_000
_MOST = 10_000_000


class Planned(NamedTuple):
    """What phase one of an operator decided, and the tensor parameters it decided it for."""

    operator: str
    plan: Plan
    inputs: Parameters
    outputs: Parameters


@lru_cache(maxsize=None)
def limit() -> int:
    """ACLNN_CACHE_LIMIT: how many plans are kept, at most ten million; 0 keeps none. Another value than a number counts as unset."""
    text = os.environ.get("ACLNN_CACHE_LIMIT", "")
    return min(int(text), _MOST) if text.isdecimal() else _DEFAULT_LIMIT


_kept: OrderedDict[Hashable, Planned] = OrderedDict()


def find(key: Hashable) -> Planned | None:
    """What was decided for this key, if it is still known."""
    return _kept.get(key)


def keep(key: Hashable, planned: Planned) -> None:
    """Remember what was decided; where there are too many, the oldest goes."""
    if limit():
        _kept[key] = planned
        while len(_kept) > limit():
            _kept.popitem(last=False)


numbered: list[Planned] = []
"""Plans that C knows, by their numbers."""
_numbering = threading.Lock()
_MOST_NUMBERED = 4096
_operators: dict[str, int] = {}


def operator_number(name: str) -> int:
    """What an operator is called in C."""
    return _operators.setdefault(name, len(_operators) + 1)


def most_in_c() -> int:
    """How many plans C may know: they stay for good."""
    return min(_MOST_NUMBERED, limit())


def in_c(planned: Planned) -> Any:
    """A plan, as C knows it; None where it knows too many, or cannot do what phase one does."""
    plan = planned.plan
    if plan.in_c is None and not plan.restated:
        with _numbering:
            if plan.in_c is None and len(numbered) < most_in_c():
                described = ffi.new(
                    "acl_emu_plan *",
                    {
                        "number": len(numbered),
                        "operator": operator_number(planned.operator),
                        "workspace": plan.workspace.size,
                        "empty": plan.empty,
                        "is_long": plan.size >= stream.LONG,
                    },
                )
                describe = getattr(plan.kernel, "describe", None)
                if describe is not None:  # the engine runs it
                    describe(described.native, [operand.place for operand in (*plan.reads, *plan.writes)])
                made = lib.acl_emu_new_plan(described)
                if made:
                    numbered.append(planned)
                    plan.in_c = made
    return plan.in_c


def _launch(number: int, addresses: list[int], workspace: int) -> Launch:
    operator, plan, *_ = numbered[number]
    return Launch(operator, plan, addresses, workspace)


stream.make_launch = _launch


def count() -> int:
    """How many plans are known."""
    return len(_kept)


def forget() -> None:
    """Forget all plans."""
    _kept.clear()
    _door.forget()
