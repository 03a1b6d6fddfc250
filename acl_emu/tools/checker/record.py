"""Findings as notes, so that those of a process that cannot print them any more are known."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from acl_emu.core import notes
from acl_emu.core.observe import Place
from acl_emu.tools.checker.findings import Finding, Findings, Origin
from acl_emu.tools.checker.places import Mapped, mapped_files


def record(finding: Finding) -> None:
    """Note a finding when it is new."""
    origins = [finding.origin, *(origin for _, origin in finding.related)]
    addresses = [origin.place.address for origin in origins if origin.place.address]
    mapped: Mapped = mapped_files() if addresses else ()
    files = {path for first, last, path in mapped if any(first <= address < last for address in addresses)}
    notes.add(
        notes.FINDINGS,
        {
            "process": os.getpid(),
            "kind": finding.kind,
            "parameter": finding.parameter,
            "text": finding.text,
            "roles": ["", *(role for role, _ in finding.related)],
            "origins": [[origin.call, origin.place.address, origin.place.file, origin.place.line] for origin in origins],
            "mapped": [entry for entry in mapped if entry[2] in files],
        },
    )


def record_end() -> None:
    """Note that this process has printed its findings."""
    notes.add(notes.FINDINGS, {"process": os.getpid(), "printed": True})


class Recorded(NamedTuple):
    """What one process noted."""

    findings: Findings
    mapped: Mapped
    printed: bool


def recorded(folder: Path) -> list[Recorded]:
    """The findings of each process that left notes in a folder."""
    by_process: dict[int, list[dict[str, Any]]] = {}
    for note in notes.read(folder, notes.FINDINGS):
        by_process.setdefault(note["process"], []).append(note)
    return [_recorded(found) for found in by_process.values()]


def _recorded(found: list[dict[str, Any]]) -> Recorded:
    findings = Findings()
    mapped: dict[tuple[int, int, str], None] = {}
    for note in found:
        if "kind" in note:
            origins = [Origin(call, Place(address, file, line)) for call, address, file, line in note["origins"]]
            related = tuple(zip(note["roles"][1:], origins[1:], strict=True))
            findings.note(Finding(note["kind"], origins[0], note["parameter"], note["text"], related))
            mapped.update(((first, last, path), None) for first, last, path in note["mapped"])
    return Recorded(findings, sorted(mapped), any("printed" in note for note in found))
