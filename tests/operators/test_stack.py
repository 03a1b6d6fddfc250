"""aclnnStack."""

from __future__ import annotations

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
from tests.operators.drawing import layouts, shapes
from tests.operators.products import products_of


def call(operator: str) -> Case:
    """Its first example."""
    return Case(operator, next(aclnnop.find(operator).examples()))


def stack(members: list[Any], dim: int, out: Any) -> Case:
    return Case("aclnnStack", {"tensors": members, "dim": dim, "out": out})


@given(data=st.data())
def test_values(device: int, data: st.DataObject) -> None:
    shape = data.draw(shapes(least=0))
    dtype = data.draw(st.sampled_from([*FLOATS, *map(np.dtype, "dbhilqBHIQ?FD")]))
    members = [numbers(shape, dtype, seed, 9) for seed in range(data.draw(st.integers(1, 5)))]
    dim = data.draw(st.integers(-len(shape) - 1, len(shape)))
    axis = dim + len(shape) + 1 if dim < 0 else dim
    out = np.zeros((*shape[:axis], len(members), *shape[axis:]), dtype)
    found = stack(members, dim, out).run(data.draw(layouts))
    for index, member in enumerate(members):
        assert np.take(found, index, axis).tobytes() == member.tobytes()


def test_types_are_promoted_and_results_cast(device: int) -> None:
    """2049 has no FLOAT16 of its own, which INT32 and FLOAT16 are promoted to."""
    members = [np.array([2049, 3], np.int32), np.array([0.5, -1], np.float16)]
    found = stack(members, 1, np.zeros((2, 2), np.float32)).run()
    assert found.tolist() == [[2048, 0.5], [3, -1]]
    assert stack([np.array([True]), np.array([5], np.int8)], 0, np.zeros((2, 1), np.int64)).run().tolist() == [[1], [5]]


def test_many_members(device: int) -> None:
    members = [np.full((2, 3), i, np.float32) for i in range(70)]
    assert (stack(members, 0, np.zeros((70, 2, 3), np.float32)).run() == np.stack(members)).all()


def test_documented_sample(device: int) -> None:
    first = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    assert stack([first, first + 6], 0, np.zeros((2, 2, 3), np.float32)).run().ravel().tolist() == list(range(1, 13))


ERRORS: list[tuple[str, dict[str, Any], int, str]] = [
    ("aclnnStack", {"tensors": None}, acl.ACLNN_ERR_INNER_NULLPTR, "tensors must not"),
    ("aclnnStack", {"out": None}, acl.ACLNN_ERR_INNER_NULLPTR, "out must not"),
    ("aclnnStack", {"tensors": [Meta((1,), acl.ACL_STRING)]}, acl.ACLNN_ERR_PARAM_INVALID, "tensors[0] has dtype"),
    ("aclnnStack", {"out": Meta((1,), acl.ACL_STRING)}, acl.ACLNN_ERR_PARAM_INVALID, "out has dtype"),
    ("aclnnStack", {"tensors": [Meta((3, 4), np.float32), Meta((3, 4), np.uint16)]}, acl.ACLNN_ERR_PARAM_INVALID, "cannot be combined"),
    ("aclnnStack", {"out": Meta((2, 3, 4), np.int32)}, acl.ACLNN_ERR_PARAM_INVALID, "out has dtype ACL_INT32, a result of"),
    ("aclnnStack", {"dim": 3}, acl.ACLNN_ERR_PARAM_INVALID, "dim is 3"),
    ("aclnnStack", {"dim": -4}, acl.ACLNN_ERR_PARAM_INVALID, "dim is -4"),
    ("aclnnStack", {"tensors": []}, acl.ACLNN_ERR_PARAM_INVALID, "tensors has 0 members"),
    ("aclnnStack", {"tensors": [Meta((3, 4), np.float32), Meta((3, 5), np.float32)]}, acl.ACLNN_ERR_PARAM_INVALID, "tensors[1] has shape"),
    ("aclnnStack", {"tensors": [Meta((1,) * 8, np.float32)]}, acl.ACLNN_ERR_PARAM_INVALID, "tensors[0] has 8 dimensions"),
    ("aclnnStack", {"out": Meta((3, 4, 2), np.float32)}, acl.ACLNN_ERR_PARAM_INVALID, "out has shape"),
]


@pytest.mark.parametrize(("operator", "changes", "status", "text"), ERRORS)
def test_errors(operator: str, changes: dict[str, Any], status: int, text: str) -> None:
    assert call(operator).but(**changes).status() == status
    assert text in message()


PRODUCTS = {
    "aclnnStack": {"950", "A3", "A2", "310P", "910"},
}


@pytest.mark.parametrize(("operator", "products"), PRODUCTS.items())
def test_products(operator: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(call(operator), chip) == products
