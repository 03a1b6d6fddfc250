"""The tools that environment variables start. Only those that are asked for are loaded."""

from __future__ import annotations

import atexit
import importlib
import os

from acl_emu import observe

STARTERS = {
    "ACL_EMU_CHECK": "acl_emu.checker",
    "ACL_EMU_TRACE": "acl_emu.trace",
    "ACL_EMU_REPORT": "acl_emu.report",
}
"""Variable → module whose ``from_environment(value)`` makes the tool. The report comes last: it tells what the others found."""


def start() -> None:
    """Start what the environment asks for."""
    for variable, module in STARTERS.items():
        value = os.environ.get(variable)
        if value:
            observe.watch(importlib.import_module(module).from_environment(value))
    if observe.watching is not None:
        atexit.register(observe.close)
