"""What the engine's library offers beside programs: functions in C for what no graph can say."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

from acl_emu.engine.bindings import PATH, library


@lru_cache(maxsize=None)
def function(name: str, returns: type[Any] | None = None) -> Any | None:
    """One of them, called without the interpreter's lock; None where the engine was switched off or not built."""
    if library() is None:
        return None
    found = getattr(ctypes.CDLL(str(PATH)), name)
    found.restype = returns
    return found
