"""Every program in programs/ has exactly the mistake that its first line names, and none when it is told to avoid it.

The line with the mistake is marked BUG, where the memory came from BORN, and who else takes part DIED (who freed it, who queued the work).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from acl_emu.core import soc
from acl_emu.tools.checker.findings import KINDS
from tests.checker.running import PROGRAMS, Entry, checked, compiled, parse

SOURCES = sorted(PROGRAMS.glob("*.cpp"))
ORDER = ("race", "freed-in-use", "workspace-freed", "workspace-shared")


def expected(source: Path) -> list[tuple[str, ...]]:
    """What the program is to be told: kind, call, parameter, place."""
    lines = source.read_text(encoding="utf-8").splitlines()
    found = []
    for number, line in enumerate(lines, 1):
        words = (lines[0].partition(":")[0] if "// BUG" in line else line.partition("// ALSO")[2] if "// ALSO" in line else "").split()
        if words:
            found.append((*words[-3:], f"{source.name}:{number}"))
    return sorted(found)


def marked(source: Path, mark: str) -> list[str]:
    lines = source.read_text(encoding="utf-8").splitlines()
    return [f"{source.name}:{number})" for number, line in enumerate(lines, 1) if line.endswith(f"// {mark}")]


def short(entry: Entry) -> tuple[str, ...]:
    place = entry.place.rpartition("/")[2].rpartition("(")[2].rstrip(")")
    return entry.kind, entry.call, entry.parameter, place


def test_every_kind_has_a_program() -> None:
    assert {words[0] for source in SOURCES for words in expected(source)} == set(KINDS)


def schedules_of(source: Path) -> list[str]:
    return list(soc.SCHEDULES) if expected(source)[0][0] in ORDER else ["async"]


@pytest.mark.parametrize(
    ("source", "schedule"), [(s, name) for s in SOURCES for name in schedules_of(s)], ids=lambda v: getattr(v, "stem", v)
)
def test_the_mistake_is_found(source: Path, schedule: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    done = checked(compiled(source, tmp_path_factory), ACL_EMU_SCHEDULE=schedule)
    found = parse(done.stderr)
    assert sorted(map(short, found)) == expected(source), done.stdout + done.stderr
    assert done.returncode == 86, done.stdout
    text = "\n".join(found[0].lines)
    for mark in ("BORN", "DIED"):
        for place in marked(source, mark):
            assert place in text, done.stderr
    assert all(f"  advice: {KINDS[entry.kind].advice}\n" in done.stderr for entry in found)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_the_corrected_program_has_no_finding(source: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    done = checked(compiled(source, tmp_path_factory), "fixed")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
