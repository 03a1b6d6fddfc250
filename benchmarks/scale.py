"""How times grow with elements, threads and streams, and whether memory grows with calls.

``python -m benchmarks.scale <part>`` measures one part in a process of its own and prints JSON: threads are counted at start-up.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import bounds, c_loops
from benchmarks.emulator import Call, CallFailed
from benchmarks.operators import SAMPLE, arguments, bytes_moved
from benchmarks.problems import SUBJECTS, Subject
from benchmarks.timing import Budget, Side, calls_for, in_turn

ROOT = Path(__file__).resolve().parents[1]
MILLIONS = (1, 4, 16, 64, 256)
THREADED = ("aclnnSmoothL1LossBackward", "aclnnExp", "aclnnLogSoftmaxBackward", "aclnnBinaryCrossEntropyWithLogits", "aclnnMm")
"""Operators that are timed on one thread and on two: bound by memory, by exponentials along and across rows, by multiplications."""
COPY = "a bare copy"
"""What memory lets threads gain: nothing that only moves numbers can do better."""
STREAMED = "aclnnBinaryCrossEntropyWithLogits"
WARM, LIVES = 50_000, 1_000_000
SHAPES, SOME_SHAPES = 100_000, 10_000


def available_bytes() -> int:
    """Memory that can be had without swapping."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 0


def resident_bytes() -> int:
    """Memory that this process has in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _smooth(elements: int) -> dict[str, Any]:
    values = np.random.default_rng(elements).standard_normal(elements, np.float32)
    attributes = {"reduction": 0, "beta": 1.0}
    return {"gradOut": values, "self": values, "target": values, **attributes, "gradInput": np.zeros(elements, np.float32)}


def elements() -> dict[str, float]:
    """Seconds for a million elements of SmoothL1LossBackward, by millions of elements; as many as half of the memory holds."""
    result = available_bytes() // 2
    sizes = [millions for millions in MILLIONS if millions * (1 << 20) * 4 * 6 <= result]
    calls = {millions: Call("aclnnSmoothL1LossBackward", _smooth(millions << 20)) for millions in sizes}
    try:
        sides = {str(millions): Side(call.run, calls=max(1, 16 // millions)) for millions, call in calls.items()}
        times = in_turn(sides, Budget(least=7, most=7))
    finally:
        for call in calls.values():
            call.close()
    return {name: taken.median / int(name) for name, taken in times.items()}


def _subject(operator: str) -> Subject:
    return next(s for s in SUBJECTS if s.operator == operator)


def _given(operator: str, size: str = "large") -> dict[str, Any]:
    return arguments(_subject(operator), "float32", size, "contiguous")


def threads() -> dict[str, dict[str, float]]:
    """Seconds of a large call, of one whose operands the caches hold, and of a copy, with the threads of this process, by operator."""
    copy = Side(bounds.Copy(int(os.environ["ACL_EMU_THREADS"])).run)
    found = {"large": {COPY: in_turn({"run": copy}, Budget(least=5, most=5))["run"].median}, "medium": {}}
    for operator, (size, seconds) in itertools.product(THREADED, found.items()):
        with Call(operator, _given(operator, size)) as call:
            call.run()
            side = Side(call.run, calls=calls_for(call.run, SAMPLE))
            seconds[operator] = in_turn({"run": side}, Budget(least=5, most=15, seconds=0.3))["run"].median
    return found


def _reached(operator: str, seconds: float, copied: float) -> float:
    """The bandwidth of a large call over that of a copy of a length that takes so long."""
    return bytes_moved(_subject(operator), _given(operator)) / seconds / (bounds.copy().bytes / copied)


def streams() -> dict[str, float]:
    """Seconds of two independent large calls, on one stream and on two."""
    given = _given(STREAMED)
    with Call(STREAMED, given) as one, Call(STREAMED, given) as other:

        def together() -> None:
            one.launch()
            other.launch()
            one.wait()
            other.wait()

        def in_order() -> None:
            one.run()
            other.run()

        together()
        times = in_turn({"one": Side(in_order), "two": Side(together)}, Budget(least=9, most=9))
    return {name: taken.median for name, taken in times.items()}


def lives() -> dict[str, float]:
    """Bytes by which a million create/run/destroy calls grow the process."""
    module = c_loops.load()
    inputs = np.ones(32, np.float32)
    assert not module.lib.small_prepare(module.ffi.cast("const float *", inputs.ctypes.data))
    resident = []
    for calls in (WARM, LIVES):
        if module.lib.small_lives(calls):
            raise CallFailed("a loop in C failed")
        resident.append(resident_bytes())
    assert not module.lib.small_finish()
    return {"calls": LIVES, "growth": resident[1] - resident[0]}


def shapes() -> dict[str, float]:
    """Seconds of a call of a shape that was not seen before, of the first and the last of many, and bytes by which the process grows."""
    module = c_loops.load()
    inputs = np.ones(32, np.float32)
    assert not module.lib.small_prepare(module.ffi.cast("const float *", inputs.ctypes.data))
    seconds, resident = [], []
    for _ in range(SHAPES // SOME_SHAPES):
        before = time.perf_counter()
        if module.lib.small_shapes(SOME_SHAPES):
            raise CallFailed("a loop in C failed")
        seconds.append((time.perf_counter() - before) / SOME_SHAPES)
        resident.append(resident_bytes())
    assert not module.lib.small_finish()
    return {"calls": SHAPES, "first": seconds[0], "last": seconds[-1], "growth": resident[-1] - resident[1]}


PARTS = {part.__name__: part for part in (elements, threads, streams, lives, shapes)}


def in_process(module: str, *arguments: str, **environment: str) -> dict[str, Any]:
    """What a module of the benchmarks prints in a new process."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def measure(rounds: int = 3) -> dict[str, Any]:
    """Everything; processes with one thread and with two take turns."""
    by_threads: dict[str, list[dict[str, Any]]] = {"1": [], "2": []}
    for _ in range(rounds):
        for count, found in by_threads.items():
            found.append(in_process("benchmarks.scale", "threads", ACL_EMU_THREADS=count))

    def seconds(count: str, size: str, what: str) -> float:
        return statistics.median(one[size][what] for one in by_threads[count])

    def gain(size: str, what: str) -> float:
        return seconds("1", size, what) / seconds("2", size, what)

    return {
        "elements": in_process("benchmarks.scale", "elements"),
        "threads": {what: gain("large", what) for what in (*THREADED, COPY)},
        "threads in caches": {what: gain("medium", what) for what in THREADED},
        "reached": {what: _reached(what, seconds("2", "large", what), seconds("2", "large", COPY)) for what in THREADED},
        "streams": in_process("benchmarks.scale", "streams"),
        "streams of one thread": in_process("benchmarks.scale", "streams", ACL_EMU_THREADS="1"),
        "lives": in_process("benchmarks.scale", "lives"),
        "shapes": in_process("benchmarks.scale", "shapes"),
    }


if __name__ == "__main__":
    print(json.dumps(PARTS[sys.argv[1]]()))
