"""aclnnArgMax."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acl_emu as acl
import aclnnop
from tests.conftest import message
from tests.operators.accuracy import FLOATS
from tests.operators.case import Case, Meta, numbers
from tests.operators.drawing import floats, layouts, shapes
from tests.operators.products import products_of

DOUBLE = np.dtype(np.float64)
INTEGERS = [np.dtype(t) for t in (np.int8, np.uint8, np.int16, np.int32, np.int64)]


def call(operator: str) -> Case:
    """Its first example."""
    return Case(operator, next(aclnnop.find(operator).examples()))


def argmax(x: Any, dim: int, keep: bool, out: Any) -> Case:
    return Case("aclnnArgMax", {"self": x, "dim": dim, "keepdim": keep, "out": out})


def first_of(row: list[float]) -> int:
    """The first NaN, else the first of the largest."""
    odd = [place for place, value in enumerate(row) if value != value]
    return odd[0] if odd else row.index(max(row))


@given(st.data())
def test_values(device: int, data: st.DataObject) -> None:
    shape, dtype, keep = data.draw(shapes()), data.draw(st.sampled_from([*FLOATS, *INTEGERS, DOUBLE])), data.draw(st.booleans())
    seed = data.draw(st.integers(0, 99))
    x = data.draw(floats(shape, dtype, special=True)) if dtype in FLOATS else numbers(shape, dtype, seed, 3)
    axis = data.draw(st.integers(0, max(len(shape), 1) - 1))
    rows = np.moveaxis(np.atleast_1d(x), axis, -1)
    found = [first_of(row.astype(np.float64).tolist()) for row in rows.reshape(-1, rows.shape[-1])]
    left = (*shape[:axis], *([1] if keep and shape else []), *shape[axis + 1 :])
    dim = axis - data.draw(st.sampled_from((0, max(len(shape), 1))))
    out = np.full(left, -1, data.draw(st.sampled_from((np.int32, np.int64))))
    assert argmax(x, dim, keep, out).run(data.draw(layouts)).ravel().tolist() == found


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8], ids=str)
def test_integers_are_compared_as_such(dtype: Any, device: int) -> None:
    """Neighbours of the largest INT64 have one float64."""
    top = np.iinfo(dtype).max
    x = np.array([top - 1, top, top - 1, np.iinfo(dtype).min], dtype)
    assert argmax(x, 0, False, np.zeros((), np.int64)).run() == 1


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ([1, math.nan, math.inf, math.nan], 1),
        ([-math.inf, -math.inf], 0),
        ([-0.0, 0.0], 0),
        ([3, 7, 7, 1], 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [*FLOATS, DOUBLE], ids=str)
def test_special_values(row: list[float], found: int, dtype: Any, device: int) -> None:
    assert argmax(np.array(row, dtype), 0, False, np.zeros((), np.int32)).run() == found


def test_empty_inputs(device: int) -> None:
    for out in (np.full(3, 7, np.int32), np.full((), 7, np.int32)):
        empty = argmax(np.zeros((0, 3), np.float32), 0, False, out)
        assert empty.plan() == (0, 0)
        assert (empty.run() == 7).all()


def test_outputs_of_one_element(device: int) -> None:
    x = np.array([1, 5, 3], np.float32)
    for keep, shape in ((False, (1,)), (True, ()), (False, (1, 1))):
        assert argmax(x, 0, keep, np.zeros(shape, np.int64)).run().tolist() == np.full(shape, 1).tolist()


def test_documented_sample(device: int) -> None:
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    assert argmax(x, 0, False, np.zeros(2, np.int64)).run().tolist() == [3, 3]


ERRORS: list[tuple[str, dict[str, Any], int, str]] = [
    ("aclnnArgMax", {"self": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "self must not"),
    ("aclnnArgMax", {"out": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "out must not"),
    ("aclnnArgMax", {"self": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "self has dtype"),
    ("aclnnArgMax", {"out": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "out has dtype"),
    ("aclnnArgMax", {"self": Meta((2,) * 9, acl.ACL_INT32)}, acl.ACLNN_ERR_PARAM_INVALID, "self has 9 dimensions"),
    ("aclnnArgMax", {"dim": 3}, acl.ACLNN_ERR_PARAM_INVALID, "dim is 3"),
    ("aclnnArgMax", {"dim": -4}, acl.ACLNN_ERR_PARAM_INVALID, "dim is -4"),
    ("aclnnArgMax", {"self": Meta((), acl.ACL_FLOAT), "dim": 1}, acl.ACLNN_ERR_PARAM_INVALID, "dim is 1"),
    ("aclnnArgMax", {"out": Meta((3, 5), acl.ACL_INT64)}, acl.ACLNN_ERR_PARAM_INVALID, "out has shape"),
    ("aclnnArgMax", {"keepdim": True}, acl.ACLNN_ERR_PARAM_INVALID, "out has shape"),
    ("aclnnArgMax", {"dim": 9, "out": Meta((3, 5), acl.ACL_FLOAT)}, acl.ACLNN_ERR_PARAM_INVALID, "out has dtype"),
]


@pytest.mark.parametrize(("operator", "changes", "status", "text"), ERRORS)
def test_errors(operator: str, changes: dict[str, Any], status: int, text: str) -> None:
    assert call(operator).but(**changes).status() == status
    assert text in message()


PRODUCTS = {
    "aclnnArgMax": {"950", "A3", "A2", "310P", "910"},
}


@pytest.mark.parametrize(("operator", "products"), PRODUCTS.items())
def test_products(operator: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(call(operator), chip) == products
