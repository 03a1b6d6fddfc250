"""aclnnNLLLoss, aclnnNLLLoss2d and aclnnNLLLossBackward; aclnnNLLLoss2dBackward has a file of its own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import (
    ACL_ERROR_RT_AICORE_EXCEPTION,
    ACL_FORMAT_FRACTAL_NZ,
    ACL_FORMAT_NCHW,
    ACLNN_ERR_INNER_NULLPTR,
    ACLNN_ERR_PARAM_INVALID,
    ACLNN_ERR_PARAM_NULLPTR,
)
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, Refused, numbers
from tests.operators.drawing import float_dtypes, floats, layouts
from tests.operators.refusals import assert_refused

NONE, MEAN, SUM = 0, 1, 2
INDEXES = (np.int64, np.int32, np.uint8)
ROWS, IMAGES, BACKWARD = "aclnnNLLLoss", "aclnnNLLLoss2d", "aclnnNLLLossBackward"


def places(call: Case):
    """Every target: its place in the loss, its class, its place in self."""
    target, shape = call.arguments["target"], call.arguments["self"].shape
    axis = min(1, len(shape) - 1)
    for place in np.ndindex(target.shape):
        t = int(target[place])
        yield place, t, (*place[:axis], t, *place[axis:]), 0 <= t < shape[axis]


def golden(call: Case) -> tuple[Array, float, float]:
    """The documented formula in float64, target by target: loss, total weight, largest term."""
    x, target, weight = (call.arguments[name] for name in ("self", "target", "weight"))
    losses, total = np.zeros(target.shape), 0.0
    for place, t, where, inside in places(call):
        if t != call.arguments["ignoreIndex"] and inside:
            losses[place] = -np.float64(weight[t]) * np.float64(x[where])
            total += float(weight[t])
    reduction = call.arguments["reduction"]
    if reduction == NONE:
        return losses, total, 0
    summed = np.float64(math.fsum(losses.ravel()))
    with np.errstate(all="ignore"):
        return (summed / np.float64(total) if reduction == MEAN else summed), total, float(np.abs(losses).max(initial=0))


def valid(operator: str = ROWS, shape: tuple[int, ...] = (6, 5), dtype=FLOAT, index=np.int64, reduction: int = NONE, ignored=-100) -> Case:
    classes = shape[min(1, len(shape) - 1)]
    lead = shape[:1] + shape[2:] if len(shape) > 1 else ()
    arguments = {
        "self": numbers(shape, dtype, 2),
        "target": np.random.default_rng(3).integers(0, max(classes, 1), lead).astype(index),
        "weight": np.abs(numbers((classes,), dtype, 4)),
        "reduction": reduction,
        "ignoreIndex": ignored,
    }
    single = reduction != NONE or not lead
    if operator == BACKWARD:
        more = {"totalWeight": np.array([1.7], dtype), "gradOutput": numbers((1,) if single else lead, dtype, 1), "out": arguments["self"]}
    else:
        more = {"out": numbers((1,) if single else lead, dtype, 5), "totalWeightOut": numbers((1,), dtype, 6)}
    return Case(operator, {**arguments, **more})


def images(**changes) -> Case:
    return valid(IMAGES, (2, 5, 3, 4), **changes)


def backward(**changes) -> Case:
    return valid(BACKWARD, **changes)


def test_documented_samples(device: int) -> None:
    weight = np.array([1.1, 1.2, 1.3], np.float32)
    rows = valid(shape=(2, 3)).but(self=np.arange(6, dtype=np.float32).reshape(2, 3), target=np.array([0, 2], np.int32), weight=weight)
    assert_accurate(rows.results()[0], [0, -5 * float(weight[2])])
    grad = backward(shape=(2, 3)).but(
        gradOutput=np.array([3.1, 6.5], np.float32), target=np.array([0, 2], np.int32), weight=weight, totalWeight=np.zeros(1, np.float32)
    )
    assert_accurate(
        grad.run().ravel(), [float(np.float32(3.1)) * -float(weight[0]), 0, 0, 0, 0, float(np.float32(6.5)) * -float(weight[2])]
    )


def test_documented_sample_of_images(device: int) -> None:
    """Its fifth target is 2, of two classes: such a pixel has no loss."""
    x, weight = (np.arange(12) + 0.1).astype(np.float32).reshape(1, 2, 3, 2), np.array([1.1, 1.2], np.float32)
    call = valid(IMAGES, (1, 2, 3, 2)).but(self=x, target=np.array([1, 0, 1, 1, 2, 1], np.int32).reshape(1, 3, 2), weight=weight)
    terms = [(6, 1), (1, 0), (8, 1), (9, 1), None, (11, 1)]
    expected = [0 if term is None else -float(x.ravel()[term[0]]) * float(weight[term[1]]) for term in terms]
    assert_accurate(call.results()[0].ravel(), expected)


@given(st.data())
def test_values(device: int, data: st.DataObject) -> None:
    """Types, ranks, reductions, ignored and foreign classes, strides; the outputs of rows may have other types."""
    operator = data.draw(st.sampled_from((ROWS, IMAGES)))
    lengths = [data.draw(st.integers(1, 6)) for _ in range(data.draw(st.integers(1, 2)) if operator == ROWS else 4)]
    dtype, index = data.draw(float_dtypes), data.draw(st.sampled_from(INDEXES))
    reduction, ignored = data.draw(st.sampled_from((NONE, MEAN, SUM))), data.draw(st.integers(-1, 6))
    call = valid(operator, tuple(lengths), dtype, index, reduction, ignored)
    low = data.draw(st.sampled_from((0, 0 if index is np.uint8 else -1)))
    target = np.random.default_rng(data.draw(st.integers(0, 99))).integers(
        low, lengths[min(1, len(lengths) - 1)] + 1, call.arguments["target"].shape
    )
    single = call.arguments["out"].size == 1 and call.arguments["out"].ndim == 1 and (reduction != NONE or len(lengths) == 1)
    out = data.draw(float_dtypes) if operator == ROWS else dtype
    call = call.but(
        self=data.draw(floats(tuple(lengths), dtype, special=reduction == NONE)),
        target=np.asarray(target).astype(index),
        out=numbers(data.draw(st.sampled_from(((), (1,)))) if single else call.arguments["out"].shape, out),
        totalWeightOut=numbers(data.draw(st.sampled_from(((), (1,)))), out),
    )
    with np.errstate(all="ignore"):
        expected, total, largest = golden(call)
    loss, weights = call.results(data.draw(layouts))
    assert_accurate(loss.reshape(np.shape(expected)), expected, via=dtype, largest=largest)
    if reduction == NONE:
        assert weights.tobytes() == call.arguments["totalWeightOut"].tobytes()
    else:
        assert_accurate(weights.ravel(), np.array([total]), via=dtype)


@given(st.data())
def test_gradient_values(device: int, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(((5,), (1, 5), (4, 3), (6, 7))))
    dtype, index = data.draw(float_dtypes), data.draw(st.sampled_from(INDEXES))
    call = backward(
        shape=shape,
        dtype=dtype,
        index=index,
        reduction=data.draw(st.sampled_from((NONE, MEAN, SUM))),
        ignored=data.draw(st.integers(-1, 6)),
    )
    grad_shape = call.arguments["gradOutput"].shape
    if call.arguments["reduction"] != NONE or len(shape) == 1:
        grad_shape = data.draw(st.sampled_from(((), (1,))))
    call = call.but(
        gradOutput=data.draw(floats(grad_shape, dtype, special=True)), weight=data.draw(floats(shape[-1:], dtype, special=True))
    )
    expected = np.zeros(shape)
    for place, t, where, _ in places(call):
        if t != call.arguments["ignoreIndex"]:
            grad = call.arguments["gradOutput"]
            scale = np.float64(grad[place] if grad.shape == call.arguments["target"].shape else grad.ravel()[0])
            divisor = np.float64(call.arguments["totalWeight"][0]) if call.arguments["reduction"] == MEAN else 1
            with np.errstate(all="ignore"):
                expected[where] = -np.float64(call.arguments["weight"][t]) * scale / divisor
    assert_accurate(call.run(data.draw(layouts)), expected)


def test_a_long_sum(device: int) -> None:
    call = valid(shape=(20000, 7), reduction=MEAN)
    expected, total, _ = golden(call)
    loss, weights = call.results()
    assert_accurate(loss[0], expected)
    assert_accurate(weights[0], total)


def test_nothing_counts(device: int) -> None:
    """A mean over no weight is 0 / 0."""
    for reduction, expected in ((NONE, np.zeros(6)), (MEAN, [math.nan]), (SUM, [0])):
        call = valid(reduction=reduction, ignored=2)
        call.arguments["target"][...] = 2
        assert_equal(call.results()[0], expected)


@pytest.mark.parametrize("bad", [5, -1, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("reduction", [NONE, MEAN, SUM])
def test_foreign_targets(bad: int, reduction: int, device: int, chip) -> None:
    """They count for nothing, as ignored ones; on 950 they stop the device."""
    ignored = [make(reduction=reduction, ignored=-100) for make in (valid, backward)]
    foreign = [make(reduction=reduction, ignored=-100) for make in (valid, backward)]
    for each, other in zip(ignored, foreign, strict=True):
        each.arguments["target"][3], other.arguments["target"][3] = -100, bad
        for result, expected in zip(other.results(4), each.results(4), strict=True):
            assert_equal(result, expected)
    chip("Ascend950PR_9589")
    for each, other in zip(ignored, foreign, strict=True):
        assert each.refused(4) == other.status() == 0
        with pytest.raises(Refused, match=rf"target\[3\] is {bad}, outside \[0, 4\]") as refusal:
            other.results(4)
        assert refusal.value.status == ACL_ERROR_RT_AICORE_EXCEPTION


def test_half_results_of_images(device: int) -> None:
    for reduction in (NONE, MEAN):
        call = images(reduction=reduction)
        wide = call.results()
        half = call.but(**{name: call.arguments[name].astype(FLOAT16) for name in ("out", "totalWeightOut")}).results()
        assert_equal(half[0], wide[0].astype(FLOAT16))
        assert reduction == NONE or half[1] == wide[1].astype(FLOAT16)


def test_empty(device: int) -> None:
    assert (
        valid(shape=(0, 5)).plan()
        == images(dtype=BF16).but(self=Meta((0, 5, 3, 4), BF16), target=Meta((0, 3, 4), np.int64), out=Meta((0, 3, 4), BF16)).plan()
        == (0, 0)
    )
    assert backward(shape=(0, 5)).plan() == backward(shape=(5, 0)).plan() == (0, 0)
    assert valid(shape=(6, 0)).plan() == (0, 0)
    for reduction, expected in ((MEAN, math.nan), (SUM, 0)):
        loss, total = valid(shape=(0, 5), reduction=reduction).results()
        assert_equal(loss, [expected])
        assert_equal(total, [0])


ERRORS = [
    (valid(), {"weight": Meta((5,), FLOAT16)}, "weight"),
    (valid(), {"self": Meta((6, 5), np.float64)}, "self"),
    (valid(), {"target": Meta((6,), np.int16)}, "target"),
    (valid(), {"weight": Meta((5,), np.int32)}, "weight"),
    (valid(), {"self": Meta((6, 5, 1), FLOAT)}, "self"),
    (valid(), {"self": Meta((), FLOAT)}, "self"),
    (valid(), {"target": Meta((5,), np.int64)}, "target"),
    (valid(), {"target": Meta((6, 1), np.int64)}, "target"),
    (valid(shape=(5,)), {"target": Meta((1,), np.int64)}, "target"),
    (valid(), {"weight": Meta((6,), FLOAT)}, "weight"),
    (valid(), {"out": Meta((1,), FLOAT)}, "out"),
    (valid(), {"out": Meta((6, 1), FLOAT)}, "out"),
    (valid(reduction=MEAN), {"out": Meta((6,), FLOAT)}, "out"),
    (valid(reduction=SUM), {"out": Meta((1, 2), FLOAT)}, "out"),
    (valid(), {"totalWeightOut": Meta((2,), FLOAT)}, "totalWeightOut"),
    (valid(reduction=SUM), {"reduction": 3}, "reduction"),
    (valid(reduction=SUM), {"reduction": -1}, "reduction"),
    (images(), {"weight": Meta((5,), BF16)}, "weight"),
    (images(), {"out": Meta((2, 3, 4), BF16)}, "out"),
    (images(), {"totalWeightOut": Meta((1,), BF16)}, "totalWeightOut"),
    (images(dtype=FLOAT16), {"out": Meta((2, 3, 4), FLOAT)}, "out"),
    (images(), {"self": Meta((2, 5, 3), FLOAT)}, "self"),
    (images(), {"target": Meta((2, 4, 3), np.int64)}, "target"),
    (images(), {"weight": Meta((2,), FLOAT)}, "weight"),
    (images(), {"out": Meta((2, 12), FLOAT)}, "out"),
    (images(), {"totalWeightOut": Meta((0,), FLOAT)}, "totalWeightOut"),
    (images(reduction=MEAN), {"reduction": 9}, "reduction"),
    (images(), {"self": Meta((2, 5, 3, 4), FLOAT, format=ACL_FORMAT_FRACTAL_NZ)}, "self"),
    (images(), {"totalWeightOut": Meta((1,), FLOAT, format=-1)}, "totalWeightOut"),
    (backward(), {"gradOutput": Meta((6,), FLOAT16)}, "gradOutput"),
    (backward(), {"weight": Meta((5,), BF16)}, "weight"),
    (backward(), {"totalWeight": Meta((1,), BF16)}, "totalWeight"),
    (backward(), {"out": Meta((6, 5), FLOAT16)}, "out"),
    (backward(), {"self": Meta((6, 5, 1, 1), FLOAT)}, "self"),
    (backward(), {"target": Meta((5,), np.int64)}, "target"),
    (backward(), {"weight": Meta((4,), FLOAT)}, "weight"),
    (backward(), {"totalWeight": Meta((2,), FLOAT)}, "totalWeight"),
    (backward(), {"out": Meta((5, 6), FLOAT)}, "out"),
    (backward(), {"gradOutput": Meta((1,), FLOAT)}, "gradOutput"),
    (backward(), {"reduction": SUM}, "gradOutput"),
    (backward(reduction=SUM), {"gradOutput": Meta((1, 1), FLOAT)}, "gradOutput"),
    (backward(reduction=MEAN), {"reduction": 3}, "reduction"),
]


@pytest.mark.parametrize(("call", "changes", "named"), ERRORS, ids=lambda item: item.operator if isinstance(item, Case) else str(item)[:60])
def test_parameter_errors(call: Case, changes: dict, named: str) -> None:
    assert call.but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


ORDER = [
    (valid(), {"totalWeightOut": None, "self": Meta((1,), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "totalWeightOut"),
    (valid(), {"weight": Meta((5,), FLOAT16), "target": Meta((1,), np.int64)}, ACLNN_ERR_PARAM_INVALID, "weight has dtype"),
    (valid(), {"target": Meta((1,), np.int64), "reduction": 7}, ACLNN_ERR_PARAM_INVALID, "target has shape"),
    (images(), {"out": Meta((2, 5), np.int8), "self": Meta((1,), FLOAT)}, ACLNN_ERR_PARAM_INVALID, "out has dtype"),
    (images(), {"self": Meta((2, 5, 3), FLOAT, format=ACL_FORMAT_FRACTAL_NZ)}, ACLNN_ERR_PARAM_INVALID, "self has format"),
    (backward(), {"target": Meta((1,), np.int64), "reduction": 7}, ACLNN_ERR_PARAM_INVALID, "target has shape"),
    (backward(), {"reduction": 7}, ACLNN_ERR_PARAM_INVALID, "gradOutput has shape"),
]


def test_order_of_checks(chip) -> None:
    assert_refused(ORDER, chip, ("Ascend910B1", "Ascend310B1"))


def test_products(chip) -> None:
    for soc, forward, gradient in (
        ("Ascend950PR_9589", 0, 0),
        ("Ascend910_9391", 0, 0),
        ("Ascend910B1", 0, 0),
        ("Ascend910A", 0, 0),
        ("Ascend310P3", 0, ACLNN_ERR_INNER_NULLPTR),
        ("Ascend310B1", ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_INNER_NULLPTR),
    ):
        chip(soc)
        assert (valid().status(), images().status(), backward().status()) == (forward, forward, gradient), soc


def test_image_formats() -> None:
    assert images().but(self=Meta((2, 5, 3, 4), FLOAT, format=ACL_FORMAT_NCHW)).status() == 0


def test_only_the_weights_are_cast() -> None:
    """What a half type needs does not grow with the rows."""
    assert valid(dtype=FLOAT16, shape=(6, 5)).plan() == valid(dtype=FLOAT16, shape=(600, 5)).plan()
