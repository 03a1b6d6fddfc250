"""Work on elements that indices choose, on all threads."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from acl_emu import threads
from acl_emu.native.functions import function

Array = npt.NDArray[Any]

# Numbers that are worth a second thread.
_THREADED = 1 << 15


def _run(name: str, work: int, *numbers: int | Array) -> bool:
    """Call a function of the engine's library with a row of numbers and addresses; False where there is none."""
    run = function(name)
    if run is None:
        return False
    row = [number.ctypes.data if isinstance(number, np.ndarray) else number for number in numbers]
    run((ctypes.c_int64 * len(row))(*row), ctypes.c_int64(threads.allowed() if work >= _THREADED else 1))
    return True


def row_products(a: Array, b: Array, rows: Array, others: Array) -> Array:
    """``a[rows[n]] @ b[others[n]]`` for every n, in float64; ``a`` and ``b`` are contiguous FLOAT matrices."""
    result = np.empty(len(rows))
    width = a.shape[1]
    if not _run("acl_emu_index_dots", width * len(rows), a, b, width, len(rows), rows, others, result):
        for n, (row, other) in enumerate(zip(rows, others, strict=True)):
            result[n] = a[row].astype(np.float64) @ b[other].astype(np.float64)
    return result
