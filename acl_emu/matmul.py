"""Matrix products whose bits do not depend on the number of threads.

A BLAS that works on several threads chooses other kernels and other partial sums than on one. Here every product is cut into the
same tiles on every machine, each tile is computed by one thread, and only the assignment of tiles to threads varies.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from acl_emu import soc
from acl_emu.native import Layout, layout_of
from acl_emu.native.engine import address_of
from acl_emu.native.functions import function

Array = npt.NDArray[Any]

# Tiles are a quarter of the product each way, so that many threads have something to do, within these bounds: smaller ones spend their
# time on packing, larger ones gain nothing.
_ROWS = (256, 1024)
_COLUMNS = (512, 4096)
_STEP = 16
# Waking a thread costs some 10 µs.
_THREADED_FLOPS = 10e6
FUNCTION = "acl_emu_gemm_run"


def matmul(a: Array, b: Array, out: Array, *, add: bool = False) -> None:
    """``out = a @ b``, or ``out += a @ b``, for FLOAT matrices; the rows of ``out`` are contiguous."""
    run = function(FUNCTION)
    a, b = (matrix if _as_blas(layout_of(matrix)) else np.ascontiguousarray(matrix) for matrix in (a, b))
    call = product(*map(layout_of, (a, b, out)), add=add)
    if call is not None and run is not None:
        addresses = (ctypes.c_int64 * 3)(*(array.ctypes.data for array in (a, b, out)))
        run((ctypes.c_int64 * len(call.numbers))(*call.numbers), addresses, ctypes.c_int64(soc.threads() if call.threaded else 1))
        return
    tile_rows, tile_columns = _tile(len(a), b.shape[1])
    for row in range(0, len(a), tile_rows):
        for column in range(0, b.shape[1], tile_columns):
            down, across = slice(row, row + tile_rows), slice(column, column + tile_columns)
            part = a[down] @ b[:, across]
            out[down, across] = out[down, across] + part if add else part


class Product(NamedTuple):
    """A product, as ``acl_emu_gemm_run`` does it."""

    numbers: tuple[int, ...]
    threaded: bool


def product(a: Layout, b: Layout, out: Layout, *, add: bool = False) -> Product | None:
    """The product of matrices that lie like these, the rows of ``out`` contiguous; None where BLAS cannot multiply them as they lie."""
    (rows, inner), columns = a.shape, b.shape[1]
    blas, of_a, of_b = _blas(), _as_blas(a), _as_blas(b)
    if blas is None or not inner or of_a is None or of_b is None:
        return None
    (a_transposed, a_lead), (b_transposed, b_lead) = of_a, of_b
    numbers = (
        *(blas.sgemm, blas.wide, *map(address_of, (blas.get_threads, blas.set_threads)), rows, inner, columns, a_transposed, b_transposed),
        *(a_lead, b_lead, max(out.strides[0] // out.dtype.itemsize, columns), *_tile(rows, columns), add),
    )
    return Product(numbers, 2.0 * rows * inner * columns >= _THREADED_FLOPS)


def _tile(rows: int, columns: int) -> tuple[int, int]:
    return _edge(rows, *_ROWS), _edge(columns, *_COLUMNS)


def _edge(length: int, least: int, most: int) -> int:
    """The length of a tile, which depends on nothing but that of the product."""
    quarter = -(-length // (4 * _STEP)) * _STEP
    return min(max(quarter, least), most)


def _as_blas(matrix: Layout) -> tuple[int, int] | None:
    """Whether it is the columns, not the rows, that are contiguous, and the distance between them; None where neither are."""
    rows, columns = matrix.shape
    down, across = (stride // matrix.dtype.itemsize for stride in matrix.strides)
    if (across == 1 or columns == 1) and (down >= columns or rows == 1):
        return 0, max(down, columns)
    if (down == 1 or rows == 1) and (across >= rows or columns == 1):
        return 1, max(across, rows)
    return None


class _Blas(NamedTuple):
    """numpy's OpenBLAS."""

    sgemm: int
    """The address of cblas_sgemm."""
    wide: bool
    """Whether its integers have 64 bits."""
    get_threads: Any
    set_threads: Any


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
                    return _Blas(address_of(sgemm), suffix == "64_", get, change)
    return None
