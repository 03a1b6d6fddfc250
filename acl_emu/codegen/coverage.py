"""docs/operators.md: every emulated operator, and how many documented ones of each family there are."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from acl_emu.codegen.python_faces import MARK, operators
from acl_emu.spec import Operator
from acl_emu.spec.kinds import IntKind, StringKind, TensorKind
from acl_emu.tools import describe

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTED = Path(__file__).with_name("documented.json")


def _family(operator: Operator) -> str:
    return operator.module.split(".")[1]


def _sample(operator: Operator) -> str:
    """The samples that are named after the operator's header, or those that use it."""
    stem = operator.module.rpartition(".")[2]
    name = re.compile(rf"\b{operator.name}(GetWorkspaceSize)?\b")
    using = [path for path, text in _samples().items() if name.search(text)]
    found = [path for path in using if path.stem == stem] or using
    return " ".join(f"[{path.name}](../{path.relative_to(ROOT)})" for path in found) or "-"


@lru_cache(maxsize=None)
def _samples() -> dict[Path, str]:
    found = [*(ROOT / "samples/cpp").glob("*.cpp"), *(ROOT / "samples/python").glob("*.py")]
    return {path: path.read_text(encoding="utf-8") for path in sorted(found)}


def _modes(operator: Operator) -> str:
    words: dict[str, Iterable[str]] = {}
    for name, kind in operator.parameters:
        if isinstance(kind, IntKind) and kind.choices is not None:
            words[name] = (choice.name.lower() for choice in kind.choices)
        elif isinstance(kind, StringKind) and kind.choices:
            words[name] = kind.choices
    modes = [f"{name}: {', '.join(listed)}" for name, listed in words.items()]
    modes += [f"{name} may be null" for name, kind in operator.parameters if kind.optional]
    return "; ".join(modes) or "-"


def _dtypes(operator: Operator) -> str:
    """Parameters with the same dtypes together."""
    groups: dict[str, list[str]] = {}
    for name, kind in operator.parameters:
        if isinstance(kind, TensorKind):
            groups.setdefault(describe.dtypes(operator, kind), []).append(name)
    return "; ".join(f"{', '.join(names)}: {listed}" for listed, names in groups.items())


def page() -> str:
    """The whole page."""
    documented: dict[str, int] = json.loads(DOCUMENTED.read_text(encoding="utf-8"))
    found = operators()
    families = Counter(_family(operator) for operator in found)
    lines = [
        f"<!-- {MARK} -->",
        "# Operators",
        "",
        f"{len(found)} of {sum(documented.values())} documented operators are emulated.",
        "BF16 is refused on chips that have no hardware for it (Ascend310P, Ascend910A), whatever the table says.",
        "",
        "| family | emulated | documented |",
        "|---|---|---|",
        *(f"| {family} | {families[family]} | {count} |" for family, count in documented.items()),
    ]
    for family in sorted(families):
        lines += ["", f"## {family}", ""]
        for operator in found:
            if _family(operator) == family:
                lines += [
                    f"### {operator.name}",
                    "",
                    f"{operator.summary.splitlines()[0]}",
                    "",
                    f"`{describe.signature(operator)}`",
                    "",
                    f"- header `{operator.header}`",
                    f"- products {describe.products(operator)}",
                    f"- dtypes {_dtypes(operator)}",
                    f"- modes {_modes(operator)}",
                    f"- sample {_sample(operator)}",
                    "",
                ]
    return "\n".join(lines).rstrip() + "\n"
