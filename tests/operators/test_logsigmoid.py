"""aclnnLogSigmoid, aclnnLogSigmoidForward and aclnnLogSigmoidBackward."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACL_FORMAT_FRACTAL_NZ, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import float_dtypes, floats, layouts, shapes
from tests.operators.products import products_of

PLAIN, FORWARD, BACKWARD = "aclnnLogSigmoid", "aclnnLogSigmoidForward", "aclnnLogSigmoidBackward"
ALL = (PLAIN, FORWARD, BACKWARD)
every = pytest.mark.parametrize("operator", ALL)


def case(operator: str, x: Array, grad: Array | None = None) -> Case:
    if operator == BACKWARD:
        arguments = {"gradOutput": grad, "self": x, "buffer": numbers(x.shape, x.dtype, 8), "gradInput": numbers(x.shape, x.dtype, 9)}
        return Case(operator, arguments)
    out = {"self": x, "out": numbers(x.shape, x.dtype, 9)}
    return Case(operator, {**out, "buffer": None} if operator == FORWARD else out)


def valid(operator: str, shape: tuple[int, ...] = (2, 3), dtype=FLOAT) -> Case:
    return case(operator, numbers(shape, dtype, 1, 4), numbers(shape, dtype, 2))


def golden(call: Case) -> Array:
    """The page's formulas, each number on the side where it does not overflow."""
    x = call.arguments["self"].astype(np.float64)
    if call.operator == BACKWARD:
        grad = call.arguments["gradOutput"].astype(np.float64)
        slopes = [1 / (1 + math.exp(v)) if v < 700 else 0.0 for v in x.ravel()]
        return grad * np.reshape(slopes, x.shape)
    values = [-math.log1p(math.exp(-v)) if v > 0 else v - math.log1p(math.exp(v)) for v in x.ravel()]
    return np.reshape(values, x.shape)


@pytest.mark.parametrize("operator", [PLAIN, FORWARD])
def test_documented_sample(operator: str, device: int) -> None:
    call = case(operator, np.arange(1, 9, dtype=np.float32).reshape(4, 2))
    assert_accurate(call.run().ravel(), [math.log(1 / (1 + math.exp(-x))) for x in range(1, 9)])


def test_documented_sample_of_the_gradient(device: int) -> None:
    call = case(BACKWARD, np.arange(1, 5, dtype=np.float32).reshape(2, 2), np.ones((2, 2), np.float32))
    assert_accurate(call.run().ravel(), [1 / (1 + math.exp(x)) for x in range(1, 5)])


@every
@given(st.data())
def test_values(device: int, operator: str, data: st.DataObject) -> None:
    shape, dtype = data.draw(shapes(least_dims=1, most_dims=5)), data.draw(float_dtypes)
    x = data.draw(floats(shape, dtype, data.draw(st.sampled_from((1.0, 30.0)))))
    call = case(operator, x, data.draw(floats(shape, dtype)))
    assert_accurate(call.run(data.draw(layouts)), golden(call))


@every
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_far_out(operator: str, dtype: np.dtype, device: int) -> None:
    x = np.array([-6e4, -100, -17, 0, 17, 88, 100, 6e4]).astype(dtype)
    call = case(operator, x, np.ones_like(x))
    assert_accurate(call.run(), golden(call))


@pytest.mark.parametrize("operator", [PLAIN, FORWARD])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("elements", [8, 1 << 15])
def test_what_is_too_small_for_a_number_is_still_negative(operator: str, dtype: np.dtype, elements: int, device: int) -> None:
    """However many elements there are, and so whatever they are evaluated in."""
    found = case(operator, np.linspace(200, 700, elements).astype(dtype)).run()
    assert_equal(found, np.zeros(elements))
    assert np.signbit(found).all()


def test_large_slopes_far_out(device: int) -> None:
    """A tensor that is evaluated in float32: exponentials too large for it beside others, whose slopes are not nothing."""
    x = np.linspace(-120, 160, 1 << 15, dtype=np.float32).reshape(256, 128).T
    call = case(BACKWARD, x, np.full(x.shape, 1e38, np.float32))
    assert_accurate(call.run(), golden(call))


@every
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_infinities_and_nan(operator: str, dtype: np.dtype, device: int) -> None:
    x = np.array([-math.inf, math.inf, math.nan]).astype(dtype)
    expected = [1, 0, math.nan] if operator == BACKWARD else [-math.inf, 0, math.nan]
    assert_equal(case(operator, x, np.ones_like(x)).run(), expected)


def test_the_buffer_of_forward_is_left_alone(device: int) -> None:
    for buffer in (numbers((7,), np.int32, 3), numbers((2, 3), np.float32, 4), np.zeros(0, np.float16)):
        out, untouched = valid(FORWARD).but(buffer=buffer).results(2)
        assert_accurate(out, golden(valid(FORWARD)))
        assert_equal(untouched, buffer)


def test_the_buffer_of_the_gradient_is_not_looked_at(device: int) -> None:
    """torch passes an empty one."""
    for buffer in (np.zeros(0, np.float32), numbers((7,), np.int32, 3), None):
        assert_accurate(valid(BACKWARD).but(buffer=buffer).run(2), golden(valid(BACKWARD)))


@every
@pytest.mark.parametrize("shape", [(), (2,) * 9, (1,) * 20 + (3,)], ids=str)
def test_any_rank(operator: str, shape: tuple[int, ...], device: int) -> None:
    for layout in (0, 3):
        assert_accurate(valid(operator, shape).run(layout), golden(valid(operator, shape)))


@every
@pytest.mark.parametrize("shape", [(0,), (3, 0)], ids=str)
def test_empty(operator: str, shape: tuple[int, ...], device: int, chip) -> None:
    chip("Ascend310B1")
    assert valid(operator, shape).plan() == (0, 0)
    assert valid(operator, shape).run().shape == shape


ERRORS = [
    *(
        (operator, {"self": wrong}, "self")
        for operator in ALL
        for wrong in (Meta((2, 3), np.float64), Meta((2, 3), FLOAT, format=ACL_FORMAT_FRACTAL_NZ))
    ),
    *((operator, {"out": wrong}, "out") for operator in (PLAIN, FORWARD) for wrong in (Meta((2, 3), BF16), Meta((3, 2), FLOAT))),
    *((BACKWARD, {name: Meta((2, 3), FLOAT16)}, name) for name in ("self", "gradInput")),
    *((BACKWARD, {name: Meta((3, 2), FLOAT)}, name) for name in ("self", "gradInput")),
    (BACKWARD, {"gradOutput": Meta((2, 3), np.int32)}, "gradOutput"),
]


@pytest.mark.parametrize(("operator", "changes", "named"), ERRORS, ids=lambda item: str(item)[:60])
def test_parameter_errors(operator: str, changes: dict, named: str) -> None:
    assert valid(operator).but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


ORDER = [
    (PLAIN, {"out": None, "self": Meta((2, 3), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "out"),
    (PLAIN, {"out": Meta((3, 2), FLOAT16)}, ACLNN_ERR_PARAM_INVALID, "out has dtype"),
    (BACKWARD, {"buffer": Meta((3, 2), FLOAT), "gradInput": Meta((2, 3), FLOAT16)}, ACLNN_ERR_PARAM_INVALID, "gradInput has dtype"),
]


@pytest.mark.parametrize(("operator", "changes", "status", "text"), ORDER, ids=lambda item: str(item)[:60])
def test_order_of_checks(operator: str, changes: dict, status: int, text: str) -> None:
    assert valid(operator).but(**changes).status() == status
    assert text in message()


@every
def test_products(operator: str, chip) -> None:
    assert products_of(valid(operator), chip) == {"950", "A3", "A2", "910"} | ({"310P"} if operator != PLAIN else set())


@every
def test_no_bf16_without_hardware_for_it(operator: str, chip) -> None:
    for soc in ("Ascend310P3", "Ascend910A"):
        chip(soc)
        assert valid(operator, dtype=BF16).status() == ACLNN_ERR_PARAM_INVALID
