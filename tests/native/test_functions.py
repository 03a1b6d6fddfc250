"""Functions on single numbers: arithmetic as numpy's, bit for bit; the others within stated ulps of float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from acl_emu.engine import numeric
from acl_emu.engine.bindings import library
from tests.conftest import ROOT
from tests.native.support import ODD, assert_same, bit_patterns, run, ulps

Array = npt.NDArray[Any]

UNARY: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(np, name)
        for name in ("negative", "absolute", "sign", "square", "reciprocal", "sqrt", "floor", "ceil", "trunc", "rint")
    },
    "isnan": lambda x: np.where(np.isnan(x), 1, x),
    "isinf": lambda x: np.where(np.isinf(x), 1, x),
    "isfinite": lambda x: np.where(np.isfinite(x), 1, x),
}
BINARY: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin", "copysign")},
    "less": lambda x, y: np.where(x < y, x, y),
    "less_equal": lambda x, y: np.where(x <= y, x, y),
    "greater": lambda x, y: np.where(x > y, x, 2.0),
    "greater_equal": lambda x, y: np.where(x >= y, 3.0, y),
    "equal": lambda x, y: np.where(x == y, x, 5.0),
    "not_equal": lambda x, y: np.where(x != y, x, 5.0),
    "logical_and": lambda x, y: np.where((x < y) & (x > 0), x, y),
    "logical_or": lambda x, y: np.where((x < y) | (x > 0), x, y),
    "logical_xor": lambda x, y: np.where((x < y) ^ (x > 0), x, y),
    "logical_not": lambda x, y: np.where(~(x < y), x, y),
    "cast": lambda x, y: (x < y) * y,
}
DIVISIONS: dict[str, Callable[..., Any]] = {name: getattr(np, name) for name in ("fmod", "remainder", "floor_divide")}
ZERO_OF_EITHER_SIGN = ("maximum", "minimum", "fmax", "fmin")
"""numpy's maximum and minimum of 0 and -0 are whichever its instructions give."""

_error, _rest = np.vectorize(math.erf, otypes=[np.float64]), np.vectorize(math.erfc, otypes=[np.float64])
OF_TWO = ("power", "arctan2")
ULPS: dict[str, float] = {
    "exp": 0.9,
    "exp2": 0.6,
    "expm1": 1.5,
    "log": 0.9,
    "log2": 0.6,
    "log10": 0.6,
    "log1p": 1.4,
    "sin": 0.6,
    "cos": 0.6,
    "tan": 0.6,
    "arcsin": 0.6,
    "arccos": 0.6,
    "arctan": 0.6,
    "sinh": 0.6,
    "cosh": 0.6,
    "tanh": 1.4,
    "arcsinh": 0.6,
    "arccosh": 0.6,
    "arctanh": 0.6,
    "erf": 1.3,
    "erfc": 0.6,
    "rsqrt": 1.5,
    "power": 0.6,
    "arctan2": 0.6,
}
"""docs/kernels.md has the same numbers."""
ULPS_WITHOUT_FMA = 1.6
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    **{name: (getattr(np, name), getattr(np, name)) for name in ULPS if hasattr(np, name) and name not in OF_TWO},
    "erf": (numeric.erf, _error),
    "erfc": (numeric.erfc, _rest),
    "rsqrt": (numeric.rsqrt, lambda x: 1 / np.sqrt(x)),
}
"""In the engine, and in float64."""


def allowed(name: str) -> float:
    flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").split()
    return ULPS[name] if {"avx2", "fma", "f16c"} <= set(flags) else ULPS_WITHOUT_FMA


def arguments(count: int, seed: int) -> Array:
    """float32 numbers of every magnitude, more where functions are neither zero nor infinite, and odd ones."""
    rng = np.random.default_rng(seed)
    near = [rng.standard_normal(count), rng.uniform(-1, 1, count), rng.uniform(-20, 20, count), rng.uniform(-104, 89, count)]
    drawn = [bit_patterns(count, seed), *(some.astype(np.float32) for some in (*near, 10 ** rng.uniform(-8, 2, count)))]
    return rng.permutation(np.concatenate(drawn))


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_arithmetic_is_numpys(name: str) -> None:
    pairs = np.meshgrid(np.array(ODD, np.float32), np.array(ODD, np.float32))
    drawn = bit_patterns(100_000, 1), np.roll(bit_patterns(100_000, 2), 7)
    first, second = (np.concatenate([some, pair.ravel()]) for some, pair in zip(drawn, pairs, strict=True))
    kernel, inputs = (UNARY[name], [first]) if name in UNARY else (BINARY[name], [first, second])
    for dtype in (np.float32, np.float64):
        with np.errstate(all="ignore"):
            wide = [one.astype(dtype) for one in inputs]
            expected = kernel(*wide).astype(dtype)
        assert_same(run(kernel, wide, np.empty_like(expected), dtype=dtype), expected, signs_of_zero=name not in ZERO_OF_EITHER_SIGN)


@pytest.mark.parametrize("name", DIVISIONS)
def test_division_with_a_rest_is_numpys(name: str) -> None:
    """Moderate quotients, and odd numbers."""
    rng = np.random.default_rng(3)
    pairs = np.meshgrid(np.array(ODD, np.float32), np.array(ODD, np.float32))
    first = np.concatenate([rng.standard_normal(20_000) * 50, rng.integers(-40, 40, 20_000), pairs[0].ravel()]).astype(np.float32)
    second = np.concatenate([rng.standard_normal(20_000), rng.integers(-6, 7, 20_000), pairs[1].ravel()]).astype(np.float32)
    with np.errstate(all="ignore"):
        expected = DIVISIONS[name](first, second)
    assert_same(run(DIVISIONS[name], [first, second], np.empty_like(first)), expected)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_as_accurate_as_stated(name: str) -> None:
    """Special values too: what float64 says of zeros, infinities and NaN."""
    kernel, exact = FUNCTIONS[name]
    x = arguments(4_000 if name.startswith("erf") else 60_000, 5)
    with np.errstate(all="ignore"):
        expected = exact(x.astype(np.float64))
    assert ulps(run(kernel, [x], np.empty_like(x)), expected) <= allowed(name)


@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two_numbers(name: str) -> None:
    pairs = np.meshgrid(np.array((*ODD, 3.0, -3.0, -2.0), np.float32), np.array((*ODD, 3.0, -3.0, -2.0), np.float32))
    x, y = (np.concatenate([arguments(40_000, seed), pair.ravel()]) for seed, pair in zip((6, 7), pairs, strict=True))
    if name == "power":
        x[:100_000], y[:100_000] = np.abs(x[:100_000]), np.clip(y[:100_000], -30, 30)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x.astype(np.float64), y.astype(np.float64))
    assert ulps(run(getattr(np, name), [x, y], np.empty_like(x)), expected) <= allowed(name)


@pytest.mark.parametrize(("name", "least", "most"), [("exp", -700, 700), ("log", 1e-300, 1e300), ("log1p", -0.999, 1e9)])
def test_functions_of_float64(name: str, least: float, most: float) -> None:
    rng = np.random.default_rng(11)
    x = np.concatenate([rng.uniform(least, most, 100_000), rng.uniform(0.5, 2, 100_000), 10 ** rng.uniform(-12, 2, 100_000)])
    found = run(getattr(np, name), [x], np.empty_like(x), dtype=np.float64)
    expected = getattr(np, name)(x.astype(np.longdouble))
    assert np.abs(found / expected - 1)[expected != 0].max() <= 4 * 2.0**-53
    odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, -2.0], np.float64)
    with np.errstate(all="ignore"):
        assert_same(run(getattr(np, name), [odd], np.empty_like(odd), dtype=np.float64), getattr(np, name)(odd))


def test_every_step_of_float32_is_tested_and_documented() -> None:
    entries = library()
    assert entries is not None
    steps = {name.removesuffix(".f32") for name in entries.tables.steps if name.endswith(".f32")}
    assert steps - {"where"} <= {*UNARY, *BINARY, *DIVISIONS, *FUNCTIONS, *OF_TWO}
    text = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
    for name, ulp in ULPS.items():
        assert f"| `{name}` | {ulp} |" in text
