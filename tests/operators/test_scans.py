"""Scans, and what combines the tensors of a list, element by element."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aclnnop
from acl_emu import ACL_DT_UNDEFINED, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from acl_emu.core import dtypes
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import float_dtypes, floats, layouts, shapes
from tests.operators.products import products_of

INF, NAN = math.inf, math.nan
Rows = Callable[[list[float]], list[float]]


def sums(row: list[float]) -> list[float]:
    return [math.fsum(row[: end + 1]) for end in range(len(row))]


def products(row: list[float]) -> list[float]:
    return list(itertools.accumulate(row, lambda x, y: x * y))


def cumsum(x: Any, dim: int, out: Any, dtype: int | None = None) -> Case:
    code = dtypes.from_numpy(out.dtype).code if dtype is None else dtype
    return Case("aclnnCumsum", {"self": x, "dim": dim, "dtype": code, "out": out})


def cumsum_v2(x: Any, dim: int, out: Any, exclusive: bool = False, reverse: bool = False) -> Case:
    return Case("aclnnCumsumV2", {"self": x, "dim": dim, "exclusive": exclusive, "reverse": reverse, "out": out})


def cumprod(x: Any, dim: int, out: Any, dtype: int | None = None) -> Case:
    code = dtypes.from_numpy(out.dtype).code if dtype is None else dtype
    return Case("aclnnCumprod", {"input": x, "dim": np.int32(dim), "dtype": code, "out": out})


def extreme(name: str, x: Any, dim: int, out: Any, places: Any) -> Case:
    return Case(f"aclnn{name}", {"self": x, "dim": dim, "valuesOut": out, "indicesOut": places})


def over_rows(function: Rows, x: Array, axis: int) -> Array:
    """A function of lists, of every row along an axis."""
    if not x.ndim:
        return np.array(function([float(x)])[0])
    rows = np.moveaxis(x.astype(np.float64), axis, -1)
    found = np.array([function(row) for row in rows.reshape(-1, rows.shape[-1]).tolist()])
    return np.moveaxis(found.reshape(rows.shape), -1, axis)


def draw_call(data: st.DataObject) -> tuple[Array, int, int]:
    """Numbers, an axis, and the axis as the call has it."""
    shape, dtype = data.draw(shapes()), data.draw(float_dtypes)
    rank = max(len(shape), 1)
    axis = data.draw(st.integers(0, rank - 1))
    return data.draw(floats(shape, dtype)), axis, axis - data.draw(st.sampled_from((0, rank)))


@given(st.data())
def test_sums(device: int, data: st.DataObject) -> None:
    x, axis, dim = draw_call(data)
    expected, terms = over_rows(sums, x, axis), over_rows(lambda row: [max(map(abs, row))] * len(row), x, axis)
    assert_accurate(cumsum(x, dim, np.zeros_like(x)).run(data.draw(layouts)), expected, largest=terms)
    exclusive, reverse = data.draw(st.booleans()), data.draw(st.booleans())

    def directed(row: list[float]) -> list[float]:
        found = sums(row[::-1] if reverse else row)
        found = [0.0, *found[:-1]] if exclusive else found
        return found[::-1] if reverse else found

    case = cumsum_v2(x, dim, np.zeros_like(x), exclusive, reverse)
    assert_accurate(case.run(data.draw(layouts)), over_rows(directed, x, axis), largest=terms)


@given(st.data())
def test_products(device: int, data: st.DataObject) -> None:
    x, axis, dim = draw_call(data)
    expected = over_rows(products, x, axis)
    assert_accurate(cumprod(x, dim, np.zeros_like(x)).run(data.draw(layouts)), expected)
    assert_accurate(Case("aclnnInplaceCumprod", {"input": x.copy(), "dim": np.int64(dim)}).run(data.draw(layouts)), expected)


def running(better: Callable[[float, float], bool]) -> tuple[Rows, Rows]:
    """Extremes so far, and where the last of them is; NaN wins."""

    def places(row: list[float]) -> list[float]:
        found, best = [], 0
        for place, value in enumerate(row):
            if value != value or (row[best] == row[best] and not better(row[best], value)):
                best = place
            found.append(best)
        return found

    return (lambda row: [row[int(place)] for place in places(row)]), places


@pytest.mark.parametrize(("name", "better"), [("Cummax", lambda x, y: x > y), ("Cummin", lambda x, y: x < y)], ids=["Cummax", "Cummin"])
@given(st.data())
def test_extremes(name: str, better: Callable[[float, float], bool], device: int, data: st.DataObject) -> None:
    _, axis, dim = (drawn := draw_call(data))
    x = data.draw(floats(drawn[0].shape, drawn[0].dtype, special=True))
    values, places = running(better)
    found = extreme(name, x, dim, np.zeros_like(x), np.zeros(x.shape, data.draw(st.sampled_from((np.int32, np.int64)))))
    for result, expected in zip(found.results(data.draw(layouts)), (values, places), strict=True):
        assert_equal(result, over_rows(expected, x, axis))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64], ids=str)
def test_integers(dtype: Any, device: int) -> None:
    x = np.random.default_rng(1).integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (5, 7), dtype)
    bits, low = 8 * x.itemsize, int(np.iinfo(dtype).min)
    rows = x.tolist()
    wrap = lambda values: [(value - low) % 2**bits + low for value in values]  # noqa: E731
    assert cumsum(x, 1, np.zeros_like(x)).run(1).tolist() == [wrap(itertools.accumulate(row)) for row in rows]
    assert cumprod(x, 1, np.zeros_like(x)).run(2).tolist() == [wrap(itertools.accumulate(row, lambda a, b: a * b)) for row in rows]
    for name, choice in (("Cummax", max), ("Cummin", min)):
        assert extreme(name, x, 1, np.zeros_like(x), np.zeros(x.shape, np.int64)).results(3)[0].tolist() == [
            list(itertools.accumulate(row, choice)) for row in rows
        ]


def test_other_types(device: int) -> None:
    z = numbers((3, 4), np.complex64, 1)
    np.testing.assert_allclose(cumsum(z, 0, np.zeros_like(z)).run(), np.cumsum(z.astype(np.complex128), 0), rtol=1e-6)
    d = numbers((3, 4), np.float64, 1)
    np.testing.assert_allclose(cumsum(d, 1, np.zeros_like(d)).run(2), over_rows(sums, d, 1), rtol=1e-14)
    np.testing.assert_allclose(cumprod(d, 1, np.zeros_like(d)).run(2), over_rows(products, d, 1), rtol=1e-14)
    assert cumsum(np.array([1, 2, 3], np.int32), 0, np.zeros(3, FLOAT16)).run().tolist() == [1, 3, 6]
    assert cumprod(np.array([1.5, 2], FLOAT), 0, np.zeros(2, FLOAT), ACL_DT_UNDEFINED).run().tolist() == [1.5, 3]
    assert cumprod(np.array([200, 200], np.uint16), 0, np.zeros(2, np.uint64)).run().tolist() == [200, 40000]
    truth = np.array([False, True, False])
    values, places = extreme("Cummin", truth, 0, np.ones(3, bool), np.zeros(3, np.int64)).results()
    assert (values.tolist(), places.tolist()) == ([False, False, False], [0, 0, 2])


def test_long_rows(device: int) -> None:
    x = numbers((1 << 15,), FLOAT, 5)
    assert_accurate(cumsum(x, 0, np.zeros_like(x)).run(), np.cumsum(x.astype(np.float64)), largest=np.full(x.shape, 4.0))


@pytest.mark.parametrize("name", ["Cumsum", "CumsumV2", "Cumprod", "Cummax", "Cummin"])
def test_ranks_empty_tensors_and_errors(name: str) -> None:
    good = Case(f"aclnn{name}", next(aclnnop.find(f"aclnn{name}").examples()))
    first, *_ = good.declared.names
    outs = [one for one, kind in good.declared.parameters if kind.io == "out"]
    meta = {one: Meta((2, 3), good.arguments[one].dtype) for one in (first, *outs)}
    dim = np.int32 if name == "Cumprod" else int
    assert good.but(**meta, dim=dim(-2)).status() == 0
    assert good.but(**{one: Meta((2, 0), value.dtype) for one, value in meta.items()}, dim=dim(1)).plan() == (0, 0)
    assert good.but(**{one: Meta((), value.dtype) for one, value in meta.items()}, dim=dim(-1)).status() == 0
    for wrong in (2, -3):
        assert good.but(**meta, dim=dim(wrong)).status() == ACLNN_ERR_PARAM_INVALID
        assert "dim is" in message()
    for one in outs:
        assert good.but(**{**meta, one: Meta((3, 2), meta[one].dtype)}, dim=dim(0)).status() == ACLNN_ERR_PARAM_INVALID
        assert good.but(**{**meta, one: Meta((2, 3), np.complex128)}, dim=dim(0)).status() == ACLNN_ERR_PARAM_INVALID
    assert good.but(**{first: None}).status() == ACLNN_ERR_PARAM_NULLPTR
    assert good.but(**{one: Meta((1,) * 9, value.dtype) for one, value in meta.items()}).status() == ACLNN_ERR_PARAM_INVALID


@pytest.mark.parametrize(
    ("case", "status"),
    [
        (cumsum(Meta((2, 3), FLOAT), 0, Meta((2, 3), np.int32)), ACLNN_ERR_PARAM_INVALID),
        (cumsum(Meta((2, 3), FLOAT), 0, Meta((2, 3), FLOAT16), dtypes.FLOAT.code), ACLNN_ERR_PARAM_INVALID),
        (cumsum(Meta((2, 3), np.bool_), 0, Meta((2, 3), np.int64)), ACLNN_ERR_PARAM_INVALID),
        (cumsum(Meta((2, 3), np.int64), 0, Meta((2, 3), BF16)), 0),
        (cumsum_v2(Meta((2, 3), FLOAT), 0, Meta((2, 3), FLOAT16)), ACLNN_ERR_PARAM_INVALID),
        (cumprod(Meta((2, 3), FLOAT), 0, Meta((2, 3), FLOAT16), ACL_DT_UNDEFINED), ACLNN_ERR_PARAM_INVALID),
        (cumprod(Meta((2, 3), FLOAT), 0, Meta((2, 3), FLOAT16), dtypes.BOOL.code), ACLNN_ERR_PARAM_INVALID),
        (cumprod(Meta((2, 3), FLOAT), 0, Meta((2, 3), FLOAT)).but(dim=1.0), ACLNN_ERR_PARAM_INVALID),
        (cumprod(Meta((2, 3), FLOAT), 0, Meta((2, 3), FLOAT)).but(dim=None), ACLNN_ERR_PARAM_NULLPTR),
        (extreme("Cummax", Meta((2,), FLOAT), 0, Meta((2,), np.int32), Meta((2,), np.int32)), ACLNN_ERR_PARAM_INVALID),
        (extreme("Cummin", Meta((2,), FLOAT), 0, Meta((2,), FLOAT), Meta((2,), np.int16)), ACLNN_ERR_PARAM_INVALID),
    ],
    ids=lambda value: value.operator if isinstance(value, Case) else str(value),
)
def test_types_that_do_not_fit(case: Case, status: int) -> None:
    assert case.status() == status


PRODUCTS = {
    "Cumsum": "950 A3 A2 310B 310P 910",
    "CumsumV2": "950 A3 A2 310B 310P 910",
    "Cumprod": "A3 A2",
    "InplaceCumprod": "A3 A2",
    "Cummax": "A3 A2 910",
    "Cummin": "950 A3 A2 310B 310P 910",
    "Sum": "950 A3 A2 310P 910",
    "MaxN": "950 A3 A2 310P 910",
    "MinN": "950 A3 A2 310P 910",
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_operators(name: str, chip: Callable[[str], None]) -> None:
    case = Case(f"aclnn{name}", next(aclnnop.find(f"aclnn{name}").examples()))
    assert products_of(case, chip) == set(PRODUCTS[name].split())


LISTS: dict[str, Callable[[list[float]], float]] = {"Sum": math.fsum, "MaxN": max, "MinN": min}


def over_list(name: str, tensors: Any, out: Any) -> Case:
    return Case(f"aclnn{name}", {"tensors": tensors, "out": out})


@pytest.mark.parametrize("name", LISTS)
@given(st.data())
def test_lists(name: str, device: int, data: st.DataObject) -> None:
    shape, dtype = data.draw(shapes()), data.draw(st.sampled_from((FLOAT, FLOAT16)))
    count = data.draw(st.integers(1, 4))
    parts = [tuple(length if data.draw(st.booleans()) else 1 for length in shape) for _ in range(count - 1)]
    tensors = [data.draw(floats(one, dtype)) for one in (shape, *parts)]
    stacked = np.stack([np.broadcast_to(one, shape) for one in tensors], -1).astype(np.float64)
    expected = np.array([LISTS[name](row) for row in stacked.reshape(-1, count).tolist()]).reshape(shape)
    assert_accurate(over_list(name, tensors, np.zeros(shape, dtype)).run(data.draw(layouts)), expected, largest=np.abs(stacked).max(-1))


def test_lists_of_other_types(device: int) -> None:
    x, y = np.array([100, -100], np.int8), np.array([100, 5], np.int8)
    assert over_list("Sum", [x, y], np.zeros(2, np.int8)).run().tolist() == [-56, -95]
    assert over_list("MaxN", [x, y, np.array(7, np.int8)], np.zeros(2, np.int8)).run().tolist() == [100, 7]
    odd = np.array([NAN, 1, -INF], FLOAT)
    assert_equal(over_list("MinN", [odd, np.zeros(3, FLOAT)], np.zeros(3, FLOAT)).run(), [NAN, 0, -INF])


@pytest.mark.parametrize("name", LISTS)
def test_errors_of_lists(name: str) -> None:
    good = over_list(name, [Meta((2, 3), FLOAT), Meta((3,), FLOAT)], Meta((2, 3), FLOAT))
    assert good.status() == 0
    for changes, status in (
        ({"tensors": [Meta((2, 3), FLOAT), Meta((3,), FLOAT16)]}, ACLNN_ERR_PARAM_INVALID),
        ({"out": Meta((2, 3), FLOAT16)}, ACLNN_ERR_PARAM_INVALID),
        ({"tensors": [Meta((2, 3), FLOAT), Meta((2,), FLOAT)]}, ACLNN_ERR_PARAM_INVALID),
        ({"out": Meta((3,), FLOAT)}, ACLNN_ERR_PARAM_INVALID),
        ({"tensors": [Meta((1,) * 9, FLOAT)]}, ACLNN_ERR_PARAM_INVALID),
        ({"tensors": [Meta((2, 3), np.float64)]}, ACLNN_ERR_PARAM_INVALID),
        ({"tensors": []}, ACLNN_ERR_PARAM_INVALID),
        ({"tensors": None}, ACLNN_ERR_PARAM_NULLPTR),
        ({"tensors": [None]}, ACLNN_ERR_PARAM_NULLPTR),
        ({"out": None}, ACLNN_ERR_PARAM_NULLPTR),
    ):
        assert good.but(**changes).status() == status, changes


def test_bytes_of_minn(chip: Callable[[str], None]) -> None:
    case = over_list("MinN", [Meta((2,), np.uint8)], Meta((2,), np.uint8))
    assert case.status() == ACLNN_ERR_PARAM_INVALID
    chip("Ascend950PR_9589")
    assert case.status() == 0
