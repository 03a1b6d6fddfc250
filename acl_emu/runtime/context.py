"""Devices and contexts, and which of them the calling thread uses."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from acl_emu.core import constants as c
from acl_emu.core import handles, soc
from acl_emu.core._bridge import lib
from acl_emu.core.errors import (
    AclError,
    ContextNull,
    ContextRelease,
    InvalidContext,
    InvalidDevice,
    InvalidHandle,
    NullParam,
    StreamContext,
)
from acl_emu.runtime.callbacks import HostThread
from acl_emu.runtime.event import Event
from acl_emu.runtime.memory import DeviceMemory
from acl_emu.runtime.stream import Stream

_LAST_WORK_MILLISECONDS = 5000
"""How long the end of a device waits for its work."""


class Context:
    """What streams and events belong to; each has a default stream."""

    c_name = "aclrtContext"

    def __init__(self, device: Device, *, primary: bool) -> None:
        self.device = device
        self.primary = primary
        self.alive = True
        self.stopped: AclError | None = None
        """Set when a stream in stop mode failed: nothing in this context runs any more."""
        self.options: dict[int, int] = {}
        self.host_thread = HostThread()
        self.handle = handles.issue(self)
        self.streams: list[Stream] = []
        self.default_stream = self.create_stream()

    @property
    def about(self) -> str:
        """Whose it is, for the repr of its handle."""
        return f"of device {self.device.index}"

    def create_stream(self, priority: int = 0, flags: int = 0) -> Stream:
        """A new stream of this context."""
        stream = Stream(self, priority, flags)
        self.streams.append(stream)
        return stream

    def close(self, *, wait: bool = True) -> None:
        """Destroy the context and all its streams."""
        with self.device.lock:
            if not self.alive:
                raise ContextRelease("context is being destroyed by another thread")
            self.alive = False
        lib.acl_emu_new_epoch()
        for stream in list(self.streams):
            stream.close(wait=wait)
        self.streams.clear()
        self.host_thread.close()
        handles.retire(self.handle)


class Device:
    """One emulated device."""

    def __init__(self, index: int, physical: int) -> None:
        self.index = index
        self.physical = physical
        self.references = 0
        self.primary: Context | None = None
        self.contexts: list[Context] = []
        self.peers: set[int] = set()
        self.overflow_mode: int | None = None
        self._memory: DeviceMemory | None = None
        self.lock = threading.RLock()

    @property
    def memory(self) -> DeviceMemory:
        """Its memory, reserved at first use."""
        with self.lock:
            if self._memory is None:
                self._memory = DeviceMemory(self.index, soc.current().memory)
            return self._memory

    def retain(self) -> None:
        """aclrtSetDevice: one more reference to the primary context."""
        with self.lock:
            if self.primary is None:
                self.primary = Context(self, primary=True)
                self.contexts.append(self.primary)
            self.references += 1

    def release(self, *, force: bool) -> None:
        """aclrtResetDevice: one reference less, or all; the last one waits for the work and destroys the primary context."""
        with self.lock:
            if self.references == 0:
                raise ContextRelease(f"device {self.index} is not set, or was reset as often as it was set")
            self.references = 0 if force else self.references - 1
            if self.references:
                return
            primary, self.primary = self.primary, None
        if primary is not None:
            primary.close(wait=not force)
            self.contexts.remove(primary)

    def end(self) -> None:
        """Destroy all contexts after their work, and give the memory back; not below work that does not end."""
        self.synchronize(_LAST_WORK_MILLISECONDS)
        quiet = all(stream.idle for context in self.contexts for stream in context.streams)
        for context in list(self.contexts):
            if context.alive:
                context.close(wait=False)
        self.contexts.clear()
        self.primary, self.references = None, 0
        if self._memory is not None and quiet:
            self._memory.close()
            self._memory = None

    def synchronize(self, milliseconds: int | None = None) -> AclError | None:
        """Wait for every stream of the device, all of them together not longer than a time-out; the first failure among them."""
        deadline = None if milliseconds is None else time.monotonic() + milliseconds / 1000
        first: AclError | None = None
        for context in list(self.contexts):
            for stream in list(context.streams):
                place = stream.submitted
                if deadline is None:
                    stream.run_until(place)
                elif not stream.wait_until(place, deadline - time.monotonic()):
                    return first or AclError(
                        f"device {self.index} was not done after {milliseconds} ms: stream {stream.handle:#x} still works{stream.remark}",
                        c.ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                    )
                stream.tell_reached(place)
                first = first or stream.take_error()
        return first


_devices: tuple[Device, ...] | None = None
_making = threading.Lock()


def devices() -> tuple[Device, ...]:
    """Every visible device."""
    global _devices
    if _devices is None:
        soc.check_environment()
        soc.warn_of_late_tools()
        with _making:
            if _devices is None:
                _devices = tuple(Device(index, physical) for index, physical in enumerate(soc.visible_devices()))
    return _devices


def device(index: int) -> Device:
    """The device with this number, or 107001."""
    found = devices()
    if not 0 <= index < len(found):
        raise InvalidDevice(f"deviceId is {index}, expected a value in [0, {len(found)})")
    return found[index]


class _Bound(threading.local):
    explicit: Context | None = None
    device: Device | None = None


_bound = _Bound()
default_device: int | None = None
"""``defaultDevice`` of the aclInit configuration: a thread without a context uses it."""


@contextmanager
def other_devices() -> Iterator[None]:
    """Devices that nobody has used yet, for a while; the calling thread has none of them, and gets back what it had."""
    global _devices, default_device
    before = _devices, default_device, _bound.explicit, _bound.device
    _devices = default_device = _bound.explicit = _bound.device = None
    lib.acl_emu_new_epoch()
    try:
        yield
    finally:
        made: tuple[Device, ...] = _devices or ()
        _devices, default_device, _bound.explicit, _bound.device = before
        lib.acl_emu_new_epoch()
        for one in made:
            one.end()


def end_devices() -> None:
    """End all devices; there are new ones at their next use."""
    global _devices, default_device
    made = _devices or ()
    _devices = default_device = _bound.explicit = _bound.device = None
    lib.acl_emu_new_epoch()
    for one in made:
        one.end()


def set_device(index: int) -> None:
    """Bind the calling thread to a device's primary context."""
    soc.warn_of_late_variables()
    chosen = device(index)
    chosen.retain()
    _bound.device, _bound.explicit = chosen, None
    lib.acl_emu_new_epoch()


def set_context(context: Context | None) -> None:
    """Bind the calling thread to a context, or to none."""
    _bound.explicit = context
    _bound.device = context.device if context else None
    lib.acl_emu_new_epoch()


def find_current() -> Context | None:
    """The calling thread's context: an explicit one, else the primary one of its device."""
    explicit, chosen = _bound.explicit, _bound.device
    if explicit is not None:
        return explicit if explicit.alive else None
    if chosen is not None and chosen.primary is not None:
        return chosen.primary
    if chosen is None and default_device is not None:
        set_device(default_device)
        return find_current()
    return None


def current() -> Context:
    """The calling thread's context, or 107002."""
    context = find_current()
    if context is None:
        raise ContextNull("the calling thread has no context; call aclrtSetDevice or aclrtSetCurrentContext on it first")
    return context


def find_context(handle: int | None, *, ending_ok: bool = False) -> Context:
    """The living context behind a handle, or with ``ending_ok`` one that is being destroyed."""
    if not handle:
        raise NullParam("context must not be a null pointer")
    context = handles.find(handle, Context)
    if context is None or not (context.alive or ending_ok):
        raise InvalidContext(f"context is {handles.describe(handle)}, expected a living aclrtContext")
    return context


def find_event(handle: int | None, parameter: str = "event") -> Event:
    """The living event behind a handle."""
    if not handle:
        raise NullParam(f"{parameter} must not be a null pointer")
    event = handles.find(handle, Event)
    if event is None:
        raise InvalidHandle(f"{parameter} is {handles.describe(handle)}, expected a living aclrtEvent")
    return event


def check_stream(handle: int | None) -> None:
    """Refuse a handle that is not one of a living stream; null is the default stream of whatever context."""
    if handle:
        _living_stream(handle)


def _living_stream(handle: int) -> Stream:
    stream = handles.find(handle, Stream)
    if stream is None:
        raise InvalidHandle(f"stream is {handles.describe(handle)}, expected a living aclrtStream")
    return stream


def find_stream(handle: int | None, *, foreign_ok: bool = False) -> Stream:
    """The living stream behind a handle of the current context; null is its default stream."""
    context = current()
    if not handle:
        return context.default_stream
    stream = _living_stream(handle)
    if stream.context is not context and not foreign_ok:
        raise StreamContext(f"stream {handle:#x} belongs to another context than the calling thread's (device {context.device.index})")
    return stream
