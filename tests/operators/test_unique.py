"""What differs, and how often numbers occur, against Python's own sets and counters."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acl_emu as acl
from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.case import Array, Case, Meta, Refused, numbers
from tests.operators.drawing import layouts, shapes
from tests.operators.products import products_of

NAN = math.nan
TYPES = [np.dtype(t) for t in "?fedBbHhiIQq"] + [np.dtype(ml_dtypes.bfloat16)]
BAD = ACLNN_ERR_PARAM_INVALID


def few(shape: tuple[int, ...], dtype: Any, seed: int) -> Array:
    """Numbers that occur again."""
    return np.random.default_rng(seed).integers(0, 4, shape).astype(dtype)


def found(name: str, *arguments: Any) -> list[Array]:
    """The outputs in the shapes that they have in the end."""
    results = acl.call(name, *arguments)
    return list(results) if isinstance(results, tuple) else [results]


@given(st.data())
def test_elements(device: int, data: st.DataObject) -> None:
    shape, dtype = data.draw(shapes()), data.draw(st.sampled_from(TYPES))
    x, sort = few(shape, dtype, data.draw(st.integers(0, 99))), data.draw(st.booleans())
    plain = x.ravel().tolist()
    values = sorted(set(plain))
    places = [values.index(value) for value in plain]
    one, inverse = found("Unique", x, sort, True, np.zeros(x.size, dtype), np.zeros(shape, np.int64))
    assert (one.tolist(), inverse.ravel().tolist(), inverse.shape) == (values, places, shape)
    two, inverse, counts = found(
        "Unique2", x, sort, True, True, *[np.zeros(x.size, t) for t in (dtype,)], np.zeros(shape, np.int64), np.zeros(x.size, np.int64)
    )
    assert (two.tolist(), inverse.ravel().tolist()) == (values, places)
    assert counts.tolist() == [Counter(plain)[value] for value in values]


@given(st.data())
def test_slices(device: int, data: st.DataObject) -> None:
    shape, dtype = data.draw(shapes(least_dims=1, most=4)), data.draw(st.sampled_from(TYPES))
    x = np.minimum(few(shape, np.int64, data.draw(st.integers(0, 99))), 1).astype(dtype)
    axis = data.draw(st.integers(0, len(shape) - 1))
    rows = [tuple(row.ravel().tolist()) for row in np.moveaxis(x, axis, 0)]
    wanted = sorted(set(rows))
    ends = np.zeros(shape[axis], np.int64)
    values, inverse, counts = found("UniqueDim", x, True, True, axis - len(shape), np.zeros_like(x), ends, ends.copy())
    assert [tuple(row.ravel().tolist()) for row in np.moveaxis(values, axis, 0)] == wanted
    assert values.shape == (*shape[:axis], len(wanted), *shape[axis + 1 :])
    assert inverse.tolist() == [wanted.index(row) for row in rows]
    assert counts.tolist() == [rows.count(row) for row in wanted]


@given(st.data())
def test_neighbours(device: int, data: st.DataObject) -> None:
    shape, dtype = data.draw(shapes(least_dims=1)), data.draw(st.sampled_from([*TYPES, np.dtype(np.complex64)]))
    x = np.minimum(few(shape, np.int64, data.draw(st.integers(0, 99))), 1).astype(dtype)
    index = data.draw(st.sampled_from((np.int32, np.int64)))
    runs = [(value, len(list(run))) for value, run in itertools.groupby(x.ravel().tolist())]
    ends = np.zeros(x.size, index)
    values, inverse, counts = found("UniqueConsecutive", x, True, True, 1000, np.zeros(x.size, dtype), np.zeros(shape, index), ends)
    assert values.tolist() == [value for value, _ in runs]
    assert counts.tolist() == [count for _, count in runs]
    assert inverse.ravel().tolist() == [place for place, (_, count) in enumerate(runs) for _ in range(count)]
    axis = data.draw(st.integers(0, len(shape) - 1))
    rows = [tuple(row.ravel().tolist()) for row in np.moveaxis(x, axis, 0)]
    wanted = [row for row, _ in itertools.groupby(rows)]
    ends = np.zeros(shape[axis], index)
    values, *_ = found("UniqueConsecutive", x, False, False, axis, np.zeros_like(x), ends, ends.copy())
    assert [tuple(row.ravel().tolist()) for row in np.moveaxis(values, axis, 0)] == wanted


def test_special_numbers(device: int) -> None:
    x = np.array([NAN, 0.0, -0.0, NAN, 1], np.float32)
    out = np.zeros(5, np.float32), np.zeros(5, np.int64), np.zeros(5, np.int64)
    values, inverse, counts = found("Unique2", x, True, True, True, *out)
    np.testing.assert_array_equal(values, [0, 1, NAN, NAN])
    assert (inverse.tolist(), counts.tolist()) == ([2, 0, 0, 3, 1], [2, 1, 1, 1])
    empty = found(
        "Unique2", np.zeros((0, 3), np.float32), True, False, False, np.zeros(0, np.float32), *(np.zeros(0, np.int64) for _ in "ab")
    )
    assert empty[0].shape == (0,)
    (value, *_) = found("Unique2", np.array(7, np.int32), True, False, False, np.zeros(1, np.int32), *(np.zeros(1, np.int64) for _ in "ab"))
    assert value.tolist() == [7]


def test_documented_slices(device: int) -> None:
    """Outputs that the page's programs make too small, or of another rank, and that the results fit."""
    x = np.array([[0, 1], [1, 3], [3, 1], [1, 3]], np.float32)
    values, _, counts = found(
        "UniqueDim", x, False, False, 0, np.zeros((3, 2), np.float32), np.zeros((4, 2), np.int64), np.zeros(3, np.int64)
    )
    assert (values.tolist(), counts.tolist()) == ([[0, 1], [1, 3], [3, 1]], [1, 2, 1])
    flat, *_ = found("UniqueConsecutive", x, False, False, 0, np.zeros(8, np.float32), np.zeros((4, 2), np.int64), np.zeros(8, np.int64))
    assert flat.tolist() == x.ravel().tolist()
    small = Case("aclnnUnique", {"self": x, "sorted": True, "returnInverse": False, "valueOut": np.zeros(2, np.float32), "inverseOut": x})
    with pytest.raises(Refused, match="valueOut has shape"):
        small.run()


def bincount(x: Any, weights: Any, least: int, out: Any) -> Case:
    return Case("aclnnBincount", {"self": x, "weights": weights, "minlength": least, "out": out})


@given(st.data())
def test_counts_of_numbers(device: int, data: st.DataObject) -> None:
    x = few((data.draw(st.integers(0, 20)),), data.draw(st.sampled_from("bBhiq")), data.draw(st.integers(0, 99)))
    kind = data.draw(st.sampled_from("fedbhiqB?"))
    weights = numbers(x.shape, np.dtype(kind), 3, 5) if data.draw(st.booleans()) else None
    out = data.draw(st.sampled_from((np.int32, np.int64, np.float32, np.float64)))
    terms = [1.0] * x.size if weights is None else weights.astype(np.float64).tolist()
    sums = [math.fsum(term for value, term in zip(x.tolist(), terms, strict=True) if value == number) for number in range(6)]
    result = bincount(x, weights, 2, np.ones(6, out)).run(data.draw(layouts))
    np.testing.assert_allclose(result, np.trunc(sums) if np.dtype(out).kind == "i" else sums, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("value", [6, -1])
def test_numbers_outside(value: int, device: int) -> None:
    with pytest.raises(Refused, match=f"self holds {value}, outside"):
        bincount(np.array([1, value]), None, 0, np.zeros(6, np.int64)).run()


X, V, I = Meta((2, 3), np.float32), Meta((6,), np.float32), Meta((6,), np.int64)  # noqa: E741
S = Meta((2, 3), np.int64)
GOOD = {
    "unique": Case("aclnnUnique", {"self": X, "sorted": True, "returnInverse": True, "valueOut": V, "inverseOut": S}),
    "unique2": Case(
        "aclnnUnique2",
        {"self": X, "sorted": True, "returnInverse": True, "returnCounts": True, "valueOut": V, "inverseOut": S, "countsOut": I},
    ),
    "dim": Case(
        "aclnnUniqueDim", {"self": X, "sorted": True, "returnInverse": True, "dim": 0, "valueOut": X, "inverseOut": I, "countsOut": I}
    ),
    "consecutive": Case(
        "aclnnUniqueConsecutive",
        {"self": X, "returnInverse": False, "returnCounts": True, "dim": 1000, "valueOut": V, "inverseOut": S, "countsOut": I},
    ),
    "bincount": bincount(Meta((6,), np.int32), Meta((6,), np.float32), 2, Meta((4,), np.float32)),
}
WRONG: list[tuple[str, dict[str, Any], int]] = [
    ("unique", {"self": Meta((2, 3), np.complex64)}, BAD),
    ("unique", {"valueOut": I}, BAD),
    ("unique", {"inverseOut": I}, BAD),
    ("unique", {"inverseOut": Meta((2, 3), np.int32)}, BAD),
    ("unique", {"inverseOut": Meta((9,), np.int32), "returnInverse": False}, 0),
    ("unique", {"inverseOut": None}, ACLNN_ERR_PARAM_NULLPTR),
    ("unique2", {"self": Meta((2, 3), np.complex64)}, BAD),
    ("unique2", {"valueOut": I}, BAD),
    ("unique2", {"inverseOut": I}, BAD),
    ("unique2", {"inverseOut": I, "returnInverse": False}, 0),
    ("unique2", {"countsOut": Meta((5,), np.int64)}, BAD),
    ("unique2", {"countsOut": Meta((0,), np.int64), "returnCounts": False}, 0),
    ("unique2", {"countsOut": None}, ACLNN_ERR_PARAM_NULLPTR),
    ("dim", {"dim": 2}, BAD),
    ("dim", {"dim": -3}, BAD),
    ("dim", {"valueOut": S}, BAD),
    ("dim", {"inverseOut": Meta((2,), np.int32)}, BAD),
    ("dim", {"countsOut": Meta((2,), np.int32)}, BAD),
    ("dim", {"self": Meta((1,) * 9, np.float32)}, BAD),
    ("dim", {"countsOut": None}, ACLNN_ERR_PARAM_NULLPTR),
    ("consecutive", {"valueOut": I}, BAD),
    ("consecutive", {"countsOut": Meta((6,), np.int32)}, BAD),
    ("consecutive", {"countsOut": Meta((6,), np.int16)}, BAD),
    ("consecutive", {"dim": 2}, BAD),
    ("consecutive", {"valueOut": None}, ACLNN_ERR_PARAM_NULLPTR),
    ("bincount", {"self": Meta((6,), np.float32)}, BAD),
    ("bincount", {"weights": Meta((5,), np.float32)}, BAD),
    ("bincount", {"weights": Meta((6,), np.complex64)}, BAD),
    ("bincount", {"weights": None}, 0),
    ("bincount", {"out": Meta((4,), np.int16)}, BAD),
    ("bincount", {"minlength": 5}, BAD),
    ("bincount", {"self": None}, ACLNN_ERR_PARAM_NULLPTR),
]


@pytest.mark.parametrize(("name", "changes", "status"), WRONG, ids=[f"{one[0]}-{'-'.join(one[1])}" for one in WRONG])
def test_errors(name: str, changes: dict[str, Any], status: int) -> None:
    assert GOOD[name].status() == 0
    assert GOOD[name].but(**changes).status() == status
    assert not status or message()


@pytest.mark.parametrize("name", GOOD)
def test_products(name: str, chip: Callable[[str], None]) -> None:
    expected = "950 A3 A2 310P 910" if name == "bincount" else "950 A3 A2"
    assert products_of(GOOD[name], chip) == set(expected.split())


def test_types_of_the_newest_chip(chip: Callable[[str], None]) -> None:
    double = {"self": Meta((2, 3), np.float64), "valueOut": Meta((6,), np.float64)}
    assert GOOD["consecutive"].but(**double).status() == 0
    chip("Ascend950PR_9589")
    assert GOOD["consecutive"].but(**double).status() == BAD
    assert GOOD["unique2"].but(**double).status() == 0
