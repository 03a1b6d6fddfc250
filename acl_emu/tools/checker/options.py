"""What ``ACL_EMU_CHECK`` and ``acl-emu run --check=`` may say."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

EXIT_CODE = 86
_FORM = re.compile(r"(?P<mode>1|warn)?(?:(?:^|,)json:(?P<file>.+))?", re.DOTALL)


class Options(NamedTuple):
    """How to check."""

    exit_code: int | None = EXIT_CODE
    """What the process ends with when something was found; None leaves the program's own."""
    json: Path | None = None
    """Where findings are written, besides being printed."""


def parse(value: str) -> Options | None:
    """``1``, ``warn``, ``json:FILE``, or ``warn,json:FILE``; None for ``0``. ``%p`` in a file name stands for the number of the process."""
    if value == "0":
        return None
    match = _FORM.fullmatch(value)
    if not value or match is None:
        raise ValueError(
            f"{value!r} means nothing; it is 1 (exit code {EXIT_CODE} when something is found), warn, json:FILE, warn,json:FILE or 0"
        )
    file = match["file"]
    path = Path(file.replace("%p", str(os.getpid()))).absolute() if file else None
    return Options(None if match["mode"] == "warn" else EXIT_CODE, path)
