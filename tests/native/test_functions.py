"""Functions on single numbers: arithmetic as numpy's, bit for bit; the others within stated ulps of float64."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

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
