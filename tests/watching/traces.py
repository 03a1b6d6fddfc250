"""Reading traces back, and what every one of them has to keep to."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

Trace = list[dict[str, Any]]

REQUIRED = {
    "M": {"name", "pid", "tid", "args"},
    "X": {"name", "cat", "ts", "dur", "pid", "tid", "args"},
    "B": {"name", "cat", "ts", "pid", "tid", "args"},
    "C": {"name", "ts", "pid", "args"},
    "i": {"name", "ts", "pid", "tid", "s"},
    "s": {"name", "cat", "id", "ts", "pid", "tid"},
    "t": {"name", "cat", "id", "ts", "pid", "tid"},
    "f": {"name", "cat", "id", "ts", "pid", "tid", "bp"},
}


def load(file: Path) -> Trace:
    """A trace that is valid JSON and keeps to the format."""
    events: Trace = json.loads(file.read_text(encoding="utf-8"))
    for event in events:
        assert set(event) >= REQUIRED[event["ph"]], event
        assert event["ts"] >= 0, event
        assert event.get("dur", 0) >= 0, event
    check_tracks(events)
    check_arrows(events)
    return events


def check_tracks(events: Trace) -> None:
    """Every track has a name, and what is on it lies side by side or one inside the other."""
    named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    tracks = defaultdict(list)
    for event in events:
        if event["ph"] in "XB":
            assert (event["pid"], event["tid"]) in named, event
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append((event["ts"], -event["dur"], event["name"]))
    for slices in tracks.values():
        ends: list[float] = []
        for begin, negative, name in sorted(slices):
            while ends and ends[-1] <= begin + 1e-6:
                ends.pop()
            assert not ends or begin - negative <= ends[-1] + 1e-3, name
            ends.append(begin - negative)


def check_arrows(events: Trace) -> None:
    """Every arrow has one beginning and one end, points forward, and each of its points lies in something on its track."""
    slices = defaultdict(list)
    for event in events:
        if event["ph"] in "XB":
            slices[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event.get("dur", float("inf"))))
    for points in arrows(events).values():
        assert "".join(point["ph"] for point in points) in ("sf", "stf"), points
        assert [point["ts"] for point in points] == sorted(point["ts"] for point in points)
        for point in points:
            inside = slices[point["pid"], point["tid"]]
            assert any(begin - 1e-6 <= point["ts"] <= end + 1e-6 for begin, end in inside), point


def arrows(events: Trace, name: str = "") -> dict[int, Trace]:
    """The points of each arrow, in order."""
    found = defaultdict(list)
    for event in events:
        if event["ph"] in "stf" and name in ("", event["name"]):
            found[event["id"]].append(event)
    return found


def slices(events: Trace, name: str = "", category: str = "") -> Trace:
    """Calls and tasks, by name or category."""
    return [event for event in events if event["ph"] in "XB" and name in ("", event["name"]) and category in ("", event["cat"])]


def slice_at(events: Trace, point: dict[str, Any]) -> dict[str, Any]:
    """What a point of an arrow belongs to."""
    return next(
        event
        for event in slices(events)
        if (event["pid"], event["tid"]) == (point["pid"], point["tid"])
        and event["ts"] - 1e-6 <= point["ts"] <= event["ts"] + event.get("dur", float("inf")) + 1e-6
    )
