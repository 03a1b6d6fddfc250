"""What the engine does not run: kernels that cannot be captured, foreign addresses, and everything where it is switched off."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from acl_emu import engine as native
from tests.conftest import run_python
from tests.native.support import assert_same, engine_is, nest_of
from tests.operators.accuracy import FLOAT, FLOATS, spacing

Array = npt.NDArray[Any]


def branches(x: Array) -> Array:
    return x + 1 if x[0] > 0 else x - 1


def sorts(x: Array) -> Array:
    return np.sort(x)


def picks(x: Array) -> Array:
    return np.concatenate([x[1:], x[:1]])


def has_an_array(x: Array) -> Array:
    return x * np.arange(x.size, dtype=np.float32)


@pytest.mark.parametrize("kernel", [branches, sorts, picks, has_an_array])
def test_numpy_runs_what_cannot_be_captured(kernel: Any) -> None:
    values = np.random.default_rng(1).standard_normal(1000).astype(np.float32)
    out = np.empty_like(values)
    assert nest_of(kernel, [values], [out]) is None
    native.apply(kernel, [values], [out])
    assert_same(out, kernel(values))


def test_numpy_runs_everything_without_the_engine() -> None:
    values = np.random.default_rng(1).standard_normal(1000).astype(np.float32)
    out = np.empty_like(values)
    with engine_is(None):
        assert nest_of(np.exp, [values], [out]) is None
        native.apply(np.exp, [values], [out])
    assert_same(out, np.exp(values))


_FOREIGN = """
import re, acl_emu as acl, aclnnop, numpy as np
acl.aclrtSetDevice(0)
memory, _ = acl.aclrtMalloc(4096, 0)
workspace, _ = acl.aclrtMalloc(4096, 0)
host = np.zeros(64, np.float32)

def tensor(address):
    return acl.aclCreateTensor((16,), acl.ACL_FLOAT, (1,), 0, acl.ACL_FORMAT_ND, (16,), address)

for source, target in ((host.ctypes.data, memory), (memory, host.ctypes.data), (memory + 4096, memory), (memory, 4096)):
    operator = aclnnop.find("aclnnExp")
    stream, _ = acl.aclrtCreateStream()
    size, executor, status = operator.get_workspace_size(tensor(source), tensor(target))
    print(status, operator.run(workspace, size, executor, stream), acl.aclrtSynchronizeStream(stream))
    text = re.sub(r"\\[PID.*?\\] \\S+ ", "", acl.aclGetRecentErrMsg() or "")
    print(text.replace(hex(host.ctypes.data), "HOST").replace(hex(memory), "MEMORY").replace(hex(memory + 4096), "END"))
assert not host.any()
"""


def test_a_foreign_address_is_the_same_fault_with_and_without_the_engine() -> None:
    native_run, plain_run = run_python(_FOREIGN), run_python(_FOREIGN, ACL_EMU_NATIVE="0")
    assert native_run.returncode == plain_run.returncode == 0, native_run.stderr + plain_run.stderr
    assert native_run.stdout == plain_run.stdout
    assert "device memory" in native_run.stdout


_RESULTS = """
import sys, numpy as np, ml_dtypes
from acl_emu import engine as native
x = np.random.default_rng(5).standard_normal((37, 211)).astype(np.float32)
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
for dtype in (np.float32, np.float16, ml_dtypes.bfloat16):
    for kernel in (softmax, lambda x: np.log1p(np.exp(-np.abs(x))), lambda x: x * 0.5 + x / 3):
        out = np.empty(x.shape, dtype)
        native.apply(kernel, [x.astype(dtype)], [out])
        sys.stdout.write(out.tobytes().hex() + "\\n")
"""


def test_switched_off() -> None:
    found = [run_python(_RESULTS, ACL_EMU_NATIVE=native) for native in ("1", "0")]
    assert all(one.returncode == 0 for one in found), found[0].stderr + found[1].stderr
    pairs = list(zip(*(one.stdout.split() for one in found), strict=True))
    assert len(pairs) == 9
    for number, (first, second) in enumerate(pairs):
        stored = FLOATS[number // 3]
        one, other = (np.frombuffer(bytes.fromhex(text), stored).astype(np.float64) for text in (first, second))
        assert (np.abs(one - other) <= 8 * spacing(other, FLOAT) + (0 if stored == FLOAT else spacing(other, stored))).all()
