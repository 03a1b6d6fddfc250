"""This checkout against another one: the same calls in two processes, sampled in turn.

``python -m benchmarks --base <folder>`` measures both. The other checkout gives ``acl_emu`` and ``aclnnop``, built; the calls are those of
this one. Run as a file, this is the process of one of the two: it takes a request in each line and answers with a line of JSON.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SIZES = ("million", "large")
ROUNDS = 5
LONG = 0.5
"""Seconds: what takes longer is sampled in two rounds."""
SAMPLE = 0.005
"""Seconds that a sample takes at least."""
REST = 0.005
"""Seconds between two samples, for threads that go on spinning."""


class Worker:
    """A process that makes the calls of a checkout."""

    def __init__(self, checkout: Path, chip: str) -> None:
        environment = {**os.environ, "ACL_EMU_SOC": chip, "ACL_EMU_COMPILE": "wait", "PYTHONPATH": ""}
        command = [sys.executable, str(Path(__file__).resolve()), str(checkout)]
        self._process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, *request: Any) -> None:
        """Ask, and go on."""
        assert self._process.stdin is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)

    def answer(self) -> Any:
        """Of the oldest request."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of a checkout ended with {self._process.wait()}")
        return json.loads(line)

    def ask(self, *request: Any) -> Any:
        """Ask, and wait for the answer."""
        self.send(*request)
        return self.answer()

    def close(self) -> None:
        """No more requests."""
        self._process.communicate()


def compare(ours: Worker, base: Worker, row: tuple[str, str, str], *, sleep: Callable[[float], None] = time.sleep) -> dict[str, Any]:
    """Samples of a row in turn; what the base does not have, or refuses, says why."""
    found: dict[str, Any] = dict(zip(("subject", "dtype", "size"), row, strict=True))
    for worker in (ours, base):  # both draw at the same time
        worker.send("open", *row)
    opened = [worker.answer() for worker in (ours, base)]
    if failed := [answer["failed"] for answer in opened if "failed" in answer]:
        return {**found, "failed": "; ".join(failed)}
    slowest = max(answer["seconds"] for answer in opened)
    calls = max(1, round(SAMPLE / slowest))
    samples: dict[str, list[float]] = {"ours": [], "base": []}
    for turn in range(ROUNDS if slowest < LONG else 2):
        for side, worker in list(zip(samples, (ours, base), strict=True))[:: -1 if turn % 2 else 1]:
            sleep(REST)
            samples[side].append(worker.ask("sample", calls))
    return {**found, **samples}


def times(row: dict[str, Any]) -> float | None:
    """How many times longer this checkout takes: the median of the rounds."""
    if "ours" not in row:
        return None
    return statistics.median(ours / base for ours, base in zip(row["ours"], row["base"], strict=True))


def show(row: dict[str, Any]) -> None:
    """A line on the terminal."""
    ratio = times(row)
    text = row["failed"] if ratio is None else f"{ratio:.2f} x the time of the base"
    print(f"{row['subject']:44.44} {row['dtype']:8} {row['size']:8} {text}", flush=True)


def geometric_mean(values: Iterable[float]) -> float | None:
    """None of nothing."""
    logarithms = [math.log(value) for value in values]
    return math.exp(statistics.fmean(logarithms)) if logarithms else None


def rows(only: str, chip: str) -> Iterator[tuple[str, str, str]]:
    """A million elements and more, operands in order, every dtype; of what indices drive and of products large calls only."""
    from benchmarks.problems import SUBJECTS

    for subject in SUBJECTS:
        if subject.chip == chip and only.lower() in subject.operator.lower():
            for dtype in subject.dtypes:
                for size in SIZES if subject.kind in ("element", "row") else SIZES[1:]:
                    yield subject.name, dtype, size


def measure(checkout: Path, only: str = "", show: Callable[[dict[str, Any]], None] = lambda row: None) -> dict[str, Any]:
    """All rows, and which commit the other checkout is at."""
    from benchmarks.problems import SUBJECTS

    found = []
    for chip in dict.fromkeys(subject.chip for subject in SUBJECTS):
        chosen = list(rows(only, chip))
        if not chosen:
            continue
        ours, base = workers = [Worker(folder, chip) for folder in (ROOT, checkout.resolve())]
        try:
            for row in chosen:
                found.append(compare(ours, base, row))
                show(found[-1])
        finally:
            for worker in workers:
                worker.close()
    described = subprocess.run(["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return {"commit": described.stdout.strip() or "?", "rows": found}


def _serve() -> None:
    """Answer requests until there are no more."""
    from benchmarks.draw import DTYPES, Draw
    from benchmarks.emulator import Call
    from benchmarks.problems import SUBJECTS

    subjects = {subject.name: subject for subject in SUBJECTS}
    call: Call | None = None
    for line in sys.stdin:
        request, *values = json.loads(line)
        answer: Any
        if request == "open":
            name, dtype, size = values
            try:
                if call is not None:
                    call.close()
                    call = None
                call = Call(subjects[name].operator, subjects[name].make(Draw(size, DTYPES[dtype])))
                call.run()
                before = time.perf_counter()
                call.run()
                answer = {"seconds": time.perf_counter() - before}
            except Exception as error:  # such as an operator that this checkout does not have
                answer = {"failed": f"{type(error).__name__}: {error}"}
        else:
            assert call is not None
            (count,) = values
            before = time.perf_counter()
            for _ in range(count):
                call.run()
            answer = (time.perf_counter() - before) / count
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    sys.path[0] = sys.argv[1]
    import acl_emu
    import aclnnop

    assert Path(acl_emu.__file__).is_relative_to(sys.argv[1]), acl_emu.__file__
    assert Path(aclnnop.__file__).is_relative_to(sys.argv[1]), aclnnop.__file__
    sys.path[0] = str(ROOT)
    _serve()
