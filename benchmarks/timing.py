"""Sides that do the same, timed in turn so that both meet the same machine; what counts is the median."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Clock = Callable[[], float]


def nothing() -> None:
    """What a side without preparation does before it is timed."""


@dataclass(frozen=True)
class Side:
    """Something to be timed."""

    run: Callable[[], object]
    prepare: Callable[[], object] = nothing
    """Done before every sample and not timed, such as restoring what ``run`` overwrites."""
    calls: int = 1
    """How often ``run`` is called in one sample; times are for one call."""


@dataclass
class Budget:
    """How long to go on."""

    least: int = 3
    most: int = 15
    seconds: float = 1.0
    """After ``least`` rounds, none begins later than so many seconds of timed work."""
    rest: float = 0.01
    """Seconds between two samples: threads of the last one may go on spinning for some milliseconds, and would slow the next."""


@dataclass
class Times:
    """Seconds for a call, sample by sample, in the order in which they were taken."""

    samples: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.samples)

    @property
    def best(self) -> float:
        """The shortest one: what a bound is taken from."""
        return min(self.samples)


def in_turn(
    sides: Mapping[str, Side],
    budget: Budget | None = None,
    *,
    clock: Clock = time.perf_counter,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Times]:
    """A B A B ...: every round takes one sample of every side."""
    budget = budget or Budget()
    times = {name: Times() for name in sides}
    spent, rounds = 0.0, 0
    while rounds < budget.most and (rounds < budget.least or spent < budget.seconds):
        for name, side in sides.items():
            side.prepare()
            sleep(budget.rest)
            before = clock()
            for _ in range(side.calls):
                side.run()
            elapsed = clock() - before
            spent += elapsed
            times[name].samples.append(elapsed / side.calls)
        rounds += 1
    return times


def calls_for(run: Callable[[], object], seconds: float, *, most: int = 10_000, clock: Clock = time.perf_counter) -> int:
    """How many calls make a sample of about ``seconds``."""
    before = clock()
    run()
    once = max(clock() - before, 1e-7)
    return max(1, min(most, round(seconds / once)))
