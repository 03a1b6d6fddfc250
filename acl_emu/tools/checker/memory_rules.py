"""Rules of memory: bounds, life time, sides, values, overlaps and races."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from acl_emu.core import constants as c
from acl_emu.core.errors import DeviceFault
from acl_emu.core.observe import Call, Span, Work
from acl_emu.runtime import context, memory
from acl_emu.runtime.callbacks import in_callback
from acl_emu.runtime.executor import Indices, Remark
from acl_emu.runtime.stream import Stream
from acl_emu.runtime.tensor import BoundOperand
from acl_emu.tools.checker.blocks import Block, Book, Use
from acl_emu.tools.checker.findings import Findings, Origin, origin_now, origin_of
from acl_emu.tools.checker.order import Clock, Order
from acl_emu.tools.checker.overlap import is_dense, is_same, overlap

_RUNS = 4096

_SIDES = {
    c.ACL_MEMCPY_HOST_TO_HOST: ("host", "host"),
    c.ACL_MEMCPY_HOST_TO_DEVICE: ("host", "device"),
    c.ACL_MEMCPY_DEVICE_TO_HOST: ("device", "host"),
    c.ACL_MEMCPY_DEVICE_TO_DEVICE: ("device", "device"),
    c.ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE: ("host", "device"),
    c.ACL_MEMCPY_INNER_DEVICE_TO_DEVICE: ("device", "device"),
    c.ACL_MEMCPY_INTER_DEVICE_TO_DEVICE: ("device", "device"),
}
"""aclrtMemcpyKind -> the sides of src and dst."""


def side_of(pointer: object) -> str:
    """Where a pointer points: a buffer of Python is host memory."""
    return "device" if isinstance(pointer, int) and memory.region_of(pointer) is not None else "host"


class MemoryRules:
    """What is known of memory, and what is wrong with its use."""

    def __init__(self, findings: Findings, order: Order) -> None:
        self.findings = findings
        self.order = order
        self.device = Book()
        self.host = Book()
        self._damaged: set[int] = set()
        """Host blocks of which it is known."""

    # Life

    def free_device(self, address: int, allocation: object) -> None:
        """aclrtFree succeeded."""
        origin = origin_now()
        block = self.device.remove(address, origin, allocation)
        if block is not None:
            self._check_unused(block, origin, "devPtr")

    def map_device(self, owner: object, address: int, size: int) -> None:
        """aclrtMapMem succeeded: what is mapped side by side is one block."""
        block = self.device.below(address)
        if block is not None and block.thing is owner and block.end == address:
            block.grow(size)
        else:
            block = Block(address, size, origin_now(), owner)
            self.device.add(block)
        following = self.device.find(address + size)
        if following is not None and following.thing is owner and following is not block:
            self.device.remove(following.address, origin_now(), owner)
            block.absorb(following)

    def unmap_device(self, owner: object, address: int, size: int) -> None:
        """aclrtUnmapMem: what is left on both sides stays."""
        whole = self.device.find(address)
        if whole is None or whole.thing is not owner:
            return
        origin = origin_now()
        self.device.remove(whole.address, origin, owner)
        for first, last in ((whole.address, address), (address + size, whole.end)):
            if first < last:
                self.device.add(whole.part(first, last))
        self._check_unused(whole.part(address, address + size), origin, "virPtr")

    def free_host(self, address: int) -> None:
        """aclrtFreeHost succeeded."""
        origin = origin_now()
        self._damaged.discard(address)
        block = self.host.remove(address, origin)
        if block is not None:
            self._check_unused(block, origin, "hostPtr")

    def check_host(self, address: int, origin: Origin, parameter: str) -> None:
        """Has the program written outside a block of host memory?"""
        block, real = self.host.find(address), memory.host.find(address)
        damage = None if block is None or real is None or real.address in self._damaged else real.damage()
        if block is not None and damage is not None:
            self._damaged.add(block.address)
            self.findings.add(
                "out-of-bounds", origin, parameter, f"the program itself has written byte {damage} of {block.describe()}", *_births(block)
            )

    def check_host_at_end(self) -> None:
        """The same for all that were never freed."""
        for block in self.host:
            self.check_host(block.address, block.origin, "")

    def _check_unused(self, block: Block, origin: Origin, parameter: str) -> None:
        use = self._unordered(block, None, self.order.host, None, True)
        if use is not None:
            self.findings.add(
                "workspace-freed" if use.scratch else "freed-in-use",
                origin,
                parameter,
                f"{block.describe()} is freed, but nothing says that {_task(use)} has run",
                (f"queued by {use.label}", use.origin),
                (f"allocated by {block.origin.call}", block.origin),
            )

    def explain_free(self, call: Call, *, host: bool) -> tuple[str, str, tuple[tuple[str, Origin], ...]] | None:
        """Why a free was refused: kind, text, related origins."""
        address = call.arguments[0]
        if not isinstance(address, int) or not address:
            return None
        own, other = (self.host, self.device) if host else (self.device, self.host)
        name = call.parameters[0]
        for book, right in ((own, True), (other, False)):
            block = book.find(address)
            if block is not None:
                place = f"byte {address - block.address} of" if address != block.address else "the start of"
                side = "" if right else f", which is {'device' if host else 'host'} memory"
                return "bad-free", f"{name} is {address:#x}, {place} {block.describe()}{side}", _life(block)
        dead = own.find_dead(address)
        if dead is not None:
            return ("double-free" if address == dead.address else "bad-free"), f"{name} is {address:#x}, in {dead.describe()}", _life(dead)
        return "bad-free", f"{name} is {address:#x}, which no allocation of this library begins with", ()

    # Accesses

    def check_sides(self, call: Call) -> tuple[str, str, str] | None:
        """Whether the pointers of a copy are what its kind says: finding's kind, parameter and text."""
        values = dict(zip(call.parameters, call.arguments, strict=False))
        expected = _SIDES.get(values.get("kind", -1))
        if expected is None:
            return None
        for parameter, side in (("dst", expected[1]), ("src", expected[0])):
            pointer = values.get(parameter)
            if pointer is not None and side_of(pointer) != side:
                shown = f"{pointer:#x}" if isinstance(pointer, int) else f"a {type(pointer).__name__}"
                kind = "host-pointer" if side == "device" else "device-pointer"
                return kind, parameter, f"{parameter} is {shown}, {side_of(pointer)} memory; kind {values['kind']} expects {side} memory"
        return None

    def queue(self, work: Work, in_place: bool) -> None:
        """Work is put on a stream; ``in_place`` says whether its operator may write what it reads."""
        assert work.stream is not None
        clock = self.order.submit(work.stream, work.place)
        if not work.reads and not work.writes and work.workspace is None:
            return
        origin = origin_of(work.call)
        self._check_overlaps(work, origin, in_place)
        self._check_peers(work, origin)
        self._access(work, origin, work.stream, clock)

    def access_now(self, work: Work) -> None:
        """The host reads or writes at once."""
        origin = origin_of(work.call)
        self._check_overlaps(work, origin, True)
        self._check_peers(work, origin)
        self._access(work, origin, None, self.order.host)

    def _access(self, work: Work, origin: Origin, stream: Stream | None, clock: Clock) -> None:
        for span in work.reads:
            block = self._touch(work, span, origin, stream, clock, writes=False, scratch=False)
            if block is not None and block.thing is not None:
                self._check_written(work, span, block, origin)
        if work.workspace is not None:
            self._touch(work, work.workspace, origin, stream, clock, writes=True, scratch=True)
        for span in work.writes:
            block = self._touch(work, span, origin, stream, clock, writes=True, scratch=False)
            if block is not None and block.thing is not None:
                _mark_written(block, span)

    def _touch(
        self, work: Work, span: Span, origin: Origin, stream: Stream | None, clock: Clock, *, writes: bool, scratch: bool
    ) -> Block | None:
        """Find the block of an access and check it; None where it is not one to go on with."""
        if span.empty:
            return None
        end = span.end
        block = self.device.find(span.address)
        if block is None:
            if memory.region_of(span.address) is not None:
                self._report_stray(work, span, origin, writes)
                return None
            block = self.host.find(span.address)
            if block is None:
                self._check_side(work, span, origin)
                return None
            self.check_host(block.address, origin, span.name)
            if work.kind == "kernel":
                self._check_side(work, span, origin)
        bad = end > block.end
        if bad:
            self.findings.add(
                "workspace-too-small" if scratch else "out-of-bounds",
                origin,
                span.name,
                f"{work.label} {'writes' if writes else 'reads'} {end - span.address} bytes at byte {span.address - block.address} of "
                f"{block.describe()}, {end - block.end} too many",
                (f"allocated by {block.origin.call}", block.origin),
            )
        if block.uses:
            self._check_order(work, span, block, origin, stream, clock, writes=writes, scratch=scratch)
        if stream is not None:
            block.add(Use(stream, work.place, clock, span, writes, scratch, work.label, origin))
        return None if bad else block

    def _report_stray(self, work: Work, span: Span, origin: Origin, writes: bool) -> None:
        """A device address that is in no living allocation."""
        verb = "writes" if writes else "reads"
        dead = self.device.find_dead(span.address)
        if dead is not None:
            text = f"{work.label} {verb} {span.end - span.address} bytes at byte {span.address - dead.address} of {dead.describe()}"
            self.findings.add("use-after-free", origin, span.name, text, *_life(dead))
            return
        below = self.device.below(span.address)
        text = f"{work.label} {verb} {span.end - span.address} bytes at {span.address:#x}, where nothing is allocated"
        if below is None:
            self.findings.add("out-of-bounds", origin, span.name, text)
        else:
            text += f"; {below.describe()} ends {span.address - below.end} bytes before"
            self.findings.add("out-of-bounds", origin, span.name, text, (f"allocated by {below.origin.call}", below.origin))

    def _check_side(self, work: Work, span: Span, origin: Origin) -> None:
        if work.kind in ("kernel", "fill"):
            what = "has no address" if not span.address else f"is at {span.address:#x}, which is host memory"
            self.findings.add("host-pointer", origin, span.name, f"{work.label}: {span.name} {what}")

    def _check_written(self, work: Work, span: Span, block: Block, origin: Origin) -> None:
        written = block.written
        first, last = span.address, span.end
        gap = written.gap(first, last)
        if gap is None:
            return
        if not is_dense(span):
            runs = span.runs(_RUNS)
            if len(runs) == 1 and runs[0] == (first, last):  # too many to look at: certain only where nothing at all is there
                gap = None if written.touches(first, last) else first
            else:
                gap = next((hole for begin, end in runs if (hole := written.gap(begin, end)) is not None), None)
            if gap is None:
                return
        self.findings.add(
            "uninitialized-read",
            origin,
            span.name,
            f"{work.label} reads {last - first} bytes at byte {first - block.address} of {block.describe()}; "
            f"byte {gap - block.address} was never written",
            (f"allocated by {block.origin.call}", block.origin),
        )
        written.add(first, last)  # once is enough

    # Order

    def _unordered(self, block: Block, stream: Stream | None, clock: Clock, span: Span | None, writes: bool) -> Use | None:
        """Queued work on other streams that is not ordered against an access (all of the block where ``span`` is None)."""
        host = self.order.host
        callback = stream is None and in_callback()
        for other in list(block.uses):
            if other is stream:
                continue
            uses = block.uses[other]
            newest = next(reversed(uses.values())).place
            if self.order.is_before(other, newest, host):
                del block.uses[other]
                continue
            if self.order.is_before(other, newest, clock):
                continue
            for use in uses.values():
                if (
                    (writes or use.writes)
                    and not self.order.is_before(other, use.place, clock)
                    and (span is None or overlap(span, use.span))
                    and not (callback and self.order.holds_back(other, use.place, use.clock))
                ):
                    return use
        return None

    def _check_order(
        self, work: Work, span: Span, block: Block, origin: Origin, stream: Stream | None, clock: Clock, *, writes: bool, scratch: bool
    ) -> None:
        use = self._unordered(block, stream, clock, span, writes)
        if use is None:
            return
        who = "on the host" if stream is None else f"on stream {stream.number}"
        kind = "race"
        if scratch or use.scratch:
            kind = "workspace-shared"
        self.findings.add(
            kind,
            origin,
            span.name,
            f"{work.label} {who} {'writes' if writes else 'reads'} what {_task(use)} {'writes' if use.writes else 'reads'}, "
            f"and nothing orders the two (byte {max(span.address, use.span.address) - block.address} of {block.describe()})",
            (f"queued by {use.label}", use.origin),
            (f"allocated by {block.origin.call}", block.origin),
        )

    # Memory of other devices

    def _check_peers(self, work: Work, origin: Origin) -> None:
        """A kernel reaches memory of its own device, and a copy that of two, unless access has been enabled; for a copy either way."""
        spans = [*work.reads, *work.writes, *([work.workspace] if work.workspace is not None else [])]
        where = [(span, region.device) for span in spans if not span.empty and (region := memory.region_of(span.address)) is not None]
        if not where:
            return
        kernel = work.kind == "kernel" and work.stream is not None
        own = work.stream.context.device.index if kernel and work.stream is not None else where[0][1]
        for span, device in where:
            if device != own and not _can_reach(own, device) and (kernel or not _can_reach(device, own)):
                self.findings.add(
                    "peer-access",
                    origin,
                    span.name,
                    f"{work.label} {f'on device {own} uses' if kernel else f'moves between device {own} and'} memory of device {device} at "
                    f"{span.address:#x}, and aclrtDeviceEnablePeerAccess was not called for it",
                    *_births(self.device.find(span.address)),
                )

    # Values

    def check_indices(self, work: Work, indices: Sequence[Indices]) -> None:
        """The work is about to run: do the elements that choose something choose what is there?"""
        spans = {span.name: span for span in work.reads}
        for chosen in indices:
            span = spans.get(chosen.name)
            if span is None or span.empty:
                continue
            try:
                extent = span.end - span.address
                values = memory.strided_array_at(span.address, extent, span.shape, chosen.dtype, span.strides).astype(np.int64)
            except DeviceFault:
                continue  # told elsewhere
            wrong = (values < 0) | (values >= chosen.choices)
            if chosen.ignored is not None:
                wrong &= values != chosen.ignored
            if wrong.any():
                place = tuple(int(i) for i in np.argwhere(wrong)[0])
                text = f"{chosen.name}{list(place)} is {values[place]}, outside [0, {chosen.choices - 1}]; it counts for nothing"
                more = int(wrong.sum()) - 1
                self.findings.add(
                    "bad-index", origin_of(work.call), chosen.name, f"{work.label}: {text}" + (f" ({more} more)" if more else "")
                )

    def check_data(
        self, work: Work, remarks: Callable[[Sequence[npt.NDArray[Any]]], Sequence[Remark]], reads: Sequence[BoundOperand]
    ) -> None:
        """The work is about to run: is there anything to say about its inputs?"""
        try:
            with np.errstate(all="ignore"):
                found = remarks([operand.array() for operand in reads])
        except DeviceFault:
            return  # told elsewhere
        for kind, parameter, text in found:
            self.findings.add(kind, origin_of(work.call), parameter, f"{work.label}: {parameter}: {text}")

    # Overlaps within one call

    def _check_overlaps(self, work: Work, origin: Origin, in_place: bool) -> None:
        def add(output: Span, other: Span, what: str) -> None:
            self.findings.add(
                "overlap",
                origin,
                output.name,
                f"{work.label}: {output.name} [{output.address:#x}, {output.end:#x}) overlaps {what} [{other.address:#x}, {other.end:#x})",
                *_births(self.device.find(output.address)),
            )

        for i, output in enumerate(work.writes):
            for source in work.reads:
                if output.name != source.name and overlap(output, source) and not (in_place and is_same(output, source)):
                    add(output, source, f"input {source.name}")
            for other in work.writes[:i]:
                if overlap(output, other):
                    add(output, other, f"output {other.name}")
        if work.workspace is not None:
            for operand in (*work.writes, *work.reads):
                if overlap(operand, work.workspace):
                    add(work.workspace, operand, operand.name)

    # The end

    def report_leaks(self) -> None:
        """The program ends: what is still allocated."""
        for book, function in ((self.device, "aclrtFree"), (self.host, "aclrtFreeHost")):
            for block in book:
                self.findings.add("memory-leaked", block.origin, "", f"{block.describe()} is never given to {function}")


def _mark_written(block: Block, span: Span) -> None:
    first, last = span.address, span.end
    if block.written.gap(first, last) is None:
        return
    for begin, end in [(first, last)] if is_dense(span) else span.runs(_RUNS):
        block.written.add(begin, end)


def _can_reach(device: int, peer: int) -> bool:
    return peer in context.device(device).peers


def _births(block: Block | None) -> tuple[tuple[str, Origin], ...]:
    return () if block is None else ((f"allocated by {block.origin.call}", block.origin),)


def _life(block: Block) -> tuple[tuple[str, Origin], ...]:
    freed = () if block.freed is None else ((f"freed by {block.freed.call}", block.freed),)
    return (*_births(block), *freed)


def _task(use: Use) -> str:
    return f"{use.label} on stream {use.stream.number}{' (its workspace)' if use.scratch else ''}"
