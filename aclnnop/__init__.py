"""The operators: ``aclnnXxxGetWorkspaceSize`` is phase one, ``aclnnXxx`` phase two. A module is imported at its first use."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from acl_emu.core.documented import PHASE_ONE, refusal
from acl_emu.spec.operator import Operator
from acl_emu.spec.single_phase import SinglePhase


def find(name: str) -> Operator:
    """The declaration of an operator, by the name of either phase."""
    from aclnnop.registry import MODULES

    plain = name.removesuffix(PHASE_ONE)
    if plain not in MODULES:
        raise AttributeError(refusal(plain, MODULES))
    found: Operator = getattr(importlib.import_module(MODULES[plain]), plain)
    return found


def find_single_phase(name: str) -> SinglePhase:
    """The declaration of a function that has no phases."""
    from aclnnop.registry import SINGLE_PHASES

    found: SinglePhase = getattr(importlib.import_module(SINGLE_PHASES[name]), name)
    return found


def __getattr__(name: str) -> Any:
    if name == "__all__":  # `from aclnnop import *` asks for it; a list kept here would load the index in every program
        return __dir__()
    if not name.startswith("acl"):
        raise AttributeError(f"module 'aclnnop' has no attribute {name!r}")
    from aclnnop.registry import SINGLE_PHASES

    function: Callable[..., Any]
    if name in SINGLE_PHASES:
        function = find_single_phase(name).call
    else:
        operator = find(name)
        function = operator.get_workspace_size if name.endswith(PHASE_ONE) else operator.run
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    from aclnnop.registry import MODULES, SINGLE_PHASES

    return sorted([*MODULES, *(name + PHASE_ONE for name in MODULES), *SINGLE_PHASES, "find", "find_single_phase"])
