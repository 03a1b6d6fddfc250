"""The plan cache: phase one does not decide again what it has decided before for arguments of the same kind.

The cache is in C (``c/plans.c``), so that a call which was seen before need not come here. A plan is found by all that it can depend on,
but for the chip: whoever chooses another one forgets all plans. Addresses and offsets are not part of it, every call brings its own
tensors, so that the cache shows in nothing but time. Errors are not kept.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from acl_emu.core._bridge import ffi, lib
from acl_emu.core.errors import AclnnInner
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


numbered: dict[int, Planned] = {}
"""What C refers to by number: the plans of the cache, of executors and of launches."""
_numbers = itertools.count(1)
_operators = itertools.count(1)


def declare(kinds: Sequence[int], unless: Sequence[int]) -> int:
    """Tell C of an operator: of each parameter its kind, and the place of the one that replaces it, or -1. The number of the operator."""
    number = next(_operators)
    if not lib.acl_emu_declare(number, len(kinds), bytes(kinds), list(unless)):
        raise MemoryError(f"no room for operator {number}")
    return number


def find(operator: int, arguments: Any) -> tuple[int, int, int]:
    """Phase one for packed arguments: an executor, or 0 where the plan is not known; the size of its workspace; what ``keep`` needs."""
    answer = ffi.new("uint64_t[3]")
    known = lib.acl_emu_plan_call(operator, arguments, answer, answer + 1, answer + 2)
    return (answer[2] if known == 1 else 0), answer[1], answer[0]


def keep(operator: int, arguments: Any, hash: int, planned: Planned) -> int:
    """Let C know what was decided for these arguments; an executor of it. Of too many plans one goes that was not used lately."""
    _forget_gone()
    plan, number = planned.plan, next(_numbers)
    kernels = _natives(plan)
    described = ffi.new(
        "acl_emu_plan *",
        {
            "number": number,
            "operator": operator,
            "workspace": plan.workspace.size,
            "empty": plan.empty,
            "is_long": plan.size >= stream.LONG,
            "parts": len(kernels),
        },
    )
    numbered[number] = planned
    made = lib.acl_emu_new_plan(described, kernels)
    executor: int = lib.acl_emu_adopt_plan(operator, arguments, hash, made, 0 if plan.restated else limit()) if made else 0
    if not executor:
        raise AclnnInner("phase one: a tensor was destroyed by another thread, or there is no memory")
    return executor


def _natives(plan: Plan) -> Any:
    """How C runs the kernels of a plan; none where it cannot run all of them."""
    parts = getattr(plan.kernel, "plans", (plan,))
    natives = ffi.new("acl_emu_native[]", len(parts))
    for native, part in zip(natives, parts, strict=True):
        describe = getattr(part.kernel, "describe", None)
        if describe is not None:  # the engine runs it
            describe(native, [operand.place for operand in (*part.reads, *part.writes)])
        if not native.run:
            return ffi.new("acl_emu_native[]", 0)
    return natives


def _forget_gone() -> None:
    """Plans that nothing in C refers to any more."""
    gone = ffi.new("uint64_t[]", 64)
    while count := lib.acl_emu_gone_plans(gone, len(gone)):
        for number in gone[0:count]:
            numbered.pop(number, None)


def _launch(number: int, addresses: list[int], workspace: int, done: int, tensors: Any) -> Launch:
    operator, plan, *_ = numbered[number]
    return Launch(operator, plan, addresses, workspace, done, tensors)


stream.make_launch = _launch


def count() -> int:
    """How many plans are kept."""
    kept: int = lib.acl_emu_plan_count()
    return kept


def forget() -> None:
    """Forget all plans."""
    lib.acl_emu_forget_plans()
    _forget_gone()
