"""Whole programs: how long the smallest one takes to start, and what the checker adds."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from acl_emu.tools.builds import Build, build
from acl_emu.tools.pages import programs_in
from benchmarks.timing import Budget, Side, in_turn

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parent / "samples" / "cpp"


@contextmanager
def _own_cache() -> Iterator[dict[str, str]]:
    """An environment whose cache of built programs is new."""
    before = os.environ.get("XDG_CACHE_HOME")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        try:
            yield {**os.environ}
        finally:
            if before is None:
                del os.environ["XDG_CACHE_HOME"]
            else:
                os.environ["XDG_CACHE_HOME"] = before


def _side(command: Sequence[str | Path], environment: dict[str, str]) -> Side:
    """A command that must succeed; it has run once before."""

    def run() -> None:
        subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, env=environment)

    run()
    return Side(run)


def start_up(rounds: int = 25) -> dict[str, float]:
    """Seconds of the smallest C program, and of starting Python and importing numpy."""
    with _own_cache() as environment:
        program = build(programs_in(HERE / "start_up.c")[0], Build())
        sides = {"program": _side((program,), environment), "numpy": _side((sys.executable, "-c", "import numpy"), environment)}
        times = in_turn(sides, Budget(least=rounds, most=rounds))
    return {name: taken.median for name, taken in times.items()}


def checker(rounds: int = 7) -> dict[str, dict[str, float]]:
    """Seconds of programs with the checker and without it; off, there is nothing to measure: nobody watches."""
    found = {}
    with _own_cache() as environment:
        samples = [build(programs_in(source)[0], Build()) for source in sorted(SAMPLES.glob("*.cpp"))]
        calls = [build(programs_in(HERE / "calls.c")[0], Build())]
        for title, programs in (("all C++ samples", samples), ("small operator calls", calls)):
            every = ("sh", "-e", "-c", 'for program; do "$program"; done', "sh", *programs)
            sides = {name: _side(every, {**environment, "ACL_EMU_CHECK": value}) for name, value in (("checked", "1"), ("unchecked", ""))}
            found[title] = {name: taken.median for name, taken in in_turn(sides, Budget(least=rounds, most=rounds)).items()}
    return found
