"""Events: recording, waiting, asking, timing."""

from __future__ import annotations

from acl_emu.api.acl_rt import HEADER
from acl_emu.api.acl_rt.streams import check_timeout
from acl_emu.api.border import Handle, acl
from acl_emu.core import constants as c
from acl_emu.core import handles, observe
from acl_emu.core.errors import AclError, CallOrder, FeatureNotSupport, InvalidParam
from acl_emu.runtime import context
from acl_emu.runtime.callbacks import refuse_in_callback
from acl_emu.runtime.context import find_event
from acl_emu.runtime.event import Event, Mark

_DEFAULT_FLAGS = c.ACL_EVENT_SYNC | c.ACL_EVENT_TIME_LINE
_KNOWN_FLAGS = (
    c.ACL_EVENT_SYNC
    | c.ACL_EVENT_CAPTURE_STREAM_PROGRESS
    | c.ACL_EVENT_TIME_LINE
    | c.ACL_EVENT_DEVICE_USE_ONLY
    | c.ACL_EVENT_EXTERNAL
    | c.ACL_EVENT_IPC
)


@acl(HEADER, "aclError aclrtCreateEvent(aclrtEvent* event)")
def aclrtCreateEvent() -> Handle:
    """An event for timing and for waiting."""
    return Event(context.current(), _DEFAULT_FLAGS, extended=False).handle


@acl(HEADER, "aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag)")
def aclrtCreateEventWithFlag(flag: int) -> Handle:
    """An event for what its flags say."""
    return Event(context.current(), _checked(flag), extended=False).handle


@acl(HEADER, "aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag)")
def aclrtCreateEventExWithFlag(flag: int) -> Handle:
    """An event of the new kind, which may be recorded again and again."""
    return Event(context.current(), _checked(flag), extended=True).handle


def _checked(flag: int) -> int:
    if flag == 0 or flag & ~_KNOWN_FLAGS:
        raise InvalidParam(f"flag is {flag:#x}, expected a combination of ACL_EVENT_* bits ({_KNOWN_FLAGS:#x})")
    return flag


@acl(HEADER, "aclError aclrtDestroyEvent(aclrtEvent event)")
def aclrtDestroyEvent(event: Handle) -> None:
    """Destroy an event; work that waits for it goes on waiting."""
    handles.retire(find_event(event).handle)


@acl(HEADER, "aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)")
def aclrtRecordEvent(event: Handle, stream: Handle) -> None:
    """Mark the point after the work that is now on a stream."""
    found = find_event(event)
    found.record(context.find_stream(stream))


@acl(HEADER, "aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream)")
def aclrtResetEvent(event: Handle, stream: Handle) -> None:
    """Make an event unrecorded again."""
    found = find_event(event)
    _need_old_kind(found, "aclrtResetEvent")
    _need_sync(found, "aclrtResetEvent")
    target = context.find_stream(stream)
    found.mark = found.model = None
    target.submit(lambda: None, observe.Work("reset", "event reset", event=found))


@acl(HEADER, "aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)")
def aclrtStreamWaitEvent(stream: Handle, event: Handle) -> None:
    """Hold a stream's later work until the event's point is reached."""
    found = find_event(event)
    _need_sync(found, "aclrtStreamWaitEvent")
    target = context.find_stream(stream)
    if found.mark is None and found.model is None and not found.extended:
        raise CallOrder("event was never recorded; call aclrtRecordEvent first")
    found.make_wait(target)


@acl(HEADER, "aclError aclrtSynchronizeEvent(aclrtEvent event)")
def aclrtSynchronizeEvent(event: Handle) -> None:
    """Wait on the host for the event's point; one that was never recorded is reached."""
    refuse_in_callback("aclrtSynchronizeEvent")
    mark = _outside(find_event(event)).mark
    if mark is not None:
        mark.stream.wait_for_host(mark.place)


@acl(HEADER, "aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout)")
def aclrtSynchronizeEventWithTimeout(event: Handle, timeout: int) -> None:
    """Wait on the host, but not longer than ``timeout`` milliseconds; -1 waits for ever."""
    check_timeout(timeout)
    refuse_in_callback("aclrtSynchronizeEventWithTimeout")
    mark = _outside(find_event(event)).mark
    if mark is None:
        return
    if timeout == -1:
        mark.stream.run_until(mark.place)
    elif not mark.stream.wait_until(mark.place, timeout / 1000):
        raise AclError(f"event was not reached after {timeout} ms{mark.stream.remark}", c.ACL_ERROR_RT_EVENT_SYNC_TIMEOUT)
    mark.stream.tell_reached(mark.place)


@acl(HEADER, "aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status)")
def aclrtQueryEvent(event: Handle) -> int:
    """Whether no record of the event is pending."""
    found = find_event(event)
    _need_old_kind(found, "aclrtQueryEvent")
    return c.ACL_EVENT_STATUS_NOT_READY if _pending(found) else c.ACL_EVENT_STATUS_COMPLETE


@acl(HEADER, "aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status)")
def aclrtQueryEventStatus(event: Handle) -> int:
    """Whether the event's point is reached; never recorded, only one of the new kind counts as reached."""
    found = find_event(event)
    reached = found.extended if _outside(found).mark is None else not _pending(found)
    return c.ACL_EVENT_RECORDED_STATUS_COMPLETE if reached else c.ACL_EVENT_RECORDED_STATUS_NOT_READY


@acl(HEADER, "aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status)")
def aclrtQueryEventWaitStatus(event: Handle) -> int:
    """Whether no stream waits for the event."""
    found = find_event(event)
    _need_old_kind(found, "aclrtQueryEventWaitStatus")
    pending = found.pending_waits
    for stream, _ in pending:
        stream.step()
    return c.ACL_EVENT_WAIT_STATUS_NOT_READY if pending else c.ACL_EVENT_WAIT_STATUS_COMPLETE


@acl(HEADER, "aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent)")
def aclrtEventElapsedTime(startEvent: Handle, endEvent: Handle) -> float:
    """Milliseconds from one event to another; negative where the second came first."""
    events = {"startEvent": find_event(startEvent, "startEvent"), "endEvent": find_event(endEvent, "endEvent")}
    for name, event in events.items():
        _need_record(event, name)
    start, end = (_timestamp(event, name) for name, event in events.items())
    return (end - start) / 1e6


@acl(HEADER, "aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp)")
def aclrtEventGetTimestamp(event: Handle) -> int:
    """Microseconds at which the event's point was reached."""
    return _timestamp(find_event(event), "event") // 1000


def _outside(event: Event) -> Event:
    """An event that the host can ask about: a point in a captured model is reached whenever the model runs."""
    if event.model is not None:
        raise AclError("event was recorded on a stream that was captured", c.ACL_ERROR_RT_EVENT_CAPTURED)
    return event


def _need_record(event: Event, name: str) -> Mark:
    _outside(event)
    if event.mark is None:
        raise AclError(f"{name} was never recorded", c.ACL_ERROR_RT_INTERNAL_ERROR)
    return event.mark


def _timestamp(event: Event, name: str) -> int:
    mark = _need_record(event, name)
    if not event.flags & c.ACL_EVENT_TIME_LINE or mark.nanoseconds is None:
        raise AclError(
            f"{name} has no time yet: it needs ACL_EVENT_TIME_LINE and a stream that has reached it", c.ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID
        )
    return mark.nanoseconds


def _pending(event: Event) -> bool:
    _outside(event)
    if event.mark is None:
        return False
    if event.mark.reached:
        event.mark.stream.tell_reached(event.mark.place)
        return False
    event.mark.stream.step()
    return True


def _need_old_kind(event: Event, call: str) -> None:
    if event.extended:
        raise FeatureNotSupport(f"{call} does not work on an event of aclrtCreateEventExWithFlag")


def _need_sync(event: Event, call: str) -> None:
    if not event.flags & c.ACL_EVENT_SYNC:
        raise FeatureNotSupport(f"{call} needs an event with ACL_EVENT_SYNC, its flags are {event.flags:#x}")
