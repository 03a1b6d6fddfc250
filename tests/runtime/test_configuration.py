"""Environment variables: which chip, how many devices, when tasks run. Each test is a process of its own."""

from __future__ import annotations

import pytest

from acl_emu.core import soc
from tests.conftest import run_python


def output(program: str, **environment: str) -> list[str]:
    done = run_python(f"import acl_emu as acl\n{program}", **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


# ACL_EMU_SOC


@pytest.mark.parametrize("name", ["Ascend910_9391", "Ascend950PR_9589", "Ascend310P3", "Ascend310B1"])
def test_chip(name: str) -> None:
    program = "acl.aclrtSetDevice(0); print(acl.aclrtGetSocName(), acl.aclrtGetMemInfo(acl.ACL_HBM_MEM)[1])"
    assert output(program, ACL_EMU_SOC=name) == [f"{name} {soc.PROFILES[name].memory}"]


def test_no_chip_is_the_default() -> None:
    assert output("print(acl.aclrtGetSocName())", ACL_EMU_SOC="") == ["Ascend910B1"]


_ASK = """
print(acl.aclInit(None))
print(acl.aclrtGetSocName())
print(acl.aclrtSetDevice(0))
print(acl.aclGetRecentErrMsg())
"""


def test_unknown_chip() -> None:
    init, name, bound, *text = output(_ASK, ACL_EMU_SOC="Ascend1")
    assert (init, name, bound) == ("500000", "None", "500000")
    assert "ACL_EMU_SOC='Ascend1' is unknown" in " ".join(text)
    assert "Ascend910B1, " in " ".join(text)


@pytest.mark.parametrize("call", ["aclInit(None)", "aclnnInit(None)", "aclrtGetDeviceCount()", "aclrtSetDevice(0)"])
@pytest.mark.parametrize(
    "variable", ["ACL_EMU_SOC", "ACL_EMU_DEVICES", "ACL_EMU_SCHEDULE", "ACL_EMU_THREADS", "ACL_EMU_NATIVE", "ACL_EMU_COMPILE"]
)
def test_unknown_value_is_shown_once(call: str, variable: str) -> None:
    done = run_python(f"import acl_emu as acl\nacl.{call}, acl.{call}", **{variable: "nothing"})
    assert (done.returncode, done.stdout) == (0, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"acl-emu: {variable}='nothing' ")


# ACL_EMU_DEVICES, ASCEND_RT_VISIBLE_DEVICES


@pytest.mark.parametrize("count", ["1", "16", "64"])
def test_number_of_devices(count: str) -> None:
    program = "n, ret = acl.aclrtGetDeviceCount(); print(n, ret, acl.aclrtSetDevice(n - 1), acl.aclrtSetDevice(n))"
    assert output(program, ACL_EMU_DEVICES=count) == [f"{count} 0 0 107001"]


@pytest.mark.parametrize("count", ["0", "-1", "65", "eight", "1.5"])
def test_number_of_devices_that_means_nothing(count: str) -> None:
    program = "print(acl.aclInit(None)); print(acl.aclrtGetDeviceCount()); print(acl.aclrtSetDevice(0)); print(acl.aclGetRecentErrMsg())"
    init, counted, bound, *text = output(program, ACL_EMU_DEVICES=count)
    assert (init, counted, bound) == ("500000", "(0, 500000)", "500000")
    assert f"ACL_EMU_DEVICES='{count}' must be an integer from 1 to 64" in " ".join(text)


@pytest.mark.parametrize(
    ("visible", "physical"),
    [
        ("1,2", [1, 2]),
        ("7", [7]),
        (" 0 , 3 ", [0, 3]),
        ("2,1", [2]),
        ("2,2", [2]),
        ("0,x,1", [0]),
        ("0,8,1", [0]),
        ("0,-1", [0]),
        ("x", []),
        ("", []),
    ],
)
def test_visible_devices(visible: str, physical: list[int]) -> None:
    program = "from acl_emu.runtime import context; print(acl.aclrtGetDeviceCount()[0], [d.physical for d in context.devices()])"
    assert output(program, ASCEND_RT_VISIBLE_DEVICES=visible) == [f"{len(physical)} {physical}"]


def test_visible_devices_are_numbered_from_zero() -> None:
    program = "print([acl.aclrtSetDevice(i) for i in range(3)])"
    assert output(program, ASCEND_RT_VISIBLE_DEVICES="4,6") == ["[0, 0, 107001]"]


def test_no_visible_device() -> None:
    assert output("print(acl.aclrtSetDevice(0))", ASCEND_RT_VISIBLE_DEVICES="x") == ["107001"]


def test_sixteen_devices_with_one_thread_each() -> None:
    program = """
import threading
def work(number):
    acl.aclrtSetDevice(number)
    pointer, _ = acl.aclrtMalloc(1024, 0)
    stream, _ = acl.aclrtCreateStream()
    codes.append((acl.aclrtMemsetAsync(pointer, 1024, number, 1024, stream), acl.aclrtSynchronizeStreamWithTimeout(stream, 900_000)))
    back = bytearray(1024)
    acl.aclrtMemcpy(back, 1024, pointer, 1024, acl.ACL_MEMCPY_DEVICE_TO_HOST)
    values.append(back == bytes([number]) * 1024)
codes, values = [], []
threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(set(codes), set(values), len(values))
"""
    assert output(program, ACL_EMU_DEVICES="16") == ["{(0, 0)} {True} 16"]


# ACL_EMU_SCHEDULE

_LAUNCH = """
acl.aclrtSetDevice(0)
pointer, _ = acl.aclrtMalloc(4, 0)
acl.aclrtMemset(pointer, 4, 1, 4)
acl.aclrtMemsetAsync(pointer, 4, 2, 4, None)
back = bytearray(4)
acl.aclrtMemcpy(back, 4, pointer, 4, acl.ACL_MEMCPY_DEVICE_TO_HOST)
print(back[0])
acl.aclrtSynchronizeStream(None)
acl.aclrtMemcpy(back, 4, pointer, 4, acl.ACL_MEMCPY_DEVICE_TO_HOST)
print(back[0])
"""


@pytest.mark.parametrize(("schedule", "first"), [("lazy", {"1"}), ("eager", {"2"}), ("async", {"1", "2"}), ("", {"1", "2"})])
def test_schedule(schedule: str, first: set[str]) -> None:
    before, after = output(_LAUNCH, ACL_EMU_SCHEDULE=schedule)
    assert before in first
    assert after == "2"


def test_unknown_schedule() -> None:
    program = "print(acl.aclInit(None)); print(acl.aclrtSetDevice(0)); print(acl.aclGetRecentErrMsg())"
    init, bound, *text = output(program, ACL_EMU_SCHEDULE="sometimes")
    assert (init, bound) == ("500000", "500000")
    assert "ACL_EMU_SCHEDULE='sometimes' is unknown; known are async, lazy, eager" in " ".join(text)


# The end of a process


@pytest.mark.parametrize("schedule", soc.SCHEDULES)
def test_process_ends_with_work_left(schedule: str) -> None:
    """A program that forgets everything ends all the same, quickly and without a word."""
    program = """
acl.aclrtSetDevice(0)
pointer, _ = acl.aclrtMalloc(1 << 20, 0)
stream, _ = acl.aclrtCreateStream()
for _ in range(100):
    acl.aclrtMemsetAsync(pointer, 1 << 20, 2, 1 << 20, stream)
print("end")
"""
    done = run_python(f"import acl_emu as acl\n{program}", ACL_EMU_SCHEDULE=schedule)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
