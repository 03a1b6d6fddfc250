"""Elements by index: the engine's functions and numpy's do the same, on any strides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acl_emu import indexing
from tests.conftest import run_python

Array = np.ndarray
TYPES = (np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


def both(call: Callable[[], Any]) -> tuple[Any, Any]:
    """With the engine, and with numpy alone."""
    native = call()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "function", lambda name: None)
        return native, call()


def strided(shape: tuple[int, ...], dtype: np.dtype, seed: int, order: tuple[int, ...], step: int) -> Array:
    """Numbers whose axes lie in memory in another order, and apart."""
    outer = [shape[axis] for axis in order]
    whole = np.random.default_rng(seed).standard_normal((*outer[:-1], outer[-1] * step)).astype(dtype)
    return whole[..., ::step].transpose(np.argsort(order))


@st.composite
def arrays(draw: st.DrawFn) -> tuple[Array, int]:
    """An array with an axis of classes."""
    rank = draw(st.sampled_from((1, 2, 4)))
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=rank, max_size=rank)))
    order = tuple(draw(st.permutations(range(rank))))
    array = strided(shape, draw(st.sampled_from(TYPES)), draw(st.integers(0, 99)), order, draw(st.integers(1, 3)))
    return array, min(1, rank - 1)


def drawn_targets(array: Array, axis: int, seed: int) -> Array:
    classes = array.shape[axis]
    return np.random.default_rng(seed).integers(-2, classes + 2, array.shape[:axis] + array.shape[axis + 1 :])


@given(arrays(), st.integers(0, 99), st.booleans())
@settings(max_examples=100)
def test_choose(given_array: tuple[Array, int], seed: int, weighed: bool) -> None:
    array, axis = given_array
    classes, target = array.shape[axis], drawn_targets(array, axis, seed)
    weight = np.arange(1, classes + 1, dtype=np.float32) if weighed else None
    native, plain = both(lambda: indexing.choose(target, classes, 1, array, axis, weight))
    for name in ("classes", "counted", "values", "weights", "outside"):
        np.testing.assert_array_equal(getattr(native, name), getattr(plain, name), err_msg=name)
    for place in np.ndindex(target.shape):
        counted = 0 <= target[place] < classes and target[place] != 1
        where = (*place[:axis], int(target[place]), *place[axis:])
        assert native.counted[place] == counted
        assert native.values[place] == (array[where] if counted else 0)


@given(arrays(), st.integers(0, 99))
@settings(max_examples=100)
def test_place(given_array: tuple[Array, int], seed: int) -> None:
    out, axis = given_array
    chosen = indexing.choose(drawn_targets(out, axis, seed), out.shape[axis], -100, None, axis, None).classes
    values = np.random.default_rng(seed).standard_normal(chosen.shape).astype(out.dtype)
    expected = np.zeros(out.shape, out.dtype)
    for place in np.ndindex(chosen.shape):
        if chosen[place] >= 0:
            expected[(*place[:axis], chosen[place], *place[axis:])] = values[place]

    def run() -> Array:
        out[...] = 7
        indexing.place(values, chosen, axis, out)
        return out.copy()

    for found in both(run):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", [(3, 40, 211, 97), (2500, 1031), (3, 1000003)], ids=str)
def test_large_results_go_past_the_caches(shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Lines of memory that begin and end anywhere."""
    rng = np.random.default_rng(0)
    index = rng.integers(-1, shape[1], shape[:1] + shape[2:])
    values = rng.standard_normal(index.shape).astype(dtype)
    out = np.full(np.prod(shape) + 9, 7, dtype)[3:-6].reshape(shape)
    indexing.place(values, index, 1, out)
    assert (np.count_nonzero(out, axis=1) == (index >= 0)).all()
    found = np.take_along_axis(out, np.expand_dims(np.maximum(index, 0), 1), 1).squeeze(1)
    np.testing.assert_array_equal(found, np.where(index >= 0, values, 0))
    assert (out.base[:3] == 7).all()
    assert (out.base[-6:] == 7).all()


def test_rows_by_index() -> None:
    rng = np.random.default_rng(0)
    rows, index = rng.standard_normal((3, 50, 2)), rng.integers(-2, 53, (3, 400)).astype(np.int32)
    values = rng.standard_normal((3, 400, 2))

    def run() -> tuple[Array, Array]:
        taken, left = np.empty(values.shape), rows.copy()
        indexing.take_rows(rows, index, taken)
        indexing.subtract_rows(left, index, values)
        return taken, left

    for native, plain in zip(*both(run), strict=True):
        np.testing.assert_array_equal(native, plain)


def test_products_of_rows() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((40, 83), np.float32), rng.standard_normal((30, 83), np.float32)
    rows, others = rng.integers(0, 40, 1000), rng.integers(0, 30, 1000)
    native, plain = both(lambda: indexing.row_products(a, b, rows, others))
    np.testing.assert_allclose(native, plain, rtol=1e-13, atol=1e-13)


CODE = """
import hashlib, numpy as np
from acl_emu import indexing
rng = np.random.default_rng(0)
target, x = rng.integers(0, 21, (5, 300, 40)), rng.standard_normal((5, 20, 300, 40)).astype(np.float32)
chosen = indexing.choose(target, 20, 3, x, 1, x[0, :, 0, 0])
out = np.empty_like(x)
indexing.place(chosen.values, chosen.classes, 1, out)
rows, near = rng.standard_normal((7, 9000, 2)), rng.integers(0, 9000, (7, 9000)).astype(np.int32)
indexing.subtract_rows(rows, near, rng.standard_normal((7, 9000, 2)))
some = rng.integers(0, 200, 5000)
dots = indexing.row_products(x.reshape(300, -1), x.reshape(300, -1), some, some[::-1].copy())
print([hashlib.sha256(array.tobytes()).hexdigest() for array in (*chosen[:4], out, rows, dots)])
"""


def test_numbers_of_threads_agree() -> None:
    runs = [run_python(CODE, ACL_EMU_THREADS=count) for count in ("1", "2", "3")]
    assert all(run.returncode == 0 for run in runs), [run.stderr for run in runs]
    assert runs[0].stdout == runs[1].stdout == runs[2].stdout
