"""Products of integers: aclnnQuantMatmulV3 and V4."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acl_emu as acl
from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, spacing
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.products import products_of
from tests.operators.raw import Raw, run_raw
from tests.operators.test_weight_quant import in_blocks, packed

M, K, N = 5, 48, 32
INT8, INT32 = np.dtype(np.int8), np.dtype(np.int32)


def product(
    x1: Any,
    x2: Any,
    scale: Any,
    out: Any,
    *,
    offset: Any = None,
    token: Any = None,
    bias: Any = None,
    flags: tuple[bool, bool] = (False, False),
) -> Case:
    names = ("x1", "x2", "scale", "offset", "pertokenScaleOptional", "bias", "transposeX1", "transposeX2", "out")
    return Case("aclnnQuantMatmulV4", dict(zip(names, (x1, x2, scale, offset, token, bias, *flags, out), strict=True)))


def third(case: Case) -> Case:
    """The same in the third version, which has no scale for rows."""
    arguments = {name: value for name, value in case.arguments.items() if name != "pertokenScaleOptional"}
    return Case("aclnnQuantMatmulV3", arguments)


def codes_of(scale: Array, offset: Array | None = None) -> Array:
    """Scales, and offsets, as they are packed into 64 bits."""
    codes = scale.astype(np.float32).view(np.uint32).astype(np.uint64)
    return codes if offset is None else codes | (offset.astype(np.uint64) & np.uint64(0x1FF)) << np.uint64(37)


def golden(x1: Array, x2: Array, scale: Any, *, offset: Any = 0, token: Any = None, bias: Any = None) -> Array:
    sums = x1.astype(np.int64) @ x2.astype(np.int64)
    if bias is not None and bias.dtype == INT32:
        sums, bias = sums + bias, None
    values = sums.astype(np.float64) * np.asarray(scale, np.float64)
    values = values * (1 if token is None else token.astype(np.float64)[:, None])
    return values + (0 if bias is None else bias.astype(np.float64)) + offset


def assert_close(result: Array, exact: Array) -> None:
    bound = 2.0**-20 * np.abs(exact) + 2.0**-20 + 0.5 * spacing(exact, result.dtype)
    assert result.shape == exact.shape
    assert (np.abs(result.astype(np.float64) - exact) <= bound).all()


def factors(k: int = K, seed: int = 1) -> tuple[Array, Array]:
    return numbers((M, k), INT8, seed, 40), numbers((k, N), INT8, seed + 1, 40)


SCALE = np.abs(numbers((N,), FLOAT, 3)) * np.float32(0.01) + np.float32(0.001)
TOKEN = np.abs(numbers((M,), FLOAT, 4)) + np.float32(0.1)
INTEGERS = numbers((N,), INT32, 5, 1000)


@pytest.mark.parametrize("bias", [None, INT32, FLOAT, BF16], ids=str)
@pytest.mark.parametrize("token", [None, TOKEN], ids=["columns", "rows"])
@pytest.mark.parametrize("scale", [SCALE, SCALE[:1], SCALE.astype(BF16)], ids=["all", "one", "BF16"])
def test_scales(bias: Any, token: Any, scale: Array, device: int) -> None:
    x1, x2 = factors()
    added = None if bias is None else INTEGERS if bias == INT32 else numbers((N,), bias, 6, 3)
    case = product(x1, x2, scale, np.zeros((M, N), BF16), token=token, bias=added)
    expected = golden(x1, x2, scale, token=token, bias=added)
    assert_close(case.run(), expected)
    if token is None:
        assert_close(third(case).run(), expected)


@pytest.mark.parametrize("flags", [(False, False), (True, False), (False, True), (True, True)], ids=str)
def test_transposed_factors(flags: tuple[bool, bool], device: int) -> None:
    x1, x2 = factors()
    given = [np.ascontiguousarray(one.T) if flag else one for one, flag in zip((x1, x2), flags, strict=True)]
    case = product(given[0], given[1], SCALE, np.zeros((M, N), FLOAT16), token=TOKEN, flags=flags)
    assert_close(case.run(), golden(x1, x2, SCALE, token=TOKEN))


def test_sums_are_exact(device: int) -> None:
    """Longer than FLOAT can count, and as large as can be."""
    x1, x2 = np.full((2, 5000), -128, INT8), np.full((5000, 3), -128, INT8)
    x1[0, ::2] = 127
    result = product(x1, x2, np.ones(1, np.float32), np.zeros((2, 3), INT32), bias=np.array([1, -2, 3], INT32)).run()
    np.testing.assert_array_equal(result, x1.astype(np.int64) @ x2.astype(np.int64) + [1, -2, 3])


def test_packed_scales(device: int) -> None:
    x1, x2 = factors()
    scale = (SCALE.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    for codes in (codes_of(scale), codes_of(scale).view(np.int64)):
        case = product(x1, x2, codes, np.zeros((M, N), FLOAT16), bias=INTEGERS)
        assert_close(case.run(), golden(x1, x2, scale, bias=INTEGERS))
        assert_close(third(case).run(), golden(x1, x2, scale, bias=INTEGERS))


def test_results_of_eight_bits(device: int) -> None:
    x1, x2 = factors()
    scale, offset = np.full(N, 0.0625, np.float32), np.arange(N, dtype=np.float32) - 10
    expected = np.clip(golden(x1, x2, scale, offset=offset), -128, 127)
    plain = product(x1, x2, codes_of(scale), np.zeros((M, N), INT8), offset=offset)
    inside = product(x1, x2, codes_of(scale, offset), np.zeros((M, N), INT8))
    for case in (plain, inside, third(plain)):
        result = case.run()
        assert (np.abs(result - expected) <= 0.5).all()
        assert {result.min(), result.max()} == {-128, 127}


@pytest.mark.parametrize("shapes", [((2, 3, M, K), (3, K, N)), ((1, M, K), (4, K, N)), ((2, M, K), (K, N))], ids=str)
def test_batches(shapes: tuple[tuple[int, ...], tuple[int, ...]], device: int) -> None:
    x1, x2 = numbers(shapes[0], INT8, 1, 40), numbers(shapes[1], INT8, 2, 40)
    batch = np.broadcast_shapes(shapes[0][:-2], shapes[1][:-2])
    bias = numbers((*batch, 1, N), INT32, 5, 1000) if len(batch) == 1 else INTEGERS
    result = product(x1, x2, SCALE, np.zeros((*batch, M, N), BF16), bias=bias).run()
    assert_close(result, golden(x1, x2, SCALE, bias=bias))


@pytest.mark.parametrize("kind", ["INT4", "INT32"])
@pytest.mark.parametrize("flag", [False, True], ids=["plain", "transposed"])
def test_four_bits(kind: str, flag: bool, device: int) -> None:
    rng = np.random.default_rng(1)
    x1, x2 = rng.integers(-8, 8, (M, K)), rng.integers(-8, 8, (K, N))
    per, code = (8, acl.ACL_INT32) if kind == "INT32" else (1, acl.ACL_INT4)
    lying = x2.T if flag else x2
    status, found = run_raw(
        "aclnnQuantMatmulV4",
        x1=Raw(packed(x1), (M, K // per), code),
        x2=Raw(packed(lying), (lying.shape[0], lying.shape[1] // per), code),
        scale=Raw(SCALE, (N,), acl.ACL_FLOAT),
        offset=None,
        pertokenScaleOptional=Raw(TOKEN, (M,), acl.ACL_FLOAT),
        bias=None,
        transposeX1=False,
        transposeX2=flag,
        out=Raw(np.zeros((M, N), FLOAT16), (M, N), acl.ACL_FLOAT16),
    )
    assert status == 0
    assert_close(found["out"], golden(x1, x2, SCALE, token=TOKEN))


@pytest.mark.parametrize("flag", [False, True], ids=["plain", "transposed"])
def test_blocks(flag: bool, device: int) -> None:
    x1, x2 = factors(40)
    lying = x2.T if flag else x2
    status, found = run_raw(
        "aclnnQuantMatmulV3",
        x1=Raw(x1, x1.shape, acl.ACL_INT8),
        x2=Raw(in_blocks(lying, 32), lying.shape, acl.ACL_INT8, None, acl.ACL_FORMAT_FRACTAL_NZ),
        scale=Raw(codes_of(SCALE), (N,), acl.ACL_UINT64),
        offset=None,
        bias=None,
        transposeX1=False,
        transposeX2=flag,
        out=Raw(np.zeros((M, N), FLOAT16), (M, N), acl.ACL_FLOAT16),
    )
    assert status == 0
    assert_close(found["out"], golden(x1, x2, SCALE))


PLAIN = product(Meta((M, K), INT8), Meta((K, N), INT8), Meta((N,), np.uint64), Meta((M, N), FLOAT16), bias=Meta((N,), INT32))
ROWS = product(Meta((M, K), INT8), Meta((K, N), INT8), Meta((N,), FLOAT), Meta((M, N), FLOAT16), token=Meta((M,), FLOAT))
WRONG: list[tuple[Case, dict[str, Any]]] = [
    (PLAIN, {"x1": Meta((M, K), np.uint8)}),
    (PLAIN, {"x1": Meta((M, K - 1), INT8)}),
    (PLAIN, {"x1": Meta((K,), INT8)}),
    (PLAIN, {"x1": Meta((M, K), INT8, strides=(2 * K, 2))}),
    (PLAIN, {"x1": Meta((0, K), INT8), "out": Meta((0, N), FLOAT16)}),
    (PLAIN, {"x2": Meta((3, K, N), INT8)}),
    (PLAIN, {"x2": Meta((K, N), acl.ACL_INT4)}),
    (PLAIN, {"transposeX1": True}),
    (PLAIN, {"transposeX2": True}),
    (PLAIN, {"scale": Meta((N, 1), np.uint64)}),
    (PLAIN, {"scale": Meta((N - 1,), np.uint64)}),
    (PLAIN, {"scale": Meta((N,), FLOAT)}),
    (PLAIN, {"scale": Meta((N,), FLOAT16)}),
    (PLAIN, {"offset": Meta((N,), FLOAT)}),
    (PLAIN, {"bias": Meta((N,), FLOAT)}),
    (PLAIN, {"bias": Meta((N - 1,), INT32)}),
    (PLAIN, {"bias": Meta((1, 1, N), INT32)}),
    (PLAIN, {"pertokenScaleOptional": Meta((M,), FLOAT)}),
    (PLAIN, {"out": Meta((N, M), FLOAT16)}),
    (PLAIN, {"out": Meta((M, N), INT32)}),
    (PLAIN, {"x2": Meta((K, 65536), INT8), "scale": Meta((1,), np.uint64), "bias": None, "out": Meta((M, 65536), FLOAT16)}),
    (ROWS, {"pertokenScaleOptional": Meta((M + 1,), FLOAT)}),
    (ROWS, {"pertokenScaleOptional": Meta((M,), FLOAT16)}),
    (ROWS, {"pertokenScaleOptional": None}),
    (ROWS, {"out": Meta((M, N), INT8)}),
]


@pytest.mark.parametrize(("call", "changes"), WRONG, ids=lambda item: "" if isinstance(item, Case) else str(item)[:70])
def test_parameter_errors(call: Case, changes: dict[str, Any]) -> None:
    assert call.status() == 0
    assert call.but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    if call is PLAIN and "pertokenScaleOptional" not in changes:
        assert third(call.but(**changes)).status() == ACLNN_ERR_PARAM_INVALID


def test_null_pointers_and_products(chip: Any) -> None:
    for name in ("x1", "x2", "scale", "out"):
        assert PLAIN.but(**{name: None}).status() == third(PLAIN.but(**{name: None})).status() == ACLNN_ERR_PARAM_NULLPTR
    assert products_of(PLAIN, chip) == products_of(third(PLAIN), chip) == {"950", "A3", "A2", "310P"}
    chip("Ascend950PR_9589")
    assert PLAIN.but(out=Meta((M, N), BF16)).status() == 0
    assert PLAIN.but(x1=Meta((0, K), INT8), out=Meta((0, N), FLOAT16)).plan() == (0, 0)
    assert PLAIN.but(x1=Meta((M, K // 8), INT32)).status() == ACLNN_ERR_PARAM_INVALID


def test_the_second_version(device: int, chip: Any) -> None:
    """There are scales for a multiple of 16 columns; those behind the last column do not count."""
    count = N - 3
    x1, x2 = factors()
    x2, bias = x2[:, :count], INTEGERS[:count]
    names = ("x1", "x2", "bias", "deqScale", "adjX1", "adjX2", "out")
    scale = (SCALE.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    values = (x1, np.ascontiguousarray(x2.T), bias, codes_of(scale), False, True, np.zeros((M, count), FLOAT16))
    case = Case("aclnnQuantMatmulV2", dict(zip(names, values, strict=True)))
    assert_close(case.run(), golden(x1, x2, scale[:count], bias=bias))
    assert case.but(adjX2=False).status() == ACLNN_ERR_PARAM_INVALID
    for length in (1, 16, count, 48):
        assert case.but(deqScale=Meta((length,), np.uint64)).status() == ACLNN_ERR_PARAM_INVALID
    assert case.but(bias=INTEGERS[:5]).status() == ACLNN_ERR_PARAM_INVALID
    assert case.but(deqScale=None).status() == ACLNN_ERR_PARAM_NULLPTR
    none = case.but(x1=np.zeros((M, 0), INT8), x2=np.zeros((count, 0), INT8), out=np.ones((M, count), FLOAT16))
    assert none.status() == ACLNN_ERR_PARAM_INVALID
    assert (none.but(bias=None).run() == 0).all()
    assert case.but(x1=Meta((0, K), INT8), out=Meta((0, count), FLOAT16)).plan() == (0, 0)
    assert products_of(case, chip) == {"A3", "A2"}


def test_scales_as_another_operator_packs_them(device: int) -> None:
    x1, x2 = factors()
    scale, offset = SCALE * np.float32(4), np.arange(N, dtype=np.float32) - 10
    codes = Case("aclnnTransQuantParamV2", {"scale": scale, "offset": offset, "out": np.zeros(N, np.uint64)}).run()
    kept = (scale.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    expected = np.clip(golden(x1, x2, kept, offset=offset), -128, 127)
    result = product(x1, x2, codes, np.zeros((M, N), INT8)).run()
    assert (np.abs(result - expected) <= 0.501).all()
