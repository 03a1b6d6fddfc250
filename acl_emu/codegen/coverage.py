"""docs/operators.md: every emulated operator, and how many documented ones of each family there are."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from acl_emu import describe
from acl_emu.codegen.python_faces import MARK, operators
from acl_emu.spec import Operator
from acl_emu.spec.kinds import IntKind, TensorKind

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTED = Path(__file__).with_name("documented.json")


def _family(operator: Operator) -> str:
    return operator.module.split(".")[1]


def _sample(operator: Operator) -> str:
    """The sample that is named after the operator's header, where there is one."""
    stem = operator.module.rpartition(".")[2]
    found = [f"samples/cpp/{stem}.cpp", f"samples/python/{stem}.py"]
    links = [f"[{Path(name).suffix[1:]}](../{name})" for name in found if (ROOT / name).exists()]
    return " ".join(links) or "-"


def _modes(operator: Operator) -> str:
    modes = [
        f"{name}: " + ", ".join(choice.name.lower() for choice in kind.choices)
        for name, kind in operator.parameters
        if isinstance(kind, IntKind) and kind.choices is not None
    ]
    modes += [f"{name} may be null" for name, kind in operator.parameters if kind.optional]
    return "; ".join(modes) or "-"


def _dtypes(operator: Operator) -> str:
    """Parameters with the same dtypes together."""
    groups: dict[str, list[str]] = {}
    for name, kind in operator.parameters:
        if isinstance(kind, TensorKind):
            groups.setdefault(describe.dtypes(kind), []).append(name)
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
