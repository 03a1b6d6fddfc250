"""Products with weights of few bits: aclnnWeightQuantBatchMatmulV2 and V3, and aclnnConvertWeightToINT4Pack."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import acl_emu as acl
from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR, ACLNN_ERR_RUNTIME_ERROR
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, rounded, spacing
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.raw import Raw, run_raw

NZ = acl.ACL_FORMAT_FRACTAL_NZ
CODES = {FLOAT16: acl.ACL_FLOAT16, BF16: acl.ACL_BF16, FLOAT: acl.ACL_FLOAT}
M, K, N = 5, 128, 64


def quantised(
    x: Any, weight: Any, scale: Any, offset: Any, bias: Any, group: int, y: Any, *, results: Any = None, added: Any = None, v3: bool = False
) -> Case:
    arguments = {
        "x": x,
        "weight": weight,
        "antiquantScale": scale,
        "antiquantOffsetOptional": offset,
        "quantScaleOptional": results,
        "quantOffsetOptional": added,
        "biasOptional": bias,
        "antiquantGroupSize": group,
        **({"innerPrecise": 1} if v3 else {}),
        "y": y,
    }
    return Case(f"aclnnWeightQuantBatchMatmulV{3 if v3 else 2}", arguments)


def per_row(values: Any, group: int, k: int = K, n: int = N) -> Array:
    """A scale or an offset for every number of the weight."""
    wide = np.atleast_2d(np.asarray(values, np.float64))
    return np.broadcast_to(np.repeat(wide, group, axis=0)[:k] if group else wide, (k, n))


def golden(x: Array, weight: Array, scale: Any, offset: Any, bias: Any, group: int) -> tuple[Array, Array]:
    """The weight is rounded to the type of x; and the terms of every sum."""
    k, n = weight.shape
    numbers_ = weight.astype(np.float64) + (0 if offset is None else per_row(offset, group, k, n))
    factor = rounded((numbers_ * per_row(scale, group, k, n)).astype(np.float32), x.dtype)
    left = x.astype(np.float64)
    added = 0 if bias is None else np.asarray(bias, np.float64)
    return left @ factor + added, np.abs(left) @ np.abs(factor) + np.abs(added)


def assert_close(result: Array, expected: tuple[Array, Array], k: int = K) -> None:
    exact, terms = expected
    # A factor may be rounded the other way, once in a while.
    bound = (k * 2.0**-24 + 2.0**-9 * (8 if result.dtype == BF16 else 1) / 8) * terms + 0.5 * spacing(exact, result.dtype)
    assert result.shape == exact.shape
    assert (np.abs(result.astype(np.float64) - exact) <= bound).all()


def scales_for(mode: str, dtype: np.dtype) -> tuple[Array, Array, int]:
    shape, group = {"tensor": ((1,), 0), "row": ((1, N), 0), "column": ((N,), 0), "group": ((4, N), 32), "uneven": ((2, N), 96)}[mode]
    return np.abs(numbers(shape, dtype, 3)) * dtype.type(0.05) + dtype.type(0.01), numbers(shape, dtype, 4, 5), group


@pytest.mark.parametrize("mode", ["tensor", "row", "column", "group", "uneven"])
@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
def test_eight_bits(mode: str, dtype: np.dtype, device: int) -> None:
    x, weight = numbers((M, K), dtype, 1), numbers((K, N), np.int8, 2, 40)
    scale, offset, group = scales_for(mode, dtype)
    bias = numbers((N,), FLOAT if dtype == BF16 else dtype, 5)
    for shift, added, v3 in ((offset, bias, False), (None, None, False), (offset, None, True)):
        result = quantised(x, weight, scale, shift, added, group, np.zeros((M, N), dtype), v3=v3).run()
        assert_close(result, golden(x, weight, scale, shift, added, group))


def packed(values: Array) -> Array:
    """Four bits each, the first in the low half."""
    codes = values.reshape(-1).astype(np.uint8) & 15
    return codes[::2] | codes[1::2] << 4


def in_blocks(matrix: Array, width: int) -> Array:
    """Blocks of 16 rows, column by column of blocks, filled up with zeros."""
    rows, columns = matrix.shape
    height, across = -(-rows // 16) * 16, -(-columns // width)
    found = np.zeros(height * across * width, matrix.dtype)
    for row, column in np.ndindex(rows, columns):
        found[(column // width * height + row) * width + column % width] = matrix[row, column]
    return found


@pytest.mark.parametrize("kind", ["INT4", "INT32"])
@pytest.mark.parametrize("transposed", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("blocked", [False, True], ids=["ND", "NZ"])
def test_four_bits(kind: str, transposed: bool, blocked: bool, device: int) -> None:
    k, n = 72, 24
    weight = np.random.default_rng(1).integers(-8, 8, (k, n)).astype(np.int8)
    lying = weight.T if transposed else weight
    memory = packed(in_blocks(lying, 64) if blocked else lying)
    per = 8 if kind == "INT32" else 1
    shape = (k // per, n) if transposed else (k, n // per)
    strides = (1, k // per) if transposed else (n // per, 1)
    x, scale, offset = numbers((M, k), FLOAT16, 1), np.abs(numbers((n,), FLOAT16, 2)), numbers((n,), FLOAT16, 3)
    status, found = run_raw(
        "aclnnWeightQuantBatchMatmulV2",
        x=Raw(x, x.shape, acl.ACL_FLOAT16),
        weight=Raw(memory, shape, getattr(acl, f"ACL_{kind}"), strides, NZ if blocked else acl.ACL_FORMAT_ND),
        antiquantScale=Raw(scale, (n,), acl.ACL_FLOAT16),
        antiquantOffsetOptional=Raw(offset, (n,), acl.ACL_FLOAT16),
        quantScaleOptional=None,
        quantOffsetOptional=None,
        biasOptional=None,
        antiquantGroupSize=0,
        y=Raw(np.zeros((M, n), FLOAT16), (M, n), acl.ACL_FLOAT16),
    )
    assert status == 0
    assert_close(found["y"], golden(x, weight, scale, offset, None, 0), k)


def test_a_layer_as_llama_cpp_gives_it(device: int) -> None:
    """A weight, and its scales, that lie row by row of the output, viewed the other way round; groups of 32; results in a wider tensor."""
    k, n = 64, 48
    weight = np.random.default_rng(2).integers(-8, 8, (n, k)).astype(np.int8)
    scale = np.abs(numbers((n, 2), FLOAT16, 2))
    x = numbers((1, k), FLOAT16, 1)
    for code, memory in ((acl.ACL_INT8, weight), (acl.ACL_INT4, packed(weight))):
        status, found = run_raw(
            "aclnnWeightQuantBatchMatmulV2",
            x=Raw(x, (1, k), acl.ACL_FLOAT16),
            weight=Raw(memory, (k, n), code, (1, k)),
            antiquantScale=Raw(scale, (2, n), acl.ACL_FLOAT16, (1, 2)),
            antiquantOffsetOptional=None,
            quantScaleOptional=None,
            quantOffsetOptional=None,
            biasOptional=None,
            antiquantGroupSize=32,
            y=Raw(np.zeros((1, n), FLOAT16), (1, n), acl.ACL_FLOAT16),
        )
        assert status == 0
        assert_close(found["y"], golden(x, weight.T, scale.T, None, None, 32), k)


def test_scales_of_64_bits(device: int) -> None:
    """Products of integers are scaled at the end."""
    x, weight = numbers((M, K), FLOAT16, 1), numbers((N, K), np.int8, 2, 40)
    scale, offset = (0.125 * (1 + np.arange(N) % 3)).astype(np.float32), np.arange(N, dtype=np.int32) - 30
    codes = scale.view(np.uint32).astype(np.uint64) | np.uint64(1 << 46)
    case = quantised(x, weight.T, codes, offset, None, 0, np.zeros((M, N), FLOAT16))
    left, right = x.astype(np.float64), weight.T.astype(np.float64) + offset
    status, found = run_raw(
        case.operator,
        **{
            **case.arguments,
            "x": Raw(x, (M, K), acl.ACL_FLOAT16),
            "weight": Raw(weight, (K, N), acl.ACL_INT8, (1, K)),
            "antiquantScale": Raw(codes, (N,), acl.ACL_UINT64),
            "antiquantOffsetOptional": Raw(offset, (N,), acl.ACL_INT32),
            "y": Raw(np.zeros((M, N), FLOAT16), (M, N), acl.ACL_FLOAT16),
        },
    )
    assert status == 0
    assert_close(found["y"], ((left @ right) * scale, np.abs(left) @ np.abs(right) * scale))


def test_quantised_results(device: int) -> None:
    x, weight, scale = numbers((M, K), FLOAT16, 1), numbers((K, N), np.int8, 2, 40), np.full(N, 0.05, FLOAT16)
    results = np.full(N, 0.5, np.float32)
    offsets = np.arange(N) - 20
    codes = results.view(np.uint32).astype(np.uint64) | (offsets.astype(np.uint64) & np.uint64(0x1FF)) << np.uint64(37)
    exact, _ = golden(x, weight, scale, None, None, 0)
    expected = np.clip(exact * 0.5 + offsets, -128, 127)
    plain = quantised(x, weight, scale, None, None, 0, np.zeros((M, N), np.int8), results=codes)
    for case, shift in ((plain, 0), (plain.but(quantOffsetOptional=(offsets + 3).astype(np.float32)), 3)):
        assert (np.abs(case.run() - np.clip(expected + shift, -128, 127)) <= 0.51).all()


def test_batches_on_the_older_chip(chip: Any, device: int) -> None:
    chip("Ascend310P3")
    x, weight = numbers((2, 1, M, 32), FLOAT16, 1), numbers((3, 32, N), np.int8, 2, 40)
    scale, bias = np.full((1,), 0.05, FLOAT16), numbers((2, 3, 1, N), FLOAT16, 3)
    result = quantised(x, weight, scale, None, bias, 0, np.zeros((2, 3, M, N), FLOAT16)).run()
    for a, b in np.ndindex(2, 3):
        assert_close(result[a, b], golden(x[a, 0], weight[b], scale, None, bias[a, b], 0), 32)
    plain = numbers((N, 32), np.int8, 4, 40)
    by_column = np.abs(numbers((N,), FLOAT16, 5))
    single = x[0, 0]
    status, found = run_raw(
        "aclnnWeightQuantBatchMatmulV2",
        x=Raw(single, (M, 32), acl.ACL_FLOAT16),
        weight=Raw(in_blocks(plain, 32), (N, 32), acl.ACL_INT8, None, NZ),
        antiquantScale=Raw(by_column, (N, 1), acl.ACL_FLOAT16),
        antiquantOffsetOptional=None,
        quantScaleOptional=None,
        quantOffsetOptional=None,
        biasOptional=None,
        antiquantGroupSize=0,
        y=Raw(np.zeros((M, N), FLOAT16), (M, N), acl.ACL_FLOAT16),
    )
    assert status == 0
    assert_close(found["y"], golden(single, plain.T, by_column, None, None, 0), 32)


def test_floats_of_few_bits(chip: Any, device: int) -> None:
    chip("Ascend950PR_9589")
    eight = np.dtype(ml_dtypes.float8_e4m3fn)
    x, weight, scale = numbers((M, K), BF16, 1), numbers((K, N), eight, 2), np.abs(numbers((N,), BF16, 3))
    assert_close(quantised(x, weight, scale, None, None, 0, np.zeros((M, N), BF16)).run(), golden(x, weight, scale, None, None, 0))
    codes = np.random.default_rng(3).integers(0, 256, K * N // 2).astype(np.uint8)
    magnitudes = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    signed = np.concatenate((magnitudes, -magnitudes))
    fours = signed[np.stack((codes & 15, codes >> 4), axis=1)].reshape(K, N)
    exponents = np.random.default_rng(4).integers(120, 130, (4, N)).astype(np.uint8)
    for code, shape in ((acl.ACL_FLOAT4_E2M1, (K, N)), (acl.ACL_FLOAT, (K, N // 8))):
        status, found = run_raw(
            "aclnnWeightQuantBatchMatmulV2",
            x=Raw(x, (M, K), acl.ACL_BF16),
            weight=Raw(codes, shape, code),
            antiquantScale=Raw(exponents, (4, N), acl.ACL_FLOAT8_E8M0),
            antiquantOffsetOptional=None,
            quantScaleOptional=None,
            quantOffsetOptional=None,
            biasOptional=None,
            antiquantGroupSize=32,
            y=Raw(np.zeros((M, N), BF16), (M, N), acl.ACL_BF16),
        )
        assert status == 0
        assert_close(found["y"], golden(x, fours, 2.0 ** (exponents.astype(np.float64) - 127), None, None, 32))


@pytest.mark.parametrize("inner", [16, 32, 33])
def test_shared_exponents_of_few_rows(inner: int, chip: Any, device: int) -> None:
    """32 rows share an exponent, and so do fewer."""
    chip("Ascend950PR_9589")
    rng = np.random.default_rng(4)
    magnitudes = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    codes = rng.integers(0, 16, (inner, 24)).astype(np.uint8)
    groups = -(-inner // 32)
    exponents = rng.integers(120, 135, (groups, 24)).astype(np.uint8)
    x = numbers((M, inner), BF16, 1)
    status, found = run_raw(
        "aclnnWeightQuantBatchMatmulV2",
        x=Raw(x, x.shape, acl.ACL_BF16),
        weight=Raw(packed(codes), codes.shape, acl.ACL_FLOAT4_E2M1),
        antiquantScale=Raw(exponents, exponents.shape, acl.ACL_FLOAT8_E8M0),
        antiquantOffsetOptional=None,
        quantScaleOptional=None,
        quantOffsetOptional=None,
        biasOptional=None,
        antiquantGroupSize=32,
        y=Raw(np.zeros((M, 24), BF16), (M, 24), acl.ACL_BF16),
    )
    assert status == 0
    weight = np.concatenate((magnitudes, -magnitudes))[codes]
    assert_close(found["y"], golden(x, weight, 2.0 ** (exponents.astype(np.float64) - 127), None, None, 32), inner)


H = FLOAT16
PLAIN = quantised(Meta((M, K), H), Meta((K, N), np.int8), Meta((N,), H), Meta((N,), H), Meta((N,), H), 0, Meta((M, N), H))
GROUPS = quantised(Meta((M, K), H), Meta((K, N), np.int8), Meta((4, N), H), None, None, 32, Meta((M, N), H))
RESULTS = PLAIN.but(quantScaleOptional=Meta((N,), np.uint64), quantOffsetOptional=Meta((N,), FLOAT), y=Meta((M, N), np.int8))

WRONG: list[tuple[Case, dict[str, Any]]] = [
    (PLAIN, {"x": Meta((M, K), FLOAT)}),
    (PLAIN, {"x": Meta((M, K - 1), H)}),
    (PLAIN, {"x": Meta((1, M, K), H)}),
    (PLAIN, {"x": Meta((M, K), H, strides=(2 * K, 2))}),
    (PLAIN, {"x": Meta((0, K), H)}),
    (PLAIN, {"weight": Meta((K, N), np.uint8)}),
    (PLAIN, {"weight": Meta((K, N), np.int8, strides=(2 * N, 1))}),
    (PLAIN, {"weight": Meta((K, 65536), np.int8), "antiquantScale": Meta((1,), H), "antiquantOffsetOptional": None, "biasOptional": None}),
    (PLAIN, {"antiquantScale": Meta((N,), BF16)}),
    (PLAIN, {"antiquantScale": Meta((N - 1,), H)}),
    (PLAIN, {"antiquantScale": Meta((4, N), H)}),
    (PLAIN, {"antiquantScale": Meta((1, 1, N), H)}),
    (PLAIN, {"antiquantOffsetOptional": Meta((1, N), H)}),
    (PLAIN, {"antiquantOffsetOptional": Meta((N,), np.int32)}),
    (PLAIN, {"quantOffsetOptional": Meta((N,), FLOAT)}),
    (PLAIN, {"quantScaleOptional": Meta((N,), np.uint64)}),
    (PLAIN, {"biasOptional": Meta((N - 1,), H)}),
    (PLAIN, {"biasOptional": Meta((N,), FLOAT)}),
    (PLAIN, {"y": Meta((M, N), BF16)}),
    (PLAIN, {"y": Meta((N, M), H)}),
    (PLAIN, {"antiquantGroupSize": 32}),
    (GROUPS, {"antiquantGroupSize": 0}),
    (GROUPS, {"antiquantGroupSize": 33}),
    (GROUPS, {"antiquantGroupSize": 128, "antiquantScale": Meta((1, N), H)}),
    (GROUPS, {"antiquantGroupSize": -32}),
    (GROUPS, {"antiquantScale": Meta((4, N), H, strides=(2 * N, 2))}),
    (RESULTS, {"quantOffsetOptional": Meta((1,), FLOAT)}),
    (RESULTS, {"quantScaleOptional": Meta((N + 1,), np.uint64)}),
    (RESULTS, {"y": Meta((M, N), H)}),
]


@pytest.mark.parametrize(("call", "changes"), WRONG, ids=lambda item: "" if isinstance(item, Case) else str(item)[:70])
def test_parameter_errors(call: Case, changes: dict[str, Any]) -> None:
    assert call.status() == 0
    assert call.but(**changes).status() == ACLNN_ERR_PARAM_INVALID


def test_null_pointers_and_products(chip: Any) -> None:
    for name in ("x", "weight", "antiquantScale", "y"):
        assert PLAIN.but(**{name: None}).status() == ACLNN_ERR_PARAM_NULLPTR
    v3 = quantised(*list(PLAIN.arguments.values())[:4], None, 0, Meta((M, N), H), v3=True)
    for case, accepting in ((PLAIN, {"950", "A3", "A2", "310P"}), (v3, {"950", "A3", "A2"})):
        found = set()
        for soc, short in (
            ("Ascend950PR_9589", "950"),
            ("Ascend910_9391", "A3"),
            ("Ascend910B1", "A2"),
            ("Ascend310P3", "310P"),
            ("Ascend910A", ""),
            ("Ascend310B1", ""),
        ):
            chip(soc)
            status = case.status()
            assert status in (0, ACLNN_ERR_RUNTIME_ERROR)
            if status == 0:
                found.add(short)
        assert found == accepting
    chip("Ascend910B1")
    assert v3.but(innerPrecise=2).status() == ACLNN_ERR_PARAM_INVALID


def pack(weight: Array, shape: tuple[int, ...], code: int, size: int, form: int = acl.ACL_FORMAT_ND) -> tuple[int, Array]:
    source = Raw(weight, weight.shape, acl.ACL_FLOAT if weight.dtype == FLOAT else acl.ACL_INT32)
    status, found = run_raw(
        "aclnnConvertWeightToINT4Pack", weight=source, weightInt4Pack=Raw(np.zeros(size, np.uint8), shape, code, None, form)
    )
    return status, found.get("weightInt4Pack", np.zeros(0, np.uint8))


def test_packing(device: int) -> None:
    weight = np.random.default_rng(5).integers(-8, 8, (20, 72)).astype(np.int32)
    plain, blocked = packed(weight), packed(in_blocks(weight, 64))
    for code, shape in ((acl.ACL_INT4, (20, 72)), (acl.ACL_INT32, (20, 9))):
        for form, expected in ((acl.ACL_FORMAT_ND, plain), (NZ, blocked)):
            status, found = pack(weight, shape, code, len(expected), form)
            assert status == 0
            np.testing.assert_array_equal(found, expected)


def test_packing_on_the_newest_chip(chip: Any, device: int) -> None:
    chip("Ascend950PR_9589")
    weight = np.random.default_rng(5).integers(-8, 8, (20, 24)).astype(np.int32)
    expected = packed(in_blocks(weight, 16))
    np.testing.assert_array_equal(pack(weight, (20, 24), acl.ACL_INT4, len(expected), NZ)[1], expected)
    floats = np.array([[0, 0.5, -1, 1.5, 2, -3, 4, 6]], np.float32)
    for code, shape in ((acl.ACL_FLOAT4_E2M1, (1, 8)), (acl.ACL_FLOAT, (1, 1))):
        assert pack(floats, shape, code, 4)[1].tolist() == [0x10, 0x3A, 0xD4, 0x76]


@pytest.mark.parametrize(
    ("weight", "pack"),
    [
        (Meta((4, 8), np.int64), Meta((4, 1), np.int32)),
        (Meta((4, 8), FLOAT), Meta((4, 1), np.int32)),
        (Meta((4, 8), np.int32), Meta((4, 8), np.int8)),
        (Meta((4, 8), np.int32), Meta((4, 8), np.int32)),
        (Meta((4, 7), np.int32), Meta((4, 7), acl.ACL_INT4)),
        (Meta((4, 12), np.int32), Meta((4, 1), np.int32)),
        (Meta((8,), np.int32), Meta((1,), np.int32)),
        (Meta((0, 8), np.int32), Meta((0, 1), np.int32)),
        (Meta((4, 8), np.int32, format=NZ), Meta((4, 1), np.int32)),
        (Meta((4, 8), np.int32, strides=(1, 4)), Meta((4, 1), np.int32)),
    ],
    ids=str,
)
def test_packing_errors(weight: Meta, pack: Meta) -> None:
    assert Case("aclnnConvertWeightToINT4Pack", {"weight": weight, "weightInt4Pack": pack}).status() == ACLNN_ERR_PARAM_INVALID


@pytest.mark.parametrize("form", [NZ, acl.ACL_FORMAT_FRACTAL_NZ_C0_16])
@pytest.mark.parametrize("kind", ["INT8", "INT4", "INT32", "FLOAT4_E2M1", "FLOAT"])
@pytest.mark.parametrize("group", [0, 32])
def test_blocks_of_the_newest_chip(form: int, kind: str, group: int, chip: Any, device: int) -> None:
    """One of the formats says itself that blocks have 16 columns."""
    chip("Ascend950PR_9589")
    if kind == "INT8" and form != NZ:
        return
    if kind == "INT8" and group:
        return
    k, n = 72, 24
    rng = np.random.default_rng(1)
    codes = rng.integers(-128, 128, (k, n)).astype(np.int8) if kind == "INT8" else rng.integers(-8, 8, (k, n)).astype(np.int8)
    magnitudes = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    weight = np.concatenate((magnitudes, -magnitudes))[codes & 15] if "FLOAT" in kind else codes
    if "FLOAT" in kind and not group:
        return
    width, per = (32, 1) if kind == "INT8" else (16, 8 if kind in ("INT32", "FLOAT") else 1)
    blocks = in_blocks(codes, width)
    memory = blocks if kind == "INT8" else packed(blocks)
    x = numbers((M, k), FLOAT16, 1)
    scale = np.abs(numbers((3, n) if group else (n,), FLOAT16, 2))
    offset = None if "FLOAT" in kind else numbers(scale.shape, FLOAT16, 3)
    shape = (k, n // per)
    storage = (-(-n // width), -(-k // 16), 16, width // per)
    status, found = run_raw(
        "aclnnWeightQuantBatchMatmulNz",
        x=Raw(x, x.shape, acl.ACL_FLOAT16),
        weight=Raw(memory, shape, getattr(acl, f"ACL_{kind}"), None, form, storage if form == NZ else (k, n // per)),
        antiquantScale=Raw(scale, scale.shape, acl.ACL_FLOAT16),
        antiquantOffsetOptional=None if offset is None else Raw(offset, offset.shape, acl.ACL_FLOAT16),
        quantScaleOptional=None,
        quantOffsetOptional=None,
        biasOptional=None,
        antiquantGroupSize=group,
        y=Raw(np.zeros((M, n), FLOAT16), (M, n), acl.ACL_FLOAT16),
    )
    assert status == 0
    assert_close(found["y"], golden(x, weight, scale, offset, None, group), k)


def test_errors_of_blocks(chip: Any) -> None:
    names = [name for name in PLAIN.arguments if name != "innerPrecise"]
    case = Case("aclnnWeightQuantBatchMatmulNz", {name: PLAIN.arguments[name] for name in names})
    assert case.status() == ACLNN_ERR_RUNTIME_ERROR
    chip("Ascend950PR_9589")
    assert case.status() == 0
    for changes in (
        {"weight": Meta((K, N), np.int8, format=2)},
        {"quantScaleOptional": Meta((N,), np.uint64)},
        {"x": Meta((M, K - 1), H)},
        {"x": Meta((0, K), H)},
        {"y": Meta((M, N), np.int8)},
    ):
        assert case.but(**changes).status() == ACLNN_ERR_PARAM_INVALID, changes
