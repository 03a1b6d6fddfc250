"""``make bench``: ratios, both sides measured alternately in one run. Absolute times are shown but claim nothing."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from acl_emu.samples import Build, build, programs_in

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parent / "samples" / "cpp"


def seconds(command: Sequence[str | Path]) -> float:
    """How long a command takes; it must succeed."""
    before = time.perf_counter()
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - before


def alternately(one: Sequence[str | Path], other: Sequence[str | Path], repeats: int) -> tuple[float, float]:
    """Medians of two commands, run in turn so that both meet the same machine."""
    pairs = [(seconds(one), seconds(other)) for _ in range(repeats)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def start_up(repeats: int = 25) -> float:
    """The smallest C program against starting Python and importing numpy."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        program = build(programs_in(HERE / "start_up.c")[0], Build())
        numpy_import = (sys.executable, "-c", "import numpy")
        for command in ((program,), numpy_import):
            seconds(command)  # compiled modules and file caches are warm for both
        ours, theirs = alternately((program,), numpy_import, repeats)
    print(f"start-up: smallest C program {ours * 1e3:.0f} ms, python -c 'import numpy' {theirs * 1e3:.0f} ms, ratio {ours / theirs:.2f}")
    return ours / theirs


def checker(repeats: int = 7) -> None:
    """Programs with the checker against the same without it; off, there is nothing to measure: nobody watches."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        samples = [build(programs_in(source)[0], Build()) for source in sorted(SAMPLES.glob("*.cpp"))]
        calls = [build(programs_in(HERE / "calls.c")[0], Build())]
        for title, programs in (("all C++ samples", samples), ("small operator calls", calls)):
            every = ("sh", "-e", "-c", 'for program; do "$program"; done', "sh", *programs)
            on, off = (("env", f"ACL_EMU_CHECK={value}", *every) for value in ("1", ""))
            for command in (on, off):
                seconds(command)
            checked, plain = alternately(on, off, repeats)
            print(f"checker: {title} {checked * 1e3:.0f} ms checked, {plain * 1e3:.0f} ms not, ratio {checked / plain:.2f}")


if __name__ == "__main__":
    start_up()
    checker()
