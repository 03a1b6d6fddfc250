"""aclnnScaledMaskedSoftmax and aclnnScaledMaskedSoftmaxBackward."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACL_FORMAT_FRACTAL_NZ, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, ULPS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import float_dtypes, floats, layouts
from tests.operators.products import products_of

FORWARD, BACKWARD = "aclnnScaledMaskedSoftmax", "aclnnScaledMaskedSoftmaxBackward"
both = pytest.mark.parametrize("operator", [FORWARD, BACKWARD])
SHAPE = (2, 3, 4, 5)


def forward(x: Array, mask: Array, scale: float) -> Case:
    return Case(FORWARD, {"x": x, "mask": mask, "scale": scale, "fixTriuMask": False, "y": numbers(x.shape, x.dtype, 9)})


def backward(grad: Array, y: Array, mask: Array, scale: float) -> Case:
    arguments = {"gradOutput": grad, "y": y, "mask": mask, "scale": scale, "fixTriuMask": False, "out": numbers(y.shape, y.dtype, 9)}
    return Case(BACKWARD, arguments)


def random_mask(shape: tuple[int, ...], seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(0, 2, shape).astype(np.bool_)


def valid(operator: str, shape: tuple[int, ...] = SHAPE, dtype=FLOAT) -> Case:
    x, grad, mask = numbers(shape, dtype, 1), numbers(shape, dtype, 2), random_mask(shape)
    return forward(x, mask, 0.7) if operator == FORWARD else backward(grad, np.abs(x), mask, 0.7)


def assert_right(call: Case, layout: int = 0, ulps: float = ULPS) -> None:
    """Row by row in float64: a masked score counts as -10000, a masked slope as 0."""
    given, shape = call.arguments, call.arguments["y"].shape
    mask, scale = np.broadcast_to(given["mask"], shape), given["scale"]
    golden, largest = np.empty(shape), np.zeros(shape)
    for row in np.ndindex(shape[:-1]):
        if call.operator == FORWARD:
            scores = [-10000.0 if hidden else scale * x for x, hidden in zip(given["x"][row].astype(float), mask[row], strict=True)]
            largest_score = max(scores)
            terms = [math.exp(score - largest_score) for score in scores]
            golden[row] = np.array(terms) / math.fsum(terms)
        else:
            grad, y = (given[name][row].astype(np.float64) for name in ("gradOutput", "y"))
            golden[row] = np.where(mask[row], 0, (grad * y - math.fsum(grad * y) * y) * scale)
            largest[row] = (np.abs(grad * y) + np.abs(math.fsum(grad * y) * y)) * abs(scale)
    assert_accurate(call.run(layout), golden, largest=largest, ulps=ulps)


def test_documented_samples(device: int) -> None:
    """Rows are masked as a whole on the pages: equal shares forward, nothing backward."""
    x = np.arange(1, 17, dtype=np.float32).reshape(2, 2, 2, 2)
    mask = np.tile([True, True, False, False], 4).reshape(2, 2, 2, 2)
    share = math.e / (1 + math.e)
    assert_accurate(forward(x, mask, 1.0).run().reshape(-1, 4), np.tile([0.5, 0.5, 1 - share, share], (4, 1)))
    rows = x.reshape(-1, 2).astype(np.float64)
    expected = (rows * rows - (rows * rows).sum(axis=1, keepdims=True) * rows) * (np.arange(8) % 2)[:, np.newaxis]
    assert_equal(backward(x, x, mask, 1.0).run().reshape(-1, 2), expected)


@pytest.mark.parametrize("scale", [0.08838834764831845, -0.3, 1e-3, 7.7])
def test_large_scores_keep_their_digits(device: int, scale: float) -> None:
    """A scaled score of some hundreds is rounded in float32 before its exponential is taken."""
    x = np.random.default_rng(3).normal(0, 4, (1, 2, 9, 1024)).astype(np.float32)
    x[0, 0] += np.float32(300 / scale)
    x[0, 1, 0, :5] = -np.inf if scale > 0 else np.inf
    assert_right(forward(x, random_mask(x.shape, 4), scale), ulps=512)


@both
@given(st.data())
def test_values(device: int, operator: str, data: st.DataObject) -> None:
    """Types, masks that broadcast, scales, strides."""
    shape = tuple(data.draw(st.integers(1, 4)) for _ in range(4))
    first, second = (data.draw(st.sampled_from((1, length))) for length in shape[:2])
    mask = random_mask((first, second, *shape[2:]), data.draw(st.integers(0, 100)))
    dtype, scale = data.draw(float_dtypes), data.draw(st.sampled_from((0.0, -1.5, 0.125, 0.3, 40.0)))
    x, grad = data.draw(floats(shape, dtype)), data.draw(floats(shape, dtype))
    assert_right(forward(x, mask, scale) if operator == FORWARD else backward(grad, x, mask, scale), data.draw(layouts))


def test_longest_rows(device: int) -> None:
    assert_right(valid(FORWARD, (1, 1, 2, 4096)))
    assert_right(valid(BACKWARD, (1, 1, 2, 4096)))


def test_a_row_masked_as_a_whole_is_shared_evenly(device: int) -> None:
    assert_equal(forward(numbers((1, 1, 1, 4), np.float16, 1, 9), np.ones((1, 1, 1, 4), np.bool_), 2.0).run(), np.full((1, 1, 1, 4), 0.25))


def test_infinities_and_nan(device: int) -> None:
    """What is masked does no harm."""
    x = np.array([math.inf, 0, math.nan, 0, 1, math.inf, 1, -math.inf], np.float32).reshape(1, 1, 4, 2)
    mask = np.array([1, 0, 1, 0, 0, 0, 0, 0], np.bool_).reshape(1, 1, 4, 2)
    result = forward(x, mask, 1.0).run()
    assert_equal(result[0, 0], [[0, 1], [0, 1], [math.nan, math.nan], [1, 0]])


@both
@pytest.mark.parametrize("shape", [(0, 3, 4, 5), (2, 0, 4, 5), (2, 3, 0, 5)], ids=str)
def test_empty(operator: str, shape: tuple[int, ...], device: int, chip) -> None:
    chip("Ascend310P3")
    assert valid(operator, shape).plan() == (0, 0)
    assert valid(operator, shape).run().shape == shape


def test_forward_needs_a_mask() -> None:
    """Unless it is asked to make one, which it cannot yet."""
    assert valid(FORWARD).but(mask=None).status() == ACLNN_ERR_PARAM_NULLPTR
    assert "mask" in message()
    assert valid(FORWARD).but(mask=None, fixTriuMask=True).status() == ACLNN_ERR_PARAM_INVALID
    assert "fixTriuMask is true" in message()


def resized(operator: str, last: int) -> dict:
    changes = {name: Meta((2, 3, 4, last), FLOAT) for name in valid(operator).arguments if name in ("x", "y", "gradOutput", "out")}
    return {**changes, "mask": Meta((2, 3, 4, last), np.bool_)}


ERRORS = [
    *(
        (operator, changes, named)
        for operator in (FORWARD, BACKWARD)
        for changes, named in (
            ({"y": Meta(SHAPE, np.float64)}, "y"),
            ({"y": Meta(SHAPE, FLOAT16)}, "y"),
            ({"y": Meta((2, 3, 5, 4), FLOAT)}, "y"),
            ({"mask": Meta(SHAPE, np.uint8)}, "mask"),
            ({"mask": Meta((3, 4, 5), np.bool_)}, "mask"),
            ({"mask": Meta((2, 2, 4, 5), np.bool_)}, "mask"),
            ({"mask": Meta((2, 3, 1, 5), np.bool_)}, "mask"),
            ({"mask": Meta((2, 3, 4, 1), np.bool_)}, "mask"),
            ({"fixTriuMask": True}, "fixTriuMask"),
            (resized(operator, 0), "x" if operator == FORWARD else "gradOutput"),
            (resized(operator, 4097), "x" if operator == FORWARD else "gradOutput"),
        )
    ),
    (FORWARD, {"x": Meta((3, 4, 5), FLOAT)}, "x"),
    (BACKWARD, {"out": Meta(SHAPE, BF16)}, "out"),
    (BACKWARD, {"out": Meta((2, 3, 4, 4), FLOAT)}, "out"),
    (BACKWARD, {"gradOutput": Meta(SHAPE, FLOAT, format=ACL_FORMAT_FRACTAL_NZ)}, "gradOutput"),
]


@pytest.mark.parametrize(("operator", "changes", "named"), ERRORS, ids=lambda item: str(item)[:60])
def test_parameter_errors(operator: str, changes: dict, named: str) -> None:
    assert valid(operator).but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


ORDER = [
    (FORWARD, {"mask": None, "x": Meta(SHAPE, np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "mask"),
    (BACKWARD, {"out": None, "y": Meta(SHAPE, np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "out"),
    (FORWARD, {"mask": Meta(SHAPE, np.int8), "fixTriuMask": True}, ACLNN_ERR_PARAM_INVALID, "mask has dtype"),
    (BACKWARD, {"mask": Meta((1, 1, 1, 1), np.bool_), "fixTriuMask": True}, ACLNN_ERR_PARAM_INVALID, "fixTriuMask is true"),
]


@pytest.mark.parametrize(("operator", "changes", "status", "text"), ORDER, ids=lambda item: str(item)[:60])
def test_order_of_checks(operator: str, changes: dict, status: int, text: str) -> None:
    assert valid(operator).but(**changes).status() == status
    assert text in message()


@both
def test_products(operator: str, chip) -> None:
    assert products_of(valid(operator), chip) == {"A3", "A2"}
