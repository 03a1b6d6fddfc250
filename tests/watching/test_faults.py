"""Faults on demand: rules, what they do to Python and C programs, and that the sample takes the path that each is for."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import acl_emu as acl
import aclnnop
from acl_emu import cli
from acl_emu.core import observe, soc
from acl_emu.core.soc import ConfigurationError
from acl_emu.runtime import memory
from acl_emu.tools import faults
from tests.cface.programs import clean_environment, compile_program, run
from tests.conftest import PATIENCE, ROOT, message, run_python

COMMAND = str(Path(sys.executable).with_name("acl-emu"))
SAMPLE = ROOT / "samples" / "cpp" / "fault_injection.cpp"
OPERATOR = "aclnnSmoothL1LossBackward"


@contextmanager
def injected(text: str) -> Iterator[None]:
    with observe.watched(faults.Faults(faults.parse(text).rules)):
        yield


# Rules


def test_rules_are_read_as_they_are_meant() -> None:
    plan = faults.parse(
        " aclrtMalloc:3=207001, aclnnAdd:task:2=507015;aclnnAdd:hang ;aclrtMemcpy:12.5%@7=ACL_ERROR_RT_DRV_INTERNAL_ERROR,,"
    )
    assert [(rule.function, rule.target, rule.number, rule.rate, rule.seed, rule.code) for rule in plan.rules] == [
        ("aclrtMalloc", "call", 3, None, 0, 207001),
        ("aclnnAdd", "task", 2, None, 0, 507015),
        ("aclnnAdd", "hang", None, None, 0, 507046),
        ("aclrtMemcpy", "call", None, 0.125, 7, 507899),
    ]
    assert faults.parse("AclSetTensorAddr=561000").rules[0].function == "aclSetTensorAddr"


@pytest.mark.parametrize(("text", "size"), [("1GiB", 1 << 30), ("512MiB", 512 << 20), ("1.5k", 1536), ("4096", 4096), ("2G", 2 << 30)])
def test_sizes(text: str, size: int) -> None:
    assert faults.parse(f"memory={text}").memory == size


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("aclrtMalloc", "a code is missing, as in aclrtMalloc=507899"),
        ("aclrtMalloc:x=207001", "is no fault rule; examples"),
        ("aclrtMalloc:3:4=207001", "is no fault rule"),
        ("aclrtMaloc:3=207001", "there is no function aclrtMaloc; did you mean aclrtMalloc?"),
        ("nothing=1", "there is no function nothing"),
        ("aclrtMalloc:3=0", "0 is no status code of a failure"),
        ("aclrtMalloc:3=123456", "123456 is no status code"),
        ("aclrtMalloc:3=ACL_SUCCESS", "ACL_SUCCESS is no status code"),
        ("aclrtMalloc:0=207001", "counted from 1"),
        ("aclrtMalloc:101%=207001", "101% is more than every call"),
        ("aclrtMalloc:task=507015", "aclrtMalloc puts no task on a stream"),
        ("aclnnAddGetWorkspaceSize:task=507015", "puts no task on a stream"),
        ("aclnnAdd:hang=507015", "a task that hangs has no code"),
        ("aclnnAdd=null", "the result of aclnnAdd is a status, not a pointer"),
        ("aclFloatToFloat16=100000", "aclFloatToFloat16 cannot fail, its result is aclFloat16"),
        ("aclCreateTensor", "as in aclCreateTensor=null"),
        ("memory=much", "expected a size"),
        ("memory=1TiB2", "expected a size"),
    ],
)
def test_malformed_rules(rule: str, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)) as caught:
        faults.parse(f"aclrtMalloc:1=207001;{rule}")
    assert rule in str(caught.value)
    with pytest.raises(ConfigurationError, match=r"ACL_EMU_FAULT: .*"):
        faults.from_environment(rule)


# Calls


def test_the_nth_call_fails_and_is_not_carried_out(device: int) -> None:
    with injected("aclrtMalloc:2=207001"):
        first, status = acl.aclrtMalloc(64, acl.ACL_MEM_MALLOC_HUGE_FIRST)
        assert status == 0
        assert acl.aclrtMalloc(64, acl.ACL_MEM_MALLOC_HUGE_FIRST) == (None, 207001)
        assert "Injected_Fault(EMU001): aclrtMalloc: fault injected into call 2 (ACL_EMU_FAULT has aclrtMalloc:2=207001)" in message()
        assert acl.aclrtGetLastError(acl.ACL_RT_THREAD_LEVEL) == 207001
        third, status = acl.aclrtMalloc(64, acl.ACL_MEM_MALLOC_HUGE_FIRST)
        assert status == 0
    for address in (first, third):
        assert acl.aclrtFree(address) == 0


def test_every_call_and_the_first_rule_that_applies(device: int) -> None:
    with injected("aclrtSetDevice:2=107001;aclrtSetDevice:*=507899"):
        assert [acl.aclrtSetDevice(0) for _ in range(3)] == [507899, 107001, 507899]


def test_a_rate_is_the_same_for_the_same_seed(device: int) -> None:
    def statuses(rule: str) -> list[int]:
        with injected(rule):
            return [acl.aclrtSynchronizeDevice() for _ in range(200)]

    first = statuses("aclrtSynchronizeDevice:10%@7=507899")
    assert first == statuses("aclrtSynchronizeDevice:10%@7=507899")
    assert first != statuses("aclrtSynchronizeDevice:10%@8=507899")
    assert 5 < sum(status == 507899 for status in first) < 40
    assert set(statuses("aclrtSynchronizeDevice:100%=507899")) == {507899}
    assert set(statuses("aclrtSynchronizeDevice:0%=507899")) == {0}


def test_pointers_are_null_and_several_results_are_nulls(device: int) -> None:
    with injected("aclCreateTensor=null;aclrtGetMemInfo=100000;aclrtGetSocName=null;aclGetViewShape=161002"):
        assert acl.aclCreateTensor((2,), acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, (2,), None) is None
        assert acl.aclrtGetMemInfo(acl.ACL_HBM_MEM) == (0, 0, 100000)
        assert acl.aclrtGetSocName() is None
        assert acl.aclGetViewShape(None) == ([], 161002)


@pytest.fixture
def tensor(device: int) -> Iterator[int]:
    address, _ = acl.aclrtMalloc(64, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    handle = acl.aclCreateTensor((4,), acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, (4,), address)
    assert handle is not None
    yield handle
    assert acl.aclDestroyTensor(handle) == 0
    assert acl.aclrtFree(address) == 0


def test_both_phases(tensor: int) -> None:
    with injected("aclnnMulGetWorkspaceSize:1=161002;aclnnMul:1=361001"):
        assert aclnnop.aclnnMulGetWorkspaceSize(tensor, tensor, tensor) == (0, None, 161002)
        _, executor, status = aclnnop.aclnnMulGetWorkspaceSize(tensor, tensor, tensor)
        assert status == 0
        assert aclnnop.aclnnMul(None, 0, executor, None) == 361001
        assert "injected into call 1" in message()
        # as after any phase two that fails, the executor is gone
        assert aclnnop.aclnnMul(None, 0, executor, None) == 561000


# Tasks


def multiply(tensor: int, stream: int | None = None) -> int:
    _, executor, status = aclnnop.aclnnMulGetWorkspaceSize(tensor, tensor, tensor)
    assert status == 0
    assert aclnnop.aclnnMul(None, 0, executor, stream) == 0
    return acl.aclrtSynchronizeStream(stream)


def test_a_task_fails_when_the_stream_is_waited_for(schedule: str, tensor: int) -> None:
    with injected("aclnnMul:task:2=507015"):
        assert [multiply(tensor) for _ in range(3)] == [0, 507015, 0]
    assert "aclnnMul: fault injected into task 2 (ACL_EMU_FAULT has aclnnMul:task:2=507015)" in message()


def test_a_task_that_fails_writes_nothing(tensor: int) -> None:
    address, _ = acl.aclGetRawTensorAddr(tensor)
    before, after = np.arange(4, dtype=np.float32), np.empty(4, np.float32)
    acl.aclrtMemcpy(address, 16, before, 16, acl.ACL_MEMCPY_HOST_TO_DEVICE)
    with injected("aclnnMul:task=507015"):
        assert multiply(tensor) == 507015
    acl.aclrtMemcpy(after, 16, address, 16, acl.ACL_MEMCPY_DEVICE_TO_HOST)
    assert np.array_equal(before, after)


def test_queued_copies_are_tasks(schedule: str, tensor: int) -> None:
    address, _ = acl.aclGetRawTensorAddr(tensor)
    with injected("aclrtMemsetAsync:task=507899"):
        assert acl.aclrtMemsetAsync(address, 16, 0, 16, None) == 0
        assert acl.aclrtSynchronizeStream(None) == 507899


def test_a_stream_hangs_until_it_is_destroyed_by_force(schedule: str, tensor: int) -> None:
    stream, _ = acl.aclrtCreateStream()
    with injected("aclnnMul:hang"):
        _, executor, _ = aclnnop.aclnnMulGetWorkspaceSize(tensor, tensor, tensor)
        assert aclnnop.aclnnMul(None, 0, executor, stream) == 0
        assert acl.aclrtStreamQuery(stream) == (acl.ACL_STREAM_STATUS_NOT_READY, 0)
        assert acl.aclrtSynchronizeStreamWithTimeout(stream, 50) == 507046
        assert "aclnnMul: hang injected into task 1 (ACL_EMU_FAULT has aclnnMul:hang)" in message()
        event, _ = acl.aclrtCreateEvent()
        assert acl.aclrtRecordEvent(event, stream) == 0
        assert acl.aclrtSynchronizeEventWithTimeout(event, 50) == acl.ACL_ERROR_RT_EVENT_SYNC_TIMEOUT
        assert "hang injected" in message()
        assert acl.aclrtDestroyStreamForce(stream) == 0
        assert acl.aclrtDestroyEvent(event) == 0
        # other streams are as they were
        assert acl.aclrtSynchronizeDevice() == 0


HANG = """
import acl_emu as acl, aclnnop, numpy as np
acl.aclrtSetDevice(0)
address, _ = acl.aclrtMalloc(64, 0)
tensor = acl.aclCreateTensor((4,), 0, None, 0, 2, (4,), address)
_, executor, _ = aclnnop.aclnnMulGetWorkspaceSize(tensor, tensor, tensor)
print(aclnnop.aclnnMul(None, 0, executor, None), flush=True)
"""


@pytest.mark.parametrize("how", soc.SCHEDULES)
def test_a_process_with_a_stream_that_hangs_ends(how: str) -> None:
    done = run_python(HANG, ACL_EMU_FAULT="aclnnMul:hang", ACL_EMU_SCHEDULE=how)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


@pytest.mark.parametrize("how", soc.SCHEDULES)
def test_waiting_for_a_stream_that_hangs_can_be_interrupted(how: str) -> None:
    code = HANG + "try:\n    acl.aclrtSynchronizeStream(None)\nexcept KeyboardInterrupt:\n    print('interrupted', flush=True)\n"
    env = clean_environment(ACL_EMU_FAULT="aclnnMul:hang", ACL_EMU_SCHEDULE=how)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        # the signal may come before the wait begins
        assert (rest, process.wait(60)) == ("interrupted\n", 0) or process.returncode in (-signal.SIGINT, 130)


C_HANG = r"""
#include <stdio.h>
#include "acl/acl.h"
#include "aclnnop/aclnn_mul.h"
int main(int argc, char **argv) {
    void *address = NULL;
    int64_t dims[] = {4};
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    (void)argv;
    aclrtSetDevice(0);
    aclrtMalloc(&address, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    aclTensor *tensor = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, address);
    aclnnMulGetWorkspaceSize(tensor, tensor, tensor, &size, &executor);
    printf("%d\n", aclnnMul(NULL, 0, executor, NULL));
    fflush(stdout);
    return argc > 1 ? aclrtSynchronizeStream(NULL) : aclrtSynchronizeStreamWithTimeout(NULL, 50) == 507046 ? 7 : 1;
}
"""


def test_a_c_program_with_a_stream_that_hangs(tmp_path: Path) -> None:
    program = str(compile_program(tmp_path, C_HANG))
    env = clean_environment(ACL_EMU_FAULT="aclnnMul:hang")
    assert subprocess.run([program], env=env, timeout=PATIENCE, stdout=subprocess.DEVNULL).returncode == 7
    with subprocess.Popen([program, "wait"], stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT


# Memory


def test_memory_is_full_at_a_size() -> None:
    done = run_python(
        "import acl_emu as acl\n"
        "acl.aclrtSetDevice(0)\n"
        "free, total, _ = acl.aclrtGetMemInfo(acl.ACL_HBM_MEM)\n"
        "print(free, total == 64 << 30)\n"
        "first, status = acl.aclrtMalloc(700 << 20, 0)\n"
        "print(status, acl.aclrtMalloc(700 << 20, 0)[1], acl.aclrtMalloc(200 << 20, 0)[1])\n"
        "print('ACL_EMU_FAULT leaves 1073741824' in acl.aclGetRecentErrMsg())\n"
        "acl.aclrtFree(first)\n"
        "print(acl.aclrtMalloc(800 << 20, 0)[1])\n",
        ACL_EMU_FAULT="memory=1GiB",
    )
    assert done.stdout.splitlines() == [f"{1 << 30} True", "0 207001 0", "True", "0"], done.stderr


def test_more_memory_than_there_is_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", 1 << 60)
    region = memory.DeviceMemory(99, 1 << 20)
    memory._regions.remove(region)
    assert region.free_bytes == 1 << 20


# Environment and command


def test_a_malformed_rule_is_an_error_of_every_call() -> None:
    done = run_python(
        "import acl_emu as acl\nprint(acl.aclInit(None), acl.aclrtMalloc(1, 0), acl.aclrtGetSocName())\nprint(acl.aclGetRecentErrMsg())",
        ACL_EMU_FAULT="aclrtMaloc:1=207001",
    )
    assert done.returncode == 0
    assert done.stdout.startswith("500000 (None, 500000) None\n")
    assert "ACL_EMU_FAULT: 'aclrtMaloc:1=207001': there is no function aclrtMaloc; did you mean aclrtMalloc?" in done.stdout
    assert done.stderr.startswith("acl-emu: ACL_EMU_FAULT: 'aclrtMaloc:1=207001': there is no function")
    assert done.stderr.count("\n") == 1


def test_nothing_is_loaded_unless_asked_for() -> None:
    code = (
        "import sys, acl_emu\nacl_emu.aclInit(None)\nfrom acl_emu.core import observe\n"
        "print(observe.watching, *(name in sys.modules for name in {}))"
    )
    names = ("acl_emu.tools.checker", "acl_emu.tools.faults", "acl_emu.tools.log")
    assert run_python(code.format(names)).stdout == "None False False False\n"
    assert run_python(code.format(names), ASCEND_SLOG_PRINT_TO_STDOUT="0").stdout == "None False False True\n"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(
        tmp_path_factory.mktemp("sample"), SAMPLE.read_text(encoding="utf-8"), f"-I{SAMPLE.parent}", suffix=".cpp", name="sample"
    )


def test_the_command_refuses_before_it_runs() -> None:
    for rule in ("aclrtMalloc:3", "aclrtMaloc=207001", "aclrtMalloc:3=5"):
        done = CliRunner().invoke(cli.main, ["run", "--fault", "memory=1GiB", "--fault", rule, "no-such-file.cpp"])
        assert done.exit_code == 2
        assert done.output.startswith(f"acl-emu: --fault {rule!r}: ")
        assert done.output.count("\n") == 1


AGAIN = "the task failed: again"
PATHS = [
    ((), 0, [], 0),
    (("memory=8KiB",), 0, ["no room: from now on 4 rows at a time"], 0),
    (("memory=1KiB",), 1, [f"no room: from now on {rows} rows at a time" for rows in (4, 2, 1)], 207001),
    (("aclrtMalloc:3=207001", "aclrtMalloc:5=207001"), 0, [f"no room: from now on {rows} rows at a time" for rows in (4, 2)], 0),
    ((f"{OPERATOR}:task:1=507015",), 0, [AGAIN], 0),
    ((f"{OPERATOR}:task=507015",), 1, [AGAIN] * 3, 507015),
    ((f"{OPERATOR}:hang:1",), 0, ["the stream hangs: another one"], 0),
    (("aclrtMemcpy:5=507899",), 0, ["the driver failed: again"], 0),
    (("aclrtMemcpy:100%@3=507899",), 1, ["the driver failed: again"] * 3, 507899),
    ((f"{OPERATOR}GetWorkspaceSize:1=161002",), 1, [], 161002),
    ((f"{OPERATOR}:1=361001",), 1, [], 361001),
    (("aclCreateTensor:4=null",), 1, [], 500001),
    (("aclrtCreateStream=207005",), 1, [], 207005),
]


@pytest.mark.parametrize(("rules", "code", "path", "status"), PATHS, ids=[",".join(rules) or "none" for rules, *_ in PATHS])
def test_each_path_of_the_sample(rules: tuple[str, ...], code: int, path: list[str], status: int, sample: Path) -> None:
    """Which path is taken, and that nothing is left, by the program's own word and by that of the checker."""
    done = run(sample, env=clean_environment(ACL_EMU_FAULT=";".join(rules), ACL_EMU_CHECK="1"))
    assert done.returncode == code, done.stdout + done.stderr
    expected = [*path, "left on the device: 0 bytes"] + ([] if code else ["gradInput: all 512 values agree with the formula"])
    assert done.stdout.splitlines() == expected
    assert "acl-emu check" not in done.stderr
    if status:
        assert done.stderr.startswith(f"the batch failed with {status}\n")
        assert "ACL_EMU_FAULT" in done.stderr
    else:
        assert done.stderr == ""


def test_the_command_tells_the_program(tmp_path: Path) -> None:
    """Its rules win over those of the environment."""
    source = tmp_path / "program.c"
    source.write_text(
        '#include "acl/acl.h"\nint main(void) { return aclInit(NULL) == 100039 ? 3 : aclrtSetDevice(0) == 107001 ? 4 : 0; }\n'
    )
    command = [COMMAND, "run", str(source)]
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert subprocess.run(command, env=clean_environment(**cache), capture_output=True).returncode == 0
    env = clean_environment(ACL_EMU_FAULT="aclInit=100039", **cache)
    assert subprocess.run(command, env=env, capture_output=True).returncode == 3
    rules = ["--fault", "aclrtSetDevice:1=107001", "--fault", "memory=1GiB"]
    assert subprocess.run([*command, *rules], env=env, capture_output=True).returncode == 4
