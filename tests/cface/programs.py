"""Compiling C programs against the toolkit, and running them."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from acl_emu.cface import toolkit
from tests.conftest import PATIENCE

LIBRARIES = ("-lopapi_nn", "-lopapi_math", "-lascendcl", "-lnnopbase", "-lpthread", "-lm")


def compile_program(folder: Path, source: str, *flags: str, suffix: str = ".c", name: str = "program", tree: Path | None = None) -> Path:
    """Compile a text; warnings are errors."""
    compiler = shutil.which("gcc" if suffix == ".c" else "g++") or shutil.which("cc" if suffix == ".c" else "c++")
    if compiler is None:
        pytest.skip("no compiler")
    tree = tree or toolkit.cached()
    file = folder / (name + suffix)
    file.write_text(source, encoding="utf-8")
    program = folder / name
    standard = "-std=gnu11" if suffix == ".c" else "-std=c++17"
    done = subprocess.run(
        [
            compiler,
            *(standard, "-O1", "-g", "-Wall", "-Wextra", "-Werror", *flags),
            *(f"-I{path}" for path in (folder, tree / "include")),
            str(file),
            f"-L{tree / 'lib64'}",
            f"-Wl,-rpath,{tree / 'lib64'}",
            *LIBRARIES,
            *("-o", str(program)),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return program


@contextmanager
def once(name: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that all processes of a test run share, for one of them at a time: what it lacks is compiled by whoever comes first."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def clean_environment(**variables: str) -> dict[str, str]:
    """What a shell gives a program, and nothing that steers the emulator."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ACL_EMU_", "ASCEND_", "PYTHON"))}
    return {**kept, **variables}


def run(program: Path, *arguments: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    return subprocess.run(
        [str(program), *arguments],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=PATIENCE,
        cwd=cwd,
        env=clean_environment() if env is None else env,
    )
