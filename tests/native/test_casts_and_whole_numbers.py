"""Casts between all types, and arithmetic on integers: bit for bit what numpy and exact arithmetic give."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import acl_emu as acl
from acl_emu import engine as native
from acl_emu.core import dtypes
from tests.native.numbers_of_all_types import (
    BOOL,
    FLOATS,
    LANES,
    TYPES,
    bounds,
    cast,
    cast_nest,
    check_cast,
    defined,
    drawn,
    reference,
    run,
    special,
    wrapped,
)
from tests.native.support import BF16, assert_same, at_odd_address, engine_is

Array = npt.NDArray[Any]

SIZES = (1, 2, 3, 7, 15, 16, 17, 31, 33, 65, 511, 513, 1025)


def compute(kernel: Callable[..., Any], inputs: Sequence[Array], out: Array, dtype: Any = None, threads: int | None = None) -> Array:
    """In the type of the result, or in another one; truth values are computed with as they are."""
    taken = out.dtype if dtype is None else np.dtype(dtype)
    layouts = tuple(map(native.layout_of, inputs)), (native.layout_of(out),)
    return run(native.nest_for(kernel, *layouts, taken, ()), (*inputs, out), threads)


@pytest.mark.parametrize("target", TYPES, ids=str)
@pytest.mark.parametrize("source", TYPES, ids=str)
def test_casts(source: np.dtype[Any], target: np.dtype[Any]) -> None:
    """Special numbers by exact arithmetic, any bits as numpy has it, and tails of many lengths, with nothing written beyond."""
    values = special(source)
    exact = np.array([reference(value, target) for value in values], np.float64 if target in FLOATS else target)
    with np.errstate(all="ignore"):
        assert_same(cast(values, np.empty(values.shape, target)), exact.astype(target))
    every, expected = check_cast(source, target)
    assert_same(cast(at_odd_address(every), at_odd_address(np.empty(every.shape, target))), expected)
    for size in SIZES:
        room = np.full(size + 64, 1, target)
        cast(every[3 : 3 + size], room[5 : 5 + size])
        assert_same(room, np.concatenate([np.full(5, 1, target), expected[3 : 3 + size], np.full(59, 1, target)]))


def test_truth_values_of_other_bytes() -> None:
    values = np.arange(256, dtype=np.uint8).view(np.bool_)
    for target in TYPES:
        assert_same(cast(values, np.empty(256, target)), defined(np.arange(256) != 0, target))


PAIRS = [
    (FLOATS[0], LANES[3]),
    (LANES[3], LANES[4]),
    (LANES[4], BF16),
    (BF16, LANES[0]),
    (BOOL, FLOATS[2]),
    (LANES[1], BOOL),
    (LANES[4], LANES[1]),
]


def views(dtype: np.dtype[Any]) -> Iterator[Array]:
    grid = drawn(dtype, 150 * 160 * 3).reshape(150, 160, 3)
    yield from (grid[:, ::2], grid[:, :, ::2], grid[..., 0].T, grid.transpose(2, 0, 1), grid.transpose(1, 2, 0), grid[:90, :70, 1].T)
    yield from (
        np.broadcast_to(grid[:1], grid.shape),
        np.broadcast_to(grid[..., :1], grid.shape),
        np.broadcast_to(grid[0, :, 0], (900, 160)),
    )


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=str)
def test_strides(source: np.dtype[Any], target: np.dtype[Any]) -> None:
    for values in views(source):
        expected = defined(values, target)
        assert_same(cast(values, np.empty(values.shape, target)), expected)
        assert_same(cast(values, np.empty((*values.shape, 2), target)[..., 1]), expected)
        assert_same(cast(values, np.empty(values.shape[::-1], target).T), expected)


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=str)
def test_threads_and_results_past_the_caches(source: np.dtype[Any], target: np.dtype[Any]) -> None:
    large = (24 << 20) // (source.itemsize + target.itemsize) + 12_345
    for size in (300_001, large):
        values = np.resize(drawn(source, 100_003), size)
        expected = np.resize(defined(values[:100_003], target), size)
        for threads in (1, 2, 5):
            room = np.zeros(size + 3, target)
            assert_same(cast(values, room[3:], threads), expected)


def test_casts_in_place_and_on_each_other() -> None:
    values = drawn(FLOATS[0], 5000)
    room = values.copy()
    cast(room, room.view(np.int32))
    assert_same(room.view(np.int32), defined(values, np.dtype(np.int32)))
    nest = cast_nest(values, values.view(np.int32))
    assert nest is not None
    assert not nest.run([room.ctypes.data, room.ctypes.data + 4])


OPERATIONS: dict[str, Callable[..., Any]] = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}


def extremes(dtype: np.dtype[Any], count: int, seed: int) -> Array:
    low, high = bounds(dtype)
    borders = np.array([low, low + 1, high, high - 1, 0, 1, low // 2, high // 3], dtype)
    found = drawn(dtype, count, seed)
    found[: count // 4] = np.random.default_rng(seed).choice(borders, count // 4)
    return found


@pytest.mark.parametrize("dtype", LANES, ids=str)
@pytest.mark.parametrize("name", OPERATIONS)
def test_arithmetic_wraps_around(name: str, dtype: np.dtype[Any]) -> None:
    """Against exact arithmetic: two arrays, an array and a number, and a multiple of an array."""
    combine = OPERATIONS[name]
    for size in SIZES:
        first, second = extremes(dtype, size, 2), extremes(dtype, size, 3)[::-1].copy()
        for factor in (1, -1, *bounds(dtype), 3):
            number = np.array(wrapped(factor, dtype), dtype)[()]
            kernels: tuple[tuple[Callable[..., Any], list[Array]], ...] = (
                (lambda x, y, k=number: combine(x, k * y), [first, second]),
                (lambda x, k=number: combine(x, k), [first]),
                (lambda x, k=number: combine(k, x), [first]),
            )
            for kernel, inputs in kernels:
                wide = [array.astype(object) for array in inputs]
                expected = [wrapped(value, dtype) for value in kernel(*wide, k=int(number))]
                assert_same(compute(kernel, inputs, np.empty(size, dtype)), np.array(expected, dtype))


@pytest.mark.parametrize("dtype", LANES, ids=str)
def test_arithmetic_on_all_layouts(dtype: np.dtype[Any]) -> None:
    grid = extremes(dtype, 150 * 640, 4).reshape(150, 640)
    square = np.ascontiguousarray(grid[:, :150])
    for first, second in (
        (grid, grid[:1]),
        (grid, grid[:, :1]),
        (grid[:, :1], grid[:1]),
        (square, square.T),
        (grid[:, ::2], grid[:, 1::2]),
        (grid, grid[:1, :1]),
    ):
        expected = first * second - first
        for out in (np.empty(expected.shape, dtype), np.empty(expected.shape[::-1], dtype).T):
            assert_same(compute(lambda x, y: x * y - x, [first, second], out), expected)


@pytest.mark.parametrize("dtype", LANES, ids=str)
def test_arithmetic_in_place_on_threads_and_past_the_caches(dtype: np.dtype[Any]) -> None:
    for size in (300_001, (8 << 20) // dtype.itemsize + 777):
        first, second = (np.resize(extremes(dtype, 100_003, seed), size) for seed in (5, 6))
        expected = np.resize(first[:100_003] + np.resize(second, 100_003) * dtype.type(7), 100_003)
        for threads in (1, 2, 5):
            room = first.copy()
            compute(lambda x, y: x + dtype.type(7) * y, [room, second], room, threads=threads)
            assert_same(room[:100_003], expected)
            assert_same(compute(operator.mul, [first, second], np.empty(size + 1, dtype)[1:], threads=threads), first * second)


def test_types_that_differ() -> None:
    """Inputs become what is computed in, results what is stored, each in one step."""
    small, large, truth = extremes(LANES[0], 3000, 7), extremes(LANES[4], 3000, 8), drawn(BOOL, 3000)
    for target in (LANES[4], LANES[1], *FLOATS):
        expected = defined(small.astype(np.int64) * large + truth, target)
        assert_same(compute(lambda x, y, z: x * y + z, [small, large, truth], np.empty(3000, target), np.int64), expected)


@pytest.mark.parametrize("name", OPERATIONS)
def test_truth_values(name: str) -> None:
    first, second = drawn(BOOL, 5000, 9), drawn(BOOL, 5000, 10)
    expected = OPERATIONS[name](first.astype(np.int8), second.astype(np.int8)) != 0
    combine = OPERATIONS[name]
    assert_same(compute(lambda x, y: combine(x.astype(np.int8), y.astype(np.int8)), [first, second], np.empty(5000, BOOL)), expected)


@pytest.mark.parametrize("dtype", LANES, ids=str)
def test_sums_and_the_largest(dtype: np.dtype[Any]) -> None:
    """Of rows, columns and everything, also where there is nothing but the least number, and one that is larger."""
    low, high = bounds(dtype)
    for shape, axes in (((300_001,), (0,)), ((7, 700), (1,)), ((70, 1000), (0,)), ((5, 6, 600), (0, 2)), ((2, 300_000), (1,))):
        size = math.prod(shape)
        least = [np.full(size, low, dtype) for _ in range(4)]
        for values, place in zip(least, (0, 699, size // 2, size - 1), strict=True):
            values[place] = low + 1
        for values in (extremes(dtype, size, 11), np.full(size, low, dtype), np.full(size, high, dtype), *least):
            whole = values.reshape(shape)
            largest, total = whole.max(axis=axes), whole.sum(axis=axes, dtype=dtype)
            for threads in (1, 2, 5):
                found = compute(lambda x, axes=axes: x.max(axis=axes), [whole], np.empty(largest.shape, dtype), threads=threads)
                assert_same(found, largest)
                found = compute(lambda x, axes=axes: x.sum(axis=axes, dtype=dtype), [whole], np.empty(total.shape, dtype), threads=threads)
                assert_same(found, total)


def test_operators_run_in_the_engine_as_in_numpy() -> None:
    for dtype in LANES:
        first, second = extremes(dtype, 4000, 12).reshape(4, 1000), extremes(dtype, 4000, 13).reshape(4, 1000)
        three = dtype.type(3)
        calls = [
            ("aclnnAdd", first, second, three, np.empty_like(first)),
            ("aclnnSubs", first, dtype.type(bounds(dtype)[1]), three, np.empty_like(first)),
            ("aclnnMul", first, second[:1], np.empty_like(first)),
            ("aclnnMuls", first, three, np.empty_like(first)),
            ("aclnnMax", first, np.empty((), dtype)),
            ("aclnnReduceSum", first, [1], False, dtypes.from_numpy(dtype).code, np.empty(4, dtype)),
        ]
        for call in calls:
            here = acl.call(*call).copy()
            with engine_is(None), np.errstate(all="ignore"):
                assert_same(here, acl.call(*call))
