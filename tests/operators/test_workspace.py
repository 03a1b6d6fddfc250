"""Workspace and executor of one call, as a program that gets them wrong sees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from tests.conftest import message
from tests.operators.case import Placed, numbers

SHAPE = (4, 5)


class Planned:
    """A call that casts, after phase one."""

    def __init__(self, stack: ExitStack) -> None:
        self.placed = [Placed(numbers(SHAPE, dtype, seed), 0, stack) for seed, dtype in enumerate((np.float16, np.float16, np.float32))]
        grad, x, self.out = (
            acl.aclCreateTensor(SHAPE, code, None, 0, acl.ACL_FORMAT_ND, SHAPE, placed.address)
            for placed, code in zip(self.placed, (acl.ACL_FLOAT16, acl.ACL_FLOAT16, acl.ACL_FLOAT), strict=True)
        )
        for tensor in (grad, x, self.out):
            stack.callback(acl.aclDestroyTensor, tensor)
        self.size, self.executor, status = aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize(grad, x, grad, 0, 1.0, self.out)
        assert status == 0
        self.workspace, status = acl.aclrtMalloc(self.size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
        assert status == 0
        stack.callback(acl.aclrtFree, self.workspace)

    def run(self, workspace: int | None, size: int) -> int:
        status = aclnnop.aclnnSmoothL1LossBackward(workspace, size, self.executor, None)
        assert acl.aclrtSynchronizeDevice() == 0
        return status

    def unwritten(self) -> bool:
        return all(placed.unchanged() for placed in self.placed)


@pytest.fixture
def planned(device: int) -> Iterator[Planned]:
    with ExitStack() as stack:
        yield Planned(stack)


def test_as_asked(planned: Planned) -> None:
    assert planned.size > 0
    assert planned.run(planned.workspace, planned.size) == 0
    assert not planned.unwritten()


def test_larger_than_asked(planned: Planned) -> None:
    assert planned.run(planned.workspace, planned.size + 1000) == 0


@pytest.mark.parametrize("size", [0, 1, 10**6])
def test_missing(size: int, planned: Planned) -> None:
    assert planned.run(None, size) == acl.ACLNN_ERR_PARAM_NULLPTR
    assert "workspace" in message()
    assert planned.unwritten()


@pytest.mark.parametrize("fraction", [0.0, 0.5, 0.99])
def test_too_small(fraction: float, planned: Planned) -> None:
    assert planned.run(planned.workspace, int(planned.size * fraction)) == acl.ACLNN_ERR_PARAM_INVALID
    assert f"phase one asked for {planned.size} bytes" in message()
    assert planned.unwritten()


@pytest.mark.parametrize("good", [True, False])
def test_an_executor_is_used_up_by_its_run(good: bool, planned: Planned) -> None:
    """A failed run uses it up too."""
    assert (planned.run(planned.workspace, planned.size if good else 0) == 0) == good
    again = planned.run(planned.workspace, planned.size)
    assert again == acl.ACLNN_ERR_INNER
    assert "can be run once" in message()
    assert planned.unwritten() != good


def test_null_executor(planned: Planned) -> None:
    assert aclnnop.aclnnSmoothL1LossBackward(None, 0, None, None) == acl.ACLNN_ERR_PARAM_NULLPTR
    assert acl.aclDestroyAclOpExecutor(planned.executor) == 0


def test_executor_of_another_operator(planned: Planned) -> None:
    assert aclnnop.aclnnLogSoftmaxBackward(planned.workspace, planned.size, planned.executor, None) == acl.ACLNN_ERR_INNER
    assert "aclnnSmoothL1LossBackwardGetWorkspaceSize" in message()
    assert planned.run(planned.workspace, planned.size) == 0


def test_a_failed_phase_one_gives_no_executor(device: int) -> None:
    assert aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize(None, None, None, 0, 1.0, None) == (0, None, acl.ACLNN_ERR_PARAM_NULLPTR)


@pytest.mark.parametrize("address", [0x1000, 1 << 60])
def test_a_workspace_that_is_no_device_memory_is_a_fault(planned: Planned, address: int) -> None:
    """Whether or not the kernel needs it in the end."""
    assert aclnnop.aclnnSmoothL1LossBackward(address, planned.size, planned.executor, None) == 0
    assert acl.aclrtSynchronizeStream(None) == 507015
    assert "workspace" in message()
