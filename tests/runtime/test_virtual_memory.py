"""Reserved addresses, physical memory, mappings, and sharing them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import acl_emu as acl
from acl_emu.api.acl_rt.virtual import PhysicalMemProp
from acl_emu.runtime import memory
from tests.conftest import ROOT
from tests.runtime.support import NO_HANDLE, status

PIECE = 2 << 20
INVALID = acl.ACL_ERROR_INVALID_PARAM


def physical(size: int = PIECE) -> int:
    handle, ret = acl.aclrtMallocPhysical(size, PhysicalMemProp(), 0)
    assert ret == 0
    assert handle is not None
    return handle


@pytest.fixture
def base(device: int) -> Iterator[int]:
    """Sixteen pieces of addresses."""
    address, ret = acl.aclrtReserveMemAddress(16 * PIECE, 0, None, 1)
    assert ret == 0
    assert address is not None
    yield address
    assert acl.aclrtReleaseMemAddress(address) == 0


def copy_in(address: int, values: np.ndarray) -> int:
    return acl.aclrtMemcpy(address, values.nbytes, values, values.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE)


def copy_out(address: int, count: int) -> tuple[np.ndarray, int]:
    values = np.empty(count, np.float32)
    return values, acl.aclrtMemcpy(values, values.nbytes, address, values.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST)


def test_pieces_side_by_side_are_one(base):
    pieces = [physical() for _ in range(3)]
    for number in (0, 2, 1):  # the last closes the gap
        assert acl.aclrtMapMem(base + number * PIECE, PIECE, 0, pieces[number], 0) == 0
    values = np.arange(3 * PIECE // 4, dtype=np.float32)
    assert copy_in(base, values) == 0
    tensors = [acl.aclCreateTensor([values.size], acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, [values.size], base) for _ in range(2)]
    from aclnnop import aclnnInplaceMul, aclnnInplaceMulGetWorkspaceSize

    size, executor, ret = aclnnInplaceMulGetWorkspaceSize(*tensors)
    assert (size, ret) == (0, 0)
    stream, _ = acl.aclrtCreateStream()
    assert aclnnInplaceMul(None, 0, executor, stream) == 0
    assert acl.aclrtSynchronizeStream(stream) == 0
    found, ret = copy_out(base, values.size)
    assert ret == 0
    np.testing.assert_array_equal(found, values * values)
    # A hole in the middle leaves both sides as they are.
    assert acl.aclrtUnmapMem(base + PIECE) == 0
    assert copy_out(base + PIECE, 1)[1] == acl.ACL_ERROR_RT_DRV_INTERNAL_ERROR
    assert copy_out(base, values.size)[1] == acl.ACL_ERROR_RT_DRV_INTERNAL_ERROR
    assert copy_out(base, PIECE // 4)[1] == 0
    np.testing.assert_array_equal(copy_out(base + 2 * PIECE, PIECE // 4)[0], (values * values)[PIECE // 2 :])
    for number in (0, 2):
        assert acl.aclrtUnmapMem(base + number * PIECE) == 0
    for piece in pieces:
        assert acl.aclrtFreePhysical(piece) == 0
    for tensor in tensors:
        acl.aclDestroyTensor(tensor)
    acl.aclrtDestroyStream(stream)


def test_two_addresses_of_the_same_memory(base):
    piece = physical()
    for number in (0, 5):
        assert acl.aclrtMapMem(base + number * PIECE, PIECE, 0, piece, 0) == 0
    assert acl.aclrtFreePhysical(piece) == 0  # it lives as long as it is mapped
    assert copy_in(base, np.full(7, 3, np.float32)) == 0
    assert copy_out(base + 5 * PIECE, 7)[0].tolist() == [3] * 7
    for number in (0, 5):
        assert acl.aclrtUnmapMem(base + number * PIECE) == 0


def test_physical_memory_counts(device):
    free = acl.aclrtGetMemInfo(acl.ACL_HBM_MEM)[0]
    piece = physical(5 << 20)
    assert acl.aclrtGetMemInfo(acl.ACL_HBM_MEM)[0] == free - (6 << 20)
    assert acl.aclrtMallocPhysical(free, PhysicalMemProp(), 0)[-1] == acl.ACL_ERROR_RT_MEMORY_ALLOCATION
    assert acl.aclrtFreePhysical(piece) == 0
    assert acl.aclrtGetMemInfo(acl.ACL_HBM_MEM)[0] == free


def test_where_an_address_lies(base):
    piece = physical()
    assert acl.aclrtMapMem(base, PIECE, 0, piece, 0) == 0
    attributes, ret = acl.aclrtPointerGetAttributes(base + 5)
    assert (attributes.type, attributes.id, ret) == (acl.ACL_MEM_LOCATION_TYPE_DEVICE, 0, 0)
    assert acl.aclrtFree(base) == acl.ACL_ERROR_RT_PARAM_INVALID
    assert acl.aclrtUnmapMem(base) == 0
    assert acl.aclrtFreePhysical(piece) == 0


def test_runs_of_memory_give_their_places_back(base):
    places = len(memory.Run._unused)
    piece = physical()
    for _ in range(3):
        assert acl.aclrtMapMem(base + PIECE, PIECE, 0, piece, 0) == 0
        assert len(memory.Run._unused) == places - 1
        assert acl.aclrtUnmapMem(base + PIECE) == 0
    assert len(memory.Run._unused) == places
    assert acl.aclrtFreePhysical(piece) == 0


def test_wrong_calls(base):
    prop, piece = PhysicalMemProp(), physical()
    other = PhysicalMemProp(type=acl.ACL_MEM_LOCATION_TYPE_HOST)
    assert acl.aclrtMapMem(base, PIECE, 0, piece, 0) == 0
    wrong = [
        (acl.aclrtReserveMemAddress(0, 0, None, 0), INVALID),
        (acl.aclrtReserveMemAddress(PIECE, 64, None, 0), INVALID),
        (acl.aclrtReserveMemAddress(PIECE, 0, None, 2), INVALID),
        (acl.aclrtReleaseMemAddress(None), INVALID),
        (acl.aclrtReleaseMemAddress(NO_HANDLE), INVALID),
        (acl.aclrtReleaseMemAddress(base + PIECE), INVALID),
        (acl.aclrtReleaseMemAddress(base), INVALID),  # mapped
        (acl.aclrtMallocPhysical(0, prop, 0), INVALID),
        (acl.aclrtMallocPhysical(PIECE, None, 0), INVALID),
        (acl.aclrtMallocPhysical(PIECE, prop, 1), INVALID),
        (acl.aclrtMallocPhysical(PIECE, other, 0), acl.ACL_ERROR_RT_FEATURE_NOT_SUPPORT),
        (acl.aclrtMallocPhysical(PIECE, PhysicalMemProp(id=99), 0), acl.ACL_ERROR_RT_INVALID_DEVICEID),
        (acl.aclrtMallocPhysical(PIECE, PhysicalMemProp(memAttr=99), 0), INVALID),
        (acl.aclrtFreePhysical(None), INVALID),
        (acl.aclrtFreePhysical(NO_HANDLE), INVALID),
        (acl.aclrtMapMem(base, PIECE, 0, piece, 0), INVALID),  # mapped already
        (acl.aclrtMapMem(base + PIECE, 2 * PIECE, 0, piece, 0), INVALID),
        (acl.aclrtMapMem(base + PIECE, PIECE, 8, piece, 0), INVALID),
        (acl.aclrtMapMem(base + PIECE, PIECE, 0, piece, 1), INVALID),
        (acl.aclrtMapMem(base + PIECE + 512, PIECE, 0, piece, 0), INVALID),
        (acl.aclrtMapMem(base + PIECE, PIECE, 0, None, 0), INVALID),
        (acl.aclrtMapMem(None, PIECE, 0, piece, 0), INVALID),
        (acl.aclrtUnmapMem(base + PIECE), INVALID),
        (acl.aclrtUnmapMem(None), INVALID),
        (acl.aclrtMemGetAllocationGranularity(prop, 7), INVALID),
        (acl.aclrtMemGetAllocationGranularity(None, 0), INVALID),
        (acl.aclrtMemImportFromShareableHandle(NO_HANDLE, 0), INVALID),
        (acl.aclrtMemExportToShareableHandle(piece, 5, 0), INVALID),
        (acl.aclrtMemExportToShareableHandle(piece, 0, 9), INVALID),
    ]
    for number, (result, expected) in enumerate(wrong):
        assert status(result) == expected, number
    assert acl.aclrtMemGetAllocationGranularity(prop, acl.ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM) == (PIECE, 0)
    assert acl.aclrtUnmapMem(base) == 0
    assert acl.aclrtFreePhysical(piece) == 0


IMPORTER = """
import sys
import numpy as np
import acl_emu as acl
acl.aclrtSetDevice(0)
handle, ret = acl.aclrtMemImportFromShareableHandle(int(sys.argv[1]), 0)
print(ret)
if ret == 0:
    base, _ = acl.aclrtReserveMemAddress(2 << 20, 0, None, 0)
    assert acl.aclrtMapMem(base, 2 << 20, 0, handle, 0) == 0
    values = np.empty(4, np.float32)
    assert acl.aclrtMemcpy(values, 16, base, 16, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
    values *= 2
    assert acl.aclrtMemcpy(base, 16, values, 16, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
"""


def test_another_process_shares_it(base):
    piece = physical()
    assert acl.aclrtMapMem(base, PIECE, 0, piece, 0) == 0
    assert copy_in(base, np.arange(4, dtype=np.float32)) == 0
    guarded, ret = acl.aclrtMemExportToShareableHandle(piece, acl.ACL_MEM_HANDLE_TYPE_NONE, 0)
    assert ret == 0
    anyone, ret = acl.aclrtMemExportToShareableHandle(piece, 0, acl.ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION)
    assert ret == 0

    def load(shareable: int) -> int:
        done = subprocess.run([sys.executable, "-c", IMPORTER, str(shareable)], capture_output=True, text=True, cwd=ROOT, check=True)
        return int(done.stdout)

    assert load(guarded) == acl.ACL_ERROR_RT_NO_PERMISSION
    assert load(anyone) == 0
    assert copy_out(base, 4)[0].tolist() == [0, 2, 4, 6]
    assert acl.aclrtMemSetPidToShareableHandle(guarded, [1]) == 0
    assert acl.aclrtMemSetPidToShareableHandle(guarded, []) == INVALID
    own, ret = acl.aclrtMemImportFromShareableHandle(guarded, 0)
    assert ret == 0
    assert acl.aclrtMapMem(base + PIECE, PIECE, 0, own, 0) == 0
    assert copy_out(base + PIECE, 4)[0].tolist() == [0, 2, 4, 6]
    for number in (0, 1):
        assert acl.aclrtUnmapMem(base + number * PIECE) == 0
    for handle in (piece, own):
        assert acl.aclrtFreePhysical(handle) == 0
