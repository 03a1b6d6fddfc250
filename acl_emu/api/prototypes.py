"""C prototypes of both phases of an operator, from its declaration."""

from __future__ import annotations

from typing import NamedTuple

from acl_emu.api.border import CParameter, Prototype
from acl_emu.core.documented import PHASE_ONE
from acl_emu.spec import Operator


class Phases(NamedTuple):
    """Both C prototypes of an operator."""

    one: Prototype
    two: Prototype


def phases(operator: Operator) -> Phases:
    """The prototypes of an operator, derived from its declaration."""
    parameters = tuple(CParameter(kind.c_type, name) for name, kind in operator.parameters)
    last = (CParameter("uint64_t*", "workspaceSize"), CParameter("aclOpExecutor**", "executor"))
    run = (
        CParameter("void*", "workspace"),
        CParameter("uint64_t", "workspaceSize"),
        CParameter("aclOpExecutor*", "executor"),
        CParameter("aclrtStream", "stream"),
    )
    return Phases(
        Prototype("aclnnStatus", operator.name + PHASE_ONE, parameters + last, operator.header, ""),
        Prototype("aclnnStatus", operator.name, run, operator.header, ""),
    )
