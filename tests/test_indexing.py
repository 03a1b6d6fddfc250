"""Elements by index: on any strides, by the engine's functions and by numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acl_emu.engine import indexing
from tests.conftest import run_python

Array = np.ndarray
TYPES = (np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


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
    chosen = indexing.choose(target, classes, 1, array, axis, weight)
    assert chosen.values is not None
    assert chosen.outside == ((target != 1) & ((target < 0) | (target >= classes))).any()
    for place in np.ndindex(target.shape):
        counted = 0 <= target[place] < classes and target[place] != 1
        where = (*place[:axis], int(target[place]), *place[axis:])
        assert chosen.counted[place] == counted
        assert chosen.classes[place] == (target[place] if counted else -1)
        assert chosen.values[place] == (array[where] if counted else 0)
        assert chosen.weights is None or chosen.weights[place] == (target[place] + 1 if counted else 0)


def test_pixels_share_as_few_axes_as_they_can() -> None:
    assert indexing.pixel_space((3, 4, 5), (20, 5, 1)) == ((1, 1, 60), [(0, 0, 1)])
    assert indexing.pixel_space((3, 4, 5), (20, 5, 1), (0, 0, 0)) == ((1, 1, 60), [(0, 0, 1), (0, 0, 0)])
    assert indexing.pixel_space((3, 4, 5), (20, 5, 1), (80, 5, 1)) == ((1, 3, 20), [(0, 20, 1), (0, 80, 1)])
    assert indexing.pixel_space((3, 1, 5), (1, 7, 3)) == ((1, 3, 5), [(0, 1, 3)])
    assert indexing.pixel_space((), ()) == ((1, 1, 1), [(0, 0, 0)])


def test_products_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((40, 83), np.float32), rng.standard_normal((30, 83), np.float32)
    rows, others = rng.integers(0, 40, 1000), rng.integers(0, 30, 1000)
    expected = np.einsum("nk,nk->n", a[rows].astype(np.float64), b[others].astype(np.float64))
    np.testing.assert_allclose(indexing.row_products(a, b, rows, others), expected, rtol=1e-13, atol=1e-13)
    monkeypatch.setattr(indexing, "function", lambda name: None)
    np.testing.assert_allclose(indexing.row_products(a, b, rows, others), expected, rtol=1e-13, atol=1e-13)


CODE = """
import hashlib, numpy as np
from acl_emu.engine import indexing
rng = np.random.default_rng(0)
x = rng.standard_normal((300, 4000)).astype(np.float32)
some = rng.integers(0, 200, 5000)
print(hashlib.sha256(indexing.row_products(x, x, some, some[::-1].copy()).tobytes()).hexdigest())
"""


def test_numbers_of_threads_agree() -> None:
    runs = [run_python(CODE, ACL_EMU_THREADS=count) for count in ("1", "2", "3")]
    assert all(run.returncode == 0 for run in runs), [run.stderr for run in runs]
    assert runs[0].stdout == runs[1].stdout == runs[2].stdout
