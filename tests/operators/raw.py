"""Calls with tensors of any type and format, given by their bytes: what numpy has no arrays of."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import acl_emu as acl
import aclnnop

Array = npt.NDArray[Any]


class Raw(NamedTuple):
    """A tensor; its memory is as large as the array."""

    memory: Array
    shape: Sequence[int]
    code: int
    strides: Sequence[int] | None = None
    format: int = acl.ACL_FORMAT_ND
    storage: Sequence[int] | None = None
    """By default all memory, as one dimension."""


def run_raw(name: str, **given: Any) -> tuple[int, dict[str, Array]]:
    """The status of the phase that fails, else 0; and the memory of all tensors behind the call."""
    operator = aclnnop.find(name)
    with ExitStack() as stack:
        places: dict[str, int] = {}
        values = dict(given)
        for parameter, tensor in given.items():
            if isinstance(tensor, Raw):
                size = tensor.memory.nbytes
                address, status = acl.aclrtMalloc(size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
                assert status == 0
                stack.callback(acl.aclrtFree, address)
                assert acl.aclrtMemcpy(address, size, tensor.memory, size, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
                storage = tensor.storage or [tensor.memory.size]
                values[parameter] = acl.aclCreateTensor(tensor.shape, tensor.code, tensor.strides, 0, tensor.format, storage, address)
                stack.callback(acl.aclDestroyTensor, values[parameter])
                places[parameter] = address
        size, executor, status = operator.get_workspace_size(*(values[parameter] for parameter in operator.names))
        if status:
            return status, {}
        workspace = None
        if size:
            workspace, _ = acl.aclrtMalloc(size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
            stack.callback(acl.aclrtFree, workspace)
        status = operator.run(workspace, size, executor, None) or acl.aclrtSynchronizeDevice()
        found = {}
        for parameter, address in places.items():
            memory = np.empty_like(given[parameter].memory)
            assert acl.aclrtMemcpy(memory, memory.nbytes, address, memory.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
            found[parameter] = memory
        return status, found
