"""docs/operators.md and docs/operators/: a page for each family, with every documented operator of it, emulated or not.

A section stands where the name has its place, whether the operator is emulated or not. So two branches that each add an operator, even
neighbours, change different lines; and no page has a number that both would change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from acl_emu.cface.headers import MARK
from acl_emu.codegen.python_faces import operators, single_phases
from acl_emu.core import documented
from acl_emu.core.documented import Documented
from acl_emu.spec.kinds import IntKind, StringKind, tensor_kind
from acl_emu.spec.operator import Declaration
from acl_emu.tools import describe

ROOT = Path(__file__).resolve().parents[2]


def _sample(operator: Declaration) -> str:
    """The samples that are named after the operator's header, or those that use it."""
    stem = operator.module.rpartition(".")[2]
    name = re.compile(rf"\b{operator.name}(GetWorkspaceSize)?\b")
    using = [path for path, text in _samples().items() if name.search(text)]
    found = [path for path in using if path.stem == stem] or using
    return " ".join(f"[{path.name}](../../{path.relative_to(ROOT)})" for path in found) or "-"


@lru_cache(maxsize=None)
def _samples() -> dict[Path, str]:
    found = [*(ROOT / "samples/cpp").glob("*.cpp"), *(ROOT / "samples/python").glob("*.py")]
    return {path: path.read_text(encoding="utf-8") for path in sorted(found)}


def _modes(operator: Declaration) -> str:
    words: dict[str, Iterable[str]] = {}
    for name, kind in operator.parameters:
        if isinstance(kind, IntKind) and kind.choices is not None:
            words[name] = (choice.name.lower() for choice in kind.choices)
        elif isinstance(kind, StringKind) and kind.choices:
            words[name] = kind.choices
    modes = [f"{name}: {', '.join(listed)}" for name, listed in words.items()]
    modes += [f"{name} may be null" for name, kind in operator.parameters if kind.optional]
    return "; ".join(modes) or "-"


def _dtypes(operator: Declaration) -> str:
    """Parameters with the same dtypes together."""
    groups: dict[str, list[str]] = {}
    for name, kind in operator.parameters:
        tensor = tensor_kind(kind)
        if tensor is not None:
            groups.setdefault(describe.dtypes(operator, tensor), []).append(name)
    return "; ".join(f"{', '.join(names)}: {listed}" for listed, names in groups.items()) or "-"


def _section(known: Documented, operator: Declaration | None) -> list[str]:
    if operator is None:
        return [f"### {known.name}", "", "Not emulated.", ""]
    return [
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


def pages() -> dict[str, str]:
    """Path below docs/ -> text."""
    emulated: dict[str, Declaration] = {declared.name: declared for declared in (*operators(), *single_phases())}
    families: dict[str, list[str]] = {}
    for name, known in documented.table().items():
        families.setdefault(known.family, []).extend(_section(known, emulated.get(name)))
    index = [
        f"<!-- {MARK} -->",
        "# Operators",
        "",
        "Every documented operator has its place on the page of its family: signature, data types and products of those that are emulated,",
        "the name of those that are not. `acl-emu ops` lists and counts those that are.",
        "",
        "BF16 is refused on chips that have no hardware for it (Ascend310P, Ascend910A), whatever a page says.",
        "",
        *(f"- [{family}](operators/{family}.md)" for family in sorted(families)),
    ]
    found = {"operators.md": "\n".join(index) + "\n"}
    for family, lines in families.items():
        found[f"operators/{family}.md"] = "\n".join([f"<!-- {MARK} -->", f"# {family}", "", *lines]).rstrip() + "\n"
    return found
