"""Streams: making, waiting, asking, destroying."""

from __future__ import annotations

from dataclasses import dataclass

from acl_emu.api.acl_rt import HEADER
from acl_emu.api.border import Handle, acl, structure
from acl_emu.core import _fast
from acl_emu.core import constants as c
from acl_emu.core.errors import AclError, InvalidParam, NullParam, RtParamInvalid
from acl_emu.runtime import context
from acl_emu.runtime.callbacks import refuse_in_callback
from acl_emu.runtime.capture import refuse_stream
from acl_emu.runtime.stream import Stream

MOST_STREAMS = 1984
_LEAST_PRIORITY = 7


@acl(HEADER, "aclError aclrtCreateStream(aclrtStream* stream)")
def aclrtCreateStream() -> Handle:
    """A new stream in the current context."""
    return _create(0, 0)


@acl(HEADER, "aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag)")
def aclrtCreateStreamWithConfig(priority: int, flag: int) -> Handle:
    """A new stream; a priority past 7 counts as 7."""
    return _create(priority, flag)


def _create(priority: int, flags: int) -> Handle:
    current = context.current()
    existing = sum(len(other.streams) for other in current.device.contexts)
    if existing >= MOST_STREAMS:
        raise AclError(f"device {current.device.index} has {existing} streams, which is the most", c.ACL_ERROR_RT_NO_STREAM_RESOURCE)
    return current.create_stream(min(priority, _LEAST_PRIORITY), flags).handle


@acl(HEADER, "aclError aclrtDestroyStream(aclrtStream stream)")
def aclrtDestroyStream(stream: Handle) -> None:
    """Wait for a stream's work, then destroy it."""
    refuse_in_callback("aclrtDestroyStream")
    _destroy(stream, wait=True)


@acl(HEADER, "aclError aclrtDestroyStreamForce(aclrtStream stream)")
def aclrtDestroyStreamForce(stream: Handle) -> None:
    """Destroy a stream and drop what it has not begun."""
    _destroy(stream, wait=False)


def _destroy(handle: Handle, *, wait: bool) -> None:
    if not handle:
        raise NullParam("stream must not be a null pointer; the default stream cannot be destroyed")
    stream = context.find_stream(handle)
    if stream is stream.context.default_stream:
        raise InvalidParam("stream is the default stream of its context, which cannot be destroyed")
    refuse_stream(stream, "aclrtDestroyStream")
    stream.close(wait=wait)
    if stream in stream.context.streams:
        stream.context.streams.remove(stream)


def raise_failure(stream: Stream) -> None:
    """What a synchronize returns: the first failure of the stream's work since the last one."""
    error = stream.take_error()
    if error is not None:
        raise error


@acl(HEADER, "aclError aclrtSynchronizeStream(aclrtStream stream)", quick=_fast.synchronize)
def aclrtSynchronizeStream(stream: Handle) -> None:
    """Wait for everything on a stream; failures of its work surface here."""
    refuse_in_callback("aclrtSynchronizeStream")
    found = context.find_stream(stream, foreign_ok=True)
    refuse_stream(found, "aclrtSynchronizeStream")
    if not found.never_waits:
        found.wait_for_host(found.submitted)
        raise_failure(found)


@acl(HEADER, "aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)")
def aclrtSynchronizeStreamWithTimeout(stream: Handle, timeout: int) -> None:
    """Wait for a stream, but not longer than ``timeout`` milliseconds; -1 waits for ever."""
    check_timeout(timeout)
    refuse_in_callback("aclrtSynchronizeStreamWithTimeout")
    found = context.find_stream(stream, foreign_ok=True)
    refuse_stream(found, "aclrtSynchronizeStreamWithTimeout")
    if found.never_waits:
        return
    place = found.submitted
    if timeout == -1:
        found.run_until(place)
    elif not found.wait_until(place, timeout / 1000):
        raise AclError(f"stream {found.handle:#x} was not done after {timeout} ms{found.remark}", c.ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)
    found.tell_reached(place)
    raise_failure(found)


def check_timeout(timeout: int) -> None:
    """-1 or a positive number of milliseconds."""
    if timeout == 0 or timeout < -1:
        raise RtParamInvalid(f"timeout is {timeout}, expected -1 (for ever) or a positive number of milliseconds")


@acl(HEADER, "aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status)")
def aclrtStreamQuery(stream: Handle) -> int:
    """Whether everything on a stream is done."""
    found = context.find_stream(stream)
    refuse_stream(found, "aclrtStreamQuery")
    if found.idle:
        found.tell_reached(found.submitted)
        return c.ACL_STREAM_STATUS_COMPLETE
    found.step()
    return c.ACL_STREAM_STATUS_NOT_READY


@acl(HEADER, "aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority)")
def aclrtStreamGetPriority(stream: Handle) -> int:
    """A stream's priority."""
    return context.find_stream(stream).priority


@acl(HEADER, "aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags)")
def aclrtStreamGetFlags(stream: Handle) -> int:
    """A stream's flags."""
    return context.find_stream(stream).flags


@acl(HEADER, "aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId)")
def aclrtStreamGetId(stream: Handle) -> int:
    """A small number that tells the streams of a process apart."""
    return context.find_stream(stream).number


@acl(HEADER, "aclError aclrtGetStreamAvailableNum(uint32_t* streamCount)")
def aclrtGetStreamAvailableNum() -> int:
    """How many more streams the current device can have."""
    return MOST_STREAMS - sum(len(other.streams) for other in context.current().device.contexts)


@acl(HEADER, "aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag)")
def aclrtSetStreamOverflowSwitch(stream: Handle, flag: int) -> None:
    """Whether overflows are to be looked for on a stream (1) or not (0)."""
    set_overflow_switch(context.find_stream(stream), flag)


def set_overflow_switch(stream: Stream, flag: int) -> None:
    """The same for a stream that is known."""
    if flag not in (0, 1):
        raise RtParamInvalid(f"flag is {flag}, expected 0 (off) or 1 (on)")
    stream.overflow_switch = flag


@acl(HEADER, "aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag)")
def aclrtGetStreamOverflowSwitch(stream: Handle) -> int:
    """What was set before."""
    return context.find_stream(stream).overflow_switch


@structure("aclrtStreamAttrValue", "=Q8x")
@dataclass(frozen=True)
class StreamAttrValue:
    """aclrtStreamAttrValue: a number, of 64 bits for the failure mode and of 32 bits else."""

    value: int = 0


def _get_attribute(stream: Stream, kind: int) -> int:
    """The value of an attribute."""
    if kind == c.ACL_STREAM_ATTR_FAILURE_MODE:
        return c.ACL_STOP_ON_FAILURE if stream.stop_on_failure else c.ACL_CONTINUE_ON_FAILURE
    if kind == c.ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        return stream.overflow_switch
    if kind == c.ACL_STREAM_ATTR_PRIORITY:
        return stream.priority
    return stream.attributes.get(kind, 0)


_ATTRIBUTES = range(c.ACL_STREAM_ATTR_FAILURE_MODE, c.ACL_STREAM_ATTR_PRIORITY + 1)


def _check_attribute(kind: int) -> None:
    if kind not in _ATTRIBUTES:
        raise RtParamInvalid(f"stmAttrType is {kind}, expected a value in [{_ATTRIBUTES.start}, {_ATTRIBUTES.stop - 1}]")


@acl(HEADER, "aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue* value)")
def aclrtSetStreamAttribute(stream: Handle, stmAttrType: int, value: StreamAttrValue | None) -> None:
    """Change what a stream does, or what is remembered of it: a tag, and whether information on operators is kept for captured work."""
    found = context.find_stream(stream)
    _check_attribute(stmAttrType)
    if value is None:
        raise NullParam("value must not be a null pointer")
    number = value.value & 0xFFFFFFFF
    if stmAttrType == c.ACL_STREAM_ATTR_FAILURE_MODE:
        set_failure_mode(found, value.value)
    elif stmAttrType == c.ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        set_overflow_switch(found, number)
    elif stmAttrType == c.ACL_STREAM_ATTR_PRIORITY:
        found.priority = min(number, _LEAST_PRIORITY)
    else:
        found.attributes[stmAttrType] = number


@acl(HEADER, "aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue* value)")
def aclrtGetStreamAttribute(stream: Handle, stmAttrType: int) -> StreamAttrValue:
    """What was set, or is so by default."""
    found = context.find_stream(stream)
    _check_attribute(stmAttrType)
    return StreamAttrValue(_get_attribute(found, stmAttrType))


@acl(HEADER, "aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode)")
def aclrtSetStreamFailureMode(stream: Handle, mode: int) -> None:
    """After a failed task: go on (0), or stop every stream of the context (1)."""
    set_failure_mode(context.find_stream(stream), mode)


def set_failure_mode(stream: Stream, mode: int) -> None:
    """The same for a stream that is known."""
    if mode not in (c.ACL_CONTINUE_ON_FAILURE, c.ACL_STOP_ON_FAILURE):
        raise RtParamInvalid(f"mode is {mode}, expected 0 (continue) or 1 (stop)")
    stream.stop_on_failure = mode == c.ACL_STOP_ON_FAILURE
