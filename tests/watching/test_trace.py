"""The trace: what is in it, and that it is whole however the program ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from acl_emu.core import observe
from acl_emu.tools import growing_file, trace_file
from acl_emu.tools.growing_file import GrowingFile
from acl_emu.tools.trace import FIRST_DEVICE, HOST, Tracer
from tests.cface import programs
from tests.conftest import PATIENCE, run_python
from tests.runtime.support import upload
from tests.watching.traces import arrows, load, slice_at, slices

COMMAND = Path(sys.executable).with_name("acl-emu")
OPERATOR = "aclnnSmoothL1LossBackward"


class Problem:
    """Four tensors on the device, and a gradient to compute from them."""

    def __init__(self, dtype: int = acl.ACL_FLOAT) -> None:
        values = np.linspace(-2, 2, 6, dtype=np.float32 if dtype == acl.ACL_FLOAT else np.float16)
        self.addresses = [upload(values) for _ in range(4)]
        self.tensors = [acl.aclCreateTensor([2, 3], dtype, None, 0, acl.ACL_FORMAT_ND, [2, 3], address) for address in self.addresses]

    def phase_one(self, reduction: int = 0) -> tuple[int, int | None, int]:
        first, second, third, out = self.tensors
        answer: tuple[int, int | None, int] = aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize(first, second, third, reduction, 1.0, out)
        return answer

    def run(self, stream: int | None) -> int:
        size, executor, status = self.phase_one()
        assert status == 0
        workspace = acl.aclrtMalloc(size, 0)[0] if size else None
        status = aclnnop.aclnnSmoothL1LossBackward(workspace, size, executor, stream)
        acl.aclrtSynchronizeStream(stream)
        if workspace:
            acl.aclrtFree(workspace)
        return status

    def close(self) -> None:
        for tensor, address in zip(self.tensors, self.addresses, strict=True):
            acl.aclDestroyTensor(tensor)
            acl.aclrtFree(address)


def traced(tmp_path: Path, work: Any) -> list[dict[str, Any]]:
    """Do something under a tracer and read its trace; nothing of what is over may be kept in memory."""
    tracer = Tracer(tmp_path / "trace.json")
    with observe.watched(tracer):
        work()
    assert not tracer._begun
    assert not tracer._planned
    assert not tracer._awaited
    assert not any(queue.tasks for queue in tracer._queues.values())
    tracer.close()
    return load(tmp_path / "trace.json")


@pytest.mark.usefixtures("device")
def test_an_operator_call_is_an_arrow_from_phase_one_to_phase_two_to_the_kernel(tmp_path: Path, schedule: str) -> None:
    problem = Problem(acl.ACL_FLOAT16)
    stream, _ = acl.aclrtCreateStream()
    events = traced(tmp_path, lambda: problem.run(stream))
    acl.aclrtDestroyStream(stream)
    problem.close()

    (points,) = (points for points in arrows(events, "launch").values() if len(points) == 3)
    one, two, kernel = (slice_at(events, point) for point in points)
    assert (one["name"], one["cat"]) == (OPERATOR + "GetWorkspaceSize", "phase one")
    assert (two["name"], two["cat"]) == (OPERATOR, "phase two")
    assert (kernel["name"], kernel["cat"]) == (OPERATOR, "kernel")
    assert one["pid"] == two["pid"] == HOST
    assert kernel["pid"] == FIRST_DEVICE
    assert one["args"]["arguments"]["self"].endswith("[2, 3] FLOAT16")
    assert kernel["args"]["reads"] == ["gradOut [2, 3] FLOAT16", "self [2, 3] FLOAT16", "target [2, 3] FLOAT16"]
    assert kernel["args"]["writes"] == ["gradInput [2, 3] FLOAT16"]
    assert kernel["args"]["workspace"] == one["args"]["plan"]["workspace"] == int(two["args"]["arguments"]["workspaceSize"]) > 0
    assert [part[3] for part in one["args"]["plan"]["parts"]] == sorted(part[3] for part in one["args"]["plan"]["parts"])


@pytest.mark.usefixtures("device")
def test_every_run_of_a_repeatable_executor_has_its_arrow(tmp_path: Path) -> None:
    problem = Problem()

    def work() -> None:
        size, executor, status = problem.phase_one()
        assert (size, status) == (0, 0)
        assert acl.aclSetAclOpExecutorRepeatable(executor) == 0
        for _ in range(3):
            assert aclnnop.aclnnSmoothL1LossBackward(None, 0, executor, None) == 0
        acl.aclrtSynchronizeStream(None)
        acl.aclDestroyAclOpExecutor(executor)

    events = traced(tmp_path, work)
    problem.close()
    whole = [points for points in arrows(events, "launch").values() if len(points) == 3]
    assert len(whole) == 3
    assert len({points[0]["ts"] for points in whole}) == 1
    assert len({points[2]["ts"] for points in whole}) == 3


@pytest.mark.usefixtures("device")
def test_a_call_that_fails_has_its_status_and_message(tmp_path: Path) -> None:
    problem = Problem()
    events = traced(tmp_path, lambda: problem.phase_one(reduction=7))
    problem.close()
    (call,) = slices(events, category="phase one")
    assert call["args"]["status"] == acl.ACLNN_ERR_PARAM_INVALID
    assert call["args"]["status name"] == "ACLNN_ERR_PARAM_INVALID"
    assert "reduction is 7" in call["args"]["error"]
    assert not arrows(events)


@pytest.mark.usefixtures("device")
def test_a_wait_is_an_arrow_between_streams_and_a_synchronize_one_to_the_host(tmp_path: Path, schedule: str) -> None:
    first, second = acl.aclrtCreateStream()[0], acl.aclrtCreateStream()[0]
    event, _ = acl.aclrtCreateEvent()

    def work() -> None:
        acl.aclrtRecordEvent(event, first)
        acl.aclrtStreamWaitEvent(second, event)
        acl.aclrtSynchronizeStream(second)

    events = traced(tmp_path, work)
    acl.aclrtDestroyEvent(event)
    acl.aclrtDestroyStream(first)
    acl.aclrtDestroyStream(second)
    (waited,) = arrows(events, "event").values()
    assert [slice_at(events, point)["cat"] for point in waited] == ["record", "wait"]
    (synchronized,) = arrows(events, "synchronize").values()
    assert [slice_at(events, point)["name"] for point in synchronized] == ["event wait", "aclrtSynchronizeStream"]
    names = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert len({name for name in names if name.startswith("stream ")}) == 2


@pytest.mark.usefixtures("device")
def test_memory_in_use_is_a_counter(tmp_path: Path) -> None:
    def work() -> None:
        first, second = acl.aclrtMalloc(1000, 0)[0], acl.aclrtMalloc(50_000, 0)[0]
        acl.aclrtFree(first)
        acl.aclrtFree(second)

    counts = [event["args"]["bytes"] for event in traced(tmp_path, work) if event["ph"] == "C"]
    base = counts[-1]
    assert [count > base for count in counts] == [True, True, True, False]
    assert counts[1] - counts[0] >= 50_000
    assert counts[1] - counts[2] == counts[0] - base


def test_a_forked_child_writes_nothing(tmp_path: Path) -> None:
    done = run_python(
        """
import os, acl_emu as acl
acl.aclInit(None)
child = os.fork()
if child == 0:
    acl.aclrtGetDeviceCount()
    os._exit(0)
os.waitpid(child, 0)
acl.aclFinalize()
""",
        ACL_EMU_TRACE=str(tmp_path / "trace.json"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [event["name"] for event in slices(load(tmp_path / "trace.json"))] == ["aclInit", "aclFinalize"]
    assert os.listdir(tmp_path) == ["trace.json"]


def test_a_process_that_is_killed_leaves_a_whole_trace_with_the_call_that_it_was_in(tmp_path: Path) -> None:
    done = run_python(
        """
import os, acl_emu as acl
acl.aclInit(None)
acl.aclrtSetDevice(0)
stream, _ = acl.aclrtCreateStream()
acl.aclrtLaunchHostFunc(stream, lambda data: os.kill(os.getpid(), 9), None)
acl.aclrtSynchronizeStream(stream)
""",
        ACL_EMU_TRACE=str(tmp_path / "trace-%p.json"),
        ACL_EMU_SCHEDULE="lazy",
    )
    assert done.returncode == -signal.SIGKILL
    (file,) = tmp_path.iterdir()
    assert file.stem.removeprefix("trace-").isdecimal()
    events = load(file)
    assert [(event["name"], event["ph"]) for event in slices(events, category="call")][-2:] == [
        ("aclrtLaunchHostFunc", "X"),
        ("aclrtSynchronizeStream", "B"),
    ]
    (callback,) = slices(events, category="callback")
    assert callback["ph"] == "B"
    size = file.stat().st_size
    trace_file.repair(file)
    assert file.stat().st_size < size
    assert load(file) == events


def test_a_file_that_was_cut_off_is_repaired(tmp_path: Path) -> None:
    whole = [{"name": "first", "ph": "M"}, {"name": "second", "ph": "M"}]
    file = tmp_path / "trace.json"
    file.write_text('[\n{"name":"first","ph":"M"},\n{"name":"second","ph":"M"},\n{"name":"thi' + " " * 10_000)
    trace_file.repair(file)
    assert json.loads(file.read_text()) == whole


C_PROGRAM = r"""
#include <stdlib.h>
#include "acl/acl.h"
int main(int argc, char **argv) {
    (void)argv;
    void *memory = NULL;
    if (aclInit(NULL) || aclrtSetDevice(0) || aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST))
        return 1;
    if (argc > 1)
        abort();
    return aclrtFree(memory) || aclrtResetDevice(0) || aclFinalize();
}
"""


@pytest.fixture(scope="module")
def c_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return programs.compile_program(tmp_path_factory.mktemp("c"), C_PROGRAM)


@pytest.mark.parametrize("dies", [False, True])
def test_a_c_program_is_traced_to_its_end(c_program: Path, tmp_path: Path, dies: bool) -> None:
    file = tmp_path / "trace.json"
    done = programs.run(c_program, *(["die"] if dies else []), env=programs.clean_environment(ACL_EMU_TRACE=str(file)))
    assert done.returncode == (-signal.SIGABRT if dies else 0)
    assert done.stderr == ""
    events = load(file)
    begun = ["aclInit", "aclrtSetDevice", "aclrtMalloc"]
    assert [event["name"] for event in slices(events)] == (begun if dies else [*begun, "aclrtFree", "aclrtResetDevice", "aclFinalize"])
    if not dies:
        (places,) = (event["args"] for event in events if event["name"] == "places")
        assert all("main" in places[call["args"]["from"]] for call in slices(events))


def test_the_command_ends_the_trace_of_a_program_that_died(tmp_path: Path) -> None:
    source, file = tmp_path / "program.c", tmp_path / "trace.json"
    source.write_text(C_PROGRAM)
    done = subprocess.run([COMMAND, "run", source, "--trace", file, "--", "die"], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 128 + signal.SIGABRT
    assert file.read_bytes().endswith(b"]\n")
    assert len(slices(load(file))) == 3
    refused = subprocess.run([COMMAND, "run", source, "--trace", tmp_path / "no" / "trace.json"], capture_output=True, text=True)
    assert refused.returncode == 2
    assert "No such file or directory" in refused.stderr


def test_a_file_that_cannot_be_written_is_one_message_and_no_harm(tmp_path: Path) -> None:
    code = "import acl_emu as acl\nassert acl.aclInit(None) == 0\nassert acl.aclFinalize() == 0"
    done = run_python(code, ACL_EMU_TRACE=str(tmp_path / "no" / "trace.json"))
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "No such file or directory" in done.stderr


def test_a_growing_file_is_whole_after_every_addition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing_file, "_WINDOW", 100)
    file = GrowingFile(tmp_path / "file")
    expected: list[int] = []
    file.append(b"[0", b"]")
    for i in range(1, 3000):
        tail = ",1" * (i % 7) + "]"
        file.append(f",{i}".encode(), tail.encode())
        if i % 50 == 0:
            expected = [*range(i + 1), *[1] * (i % 7)]
            assert json.loads((tmp_path / "file").read_bytes()) == expected
    file.append(b"]", b"")
    file.close()
    assert (tmp_path / "file").read_bytes().endswith(b"2999]")


def test_two_writers_of_one_name_get_a_file_each(tmp_path: Path) -> None:
    files = [GrowingFile(tmp_path / "trace.json") for _ in range(2)]
    assert [file.path.name for file in files] == ["trace.json", f"trace.{os.getpid()}.json"]
    for file in files:
        file.append(b"[", b"]")
        file.close()
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"[]"}
