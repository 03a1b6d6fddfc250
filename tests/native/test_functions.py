"""Functions on single numbers: arithmetic as numpy's, bit for bit; the others within stated ulps of float64."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from acl_emu.cface import build
from acl_emu.codegen.graph import FUNCTION_UNITS
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


def has_fma() -> bool:
    """Whether the engine has chosen instructions with a fused multiply-add."""
    flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").split()
    return platform.machine() == "x86_64" and {"avx2", "fma", "f16c"} <= set(flags)


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_arithmetic_is_numpys(name: str) -> None:
    check_arithmetic(name, 300_000)


@pytest.mark.parametrize("name", EXACT)
def test_functions_are_as_accurate_as_stated(name: str) -> None:
    check_function(name, 2039, (ULPS if has_fma() else ULPS_WITHOUT_FMA)[name])


@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name: str) -> None:
    check_special_values(name)


@pytest.mark.parametrize("name", EXACT)
def test_functions_on_lanes_of_float64(name: str) -> None:
    check_wide_function(name)


ROUGHLY = """
#include <stdio.h>
#include "engine_types.h"
static void look_at(float_vector x, double *worst)
{
    const float_vector found = exp_roughly_float(x), part = exp_roughly_to_part(-absolute_float(x));
    for (int k = 0; k < FLOATS; k++) {
        const double exact = exp((double)x[k]), least = exp(-fabs((double)x[k]));
        const double off = fabs(found[k] - exact) / exact, other = fabs(part[k] - least) / least;
        if (exact > 0x1p-126 && exact < 0x1p127 && !(off <= *worst)) *worst = off;
        if (least > 0x1p-126 && !(other <= *worst)) *worst = other;
    }
}
int main(void)
{
    double worst = 0;
    for (int first = 0; first < 1 << 16; first += FLOATS) {
        float_vector wide, narrow;
        for (int k = 0; k < FLOATS; k++) {
            wide[k] = float_of_bf16((uint16_t)(first + k));
            narrow[k] = float_of_f16((uint16_t)(first + k));
        }
        look_at(wide, &worst);
        look_at(narrow, &worst);
    }
    printf("%g", worst * 0x1p24);
    return 0;
}
"""


@pytest.mark.skipif(shutil.which(build.COMPILER[0]) is None, reason="no compiler")
def test_rough_exponentials_of_all_half_numbers(tmp_path: Path) -> None:
    flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").split()
    wide = ["avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512dq", "avx512vl"]
    if not set(wide) <= set(flags):
        pytest.skip("they are as others on this processor")
    (tmp_path / "roughly.c").write_text(ROUGHLY, encoding="utf-8")
    command = [*build.COMPILER, *build.FLAGS, *build.ENGINE_FLAGS, "-Wno-unused-function", *(f"-m{flag}" for flag in wide), "-O1"]
    subprocess.run([*command, *build.INCLUDES, str(tmp_path / "roughly.c"), "-o", str(tmp_path / "roughly"), "-lm"], check=True)
    worst = float(subprocess.run([str(tmp_path / "roughly")], check=True, capture_output=True, text=True).stdout)
    assert 2 < worst < FUNCTION_UNITS["exp"]
