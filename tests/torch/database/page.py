"""docs/torch.md: which entries of the database are equal, which differ and why, which need an operator that is not emulated."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REASONS = Path(__file__).with_name("reasons.json")
DERIVED = ("in place", "backward")


def read_reasons() -> list[dict[str, Any]]:
    """Each with its entries. ``steps``: where it holds for some of them only. ``compare`` is "shapes" where values cannot be equal."""
    return json.loads(REASONS.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


EQUAL: dict[str, Any] = {"equal": 1, "missing": [], "differences": []}


def stopped(why: str) -> dict[str, Any]:
    """The result of a step that did not come to an end."""
    return {"equal": 0, "missing": [], "differences": [why]}


class Table:
    """Results and the reasons for what differs."""

    def __init__(self, found: list[dict[str, Any]], reasons: list[dict[str, Any]], on_cpu: list[str]) -> None:
        self.found = [row for row in found if row["dtype"] is not None]
        self.reasons, self.on_cpu = reasons, on_cpu

    def reason(self, entry: str, step: str) -> str | None:
        """Why a step of an entry differs."""
        for reason in self.reasons:
            if entry in reason["entries"] and step in reason.get("steps", (step,)):
                return str(reason["reason"])
        return None

    def differing(self) -> Iterator[tuple[str, str, list[str]]]:
        """Entries and steps whose results are not those of the CPU although their operators are emulated."""
        for row in self.found:
            for step, result in row["steps"].items():
                if result["differences"]:
                    yield row["entry"], step, result["differences"]

    def missing(self, row: dict[str, Any]) -> list[str]:
        """Operators that an entry asks for and that are not emulated."""
        return sorted({name for result in row["steps"].values() for name in result["missing"]})

    def equal(self, row: dict[str, Any]) -> bool:
        """In all its steps."""
        return not any(result["differences"] or result["missing"] for result in row["steps"].values())

    def unexplained(self, *, stale: bool) -> Iterator[str]:
        """Lines that say what the table must not have."""
        differing = [(entry, step) for entry, step, _ in self.differing()]
        for entry, step, differences in self.differing():
            if self.reason(entry, step) is None:
                yield f"{entry}, {step}: {differences[0]}"
        if not stale:
            return
        absent = {row["entry"] for row in self.found if self.missing(row)}
        for reason in self.reasons:
            if reason.get("compare") == "shapes":
                continue
            for entry in reason["entries"]:
                if entry not in absent and not any(entry == other and step in reason.get("steps", (step,)) for other, step in differing):
                    yield f"{entry}: does not differ, but reasons.json says: {reason['reason']}"

    def counts(self) -> dict[str, int]:
        """Of every kind of entry."""
        different = {entry for entry, _, _ in self.differing()}
        waiting = [row for row in self.found if row["entry"] not in different and self.missing(row)]
        return {
            "equal": sum(self.equal(row) for row in self.found),
            "equal forward": sum(not row["steps"]["forward"]["missing"] for row in waiting),
            "not yet": sum(bool(row["steps"]["forward"]["missing"]) for row in waiting),
            "different": len(different),
        }

    def summary(self) -> str:
        """One line."""
        counts = self.counts()
        return (
            f"{len(self.found)} entries: {counts['equal']} equal, {counts['equal forward']} more equal forward, "
            f"{counts['different']} different, {counts['not yet']} not yet"
        )

    def text(self, samples: int) -> str:
        """The page."""
        different = {entry for entry, _, _ in self.differing()}
        waiting = [row for row in self.found if row["entry"] not in different and self.missing(row)]
        counts = self.counts()
        parts = [
            _HEAD.format(samples=samples),
            _rows(
                ("state", "entries"),
                [
                    ("equal in every step", str(counts["equal"])),
                    ("equal forward; a gradient or the form in place needs an operator that is not emulated", str(counts["equal forward"])),
                    ("different, each with its reason", str(counts["different"])),
                    ("not yet: forward needs an operator that is not emulated", str(counts["not yet"])),
                ],
            ),
            "## Different\n",
            _rows(("reason", "entries"), self._explained()),
            "## Only shapes and types are compared\n",
            _rows(
                ("reason", "entries"),
                [(reason["reason"], _names(reason["entries"])) for reason in self.reasons if reason.get("compare") == "shapes"],
            ),
            "## Not yet\n",
            _rows(
                ("entry", "forward needs", "in place, backward need"),
                [
                    (f"`{row['entry']}`", _names(row["steps"]["forward"]["missing"]), _names(self._later(row)))
                    for row in sorted(waiting, key=lambda row: not row["steps"]["forward"]["missing"])
                ],
            ),
            "## On the CPU\n",
            "torch_npu has no kernel for these operators of torch. It computes them on the CPU, and warns of it.\n",
            _names(self.on_cpu) + "\n",
            "## Equal\n",
            _names(row["entry"] for row in self.found if self.equal(row)) + "\n",
        ]
        return "\n".join(parts)

    def _later(self, row: dict[str, Any]) -> list[str]:
        return sorted({name for step in DERIVED for name in row["steps"].get(step, {"missing": ()})["missing"]})

    def _explained(self) -> list[tuple[str, str]]:
        by_reason: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for entry, step, _ in self.differing():
            by_reason[self.reason(entry, step) or "**none: a mistake**"][entry].append(step)
        return [
            (reason, ", ".join(f"`{entry}`" + ("" if "forward" in steps else f" ({', '.join(steps)})") for entry, steps in entries.items()))
            for reason, entries in by_reason.items()
        ]


def _names(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _rows(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join((*lines, *("| " + " | ".join(row) + " |" for row in rows))) + "\n"


_HEAD = """# torch's operator database

PyTorch describes its operators, with sample inputs, in a database (`op_db`). `make torch` runs its entries with the unmodified
torch_npu wheel on emulated devices and on the CPU, and compares: results, forms in place, gradients. Types are float32 where an entry
takes it, samples at most {samples} of each entry. The page is generated; no entry may differ without a reason in
`tests/torch/database/reasons.json`.
"""
