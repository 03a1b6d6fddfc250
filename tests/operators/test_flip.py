"""aclnnFlip."""

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


def flip(x: Any, dims: list[int]) -> Case:
    return Case("aclnnFlip", {"self": x, "dims": dims, "out": np.zeros_like(x)})


@given(data=st.data())
def test_values(device: int, data: st.DataObject) -> None:
    shape = data.draw(shapes(least=0, most_dims=5))
    dtype = data.draw(st.sampled_from([*FLOATS, *map(np.dtype, "dbhilqB?FD")]))
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1))) if shape else set()
    x = numbers(shape, dtype, data.draw(st.integers(0, 99)), 9)
    index = tuple(slice(None, None, -1) if axis in axes else slice(None) for axis in range(len(shape)))
    dims = [axis - len(shape) if data.draw(st.booleans()) else axis for axis in sorted(axes, reverse=True)]
    assert flip(x, dims).run(data.draw(layouts)).tobytes() == x[index].tobytes()


@pytest.mark.parametrize("dims", [[0], [1], [2], [0, 2], [0, 1, 2]], ids=str)
def test_large(device: int, dims: list[int]) -> None:
    x = numbers((40, 30, 100), np.dtype(np.float32), 1, 9)
    assert flip(x, dims).run().tobytes() == np.flip(x, dims).tobytes()


def test_a_tensor_without_dimensions_has_one_of_length_one(device: int) -> None:
    for dims in ([], [0], [-1]):
        assert flip(np.array(7.0), dims).run() == 7


def test_empty() -> None:
    assert flip(np.zeros((3, 0)), [1]).plan() == (0, 0)


def test_documented_sample(device: int) -> None:
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    assert flip(x, [0]).run().ravel().tolist() == [6, 7, 4, 5, 2, 3, 0, 1]


ERRORS: list[tuple[str, dict[str, Any], int, str]] = [
    ("aclnnFlip", {"self": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "self must not"),
    ("aclnnFlip", {"out": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "out must not"),
    ("aclnnFlip", {"self": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "self has dtype"),
    ("aclnnFlip", {"out": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "out has dtype"),
    ("aclnnFlip", {"out": Meta((1,), acl.ACL_FLOAT16)}, acl.ACLNN_ERR_PARAM_INVALID, "out has dtype"),
    ("aclnnFlip", {"out": Meta((3, 4, 1), np.float32)}, acl.ACLNN_ERR_PARAM_INVALID, "out has shape"),
    ("aclnnFlip", {"dims": [3]}, acl.ACLNN_ERR_PARAM_INVALID, "dims is 3"),
    ("aclnnFlip", {"dims": [-4]}, acl.ACLNN_ERR_PARAM_INVALID, "dims is -4"),
    ("aclnnFlip", {"dims": [0, -3]}, acl.ACLNN_ERR_PARAM_INVALID, "every dimension once"),
    ("aclnnFlip", {"dims": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "dims must not"),
]


@pytest.mark.parametrize(("operator", "changes", "status", "text"), ERRORS)
def test_errors(operator: str, changes: dict[str, Any], status: int, text: str) -> None:
    assert call(operator).but(**changes).status() == status
    assert text in message()


PRODUCTS = {
    "aclnnFlip": {"950", "A3", "A2"},
}


@pytest.mark.parametrize(("operator", "products"), PRODUCTS.items())
def test_products(operator: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(call(operator), chip) == products
