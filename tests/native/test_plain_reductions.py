"""Sums and maxima of an input as it is: several rows at a time, columns block by block, few columns, rows that lie in pieces."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from acl_emu import engine as native
from acl_emu.core import soc
from tests.native.graphs import whole
from tests.native.rows import Rows, apart, check_rows, drawn_rows, expected_of, run_whole, stepped, turned
from tests.native.support import assert_same, memory_before_the_end, run
from tests.native.whole import CALM
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

SUM, LARGEST, SQUARES = "sum:i0", "max:i0", "sub:i0,i1 square:t0 sum:t1 div:t2,k0"
PLAIN = (SUM, LARGEST)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", PLAIN)
def test_several_rows(signature: str, dtype: np.dtype[Any]) -> None:
    """Fewer than are reduced together and more, of whole vectors and not; one after another, with gaps between them, or side by side."""
    rng = np.random.default_rng(1)
    for shape in ((1, 40), (5, 64), (8, 33), (17, 300), (130, 64), (300, 100)):
        given = drawn_rows(rng, signature, shape, dtype)
        expected = expected_of(given)
        check_rows(given, loops="rows", expected=expected)
        check_rows(given, [stepped(one) for one in given.outputs(FLOAT)], loops="rows", expected=expected)
        wider = np.concatenate([given.inputs[0], given.inputs[0][:, :7]], axis=1)[:, : shape[1]]
        for inputs in (wider, turned(given.inputs[0]), apart(given.inputs[0])):
            check_rows(given, inputs=[inputs], expected=expected)


@pytest.mark.parametrize("signature", PLAIN)
def test_a_row_is_the_same_among_others(signature: str) -> None:
    """Rows that are left over when the others have been taken together."""
    given = drawn_rows(np.random.default_rng(2), signature, (23, 75), BF16)
    (together,) = outputs = given.outputs(FLOAT)
    run_whole(given, given.inputs, outputs, "rows")
    for row in range(23):
        alone = np.zeros((1, 1), FLOAT)
        run_whole(given, [given.inputs[0][row : row + 1]], [alone], "rows")
        assert_same(alone, together[row : row + 1])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", [*PLAIN, SQUARES])
def test_few_columns(signature: str, dtype: np.dtype[Any]) -> None:
    """As many rows as fill cache lines are one, unless they do not lie in order; some are left over, or all."""
    rng = np.random.default_rng(3)
    for columns in (2, 3, 4, 5, 7, 8, 12, 15, 16, 20):
        for rows in (33, 70, 1029):
            given = drawn_rows(rng, signature, (rows, columns), dtype)._replace(axis=(0,))
            check_rows(given, given.outputs(rng.choice([dtype, FLOAT])), loops="columns")
            check_rows(given, inputs=[stepped(one) for one in given.inputs])


def with_gaps(rows: Array, gap: int) -> Array:
    """With numbers that are none after each row but the last, behind which nobody may read."""
    count, columns = rows.shape
    memory = memory_before_the_end((count - 1) * (columns + gap) + columns, rows.dtype)
    memory[...] = np.nan
    laid = np.lib.stride_tricks.as_strided(memory, rows.shape, ((columns + gap) * rows.itemsize, rows.itemsize))
    laid[...] = rows
    return laid


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", [*PLAIN, SQUARES])
def test_few_columns_with_gaps_between_rows(signature: str, dtype: np.dtype[Any]) -> None:
    """What is between them is read with them where it is little, and counts for nothing."""
    rng = np.random.default_rng(9)
    for columns, gap in ((2, 1), (3, 4), (7, 3), (8, 8), (9, 55), (15, 1), (17, 15), (19, 2), (24, 8), (31, 33)):
        for rows in (33, 64, 1029):
            given = drawn_rows(rng, signature, (rows, columns), dtype)._replace(axis=(0,))
            check_rows(given, inputs=[with_gaps(one, gap) for one in given.inputs], loops="columns")


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", [*PLAIN, SQUARES])
def test_few_columns_of_images(signature: str, dtype: np.dtype[Any]) -> None:
    """Those of each image on their own; of images that lie apart, too."""
    rng = np.random.default_rng(10)
    for shape in ((5, 70, 19), (2, 300, 19), (3, 300, 16), (40, 33, 30), (90, 3, 40)):
        given = drawn_rows(rng, signature, (shape[0] * shape[1], shape[2]), dtype)
        given = given._replace(inputs=[one.reshape(shape) for one in given.inputs], axis=(1,))
        check_rows(given, loops="columns")
        check_rows(given, inputs=[np.concatenate([one, one[:, :3]], axis=1)[:, : shape[1]] for one in given.inputs], loops="columns")


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", [*PLAIN, SQUARES])
def test_few_columns_in_parts(signature: str, dtype: np.dtype[Any]) -> None:
    """Many rows of them, of which parts are put together."""
    rng = np.random.default_rng(4)
    for shape in ((30_001, 3), (17_000, 8), (9_000, 15)):
        given = drawn_rows(rng, signature, (1500, 1), dtype, kinds=CALM)
        given = given._replace(inputs=[np.resize(one, shape) for one in given.inputs], axis=(0,))
        given.inputs[0][shape[0] - 7, 1] = np.nan
        check_rows(given, loops="columns")


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", PLAIN)
def test_blocks_of_columns(signature: str, dtype: np.dtype[Any]) -> None:
    """Whole blocks, vectors and less; rows that are added up together, and others; in memory, with gaps, gathered."""
    rng = np.random.default_rng(5)
    for shape in ((7, 64), (8, 65), (9, 200), (40, 127), (100, 530)):
        given = drawn_rows(rng, signature, shape, dtype)._replace(axis=(0,))
        expected = expected_of(given)
        wider = np.concatenate([given.inputs[0], given.inputs[0][:, :5]], axis=1)[:, : shape[1]]
        for inputs in (given.inputs[0], wider, stepped(given.inputs[0]), turned(given.inputs[0])):
            check_rows(given, inputs=[inputs], expected=expected)


@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
@pytest.mark.parametrize("rows", [7, 8, 9, 64, 999])
def test_columns_of_half_types_are_added_up_exactly(rows: int, dtype: np.dtype[Any]) -> None:
    """Numbers of one size, whose sums fit in float32, of many sizes, and some that leave no more than one."""
    rng = np.random.default_rng(rows)
    sizes = [np.full(rows, 1.0), 2.0 ** rng.integers(-14, 12, rows), np.where(np.arange(rows) % 31, 1.0, 2.0**-14), np.zeros(rows)]
    columns = np.stack([rng.standard_normal(rows) * size for size in sizes for _ in range(20)], axis=1).astype(dtype)
    columns[1::2, 50] = -columns[: rows // 2 * 2 : 2, 50]
    out = np.empty((1, columns.shape[1]), FLOAT)
    given = Rows(whole(SUM), [columns], {}, dtype, (0,))
    run_whole(given, [columns], [out], "columns")
    expected = [[math.fsum(column) for column in columns.T.astype(np.float64).tolist()]]
    assert_same(out, np.array(expected).astype(FLOAT))
    for odd, total in (([np.inf], np.inf), ([np.nan], np.nan), ([np.inf, -np.inf], np.nan)):
        columns[3 : 3 + len(odd), 0] = odd
        run_whole(given, [columns], [out], "columns")
        assert_same(out[:, :2], np.array([[total, expected[0][1]]]).astype(FLOAT))


@pytest.mark.parametrize("columns", [3, 16, 70])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_maxima_of_odd_columns(columns: int, dtype: np.dtype[Any]) -> None:
    """Numbers that are none, or infinite, in any row."""
    x = -np.abs(np.random.default_rng(6).standard_normal((50, columns))).astype(dtype) - np.ones((), dtype)
    x[:, 0] = -np.inf
    for row in (0, 3, 8, 31, 32, 49):
        values = x.copy()
        values[row, 1] = np.nan
        values[row, 2] = np.inf
        out = np.empty((1, columns), dtype)
        run_whole(Rows(whole(LARGEST), [values], {}, dtype, (0,)), [values], [out], "columns")
        assert_same(out, values.astype(np.float64).max(axis=0, keepdims=True).astype(dtype))


PIECES: dict[str, tuple[Shape, tuple[int, ...]]] = {
    "some": ((5, 3, 40), (0, 2)),
    "long ones": ((3, 4, 300), (0, 2)),
    "many": ((300, 2, 33), (0, 2)),
    "shorter ones": ((9, 3, 20), (0, 2)),
    "of several axes": ((3, 4, 5, 90), (0, 2, 3)),
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", PIECES)
@pytest.mark.parametrize("signature", [*PLAIN, SQUARES])
def test_rows_in_pieces(signature: str, name: str, dtype: np.dtype[Any]) -> None:
    """Pieces lie evenly or not, and what they are put together with lies in one."""
    shape, axis = PIECES[name]
    given = drawn_rows(np.random.default_rng(7), signature, (math.prod(shape[:-1]), shape[-1]), dtype, kinds=CALM)
    given = given._replace(inputs=[one.reshape(shape) for one in given.inputs], axis=axis)
    expected = expected_of(given)
    check_rows(given, loops="rows", expected=expected)
    uneven = [np.repeat(one, 2, axis=-2)[..., ::2, :] for one in given.inputs]
    side_by_side = [np.ascontiguousarray(np.moveaxis(one, 1, -1)) for one in given.inputs]
    for last in (uneven[-1], np.moveaxis(side_by_side[-1], -1, 1)):
        check_rows(given, inputs=[*given.inputs[:-1], last], expected=expected)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", [*PLAIN, SQUARES])
def test_long_rows_in_pieces(signature: str, dtype: np.dtype[Any]) -> None:
    """So long that they are cut into parts, which end within pieces; of one row, and of several."""
    rng = np.random.default_rng(11)
    for shape, axis in (((700, 1, 101), (0, 2)), ((90, 3, 800), (0, 2)), ((2300, 2, 31), (0, 2)), ((3, 40, 2, 600), (0, 1, 3))):
        given = drawn_rows(rng, signature, (1500, 1), dtype, kinds=CALM)
        given = given._replace(inputs=[np.resize(one, shape) for one in given.inputs], axis=axis)
        given.inputs[0][-1, ..., 0, -2] = np.nan
        expected = expected_of(given)
        wider = [np.concatenate([one, one[..., :5]], axis=-1)[..., : shape[-1]] for one in given.inputs]
        check_rows(given, inputs=wider, loops="totals", expected=expected)
        check_rows(given, loops="totals", expected=expected)


THREADED: dict[str, tuple[Shape, tuple[int, ...]]] = {
    "several rows": ((2_011, 70), (1,)),
    "columns": ((300, 700), (0,)),
    "many columns": ((11, 9_000), (0,)),
    "few columns": ((40_001, 5), (0,)),
    "tall columns": ((5_003, 60), (0,)),
    "images": ((5, 20, 1_200), (1,)),
    "pieces": ((20, 17, 300), (0, 2)),
    "long rows in pieces": ((90, 3, 800), (0, 2)),
    "few columns of images": ((20, 300, 19), (1,)),
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", THREADED)
@pytest.mark.parametrize("signature", PLAIN)
def test_no_bit_depends_on_the_number_of_threads(signature: str, name: str, dtype: np.dtype[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor on how many rows or columns a thread takes at a time: numbers of all sizes, sums in float64."""
    shape, axis = THREADED[name]
    rng = np.random.default_rng(8)
    values = (rng.standard_normal(shape) * 2.0 ** rng.integers(-14, 12, shape)).astype(dtype)
    kept = tuple(1 if k in axis else length for k, length in enumerate(shape))
    found = []
    for count in (1, 2, 3, 5):
        monkeypatch.setattr(soc, "threads", lambda count=count: count)
        native.program_of.cache_clear()
        found.append(run(whole(signature).kernel, [values], np.zeros(kept, FLOAT), compute=np.float64, axis=axis))
    native.program_of.cache_clear()
    for other in found[1:]:
        assert_same(found[0], other)
