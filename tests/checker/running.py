"""Compiling and running the programs of this folder under the checker, and reading what it says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cface.programs import clean_environment, compile_program, once, run

PROGRAMS = Path(__file__).parent / "programs"


class Entry(NamedTuple):
    """One finding as the report shows it."""

    kind: str
    call: str
    parameter: str
    place: str
    lines: tuple[str, ...]


_TITLE = re.compile(r"acl-emu check: (?P<kind>[a-z-]+): ")
_ENTRY = re.compile(r"  (?P<call>\w+)(, parameter (?P<parameter>\w+))?, at (?P<place>.*)")


def parse(text: str) -> list[Entry]:
    """The findings in a report."""
    found: list[Entry] = []
    kind = ""
    for line in text.splitlines():
        if match := _TITLE.match(line):
            kind = match["kind"]
        elif match := _ENTRY.fullmatch(line):
            found.append(Entry(kind, match["call"], match["parameter"] or "-", match["place"], ()))
        elif line.startswith("    "):
            found[-1] = found[-1]._replace(lines=(*found[-1].lines, line.strip()))
    return found


def compiled(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of this folder, compiled once for all processes of a test run."""
    with once(f"checker_{source.stem}", tmp_path_factory) as folder:
        if not (folder / source.stem).exists():
            compile_program(
                folder, source.read_text(encoding="utf-8"), f"-I{PROGRAMS}", "-gdwarf-4", suffix=source.suffix, name=source.stem
            )
    return folder / source.stem


def checked(program: Path, *arguments: str, check: str = "1", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program under the checker."""
    return run(program, *arguments, env=clean_environment(ACL_EMU_CHECK=check, **environment))
