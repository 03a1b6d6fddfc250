"""What the emulator should reach, and whether the numbers of a run do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import base
from benchmarks.operators import Row
from benchmarks.scale import COPY

MEGABYTE = 1 << 20
FLAT = 1.25
"""What time per element may grow by, from 16 M elements on: below, operands fit in a cache."""
CLOSE = 0.95
"""What is missed by less is told apart: runs differ by as much."""
GAIN = 1.7
"""How much faster two threads are than one, where the memory is not the limit."""
LIMIT = 0.8
"""What share of a copy's bandwidth a call with two threads has at least, if the memory is."""
TWICE = 1 / 2
"""Torch's time over the emulator's, where that may take twice as long."""
SORTS = ("Sort", "Topk", "Nonzero")
SCATTERED = ("EmbeddingDenseBackward (a million rows)", "IndexAdd (a million rows)")
SLOWER = 1.5
"""How much longer a call may take than that of another checkout."""
OVERLAP = 1.5
"""How much faster two streams of one thread each are at least, where there are two processors."""


@dataclass(frozen=True)
class Verdict:
    """A target, and what became of it."""

    target: str
    met: bool | None
    """None where nothing was measured."""
    found: str


def _itself(value: float) -> float:
    return value


def _inverse(value: float) -> float:
    return 1 / value


def _each(
    target: str, rows: Iterable[Row], number: Callable[[Row], float | None], least: float, told: Callable[[float], float] = _itself
) -> Verdict:
    """Every row must reach ``least``; misses are told in the terms of the target."""
    measured = [(value, row) for row in rows if (value := number(row)) is not None]
    if not measured:
        return Verdict(target, None, "not measured")
    missed = sorted(((value, row) for value, row in measured if value < least), key=lambda pair: pair[0])
    close = sum(value >= CLOSE * least for value, _ in missed)
    text = f"{len(measured) - len(missed)} of {len(measured)}" + (f", {close} more within 5 %" if close else "")
    if missed:
        shown = [
            f"{row.subject} {row.dtype}{'' if row.layout == 'contiguous' else ' ' + row.layout} {told(value):.2f}" for value, row in missed
        ]
        text += "; misses: " + ", ".join(shown[:4]) + (", ..." if len(shown) > 4 else "")
    return Verdict(target, not missed, text)


def _one(target: str, value: float | None, met: Callable[[float], bool], unit: str = "×", beside: str = "") -> Verdict:
    return Verdict(target, None, "not measured") if value is None else Verdict(target, met(value), f"{value:.2f} {unit}{beside}")


def of_operators(rows: Sequence[Row]) -> list[Verdict]:
    """Large shapes, strides, and what is above 64 K elements."""
    large = [row for row in rows if row.size == "large" and row.layout == "contiguous"]
    streaming = [row for row in large if row.kind in ("element", "row")]
    single = [row for row in streaming if row.dtype == "float32"]
    fused = [row for row in large if row.kind == "product" and "Fused" in row.subject]
    products = [row for row in rows if row.size != "small" and row.kind == "product" and "Fused" in row.subject]
    strided = [row for row in rows if row.size == "large" and row.layout == "transposed"]
    return [
        _each(
            "element-wise and row-wise, float32: at least 0.8 of the bandwidth",
            (r for r in single if not r.exponential),
            lambda r: r.share,
            0.8,
        ),
        _each("the same with exp, log and the like: at least 0.5", (r for r in single if r.exponential), lambda r: r.share, 0.5),
        _each("element-wise and row-wise, all dtypes: at least 1.0 × torch", streaming, lambda r: r.ratio, 1.0),
        _each("NLLLoss2dBackward: at least 3 × torch", (r for r in large if r.subject == "NLLLoss2dBackward"), lambda r: r.ratio, 3.0),
        _each("fused cross entropy: at least 0.8 of the sgemm bound", fused, lambda r: r.share, 0.8),
        _each("fused cross entropy: at least 3 × torch with half tensors (medium; large with FULL=1)", products, lambda r: r.ratio, 3.0),
        _each("transposed inputs: at most 1.5 × the contiguous time", strided, lambda r: r.order, 1 / 1.5, _inverse),
        _each("above 64 K elements: never slower than torch", (r for r in rows if r.size != "small"), lambda r: r.ratio, 1.0),
    ]


def of_layers(rows: Sequence[Row]) -> list[Verdict]:
    """Moves, sorts, scattered sums, norms and convolutions; large calls."""
    large = [row for row in rows if row.size == "large" and row.layout == "contiguous"]
    convolutions = [row for row in large if row.kind == "convolution"]
    sorts = [row for row in large if row.subject.partition(" ")[0] in SORTS]
    against_numpy = [row.numpy for row in large if row.subject == "Nonzero"]
    return [
        _each(
            "moves in runs of 256 bytes and more: at least 0.7 of the bandwidth",
            (r for r in large if r.kind == "move"),
            lambda r: r.share,
            0.7,
        ),
        _one("Nonzero of 16 M elements: at least 1.0 × numpy", against_numpy[0] if against_numpy else None, lambda x: x >= 1.0),
        _each("Sort, Topk and Nonzero of 16 M elements: at most 2 × torch's time", sorts, lambda r: r.ratio, TWICE, _inverse),
        _each("scatter-add of 1 M rows: at least 1.0 × torch", (r for r in large if r.subject in SCATTERED), lambda r: r.ratio, 1.0),
        _each("norms, all dtypes: at least 1.0 × torch", (r for r in large if r.kind == "norm"), lambda r: r.ratio, 1.0),
        _each(
            "convolution, 3x3, 64 to 64 channels: at least 0.5 of the sgemm bound",
            (r for r in convolutions if r.subject == "Convolution (3x3, 64 to 64)"),
            lambda r: r.share,
            0.5,
        ),
        _each("convolutions: at most 2 × torch's time", convolutions, lambda r: r.ratio, TWICE, _inverse),
    ]


def of_small_calls(seconds: dict[str, float]) -> list[Verdict]:
    """Both phases and the synchronize of 8 elements."""
    return [
        _one("small call from C: at most 4 × numpy", seconds["C waited"] / seconds["numpy"], lambda x: x <= 4),
        _one("small call from Python: at most 6 × numpy", seconds["Python waited"] / seconds["numpy"], lambda x: x <= 6),
        _one("10,000 queued calls from C: at most 0.5 × numpy each", seconds["C queued"] / seconds["numpy"], lambda x: x <= 0.5),
        _one("10,000 queued calls from Python: at most 0.5 × numpy each", seconds["Python queued"] / seconds["numpy"], lambda x: x <= 0.5),
        *(
            _one(f"{what} from C: at most {most} callbacks", seconds[f"C {name}"] / seconds["callback"], lambda x, most=most: x <= most)
            for name, what, most in (
                ("created", "create and destroy a tensor", 5),
                ("scalars", "create and destroy a scalar", 5),
                ("arrays", "create and destroy an array", 5),
                ("allocated", "aclrtMalloc and aclrtFree", 15),
                ("copied_from_heap", "aclrtMemcpy of 64 bytes", 15),
            )
        ),
        _one(
            "another offset: at most 1.5 × the call and its tensors",
            seconds["C offsets"] / (seconds["C waited"] + 4 * seconds["C created"]),
            lambda x: x <= 1.5,
        ),
        _one("a new shape of a known kind: at most 150 callbacks", seconds["C shapes"] / seconds["callback"], lambda x: x <= 150),
    ]


def of_scale(found: dict[str, Any]) -> list[Verdict]:
    """Elements, threads, streams, memory."""
    beyond_cache = [seconds for millions, seconds in found["elements"].items() if int(millions) >= 16]
    all_threads, one_thread = found["streams"], found["streams of one thread"]
    reached = found["reached"]
    copied = f"{COPY} gains {found['threads'][COPY]:.2f} ×"
    return [
        _one(
            f"time per element flat up to {max(map(int, found['elements']))} M (growth from 16 M on at most {FLAT})",
            max(beyond_cache) / beyond_cache[0],
            lambda x: x <= FLAT,
        ),
        *(
            _one(
                f"1 to 2 threads, {name.removeprefix('aclnn')}: at least {GAIN} ×, or {LIMIT} of the bandwidth",
                gain,
                lambda x, name=name: x >= GAIN or reached[name] >= LIMIT,
                beside=f"; {reached[name]:.2f} of the bandwidth; {copied}",
            )
            for name, gain in found["threads"].items()
            if name != COPY
        ),
        *(
            _one(f"the same, operands in the caches, {name.removeprefix('aclnn')}: at least {GAIN} ×", gain, lambda x: x >= GAIN)
            for name, gain in found["threads in caches"].items()
        ),
        _one(f"two streams of one thread overlap: at least {OVERLAP} ×", one_thread["one"] / one_thread["two"], lambda x: x >= OVERLAP),
        _one("two streams of all threads: not slower than one", all_threads["one"] / all_threads["two"], lambda x: x >= 0.95),
        _one("a million create/run/destroy calls: at most 5 MB more", found["lives"]["growth"] / MEGABYTE, lambda x: x <= 5, "MB"),
        _one(
            f"100,000 shapes: the last at most {FLAT} × the first",
            found["shapes"]["last"] / found["shapes"]["first"],
            lambda x: x <= FLAT,
        ),
        _one("100,000 shapes: at most 5 MB more from the 20,000th on", found["shapes"]["growth"] / MEGABYTE, lambda x: x <= 5, "MB"),
    ]


def of_torch(found: dict[str, Any]) -> list[Verdict]:
    """Training steps through torch_npu."""
    return [
        _one(f"{title}: a training step in at most 2 × the time of torch on the CPU", times["npu"] / times["cpu"], lambda x: x <= 2)
        for title, times in found["steps"].items()
    ]


def of_base(found: dict[str, Any]) -> list[Verdict]:
    """Against another checkout, row by row."""
    ratios = sorted(((ratio, row) for row in found["rows"] if (ratio := base.times(row)) is not None), key=lambda pair: -pair[0])
    target = f"a million elements and more: at most {SLOWER} × the time of {found['commit']}, row by row"
    mean = base.geometric_mean(ratio for ratio, _ in ratios)
    if mean is None:
        return [Verdict(target, None, "not measured")]
    missed = [(ratio, row) for ratio, row in ratios if ratio > SLOWER]
    text = f"{len(ratios) - len(missed)} of {len(ratios)}, geometric mean {mean:.2f}"
    if missed:
        shown = [f"{row['subject']} {row['dtype']} {row['size']} {ratio:.2f}" for ratio, row in missed]
        text += "; misses: " + ", ".join(shown[:4]) + (", ..." if len(shown) > 4 else "")
    return [Verdict(target, not missed, text)]
