"""aclnnAddcdiv and aclnnInplaceAddcdiv."""

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
from tests.operators.accuracy import FLOATS, assert_accurate
from tests.operators.case import Case, Meta, numbers
from tests.operators.drawing import broadcasting_shapes, layouts
from tests.operators.products import products_of

OPERATORS = ["aclnnAddcdiv", "aclnnInplaceAddcdiv"]


def call(operator: str) -> Case:
    """Its first example."""
    return Case(operator, next(aclnnop.find(operator).examples()))


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("dtype", [*FLOATS, np.dtype(np.float64)], ids=str)
@given(data=st.data())
def test_values(operator: str, dtype: Any, device: int, data: st.DataObject) -> None:
    shapes = data.draw(broadcasting_shapes(3))
    result = shapes.result_shape
    first = result if "Inplace" in operator else shapes.input_shapes[0]
    x, y, z = (numbers(shape, dtype, seed, 3) for seed, shape in enumerate((first, *shapes.input_shapes[1:]), 1))
    z = np.where(abs(z) < 0.1, z.dtype.type(1), z)
    value = data.draw(st.sampled_from([1.5, -0.25, 0.0]))
    wide = [one.astype(np.float64) for one in (x, y, z)]
    term = value * wide[1] / wide[2]
    found = called(operator, x, y, z, value, np.zeros(result, dtype)).run(data.draw(layouts))
    if dtype == np.float64:
        np.testing.assert_allclose(found, wide[0] + term, rtol=1e-14, atol=1e-13)
    else:
        assert_accurate(found, wide[0] + term, largest=np.maximum(abs(term), abs(np.broadcast_to(wide[0], result))))


def called(operator: str, x: Any, y: Any, z: Any, value: Any, out: Any) -> Case:
    """In place the result lies where ``self`` was."""
    names = aclnnop.find(operator).names
    given = {names[0]: x, "tensor1": y, "tensor2": z, "value": value, "out": out}
    return Case(operator, {name: given[name] for name in names})


@pytest.mark.parametrize("operator", OPERATORS)
def test_integers_are_divided_towards_zero(operator: str, device: int) -> None:
    y, z = np.array([7, -7, 7, -7, 5, 2**62 + 1]), np.array([2, 2, -2, -2, 0, 1])
    found = called(operator, np.ones(6, np.int64), y, z, 2, np.zeros(6, np.int64)).run()
    assert found.tolist() == [7, -5, -5, 7, 1, (2 * (2**62 + 1) + 1 + 2**63) % 2**64 - 2**63]


@pytest.mark.parametrize("operator", OPERATORS)
def test_division_by_zero(operator: str, device: int) -> None:
    zero = np.zeros(3, np.float32)
    found = called(operator, zero, np.array([1, -1, 0], np.float32), zero, 1.0, np.empty(3, np.float32)).run()
    np.testing.assert_array_equal(found, [np.inf, -np.inf, np.nan])


def test_types_are_promoted_and_results_cast(device: int) -> None:
    x, y, z = np.array([1, 2]), np.array([0.5, 0.25], np.float16), np.array([2, 4])
    found = called("aclnnAddcdiv", x, y, z, 2.0, np.zeros(2, np.float64)).run()
    np.testing.assert_array_equal(found, [1.5, 2.125])


@pytest.mark.parametrize("operator", OPERATORS)
def test_documented_sample(operator: str, device: int) -> None:
    x, two = np.arange(8, dtype=np.float32).reshape(4, 2), np.full((4, 2), 2, np.float32)
    found = called(operator, x, two, two, 1.2, np.zeros_like(x)).run()
    np.testing.assert_allclose(found.ravel(), [1.2, 2.2, 3.2, 4.2, 5.2, 6.2, 7.2, 8.2], rtol=1e-6)


ERRORS: list[tuple[str, dict[str, Any], int, str]] = [
    ("aclnnAddcdiv", {"self": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "self must not"),
    ("aclnnAddcdiv", {"tensor1": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "tensor1 must not"),
    ("aclnnAddcdiv", {"tensor2": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "tensor2 must not"),
    ("aclnnAddcdiv", {"value": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "value must not"),
    ("aclnnAddcdiv", {"out": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "out must not"),
    ("aclnnAddcdiv", {"self": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "self has dtype"),
    ("aclnnAddcdiv", {"tensor1": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor1 has dtype"),
    ("aclnnAddcdiv", {"tensor2": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor2 has dtype"),
    ("aclnnAddcdiv", {"tensor1": Meta((3, 4, 5), np.int32)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor1 has dtype"),
    ("aclnnAddcdiv", {"out": Meta((3, 4, 5), np.int64)}, acl.ACLNN_ERR_PARAM_INVALID, "out has dtype ACL_INT64, a result of"),
    ("aclnnAddcdiv", {"self": Meta((1,) * 9, acl.ACL_FLOAT)}, acl.ACLNN_ERR_PARAM_INVALID, "self has 9 dimensions"),
    ("aclnnAddcdiv", {"tensor1": Meta((1,) * 9, acl.ACL_FLOAT)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor1 has 9 dimensions"),
    ("aclnnAddcdiv", {"tensor2": Meta((1,) * 9, acl.ACL_FLOAT)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor2 has 9 dimensions"),
    ("aclnnAddcdiv", {"tensor1": Meta((4, 3), np.float32)}, acl.ACLNN_ERR_PARAM_INVALID, "does not broadcast"),
    ("aclnnAddcdiv", {"out": Meta((3, 4, 1), np.float32)}, acl.ACLNN_ERR_PARAM_INVALID, "out has shape"),
    ("aclnnInplaceAddcdiv", {"selfRef": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "selfRef must not"),
    ("aclnnInplaceAddcdiv", {"tensor1": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "tensor1 must not"),
    ("aclnnInplaceAddcdiv", {"tensor2": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "tensor2 must not"),
    ("aclnnInplaceAddcdiv", {"value": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "value must not"),
    ("aclnnInplaceAddcdiv", {"selfRef": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "selfRef has dtype"),
    ("aclnnInplaceAddcdiv", {"tensor1": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor1 has dtype"),
    ("aclnnInplaceAddcdiv", {"tensor2": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor2 has dtype"),
    ("aclnnInplaceAddcdiv", {"tensor2": Meta((3, 4, 5), np.int32)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor2 has dtype"),
    (
        "aclnnInplaceAddcdiv",
        {"selfRef": Meta((3, 4, 5), np.int64)},
        acl.ACLNN_ERR_PARAM_INVALID,
        "selfRef has dtype ACL_INT64, a result of",
    ),
    ("aclnnInplaceAddcdiv", {"selfRef": Meta((1,) * 9, acl.ACL_FLOAT)}, acl.ACLNN_ERR_PARAM_INVALID, "selfRef has 9 dimensions"),
    ("aclnnInplaceAddcdiv", {"tensor1": Meta((1,) * 9, acl.ACL_FLOAT)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor1 has 9 dimensions"),
    ("aclnnInplaceAddcdiv", {"tensor2": Meta((1,) * 9, acl.ACL_FLOAT)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor2 has 9 dimensions"),
    ("aclnnInplaceAddcdiv", {"tensor1": Meta((4, 3), np.float32)}, acl.ACLNN_ERR_PARAM_INVALID, "does not broadcast"),
    ("aclnnInplaceAddcdiv", {"selfRef": Meta((1, 4, 5), np.float32)}, acl.ACLNN_ERR_PARAM_INVALID, "selfRef has shape"),
]


@pytest.mark.parametrize(("operator", "changes", "status", "text"), ERRORS)
def test_errors(operator: str, changes: dict[str, Any], status: int, text: str) -> None:
    assert call(operator).but(**changes).status() == status
    assert text in message()


PRODUCTS = {
    "aclnnAddcdiv": {"950", "A3", "A2", "910"},
    "aclnnInplaceAddcdiv": {"950", "A3", "A2", "910"},
}


@pytest.mark.parametrize(("operator", "products"), PRODUCTS.items())
def test_products(operator: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(call(operator), chip) == products
