"""Compiling the library that C programs link against, and the engine that kernels run on. Used by setup.py."""

from __future__ import annotations

import os
import platform
import subprocess
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIBRARY = "libascendcl.so"
ENGINE = "libacl_emu_engine.so"
COMPILER = (os.environ.get("CC") or "cc").split()
FLAGS = ("-std=gnu11", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden")
# Every operation is rounded as written: no contraction, nothing of -ffast-math that could change a number.
ENGINE_FLAGS = ("-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi")


def compile_library(target: Path) -> None:
    """Build lib64/libascendcl.so: no dependency on libpython, and nothing exported but the declared functions."""
    target.mkdir(parents=True, exist_ok=True)
    command = [
        *COMPILER,
        *FLAGS,
        *("-O2", "-shared"),
        f"-I{ROOT / 'include'}",
        f"-I{sysconfig.get_path('include')}",
        str(HERE / "exports.c"),
        str(HERE / "loader.c"),
        f"-Wl,-soname,{LIBRARY}",
        "-Wl,-z,nodelete",
        "-ldl",
        "-lpthread",
    ]
    link(target / LIBRARY, command)


def link(library: Path, command: list[str]) -> None:
    """Write a library beside its place and put it there at once: programs that have the old one loaded keep it."""
    unfinished = library.with_suffix(f".{os.getpid()}")
    subprocess.run([*command, "-o", str(unfinished)], check=True)
    os.replace(unfinished, library)


def compile_engine(target: Path) -> None:
    """Build lib64/libacl_emu_engine.so; what works on tiles is compiled for every instruction set that is worth it, chosen at run time."""
    target.mkdir(parents=True, exist_ok=True)
    variants: dict[str, tuple[str, ...]] = {"baseline": ()}
    if platform.machine() == "x86_64":
        variants["v3"] = ("-mavx2", "-mfma", "-mf16c", "-mbmi", "-mbmi2")
    with tempfile.TemporaryDirectory() as folder:
        objects = []

        def compile_one(source: Path, name: str, *flags: str) -> None:
            objects.append(str(Path(folder, f"{name}.o")))
            subprocess.run([*COMPILER, *FLAGS, *ENGINE_FLAGS, *flags, "-c", str(source), "-o", objects[-1]], check=True)

        for name, flags in variants.items():
            compile_one(HERE / "engine_tile.c", f"tile_{name}", *flags, f"-DTILES=acl_emu_tiles_{name}")
            compile_one(HERE / "alignments.c", f"alignments_{name}", *flags, f"-DALIGNMENTS=acl_emu_alignments_{name}")
            compile_one(HERE / "fused.c", f"fused_{name}", *flags, "-O2", f"-DFUSED=acl_emu_fused_{name}")
        for source in sorted({HERE / "engine.c", *HERE.glob("gemm*.c"), *HERE.glob("index*.c")}):
            compile_one(source, source.stem)
        link(target / ENGINE, [*COMPILER, "-shared", *objects, "-lm", "-lpthread"])
