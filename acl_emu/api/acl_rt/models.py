"""Captured models: work that is recorded once and run again and again."""

from __future__ import annotations

import threading

from acl_emu.api.acl_rt import HEADER
from acl_emu.api.acl_rt.streams import raise_failure
from acl_emu.api.border import Handle, acl
from acl_emu.core import constants as c
from acl_emu.core import handles
from acl_emu.core.errors import InvalidParam, NullParam
from acl_emu.runtime import context
from acl_emu.runtime.callbacks import refuse_in_callback
from acl_emu.runtime.capture import CaptureError, Model, refuse_stream
from acl_emu.runtime.stream import Stream

_MODES = (c.ACL_MODEL_RI_CAPTURE_MODE_GLOBAL, c.ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL, c.ACL_MODEL_RI_CAPTURE_MODE_RELAXED)


def _stream(handle: Handle) -> Stream:
    if not handle:
        raise NullParam("stream must not be a null pointer: the default stream cannot be captured")
    return context.find_stream(handle)


@acl(HEADER, "aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode)")
def aclmdlRICaptureBegin(stream: Handle, mode: int) -> None:
    """From now on work on a stream is kept, and not run."""
    found = _stream(stream)
    if mode not in _MODES:
        raise InvalidParam(f"mode is {mode}, expected one of {list(_MODES)}")
    refuse_stream(found, "aclmdlRICaptureBegin")
    if found is found.context.default_stream:
        raise InvalidParam("stream is the default stream of its context, which cannot be captured")
    Model(found, mode)


@acl(HEADER, "aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI)")
def aclmdlRICaptureEnd(stream: Handle) -> Handle:
    """What was kept, as a model."""
    found = _stream(stream)
    model = found.capture
    if model is None:
        raise CaptureError(f"stream {found.handle:#x} is not captured", c.ACL_ERROR_RT_STREAM_NOT_CAPTURED)
    if model.origin is not found:
        raise CaptureError(
            f"stream {found.handle:#x} takes part in a capture that began on stream {model.origin.handle:#x}",
            c.ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
        )
    if model.mode != c.ACL_MODEL_RI_CAPTURE_MODE_RELAXED and model.thread != threading.get_ident():
        raise CaptureError("aclmdlRICaptureBegin was called by another thread", c.ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD)
    model.end()
    return model.handle


@acl(HEADER, "aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* modelRI)")
def aclmdlRICaptureGetInfo(stream: Handle) -> tuple[int, Handle]:
    """Whether a stream is captured, and into what."""
    model = context.find_stream(stream).capture
    if model is None:
        return c.ACL_MODEL_RI_CAPTURE_STATUS_NONE, None
    return c.ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE, model.handle


def _model(handle: Handle) -> Model:
    """A model that is complete."""
    if not handle:
        raise NullParam("modelRI must not be a null pointer")
    found = handles.find(handle, Model)
    if found is None:
        raise InvalidParam(f"modelRI is {handles.describe(handle)}, expected a living aclmdlRI")
    if found.active:
        raise CaptureError("modelRI is captured still; call aclmdlRICaptureEnd first", c.ACL_ERROR_RT_MODEL_CAPTURED)
    return found


@acl(HEADER, "aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream)")
def aclmdlRIExecuteAsync(modelRI: Handle, stream: Handle) -> None:
    """Put the work of a model on a stream."""
    model = _model(modelRI)
    found = context.find_stream(stream)
    refuse_stream(found, "aclmdlRIExecuteAsync")
    model.run(found)


@acl(HEADER, "aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout)")
def aclmdlRIExecute(modelRI: Handle, timeout: int) -> None:
    """Run a model and wait for it, but not longer than ``timeout`` milliseconds; -1 waits for ever."""
    model = _model(modelRI)
    if timeout == 0 or timeout < -1:
        raise InvalidParam(f"timeout is {timeout}, expected -1 (for ever) or a positive number of milliseconds")
    refuse_in_callback("aclmdlRIExecute")
    stream = context.current().default_stream
    model.run(stream)
    place = stream.submitted
    if timeout == -1:
        stream.run_until(place)
    elif not stream.wait_until(place, timeout / 1000):
        raise CaptureError(f"the model was not done after {timeout} ms{stream.remark}", c.ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)
    stream.tell_reached(place)
    raise_failure(stream)


@acl(HEADER, "aclError aclmdlRIDestroy(aclmdlRI modelRI)")
def aclmdlRIDestroy(modelRI: Handle) -> None:
    """Forget a model. What was put on streams is run all the same."""
    _model(modelRI).destroy()
