"""The report: one page that shows what a program did, to look at without a network.

While the program runs it writes a trace beside the page; at its end, or by ``acl-emu run`` when it died, the page is made from that.
"""

from __future__ import annotations

import re
from pathlib import Path

import aclnnop
from acl_emu.checks_made import Follower
from acl_emu.observe import Call
from acl_emu.report import page
from acl_emu.trace import Tracer, category, file_for_this_process

_SUFFIX = "GetWorkspaceSize"
_HANDLE = re.compile(r"#\d+")
_MOST_KNOWN = 10_000


def spool_of(file: Path) -> Path:
    """Where the trace of a page is while the program runs."""
    return file.with_name(file.name + ".trace")


class Reporter(Tracer):
    """Writes the trace, with the checks of each phase one, and makes the page of it."""

    def __init__(self, file: Path) -> None:
        super().__init__(spool_of(file))
        self.page = file
        self._followers: dict[int, Follower] = {}
        self._checks: dict[tuple[str, str], list[list[str]]] = {}
        """The checks of calls that succeeded: those of the next one with the same shapes, types and values are the same."""

    def call_begins(self, call: Call) -> None:
        """Phase one is followed where it may do something new."""
        super().call_begins(call)
        if category(call) == "phase one" and self._key(call) not in self._checks:
            follower = self._followers[call.number] = Follower(aclnnop.find(call.name))
            follower.start()

    def _key(self, call: Call) -> tuple[str, str]:
        begun = self._begun.get(call.number)
        return call.name, _HANDLE.sub("", str(begun.arguments["arguments"])) if begun else ""

    def call_ends(self, call: Call) -> None:
        """The checks that were made are part of it."""
        follower = self._followers.pop(call.number, None)
        begun = self._begun.get(call.number)
        if begun is not None and category(call) == "phase one":
            steps = self._checks.get(self._key(call))
            if follower is not None:
                steps = [list(step) for step in follower.stop(call.error)]
                if call.error is None and len(self._checks) < _MOST_KNOWN:
                    self._checks[self._key(call)] = steps
            if steps:
                begun.arguments["checks"] = steps
        super().call_ends(call)

    def close(self) -> None:
        """Make the page."""
        super().close()
        if self.file.exists():
            page.write(self.file, self.page)
            self.file.unlink()


def finish(file: Path) -> None:
    """Make the page of a program that died before it could."""
    spool = spool_of(file)
    if spool.exists():
        page.write(spool, file, died=True)
        spool.unlink()


def from_environment(value: str) -> Reporter:
    """ACL_EMU_REPORT=FILE."""
    return Reporter(file_for_this_process(value))
