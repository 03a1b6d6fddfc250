"""Operators that write elements by their places: against loops over the updates in float64, and what their arguments can be wrong in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acl_emu as acl
import aclnnop
from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import FLOATS, assert_accurate
from tests.operators.case import Array, Case, Meta, Refused, numbers
from tests.operators.drawing import layouts, shapes
from tests.operators.products import products_of
from tests.operators.updates import Update, agree, combined, indices

REAL = [*FLOATS, *map(np.dtype, "dqihbB?")]
EVERY = [*REAL, np.dtype(np.complex64)]
FAULT = acl.ACL_ERROR_RT_AICORE_EXCEPTION
ONE = np.ones(1, np.float32)


def elementwise(x: Array, axis: int, index: Array, src: Array) -> list[Update]:
    return [((*place[:axis], int(index[place]), *place[axis + 1 :]), src[place]) for place in np.ndindex(index.shape)]


MODES = ["replace", "add", "multiply"]


@pytest.mark.parametrize("mode", MODES)
@given(data=st.data())
def test_scatter(mode: str, device: int, data: st.DataObject) -> None:
    x = numbers(data.draw(shapes(3, 4, 1)), data.draw(st.sampled_from(EVERY)), data.draw(st.integers(0, 99)), 3)
    dim = data.draw(st.integers(-x.ndim, x.ndim - 1))
    axis = dim % x.ndim
    shape = tuple(data.draw(st.integers(0, 5 if other == axis else length)) for other, length in enumerate(x.shape))
    index = indices(data.draw, x.shape[axis], shape)
    src = numbers(tuple(length + data.draw(st.integers(0, 1)) for length in shape), x.dtype, 5, 3)
    layout = data.draw(layouts)
    call = {"dim": dim, "index": index, "reduce": MODES.index(mode)}
    golden = combined(x, elementwise(x, axis, index, src), mode)
    agree(Case("aclnnScatter", {"self": x, **call, "src": src, "out": np.full_like(x, 7)}).run(layout), golden)
    agree(Case("aclnnInplaceScatter", {"selfRef": x, **call, "src": src}).run(layout), golden)
    value = src.reshape(-1)[0] if src.size else x.dtype.type(2)
    golden = combined(x, elementwise(x, axis, index, np.full(shape, value)), mode)
    agree(Case("aclnnScatterValue", {"self": x, **call, "value": value, "out": np.full_like(x, 7)}).run(layout), golden)
    agree(Case("aclnnInplaceScatterValue", {"selfRef": x, **call, "value": value}).run(layout), golden)


@given(data=st.data())
def test_index_put(device: int, data: st.DataObject) -> None:
    x = numbers(data.draw(shapes(4, 4, 1)), data.draw(st.sampled_from(REAL)), data.draw(st.integers(0, 99)), 9)
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    common = data.draw(shapes(2, 3, 1))
    members: list[Array | None] = []
    for length in x.shape[: data.draw(st.integers(1, x.ndim))]:
        own = common[data.draw(st.integers(0, 1)) :] if len(common) > 1 else common
        own = tuple(1 if rng.random() < 0.3 else n for n in own)
        members.append(None if rng.random() < 0.3 else rng.integers(-length, length, own).astype(rng.choice([np.int32, np.int64])))
    if data.draw(st.booleans()):
        rank = data.draw(st.integers(1, x.ndim))
        members = [rng.integers(0, 2, x.shape[:rank]).astype(np.bool_)]
    key = tuple(slice(None) if one is None else one for one in members)
    where = np.arange(x.size).reshape(x.shape)[key]
    if not where.size:
        return
    shape = tuple(1 if rng.random() < 0.2 else n for n in where.shape)[int(rng.integers(0, 2)) * (where.shape[:1] == (1,)) :]
    values = numbers(shape, x.dtype, 3, 9)
    spread = np.broadcast_to(values, where.shape)
    for how in ("replace", "add"):
        updates = [(np.unravel_index(where[place], x.shape), spread[place]) for place in np.ndindex(where.shape)]
        golden = combined(x, [(tuple(map(int, place)), new) for place, new in updates], how)
        call = {"indices": members, "values": values, "accumulate": how == "add", "unsafe": bool(rng.integers(0, 2))}
        agree(Case("aclnnIndexPutImpl", {"selfRef": x, **call}).run(data.draw(layouts)), golden)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_many_rows_that_are_added(dtype: Any, device: int) -> None:
    """On several threads, in place; indices that count from the end, too."""
    x, values = numbers((50, 40), dtype, 1), numbers((3, 700, 40), dtype, 2)
    places = np.random.default_rng(3).integers(0, 49, (3, 700))
    exact = x.astype(np.float64)
    np.add.at(exact, places, values.astype(np.float64))
    call = {"values": values, "accumulate": True, "unsafe": False}
    for index in (places, places - 50):
        found = Case("aclnnIndexPutImpl", {"selfRef": x, "indices": [index], **call}).run()
        assert_accurate(found, exact, largest=np.full(x.shape, 50), ulps=1)
        assert found[49].tobytes() == x[49].tobytes()


def test_index_put_documented_sample(device: int) -> None:
    x = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    call = {"indices": [np.array([0]), np.array([2])], "values": np.ones(1, np.float32), "accumulate": True, "unsafe": False}
    assert Case("aclnnIndexPutImpl", {"selfRef": x, **call}).run().reshape(-1).tolist() == [1, 2, 4, *range(4, 13)]


def test_index_put_of_nothing(device: int) -> None:
    """An index without elements chooses nothing; beside others it stands for null."""
    x, empty, one = np.ones((3, 4), np.float32), np.zeros(0, np.int64), np.zeros(1, np.float32)
    case = Case("aclnnIndexPutImpl", {"selfRef": x, "indices": [empty], "values": one, "accumulate": False, "unsafe": False})
    assert (case.run() == 1).all()
    assert (case.but(indices=[None, None]).run() == 0).all()
    assert case.but(indices=[empty, np.array([1])]).run().tolist() == [[1, 0, 1, 1]] * 3
    assert (case.but(indices=[None], accumulate=True, values=np.full((1, 4), 2, np.float32)).run() == 3).all()
    assert (case.but(indices=[np.zeros((3, 4), np.bool_)]).run() == 1).all()


def test_masks_that_do_not_fit_are_faults(device: int) -> None:
    case = Case("aclnnIndexPutImpl", {"selfRef": np.ones((3, 4), np.float32), "indices": [np.array([True, True, False])]})
    case = Case(case.operator, {**case.arguments, "values": np.zeros((3, 4), np.float32), "accumulate": False, "unsafe": False})
    with pytest.raises(Refused, match="values has shape") as fault:
        case.run()
    assert fault.value.status == FAULT


@pytest.mark.parametrize(
    ("name", "wrong", "text"),
    [
        ("aclnnScatter", {"index": np.array([[0, 1], [4, 1]])}, "index[1, 0] is 4, outside [0, 3]"),
        ("aclnnInplaceScatter", {"index": np.array([[0, -1]])}, "index[0, 1] is -1, outside [0, 3]"),
        ("aclnnScatterValue", {"index": np.array([[0, 9]])}, "index[0, 1] is 9, outside [0, 3]"),
        ("aclnnInplaceScatterValue", {"index": np.array([[0, 9]], np.int32)}, "index[0, 1] is 9, outside [0, 3]"),
        (
            "aclnnIndexPutImpl",
            {"indices": [None, np.array([-5, 0])], "values": np.ones(1, np.float32)},
            "indices[1][0] is -5, outside [-4, 3]",
        ),
    ],
)
def test_indices_outside_are_faults(name: str, wrong: dict[str, Any], text: str, device: int) -> None:
    """Nothing is written then."""
    case = Case(name, next(aclnnop.find(name).examples()))
    assert case.refused() == 0
    with pytest.raises(Refused, match=re.escape(text)) as fault:
        case.but(**wrong).run()
    assert fault.value.status == FAULT


def test_numbers_are_rows_of_one(device: int) -> None:
    x, place = np.array(2.0, np.float32), np.array(0)
    call = {"dim": 0, "index": place, "src": np.array(3.0, np.float32)}
    assert Case("aclnnScatter", {"self": x, **call, "reduce": 1, "out": x * 0}).run() == 5
    assert Case("aclnnInplaceScatter", {"selfRef": x, **call, "reduce": 2}).run() == 6


@pytest.mark.parametrize(
    ("dtype", "value", "stored"),
    [
        (np.int32, 2.75, 2),
        (np.int32, np.float16(-2.75), -2),
        (np.int64, np.float64(1e30), 2**63 - 1),
        (np.int32, math.nan, 0),
        (np.uint8, 2.5, 2),
        (np.bool_, 0.5, True),
        (np.float32, 3, 3),
        (np.float16, np.float64(0.1), np.float16(0.1)),
        (np.complex64, 1.5, 1.5),
        (np.complex64, np.complex128(1 + 2j), 1 + 2j),
        (np.int8, True, 1),
    ],
    ids=str,
)
def test_values_of_other_types(dtype: Any, value: Any, stored: Any, device: int) -> None:
    """Every real number goes into every type, towards zero into integers; complex ones into complex types alone."""
    x = np.zeros((2, 3), dtype)
    call = {"dim": 1, "index": np.array([[2], [0]]), "value": value, "reduce": 0}
    expected = np.zeros((2, 3), dtype)
    expected[[0, 1], [2, 0]] = stored
    assert (Case("aclnnScatterValue", {"self": x, **call, "out": np.ones_like(x)}).run() == expected).all()
    assert (Case("aclnnInplaceScatterValue", {"selfRef": x, **call}).run() == expected).all()


N, I = ACLNN_ERR_PARAM_NULLPTR, ACLNN_ERR_PARAM_INVALID  # noqa: E741
F, L = acl.ACL_FLOAT, acl.ACL_INT64


def scatter_errors(name: str, self: str) -> list[tuple[str, dict[str, Any], int, str]]:
    return [
        (name, {self: None}, N, f"{self} must not"),
        (name, {"index": None}, N, "index must not"),
        (name, {self: Meta((3, 4), acl.ACL_UINT64)}, I, f"{self} has dtype"),
        (name, {"index": Meta((2, 3), acl.ACL_INT8)}, I, "index has dtype"),
        (name, {"index": Meta((2, 3, 1), L)}, I, "index has 3 dimensions"),
        (name, {"dim": 2}, I, "dim is 2"),
        (name, {"dim": -3}, I, "dim is -3"),
        (name, {self: Meta((1,) * 9, F)}, I, f"{self} has 9 dimensions"),
        (name, {"index": Meta((4, 3), L)}, I, "index has shape"),
        (name, {"reduce": 3}, I, "reduce is 3"),
    ]


ERRORS: list[tuple[str, dict[str, Any], int, str]] = [
    *scatter_errors("aclnnScatter", "self"),
    *scatter_errors("aclnnInplaceScatter", "selfRef"),
    *scatter_errors("aclnnScatterValue", "self"),
    *scatter_errors("aclnnInplaceScatterValue", "selfRef"),
    *[
        (name, changes, status, text)
        for name in ("aclnnScatter", "aclnnInplaceScatter")
        for changes, status, text in (
            ({"src": None}, N, "src must not"),
            ({"src": Meta((3, 4), acl.ACL_UINT64)}, I, "src has dtype"),
            ({"src": Meta((3, 4), acl.ACL_FLOAT16)}, I, "src has dtype"),
            ({"src": Meta((3, 4, 1), F)}, I, "src has 3 dimensions"),
            ({"src": Meta((1, 4), F)}, I, "index has shape"),
        )
    ],
    *[
        (name, changes, status, text)
        for name in ("aclnnScatter", "aclnnScatterValue")
        for changes, status, text in (
            ({"out": None}, N, "out must not"),
            ({"out": Meta((3, 4), acl.ACL_FLOAT16)}, I, "out has dtype"),
            ({"out": Meta((4, 3), F)}, I, "out has shape"),
        )
    ],
    ("aclnnScatterValue", {"value": None}, N, "value must not"),
    ("aclnnInplaceScatterValue", {"value": None}, N, "value must not"),
    ("aclnnScatterValue", {"value": np.complex64(1j)}, I, "value has dtype"),
    ("aclnnInplaceScatterValue", {"value": np.complex128(1)}, I, "value has dtype"),
    ("aclnnIndexPutImpl", {"selfRef": None}, N, "selfRef must not"),
    ("aclnnIndexPutImpl", {"indices": None}, N, "indices must not"),
    ("aclnnIndexPutImpl", {"values": None}, N, "values must not"),
    ("aclnnIndexPutImpl", {"selfRef": Meta((3, 4, 5), acl.ACL_UINT64)}, I, "selfRef has dtype"),
    ("aclnnIndexPutImpl", {"values": Meta((2,), acl.ACL_UINT64)}, I, "values has dtype"),
    ("aclnnIndexPutImpl", {"indices": [Meta((2,), F)]}, I, "indices[0] has dtype"),
    ("aclnnIndexPutImpl", {"values": Meta((2,), acl.ACL_FLOAT16)}, I, "values has dtype"),
    ("aclnnIndexPutImpl", {"selfRef": Meta((1,) * 9, F)}, I, "selfRef has 9 dimensions"),
    ("aclnnIndexPutImpl", {"indices": [None] * 4}, I, "from 4 dimensions"),
    ("aclnnIndexPutImpl", {"indices": [Meta((4,), acl.ACL_BOOL)]}, I, "indices[0] has shape"),
    ("aclnnIndexPutImpl", {"values": Meta((3,), F)}, I, "values has shape"),
]


@pytest.mark.parametrize(("name", "changes", "status", "text"), ERRORS, ids=lambda value: str(value)[:60])
def test_errors(name: str, changes: dict[str, Any], status: int, text: str) -> None:
    assert Case(name, next(aclnnop.find(name).examples())).but(**changes).status() == status
    assert text in message()


NEWER = {"950", "A3", "A2"}
PRODUCTS = {
    **dict.fromkeys(("aclnnScatter", "aclnnInplaceScatter", "aclnnScatterValue", "aclnnInplaceScatterValue"), NEWER),
    "aclnnIndexPutImpl": NEWER | {"910"},
}


@pytest.mark.parametrize(("name", "products"), PRODUCTS.items())
def test_products(name: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(Case(name, next(aclnnop.find(name).examples())), chip) == products
