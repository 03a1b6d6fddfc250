"""Matrix products of integers, which must come out exactly, and of any numbers, whose bits may depend on nothing but the shape."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from acl_emu.core.dtypes import from_numpy, round_to
from acl_emu.engine.matmul import Sum, Taken, matmul, rounded
from tests.operators.accuracy import BF16, FLOAT, FLOAT16

Array = npt.NDArray[Any]

SHAPES = (
    *((1, 1, 1), (3, 0, 4), (15, 17, 33), (5, 7, 1300), (1300, 7, 5), (14, 256, 32), (29, 257, 65)),
    *((1025, 3, 1024), (512, 512, 513), (700, 300, 70), (40, 3100, 50), (1, 2100, 300), (300, 2100, 1), (130, 1600, 45), (20, 30, 9000)),
    *((1, 512, 1100), (2, 100, 65), (14, 1024, 129), (16, 64, 200), (7, 2600, 97), (3000, 16, 16), (4, 9000, 4), (2000, 3, 3)),
    *((1, 3000, 1), (1, 300, 1)),
)
"""Below, at and above the sizes of tiles and blocks; few rows, few columns, long sums."""
LAYOUTS = ("rows", "columns", "shifted", "strided", "reversed")
ADDED = ("matrix", "row", "column", "number")


def laid(matrix: Array, layout: str) -> Array:
    """The same numbers, elsewhere in memory."""
    if layout == "columns":
        return np.asfortranarray(matrix)
    if layout == "shifted":  # columns that do not begin with a cache line
        room = np.empty(matrix.size + 1, matrix.dtype)[1:].reshape(matrix.shape[::-1]).T
        room[...] = matrix
        return room
    if layout == "strided":
        return matrix.repeat(2, axis=0).repeat(3, axis=1)[::2, ::3]
    return matrix[::-1, ::-1].copy()[::-1, ::-1] if layout == "reversed" else matrix.copy()


def integers(shape: tuple[int, int], dtype: npt.DTypeLike, seed: int) -> Array:
    """Numbers whose products and sums all types hold."""
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(dtype)


def kinds() -> Iterator[tuple[npt.DTypeLike, npt.DTypeLike, npt.DTypeLike, str]]:
    """Types of both factors and of the result, and a layout."""
    for index, (a, b, out) in enumerate(
        ((FLOAT, FLOAT, FLOAT), (FLOAT16, FLOAT16, FLOAT16), (BF16, BF16, BF16), (FLOAT, FLOAT16, BF16), (BF16, FLOAT, FLOAT))
    ):
        for layout in LAYOUTS if index < 3 else LAYOUTS[index:][:1]:
            yield a, b, out, layout


def check_values(rows: int, inner: int, columns: int) -> None:
    """Of all types and layouts, with what may be added."""
    exact = integers((rows, inner), np.float64, 1) @ integers((inner, columns), np.float64, 2)
    for first, second, third, layout in kinds():
        a, b = (laid(integers(*given), layout) for given in (((rows, inner), first, 1), ((inner, columns), second, 2)))
        for target in ("rows", layout):
            out = laid(np.full((rows, columns), np.nan, third), target)
            matmul(a, b, out)
            np.testing.assert_array_equal(out, round_to(exact, from_numpy(np.dtype(third))))
        for kind in ADDED:
            shape = rows if kind in ("matrix", "column") else 1, columns if kind in ("matrix", "row") else 1
            added, out = laid(integers(shape, second, 3), layout), laid(np.full((rows, columns), np.nan, third), layout)
            expected = round_to(2 * exact - 0.5 * added.astype(np.float64), from_numpy(np.dtype(third)))
            matmul(a, b, out, plus=Sum(added, 2.0, -0.5))
            np.testing.assert_array_equal(out, expected)
            if kind == "matrix" and second == third:
                matmul(a, b, added, plus=Sum(added, 2.0, -0.5))
                np.testing.assert_array_equal(added, expected)
        if third is FLOAT:
            out = integers((rows, columns), third, 4)
            expected = out + exact
            matmul(a, b, out, add=True)
            np.testing.assert_array_equal(out, expected)


def check_special_numbers(rows: int, inner: int, columns: int) -> None:
    """What is infinite or no number stays in its row or column."""
    a, b = integers((rows, inner), FLOAT, 1), integers((inner, columns), FLOAT, 2)
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


def check_few_rows(inner: int, columns: int) -> None:
    """Few rows of a product are the same as among many, and so are few columns."""
    rng = np.random.default_rng(7)
    for dtype in (FLOAT, FLOAT16, BF16):
        a, b = (rng.standard_normal(shape).astype(dtype) for shape in ((40, inner), (inner, columns)))
        many, added = np.empty((40, columns), FLOAT), rng.standard_normal((40, columns)).astype(dtype)
        matmul(a, b, many)
        twice = many.copy()
        matmul(a, b, twice, add=True)
        for layout, rows in itertools.product(LAYOUTS, (1, 2, 6, 7, 13, 14, 15, 16)):
            few, transposed = np.full((rows, columns), np.nan, FLOAT), np.full((columns, rows), np.nan, FLOAT)
            left, right = laid(a[:rows], layout), laid(b, layout)
            matmul(left, right, few)
            matmul(right.T, left.T, transposed)
            np.testing.assert_array_equal(few, many[:rows])
            np.testing.assert_array_equal(transposed, many[:rows].T)
            matmul(left, right, few, add=True)
            np.testing.assert_array_equal(few, twice[:rows])
            half = laid(added[:rows].copy(), layout)
            matmul(left, right, half, plus=Sum(half, 0.5, 2.0))
            expected = many[:rows] * np.float32(0.5) + added[:rows].astype(FLOAT) * np.float32(2)
            np.testing.assert_array_equal(half, expected.astype(dtype))


def check_batches() -> None:
    """Each product of a batch is the same as on its own, however the batch lies and broadcasts."""
    rng = np.random.default_rng(8)
    cases = (
        *(((3, 2, 5, 40), (3, 2, 40, 70)), ((3, 1, 5, 40), (2, 40, 70)), ((6, 1, 40), (40, 70)), ((4, 3, 40), (1, 40, 5))),
        *(((4, 30), (5, 30, 9)), ((2, 3, 4, 30), (30, 9)), ((7, 1, 600), (7, 600, 1))),
        *(((1500, 4, 3), (1500, 3, 2)), ((40, 64, 64), (40, 64, 64)), ((3, 300, 300), (3, 300, 300)), ((5, 4, 2000), (5, 2000, 30))),
    )
    for (left, right), dtype in itertools.product(cases, (FLOAT, FLOAT16)):
        a, b = rng.standard_normal(left).astype(dtype), rng.standard_normal(right).astype(dtype)
        for first, second in ((a, b), (a[..., ::-1, :].copy()[..., ::-1, :], b.swapaxes(-1, -2).copy().swapaxes(-1, -2))):
            out = np.full(np.matmul(np.zeros(left), np.zeros(right)).shape, np.nan, dtype)
            matmul(first, second, out)
            batch = out.shape[:-2]
            lefts, rights = (np.broadcast_to(each, batch + each.shape[-2:]) for each in (a, b))
            alone = np.empty(out.shape[-2:], dtype)
            for index in np.ndindex(batch):
                matmul(lefts[index], rights[index], alone)
                np.testing.assert_array_equal(out[index], alone)


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
