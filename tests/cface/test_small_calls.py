"""Calls that C carries out without Python: they differ from the others in nothing but time, and may be mixed with them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from acl_emu.cface import toolkit
from tests.cface.programs import clean_environment
from tests.conftest import PATIENCE

PRELUDE = """
import ctypes, sys, threading
import numpy as np
import acl_emu as acl
from acl_emu.core import handles, observe
from acl_emu.runtime import plans
from acl_emu.runtime.executor import Executor

lib = ctypes.CDLL(sys.argv[1])
lib.aclCreateTensor.restype = lib.aclGetRecentErrMsg.restype = ctypes.c_void_p
lib.aclCreateTensor.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int,
                                ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p]
pointer = ctypes.c_void_p
OPERATOR = "aclnnSmoothL1LossBackward"


def numbers(*values):
    return (ctypes.c_int64 * len(values))(*values)


def tensor(address, *dims, dtype=acl.ACL_FLOAT, strides=None, offset=0):
    shape = numbers(*dims)
    return lib.aclCreateTensor(shape, len(dims), dtype, strides and numbers(*strides), offset, acl.ACL_FORMAT_ND, shape, len(dims), address)


def destroy(handle):
    return lib.aclDestroyTensor(pointer(handle))


def upload(values):
    array = np.array(values, np.float32)
    address, ret = acl.aclrtMalloc(array.nbytes, 0)
    assert ret == acl.aclrtMemcpy(address, array.nbytes, array, array.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
    return address


def download(address, count=4):
    array = np.empty(count, np.float32)
    assert acl.aclrtMemcpy(array, array.nbytes, address, array.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
    return array.tolist()


def phase_one(tensors, reduction=0, beta=1.0, size=None, executor=None):
    size = ctypes.c_uint64(99) if size is None else size
    executor = pointer(77) if executor is None else executor
    grad, x, y, out = map(pointer, tensors)
    where = [ctypes.byref(one) if isinstance(one, ctypes._SimpleCData) else one for one in (size, executor)]
    status = getattr(lib, OPERATOR + "GetWorkspaceSize")(grad, x, y, ctypes.c_int64(reduction), ctypes.c_float(beta), out, *where)
    return status, executor.value


def phase_two(executor, stream, workspace=None, size=0):
    return getattr(lib, OPERATOR)(pointer(workspace), ctypes.c_uint64(size), pointer(executor), pointer(stream))


def living():
    counts = handles.census()
    return counts.get("aclTensor", 0), counts.get("aclOpExecutor", 0)


assert acl.aclrtSetDevice(0) == 0
stream, ret = acl.aclrtCreateStream()
memory = [upload(values) for values in ([1, 1, 1, 1], [0, 1, 1.5, 4], [1, 1, 1, 1], [9, 9, 9, 9])]
EXPECTED = [-1, 0, 0.5, 1]
tensors = [tensor(address, 4) for address in memory]
before = handles.census()


def run_once(stream=stream):
    status, executor = phase_one(tensors)
    assert status == 0
    assert phase_two(executor, stream) == 0
    assert lib.aclrtSynchronizeStream(pointer(stream)) == 0
    assert download(memory[3]) == EXPECTED


run_once()
assert living() == (4, 0)
assert acl.aclrtMemset(memory[3], 16, 0, 16) == 0
"""

BODIES = {
    "twice": """
run_once()
run_once()
assert living() == (4, 0)
assert handles.census() == before
""",
    "fresh tensors": """
for _ in range(100):
    other = [tensor(address, 4) for address in memory]
    status, executor = phase_one(other)
    assert (status, phase_two(executor, stream)) == (0, 0)
    assert [destroy(one) for one in other] == [0] * 4  # before it has run
assert acl.aclrtSynchronizeStream(stream) == 0
assert download(memory[3]) == EXPECTED
assert handles.census() == before
assert plans.count() == 1
""",
    "a single use": """
status, executor = phase_one(tensors)
assert phase_two(executor, stream) == 0
assert phase_two(executor, stream) == 561000
assert "destroyed" in acl.aclGetRecentErrMsg()
assert lib.aclDestroyAclOpExecutor(pointer(executor)) == 561000
status, executor = phase_one(tensors)
assert lib.aclDestroyAclOpExecutor(pointer(executor)) == 0
assert phase_two(executor, stream) == 561000
""",
    "handles never come twice": """
seen = set()
for _ in range(1000):
    one = tensor(memory[0], 4)
    executor = phase_one(tensors)[1]
    assert one not in seen and executor not in seen and one != executor
    seen |= {one, executor}
    assert destroy(one) == lib.aclDestroyAclOpExecutor(pointer(executor)) == 0
    assert destroy(one) == 161002
""",
    "dead tensor": """
dead = tensor(memory[0], 4)
assert destroy(dead) == 0
assert phase_one([dead, *tensors[1:]])[0] == 161002
assert "destroyed" in acl.aclGetRecentErrMsg()
assert phase_one([tensors[0], 0x1234, *tensors[2:]])[0] == 161002
assert "not a handle" in acl.aclGetRecentErrMsg()
assert phase_one([tensors[0], None, *tensors[2:]])[0] == 161001
assert destroy(None) == 0
""",
    "an executor is no tensor": """
executor = phase_one(tensors)[1]
assert destroy(executor) == 161002
assert "a living aclOpExecutor" in acl.aclGetRecentErrMsg()
assert lib.aclDestroyAclOpExecutor(pointer(tensors[0])) == 561000
assert phase_two(executor, stream) == 0
""",
    "other shapes, types, strides and numbers": """
for change in (dict(reduction=1), dict(beta=0.5), dict(beta=0.0), dict(beta=-0.0), dict(reduction=2)):
    for _ in range(2):
        status, executor = phase_one(tensors, **change)
        assert (status, phase_two(executor, stream)) == (0, 0)
assert phase_one(tensors, reduction=7)[0] == 161002
assert phase_one(tensors, beta=-1.0)[0] == 161002
run_once()
grid = upload([0, 9, 1, 9, 1.5, 9, 4, 9])
spread = [tensors[0], tensor(grid, 4, strides=[2]), tensors[2], tensors[3]]
for _ in range(2):
    assert acl.aclrtMemset(memory[3], 16, 0, 16) == 0
    status, executor = phase_one(spread)
    assert (status, phase_two(executor, stream), acl.aclrtSynchronizeStream(stream)) == (0, 0, 0)
    assert download(memory[3]) == EXPECTED
assert phase_one([tensors[0], tensor(memory[1], 3), *tensors[2:]])[0] == 161002
assert phase_one([tensors[0], tensor(memory[1], 4, dtype=acl.ACL_INT32), *tensors[2:]])[0] == 161002
half = tensor(memory[1], 4, dtype=acl.ACL_FLOAT16)
size = ctypes.c_uint64(0)
for _ in range(2):
    status, executor = phase_one([tensors[0], half, *tensors[2:]], size=size)
    assert status == 0 and size.value > 0
    assert phase_two(executor, stream) == 161001
    status, executor = phase_one([tensors[0], half, *tensors[2:]], size=size)
    room, ret = acl.aclrtMalloc(size.value, 0)
    assert phase_two(executor, stream, room, size.value - 1) == 161002
    status, executor = phase_one([tensors[0], half, *tensors[2:]], size=size)
    assert phase_two(executor, stream, room, size.value) == acl.aclrtSynchronizeStream(stream) == 0
""",
    "empty tensors": """
empty = [tensor(None, 0, 3) for _ in range(4)]
for _ in range(3):
    status, executor = phase_one(empty)
    assert (status, phase_two(executor, stream), acl.aclrtSynchronizeStream(stream)) == (0, 0, 0)
""",
    "a new address between the phases": """
other = upload([5, 5, 5, 5])
status, executor = phase_one(tensors)
assert acl.aclSetRawTensorAddr(tensors[3], other) == 0
assert phase_two(executor, stream) == acl.aclrtSynchronizeStream(stream) == 0
assert download(other) == EXPECTED and download(memory[3]) == [0, 0, 0, 0]
""",
    "destroyed between the phases": """
status, executor = phase_one(tensors)
assert [destroy(one) for one in tensors] == [0] * 4
if sys.argv[2] == "move":
    assert acl.aclSetAclOpExecutorRepeatable(executor) == 0
assert phase_two(executor, stream) == acl.aclrtSynchronizeStream(stream) == 0
assert download(memory[3]) == EXPECTED
""",
    "repeatable": """
status, executor = phase_one(tensors)
assert lib.aclSetAclOpExecutorRepeatable(pointer(executor)) == 0
for values in ([0, 1, 1.5, 4], [1, 1, 1, 1]):
    address = upload(values)
    assert acl.aclSetInputTensorAddr(executor, 1, tensors[1], address) == 0
    assert phase_two(executor, stream) == acl.aclrtSynchronizeStream(stream) == 0
    assert download(memory[3]) == (EXPECTED if values[0] == 0 else [0, 0, 0, 0])
assert lib.aclDestroyAclOpExecutor(pointer(executor)) == 0
assert phase_two(executor, stream) == 561000
""",
    "asked about by Python": """
assert acl.aclGetViewShape(tensors[0]) == ([4], 0)
assert handles.census() == before
run_once()
executor = phase_one([tensor(address, 4) for address in memory])[1]
found = handles.find(executor, Executor)
assert found is not None and found.operator == OPERATOR and living()[1] == 1
assert found.addresses == memory
assert phase_two(executor, stream) == 0
""",
    "of a list": """
members = (pointer * 2)(tensors[0], tensors[1])
lib.aclCreateTensorList.restype = pointer
made = lib.aclCreateTensorList(members, ctypes.c_uint64(2))
assert lib.aclDestroyTensorList(pointer(made)) == 0
assert [destroy(one) for one in tensors] == [0] * 4  # the first two once more, as some programs do
assert destroy(tensors[2]) == 161002
assert living() == (0, 0)
""",
    "tasks in order": """
other = upload([7, 7, 7, 7])
for _ in range(200):
    assert acl.aclrtMemsetAsync(memory[3], 16, 0, 16, stream) == 0
    status, executor = phase_one(tensors)
    assert phase_two(executor, stream) == 0
    assert acl.aclrtMemcpyAsync(other, 16, memory[3], 16, acl.ACL_MEMCPY_DEVICE_TO_DEVICE, stream) == 0
    assert acl.aclrtMemsetAsync(memory[3], 16, 0, 16, stream) == 0
assert acl.aclrtSynchronizeStream(stream) == 0
assert download(other) == EXPECTED and download(memory[3]) == [0, 0, 0, 0]
""",
    "in the background": """
import time
for pause in (0, 0, 2.5, 0.01):  # the background thread leaves after two seconds without work
    time.sleep(pause)
    assert acl.aclrtMemset(memory[3], 16, 0, 16) == 0
    status, executor = phase_one(tensors)
    assert phase_two(executor, stream) == 0
    while download(memory[3]) != EXPECTED:  # a background thread that never came would be ended from outside
        acl.aclrtStreamQuery(stream)
    assert acl.aclrtSynchronizeStream(stream) == 0
""",
    "a dead stream": """
other, ret = acl.aclrtCreateStream()
run_once(other)
status, executor = phase_one(tensors)
assert acl.aclrtDestroyStream(other) == 0
assert phase_two(executor, other) == 361001
assert phase_two(executor, stream) == 561000
""",
    "another context": """
run_once(None)
status, executor = phase_one(tensors)
assert acl.aclrtSetDevice(1) == 0
assert phase_two(executor, stream) == 361001
assert acl.aclrtSetDevice(0) == 0
run_once()
results = []
def elsewhere():
    results.append(phase_two(phase_one(tensors)[1], stream))
    acl.aclrtSetDevice(0)
    results.append(phase_two(phase_one(tensors)[1], stream))
thread = threading.Thread(target=elsewhere)
thread.start()
thread.join()
assert results == [361001, 0]
""",
    "inside a callback": """
results = []
def callback(_):
    results.append(phase_two(phase_one(tensors)[1], stream))
assert acl.aclrtSubscribeReport(threading.get_ident(), stream) == 0
assert acl.aclrtLaunchCallback(callback, None, acl.ACL_CALLBACK_NO_BLOCK, stream) == 0
assert acl.aclrtProcessReport(5000) == 0
assert results == [361001]
run_once()
""",
    "bad pointers": """
dims = numbers(4)
def make(dims=dims, rank=1, strides=None, storage=dims, storage_rank=1):
    made = lib.aclCreateTensor(dims, rank, 0, strides, 0, 2, storage, storage_rank, None)
    acl.aclGetRecentErrMsg()
    return made
device = memory[0]
for bad in (1, 7, 8, 4095, 2**64 - 1, 2**64 - 8, 2**64 - 16, 0x5AC1000000000010, device, tensors[0]):
    assert make(dims=bad) is None, hex(bad)
    assert make(storage=bad) is None, hex(bad)
    assert make(strides=bad) is None, hex(bad)
assert make(dims=None) is None and make(storage=None) is None
assert make(rank=2**40) is None and make(rank=26, dims=numbers(*[1] * 26)) is None
made = make(dims=1, rank=0, storage=None, storage_rank=0)
assert acl.aclGetViewShape(made) == ([], 0) and destroy(made) == 0
made = make(rank=20, dims=numbers(*range(20)))
assert acl.aclGetViewShape(made) == (list(range(20)), 0) and destroy(made) == 0
executor = pointer(77)
code_address = ctypes.cast(lib.aclrtMalloc, pointer).value
for bad, code in ((None, 161001), (1, 161002), (2**64 - 8, 161002), (device, 161002), (code_address, 161002)):
    for where in (dict(size=pointer(bad)), dict(executor=pointer(bad))):
        grad, x, y, out = map(pointer, tensors)
        size = where.get("size", ctypes.byref(ctypes.c_uint64()))
        made = where.get("executor", ctypes.byref(executor))
        call = getattr(lib, OPERATOR + "GetWorkspaceSize")
        assert call(grad, x, y, ctypes.c_int64(0), ctypes.c_float(1), out, size, made) == code
assert executor.value == 77 and living()[1] == 0
""",
    "outputs stay as they are where phase one fails": """
size, executor = ctypes.c_uint64(99), pointer(77)
assert phase_one(tensors, 9, 1.0, size, executor)[0] == 161002
assert (size.value, executor.value) == (99, 77)
""",
    "watched meanwhile": """
class Listener(observe.Tool):
    def __init__(self):
        self.calls, self.made, self.gone = [], [], []
    def call_ends(self, call):
        self.calls.append((call.name, call.status))
    def object_made(self, handle, thing):
        self.made.append(handle)
    def object_gone(self, handle, thing):
        self.gone.append(handle)
listener = Listener()
status, early = phase_one(tensors)
with observe.watched(listener):
    made = tensor(memory[0], 4)
    status, executor = phase_one(tensors)
    assert phase_two(executor, stream) == phase_two(early, stream) == 0
    assert destroy(made) == destroy(tensors[0]) == 0
names = ["aclCreateTensor", OPERATOR + "GetWorkspaceSize", OPERATOR, OPERATOR, "aclDestroyTensor", "aclDestroyTensor"]
assert listener.calls == [(name, None if name == "aclCreateTensor" else 0) for name in names]
assert listener.made == [made, executor] and listener.gone == [executor, early, made, tensors[0]]
tensors[0] = tensor(memory[0], 4)
run_once()
""",
    "objects": """
def made(name, values, count):
    function = getattr(lib, "aclCreate" + name)
    function.restype = pointer
    return function(values, ctypes.c_uint64(count))
for name, kind, values in (("IntArray", ctypes.c_int64, [1, -2, 1 << 40]), ("FloatArray", ctypes.c_float, [0.5, -0.0]),
                           ("BoolArray", ctypes.c_uint8, [0, 1, 7])):
    found = handles.find(made(name, (kind * len(values))(*values), len(values)), object)
    assert list(found.values) == [bool(value) if name == "BoolArray" else value for value in values], found
    many = made(name, (kind * 5000)(*[1] * 5000), 5000)
    assert len(handles.find(many, object)) == 5000
    for bad in (1, 7, 4095, 2**64 - 8, memory[0]):
        assert made(name, pointer(bad), 3) is None
    for count in (0, 3):
        empty = made(name, None, count)
        assert len(handles.find(empty, object)) == 0
        destroy_it = getattr(lib, "aclDestroy" + name)
        assert (destroy_it(pointer(empty)), destroy_it(pointer(empty)), destroy_it(None)) == (0, 161002, 0)
    assert made(name, (kind * 1)(), 2**40) is None
lib.aclCreateScalar.restype = pointer
scalar = lib.aclCreateScalar(ctypes.byref(ctypes.c_float(1.5)), acl.ACL_FLOAT)
assert handles.find(scalar, object).value == 1.5
assert lib.aclCreateScalar(pointer(8), acl.ACL_FLOAT) is None and lib.aclCreateScalar(None, acl.ACL_FLOAT) is None
assert lib.aclCreateScalar(ctypes.byref(ctypes.c_float(1.5)), 999) is None
assert lib.aclCreateScalar(ctypes.byref(ctypes.c_float(1.5)), acl.ACL_STRING) is None
listed = made("ScalarList", (pointer * 2)(scalar, None), 2)
assert handles.find(listed, object).members == (scalar, None)
assert lib.aclDestroyTensorList(pointer(listed)) == 161002 and "a living aclScalarList" in acl.aclGetRecentErrMsg()
assert lib.aclDestroyScalarList(pointer(listed)) == lib.aclDestroyScalar(pointer(scalar)) == 0
assert lib.aclDestroyScalar(pointer(scalar)) == 161002
listed = made("TensorList", (pointer * 2)(0x1234, tensors[0]), 2)
assert lib.aclDestroyTensorList(pointer(listed)) == destroy(tensors[0]) == 0
""",
    "memory": """
def malloc(size, policy=0):
    address = pointer(77)
    return lib.aclrtMalloc(ctypes.byref(address), ctypes.c_uint64(size), policy), address.value
def copy(target, room, source, size, kind):
    return lib.aclrtMemcpy(pointer(target), ctypes.c_uint64(room), pointer(source), ctypes.c_uint64(size), kind)
host = (ctypes.c_float * 4)(1, 2, 3, 4)
back = (ctypes.c_float * 4)()
here, there = ctypes.addressof(host), ctypes.addressof(back)
for _ in range(3):
    used = acl.aclrtGetMemInfo(acl.ACL_HBM_MEM)
    status, address = malloc(16)
    assert status == 0 and address % 512 == 0
    assert acl.aclrtGetMemInfo(acl.ACL_HBM_MEM)[0] < used[0]
    assert copy(address, 16, here, 16, 1) == copy(there, 16, address, 16, 2) == 0
    assert list(back) == [1, 2, 3, 4]
    assert copy(address + 4, 8, address, 8, 3) == 0 and download(address) == [1, 1, 2, 4]
    assert copy(address, 8, here, 16, 1) == 107000 and copy(address, 16, here, 16, 9) == 100000
    assert copy(None, 16, here, 16, 1) == copy(address, 16, None, 16, 1) == 100000
    assert copy(address, 16, address, 16, 3) == copy(address, 16, here, 0, 1) == 0
    for bad in (1, 4095, 2**64 - 8, 0x5AC1000000000010, tensors[0]):
        assert copy(address, 16, bad, 16, 1) == copy(bad, 16, address, 16, 2) == 507899, hex(bad)
    for bad in (address + 1, address + 512 * 1000, 0x1000):
        assert lib.aclrtFree(pointer(bad)) == 107000, hex(bad)
    assert lib.aclrtFree(None) == 100000
    assert lib.aclrtFree(pointer(address)) == 0 and lib.aclrtFree(pointer(address)) == 107000
    assert acl.aclrtGetMemInfo(acl.ACL_HBM_MEM) == used
    assert malloc(0)[0] == 100000 and malloc(2**63)[0] == 100000 and malloc(2**50)[0] == 207001
    for bad in (None, 1, 2**64 - 8, memory[0]):
        assert lib.aclrtMalloc(pointer(bad), ctypes.c_uint64(16), 0) == 100000
blocks = [malloc(100 + 7 * i)[1] for i in range(300)]
assert len(set(blocks)) == 300
for address in blocks[::2] + blocks[1::2]:
    assert lib.aclrtFree(pointer(address)) == 0
assert acl.aclrtGetMemInfo(acl.ACL_HBM_MEM) == used
results = []
thread = threading.Thread(target=lambda: results.extend([malloc(16)[0], copy(memory[0], 16, here, 16, 1)]))
thread.start()
thread.join()
assert results == [107002, 107002]
""",
    "many threads": """
def work(results):
    acl.aclrtSetDevice(0)
    own, ret = acl.aclrtCreateStream()
    out = upload([0, 0, 0, 0])
    for _ in range(300):
        mine = [tensor(address, 4) for address in (*memory[:3], out)]
        status, executor = phase_one(mine)
        results.append(status or phase_two(executor, own))
        results += [destroy(one) for one in mine]
    results.append(acl.aclrtDestroyStream(own))
    assert download(out) == EXPECTED
    acl.aclrtFree(out)
    results.append(acl.aclrtResetDevice(0))
found = [[] for _ in range(4)]
threads = [threading.Thread(target=work, args=(results,)) for results in found]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert all(len(results) == 1502 and not any(results) for results in found)
assert handles.census() == before
""",
    "memory stays flat": """
def resident():
    with open("/proc/self/statm") as text:
        return int(text.read().split()[1]) * 4096
def live(count):
    for _ in range(count):
        mine = [tensor(address, 4) for address in memory]
        status, executor = phase_one(mine)
        assert phase_two(executor, stream) == lib.aclrtSynchronizeStream(pointer(stream)) == 0
        for one in mine: destroy(one)
live(2000)
first = resident()
live(20000)
assert resident() - first < 5 << 20
""",
}


def run_body(body: str, *arguments: str, **environment: str) -> None:
    library = toolkit.cached() / "lib64" / "libascendcl.so"
    command = [sys.executable, "-c", PRELUDE + BODIES[body], str(library), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=clean_environment(**environment))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("body", sorted(set(BODIES) - {"destroyed between the phases"}))
def test_quick_calls(body: str) -> None:
    run_body(body)


@pytest.mark.parametrize("how", ["stay", "move"])
def test_tensors_that_are_destroyed_between_the_phases(how: str) -> None:
    run_body("destroyed between the phases", how)


@pytest.mark.parametrize("body", ["twice", "fresh tensors", "tasks in order", "in the background", "a dead stream", "another context"])
def test_lazy_streams(body: str) -> None:
    run_body(body, ACL_EMU_SCHEDULE="lazy")


def test_no_cache_at_all() -> None:
    library = toolkit.cached() / "lib64" / "libascendcl.so"
    text = PRELUDE + "assert plans.count() == 0\n"
    environment = clean_environment(ACLNN_CACHE_LIMIT="0")
    done = subprocess.run(
        [sys.executable, "-c", text + "run_once()", str(library)], capture_output=True, text=True, timeout=PATIENCE, env=environment
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
