"""pytest with several processes (pytest-xdist) and ``ACL_EMU_CHECK``: what its workers find decides about the exit code.

Workers print their findings themselves, but nobody looks at their exit codes. They leave notes; the process that started them reads them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

from acl_emu.core import notes


def pytest_configure(config: pytest.Config) -> None:
    """Workers are about to be started, by a process that is none."""
    if os.environ.get("ACL_EMU_CHECK", "0") != "0" and config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Workers())


class _Workers:
    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="acl-emu-")
        os.environ[notes.VARIABLE] = self._folder.name

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """All workers have ended."""
        from acl_emu.tools.checker.options import parse
        from acl_emu.tools.checker.record import recorded
        from acl_emu.tools.checker.report import report

        os.environ.pop(notes.VARIABLE, None)
        with self._folder as folder:
            found = [one for one in recorded(Path(folder)) if one.findings]
            for one in found:
                if not one.printed:
                    print(report(one.findings, one.mapped), file=sys.stderr, end="", flush=True)
        options = parse(os.environ["ACL_EMU_CHECK"])
        if found and options is not None and options.exit_code is not None:
            session.exitstatus = options.exit_code
