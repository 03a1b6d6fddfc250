"""Matrix products of whole numbers, which must come out exactly, and of any numbers, whose bits may depend on nothing but the shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from acl_emu.dtypes import from_numpy, round_to
from acl_emu.matmul import Sum, Taken, matmul, rounded
from tests.operators.accuracy import BF16, FLOAT, FLOAT16

Array = npt.NDArray[Any]

SHAPES = (
    *((1, 1, 1), (3, 0, 4), (15, 17, 33), (5, 7, 1300), (1300, 7, 5), (14, 256, 32), (29, 257, 65)),
    *((1025, 3, 1024), (512, 512, 513), (700, 300, 70), (40, 3100, 50), (1, 2100, 300), (300, 2100, 1), (130, 1600, 45), (20, 30, 9000)),
)
"""Below, at and above the sizes of tiles and blocks; few rows, few columns, long sums."""
LAYOUTS = ("rows", "columns", "strided", "reversed")
ADDED = ("matrix", "row", "column", "number")


def laid(matrix: Array, layout: str) -> Array:
    """The same numbers, elsewhere in memory."""
    if layout == "columns":
        return np.asfortranarray(matrix)
    if layout == "strided":
        return matrix.repeat(2, axis=0).repeat(3, axis=1)[::2, ::3]
    return matrix[::-1, ::-1].copy()[::-1, ::-1] if layout == "reversed" else matrix.copy()


def whole_numbers(shape: tuple[int, int], dtype: npt.DTypeLike, seed: int) -> Array:
    """Numbers whose products and sums all types hold."""
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(dtype)


def kinds() -> Iterator[tuple[npt.DTypeLike, npt.DTypeLike, npt.DTypeLike, str]]:
    """Types of both factors and of the result, and a layout."""
    for index, (a, b, out) in enumerate(
        ((FLOAT, FLOAT, FLOAT), (FLOAT16, FLOAT16, FLOAT16), (BF16, BF16, BF16), (FLOAT, FLOAT16, BF16), (BF16, FLOAT, FLOAT))
    ):
        for layout in LAYOUTS if index < 3 else LAYOUTS[index % 4 :][:1]:
            yield a, b, out, layout


def check_values(rows: int, inner: int, columns: int) -> None:
    """Of all types and layouts, with what may be added."""
    exact = whole_numbers((rows, inner), np.float64, 1) @ whole_numbers((inner, columns), np.float64, 2)
    for first, second, third, layout in kinds():
        a, b = (laid(whole_numbers(*given), layout) for given in (((rows, inner), first, 1), ((inner, columns), second, 2)))
        for target in ("rows", layout):
            out = laid(np.full((rows, columns), np.nan, third), target)
            matmul(a, b, out)
            np.testing.assert_array_equal(out, round_to(exact, from_numpy(np.dtype(third))))
        for kind in ADDED:
            shape = rows if kind in ("matrix", "column") else 1, columns if kind in ("matrix", "row") else 1
            added, out = laid(whole_numbers(shape, second, 3), layout), laid(np.full((rows, columns), np.nan, third), layout)
            expected = round_to(2 * exact - 0.5 * added.astype(np.float64), from_numpy(np.dtype(third)))
            matmul(a, b, out, plus=Sum(added, 2.0, -0.5))
            np.testing.assert_array_equal(out, expected)
            if kind == "matrix" and second == third:
                matmul(a, b, added, plus=Sum(added, 2.0, -0.5))
                np.testing.assert_array_equal(added, expected)
        if third is FLOAT:
            out = whole_numbers((rows, columns), third, 4)
            expected = out + exact
            matmul(a, b, out, add=True)
            np.testing.assert_array_equal(out, expected)


def check_special_numbers(rows: int, inner: int, columns: int) -> None:
    """What is infinite or no number stays in its row or column."""
    a, b = whole_numbers((rows, inner), FLOAT, 1), whole_numbers((inner, columns), FLOAT, 2)
    a[-1, 0], b[-1, -1], a[0, -1] = np.nan, np.inf, -np.inf
    out = np.empty((rows, columns), np.float32)
    matmul(a, b, out)
    with np.errstate(all="ignore"):
        wide = [[(a[r].astype(np.float64) * b[:, c]).sum() for c in (0, columns - 1)] for r in (0, rows - 1)]
    np.testing.assert_array_equal(out[np.ix_([0, rows - 1], [0, columns - 1])], wide)
    exact = a[1:-1].astype(np.float64) @ b[:, :-1]
    np.testing.assert_array_equal(out[1:-1, :-1], exact)


def check_bits(rows: int, inner: int, columns: int) -> None:
    """The same from every layout, and near the exact result."""
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(shape).astype(np.float16).astype(np.float32) for shape in ((rows, inner), (inner, columns)))
    plain = np.empty((rows, columns), np.float32)
    matmul(a, b, plain)
    left, right = a.astype(np.float64), b.astype(np.float64)
    assert (np.abs(plain - left @ right) <= 2.0**-24 * 8 * np.sqrt(inner + 1) * np.sqrt(np.square(left) @ np.square(right))).all()
    for layout in LAYOUTS:
        for dtype in (np.float32, np.float16):
            out = laid(plain, layout)
            out[...] = np.nan
            matmul(laid(a.astype(dtype), layout), laid(b.astype(dtype), layout), out)
            np.testing.assert_array_equal(out, plain)


def check_rounded_factors(rows: int, inner: int, columns: int) -> None:
    """Rounded on the way is the same as rounded before."""
    rng = np.random.default_rng(6)
    a, b = (
        np.ldexp(rng.standard_normal(shape), rng.integers(-20, 20, shape)).astype(np.float32) for shape in ((rows, inner), (inner, columns))
    )
    for taken in (Taken.AS_HALF, Taken.AS_HF32):
        found, expected = np.empty((2, rows, columns), np.float32)
        matmul(a, b.T.copy().T, found, taken=taken)
        with np.errstate(over="ignore"):  # what is too large for a half type is infinite
            left, right = rounded(a, taken), rounded(b, taken)
        matmul(left, right, expected)
        np.testing.assert_array_equal(found, expected)
