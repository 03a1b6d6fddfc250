"""The checks of phase one, as they are shown: in order, with what they looked at, up to the one that failed."""

from __future__ import annotations

import pytest

import acl_emu as acl
import aclnnop
from acl_emu.core import handles
from acl_emu.runtime.tensor import Tensor
from acl_emu.tools.checks_made import Step, made

STANDARD = ["handle", "null", "data type", "format", "dimensions", "value"]


def tensor(*shape: int, dtype: int = acl.ACL_FLOAT) -> int:
    made = acl.aclCreateTensor(list(shape), dtype, None, 0, acl.ACL_FORMAT_ND, list(shape), None)
    assert made is not None
    return made


def steps_of(*arguments: object) -> list[Step]:
    """The checks of one operator; the error that phase one itself gives must be that of the failed check."""
    before = handles.census()
    steps = made(aclnnop.find("aclnnSmoothL1LossBackward"), arguments)
    assert handles.census() == before
    _, executor, status = aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize(*arguments)
    failed = [step.failure for step in steps if step.failure]
    if status:
        (text,) = failed
        assert text in (acl.aclGetRecentErrMsg() or "")
        assert steps[-1].failure
    else:
        assert not failed
        acl.aclDestroyAclOpExecutor(executor)
    for value in dict.fromkeys(arguments):
        if handles.find(value, Tensor) if isinstance(value, int) else None:
            acl.aclDestroyTensor(value)
    return steps


@pytest.mark.usefixtures("device")
def test_all_checks_of_a_good_call_in_order() -> None:
    steps = steps_of(tensor(2, 3), tensor(2, 3), tensor(1, 3), 1, 0.5, tensor(2, 3))
    for word, step in zip(STANDARD, steps, strict=False):
        assert word in step.rule.lower(), step
    assert steps[2].detail == "gradOut FLOAT, self FLOAT, target FLOAT, gradInput FLOAT"
    assert steps[5].detail == "reduction = 1 (mean), beta = 0.5"
    own = steps[6:]
    assert any("beta" in step.detail for step in own)
    assert any(step.detail.startswith("broadcast_shape(") and step.detail.endswith("→ [2, 3]") for step in own)
    assert any(step.detail.startswith("shape_is(gradInput [2, 3] FLOAT") for step in own)


@pytest.mark.usefixtures("device")
def test_the_failed_check_is_the_last() -> None:
    good = tensor(2, 3)
    dead = tensor(1)
    acl.aclDestroyTensor(dead)
    assert len(steps_of(dead, good, good, 0, 1.0, tensor(2, 3))) == 1
    assert len(steps_of(None, tensor(2), tensor(2), 0, 1.0, tensor(2))) == 2
    assert len(steps_of(tensor(2), tensor(2, dtype=acl.ACL_INT32), tensor(2), 0, 1.0, tensor(2))) == 3
    assert len(steps_of(*[tensor(*[1] * 9)] * 3, 0, 1.0, tensor(2))) == 5
    assert len(steps_of(tensor(2), tensor(2), tensor(2), 9, 1.0, tensor(2))) == 6
    assert "beta" in steps_of(tensor(2), tensor(2), tensor(2), 0, -1.0, tensor(2))[-1].failure
    assert "shape" in steps_of(tensor(2), tensor(2), tensor(2), 0, 1.0, tensor(3))[-1].detail


@pytest.mark.usefixtures("device")
def test_a_chip_without_a_kernel_is_a_rule_of_the_operator(chip: object) -> None:
    chip("Ascend310B1")  # type: ignore[operator]
    steps = steps_of(tensor(2), tensor(2), tensor(2), 0, 1.0, tensor(2))
    assert "has no kernel" in steps[-1].failure
    assert len(steps) > len(STANDARD)
