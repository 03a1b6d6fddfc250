"""aclnnQuantMatmulV5 and aclnnQuantMatmulWeightNz: every kind of scales."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import acl_emu as acl
from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from acl_emu.core.dtypes import from_numpy
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, spacing
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.products import products_of
from tests.operators.raw import Raw, run_raw
from tests.operators.test_quant_product import codes_of
from tests.operators.test_weight_quant import in_blocks, packed

NEWEST = "Ascend950PR_9589"
E4M3, E5M2, E8M0 = (np.dtype(kind) for kind in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu))
INT8, INT32 = np.dtype(np.int8), np.dtype(np.int32)
MAGNITUDES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
FOURS = np.concatenate((MAGNITUDES, -MAGNITUDES))
NAMES = (
    "x1",
    "x2",
    "x1Scale",
    "x2Scale",
    "yScale",
    "x1Offset",
    "x2Offset",
    "yOffset",
    "bias",
    "transposeX1",
    "transposeX2",
    "groupSize",
    "out",
)


def fifth(
    x1: Any, x2: Any, x1_scale: Any, x2_scale: Any, out: Any, *, name: str = "V5", flags: tuple[bool, bool] = (False, False), **others: Any
) -> Case:
    arguments = dict.fromkeys(NAMES)
    arguments.update(x1=x1, x2=x2, x1Scale=x1_scale, x2Scale=x2_scale, transposeX1=flags[0], transposeX2=flags[1], groupSize=0, out=out)
    return Case(f"aclnnQuantMatmul{name}", {**arguments, **others})


def raw(case: Case, **replaced: Raw) -> Array:
    """Run a call some of whose tensors are given by their bytes."""
    given = {
        name: Raw(value, value.shape, from_numpy(value.dtype).code) if isinstance(value, np.ndarray) else value
        for name, value in case.arguments.items()
    }
    status, found = run_raw(case.operator, **{**given, **replaced})
    assert status == 0
    return found["out"]


def assert_close(result: Array, left: Array, right: Array, *, scale: Any = 1.0, before: Any = 0.0, after: Any = 0.0) -> None:
    """``(left @ right + before) × scale + after``; sums are FLOAT, in which factors may be rounded once."""
    exact = (left @ right + before) * scale + after
    terms = (np.abs(left) @ np.abs(right) + np.abs(before)) * np.abs(scale) + np.abs(after)
    bound = (left.shape[-1] + 8) * 2.0**-23 * terms + 0.5 * spacing(exact, result.dtype)
    assert result.shape == exact.shape
    assert (np.abs(result.astype(np.float64) - exact) <= bound).all()


def wide(*arrays: Array) -> list[Array]:
    return [array.astype(np.float64) for array in arrays]


def lines(scale: Array, rows: int, columns: int, high: int, long: int) -> Array:
    """A scale for every element of a matrix."""
    return np.repeat(np.repeat(scale.astype(np.float64), high, axis=0)[:rows], long, axis=1)[:, :columns]


def test_integers(device: int) -> None:
    """As the fourth version: exact sums, and the same table."""
    x1, x2 = numbers((5, 48), INT8, 1, 40), numbers((48, 32), INT8, 2, 40)
    rows, columns = np.abs(numbers((5,), FLOAT, 3)), np.abs(numbers((32,), FLOAT, 4)) * np.float32(0.01)
    bias = numbers((32,), INT32, 5, 1000)
    result = fifth(x1, x2, rows, columns, np.zeros((5, 32), BF16), bias=bias).run()
    assert_close(result, *wide(x1, x2), scale=rows[:, None].astype(np.float64) * columns, before=bias)
    assert (fifth(x1, x2, None, columns, np.zeros((5, 32), INT32)).run() == x1.astype(int) @ x2.astype(int)).all()
    blocks = in_blocks(x2, 32).reshape(2, -1)
    case = fifth(x1, blocks, rows, columns, np.zeros((5, 32), FLOAT16), name="WeightNz")
    result = raw(case, x2=Raw(blocks, (48, 32), acl.ACL_INT8, None, acl.ACL_FORMAT_FRACTAL_NZ))
    assert_close(result, *wide(x1, x2), scale=rows[:, None].astype(np.float64) * columns)


def test_biases_of_one_row(chip: Any, device: int) -> None:
    x1, x2, bias = numbers((5, 48), INT8, 1, 40), numbers((48, 32), INT8, 2, 40), numbers((1, 32), INT32, 3, 1000)
    columns = np.abs(numbers((32,), FLOAT, 4)) * np.float32(0.01)
    rows = np.abs(numbers((5,), FLOAT, 5))
    case = fifth(x1, x2, rows, columns, np.zeros((5, 32), BF16), bias=bias)
    assert case.status() == ACLNN_ERR_PARAM_INVALID
    chip(NEWEST)
    assert_close(case.run(), *wide(x1, x2), scale=rows[:, None].astype(np.float64) * columns, before=bias)
    stack = case.but(x1=Meta((2, 5, 48), INT8), x2=Meta((2, 48, 32), INT8), out=Meta((2, 5, 32), BF16))
    assert stack.status() == ACLNN_ERR_PARAM_INVALID
    assert stack.but(bias=Meta((2, 1, 32), INT32)).status() == 0


def test_no_rows_or_no_columns(chip: Any, device: int) -> None:
    chip(NEWEST)
    case = fifth(Meta((5, 48), INT8), Meta((48, 32), INT8), None, Meta((1,), FLOAT), Meta((5, 32), BF16))
    assert case.but(x1=Meta((0, 48), INT8), out=Meta((0, 32), BF16)).plan() == (0, 0)
    assert case.but(x1=Meta((48, 0), INT8), out=Meta((0, 32), BF16), transposeX1=True).plan() == (0, 0)
    nothing = {"x2": Meta((48, 0), INT8), "out": Meta((5, 0), BF16)}
    assert case.but(**nothing).plan() == (0, 0)
    assert case.but(x1=Meta((5, 0), INT8), x2=Meta((0, 32), INT8)).status() == ACLNN_ERR_PARAM_INVALID
    chip("Ascend910B1")
    assert case.but(**nothing).status() == ACLNN_ERR_PARAM_INVALID


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("with_offset", [False, True])
@pytest.mark.parametrize("kind", ["packed", "FLOAT", "BF16"])
@pytest.mark.parametrize("out", [FLOAT16, BF16], ids=str)
def test_blocks_of_four_bits(by_row: bool, with_offset: bool, kind: str, out: np.dtype, device: int) -> None:
    """Scales for rows, offsets and biases as you like; those of the fifth version are fewer."""
    if (kind == "packed" and out == BF16) or (kind == "BF16" and out == FLOAT16):
        return
    rng = np.random.default_rng(1)
    x1, x2 = (rng.integers(-8, 8, shape).astype(np.int8) for shape in ((5, 64), (64, 64)))
    columns = (np.abs(numbers((64,), FLOAT, 2)).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    rows = np.abs(numbers((5,), FLOAT, 3)) if by_row else None
    offset = numbers((64,), FLOAT, 4) if with_offset else None
    bias = numbers((64,), INT32, 5, 50) if out == FLOAT16 else numbers((64,), BF16, 5)
    given = codes_of(columns) if kind == "packed" else columns.astype(BF16 if kind == "BF16" else FLOAT)
    case = fifth(x1, x2, rows, given, np.zeros((5, 64), out), name="WeightNz", x2Offset=offset, bias=bias)
    blocks = Raw(packed(in_blocks(x2, 64)), (64, 64), acl.ACL_INT4, None, acl.ACL_FORMAT_FRACTAL_NZ)
    result = raw(case, x1=Raw(packed(x1), (5, 64), acl.ACL_INT4), x2=blocks)
    scale = columns.astype(np.float64) * (1 if rows is None else rows[:, None].astype(np.float64))
    whole = out == FLOAT16
    after = (0 if offset is None else offset.astype(np.float64)) + (0 if whole else bias.astype(np.float64))
    assert_close(result, *wide(x1, x2), scale=scale, before=bias if whole else 0.0, after=after)


@pytest.mark.parametrize("out", [FLOAT16, BF16, FLOAT], ids=str)
@pytest.mark.parametrize("kinds", [(E4M3, E4M3), (E5M2, E4M3)], ids=str)
@pytest.mark.parametrize("mode", ["packed", "one", "all"])
def test_floats_of_eight_bits(out: np.dtype, kinds: tuple[np.dtype, np.dtype], mode: str, chip: Any, device: int) -> None:
    chip(NEWEST)
    x1, x2, bias = numbers((2, 5, 40), kinds[0], 1), numbers((40, 7), kinds[1], 2), numbers((7,), FLOAT, 3)
    columns = np.abs(numbers((1 if mode == "one" else 7,), FLOAT, 4))
    rows = None if mode == "packed" else np.abs(numbers((1 if mode == "one" else 5,), FLOAT, 5))
    columns = (columns.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    given = codes_of(columns) if mode == "packed" else columns
    result = fifth(x1, x2, rows, given, np.zeros((2, 5, 7), out), bias=bias).run()
    scale = columns.astype(np.float64) * (1 if rows is None else rows[:, None].astype(np.float64))
    assert_close(result, *wide(x1, x2), scale=scale, before=bias)


@pytest.mark.parametrize("flags", [(False, False), (True, True)], ids=str)
@pytest.mark.parametrize("high", [1, 128])
def test_blocks(flags: tuple[bool, bool], high: int, chip: Any, device: int) -> None:
    chip(NEWEST)
    m, k, n = 130, 200, 140
    x1, x2 = numbers((m, k), E4M3, 1), numbers((k, n), E5M2, 2)
    first = np.abs(numbers((-(-m // high), 2), FLOAT, 3))
    second = np.abs(numbers((2, 2), FLOAT, 4))
    given = [np.ascontiguousarray(one.T) if flag else one for one, flag in zip((x1, x2, first, second), flags * 2, strict=True)]
    size = high << 32 | 128 << 16 | 128
    left, right = wide(x1, x2)
    for group in (size, 0):
        result = fifth(*given, np.zeros((m, n), FLOAT), flags=flags, groupSize=group).run()
        assert_close(result, left * lines(first, m, k, high, 128), right * lines(second, k, n, 128, 128))


def test_blocks_of_integers(device: int) -> None:
    m, k, n = 3, 512, 256
    x1, x2 = numbers((m, k), INT8, 1, 40), numbers((n, k), INT8, 2, 40)
    first, second, bias = np.abs(numbers((m, 4), FLOAT, 3)), np.abs(numbers((2, 4), FLOAT, 4)), numbers((n,), FLOAT, 5)
    result = fifth(x1, x2, first, second, np.zeros((m, n), BF16), flags=(False, True), groupSize=1 << 32 | 128 << 16 | 128, bias=bias).run()
    left, right = wide(x1, x2.T)
    assert_close(result, left * lines(first, m, k, 1, 128), right * lines(second.T, k, n, 128, 128), after=bias)


@pytest.mark.parametrize("flags", [(False, True), (True, False)], ids=str)
def test_pairs_of_groups(flags: tuple[bool, bool], chip: Any, device: int) -> None:
    chip(NEWEST)
    m, k, n = 5, 100, 7
    x1, x2, bias = numbers((m, k), E4M3, 1), numbers((k, n), E5M2, 2), numbers((n,), FLOAT, 3)
    rng = np.random.default_rng(1)
    first, second = (2.0 ** rng.integers(-4, 5, (count, 4)) for count in (m, n))
    scales = [one.reshape(-1, 2, 2).astype(E8M0) for one in (first, second)]
    scales = [
        np.ascontiguousarray(one.transpose(1, 0, 2)) if flag else one for one, flag in zip(scales, (flags[0], not flags[1]), strict=True)
    ]
    given = [np.ascontiguousarray(one.T) if flag else one for one, flag in zip((x1, x2), flags, strict=True)]
    result = fifth(*given, *scales, np.zeros((m, n), FLOAT), flags=flags, groupSize=1 << 32 | 1 << 16 | 32, bias=bias).run()
    left, right = wide(x1, x2)
    assert_close(result, left * lines(first, m, k, 1, 32), right * lines(second, n, k, 1, 32).T, after=bias)


def fours(shape: tuple[int, int], seed: int) -> tuple[Array, Array]:
    """Codes in memory, and what they stand for."""
    codes = np.random.default_rng(seed).integers(0, 16, shape)
    return packed(codes.astype(np.int8)), FOURS[codes]


def test_floats_of_four_bits(chip: Any, device: int) -> None:
    chip(NEWEST)
    m, k, n = 5, 128, 8
    (memory1, left), (memory2, right) = fours((m, k), 1), fours((n, k), 2)
    rng = np.random.default_rng(3)
    first, second = (2.0 ** rng.integers(-4, 5, (count, 4)) for count in (m, n))
    scales = [one.reshape(-1, 2, 2).astype(E8M0) for one in (first, second)]
    four = acl.ACL_FLOAT4_E2M1
    case = fifth(memory1, memory2, *scales, np.zeros((m, n), FLOAT), flags=(False, True), groupSize=4295032864)
    result = raw(case, x1=Raw(memory1, (m, k), four), x2=Raw(memory2, (n, k), four))
    assert_close(result, left * lines(first, m, k, 1, 32), (right * lines(second, n, k, 1, 32)).T)
    eight = numbers((m, k), E4M3, 4)
    bias = numbers((1, n), BF16, 5)
    mixed = fifth(eight, memory2, *scales, np.zeros((m, n), BF16), flags=(False, True), groupSize=32, bias=bias)
    result = raw(mixed, x2=Raw(memory2, (n, k), four))
    exact = eight.astype(np.float64)
    assert_close(result, exact * lines(first, m, k, 1, 32), (right * lines(second, n, k, 1, 32)).T, after=bias.astype(np.float64))
    weights, results = np.abs(numbers((n, 4), BF16, 6)), np.full(n, 0.5, np.float32)
    case = fifth(eight, memory2, None, weights, np.zeros((m, n), BF16), flags=(False, True), groupSize=32, yScale=codes_of(results)[None])
    result = raw(case, x2=Raw(memory2, (n, k), four))
    assert_close(result, exact, (right * lines(weights, n, k, 1, 32)).T, scale=results)


def test_groups_of_rows(device: int) -> None:
    """Eight bits by four, and four by four with offsets."""
    m, k, n = 3, 512, 256
    rng = np.random.default_rng(1)
    x1, x2 = numbers((m, k), INT8, 1, 40), rng.integers(-8, 8, (k, n))
    rows, scale = (
        np.abs(numbers((m, 1), FLOAT, 2)),
        (np.abs(numbers((2, n), FLOAT, 3)).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32),
    )
    added = numbers((n,), FLOAT, 4, 50)
    memory = packed(x2)
    case = fifth(x1, memory, rows, codes_of(scale), np.zeros((m, n), FLOAT16), yOffset=added, groupSize=256)
    result = raw(case, x2=Raw(memory, (k, n // 8), acl.ACL_INT32))
    right = x2 * lines(scale, k, n, 256, 1)
    assert_close(result, x1.astype(np.float64), right, scale=rows.astype(np.float64), before=added)
    few = rng.integers(-8, 8, (m, k))
    offset = numbers((2, n), FLOAT16, 5)
    case = fifth(packed(few), packed(x2.T), rows, scale, np.zeros((m, n), BF16), x2Offset=offset, flags=(False, True), groupSize=256)
    four = acl.ACL_INT4
    result = raw(case, x1=Raw(packed(few), (m, k), four), x2=Raw(packed(x2.T), (n, k), four))
    right = (x2 - lines(offset, k, n, 256, 1)) * lines(scale, k, n, 256, 1)
    assert_close(result, few.astype(np.float64), right, scale=rows.astype(np.float64))


H = FLOAT16
INTEGERS = fifth(Meta((5, 48), INT8), Meta((48, 32), INT8), Meta((5,), FLOAT), Meta((32,), FLOAT), Meta((5, 32), H))
BLOCKS = fifth(Meta((5, 256), E4M3), Meta((256, 128), E4M3), Meta((5, 2), FLOAT), Meta((2, 1), FLOAT), Meta((5, 128), H))
PAIRS = fifth(Meta((5, 64), E4M3), Meta((64, 8), E4M3), Meta((5, 1, 2), E8M0), Meta((1, 8, 2), E8M0), Meta((5, 8), H))
FLAT = fifth(Meta((5, 64), E4M3), Meta((64, 8), E4M3), Meta((5,), FLOAT), Meta((8,), FLOAT), Meta((5, 8), FLOAT))

WRONG: list[tuple[Case, dict[str, Any]]] = [
    (INTEGERS, {"x1": Meta((5, 47), INT8)}),
    (INTEGERS, {"x1": Meta((5, 48), np.uint8)}),
    (INTEGERS, {"x1Offset": Meta((5,), FLOAT)}),
    (INTEGERS, {"yScale": Meta((1, 32), np.uint64)}),
    (INTEGERS, {"yOffset": Meta((32,), FLOAT)}),
    (INTEGERS, {"yOffset": Meta((32,), BF16)}),
    (INTEGERS, {"x2Scale": Meta((0,), FLOAT)}),
    (INTEGERS, {"x1Scale": Meta((4,), FLOAT)}),
    (INTEGERS, {"x2Scale": Meta((31,), FLOAT)}),
    (INTEGERS, {"x1Scale": None}),
    (INTEGERS, {"bias": Meta((31,), INT32)}),
    (INTEGERS, {"out": Meta((32, 5), H)}),
    (BLOCKS, {"x1Scale": Meta((5, 1), FLOAT)}),
    (BLOCKS, {"x2Scale": Meta((1, 2), FLOAT)}),
    (BLOCKS, {"groupSize": 64}),
    (BLOCKS, {"groupSize": 128 << 32}),
    (BLOCKS, {"bias": Meta((128,), FLOAT)}),
    (BLOCKS, {"transposeX2": True}),
    (PAIRS, {"x1Scale": Meta((5, 2), E8M0)}),
    (PAIRS, {"x2Scale": Meta((8, 1, 2), E8M0)}),
    (PAIRS, {"groupSize": 64}),
    (PAIRS, {"x2Scale": Meta((1, 8, 2), FLOAT)}),
    (FLAT, {"x2": Meta((64, 8), INT8)}),
    (FLAT, {"groupSize": 32}),
    (FLAT, {"x1Scale": Meta((3,), FLOAT)}),
    (FLAT, {"x2Scale": Meta((3,), FLOAT)}),
    (FLAT, {"bias": Meta((8,), BF16)}),
    (FLAT, {"out": Meta((5, 8), INT8)}),
]


@pytest.mark.parametrize(("call", "changes"), WRONG, ids=lambda item: "" if isinstance(item, Case) else str(item)[:70])
def test_parameter_errors(call: Case, changes: dict[str, Any], chip: Any) -> None:
    chip(NEWEST)
    assert call.status() == 0
    assert call.but(**changes).status() == ACLNN_ERR_PARAM_INVALID


def test_null_pointers_and_products(chip: Any) -> None:
    for name in ("x1", "x2", "x2Scale", "out"):
        assert INTEGERS.but(**{name: None}).status() == ACLNN_ERR_PARAM_NULLPTR
    assert INTEGERS.but(yOffset=Meta((0,), BF16), bias=Meta((0,), INT32)).status() == 0  # as torch_npu has it
    assert products_of(INTEGERS, chip) == {"950", "A3", "A2", "310P"}
    blocked = Case("aclnnQuantMatmulWeightNz", INTEGERS.arguments)
    assert products_of(blocked, chip) == {"950", "A3", "A2", "310P"}
    chip("Ascend910B1")
    assert FLAT.status() == BLOCKS.status() == ACLNN_ERR_PARAM_INVALID
    assert blocked.but(x2=Meta((48, 32), INT8, format=acl.ACL_FORMAT_ND)).status() == ACLNN_ERR_PARAM_INVALID
