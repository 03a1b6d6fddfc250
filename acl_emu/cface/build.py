"""Compiling the library that C programs link against, and the engine that kernels run on. Used by setup.py."""

from __future__ import annotations

import itertools
import os
import platform
import subprocess
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[1]
C_FACE, ENGINE_SOURCES = PACKAGE / "cface" / "c", PACKAGE / "engine" / "c"
INCLUDES = tuple(f"-I{PACKAGE / folder / 'c'}" for folder in ("runtime", "engine"))
LIBRARY = "libascendcl.so"
ENGINE = "libacl_emu_engine.so"
COMPILER = (os.environ.get("CC") or "cc").split()
FLAGS = ("-std=gnu11", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden")
# Every operation is rounded as written: no contraction, nothing of -ffast-math that could change a number.
ENGINE_FLAGS = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi")


def compile_library(target: Path) -> None:
    """Build lib64/libascendcl.so: no dependency on libpython, and nothing exported but the declared functions."""
    target.mkdir(parents=True, exist_ok=True)
    command = [
        *COMPILER,
        *FLAGS,
        *("-O2", "-shared"),
        f"-I{PACKAGE.parent / 'include'}",
        *INCLUDES,
        f"-I{sysconfig.get_path('include')}",
        str(C_FACE / "exports.c"),
        str(C_FACE / "loader.c"),
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


class Job(NamedTuple):
    """A source file of the engine, compiled for one instruction set."""

    source: Path
    name: str
    flags: tuple[str, ...]


def engine_jobs(machine: str) -> list[Job]:
    """What the engine is made of on a machine; what works on tiles is compiled for every instruction set that is worth it."""
    variants: dict[str, tuple[str, ...]] = {"baseline": ()}
    if machine == "x86_64":
        variants["v3"] = ("-mavx2", "-mfma", "-mf16c", "-mbmi", "-mbmi2")
        variants["v4"] = (*variants["v3"], "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512")
    sources = {  # of whole kernels there are so many that they are not worth more
        ENGINE_SOURCES / "engine_tile.c": ("tile", "-O3", "-DTILES=acl_emu_tiles_{}"),
        ENGINE_SOURCES / "alignments.c": ("alignments", "-O3", "-DALIGNMENTS=acl_emu_alignments_{}"),
        ENGINE_SOURCES / "gemm_tile.c": ("products", "-O3", "-DPRODUCTS=acl_emu_products_{}"),
        ENGINE_SOURCES / "fused.c": ("fused", "-O2", "-ftree-vectorize", "-DFUSED=acl_emu_fused_{}"),
    }
    plain = sorted(
        {*ENGINE_SOURCES.glob("engine*.c"), ENGINE_SOURCES / "threads.c", *ENGINE_SOURCES.glob("gemm*.c"), *ENGINE_SOURCES.glob("index*.c")}
        - sources.keys()
    )
    jobs = [Job(source, source.stem, ("-O3",)) for source in plain]
    for (source, (stem, *own)), (name, flags) in itertools.product(sources.items(), variants.items()):
        jobs.append(Job(source, f"{stem}_{name}", (*flags, *(flag.format(name) for flag in own))))
    return jobs


def compile_engine(target: Path) -> None:
    """Build lib64/libacl_emu_engine.so; which of its instruction sets is used is chosen at run time."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:

        def compile_one(job: Job) -> str:
            target = str(Path(folder, f"{job.name}.o"))
            subprocess.run([*COMPILER, *FLAGS, *ENGINE_FLAGS, *INCLUDES, *job.flags, "-c", str(job.source), "-o", target], check=True)
            return target

        objects = list(pool.map(compile_one, sorted(engine_jobs(platform.machine()), key=lambda job: -job.source.stat().st_size)))
        link(target / ENGINE, [*COMPILER, "-shared", *objects, "-lm", "-lpthread"])
