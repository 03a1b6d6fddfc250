"""The C compiler, and what it is told for the engine: when the package is built, and for what is compiled on demand."""

from __future__ import annotations

import os
import platform

MACHINE = platform.machine()
COMPILER = (os.environ.get("CC") or "cc").split()
FLAGS = ("-std=gnu11", "-Wall", "-Wextra", "-fPIC")
# Every operation is rounded as written: no contraction, nothing of -ffast-math that could change a number.
ENGINE_FLAGS = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi")
TILE_FLAGS = ("-O3", "--param=vect-epilogues-nomask=0")
"""At -O2 gcc leaves loops as they are. What is left over behind whole vectors is not worth loops of its own."""


def variants(machine: str) -> dict[str, tuple[str, ...]]:
    """The instruction sets that are worth compiling for, the plainest first, and what the compiler is told."""
    if machine != "x86_64":
        return {"baseline": ()}
    v3 = ("-mavx2", "-mfma", "-mf16c", "-mbmi", "-mbmi2")
    return {"baseline": (), "v3": v3, "v4": (*v3, "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512")}
