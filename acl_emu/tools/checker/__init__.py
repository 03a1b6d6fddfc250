"""The checker: mistakes in the use of the runtime, found in every run.

``ACL_EMU_CHECK=1`` turns it on for any program (exit code 86 when something is found), ``ACL_EMU_CHECK=warn`` leaves the program's own
exit code; ``acl-emu run --check`` does the same. In Python: ``with acl_emu.check() as findings: ...``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from acl_emu.core import observe
from acl_emu.core.soc import ConfigurationError
from acl_emu.tools.checker.checker import EXIT_CODE as EXIT_CODE
from acl_emu.tools.checker.checker import Checker as Checker
from acl_emu.tools.checker.findings import Finding as Finding
from acl_emu.tools.checker.findings import Findings as Findings


@contextmanager
def check() -> Iterator[Findings]:
    """Check what is done inside; the findings are complete when it ends, with what was made inside and never released."""
    checker = Checker(report=False)
    with observe.watched(checker):
        yield checker.findings
    checker.finish()


def from_environment(value: str) -> Checker | None:
    """The tool that ``ACL_EMU_CHECK`` asks for, if any."""
    if value == "0":
        return None
    if value not in ("1", "warn"):
        raise ConfigurationError(
            f"ACL_EMU_CHECK={value!r} means nothing; it is 1 (exit code {EXIT_CODE} when something is found), warn or 0"
        )
    return Checker(exit_code=EXIT_CODE if value == "1" else None)
