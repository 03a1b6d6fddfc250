"""aclnnMultilabelMarginLoss."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import float_dtypes, floats, layouts
from tests.operators.refusals import assert_refused

NONE, MEAN, SUM = 0, 1, 2


def valid(shape: tuple[int, ...] = (4, 5), dtype=FLOAT, index=np.int64, reduction: int = NONE) -> Case:
    return Case(
        "aclnnMultilabelMarginLoss",
        {
            "self": numbers(shape, dtype, 1),
            "target": np.random.default_rng(2).integers(-1, max(shape[-1], 1), shape).astype(index),
            "reduction": reduction,
            "out": numbers(shape[:-1] if reduction == NONE else (), dtype, 3),
            "isTarget": numbers(shape, dtype, 4),
        },
    )


def golden(call: Case) -> tuple[Array, Array]:
    """The documented formula, pair by pair, and the mask."""
    x, target = call.arguments["self"].astype(np.float64), call.arguments["target"]
    classes = x.shape[-1]
    losses, mask = np.zeros(x.shape[:-1]), np.zeros(x.shape)
    for n in np.ndindex(x.shape[:-1]):
        labels = [int(label) for label in target[n]]
        own = labels[: labels.index(-1)] if -1 in labels else labels
        mask[n] = [k in own for k in range(classes)]
        terms = [1 - x[n][j] + x[n][i] for j in own if 0 <= j < classes for i in range(classes) if not mask[n][i]]
        losses[n] = math.nan if any(map(math.isnan, terms)) else math.fsum(max(0.0, term) for term in terms if term > 0) / classes
    reduction = call.arguments["reduction"]
    with np.errstate(all="ignore"):
        return losses if reduction == NONE else losses.sum() / (np.float64(losses.size) if reduction == MEAN else 1), mask


def test_documented_sample(device: int) -> None:
    """The second row's labels are no classes: none of them is marked, and nothing is lost."""
    call = valid((2, 3)).but(self=np.arange(6, dtype=np.float32).reshape(2, 3), target=np.arange(6, dtype=np.int32).reshape(2, 3))
    losses, mask = call.results()
    assert_equal(losses, [0, 0])
    assert_equal(mask, [[1, 1, 1], [0, 0, 0]])


def test_labels_end_at_the_first_padding(device: int) -> None:
    call = valid((4,)).but(self=np.array([0.1, 0.2, 0.4, 0.8], np.float32), target=np.array([3, 0, -1, 1]))
    losses, mask = call.results()
    np.testing.assert_allclose(losses, 0.85, rtol=1e-6)
    assert_equal(mask, [1, 0, 0, 1])


def test_a_label_that_occurs_twice_counts_twice(device: int) -> None:
    call = valid((5,)).but(self=np.array([0.5, 0.25, 0, 0.75, 1], np.float32), target=np.array([1, 1, 0, 1, 4]))
    losses, mask = call.results()
    np.testing.assert_allclose(losses, (3 * (0.75 + 1.5) + (0.5 + 1.25) + (0 + 0.75)) / 5, rtol=1e-6)
    assert_equal(mask, [1, 1, 0, 0, 1])


@pytest.mark.parametrize("target", [0, -1, 3])
def test_a_number_is_one_class(target: int, device: int) -> None:
    call = valid((1,)).but(self=np.array(2.0, np.float32), target=np.array(target), isTarget=np.array(7.0, np.float32))
    losses, mask = call.results()
    assert_equal(losses, 0)
    assert_equal(mask, float(target == 0))


@given(st.data())
def test_values(device: int, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(((1,), (6,), (1, 4), (3, 7), (5, 2))))
    dtype, reduction = data.draw(float_dtypes), data.draw(st.sampled_from((NONE, MEAN, SUM)))
    call = valid(shape, dtype, data.draw(st.sampled_from((np.int32, np.int64))), reduction)
    low, high = data.draw(st.sampled_from(((-1, shape[-1]), (-2, shape[-1] + 2), (0, shape[-1]))))
    target = np.random.default_rng(data.draw(st.integers(0, 99))).integers(low, high, shape)
    call = call.but(self=data.draw(floats(shape, dtype, special=reduction == NONE)), target=target.astype(call.arguments["target"].dtype))
    with np.errstate(all="ignore"):
        losses, mask = golden(call)
    found, found_mask = call.results(data.draw(layouts))
    assert_accurate(found, losses)
    assert_equal(found_mask, mask)


def test_many_classes(device: int) -> None:
    """More pairs than are compared at once."""
    call = valid((1, 3000)).but(
        target=np.arange(3000).reshape(1, 3000) * np.where(np.arange(3000) < 1400, 1, 0) - (np.arange(3000) == 1400)
    )
    x = call.arguments["self"][0].astype(np.float64)
    expected = np.maximum(0, 1 - x[:1400, np.newaxis] + x[1400:]).sum() / 3000
    assert_accurate(call.results()[0], [expected])


def test_no_samples(device: int) -> None:
    assert valid((0, 5)).plan() == (0, 0)
    assert_equal(valid((0, 5), reduction=SUM).results()[0], 0)
    assert_equal(valid((0, 5), BF16, reduction=MEAN).results()[0], math.nan)


ERRORS = [
    ({"self": Meta((4, 5), np.float64)}, "self"),
    ({"out": Meta((4,), FLOAT16)}, "out"),
    ({"isTarget": Meta((4, 5), BF16)}, "isTarget"),
    ({"isTarget": Meta((4, 5), np.int32)}, "isTarget"),
    ({"target": Meta((4, 5), np.uint8)}, "target"),
    ({"self": Meta((2, 2, 5), FLOAT)}, "self"),
    ({"target": Meta((4, 4), np.int64)}, "target"),
    ({"target": Meta((5,), np.int64)}, "target"),
    ({"isTarget": Meta((5, 4), FLOAT)}, "isTarget"),
    ({"out": Meta((5,), FLOAT)}, "out"),
    ({"out": Meta((), FLOAT)}, "out"),
    ({"reduction": MEAN}, "out"),
    ({"reduction": SUM, "out": Meta((2,), FLOAT)}, "out"),
    ({"reduction": 3}, "reduction"),
    ({name: Meta((4, 0), dtype) for name, dtype in (("self", FLOAT), ("target", np.int64), ("isTarget", FLOAT))}, "self"),
    ({name: Meta((0, 0), dtype) for name, dtype in (("self", FLOAT), ("target", np.int64), ("isTarget", FLOAT))}, "self"),
    ({"self": Meta((0,), FLOAT)}, "self"),
]


@pytest.mark.parametrize(("changes", "named"), ERRORS, ids=lambda item: str(item)[:60])
def test_parameter_errors(changes: dict, named: str) -> None:
    assert valid().but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


ORDER = [
    ({"isTarget": None, "self": Meta((1,), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "isTarget"),
    ({"target": Meta((4, 5), np.uint8), "out": Meta((7,), FLOAT)}, ACLNN_ERR_PARAM_INVALID, "target has dtype"),
    ({"out": Meta((7,), FLOAT16), "target": Meta((1,), np.int64)}, ACLNN_ERR_PARAM_INVALID, "out has dtype"),
    ({"target": Meta((1,), np.int64), "out": Meta((7,), FLOAT)}, ACLNN_ERR_PARAM_INVALID, "target has shape"),
]


def test_order_of_checks(chip) -> None:
    assert_refused([(valid(), *wrong) for wrong in ORDER], chip, ("Ascend910B1", "Ascend950PR_9589"))


def test_products(chip) -> None:
    for soc, status in (("Ascend910_9391", 0), ("Ascend910B1", 0), ("Ascend910A", 0), ("Ascend950PR_9589", ACLNN_ERR_INNER_NULLPTR)):
        chip(soc)
        assert valid().status() == status, soc
    for soc in ("Ascend310P3", "Ascend310B1"):
        chip(soc)
        assert valid().status() == ACLNN_ERR_INNER_NULLPTR, soc
