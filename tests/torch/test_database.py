"""The page of torch's operator database, which needs no torch."""

from __future__ import annotations

from typing import Any

from tests.torch.database import page


def row(entry: str, **steps: dict[str, Any]) -> dict[str, Any]:
    return {"entry": entry, "dtype": "float32", "steps": {"forward": page.EQUAL, **steps}}


MISSING = {"equal": 1, "missing": ["aclnnFoo"], "differences": []}
ROWS = [
    row("add"),
    row("foo", forward=MISSING),
    row("bar", backward=MISSING),
    row("baz", backward=page.stopped("too slow")),
    {"entry": "other", "dtype": None, "steps": {}},
]


def test_counts_and_tables() -> None:
    table = page.Table(ROWS, [{"reason": "it is slow", "steps": ["backward"], "entries": ["baz"]}], ["aten::mode"])
    assert table.summary() == "4 entries: 1 equal, 1 more equal forward, 1 different, 1 not yet"
    text = table.text(3)
    assert "| it is slow | `baz` (backward) |" in text
    assert "| `foo` | `aclnnFoo` |  |" in text
    assert "| `bar` |  | `aclnnFoo` |" in text
    assert "`aten::mode`" in text
    assert text.endswith("## Equal\n\n`add`\n")
    assert list(table.unexplained(stale=True)) == []


def test_what_differs_without_a_reason() -> None:
    table = page.Table(ROWS, [{"reason": "it is slow", "steps": ["forward"], "entries": ["baz"]}], ["aten::mode"])
    assert list(table.unexplained(stale=False)) == ["baz, backward: too slow"]
    assert "mistake" in table.text(3)


def test_reasons_that_hold_no_more() -> None:
    reasons = [
        {"reason": "it is slow", "entries": ["baz", "add", "foo"]},
        {"reason": "random", "compare": "shapes", "entries": ["add"]},
    ]
    assert list(page.Table(ROWS, reasons, []).unexplained(stale=True)) == ["add: does not differ, but reasons.json says: it is slow"]


def test_the_reasons_are_well_formed() -> None:
    for reason in page.read_reasons():
        assert set(reason) <= {"reason", "entries", "steps", "compare"}
        assert reason["reason"]
        assert reason["entries"]
        assert set(reason.get("steps", ())) <= {"forward", *page.DERIVED}
