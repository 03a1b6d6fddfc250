"""Products with weights in blocks, and aclnnTransposeBatchMatMul."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACL_FORMAT_FRACTAL_NZ, ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.operators.accuracy import BF16, FLOAT, FLOAT16
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import layouts
from tests.operators.products import products_of
from tests.operators.test_sums_of_products import wide, within

HALVES = (FLOAT16, BF16)
NEWER = {"950", "A3", "A2"}


def in_blocks(matrix: Array) -> Array:
    """The elements of a matrix of whole blocks in the order of its blocks, in an array of its own shape."""
    *batch, rows, columns = matrix.shape
    width = 32 // matrix.dtype.itemsize
    found = np.empty((*batch, rows * columns), matrix.dtype)
    for index in np.ndindex(*batch):
        for place in range(rows * columns):
            block, rest = divmod(place, 16 * width)
            column, row = divmod(block, rows // 16)
            found[(*index, place)] = matrix[(*index, row * 16 + rest // width, column * width + rest % width)]
    return found.reshape(matrix.shape)


@pytest.mark.parametrize("dtype", [FLOAT, *HALVES], ids=str)
def test_matrices(dtype: np.dtype, device: int) -> None:
    a, b, added = numbers((5, 48), dtype, 1), numbers((48, 32), dtype, 2), numbers((32,), dtype, 3)
    x, y, z = wide(a, b, added)
    terms = np.abs(x) @ np.abs(y)
    weight = in_blocks(b)
    result = Case("aclnnMatmulWeightNz", {"self": a, "mat2": weight, "out": np.zeros((5, 32), dtype), "cubeMathType": 0}).run()
    within(result, x @ y, terms, 48)
    if dtype != FLOAT:
        names = ("self", "mat1", "mat2", "beta", "alpha", "out", "cubeMathType")
        sums = Case("aclnnAddmmWeightNz", dict(zip(names, (added, a, weight, 0.5, 2.0, np.zeros((5, 32), dtype), 0), strict=True)))
        within(sums.run(), 2 * (x @ y) + 0.5 * z, 2 * terms + np.abs(z), 50)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_batches(dtype: np.dtype, device: int) -> None:
    a, b = numbers((3, 5, 32), dtype, 1), numbers((3, 32, 16), dtype, 2)
    x, y = wide(a, b)
    case = Case("aclnnBatchMatMulWeightNz", {"self": a, "mat2": in_blocks(b), "out": np.zeros((3, 5, 16), dtype), "cubeMathType": 0})
    within(case.run(), x @ y, np.abs(x) @ np.abs(y), 32)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_batches_to_float_on_the_newest_chip(dtype: np.dtype, chip: Any, device: int) -> None:
    chip("Ascend950PR_9589")
    a, b = numbers((2, 5, 32), dtype, 1), numbers((2, 32, 16), dtype, 2)
    x, y = wide(a, b)
    case = Case("aclnnBatchMatMulWeightNz", {"self": a, "mat2": in_blocks(b), "out": np.zeros((2, 5, 16), FLOAT), "cubeMathType": 0})
    within(case.run(), x @ y, np.abs(x) @ np.abs(y), 32)


def exchanged(x1: Any, x2: Any, out: Any, orders: tuple[int, int], parts: int = 1, scale: Any = None, name: str = "") -> Case:
    arguments = {
        "x1": x1,
        "x2": x2,
        "bias": None,
        "scale": scale,
        "permX1": (1, 0, 2) if orders[0] else (0, 1, 2),
        "permX2": (0, 2, 1) if orders[1] else (0, 1, 2),
        "permY": (1, 0, 2),
        "cubeMathType": 0,
        "batchSplitFactor": parts,
        "out": out,
    }
    return Case(f"aclnnTransposeBatchMatMul{name}", arguments)


@given(st.data())
def test_exchanged_axes(device: int, data: st.DataObject) -> None:
    batch, rows, inner, columns = (data.draw(st.integers(1, 4)) for _ in range(4))
    parts = data.draw(st.sampled_from([part for part in range(1, batch + 1) if batch % part == 0]))
    orders = (data.draw(st.integers(0, 1)), data.draw(st.integers(0, 1)))
    dtype = data.draw(st.sampled_from((FLOAT, *HALVES)))
    a, b = numbers((batch, rows, inner), dtype, 1), numbers((batch, inner, columns), dtype, 2)
    shape = (parts, rows, batch // parts * columns) if parts > 1 else (rows, batch, columns)
    x1, x2 = a.transpose(1, 0, 2) if orders[0] else a, b.transpose(0, 2, 1) if orders[1] else b
    result = exchanged(x1, x2, np.zeros(shape, dtype), orders, parts).run(data.draw(layouts))
    x, y = wide(a, b)

    def arranged(products: Array) -> Array:
        split = products.reshape(parts, batch // parts, rows, columns).transpose(0, 2, 1, 3)
        return split.reshape(shape) if parts > 1 else products.transpose(1, 0, 2)

    within(result, arranged(x @ y), arranged(np.abs(x) @ np.abs(y)), inner)


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("transposed", [False, True])
def test_exchanged_axes_in_blocks(parts: int, transposed: bool, device: int) -> None:
    a, b = numbers((4, 3, 32), FLOAT16, 1), numbers((4, 32, 16), FLOAT16, 2)
    weight = in_blocks(b.transpose(0, 2, 1).copy() if transposed else b)
    shape = (2, 3, 32) if parts > 1 else (3, 4, 16)
    result = exchanged(a, weight, np.zeros(shape, FLOAT16), (0, int(transposed)), parts, name="WeightNz").run()
    x, y = wide(a, b)
    order = [array.reshape(parts, 4 // parts, 3, 16).transpose(0, 2, 1, 3).reshape(shape) for array in (x @ y, np.abs(x) @ np.abs(y))]
    within(result, *order, 32)


def test_quantised_results(device: int) -> None:
    """19 bits of a scale, an offset of 9; halves go to even, and what is too large stops at the ends."""
    a, b = numbers((2, 3, 16), FLOAT16, 1), numbers((2, 16, 32), FLOAT16, 2)
    scales = (np.arange(64, dtype=np.float32).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    offsets = np.arange(64) - 32
    codes = scales.view(np.uint32).astype(np.uint64) | (offsets.astype(np.uint64) & np.uint64(0x1FF)) << np.uint64(37) | np.uint64(1 << 46)
    x, y = wide(a, b)
    golden = (x @ y).transpose(1, 0, 2).reshape(3, 1, 64) * scales + offsets
    for weight, name in ((b, ""), (in_blocks(b), "WeightNz")):
        result = exchanged(a, weight, np.zeros((3, 1, 64), np.int8), (0, 0), scale=codes, name=name).run()
        assert (np.abs(result - np.clip(golden, -128, 127)) <= 0.5001).all()
        assert result.min() == -128
        assert result.max() == 127


F, H = FLOAT, FLOAT16
MATMUL = Case("aclnnMatmulWeightNz", {"self": Meta((5, 32), H), "mat2": Meta((32, 16), H), "out": Meta((5, 16), H), "cubeMathType": 0})
BMM = Case(
    "aclnnBatchMatMulWeightNz", {"self": Meta((2, 5, 32), H), "mat2": Meta((2, 32, 16), H), "out": Meta((2, 5, 16), H), "cubeMathType": 0}
)
ADDMM = Case(
    "aclnnAddmmWeightNz",
    {
        "self": Meta((16,), H),
        "mat1": Meta((5, 32), H),
        "mat2": Meta((32, 16), H),
        "beta": 1.0,
        "alpha": 1.0,
        "out": Meta((5, 16), H),
        "cubeMathType": 0,
    },
)
PLAIN = exchanged(Meta((4, 3, 5), H), Meta((4, 5, 6), H), Meta((3, 4, 6), H), (0, 0))
QUANTISED = exchanged(Meta((4, 3, 5), H), Meta((4, 5, 6), H), Meta((3, 1, 24), np.int8), (0, 0), scale=Meta((24,), np.int64))

WRONG: list[tuple[Case, dict[str, Any]]] = [
    (MATMUL, {"mat2": Meta((32, 16), H, format=2)}),
    (MATMUL, {"self": Meta((5, 32), np.int8)}),
    (MATMUL, {"self": Meta((5, 31), H)}),
    (MATMUL, {"self": Meta((5, 32), BF16)}),
    (MATMUL, {"self": Meta((5, 32), H, format=ACL_FORMAT_FRACTAL_NZ)}),
    (MATMUL, {"mat2": Meta((32, 16), H, strides=(32, 2))}),
    (MATMUL, {"out": Meta((5, 15), H)}),
    (MATMUL, {"cubeMathType": 7}),
    (BMM, {"mat2": Meta((2, 32, 16), H, format=2)}),
    (BMM, {"self": Meta((2, 5, 32), F)}),
    (BMM, {"out": Meta((2, 5, 16), F)}),
    (BMM, {"mat2": Meta((3, 32, 16), H)}),
    (ADDMM, {"mat2": Meta((32, 16), H, format=2)}),
    (ADDMM, {"mat1": Meta((5, 32), F)}),
    (ADDMM, {"self": Meta((5,), H)}),
    (ADDMM, {"out": Meta((16, 5), H)}),
    (PLAIN, {"x1": Meta((4, 3, 5), np.int32)}),
    (PLAIN, {"x1": Meta((4, 3, 6), H)}),
    (PLAIN, {"x1": Meta((12, 5), H)}),
    (PLAIN, {"x2": Meta((1, 5, 6), H)}),
    (PLAIN, {"x2": Meta((4, 5, 6), BF16)}),
    (PLAIN, {"bias": Meta((6,), H)}),
    (PLAIN, {"permX1": (2, 1, 0)}),
    (PLAIN, {"permX2": (1, 0, 2)}),
    (PLAIN, {"permY": (0, 1, 2)}),
    (PLAIN, {"permY": (1, 0)}),
    (PLAIN, {"batchSplitFactor": 0}),
    (PLAIN, {"batchSplitFactor": 3}),
    (PLAIN, {"batchSplitFactor": 5}),
    (PLAIN, {"out": Meta((4, 3, 6), H)}),
    (PLAIN, {"out": Meta((3, 4, 6), F)}),
    (QUANTISED, {"scale": Meta((24,), F)}),
    (QUANTISED, {"scale": Meta((6,), np.int64)}),
    (QUANTISED, {"batchSplitFactor": 2}),
    (QUANTISED, {"out": Meta((3, 1, 24), H)}),
    (QUANTISED, {"x1": Meta((4, 3, 5), BF16), "x2": Meta((4, 5, 6), BF16)}),
]


@pytest.mark.parametrize(("call", "changes"), WRONG, ids=lambda item: item.operator if isinstance(item, Case) else str(item)[:60])
def test_parameter_errors(call: Case, changes: dict[str, Any]) -> None:
    assert call.status() == 0
    assert call.but(**changes).status() == ACLNN_ERR_PARAM_INVALID


def test_null_pointers() -> None:
    for call in (MATMUL, BMM, ADDMM, PLAIN):
        for name, kind in call.declared.parameters:
            if kind.pointer and not kind.optional:
                assert call.but(**{name: None}).status() == ACLNN_ERR_PARAM_NULLPTR


def test_products(chip: Any) -> None:
    assert products_of(MATMUL, chip) == NEWER | {"310P"}
    for call in (BMM, ADDMM, PLAIN, QUANTISED):
        assert products_of(call, chip) == NEWER
    chip("Ascend950PR_9589")
    for mode in range(5):
        for call in (MATMUL, BMM, ADDMM):
            assert call.but(cubeMathType=mode).status() == 0
    assert BMM.but(out=Meta((2, 5, 16), F)).status() == 0
    assert MATMUL.but(self=Meta((5, 32), F)).status() == ACLNN_ERR_PARAM_INVALID
    chip("Ascend910A")
    assert BMM.status() == ACLNN_ERR_INNER_NULLPTR
