"""What C needs to answer calls that come after the end of Python: what is still alive, and the codes of what is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from acl_emu.api.acl_rt.lifecycle import process
from acl_emu.core import constants as c
from acl_emu.core import handles
from acl_emu.core._bridge import lib
from acl_emu.runtime import context, memory
from acl_emu.runtime.event import Event
from acl_emu.runtime.executor import Executor
from acl_emu.runtime.stream import Stream
from acl_emu.runtime.tensor import BoolArray, FloatArray, IntArray, Scalar, ScalarList, Tensor, TensorList

DEVICE_MEMORY, HOST_MEMORY, DEVICE, PROCESS = "device memory", "host memory", "device", "process"


class Rule(NamedTuple):
    """A function that gives something back: of which kind, and what it returns for a null pointer and for what is not alive."""

    kind: str
    of_null: int | None
    """None where 0 is a value like any other."""
    of_dead: int
    takes_one: bool = True
    takes_all: bool = False


_META = (Tensor, Scalar, IntArray, FloatArray, BoolArray, TensorList, ScalarList)
RULES = {
    "aclrtFree": Rule(DEVICE_MEMORY, c.ACL_ERROR_INVALID_PARAM, c.ACL_ERROR_RT_PARAM_INVALID),
    "aclrtFreeHost": Rule(HOST_MEMORY, c.ACL_ERROR_INVALID_PARAM, c.ACL_ERROR_RT_PARAM_INVALID),
    "aclrtDestroyStream": Rule(Stream.c_name, c.ACL_ERROR_INVALID_PARAM, c.ACL_ERROR_RT_INVALID_HANDLE),
    "aclrtDestroyStreamForce": Rule(Stream.c_name, c.ACL_ERROR_INVALID_PARAM, c.ACL_ERROR_RT_INVALID_HANDLE),
    "aclrtDestroyEvent": Rule(Event.c_name, c.ACL_ERROR_INVALID_PARAM, c.ACL_ERROR_RT_INVALID_HANDLE),
    "aclrtDestroyContext": Rule(context.Context.c_name, c.ACL_ERROR_INVALID_PARAM, c.ACL_ERROR_RT_CONTEXT_NULL),
    "aclrtResetDevice": Rule(DEVICE, None, c.ACL_ERROR_RT_CONTEXT_RELEASE_ERROR),
    "aclrtResetDeviceForce": Rule(DEVICE, None, c.ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, takes_all=True),
    "aclFinalize": Rule(PROCESS, None, c.ACL_ERROR_REPEAT_FINALIZE, takes_one=False),
    "aclnnFinalize": Rule("nothing", None, c.ACLNN_SUCCESS, takes_one=False),
    "aclDestroyAclOpExecutor": Rule(Executor.c_name, c.ACLNN_ERR_INNER_NULLPTR, c.ACLNN_ERR_INNER),
    **{f"aclDestroy{kind.c_name.removeprefix('acl')}": Rule(kind.c_name, 0, c.ACLNN_ERR_PARAM_INVALID) for kind in _META},
}


def _living() -> Iterator[tuple[str, int]]:
    """What C does not know of by itself."""
    yield from ((HOST_MEMORY, address) for address in memory.host.addresses())
    for handle, thing in handles.alive.items():
        belongs_to_the_library = isinstance(thing, context.Context) and thing.primary
        if not belongs_to_the_library:
            yield str(getattr(thing, "c_name", "")), handle
    yield from ((DEVICE, device.index) for device in context.devices() for _ in range(device.references))
    if not process.finalized:
        yield PROCESS, 0


def hand_over(names: list[str]) -> None:
    """Tell C, which answers from now on; ``names`` are the functions in its order."""
    kinds = {kind: number for number, kind in enumerate(sorted({rule.kind for rule in RULES.values()}), 1)}
    for name, rule in RULES.items():
        of_null = -1 if rule.of_null is None else rule.of_null
        lib.acl_emu_set_rule(names.index(name), kinds[rule.kind], rule.takes_one, rule.takes_all, of_null, rule.of_dead)
    for kind, value in _living():
        if kind in kinds:
            lib.acl_emu_leave_living(kinds[kind], value)
    lib.acl_emu_end()
