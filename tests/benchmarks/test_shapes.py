"""Calls that are drawn at random are valid, and equal seeds draw alike."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks import shapes


@pytest.mark.parametrize("seed", range(60))
def test_drawn_calls_run(seed: int) -> None:
    drawn, told = shapes.contest(seed, 200, 3000)
    with drawn.call:
        assert told
        assert drawn.row.dtype in shapes.DTYPES
        assert all(array.size for array in drawn.expected.values())


def test_equal_seeds_draw_alike() -> None:
    first, again = (shapes.contest(7, 200, 3000) for _ in range(2))
    with first[0].call, again[0].call:
        assert first[1] == again[1]
        for name, array in first[0].expected.items():
            np.testing.assert_array_equal(array, again[0].expected[name])


def test_shapes_have_as_many_elements_as_wanted() -> None:
    sizes = [math.prod(shapes.Drawing(seed, 1000, 5000).shape()) for seed in range(200)]
    assert min(sizes) >= 1000
    assert max(sizes) < 10_000


def test_layouts_hold_the_numbers_that_were_drawn() -> None:
    """Whatever a layout does to memory, torch and the emulator are given the same elements."""
    ways = set()
    for seed in range(80):
        drawing = shapes.Drawing(seed)
        values = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
        laid = drawing.laid(values)
        np.testing.assert_array_equal(laid, values)
        ways.add(laid.strides)
    assert len(ways) > 6
