"""Notes that a process leaves for the one that started it (``acl-emu run``), which reads them when it has ended, however it ended.

They lie in a folder that the environment names. Each is complete as soon as it is written: nothing has to be done at the end.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

VARIABLE = "_ACL_EMU_NOTES"
FAILURE, FINDINGS = "failure.json", "findings.jsonl"

_folder = os.environ.get(VARIABLE)


def wanted() -> bool:
    """Whether anybody reads notes."""
    return bool(_folder)


def put(name: str, facts: dict[str, Any]) -> None:
    """Write a note, in place of the one of that name."""
    _write(name, facts, os.O_TRUNC)


def add(name: str, facts: dict[str, Any]) -> None:
    """Add a line to the notes of that name."""
    _write(name, facts, os.O_APPEND)


def _write(name: str, facts: dict[str, Any], how: int) -> None:
    if not _folder:
        return
    # A program must not fail because its notes cannot be written.
    with contextlib.suppress(OSError):
        file = os.open(os.path.join(_folder, name), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | how, 0o600)
        try:
            os.write(file, json.dumps(facts).encode() + b"\n")
        finally:
            os.close(file)


def drop(name: str) -> None:
    """Take a note back."""
    if _folder:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(_folder, name))


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    """The notes of that name, those that are whole."""
    try:
        lines = (folder / name).read_bytes().split(b"\n")[:-1]
    except OSError:
        return []
    found = []
    for line in lines:
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return found
