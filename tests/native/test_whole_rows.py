"""Kernels on rows that are compiled as a whole: any length and layout, long rows, large results, in place, any number of threads."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from acl_emu import engine as native
from acl_emu.core import soc
from tests.native.drawing import KINDS
from tests.native.graphs import judge, signatures, whole
from tests.native.rows import (
    LAYOUTS,
    Rows,
    apart,
    check_kinds,
    check_layout,
    check_rows,
    check_short,
    drawn_rows,
    expected_of,
    loops_of,
    loops_of_short,
    run_whole,
    stepped,
    turned,
)
from tests.native.support import assert_same, run
from tests.native.whole import CALM
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, rounded, spacing

Array = npt.NDArray[Any]

KERNELS = [one for one in signatures() if not whole(one).is_elementwise]
SOFTMAX = "max:i0 exp_of_difference:i0,t0 sum:t1 div:t1,t2"
MASKED = "where:m1,k0,i0 max:t0 exp_of_difference:t0,t1 sum:t2 div:t2,t3"
LOG_SOFTMAX = next(one for one in KERNELS if one.endswith("sub:t1,t10 out:t11,t0,t9"))
LOG_SOFTMAX_ALONE = LOG_SOFTMAX.removesuffix(" out:t11,t0,t9")
BACKWARD = "exp:i1 sum:i0 mul:t0,t1 sub:i0,t2"
GRADIENT = "mul:i0,i1 sum:t0 mul:t1,i1 sub:t0,t2 where:m2,0,t3"
SQUARES = "sub:i0,i1 square:t0 sum:t1 div:t2,k0"
PRODUCTS = "mul:i0,i1 sum:t0 mul:t1,i1 sub:t0,t2"
LARGEST = "max:i0"
SUM = "sum:i0"
OF_ROWS = "exp_of_difference:i0,x0 div:t0,x1"
GROWN = "exp_of_difference:i0,x0 sum:t0 out:t0,t1"
WIDE = (SOFTMAX, MASKED, LOG_SOFTMAX, BACKWARD, GRADIENT, OF_ROWS, GROWN)
"""With results of rows as long as the inputs'."""
LARGE = 25 << 20
"""Bytes of operands that do not fit into caches."""
NARROW = (SQUARES, LARGEST, SUM)
SHORT = (SOFTMAX, LOG_SOFTMAX, LOG_SOFTMAX_ALONE, BACKWARD, PRODUCTS, GRADIENT)
"""Some that are worked on side by side where rows are short: masks, several results, numbers that are kept."""


@pytest.mark.parametrize("dtype", [FLOAT16, BF16, FLOAT], ids=str)
@pytest.mark.parametrize("signature", KERNELS)
def test_results_are_rounded_once(signature: str, dtype: np.dtype[Any]) -> None:
    assert check_kinds(signature, dtype, 1) > 0.25


@pytest.mark.parametrize("signature", KERNELS)
def test_float32_is_as_near_as_its_steps(signature: str) -> None:
    check_kinds(signature, FLOAT, 1, single=True)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_rows_of_one_element(dtype: np.dtype[Any]) -> None:
    for signature in KERNELS:
        given = drawn_rows(np.random.default_rng(4), signature, (20, 1), dtype)
        outputs = given.outputs()
        native.apply(given.known.kernel, given.inputs, outputs, compute=np.float64, **given.constants)
        for out, expected in zip(outputs, expected_of(given), strict=True):
            assert judge(out, expected).right.all()


@pytest.mark.parametrize("length", [2, 16, 33, 1000])
def test_float32_is_within_4_ulps_of_the_largest_term(length: int) -> None:
    rng = np.random.default_rng(length)
    x, y = (rng.standard_normal((19, length)).astype(np.float32) * scale for scale in (6, 1))
    wide, other = x.astype(np.float64), y.astype(np.float64)
    below = wide - wide.max(axis=-1, keepdims=True)
    total = np.exp(below).sum(axis=-1, keepdims=True)
    out = np.empty_like(x)
    run(whole(SOFTMAX).kernel, [x], out, compute=np.float64, single=True)
    assert_accurate(out, np.exp(below) / total)
    run(whole(LOG_SOFTMAX).kernel, [x], out, *np.empty((2, 19, 1), np.float32), compute=np.float64, single=True)
    assert_accurate(out, below - np.log(total), largest=np.maximum(np.abs(below), np.log(total)))
    run(whole(BACKWARD).kernel, [y, out], (found := np.empty_like(x)), compute=np.float64, single=True)
    taken = np.exp(out.astype(np.float64)) * other.sum(axis=-1, keepdims=True)
    assert_accurate(found, other - taken, largest=np.maximum(np.abs(other), np.abs(taken)))


@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
@pytest.mark.parametrize("length", [127, 128, 129, 1000, 4099])
def test_sums_of_half_types_are_exact(length: int, dtype: np.dtype[Any]) -> None:
    """Numbers of one size, whose sums fit in float32, of many sizes, and some that leave no more than one."""
    rng = np.random.default_rng(length)
    sizes = [np.full(length, 1.0), 2.0 ** rng.integers(-14, 12, length), np.where(np.arange(length) % 31, 1.0, 2.0**-14), np.zeros(length)]
    rows = np.stack([rng.standard_normal(length) * size for size in sizes]).astype(dtype)
    rows[2, 1::2] = -rows[2, : length // 2 * 2 : 2]
    out = np.empty((len(rows), 1), FLOAT)
    run_whole(Rows(whole(SUM), [rows], {}, dtype), [rows], [out], "rows")
    expected = [[math.fsum(row.tolist())] for row in rows.astype(np.float64)]
    assert_same(out, np.array(expected).astype(FLOAT))
    for odd, total in (([np.inf], np.inf), ([np.nan], np.nan), ([np.inf, -np.inf], np.nan)):
        rows[0, 3 : 3 + len(odd)] = odd
        run_whole(Rows(whole(SUM), [rows], {}, dtype), [rows], [out], "rows")
        assert_same(out[:1], np.full((1, 1), total, FLOAT))


@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
@pytest.mark.parametrize("signature", [SOFTMAX, LOG_SOFTMAX_ALONE])
@pytest.mark.parametrize(("times", "loops"), [(6, "columns"), (17, "columns"), (36, "rows")])
def test_sums_of_exponentials_are_as_good_as_those_of_float64(times: int, loops: str, signature: str, dtype: np.dtype[Any]) -> None:
    """Rows of few numbers, each many times, so that what is lost adds up; those of many with a result nearest to where rounding changes."""
    rng = np.random.default_rng(len(signature))
    hard, nearest = [], 1.0
    for scale, shift in ((1, 0), (3, 0), (0.02, 0), (1, 60), (6, -50), (1, 500)):
        values = (rng.standard_normal((200_000, 4)) * scale + shift).astype(dtype)
        below = values.astype(np.float64) - values.max(axis=-1, keepdims=True).astype(np.float64)
        total = times * np.exp(below).sum(axis=-1, keepdims=True)
        results = np.exp(below) / total if signature == SOFTMAX else below - np.log(total)
        near = np.abs(np.abs(results / spacing(results, dtype)) % 1 - 0.5) * spacing(results, dtype) / np.abs(results)
        hard.append(np.repeat(values[np.argsort(near.min(axis=-1))[:60]], times, axis=-1))
        nearest = min(nearest, near.min())
    assert nearest < 2.0**-28
    given = Rows(whole(signature), [np.concatenate(hard)], {}, dtype)
    assert check_rows(given, loops=loops) > 0.99
    expected = expected_of(given)
    check_rows(given, given.inputs, expected=expected)


@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
@pytest.mark.parametrize("signature", [SOFTMAX, LOG_SOFTMAX_ALONE])
def test_rows_that_exponentials_are_cut_off_in(signature: str, dtype: np.dtype[Any]) -> None:
    """Far below the largest number, which may be the only one that counts; masked; all the same."""
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((12, 83))
    rows[0, 1:] -= 100
    rows[1, 1:] -= 40
    rows[2] = -np.inf
    rows[2, 5] = 0.3
    rows[3, ::2] = -np.inf
    rows[4] = 0.7
    rows[5, 3] = np.nan
    rows[6, 3] = np.inf
    rows[7] = rows[7] * 0.5 - 3
    rows[8, :-1] = -np.inf
    rows[9] *= 20
    rows[10, 7] = 60000
    rows[11] = -np.abs(rows[11]) - 63
    for some, loops in ((rows, "rows"), (np.tile(rows, (4, 1)), "columns"), (np.repeat(rows, 16, axis=0), "columns")):
        check_rows(Rows(whole(signature), [some.astype(dtype)], {}, dtype), loops=loops)


@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
def test_exponentials_too_small_for_float32_have_a_sign(dtype: np.dtype[Any]) -> None:
    gradients, exponents, out = np.zeros((1, 40), dtype), np.full((1, 40), -110, dtype), np.empty((1, 40), dtype)
    gradients[0, 7] = 1
    exponents[0, 9:] = -np.inf
    run(whole(BACKWARD).kernel, [gradients, exponents], out, compute=np.float64)
    assert_same(np.signbit(out[0]), np.array([True] * 7 + [False] + [True] + [False] * 31))


def _check_exact(signature: str, given: list[Array]) -> None:
    """Rows as they are, and cut into such as are worked on side by side."""
    kernel, dtype = whole(signature).kernel, given[0].dtype
    for inputs in (given, [one.reshape(-1, 8) for one in given]):
        with np.errstate(all="ignore"):
            expected = rounded(kernel(*(one.astype(np.float64) for one in inputs)), dtype).astype(dtype)
        assert_same(run(kernel, inputs, np.empty_like(inputs[0]), compute=np.float64), expected)


@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
def test_numbers_less_exponentials_of_any_size(dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(3)
    gradients, exponents = rng.integers(-64, 64, (6, 1000)) / 32, rng.uniform(-12, 0.5, (6, 1000))
    gradients[0] = 0
    gradients[1, 500:] = -gradients[1, :500]
    gradients[2, 1:] = 0
    gradients[3] = np.where(rng.random(1000) < 0.5, 0.0, -0.0)
    gradients[4, ::2] = 2.0**-20
    exponents[:, ::7] = rng.choice([-np.inf, -1000, -200, -104, -95, -88, -50, 0, 20, 88, 90, 300, 1000, np.inf, np.nan], (6, 143))
    given = [gradients.astype(dtype), exponents.astype(dtype)]
    _check_exact(BACKWARD, given)


@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
@pytest.mark.parametrize("tiny", [0, 48, 62, 110])
def test_weighed_differences_of_any_sign(tiny: int, dtype: np.dtype[Any]) -> None:
    """Exact in float64, so that ties show, and which zeros are negative."""
    rng = np.random.default_rng(tiny)
    least = 2.0 ** -(12 if dtype == FLOAT16 else tiny)
    values, weights = rng.integers(-64, 64, (8, 1000)) / 32, rng.integers(0, 64, (8, 1000)) * least
    weights[1, ::3] = -weights[1, ::3]
    weights[2, ::2] = 0
    weights[3] = np.where(rng.random(1000) < 0.5, 0.0, -0.0)
    values[4] = np.where(rng.random(1000) < 0.5, 0.0, -0.0)
    values[5, 500:], weights[5, 500:] = -values[5, :500], weights[5, :500]
    values[6], weights[6] = 1.5, np.where(np.arange(1000) == 3, 1.0, 0.0)
    values[7] *= 2.0**-20
    given = [values.astype(dtype), weights.astype(dtype)]
    _check_exact(PRODUCTS, given)


@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
@pytest.mark.parametrize("sign", [1, -1])
def test_weighed_differences_that_float32_ends_in_the_middle_with(sign: int, dtype: np.dtype[Any]) -> None:
    """All digits of half types, few enough for float64."""
    rng = np.random.default_rng(5)
    digits = 11 if dtype == FLOAT16 else 8
    values = rng.integers(-(1 << digits), 1 << digits, (100, 4096)) * 2.0 ** (2 - digits)
    weights = rng.integers(0, 1 << digits, (100, 4096)) * sign * 2.0 ** (-9 - digits)
    given = [values.astype(dtype), weights.astype(dtype)]
    _check_exact(PRODUCTS, given)


@pytest.mark.parametrize("length", [40, 257])
def test_products_under_a_sum_may_leave_the_range_of_float32(length: int) -> None:
    """Those of bfloat16: all of them, or so few that what is left cancels out."""
    rng = np.random.default_rng(length)
    one, other = (rng.standard_normal((6, length)) for _ in range(2))
    one[0], other[0] = one[0] * 2.0**-70, other[0] * 2.0**-70
    one[1], other[1] = one[1] * 2.0**70, other[1] * 2.0**70
    one[2], other[2] = 0, 2.0**100
    one[2, :3], other[2, :3] = 2.0**-90, 2.0**-80
    one[3, ::2], other[3, ::2] = 1, 1
    one[3, 1::2], other[3, 1::2] = -1, 1
    one[3, -1], other[3, -1] = 2.0**-100, 2.0**-60
    one[4] = 0
    given = Rows(whole(PRODUCTS), [one.astype(BF16), other.astype(BF16)], {}, BF16)
    check_rows(given, loops="rows")
    check_rows(given._replace(inputs=[np.repeat(each[:, -25:], 16, axis=0) for each in given.inputs]), loops="columns")


# Several rows at a time


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", [one for one in KERNELS if whole(one).graph.lane_outputs])
def test_rows_come_to_the_same_alone(signature: str, dtype: np.dtype[Any]) -> None:
    """Some go through a phase together: as many as fit, the last few, one long one; and no further than they lie evenly."""
    rng = np.random.default_rng(27)
    for single, (images, rows, length) in itertools.product({False, dtype == FLOAT}, ((1, 19, 33), (3, 9, 130), (2, 3, 2_100))):
        given = drawn_rows(rng, signature, (images * rows, length), dtype)
        outputs = given.outputs()
        run_whole(given, given.inputs, outputs, "", single=single)
        wide = [np.zeros((images, rows + 2, one.shape[-1]), one.dtype) for one in given.inputs]
        for room, one in zip(wide, given.inputs, strict=True):
            room[:, 1:-1] = one.reshape(images, rows, -1)
        apart = [room[:, 1:-1] for room in wide]
        laid_apart = [np.zeros((images, rows, one.shape[-1]), one.dtype) for one in outputs]
        run_whole(given, apart, laid_apart, "", single=single)
        for together, spread in zip(outputs, laid_apart, strict=True):
            assert_same(spread.reshape(together.shape), together)
        for row in range(images * rows):
            alone = [np.zeros_like(one[:1]) for one in outputs]
            run_whole(given, [one[row : row + 1] for one in given.inputs], alone, "", single=single)
            for one, together in zip(alone, outputs, strict=True):
                assert_same(one, together[row : row + 1])


# How rows lie in memory


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("signature", [*WIDE, *NARROW])
def test_rows_may_lie_in_any_way(signature: str, layout: str, dtype: np.dtype[Any]) -> None:
    check_layout(signature, dtype, layout)


@pytest.mark.parametrize("signature", [SOFTMAX, MASKED, LOG_SOFTMAX, BACKWARD, GRADIENT])
def test_rows_that_lie_side_by_side_are_not_worked_on_step_by_step(signature: str) -> None:
    for dtype in FLOATS:
        given = drawn_rows(np.random.default_rng(6), signature, (45, 77), dtype)
        loops = "columns" if signature in (SOFTMAX, BACKWARD) and dtype != FLOAT else "rows"
        check_rows(given, [turned(one) for one in given.outputs()], inputs=[turned(one) for one in given.inputs], loops=loops)


@pytest.mark.parametrize("axis", [(0,), (1,), (2,), (0, 2), (1, 2), (0, 1), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("signature", [SOFTMAX, MASKED, LOG_SOFTMAX, GRADIENT, *NARROW])
def test_reductions_along_any_axes(signature: str, axis: tuple[int, ...]) -> None:
    rng = np.random.default_rng(7)
    for dtype, shape in ((FLOAT16, (3, 50, 20)), (BF16, (40, 5, 33)), (FLOAT, (37, 9, 11))):
        given = drawn_rows(rng, signature, (shape[0] * shape[1], shape[2]), dtype)
        given = given._replace(inputs=[one.reshape(shape) for one in given.inputs], axis=axis)
        check_rows(given)
        check_rows(given, [np.asfortranarray(one) for one in given.outputs()], inputs=[np.asfortranarray(one) for one in given.inputs])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", [one for one in KERNELS if whole(one).graph.in_parts])
def test_columns(signature: str, dtype: np.dtype[Any]) -> None:
    """Reductions along the first axis: all columns at once, row by row."""
    rng = np.random.default_rng(8)
    for shape in ((3, 40), (50, 17), (129, 33), (7, 1500)):
        given = drawn_rows(rng, signature, shape, dtype)._replace(axis=(0,))
        check_rows(given, given.outputs(rng.choice([dtype, FLOAT])), loops="columns")


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", SHORT)
def test_short_rows(signature: str, dtype: np.dtype[Any]) -> None:
    check_short(signature, dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", [SOFTMAX, LOG_SOFTMAX_ALONE])
def test_longer_rows_that_are_gone_through_three_times(signature: str, dtype: np.dtype[Any]) -> None:
    """So much is done with them that they are turned for it; of half types even longer ones."""
    rng = np.random.default_rng(16)
    single = dtype == FLOAT
    for count, length in ((300, 32), (1_100, 48), (300, 49), (1_000, 128), (300, 129)):
        given = drawn_rows(rng, signature, (count, length), dtype, kinds=CALM if single else KINDS)
        short = length <= (48 if single else 128)
        expected = expected_of(given, single=single)
        for lay in (np.array, turned, apart):
            outputs, inputs = ([lay(one) for one in some] for some in (given.outputs(), given.inputs))
            loops = "columns" if short or lay is turned else "rows"
            check_rows(given, outputs, inputs=inputs, loops=loops, single=single, expected=expected)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", [SOFTMAX, LOG_SOFTMAX_ALONE, BACKWARD])
def test_long_columns(signature: str, dtype: np.dtype[Any]) -> None:
    """As they lie, up to a length from which on rows are turned, unless they are near; turned too where a result lies otherwise."""
    rng = np.random.default_rng(26)
    single = dtype == FLOAT
    as_they_lie, turned_round = ((330, 200), (65, 2048), (33, 2049), (8, 3000)), ((540, 2049), (7, 3000))
    for count, length in (*as_they_lie, *turned_round):
        loops = "columns" if (count, length) in as_they_lie else "rows"
        given = drawn_rows(rng, signature, (count, length), dtype, kinds=CALM if single else KINDS)
        inputs, expected = [turned(one) for one in given.inputs], expected_of(given, single=single)
        check_rows(given, [turned(one) for one in given.outputs()], inputs=inputs, loops=loops, single=single, expected=expected)
        check_rows(given, given.outputs(), inputs=inputs, loops="rows", single=single, expected=expected)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", SHORT)
def test_columns_of_many_images(signature: str, dtype: np.dtype[Any]) -> None:
    """One image after the other, evenly, or with two axes of them; results that lie apart as well, whose gaps stay as they are."""
    rng = np.random.default_rng(28)
    single = dtype == FLOAT
    for images, length, columns in ((50, 2, 32), (6, 5, 47), (6, 30, 33), (4, 9, 100)):
        flat = drawn_rows(rng, signature, (images * columns, length), dtype, kinds=CALM if single else KINDS)
        given = flat._replace(inputs=[one.reshape(images, columns, -1).transpose(0, 2, 1).copy() for one in flat.inputs], axis=(1,))
        expected = expected_of(given, single=single)
        check_rows(given, loops="columns", single=single, expected=expected)
        inputs, outputs = ([np.concatenate([one, one], axis=1) for one in some] for some in (given.inputs, given.outputs()))
        for one in outputs:
            one[...] = 7
        laid = [one[:, : one.shape[1] // 2] for one in outputs]
        check_rows(given, laid, inputs=[one[:, : one.shape[1] // 2] for one in inputs], loops="columns", single=single, expected=expected)
        assert all((one[:, one.shape[1] // 2 :] == 7).all() for one in outputs)
        uneven = [one.reshape(2, -1, *one.shape[1:]) for one in inputs]
        two = given._replace(inputs=[one[:, :, : one.shape[2] // 2] for one in uneven], axis=(2,))
        check_rows(two, loops="columns", single=single)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", SHORT)
@pytest.mark.parametrize("columns", [640, 650])
def test_short_rows_too_large_for_caches(columns: int, signature: str, dtype: np.dtype[Any]) -> None:
    """Images, the same over and over, whose results pass by the caches where they fill cache lines; and rows one after the other."""
    single = dtype == FLOAT
    few = drawn_rows(np.random.default_rng(17), signature, (columns, 21), dtype, kinds=CALM)
    expected = expected_of(few, single=single)
    copies = LARGE // (2 * few.inputs[0].nbytes) + 1
    for axis, shape in (((1,), (copies, 21, columns)), ((2,), (copies, columns, 21))):
        images = [np.ascontiguousarray(np.broadcast_to(one.T if axis == (1,) else one, shape)) for one in few.inputs]
        many = few._replace(inputs=images, axis=axis)
        outputs = many.outputs()
        run_whole(many, images, outputs, "columns" if axis == (1,) else loops_of_short(signature, 21, single=single), single=single)
        for out, wanted in zip(outputs, expected, strict=True):
            assert judge(out[0].T if axis == (1,) else out[0], wanted).right.all()
            assert_same(out, np.broadcast_to(out[0], out.shape))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", SHORT)
def test_short_rows_of_images(signature: str, dtype: np.dtype[Any]) -> None:
    """The axis in the middle: columns lie in long runs, short runs, or with some of one image beside some of the next."""
    rng = np.random.default_rng(15)
    single = dtype == FLOAT
    for shape in ((3, 21, 150), (5, 9, 20), (2, 4, 1_300)):
        given = drawn_rows(rng, signature, (shape[0] * shape[2], shape[1]), dtype, kinds=CALM if single else KINDS)
        images = [np.ascontiguousarray(one.reshape(shape[0], shape[2], -1).swapaxes(1, 2)) for one in given.inputs]
        check_rows(given._replace(inputs=images, axis=(1,)), loops="columns", single=single)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", NARROW)
def test_tall_columns(signature: str, dtype: np.dtype[Any]) -> None:
    """Columns so tall that their rows are cut into parts; of one vector, of some that are added up row by row, and of many."""
    rng = np.random.default_rng(13)
    for shape in ((33_000, 16), (11_000, 50), (1_100, 1_040), (1_030, 4_500)):
        given = drawn_rows(rng, signature, (1500, 1), dtype, kinds=CALM)
        given = given._replace(inputs=[np.resize(one, shape) for one in given.inputs], axis=(0,))
        given.inputs[0][shape[0] - 7, 3] = np.nan
        check_rows(given, given.outputs(rng.choice([dtype, FLOAT])), loops="columns")


# Long rows, large results


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", [one for one in KERNELS if whole(one).graph.in_parts])
def test_totals(signature: str, dtype: np.dtype[Any]) -> None:
    """Rows so long that they are cut into parts."""
    rng = np.random.default_rng(9)
    for rows, length in ((1, 65_536 + 9), (2, 150_001)):
        given = drawn_rows(rng, signature, (1, 1500), dtype, kinds=CALM)
        given = given._replace(inputs=[np.resize(one, (rows, length)) for one in given.inputs])
        assert check_rows(given, given.outputs(rng.choice([dtype, FLOAT])), loops="totals") == 1
    given.inputs[0][1, 70_000] = np.nan
    check_rows(given, inputs=[stepped(one) for one in given.inputs], loops="totals")


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", WIDE)
def test_results_too_large_for_caches(signature: str, dtype: np.dtype[Any]) -> None:
    """They pass by the caches; rows, some that are the same over and over, start anywhere."""
    few = drawn_rows(np.random.default_rng(10), signature, (12, 10_007), dtype)
    copies = LARGE // (2 * few.inputs[0].nbytes) + 1
    many = few._replace(inputs=[np.tile(one, (copies, 1)) for one in few.inputs])
    outputs = many.outputs()
    run_whole(many, many.inputs, outputs, loops_of(signature, 10_007))
    for out, expected in zip(outputs, expected_of(few), strict=True):
        parts = out.reshape(copies, 12, -1)
        assert judge(parts[0], expected).right.all()
        assert_same(parts, np.broadcast_to(parts[0], parts.shape))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_large_results_of_elements(dtype: np.dtype[Any]) -> None:
    count = LARGE // (2 * dtype.itemsize)
    values = np.resize(np.arange(-100, 100), count)
    for first, length in ((0, count), (1, count - 4), (3, count - 37)):
        out = np.zeros(count, dtype)
        one, other = values[:length].astype(dtype), values[count - length :].astype(dtype)
        run(np.add, [one, other], out[first : first + length], compute=np.float64)
        expected = np.zeros(count, dtype)
        expected[first : first + length] = values[:length] + values[count - length :]
        assert_same(out, expected)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("signature", [SOFTMAX, LOG_SOFTMAX_ALONE, MASKED, BACKWARD, PRODUCTS, GRADIENT, OF_ROWS, GROWN])
def test_in_place(signature: str, dtype: np.dtype[Any]) -> None:
    for lay, shape in itertools.product((np.array, turned), ((33, 170), (90, 21))):
        given = drawn_rows(np.random.default_rng(11), signature, shape, dtype)
        expected = expected_of(given)
        inputs = [lay(one) for one in given.inputs]
        outputs = given.outputs()
        place = next(k for k, one in enumerate(outputs) if one.shape[-1] > 1)
        outputs[place] = inputs[0]
        check_rows(given, outputs, inputs=inputs, expected=expected)


# Threads


THREADED = {
    "rows": (SOFTMAX, (177, 1300), (-1,)),
    "several results": (LOG_SOFTMAX, (300, 700), (-1,)),
    "numbers of rows": (OF_ROWS, (300, 700), (-1,)),
    "side by side": (MASKED, (700, 300), (0,)),
    "columns": (SQUARES, (500, 777), (0,)),
    "short rows": (LOG_SOFTMAX, (9000, 21), (-1,)),
    "longer rows": (SOFTMAX, (9000, 64), (-1,)),
    "short columns": (PRODUCTS, (21, 9000), (0,)),
    "tall columns": (SQUARES, (1500, 601), (0,)),
    "totals": (SQUARES, (2, 400_001), (-1,)),
    "one total": (SUM, (1, 700_001), (-1,)),
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", THREADED)
def test_no_bit_depends_on_the_number_of_threads(name: str, dtype: np.dtype[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    signature, shape, axis = THREADED[name]
    given = drawn_rows(np.random.default_rng(12), signature, shape, dtype)._replace(axis=axis)
    found = []
    for count in (1, 2, 5):
        monkeypatch.setattr(soc, "threads", lambda count=count: count)
        native.program_of.cache_clear()
        outputs = given.outputs()
        run(given.known.kernel, given.inputs, *outputs, compute=np.float64, axis=axis, **given.constants)
        found.append(outputs)
    native.program_of.cache_clear()
    for others in found[1:]:
        for first, other in zip(found[0], others, strict=True):
            assert_same(first, other)
