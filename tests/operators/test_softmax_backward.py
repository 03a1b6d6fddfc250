"""aclnnSoftmaxBackward."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import float_dtypes, floats, layouts, shapes
from tests.operators.products import products_of


def case(grad: Array, output: Array, dim: int, out: Array) -> Case:
    return Case("aclnnSoftmaxBackward", {"gradOutput": grad, "output": output, "dim": dim, "out": out})


def valid(shape: tuple[int, ...] = (2, 3), dtype=FLOAT, dim: int = -1) -> Case:
    return case(numbers(shape, dtype, 1), np.abs(numbers(shape, dtype, 2)), dim, numbers(shape, dtype, 3))


def assert_right(call: Case, layout: int = 0) -> None:
    """The formula in float64 with exact sums."""
    grad, output = (np.atleast_1d(call.arguments[name]).astype(np.float64) for name in ("gradOutput", "output"))
    dim = call.arguments["dim"]
    rows = np.moveaxis(grad * output, dim, -1)
    totals = np.array([math.fsum(row) for row in rows.reshape(-1, rows.shape[-1])]).reshape(*rows.shape[:-1], 1)
    common = output * np.moveaxis(np.broadcast_to(totals, rows.shape), -1, dim)
    shape = call.arguments["out"].shape
    added = np.broadcast_to(np.abs(rows).sum(axis=-1, keepdims=True), rows.shape)
    largest = np.maximum(np.abs(grad * output), np.abs(output) * np.moveaxis(added, -1, dim)).reshape(shape)
    assert_accurate(call.run(layout), (grad * output - common).reshape(shape), via=call.arguments["gradOutput"].dtype, largest=largest)


def test_documented_sample(device: int) -> None:
    grad = np.arange(8, dtype=np.float32).reshape(4, 2)
    output = np.array([1, 1, 1, 2, 2, 2, 3, 3], np.float32).reshape(4, 2)
    result = case(grad, output, 0, np.empty_like(grad)).run()
    assert_equal(result, grad * output - np.array([28, 38]) * output)


@given(st.data())
def test_values(device: int, data: st.DataObject) -> None:
    """Types, shapes, dimensions from either end, strides, casts of the result."""
    shape, dtype = data.draw(shapes(most_dims=5, most=4)), data.draw(float_dtypes)
    grad, output = data.draw(floats(shape, dtype)), data.draw(floats(shape, dtype))
    dim = data.draw(st.integers(-max(len(shape), 1), max(len(shape), 1) - 1))
    assert_right(case(grad, output, dim, np.full(shape, 7, data.draw(float_dtypes))), data.draw(layouts))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_long_rows_and_numbers(dtype: np.dtype, device: int) -> None:
    assert_right(valid((3, 5000), dtype))
    assert_right(valid((), dtype, 0))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_infinities_and_nan(dtype: np.dtype, device: int) -> None:
    grad = np.array([[1, math.inf], [math.nan, 1], [1, 2]]).astype(dtype)
    output = np.array([[1, 1], [1, 1], [0, math.inf]]).astype(dtype)
    assert_equal(case(grad, output, 1, np.empty_like(grad)).run(), [[-math.inf, math.nan], [math.nan] * 2, [math.nan, -math.inf]])


@pytest.mark.parametrize("out", [np.float64, np.complex64])
def test_other_types_by_a_cast_that_needs_workspace(out: type, device: int) -> None:
    call = valid((4, 6), FLOAT16)
    cast = call.but(out=np.zeros((4, 6), out))
    np.testing.assert_array_equal(cast.run(), call.run().astype(out))
    assert cast.plan()[1] > call.plan()[1]


def test_empty_succeeds_before_every_check_but_null(device: int, chip) -> None:
    chip("Ascend310B1")
    assert valid((0, 3)).plan() == (0, 0)
    assert valid((0, 3)).run().shape == (0, 3)
    assert valid((0, 3)).but(gradOutput=Meta((0, 3), np.int8), dim=9).plan() == (0, 0)
    assert valid((0, 3)).but(out=None).status() == ACLNN_ERR_PARAM_NULLPTR


ERRORS = [
    ({"gradOutput": Meta((2, 3), np.float64)}, "gradOutput"),
    ({"output": Meta((2, 3), np.int32)}, "output"),
    ({"output": Meta((2, 3), BF16)}, "output"),
    ({"out": Meta((2, 3), np.int32)}, "out"),
    ({"output": Meta((3, 2), FLOAT)}, "output"),
    ({"out": Meta((1, 3), FLOAT)}, "out"),
    ({"dim": 2}, "dim"),
    ({"dim": -3}, "dim"),
]


@pytest.mark.parametrize(("changes", "named"), ERRORS, ids=lambda item: str(item)[:60])
def test_parameter_errors(changes: dict, named: str) -> None:
    assert valid().but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


def test_products(chip) -> None:
    assert products_of(valid(), chip) == {"950", "A3", "A2", "310P", "910"}
    chip("Ascend310B1")
    assert valid().but(dim=5).status() == ACLNN_ERR_PARAM_INVALID
