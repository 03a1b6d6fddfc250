"""The loops around kernels: rows of any length, any axes, any strides and addresses, any number of threads."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acl_emu import engine as native
from acl_emu.core import dtypes
from tests.native.support import BF16, assert_same, at_odd_address, memory_before_the_end, run, threads_are, ulps
from tests.operators.accuracy import FLOAT, FLOATS, assert_accurate, spacing

Array = npt.NDArray[Any]
Axes = tuple[int, ...]

SOFTMAX_ULPS = 12
"""What rounding the difference to the largest number makes of an exponential, for differences below 16, and the functions' own."""
LENGTHS = (1, 2, 3, 7, 8, 9, 15, 17, 31, 32, 33, 511, 513, 1023, 1024, 1025, 4097, 32_769, 70_000)
AXES = [axes for count in (1, 2, 3) for axes in itertools.combinations(range(3), count)]


def softmax(x: Array, axis: Axes = (-1,)) -> Array:
    grown = np.exp(x - x.max(axis=axis, keepdims=True))
    return grown / grown.sum(axis=axis, keepdims=True)


def total(x: Array, axis: Axes = (-1,)) -> Array:
    return x.sum(axis=axis)


def largest(x: Array, axis: Axes = (-1,)) -> Array:
    return x.max(axis=axis)


def backward(y: Array, gradient: Array, axis: Axes = (-1,)) -> Array:
    return gradient - np.exp(y) * gradient.sum(axis=axis, keepdims=True)


def product(x: Array, y: Array, axis: Axes = (-1,)) -> Array:
    return (x * y).sum(axis=axis)


def smooth(x: Array, y: Array) -> Array:
    apart = np.abs(x - y)
    return np.where(apart < 0.7, 0.5 * apart * (apart / 0.7), apart - 0.35)


def grown(x: Array, y: Array) -> Array:
    return np.log1p(np.exp(-np.abs(x))) * np.abs(y) + np.sqrt(np.abs(x))


def squared_sum(x: Array, y: Array) -> Array:
    return np.sqrt(x * x + y * y)


def numbers(*shape: int, dtype: Any = np.float32, seed: int = 1) -> Array:
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(dtype)


def exactly(kernel: Any, *inputs: Array, **attributes: Any) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(kernel(*(one.astype(np.float64) for one in inputs), **attributes))


@pytest.mark.parametrize("length", LENGTHS)
def test_rows_of_any_length(length: int) -> None:
    for dtype in FLOATS:
        x, y = numbers(3, length, dtype=dtype), numbers(3, length, dtype=dtype, seed=2)
        for kernel, inputs in ((softmax, [x]), (grown, [x, y]), (smooth, [x, y])):
            out = np.empty(x.shape, dtype)
            native.apply(kernel, inputs, [out])
            assert_accurate(out, exactly(kernel, *inputs), ulps=SOFTMAX_ULPS if kernel is softmax else 6)


@pytest.mark.parametrize("shape", [(5, 6, 7), (40, 3, 50), (2, 300, 20), (1000, 2, 3), (3, 1, 700)], ids=str)
@pytest.mark.parametrize("axis", AXES, ids=str)
def test_reductions_along_any_axes(shape: tuple[int, ...], axis: Axes) -> None:
    for order in itertools.permutations(range(3)):
        x = numbers(*(shape[one] for one in order)).transpose(np.argsort(order))
        y = numbers(*shape, seed=2)
        kept = tuple(length for one, length in enumerate(shape) if one not in axis)
        for kernel, inputs in ((total, [x]), (product, [x, y])):
            out = np.empty(kept, np.float32)
            native.apply(kernel, inputs, [out], axis=axis)
            terms = np.abs(exactly(np.multiply, x, y) if kernel is product else x.astype(np.float64)).sum(axis=axis)
            assert (np.abs(out - exactly(kernel, *inputs, axis=axis)) <= 2 * spacing(terms, FLOAT)).all()  # products are rounded, too
        out = np.empty(kept, np.float32)
        native.apply(largest, [x], [out], axis=axis)
        assert_same(out, x.max(axis=axis))
        out = np.empty(shape, np.float32)
        native.apply(softmax, [x], [out], axis=axis)
        assert ulps(out, exactly(softmax, x, axis=axis)) < SOFTMAX_ULPS


def test_sums_of_many_terms() -> None:
    """Within one ulp of the sum of magnitudes, though most of it cancels."""
    x = numbers(2, 1_500_000) * np.exp(numbers(2, 1_500_000, seed=3))
    for values, axis in ((x, (1,)), (x.T, (0,)), (x, (0, 1)), (x.reshape(-1, 100), (0,))):
        out = np.empty(np.sum(values[:1, :1], axis=axis).shape if len(axis) == 2 else np.delete(values.shape, axis), np.float32)
        run(total, [values], out, axis=axis)
        terms = np.abs(values.astype(np.float64)).sum(axis=axis)
        assert (np.abs(out - exactly(total, values, axis=axis)) <= spacing(terms, FLOAT)).all()


@pytest.mark.parametrize("shape", [(6, 5), (6, 40), (6, 3000), (6, 300_000)], ids=str)
@pytest.mark.parametrize("transposed", [False, True])
def test_maxima_of_odd_rows(shape: tuple[int, int], transposed: bool) -> None:
    x = numbers(*shape)
    x[0] = -np.inf
    x[1, shape[1] // 2] = np.nan
    x[2, -1] = np.inf
    x[3, 0] = np.nan
    x[4] = np.finfo(np.float32).min
    values = np.asfortranarray(x) if transposed else x
    out = np.empty(shape[0], np.float32)
    assert_same(run(largest, [values], out, axis=(1,)), x.max(axis=1))
    rows = np.empty_like(values)
    native.apply(softmax, [values], [rows], axis=(1,))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.isnan(rows), np.isnan(exactly(softmax, x, axis=(1,))))
        assert ulps(rows[4:], exactly(softmax, x[4:], axis=(1,))) < SOFTMAX_ULPS


def masked(x: Array, mask: Array) -> Array:
    return softmax(np.where(mask, -1e30, x))


def test_masked_numbers_do_not_count_however_large_the_others_are() -> None:
    x = numbers(4, 1000) * np.array([[1], [100], [1e6], [1e20]], np.float32)
    mask = np.random.default_rng(3).random(x.shape) < 0.5
    out = run(masked, [x, mask], np.empty_like(x))
    assert (out[mask] == 0).all()
    np.testing.assert_allclose(out.sum(axis=1), 1, rtol=1e-6)


# More elements than a single thread works on.
CASES: dict[str, tuple[Any, list[Array], tuple[int, ...], dict[str, Any]]] = {
    "map": (smooth, [numbers(190_001), numbers(190_001, seed=2)], (190_001,), {}),
    "steps": (grown, [numbers(190_001), numbers(190_001, seed=2)], (190_001,), {}),
    "halves": (smooth, [numbers(190_001, dtype=BF16), numbers(190_001, dtype=BF16, seed=2)], (190_001,), {}),
    "blocks": (smooth, [numbers(601, 403).T, numbers(403, 601)], (403, 601), {}),
    "strided": (smooth, [numbers(803, 1002)[::2, ::2], numbers(501, seed=2)], (402, 501), {}),
    "rows": (softmax, [numbers(177, 1300)], (177, 1300), {}),
    "rows of halves": (backward, [numbers(177, 1300, dtype=BF16), numbers(177, 1300, dtype=BF16)], (177, 1300), {}),
    "columns": (softmax, [numbers(230, 777)], (230, 777), {"axis": (0,)}),
    "short rows": (softmax, [numbers(40_000, 5)], (40_000, 5), {}),
    "totals": (total, [numbers(2, 400_001)], (2,), {}),
    "one total": (product, [numbers(700_001), numbers(700_001, seed=2)], (), {}),
}


@pytest.mark.parametrize("name", CASES)
def test_no_bit_depends_on_the_number_of_threads(name: str) -> None:
    kernel, inputs, shape, options = CASES[name]
    found = []
    for count in (1, 2, 5, 5):
        with threads_are(count):
            found.append(run(kernel, inputs, np.zeros(shape, inputs[0].dtype), **options))
    for other in found[1:]:
        assert_same(found[0], other)


@pytest.mark.parametrize("name", CASES)
def test_addresses_and_strides_do_not_matter(name: str) -> None:
    """The same bits from memory that is not aligned, and from elements that lie apart."""
    kernel, inputs, shape, options = CASES[name]
    plain = run(kernel, [np.ascontiguousarray(one) for one in inputs], np.zeros(shape, inputs[0].dtype), **options)
    unaligned = [at_odd_address(np.ascontiguousarray(one)) for one in inputs]
    assert_same(run(kernel, unaligned, at_odd_address(np.zeros(shape, inputs[0].dtype)), **options), plain)
    apart = [np.repeat(one[..., np.newaxis], 3, axis=-1)[..., 1] for one in inputs]
    out = np.zeros((*shape, 2), inputs[0].dtype)[..., 1]
    assert_same(run(kernel, apart, out, **options), plain)


def laid_out(values: Array, layout: str) -> Array:
    """The same numbers, lying otherwise; a row, a column or one number of them stand for all."""
    if layout == "transposed":
        return np.ascontiguousarray(values.T).T
    if layout == "stepped":
        return np.repeat(values, 2, axis=1)[:, ::2]
    if layout == "both":
        return np.repeat(np.ascontiguousarray(values.T), 2, axis=1)[:, ::2].T
    return {"plain": values, "row": values[:1], "column": values[:, :1].copy(), "one": values[:1, :1]}[layout]


def covered(x: Array, mask: Array) -> Array:
    return np.where(mask, np.float32(0.25), x) * x


LAYOUTS = ("plain", "transposed", "transposed", "stepped", "both", "row", "column", "one")
LAID_OUT: dict[str, Any] = {"fused": smooth, "halves": smooth, "steps": grown, "masks": covered, "rows": backward, "reductions": product}


@pytest.mark.parametrize("name", LAID_OUT)
@settings(max_examples=40)
@given(data=st.data())
def test_no_bit_depends_on_how_operands_lie(name: str, data: st.DataObject) -> None:
    kernel = LAID_OUT[name]
    shape = data.draw(st.integers(2, 150)), data.draw(st.integers(2, 530))
    dtype = data.draw(st.sampled_from((np.dtype(np.float16), BF16))) if name == "halves" else np.dtype(np.float32)
    second = numbers(*shape, seed=2) > 0 if name == "masks" else numbers(*shape, dtype=dtype, seed=2)
    full, any_way = st.sampled_from(LAYOUTS[:5]), st.sampled_from(LAYOUTS)
    inputs = [laid_out(numbers(*shape, dtype=dtype), data.draw(full)), laid_out(second, data.draw(any_way if name != "rows" else full))]
    result = np.zeros(shape[:1], dtype) if name == "reductions" else laid_out(np.zeros(shape, dtype), data.draw(full))
    plain = run(kernel, [np.ascontiguousarray(one) for one in inputs], np.zeros(result.shape, dtype))
    assert_same(run(kernel, inputs, result), plain)


def at_the_end(values: Array, step: int) -> Array:
    """The same numbers, so many places apart, the last of them in the last place before memory that nobody may touch."""
    laid = memory_before_the_end((values.size - 1) * step + 1, values.dtype)
    laid[...] = 7
    laid[::step] = values
    return laid


@pytest.mark.parametrize("count", [2, 8, 33, 900, 1_700_000], ids=str)
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), np.dtype(np.float16), BF16], ids=str)
@pytest.mark.parametrize("kernel", [smooth, squared_sum], ids=["fused", "steps"])
@settings(max_examples=8)
@given(steps=st.tuples(*[st.integers(2, 9)] * 3), in_place=st.booleans(), less=st.integers(0, 70))
def test_operands_some_steps_apart(kernel: Any, dtype: Any, count: int, steps: tuple[int, int, int], in_place: bool, less: int) -> None:
    """Up to more than the caches hold; what lies between results stays as it is, what lies behind operands is not read."""
    count = max(2, count - less)
    values = [numbers(count, dtype=dtype, seed=seed) for seed in (1, 2)]
    laid = [at_the_end(one, step) for one, step in zip((*values, np.zeros(count, dtype)), steps, strict=True)]
    if in_place:
        laid[2], steps = laid[0], (*steps[:2], steps[0])
    inputs, out = [one[::step] for one, step in zip(laid[:2], steps[:2], strict=True)], laid[2][:: steps[2]]
    expected = run(kernel, values, np.zeros(count, dtype))
    assert_same(run(kernel, inputs, out), expected)
    between = np.ones(laid[2].size, np.bool_)
    between[:: steps[2]] = False
    assert (laid[2][between] == 7).all()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@settings(max_examples=60)
@given(data=st.data())
def test_runs_with_gaps_between_them(dtype: Any, data: st.DataObject) -> None:
    """Of any length, read and written, in order or transposed; gaps between results stay as they are."""
    length, axes = data.draw(st.integers(1, 300)), data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=3))
    shape = (*axes, length)
    values = [numbers(*shape, dtype=dtype, seed=seed) for seed in (1, 2)]
    buffers = [np.full((*axes, length + data.draw(st.integers(0, 9))), 7, dtype) for _ in range(3)]
    places = [buffer[..., :length] for buffer in buffers]
    places[0][...], places[1][...] = values
    if data.draw(st.booleans()):
        places[1] = np.asfortranarray(values[1])
    assert_same(run(smooth, places[:2], places[2]), run(smooth, values, np.zeros(shape, dtype)))
    assert (buffers[2][..., length:] == 7).all()


def itself(x: Array) -> Array:
    return x


PIECES: dict[str, tuple[Any, int, Any]] = {
    "fused": (smooth, 2, FLOAT),
    "halves": (smooth, 2, np.dtype(np.float16)),
    "steps": (squared_sum, 2, FLOAT),
    "one step": (np.minimum, 2, FLOAT),
    "casts": (itself, 1, np.dtype(np.float16)),
}


@pytest.mark.parametrize("name", PIECES)
@settings(max_examples=25)
@given(data=st.data())
def test_pieces_of_any_length(name: str, data: st.DataObject) -> None:
    """Many of them, as many as lie evenly at a time, and long ones that several threads share; gaps between results stay as they are."""
    kernel, count, dtype = PIECES[name]
    length = data.draw(st.one_of(st.integers(30, 140), st.integers(400, 700), st.integers(10_000, 70_000)))
    shape = (data.draw(st.integers(1, 3)), max(1, data.draw(st.integers(1, 200_000)) // length), length)
    values = [numbers(*shape, dtype=dtype, seed=seed) for seed in range(count)]

    def buffer(dtype: np.dtype[Any]) -> Array:
        return np.full((shape[0], shape[1] + data.draw(st.integers(0, 1)), length + data.draw(st.integers(0, 3))), 7, dtype)

    buffers, out = [buffer(dtype) for _ in values], buffer(FLOAT if name == "casts" else dtype)
    if data.draw(st.booleans()):
        buffers[0] = np.ascontiguousarray(buffers[0].swapaxes(0, 1)).swapaxes(0, 1)
    places = [one[:, : shape[1], :length] for one in (*buffers, out)]
    for place, one in zip(places, values, strict=False):
        place[...] = one
    expected = run(kernel, values, np.zeros(shape, out.dtype))
    assert_same(run(kernel, places[:-1], places[-1]), expected)
    assert (out[..., length:] == 7).all()
    assert (out[:, shape[1] :] == 7).all()


@pytest.mark.parametrize("name", PIECES)
@settings(max_examples=40)
@given(data=st.data())
def test_axes_in_any_order(name: str, data: st.DataObject) -> None:
    """Lines of any length are transposed, long and short ones, in whichever squares they have room for."""
    kernel, count, dtype = PIECES[name]
    lengths = st.one_of(st.integers(1, 12), st.integers(13, 75))
    shape = (data.draw(lengths), data.draw(lengths), data.draw(lengths))
    values = [numbers(*shape, dtype=dtype, seed=seed) for seed in range(count)]
    orders = [data.draw(st.permutations(range(3))) for _ in range(count + 1)]
    transposed = [
        np.ascontiguousarray(one.transpose(order)).transpose(np.argsort(order)) for one, order in zip(values, orders, strict=False)
    ]
    out = np.zeros([shape[axis] for axis in orders[-1]], FLOAT if name == "casts" else dtype).transpose(np.argsort(orders[-1]))
    assert_same(run(kernel, transposed, out), run(kernel, values, np.zeros(shape, out.dtype)))


ODD_NUMBERS = (0.0, -0.0, np.inf, -np.inf, np.nan, 65504.0, 6e-8, -2.5)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("kernel", [softmax, total, largest, product])
@pytest.mark.parametrize(("shape", "axis"), [((1, 700), (0,)), ((300, 1), (1,)), ((20, 1, 35), (1,)), ((1, 90, 1), (0, 2))], ids=str)
def test_reductions_of_one_element(kernel: Any, shape: tuple[int, ...], axis: Axes, dtype: Any) -> None:
    """Are none; but the sum of a negative zero is positive."""
    inputs = [numbers(*shape, dtype=dtype, seed=seed) for seed in range(1 + (kernel is product))]
    for place, one in enumerate(inputs):
        one.reshape(-1)[place : place + 10 * len(ODD_NUMBERS)] = np.repeat(ODD_NUMBERS, 10).astype(dtype)
    with np.errstate(all="ignore"):
        expected = dtypes.round_to(kernel(*(one.astype(np.float32) for one in inputs), axis=axis), dtypes.from_numpy(dtype))
    assert_same(run(kernel, inputs, np.zeros(expected.shape, dtype), axis=axis), expected)


def weighed(x: Array, y: Array, mask: Array) -> Array:
    return np.where(mask, x * np.float32(0.25), np.abs(y) - x)


REPEATING = {"fused": smooth, "numbers of rows": np.multiply, "steps": weighed}
"""Kernels whose results leave no choice."""


def rounded_once(kernel: Any, inputs: list[Array], dtype: np.dtype[Any]) -> Array:
    """By numpy, from operands of full size."""
    values = [one if one.dtype == np.bool_ else one.astype(np.float32) for one in np.broadcast_arrays(*inputs)]
    return dtypes.round_to(np.asarray(kernel(*values)), dtypes.from_numpy(dtype))


@st.composite
def repeated_shapes(draw: st.DrawFn) -> tuple[int, ...]:
    """Axes of any length, up to some tiles in all."""
    shape: list[int] = []
    for length in draw(st.lists(st.sampled_from((2, 3, 5, 16, 64, 100, 511, 513, 2000, 5000, 20_000)), min_size=1, max_size=4)):
        shape.append(max(1, min(length, 150_000 // math.prod(shape))))
    return tuple(draw(st.permutations(shape)))


@pytest.mark.parametrize("name", REPEATING)
@settings(max_examples=100)
@given(data=st.data())
def test_operands_that_repeat_themselves(name: str, data: st.DataObject) -> None:
    """Along any axes, however they lie, on any number of threads; results lie apart, at an odd address, or on the operand of full size."""
    kernel, dtype = REPEATING[name], data.draw(st.sampled_from(FLOATS))
    shape = data.draw(repeated_shapes())
    kept = [shape] + [tuple(data.draw(st.sampled_from((1, length))) for length in shape) for _ in range(1 + (name == "steps"))]
    inputs = [numbers(*one, dtype=dtype, seed=seed) for seed, one in enumerate(kept)]
    if name == "steps":
        inputs[2] = inputs[2] > 0
    expected = rounded_once(kernel, inputs, dtype)
    for place, one in enumerate(inputs):
        lying = data.draw(st.sampled_from(("plain", "odd", "stepped", "gaps", "transposed")))
        if lying == "odd":
            inputs[place] = at_odd_address(one)
        elif lying == "transposed":
            inputs[place] = np.asfortranarray(one)
        elif lying != "plain":
            inputs[place] = np.concatenate([one, one], axis=-1)[..., :: 2 if lying == "stepped" else 1][..., : one.shape[-1]]
            inputs[place][...] = one
    out = {"apart": np.zeros((*shape, 2), dtype)[..., 1], "odd": at_odd_address(np.zeros(shape, dtype)), "in place": inputs[0]}
    result = out[data.draw(st.sampled_from(tuple(out)))]
    count = data.draw(st.sampled_from((1, 2, 5)))
    with threads_are(count):
        run(kernel, inputs, result)
    assert_same(np.ascontiguousarray(result), expected)


@pytest.mark.parametrize("dtype", [np.dtype(np.float32), np.dtype(np.float16)], ids=str)
@pytest.mark.parametrize("kept", [(1, 1, 1030), (1, 1051, 1), (6, 1, 1), (6, 1, 1030), (6, 1051, 1), (1, 1, 1)], ids=str)
def test_large_results_of_operands_that_repeat_themselves(kept: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """They pass by the caches, in pieces that end anywhere; integers leave no choice."""
    shape = (6, 1051, 1030)
    x, y = np.arange(math.prod(shape)).reshape(shape) % 45, np.arange(math.prod(kept)).reshape(kept) % 43
    out = run(np.subtract, [x.astype(dtype), y.astype(dtype)], np.zeros(shape, dtype))
    np.testing.assert_array_equal(out, (x - y).astype(np.float32))


@pytest.mark.parametrize("transposed", list(itertools.product((False, True), repeat=3)), ids=str)
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), np.dtype(np.float16)], ids=str)
@pytest.mark.parametrize("kernel", [smooth, backward])
@pytest.mark.parametrize("aligned", [False, True], ids=["anywhere", "aligned"])
def test_large_operands_however_they_lie(kernel: Any, dtype: Any, transposed: tuple[bool, bool, bool], aligned: bool) -> None:
    """So large that results pass by the caches, and each thread has a part of its own of what is transposed."""
    shape = (2128, 1168) if aligned else (2051, 1030)
    if dtype != np.float32:
        shape = shape[0], 2 * shape[1]
    inputs = [
        laid_out(numbers(*shape, dtype=dtype, seed=seed), "transposed" if one else "plain") for seed, one in enumerate(transposed[:2])
    ]
    out = laid_out(np.zeros(shape, dtype), "transposed" if transposed[2] else "plain")
    plain = run(kernel, [np.ascontiguousarray(one) for one in inputs], np.zeros(shape, dtype))
    assert_same(run(kernel, inputs, out), plain)


def lowered(x: Array) -> Array:
    return x + np.float32(-0.5)


def rooted(x: Array) -> Array:
    return np.sqrt(x * x + np.float32(1))


@pytest.mark.parametrize("shape", [(2051, 1030), (64, 1024), (1090, 70), (3, 700, 1300), (70, 40, 500)], ids=str)
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), np.dtype(np.float16), BF16], ids=str)
@pytest.mark.parametrize("kernel", [np.exp, lowered, rooted], ids=["dear", "plain", "steps"])
def test_results_that_are_turned_while_the_next_block_is_worked_on(kernel: Any, dtype: Any, shape: tuple[int, ...]) -> None:
    """Those of the last block too, and whether kernels ask for what they read or someone else does; steps in double have shorter tiles."""
    x = numbers(*shape, dtype=dtype)
    transposed = np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)
    assert_same(run(kernel, [transposed], np.zeros(shape, dtype)), run(kernel, [x], np.zeros(shape, dtype)))


def of_some(x: Array, mask: Array) -> Array:
    return softmax(np.where(mask, np.float32(-10000), x))


@pytest.mark.parametrize("shape", [(700, 300), (3, 250, 64), (300, 1480), (90, 5000), (45, 9000)], ids=str)
@pytest.mark.parametrize("transposed", [(True, True), (True, False), (False, True)], ids=str)
def test_rows_that_are_turned_while_others_are_worked_on(shape: tuple[int, ...], transposed: tuple[bool, bool]) -> None:
    """Of numbers and of masks, many at a time or few, side by side or not, in steps that leave a line over; the longest find no buffer."""
    values = [numbers(*shape), numbers(*shape, seed=2) > 1]
    inputs = [
        np.ascontiguousarray(one.swapaxes(-1, -2)).swapaxes(-1, -2) if way else one for one, way in zip(values, transposed, strict=True)
    ]
    out = run(of_some, inputs, np.zeros(shape, np.float32))
    assert_same(out, run(of_some, values, np.zeros(shape, np.float32)))
    assert_accurate(out, exactly(softmax, np.where(values[1], np.float32(-10000), values[0])), ulps=SOFTMAX_ULPS)


def squares(x: Array, unread: Array, y: Array) -> Array:
    return np.sqrt(x * x) + y


def sloping(x: Array, unread: Array, y: Array) -> Array:
    return x * np.where(y <= 0, np.float32(0), -y)


@pytest.mark.parametrize("kernel", [squares, sloping])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("layout", ["plain", "transposed", "stepped", "both"])
def test_what_no_result_depends_on_may_lie_in_any_way(kernel: Any, transposed: bool, layout: str) -> None:
    values = [numbers(300, 500, seed=seed) for seed in range(3)]
    inputs = [laid_out(one, way) for one, way in zip(values, ("transposed" if transposed else "plain", layout, "plain"), strict=True)]
    assert_same(run(kernel, inputs, np.zeros((300, 500), np.float32)), kernel(*values))


def unchanged(x: Array) -> Array:
    return x


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.int64])
@pytest.mark.parametrize("shape", [(7,), (70_001,), (513, 300), (5, 600, 40), (300, 64, 48)], ids=str)
def test_reverse_order(shape: tuple[int, ...], dtype: Any) -> None:
    """Negative strides, of what is read and of what is written."""
    x = np.random.default_rng(1).integers(-99, 99, shape).astype(dtype)
    for axes in itertools.chain.from_iterable(itertools.combinations(range(x.ndim), count) for count in range(1, x.ndim + 1)):
        expected = np.flip(x, axes)
        read, written, turned = np.empty_like(x), np.empty_like(x), np.empty(shape[::-1], dtype)
        run(unchanged, [expected], read, dtype=dtype)
        run(unchanged, [x], np.flip(written, axes), dtype=dtype)
        run(unchanged, [expected.T], turned, dtype=dtype)
        assert_same(read, expected)
        assert_same(written, expected)
        assert_same(turned, expected.T)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.bool_, np.int64])
@pytest.mark.parametrize("width", [48, 100, 128, 5000])
def test_copies_with_gaps_between_runs(width: int, dtype: Any) -> None:
    """Runs that both sides have, or one; within the caches and beyond, for one thread and some."""
    for rows, threads in itertools.product((3, 2_000, 6_000_000 // width), (1, 3)):
        x = np.random.default_rng(1).integers(0, 2, (rows, width + 50)).astype(dtype)
        within, dense, spaced = x[:, 7 : 7 + width], np.empty((rows, width), dtype), np.zeros((rows, 2, width + 9), dtype)
        with threads_are(threads):
            run(unchanged, [within], dense, dtype=dtype)
            run(unchanged, [within], spaced[:, 1, 5 : 5 + width], dtype=dtype)
        assert_same(dense, within)
        assert_same(spaced[:, 1, 5 : 5 + width], within)
        spaced[:, 1, 5 : 5 + width] = 0
        assert not spaced.any()
