"""An operator is loaded when it is first used, and brings along at most its next relatives."""

from __future__ import annotations

from aclnnop.registry import MODULES, SINGLE_PHASES
from tests.conftest import run_python

FILES = frozenset(MODULES.values())

RELATIVES = 3
"""What it is derived from, or shares its formula and types with."""

LOAD_EACH = """
import importlib, sys
import acl_emu, aclnnop
from aclnnop.registry import MODULES
files = set(MODULES.values())
print("at first", *files.intersection(sys.modules))
for module in sorted(files):
    for name in [name for name in sys.modules if name.startswith("aclnnop.") and name != "aclnnop.registry"]:
        del sys.modules[name]
    importlib.import_module(module)
    print(module, *(files & set(sys.modules)) - {module})
"""


def test_an_operator_imports_few_others() -> None:
    done = run_python(LOAD_EACH)
    assert done.returncode == 0, done.stderr
    first, *loaded = (line.split() for line in done.stdout.splitlines())
    assert first == ["at", "first"]
    assert {module for module, *_ in loaded} == FILES
    for module, *others in loaded:
        assert len(others) <= RELATIVES, f"{module} imports {others}"


def test_all_operators_at_once() -> None:
    done = run_python("from aclnnop import *\nprint(*sorted(name for name in dir() if name.startswith('aclnn')))")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == sorted([*MODULES, *(f"{name}GetWorkspaceSize" for name in MODULES), *SINGLE_PHASES])
