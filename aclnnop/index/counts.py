"""How often something is repeated, as a tensor says it."""

from __future__ import annotations

import numpy as np

from acl_emu.core.errors import DeviceFault
from acl_emu.spec import Array


def counted(repeats: Array, length: int, size: int) -> Array:
    """The counts of all places; their sum has to be ``size``, which phase one has been told."""
    if (repeats < 0).any():
        raise DeviceFault(f"repeats holds {repeats.min()}, expected no negative value")
    counts = np.broadcast_to(repeats.reshape(-1), (length,))
    if int(counts.sum()) != size:
        raise DeviceFault(f"repeats add up to {int(counts.sum())}, expected outputSize: {size}")
    return counts
