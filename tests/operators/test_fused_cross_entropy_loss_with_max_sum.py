"""aclnnFusedCrossEntropyLossWithMaxSum."""

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
from tests.operators.drawing import float_dtypes, layouts
from tests.operators.products import products_of

WITHOUT_SOFTMAX = {"vocabParallelLogitsOptional": None, "softMaxOutOptional": None}


def case(maximum: Array, total: Array, predicted: Array, logits: Array | None = None) -> Case:
    return Case(
        "aclnnFusedCrossEntropyLossWithMaxSum",
        {
            "logitsMax": maximum,
            "sumExpLogits": total,
            "predictedLogits": predicted,
            "labelSmoothing": 0.0,
            "inputOptional": None,
            "weightOptional": None,
            "vocabParallelLogitsOptional": logits,
            "lossOut": numbers(maximum.shape, np.float32, 4),
            "softMaxOutOptional": None if logits is None else numbers(logits.shape, np.float32, 5),
        },
    )


def valid(rows: int = 9, words: int = 33, dtype=FLOAT, seed: int = 0, scale: float = 3) -> Case:
    maximum, total, predicted = (numbers((rows,), np.float32, seed + i, scale) for i in range(3))
    return case(maximum, np.abs(total) + np.float32(0.01), predicted, numbers((rows, words), dtype, seed + 3, scale))


def assert_right(call: Case, layout: int = 0) -> None:
    maximum, total, predicted = (call.arguments[name].astype(np.float64) for name in ("logitsMax", "sumExpLogits", "predictedLogits"))
    loss, *softmax = call.results(layout)
    assert_accurate(loss, np.log(total) - predicted)
    logits = call.arguments["vocabParallelLogitsOptional"]
    assert len(softmax) == (call.arguments["softMaxOutOptional"] is not None)
    for result in softmax:
        assert_accurate(result, np.exp(logits.astype(np.float64) - maximum[:, np.newaxis]) / total[:, np.newaxis])


def test_documented_sample(device: int) -> None:
    """The page says that inputOptional and weightOptional must be null, and gives them all the same: they are not looked at."""
    numbers_ = np.array([0.5, 1], np.float32)
    call = case(numbers_, numbers_, numbers_, np.array([[1, 0.5], [0.5, 1]], np.float32))
    loss, softmax = call.but(inputOptional=np.array([0, 1], np.float32), weightOptional=np.array([0, 1], np.float32)).results()
    assert_accurate(loss, [math.log(0.5) - 0.5, -1])
    assert_accurate(softmax, [[2 * math.exp(0.5), 2], [math.exp(-0.5), 1]])


@given(st.data())
def test_values(device: int, data: st.DataObject) -> None:
    """Types, sizes, strides, with the softmax and without."""
    call = valid(
        data.draw(st.integers(1, 20)),
        data.draw(st.integers(0, 40)),
        data.draw(float_dtypes),
        data.draw(st.integers(0, 100)),
        data.draw(st.sampled_from((0.1, 3.0, 20.0))),
    )
    changes = data.draw(st.sampled_from(({}, WITHOUT_SOFTMAX, {"softMaxOutOptional": None})))
    assert_right(call.but(**changes), data.draw(layouts))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("rows", "words"), [(11, 33), (3, 5000), (300, 129)])
def test_many_rows_and_words(dtype: np.dtype, rows: int, words: int, device: int) -> None:
    assert_right(valid(rows, words, dtype), 3)


def test_zero_infinities_and_nan(device: int) -> None:
    total = np.array([0, math.inf, math.nan, -1, 1, 1], np.float32)
    predicted = np.array([0, 0, 0, 0, math.inf, math.nan], np.float32)
    (loss,) = case(np.zeros(6, np.float32), total, predicted).results()
    assert_equal(loss, [-math.inf, math.inf, math.nan, math.nan, -math.inf, math.nan])


@pytest.mark.parametrize("changes", [{}, WITHOUT_SOFTMAX], ids=["fast", "memory-saving"])
def test_empty(changes: dict, device: int, chip) -> None:
    chip("Ascend310P3")
    call = valid(0).but(**changes)
    assert call.plan() == (0, 0)
    call.results()


ERRORS = [
    ({"logitsMax": Meta((9,), FLOAT16)}, "logitsMax"),
    ({"sumExpLogits": Meta((9,), np.float64)}, "sumExpLogits"),
    ({"predictedLogits": Meta((9,), BF16)}, "predictedLogits"),
    ({"inputOptional": Meta((9,), BF16)}, "inputOptional"),
    ({"weightOptional": Meta((9,), np.int8)}, "weightOptional"),
    ({"vocabParallelLogitsOptional": Meta((9, 33), np.float64)}, "vocabParallelLogitsOptional"),
    ({"lossOut": Meta((9,), FLOAT16)}, "lossOut"),
    ({"softMaxOutOptional": Meta((9, 33), FLOAT16)}, "softMaxOutOptional"),
    ({"labelSmoothing": 0.1}, "labelSmoothing"),
    ({"labelSmoothing": math.nan}, "labelSmoothing"),
    ({"logitsMax": Meta((9, 1), FLOAT)}, "logitsMax"),
    ({"sumExpLogits": Meta((8,), FLOAT)}, "sumExpLogits"),
    ({"predictedLogits": Meta((8,), FLOAT)}, "predictedLogits"),
    ({"lossOut": Meta((8,), FLOAT)}, "lossOut"),
    ({"vocabParallelLogitsOptional": Meta((8, 33), FLOAT)}, "vocabParallelLogitsOptional"),
    ({"vocabParallelLogitsOptional": Meta((9, 33, 1), FLOAT)}, "vocabParallelLogitsOptional"),
    ({"softMaxOutOptional": Meta((9, 32), FLOAT)}, "softMaxOutOptional"),
    ({"softMaxOutOptional": Meta((9,), FLOAT)}, "softMaxOutOptional"),
    ({"vocabParallelLogitsOptional": None}, "softMaxOutOptional"),
]


@pytest.mark.parametrize(("changes", "named"), ERRORS, ids=lambda item: str(item)[:70])
def test_parameter_errors(changes: dict, named: str) -> None:
    assert valid().but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


ORDER = [
    ({"lossOut": None, "logitsMax": Meta((9,), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "lossOut"),
    ({"lossOut": Meta((9,), np.int8), "labelSmoothing": 1.0}, ACLNN_ERR_PARAM_INVALID, "lossOut has dtype"),
    ({"labelSmoothing": 1.0, "lossOut": Meta((8,), FLOAT)}, ACLNN_ERR_PARAM_INVALID, "labelSmoothing is 1"),
]


@pytest.mark.parametrize(("changes", "status", "text"), ORDER, ids=lambda item: str(item)[:70])
def test_order_of_checks(changes: dict, status: int, text: str) -> None:
    assert valid().but(**changes).status() == status
    assert text in message()


def test_products(chip) -> None:
    assert products_of(valid(), chip) == {"950", "A3", "A2"}


def test_there_is_no_workspace() -> None:
    assert valid().plan() == (0, 0)
    assert valid().but(**WITHOUT_SOFTMAX).plan() == (0, 0)
