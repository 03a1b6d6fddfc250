"""aclnnFusedMatmul, aclnnAddLora and aclnnMatmulEmuSplitWeight."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from acl_emu import ACL_FORMAT_FRACTAL_NZ, ACLNN_ERR_INNER_TILING_ERROR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_accurate
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.products import products_of
from tests.operators.raw import Raw, run_raw
from tests.operators.test_blocked_products import in_blocks
from tests.operators.test_matrix_products import to_hf32

NEWEST = "Ascend950PR_9589"


def fused(x1: Any, x2: Any, bias: Any, x3: Any, name: Any, y: Any, mode: int = 0) -> Case:
    names = ("x1", "x2", "bias", "x3", "fusedOpType", "cubeMathType", "y")
    return Case("aclnnFusedMatmul", dict(zip(names, (x1, x2, bias, x3, name, mode, y), strict=True)))


erf = np.vectorize(math.erf)
STEPS: dict[str, Any] = {
    "": lambda v, _: v,
    "16cast32": lambda v, _: v,
    "relu": lambda v, _: np.maximum(v, 0),
    "add": lambda v, o: v + o,
    "mul": lambda v, o: v * o,
    "gelu_erf": lambda v, _: 0.5 * v * (1 + erf(v / math.sqrt(2))),
    "gelu_tanh": lambda v, _: 0.5 * v * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))),
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("dtype", [FLOAT16, BF16, FLOAT], ids=str)
def test_steps(name: str, dtype: np.dtype, chip: Any, device: int) -> None:
    chip(NEWEST)
    if dtype == FLOAT and ("gelu" in name or name == "16cast32"):
        return
    batch = (2,) if name in ("", "relu", "add", "mul") else ()
    x1, x2 = numbers((*batch, 5, 20), dtype, 1), numbers((*batch, 20, 7), dtype, 2)
    bias = None if "gelu" in name else numbers((7,), dtype, 3)
    other = numbers((5, 7), dtype, 4) if name in ("add", "mul") else None
    y = np.zeros((*batch, 5, 7), FLOAT if name == "16cast32" else dtype)
    result = fused(x1, x2, bias, other, name, y, 3 if dtype == FLOAT else 0).run(3)
    left, right = (to_hf32(one) if dtype == FLOAT else one.astype(np.float64) for one in (x1, x2))
    sums = left @ right + (0 if bias is None else bias.astype(np.float64))
    third = 0.0 if other is None else other.astype(np.float64)
    largest = (np.abs(left) @ np.abs(right) + 4) * (np.abs(third) + 1)
    assert_accurate(result, STEPS[name](sums, third), largest=largest)


def lora(y: Array, x: Array, b: Any, indices: Any, a: Any, out: Any, **changes: Any) -> Case:
    arguments = {"y": y, "x": x, "weightB": b, "indices": indices, "weightAOptional": a, "layerIdx": 1, "scale": 0.5}
    return Case("aclnnAddLora", {**arguments, "yOffset": 16, "ySliceSize": 32, "out": out, **changes})


@pytest.mark.parametrize("alone", [False, True])
def test_small_weights(alone: bool, device: int) -> None:
    """Rows by the weights of their index; one that names none stays as it is."""
    y, x = numbers((6, 48), FLOAT16, 1), numbers((6, 16 if alone else 32), FLOAT16, 2)
    b, a = numbers((2, 3, 32, 16), FLOAT16, 3), None if alone else numbers((2, 3, 16, 32), FLOAT16, 4)
    indices = np.array([1, 0, 1, -1, 2, 0], np.int32)
    result = lora(y, x, b, indices, a, np.zeros((6, 48), FLOAT16)).run(3)
    golden = y.astype(np.float64)
    for row, index in enumerate(indices):
        if index in (0, 1):
            middle = x[row].astype(np.float64) if a is None else a[index, 1].astype(np.float64) @ x[row].astype(np.float64)
            golden[row, 16:48] += 0.5 * (b[index, 1].astype(np.float64) @ middle)
    assert_accurate(result, golden, largest=np.full(golden.shape, 200.0))


def test_small_weights_in_blocks(chip: Any, device: int) -> None:
    chip("Ascend310P3")
    y, x = numbers((3, 48), FLOAT16, 1), numbers((3, 32), FLOAT16, 2)
    b, a = numbers((2, 3, 32, 16), FLOAT16, 3), numbers((2, 3, 16, 32), FLOAT16, 4)
    indices = np.array([1, 0, 1], np.int32)
    expected = lora(y, x, b, indices, a, np.zeros((3, 48), FLOAT16)).run()
    half, whole = 1, 3
    status, found = run_raw(
        "aclnnAddLora",
        y=Raw(y, y.shape, half),
        x=Raw(x, x.shape, half),
        weightB=Raw(in_blocks(b), b.shape, half, None, ACL_FORMAT_FRACTAL_NZ),
        indices=Raw(indices, (3,), whole),
        weightAOptional=Raw(in_blocks(a), a.shape, half, None, ACL_FORMAT_FRACTAL_NZ),
        layerIdx=1,
        scale=0.5,
        yOffset=16,
        ySliceSize=32,
        out=Raw(np.zeros((3, 48), FLOAT16), (3, 48), half),
    )
    assert status == 0
    np.testing.assert_array_equal(found["out"], expected)


def split(x: Any, high: Any, low: Any, y: Any, scale: float = 1 / 256, dtype: int = 0) -> Case:
    return Case("aclnnMatmulEmuSplitWeight", {"x": x, "wHigh": high, "wLow": low, "y": y, "wLowScale": scale, "yDtype": dtype})


def test_a_weight_in_two_halves(chip: Any, device: int) -> None:
    chip(NEWEST)
    x, weight = numbers((5, 40), BF16, 1), numbers((40, 7), FLOAT, 2)
    high = weight.astype(BF16)
    low = ((weight - high.astype(np.float32)) * 256).astype(BF16)
    result = split(x, high, low, np.zeros((5, 7), FLOAT)).run(3)
    exact = x.astype(np.float64) @ weight.astype(np.float64)
    terms = np.abs(x.astype(np.float64)) @ np.abs(weight.astype(np.float64))
    assert (np.abs(result - exact) <= 2.0**-15 * terms).all()  # of 16 bits, that both halves hold
    parts = x.astype(np.float64) @ (high.astype(np.float64) + low.astype(np.float64) / 256)
    assert (np.abs(result - parts) <= 48 * 2.0**-24 * terms).all()


H = FLOAT16
FUSED = fused(Meta((5, 20), H), Meta((20, 7), H), Meta((7,), H), Meta((5, 7), H), "add", Meta((5, 7), H))
GELU = fused(Meta((5, 20), H), Meta((20, 7), H), None, None, "gelu_erf", Meta((5, 7), H))
LORA = lora(Meta((6, 48), H), Meta((6, 32), H), Meta((2, 3, 32, 16), H), Meta((6,), np.int32), Meta((2, 3, 16, 32), H), Meta((6, 48), H))
SPLIT = split(Meta((5, 40), BF16), Meta((40, 7), BF16), Meta((40, 7), BF16), Meta((5, 7), FLOAT))
NULL, WRONG_VALUE, TILING = ACLNN_ERR_PARAM_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_INNER_TILING_ERROR

WRONG: list[tuple[Case, dict[str, Any], int]] = [
    (FUSED, {"x3": None}, NULL),
    (GELU, {"bias": Meta((7,), H)}, NULL),
    (FUSED, {"x1": Meta((5, 20), np.int8)}, WRONG_VALUE),
    (FUSED, {"x1": Meta((5, 20), BF16), "x3": Meta((5, 7), BF16)}, WRONG_VALUE),
    (FUSED, {"x1": Meta((2, 1, 5, 20), H), "x2": Meta((2, 1, 20, 7), H), "y": Meta((2, 1, 5, 7), H)}, WRONG_VALUE),
    (FUSED, {"x1": Meta((2, 5, 20), H), "y": Meta((2, 5, 7), H)}, WRONG_VALUE),
    (FUSED, {"x3": Meta((5, 6), H)}, WRONG_VALUE),
    (FUSED, {"x3": Meta((3, 5, 7), H)}, WRONG_VALUE),
    (FUSED, {"x3": Meta((5, 7), FLOAT)}, WRONG_VALUE),
    (FUSED, {"bias": Meta((6,), H)}, WRONG_VALUE),
    (FUSED, {"fusedOpType": "tanh"}, WRONG_VALUE),
    (FUSED, {"y": Meta((7, 5), H)}, WRONG_VALUE),
    (FUSED, {"y": Meta((5, 7), FLOAT)}, WRONG_VALUE),
    (FUSED, {"x1": Meta((5, 20), FLOAT), "x2": Meta((20, 7), FLOAT), "x3": Meta((5, 7), FLOAT), "y": Meta((5, 7), FLOAT)}, WRONG_VALUE),
    (GELU, {"x1": Meta((5, 20), FLOAT), "y": Meta((5, 7), FLOAT)}, WRONG_VALUE),
    (SPLIT, {"x": Meta((5, 40), H)}, WRONG_VALUE),
    (SPLIT, {"y": Meta((5, 7), BF16)}, WRONG_VALUE),
    (SPLIT, {"yDtype": 1}, WRONG_VALUE),
    (SPLIT, {"wLowScale": 0.5}, WRONG_VALUE),
    (SPLIT, {"wLowScale": math.nan}, WRONG_VALUE),
    (SPLIT, {"wLow": Meta((7, 40), BF16)}, WRONG_VALUE),
    (SPLIT, {"x": Meta((5, 41), BF16)}, WRONG_VALUE),
    (SPLIT, {"x": Meta((0, 40), BF16), "y": Meta((0, 7), FLOAT)}, WRONG_VALUE),
]
WRONG_LORA: list[tuple[dict[str, Any], int]] = [
    ({"x": None}, NULL),
    ({"x": Meta((6, 32), FLOAT)}, WRONG_VALUE),
    ({"indices": Meta((6,), np.int64)}, WRONG_VALUE),
    ({"x": Meta((5, 32), H)}, TILING),
    ({"weightAOptional": Meta((2, 3, 16, 16), H)}, TILING),
    ({"weightAOptional": None}, TILING),
    ({"weightB": Meta((2, 3, 40, 16), H)}, TILING),
    ({"indices": Meta((5,), np.int32)}, TILING),
    ({"out": Meta((6, 32), H)}, TILING),
    ({"layerIdx": 3}, TILING),
    ({"yOffset": 48}, TILING),
    ({"yOffset": 32}, TILING),
    ({"ySliceSize": 16}, TILING),
]


@pytest.mark.parametrize(("call", "changes", "status"), WRONG, ids=str)
def test_parameter_errors(call: Case, changes: dict[str, Any], status: int, chip: Any) -> None:
    chip(NEWEST)
    assert call.status() == 0
    assert call.but(**changes).status() == status


@pytest.mark.parametrize(("changes", "status"), WRONG_LORA, ids=str)
def test_parameter_errors_of_small_weights(changes: dict[str, Any], status: int) -> None:
    assert LORA.status() == 0
    assert LORA.but(**changes).status() == status


def test_products(chip: Any) -> None:
    assert products_of(FUSED, chip) == {"950"}
    assert products_of(LORA, chip) == {"A2", "310P"}
    chip("Ascend910B1")
    assert SPLIT.status() != 0
