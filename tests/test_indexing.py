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


def test_pixels_share_as_few_axes_as_they_can() -> None:
    assert indexing.pixel_space((3, 4, 5), (20, 5, 1)) == ((1, 1, 60), [(0, 0, 1)])
    assert indexing.pixel_space((3, 4, 5), (20, 5, 1), (0, 0, 0)) == ((1, 1, 60), [(0, 0, 1), (0, 0, 0)])
    assert indexing.pixel_space((3, 4, 5), (20, 5, 1), (80, 5, 1)) == ((1, 3, 20), [(0, 20, 1), (0, 80, 1)])
    assert indexing.pixel_space((3, 1, 5), (1, 7, 3)) == ((1, 3, 5), [(0, 1, 3)])
    assert indexing.pixel_space((), ()) == ((1, 1, 1), [(0, 0, 0)])


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
some = rng.integers(0, 200, 5000)
dots = indexing.row_products(x.reshape(300, -1), x.reshape(300, -1), some, some[::-1].copy())
print([hashlib.sha256(array.tobytes()).hexdigest() for array in (*chosen[:4], dots)])
"""


def test_numbers_of_threads_agree() -> None:
    runs = [run_python(CODE, ACL_EMU_THREADS=count) for count in ("1", "2", "3")]
    assert all(run.returncode == 0 for run in runs), [run.stderr for run in runs]
    assert runs[0].stdout == runs[1].stdout == runs[2].stdout
