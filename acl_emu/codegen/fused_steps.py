"""``python -m acl_emu.codegen.fused_steps ENGINE FILE``: the fused steps of all declared operators, as C, for the build.

Beside the file is a note of what each operator has brought, and of the sources that it comes from. Only operators whose sources have
changed are run again.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import acl_emu as acl
import aclnnop
from acl_emu import engine
from acl_emu.core import soc
from acl_emu.engine import bindings
from acl_emu.engine.render import source_of
from acl_emu.spec import Operator
from acl_emu.spec.kinds import BoolKind, FloatKind, IntKind
from aclnnop.registry import MODULES

_ROOT = Path(aclnnop.__file__).parent.parent
_IMPORTED = re.compile(r"^(?:from|import) (aclnnop\.[\w.]+)", re.MULTILINE)


def of_examples(name: str) -> list[str]:
    """What could be fused in the examples of an operator, and in the same calls with other choices."""
    operator = aclnnop.find(name)
    engine.nest_for.cache_clear()  # what another operator has asked for is not this one's alone
    with engine.collected() as found:
        for build, products in operator.example_sources:
            os.environ["ACL_EMU_SOC"] = next(chip.name for chip in soc.PROFILES.values() if chip.product in products)
            soc.current.cache_clear()
            for values in (values for example in build() for values in _calls(operator, example)):
                # A choice may not fit an example, a type may have no array.
                with contextlib.suppress(acl.AclCallError, TypeError, ValueError):
                    acl.call(name, *values)
    return sorted({fusion.text for fusion in found})


@lru_cache(maxsize=None)
def _read(module: str) -> tuple[str, frozenset[str]]:
    """A digest of a module of operators, and what it imports of the others."""
    path = _ROOT / (module.replace(".", "/") + ".py")
    text = (path if path.exists() else path.with_suffix("") / "__init__.py").read_text(encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest(), frozenset(_IMPORTED.findall(text))


def _sources(module: str) -> str:
    """A digest of a module and of all that it imports."""
    seen, left = set(), {module}
    while left:
        seen |= left
        left = {other for one in left for other in _read(one)[1]} - seen
    return hashlib.sha256(" ".join(sorted(_read(one)[0] for one in seen)).encode()).hexdigest()


def _common() -> str:
    """A digest of what all operators depend on."""
    folders = [_ROOT / "acl_emu" / name for name in ("core", "engine", "runtime", "spec")]
    texts = [path.read_bytes() for folder in folders for path in sorted((*folder.rglob("*.py"), *folder.rglob("*.h")))]
    return hashlib.sha256(b"\0".join([*texts, Path(__file__).read_bytes()])).hexdigest()


def collected(note: Path) -> Iterator[str]:
    """The fused steps of all operators; those of operators that are as they were when the note was written come from there."""
    common, known = _common(), {}
    with contextlib.suppress(OSError, ValueError):
        known = json.loads(note.read_text(encoding="utf-8"))
    found = {}
    for name, module in sorted(MODULES.items()):
        sources = common + _sources(module)
        before = known.get(name, {})
        steps = before["steps"] if before.get("sources") == sources else of_examples(name)
        found[name] = {"sources": sources, "steps": steps}
        yield from steps
    note.write_text(json.dumps(found), encoding="utf-8")


def _calls(operator: Operator, example: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """With every choice; and with each number as 1, which formulas that divide by it are simpler for."""
    choices = {name: _choices(kind, example[name]) for name, kind in operator.parameters}
    yield from itertools.product(*choices.values())
    for name, kind in operator.parameters:
        if isinstance(kind, FloatKind) and example[name] != 1:
            yield from itertools.product(*{**choices, name: [1.0]}.values())


def _choices(kind: Any, value: Any) -> list[Any]:
    if isinstance(kind, IntKind) and kind.choices:
        return [choice.value for choice in kind.choices]
    return [False, True] if isinstance(kind, BoolKind) else [value]


if __name__ == "__main__":
    bindings.PATH = Path(sys.argv[1])
    target = Path(sys.argv[2])
    target.write_text(source_of(collected(target.with_name("fused_steps.json"))), encoding="utf-8")
