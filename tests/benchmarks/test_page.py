"""Targets are judged by the numbers, and page and picture can be written from them."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from benchmarks import page, roofline, targets
from benchmarks.operators import Row
from benchmarks.problems import SUBJECTS


def row(subject: str = "Add", emulator: float = 0.010, bound: float | None = 0.009, **changes: Any) -> Row:
    """Measured in one round; sides that are named, besides torch, take part."""
    sides = {side: changes.pop(side, usual) for side, usual in (("torch", 0.012), ("numpy", None), ("contiguous", None), ("single", None))}
    samples = {side: [seconds] for side, seconds in {"emulator": emulator, **sides}.items() if seconds is not None}
    usual = {"kind": "element", "exponential": False, "dtype": "float32", "size": "large", "layout": "contiguous", "bytes": 3 << 26}
    bounds = {"bounds": [bound], "shares": [bound / emulator]} if bound is not None else {}
    return Row(subject, samples=samples, **{**usual, **bounds, **changes})


def verdict(rows: list[Row], beginning: str) -> targets.Verdict:
    (found,) = [one for one in targets.of_operators(rows) + targets.of_layers(rows) if one.target.startswith(beginning)]
    return found


@pytest.mark.parametrize(
    ("beginning", "rows", "met"),
    [
        ("element-wise and row-wise, float32", [row()], True),
        ("element-wise and row-wise, float32", [row(), row("Sub", emulator=0.012)], False),
        ("element-wise and row-wise, float32", [row(exponential=True, emulator=1.0)], None),
        ("the same with exp", [row(exponential=True, emulator=0.017)], True),
        ("the same with exp", [row(exponential=True, emulator=0.019)], False),
        ("element-wise and row-wise, all dtypes", [row(), row(dtype="bfloat16", torch=0.009)], False),
        ("element-wise and row-wise, all dtypes", [row(torch=None)], None),
        ("NLLLoss2dBackward", [row("NLLLoss2dBackward", kind="index", torch=0.031)], True),
        ("NLLLoss2dBackward", [row("NLLLoss2dBackward", kind="index", torch=0.029)], False),
        ("fused cross entropy: at least 0.8", [row("FusedX", kind="product", bound=0.0081)], True),
        ("fused cross entropy: at least 3", [row("FusedX", kind="product", torch=0.029)], False),
        ("transposed", [row(layout="transposed", emulator=0.0149, contiguous=0.010)], True),
        ("transposed", [row(layout="transposed", emulator=0.0151, contiguous=0.010)], False),
        ("above 64 K", [row(), row(size="medium", torch=0.0099)], False),
        ("above 64 K", [row(), row(size="small", torch=0.0001)], True),
        ("moves", [row("Cat", kind="move", bound=0.0071), row("Flip", kind="move", size="medium", bound=0.001)], True),
        ("moves", [row("Cat", kind="move", bound=0.0071), row("Flip", kind="move", dtype="float16", bound=0.0069)], False),
        ("moves", [row()], None),
        ("Nonzero of 16 M", [row("Nonzero", kind="index", numpy=0.011)], True),
        ("Nonzero of 16 M", [row("Nonzero", kind="index", numpy=0.009)], False),
        ("Nonzero of 16 M", [row("Nonzero", kind="index")], None),
        ("Sort, Topk and Nonzero", [row("Sort (rows)", kind="index", torch=0.0051), row("NLLLoss", kind="index", torch=0.001)], True),
        ("Sort, Topk and Nonzero", [row("Nonzero", kind="index", torch=0.0049)], False),
        ("scatter-add", [row("IndexAdd (a million rows)", kind="index", torch=0.011), row("IndexAdd", kind="index", torch=0.001)], True),
        ("scatter-add", [row("EmbeddingDenseBackward (a million rows)", kind="index", torch=0.009)], False),
        ("norms", [row("RmsNorm", kind="norm"), row("RmsNorm", kind="norm", size="medium", torch=0.001)], True),
        ("norms", [row("RmsNorm", kind="norm"), row("LayerNorm", kind="norm", dtype="bfloat16", torch=0.009)], False),
        ("convolution, 3x3, 64", [row("Convolution (3x3, 64 to 64)", kind="convolution", bound=0.0051)], True),
        ("convolution, 3x3, 64", [row("Convolution (3x3, 64 to 64)", kind="convolution", bound=0.0049)], False),
        ("convolution, 3x3, 64", [row("Convolution (1x1, 256 to 64)", kind="convolution", bound=0.0049)], None),
        ("convolutions", [row("Convolution (1x1, 256 to 64)", kind="convolution", torch=0.0051)], True),
        ("convolutions", [row("Convolution (1x1, 256 to 64)", kind="convolution", torch=0.0049)], False),
    ],
)
def test_targets(beginning: str, rows: list[Row], met: bool | None) -> None:
    assert verdict(rows, beginning).met is met


def test_a_target_that_is_missed_says_by_whom() -> None:
    assert verdict([row(), row("Sub", emulator=0.018)], "element-wise and row-wise, float32").found == "1 of 2; misses: Sub float32 0.50"


def test_what_is_too_slow_transposed_is_told_as_the_target_is() -> None:
    assert verdict([row(layout="transposed", emulator=0.02, contiguous=0.01)], "transposed").found.endswith("Add float32 transposed 2.00")


def test_a_row_that_takes_longer_than_it_may_is_told_as_the_target_is() -> None:
    found = verdict([row("Sort (rows)", kind="index", emulator=0.03, torch=0.01)], "Sort, Topk and Nonzero").found
    assert found == "0 of 1; misses: Sort (rows) float32 3.00"


def test_the_targets_of_layers_name_what_is_measured() -> None:
    measured = {subject.name for subject in SUBJECTS}
    assert measured.issuperset(targets.SCATTERED)
    assert measured.issuperset({"Nonzero", "Convolution (3x3, 64 to 64)"})
    assert {name.partition(" ")[0] for name in measured}.issuperset(targets.SORTS)
    assert {subject.kind for subject in SUBJECTS}.issuperset({"move", "norm", "convolution"})


def test_passes_are_joined_round_by_round() -> None:
    """A machine that is three times slower in one pass changes nothing in ratios."""
    passes = [row(emulator=seconds, torch=2 * seconds, bound=0.5 * seconds) for seconds in (0.01, 0.03, 0.011)]
    first, *others = passes
    for other in others:
        first.join(other)
    assert first.samples == {"emulator": [0.01, 0.03, 0.011], "torch": [0.02, 0.06, 0.022]}
    assert (first.emulator, first.torch, first.ratio, first.share, first.bound, first.order) == (0.011, 0.022, 2.0, 0.5, 0.0055, None)


def test_a_rival_that_was_run_once_counts_once() -> None:
    once = row()
    once.samples["emulator"] = [0.01, 0.02, 0.03]
    once.samples["torch"] = [12.0]
    assert once.ratio == 600


def test_what_is_missed_by_little_is_counted_apart() -> None:
    found = verdict([row(), row("Sub", emulator=0.018), row("Mul", emulator=0.01145)], "element-wise and row-wise, float32").found
    assert found == "1 of 3, 1 more within 5 %; misses: Sub float32 0.50, Mul float32 0.79"


def test_who_has_the_bandwidth_of_a_copy_needs_no_gain() -> None:
    verdicts = [one for one in targets.of_scale(SCALE) if one.target.startswith("1 to 2 threads")]
    assert [(one.met, one.found) for one in verdicts] == [
        (True, "1.90 ×; 0.50 of the bandwidth; a bare copy gains 1.20 ×"),
        (True, "1.30 ×; 0.80 of the bandwidth; a bare copy gains 1.20 ×"),
        (False, "1.60 ×; 0.10 of the bandwidth; a bare copy gains 1.20 ×"),
    ]
    assert [one.met for one in targets.of_scale(SCALE) if one.target.startswith("the same, operands in the caches")] == [True, False, True]


SMALL = {
    **dict.fromkeys(("numpy", "callback", "C planned", "C listed", "Python queued", "Python planned"), 1e-6),
    **dict.fromkeys(("C created", "C scalars", "C arrays", "C allocated", "C copied", "C copied_from_heap"), 4e-6),
    "C queued": 0.4e-6,
    "C offsets": 29e-6,
    "C shapes": 151e-6,
    "C waited": 4e-6,
    "Python waited": 6.1e-6,
}
SCALE: dict[str, Any] = {
    "elements": {"1": 0.0001, "16": 0.001, "256": 0.0011},
    "threads": {"aclnnExp": 1.9, "aclnnAdd": 1.3, "aclnnMm": 1.6, "a bare copy": 1.2},
    "threads in caches": {"aclnnExp": 1.9, "aclnnAdd": 1.6, "aclnnMm": 1.7},
    "reached": {"aclnnExp": 0.5, "aclnnAdd": 0.8, "aclnnMm": 0.1},
    "streams": {"one": 0.1, "two": 0.1},
    "streams of one thread": {"one": 0.2, "two": 0.1},
    "lives": {"calls": 1_000_000, "growth": 6 << 20},
    "shapes": {"calls": 100_000, "first": 50e-6, "last": 60e-6, "growth": 6 << 20},
}


TORCH = {
    "steps": {"GPT, float32": {"npu": 0.03, "cpu": 0.01}, "GPT, bfloat16": {"npu": 0.01, "cpu": 0.02}},
    "additions": {"add of 8 elements, queued": 4e-6},
}


def test_training_steps_are_judged() -> None:
    assert [one.met for one in targets.of_torch(TORCH)] == [False, True]


def test_small_calls_and_scale_are_judged() -> None:
    assert [one.met for one in targets.of_small_calls(SMALL)] == [True, False, True, False, *[True] * 6, False]
    assert [one.met for one in targets.of_scale(SCALE)] == [True, True, True, False, True, False, True, True, True, False, True, False]


def test_the_page_has_everything() -> None:
    refused = row("Log", note="refused: out[0] is 1 against 2", torch=None)
    rows = [row(single=0.03), row("Mm", kind="product", flops=1 << 35), row(size="medium", bound=None), refused]
    found = {
        "date": "2000-01-01",
        "full": False,
        "bystanders": 0.25,
        "failed": ["Exp float32 large contiguous: CallFailed"],
        "machine": page.machine(),
        "bounds": {"bandwidth": 3e10, "peak": 2e11},
        "small": SMALL,
        "scale": SCALE,
        "torch_npu": TORCH,
        "programs": {"start_up": {"program": 0.2, "numpy": 0.1}, "checker": {"samples": {"checked": 2.0, "unchecked": 1.0}}},
    }
    rows.append(row("Sub", layout="transposed", emulator=0.014, contiguous=0.01))
    text = page.write(found, rows, targets.of_scale(SCALE))
    assert "| Sub | float32 | 14 | 12 | 0.86 | 0.64 | 1.40 |" in text
    assert "| Add | float32 | 10 | 12 | 1.20 | 0.90 | 3.00 |" in text
    assert "| Mm | float32 | 10 | 12 | 1.20 | 0.90 | – |" in text
    assert "of a shape that was not seen made, both phases, synchronize, tensors destroyed | 151.00 | 151 | 151 |" in text
    assert "100,000 shapes, one call each: 50 µs for each of the first 10,000, 60 µs of the last; +6.00 MB" in text
    for expected in (
        "refused: out[0]",
        "- Exp float32 large contiguous: CallFailed",
        "**not met**",
        "2000-01-01",
        "roofline.svg",
        "| GPT, float32 | 30 | 10 | 3.00 |",
        "| add of 8 elements, queued | 4.0 |",
        "+6.00 MB",
        "25% of the processors",
        "**Disturbed run**",
    ):
        assert expected in text
    assert "torch ms" not in page.write({**found, "full": True}, [row(torch=None)], [])
    assert "Disturbed" not in page.write({**found, "bystanders": 0.01}, rows, [])


def test_the_picture_is_well_formed() -> None:
    rows = [
        row(),
        row("Mm", kind="product", flops=1 << 35, torch=None),
        row("Exp", exponential=True),
        row("NLLLoss", kind="index"),
    ]
    root = ElementTree.fromstring(roofline.draw(rows, 3e10, 2e11))
    circles = root.findall("{http://www.w3.org/2000/svg}circle")
    assert len([circle for circle in circles if circle.find("{http://www.w3.org/2000/svg}title") is not None]) == 3


def test_who_else_used_the_processors() -> None:
    clocks = iter([(0.0, 100.0, 4.0), (20.0, 130.0, 24.0)])
    assert page.Bystanders(lambda: next(clocks)).share(processors=2) == 0.25
