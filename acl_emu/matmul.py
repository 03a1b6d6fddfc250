"""Matrix products whose bits do not depend on the number of threads.

A BLAS that works on several threads chooses other kernels and other partial sums than on one. Here every product is cut into the
same tiles on every machine, each tile is computed by one thread, and only the assignment of tiles to threads varies.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

TILE = 512
# A thread costs about 100 µs to start: the work of some milliseconds is worth one.
_THREADED_FLOPS = 200e6


def matmul(a: Array, b: Array, out: Array) -> None:
    """``out = a @ b`` for matrices, in the type of ``out``."""
    rows, columns = out.shape
    if rows >= columns:
        tiles = [(slice(first, first + TILE), slice(None)) for first in range(0, rows, TILE)]
    else:
        tiles = [(slice(None), slice(first, first + TILE)) for first in range(0, columns, TILE)]
    remaining = iter(tiles)

    def work() -> None:
        for down, across in remaining:  # next() of a list iterator is atomic: no tile is taken twice
            np.matmul(a[down], b[:, across], out=out[down, across])

    with _one_blas_thread() as allowed:
        wanted = min(allowed, len(tiles)) if 2.0 * rows * columns * a.shape[1] >= _THREADED_FLOPS else 1
        helpers = [threading.Thread(target=work, name="acl-emu matmul") for _ in range(wanted - 1)]
        for helper in helpers:
            helper.start()
        work()
        for helper in helpers:
            helper.join()


@lru_cache(maxsize=None)
def _thread_controls() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """How many threads numpy's OpenBLAS uses, and how to change it; None for another BLAS."""
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "openblas" in line}
    except OSError:
        return None
    for path in sorted(paths):
        library = ctypes.CDLL(path)
        for prefix in ("scipy_", ""):
            for suffix in ("64_", ""):
                names = [f"{prefix}openblas_{verb}_num_threads{suffix}" for verb in ("get", "set")]
                if all(hasattr(library, name) for name in names):
                    get, change = (getattr(library, name) for name in names)
                    change.restype = None
                    return get, change
    return None


_lock = threading.Lock()
_users = 0
_before = 1


@contextmanager
def _one_blas_thread() -> Iterator[int]:
    """Have BLAS use the calling thread only; gives the number of threads that it was allowed before."""
    global _users, _before
    controls = _thread_controls()
    if controls is None:
        yield 1
        return
    get, change = controls
    with _lock:
        if not _users:
            _before = get()
            change(1)
        _users += 1
    try:
        yield _before
    finally:
        with _lock:
            _users -= 1
            if not _users:
                change(_before)
