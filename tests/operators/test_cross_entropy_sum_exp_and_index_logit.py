"""aclnnCrossEntropySumExpAndIndexLogit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import layouts
from tests.operators.products import products_of

A950 = "Ascend950PR_9589"
STEP = {FLOAT: 8, BF16: 16}


@pytest.fixture(autouse=True)
def _on_950(chip) -> None:
    """The only product that has it."""
    chip(A950)


def case(logits: Array, target: Array, maximum: Array, start: int) -> Case:
    shape = target.shape
    return Case(
        "aclnnCrossEntropySumExpAndIndexLogit",
        {
            "vocabParallelLogits": logits,
            "target": target,
            "globalLogitsMax": maximum,
            "vocabStartIndex": start,
            "vocabEndIndex": start + logits.shape[-1],
            "predictedLogitsOut": numbers(shape, np.float32, 3),
            "sumExpLogitsOut": numbers(shape, np.float32, 4),
            "expLogitsOut": numbers(logits.shape, np.float32, 5),
            "targetOffsetOut": np.full(shape, -9, np.int32),
            "targetMaskOut": np.full(shape, -9, np.int32),
        },
    )


def valid(leading: tuple[int, ...] = (5,), words: int = 32, dtype=FLOAT, seed: int = 0, start: int = 40) -> Case:
    logits = numbers((*leading, words), dtype, seed, 5)
    target = np.random.default_rng(seed).integers(0, start + words + 20, leading, np.int32)
    return case(logits, target, (logits.max(axis=-1) + np.asarray(0.5, dtype)).astype(dtype), start)


def assert_right(call: Case, layout: int = 0) -> None:
    given = call.arguments
    start, end = given["vocabStartIndex"], given["vocabEndIndex"]
    differences = given["vocabParallelLogits"].astype(np.float64) - given["globalLogitsMax"].astype(np.float64)[..., np.newaxis]
    predicted, offset, mask = (np.zeros(given["target"].shape) for _ in range(3))
    for where, word in np.ndenumerate(given["target"]):
        if start <= word < end:
            offset[where] = word - start
            predicted[where] = differences[where][word - start]
        else:
            mask[where] = 1
    results = call.results(layout)
    assert_accurate(results[0], predicted)
    assert_accurate(results[1], np.exp(differences).sum(axis=-1))
    assert_accurate(results[2], np.exp(differences))
    assert_equal(results[3], offset)
    assert_equal(results[4], mask)


def test_documented_sample(device: int) -> None:
    logits = (np.arange(4)[:, np.newaxis] + 0.1 * np.arange(16)).astype(np.float32)
    call = case(logits, np.array([2, 5, 10, 15], np.int32), np.array([1, 2, 3, 4], np.float32), 0)
    assert_right(call)
    predicted, sums, *_, offset, mask = call.results()
    np.testing.assert_allclose(predicted, [-0.8, -0.5, 0, 0.5], atol=1e-6)
    np.testing.assert_allclose(sums, math.exp(-1) * np.exp(0.1 * np.arange(16)).sum(), rtol=1e-6)
    assert_equal(offset, [2, 5, 10, 15])
    assert_equal(mask, [0, 0, 0, 0])


@given(st.data())
def test_values(device: int, data: st.DataObject) -> None:
    """Both ranks and types, strides, targets on either side of the shard."""
    dtype = data.draw(st.sampled_from((FLOAT, BF16)))
    leading = tuple(data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=2)))
    words = max(16, STEP[dtype] * data.draw(st.integers(2, 5)))
    assert_right(valid(leading, words, dtype, data.draw(st.integers(0, 100)), data.draw(st.sampled_from((0, 7, 40)))), data.draw(layouts))


@pytest.mark.parametrize(("leading", "words"), [((11,), 48), ((3, 4), 4096), ((300,), 128)], ids=str)
def test_many_rows_and_words(leading: tuple[int, ...], words: int, device: int) -> None:
    assert_right(valid(leading, words, BF16), 3)


def test_an_index_beyond_int32(device: int) -> None:
    """No target of INT32 reaches such a shard."""
    assert_right(valid((5,), 32).but(vocabStartIndex=2**40, vocabEndIndex=2**40 + 32))


def resized(rows: int, words: int, dtype=FLOAT) -> dict:
    changes = {name: Meta((rows,), FLOAT) for name in ("predictedLogitsOut", "sumExpLogitsOut")}
    changes |= {name: Meta((rows,), np.int32) for name in ("target", "targetOffsetOut", "targetMaskOut")}
    matrices = {"vocabParallelLogits": Meta((rows, words), dtype), "expLogitsOut": Meta((rows, words), FLOAT)}
    return {**changes, **matrices, "globalLogitsMax": Meta((rows,), dtype), "vocabEndIndex": 40 + words}


@pytest.mark.parametrize(("rows", "words", "dtype"), [(1, 16, FLOAT), (32768, 16, BF16), (1, 204800, FLOAT), (1, 24, FLOAT)])
def test_smallest_and_largest(rows: int, words: int, dtype: np.dtype) -> None:
    assert valid().but(**resized(rows, words, dtype)).status() == 0


ERRORS = [
    ({"vocabParallelLogits": Meta((5, 32), FLOAT16)}, "vocabParallelLogits"),
    ({"globalLogitsMax": Meta((5,), FLOAT16)}, "globalLogitsMax"),
    ({"globalLogitsMax": Meta((5,), BF16)}, "globalLogitsMax"),
    ({"target": Meta((5,), np.int64)}, "target"),
    ({"expLogitsOut": Meta((5, 32), BF16)}, "expLogitsOut"),
    ({"targetMaskOut": Meta((5,), np.uint8)}, "targetMaskOut"),
    ({"vocabParallelLogits": Meta((32,), FLOAT)}, "vocabParallelLogits"),
    ({"vocabParallelLogits": Meta((1, 1, 5, 32), FLOAT)}, "vocabParallelLogits"),
    ({"vocabStartIndex": -1}, "vocabStartIndex"),
    ({"vocabEndIndex": 40}, "vocabEndIndex"),
    ({"vocabEndIndex": 73}, "vocabEndIndex"),
    ({"target": Meta((6,), np.int32)}, "target"),
    ({"target": Meta((5, 1), np.int32)}, "target"),
    ({"globalLogitsMax": Meta((5, 1), FLOAT)}, "globalLogitsMax"),
    (resized(0, 32), "target"),
    (resized(32769, 32), "target"),
    (resized(5, 8), "vocabParallelLogits"),
    (resized(5, 20), "vocabParallelLogits"),
    (resized(5, 24, BF16), "vocabParallelLogits"),
    (resized(1, 204808), "vocabParallelLogits"),
    ({"predictedLogitsOut": Meta((6,), FLOAT)}, "predictedLogitsOut"),
    ({"sumExpLogitsOut": Meta((6,), FLOAT)}, "sumExpLogitsOut"),
    ({"expLogitsOut": Meta((32, 5), FLOAT)}, "expLogitsOut"),
    ({"targetOffsetOut": Meta((6,), np.int32)}, "targetOffsetOut"),
    ({"targetMaskOut": Meta((6,), np.int32)}, "targetMaskOut"),
]


@pytest.mark.parametrize(("changes", "named"), ERRORS, ids=lambda item: str(item)[:70])
def test_parameter_errors(changes: dict, named: str) -> None:
    assert valid().but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


ORDER = [
    ({"targetMaskOut": None, "target": Meta((5,), np.int64)}, ACLNN_ERR_PARAM_NULLPTR, "targetMaskOut"),
    ({"targetMaskOut": Meta((5,), FLOAT), "vocabStartIndex": -1}, ACLNN_ERR_PARAM_INVALID, "targetMaskOut has dtype"),
    ({"vocabStartIndex": -1, "target": Meta((6,), np.int32)}, ACLNN_ERR_PARAM_INVALID, "vocabStartIndex is -1"),
]


@pytest.mark.parametrize(("changes", "status", "text"), ORDER, ids=lambda item: str(item)[:70])
def test_order_of_checks(changes: dict, status: int, text: str) -> None:
    assert valid().but(**changes).status() == status
    assert text in message()


def test_products(chip) -> None:
    assert products_of(valid(), chip) == {"950"}
