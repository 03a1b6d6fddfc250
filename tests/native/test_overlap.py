"""Operands that share memory: results are as if all of them were computed before the first is stored."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from acl_emu import engine as native
from tests.native.support import assert_same, nest_of
from tests.operators.accuracy import FLOATS

Array = npt.NDArray[Any]

COUNT = 70_001


def shifted(x: Array, y: Array) -> Array:
    return x * 0.5 + y


def normalized(x: Array) -> Array:
    return x / (np.abs(x).sum(axis=-1, keepdims=True) + 1)


def both_ways(x: Array, y: Array) -> tuple[Array, Array]:
    return x + y, x - y


def buffer(dtype: np.dtype[Any]) -> Array:
    return (np.arange(2 * COUNT) % 1013 / 8 - 60).astype(dtype)


def refused(kernel: Any, inputs: list[Array], outputs: list[Array]) -> bool:
    nest = nest_of(kernel, inputs, outputs)
    return nest is None or not nest.run([array.ctypes.data for array in (*inputs, *outputs)])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_in_place(dtype: np.dtype[Any]) -> None:
    memory = buffer(dtype)
    first, second = memory[:COUNT], memory[COUNT:]
    expected = np.empty(COUNT, dtype)
    native.apply(shifted, [first, second], [expected])
    assert not refused(shifted, [first, second], [first])
    assert_same(first, expected)


def several(x: Array, y: Array) -> Array:
    return np.sqrt(np.abs(y) * 3 + 1) * x - y


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nothing_on_the_way_is_stored_on_an_input(dtype: np.dtype[Any]) -> None:
    """A result that lies on an input which is read last."""
    memory = buffer(dtype)
    first, second = memory[:COUNT], memory[COUNT:]
    expected = np.empty(COUNT, dtype)
    native.apply(several, [first, second], [expected])
    assert not refused(several, [first, second], [first])
    assert_same(first, expected)


def test_rows_in_place() -> None:
    for shape in ((7, 10_000), (5000, 3), (2, 70_000)):
        values = buffer(np.dtype(np.float32))[: shape[0] * shape[1]].reshape(shape)
        expected = np.empty_like(values)
        native.apply(normalized, [values], [expected])
        native.apply(normalized, [values], [values])
        assert_same(values, expected)


def following(x: Array, before: Array) -> tuple[Array, Array]:
    mean = x.sum(axis=(0, 2), keepdims=True) / 64
    return x - mean, before + mean


def scaled(x: Array, factor: Array) -> tuple[Array, Array]:
    mean = x.sum(axis=(0, 2), keepdims=True) / 64
    return (x - mean) * factor, mean


@pytest.mark.parametrize("shape", [(2, 9, 2000), (3, 50, 5), (40, 300, 1)], ids=str)
def test_a_number_of_each_row_in_place(shape: tuple[int, ...]) -> None:
    """Before the elements, which are read again, are through; not where it is read again, too."""
    x = buffer(np.dtype(np.float32))[: math.prod(shape)].reshape(shape)
    for kernel, refusing in ((following, False), (scaled, True)):
        numbers = np.arange(shape[1], dtype=np.float32).reshape(1, -1, 1)
        expected = np.empty_like(x), np.empty_like(numbers)
        native.apply(kernel, [x, numbers], list(expected))
        found = np.empty_like(x)
        assert refused(kernel, [x, numbers], [found, numbers]) == refusing
        if refusing:
            native.apply(kernel, [x, numbers], [found, numbers])
        assert_same(found, expected[0])
        assert_same(numbers, expected[1])


@pytest.mark.parametrize("distance", [-20_000, -9, -1, 1, 3, 1000])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_output_partly_on_an_input(dtype: np.dtype[Any], distance: int) -> None:
    memory = buffer(dtype)
    first, out = memory[COUNT // 2 : COUNT], memory[COUNT // 2 + distance : COUNT + distance]
    second = np.ones(first.shape, dtype)
    expected = np.empty(first.shape, dtype)
    native.apply(shifted, [first.copy(), second], [expected])
    assert refused(shifted, [first, second], [out])
    native.apply(shifted, [first, second], [out])
    assert_same(out, expected)


def test_output_on_an_input_the_other_way_round() -> None:
    values = buffer(np.dtype(np.float32))[:10_000].reshape(100, 100)
    expected = values.T * np.float32(0.5) + values
    native.apply(shifted, [values.T, values.copy()], [values])
    assert_same(values, expected)


def test_output_on_an_input_that_no_result_depends_on() -> None:
    out, values = np.zeros((100, 200), np.float32), buffer(np.dtype(np.float32))[:20_000].reshape(100, 200)
    inputs = [out.reshape(200, 100).T, values]
    assert not refused(lambda _, x: x * x, inputs, [out])
    native.apply(lambda _, x: x * x, inputs, [out])
    assert_same(out, values * values)


def test_outputs_on_each_other() -> None:
    memory = buffer(np.dtype(np.float32))
    first, second = memory[:1000].copy(), memory[1000:2000].copy()
    out = np.zeros(1500, np.float32)
    assert refused(both_ways, [first, second], [out[:1000], out[500:]])
    native.apply(both_ways, [first, second], [out[:1000], out[500:]])
    assert_same(out[500:], first - second)
    assert_same(out[:500], (first + second)[:500])


def test_an_output_whose_elements_lie_on_each_other() -> None:
    out = np.zeros((1, 8), np.float32)
    repeated = np.broadcast_to(out, (100, 8))
    repeated = np.ndarray(repeated.shape, repeated.dtype, out, 0, repeated.strides)
    values = np.broadcast_to(np.arange(8, dtype=np.float32), (100, 8))
    assert nest_of(shifted, [values, values], [repeated]) is None
    native.apply(shifted, [values, values], [repeated])
    assert_same(out[0], np.arange(8, dtype=np.float32) * np.float32(1.5))


def unchanged(x: Array) -> Array:
    return x


def test_reverse_order() -> None:
    """Elements before the first one count, too."""
    memory = np.arange(2 * COUNT, dtype=np.float32)
    first, second = memory[:COUNT], memory[COUNT:]
    for reads, writes in ((first[::-1], first), (first, first[::-1]), (memory[:-1][::-1], memory[1:]), (memory[1:], memory[:-1][::-1])):
        assert refused(unchanged, [reads], [writes])
    assert not refused(unchanged, [second[::-1]], [first])
    assert_same(first, second[::-1].copy())
