"""Contexts: making one, binding it to a thread, destroying it."""

from __future__ import annotations

from acl_emu.api.acl_rt import HEADER
from acl_emu.api.border import Handle, acl
from acl_emu.core.errors import InvalidContext
from acl_emu.runtime import context as contexts
from acl_emu.runtime.callbacks import refuse_in_callback
from acl_emu.runtime.context import Context


@acl(HEADER, "aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId)")
def aclrtCreateContext(deviceId: int) -> Handle:
    """A new context on a device; it becomes the calling thread's."""
    device = contexts.device(deviceId)
    made = Context(device, primary=False)
    device.contexts.append(made)
    contexts.set_context(made)
    return made.handle


@acl(HEADER, "aclError aclrtDestroyContext(aclrtContext context)")
def aclrtDestroyContext(context: Handle) -> None:
    """Destroy a context that aclrtCreateContext made, with its streams."""
    doomed = contexts.find_context(context, ending_ok=True)
    if doomed.primary:
        raise InvalidContext("context is the primary context of a device, which only aclrtResetDevice destroys")
    refuse_in_callback("aclrtDestroyContext")
    doomed.close()
    doomed.device.contexts.remove(doomed)


@acl(HEADER, "aclError aclrtSetCurrentContext(aclrtContext context)")
def aclrtSetCurrentContext(context: Handle) -> None:
    """Bind a context, and so its device, to the calling thread."""
    contexts.set_context(contexts.find_context(context))


@acl(HEADER, "aclError aclrtGetCurrentContext(aclrtContext* context)")
def aclrtGetCurrentContext() -> Handle:
    """The calling thread's context."""
    return contexts.current().handle


@acl(HEADER, "aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream)")
def aclrtCtxGetCurrentDefaultStream() -> Handle:
    """The default stream of the current context."""
    return contexts.current().default_stream.handle
