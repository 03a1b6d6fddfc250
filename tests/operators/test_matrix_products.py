"""aclnnMatmul, aclnnMm, aclnnAddmm and aclnnInplaceAddmm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_NCL, ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_equal, assert_meets_standard, rounded, spacing
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import float_dtypes, layouts

KEEP, DOWN, HALF, HF32, PRECISE = range(5)
A2, OLD = "Ascend910B1", ("Ascend310P3", "Ascend910A")
NEW = (A2, "Ascend910_9391", "Ascend950PR_9589")


def matmul(a: Any, b: Any, out: Any, mode: int = KEEP, name: str = "aclnnMatmul") -> Case:
    return Case(name, {"self": a, "mat2": b, "out": out, "cubeMathType": mode})


def mm(a: Any, b: Any, out: Any, mode: int = KEEP) -> Case:
    return matmul(a, b, out, mode, "aclnnMm")


def addmm(added: Any, a: Any, b: Any, beta: Any, alpha: Any, out: Any, mode: int = KEEP) -> Case:
    arguments = {"self": added, "mat1": a, "mat2": b, "beta": beta, "alpha": alpha, "out": out, "cubeMathType": mode}
    if out is None:
        del arguments["out"]
        arguments["selfRef"] = arguments.pop("self")
    return Case("aclnnAddmm" if out is not None else "aclnnInplaceAddmm", arguments)


def assert_right(result: Array, a: Array, b: Array, added: Any = 0.0, beta: float = 0.0, alpha: float = 1.0) -> None:
    """Exact products and sums in float64; FLOAT accumulates them, and the result is rounded once."""
    left, right, third = (np.asarray(x, np.float64) for x in (a, b, added))
    golden = alpha * (left @ right) + beta * third
    terms = abs(alpha) * (np.abs(left) @ np.abs(right)) + np.abs(beta * third)
    bound = (left.shape[-1] + 3) * 2.0**-24 * terms + 0.5 * spacing(golden, result.dtype)
    assert result.shape == golden.shape
    assert (np.abs(result.astype(np.float64) - golden) <= bound).all()


def to_hf32(values: Array) -> Array:
    """11 bits behind the point, to nearest even."""
    exact = values.astype(np.float64)
    _, exponent = np.frexp(exact)
    step = np.ldexp(1.0, exponent - 12)
    return np.rint(exact / step) * step


def test_documented_samples(device: int) -> None:
    ones = np.ones((16, 32), np.float32)
    for operator in (matmul, mm):
        assert_equal(operator(ones, ones.T.copy(), np.zeros((16, 16), np.float32), DOWN).run(), np.full((16, 16), 32))
    added, a = np.arange(8, dtype=np.float32).reshape(2, 4), np.array([[1, 1, 1], [2, 2, 2]], np.float32)
    b = np.array([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4], np.float32).reshape(3, 4)
    expected = [7.2, 9.4, 11.6, 13.8, 18.4, 21.8, 25.2, 28.6]
    for out in (np.zeros((2, 4), np.float32), None):
        assert addmm(added, a, b, 1.0, 1.2, out, DOWN).run().ravel().tolist() == pytest.approx(expected)


@st.composite
def shapes_to_multiply(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Vectors, matrices, and batches of up to six dimensions that broadcast."""
    m, k, n = (draw(st.integers(1, 6)) for _ in range(3))
    batch = draw(st.lists(st.integers(0, 3), max_size=4))
    parts = []
    for matrix, vector in (((m, k), (k,)), ((k, n), (k,))):
        own = tuple(draw(st.sampled_from((1, length))) for length in batch[draw(st.integers(0, len(batch))) :])
        parts.append(vector if draw(st.integers(0, 4)) == 0 else own + matrix)
    return parts[0], parts[1]


@given(st.data())
def test_products_of_any_shape(device: int, data: st.DataObject) -> None:
    left, right = data.draw(shapes_to_multiply())
    dtype, out = data.draw(float_dtypes), data.draw(float_dtypes)
    a, b = numbers(left, dtype, 1), numbers(right, FLOAT if dtype != BF16 and data.draw(st.booleans()) else dtype, 2)
    shape = np.matmul(np.zeros(left), np.zeros(right)).shape
    assert_right(matmul(a, b, np.ones(shape, out)).run(data.draw(layouts)), a, b)


@given(st.data())
def test_sums_with_products(device: int, data: st.DataObject) -> None:
    m, k, n = (data.draw(st.integers(1, 6)) for _ in range(3))
    first, second, third, out = (data.draw(float_dtypes) for _ in range(4))
    a, b = numbers((m, k), first, 1), numbers((k, n), second, 2)
    beta, alpha = (
        data.draw(st.sampled_from((1.0, 0.0, -2.5, np.float16(0.3), np.int64(3), np.float64(0.1), np.uint8(2)))) for _ in range(2)
    )
    added = numbers(data.draw(st.sampled_from(((m, n), (1, n), (m, 1), (1, 1), (n,), (1,)))), third, 3)
    factors = [float(np.float32(factor)) for factor in (beta, alpha)]
    assert_right(addmm(added, a, b, beta, alpha, np.ones((m, n), out)).run(data.draw(layouts)), a, b, added, *factors)
    full = numbers((m, n), third, 4)
    assert_right(addmm(full, a, b, beta, alpha, None).run(data.draw(layouts)), a, b, full, *factors)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_large_products(dtype: np.dtype, device: int) -> None:
    a, b = numbers((70, 300), dtype, 1), numbers((300, 90), dtype, 2)
    result = mm(a, b, np.zeros((70, 90), dtype)).run(3)
    assert_right(result, a, b)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert_meets_standard(result[np.abs(exact) > 1], exact[np.abs(exact) > 1])


@pytest.mark.parametrize("operator", [matmul, mm])
def test_float_is_taken_as_hf32(operator: Any, device: int) -> None:
    a, b = numbers((20, 30), FLOAT, 1), numbers((30, 20), FLOAT, 2)
    for mode in (DOWN, HF32):
        assert_right(operator(a, b, np.zeros((20, 20), FLOAT), mode).run(), to_hf32(a), to_hf32(b))
    assert_right(operator(a, b, np.zeros((20, 20), FLOAT), PRECISE).run(), a, b)
    ties = np.array([[1 + 2.0**-12, 1 + 3 * 2.0**-12, -1 - 2.0**-12, np.inf, np.nan, 3.4e38]], np.float32).T
    result = operator(ties, np.ones((1, 1), np.float32), np.zeros((6, 1), np.float32), HF32).run()
    assert_equal(result.ravel()[:5], [1, 1 + 2.0**-10, -1, np.inf, np.nan])


def test_float_is_taken_as_half(chip, device: int) -> None:
    a, b, out = numbers((20, 30), FLOAT, 1), numbers((30, 20), FLOAT, 2), np.zeros((20, 20), FLOAT)
    for soc, mode in ((A2, HALF), *((old, mode) for old in OLD for mode in (DOWN, HALF))):
        chip(soc)
        assert_right(mm(a, b, out, mode).run(), rounded(a, FLOAT16), rounded(b, FLOAT16))
    added = numbers((20,), FLOAT, 3)
    assert_right(addmm(added, a, b, 1.0, 2.0, out, HALF).run(), rounded(a, FLOAT16), rounded(b, FLOAT16), added, 1.0, 2.0)


@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
@pytest.mark.parametrize("mode", [KEEP, DOWN, PRECISE])
def test_halves_stay_as_they_are(dtype: np.dtype, mode: int, device: int) -> None:
    a, b = numbers((20, 30), dtype, 1), numbers((30, 20), dtype, 2)
    assert_right(mm(a, b, np.zeros((20, 20), FLOAT), mode).run(), a, b)


def test_two_vectors_are_multiplied_without_the_matrix_unit(chip, device: int) -> None:
    a, b = numbers((50,), FLOAT, 1), numbers((50,), FLOAT, 2)
    for soc in (A2, OLD[0]):
        chip(soc)
        for mode in range(5):
            assert_right(matmul(a, b, np.zeros((), FLOAT), mode).run(), a, b)


def test_special_numbers(device: int) -> None:
    a = np.array([[np.inf, 1], [np.nan, 1], [1, 0]], np.float16)
    b = np.array([[1, 0], [2, 60000]], np.float16)
    assert_equal(mm(a, b, np.zeros((3, 2), FLOAT16)).run(), [[np.inf, np.nan], [np.nan, np.nan], [1, 0]])
    assert_equal(mm(np.full((1, 2), 300, FLOAT16), np.full((2, 1), 300, FLOAT16), np.zeros((1, 1), FLOAT16)).run(), [[np.inf]])


def test_empty_tensors(device: int) -> None:
    assert matmul(np.zeros((2, 0, 3), FLOAT), np.zeros((3, 4), FLOAT), np.zeros((2, 0, 4), FLOAT)).plan() == (0, 0)
    assert_equal(mm(np.zeros((2, 0), FLOAT), np.zeros((0, 3), FLOAT), np.ones((2, 3), FLOAT)).run(), np.zeros((2, 3)))
    added = numbers((3,), FLOAT, 1)
    result = addmm(added, np.zeros((2, 0), FLOAT), np.zeros((0, 3), FLOAT), 2.0, 1.0, np.ones((2, 3), FLOAT)).run()
    assert_equal(result, np.broadcast_to(2 * added, (2, 3)))


SHAPES = [
    (matmul, (2, 3), (4, 2), (2, 2)),
    (matmul, (2, 3), (3, 4), (4, 3)),
    (matmul, (2, 2, 3), (3, 3, 4), (2, 2, 4)),
    (matmul, (3,), (4,), ()),
    (matmul, (3,), (3,), (2,)),
    (matmul, (), (3,), ()),
    (matmul, (1,) * 7, (1, 1), (1,) * 7),
    (mm, (2, 3), (4, 2), (2, 2)),
    (mm, (2, 3), (3, 2), (2, 3)),
    (mm, (2, 2, 3), (3, 2), (2, 2)),
    (mm, (3,), (3, 2), (2, 2)),
]


@pytest.mark.parametrize(("operator", "a", "b", "out"), SHAPES, ids=lambda item: getattr(item, "__name__", str(item)))
def test_shapes(operator: Any, a: tuple[int, ...], b: tuple[int, ...], out: tuple[int, ...]) -> None:
    assert operator(*(Meta(shape, FLOAT) for shape in (a, b, out))).status() == ACLNN_ERR_PARAM_INVALID


@pytest.mark.parametrize(
    "changes",
    [
        {"self": Meta((3, 4), FLOAT)},
        {"self": Meta((2, 3), FLOAT)},
        {"self": Meta((), FLOAT, storage=())},
        {"self": Meta((1, 2, 4), FLOAT)},
        {"mat1": Meta((2, 4), FLOAT)},
        {"mat2": Meta((4, 4), FLOAT)},
        {"out": Meta((1, 4), FLOAT)},
        {"out": Meta((4, 2), FLOAT)},
        {"self": Meta((2, 4), np.float64)},
        {"mat2": Meta((3, 4), np.int8)},
        {"mat1": Meta((2, 3), FLOAT, format=ACL_FORMAT_FRACTAL_NZ)},
        {"beta": np.True_},
        {"alpha": np.complex64(1)},
        {"alpha": np.uint64(1)},
    ],
    ids=str,
)
def test_parameter_errors_of_sums(changes: dict) -> None:
    case = addmm(Meta((2, 4), FLOAT), Meta((2, 3), FLOAT), Meta((3, 4), FLOAT), 1.0, 1.0, Meta((2, 4), FLOAT))
    assert case.status() == 0
    assert case.but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    inplace = addmm(Meta((2, 4), FLOAT), Meta((2, 3), FLOAT), Meta((3, 4), FLOAT), 1.0, 1.0, None)
    if "out" not in changes:
        assert (
            inplace.but(**{name.replace("self", "selfRef"): value for name, value in changes.items()}).status() == ACLNN_ERR_PARAM_INVALID
        )
    assert inplace.but(selfRef=Meta((1, 4), FLOAT)).status() == ACLNN_ERR_PARAM_INVALID


def test_modes_by_type_and_chip(chip) -> None:
    """1 where a mode is supported: FLOAT, FLOAT16, BF16 on newer chips; FLOAT, FLOAT16 on older ones."""
    newer = {KEEP: "111", DOWN: "111", HALF: "110", HF32: "100", PRECISE: "111", 5: "000", -1: "000"}
    lenient = {**newer, HALF: "111", HF32: "111"}
    older = {KEEP: "01", DOWN: "11", HALF: "11", HF32: "00", PRECISE: "11", 5: "00", -1: "00"}
    for soc in (*NEW, *OLD):
        chip(soc)
        for mode, supported in (older if soc in OLD else lenient if soc in NEW[:2] else newer).items():
            for flag, dtype in zip(supported, (FLOAT, FLOAT16, BF16), strict=False):
                x = Meta((3, 3), dtype)
                found = [operator(x, x, x, mode).status() for operator in (matmul, mm)]
                found += [addmm(x, x, x, 1.0, 1.0, out, mode).status() for out in (x, None)]
                refused = [flag == "0"] * 2 + [flag == "0" or (soc in OLD and mode == PRECISE)] * 2
                assert found == [ACLNN_ERR_PARAM_INVALID if no else 0 for no in refused], (soc, mode, dtype)
                assert not any(refused) or "cubeMathType" in message()


def test_mixed_types_by_chip(chip) -> None:
    half, brain, full = (Meta((3, 3), dtype) for dtype in (FLOAT16, BF16, FLOAT))
    for soc in NEW:
        chip(soc)
        for a, b in ((brain, full), (full, brain), (full, half)):
            assert matmul(a, b, full).status() == mm(a, b, full).status() == addmm(a, a, b, 1.0, 1.0, full).status() == 0
        assert matmul(half, brain, full).status() == (0 if soc == NEW[2] else ACLNN_ERR_PARAM_INVALID)
        assert mm(half, brain, full).status() == 0
        assert matmul(half, full, full, HF32).status() == 0


@pytest.mark.parametrize("soc", [A2, "Ascend310B1"])
def test_order_of_checks(soc: str, chip) -> None:
    chip(soc)
    wrong = mm(Meta((2, 3), np.int8), Meta((9, 9), FLOAT), Meta((1, 1), FLOAT), 9)
    assert wrong.but(out=None).status() == ACLNN_ERR_PARAM_NULLPTR
    for changes, text in (
        ({}, "self has dtype"),
        ({"self": Meta((2, 3), FLOAT)}, "cubeMathType"),
        ({"cubeMathType": KEEP}, "mat2 has shape"),
    ):
        wrong = wrong.but(**changes)
        assert wrong.status() == ACLNN_ERR_PARAM_INVALID
        assert text in message()


def test_products(chip) -> None:
    x = Meta((3, 3), FLOAT16)
    for soc in (*NEW, *OLD, "Ascend310B1"):
        chip(soc)
        expected = ACLNN_ERR_INNER_NULLPTR if soc == "Ascend310B1" else 0
        cases = [matmul(x, x, x), mm(x, x, x), addmm(x, x, x, 1.0, 1.0, x), addmm(x, x, x, 1.0, 1.0, None)]
        assert [case.status() for case in cases] == [expected] * 4
        if soc in OLD:
            assert mm(x._replace(dtype=BF16), x, x).status() == ACLNN_ERR_PARAM_INVALID


def test_factors_are_floats(device: int) -> None:
    one = np.ones((1, 1), FLOAT)
    assert addmm(one, one, one, np.float64(0.1), 0, one).run()[0, 0] == np.float32(0.1)
    assert math.isnan(addmm(one * math.nan, one, one, 0.0, 1.0, one).run()[0, 0])


def test_batches_as_clients_tag_them() -> None:
    """Every 3-D tensor of theirs is NCL, with its memory as one dimension."""
    tagged = [Meta(shape, FLOAT16, format=ACL_FORMAT_NCL, storage=(math.prod(shape),)) for shape in ((2, 3, 4), (2, 4, 5), (2, 3, 5))]
    assert matmul(*tagged).status() == 0


@pytest.mark.parametrize("layout", [0, 1, 4])
def test_outputs_of_another_shape(layout: int, device: int, chip) -> None:
    """As many elements are enough for a product: they are taken in order."""
    a, b = numbers((2, 3, 4), FLOAT16, 1), numbers((4, 5), FLOAT16, 2)
    expected = matmul(a, b, np.zeros((2, 3, 5), FLOAT16)).run()
    for shape in ((5, 6), (30,), (3, 1, 10), (2, 3, 5, 1)):
        assert_equal(matmul(a, b, np.zeros(shape, FLOAT16)).run(layout), expected.reshape(shape))
    row, column = numbers((7,), FLOAT, 3), numbers((7,), FLOAT, 4)
    assert_right(matmul(row, column, np.zeros((1,), FLOAT)).run(layout)[0], row, column)
    for soc, status in ((A2, ACLNN_ERR_PARAM_INVALID), (NEW[2], ACLNN_ERR_INNER_NULLPTR)):
        chip(soc)
        assert matmul(a, b, Meta((2, 3, 4), FLOAT16)).status() == status
        assert "out has shape" in message()


def test_sums_with_a_number(device: int) -> None:
    added, a, b = np.array(2.5, FLOAT), numbers((2, 3), FLOAT, 1), numbers((3, 4), FLOAT, 2)
    for beta in (np.float32(2), np.array(2, BF16)[()]):
        alpha = np.array(0.5, beta.dtype)[()]
        assert_right(addmm(added, a, b, beta, alpha, np.zeros((2, 4), FLOAT)).run(), a, b, added, 2.0, 0.5)


def test_empty_factors_succeed_whatever_the_output_is(device: int) -> None:
    for added, a, b in (((2, 3), (2, 0), (0, 3)), ((1, 3), (0, 4), (4, 3)), ((0, 3), (2, 4), (4, 3))):
        call = addmm(*(np.zeros(shape, FLOAT) for shape in (added, a, b)), 1.0, 1.0, np.full((5, 5), 7, FLOAT))
        assert_equal(call.run(), np.full((5, 5), 7))
