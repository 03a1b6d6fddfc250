"""Calls of operators that only move elements, in runs of 256 bytes or more where they are large."""

from __future__ import annotations

import numpy as np

from benchmarks.draw import HEADS, MATRIX, TABLE, Arguments, Array, Draw

REPEATS = 2
BORDER = [8, 8, 2, 2]
"""Elements before and behind each row, and rows above and below."""


def copy(d: Draw) -> Arguments:
    return {"selfRef": d.empty(), "src": d.normal()}


def copied(given: Arguments) -> int:
    """Bytes that are read and written: nothing of the target is read."""
    return given["src"].nbytes + given["selfRef"].nbytes


def cat(d: Draw) -> Arguments:
    rows, columns = MATRIX[d.size]
    return {"tensors": [d.normal((rows, columns // 2)), d.normal((rows, columns // 2))], "dim": -1, "out": d.empty()}


def slice_rows(d: Draw) -> Arguments:
    """Every second row."""
    rows, columns = MATRIX[d.size]
    return {"self": d.normal(), "dim": 0, "start": 0, "end": rows, "step": 2, "out": d.empty((rows // 2, columns))}


def slice_columns(d: Draw) -> Arguments:
    """Half of the columns, from the middle."""
    rows, columns = TABLE[d.size]
    place = {"dim": 1, "start": columns // 4, "end": columns // 4 * 3, "step": 1}
    return {"self": d.normal((rows, columns)), **place, "out": d.empty((rows, columns // 2))}


def sliced(given: Arguments) -> int:
    """Bytes that are read and written: what is left out is not read."""
    return 2 * int(given["out"].nbytes)


def permute(d: Draw) -> Arguments:
    """From heads of sequences to sequences of heads."""
    count, heads, steps, width = HEADS[d.size]
    return {"self": d.normal(HEADS[d.size]), "dims": [0, 2, 1, 3], "out": d.empty((count, steps, heads, width))}


def pad(d: Draw) -> Arguments:
    rows, columns = MATRIX[d.size]
    left, right, above, below = BORDER
    return {"self": d.normal(), "pad": BORDER, "value": 1.5, "out": d.empty((above + rows + below, left + columns + right))}


def repeat(d: Draw) -> Arguments:
    rows, columns = MATRIX[d.size]
    return {"self": d.normal((rows, columns // REPEATS)), "repeats": [1, REPEATS], "out": d.empty()}


def flip(d: Draw) -> Arguments:
    return {"self": d.normal(), "dims": [0], "out": d.empty()}


def index_select(d: Draw) -> Arguments:
    rows, width = TABLE[d.size]
    return {"self": d.normal((rows, width)), "dim": 0, "index": d.index((rows,), rows), "out": d.empty((rows, width))}


def nonzero(d: Draw) -> Arguments:
    """About half of the elements are zero; the result has as many rows as are not."""
    values = d.normal() * d.index(d.matrix, 2).astype(d.dtype)
    return {"self": values, "out": d.empty((int(np.count_nonzero(values)), values.ndim), np.int64)}


def numpy_nonzero(given: Arguments) -> dict[str, Array]:
    return {"out": np.argwhere(given["self"])}
