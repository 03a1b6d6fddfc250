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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from acl_emu import soc
from acl_emu.native.functions import function

Array = npt.NDArray[Any]

# Tiles are a quarter of the product each way, so that many threads have something to do, within these bounds: smaller ones spend their
# time on packing, larger ones gain nothing.
_ROWS = (128, 1024)
_COLUMNS = (1024, 4096)
_STEP = 16
# Waking a thread costs some 10 µs.
_THREADED_FLOPS = 10e6


def matmul(a: Array, b: Array, out: Array, *, add: bool = False) -> None:
    """``out = a @ b``, or ``out += a @ b``, for FLOAT matrices; the rows of ``out`` are contiguous."""
    (rows, inner), columns = a.shape, b.shape[1]
    tile_rows, tile_columns = _edge(rows, *_ROWS), _edge(columns, *_COLUMNS)
    blas, run = _blas(), function("acl_emu_gemm_run")
    if blas is None or run is None or not inner:
        for row in range(0, rows, tile_rows):
            for column in range(0, columns, tile_columns):
                down, across = slice(row, row + tile_rows), slice(column, column + tile_columns)
                product = a[down] @ b[:, across]
                out[down, across] = out[down, across] + product if add else product
        return
    a, a_transposed, a_lead = _as_blas(a)
    b, b_transposed, b_lead = _as_blas(b)
    numbers = (
        *(blas.sgemm, blas.wide, rows, inner, columns, a.ctypes.data, b.ctypes.data, out.ctypes.data),
        *(a_transposed, b_transposed, a_lead, b_lead, max(out.strides[0] // out.itemsize, columns), tile_rows, tile_columns, add),
    )
    wanted = soc.threads() if 2.0 * rows * inner * columns >= _THREADED_FLOPS else 1
    with _one_blas_thread(blas):
        run((ctypes.c_int64 * len(numbers))(*numbers), ctypes.c_int64(wanted))


def _edge(length: int, least: int, most: int) -> int:
    """The length of a tile, which depends on nothing but that of the product."""
    quarter = -(-length // (4 * _STEP)) * _STEP
    return min(max(quarter, least), most)


def _as_blas(matrix: Array) -> tuple[Array, int, int]:
    """A matrix whose rows or columns are contiguous, whether it is the columns, and the distance between them."""
    rows, columns = matrix.shape
    down, across = (stride // matrix.itemsize for stride in matrix.strides)
    if (across == 1 or columns == 1) and (down >= columns or rows == 1):
        return matrix, 0, max(down, columns)
    if (down == 1 or rows == 1) and (across >= rows or columns == 1):
        return matrix, 1, max(across, rows)
    return np.ascontiguousarray(matrix), 0, columns


class _Blas(NamedTuple):
    """numpy's OpenBLAS."""

    sgemm: int
    """The address of cblas_sgemm."""
    wide: bool
    """Whether its integers have 64 bits."""
    get_threads: Callable[[], int]
    set_threads: Callable[[int], None]


@lru_cache(maxsize=None)
def _blas() -> _Blas | None:
    """The BLAS that numpy has loaded; None where it is no OpenBLAS."""
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "openblas" in line}
    except OSError:
        return None
    for path in sorted(paths):
        library = ctypes.CDLL(path)
        for prefix in ("scipy_", ""):
            for suffix in ("64_", ""):
                names = [f"{prefix}{name}{suffix}" for name in ("cblas_sgemm", "openblas_get_num_threads", "openblas_set_num_threads")]
                if all(hasattr(library, name) for name in names):
                    sgemm, get, change = (getattr(library, name) for name in names)
                    change.restype = None
                    return _Blas(ctypes.cast(sgemm, ctypes.c_void_p).value or 0, suffix == "64_", get, change)
    return None


_lock = threading.Lock()
_users = 0
_before = 1


@contextmanager
def _one_blas_thread(blas: _Blas) -> Iterator[None]:
    """Have BLAS use the calling thread only."""
    global _users, _before
    with _lock:
        if not _users:
            _before = blas.get_threads()
            blas.set_threads(1)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                blas.set_threads(_before)
