"""Sorting and picking by rank, against Python's own sort of every slice."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import aclnnop
from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import floats, layouts, shapes
from tests.operators.products import products_of

INF, NAN = math.inf, math.nan
DOUBLE = np.dtype(np.float64)
INTEGERS = [np.dtype(t) for t in (np.int8, np.uint8, np.int16, np.int32, np.int64)]


def sort(x: Any, dim: int, values: Any, places: Any, *, descending: bool = False, stable: bool = True) -> Case:
    return Case("aclnnSort", {"self": x, "stable": stable, "dim": dim, "descending": descending, "valuesOut": values, "indicesOut": places})


def argsort(x: Any, dim: int, out: Any, *, descending: bool = False) -> Case:
    return Case("aclnnArgsort", {"self": x, "dim": dim, "descending": descending, "out": out})


def topk(x: Any, k: int, dim: int, values: Any, places: Any, *, largest: bool = True) -> Case:
    return Case("aclnnTopk", {"self": x, "k": k, "dim": dim, "largest": largest, "sorted": True, "valuesOut": values, "indicesOut": places})


def kth(x: Any, k: int, dim: int, keep: bool, values: Any, places: Any) -> Case:
    return Case("aclnnKthvalue", {"self": x, "k": k, "dim": dim, "keepdim": keep, "valuesOut": values, "indicesOut": places})


def median_dim(name: str, x: Any, dim: int, keep: bool, values: Any, places: Any) -> Case:
    return Case(f"aclnn{name}", {"self": x, "dim": dim, "keepDim": keep, "valuesOut": values, "indicesOut": places})


def median(name: str, x: Any, out: Any) -> Case:
    return Case(f"aclnn{name}", {"self": x, ("out" if name == "NanMedian" else "valuesOut"): out})


def ranked(row: list[Any], *, descending: bool = False) -> list[int]:
    """Places in order; NaN is larger than everything, the first of equal ones comes first."""
    key = (
        (lambda i: (row[i] == row[i], 0 if row[i] != row[i] else -row[i]))
        if descending
        else (lambda i: (row[i] != row[i], 0 if row[i] != row[i] else row[i]))
    )
    return sorted(range(len(row)), key=key)


def middle(row: list[Any], *, skip_nan: bool) -> int:
    order = ranked(row)
    odd = [i for i in order if row[i] != row[i]]
    if odd and not skip_nan:
        return odd[0]
    valid = [i for i in order if row[i] == row[i]]
    return valid[(len(valid) - 1) // 2] if valid else 0


def picked(x: Array, axis: int, choose: Callable[[list[Any]], list[int]]) -> tuple[Array, Array]:
    """Values and places of what is chosen of every row along an axis."""
    rows = np.moveaxis(np.atleast_1d(x), axis, -1)
    plain = rows if x.dtype.kind in "iub" else rows.astype(np.float64)
    places = np.array([choose(row) for row in plain.reshape(-1, rows.shape[-1]).tolist()]).reshape(*rows.shape[:-1], -1)
    return np.moveaxis(np.take_along_axis(rows, places, -1), -1, axis), np.moveaxis(places, -1, axis)


def assert_same(results: tuple[Array, ...], expected: tuple[Array, ...]) -> None:
    for result, wanted in zip(results, expected, strict=True):
        if wanted.dtype.kind in "iub":
            assert result.ravel().tolist() == wanted.ravel().tolist()
        else:
            assert_equal(result.ravel(), wanted.ravel())


def draw_call(data: st.DataObject, *types: Any) -> tuple[Array, int, int]:
    """Numbers with ties, an axis, and the axis as the call has it."""
    shape, dtype = data.draw(shapes(most=7)), data.draw(st.sampled_from((*FLOATS, *INTEGERS, *types)))
    x = data.draw(floats(shape, dtype, special=True)) if dtype in FLOATS else numbers(shape, dtype, data.draw(st.integers(0, 99)), 2)
    axis = data.draw(st.integers(0, max(len(shape), 1) - 1))
    return x, axis, axis - data.draw(st.sampled_from((0, max(len(shape), 1))))


@given(st.data())
def test_sort(device: int, data: st.DataObject) -> None:
    x, axis, dim = draw_call(data, DOUBLE, np.dtype(np.bool_))
    descending, stable = data.draw(st.booleans()), data.draw(st.booleans())
    expected = picked(x, axis, lambda row: ranked(row, descending=descending))
    case = sort(x, dim, np.zeros_like(x), np.zeros(x.shape, np.int64), descending=descending, stable=stable)
    assert_same(case.results(data.draw(layouts)), expected)


@given(st.data())
def test_argsort(device: int, data: st.DataObject) -> None:
    x, axis, dim = draw_call(data)
    descending = data.draw(st.booleans())
    assume(x.dtype != BF16 or np.atleast_1d(x).shape[axis] != 1)
    _, expected = picked(x, axis, lambda row: ranked(row, descending=descending))
    assert_same(argsort(x, dim, np.zeros(x.shape, np.int64), descending=descending).results(data.draw(layouts)), (expected,))


@given(st.data())
def test_topk(device: int, data: st.DataObject) -> None:
    x, axis, dim = draw_call(data, DOUBLE)
    k, largest = data.draw(st.integers(1, np.atleast_1d(x).shape[axis])), data.draw(st.booleans())
    expected = picked(x, axis, lambda row: ranked(row, descending=largest)[:k])
    shape = tuple(k if one == axis else length for one, length in enumerate(x.shape))
    case = topk(x, k, dim, np.zeros(shape, x.dtype), np.zeros(shape, np.int64), largest=largest)
    assert_same(case.results(data.draw(layouts)), expected)


@given(st.data())
def test_kthvalue(device: int, data: st.DataObject) -> None:
    x, axis, dim = draw_call(data)
    k, keep = data.draw(st.integers(1, np.atleast_1d(x).shape[axis])), data.draw(st.booleans())
    expected = picked(x, axis, lambda row: ranked(row)[k - 1 : k])
    shape = tuple(1 if one == axis else length for one, length in enumerate(x.shape) if keep or one != axis)
    assert_same(kth(x, k, dim, keep, np.zeros(shape, x.dtype), np.zeros(shape, np.int64)).results(data.draw(layouts)), expected)


@pytest.mark.parametrize("name", ["Median", "NanMedian"])
@given(st.data())
def test_medians(name: str, device: int, data: st.DataObject) -> None:
    x, axis, dim = draw_call(data)
    keep, skip = data.draw(st.booleans()), name == "NanMedian"
    expected = picked(x, axis, lambda row: [middle(row, skip_nan=skip)])
    shape = tuple(1 if one == axis else length for one, length in enumerate(x.shape) if keep or one != axis)
    case = median_dim(f"{name}Dim", x, dim, keep, np.zeros(shape, x.dtype), np.zeros(shape, np.int64))
    assert_same(case.results(data.draw(layouts)), expected)
    of_all, _ = picked(x.reshape(-1), 0, lambda row: [middle(row, skip_nan=skip)])
    assert_same((median(name, x, np.zeros((), x.dtype)).run(data.draw(layouts)),), (of_all,))


def test_documented_medians(device: int) -> None:
    x = np.array([[1, NAN, 3, 2], [-1, NAN, 3, 2]], FLOAT)
    values, places = median_dim("NanMedianDim", x, 0, True, np.zeros((1, 4), FLOAT), np.zeros((1, 4), np.int64)).results()
    assert_equal(values, [[-1, NAN, 3, 2]])
    assert places.tolist() == [[1, 0, 0, 0]]
    values, places = median_dim("NanMedianDim", x, 1, False, np.zeros(2, FLOAT), np.zeros(2, np.int64)).results()
    assert (values.tolist(), places.tolist()) == ([2, 2], [3, 3])
    assert_equal(median("Median", np.zeros((0, 3), FLOAT), np.zeros((), FLOAT)).run(), NAN)


@pytest.mark.parametrize("dtype", [*FLOATS, DOUBLE, np.dtype(np.int64), np.dtype(np.uint8)], ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_long_rows(dtype: np.dtype, descending: bool, device: int) -> None:
    """Beyond what the engine does in one piece; many ties in the narrow types."""
    x = numbers((2, 20000), dtype, 3, 30)
    if dtype.kind == "f":
        x[0, ::97] = NAN
        x[1, ::89] = -0.0
    case = sort(x, 1, np.zeros_like(x), np.zeros(x.shape, np.int64), descending=descending)
    assert_same(case.results(), picked(x, 1, lambda row: ranked(row, descending=descending)))
    for k in (1, 50, 20000):
        found = topk(x, k, 1, np.zeros((2, k), dtype), np.zeros((2, k), np.int64), largest=descending)
        assert_same(found.results(2), picked(x, 1, lambda row, k=k: ranked(row, descending=descending)[:k]))


@pytest.mark.parametrize("length", [31, 32, 33, 64, 100, 511, 512, 513, 2000, 70000])
@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16, np.dtype(np.int64)], ids=str)
def test_every_way_to_sort(length: int, dtype: np.dtype, device: int) -> None:
    """Short and long rows, what all threads sort together, and selections of them; along a strided axis too."""
    x = numbers((length, 3) if length < 3000 else (length, 1), dtype, length, 40)
    backwards = length - 1 - np.argsort(x[::-1], axis=0, kind="stable")[::-1]
    for k in (1, length // 8 + 1, length - 1, length):
        shape = (k, x.shape[1])
        found = topk(x, k, 0, np.zeros(shape, dtype), np.zeros(shape, np.int64)).results(k)
        assert_same(found, (np.take_along_axis(x, backwards[:k], 0), backwards[:k]))
    row = np.ascontiguousarray(x.T)
    expected = np.argsort(row, axis=1, kind="stable")
    assert_same(sort(row, 1, np.zeros_like(row), np.zeros(row.shape, np.int64)).results(), (np.take_along_axis(row, expected, 1), expected))


def test_many_equal_numbers(device: int) -> None:
    x = np.zeros(70000, FLOAT)
    x[::1000] = 1
    values, places = topk(x, 100, 0, np.zeros(100, FLOAT), np.zeros(100, np.int64)).results()
    assert values.tolist() == [1.0] * 70 + [0.0] * 30
    assert places.tolist() == [*range(0, 70000, 1000), *range(1, 31)]


def test_integers_are_compared_as_such(device: int) -> None:
    """Neighbours of the largest INT64 have one float64."""
    top = 2**63 - 1
    x = np.array([top - 1, top, -top - 1, top - 2], np.int64)
    values, places = sort(x, 0, np.zeros_like(x), np.zeros_like(x)).results()
    assert (values.tolist(), places.tolist()) == ([-top - 1, top - 2, top - 1, top], [2, 3, 0, 1])


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.uint64], ids=str)
def test_unsigned_numbers_of_the_newest_chip(dtype: Any, device: int, chip: Callable[[str], None]) -> None:
    x = np.array([5, np.iinfo(dtype).max, 0, 7], dtype)
    good = sort(x, 0, np.zeros_like(x), np.zeros(4, np.int64))
    assert good.status() == ACLNN_ERR_PARAM_INVALID
    chip("Ascend950PR_9589")
    assert good.results()[1].tolist() == [2, 0, 3, 1]


GOOD = {
    "aclnnSort": sort(Meta((2, 3), FLOAT), 1, Meta((2, 3), FLOAT), Meta((2, 3), np.int64)),
    "aclnnArgsort": argsort(Meta((2, 3), FLOAT), 1, Meta((2, 3), np.int64)),
    "aclnnTopk": topk(Meta((2, 3), FLOAT), 2, 1, Meta((2, 2), FLOAT), Meta((2, 2), np.int64)),
    "aclnnKthvalue": kth(Meta((2, 3), FLOAT), 2, 1, False, Meta((2,), FLOAT), Meta((2,), np.int64)),
    "aclnnMedianDim": median_dim("MedianDim", Meta((2, 3), FLOAT), 1, True, Meta((2, 1), FLOAT), Meta((2, 1), np.int64)),
    "aclnnNanMedianDim": median_dim("NanMedianDim", Meta((2, 3), FLOAT), 1, True, Meta((2, 1), FLOAT), Meta((2, 1), np.int64)),
    "aclnnMedian": median("Median", Meta((2, 3), FLOAT), Meta((), FLOAT)),
    "aclnnNanMedian": median("NanMedian", Meta((2, 3), FLOAT), Meta((1,), FLOAT)),
}


@pytest.mark.parametrize("name", GOOD)
def test_errors(name: str) -> None:
    good = GOOD[name]
    assert good.status() == 0
    outs = [(one, kind) for one, kind in good.declared.parameters if kind.io == "out"]
    for one, kind in outs:
        wrong = Meta((3, 2), good.arguments[one].dtype)
        assert good.but(**{one: wrong}).status() == ACLNN_ERR_PARAM_INVALID
        assert f"{one} " in message()
        other = FLOAT16 if good.arguments[one].dtype == FLOAT else np.int32
        assert good.but(**{one: Meta(good.arguments[one].shape, other)}).status() == ACLNN_ERR_PARAM_INVALID
        assert good.but(**{one: None}).status() == ACLNN_ERR_PARAM_NULLPTR
        assert kind.allowed
    assert good.but(self=Meta((2, 3), np.complex64)).status() == ACLNN_ERR_PARAM_INVALID
    if "dim" in good.arguments:
        for dim in (2, -3):
            assert good.but(dim=dim).status() == ACLNN_ERR_PARAM_INVALID
            assert "dim is" in message()


@pytest.mark.parametrize(
    ("case", "status"),
    [
        (GOOD["aclnnTopk"].but(k=4), ACLNN_ERR_PARAM_INVALID),
        (GOOD["aclnnTopk"].but(k=-1), ACLNN_ERR_PARAM_INVALID),
        (GOOD["aclnnTopk"].but(k=0, valuesOut=Meta((2, 0), FLOAT), indicesOut=Meta((2, 0), np.int64)), 0),
        (GOOD["aclnnTopk"].but(sorted=False), 0),
        (GOOD["aclnnKthvalue"].but(k=0), ACLNN_ERR_PARAM_INVALID),
        (GOOD["aclnnKthvalue"].but(k=4), ACLNN_ERR_PARAM_INVALID),
        (GOOD["aclnnNanMedianDim"].but(self=Meta((2, 0), FLOAT)), ACLNN_ERR_PARAM_INVALID),
        (GOOD["aclnnSort"].but(self=Meta((2, 0), FLOAT), valuesOut=Meta((2, 0), FLOAT), indicesOut=Meta((2, 0), np.int64)), 0),
        (GOOD["aclnnMedian"].but(self=Meta((), FLOAT)), 0),
    ],
    ids=lambda value: value.operator if isinstance(value, Case) else str(value),
)
def test_values_and_shapes(case: Case, status: int) -> None:
    assert case.status() == status


def test_argsort_of_one_bf16(chip: Callable[[str], None]) -> None:
    good = argsort(Meta((2, 1), BF16), 1, Meta((2, 1), np.int64))
    assert good.status() == ACLNN_ERR_PARAM_INVALID
    assert "one element along dim 1" in message()
    assert good.but(dim=0).status() == 0
    assert good.but(self=Meta((2, 1), FLOAT)).status() == 0
    chip("Ascend950PR_9589")
    assert good.status() == 0


PRODUCTS = {name: "950 A3 A2 910" if "Nan" in name else "950 A3 A2 310P 910" for name in GOOD}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str, chip: Callable[[str], None]) -> None:
    assert products_of(GOOD[name], chip) == set(PRODUCTS[name].split())
    assert BF16 in {dtype.numpy for dtype in dict(aclnnop.find(name).parameters)["self"].allowed}
