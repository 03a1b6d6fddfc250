"""acl-emu: Huawei Ascend's ACL runtime and two-phase operators, emulated on the CPU.

Every acl function and constant is importable from here under its C name; the operators are in ``aclnnop``.
"""

import os as _os

from acl_emu.api import *  # noqa: F403
from acl_emu.api import forked as _forked  # noqa: F401  # it watches forks
from acl_emu.api.numpy_call import AclCallError as AclCallError
from acl_emu.api.numpy_call import call as call
from acl_emu.api.numpy_call import host_array as host_array
from acl_emu.core.constants import *  # noqa: F403
from acl_emu.version import __version__ as __version__

if any(name.startswith(("ACL_EMU_", "ASCEND_")) for name in _os.environ):
    from acl_emu import tools as _tools

    _tools.start()
