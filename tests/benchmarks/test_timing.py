"""Sides are timed in turn, what is not theirs is not timed, and who is slower is shown to be."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.timing import Budget, Side, calls_for, in_turn


class FakeTime:
    """A clock that only work moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.log: list[str] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.log.append("rest")

    def work(self, name: str, *seconds: float) -> Callable[[], None]:
        """Takes each of the times in turn, then the last one again and again."""
        waiting = list(seconds)

        def run() -> None:
            self.now += waiting.pop(0) if len(waiting) > 1 else waiting[0]
            self.log.append(name)

        return run


def test_sides_take_turns() -> None:
    time = FakeTime()
    sides = {name: Side(time.work(name, 1.0), time.work(f"prepare {name}", 5.0)) for name in "ab"}
    in_turn(sides, Budget(least=2, most=2), clock=time.clock, sleep=time.sleep)
    assert time.log == ["prepare a", "rest", "a", "prepare b", "rest", "b"] * 2


def test_preparation_and_rest_are_not_timed() -> None:
    time = FakeTime()
    side = Side(time.work("run", 3.0), time.work("prepare", 100.0))
    found = in_turn({"run": side}, Budget(least=3, most=3, rest=7.0), clock=time.clock, sleep=time.sleep)
    assert found["run"].samples == [3.0, 3.0, 3.0]


def test_the_median_counts() -> None:
    time = FakeTime()
    found = in_turn({"run": Side(time.work("run", 9.0, 1.0, 2.0))}, Budget(least=3, most=3), clock=time.clock, sleep=time.sleep)
    assert found["run"].median == 2.0
    assert found["run"].best == 1.0


def test_times_are_for_one_call() -> None:
    time = FakeTime()
    found = in_turn({"run": Side(time.work("run", 0.5), calls=10)}, Budget(least=1, most=1), clock=time.clock, sleep=time.sleep)
    assert found["run"].median == 0.5
    assert time.log.count("run") == 10


@pytest.mark.parametrize(("each", "rounds"), [(0.01, 9), (1.0, 4), (50.0, 2)])
def test_rounds_end_with_the_budget(each: float, rounds: int) -> None:
    time = FakeTime()
    sides = {name: Side(time.work(name, each / 2)) for name in "ab"}
    found = in_turn(sides, Budget(least=2, most=9, seconds=4.0), clock=time.clock, sleep=time.sleep)
    assert {name: len(taken.samples) for name, taken in found.items()} == {"a": rounds, "b": rounds}


def test_a_slower_side_shows() -> None:
    time = FakeTime()
    sides = {"plain": Side(time.work("plain", 2.0)), "slowed": Side(time.work("slowed", 2.0 + 3.0))}
    found = in_turn(sides, Budget(rest=0.0), clock=time.clock, sleep=time.sleep)
    assert found["slowed"].median / found["plain"].median == 2.5


def test_samples_of_short_calls_have_many() -> None:
    time = FakeTime()
    assert calls_for(time.work("run", 0.001), 0.05, clock=time.clock) == 50
    assert calls_for(time.work("run", 1.0), 0.05, clock=time.clock) == 1
    assert calls_for(time.work("run", 0.0), 0.05, most=30, clock=time.clock) == 30
