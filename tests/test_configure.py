"""``acl_emu.configure``, ``acl_emu.reset`` and ``acl_emu.check``; variables that come too late."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from acl_emu.core import handles, soc
from acl_emu.runtime import memory
from tests.conftest import run_python


def use_device(size: int = 64) -> tuple[int, int]:
    """A stream and memory, neither of which is given back."""
    assert acl.aclrtSetDevice(0) == 0
    stream, status = acl.aclrtCreateStream()
    assert status == 0
    address, status = acl.aclrtMalloc(size, 0)
    assert status == 0
    return stream, address


def test_another_chip() -> None:
    before = acl.aclrtGetSocName()
    x = np.ones(4, np.float32)
    with acl.configure(soc="Ascend310B1"):
        assert acl.aclrtGetSocName() == "Ascend310B1"
        with pytest.raises(acl.AclCallError, match="has no kernel for Ascend310B1") as refused:
            acl.call("SmoothL1LossBackward", x, x, x, 0, 1.0, np.empty_like(x))
        assert refused.value.code == acl.ACLNN_ERR_INNER_NULLPTR
    assert acl.aclrtGetSocName() == before
    np.testing.assert_array_equal(acl.call("SmoothL1LossBackward", x, x, x, 0, 1.0, np.empty_like(x)), np.zeros(4))


def test_calls_that_are_known_are_planned_anew(device: int) -> None:
    """The same handles in both: what phase one made of them on one chip says nothing about another."""
    shape = (4,)
    tensors = [acl.aclCreateTensor(shape, acl.ACL_BF16, None, 0, acl.ACL_FORMAT_ND, shape, 0x1000) for _ in range(4)]
    one, two, three, four = tensors

    def plan() -> int:
        _, executor, status = aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize(one, two, three, 0, 1.0, four)
        if status == 0:
            assert acl.aclDestroyAclOpExecutor(executor) == 0
        return status

    assert [plan() for _ in range(4)] == [0] * 4
    with acl.configure(soc="Ascend910A"):
        assert [plan() for _ in range(4)] == [acl.ACLNN_ERR_PARAM_INVALID] * 4
    assert plan() == 0
    for tensor in tensors:
        assert acl.aclDestroyTensor(tensor) == 0


def test_the_number_of_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "1")
    with acl.configure(devices=2):
        assert acl.aclrtGetDeviceCount() == (2, 0)
        assert acl.aclrtSetDevice(2) == acl.ACL_ERROR_RT_INVALID_DEVICEID
        with acl.configure(devices=3):
            assert acl.aclrtGetDeviceCount() == (3, 0)
        assert acl.aclrtGetDeviceCount() == (2, 0)


@pytest.mark.parametrize(("schedule", "expected"), [("lazy", 7), ("eager", 1)])
def test_the_schedule(schedule: str, expected: int) -> None:
    with acl.configure(schedule=schedule):
        stream, address = use_device()
        host = np.full(64, 7, np.uint8)
        assert acl.aclrtMemcpy(address, 64, host, 64, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
        assert acl.aclrtMemsetAsync(address, 64, 1, 64, stream) == 0
        assert acl.aclrtMemcpy(host, 64, address, 64, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
        assert host[0] == expected


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"soc": "Ascend1"}, "'Ascend1' is unknown"),
        ({"schedule": "late"}, "'late' is unknown"),
        ({"devices": 0}, "'0' must be an integer from 1 to 64"),
        ({"check": "loud"}, "check is 'loud', expected True, False or 'warn'"),
    ],
)
def test_what_means_nothing(wrong: dict, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=text), acl.configure(**wrong):
        pytest.fail("it went on")
    assert soc.current().name == acl.aclrtGetSocName()


def test_the_outside_is_untouched(device: int) -> None:
    stream, address = use_device()
    host = np.arange(64, dtype=np.uint8)
    assert acl.aclrtMemcpy(address, 64, host, 64, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
    with acl.configure(devices=1):
        assert acl.aclrtGetCurrentContext()[1] == acl.ACL_ERROR_RT_CONTEXT_NULL
        use_device()
    assert acl.aclrtGetDevice() == (0, 0)
    back = np.zeros_like(host)
    assert acl.aclrtMemcpyAsync(back, 64, address, 64, acl.ACL_MEMCPY_DEVICE_TO_HOST, stream) == 0
    assert acl.aclrtSynchronizeStream(stream) == 0
    np.testing.assert_array_equal(back, host)
    assert acl.aclrtFree(address) == acl.aclrtDestroyStream(stream) == acl.aclrtResetDevice(0) == 0


def test_nothing_of_a_block_is_left() -> None:
    before = len(memory._regions), handles.census()
    for _ in range(80):  # C has room for fewer device memories
        with acl.configure(soc="Ascend310B1"):
            stream, address = use_device()
            assert acl.aclrtMemsetAsync(address, 64, 1, 64, stream) == 0
        assert acl.aclrtMemset(address, 64, 1, 64) != 0
    assert (len(memory._regions), handles.census()) == before
    assert "(destroyed)" in repr(stream)


def test_a_device_address_is_explained_after_many_blocks() -> None:
    """C has room for 64 device memories at a time."""
    code = """
import ctypes, acl_emu as acl
for _ in range(80):
    with acl.configure(soc="Ascend310B1"):
        acl.aclrtSetDevice(0)
        address, _ = acl.aclrtMalloc(64, 0)
acl.aclrtSetDevice(1)
address, _ = acl.aclrtMalloc(64, 0)
ctypes.c_char.from_address(address).value
"""
    done = run_python(code)
    assert done.returncode == -11
    assert "dereferenced device address" in done.stderr
    assert "(device 1)" in done.stderr


def test_a_block_that_raises_is_left_as_well() -> None:
    before = acl.aclrtGetSocName()
    with pytest.raises(KeyError), acl.configure(soc="Ascend310P3", check=True):
        {}[use_device()]  # the finding does not hide the exception
    assert acl.aclrtGetSocName() == before


def test_aclInit_inside() -> None:
    with acl.configure():
        assert acl.aclInit(None) == 0
        assert acl.aclFinalize() == 0
    with acl.configure():
        assert acl.aclInit(None) == 0


def test_another_thread_uses_the_devices_of_the_block() -> None:
    names: list[object] = []
    with acl.configure(devices=1):
        thread = threading.Thread(target=lambda: names.append((acl.aclrtSetDevice(1), acl.aclrtSetDevice(0), acl.aclrtGetDeviceCount())))
        thread.start()
        thread.join()
    assert names == [(acl.ACL_ERROR_RT_INVALID_DEVICEID, 0, (1, 0))]


# The checker


def test_check_gives_findings() -> None:
    with acl.check() as findings:
        use_device()
        assert acl.aclrtResetDevice(0) == 0
    assert set(findings.kinds) >= {"memory-leaked"}


def test_check_in_a_block() -> None:
    with pytest.raises(acl.CheckError, match="memory is never freed") as refused, acl.configure(check=True):
        use_device()
    assert "memory-leaked" in refused.value.findings.kinds


def test_check_that_warns() -> None:
    with pytest.warns(RuntimeWarning, match="memory is never freed"), acl.configure(check="warn") as findings:
        use_device()
    assert findings


def test_check_with_nothing_to_find() -> None:
    with acl.configure(check=True) as findings:
        x = np.ones(4, np.float32)
        acl.call("Exp", x, np.empty_like(x))
    assert not findings


def test_the_checker_is_loaded_when_it_is_used() -> None:
    code = (
        "import sys, acl_emu\nprint('acl_emu.tools.checker' in sys.modules)\nacl_emu.check\nprint('acl_emu.tools.checker' in sys.modules)"
    )
    assert run_python(code).stdout == "False\nTrue\n"


# Reset


def test_reset() -> None:
    code = """
import os, acl_emu as acl, numpy as np, warnings
warnings.simplefilter("error")
acl.aclInit(None)
acl.aclrtSetDevice(0)
stream, _ = acl.aclrtCreateStream()
address, _ = acl.aclrtMalloc(64, 0)
tensor = acl.aclCreateTensor([2], 0, None, 0, 2, [2], address)
acl.aclrtSetDevice(99)
os.environ["ACL_EMU_SOC"] = "Ascend910_9391"
os.environ["ACL_EMU_DEVICES"] = "2"
acl.reset()
print(acl.aclrtGetCurrentContext()[1], acl.aclrtSynchronizeStream(stream), acl.aclDestroyTensor(tensor), acl.aclInit(None))
acl.reset()
print(acl.aclGetRecentErrMsg(), acl.aclrtGetSocName(), acl.aclrtGetDeviceCount())
x = np.zeros(2, np.float32)
print(acl.call("Exp", x, np.empty_like(x)))
"""
    done = run_python(code)
    assert done.stdout == "107002 107002 161002 0\nNone Ascend910_9391 (2, 0)\n[1. 1.]\n", done.stderr


# Variables that come too late


def late(lines: str, **environment: str) -> list[str]:
    done = run_python(f"import os, acl_emu as acl\n{lines}", **environment)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stderr.splitlines() if "Warning" in line]


def test_a_variable_set_after_its_use_is_a_warning_once() -> None:
    (line,) = late("acl.aclrtGetSocName()\nos.environ['ACL_EMU_SOC'] = 'Ascend310P3'\nfor _ in range(3): acl.aclrtSetDevice(0)")
    assert "RuntimeWarning: ACL_EMU_SOC is 'Ascend310P3' now and has no effect: it was None when it was read" in line


def test_a_tool_that_is_asked_for_too_late() -> None:
    (line,) = late("os.environ['ACL_EMU_CHECK'] = '1'\nacl.aclInit(None)")
    assert "ACL_EMU_CHECK is '1' now and has no effect" in line


def test_a_variable_in_time_is_none() -> None:
    assert (
        late("os.environ['ACL_EMU_SOC'] = 'Ascend310P3'\nacl.aclInit(None)\nacl.aclrtSetDevice(0)\nassert 'P3' in acl.aclrtGetSocName()")
        == []
    )
    assert late("acl.aclInit(None)\nacl.aclrtSetDevice(0)", ACL_EMU_SOC="Ascend310P3", ACL_EMU_SCHEDULE="lazy") == []


def test_a_block_is_no_late_variable() -> None:
    assert late("acl.aclrtSetDevice(0)\nwith acl.configure(soc='Ascend310P3'):\n    acl.aclrtSetDevice(0)\nacl.aclrtSetDevice(0)") == []
