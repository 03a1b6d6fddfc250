"""Products of batches, of a matrix and a vector, of vectors; sums with them; aclnnGemm and aclnnEinsum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_equal, spacing
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import float_dtypes, layouts
from tests.operators.products import products_of
from tests.operators.test_matrix_products import to_hf32

KEEP, DOWN, HALF, HF32, PRECISE = range(5)
NEWER = {"950", "A2", "A3"}


def within(result: Array, golden: Array, terms: Array, length: int) -> None:
    """Sums in FLOAT, rounded once."""
    bound = (length + 4) * 2.0**-24 * terms + 0.5 * spacing(golden, result.dtype)
    assert result.shape == golden.shape
    assert (np.abs(result.astype(np.float64) - golden) <= bound).all()


def wide(*arrays: Any) -> list[Array]:
    return [np.asarray(array, np.float64) for array in arrays]


def bmm(a: Any, b: Any, out: Any, mode: int = KEEP) -> Case:
    return Case("aclnnBatchMatMul", {"self": a, "mat2": b, "out": out, "cubeMathType": mode})


def summed(name: str, added: Any, a: Any, b: Any, beta: Any, alpha: Any, out: Any, mode: int = KEEP) -> Case:
    """aclnnBaddbmm or aclnnAddbmm; in place without ``out``."""
    arguments = {"self": added, "batch1": a, "batch2": b, "beta": beta, "alpha": alpha, "out": out, "cubeMathType": mode}
    if out is None:
        del arguments["out"]
        arguments["selfRef"] = arguments.pop("self")
        name = "Inplace" + name
    return Case("aclnn" + name, arguments)


def mv(a: Any, b: Any, out: Any, mode: int = KEEP) -> Case:
    return Case("aclnnMv", {"self": a, "vec": b, "out": out, "cubeMathType": mode})


def addmv(added: Any, a: Any, b: Any, alpha: Any, beta: Any, out: Any, mode: int = KEEP) -> Case:
    return Case("aclnnAddmv", {"self": added, "mat": a, "vec": b, "alpha": alpha, "beta": beta, "out": out, "cubeMathType": mode})


def gemm(a: Any, b: Any, c: Any, alpha: float, beta: float, flags: tuple[int, int], out: Any, mode: int = KEEP) -> Case:
    names = ("A", "B", "C", "alpha", "beta", "transA", "transB", "out", "cubeMathType")
    return Case("aclnnGemm", dict(zip(names, (a, b, c, alpha, beta, *flags, out, mode), strict=True)))


def dot(a: Any, b: Any, out: Any) -> Case:
    return Case("aclnnDot", {"self": a, "tensor": b, "out": out})


def ger(a: Any, b: Any, out: Any) -> Case:
    return Case("aclnnGer", {"self": a, "vec2": b, "out": out})


def addr(added: Any, a: Any, b: Any, beta: Any, alpha: Any, out: Any) -> Case:
    return Case("aclnnAddr", {"self": added, "vec1": a, "vec2": b, "betaOptional": beta, "alphaOptional": alpha, "out": out})


def einsum(a: Any, b: Any, equation: Any, out: Any) -> Case:
    return Case("aclnnEinsum", {"tensors": [a, b], "equation": equation, "output": out})


@given(st.data())
def test_batches(device: int, data: st.DataObject) -> None:
    m, k, n, count = (data.draw(st.integers(1, 5)) for _ in range(4))
    left, right = (data.draw(st.sampled_from((1, count))) for _ in range(2))
    dtype, out = data.draw(float_dtypes), data.draw(float_dtypes)
    a, b = numbers((left, m, k), dtype, 1), numbers((right, k, n), dtype, 2)
    x, y = wide(a, b)
    result = bmm(a, b, np.ones((max(left, right), m, n), out)).run(data.draw(layouts))
    within(result, x @ y, np.abs(x) @ np.abs(y), k)


@pytest.mark.parametrize("name", ["Baddbmm", "Addbmm"])
@given(data=st.data())
def test_sums_with_batches(name: str, data: st.DataObject, device: int) -> None:
    m, k, n, count = (data.draw(st.integers(1, 5)) for _ in range(4))
    in_place = data.draw(st.booleans())
    left, right = (count if in_place else data.draw(st.sampled_from((1, count))) for _ in range(2))
    first, second = data.draw(float_dtypes), data.draw(float_dtypes)
    a, b = numbers((left, m, k), first, 1), numbers((right, k, n), first, 2)
    shape = (max(left, right), m, n) if name == "Baddbmm" else (m, n)
    own = shape if in_place else data.draw(st.sampled_from((shape, (n,), (1, n), (m, 1), (1,), (m, n))))
    added = numbers(own, second, 3)
    beta, alpha = (data.draw(st.sampled_from((1.0, 0.0, -2.5, np.int64(3), np.float64(0.1), np.True_))) for _ in range(2))
    out = None if in_place else np.ones(shape, second)
    result = summed(name, added, a, b, beta, alpha, out).run(data.draw(layouts))
    x, y, z = wide(a, b, added)
    product, terms = x @ y, np.abs(x) @ np.abs(y)
    if name == "Addbmm":
        product, terms = product.sum(axis=0), terms.sum(axis=0)
    beta, alpha = (float(np.float32(factor)) for factor in (beta, alpha))
    length = k * max(left, right) + max(left, right)
    within(result, np.broadcast_to(alpha * product + beta * z, shape), abs(alpha) * terms + np.abs(beta * z), length)


@pytest.mark.parametrize("name", ["Baddbmm", "Addbmm"])
def test_what_is_multiplied_by_zero_is_ignored(name: str, device: int) -> None:
    one, wrong = np.ones((1, 1, 1), FLOAT), np.full((1, 1, 1), math.nan, FLOAT)
    added = wrong if name == "Baddbmm" else wrong[0]
    assert summed(name, added, one, one, 0.0, 3.0, np.zeros_like(added)).run().ravel().tolist() == [3]
    factors = summed("Addbmm", one[0], wrong, one, 2.0, 0.0, np.zeros_like(one[0]))
    assert factors.run().tolist() == [[2]]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_large_sums(dtype: np.dtype, device: int) -> None:
    """Batches whose matrices and added matrices all differ, worked on by several threads."""
    a, b, added = numbers((6, 70, 300), dtype, 1), numbers((6, 300, 90), dtype, 2), numbers((6, 70, 90), dtype, 3)
    x, y, z = wide(a, b, added)
    golden, terms = 2 * (x @ y) + 0.5 * z, 2 * (np.abs(x) @ np.abs(y)) + 0.5 * np.abs(z)
    for layout in (0, 3):
        within(summed("Baddbmm", added, a, b, 0.5, 2.0, np.zeros_like(added)).run(layout), golden, terms, 300)
    within(summed("Baddbmm", added[:, :1], a, b, 0.5, 2.0, np.zeros_like(added)).run(), golden + 0.5 * (z[:, :1] - z), terms + 4, 300)


def test_a_matrix_in_place_of_a_batch_of_one(device: int) -> None:
    added, a, b = numbers((3, 4), FLOAT, 1), numbers((1, 3, 5), FLOAT, 2), numbers((1, 5, 4), FLOAT, 3)
    x, y, z = wide(a[0], b[0], added)
    within(summed("Baddbmm", added, a, b, 1.0, 1.0, None).run(3), x @ y + z, np.abs(x) @ np.abs(y) + np.abs(z), 6)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_matrix_and_vector(dtype: np.dtype, device: int) -> None:
    a, b, added = numbers((7, 40), dtype, 1), numbers((40,), dtype, 2), numbers((7,), dtype, 3)
    x, y, z = wide(a, b, added)
    for layout in (0, 5):
        within(mv(a, b, np.zeros(7, dtype)).run(layout), x @ y, np.abs(x) @ np.abs(y), 40)
        result = addmv(added, a, b, 2.0, np.float64(0.5), np.zeros(7, dtype)).run(layout)
        within(result, 2 * (x @ y) + 0.5 * z, 2 * (np.abs(x) @ np.abs(y)) + np.abs(z), 41)


def test_modes_round_factors(device: int) -> None:
    a, b, row = numbers((2, 9, 30), FLOAT, 1), numbers((2, 30, 9), FLOAT, 2), numbers((30,), FLOAT, 3)
    x, y, v = to_hf32(a), to_hf32(b), to_hf32(row)
    within(bmm(a, b, np.zeros((2, 9, 9), FLOAT), HF32).run(), x @ y, np.abs(x) @ np.abs(y), 30)
    within(mv(a[0], row, np.zeros(9, FLOAT), DOWN).run(), x[0] @ v, np.abs(x[0]) @ np.abs(v), 30)
    half, other = (array.astype(np.float16).astype(np.float64) for array in (a, b))
    added = np.zeros((9, 9), FLOAT)
    result = summed("Addbmm", added, a, b, 1.0, 1.0, added, HALF).run()
    within(result, (half @ other).sum(axis=0), (np.abs(half) @ np.abs(other)).sum(axis=0), 64)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.float64, np.bool_], ids=str)
def test_addmv_of_other_types(dtype: Any, device: int) -> None:
    a, b, added = numbers((5, 9), dtype, 1, 4), numbers((9,), dtype, 2, 4), numbers((5,), dtype, 3, 4)
    out = np.int32 if dtype == np.bool_ else dtype
    result = addmv(added, a, b, np.int32(3), np.int64(2), np.zeros(5, out)).run(4)
    whole = np.float64 if dtype == np.float64 else np.int64
    golden = 3 * (a.astype(whole) @ b.astype(whole)) + 2 * added.astype(whole)
    np.testing.assert_allclose(result, golden.astype(out), rtol=1e-14)


def test_addmv_of_integers_with_a_fraction(device: int) -> None:
    a, b, added = np.array([[1, 2]], np.int32), np.array([3, 4], np.int32), np.array([5], np.int32)
    assert addmv(added, a, b, 0.5, 1.0, np.zeros(1, FLOAT)).run().tolist() == [10.5]
    assert addmv(added, a, b, 0.5, 1.0, np.zeros(1, np.int32)).status() == ACLNN_ERR_PARAM_INVALID


@pytest.mark.parametrize("flags", [(0, 0), (1, 0), (0, -3), (2, 1)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_gemm(flags: tuple[int, int], dtype: np.dtype, device: int) -> None:
    a, b, c = numbers((6, 5), dtype, 1), numbers((5, 4), dtype, 2), numbers((6, 1), dtype, 3)
    given_a, given_b = a.T.copy() if flags[0] else a, b.T.copy() if flags[1] else b
    x, y, z = wide(a, b, c)
    result = gemm(given_a, given_b, c, 0.5, -2.0, flags, np.zeros((6, 4), dtype)).run(3)
    within(result, 0.5 * (x @ y) - 2 * z, np.abs(x) @ np.abs(y) + 2 * np.abs(z), 6)


@pytest.mark.parametrize("dtype", [*FLOATS, np.int8, np.uint8, np.int32], ids=str)
def test_dot(dtype: Any, device: int) -> None:
    a, b = numbers((300,), dtype, 1, 5), numbers((300,), dtype, 2, 5)
    result = dot(a, b, np.zeros((), dtype)).run(2)
    if np.dtype(dtype) in FLOATS:
        x, y = wide(a, b)
        within(result, x @ y, np.abs(x) @ np.abs(y), 300)
    else:
        assert result == (a.astype(np.int64) @ b.astype(np.int64)).astype(dtype)
    assert dot(a[:0], b[:0], np.ones((), dtype)).run() == 0


PAIRS = [
    (np.float32, np.float32, np.float32),
    (np.float16, np.int8, np.float64),
    (np.int16, np.int64, np.int64),
    (np.bool_, np.bool_, np.bool_),
    (np.uint8, np.bool_, np.int32),
    (np.complex64, np.float32, np.complex128),
    (np.float64, np.int32, np.float32),
]


@pytest.mark.parametrize(("first", "second", "out"), PAIRS, ids=lambda dtype: dtype.__name__)
def test_ger(first: Any, second: Any, out: Any, device: int) -> None:
    a, b = numbers((3,), first, 1, 5), numbers((4,), second, 2, 5)
    result = ger(a, b, np.zeros((3, 4), out)).run(3)
    high = np.complex128 if np.dtype(first).kind == "c" else np.float64
    golden = a.astype(high)[:, None] * b.astype(high)
    narrow = 2.0**-10 if first == np.float16 else 2.0**-22
    np.testing.assert_allclose(result.astype(high), golden.astype(out).astype(high), rtol=0 if np.dtype(out).kind in "ib" else narrow)


@pytest.mark.parametrize("dtype", [*FLOATS, np.float64, np.int8, np.int64, np.bool_], ids=str)
def test_addr(dtype: Any, device: int) -> None:
    added, a, b = numbers((3, 4), dtype, 1, 3), numbers((3,), dtype, 2, 3), numbers((4,), dtype, 3, 3)
    x, y, z = (array.astype(np.float64) for array in (a, b, added))
    beta, alpha = (np.True_, None) if dtype == np.bool_ else (np.int32(2), np.int8(3))
    golden = ((z + x[:, None] * y) != 0) if dtype == np.bool_ else 2 * z + 3 * x[:, None] * y
    for case in (
        addr(added, a, b, beta, alpha, np.zeros((3, 4), dtype)),
        Case("aclnnInplaceAddr", {"selfRef": added, "vec1": a, "vec2": b, "betaOptional": beta, "alphaOptional": alpha}),
    ):
        result = case.run(3)
        if np.dtype(dtype) in FLOATS:
            within(result, golden, 2 * np.abs(z) + 3 * np.abs(x[:, None] * y), 4)
        else:
            np.testing.assert_allclose(result.astype(np.float64), golden.astype(dtype).astype(np.float64), rtol=1e-13)


def test_addr_adds_what_broadcasts(device: int) -> None:
    a, b = np.array([1, 2, 3], FLOAT), np.array([4, 5], FLOAT)
    for shape in ((), (1,), (2,), (3, 1), (1, 2), (3, 2)):
        added = np.full(shape, 2, FLOAT)
        assert_equal(addr(added, a, b, 1.5, 1.5, np.zeros((3, 2), FLOAT)).run(), np.outer(a, b) * 1.5 + 3)


@pytest.mark.parametrize(
    "dtype", [FLOAT, FLOAT16, *map(np.dtype, (np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64))], ids=str
)
def test_einsum(dtype: np.dtype, device: int) -> None:
    a, b = numbers((2, 3, 2, 6), dtype, 1, 5), numbers((2, 3, 2, 4, 6), dtype, 2, 5)
    x, y = wide(a, b)
    result = einsum(a, b, "abcd,abced->abce", np.zeros((2, 3, 2, 4), dtype)).run(3)
    if dtype in FLOATS:
        within(result, np.einsum("abcd,abced->abce", x, y), np.einsum("abcd,abced->abce", np.abs(x), np.abs(y)), 6)
    else:
        assert_equal(result, np.einsum("abcd,abced->abce", x, y).astype(dtype))
    u, v = numbers((3,), dtype, 3, 5), numbers((4,), dtype, 4, 5)
    product = np.multiply.outer(*wide(u, v))
    result = einsum(u, v, "a,b->ab", np.zeros((3, 4), dtype)).run(2)
    within(result, product, np.abs(product), 1) if dtype in FLOATS else assert_equal(result, product.astype(dtype))


def test_documented_samples(device: int) -> None:
    a, b = np.arange(6, dtype=FLOAT).reshape(1, 2, 3), np.array([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4], FLOAT).reshape(1, 3, 4)
    assert_equal(bmm(a, b, np.zeros((1, 2, 4), FLOAT), DOWN).run(), [[[8, 10, 11, 11], [26, 31, 35, 38]]])
    assert mv(np.arange(1, 7, dtype=FLOAT).reshape(2, 3), np.array([7, 8, 9], FLOAT), np.zeros(2, FLOAT), DOWN).run().tolist() == [50, 122]
    ones = np.ones((2, 2), FLOAT)
    assert addmv(ones[0], ones, ones[0], 1.0, 1.0, np.zeros(2, FLOAT), DOWN).run().tolist() == [3, 3]
    pair = np.array([[1, 2], [1, 2]], FLOAT)
    assert gemm(pair, pair, ones, 1.0, 2.0, (0, 0), np.zeros((2, 2), FLOAT), DOWN).run().ravel().tolist() == [5, 8, 5, 8]
    count = np.arange(4, dtype=FLOAT)
    assert dot(count, count, np.zeros((), FLOAT)).run() == 14


def test_empty_batches(device: int) -> None:
    assert bmm(np.zeros((0, 2, 3), FLOAT), np.zeros((0, 3, 4), FLOAT), np.zeros((0, 2, 4), FLOAT)).plan() == (0, 0)
    nothing, other = np.zeros((2, 3, 0), FLOAT), np.zeros((2, 0, 4), FLOAT)
    assert_equal(bmm(nothing, other, np.ones((2, 3, 4), FLOAT)).run(), np.zeros((2, 3, 4)))
    added = numbers((3, 4), FLOAT, 1)
    assert_equal(
        summed("Baddbmm", added, nothing, other, 2.0, 1.0, np.zeros((2, 3, 4), FLOAT)).run(), np.broadcast_to(2 * added, (2, 3, 4))
    )
    assert_equal(summed("Addbmm", added, nothing, other, 2.0, 1.0, np.zeros((3, 4), FLOAT)).run(), 2 * added)


F, H, B, I32 = FLOAT, FLOAT16, BF16, np.dtype(np.int32)
X = Meta((2, 3, 4), F)
BMM = bmm(X, Meta((2, 4, 5), F), Meta((2, 3, 5), F))
BADD = summed("Baddbmm", Meta((3, 5), F), X, Meta((2, 4, 5), F), 1.0, 1.0, Meta((2, 3, 5), F))
BADD_IN_PLACE = summed("Baddbmm", Meta((2, 3, 5), F), X, Meta((2, 4, 5), F), 1.0, 1.0, None)
ADDB = summed("Addbmm", Meta((3, 5), F), X, Meta((2, 4, 5), F), 1.0, 1.0, Meta((3, 5), F))
ADDB_IN_PLACE = summed("Addbmm", Meta((3, 5), F), X, Meta((2, 4, 5), F), 1.0, 1.0, None)
MV = mv(Meta((3, 4), F), Meta((4,), F), Meta((3,), F))
ADDMV = addmv(Meta((3,), F), Meta((3, 4), F), Meta((4,), F), 1.0, 1.0, Meta((3,), F))
GEMM = gemm(Meta((3, 4), F), Meta((4, 5), F), Meta((3, 5), F), 1.0, 1.0, (0, 0), Meta((3, 5), F))
DOT = dot(Meta((4,), F), Meta((4,), F), Meta((), F))
GER = ger(Meta((3,), F), Meta((4,), F), Meta((3, 4), F))
ADDR = addr(Meta((3, 4), F), Meta((3,), F), Meta((4,), F), 1.0, 1.0, Meta((3, 4), F))
ADDR_INT = addr(Meta((3, 4), I32), Meta((3,), I32), Meta((4,), I32), np.int32(1), None, Meta((3, 4), I32))
LONG = einsum(Meta((2, 3, 4, 5), F), Meta((2, 3, 4, 6, 5), F), "abcd,abced->abce", Meta((2, 3, 4, 6), F))
OUTER = einsum(Meta((3,), F), Meta((4,), F), "a,b->ab", Meta((3, 4), F))

WRONG: list[tuple[Case, dict[str, Any]]] = [
    (BMM, {"self": Meta((2, 3, 4), np.float64)}),
    (BMM, {"self": Meta((3, 4), F)}),
    (BMM, {"mat2": Meta((2, 5, 4), F)}),
    (BMM, {"mat2": Meta((3, 4, 5), F)}),
    (BMM, {"mat2": Meta((1, 2, 4, 5), F)}),
    (BMM, {"out": Meta((2, 5, 3), F)}),
    (BMM, {"self": Meta((2, 3, 4), H), "mat2": Meta((2, 4, 5), B)}),
    (BMM, {"cubeMathType": 5}),
    (BADD, {"self": Meta((3, 5), H)}),
    (BADD, {"self": Meta((4, 5), F)}),
    (BADD, {"self": Meta((1, 2, 3, 5), F)}),
    (BADD, {"self": Meta((0, 5), F)}),
    (BADD, {"batch1": Meta((2, 3, 4), I32)}),
    (BADD, {"batch1": Meta((3, 4), F)}),
    (BADD, {"batch2": Meta((2, 5, 4), F)}),
    (BADD, {"out": Meta((3, 5), F)}),
    (BADD, {"alpha": np.complex64(1)}),
    (BADD_IN_PLACE, {"batch2": Meta((1, 4, 5), F)}),
    (BADD_IN_PLACE, {"selfRef": Meta((3, 5), F)}),
    (BADD_IN_PLACE, {"selfRef": Meta((2, 1, 5), F)}),
    (BADD_IN_PLACE, {"batch1": Meta((2, 3, 5), F)}),
    (ADDB, {"self": Meta((3, 5), H)}),
    (ADDB, {"self": Meta((4, 5), F)}),
    (ADDB, {"self": Meta((), F)}),
    (ADDB, {"batch1": Meta((3, 3, 4), F)}),
    (ADDB, {"batch2": Meta((2, 5, 5), F)}),
    (ADDB, {"batch2": Meta((4, 5), F)}),
    (ADDB, {"out": Meta((2, 3, 5), F)}),
    (ADDB, {"batch1": Meta((2, 0, 4), F)}),
    (ADDB_IN_PLACE, {"selfRef": Meta((1, 5), F)}),
    (ADDB_IN_PLACE, {"selfRef": Meta((3, 5), I32)}),
    (MV, {"self": Meta((3, 4), I32)}),
    (MV, {"vec": Meta((4,), H)}),
    (MV, {"vec": Meta((3,), F)}),
    (MV, {"vec": Meta((4, 1), F)}),
    (MV, {"out": Meta((4,), F)}),
    (MV, {"cubeMathType": -1}),
    (ADDMV, {"self": Meta((3,), np.complex64)}),
    (ADDMV, {"self": Meta((4,), F)}),
    (ADDMV, {"self": Meta((1,), F), "alpha": 0.0}),
    (ADDMV, {"vec": Meta((3,), F)}),
    (ADDMV, {"out": Meta((3,), I32)}),
    (ADDMV, {"out": Meta((1,), F)}),
    (ADDMV, {"out": Meta((3,), np.bool_)}),
    (GEMM, {"A": Meta((3, 4, 1), F)}),
    (GEMM, {"A": Meta((3, 4), I32)}),
    (GEMM, {"transA": 1}),
    (GEMM, {"transB": 1}),
    (GEMM, {"C": Meta((2, 5), F)}),
    (GEMM, {"C": Meta((5,), F)}),
    (GEMM, {"out": Meta((5, 3), F)}),
    (GEMM, {"cubeMathType": 9}),
    (DOT, {"self": Meta((4,), np.int64)}),
    (DOT, {"tensor": Meta((4,), H)}),
    (DOT, {"tensor": Meta((5,), F)}),
    (DOT, {"self": Meta((4, 1), F)}),
    (DOT, {"out": Meta((4,), F)}),
    (GER, {"self": Meta((3,), np.uint16)}),
    (GER, {"self": Meta((3,), B)}),
    (GER, {"self": Meta((3, 1), F)}),
    (GER, {"out": Meta((3, 4), I32)}),
    (GER, {"out": Meta((4, 3), F)}),
    (GER, {"out": Meta((12,), F)}),
    (ADDR, {"vec1": Meta((3, 1), F)}),
    (ADDR, {"self": Meta((1, 3, 4), F)}),
    (ADDR, {"self": Meta((2, 4), F)}),
    (ADDR, {"betaOptional": np.True_}),
    (ADDR, {"vec1": Meta((3,), np.uint32)}),
    (ADDR, {"out": Meta((3, 4), I32)}),
    (ADDR, {"out": Meta((4, 3), F)}),
    (ADDR_INT, {"alphaOptional": 0.5}),
    (LONG, {"equation": "ab,bc->ac"}),
    (LONG, {"equation": ""}),
    (LONG, {"tensors": [X]}),
    (LONG, {"tensors": [Meta((2, 3, 4, 5), H), Meta((2, 3, 4, 6, 5), F)]}),
    (LONG, {"tensors": [Meta((2, 3, 4, 5, 1), F), Meta((2, 3, 4, 6, 5), F)]}),
    (LONG, {"tensors": [Meta((2, 3, 4, 5), F), Meta((2, 3, 4, 30), F)]}),
    (LONG, {"tensors": [Meta((2, 3, 4, 5), F), Meta((2, 3, 1, 6, 5), F)]}),
    (LONG, {"tensors": [Meta((2, 3, 4, 5), F), Meta((2, 3, 4, 6, 4), F)]}),
    (LONG, {"output": Meta((2, 3, 4, 5), F)}),
    (LONG, {"output": Meta((2, 3, 4, 6), H)}),
    (OUTER, {"tensors": [Meta((3, 1), F), Meta((4,), F)]}),
    (OUTER, {"tensors": [Meta((3,), F), Meta((4, 1), F)]}),
    (OUTER, {"output": Meta((4, 3), F)}),
]


@pytest.mark.parametrize(("call", "changes"), WRONG, ids=lambda item: item.operator if isinstance(item, Case) else str(item)[:60])
def test_parameter_errors(call: Case, changes: dict[str, Any]) -> None:
    assert call.status() == 0
    assert call.but(**changes).status() == ACLNN_ERR_PARAM_INVALID


def test_null_pointers() -> None:
    for call in (BMM, BADD, ADDB_IN_PLACE, MV, ADDMV, GEMM, DOT, GER, LONG):
        for name, kind in call.declared.parameters:
            if kind.pointer:
                assert call.but(**{name: None}).status() == ACLNN_ERR_PARAM_NULLPTR
    assert ADDR.but(betaOptional=None, alphaOptional=None).status() == 0


def test_modes_by_type_and_chip(chip: Any) -> None:
    """Batches take modes that a type has no use for on every newer chip, the others only where the library does."""
    for soc in ("Ascend910B1", "Ascend950PR_9589", "Ascend310P3"):
        chip(soc)
        older, newest = soc.startswith("Ascend310"), soc.startswith("Ascend950")
        for dtype in (F, H) if older else (F, H, B):
            for mode in range(5):
                batches = [case.but(**_typed(case, dtype), cubeMathType=mode).status() for case in (BMM, BADD, ADDB, BADD_IN_PLACE)]
                plain = [case.but(**_typed(case, dtype), cubeMathType=mode).status() for case in (MV, ADDMV, GEMM)]
                refused = older and (mode == HF32 or (mode == KEEP and dtype is F))
                strict = refused or (newest and ((mode == HALF and dtype is B) or (mode == HF32 and dtype is not F)))
                precise = older and mode == PRECISE
                expected = [refused, refused or precise, refused or precise, refused or precise]
                assert batches == [ACLNN_ERR_PARAM_INVALID if no else 0 for no in expected], (soc, dtype, mode)
                assert plain == [ACLNN_ERR_PARAM_INVALID if no else 0 for no in (strict, strict, strict or precise)], (soc, dtype, mode)
                assert not refused or "cubeMathType" in message()


def _typed(case: Case, dtype: np.dtype) -> dict[str, Meta]:
    return {name: value._replace(dtype=dtype) for name, value in case.arguments.items() if isinstance(value, Meta)}


def test_products(chip: Any) -> None:
    everywhere = {"950", "A3", "A2", "310P", "910"}
    for case in (BMM, BADD, BADD_IN_PLACE, ADDB, ADDB_IN_PLACE, MV, ADDMV, GEMM, DOT):
        assert products_of(case.but(**_typed(case, H)), chip) == everywhere, case.operator
    for case in (GER, ADDR):
        assert products_of(case, chip) == everywhere - {"310P"}
    assert products_of(einsum(Meta((3,), H), Meta((4,), H), "a,b->ab", Meta((3, 4), H)), chip) == everywhere - {"910"}
    chip("Ascend310P3")
    assert OUTER.status() == ACLNN_ERR_PARAM_INVALID
    chip("Ascend950PR_9589")
    assert GER.but(**_typed(GER, B)).status() == 0
