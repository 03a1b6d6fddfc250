"""The plan cache: it shows in nothing but time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acl_emu as acl
import aclnnop
from acl_emu.runtime import plans
from acl_emu.spec import Operator
from tests.conftest import message
from tests.operators.case import Case, Refused, numbers
from tests.runtime.support import create_tensor, download, smooth_l1, upload

BFLOAT16 = ml_dtypes.bfloat16


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("ACLNN_CACHE_LIMIT", raising=False)
    plans.limit.cache_clear()
    plans.forget()
    yield
    monkeypatch.undo()
    plans.limit.cache_clear()
    plans.forget()


def test_equal_calls_share_a_plan_and_nothing_else(schedule: str, device: int) -> None:
    with smooth_l1() as first, smooth_l1() as second:
        assert plans.count() == 1
        assert first.executor != second.executor
        assert first.run(None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        assert np.array_equal(first.out, first.expected)
        assert second.untouched
        assert first.run(None) == 561000
        assert second.run(None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        assert np.array_equal(second.out, second.expected)


def test_repeatable_executors_of_one_plan_keep_their_own_tensors(device: int) -> None:
    with smooth_l1() as first, smooth_l1() as second:
        assert acl.aclSetAclOpExecutorRepeatable(first.executor) == 0
        other = upload(np.full(4, -7, np.float32))
        assert acl.aclSetOutputTensorAddr(first.executor, 0, first.tensors[3], other) == 0
        assert first.run(None) == first.run(None) == second.run(None) == 0
        assert second.run(None) == 561000
        assert acl.aclrtSynchronizeStream(None) == 0
        assert first.untouched
        assert np.array_equal(download(other, 4), first.expected)
        assert np.array_equal(second.out, second.expected)
        assert acl.aclDestroyAclOpExecutor(first.executor) == 0
        assert acl.aclrtFree(other) == 0


def test_a_tensor_that_is_described_anew(device: int) -> None:
    with smooth_l1() as call:
        grad, x, y, out = call.tensors
        arguments = (grad, x, y, 0, 1.0, out)
        assert acl.aclInitTensor(x, [3], acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, [3], None) == 0
        assert aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize(*arguments) == (0, None, 161002)
        assert "[3]" in message()
        assert acl.aclInitTensor(x, [4], acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, [4], None) == 0
        assert acl.aclDestroyTensor(y) == 0
        assert aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize(*arguments) == (0, None, 161002)
        assert "destroyed" in message()


def test_errors_are_not_kept(device: int) -> None:
    for _ in range(2):
        assert aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize(None, None, None, 0, 1.0, None) == (0, None, 161001)
        assert message().count("gradOut must not be a null pointer") == 1
    assert plans.count() == 0


def test_the_chip_is_part_of_it(device: int, chip: Callable[[str], None]) -> None:
    case = smooth("float32")
    half = smooth("bfloat16")
    for name, status in (("Ascend910B1", 0), ("Ascend310P3", 161002), ("Ascend310B1", 0), ("Ascend910B1", 0)):
        chip(name)
        assert half.status() == (561103 if name == "Ascend310B1" else status)
        assert case.status() == (561103 if name == "Ascend310B1" else 0)


# The limit


@pytest.mark.parametrize(("text", "kept"), [("0", 0), ("1", 1), ("3", 3), ("", 5), ("many", 5), ("-1", 5), ("99999999999", 5)])
def test_limit(device: int, monkeypatch: pytest.MonkeyPatch, text: str, kept: int) -> None:
    monkeypatch.setenv("ACLNN_CACHE_LIMIT", text)
    plans.limit.cache_clear()
    for _ in range(2):
        for count in range(1, 6):
            with smooth_l1(count) as call:
                assert call.run(None) == 0
                assert acl.aclrtSynchronizeStream(None) == 0
                assert np.array_equal(call.out, call.expected)
        assert plans.count() == kept


def test_plans_that_are_used_stay(device: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few shapes that come again and again, among many that come once."""
    monkeypatch.setenv("ACLNN_CACHE_LIMIT", "8")
    plans.limit.cache_clear()
    decided: list[int] = []
    decide = Operator._decide

    def count(operator: Operator, found: Any) -> Any:
        decided.append(found[0].view.shape[0])
        return decide(operator, found)

    monkeypatch.setattr(Operator, "_decide", count)
    for once in range(100, 200):
        for length in (1, 2, 3, once):
            with smooth_l1(length) as call:
                assert call.run(None) == acl.aclrtSynchronizeStream(None) == 0
                assert np.array_equal(call.out, call.expected)
    assert plans.count() == 8
    assert len([length for length in decided if length >= 100]) == 100
    assert len([length for length in decided if length < 100]) == 3
    assert len(plans.numbered) < 32  # what is gone in C is gone here, soon


def test_limit_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plans.limit() == 10_000
    monkeypatch.setenv("ACLNN_CACHE_LIMIT", "99999999999")
    plans.limit.cache_clear()
    assert plans.limit() == 10_000_000


# What tells calls apart


def smooth(dtype: str, shape: tuple[int, ...] = (2, 3), reduction: int = 0, beta: float = 1.0) -> Case:
    kind = np.dtype(BFLOAT16 if dtype == "bfloat16" else dtype)
    grad, x, y, out = (numbers(shape, kind, seed) for seed in range(4))
    return Case(
        "aclnnSmoothL1LossBackward", {"gradOut": grad, "self": x, "target": y, "reduction": reduction, "beta": beta, "gradInput": out}
    )


def outcome(case: Case, layout: int) -> Any:
    try:
        return [result.tobytes() for result in case.results(layout)], case.plan()
    except Refused as refused:
        return re.sub(r"\[PID.*?\d{3}\.\d{3} ", "", str(refused))  # without the time


def fresh(case: Case, layout: int) -> Any:
    plans.forget()
    return outcome(case, layout)


def check_all(cases: list[tuple[Case, int]]) -> None:
    """Each call gives what it gives when it is the first, whatever was called before."""
    expected = [fresh(*case) for case in cases]
    plans.forget()
    for _ in range(2):
        assert [outcome(*case) for case in cases] == expected


SHAPES = st.sampled_from([(2, 3), (3, 2), (6,), (1,), (), (0, 3), (2, 1, 3)])
DTYPES = st.sampled_from(["float32", "float16", "bfloat16", "int32"])
BETAS = st.sampled_from([1.0, 0.5, 0.0, -0.0, 1, True, float("nan"), float("inf"), -1.0])


@given(st.lists(st.tuples(st.builds(smooth, DTYPES, SHAPES, st.integers(-1, 3), BETAS), st.integers(0, 2)), min_size=2, max_size=6))
def test_numbers_shapes_types_and_layouts(device: int, cases: list[tuple[Case, int]]) -> None:
    check_all(cases)


VALUES = st.sampled_from(
    [np.float32(0), np.float32(-0.0), np.float32(1), np.float16(1), np.int32(1), np.int64(1), np.bool_(True), np.float32("nan")]
)


def adds(dtype: str, other: Any, alpha: Any) -> Case:
    self = numbers((2, 3), np.dtype(dtype), 1)
    return Case("aclnnAdds", {"self": self, "other": other, "alpha": alpha, "out": numbers((2, 3), np.dtype(dtype), 2)})


@given(st.lists(st.tuples(st.builds(adds, st.sampled_from(["float32", "int32"]), VALUES, VALUES), st.just(0)), min_size=2, max_size=6))
def test_scalars(device: int, cases: list[tuple[Case, int]]) -> None:
    check_all(cases)


def amax(dims: list[int], keep: bool, shape: tuple[int, ...]) -> Case:
    self = numbers((2, 3, 4), np.dtype(np.float32), 1)
    return Case("aclnnAmax", {"self": self, "dim": dims, "keepDim": keep, "out": numbers(shape, np.dtype(np.float32), 2)})


DIMS = st.lists(st.integers(-3, 3), max_size=3)


@given(
    st.lists(
        st.tuples(st.builds(amax, DIMS, st.booleans(), st.sampled_from([(2, 4), (2, 1, 4), (1, 3), (3,), ()])), st.just(0)), max_size=8
    )
)
def test_arrays(device: int, cases: list[tuple[Case, int]]) -> None:
    check_all(cases)


def weighted(weight: bool, positive: bool, reduction: int) -> Case:
    grad, x, target, out = (numbers((4,), np.dtype(np.float32), seed) for seed in range(4))
    optional = numbers((4,), np.dtype(np.float32), 9)
    return Case(
        "aclnnBinaryCrossEntropyWithLogitsBackward",
        {
            "gradOutput": grad,
            "self": x,
            "target": target,
            "weightOptional": optional if weight else None,
            "posWeightOptional": optional if positive else None,
            "reduction": reduction,
            "out": out,
        },
    )


@given(st.lists(st.tuples(st.builds(weighted, st.booleans(), st.booleans(), st.integers(0, 2)), st.just(0)), min_size=2, max_size=6))
def test_optional_tensors(device: int, cases: list[tuple[Case, int]]) -> None:
    check_all(cases)


def test_one_tensor_for_several_parameters(device: int) -> None:
    """Parameters are told apart by place, not by tensor."""
    address = upload(np.ones(4, np.float32))
    x, y = create_tensor((4,), address), create_tensor((4,), upload(np.zeros(4, np.float32)))
    out = create_tensor((4,), upload(np.zeros(4, np.float32)))
    found = []
    for first, second in ((x, x), (x, y), (y, x), (y, y)):
        size, executor, ret = aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize(x, first, second, 0, 1.0, out)
        assert (size, ret) == (0, 0)
        assert aclnnop.aclnnSmoothL1LossBackward(None, 0, executor, None) == acl.aclrtSynchronizeStream(None) == 0
        address, ret = acl.aclGetRawTensorAddr(out)
        assert address is not None
        found.append(download(address, 4).tolist()[0])
    assert found == [0, 1, -1, 0]
    assert plans.count() == 1
    for tensor in (x, y, out):
        address, ret = acl.aclGetRawTensorAddr(tensor)
        assert acl.aclDestroyTensor(tensor) == acl.aclrtFree(address) == 0
