"""Compiling the library that C programs link against. Used by setup.py."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIBRARY = "libascendcl.so"


def compile_library(target: Path) -> None:
    """Build lib64/libascendcl.so: no dependency on libpython, and nothing exported but the declared functions."""
    target.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CC") or "cc"
    command = [
        *compiler.split(),
        *("-std=gnu11", "-O2", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden", "-shared"),
        f"-I{ROOT / 'include'}",
        f"-I{sysconfig.get_path('include')}",
        str(HERE / "exports.c"),
        str(HERE / "loader.c"),
        f"-Wl,-soname,{LIBRARY}",
        "-Wl,-z,nodelete",
        "-o",
        str(target / LIBRARY),
        "-ldl",
        "-lpthread",
    ]
    subprocess.run(command, check=True)
