"""Errors: exceptions that carry their status code, and the recent-error text that a program can ask for.

Inside the emulator a failed check raises; at the border (``acl_emu.api``, ``acl_emu.spec``) the exception becomes the status code
that the real library returns, and its text goes to the calling thread's error store.
"""

from __future__ import annotations

import os
import threading
import time
from typing import ClassVar

from acl_emu.core import constants as c
from acl_emu.core import notes


class AclError(Exception):
    """A call failed: ``code`` is what the caller gets, ``tag`` and ``title`` head the recent-error message."""

    code: int = c.ACL_ERROR_INTERNAL_ERROR
    tag: ClassVar[str] = "EE9999"
    title: ClassVar[str] = "Inner_Error"

    def __init__(self, text: str, code: int | None = None) -> None:
        super().__init__(text)
        if code is not None:
            self.code = code

    @property
    def internal(self) -> bool:
        """Internal codes end in 9999 or 8888 and are printed with an extra line."""
        return self.tag.endswith(("9999", "8888"))


class InvalidParam(AclError):
    """The acl layer refuses a value."""

    code = c.ACL_ERROR_INVALID_PARAM
    tag, title = "EH0009", "Invalid_Argument"


class NullParam(InvalidParam):
    """The acl layer was given a null pointer."""

    tag, title = "EH0008", "Invalid_Argument_Null_Pointer"


class RepeatInitialize(AclError):
    """aclInit while initialised."""

    code = c.ACL_ERROR_REPEAT_INITIALIZE
    tag, title = "EH0012", "Repeated_Call"


class RepeatFinalize(AclError):
    """aclFinalize without a new aclInit."""

    code = c.ACL_ERROR_REPEAT_FINALIZE
    tag, title = "EH0012", "Repeated_Call"


class InvalidFile(AclError):
    """A configuration file cannot be opened."""

    code = c.ACL_ERROR_INVALID_FILE
    tag, title = "EH0009", "Invalid_File"


class ParseFile(AclError):
    """A configuration file is not what it should be."""

    code = c.ACL_ERROR_PARSE_FILE
    tag, title = "EH0009", "Invalid_File"


class FeatureUnsupported(AclError):
    """The acl layer does not offer this."""

    code = c.ACL_ERROR_FEATURE_UNSUPPORTED
    tag, title = "EE1016", "Not_Supported"


class RtParamInvalid(AclError):
    """The runtime layer refuses a value."""

    code = c.ACL_ERROR_RT_PARAM_INVALID
    tag, title = "EE1003", "Invalid_Argument_Value"


class CallOrder(RtParamInvalid):
    """The runtime layer refuses a call that comes before another one it needs."""

    tag, title = "EE1018", "Invalid_Call_Order"


class InvalidDevice(AclError):
    """No such device."""

    code = c.ACL_ERROR_RT_INVALID_DEVICEID
    tag, title = "EE1003", "Invalid_Argument_Value"


class ContextNull(AclError):
    """The calling thread has no context."""

    code = c.ACL_ERROR_RT_CONTEXT_NULL
    tag, title = "EE1018", "Invalid_Call_Order"


class InvalidContext(ContextNull):
    """The handle is not one of a living, destroyable context."""

    tag, title = "EE1017", "Invalid_Object"


class StreamContext(AclError):
    """The stream belongs to another context."""

    code = c.ACL_ERROR_RT_STREAM_CONTEXT
    tag, title = "EE1010", "Stream_Not_In_Context"


class InvalidHandle(AclError):
    """A dead or foreign handle."""

    code = c.ACL_ERROR_RT_INVALID_HANDLE
    tag, title = "EE1017", "Invalid_Object"


class ContextRelease(AclError):
    """A device is reset that is not set."""

    code = c.ACL_ERROR_RT_CONTEXT_RELEASE_ERROR
    tag, title = "EE1018", "Invalid_Call_Order"


class FeatureNotSupport(AclError):
    """The runtime layer does not offer this for this object."""

    code = c.ACL_ERROR_RT_FEATURE_NOT_SUPPORT
    tag, title = "EE1016", "Not_Supported"


class OutOfMemory(AclError):
    """Device memory is used up."""

    code = c.ACL_ERROR_RT_MEMORY_ALLOCATION
    tag, title = "EL0004", "Memory_Allocation_Failure"


class NotEmulated(FeatureNotSupport):
    """Declared, but not emulated yet."""


class DeviceFault(AclError):
    """A task failed on the device; the stream's next synchronize says so."""

    code = c.ACL_ERROR_RT_AICORE_EXCEPTION
    tag, title = "EZ9999", "Inner_Error"


class AclnnNullptr(AclError):
    """An operator was given a null pointer."""

    code = c.ACLNN_ERR_PARAM_NULLPTR
    tag, title = "EZ1001", "AclNN_Parameter_Error"


class AclnnInvalid(AclError):
    """An operator refuses a dtype, shape or value."""

    code = c.ACLNN_ERR_PARAM_INVALID
    tag, title = "EZ1001", "AclNN_Parameter_Error"


class AclnnRuntime(AclError):
    """The runtime below an operator refused."""

    code = c.ACLNN_ERR_RUNTIME_ERROR
    tag, title = "EZ9903", "AclNN_Runtime_Error"


class AclnnInner(AclError):
    """The operator library itself cannot go on."""

    code = c.ACLNN_ERR_INNER
    tag, title = "EZ9999", "AclNN_Inner_Error"


class AclnnInnerNullptr(AclnnInner):
    """The operator library itself misses something."""

    code = c.ACLNN_ERR_INNER_NULLPTR


def timestamp() -> str:
    """The time, as messages and log lines spell it."""
    now = time.time()
    return time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime(now)) + f".{int(now * 1e3) % 1000:03d}.{int(now * 1e6) % 1000:03d}"


_TEXT_LIMIT = 1023
_KEPT = 32


class ErrorStore:
    """The messages of one thread (or of the process, by configuration), newest first."""

    def __init__(self) -> None:
        self._entries: list[tuple[AclError, str]] = []
        self._previous: str | None = None

    def add(self, error: AclError) -> None:
        """Remember a failed call."""
        text = str(error)[:_TEXT_LIMIT]
        self._entries.insert(0, (error, f"[PID: {os.getpid()}] {timestamp()} {error.title}({error.tag}): {text}"))
        del self._entries[_KEPT:]

    def take(self, *, keep_previous: bool) -> str | None:
        """Everything stored, as one text, and forget it; without a context the previous text is given again."""
        if not self._entries:
            return self._previous if keep_previous else None
        user = [entry for entry in self._entries if not entry[0].internal]
        head = user[-1] if user else self._entries[-1]
        lines = [f"{head[0].tag}: Internal error!"] if head[0].internal else []
        lines.append(head[1])
        rest = [entry for entry in self._entries if entry is not head]
        if rest:
            lines.append("        TraceBack (most recent call last):")
            lines += [f"        {text}" for _, text in rest]
        self._entries.clear()
        self._previous = "\n".join(lines) + "\n"
        return self._previous


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.store = ErrorStore()
        self.last_code = c.ACL_SUCCESS
        self.reported: AclError | None = None
        """The error that was reported last, for whoever watches the call."""


_thread = _PerThread()
_process_store = ErrorStore()
_process_wide = False


def use_process_store(process_wide: bool) -> None:
    """``err_msg_mode`` of the aclInit configuration: one store per process instead of one per thread."""
    global _process_wide
    _process_wide = process_wide


def without_frames(error: AclError) -> AclError:
    """An error that is kept for later must not keep what the functions that it came through were working on."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return error


def report(error: AclError, function: str = "") -> int:
    """Store the text of a failed call of ``function`` for this thread and return its status code."""
    without_frames(error)
    (_process_store if _process_wide else _thread.store).add(error)
    if notes.wanted():
        notes.put(notes.FAILURE, {"function": function, "code": error.code, "text": str(error)})
    _thread.reported = error
    code = error.code
    if 107000 <= code < 108000 or 207000 <= code < 208000 or 507000 <= code < 508000:
        _thread.last_code = code
    return code


def take_reported() -> AclError | None:
    """The error that this thread reported since the last time this was asked."""
    error, _thread.reported = _thread.reported, None
    return error


def take_recent(*, keep_previous: bool) -> str | None:
    """The recent-error text of this thread, which is cleared."""
    notes.drop(notes.FAILURE)  # the program knows
    return (_process_store if _process_wide else _thread.store).take(keep_previous=keep_previous)


def forget() -> None:
    """Nothing has failed yet, on this thread."""
    global _process_store
    _thread.store, _process_store = ErrorStore(), ErrorStore()
    _thread.last_code, _thread.reported = c.ACL_SUCCESS, None
    use_process_store(False)


def last_code(*, clear: bool) -> int:
    """The last runtime error code of this thread."""
    code = _thread.last_code
    if clear:
        _thread.last_code = c.ACL_SUCCESS
    return code
