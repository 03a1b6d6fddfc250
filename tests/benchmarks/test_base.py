"""Another checkout: the same calls in two processes, and what is told of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import base, page, targets

ROOT = Path(__file__).resolve().parents[2]


def row(size: str = "large", dtype: str = "float32", **changes: Any) -> dict[str, Any]:
    return {"subject": "Add", "dtype": dtype, "size": size, **changes}


def test_a_checkout_is_measured_against_itself() -> None:
    ours, other = (base.Worker(ROOT, "") for _ in range(2))
    try:
        found = base.compare(ours, other, ("Add", "float32", "million"), sleep=lambda _: None)
        assert len(found["ours"]) == len(found["base"]) == base.ROUNDS
        assert (base.times(found) or 0) > 0
        assert "no type" in base.compare(ours, other, ("Add", "no type", "million"))["failed"]
    finally:
        ours.close()
        other.close()


def test_a_process_that_ends_is_told(tmp_path: Path) -> None:
    worker = base.Worker(tmp_path, "")
    with pytest.raises(RuntimeError, match="process of a checkout ended"):
        worker.ask("open", "Add", "float32", "million")
    worker.close()


def test_the_rows_of_every_chip_are_there_once() -> None:
    rows = list(base.rows("", ""))
    assert len(set(rows)) == len(rows) > 100
    assert {size for _, _, size in rows} == {"million", "large"}


@pytest.mark.parametrize(
    ("rows", "met", "text"),
    [
        ([row(ours=[3.0, 1.0, 2.0], base=[2.0, 1.0, 2.0])], True, "1 of 1, geometric mean 1.00"),
        ([row(ours=[4.0], base=[1.0]), row("million", ours=[1.0], base=[1.0])], False, "mean 2.00; misses: Add float32 large 4.00"),
        ([row(failed="AttributeError: aclnnAdd")], None, "not measured"),
    ],
)
def test_the_target(rows: list[dict[str, Any]], met: bool | None, text: str) -> None:
    (verdict,) = targets.of_base({"commit": "abc", "rows": rows})
    assert verdict.met is met
    assert text in verdict.found


def test_the_table() -> None:
    rows = [row(ours=[4.0], base=[1.0]), row("million", ours=[1.0], base=[1.0]), row(dtype="float16", failed="no such operator")]
    lines = page.against_base({"commit": "abc", "rows": rows})
    for expected in (
        "## Against the engine of abc",
        "| Add | float32 | 1.00 | 4.00 |",
        "| Add | float16 | – | – |",
        "| geometric mean |  | 1.00 | 4.00 |",
    ):
        assert expected in lines
