"""aclnnKlDivBackward and aclnnKlDivTargetBackward."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aclnnop
from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from acl_emu.tools import describe
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import broadcasting_shapes, float_dtypes, floats, layouts

NONE, MEAN, SUM, BATCHMEAN = 0, 1, 2, 3
SELF, TARGET = ("aclnnKlDivBackward", "self", "out"), ("aclnnKlDivTargetBackward", "target", "gradTarget")
both = pytest.mark.parametrize(("operator", "of", "out"), [SELF, TARGET], ids=["self", "target"])
INVALID = ACLNN_ERR_PARAM_INVALID


def slope(of: str, x: Array, t: Array, log_target: bool) -> Array:
    if of == "self":
        return -np.exp(t) + 0 * x if log_target else np.where(t > 0, -t, 0 * t) + 0 * x
    return np.exp(t) * (t - x + 1) if log_target else np.log(t) - x + 1


def golden(case: Case, of: str) -> tuple[Array, Array]:
    """Gradient with respect to one input, element by element of the loss, and the sum of its terms' sizes."""
    arguments = case.arguments
    grad, x, t = (arguments[name].astype(np.longdouble) for name in ("gradOutput", "self", "target"))
    shape = np.broadcast_shapes(x.shape, t.shape)
    count = {MEAN: math.prod(shape), BATCHMEAN: x.shape[0] if x.ndim else 1}.get(arguments["reduction"], 1)
    with np.errstate(all="ignore"):
        terms = np.broadcast_to(grad * slope(of, x, t, arguments["logTarget"]) / count, shape)
    result, sizes = np.zeros(arguments[of].shape, np.longdouble), np.zeros(arguments[of].shape)
    where = np.broadcast_to(np.arange(result.size).reshape(result.shape), shape)
    np.add.at(result.reshape(-1), where.ravel(), terms.ravel())
    np.add.at(sizes.reshape(-1), where.ravel(), np.abs(terms).ravel())
    return result, sizes


def case(operator: str, grad: Array, x: Array, t: Array, reduction: int = NONE, log_target: bool = False) -> Case:
    _, of, out = SELF if operator == SELF[0] else TARGET
    like = x if of == "self" else t
    arguments = {"gradOutput": grad, "self": x, "target": t, "reduction": reduction, "logTarget": log_target}
    return Case(operator, {**arguments, out: np.full(like.shape, 7, like.dtype)})


def valid(operator: str, shape: tuple[int, ...] = (2, 3), dtype: Any = FLOAT) -> Case:
    grad, x, t = (numbers(shape, dtype, seed) for seed in range(3))
    return case(operator, grad, x, np.abs(t))


@both
@given(st.data())
def test_values(operator: str, of: str, out: str, device: int, data: st.DataObject) -> None:
    shapes = data.draw(broadcasting_shapes(2))
    log_target = data.draw(st.booleans())
    x, t = (data.draw(floats(shape, data.draw(float_dtypes))) for shape in shapes.input_shapes)
    grad_shape = tuple(data.draw(st.sampled_from((1, n))) for n in shapes.result_shape)
    grad = data.draw(floats(grad_shape, data.draw(float_dtypes)))
    t = t if log_target or of == "self" else np.abs(t) + np.asarray(0.125, t.dtype)
    call = case(operator, grad, x, t, data.draw(st.sampled_from((NONE, MEAN, SUM, BATCHMEAN))), log_target)
    types = {grad.dtype, x.dtype, t.dtype}
    expected, sizes = golden(call, of)
    assert_accurate(call.run(data.draw(layouts)), expected, via=types.pop() if len(types) == 1 else FLOAT, largest=sizes)


def test_documented_samples(device: int) -> None:
    values = np.array([[2, 3], [5, 8]], np.float32)
    assert_equal(case(SELF[0], values, values, values).run(), [[-4, -9], [-25, -64]])
    by_hand = [v * (math.log(v) - v + 1) for v in (2, 3, 5, 8)]
    assert_accurate(case(TARGET[0], values, values, values).run().ravel(), by_hand)


def test_targets_that_are_no_probabilities(device: int) -> None:
    """They have no slope with respect to self; with respect to themselves the formula decides."""
    t, one = np.array([0, -1, math.inf, math.nan], np.float32), np.ones(4, np.float32)
    assert_equal(case(SELF[0], one, one, t).run(), [0, 0, -math.inf, math.nan])
    assert_equal(case(SELF[0], one, one, t, log_target=True).run()[[0, 2, 3]], [-1, -math.inf, math.nan])
    assert_equal(case(TARGET[0], one, one, t).run(), [-math.inf, math.nan, math.inf, math.nan])


@both
def test_empty_and_zero_dimensional(operator: str, of: str, out: str, device: int) -> None:
    assert valid(operator, (2, 0)).plan() == (0, 0)
    call = valid(operator, (), FLOAT16).but(reduction=BATCHMEAN)
    assert_accurate(call.run(), golden(call, of)[0])
    nothing = valid(operator, (1,)).but(gradOutput=np.ones(0, FLOAT), **{"self" if of == "target" else "target": np.ones(0, FLOAT)})
    assert_equal(nothing.run(), [0])


@both
def test_a_reduction_outside_the_set_is_no_mean(operator: str, of: str, out: str, device: int) -> None:
    for reduction in (-1, 4, 2**40):
        assert_equal(valid(operator).but(reduction=reduction).run(), valid(operator).run())


@both
def test_errors(operator: str, of: str, out: str) -> None:
    other = "self" if of == "target" else "target"
    odd, deep = Meta((2, 4), FLOAT), Meta((1,) * 9, FLOAT)
    errors: list[tuple[dict[str, Any], int, str]] = [
        ({out: None, of: Meta((2, 3), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, out),
        ({of: Meta((2, 3), np.int8), "gradOutput": deep}, INVALID, f"{of} has dtype"),
        ({"gradOutput": deep, other: odd}, INVALID, "gradOutput has 9 dimensions"),
        ({out: Meta((2, 3), BF16)}, INVALID, f"{out} has dtype"),
        ({other: odd}, INVALID, "does not broadcast"),
        ({"gradOutput": odd}, INVALID, "gradOutput has shape"),
        ({"gradOutput": Meta((4, 2, 3), FLOAT)}, INVALID, "gradOutput has shape"),
        ({out: Meta((1, 3), FLOAT)}, INVALID, f"{out} has shape"),
        ({other: Meta((4, 2, 3), FLOAT), out: Meta((4, 2, 3), FLOAT)}, INVALID, f"{out} has shape"),
    ]
    for changes, status, text in errors:
        assert valid(operator).but(**changes).status() == status, changes
        assert text in message()
    assert valid(operator).but(**{other: Meta((4, 2, 3), FLOAT16), "gradOutput": Meta((4, 1, 3), BF16)}).status() == 0


@both
def test_products(operator: str, of: str, out: str) -> None:
    assert describe.products(aclnnop.find(operator)) == "950, A3, A2"
