"""A program belongs to a kind of call: other lengths and strides need no new one, unless the kernel looks at lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from acl_emu import engine
from tests.native.support import assert_same, run

Array = npt.NDArray[Any]


@pytest.fixture
def captured(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Callable[..., Any]]]:
    """The kernels that are captured, from an empty cache on."""
    kernels: list[Callable[..., Any]] = []

    def capture(kernel: Callable[..., Any], *rest: Any) -> Any:
        kernels.append(kernel)
        return original(kernel, *rest)

    original = engine.capture
    monkeypatch.setattr(engine, "capture", capture)
    engine.programs.clear()
    engine.nest_for.cache_clear()
    yield kernels
    engine.programs.clear()
    engine.nest_for.cache_clear()


def scaled(x: Array, y: Array, *, factor: float = 1.5) -> Array:
    return x * factor + y


def normalised(x: Array) -> Array:
    return x - x.max(axis=-1, keepdims=True)


def centred(x: Array) -> Array:
    """Divides by a length."""
    return x - x.mean(axis=-1, keepdims=True)


def by_size(x: Array) -> Array:
    return x * np.float32(x.size) + np.float32(x.shape[0])


def numbers(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def test_lengths_and_strides_are_no_part_of_it(captured: list[Any]) -> None:
    for rows, columns in ((3, 5), (7, 4), (40, 1000), (2, 9)):
        x, y = numbers(rows, columns), numbers(rows, columns)
        assert_same(run(scaled, [x, y], np.empty_like(x)), x * np.float32(1.5) + y)
        transposed = numbers(columns, rows).T
        assert_same(run(scaled, [transposed, y], np.empty_like(x)), transposed * np.float32(1.5) + y)
    assert captured == [scaled]


@pytest.mark.parametrize("shapes", [((3, 5), (5,)), ((3, 5), (3, 1)), ((3, 5), (1, 1)), ((1, 5), (3, 1)), ((4, 4), (4,)), ((3, 5), (1, 5))])
def test_broadcasting_is(captured: list[Any], shapes: tuple[tuple[int, ...], ...]) -> None:
    x, y = (numbers(*shape) for shape in shapes)
    out = np.empty(np.broadcast_shapes(*shapes), np.float32)
    for first in (numbers(*out.shape), x):
        assert_same(run(scaled, [first, y], out), first * np.float32(1.5) + y)
    larger = [tuple(length if length == 1 else 3 * length for length in shape) for shape in shapes]
    x, y = (numbers(*shape) for shape in larger)
    before = len(captured)
    assert_same(run(scaled, [x, y], np.empty(np.broadcast_shapes(*larger), np.float32)), x * np.float32(1.5) + y)
    assert len(captured) == before


def test_reductions_know_no_lengths_either(captured: list[Any]) -> None:
    for rows, columns in ((3, 5), (100, 40), (2, 3000), (5000, 2)):
        x = numbers(rows, columns)
        assert_same(run(normalised, [x], np.empty_like(x)), normalised(x))
    assert captured == [normalised]


@pytest.mark.parametrize("kernel", [centred, by_size])
def test_a_kernel_that_looks_at_lengths_is_captured_again(captured: list[Any], kernel: Callable[..., Any]) -> None:
    for rows, columns in ((3, 5), (4, 7)):
        x = np.round(numbers(rows, columns) * 64)
        np.testing.assert_allclose(run(kernel, [x], np.empty_like(x)), kernel(x.astype(np.float64)), rtol=1e-5, atol=1e-5)
    assert captured == [kernel, kernel]


def test_attributes_are_told_apart_bit_by_bit(captured: list[Any]) -> None:
    """Also those that are equal: zeros of different sign, numbers of different type."""
    x, y = np.ones(4, np.float32), np.full(4, -0.0, np.float32)
    for factor in (0.0, -0.0, 1.0, 1, True):
        assert_same(run(scaled, [x, y], np.empty_like(x), factor=factor), scaled(x, y, factor=factor))
    assert len(captured) == 3


NUMBERS = (1.5, -0.0, 0.0, 1.0, 2.0, 1e-40, 1e40, -3.25, np.inf, np.nan, 0.1, 2.5)


def with_weight(weight: Any) -> Callable[..., Array]:
    """Made anew for each call, as many operators do."""
    return lambda x, y: x + weight * (y - x)


def in_steps(x: Array, y: Array, *, factor: Any) -> Array:
    """Numbers are combined among themselves first."""
    return (1 - factor) * x + np.sqrt(abs(factor)) / 3 * y - factor**2


def clipped(x: Array, y: Array, *, factor: Any) -> Array:
    return np.where(x < factor, np.clip(y, -factor, factor), factor)


def divided(x: Array, y: Array, *, factor: Any) -> Array:
    return x / factor + y


@pytest.mark.parametrize("kernel", [scaled, in_steps, clipped])
@pytest.mark.parametrize("kind", [float, np.float32, np.float64])
def test_numbers_are_filled_in(captured: list[Any], kernel: Callable[..., Any], kind: type[Any]) -> None:
    x, y = numbers(5, 4), numbers(4, 5).T
    for number in NUMBERS:
        with np.errstate(all="ignore"):
            factor = kind(number)
            expected = kernel(x, y, factor=factor)
        assert_same(run(kernel, [x, y], np.empty(x.shape, expected.dtype), factor=factor), expected)
    assert len(captured) == 1


def test_what_a_function_was_made_with_is_filled_in(captured: list[Any]) -> None:
    x, y = numbers(5, 4), numbers(4, 5).T
    for number in NUMBERS:
        with np.errstate(all="ignore"):
            weight = np.float32(number)
            expected = with_weight(weight)(x, y)
        assert_same(run(with_weight(weight), [x, y], np.empty_like(x)), expected)
    assert len(captured) == 1


def test_nothing_is_divided_by_one(captured: list[Any]) -> None:
    """That has a graph of its own."""
    x, y = numbers(5, 4), numbers(4, 5).T
    for factor in (2.0, 1.0, 3.0, 1.0 + 1e-12):
        assert_same(run(divided, [x, y], np.empty_like(x), factor=factor), divided(x, y, factor=factor))
    assert len(captured) == 2


def powered(x: Array, *, exponent: Any) -> Array:
    if exponent == 2:
        return x * x
    return np.abs(x) if exponent == 1 else np.power(np.abs(x), exponent) if exponent > 0 else 1 / x


def in_bands(x: Array, *, exponent: Any) -> Array:
    """Asks for the value itself."""
    return x * np.float32(round(float(exponent))) + np.float32(int(exponent))


@pytest.mark.parametrize(("kernel", "captures"), [(powered, 4), (in_bands, 6)])
def test_branches_on_numbers_have_graphs_of_their_own(captured: list[Any], kernel: Callable[..., Any], captures: int) -> None:
    x = numbers(5, 4)
    for _ in range(2):
        for exponent in (2.0, 1.0, 3.5, -1.0, 0.5, -2.0):
            expected = kernel(x, exponent=exponent)
            np.testing.assert_allclose(run(kernel, [x], np.empty_like(x), exponent=exponent), expected, rtol=1e-6)
    assert len(captured) == captures


def of_many(x: Array, y: Array, *, weights: Any) -> Array:
    return sum((weight * x for weight in weights[1:]), weights[0] * y)


def test_numbers_in_lists_are_filled_in(captured: list[Any]) -> None:
    x = numbers(5, 4)
    for weights in ((0.5, 1.5), (2.5, 3.5), (1.0, 1.0), (1.0, 2.0, 3.0)):
        assert_same(run(of_many, [x, x], np.empty_like(x), weights=weights), of_many(x, x, weights=weights))
    assert len(captured) == 2


def test_there_are_not_more_than_so_many(captured: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_MOST_PROGRAMS", 3)
    x = np.ones(4, np.float32)
    for factor in (1, 2, 3, 4, 5):
        run(scaled, [x, x], np.empty_like(x), factor=factor)
    assert len(engine.programs._known) == 3


def test_long_sums_are_cut_in_the_same_places_whatever_the_registers_hold() -> None:
    """Of 4 bytes, or of 8: terms that are exact in both have the same sum."""
    x = numbers(300_000)
    narrow, wide = (run(kernel, [x], np.empty((), np.float64)) for kernel in (summed, summed_wide))
    assert_same(narrow, wide)


def summed(x: Array) -> Array:
    return x.sum(dtype=np.float64)


def summed_wide(x: Array) -> Array:
    return (x.astype(np.float64) * 2.0).sum() / 2.0
