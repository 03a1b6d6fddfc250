"""aclnnLogSoftmaxBackward."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACL_COMPLEX32, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import float_dtypes, floats, layouts, shapes
from tests.operators.products import products_of
from tests.operators.refusals import assert_refused


def golden(grad: Array, output: Array, dim: int) -> tuple[Array, Array]:
    """The documented formula in float64 with exact sums, and the largest term of each result."""
    grad, output = np.atleast_1d(grad.astype(np.float64)), np.atleast_1d(output.astype(np.float64))
    rows = np.moveaxis(grad, dim, -1)
    totals = np.array([math.fsum(row) for row in rows.reshape(-1, rows.shape[-1])]).reshape(*rows.shape[:-1], 1)
    product = np.exp(output) * np.moveaxis(np.broadcast_to(totals, rows.shape), -1, dim)
    return grad - product, np.maximum(np.abs(grad), np.abs(product))


def case(grad: Array, output: Array, dim: int, out: Array) -> Case:
    return Case("aclnnLogSoftmaxBackward", {"gradOutput": grad, "output": output, "dim": dim, "out": out})


def valid(shape: tuple[int, ...] = (2, 3), dtype=FLOAT, dim: int = -1) -> Case:
    return case(numbers(shape, dtype, 1), -np.abs(numbers(shape, dtype, 2)), dim, numbers(shape, dtype, 3))


def assert_right(call: Case, layout: int = 0) -> None:
    grad, output, out = (call.arguments[name] for name in ("gradOutput", "output", "out"))
    expected, largest = (part.reshape(grad.shape) for part in golden(grad, output, call.arguments["dim"]))
    result = call.run(layout)
    assert result.dtype == out.dtype
    assert_accurate(result, expected, via=grad.dtype, largest=largest)


def test_documented_sample(device: int) -> None:
    grad = np.arange(8, dtype=np.float32).reshape(4, 2)
    output = np.arange(1, 9, dtype=np.float32).reshape(4, 2)
    result = case(grad, output, 0, np.empty_like(grad)).run()
    assert_accurate(result.ravel(), [g - [12, 16][g % 2] * math.exp(g + 1) for g in range(8)])
    assert result[0, 0] == pytest.approx(-32.619, abs=1e-3)


@given(st.data())
def test_values(device: int, data: st.DataObject) -> None:
    """Types, shapes, dimensions from either end, strides, casts of the result."""
    shape, dtype = data.draw(shapes(most_dims=5, most=4)), data.draw(float_dtypes)
    rank = max(len(shape), 1)
    output = data.draw(floats(shape, dtype, 2.0))
    call = case(
        data.draw(floats(shape, dtype)), output, data.draw(st.integers(-rank, rank - 1)), np.full(shape, 7, data.draw(float_dtypes))
    )
    assert_right(call, data.draw(layouts))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("out", FLOATS, ids=str)
def test_long_rows(dtype: np.dtype, out: np.dtype, device: int) -> None:
    """Sums of many terms that cancel."""
    grad = numbers((3, 5000), dtype, 1)
    output = np.maximum(-np.abs(numbers((3, 5000), dtype, 2, 10)), np.asarray(-80, dtype)).astype(dtype)
    assert_right(case(grad, output, 1, np.zeros((3, 5000), out)))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_infinities_and_nan(dtype: np.dtype, device: int) -> None:
    grad = np.array([[1, 2, 3], [math.inf, 1, -1], [math.nan, 0, 1], [1, 1, 1]]).astype(dtype)
    output = np.array([[-math.inf, 0, -1], [0, -1, -math.inf], [-1, -1, -1], [math.inf, math.nan, 0]]).astype(dtype)
    with np.errstate(invalid="ignore"):
        expected = np.float64(grad) - np.exp(np.float64(output)) * np.float64(grad).sum(axis=1, keepdims=True)
    assert_accurate(case(grad, output, 1, np.zeros_like(grad)).run(), expected)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("dim", [-1, 0])
def test_zero_dimensions(dtype: np.dtype, dim: int, device: int) -> None:
    assert_right(valid((), dtype, dim))


@pytest.mark.parametrize("dim", range(-8, 8))
def test_eight_dimensions(dim: int, device: int) -> None:
    assert_right(valid((2, 1, 2, 1, 2, 1, 2, 3), FLOAT, dim), 5)


@pytest.mark.parametrize("out", [np.float64, np.complex64, np.complex128, ml_dtypes.float8_e5m2])
def test_result_cast_to_any_type_that_holds_it(out: type, device: int) -> None:
    call = valid((4, 6), FLOAT16)
    half = call.run()
    assert_equal(call.but(out=np.zeros((4, 6), out)).run().astype(np.complex128).real.astype(np.float64), half.astype(out).real)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (2, 0, 4)], ids=str)
def test_empty(shape: tuple[int, ...], device: int) -> None:
    call = valid(shape)
    assert call.plan() == (0, 0)
    assert call.run().shape == shape


def test_empty_succeeds_before_every_check_but_null(chip) -> None:
    chip("Ascend310B1")
    empty = valid((0, 3)).but(gradOutput=Meta((0, 3), np.int8), dim=9, out=Meta((1,) * 9, np.bool_))
    assert empty.plan() == (0, 0)
    assert valid().but(output=Meta((0,), FLOAT)).plan() == (0, 0)
    assert empty.but(out=None).status() == ACLNN_ERR_PARAM_NULLPTR


def test_an_empty_out_alone_is_a_wrong_shape() -> None:
    assert valid().but(out=Meta((0, 3), FLOAT)).status() == ACLNN_ERR_PARAM_INVALID


ERRORS = [
    ({"gradOutput": Meta((2, 3), np.float64)}, "gradOutput"),
    ({"output": Meta((2, 3), np.int32)}, "output"),
    ({"output": Meta((2, 3), FLOAT16)}, "output"),
    ({"out": Meta((2, 3), np.int32)}, "out"),
    ({"out": Meta((2, 3), np.bool_)}, "out"),
    ({"out": Meta((2, 3), ACL_COMPLEX32)}, "out"),
    ({"output": Meta((3, 2), FLOAT)}, "output"),
    ({"output": Meta((1, 3), FLOAT)}, "output"),
    ({"out": Meta((3, 2), FLOAT)}, "out"),
    ({"out": Meta((6,), FLOAT)}, "out"),
    ({"dim": 2}, "dim"),
    ({"dim": -3}, "dim"),
    ({"gradOutput": Meta((1,) * 9, FLOAT)}, "gradOutput"),
]


@pytest.mark.parametrize(("changes", "named"), ERRORS, ids=lambda item: str(item)[:60])
def test_parameter_errors(changes: dict, named: str) -> None:
    assert valid().but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


@pytest.mark.parametrize("dim", [1, -2])
def test_dim_of_a_number(dim: int) -> None:
    assert valid((), dim=dim).status() == ACLNN_ERR_PARAM_INVALID


ORDER = [
    ({"out": None, "gradOutput": Meta((2, 3), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "out"),
    ({"output": Meta((3, 2), np.int8), "dim": 9}, ACLNN_ERR_PARAM_INVALID, "output has dtype"),
    ({"out": Meta((3, 2), np.int8), "output": Meta((4,), FLOAT)}, ACLNN_ERR_PARAM_INVALID, "out has dtype"),
    ({"output": Meta((3, 2), FLOAT), "dim": 9}, ACLNN_ERR_PARAM_INVALID, "output has shape"),
]


def test_order_of_checks(chip) -> None:
    assert_refused([(valid(), *wrong) for wrong in ORDER], chip, ("Ascend910B1", "Ascend310B1"))


def test_products(chip) -> None:
    assert products_of(valid(), chip) == {"950", "A3", "A2", "310P", "910"}


@pytest.mark.parametrize("changes", [{}, {"out": Meta((2, 3), BF16)}], ids=str)
def test_bf16_by_chip(changes: dict, chip) -> None:
    call = valid(dtype=FLOAT16).but(**changes) if changes else valid(dtype=BF16)
    for soc, status in (("Ascend310P3", ACLNN_ERR_PARAM_INVALID), ("Ascend910A", ACLNN_ERR_PARAM_INVALID), ("Ascend910_9391", 0)):
        chip(soc)
        assert call.status() == status, soc


def test_a_cast_of_the_result_needs_workspace() -> None:
    (_, plain), (_, cast) = valid().plan(), valid().but(out=Meta((2, 3), FLOAT16)).plan()
    assert cast > plain
