"""The report: findings by kind, each with its call, its place and one line of advice."""

from __future__ import annotations

from collections import defaultdict

from acl_emu.tools.checker.findings import KINDS, Finding, Findings
from acl_emu.tools.checker.places import Places

MOST_OF_A_KIND = 10


def report(findings: Findings) -> str:
    """All findings as text; nothing where there is none."""
    by_kind: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_kind[finding.kind].append(finding)
    shown = [finding for found in by_kind.values() for finding in found[:MOST_OF_A_KIND]]
    places = Places(origin.place for finding in shown for origin in (finding.origin, *(origin for _, origin in finding.related)))
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


def _entry(finding: Finding, places: Places) -> list[str]:
    origin = finding.origin
    parameter = f", parameter {finding.parameter}" if finding.parameter else ""
    times = f" ({finding.count} times)" if finding.count > 1 else ""
    lines = [f"  {origin.call or 'the program'}{parameter}, at {places.text(origin.place)}{times}", f"    {finding.text}"]
    return lines + [f"    {what} at {places.text(where.place)}" for what, where in finding.related]
