"""The tools that environment variables start. Only those that are asked for are loaded."""

from __future__ import annotations

import importlib
import os
import sys

from acl_emu.core import observe
from acl_emu.core.errors import AclError
from acl_emu.core.soc import ConfigurationError

STARTERS = {
    "ACL_EMU_FAULT": "acl_emu.tools.faults",
    "ACL_EMU_LOG": "acl_emu.tools.log",
    "ASCEND_LOG_PRINT_TO_STDOUT": "acl_emu.tools.log",
    "ASCEND_SLOG_PRINT_TO_STDOUT": "acl_emu.tools.log",
    "ASCEND_PROCESS_LOG_PATH": "acl_emu.tools.log",
    "ACL_EMU_CHECK": "acl_emu.tools.checker",
    "ACL_EMU_TRACE": "acl_emu.tools.trace",
    "ACL_EMU_REPORT": "acl_emu.tools.report",
}
"""Variable → module whose ``from_environment(value)`` makes the tool, if there is to be one. A module is asked once, with the first of its
variables that is set. The report comes last: it tells what the others found."""


def start() -> None:
    """Start what the environment asks for, at the first call: a command that only reads the package has nothing to watch."""
    wanted: dict[str, str] = {}
    for variable, module in STARTERS.items():
        value = os.environ.get(variable)
        if value:
            wanted.setdefault(module, value)
    if wanted:
        observe.replace(observe.AtFirstCall(lambda: _start(wanted)))


def _start(wanted: dict[str, str]) -> None:
    try:
        made = [importlib.import_module(module).from_environment(value) for module, value in wanted.items()]
    except ConfigurationError as error:
        print(f"acl-emu: {error}", file=sys.stderr, flush=True)
        made = [_Refusal(error)]
    tools = [tool for tool in made if tool is not None]
    if tools:
        observe.watch(*tools)


class _Refusal(observe.Tool):
    """What was asked for means nothing: no call succeeds as if it had not been asked for."""

    def __init__(self, error: AclError) -> None:
        self._error = error

    def refuses(self, call: observe.Call) -> AclError | None:
        return None if call.name == "aclGetRecentErrMsg" else self._error
