"""The engine and numpy give the same: bit for bit where a kernel only adds, multiplies, divides, compares and chooses; else nearly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from acl_emu import engine as native
from tests.native.support import assert_same, engine_is
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, spacing
from tests.operators.case import Case, lay_out
from tests.operators.drawing import broadcasting_shapes, float_dtypes, floats, layouts, shapes
from tests.operators.examples import RELAID, over_examples

Array = npt.NDArray[Any]

ULPS = 4
"""Of results with functions in them: of float32, in which half types are computed too, and of float64."""
ROW_ULPS = 24
"""The same of rows: a difference to the largest number, below 32, is rounded before its exponential is taken."""
_PRODUCTS = ("Matmul", "Linear")
"""Operators whose sums are taken in float32, in another order: off by a step, and by what is lost beside the largest number."""


def assert_alike(engine: Array, plain: Array, *, exact: bool, terms: Any = 0.0, ulps: float = ULPS) -> None:
    """Equal, or within so many ulps of the result or of what it is the sum of; a half type may be rounded to the number beside."""
    if exact or engine.dtype not in (*FLOATS, np.float64):
        assert_same(engine, plain, signs_of_zero=False)
        return
    first, second = engine.astype(np.float64), plain.astype(np.float64)
    finite = np.isfinite(second)
    assert_same(first[~finite], second[~finite])
    largest = np.maximum(np.abs(second[finite]), terms)
    allowed = ulps * (np.spacing(largest) if engine.dtype == np.float64 else spacing(largest, FLOAT))
    if engine.dtype in (FLOAT16, BF16):
        allowed = allowed + spacing(second[finite], engine.dtype)
    assert (np.abs(first[finite] - second[finite]) <= allowed).all()


@over_examples
def test_examples(case: Case) -> None:
    for layout in (0,) if case.operator in RELAID else (0, 7):
        engine = case.results(layout)
        with engine_is(None):
            plain = case.results(layout)
        for one, other in zip(engine, plain, strict=True):
            if one.dtype.kind == "c":  # numpy does them both times
                assert_same(one, other, signs_of_zero=False)
                continue
            largest = np.abs(other.astype(np.float64)).max(initial=0, where=np.isfinite(other))
            if any(part in case.operator for part in _PRODUCTS) and one.dtype in FLOATS:
                distance = np.abs(one.astype(np.float64) - other.astype(np.float64))
                assert (distance <= spacing(other, one.dtype) + 2.0**-18 * largest).all()
            else:
                assert_alike(one, other, exact=False, terms=largest)


def smooth(x: Array, y: Array) -> Array:
    apart = np.abs(x - y)
    return np.where(apart < 0.7, 0.5 * apart * (apart / 0.7), apart - 0.35)


def chosen(x: Array, y: Array) -> Array:
    return np.where((x > 0) & ~(y > x), np.maximum(x, y) * np.sign(y), np.where(np.isnan(x), 1, np.square(x) / y))


def clipped(x: Array, y: Array) -> Array:
    return (x < y) + np.minimum(np.maximum(x, -1), 1) * -y


ARITHMETIC = (smooth, chosen, clipped)


def softplus(x: Array, y: Array) -> Array:
    return np.logaddexp(0, x) * y


def entropy(x: Array, y: Array) -> Array:
    return np.exp(-np.abs(x)) * np.log(np.abs(y) + 1) / (1 + np.sqrt(np.abs(x)))


FUNCTIONS = (softplus, entropy)


def softmax(x: Array, axis: int) -> Array:
    grown = np.exp(x - x.max(axis=axis, keepdims=True))
    return grown / grown.sum(axis=axis, keepdims=True)


def log_softmax(x: Array, axis: int) -> Array:
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def sums(x: Array, axis: int) -> tuple[Array, Array]:
    return np.abs(x).sum(axis=axis, keepdims=True, dtype=np.float64), x.max(axis=axis, keepdims=True)


def laid_out(array: Array, layout: int) -> Array:
    """The same numbers, lying in memory in one of many ways; expanded axes stay so."""
    strides, offset, count = lay_out(array, layout)
    block = np.zeros(count + 1, array.dtype)
    placed = np.ndarray(array.shape, array.dtype, block, offset * array.itemsize, [stride * array.itemsize for stride in strides])
    if array.size:
        placed[...] = array
    return placed


def compare(
    kernel: Callable[..., Any],
    inputs: list[Array],
    outs: list[Array],
    *,
    exact: bool,
    terms: float = 0.0,
    ulps: float = ULPS,
    **attributes: Any,
) -> None:
    """By the engine, and by numpy: in float64 where numpy's functions in float32 are less accurate."""
    native.apply(kernel, inputs, outs, **attributes)
    plain = [np.zeros(out.shape, out.dtype) for out in outs]
    with engine_is(None):
        native.apply(kernel, inputs, plain, dtype=np.float32 if exact else np.float64, **attributes)
    for one, other in zip(outs, plain, strict=True):
        assert_alike(one, other, exact=exact, terms=terms, ulps=ulps)


@given(st.data(), st.sampled_from((*ARITHMETIC, *FUNCTIONS)), float_dtypes, broadcasting_shapes(2), layouts)
@settings(max_examples=150)
def test_elements(data: st.DataObject, kernel: Callable[..., Any], dtype: np.dtype[Any], drawn: Any, layout: int) -> None:
    special = kernel in ARITHMETIC
    inputs = [laid_out(data.draw(floats(shape, dtype, 3.0, special=special)), layout + k) for k, shape in enumerate(drawn.input_shapes)]
    out = laid_out(np.zeros(drawn.result_shape, dtype), layout + 2)
    compare(kernel, inputs, [out], exact=kernel in ARITHMETIC)


@given(st.data(), float_dtypes, st.sampled_from(((40, 17), (16, 16, 33), (65, 2, 20), (1025,), (3, 700))), layouts)
@settings(max_examples=25)
def test_larger_blocks(data: st.DataObject, dtype: np.dtype[Any], shape: tuple[int, ...], layout: int) -> None:
    inputs = [laid_out(data.draw(floats(shape, dtype, 3.0, special=True)), layout + k) for k in range(2)]
    for kernel in ARITHMETIC:
        compare(kernel, inputs, [laid_out(np.zeros(shape, dtype), layout + 2)], exact=True)


@given(st.data(), st.sampled_from((softmax, log_softmax, sums)), float_dtypes, shapes(3, 40, 1), layouts)
@settings(max_examples=100)
def test_rows(data: st.DataObject, kernel: Callable[..., Any], dtype: np.dtype[Any], shape: tuple[int, ...], layout: int) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = laid_out(data.draw(floats(shape, dtype, 3.0)), layout)
    kept = tuple(1 if one == axis % len(shape) else length for one, length in enumerate(shape))
    outs = [laid_out(np.zeros(kept if kernel is sums else shape, dtype), layout + 1 + k) for k in range(1 + (kernel is sums))]
    compare(kernel, [x], outs, exact=False, terms=4.0 if kernel is log_softmax else 0.0, ulps=ROW_ULPS, axis=axis)
