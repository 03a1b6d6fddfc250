"""aclnnIndex."""

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
from tests.conftest import message
from tests.operators.accuracy import FLOAT, FLOATS
from tests.operators.case import Array, Case, Meta, Refused, numbers
from tests.operators.drawing import layouts, shapes
from tests.operators.products import products_of

TYPES = [*FLOATS, *map(np.dtype, "dbhilB?")]


def call(operator: str) -> Case:
    """Its first example."""
    return Case(operator, next(aclnnop.find(operator).examples()))


def index(x: Any, indices: list[Any], out: Any) -> Case:
    return Case("aclnnIndex", {"self": x, "indices": indices, "out": out})


def expected(x: Array, indices: list[Array | None]) -> Array:
    """Element by element: masks become the coordinates of what they choose; the place of separated indices is in front."""
    per_axis: list[Array | None] = []
    for one in indices:
        per_axis += [one] if one is None or one.dtype != np.bool_ else [np.array(found) for found in zip(*np.argwhere(one), strict=True)]
        if one is not None and one.dtype == np.bool_ and not one.any():
            per_axis += [np.zeros(0, np.int64)] * one.ndim
    per_axis += [None] * (x.ndim - len(per_axis))
    given = [axis for axis, one in enumerate(per_axis) if one is not None]
    common = np.broadcast_shapes(*[one.shape for one in per_axis if one is not None])
    front = bool(given) and given != list(range(given[0], given[-1] + 1))
    before = 0 if front or not given else given[0]
    kept = [axis for axis in range(x.ndim) if axis not in given]
    result = np.zeros((*[x.shape[axis] for axis in kept[:before]], *common, *[x.shape[axis] for axis in kept[before:]]), x.dtype)
    for place in np.ndindex(result.shape):
        chosen = place[before : before + len(common)]
        others = iter((*place[:before], *place[before + len(common) :]))
        source = [next(others) if one is None else int(np.broadcast_to(one, common)[chosen]) for one in per_axis]
        result[place] = x[tuple(source)]
    return result


@given(data=st.data())
def test_values(device: int, data: st.DataObject) -> None:
    shape = data.draw(shapes(least_dims=1, most_dims=5, most=4))
    x = numbers(shape, data.draw(st.sampled_from(TYPES)), data.draw(st.integers(0, 99)), 9)
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    broadcast = data.draw(shapes(most_dims=2, most=3))
    with_masks, count = data.draw(st.booleans()), 2
    if with_masks:
        broadcast = (*broadcast[:1], count) if len(broadcast) > 1 else (count,)
    indices: list[Array | None] = []
    axis = 0
    while axis < len(shape) and data.draw(st.integers(0, 4)):
        kind = data.draw(st.sampled_from(("null", "index", "mask") if with_masks else ("null", "index")))
        rank = data.draw(st.integers(1, len(shape) - axis)) if kind == "mask" else 1
        size = math.prod(shape[axis : axis + rank])
        if kind == "mask" and size >= count:
            mask = np.zeros(size, np.bool_)
            mask[rng.choice(size, count, replace=False)] = True
            indices.append(mask.reshape(shape[axis : axis + rank]))
            axis += rank
            continue
        own = tuple(1 if rng.random() < 0.3 else length for length in broadcast[int(rng.integers(0, len(broadcast) + 1)) :])
        length = shape[axis]
        index_type = data.draw(st.sampled_from((np.int32, np.int64)))
        indices.append(None if kind == "null" else rng.integers(-length, length, own).astype(index_type))
        axis += 1
    golden = expected(x, indices or [None])
    found = index(x, indices or [None], np.zeros(golden.shape, x.dtype)).run(data.draw(layouts))
    assert found.tobytes() == golden.tobytes()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_types(dtype: Any, device: int) -> None:
    x = numbers((4, 3), dtype, 1, 9)
    assert index(x, [np.array([3, -4, 1], np.int32)], np.zeros((3, 3), dtype)).run().tolist() == [x[i].tolist() for i in (3, 0, 1)]


@pytest.mark.parametrize("chosen", [[True, False, True], [False, True, False], [True, True, True]], ids=str)
def test_masks_with_indices(chosen: list[bool], device: int) -> None:
    """What a mask chooses broadcasts with the indices beside it."""
    x = numbers((3, 4), FLOAT, 1)
    rows = [row for row, taken in enumerate(chosen) if taken]
    assert index(x, [np.array(chosen), np.array([2])], np.zeros(len(rows), FLOAT)).run().tolist() == [x[row, 2] for row in rows]


def test_masks_without_dimensions(device: int) -> None:
    x = numbers((3, 4), FLOAT, 1)
    assert (index(x, [np.array(True)], np.zeros((1, 3, 4), FLOAT)).run() == x).all()
    assert index(x, [np.array(False)], np.zeros((0, 3, 4), FLOAT)).plan() == (0, 0)


def test_null_may_be_an_empty_tensor(device: int) -> None:
    """Programs that cannot put null into a list put an empty tensor there, of the type of self."""
    x = numbers((3, 4, 5), FLOAT, 1)
    empty, rows = np.zeros(0, FLOAT), np.array([1, 0])
    assert (index(x, [empty, rows], np.zeros((3, 2, 5), FLOAT)).run() == x[:, rows]).all()
    assert (index(x, [rows, empty, rows], np.zeros((2, 4), FLOAT)).run() == np.stack([x[1, :, 1], x[0, :, 0]])).all()
    assert index(x, [np.zeros(0, np.int64)], np.zeros((0, 4, 5), FLOAT)).plan() == (0, 0)


def test_a_number_is_a_row_of_one(device: int) -> None:
    x = np.array(2.5, np.float32)
    for one, shape in ((np.array([0, -1, 0]), (3,)), (np.array(0), ()), (np.array(True), (1,)), (np.array([True]), (1,)), (None, ())):
        assert index(x, [one], np.zeros(shape, np.float32)).run().tolist() == np.full(shape, 2.5).tolist()


@pytest.mark.parametrize("wrong", [3, -4, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=str)
def test_indices_outside_are_faults(wrong: int, dtype: Any, device: int) -> None:
    case = index(numbers((3, 4), FLOAT, 1), [None, np.array([0, 1], dtype)], np.zeros((3, 2), FLOAT))
    assert case.refused() == 0
    case = index(numbers((4, 3), FLOAT, 1), [None, np.array([[0], [wrong]], dtype)], np.zeros((4, 2, 1), FLOAT))
    with pytest.raises(Refused, match=re.escape(f"indices[1][1, 0] is {wrong}, outside [-3, 2]")) as fault:
        case.run()
    assert fault.value.status == acl.ACL_ERROR_RT_AICORE_EXCEPTION


@pytest.mark.parametrize(
    ("indices", "shape", "text"),
    [
        ([[True, False, False]], (2, 4), "choose 1 elements, out holds 2"),
        ([[True, True, True]], (2, 4), "choose 3 elements, out holds 2"),
        ([[False, False, False]], (2, 4), "choose 0 elements, out holds 2"),
        ([[True, True, False], [True, True, True, False]], (2,), "choose 2 and 3 elements, out holds 2"),
        ([[True, True, False], [0, 1, 2]], (3,), "choose 2 and 3 elements, out holds 3"),
    ],
    ids=str,
)
def test_masks_that_do_not_fit_are_faults(indices: list[list[Any]], shape: tuple[int, ...], text: str, device: int) -> None:
    case = index(numbers((3, 4), FLOAT, 1), [np.array(one) for one in indices], np.zeros(shape, FLOAT))
    with pytest.raises(Refused, match=text) as fault:
        case.run()
    assert fault.value.status == acl.ACL_ERROR_RT_AICORE_EXCEPTION


def test_documented_sample(device: int) -> None:
    x = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    assert index(x, [np.array([0]), np.array([2])], np.zeros(1, np.float32)).run().tolist() == [3]


ERRORS: list[tuple[str, dict[str, Any], int, str]] = [
    ("aclnnIndex", {"self": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "self must not"),
    ("aclnnIndex", {"indices": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "indices must not"),
    ("aclnnIndex", {"out": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "out must not"),
    ("aclnnIndex", {"indices": []}, acl.ACLNN_ERR_PARAM_INVALID, "indices has 0 members"),
    ("aclnnIndex", {"self": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "self has dtype"),
    ("aclnnIndex", {"out": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "out has dtype"),
    ("aclnnIndex", {"out": Meta((2,), acl.ACL_INT32)}, acl.ACLNN_ERR_PARAM_INVALID, "out has dtype"),
    ("aclnnIndex", {"indices": [Meta((2,), acl.ACL_FLOAT)]}, acl.ACLNN_ERR_PARAM_INVALID, "indices[0] has dtype"),
    ("aclnnIndex", {"indices": [None] * 4}, acl.ACLNN_ERR_PARAM_INVALID, "from 4 dimensions, expected at most 3"),
    ("aclnnIndex", {"self": Meta((), acl.ACL_FLOAT), "indices": [None] * 2}, acl.ACLNN_ERR_PARAM_INVALID, "from 2 dimensions"),
    ("aclnnIndex", {"indices": [None, Meta((3,), acl.ACL_BOOL)]}, acl.ACLNN_ERR_PARAM_INVALID, "indices[1] has shape"),
    ("aclnnIndex", {"indices": [None, Meta((4, 5, 1), acl.ACL_BOOL)]}, acl.ACLNN_ERR_PARAM_INVALID, "indices[1] has shape"),
    (
        "aclnnIndex",
        {"indices": [Meta((2,), acl.ACL_INT64), Meta((3,), acl.ACL_INT64)]},
        acl.ACLNN_ERR_PARAM_INVALID,
        "indices[1] has shape [3], which does not broadcast",
    ),
    ("aclnnIndex", {"out": Meta((3,), acl.ACL_FLOAT)}, acl.ACLNN_ERR_PARAM_INVALID, "out has shape"),
    ("aclnnIndex", {"indices": [Meta((3,), acl.ACL_BOOL)]}, acl.ACLNN_ERR_PARAM_INVALID, "out has shape"),
]


@pytest.mark.parametrize(("operator", "changes", "status", "text"), ERRORS)
def test_errors(operator: str, changes: dict[str, Any], status: int, text: str) -> None:
    assert call(operator).but(**changes).status() == status
    assert text in message()


PRODUCTS = {
    "aclnnIndex": {"950", "A3", "A2", "310B", "310P", "910"},
}


@pytest.mark.parametrize(("operator", "products"), PRODUCTS.items())
def test_products(operator: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(call(operator), chip) == products


def test_types_of_a_product(chip: Callable[[str], None]) -> None:
    for soc, complex_too in (("Ascend950PR_9589", True), ("Ascend910_9391", False), ("Ascend910B1", False), ("Ascend310P3", False)):
        chip(soc)
        case = index(Meta((3,), np.complex64), [None], Meta((3,), np.complex64))
        assert case.status() == (0 if complex_too else acl.ACLNN_ERR_PARAM_INVALID)
