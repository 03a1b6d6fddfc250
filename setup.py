"""What pyproject.toml cannot say: the bridge, the door and the C libraries are compiled, and the headers travel with the package."""

import importlib.util
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


class BuildNative(build_ext):
    """Builds the bridge (a cffi module) and the door, then the libraries beside the package."""

    def run(self) -> None:
        """Compile all; an editable install gets a note of which Python it belongs to."""
        if not Path(sysconfig.get_path("include"), "Python.h").exists():
            raise SystemExit("acl-emu: Python.h is missing; install the headers of your Python (Debian: apt-get install python3-dev)")
        super().run()
        spec = importlib.util.spec_from_file_location("shim_build", ROOT / "acl_emu" / "cface" / "build.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        in_place = self.inplace or getattr(self, "editable_mode", False)
        package = ROOT / "acl_emu" if in_place else Path(self.build_lib) / "acl_emu"
        module.compile_library(package / "lib64")
        module.compile_engine(package / "lib64")
        if in_place:
            (package / "lib64" / "python.txt").write_text(sys.executable + "\n", encoding="utf-8")
        else:
            shutil.copytree(ROOT / "include", package / "include", dirs_exist_ok=True)


DOOR = Extension(
    "acl_emu.core._door",
    ["acl_emu/runtime/c/door.c"],
    include_dirs=["acl_emu/runtime/c"],
    depends=["acl_emu/runtime/c/bridge.h", "acl_emu/runtime/c/shim.h"],
    extra_compile_args=["-std=gnu11", "-O2", "-Wall", "-Wextra"],
)

setup(ext_modules=[DOOR], cffi_modules=["acl_emu/cface/bridge_build.py:ffi"], cmdclass={"build_ext": BuildNative})
