"""The engine is C that other compilers, and compilers for other processors, take without a word. Skipped where there is none of them."""

from __future__ import annotations

import platform
import shutil
import subprocess

import pytest

from acl_emu.cface import build
from acl_emu.core.compiler import ENGINE_FLAGS, FLAGS

COMPILERS = {"clang": platform.machine(), "aarch64-linux-gnu-gcc": "aarch64", "x86_64-linux-gnu-gcc": "x86_64"}
"""And what they compile for."""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_other_compilers(compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    for job in build.engine_jobs(COMPILERS[compiler]):
        command = [
            compiler,
            *FLAGS,
            *ENGINE_FLAGS,
            *build.INCLUDES,
            *job.flags,
            "-O1",
            "-Werror",
            "-fsyntax-only",
            str(job.source),
        ]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 0, f"{job.name}: {done.stderr[:2000]}"
