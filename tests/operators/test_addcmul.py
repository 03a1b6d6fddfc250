"""aclnnAddcmul and aclnnInplaceAddcmul."""

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

OPERATORS = ["aclnnAddcmul", "aclnnInplaceAddcmul"]


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
    value = data.draw(st.sampled_from([1.5, -0.25, 0.0]))
    wide = [one.astype(np.float64) for one in (x, y, z)]
    term = value * wide[1] * wide[2]
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
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_integers_wrap_around(operator: str, dtype: Any, device: int) -> None:
    x, y, z = (np.array(values, dtype) for values in ([1, 100, 3, 0], [2, 100, 7, 9], [3, 2, 5, 1]))
    wide = x.astype(np.int64) + 3 * y.astype(np.int64) * z.astype(np.int64)
    np.testing.assert_array_equal(called(operator, x, y, z, 3, np.zeros(4, dtype)).run(), wide.astype(dtype))


def test_value_is_converted_to_the_type_of_the_computation(device: int) -> None:
    """A FLOAT value among integers counts without its fraction."""
    ones = np.ones(3, np.int32)
    assert called("aclnnAddcmul", ones, ones, ones, 2.75, np.zeros(3, np.int32)).run().tolist() == [3, 3, 3]


def test_types_are_promoted_and_results_cast(device: int) -> None:
    x, y, z = np.array([1, 2], np.int32), np.array([0.5, 0.25], np.float16), np.array([3, 3], np.int8)
    found = called("aclnnAddcmul", x, y, z, 2.0, np.zeros(2, np.float64)).run()
    np.testing.assert_array_equal(found, [4, 3.5])


@pytest.mark.parametrize("operator", OPERATORS)
def test_documented_sample(operator: str, device: int) -> None:
    x, two = np.arange(8, dtype=np.float32).reshape(4, 2), np.full((4, 2), 2, np.float32)
    found = called(operator, x, two, two, 1.2, np.zeros_like(x)).run()
    np.testing.assert_allclose(found.ravel(), [4.8, 5.8, 6.8, 7.8, 8.8, 9.8, 10.8, 11.8], rtol=1e-6)


ERRORS: list[tuple[str, dict[str, Any], int, str]] = [
    ("aclnnAddcmul", {"self": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "self must not"),
    ("aclnnAddcmul", {"tensor1": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "tensor1 must not"),
    ("aclnnAddcmul", {"tensor2": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "tensor2 must not"),
    ("aclnnAddcmul", {"value": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "value must not"),
    ("aclnnAddcmul", {"out": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "out must not"),
    ("aclnnAddcmul", {"self": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "self has dtype"),
    ("aclnnAddcmul", {"tensor1": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor1 has dtype"),
    ("aclnnAddcmul", {"tensor2": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor2 has dtype"),
    (
        "aclnnAddcmul",
        {"tensor1": Meta((3, 4, 5), np.int8), "tensor2": Meta((3, 4, 5), np.uint8), "self": Meta((3, 4, 5), np.uint8)},
        acl.ACLNN_ERR_PARAM_INVALID,
        "are promoted to ACL_INT16",
    ),
    ("aclnnAddcmul", {"out": Meta((3, 4, 5), np.int32)}, acl.ACLNN_ERR_PARAM_INVALID, "out has dtype ACL_INT32, a result of"),
    ("aclnnAddcmul", {"self": Meta((1,) * 9, acl.ACL_FLOAT)}, acl.ACLNN_ERR_PARAM_INVALID, "self has 9 dimensions"),
    ("aclnnAddcmul", {"tensor1": Meta((1,) * 9, acl.ACL_FLOAT)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor1 has 9 dimensions"),
    ("aclnnAddcmul", {"tensor2": Meta((1,) * 9, acl.ACL_FLOAT)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor2 has 9 dimensions"),
    ("aclnnAddcmul", {"tensor1": Meta((4, 3), np.float32)}, acl.ACLNN_ERR_PARAM_INVALID, "does not broadcast"),
    ("aclnnAddcmul", {"out": Meta((3, 4, 1), np.float32)}, acl.ACLNN_ERR_PARAM_INVALID, "out has shape"),
    ("aclnnInplaceAddcmul", {"selfRef": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "selfRef must not"),
    ("aclnnInplaceAddcmul", {"tensor1": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "tensor1 must not"),
    ("aclnnInplaceAddcmul", {"tensor2": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "tensor2 must not"),
    ("aclnnInplaceAddcmul", {"value": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "value must not"),
    ("aclnnInplaceAddcmul", {"selfRef": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "selfRef has dtype"),
    ("aclnnInplaceAddcmul", {"tensor1": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor1 has dtype"),
    ("aclnnInplaceAddcmul", {"tensor2": Meta((1,), acl.ACL_UINT64)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor2 has dtype"),
    (
        "aclnnInplaceAddcmul",
        {"tensor1": Meta((3, 4, 5), np.int8), "tensor2": Meta((3, 4, 5), np.uint8), "selfRef": Meta((3, 4, 5), np.uint8)},
        acl.ACLNN_ERR_PARAM_INVALID,
        "are promoted to ACL_INT16",
    ),
    (
        "aclnnInplaceAddcmul",
        {"selfRef": Meta((3, 4, 5), np.int32)},
        acl.ACLNN_ERR_PARAM_INVALID,
        "selfRef has dtype ACL_INT32, a result of",
    ),
    ("aclnnInplaceAddcmul", {"selfRef": Meta((1,) * 9, acl.ACL_FLOAT)}, acl.ACLNN_ERR_PARAM_INVALID, "selfRef has 9 dimensions"),
    ("aclnnInplaceAddcmul", {"tensor1": Meta((1,) * 9, acl.ACL_FLOAT)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor1 has 9 dimensions"),
    ("aclnnInplaceAddcmul", {"tensor2": Meta((1,) * 9, acl.ACL_FLOAT)}, acl.ACLNN_ERR_PARAM_INVALID, "tensor2 has 9 dimensions"),
    ("aclnnInplaceAddcmul", {"tensor1": Meta((4, 3), np.float32)}, acl.ACLNN_ERR_PARAM_INVALID, "does not broadcast"),
    ("aclnnInplaceAddcmul", {"selfRef": Meta((1, 4, 5), np.float32)}, acl.ACLNN_ERR_PARAM_INVALID, "selfRef has shape"),
]


@pytest.mark.parametrize(("operator", "changes", "status", "text"), ERRORS)
def test_errors(operator: str, changes: dict[str, Any], status: int, text: str) -> None:
    assert call(operator).but(**changes).status() == status
    assert text in message()


PRODUCTS = {
    "aclnnAddcmul": {"950", "A3", "A2", "910"},
    "aclnnInplaceAddcmul": {"950", "A3", "A2", "910"},
}


@pytest.mark.parametrize(("operator", "products"), PRODUCTS.items())
def test_products(operator: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(call(operator), chip) == products
