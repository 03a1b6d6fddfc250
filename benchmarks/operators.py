"""Every operator against torch and against the bound of the machine.

``python -m benchmarks.operators`` measures those of one chip and writes a line of JSON for each row, pass by pass; ``python -m benchmarks``
starts it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

import aclnnop
from benchmarks import bounds
from benchmarks.compare import Disagreement, agree
from benchmarks.draw import DTYPES, SIZES, Draw
from benchmarks.emulator import Call
from benchmarks.layouts import LAYOUTS, arrays, lay_out
from benchmarks.problems import SUBJECTS, Subject
from benchmarks.single_steps import in_single_steps
from benchmarks.timing import Budget, Side, calls_for, in_turn

try:
    from benchmarks import rivals
except ImportError:
    rivals = None  # type: ignore[assignment]

SAMPLE = 0.002
"""Seconds that a sample takes at least."""
TOO_LONG = 2.0
"""Seconds: what takes longer is timed in two rounds."""
PASSES = 3
"""How often everything is measured, but for what takes long."""
ONCE = 10.0
"""Seconds: a rival that takes longer is not run again; the run whose result was compared is its sample."""


@dataclass
class Row:
    """What was measured of one call, in one pass or in several that lie apart; seconds."""

    subject: str
    kind: str
    exponential: bool
    dtype: str
    size: str
    layout: str
    samples: dict[str, list[float]] = field(default_factory=dict)
    """By side, round by round: the emulator; torch, where it is installed and has such a kernel; torch by way of float32, for matrix
    products of half types; numpy, where a subject has it; the emulator on operands in order, where these are not, and without fused
    steps."""
    bounds: list[float] = field(default_factory=list)
    """Pass by pass what the machine needs at least: bytes over bandwidth, or flops over the speed of a product, at their best."""
    shares: list[float] = field(default_factory=list)
    """And how much of the emulator's time that is: 1 is as fast as the machine allows."""
    composite: bool = False
    bytes: int = 0
    flops: int = 0
    is_long: bool = False
    """Whether a pass of a few rounds is all that there is time for."""
    note: str = ""

    @property
    def place(self) -> tuple[str, str, str, str]:
        """Which row of all it is."""
        return self.subject, self.dtype, self.size, self.layout

    @property
    def emulator(self) -> float:
        """Its median."""
        return statistics.median(self.samples["emulator"])

    @property
    def torch(self) -> float | None:
        """Its median; none where torch did not take part."""
        return self._median("torch")

    @property
    def torch_float32(self) -> float | None:
        """The median of a product of half types by way of float32."""
        return self._median("torch_float32")

    @property
    def ratio(self) -> float | None:
        """Torch's time over the emulator's."""
        return self._over("torch")

    @property
    def numpy(self) -> float | None:
        """Numpy's time over the emulator's."""
        return self._over("numpy")

    @property
    def order(self) -> float | None:
        """The time on operands in order over this one."""
        return self._over("contiguous")

    @property
    def single(self) -> float | None:
        """The time without fused steps over this one."""
        return self._over("single")

    @property
    def bound(self) -> float | None:
        """The median of the bounds."""
        return statistics.median(self.bounds) if self.bounds else None

    @property
    def share(self) -> float | None:
        """The median of the shares."""
        return statistics.median(self.shares) if self.shares else None

    def join(self, other: Row) -> None:
        """Take in another pass."""
        for side, times in other.samples.items():
            self.samples.setdefault(side, []).extend(times)
        self.bounds += other.bounds
        self.shares += other.shares

    def _median(self, side: str) -> float | None:
        return statistics.median(self.samples[side]) if side in self.samples else None

    def _over(self, side: str) -> float | None:
        """The median of what a side took over what the emulator did in the same round: machines change their speed between rounds."""
        if side not in self.samples:
            return None
        theirs, ours = self.samples[side], self.samples["emulator"]
        if len(theirs) != len(ours):  # a side that was run once
            return statistics.median(theirs) / statistics.median(ours)
        return statistics.median(other / own for other, own in zip(theirs, ours, strict=True))


@dataclass(frozen=True)
class Selection:
    """Which rows to measure."""

    full: bool = False
    only: str = ""
    chip: str = ""

    def subjects(self) -> list[Subject]:
        """The operators."""
        return [s for s in SUBJECTS if s.chip == self.chip and self.only.lower() in s.operator.lower()]

    def rows(self, subject: Subject) -> Iterator[tuple[str, str, str]]:
        """Dtype, size and layout: all, or the large ones of every dtype and the first dtype of everything else."""
        for size in SIZES:
            for dtype in subject.dtypes:
                for layout in LAYOUTS:
                    strided = layout != "contiguous"
                    if strided and (subject.in_order or subject.kind in ("index", "product") or size == "small"):
                        continue
                    first = dtype == subject.dtypes[0]
                    slim = (first and not (strided and size == "medium")) or (size == "large" and not strided)
                    if self.full or slim:
                        yield dtype, size, layout


def arguments(subject: Subject, dtype: str, size: str, layout: str) -> dict[str, Any]:
    """The arguments of one call: inputs in the layout, outputs in order."""
    io = {name: kind.io for name, kind in aclnnop.find(subject.operator).parameters}
    made = subject.make(Draw(size, DTYPES[dtype]))

    def laid(value: Any) -> Any:
        if isinstance(value, list):
            return [laid(one) for one in value]
        return lay_out(value, layout) if isinstance(value, np.ndarray) else value

    return {name: value if io[name] == "out" else laid(value) for name, value in made.items()}


def bytes_moved(subject: Subject, given: dict[str, Any]) -> int:
    """Every element that matters, read or written once; one that is replaced counts twice."""
    if subject.moved is not None:
        return subject.moved(given)
    return sum(
        array.size * array.itemsize * (2 if name == "selfRef" else 1) for name, array in arrays(given).items() if name not in subject.unread
    )


class Rivalry:
    """Torch's side of a call, with inputs of its own that hold the same bytes."""

    def __init__(self, subject: Subject, given: dict[str, Any], outputs: list[str], *, float32: bool = False) -> None:
        self.rival = rivals.RIVALS[subject.operator]
        self._given, self._outputs = given, outputs
        self._tensors = rivals.arguments(given)
        self._run = rivals.by_way_of_float32(self.rival) if float32 else self.rival.run

    def run(self) -> None:
        """One call."""
        self._run(self._tensors)

    def restore(self) -> None:
        """Put back what the outputs held at first."""
        for name in self._outputs:
            getattr(self._tensors, name).copy_(rivals.as_tensor(self._given[name]))

    def inputs(self) -> dict[str, bytes]:
        """What every tensor holds now, as its elements in order."""

        def held(value: Any, tensor: Any) -> Any:
            if isinstance(value, list):
                return [held(*pair) for pair in zip(value, tensor, strict=True)]
            return rivals.as_array(tensor) if isinstance(value, np.ndarray) else tensor

        now = {name: held(value, getattr(self._tensors, name)) for name, value in self._given.items()}
        return {name: array.tobytes() for name, array in arrays(now).items()}

    def results(self) -> dict[str, Any]:
        """The outputs."""
        return {name: rivals.as_array(getattr(self._tensors, name)) for name in self._outputs}


def _seconds(run: Callable[[], object]) -> float:
    """How long one call takes."""
    before = time.perf_counter()
    run()
    return time.perf_counter() - before


class Contest:
    """The emulator's call, whose result the others must reach to be timed beside it."""

    def __init__(self, subject: Subject, dtype: str, size: str, layout: str) -> None:
        self.subject = subject
        self.given = arguments(subject, dtype, size, layout)
        self.inplace = "selfRef" in self.given
        self.row = Row(subject.name, subject.kind, subject.exponential, dtype, size, layout)
        self.row.bytes = bytes_moved(subject, self.given)
        self.row.flops = subject.flops(size) if subject.products else 0
        self.call = Call(subject.operator, self.given)
        run = self.call.run_both if size == "small" else self.call.run
        self.slowest = _seconds(run)
        self.expected = {name: array for name, array in self.call.results().items() if name not in subject.unread}
        self.sides = {"emulator": self._side(run, self.call.restore)}

    def invite(self, name: str, *, float32: bool = False) -> None:
        """Let torch take part, if it computes the same."""
        rivalry = Rivalry(self.subject, self.given, list(self.expected), float32=float32)
        self.row.composite = rivalry.rival.composite
        try:
            taken = _seconds(rivalry.run)
            agree(self.expected, rivalry.results(), np.dtype(DTYPES[self.row.dtype]))
        except NotImplementedError:
            self.row.note = "torch has none"
        except Disagreement as difference:
            self.row.note = f"refused: {difference}"
        else:
            if taken > ONCE:
                self.row.samples[name] = [taken]
            else:
                self.slowest = max(self.slowest, taken)
                self.sides[name] = self._side(rivalry.run, rivalry.restore)

    def invite_numpy(self, run: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Let numpy take part; it must compute the same."""
        agree(self.expected, run(self.given), np.dtype(DTYPES[self.row.dtype]))
        self.sides["numpy"] = Side(lambda: run(self.given))

    def bound(self) -> None:
        """Let the machine show what it can do."""
        if self.row.flops:
            product = bounds.product()
            self.sides["bound"] = Side(product.run, calls=max(1, min(8, self.row.flops // product.flops)))
        else:
            self.sides["bound"] = Side(bounds.copy().run)

    def result(self) -> Row:
        """Time everyone who takes part."""
        self.row.is_long = self.slowest >= TOO_LONG / 4
        if self.row.is_long:
            budget = Budget(3, 3) if self.slowest < TOO_LONG else Budget(2, 2)
        else:
            budget = Budget(3, 5, 0.5) if self.row.size == "large" else Budget(3, 7, 0.15)
        times, row = in_turn(self.sides, budget), self.row
        if bound := times.pop("bound", None):
            needed = bound.best * (row.flops / bounds.product().flops if row.flops else row.bytes / bounds.copy().bytes)
            row.bounds, row.shares = [needed], [needed / times["emulator"].median]
        row.samples |= {name: taken.samples for name, taken in times.items()}
        return row

    def _side(self, run: Callable[[], object], restore: Callable[[], object]) -> Side:
        """What replaces its input gets it back before every sample; short calls are sampled many at a time."""
        return Side(run, restore) if self.inplace else Side(run, calls=calls_for(run, SAMPLE))


def measure(subject: Subject, dtype: str, size: str, layout: str, *, everything: bool = False) -> Row:
    """One row. Torch's products of half types are slow: large ones are measured only where everything is."""
    with ExitStack() as calls:
        contest = Contest(subject, dtype, size, layout)
        calls.enter_context(contest.call)
        if layout != "contiguous":
            in_order = Contest(subject, dtype, size, "contiguous")
            calls.enter_context(in_order.call)
            contest.sides["contiguous"] = in_order.sides["emulator"]
        if rivals is not None:
            halves = subject.products > 0 and dtype != "float32"
            if halves:
                contest.invite("torch_float32", float32=True)
            if everything or not (halves and size == "large"):
                contest.invite("torch")
            else:
                contest.row.note = "half tensors only with FULL=1"
        if size == "large":
            contest.bound()
            if subject.numpy is not None:
                contest.invite_numpy(subject.numpy)
            if subject.kind in ("element", "row") and layout == "contiguous":
                with in_single_steps():
                    single = Contest(subject, dtype, size, layout)
                calls.enter_context(single.call)
                agree(contest.expected, single.expected, np.dtype(DTYPES[dtype]))
                contest.sides["single"] = single.sides["emulator"]
        return contest.result()


def attempt(subject: Subject, dtype: str, size: str, layout: str, *, everything: bool) -> dict[str, Any]:
    """A row, or what failed."""
    try:
        return asdict(measure(subject, dtype, size, layout, everything=everything))
    except Exception as error:  # the others are measured all the same
        return {"failed": f"{subject.name} {dtype} {size} {layout}: {type(error).__name__}: {error}"}


def passes(chosen: Selection) -> Iterator[dict[str, Any]]:
    """All rows several times over, since a machine may be slow for minutes; what fails or takes long only once."""
    rows = [(subject, *row) for subject in chosen.subjects() for row in chosen.rows(subject)]
    for _ in range(PASSES):
        again = []
        for row in rows:
            found = attempt(*row, everything=chosen.full)
            if not found.get("is_long", True):
                again.append(row)
            yield found
        rows = again


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--chip", default="")
    chosen = Selection(**vars(parser.parse_args()))
    assert os.environ.get("ACL_EMU_SOC", "") == chosen.chip
    for subject in chosen.subjects():
        aclnnop.find(subject.operator)  # imported before anything is timed
    for found in passes(chosen):
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
