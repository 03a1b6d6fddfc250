"""``import acl_emu.torch``: let torch_npu run on emulated devices in this process, for notebooks.

It has to come before torch_npu, and so before torch, which loads it. ``acl-emu exec python`` does the same for a program as it is.
"""

import ctypes
import os
import sys
from pathlib import Path

from acl_emu.cface import toolkit
from acl_emu.cface.build import LIBRARY
from acl_emu.core import cache


def _prepare() -> None:
    home = Path(os.environ.get("ASCEND_HOME_PATH", ""))
    if (home / toolkit.PRELOAD / "libhccl.so").exists() and str(home / "lib64") in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        return  # acl-emu exec, or an import of this before
    if "torch_npu" in sys.modules:
        raise ImportError("import acl_emu.torch before torch and torch_npu: libraries that are loaded already cannot be replaced")
    folder = toolkit.cached(cache.lasting())
    os.environ.update(toolkit.environment(folder))  # for processes that this one starts, too
    for library in (folder / "lib64" / LIBRARY, *sorted((folder / toolkit.PRELOAD).glob("*.so"))):
        ctypes.CDLL(str(library))


_prepare()
