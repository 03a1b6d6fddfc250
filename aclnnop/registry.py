"""Where each operator is declared. Source files are read for it, never imported, and read again only when they have changed.

A name at the top of a file that looks like an operator's is one: ``def aclnnFoo(...)`` below a decorator, or the target of an assignment
such as ``aclnnTanh, aclnnInplaceTanh = unary(...)``. An installed package has the result of its build, and reads nothing else.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator
from typing import Any

from acl_emu.core.documented import single_phases

FOLDER = os.path.dirname(os.path.abspath(__file__))
BUILT = os.path.join(FOLDER, "index.json")
"""Where the build of a package puts the index: name of the operator -> module."""
_CACHE = os.path.join(FOLDER, "__pycache__", "operators.json")
_NAME = re.compile(r"aclnn[A-Z]\w*")
_IN_BROKEN_FILES = re.compile(r"^(?:def )?(aclnn[A-Z]\w*)", re.MULTILINE)


def declared_in(text: str) -> list[str]:
    """The operators that a source file declares."""
    try:
        body = ast.parse(text).body
    except SyntaxError:  # whoever uses one of its operators is told what is wrong with the file
        return sorted(set(_IN_BROKEN_FILES.findall(text)))
    return sorted({name for statement in body for name in _targets(statement) if _NAME.fullmatch(name)})


def _targets(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef):
        yield statement.name
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def scan(folder: str = FOLDER, cache: str = _CACHE) -> dict[str, str]:
    """Name of the operator -> module, for the source files of a folder as they are now."""
    try:
        with open(cache, encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):
        known = {}
    found: dict[str, Any] = {}
    for family in sorted(entry.name for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith(("_", "."))):
        for entry in os.scandir(os.path.join(folder, family)):
            if entry.name.endswith(".py"):
                status = entry.stat()
                state, name = [status.st_mtime_ns, status.st_size], f"{family}.{entry.name[:-3]}"
                old = known.get(name)
                found[name] = old if old and old[0] == state else [state, declared_in(_text(entry.path))]
    if found != known:
        _keep(cache, found)
    modules: dict[str, str] = {}
    for module, (_, names) in sorted(found.items()):
        for name in names:
            if name in modules:
                raise ImportError(f"{name} is declared twice: in {modules[name]} and in aclnnop.{module}")
            modules[name] = f"aclnnop.{module}"
    return dict(sorted(modules.items()))


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _keep(cache: str, found: dict[str, Any]) -> None:
    fresh = f"{cache}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(cache), exist_ok=True)
        with open(fresh, "w", encoding="utf-8") as file:
            json.dump(found, file)
        os.replace(fresh, cache)
    except OSError:  # a folder that nobody may write to: files are read again the next time
        return


def _modules() -> dict[str, str]:
    if not os.path.exists(BUILT):
        return scan()
    with open(BUILT, encoding="utf-8") as file:
        built: dict[str, str] = json.load(file)
    return built


EMULATED = _modules()
"""Name of the operator or function -> module."""
MODULES = {name: module for name, module in EMULATED.items() if name not in single_phases()}
"""The operators alone."""
SINGLE_PHASES = {name: module for name, module in EMULATED.items() if name in single_phases()}
"""The functions that have no phases."""
