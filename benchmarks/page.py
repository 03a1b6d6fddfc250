"""docs/benchmarks.md: the numbers of a run as tables."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks import base
from benchmarks.operators import PASSES, Row
from benchmarks.targets import MEGABYTE, Verdict

MARK = {True: "met", False: "**not met**", None: "–"}


def machine() -> dict[str, str]:
    """What the numbers were measured on."""
    cpu = next((line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line), "?")
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30)
    versions = {name: _version(name) for name in ("acl-emu", "numpy", "ml_dtypes", "cffi", "torch")}
    return {
        "processor": f"{cpu}, {len(os.sched_getaffinity(0))} cores",
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items() if version),
    }


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        from acl_emu.version import __version__

        return __version__ if name == "acl-emu" else ""


def _clocks() -> tuple[float, float, float]:
    """Seconds that have passed, that the processors were busy with anything, and with this process and its children that have ended."""
    user, nice, system, _, _, interrupts, soft, stolen = map(int, Path("/proc/stat").read_text().split()[1:9])
    busy = (user + nice + system + interrupts + soft + stolen) / os.sysconf("SC_CLK_TCK")
    return time.monotonic(), busy, sum(os.times()[:4])


class Bystanders:
    """How much of the processors others used since this was made: above a few per cent, the numbers are theirs too."""

    def __init__(self, clocks: Callable[[], tuple[float, float, float]] = _clocks) -> None:
        self._clocks, self._start = clocks, clocks()

    def share(self, processors: int) -> float:
        """Between 0 and 1."""
        elapsed, busy, own = (now - before for now, before in zip(self._clocks(), self._start, strict=True))
        return max(0.0, busy - own) / (elapsed * processors)


def table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    """Markdown; every column but the first is a number."""
    return [f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1), *(f"| {' | '.join(line)} |" for line in lines), ""]


def milliseconds(seconds: float | None) -> str:
    """With three digits; a dash where there is none."""
    if seconds is None:
        return "–"
    return f"{seconds * 1e3:.3g}" if seconds < 1 else f"{seconds * 1e3:.0f}"


def number(value: float | None) -> str:
    """With two places; a dash where there is none."""
    return "–" if value is None else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def _tables(rows: Sequence[Row], *, torch: bool) -> list[str]:
    """Rows of one size and layout, with the columns that any of them has."""
    bound, order, single = (any(getattr(row, column) is not None for row in rows) for column in ("share", "order", "single"))
    heads = ["operator", "dtype", "ms"] + ["torch ms", "torch / emulator"] * torch + ["share of bound"] * bound
    heads += ["× in order"] * order + ["× without fused steps"] * single
    lines = []
    for row in rows:
        line = [row.subject + (" †" if torch and row.composite else ""), row.dtype, milliseconds(row.emulator)]
        line += [milliseconds(row.torch), number(row.ratio)] * torch + [number(row.share)] * bound
        lines.append(line + [number(row.order and 1 / row.order)] * order + [number(row.single)] * single)
    return table(heads, lines)


def _operators(rows: Sequence[Row]) -> list[str]:
    torch = any(row.torch is not None for row in rows)
    lines = []
    for size, title in (("large", "Large calls"), ("medium", "Medium calls"), ("small", "Small calls of every operator")):
        for layout in ("contiguous", "transposed", "stepped"):
            if chosen := [row for row in rows if row.size == size and row.layout == layout]:
                lines += [f"## {title}, {layout}", "", *_tables(chosen, torch=torch)]
    return [*lines, *_half_products(rows), *_refused(rows)]


def _half_products(rows: Sequence[Row]) -> list[str]:
    times = [(row, row.torch_float32) for row in rows if row.torch_float32 is not None]
    if not times:
        return []
    return [
        "## Half products against torch by way of float32",
        "",
        "Converted to float32, multiplied and converted back, which is faster than torch's own half products where the processor has none.",
        "",
        *table(
            ("operator", "dtype", "size", "ms", "torch ms", "torch / emulator"),
            (
                (row.subject, row.dtype, row.size, milliseconds(row.emulator), milliseconds(torch), number(torch / row.emulator))
                for row, torch in times
            ),
        ),
    ]


def _refused(rows: Sequence[Row]) -> list[str]:
    lines = [f"- {row.subject} {row.dtype} {row.size}: {row.note}" for row in rows if row.note.startswith("refused")]
    return ["Not timed, because torch's result differs:", "", *lines, ""] if lines else []


def _small(seconds: dict[str, float]) -> list[str]:
    texts = {
        "numpy": "the bare numpy expression",
        "callback": "an empty cffi callback from C",
        "C waited": "from C: both phases and synchronize",
        "C queued": "from C: both phases, 10,000 queued",
        "C planned": "from C: phase one repeated, executor destroyed",
        "C offsets": "from C: four tensors at another offset made, both phases, synchronize, tensors destroyed",
        "C shapes": "from C: four tensors of a shape that was not seen made, both phases, synchronize, tensors destroyed",
        "C listed": "from C: both phases and synchronize of an operator over lists of 8 tensors",
        "C created": "from C: create and destroy a tensor",
        "C scalars": "from C: create and destroy a scalar",
        "C arrays": "from C: create and destroy an array of 3 numbers",
        "C allocated": "from C: aclrtMalloc and aclrtFree",
        "C copied": "from C: aclrtMemcpy of 64 bytes from the stack to the device",
        "C copied_from_heap": "from C: the same from other memory",
        "Python waited": "from Python: both phases and synchronize",
        "Python queued": "from Python: both phases, 10,000 queued",
        "Python planned": "from Python: phase one repeated, executor destroyed",
    }
    rows = (
        (text, f"{seconds[name] * 1e6:.2f}", number(seconds[name] / seconds["numpy"]), number(seconds[name] / seconds["callback"]))
        for name, text in texts.items()
    )
    return [
        "## 8 elements of SmoothL1LossBackward",
        "",
        "One process: loops in C, which link against the library as programs do, loops in Python and the bare expression take turns.",
        "",
        *table(("what", "µs a call", "/ numpy", "/ callback"), rows),
    ]


def _scale(found: dict[str, Any]) -> list[str]:
    streams = (("all threads", found["streams"]), ("one thread each", found["streams of one thread"]))
    return [
        "## Scale",
        "",
        *table(("SmoothL1LossBackward, M elements", "ms per M elements"), ((m, milliseconds(s)) for m, s in found["elements"].items())),
        *table(
            ("from 1 to 2 threads", "times faster", "of a copy's bandwidth, with 2", "times faster in the caches"),
            (
                (name.removeprefix("aclnn"), number(gain), number(found["reached"].get(name)), number(found["threads in caches"].get(name)))
                for name, gain in found["threads"].items()
            ),
        ),
        *table(
            ("two large calls", "one stream, ms", "two streams, ms", "one / two"),
            ((name, milliseconds(s["one"]), milliseconds(s["two"]), number(s["one"] / s["two"])) for name, s in streams),
        ),
        f"{found['lives']['calls']:,} create/run/destroy calls: {found['lives']['growth'] / MEGABYTE:+.2f} MB of resident memory.",
        "",
        _of_shapes(found["shapes"]),
        "",
    ]


def _of_shapes(found: dict[str, float]) -> str:
    first, last = (f"{found[name] * 1e6:.0f} µs" for name in ("first", "last"))
    growth = f"{found['growth'] / MEGABYTE:+.2f} MB"
    calls = f"{found['calls']:,} shapes, one call each"
    return f"{calls}: {first} for each of the first 10,000, {last} of the last; {growth} from the 20,000th on."


def _programs(found: dict[str, Any]) -> list[str]:
    start = found["start_up"]
    pairs = [("smallest C program / python -c 'import numpy'", start["program"], start["numpy"])]
    pairs += [(f"{title}, checked / not", times["checked"], times["unchecked"]) for title, times in found["checker"].items()]
    rows = ((title, milliseconds(one), milliseconds(other), number(one / other)) for title, one, other in pairs)
    return ["## Whole programs", "", *table(("what", "ms", "ms", "ratio"), rows)]


def _torch(found: dict[str, Any]) -> list[str]:
    steps = (
        (title, milliseconds(times["npu"]), milliseconds(times["cpu"]), number(times["npu"] / times["cpu"]))
        for title, times in found["steps"].items()
    )
    return [
        "## Through torch_npu",
        "",
        "A training step: forward, backward, clipped gradients, AdamW. One process, the devices take turns; losses are compared first.",
        "",
        *table(("training step", "ms", "CPU, ms", "/ CPU"), steps),
        *table(("call", "µs"), ((title, f"{seconds * 1e6:.1f}") for title, seconds in found["additions"].items())),
    ]


def against_base(found: dict[str, Any]) -> list[str]:
    """A row for each call and dtype, a column for each size."""
    rows: dict[tuple[str, str], dict[str, float | None]] = {}
    for row in found["rows"]:
        rows.setdefault((row["subject"], row["dtype"]), {})[row["size"]] = base.times(row)
    means = {size: base.geometric_mean(times[size] or 1 for times in rows.values() if times.get(size)) for size in base.SIZES}
    lines = [(subject, dtype, *(number(times.get(size)) for size in base.SIZES)) for (subject, dtype), times in rows.items()]
    lines.append(("geometric mean", "", *(number(mean) for mean in means.values())))
    return [
        f"## Against the engine of {found['commit']}",
        "",
        "Both checkouts make the same calls in turn, in two processes. How many times longer this one takes; below 1 it is faster. A dash:",
        "not measured at this size, or the other one does not have the operator.",
        "",
        *table(("operator", "dtype", "1 M elements", "large"), lines),
    ]


_INTRODUCTION = """\
Written by `{command}` on {date}. Ratios are medians of samples taken in turn in one run, in {passes} passes over all
operators; absolute times are shown but claim nothing. Both sides get the same bytes, and a side whose result differs is not timed.
"""

_DISTURBED = """\
**Disturbed run**: other processes used much of the machine. Threads and bounds suffer most; measure again where nothing else runs.
"""
QUIET = 0.05
"""What others may use of the processors."""

_PICTURE = """\
![What large calls reach, below the bandwidth and the speed of matrix products](roofline.svg)

Filled points are the emulator's, rings are torch's, at their share of the bound that was timed beside them. An exponential counts as ten
operations, which moves a point along the roof, not away from it.
"""

_TERMS = """\
Share of bound: bytes that must be read or written once, over the bandwidth of the best copy in the same rounds; for matrix products and
convolutions across channels their operations, over the speed of the best float32 product. An operator that only reads can be faster than a
copy. Large operands have 16 M elements, the fused ones 2048 rows, 32768 words, 1024 wide; convolutions have 8 images. Torch is called in
its `out=` form; where that only copies a result, it is taken as it is. † marks what takes it several calls. A dash: torch has no such
kernel, or it was left out. × in order: the time over that of the same call on operands in order, in the same rounds.
"""


def write(found: dict[str, Any], rows: Sequence[Row], verdicts: Sequence[Verdict]) -> str:
    """The whole page."""
    bandwidth, peak = found["bounds"]["bandwidth"], found["bounds"]["peak"]
    roofs = (("copy, all threads", f"{bandwidth / 1e9:.1f} GB/s"), ("sgemm, all threads", f"{peak / 1e9:.0f} Gflop/s"))
    roofs += (("used by other processes meanwhile", f"{found['bystanders']:.0%} of the processors"),)
    lines = [
        "# Benchmarks",
        "",
        _INTRODUCTION.format(command="make bench FULL=1" if found["full"] else "make bench", date=found["date"], passes=PASSES),
        *table(("machine", ""), (*found["machine"].items(), *roofs)),
        *([_DISTURBED] if found["bystanders"] > QUIET else []),
        _PICTURE,
        "## Targets",
        "",
        *table(("target", "", "found"), ((v.target, MARK[v.met], v.found) for v in verdicts)),
        *(["Failed, and not in the tables:", "", *(f"- {failure}" for failure in found["failed"]), ""] if found["failed"] else []),
        _TERMS,
        *_operators(rows),
        *(_small(found["small"]) if "small" in found else []),
        *(_scale(found["scale"]) if "scale" in found else []),
        *(_programs(found["programs"]) if "programs" in found else []),
        *(against_base(found["base"]) if "base" in found else []),
        *(_torch(found["torch_npu"]) if found.get("torch_npu") else []),
    ]
    return "\n".join(lines).rstrip() + "\n"
