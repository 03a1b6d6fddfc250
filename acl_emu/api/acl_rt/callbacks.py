"""Host callbacks of both kinds: on a subscribed thread of the program, and on a thread of the runtime."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from acl_emu.api.acl_rt import HEADER
from acl_emu.api.border import Handle, acl
from acl_emu.core import constants as c
from acl_emu.core.errors import AclError, InvalidParam, RtParamInvalid
from acl_emu.runtime import context
from acl_emu.runtime.callbacks import ReportQueue

MOST_THREADS = 1024

_queues: dict[int, ReportQueue] = {}
_lock = threading.Lock()


@acl(HEADER, "aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream)")
def aclrtSubscribeReport(threadId: int, stream: Handle) -> None:
    """Have a stream's callbacks run by one thread of the program."""
    found = context.find_stream(stream)
    with _lock:
        if found.subscriber is not None or found.uses_host_functions:
            raise AclError("stream has a thread for its callbacks, or uses aclrtLaunchHostFunc", c.ACL_ERROR_RT_STREAM_SUBSCRIBE)
        for idle in [thread for thread, queue in _queues.items() if not queue.streams]:
            del _queues[idle]  # their streams were destroyed while subscribed
        if threadId not in _queues and len(_queues) >= MOST_THREADS:
            raise AclError(f"{MOST_THREADS} threads are subscribed, which is the most", c.ACL_ERROR_RT_THREAD_SUBSCRIBE)
        queue = _queues.setdefault(threadId, ReportQueue(threadId))
        queue.streams.add(found)
        found.subscriber = queue


@acl(HEADER, "aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream)")
def aclrtUnSubscribeReport(threadId: int, stream: Handle) -> None:
    """Undo aclrtSubscribeReport."""
    found = context.find_stream(stream)
    with _lock:
        queue = _queues.get(threadId)
        if queue is None:
            raise AclError(f"thread {threadId} is not subscribed", c.ACL_ERROR_RT_THREAD_SUBSCRIBE)
        if found not in queue.streams:
            raise AclError(f"stream is not subscribed by thread {threadId}", c.ACL_ERROR_RT_STREAM_SUBSCRIBE)
        queue.streams.discard(found)
        found.subscriber = None
        if not queue.streams:
            del _queues[threadId]


@acl(HEADER, "aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType, aclrtStream stream)")
def aclrtLaunchCallback(fn: Callable[[Any], object] | None, userData: Any, blockType: int, stream: Handle) -> None:
    """Queue a callback for the subscribed thread; with ACL_CALLBACK_BLOCK later work waits for it."""
    if blockType not in (c.ACL_CALLBACK_NO_BLOCK, c.ACL_CALLBACK_BLOCK):
        raise InvalidParam(f"blockType is {blockType}, expected 0 (later work goes on) or 1 (it waits)")
    if fn is None:
        raise RtParamInvalid("fn must not be a null pointer")
    found = context.find_stream(stream)
    queue = found.subscriber
    if queue is None:
        raise AclError("no thread is subscribed for the callbacks of stream", c.ACL_ERROR_RT_STREAM_NO_CB_REG)
    found.submit(lambda: queue.launch(found, lambda: fn(userData), block=blockType == c.ACL_CALLBACK_BLOCK))


@acl(HEADER, "aclError aclrtProcessReport(int32_t timeout)")
def aclrtProcessReport(timeout: int) -> None:
    """Run one callback on the calling thread, waiting for it up to ``timeout`` milliseconds (-1: for ever)."""
    if timeout == 0 or timeout < -1:
        raise InvalidParam(f"timeout is {timeout}, expected -1 (for ever) or a positive number of milliseconds")
    queue = _queues.get(threading.get_ident())
    if queue is None or not queue.streams:
        raise AclError("the calling thread is not subscribed", c.ACL_ERROR_RT_THREAD_SUBSCRIBE)
    if not queue.process(None if timeout == -1 else timeout / 1000):
        raise AclError(f"no callback came within {timeout} ms", c.ACL_ERROR_RT_REPORT_TIMEOUT)


@acl(HEADER, "aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args)")
def aclrtLaunchHostFunc(stream: Handle, fn: Callable[[Any], object] | None, args: Any) -> None:
    """Queue a function for a thread of the runtime; later work waits for it."""
    if fn is None:
        raise RtParamInvalid("fn must not be a null pointer")
    found = context.find_stream(stream)
    if found.subscriber is not None:
        raise AclError("stream has a thread subscribed for its callbacks", c.ACL_ERROR_RT_STREAM_SUBSCRIBE)
    found.uses_host_functions = True
    found.submit(lambda: found.context.host_thread.run(lambda: fn(args)))
