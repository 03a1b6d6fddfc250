"""Types: promotion, conversion, rounding, sizes."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acl_emu as acl
from acl_emu.core import dtypes
from acl_emu.core.dtypes import DType, can_cast, data_type_size, promote_scalar, promote_types, round_to
from tests.conftest import SHARED

BY_SHORT = {dtype.short: dtype for dtype in dtypes.BY_CODE.values() if dtype.short}
FACTS = SHARED / "facts" / "promotion.md"

# The library's answers where its documents say otherwise.
DEPARTURES = {
    ("bf16", "c32"): "c64",
    ("c32", "bf16"): "c64",
    ("u16", "c64"): "c64",
    ("u16", "c128"): "c128",
    ("u32", "c64"): "c64",
    ("u32", "c128"): "c128",
    ("u64", "c64"): "c128",
    ("u64", "c128"): "c128",
}


def short(dtype: DType | None) -> str:
    return dtype.short if dtype else "x"


def facts_table(number: int) -> dict[tuple[str, str], str]:
    if not FACTS.exists():
        pytest.skip(f"{FACTS} is not there to compare with")
    blocks = re.findall(r"```csv\n(.*?)```", FACTS.read_text(encoding="utf-8"), re.DOTALL)
    rows = [line.split(",") for line in blocks[number].strip().splitlines()]
    return {(row[0], column): cell for row in rows[1:] for column, cell in zip(rows[0][1:], row[1:], strict=True)}


def test_tensor_promotion_is_that_of_the_facts() -> None:
    table = {pair: DEPARTURES.get(pair, cell) for pair, cell in facts_table(0).items()}
    assert {pair: short(promote_types(BY_SHORT[pair[0]], BY_SHORT[pair[1]])) for pair in table} == table
    assert len(table) == 16 * 16


def test_departures_are_those_of_the_facts() -> None:
    facts_table(0)
    listed = re.findall(r"^- \((\w+), (\w+)\): doc=\w+, code=(\w+)", FACTS.read_text(encoding="utf-8"), re.MULTILINE)
    assert {(a, b): code for a, b, code in listed} == DEPARTURES


def test_scalar_promotion_is_that_of_the_facts() -> None:
    table = facts_table(1)
    assert {pair: short(promote_scalar(BY_SHORT[pair[0]], BY_SHORT[pair[1]])) for pair in table} == table
    assert len(table) == 16 * 16


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("f16", "bf16", "f32"),
        ("bf16", "s64", "bf16"),
        ("s8", "u8", "s16"),
        ("bool", "bool", "bool"),
        ("bool", "u8", "u8"),
        ("u16", "u16", "u16"),
        ("u16", "f32", "x"),
        ("u64", "s64", "x"),
        ("f64", "c64", "c128"),
        ("bf16", "c32", "c64"),
        ("u64", "c64", "c128"),
        ("c64", "u64", "x"),
    ],
)
def test_tensor_promotion(a: str, b: str, expected: str) -> None:
    assert short(promote_types(BY_SHORT[a], BY_SHORT[b])) == expected


def test_tensor_promotion_is_symmetric_but_for_unsigned_with_complex() -> None:
    odd = {
        (a, b) for a in BY_SHORT for b in BY_SHORT if promote_types(BY_SHORT[a], BY_SHORT[b]) is not promote_types(BY_SHORT[b], BY_SHORT[a])
    }
    assert odd == {pair for a in ("u16", "u32", "u64") for b in ("c64", "c128") for pair in ((a, b), (b, a))}


def test_types_beyond_the_table() -> None:
    """Equal types give themselves; what lies beyond the real table's rows reads as zero there, which is FLOAT."""
    small = [dtype for dtype in dtypes.BY_CODE.values() if dtype.code >= acl.ACL_HIFLOAT8]
    assert small
    for dtype in small:
        assert promote_types(dtype, dtype) is dtype
        assert promote_types(dtype, dtypes.INT8) is dtypes.FLOAT
        assert promote_types(dtypes.DOUBLE, dtype) is dtypes.FLOAT
    four = dtypes.BY_CODE[acl.ACL_INT4]
    assert promote_types(four, four) is four
    assert promote_types(four, dtypes.INT8) is None


@pytest.mark.parametrize(
    ("scalar", "tensor", "expected"),
    [
        ("f32", "f16", "f16"),
        ("f64", "s32", "f32"),
        ("s64", "bool", "s64"),
        ("f32", "u16", "x"),
        ("s8", "u64", "u64"),
        ("c128", "f16", "c32"),
        ("c64", "bf16", "c64"),
        ("f64", "c64", "c128"),
    ],
)
def test_scalar_promotion(scalar: str, tensor: str, expected: str) -> None:
    assert short(promote_scalar(BY_SHORT[scalar], BY_SHORT[tensor])) == expected


CAST = """
from     float integer complex bool
integer  yes   yes     yes     no
float    yes   no      yes     no
complex  no    no      yes     no
bool     yes   yes     yes     yes
"""


def test_can_cast() -> None:
    rows = [line.split() for line in CAST.strip().splitlines()]
    table = {(row[0], kind): cell == "yes" for row in rows[1:] for kind, cell in zip(rows[0][1:], row[1:], strict=True)}
    for a in dtypes.BY_CODE.values():
        for b in dtypes.BY_CODE.values():
            if "other" not in (a.kind, b.kind):
                assert can_cast(a, b) == table[a.kind, b.kind], (a, b)


SIZES = {
    "DT_UNDEFINED STRING": 0,
    "UINT1 INT4 BOOL INT8 UINT8 HIFLOAT8 FLOAT8_E5M2 FLOAT8_E4M3FN FLOAT8_E8M0": 1,
    "FLOAT16 INT16 UINT16 BF16": 2,
    "FLOAT INT32 UINT32 COMPLEX32": 4,
    "INT64 UINT64 DOUBLE COMPLEX64": 8,
    "COMPLEX128": 16,
    "FLOAT6_E3M2 FLOAT6_E2M3 FLOAT4_E2M1 FLOAT4_E1M2": 8,
}


@pytest.mark.parametrize(("name", "size"), [(name, size) for names, size in SIZES.items() for name in names.split()])
def test_data_type_size(name: str, size: int) -> None:
    assert data_type_size(getattr(acl, f"ACL_{name}")) == size
    assert acl.aclDataTypeSize(getattr(acl, f"ACL_{name}")) == size


@pytest.mark.parametrize("code", [14, 99, -5])
def test_data_type_size_of_an_unknown_type(code: int) -> None:
    assert data_type_size(code) == 8


def test_numpy_and_back() -> None:
    for dtype in dtypes.BY_CODE.values():
        if dtype.numpy_name:
            assert dtypes.from_numpy(dtype.numpy) is dtype
            assert dtype.bits < 8 or dtype.numpy.itemsize == dtype.itemsize
    with pytest.raises(TypeError, match="no aclDataType"):
        dtypes.from_numpy(np.dtype("U3"))
    with pytest.raises(TypeError, match="no numpy type"):
        _ = dtypes.COMPLEX32.numpy


def exact_round(value: float, digits: int, least: int, largest: float) -> float:
    """Nearest even by exact arithmetic: ``digits`` bits, normal from ``2 ** least`` on."""
    if math.isnan(value) or math.isinf(value) or value == 0:
        return value
    size = Fraction(abs(value))
    exponent = least
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    step = Fraction(2) ** (exponent - digits + 1)
    count, rest = divmod(size, step)
    count += rest > step / 2 or (rest == step / 2 and count % 2 == 1)
    nearest = count * step
    return math.copysign(math.inf if nearest > Fraction(largest) else float(nearest), value)


SHAPES = {
    dtypes.BF16: (8, -126, 2.0**128 - 2.0**120),
    dtypes.FLOAT16: (11, -14, 65504.0),
    dtypes.FLOAT: (24, -126, 2.0**128 - 2.0**104),
}
EDGES = [
    *(0.0, math.inf, math.nan, 1.0, 5e-324, 2.0**-149, 2.0**-134, 2.0**-133, 1.5 * 2.0**-134, 2.0**-126, 2.0**-24, 2.0**-25, 65504.0),
    *(65519.999, 65520.0, 3.4e38, 3.5e38, 1e300, 2.0**128 - 2.0**119, math.nextafter(2.0**128 - 2.0**119, 0), 2.0**128 - 2.0**103),
]
# Ties of BF16, and numbers so close to them that a step through float32 would make ties of them.
EDGES += [
    base * (1 + near)
    for base in (1.0, 3.0e-39, 2.0**-130, 1e10)
    for k in (1, 3)
    for near in (k * 2.0**-8, k * 2.0**-8 + 2.0**-40, k * 2.0**-8 - 2.0**-40)
]


def assert_rounds(values: np.ndarray, dtype: DType) -> None:
    with np.errstate(over="ignore", under="ignore"):
        result = round_to(values, dtype)
    assert result.dtype == dtype.numpy
    assert result.shape == values.shape
    for value, found in zip(values.ravel().tolist(), result.astype(np.float64).ravel().tolist(), strict=True):
        expected = exact_round(value, *SHAPES[dtype])
        assert found == expected or (math.isnan(found) and math.isnan(expected)), value.hex()
        assert math.copysign(1, found) == math.copysign(1, expected) or math.isnan(expected), value.hex()


@pytest.mark.parametrize("dtype", SHAPES, ids=str)
def test_round_to_at_the_edges(dtype: DType) -> None:
    assert_rounds(np.array([*EDGES, *(-edge for edge in EDGES)]), dtype)


@pytest.mark.parametrize("dtype", SHAPES, ids=str)
@given(st.lists(st.floats() | st.floats(-1e-37, 1e-37) | st.floats(-10, 10), min_size=1, max_size=20))
def test_round_to(dtype: DType, values: list[float]) -> None:
    assert_rounds(np.array(values), dtype)


@given(st.integers(0, 2**16 - 1), st.integers(-3, 3), st.sampled_from((0.0, 2.0**-30, -(2.0**-30))))
def test_round_to_bf16_around_every_tie(bits: int, steps: int, nudge: float) -> None:
    """A number halfway between neighbours, a few float32 steps off, and a little beyond what float32 can tell."""
    low = np.array([bits << 16], np.uint32) + np.uint32(0x8000)
    near = (low.astype(np.int64) + steps).astype(np.uint32).view(np.float32).astype(np.float64)
    assert_rounds(near * (1 + nudge), dtypes.BF16)


def test_round_to_zero_dimensions_and_strides() -> None:
    tie = 1 + 2.0**-8 + 2.0**-40
    assert round_to(np.array(tie), dtypes.BF16).shape == ()
    assert float(round_to(np.array(tie), dtypes.BF16)) == 1 + 2.0**-7
    assert_rounds(np.full((4, 6), tie)[::2, ::3].T, dtypes.BF16)


def test_round_to_keeps_what_needs_no_rounding() -> None:
    same = np.ones(3, np.float32)
    assert round_to(same, dtypes.FLOAT) is same
    every = np.arange(2**16, dtype=np.uint16).view(ml_dtypes.bfloat16)
    with np.errstate(invalid="ignore"):  # signalling NaN are among them
        back = round_to(every.astype(np.float64), dtypes.BF16)
    finite = ~np.isnan(every.astype(np.float32))
    assert (back.view(np.uint16)[finite] == every.view(np.uint16)[finite]).all()
    assert np.isnan(back.astype(np.float32)[~finite]).all()


def test_integers_beyond_53_bits_are_rounded_once_to_bf16() -> None:
    values = np.array(
        [2**62 + 2**54 + 1, 2**62 + 2**54, 2**62 + 2**54 - 1, -(2**62) - 2**54 - 1, 2**53 + 2**45 + 1, 2**63 - 1, -(2**63)], np.int64
    )
    expected = [0x5E81, 0x5E80, 0x5E80, 0xDE81, 0x5A01, 0x5F00, 0xDF00]
    assert list(round_to(values, dtypes.BF16).view(np.uint16)) == expected
