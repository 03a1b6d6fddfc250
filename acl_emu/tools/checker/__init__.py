"""The checker: mistakes in the use of the runtime, found in every run.

``ACL_EMU_CHECK=1`` turns it on for any program (exit code 86 when something is found), ``ACL_EMU_CHECK=warn`` leaves the program's own
exit code, ``json:FILE`` also writes the findings to a file; ``acl-emu run --check`` does the same. In Python:
``with acl_emu.check() as findings: ...``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from acl_emu.core import observe
from acl_emu.core.soc import ConfigurationError
from acl_emu.tools.checker.checker import Checker as Checker
from acl_emu.tools.checker.findings import Finding as Finding
from acl_emu.tools.checker.findings import Findings as Findings
from acl_emu.tools.checker.options import EXIT_CODE as EXIT_CODE
from acl_emu.tools.checker.options import parse


@contextmanager
def check() -> Iterator[Findings]:
    """Check what is done inside; the findings are complete when it ends, with what was made inside and never released."""
    checker = Checker()
    with observe.watched(checker):
        yield checker.findings
    checker.finish()


def from_environment(value: str) -> Checker | None:
    """The tool that ``ACL_EMU_CHECK`` asks for, if any."""
    try:
        options = parse(value)
    except ValueError as error:
        raise ConfigurationError(f"ACL_EMU_CHECK={error}") from None
    return None if options is None else Checker(options)
