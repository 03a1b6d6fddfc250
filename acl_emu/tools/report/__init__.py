"""The report: one page that shows what a program did, to look at without a network.

While the program runs it writes a trace beside the page; at its end, or by ``acl-emu run`` when it died, the page is made from that.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import aclnnop
from acl_emu.core import notes
from acl_emu.core.observe import Call
from acl_emu.tools.checks_made import made
from acl_emu.tools.report import page
from acl_emu.tools.trace import Tracer, category
from acl_emu.tools.trace_file import file_for_this_process

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
        self._checks: dict[tuple[str, str], list[list[str]]] = {}
        """Those that were looked at: the next call with the same shapes, types and values makes the same."""

    def call_ends(self, call: Call) -> None:
        """The checks that phase one made are part of it."""
        begun = self._begun.get(call.number)
        if begun is not None and category(call) == "phase one":
            key = (call.name, _HANDLE.sub("", str(begun.given)))
            steps = self._checks.get(key)
            if steps is None:
                steps = [list(step) for step in made(aclnnop.find(call.name), call.arguments)]
                if call.error is None and len(self._checks) < _MOST_KNOWN:
                    self._checks[key] = steps
            begun.more["checks"] = steps
        super().call_ends(call)

    def close(self) -> None:
        """Make the page; where another process makes one of the same name, it has the number of this process in its name."""
        if self.end():
            if self.file != spool_of(self.page):
                self.page = self.page.with_name(f"{self.page.stem}.{os.getpid()}{self.page.suffix}")
            try:
                _write(self.file, self.page, died=False)
            except OSError as error:
                if not notes.wanted():  # else it is tried, and told, once more
                    self.file.unlink()
                    print(f"acl-emu: {self.page}: {error.strerror}; the report is not written", file=sys.stderr, flush=True)
            else:
                self.file.unlink()


def finish(file: Path) -> None:
    """Make the page of a program that died before it could. An OSError leaves nothing behind."""
    spool = spool_of(file)
    if spool.exists():
        try:
            _write(spool, file, died=True)
        finally:
            spool.unlink()


def _write(spool: Path, file: Path, *, died: bool) -> None:
    try:
        page.write(spool, file, died=died)
    except OSError:
        file.unlink(missing_ok=True)
        raise


def from_environment(value: str) -> Reporter:
    """ACL_EMU_REPORT=FILE."""
    return Reporter(file_for_this_process(value))
