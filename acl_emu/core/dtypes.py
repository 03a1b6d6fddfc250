"""Data types: one line per aclDataType, and the official promotion and conversion rules as tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from acl_emu.core import constants as c


@dataclass(frozen=True, eq=False)
class DType:
    """One aclDataType."""

    code: int
    name: str
    """The official name without ``ACL_``."""
    short: str
    """The name in the promotion tables."""
    kind: str
    """``float``, ``integer``, ``complex``, ``bool`` or ``other``."""
    bits: int
    """Bits of one element in device memory."""
    numpy_name: str
    """Its numpy type; those with a dot live in ml_dtypes. Empty where numpy has none."""

    @cached_property
    def numpy(self) -> np.dtype[Any]:
        """The numpy dtype of one element."""
        if not self.numpy_name:
            raise TypeError(f"{self} has no numpy type")
        module, _, name = self.numpy_name.rpartition(".")
        if module:
            import ml_dtypes  # imported at first use: most programs need float32 only, and start faster without

            found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
            return found
        return np.dtype(name)

    @cached_property
    def compute(self) -> np.dtype[Any]:
        """What kernels compute in: half types in float32, with one rounding at the end, as a device does; every other type in itself."""
        return np.dtype(np.float32) if self in (FLOAT16, BF16) else self.numpy

    @cached_property
    def storage(self) -> np.dtype[Any]:
        """What lies in memory: the numpy dtype, or the bare bits of types that numpy has none for and of packed ones."""
        if self.kind == "complex" and not self.numpy_name:
            return np.dtype([("real", np.float16), ("imag", np.float16)])
        return self.numpy if self.numpy_name and self.bits >= 8 else np.dtype(np.uint8)

    @property
    def itemsize(self) -> int:
        """Bytes of one element; packed types round up."""
        return (self.bits + 7) // 8

    def __str__(self) -> str:
        return f"ACL_{self.name}"

    def __repr__(self) -> str:
        return self.name


# fmt: off
_TABLE = (
    #     code                   name             short    kind      bits  numpy
    DType(c.ACL_FLOAT,           "FLOAT",         "f32",   "float",    32, "float32"),
    DType(c.ACL_FLOAT16,         "FLOAT16",       "f16",   "float",    16, "float16"),
    DType(c.ACL_INT8,            "INT8",          "s8",    "integer",   8, "int8"),
    DType(c.ACL_INT32,           "INT32",         "s32",   "integer",  32, "int32"),
    DType(c.ACL_UINT8,           "UINT8",         "u8",    "integer",   8, "uint8"),
    DType(c.ACL_INT16,           "INT16",         "s16",   "integer",  16, "int16"),
    DType(c.ACL_UINT16,          "UINT16",        "u16",   "integer",  16, "uint16"),
    DType(c.ACL_UINT32,          "UINT32",        "u32",   "integer",  32, "uint32"),
    DType(c.ACL_INT64,           "INT64",         "s64",   "integer",  64, "int64"),
    DType(c.ACL_UINT64,          "UINT64",        "u64",   "integer",  64, "uint64"),
    DType(c.ACL_DOUBLE,          "DOUBLE",        "f64",   "float",    64, "float64"),
    DType(c.ACL_BOOL,            "BOOL",          "bool",  "bool",      8, "bool"),
    DType(c.ACL_STRING,          "STRING",        "",      "other",   128, ""),
    DType(c.ACL_COMPLEX64,       "COMPLEX64",     "c64",   "complex",  64, "complex64"),
    DType(c.ACL_COMPLEX128,      "COMPLEX128",    "c128",  "complex", 128, "complex128"),
    DType(c.ACL_BF16,            "BF16",          "bf16",  "float",    16, "ml_dtypes.bfloat16"),
    DType(c.ACL_INT4,            "INT4",          "",      "integer",   4, "ml_dtypes.int4"),
    DType(c.ACL_UINT1,           "UINT1",         "",      "integer",   1, ""),
    DType(c.ACL_COMPLEX32,       "COMPLEX32",     "c32",   "complex",  32, ""),
    DType(c.ACL_HIFLOAT8,        "HIFLOAT8",      "",      "float",     8, ""),
    DType(c.ACL_FLOAT8_E5M2,     "FLOAT8_E5M2",   "",      "float",     8, "ml_dtypes.float8_e5m2"),
    DType(c.ACL_FLOAT8_E4M3FN,   "FLOAT8_E4M3FN", "",      "float",     8, "ml_dtypes.float8_e4m3fn"),
    DType(c.ACL_FLOAT8_E8M0,     "FLOAT8_E8M0",   "",      "float",     8, "ml_dtypes.float8_e8m0fnu"),
    DType(c.ACL_FLOAT6_E3M2,     "FLOAT6_E3M2",   "",      "float",     6, "ml_dtypes.float6_e3m2fn"),
    DType(c.ACL_FLOAT6_E2M3,     "FLOAT6_E2M3",   "",      "float",     6, "ml_dtypes.float6_e2m3fn"),
    DType(c.ACL_FLOAT4_E2M1,     "FLOAT4_E2M1",   "",      "float",     4, "ml_dtypes.float4_e2m1fn"),
    DType(c.ACL_FLOAT4_E1M2,     "FLOAT4_E1M2",   "",      "float",     4, ""),
)
# fmt: on

BY_CODE = {dtype.code: dtype for dtype in _TABLE}
_BY_NAME = {dtype.name: dtype for dtype in _TABLE}

FLOAT, FLOAT16, BF16, DOUBLE = (_BY_NAME[name] for name in ("FLOAT", "FLOAT16", "BF16", "DOUBLE"))
INT8, INT16, INT32, INT64 = (_BY_NAME[name] for name in ("INT8", "INT16", "INT32", "INT64"))
UINT8, UINT16, UINT32, UINT64 = (_BY_NAME[name] for name in ("UINT8", "UINT16", "UINT32", "UINT64"))
INT4, HIFLOAT8, FLOAT8_E5M2, FLOAT8_E4M3FN = (_BY_NAME[name] for name in ("INT4", "HIFLOAT8", "FLOAT8_E5M2", "FLOAT8_E4M3FN"))
FLOAT8_E8M0, FLOAT6_E3M2, FLOAT6_E2M3 = (_BY_NAME[name] for name in ("FLOAT8_E8M0", "FLOAT6_E3M2", "FLOAT6_E2M3"))
FLOAT4_E2M1, FLOAT4_E1M2 = (_BY_NAME[name] for name in ("FLOAT4_E2M1", "FLOAT4_E1M2"))
BOOL, COMPLEX32, COMPLEX64, COMPLEX128 = (_BY_NAME[name] for name in ("BOOL", "COMPLEX32", "COMPLEX64", "COMPLEX128"))

SCALAR_CODES = frozenset(dtype.code for dtype in _TABLE if dtype.name not in ("STRING", "INT4", "UINT1", "COMPLEX32"))
"""What aclCreateScalar accepts."""


def dtype_name(code: int) -> str:
    """The C name of a type code, or the bare number where there is none."""
    return str(BY_CODE[code]) if code in BY_CODE else "ACL_DT_UNDEFINED" if code == c.ACL_DT_UNDEFINED else f"aclDataType({code})"


@lru_cache(maxsize=None)
def from_numpy(dtype: npt.DTypeLike) -> DType:
    """The aclDataType of a numpy dtype."""
    wanted = np.dtype(dtype)
    for candidate in _TABLE:
        if candidate.numpy_name.rpartition(".")[2] == wanted.name:
            return candidate
    raise TypeError(f"no aclDataType for numpy dtype {wanted}")


def data_type_size(code: int) -> int:
    """aclDataTypeSize: 1 for the packed INT4 and UINT1, 0 for STRING and UNDEFINED, 8 for whatever the real table leaves out."""
    if code in (c.ACL_DT_UNDEFINED, c.ACL_STRING):
        return 0
    dtype = BY_CODE.get(code)
    if dtype is None or (dtype.kind == "float" and dtype.bits < 8):
        return 8
    return dtype.itemsize


# Tensor with tensor, as documented; x: the pair cannot be combined.
_PROMOTION = """
a\\b f32 f16 f64 bf16 s8 u8 s16 u16 s32 u32 s64 u64 bool c32 c64 c128
f32 f32 f32 f64 f32 f32 f32 f32 x f32 x f32 x f32 c64 c64 c128
f16 f32 f16 f64 f32 f16 f16 f16 x f16 x f16 x f16 c32 c64 c128
f64 f64 f64 f64 f64 f64 f64 f64 x f64 x f64 x f64 c128 c128 c128
bf16 f32 f32 f64 bf16 bf16 bf16 bf16 x bf16 x bf16 x bf16 c32 c64 c128
s8 f32 f16 f64 bf16 s8 s16 s16 x s32 x s64 x s8 c32 c64 c128
u8 f32 f16 f64 bf16 s16 u8 s16 x s32 x s64 x u8 c32 c64 c128
s16 f32 f16 f64 bf16 s16 s16 s16 x s32 x s64 x s16 c32 c64 c128
u16 x x x x x x x u16 x x x x x x x x
s32 f32 f16 f64 bf16 s32 s32 s32 x s32 x s64 x s32 c32 c64 c128
u32 x x x x x x x x x u32 x x x x x x
s64 f32 f16 f64 bf16 s64 s64 s64 x s64 x s64 x s64 c32 c64 c128
u64 x x x x x x x x x x x u64 x x x x
bool f32 f16 f64 bf16 s8 u8 s16 x s32 x s64 x bool c32 c64 c128
c32 c64 c32 c128 c32 c32 c32 c32 x c32 x c32 x c32 c32 c64 c128
c64 c64 c64 c128 c64 c64 c64 c64 x c64 x c64 x c64 c64 c64 c128
c128 c128 c128 c128 c128 c128 c128 c128 x c128 x c128 x c128 c128 c128 c128
"""

# Where the library departs from its document; it is not symmetric.
_PROMOTION_DEPARTURES = {
    ("bf16", "c32"): "c64",
    ("c32", "bf16"): "c64",
    ("u16", "c64"): "c64",
    ("u16", "c128"): "c128",
    ("u32", "c64"): "c64",
    ("u32", "c128"): "c128",
    ("u64", "c64"): "c128",
    ("u64", "c128"): "c128",
}

# Rows: dtype of the scalar; columns: dtype of the tensor.
_SCALAR_PROMOTION = """
s\\t f32 f16 f64 bf16 s8 u8 s16 u16 s32 u32 s64 u64 bool c32 c64 c128
f32 f32 f16 f64 bf16 f32 f32 f32 x f32 x f32 x f32 c32 c64 c128
f16 f32 f16 f64 bf16 f32 f32 f32 x f32 x f32 x f32 c32 c64 c128
f64 f32 f16 f64 bf16 f32 f32 f32 x f32 x f32 x f32 c128 c128 c128
bf16 f32 f16 f64 bf16 f32 f32 f32 x f32 x f32 x f32 c32 c64 c128
s8 f32 f16 f64 bf16 s8 u8 s16 u16 s32 u32 s64 u64 s8 c32 c64 c128
u8 f32 f16 f64 bf16 s8 u8 s16 u16 s32 u32 s64 u64 u8 c32 c64 c128
s16 f32 f16 f64 bf16 s8 u8 s16 u16 s32 u32 s64 u64 s16 c32 c64 c128
u16 f32 f16 f64 bf16 s8 u8 s16 u16 s32 u32 s64 u64 x c32 c64 c128
s32 f32 f16 f64 bf16 s8 u8 s16 u16 s32 u32 s64 u64 s32 c32 c64 c128
u32 f32 f16 f64 bf16 s8 u8 s16 u16 s32 u32 s64 u64 x c32 c64 c128
s64 f32 f16 f64 bf16 s8 u8 s16 u16 s32 u32 s64 u64 s64 c32 c64 c128
u64 f32 f16 f64 bf16 s8 u8 s16 u16 s32 u32 s64 u64 x c32 c64 c128
bool f32 f16 f64 bf16 s8 u8 s16 u16 s32 u32 s64 u64 bool c32 c64 c128
c32 c64 c32 c128 c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c32 c64 c128
c64 c64 c32 c128 c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c32 c64 c128
c128 c64 c32 c128 c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c32 c64 c128
"""


def _parse(text: str) -> dict[tuple[str, str], str]:
    rows = [line.split() for line in text.split("\n") if line]
    return {(row[0], column): cell for row in rows[1:] for column, cell in zip(rows[0][1:], row[1:], strict=True)}


@lru_cache(maxsize=None)
def _tables() -> tuple[dict[tuple[str, str], str], dict[tuple[str, str], str], dict[str, DType]]:
    return _parse(_PROMOTION) | _PROMOTION_DEPARTURES, _parse(_SCALAR_PROMOTION), {d.short: d for d in _TABLE if d.short}


@lru_cache(maxsize=None)
def promote_types(a: DType, b: DType) -> DType | None:
    """The common type of two tensors, or None where the pair cannot be combined."""
    if a is b:
        return a
    if max(a.code, b.code) >= c.ACL_HIFLOAT8:
        return FLOAT  # the real table ends before the 8-, 6- and 4-bit floats; what follows reads as zero, which is FLOAT
    tensor_table, _, by_short = _tables()
    return by_short.get(tensor_table.get((a.short, b.short), "x"))


@lru_cache(maxsize=None)
def promote_scalar(scalar: DType, tensor: DType) -> DType | None:
    """The type in which a tensor is combined with an aclScalar."""
    _, scalar_table, by_short = _tables()
    return by_short.get(scalar_table.get((scalar.short, tensor.short), "x"))


def can_cast(source: DType, target: DType) -> bool:
    """Whether a result may be stored as ``target``: no complex to real, no float to integer, nothing but bool to bool."""
    if source.kind == "complex" and target.kind != "complex":
        return False
    if source.kind == "float" and target.kind in ("integer", "bool"):
        return False
    return target.kind != "bool" or source.kind == "bool"


def _odd_float64(integers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Integers in float64; those beyond 53 bits keep 33 of them, the last one set where anything was cut off."""
    large = np.abs(integers.astype(np.float64)) >= 2.0**53
    if not large.any():
        return integers.astype(np.float64)
    kept = (integers >> 31) | ((integers & 0x7FFFFFFF) != 0)
    return np.where(large, kept.astype(np.float64) * 2.0**31, integers.astype(np.float64))


def round_to(values: npt.NDArray[Any], dtype: DType) -> npt.NDArray[Any]:
    """``values`` as ``dtype``, rounded once to nearest even."""
    if dtype is BF16 and values.dtype.kind in "iu":
        values = _odd_float64(values)
    if dtype is BF16 and values.dtype == np.float64:
        # ml_dtypes converts by way of float32, which would round twice: step to float32 by rounding to odd first.
        nearest = values.astype(np.float32)
        bits = nearest.view(np.int32)
        exact = (nearest.astype(np.float64) == values) | ~np.isfinite(nearest)
        beyond = np.abs(nearest.astype(np.float64)) > np.abs(values)
        odd = np.where(exact, bits, (bits - beyond) | 1)
        values = odd.astype(np.int32).view(np.float32)
    return values.astype(dtype.numpy, copy=False)
