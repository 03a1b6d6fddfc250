"""acl-emu: Huawei Ascend's ACL runtime and two-phase operators, emulated on the CPU.

Every acl function and constant is importable from here under its C name; the operators are in ``aclnnop``.
"""

import importlib as _importlib
import os as _os
from typing import TYPE_CHECKING as _TYPE_CHECKING

from acl_emu.api import *  # noqa: F403
from acl_emu.api import forked as _forked  # noqa: F401  # it watches forks
from acl_emu.api.numpy_call import AclCallError as AclCallError
from acl_emu.api.numpy_call import call as call
from acl_emu.api.numpy_call import host_array as host_array
from acl_emu.core.constants import *  # noqa: F403
from acl_emu.core.handles import aclBoolArray as aclBoolArray
from acl_emu.core.handles import aclFloatArray as aclFloatArray
from acl_emu.core.handles import aclIntArray as aclIntArray
from acl_emu.core.handles import aclOpExecutor as aclOpExecutor
from acl_emu.core.handles import aclrtContext as aclrtContext
from acl_emu.core.handles import aclrtEvent as aclrtEvent
from acl_emu.core.handles import aclrtStream as aclrtStream
from acl_emu.core.handles import aclScalar as aclScalar
from acl_emu.core.handles import aclScalarList as aclScalarList
from acl_emu.core.handles import aclTensor as aclTensor
from acl_emu.core.handles import aclTensorList as aclTensorList
from acl_emu.version import __version__ as __version__

if _TYPE_CHECKING:
    from acl_emu.tools.checker import check as check
    from acl_emu.tools.configure import CheckError as CheckError
    from acl_emu.tools.configure import configure as configure
    from acl_emu.tools.configure import reset as reset

_AT_FIRST_USE = {"check": "checker", "CheckError": "configure", "configure": "configure", "reset": "configure"}
"""Most programs need none of them, and start faster without."""


def __getattr__(name: str) -> object:
    if name not in _AT_FIRST_USE:
        raise AttributeError(f"module 'acl_emu' has no attribute {name!r}")
    found = getattr(_importlib.import_module(f"acl_emu.tools.{_AT_FIRST_USE[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_AT_FIRST_USE})


if any(name.startswith(("ACL_EMU_", "ASCEND_")) for name in _os.environ):
    from acl_emu import tools as _tools

    _tools.start()
