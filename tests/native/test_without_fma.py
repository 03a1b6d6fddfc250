"""The engine as it is on a machine without wide vectors and fused multiply-add: the same tests on a build of that alone."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from acl_emu.codegen import fused
from acl_emu.cshim import build
from tests.native.functions import (
    BINARY,
    EXACT,
    SPECIAL,
    ULPS_WITHOUT_FMA,
    UNARY,
    check_arithmetic,
    check_function,
    check_special_values,
    check_wide_function,
)
from tests.native.graphs import signatures
from tests.native.support import engine_is, load
from tests.native.whole import check_rounding
from tests.operators.accuracy import BF16, FLOAT16

_SAMPLE = slice(None, None, 5)
"""The kernels that are compiled for it."""


def build_plain(folder: Path, chosen: list[str]) -> Path:
    """The engine for the plainest instructions, with some of the kernels that are compiled as a whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fused, "signatures", lambda: chosen)
        (folder / "fused.c").write_text(fused.source(), encoding="utf-8")
    flags = [*build.FLAGS, *build.ENGINE_FLAGS, "-O1", f"-I{build.HERE}"]
    names = [f"-D{name}=acl_emu_{what}_baseline" for what in ("tiles", "fused") for name in (what.upper(), f"acl_emu_{what}_v3")]
    sources = [build.HERE / "engine.c", build.HERE / "threads.c", build.HERE / "engine_tile.c", folder / "fused.c"]
    target = folder / build.ENGINE
    subprocess.run([*build.COMPILER, *flags, *names, "-shared", *map(str, sources), "-o", str(target), "-lm", "-lpthread"], check=True)
    return target


@pytest.mark.skipif(shutil.which(build.COMPILER[0]) is None, reason="no compiler")
def test_the_same_without_fused_multiply_add(tmp_path: Path) -> None:
    chosen = signatures()[_SAMPLE]
    with engine_is(load(build_plain(tmp_path, chosen))):
        for name in (*UNARY, *BINARY):
            check_arithmetic(name, 20_000)
        for name in EXACT:
            check_function(name, 40_009, ULPS_WITHOUT_FMA[name])
            check_wide_function(name)
        for name in SPECIAL:
            check_special_values(name)
        for signature in chosen:
            for dtype in (FLOAT16, BF16):
                check_rounding(signature, dtype, 2)
