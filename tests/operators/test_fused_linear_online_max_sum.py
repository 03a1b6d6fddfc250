"""aclnnFusedLinearOnlineMaxSum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acl_emu import ACL_ERROR_RT_AICORE_EXCEPTION, ACL_FORMAT_FRACTAL_NZ, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from aclnnop.matmul import vocabulary
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_accurate, assert_equal, assert_meets_standard, spacing
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import layouts
from tests.operators.products import products_of

HALVES = (FLOAT16, BF16)
ROWS = ("logitsMaxLocalOut", "sumExpLogitsLocalOut", "predictedLogitsLocalOut")


def valid(rows: int = 9, words: int = 30, width: int = 8, dtype=BF16, *, index=np.int64, fast: bool = True, seed: int = 0) -> Case:
    """A shard of the words 20 to 20 + words - 1, and targets inside and outside of it."""
    return Case(
        "aclnnFusedLinearOnlineMaxSum",
        {
            "input": numbers((rows, width), dtype, seed),
            "weight": numbers((words, width), dtype, seed + 1),
            "target": np.random.default_rng(seed).integers(0, 40 + words, rows, index),
            "vocabStartIndex": 20,
            "vocabEndIndex": 20 + words,
            **{name: numbers((rows,), np.float32, seed + 2) for name in ROWS},
            "targetMaskOut": np.full(-(-rows // 8), 0x55, np.uint8),
            "maskedTargetOut": np.full(rows, -1, index),
            "vocabParallelLogitsOutOptional": numbers((rows, words), dtype, seed + 3) if fast else None,
        },
    )


def golden(call: Case) -> tuple[Array, ...]:
    """Logits, maximum, sum and target's logit in float64, the mask bit by bit; and the size of the terms of the products."""
    given = call.arguments
    features, table = given["input"].astype(np.float64), given["weight"].astype(np.float64)
    logits = features @ table.T
    start, end = given["vocabStartIndex"], given["vocabEndIndex"]
    maximum = logits.max(axis=1)
    predicted, local, bits = np.zeros(len(logits)), np.zeros(len(logits)), np.full(-(-len(logits) // 8), 255)
    for row, word in enumerate(given["target"]):
        if start <= word < end:
            local[row] = word - start
            predicted[row] = logits[row, word - start] - maximum[row]
            bits[row // 8] -= 1 << row % 8
    sums = np.exp(logits - maximum[:, np.newaxis]).sum(axis=1)
    return logits, maximum, sums, predicted, bits, local, np.abs(features) @ np.abs(table).T


def assert_right(call: Case, layout: int = 0) -> None:
    logits, maximum, sums, predicted, bits, local, terms = golden(call)
    given = call.arguments
    results = call.results(layout)
    largest = terms.max(axis=1)
    assert_accurate(results[0], maximum, largest=largest)
    assert_meets_standard(results[1], sums)
    assert_accurate(results[2], predicted, largest=largest)
    assert_equal(results[3], bits)
    assert_equal(results[4], local)
    assert results[4].dtype == given["target"].dtype
    if given["vocabParallelLogitsOutOptional"] is not None:
        error = np.abs(results[5].astype(np.float64) - logits)
        assert (error <= 0.5 * spacing(logits, results[5].dtype) + 4 * spacing(terms, FLOAT)).all()


@pytest.fixture(params=[1, vocabulary.BLOCK_ELEMENTS], ids=["smallest blocks", "one block"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "BLOCK_ELEMENTS", request.param)
    monkeypatch.setattr(vocabulary, "SMALLEST_BLOCK", min(request.param, 7))


def test_documented_sample(device: int) -> None:
    """All ones: every logit is 64, so that 256 exponentials of 0 are added up."""
    call = valid(128, 256, 64, FLOAT16, index=np.int32).but(
        input=np.ones((128, 64), np.float16),
        weight=np.ones((256, 64), np.float16),
        target=np.ones(128, np.int32),
        vocabStartIndex=0,
        vocabEndIndex=64,
    )
    for result, expected in zip(call.results(), (64, 256, 0, 0, 1, 64), strict=True):
        assert_equal(result, np.full(result.shape, expected))


@pytest.mark.parametrize(("start", "end", "bits"), [(0, 9, 0b11000), (2, 9, 0b11111001), (0, 0, 255)])
def test_mask(start: int, end: int, bits: int, device: int) -> None:
    """The end index is outside; bits behind the last row are those of a target of 0."""
    call = valid(5, 9, index=np.int32).but(vocabStartIndex=start, vocabEndIndex=end)
    call.arguments["target"][:] = [0, 8, 2, 9, 20]
    assert_equal(call.results()[3], [bits])


@given(st.data())
@settings(max_examples=30)
def test_values(device: int, data: st.DataObject) -> None:
    """Sizes, types, both modes, strides."""
    sizes = [data.draw(st.integers(1, most)) for most in (40, 300, 33)]
    call = valid(
        *sizes,
        data.draw(st.sampled_from(HALVES)),
        index=data.draw(st.sampled_from((np.int64, np.int32))),
        fast=data.draw(st.booleans()),
        seed=data.draw(st.integers(0, 50)),
    )
    assert_right(call, data.draw(layouts))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("words", [1, 7, 50])
def test_blocks_of_the_vocabulary(words: int, dtype: np.dtype, blocks: None, device: int) -> None:
    """Larger logits turn up in later blocks, and are taken back to nothing by still larger ones."""
    call = valid(33, words, 4, dtype)
    call.arguments["weight"][:] *= np.linspace(0.1, 8, words)[:, np.newaxis].astype(dtype)
    assert_right(call)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_infinite_logits(dtype: np.dtype, blocks: None, device: int) -> None:
    """-inf among them adds nothing; nothing but -inf, inf or NaN give what the formula gives."""
    columns = np.array([[-np.inf] * 9 + [1] + [-np.inf], [-np.inf] * 11, [np.inf] + [0] * 10, [np.nan] + [1] * 10], np.float64)
    zero = {"logitsMaxLocalOut": [1, -np.inf, np.inf, np.nan], "sumExpLogitsLocalOut": [1, np.nan, np.nan, np.nan]}
    for row, column in enumerate(columns):
        call = valid(1, 11, 1, dtype).but(input=np.ones((1, 1), dtype), weight=column[:, np.newaxis].astype(dtype))
        for result, name in zip(call.results(), zero, strict=False):
            assert_equal(result, zero[name][row : row + 1])


def test_modes_agree(device: int) -> None:
    fast, saving = valid().results(), valid(fast=False).results()
    assert [result.tobytes() for result in fast[:5]] == [result.tobytes() for result in saving]


@pytest.mark.parametrize("index", [np.int64, np.int32])
def test_a_target_beyond_the_weight_faults_on_the_device(index: type, device: int) -> None:
    """An end index that promises more words than the weight has is accepted, as its rule is not among the documented errors."""
    call = valid(index=index).but(vocabEndIndex=60)
    call.arguments["target"][:] = [20, 49, 61, 0, 20, 20, 50, 20, 20]
    assert call.status() == 0
    assert call.refused(3) == ACL_ERROR_RT_AICORE_EXCEPTION
    call.arguments["target"][6] = 49
    assert_right(call)


@pytest.mark.parametrize(("rows", "width"), [(0, 8), (9, 0)])
def test_empty(rows: int, width: int, device: int, chip) -> None:
    chip("Ascend310P3")
    call = valid(rows, width=width, dtype=FLOAT16)
    assert call.plan() == (0, 0)
    for name, result in zip((*ROWS, "targetMaskOut"), call.results(), strict=False):
        assert_equal(result, call.arguments[name])


ERRORS = [
    ({"input": Meta((9, 8), FLOAT)}, "input"),
    ({"weight": Meta((30, 8), FLOAT)}, "weight"),
    ({"weight": Meta((30, 8), FLOAT16)}, "weight"),
    ({"target": Meta((9,), np.uint8)}, "target"),
    ({"maskedTargetOut": Meta((9,), np.int32)}, "maskedTargetOut"),
    ({"logitsMaxLocalOut": Meta((9,), BF16)}, "logitsMaxLocalOut"),
    ({"targetMaskOut": Meta((2,), np.bool_)}, "targetMaskOut"),
    ({"vocabParallelLogitsOutOptional": Meta((9, 30), FLOAT)}, "vocabParallelLogitsOutOptional"),
    ({"vocabParallelLogitsOutOptional": Meta((9, 30), FLOAT16)}, "vocabParallelLogitsOutOptional"),
    ({"input": Meta((9, 8), BF16, format=ACL_FORMAT_FRACTAL_NZ)}, "input"),
    ({"vocabParallelLogitsOutOptional": Meta((9, 30), BF16, format=ACL_FORMAT_FRACTAL_NZ)}, "vocabParallelLogitsOutOptional"),
    ({"vocabStartIndex": -1}, "vocabStartIndex"),
    ({"vocabEndIndex": 19}, "vocabEndIndex"),
    ({"input": Meta((9, 65535), BF16), "weight": Meta((30, 65535), BF16)}, "input"),
    ({"weight": Meta((0, 8), BF16), "vocabParallelLogitsOutOptional": Meta((9, 0), BF16)}, "weight"),
    ({"weight": Meta((30, 9), BF16)}, "weight"),
    ({"target": Meta((8,), np.int64)}, "target"),
    *(({name: Meta((10,), FLOAT)}, name) for name in ROWS),
    ({"targetMaskOut": Meta((3,), np.uint8)}, "targetMaskOut"),
    ({"targetMaskOut": Meta((9,), np.uint8)}, "targetMaskOut"),
    ({"maskedTargetOut": Meta((10,), np.int64)}, "maskedTargetOut"),
    ({"vocabParallelLogitsOutOptional": Meta((30, 9), BF16)}, "vocabParallelLogitsOutOptional"),
]


@pytest.mark.parametrize(("changes", "named"), ERRORS, ids=lambda item: str(item)[:70])
def test_parameter_errors(changes: dict, named: str) -> None:
    assert valid().but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


def test_the_widest_input_is_accepted() -> None:
    assert valid().but(input=Meta((9, 65534), BF16), weight=Meta((30, 65534), BF16)).status() == 0


ORDER = [
    ({"maskedTargetOut": None, "input": Meta((9, 8), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "maskedTargetOut"),
    (
        {"maskedTargetOut": Meta((9,), FLOAT), "input": Meta((9, 8), BF16, format=ACL_FORMAT_FRACTAL_NZ)},
        ACLNN_ERR_PARAM_INVALID,
        "has dtype",
    ),
    ({"target": Meta((9,), np.int64, format=ACL_FORMAT_FRACTAL_NZ), "vocabStartIndex": -1}, ACLNN_ERR_PARAM_INVALID, "target has format"),
    ({"vocabStartIndex": -1, "target": Meta((8,), np.int64)}, ACLNN_ERR_PARAM_INVALID, "vocabStartIndex is -1"),
]


@pytest.mark.parametrize(("changes", "status", "text"), ORDER, ids=lambda item: str(item)[:70])
def test_order_of_checks(changes: dict, status: int, text: str) -> None:
    assert valid().but(**changes).status() == status
    assert text in message()


@pytest.mark.parametrize("fast", [True, False])
def test_products(fast: bool, chip) -> None:
    assert products_of(valid(fast=fast, dtype=FLOAT16), chip) == {"950", "A3", "A2"}


def test_planned_workspace_of_a_large_call() -> None:
    """The logits would take 1 GiB."""
    rows, words, width = 2048, 131072, 256
    call = valid(rows, 1, 1, fast=False).but(input=Meta((rows, width), BF16), weight=Meta((words, width), BF16))
    status, size = call.plan()
    assert status == 0
    assert 0 < size < 100 << 20
