"""The engine as it is on machines with less than the widest vectors: the same tests on builds for those alone."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from acl_emu.cface import build
from acl_emu.codegen import fused
from acl_emu.codegen.columns import is_settled_in_columns
from acl_emu.engine import bindings as engine
from acl_emu.engine import matmul
from tests.native.functions import (
    BINARY,
    EXACT,
    SPECIAL,
    ULPS,
    ULPS_WITHOUT_FMA,
    UNARY,
    check_arithmetic,
    check_function,
    check_special_values,
    check_wide_function,
)
from tests.native.graphs import signatures, whole
from tests.native.numbers_of_all_types import TYPES, check_cast
from tests.native.products import (
    SHAPES,
    check_batches,
    check_bits,
    check_few_rows,
    check_rounded_factors,
    check_special_numbers,
    check_values,
)
from tests.native.rows import LAYOUTS, check_kinds, check_layout, check_short
from tests.native.support import engine_is
from tests.native.whole import check_range, check_rounding, is_followed
from tests.operators.accuracy import BF16, FLOAT, FLOAT16

ELEMENTWISE = [one for one in signatures() if whole(one).is_elementwise][::5]
ROWS = [one for one in signatures() if not whole(one).is_elementwise][::3]
SHORT = [one for one in signatures() if is_settled_in_columns(whole(one).graph)]
FOLLOWED = [one for one in signatures() if is_followed(one)][::3]
"""The kernels that are compiled for it."""
BUILDS = {"baseline": (), "v3": ("-mavx2", "-mfma", "-mf16c")}
"""Flags of the compiler."""


def runs(name: str) -> bool:
    """Whether this machine has what a build needs."""
    known = Path("/proc/cpuinfo")
    return not BUILDS[name] or (known.exists() and {"avx2", "fma", "f16c"} <= set(known.read_text(encoding="utf-8").split()))


def build_engine(folder: Path, flags: tuple[str, ...], chosen: list[str]) -> Path:
    """The engine for some instructions, with some of the kernels that are compiled as a whole; it is what all tables lead to."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fused, "signatures", lambda: chosen)
        (folder / "fused.c").write_text(fused.source(), encoding="utf-8")
    tables = []
    for what in ("tiles", "fused", "products"):
        tables += [f"-D{name}=acl_emu_{what}_baseline" for name in (what.upper(), f"acl_emu_{what}_v3", f"acl_emu_{what}_v4")]
    sources = [
        *build.ENGINE_SOURCES.glob("engine*.c"),
        *build.ENGINE_SOURCES.glob("gemm*.c"),
        build.ENGINE_SOURCES / "threads.c",
        folder / "fused.c",
    ]
    command = [*build.COMPILER, *build.FLAGS, *build.ENGINE_FLAGS, "-O1", *flags, *build.INCLUDES, *tables]
    subprocess.run([*command, "-shared", *map(str, sources), "-o", str(folder / build.ENGINE), "-lm", "-lpthread"], check=True)
    return folder / build.ENGINE


@pytest.mark.skipif(shutil.which(build.COMPILER[0]) is None, reason="no compiler")
@pytest.mark.parametrize("name", BUILDS)
def test_the_same_with_fewer_instructions(name: str, tmp_path: Path) -> None:
    if not runs(name):
        pytest.skip("not on this processor")
    ulps = ULPS if BUILDS[name] else ULPS_WITHOUT_FMA
    built = build_engine(tmp_path, BUILDS[name], list(dict.fromkeys([*ELEMENTWISE, *FOLLOWED, *ROWS, *SHORT])))
    with engine_is(engine.load(built)):
        for function in (*UNARY, *BINARY):
            check_arithmetic(function, 20_000)
        for function in EXACT:
            check_function(function, 40_009, ulps[function])
            check_wide_function(function)
        for function in SPECIAL:
            check_special_values(function)
        for source, target in itertools.product(TYPES, TYPES):
            check_cast(source, target)
        for signature in FOLLOWED:
            check_range(signature)
        for dtype in (FLOAT16, BF16, FLOAT):
            for signature in ELEMENTWISE:
                check_rounding(signature, dtype, 2)
            for signature in ROWS:
                check_kinds(signature, dtype, 1)
            for signature in SHORT:
                check_short(signature, dtype)
            for signature, layout in itertools.product(ROWS[1::5], LAYOUTS):
                check_layout(signature, dtype, layout)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matmul, "function", lambda name, returns: function_of(built, name, returns))
        for shape in SHAPES:
            check_values(*shape)
            check_bits(*shape)
        for inner, columns in ((64, 130), (300, 90), (2100, 100)):
            check_few_rows(inner, columns)
        check_batches()
        for shape in ((31, 300, 67), (5, 300, 100)):
            check_special_numbers(*shape)
            check_rounded_factors(*shape)


def function_of(library: Path, name: str, returns: Any) -> Any:
    """One of a build's own."""
    found = getattr(ctypes.CDLL(str(library)), name)
    found.restype = returns
    return found
