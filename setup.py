"""What pyproject.toml cannot say: the packages have parts that are compiled or derived. acl_emu/cface/build.py does it."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


class BuildNative(build_ext):
    """Leaves everything to the script that make uses, too."""

    def run(self) -> None:
        """Build in the checkout, or where the package is put together."""
        if not Path(sysconfig.get_path("include"), "Python.h").exists():
            raise SystemExit("acl-emu: Python.h is missing; install the headers of your Python (Debian: apt-get install python3-dev)")
        compiler = (os.environ.get("CC") or "cc").split()[0]
        if not shutil.which(compiler):
            raise SystemExit(f"acl-emu: there is no C compiler {compiler}; install one (Debian: apt-get install gcc) or set CC")
        in_place = self.inplace or getattr(self, "editable_mode", False)
        where = [] if in_place else ["--into", str(Path(self.build_lib).resolve())]
        subprocess.run([sys.executable, str(ROOT / "acl_emu" / "cface" / "build.py"), *where], check=True)


# Named so that the package is known to be one for this Python and this machine.
setup(ext_modules=[Extension("acl_emu.core._fast", [])], cmdclass={"build_ext": BuildNative})
