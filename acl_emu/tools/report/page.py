"""From a trace to a page: columns of numbers, tables of texts, and the template around them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from acl_emu.api.border import FUNCTIONS
from acl_emu.core.observe import Place
from acl_emu.tools import trace, trace_file
from acl_emu.version import __version__

MOST_SLICES = 400_000
"""A page holds so many calls and tasks; what comes later is only counted."""

_NUMBERS = re.compile(r"#(\d+)|0x([0-9a-f]{6,13})(?![0-9a-f])")
_FILE_AND_LINE = re.compile(r"(?:^|\()(?P<file>[^()]+):(?P<line>\d+)\)?$")
_SOURCE_LINES = 2
"""So many before and after the line of a finding."""


class Texts:
    """Texts, each kept once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._index: dict[str, int] = {}

    def add(self, text: str) -> int:
        """Its number."""
        index = self._index.get(text)
        if index is None:
            index = self._index[text] = len(self.all)
            self.all.append(text)
        return index


class Collector:
    """What the page shows, gathered event by event."""

    def __init__(self) -> None:
        self.title = "program"
        self.processes: dict[int, str] = {}
        self.tracks: dict[tuple[int, int], str] = {}
        self.names = Texts()
        self.details = Texts()
        self.slices: list[tuple[Any, ...]] = []
        """Start, duration (-1: did not end), track, name, details, their numbers, call, call of phase one, status."""
        self.left_out = 0
        self.memory: dict[int, list[tuple[int, int]]] = {}
        self.arrows: dict[int, list[tuple[int, tuple[int, int]]]] = {}
        self.findings: list[dict[str, Any]] = []
        self.places: dict[str, str] = {}
        self.modules: list[tuple[int, int, str]] = []
        self.addresses: set[str] = set()

    def take(self, events: Iterable[dict[str, Any]]) -> None:
        """Every event of a trace."""
        takers = {
            "M": self._name,
            "X": self._slice,
            "B": self._slice,
            "C": self._count,
            "i": self._finding,
            "s": self._arrow,
            "f": self._arrow,
        }
        for event in events:
            taker = takers.get(event["ph"])
            if taker is not None:
                taker(event)

    def _name(self, event: dict[str, Any]) -> None:
        text = event["args"].get("name", "")
        if event["name"] == "process_name":
            self.processes[event["pid"]] = text
        elif event["name"] == "places":
            self.places = event["args"]
        elif event["name"] == "modules":
            self.modules += event["args"]["ranges"]
        elif event["name"] == "thread_name":
            self.tracks[event["pid"], event["tid"]] = text

    def _slice(self, event: dict[str, Any]) -> None:
        if len(self.slices) >= MOST_SLICES:
            self.left_out += 1
            return
        facts = event["args"]
        call, planned, status = facts.pop("call", 0), facts.pop("planned by", 0), facts.pop("status", 0)
        facts.pop("place", None)
        numbers: list[int] = []

        def remember(match: re.Match[str]) -> str:
            numbers.append(int(match[1]) if match[1] else int(match[2], 16))
            return "\1" if match[1] else "\2"

        where = facts.pop("from", None)
        text = _NUMBERS.sub(remember, json.dumps(facts, separators=(",", ":"), ensure_ascii=False))
        if where is not None:
            if where.startswith("0x"):
                self.addresses.add(where)
            text = f'{{"from":{json.dumps(where)}{"," if facts else ""}{text[1:]}'
        self.slices.append(
            (
                round(event["ts"] * 1000),
                round(event["dur"] * 1000) if "dur" in event else -1,
                (event["pid"], event["tid"]),
                self.names.add(f"{event['cat']}\0{event['name']}"),
                self.details.add(text),
                numbers,
                call,
                planned,
                status,
            )
        )

    def _count(self, event: dict[str, Any]) -> None:
        self.memory.setdefault(event["pid"], []).append((round(event["ts"] * 1000), event["args"]["bytes"]))

    def _arrow(self, event: dict[str, Any]) -> None:
        if event["cat"] == "event":
            self.arrows.setdefault(event["id"], []).append((round(event["ts"] * 1000), (event["pid"], event["tid"])))

    def _finding(self, event: dict[str, Any]) -> None:
        places = event["args"].get("places") or [("", "")]
        self.findings.append({**event["args"], "source": _source(places[0][1])})

    def data(self, *, died: bool) -> dict[str, Any]:
        """As the page reads it."""
        self.slices.sort(key=lambda one: (one[0], -one[1]))
        keys = sorted({one[2] for one in self.slices} | set(self.tracks))
        index = {key: i for i, key in enumerate(keys)}
        levels = self._levels()
        return {
            "title": self.processes.get(trace.HOST, "program"),
            "version": __version__,
            "died": died,
            "leftOut": self.left_out,
            "tracks": [
                {
                    "name": self.tracks.get(key, "?"),
                    "group": self.processes.get(key[0], "?") if key[0] != trace.HOST else "host",
                    "host": key[0] == trace.HOST,
                }
                for key in keys
            ],
            "names": [_described(name) for name in self.names.all],
            "details": self.details.all,
            "start": _differences(one[0] for one in self.slices),
            "duration": [one[1] for one in self.slices],
            "track": [index[one[2]] for one in self.slices],
            "level": levels,
            "name": [one[3] for one in self.slices],
            "detail": [one[4] for one in self.slices],
            "numbers": [number for one in self.slices for number in one[5]],
            "call": _differences(one[6] for one in self.slices),
            "planned": [one[6] - one[7] if one[7] else 0 for one in self.slices],
            "status": {i: one[8] for i, one in enumerate(self.slices) if one[8]},
            "memory": [
                {
                    "name": self.processes.get(process, "device"),
                    "times": _differences(moment for moment, _ in sorted(points)),
                    "bytes": [count for _, count in sorted(points)],
                }
                for process, points in sorted(self.memory.items())
            ],
            "arrows": [
                [points[0][0], index[points[0][1]], points[1][0], index[points[1][1]]]
                for points in self.arrows.values()
                if len(points) == 2 and all(key in index for _, key in points)
            ],
            "findings": self.findings,
            "places": self.places or self._looked_up(),
        }

    def _looked_up(self) -> dict[str, str]:
        """Function and line of each address, where the program could not say so itself any more."""
        if not self.modules:
            return {}
        from acl_emu.tools.checker.places import Places

        places = {address: Place(address=int(address, 16)) for address in self.addresses}
        found = Places(places.values(), [(first, last, path) for first, last, path in self.modules])
        return {address: found.text(place) for address, place in places.items()}

    def _levels(self) -> list[int]:
        """How deep each slice lies in others of its track."""
        levels = []
        open_until: dict[tuple[int, int], list[float]] = {}
        for start, duration, track, *_ in self.slices:
            stack = open_until.setdefault(track, [])
            while stack and stack[-1] <= start:
                stack.pop()
            levels.append(len(stack))
            stack.append(float("inf") if duration < 0 else start + duration)
        return levels


def _differences(values: Iterable[int]) -> list[int]:
    """Each minus the one before: shorter to write."""
    differences, before = [], 0
    for value in values:
        differences.append(value - before)
        before = value
    return differences


def _described(name: str) -> dict[str, Any]:
    """A function: its category, name, first sentence, and parameters with their C types."""
    category, _, text = name.partition("\0")
    found: dict[str, Any] = {"kind": category, "name": text}
    if category in ("phase one", "phase two", "kernel"):
        import aclnnop
        from acl_emu.api.prototypes import phases

        try:
            operator = aclnnop.find(text)
        except Exception:  # a trace of another version may name what is not there
            return found
        found["summary"] = _first_line(operator.summary)
        if category != "kernel":
            prototype = phases(operator)[0 if category == "phase one" else 1]
            found["types"] = {parameter.name: parameter.c_type for parameter in prototype.parameters}
        if category == "phase one":
            found["results"] = ["workspaceSize", "executor"]
    elif text in FUNCTIONS:
        function = FUNCTIONS[text]
        found["summary"] = _first_line(function.python.__doc__)
        found["types"] = {parameter.name: parameter.c_type for parameter in function.prototype.parameters}
        found["results"] = [result.name for result in function.results]
    return found


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0].replace("``", "")


def _source(place: str) -> list[Any]:
    """The lines around a place of a source file: number of the first, that of the place, the lines."""
    match = _FILE_AND_LINE.search(place)
    if match is None:
        return []
    line = int(match["line"])
    # `acl-emu run` leaves the source beside the program
    candidates = (Path(match["file"]), Path(os.path.realpath("/proc/self/exe")).with_name(Path(match["file"]).name))
    source = next((candidate for candidate in candidates if candidate.is_file()), None)
    if source is None:
        return []
    lines = source.read_text(encoding="utf-8", errors="replace").splitlines()
    first = max(1, line - _SOURCE_LINES)
    return [first, line, lines[first - 1 : line + _SOURCE_LINES]]


def write(source: Path, file: Path, *, died: bool = False) -> None:
    """Make the page of a trace."""
    collector = Collector()
    collector.take(trace_file.events(source))
    # "<" must not appear: a text could end the script that holds the data
    data = json.dumps(collector.data(died=died), separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    folder = files("acl_emu.tools.report")
    text = (folder / "page.html").read_text(encoding="utf-8")
    for mark, part in (("/*STYLE*/", "page.css"), ("/*SCRIPT*/", "page.js")):
        text = text.replace(mark, (folder / part).read_text(encoding="utf-8"))
    before, _, after = text.partition("/*DATA*/")
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", errors="replace") as out:
        out.writelines((before, data, after))
