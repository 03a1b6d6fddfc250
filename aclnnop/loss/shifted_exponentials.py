"""Exponentials of logits below a maximum that is known beforehand: what the shards of a vocabulary-parallel cross entropy add up."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from acl_emu.spec import Array

# Elements that are held in float64 at once.
ROOM_ELEMENTS = 1 << 20


def exponential_scratch(rows: int, width: int) -> dict[str, tuple[tuple[int, ...], Any]]:
    """The room in the workspace that ``exponentials`` wants."""
    return {"room": ((min(rows, max(1, ROOM_ELEMENTS // max(width, 1))), width), np.float64)}


def exponentials(logits: Array, maximum: Array, room: Array) -> Iterator[tuple[slice, Array]]:
    """``exp(logits - maximum)`` of some rows of a matrix at a time, in float64: the difference alone would lose 1 ulp in float32."""
    for first in range(0, len(logits), len(room)):
        rows = slice(first, min(first + len(room), len(logits)))
        values = room[: rows.stop - first]
        values[...] = logits[rows]
        values -= maximum[rows, np.newaxis].astype(np.float64)
        yield rows, np.exp(values, out=values)
