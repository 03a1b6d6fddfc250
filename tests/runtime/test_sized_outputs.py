"""Outputs whose shape the data decide: the tensor has it when the work is done, whichever way the call took."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from tests.cface.programs import clean_environment, compile_program, run
from tests.runtime.support import Array, create_stream, create_tensor, download, held, upload

X = np.array([3, 0, 0, 5, 0, 7], np.float32)


class Nonzero:
    """aclnnNonzero of six numbers: phase one is done."""

    def __init__(self, x: Array = X, *, repeatable: bool = False) -> None:
        self.memory = [upload(x), upload(np.full(2 * x.size, -1, np.int64))]
        self.tensors = [create_tensor(x.shape, self.memory[0]), create_tensor((x.size, 1), self.memory[1], np.int64)]
        self.size, self.executor, status = aclnnop.aclnnNonzeroGetWorkspaceSize(*self.tensors)
        assert status == 0
        assert not repeatable or acl.aclSetAclOpExecutorRepeatable(self.executor) == 0

    def run(self, stream: int | None = None) -> None:
        assert aclnnop.aclnnNonzero(None, self.size, self.executor, stream) == 0

    def shape(self) -> list[int]:
        shape, status = acl.aclGetViewShape(self.tensors[1])
        assert status == 0
        return list(shape)

    def __enter__(self) -> Nonzero:
        return self

    def __exit__(self, *_: object) -> None:
        for tensor in self.tensors:
            acl.aclDestroyTensor(tensor)
        for address in self.memory:
            acl.aclrtFree(address)


def test_the_shape_is_there_when_the_work_is_done(schedule: str, device: int) -> None:
    with Nonzero() as call:
        assert call.shape() == [6, 1]
        call.run()
        assert acl.aclrtSynchronizeStream(None) == 0
        assert call.shape() == [3, 1]
        assert acl.aclGetViewStrides(call.tensors[1]) == ([1, 1], 0)
        assert acl.aclGetStorageShape(call.tensors[1]) == ([6, 1], 0)
        assert download(call.memory[1], 6, np.int64).tolist() == [0, 3, 5, -1, -1, -1]


@pytest.mark.parametrize("schedule", ["lazy"], indirect=True)
def test_not_before(schedule: str, device: int) -> None:
    with Nonzero() as call:
        call.run()
        assert call.shape() == [6, 1]
        assert acl.aclrtSynchronizeStream(None) == 0
        assert call.shape() == [3, 1]


def test_again_and_again(schedule: str, device: int) -> None:
    """The plan is that of phase one: what the tensor has become does not matter."""
    with Nonzero(repeatable=True) as call:
        for values in ([0, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0]):
            x = np.array(values, np.float32)
            assert acl.aclrtMemcpy(call.memory[0], x.nbytes, x, x.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
            call.run()
            assert acl.aclrtSynchronizeStream(None) == 0
            assert call.shape() == [sum(values), 1]
        assert acl.aclDestroyAclOpExecutor(call.executor) == 0


def test_calls_of_the_same_kind(schedule: str, device: int) -> None:
    """Those that the plan cache answers; several wait at once."""
    counts = [0, 1, 2, 3, 4, 5, 6] * 4
    with ExitStack() as stack:
        calls = [stack.enter_context(Nonzero((np.arange(6) < count).astype(np.float32))) for count in counts]
        for call in calls:
            call.run()
        assert acl.aclrtSynchronizeStream(None) == 0
        assert [call.shape() for call in calls] == [[count, 1] for count in counts]


def test_a_tensor_that_is_gone_is_no_error(schedule: str, device: int) -> None:
    stream = create_stream()
    with Nonzero() as call:
        with held(stream) if schedule != "eager" else ExitStack():
            call.run(stream)
            assert acl.aclDestroyTensor(call.tensors[1]) == 0
            call.tensors[1] = create_tensor((9, 9), None)  # may get the place of the other
        assert acl.aclrtSynchronizeStream(stream) == 0
        assert call.shape() == [9, 9]
        assert download(call.memory[1], 3, np.int64).tolist() == [0, 3, 5]
    assert acl.aclrtDestroyStream(stream) == 0


def test_while_somebody_watches() -> None:
    """The way that calls take when they are traced or checked."""
    with acl.configure(check=True):
        assert (acl.aclInit(None), acl.aclrtSetDevice(0)) == (0, 0)
        with Nonzero() as call:
            call.run()
            assert acl.aclrtSynchronizeStream(None) == 0
            assert call.shape() == [3, 1]
        assert (acl.aclrtResetDevice(0), acl.aclFinalize()) == (0, 0)


def test_captured_work(device: int) -> None:
    """Every run of the model says anew what shape there is."""
    stream = create_stream()
    with Nonzero() as call:
        assert acl.aclmdlRICaptureBegin(stream, acl.ACL_MODEL_RI_CAPTURE_MODE_RELAXED) == 0
        call.run(stream)
        model, status = acl.aclmdlRICaptureEnd(stream)
        assert (status, call.shape()) == (0, [6, 1])
        for count in (4, 0, 6):
            x = (np.arange(6) < count).astype(np.float32)
            assert acl.aclrtMemcpy(call.memory[0], x.nbytes, x, x.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
            assert (acl.aclmdlRIExecuteAsync(model, stream), acl.aclrtSynchronizeStream(stream)) == (0, 0)
            assert call.shape() == [count, 1]
        assert acl.aclmdlRIDestroy(model) == 0
    assert acl.aclrtDestroyStream(stream) == 0


def test_a_fault_leaves_the_shape_alone(device: int) -> None:
    with Nonzero() as call:
        acl.aclDestroyAclOpExecutor(call.executor)
        small = create_tensor((1, 1), call.memory[1], np.int64)
        call.size, call.executor, status = aclnnop.aclnnNonzeroGetWorkspaceSize(call.tensors[0], small)
        assert status == 0
        call.run()
        assert acl.aclrtSynchronizeStream(None) == acl.ACL_ERROR_RT_AICORE_EXCEPTION
        assert acl.aclGetViewShape(small) == ([1, 1], 0)
        assert acl.aclDestroyTensor(small) == 0


def strided(address: int, shape: list[int], strides: list[int]) -> int:
    tensor = acl.aclCreateTensor(shape, acl.ACL_INT64, strides, 0, acl.ACL_FORMAT_ND, [64], address)
    assert tensor is not None
    return tensor


def test_contiguous_outputs_are_packed_and_strided_ones_keep_their_strides(device: int) -> None:
    x = np.array([[0, 1, 0], [1, 0, 1]], np.float32)
    memory = upload(x)
    source = create_tensor(x.shape, memory)
    for strides, wanted in (([6, 1], [3, 1]), ([8, 1], [8, 1]), ([1, 2], [1, 2])):
        address = upload(np.full(64, -1, np.int64))
        out = strided(address, [2, 6], strides)
        size, executor, status = aclnnop.aclnnNonzeroV2GetWorkspaceSize(source, out)
        assert (status, aclnnop.aclnnNonzeroV2(None, size, executor, None), acl.aclrtSynchronizeStream(None)) == (0, 0, 0)
        assert acl.aclGetViewShape(out) == ([2, 3], 0)
        assert acl.aclGetViewStrides(out) == (wanted, 0)
        block = download(address, 64, np.int64)
        found = [[int(block[row * wanted[0] + column * wanted[1]]) for column in range(3)] for row in range(2)]
        assert found == [[0, 1, 1], [1, 0, 2]]
        assert (block >= 0).sum() == 6
        assert (acl.aclDestroyTensor(out), acl.aclrtFree(address)) == (0, 0)
    assert (acl.aclDestroyTensor(source), acl.aclrtFree(memory)) == (0, 0)


PROGRAM = """
#include <stdio.h>
#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_masked_select.h"

int main(void)
{
    aclInit(NULL);
    aclrtSetDevice(0);
    const float values[6] = {1, 2, 3, 4, 5, 6};
    const int64_t dims[1] = {6};
    void *self, *mask, *out;
    aclrtMalloc(&self, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&mask, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&out, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(self, sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE);
    for (int count = 0; count <= 6; count++) {
        unsigned char chosen[6];
        for (int i = 0; i < 6; i++)
            chosen[i] = i >= 6 - count;
        aclrtMemcpy(mask, sizeof chosen, chosen, sizeof chosen, ACL_MEMCPY_HOST_TO_DEVICE);
        aclTensor *x = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, self);
        aclTensor *m = aclCreateTensor(dims, 1, ACL_BOOL, NULL, 0, ACL_FORMAT_ND, dims, 1, mask);
        aclTensor *y = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, out);
        uint64_t size = 0, rank = 0;
        aclOpExecutor *executor = NULL;
        int planned = aclnnMaskedSelectGetWorkspaceSize(x, m, y, &size, &executor);
        int started = aclnnMaskedSelect(NULL, size, executor, NULL);
        int done = aclrtSynchronizeStream(NULL);
        int64_t *shape = NULL;
        int asked = aclGetViewShape(y, &shape, &rank);
        float first = 0;
        aclrtMemcpy(&first, sizeof first, out, sizeof first, ACL_MEMCPY_DEVICE_TO_HOST);
        printf("%d %d %d %d: %d, %d, %.0f\\n", planned, started, done, asked, (int)rank, (int)shape[0], count ? first : 0);
        aclDestroyTensor(x);
        aclDestroyTensor(m);
        aclDestroyTensor(y);
    }
    return aclFinalize();
}
"""


@pytest.mark.parametrize("schedule", ["async", "lazy", "eager"])
def test_c_programs(schedule: str, tmp_path: Path) -> None:
    done = run(compile_program(tmp_path, PROGRAM), env=clean_environment(ACL_EMU_SCHEDULE=schedule))
    wanted = [f"0 0 0 0: 1, {count}, {7 - count if count else 0}" for count in range(7)]
    assert (done.returncode, done.stdout.splitlines()) == (0, wanted), done.stderr
