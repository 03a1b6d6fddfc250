"""The report: findings by kind, each with its call, its place and one line of advice."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from acl_emu.tools.checker.findings import KINDS, Finding, Findings, Origin
from acl_emu.tools.checker.places import Mapped, Places

MOST_OF_A_KIND = 10


_LINE = re.compile(r"(?:(?P<function>.*) \()?(?P<file>[^()]+):(?P<line>\d+)\)?")


def report(findings: Findings, mapped: Mapped | None = None) -> str:
    """All findings as text; nothing where there is none. ``mapped`` where they are of another process, as for ``Places``."""
    by_kind: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_kind[finding.kind].append(finding)
    shown = [finding for found in by_kind.values() for finding in found[:MOST_OF_A_KIND]]
    places = _places(shown, mapped)
    lines = []
    for kind, found in by_kind.items():
        lines.append(f"acl-emu check: {kind}: {KINDS[kind].title}")
        for finding in found[:MOST_OF_A_KIND]:
            lines += _entry(finding, places)
        if len(found) > MOST_OF_A_KIND:
            lines.append(f"  ... and {len(found) - MOST_OF_A_KIND} more of this kind")
        lines += [f"  advice: {KINDS[kind].advice}", ""]
    if lines:
        total = f"{len(findings)} finding{'s' if len(findings) > 1 else ''}"
        lines.append(f"acl-emu check: {total} ({', '.join(f'{len(found)} {kind}' for kind, found in by_kind.items())})")
    return "".join(f"{line}\n" for line in lines)


def _places(findings: list[Finding], mapped: Mapped | None) -> Places:
    origins = (origin for finding in findings for origin in (finding.origin, *(other for _, other in finding.related)))
    return Places((origin.place for origin in origins), mapped)


def write_json(file: Path, findings: Findings, mapped: Mapped | None = None) -> None:
    """All findings for tools."""
    places = _places(list(findings), mapped)

    def where(origin: Origin) -> dict[str, Any]:
        text = places.text(origin.place)
        line = _LINE.fullmatch(text)
        return {
            "call": origin.call,
            "place": text,
            "file": line["file"] if line else None,
            "line": int(line["line"]) if line else None,
        }

    listed = [
        {
            "kind": finding.kind,
            "title": KINDS[finding.kind].title,
            **where(finding.origin),
            "parameter": finding.parameter or None,
            "text": finding.text,
            "count": finding.count,
            "related": [{"role": role, **where(origin)} for role, origin in finding.related],
            "advice": finding.advice,
        }
        for finding in findings
    ]
    file.write_text(json.dumps({"findings": listed}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", errors="backslashreplace")


def _entry(finding: Finding, places: Places) -> list[str]:
    origin = finding.origin
    parameter = f", parameter {finding.parameter}" if finding.parameter else ""
    times = f" ({finding.count} times)" if finding.count > 1 else ""
    lines = [f"  {origin.call or 'the program'}{parameter}, at {places.text(origin.place)}{times}", f"    {finding.text}"]
    return lines + [f"    {what} at {places.text(where.place)}" for what, where in finding.related]
