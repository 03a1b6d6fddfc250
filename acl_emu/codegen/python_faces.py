"""The Python face that is derived, acl_emu/api/__init__.py; and all operators."""

from __future__ import annotations

import importlib
import pkgutil
from collections import defaultdict
from types import ModuleType
from typing import TypeVar

import aclnnop
from acl_emu import api
from acl_emu.api.border import FUNCTIONS
from acl_emu.cface.headers import MARK
from acl_emu.spec import Operator
from acl_emu.spec.operator import Declaration
from acl_emu.spec.single_phase import SinglePhase

_Kind = TypeVar("_Kind", bound=Declaration)


def _walk(package: ModuleType) -> list[ModuleType]:
    names = [info.name for info in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
    return [importlib.import_module(name) for name in sorted(names)]


def api_init() -> str:
    """acl_emu/api/__init__.py: every acl function from the module that defines it."""
    where: dict[str, list[str]] = defaultdict(list)
    for module in _walk(api):
        for name in FUNCTIONS:
            if name in vars(module) and vars(module)[name] is FUNCTIONS[name].python:
                where[module.__name__].append(name)
    lines = [f'"""The acl functions. {MARK}"""', ""]
    for module_name in sorted(where):
        names = sorted(where[module_name])
        lines += [f"from {module_name} import (", *(f"    {name} as {name}," for name in names), ")"]
    return "\n".join(lines) + "\n"


def operators() -> list[Operator]:
    """Every declared operator, by name. Imports all of them."""
    return _declared(Operator)


def single_phases() -> list[SinglePhase]:
    """Every declared function of a single phase, by name. Imports all operators."""
    return _declared(SinglePhase)


def _declared(kind: type[_Kind]) -> list[_Kind]:
    found = [
        value
        for module in _walk(aclnnop)
        for name, value in vars(module).items()
        if isinstance(value, kind) and (value.module, value.name) == (module.__name__, name)
    ]
    return sorted(found, key=lambda declared: declared.name)
