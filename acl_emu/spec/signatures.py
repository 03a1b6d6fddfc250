"""What ``help()``, ``inspect.signature`` and completion show of an operator's two phases."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from acl_emu.core import handles
from acl_emu.core.documented import PHASE_ONE, python_name
from acl_emu.spec.kinds import HandleKind, IntKind, Kind, ListKind, StringKind, TensorKind

if TYPE_CHECKING:
    from acl_emu.spec.operator import Operator

_PYTHON_TYPES: dict[str, Any] = {"int": int, "float": float, "bool": bool, "str | None": str}


def _signature(parameters: dict[str, Any], answer: Any) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [inspect.Parameter(name, kind, annotation=hint) for name, hint in parameters.items()], return_annotation=answer
    )


def _hint(kind: Kind) -> Any:
    """The Python type of a parameter."""
    if isinstance(kind, TensorKind):
        hint: Any = handles.aclTensor
    elif isinstance(kind, (HandleKind, ListKind)):
        hint = handles.CLASSES[kind.kind.c_name]
    else:
        hint = _PYTHON_TYPES[kind.python_type]
    return hint | None if kind.optional else hint


def _what(kind: Kind) -> str:
    """What a parameter may be, in a few words."""
    words = {"in": "", "out": "output", "inout": "changed in place"}[kind.io]
    choices: tuple[str, ...] = ()
    plain = kind.member if isinstance(kind, ListKind) else kind
    if isinstance(plain, (TensorKind, HandleKind)):
        choices = tuple(dtype.name for dtype in plain.allowed)
    elif isinstance(kind, IntKind) and kind.choices is not None:
        choices = tuple(f"{choice.value} ({choice.name.lower()})" for choice in kind.choices)
    elif isinstance(kind, StringKind):
        choices = kind.choices
    return "; ".join(part for part in (words, ", ".join(choices), "None for null" if kind.optional else "") if part)


class PhaseOne:
    """aclnnXxxGetWorkspaceSize, for who asks about it."""

    module = "aclnnop"

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.name = operator.name + PHASE_ONE

    @property
    def doc(self) -> str:
        """Its docstring."""
        lines = [(name, kind.c_type, _what(kind)) for name, kind in self._operator.parameters]
        widths = [max((len(line[i]) for line in lines), default=0) for i in range(2)]
        table = "\n".join(f"    {name:{widths[0]}}  {c_type:{widths[1]}}  {what}".rstrip() for name, c_type, what in lines)
        return (
            f"Phase one of {self._operator.name}: check the arguments and plan the call. {self._operator.summary}\n\n"
            f"{table}\n\n"
            f"Returns (workspaceSize, executor, status). A status other than 0 is an error, aclGetRecentErrMsg() has its text.\n"
            f"With 0, {self._operator.name}(workspace, workspaceSize, executor, stream) runs it."
        )

    @property
    def signature(self) -> inspect.Signature:
        """Names and Python types of its parameters."""
        parameters = {python_name(name): _hint(kind) for name, kind in self._operator.parameters}
        return _signature(parameters, tuple[int, handles.aclOpExecutor, int])


class PhaseTwo:
    """aclnnXxx, for who asks about it."""

    module = "aclnnop"

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self.name = operator.name

    @property
    def doc(self) -> str:
        """Its docstring."""
        return (
            f"Phase two of {self._operator.name}: put the call that phase one planned on a stream. {self._operator.summary}\n\n"
            "    workspace      void*           device memory, None where phase one asked for none\n"
            "    workspaceSize  uint64_t        its bytes, at least what phase one asked for\n"
            f"    executor       aclOpExecutor*  from {self._operator.name}{PHASE_ONE}; used up by this call\n"
            "    stream         aclrtStream     None is the default stream\n\n"
            "Returns the status. 0: the call is queued; aclrtSynchronizeStream(stream) waits for it, and tells whether it failed."
        )

    @property
    def signature(self) -> inspect.Signature:
        """Names and Python types of its parameters."""
        stream, executor = handles.aclrtStream, handles.aclOpExecutor
        return _signature({"workspace": int | None, "workspaceSize": int, "executor": executor, "stream": stream | None}, int)
