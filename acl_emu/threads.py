"""How many threads a kernel may use. No result depends on it."""

from __future__ import annotations

import os
from functools import lru_cache


@lru_cache(maxsize=None)
def allowed() -> int:
    """ACL_EMU_THREADS, or as many as the process has processors."""
    wanted = os.environ.get("ACL_EMU_THREADS", "")
    if wanted:
        if not wanted.isdecimal() or not int(wanted):
            raise ValueError(f"ACL_EMU_THREADS must be a number of threads from 1 on, got {wanted!r}")
        return int(wanted)
    return len(os.sched_getaffinity(0))
