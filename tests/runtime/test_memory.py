"""Device and host memory: allocating, freeing, copying, filling, and what happens to pointers that are none."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest

import acl_emu as acl
from acl_emu.core import dtypes
from acl_emu.runtime import context, memory
from tests.conftest import message, run_python
from tests.runtime.support import HUGE_FIRST, Array, allocate, create_stream, download, held, in_thread, smooth_l1, upload

H2H, H2D, D2H, D2D = (
    acl.ACL_MEMCPY_HOST_TO_HOST,
    acl.ACL_MEMCPY_HOST_TO_DEVICE,
    acl.ACL_MEMCPY_DEVICE_TO_HOST,
    acl.ACL_MEMCPY_DEVICE_TO_DEVICE,
)
DEFAULT, BUFFERED = acl.ACL_MEMCPY_DEFAULT, acl.ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE
INNER, INTER = acl.ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, acl.ACL_MEMCPY_INTER_DEVICE_TO_DEVICE
DRIVER_ERROR = 507899
NO_MEMORY_THERE = 0x1000
not_eager = pytest.mark.parametrize("schedule", ["async", "lazy"], indirect=True)
guarded = pytest.mark.skipif(not memory._GUARDED, reason="the sandbox forbids process_vm_readv, which checks host pointers")


def pinned(values: Array) -> int:
    address, ret = acl.aclrtMallocHost(values.nbytes)
    assert ret == 0
    assert address is not None
    acl.host_array(address, values.shape, values.dtype)[...] = values
    return address


@pytest.fixture
def region(device: int, monkeypatch: pytest.MonkeyPatch) -> memory.DeviceMemory:
    """The memory of device 0, nothing remembered of it yet."""
    found = context.devices()[device].memory
    monkeypatch.setattr(found, "overreads", [])
    return found


# Allocating on the device

_ALLOCATE: dict[str, Callable[[int, int], tuple[int | None, int]]] = {
    "aclrtMalloc": acl.aclrtMalloc,
    "aclrtMallocAlign32": acl.aclrtMallocAlign32,
    "aclrtMallocCached": acl.aclrtMallocCached,
    "aclrtMallocHost": lambda size, _: acl.aclrtMallocHost(size),
}


@pytest.mark.parametrize("name", _ALLOCATE)
@pytest.mark.parametrize("size", [0, -1, 1 << 63, 1 << 64])
def test_size_that_means_nothing(device: int, name: str, size: int) -> None:
    assert _ALLOCATE[name](size, HUGE_FIRST) == (None, acl.ACL_ERROR_INVALID_PARAM)
    assert f"size is {size}" in message()


@pytest.mark.parametrize("name", _ALLOCATE)
@pytest.mark.parametrize("size", [1, 31, 33, 100, 4097, 64 << 10, 2 << 20])
def test_alignment(device: int, name: str, size: int) -> None:
    addresses = [_ALLOCATE[name](size, HUGE_FIRST)[0] or 1 for _ in range(4)]
    aligned = 64 if name == "aclrtMallocHost" else 512  # the document promises 64 for both
    assert [address % aligned for address in addresses] == [0] * 4
    for address in addresses:
        assert (acl.aclrtFreeHost(address) if name == "aclrtMallocHost" else acl.aclrtFree(address)) == 0


@pytest.mark.parametrize("policy", [*range(12), -5, 1 << 20])
def test_every_policy_is_accepted(device: int, policy: int) -> None:
    address, ret = acl.aclrtMalloc(100, policy)
    assert ret == 0
    assert acl.aclrtFree(address) == 0


@pytest.mark.parametrize(
    ("name", "call", "policy", "padded"),
    [
        ("Ascend910B1", "aclrtMalloc", HUGE_FIRST, True),
        ("Ascend910_9391", "aclrtMalloc", HUGE_FIRST, True),
        ("Ascend310P3", "aclrtMalloc", HUGE_FIRST, True),
        ("Ascend910A", "aclrtMalloc", HUGE_FIRST, True),
        ("Ascend310B1", "aclrtMalloc", HUGE_FIRST, True),
        ("Ascend950PR_9589", "aclrtMalloc", HUGE_FIRST, False),
        ("Ascend910B1", "aclrtMalloc", acl.ACL_MEM_MALLOC_HUGE1G_ONLY, False),
        ("Ascend910B1", "aclrtMallocAlign32", HUGE_FIRST, False),
    ],
)
def test_padding(region: memory.DeviceMemory, chip: Callable[[str], None], name: str, call: str, policy: int, padded: bool) -> None:
    """Thirty-two bytes behind the rounded size belong to the allocation, or do not."""
    chip(name)
    address, ret = _ALLOCATE[call](64, policy)
    assert ret == 0
    download(address or 0, 96, np.uint8)
    assert bool(region.overreads) is not padded
    assert acl.aclrtFree(address) == 0


def test_out_of_memory(device: int) -> None:
    total = acl.aclrtGetMemInfo(acl.ACL_HBM_MEM)[1]
    most = total // 4 * 3
    first = allocate(most)
    assert acl.aclrtMalloc(most, HUGE_FIRST) == (None, acl.ACL_ERROR_RT_MEMORY_ALLOCATION)
    assert acl.ACL_ERROR_RT_MEMORY_ALLOCATION == 207001
    assert f"no room for {most} bytes" in message()
    assert acl.aclrtFree(first) == 0
    assert acl.aclrtMalloc(total + 1, HUGE_FIRST) == (None, 207001)
    again = allocate(most)
    assert acl.aclrtFree(again) == 0


def test_out_of_host_memory(device: int) -> None:
    assert acl.aclrtMallocHost(1 << 60) == (None, 207001)
    assert "host memory" in message()


def test_memory_costs_nothing_until_it_is_touched() -> None:
    program = """
import resource
import acl_emu as acl
acl.aclrtSetDevice(0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
pointer, ret = acl.aclrtMalloc(48 << 30, 0)
assert ret == 0
assert acl.aclrtMemset(pointer + (47 << 30), 4096, 1, 4096) == 0
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    done = run_python(program)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 64


def test_not_zeroed_on_reuse(device: int) -> None:
    first = allocate(256)
    assert acl.aclrtMemset(first, 256, 0xAB, 256) == 0
    assert acl.aclrtFree(first) == 0
    second = allocate(256)
    assert second == first
    assert (download(second, 256, np.uint8) == 0xAB).all()
    assert acl.aclrtFree(second) == 0


def test_freed_neighbours_become_one(device: int) -> None:
    pieces = [allocate(1 << 19) for _ in range(3)]
    for piece in (pieces[1], pieces[0], pieces[2]):
        assert acl.aclrtFree(piece) == 0
    whole = allocate(3 << 19)
    assert whole == pieces[0]
    assert acl.aclrtFree(whole) == 0


def test_large_allocations_are_no_power_of_two_apart(device: int) -> None:
    large = [allocate(16 << 20) for _ in range(3)]
    small = allocate(64)  # the room between them is not lost
    assert all((after - before) % (64 << 10) >= 4096 for before, after in pairwise(sorted(large)))
    assert small < max(large)
    for address in (*large, small):
        assert acl.aclrtFree(address) == 0
    assert allocate(16 << 20) == large[0]
    assert acl.aclrtFree(large[0]) == 0


def test_all_that_is_free_can_be_had_at_once() -> None:
    """In a process of its own: all of the device is mapped afterwards."""
    code = """
import acl_emu as acl
assert acl.aclrtSetDevice(0) == 0
free, _, status = acl.aclrtGetMemInfo(acl.ACL_HBM_MEM)
assert status == 0
whole, status = acl.aclrtMalloc(free - 64, 0)  # with what is added to every allocation
assert status == 0
assert acl.aclrtFree(whole) == 0
"""
    assert run_python(code).returncode == 0


def test_pointer_arithmetic(device: int) -> None:
    address = upload(np.arange(8, dtype=np.float32))
    assert download(address + 16, 4).tolist() == [4, 5, 6, 7]
    assert acl.aclrtFree(address) == 0


def test_memory_of_another_device(device: int) -> None:
    assert acl.aclrtSetDevice(1) == 0
    there = upload(np.arange(4, dtype=np.float32))
    assert acl.aclrtResetDevice(1) == 0
    assert acl.aclrtSetDevice(0) == 0
    here = allocate(16)
    assert acl.aclrtMemcpy(here, 16, there, 16, D2D) == 0
    assert download(here, 4).tolist() == [0, 1, 2, 3]
    assert acl.aclrtFree(there) == 0
    assert acl.aclrtFree(here) == 0
    assert acl.aclrtResetDevice(0) == 0


# Freeing


def test_free_null() -> None:
    assert acl.aclrtFree(None) == 100000
    assert "devPtr must not be a null pointer" in message()
    assert acl.aclrtFreeHost(None) == 100000
    assert "hostPtr must not be a null pointer" in message()


def test_free_twice_or_foreign(device: int) -> None:
    address = allocate(64)
    assert acl.aclrtFree(address + 64) == 107000
    assert "not the start of a living allocation" in message()
    assert acl.aclrtFree(address) == 0
    assert acl.aclrtFree(address) == 107000
    assert f"{address:#x}" in message()
    host = np.zeros(4)
    assert acl.aclrtFree(host.ctypes.data) == 107000
    assert "not device memory" in message()
    assert acl.aclrtFree(NO_MEMORY_THERE) == 107000


def test_free_host_twice_or_foreign(device: int) -> None:
    address, _ = acl.aclrtMallocHost(64)
    assert acl.aclrtFreeHost(address) == 0
    assert acl.aclrtFreeHost(address) == 107000
    assert "aclrtMallocHost" in message()
    on_device = allocate(64)
    assert acl.aclrtFreeHost(on_device) == 107000
    assert acl.aclrtFree(on_device) == 0


@not_eager
def test_free_does_not_wait(schedule: str, device: int) -> None:
    address = allocate(64)
    with held(None):
        assert acl.aclrtMemsetAsync(address, 64, 1, 64, None) == 0
        assert acl.aclrtFree(address) == 0
    assert acl.aclrtSynchronizeStream(None) == 0


# Copying at once


@pytest.mark.parametrize("kind", [H2H, H2D, D2H, D2D, DEFAULT, BUFFERED])
@pytest.mark.parametrize(("source", "target"), list(product(["device", "pinned", "plain"], repeat=2)))
def test_addresses_decide_the_direction(device: int, kind: int, source: str, target: str) -> None:
    values = np.arange(4, dtype=np.float32)
    make: dict[str, Callable[[Array], object]] = {"device": upload, "pinned": pinned, "plain": lambda array: array.copy()}
    from_, to = make[source](values), make[target](np.zeros(4, np.float32))
    assert acl.aclrtMemcpy(to, 16, from_, 16, kind) == 0
    back = np.zeros(4, np.float32)
    assert acl.aclrtMemcpy(back, 16, to, 16, DEFAULT) == 0
    assert np.array_equal(back, values)
    for place, pointer in ((source, from_), (target, to)):
        if place != "plain":
            assert {"device": acl.aclrtFree, "pinned": acl.aclrtFreeHost}[place](pointer) == 0


@pytest.mark.parametrize("kind", [INNER, INTER, 8, -1])
def test_kind_that_is_refused(device: int, kind: int) -> None:
    address, buffer = allocate(16), bytearray(16)
    assert acl.aclrtMemcpy(address, 16, buffer, 16, kind) == 100000
    assert f"kind is {kind}" in message()
    assert acl.aclrtMemcpy2d(address, 16, buffer, 16, 16, 1, kind) == 100000
    assert acl.aclrtFree(address) == 0


def test_copy_checks_in_order() -> None:
    """Each call would fail the later checks too; the thread need not have a context before the last one."""
    buffer = bytearray(8)
    assert acl.aclrtMemcpy(None, 0, None, 0, 99) == 0
    assert acl.aclrtMemcpy(None, 0, buffer, 8, 99) == 100000
    assert "dst must not be a null pointer" in message()
    assert acl.aclrtMemcpy(buffer, 0, None, 8, 99) == 100000
    assert "src must not be a null pointer" in message()
    assert acl.aclrtMemcpy(buffer, 0, buffer, 8, 99) == 100000
    assert "kind is 99" in message()
    assert acl.aclrtMemcpy(buffer, 0, buffer, 8, H2H) == 107000
    assert "expected at most destMax (0)" in message()
    assert acl.aclrtMemcpy(buffer, 7, buffer, 8, H2H) == 107000
    assert acl.aclrtMemcpy(buffer, 8, buffer, 8, H2H) == 0


def test_same_address_is_copied_without_a_look(device: int) -> None:
    assert acl.aclrtMemcpy(NO_MEMORY_THERE, 8, NO_MEMORY_THERE, 8, H2H) == 0


def test_dest_max_is_not_the_allocation(region: memory.DeviceMemory) -> None:
    address = allocate(16)
    assert acl.aclrtMemcpy(address, 1 << 40, bytearray(16), 16, H2D) == 0
    assert acl.aclrtFree(address) == 0


@pytest.mark.parametrize("make", [bytearray, bytes, memoryview], ids=["bytearray", "bytes", "memoryview"])
def test_host_pointers_of_python(device: int, make: Callable[[bytes], object]) -> None:
    address = allocate(4)
    assert acl.aclrtMemcpy(address, 4, make(b"abcd"), 4, H2D) == 0
    assert download(address, 4, np.uint8).tobytes() == b"abcd"
    assert acl.aclrtFree(address) == 0


def test_what_is_no_pointer_in_python(device: int) -> None:
    with pytest.raises(TypeError, match="src must be a buffer, an integer address or None, got str"):
        acl.aclrtMemcpy(1, 4, "abcd", 4, H2D)
    with pytest.raises(TypeError, match="src must be a contiguous array"):
        acl.aclrtMemcpy(1, 4, np.zeros((4, 4))[:, 0], 4, H2D)


@pytest.mark.parametrize(
    "make", [bytearray, lambda size: np.zeros(size, np.uint8), lambda size: np.zeros((1, size // 2), dtypes.BF16.numpy)]
)
def test_buffer_that_is_too_short(device: int, make: Callable[[int], object]) -> None:
    address = allocate(64)
    short = make(62)
    with pytest.raises(ValueError, match="dst must hold 64 bytes, got a buffer of 62"):
        acl.aclrtMemcpy(short, 64, address, 64, D2H)
    with pytest.raises(ValueError, match="src must hold 64 bytes, got a buffer of 62"):
        acl.aclrtMemcpyAsync(address, 64, short, 64, H2D, None)
    with pytest.raises(ValueError, match="dst must hold 63 bytes, got a buffer of 62"):
        acl.aclrtMemcpy2d(short, 60, address, 60, 3, 2, D2H)
    with pytest.raises(ValueError, match="devPtr must hold 64 bytes, got a buffer of 62"):
        acl.aclrtMemset(short, 64, 0, 64)
    assert acl.aclrtFree(address) == 0


def test_read_only_buffer_is_not_written(device: int) -> None:
    address = allocate(4)
    fixed = np.frombuffer(b"abcd", np.uint8)
    for target in (fixed.tobytes(), fixed):
        with pytest.raises(ValueError, match="dst must be writable, got a read-only"):
            acl.aclrtMemcpy(target, 4, address, 4, D2H)
        assert acl.aclrtMemcpy(address, 4, target, 4, H2D) == 0
    assert acl.aclrtFree(address) == 0


def test_empty_buffer_is_a_pointer_like_any_other(device: int) -> None:
    assert acl.aclrtMemcpy(bytearray(), 0, bytearray(), 1, H2H) == 107000


@pytest.mark.parametrize("count", [-1, -(1 << 40)])
def test_negative_count(device: int, count: int) -> None:
    address = allocate(16)
    assert acl.aclrtMemcpy(address, 16, address + 8, count, D2D) == 107000
    assert acl.aclrtMemset(address, 16, 0, count) == 107000
    assert acl.aclrtMemcpy2d(address, 16, address + 8, 16, count, 1, D2D) == 100000
    assert acl.aclrtFree(address) == 0


def test_overlapping_copy(device: int) -> None:
    address = upload(np.arange(16, dtype=np.uint8))
    assert acl.aclrtMemcpy(address + 4, 12, address, 12, D2D) == 0
    assert download(address, 16, np.uint8).tolist() == [0, 1, 2, 3, *range(12)]
    assert acl.aclrtFree(address) == 0


# Memory that is not there


def test_over_read_inside_the_device_is_remembered(region: memory.DeviceMemory) -> None:
    address = allocate(64)
    values = np.empty(4096, np.uint8)
    assert acl.aclrtMemcpy(values, 4096, address, 4096, D2H) == 0
    (note,) = region.overreads
    assert note.startswith(f"aclrtMemcpy: 4096 bytes at {address:#x}")
    assert f"the allocation of 64 bytes at {address:#x}" in note
    assert acl.aclrtFree(address) == 0


def test_copy_inside_its_allocation_is_not_remembered(region: memory.DeviceMemory) -> None:
    address = allocate(4096)
    download(address + 96, 4000, np.uint8)
    assert region.overreads == []
    assert acl.aclrtFree(address) == 0


def test_copy_that_leaves_mapped_memory(region: memory.DeviceMemory) -> None:
    address = allocate(64)
    size = 512 << 20
    values = np.empty(1, np.uint8)
    assert acl.aclrtMemcpy(values.ctypes.data, size, region.end - 64, size, D2H) == DRIVER_ERROR
    assert "mapped device memory" in message()
    assert acl.aclrtMemcpy(region.end - 64, 64, bytearray(64), 64, H2D) == DRIVER_ERROR
    assert acl.aclrtMemset(region.end - 64, 64, 0, 64) == DRIVER_ERROR
    assert acl.aclrtFree(address) == 0


@guarded
@pytest.mark.parametrize("pointer", [1, NO_MEMORY_THERE, 0x5AC1_0000_0000_0010, (1 << 64) - 8])
def test_host_pointer_that_does_not_exist(device: int, pointer: int) -> None:
    address = allocate(64)
    assert acl.aclrtMemcpy(address, 64, pointer, 64, H2D) == DRIVER_ERROR
    assert f"{pointer:#x}" in message()
    assert acl.aclrtMemcpy(pointer, 64, address, 64, D2H) == DRIVER_ERROR
    assert f"{pointer:#x}" in message()
    assert acl.aclrtMemcpy(pointer, 8, bytearray(8), 8, H2H) == DRIVER_ERROR
    assert acl.aclrtMemset(pointer, 8, 0, 8) == DRIVER_ERROR
    assert acl.aclrtMemcpyAsync(address, 64, pointer, 64, H2D, None) == DRIVER_ERROR
    assert acl.aclrtMemcpy2d(address, 8, pointer, 8, 8, 8, H2D) == DRIVER_ERROR
    assert acl.aclrtFree(address) == 0


def test_queued_copy_that_fails_is_told_at_synchronize(schedule: str, region: memory.DeviceMemory) -> None:
    address = allocate(64)
    assert acl.aclrtMemcpyAsync(region.end - 64, 64, address, 64, D2D, None) == 0
    assert acl.aclrtMemsetAsync(region.end - 64, 64, 0, 64, None) == 0
    assert acl.aclrtSynchronizeStream(None) == DRIVER_ERROR
    assert "aclrtMemcpyAsync" in message()
    assert acl.aclrtFree(address) == 0


_DEREFERENCE = """
import ctypes
import acl_emu as acl
acl.aclrtSetDevice(0)
pointer, _ = acl.aclrtMalloc(256, 0)
print(hex(pointer), hex(pointer + {offset}), flush=True)
{access}
print("survived")
"""


@pytest.mark.parametrize(
    ("offset", "access", "what"),
    [
        (16, "ctypes.string_at(pointer + 16, 4)", "it is byte 16 of the allocation of 256 bytes at {pointer}"),
        (0, "ctypes.memset(pointer, 0, 4)", "it is byte 0 of the allocation of 256 bytes at {pointer}"),
        (1 << 20, "ctypes.string_at(pointer + (1 << 20), 4)", "no allocation holds it; the nearest below ends"),
    ],
    ids=["read", "write", "outside"],
)
def test_host_dereferences_a_device_address(offset: int, access: str, what: str) -> None:
    done = run_python(_DEREFERENCE.format(offset=offset, access=access))
    assert done.returncode == -11
    assert "survived" not in done.stdout
    pointer, address = done.stdout.split()
    assert f"the host dereferenced device address {address} (device 0)" in done.stderr
    assert what.format(pointer=pointer) in done.stderr
    assert "copy it with aclrtMemcpy" in done.stderr


def test_other_faults_are_not_explained() -> None:
    done = run_python(_DEREFERENCE.format(offset=0, access="ctypes.string_at(4096, 4)"))
    assert done.returncode == -11
    assert "acl-emu" not in done.stderr


# Copying on a stream

ALL_KINDS = {H2H, H2D, D2H, D2D}
_ALLOWED = {
    ("plain", "device"): {H2D, D2D},
    ("device", "plain"): {D2H, D2D},
    ("pinned", "plain"): {H2H, H2D},
    ("plain", "pinned"): {H2H, D2H},
    ("plain", "plain"): ALL_KINDS,
    ("device", "device"): ALL_KINDS,
    ("pinned", "device"): ALL_KINDS,
    ("device", "pinned"): ALL_KINDS,
    ("pinned", "pinned"): ALL_KINDS,
}


@pytest.mark.parametrize("kind", sorted(ALL_KINDS))
@pytest.mark.parametrize(("source", "target"), _ALLOWED)
def test_queued_copy_and_its_kind(device: int, source: str, target: str, kind: int) -> None:
    values = np.arange(4, dtype=np.float32)
    make: dict[str, Callable[[Array], object]] = {"device": upload, "pinned": pinned, "plain": lambda array: array.copy()}
    from_, to = make[source](values), make[target](np.zeros(4, np.float32))
    code = acl.aclrtMemcpyAsync(to, 16, from_, 16, kind, None)
    host_to_host = (source, target) == ("pinned", "pinned") or ("device" not in (source, target) and kind == H2H)
    if kind not in _ALLOWED[source, target]:
        assert code == 107000
        assert f"kind is {kind}" in message()
    elif host_to_host:
        assert code == 207000
        assert "host to host" in message()
    else:
        assert code == 0
        assert acl.aclrtSynchronizeStream(None) == 0
        back = np.zeros(4, np.float32)
        assert acl.aclrtMemcpy(back, 16, to, 16, DEFAULT) == 0
        assert np.array_equal(back, values)
    for place, pointer in ((source, from_), (target, to)):
        if place != "plain":
            assert {"device": acl.aclrtFree, "pinned": acl.aclrtFreeHost}[place](pointer) == 0


@pytest.mark.parametrize("kind", [INNER, INTER])
def test_queued_copy_between_devices(schedule: str, device: int, kind: int) -> None:
    source, target = upload(np.arange(4, dtype=np.float32)), upload(np.zeros(4, np.float32))
    assert acl.aclrtMemcpyAsync(target, 16, source, 16, kind, None) == 0
    assert acl.aclrtSynchronizeStream(None) == 0
    assert download(target, 4).tolist() == [0, 1, 2, 3]
    assert acl.aclrtFree(source) == 0
    assert acl.aclrtFree(target) == 0


def test_queued_copy_checks(device: int) -> None:
    address, buffer = allocate(16), bytearray(16)
    assert acl.aclrtMemcpyAsync(None, 0, None, 0, 99, None) == 0
    assert acl.aclrtMemcpyAsync(None, 16, buffer, 16, H2D, None) == 100000
    assert acl.aclrtMemcpyAsync(address, 16, None, 16, H2D, None) == 100000
    assert acl.aclrtMemcpyAsync(address, 16, buffer, 16, 8, None) == 100000
    assert acl.aclrtMemcpyAsync(address, 15, buffer, 16, H2D, None) == 107000
    assert acl.aclrtMemcpyAsync(address, 0, buffer, 16, H2D, None) == 107000
    assert acl.aclrtFree(address) == 0


@not_eager
def test_pinned_copy_is_queued(schedule: str, device: int) -> None:
    values = np.arange(4, dtype=np.float32)
    source, target = pinned(values), upload(np.zeros(4, np.float32))
    with held(None):
        assert acl.aclrtMemcpyAsync(target, 16, source, 16, H2D, None) == 0
        assert not download(target, 4).any()
    assert acl.aclrtSynchronizeStream(None) == 0
    assert np.array_equal(download(target, 4), values)
    assert acl.aclrtFree(target) == 0
    assert acl.aclrtFreeHost(source) == 0


def test_plain_copy_waits_for_the_stream_and_is_done_at_once(schedule: str, device: int) -> None:
    with smooth_l1() as call:
        values = np.zeros(4, np.float32)
        assert call.run(None) == 0
        assert acl.aclrtMemcpyAsync(values, 16, call.memory[3], 16, D2H, None) == 0
        assert np.array_equal(values, call.expected)


def test_queued_copy_is_in_order(schedule: str, device: int) -> None:
    stream = create_stream()
    target, first, second = upload(np.zeros(4, np.float32)), pinned(np.full(4, 1, np.float32)), pinned(np.full(4, 2, np.float32))
    for source in (first, second):
        assert acl.aclrtMemcpyAsync(target, 16, source, 16, H2D, stream) == 0
    assert acl.aclrtSynchronizeStream(stream) == 0
    assert download(target, 4).tolist() == [2] * 4
    assert acl.aclrtDestroyStream(stream) == 0
    assert acl.aclrtFree(target) == 0
    assert acl.aclrtFreeHost(first) == 0
    assert acl.aclrtFreeHost(second) == 0


# Rows


@pytest.mark.parametrize("queued", [False, True])
def test_rows(device: int, queued: bool) -> None:
    values = np.arange(20, dtype=np.uint8).reshape(4, 5)
    address = upload(np.zeros(32, np.uint8))
    if queued:
        assert acl.aclrtMemcpy2dAsync(address, 8, values, 5, 3, 4, H2D, None) == 0
        assert acl.aclrtSynchronizeStream(None) == 0
    else:
        assert acl.aclrtMemcpy2d(address, 8, values, 5, 3, 4, H2D) == 0
    back = download(address, 32, np.uint8).reshape(4, 8)
    assert np.array_equal(back[:, :3], values[:, :3])
    assert not back[:, 3:].any()
    assert acl.aclrtFree(address) == 0


@pytest.mark.parametrize(("dpitch", "spitch"), [(7, 8), (8, 7)])
def test_rows_wider_than_a_pitch(device: int, dpitch: int, spitch: int) -> None:
    address = allocate(64)
    assert acl.aclrtMemcpy2d(address, dpitch, bytearray(64), spitch, 8, 2, H2D) == 100000
    assert "width is 8" in message()
    assert acl.aclrtMemcpy2dAsync(address, dpitch, bytearray(64), spitch, 8, 2, H2D, None) == 100000
    assert acl.aclrtFree(address) == 0


@pytest.mark.parametrize(("width", "height"), [(0, 3), (3, 0), (0, 0)])
def test_no_rows(width: int, height: int) -> None:
    assert acl.aclrtMemcpy2d(None, 0, None, 0, width, height, 99) == 0
    assert acl.aclrtMemcpy2dAsync(None, 0, None, 0, width, height, 99, None) == 0


def test_rows_of_null(device: int) -> None:
    assert acl.aclrtMemcpy2d(None, 8, bytearray(8), 8, 8, 1, H2D) == 100000
    assert acl.aclrtMemcpy2d(bytearray(8), 8, None, 8, 8, 1, H2D) == 100000


# Filling


@pytest.mark.parametrize("value", [0, 1, 255, 256 + 7, -1])
def test_fill_takes_a_byte(device: int, value: int) -> None:
    address = allocate(64)
    assert acl.aclrtMemset(address, 64, value, 64) == 0
    assert (download(address, 64, np.uint8) == value % 256).all()
    assert acl.aclrtFree(address) == 0


def test_fill_host_memory(device: int) -> None:
    address = pinned(np.zeros(3 << 20, np.uint8))
    assert acl.aclrtMemset(address, 3 << 20, 9, (3 << 20) - 1) == 0
    filled = acl.host_array(address, (3 << 20,), np.uint8)
    assert (filled[:-1] == 9).all()
    assert filled[-1] == 0
    assert acl.aclrtFreeHost(address) == 0


def test_fill_on_a_stream(schedule: str, device: int) -> None:
    address = upload(np.zeros(16, np.uint8))
    assert acl.aclrtMemsetAsync(address, 16, 5, 8, None) == 0
    assert acl.aclrtSynchronizeStream(None) == 0
    assert download(address, 16, np.uint8).tolist() == [5] * 8 + [0] * 8
    assert acl.aclrtFree(address) == 0


def test_fill_misuse(device: int) -> None:
    address = allocate(64)
    assert acl.aclrtMemset(None, 0, 0, 0) == 0
    assert acl.aclrtMemsetAsync(None, 0, 0, 0, None) == 0
    assert acl.aclrtMemset(None, 64, 0, 64) == 100000
    assert acl.aclrtMemsetAsync(None, 64, 0, 64, None) == 100000
    assert acl.aclrtMemset(address, 63, 0, 64) == 107000
    assert "count is 64, expected at most maxCount (63)" in message()
    assert acl.aclrtMemsetAsync(address, 63, 0, 64, None) == 107000
    assert in_thread(lambda: acl.aclrtMemset(address, 63, 0, 64)) == 107002
    assert in_thread(lambda: acl.aclrtMemsetAsync(address, 63, 0, 64, None)) == 107000
    assert acl.aclrtFree(address) == 0


def test_signals_while_allocating() -> None:
    """Ctrl-C, hundreds of times: what is free stays known. In a process of its own, which has the memory to itself."""
    code = """
import os, random, signal
import acl_emu as acl
acl.aclrtSetDevice(0)
draw = random.Random(5)
interrupts, heard_times = False, 0

def heard(*_):
    if interrupts:
        raise KeyboardInterrupt

signal.signal(signal.SIGALRM, heard)
for _ in range(1500):
    mine = []
    try:
        interrupts = True
        signal.setitimer(signal.ITIMER_REAL, draw.uniform(2e-5, 5e-4))
        while True:
            for size in (64, 4 << 20, 5000, 2 << 20):
                mine.append(acl.aclrtMalloc(size, 0)[0])
            draw.shuffle(mine)
            while mine:
                assert acl.aclrtFree(mine.pop()) == 0
    except KeyboardInterrupt:
        interrupts = False
        heard_times += 1
    for address in mine:
        acl.aclrtFree(address)
free, total, _ = acl.aclrtGetMemInfo(acl.ACL_HBM_MEM)
print(heard_times, 0 <= total - free < heard_times * (5 << 20), acl.aclrtMalloc(total // 2, 0)[1])
"""
    done = run_python(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1500 True 0\n", "")


# Questions


def test_memory_info_follows_allocations(device: int) -> None:
    before, total, ret = acl.aclrtGetMemInfo(acl.ACL_HBM_MEM)
    assert ret == 0
    assert total == 64 << 30
    address = allocate(1 << 20)
    assert before - acl.aclrtGetMemInfo(acl.ACL_HBM_MEM)[0] in range(1 << 20, (1 << 20) + 1025)
    assert acl.aclrtFree(address) == 0
    assert acl.aclrtGetMemInfo(acl.ACL_HBM_MEM)[0] == before


@pytest.mark.parametrize(("name", "ddr", "hbm"), [("Ascend910B1", False, True), ("Ascend310P3", True, True), ("Ascend310B1", True, True)])
def test_memory_info_by_kind(device: int, chip: Callable[[str], None], name: str, ddr: bool, hbm: bool) -> None:
    """A chip without HBM answers for HBM from its DDR; a kind that the chip lacks has nothing."""
    chip(name)
    assert bool(acl.aclrtGetMemInfo(acl.ACL_DDR_MEM)[1]) is ddr
    assert bool(acl.aclrtGetMemInfo(acl.ACL_HBM_MEM)[1]) is hbm
    assert acl.aclrtGetMemInfo(acl.ACL_DDR_MEM_P2P_HUGE) == (0, 0, 0)


@pytest.mark.parametrize("kind", [-1, 18, 99])
def test_unknown_kind_of_memory(device: int, kind: int) -> None:
    assert acl.aclrtGetMemInfo(kind) == (0, 0, acl.ACL_ERROR_RT_INVALID_MEMORY_TYPE)
    assert acl.ACL_ERROR_RT_INVALID_MEMORY_TYPE == 107016
    assert f"attr is {kind}" in message()


def test_pointer_attributes(device: int) -> None:
    on_device, on_host, plain = allocate(64), pinned(np.zeros(4)), np.zeros(4)
    found, ret = acl.aclrtPointerGetAttributes(on_device + 8)
    assert (ret, found.type, found.id) == (0, acl.ACL_MEM_LOCATION_TYPE_DEVICE, device)
    assert acl.aclrtPointerGetAttributes(on_host)[0].type == acl.ACL_MEM_LOCATION_TYPE_HOST
    assert acl.aclrtPointerGetAttributes(plain)[0].type == acl.ACL_MEM_LOCATION_TYPE_UNREGISTERED
    assert acl.aclrtPointerGetAttributes(None)[1] == 100000
    assert acl.aclrtFree(on_device) == 0
    assert acl.aclrtFreeHost(on_host) == 0


def test_page_size_of_large_allocations(device: int) -> None:
    small, large = allocate(1 << 20), allocate((1 << 20) + 1)
    assert acl.aclrtPointerGetAttributes(small)[0].pageSize == 4096
    assert acl.aclrtPointerGetAttributes(large)[0].pageSize == 2 << 20
    assert acl.aclrtFree(small) == 0
    assert acl.aclrtFree(large) == 0


# Not emulated yet


@pytest.mark.parametrize("name", ["aclDumpOpTensors", "aclrtBinaryGetFunction", "aclrtBinaryLoadFromData", "aclrtGetFunctionAddr"])
def test_what_is_not_emulated_says_so(name: str) -> None:
    assert getattr(acl, name)() == acl.ACL_ERROR_RT_FEATURE_NOT_SUPPORT
    assert f"{name} is not emulated" in message()


@pytest.mark.parametrize(
    "call",
    [
        lambda stream: acl.aclrtMemcpyAsync(None, 0, None, 0, D2D, stream),
        lambda stream: acl.aclrtMemsetAsync(None, 0, 0, 0, stream),
        lambda stream: acl.aclrtMemcpy2dAsync(None, 0, None, 0, 0, 4, D2D, stream),
    ],
    ids=["copy", "fill", "rows"],
)
def test_nothing_at_all_on_a_stream(device: int, call: Callable[[int | None], int]) -> None:
    """Nothing is queued, but the stream has to be one."""
    stream = create_stream()
    assert [call(stream), call(None)] == [0, 0]
    assert acl.aclrtDestroyStream(stream) == 0
    assert [call(stream), call(12345)] == [acl.ACL_ERROR_RT_INVALID_HANDLE] * 2
    assert "stream is 0x3039" in message()


def test_memory_that_was_touched_and_is_free_goes_back() -> None:
    """Fills may leave their allocation within mapped memory, as on a device; what they touch must not stay for good."""
    program = """
import acl_emu as acl

def resident():
    return int(open("/proc/self/statm").read().split()[1]) >> 8

acl.aclrtSetDevice(0)
kept, _ = acl.aclrtMalloc(1 << 20, 0)
assert acl.aclrtMemset(kept, 1 << 20, 7, 1 << 20) == 0
before = resident()
assert acl.aclrtMemset(kept + (2 << 20), 1 << 30, 1, 200 << 20) == 0
touched = resident()
for _ in range(1000):
    assert acl.aclrtFree(acl.aclrtMalloc(100, 0)[0]) == 0
bytes_ = bytearray(1 << 20)
assert acl.aclrtMemcpy(bytes_, 1 << 20, kept, 1 << 20, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
assert bytes_ == b"\\7" * (1 << 20)
print(touched - before, resident() - before)
"""
    done = run_python(program)
    assert done.returncode == 0, done.stderr
    touched, left = map(int, done.stdout.split())
    assert touched >= 190
    assert left < 32
