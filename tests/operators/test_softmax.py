"""aclnnSoftmax and aclnnLogSoftmax."""

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
from tests.operators.drawing import floats, layouts, shapes
from tests.operators.products import products_of

DOUBLE = np.dtype(np.float64)
DTYPES = (*FLOATS, DOUBLE)
SOFTMAX, LOG_SOFTMAX = "aclnnSoftmax", "aclnnLogSoftmax"
both = pytest.mark.parametrize("operator", [SOFTMAX, LOG_SOFTMAX])


def softmax(row: list[float]) -> list[float]:
    largest = max(row)
    terms = [math.exp(x - largest) for x in row]
    total = math.fsum(terms)
    return [term / total for term in terms]


def log_softmax(row: list[float]) -> list[float]:
    """One of the largest terms is 1, the others are added to it by log1p."""
    largest = max(row)
    logarithm = math.log1p(math.fsum(sorted(math.exp(x - largest) for x in row)[:-1]))
    return [x - largest - logarithm for x in row]


FORMULA = {SOFTMAX: softmax, LOG_SOFTMAX: log_softmax}


def case(operator: str, x: Array, dim: int, out: Array) -> Case:
    return Case(operator, {"self": x, "dim": dim, "out": out})


def valid(operator: str, shape: tuple[int, ...] = (2, 3), dtype=FLOAT, dim: int = -1) -> Case:
    return case(operator, numbers(shape, dtype, 1, 3), dim, numbers(shape, dtype, 2))


def assert_right(call: Case, layout: int = 0) -> None:
    x, out = call.arguments["self"], call.arguments["out"]
    rows = np.moveaxis(np.atleast_1d(x).astype(np.float64), call.arguments["dim"], -1)
    golden = np.array([FORMULA[call.operator](row) for row in rows.reshape(-1, rows.shape[-1]).tolist()]).reshape(rows.shape)
    golden = np.moveaxis(golden, -1, call.arguments["dim"]).reshape(x.shape)
    result = call.run(layout)
    assert result.dtype == out.dtype
    if x.dtype == out.dtype == DOUBLE:
        np.testing.assert_allclose(result, golden, rtol=1e-14, atol=1e-300)
    elif x.dtype == DOUBLE:
        assert_accurate(result, golden)
    else:
        assert_accurate(result.astype(FLOAT) if out.dtype == DOUBLE else result, golden, via=x.dtype)


@pytest.mark.parametrize(
    ("operator", "x", "dim"), [(SOFTMAX, np.arange(8).reshape(4, 2), 0), (LOG_SOFTMAX, np.arange(1, 10).reshape(3, 3), 1)]
)
def test_documented_sample(operator: str, x: Array, dim: int, device: int) -> None:
    call = case(operator, x.astype(np.float32), dim, np.empty(x.shape, np.float32))
    assert_right(call)
    first = 1 / (1 + math.exp(2) + math.exp(4) + math.exp(6)) if operator == SOFTMAX else -2 - math.log(1 + math.exp(-1) + math.exp(-2))
    assert call.run()[0, 0] == pytest.approx(first, rel=1e-6)


@both
@given(st.data())
def test_values(device: int, operator: str, data: st.DataObject) -> None:
    """Types, shapes, dimensions from either end, strides, casts of the result."""
    shape = data.draw(shapes(most_dims=5, most=4, least_dims=0 if operator == SOFTMAX else 1))
    rank = max(len(shape), 1)
    x = data.draw(floats(shape, data.draw(st.sampled_from(DTYPES)), data.draw(st.sampled_from((1.0, 20.0)))))
    out = np.full(shape, 7, data.draw(st.sampled_from(DTYPES)))
    assert_right(case(operator, x, data.draw(st.integers(-rank, rank - 1)), out), data.draw(layouts))


@both
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_long_rows(operator: str, dtype: np.dtype, device: int) -> None:
    assert_right(valid(operator, (3, 5000), dtype))


@both
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_large_numbers_and_a_winner_that_takes_nearly_all(operator: str, dtype: np.dtype, device: int) -> None:
    x = np.array([[1000, 1001, 999], [-3e4, -3e4, -2.9e4], [20, 0, 1], [60, 0, 0], [0, 0, 0]]).astype(dtype)
    assert_right(case(operator, x, 1, np.empty_like(x)))


@both
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_infinities_and_nan(operator: str, dtype: np.dtype, device: int) -> None:
    """-inf takes no part; an infinite or undefined maximum leaves nothing defined."""
    inf, nan = math.inf, math.nan
    x = np.array([[0, -inf, 0], [inf, 0, 0], [nan, 0, 0], [-inf, -inf, -inf]]).astype(dtype)
    result = case(operator, x, 1, np.empty_like(x)).run().astype(np.float64)
    half = 0.5 if operator == SOFTMAX else math.log(0.5)
    np.testing.assert_allclose(result[0], [half, 0 if operator == SOFTMAX else -inf, half], rtol=0.01)
    assert_equal(result[1:], np.full((3, 3), nan))


@both
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("count", [1, 20_000], ids=str)
def test_rows_of_one_element(operator: str, count: int, dtype: np.dtype, device: int) -> None:
    """Certain, unless it is not finite."""
    one = 1 if operator == SOFTMAX else 0
    x = np.tile([1.5, -0.0, -math.inf, 6e4, math.inf, math.nan], count).astype(dtype)
    expected = np.tile([one, one, math.nan, one, math.nan, math.nan], count)
    for shape, dim in (((x.size, 1), 1), ((1, x.size), 0), ((2, 1, x.size // 2), 1)):
        assert_equal(case(operator, x.reshape(shape), dim, np.full(shape, 7, dtype)).run(), expected.reshape(shape))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dim", [-1, 0])
def test_softmax_of_a_number_is_one(dtype: np.dtype, dim: int, device: int) -> None:
    assert_equal(valid(SOFTMAX, (), dtype, dim).run(), 1.0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dim", [-1, 0])
def test_log_softmax_of_a_number_is_zero(dtype: np.dtype, dim: int, device: int) -> None:
    assert_equal(valid(LOG_SOFTMAX, (), dtype, dim).run(), 0.0)


@both
def test_an_empty_input_succeeds_whatever_the_output_is(operator: str, device: int) -> None:
    call = valid(operator).but(self=np.zeros((0, 3), FLOAT), out=np.full((2, 2), 7, FLOAT))
    assert_equal(call.run(), np.full((2, 2), 7))
    assert call.but(dim=2).status() == ACLNN_ERR_PARAM_INVALID


@both
@pytest.mark.parametrize("dim", range(-8, 8))
def test_eight_dimensions(operator: str, dim: int, device: int) -> None:
    assert_right(valid(operator, (2, 1, 2, 1, 2, 1, 2, 3), FLOAT, dim), 5)


@both
@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)], ids=str)
def test_empty(operator: str, shape: tuple[int, ...], device: int, chip) -> None:
    chip("Ascend310B1")
    call = valid(operator, shape)
    assert call.plan() == (0, 0)
    assert call.run().shape == shape


ERRORS = [
    ({"self": Meta((2, 3), np.int32)}, "self"),
    ({"self": Meta((2, 3), np.complex64)}, "self"),
    ({"out": Meta((2, 3), np.int32)}, "out"),
    ({"out": Meta((3, 2), FLOAT)}, "out"),
    ({"out": Meta((6,), FLOAT)}, "out"),
    ({"dim": 2}, "dim"),
    ({"dim": -3}, "dim"),
    ({"self": Meta((1,) * 9, FLOAT)}, "self"),
]


@both
@pytest.mark.parametrize(("changes", "named"), ERRORS, ids=lambda item: str(item)[:60])
def test_parameter_errors(operator: str, changes: dict, named: str) -> None:
    assert valid(operator).but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


ORDER = [
    ({"out": None, "self": Meta((2, 3), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "out"),
    ({"out": Meta((3, 2), np.int8), "dim": 9}, ACLNN_ERR_PARAM_INVALID, "out has dtype"),
    ({"out": Meta((3, 2), FLOAT), "dim": 9}, ACLNN_ERR_PARAM_INVALID, "dim is 9"),
]


@both
@pytest.mark.parametrize(("changes", "status", "text"), ORDER, ids=lambda item: str(item)[:60])
def test_order_of_checks(operator: str, changes: dict, status: int, text: str) -> None:
    assert valid(operator).but(**changes).status() == status
    assert text in message()


@both
def test_products(operator: str, chip) -> None:
    assert products_of(valid(operator, dtype=DOUBLE), chip) == {"950", "A3", "A2", "310P", "910"} | (
        {"310B"} if operator == SOFTMAX else set()
    )


@both
@pytest.mark.parametrize("changed", ["self", "out"])
def test_no_bf16_without_hardware_for_it(operator: str, changed: str, chip) -> None:
    for soc in ("Ascend310P3", "Ascend910A"):
        chip(soc)
        assert valid(operator).but(**{changed: Meta((2, 3), BF16)}).status() == ACLNN_ERR_PARAM_INVALID


def test_softmax_has_no_bf16_on_310b(chip) -> None:
    chip("Ascend310B1")
    for changes in ({"self": Meta((2, 3), BF16)}, {"out": Meta((2, 3), BF16)}):
        assert valid(SOFTMAX).but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert valid(SOFTMAX, dtype=FLOAT16).status() == 0
