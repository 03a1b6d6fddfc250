"""Powers, rounded quotients, limits, interpolation, selections and sums, against Python's own operations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import broadcasting_shapes, layouts
from tests.operators.products import products_of
from tests.operators.test_arithmetic import COMPLEX, DOUBLE, INTEGERS

INF, NAN = math.inf, math.nan
MOST = {"950", "A3", "A2", "310P", "910"}
INVALID, NULLPTR = ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR


def power(x: Any, y: Any, out: Any) -> Case:
    """The form with tensors, or with numbers for what has no shape of its own."""
    tensors = [isinstance(value, (np.ndarray, Meta)) for value in (x, y)]
    name = {(True, True): "PowTensorTensor", (True, False): "PowTensorScalar", (False, True): "PowScalarTensor"}[tuple(tensors)]
    return Case(f"aclnn{name}", {"self": x, "exponent": y, "out": out})


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@given(data=st.data())
@settings(max_examples=10)
def test_powers(dtype: Any, device: int, data: st.DataObject) -> None:
    shapes = data.draw(broadcasting_shapes(2, most_dims=3))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x, y = (rng.uniform(low, 3, shape).astype(dtype) for low, shape in zip((0.1, -3), shapes.input_shapes, strict=True))
    expected = np.asarray(np.float64(x) ** np.float64(y))
    out = np.zeros(shapes.result_shape, dtype)
    assert_accurate(power(x, y, out).run(data.draw(layouts)), np.broadcast_to(expected, out.shape))
    if x.shape == out.shape:
        assert_accurate(Case("aclnnInplacePowTensorTensor", {"self": x, "exponent": y}).run(data.draw(layouts)), expected)
    for number in (dtype.type(2), dtype.type(-0.5)):
        assert_accurate(power(x, number, np.zeros_like(x)).run(), np.float64(x) ** float(number))
        assert_accurate(Case("aclnnInplacePowTensorScalar", {"self": x, "exponent": number}).run(), np.float64(x) ** float(number))
    assert_accurate(power(dtype.type(1.5), y, np.zeros_like(y)).run(), 1.5 ** np.float64(y))


@pytest.mark.parametrize("dtype", [DOUBLE, *COMPLEX], ids=str)
def test_powers_of_wide_types(dtype: Any, device: int) -> None:
    x, y = np.abs(numbers((20,), dtype, 1)).astype(dtype) + numbers((20,), dtype, 2) * 0.1, numbers((20,), dtype, 3)
    x = x if dtype in COMPLEX else np.abs(x)
    expected = np.array([a**b for a, b in zip(x.tolist(), y.tolist(), strict=True)])
    np.testing.assert_allclose(power(x, y, np.zeros_like(x)).run(2), expected, rtol=64 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_powers_of_integers(dtype: Any, device: int, chip) -> None:
    """They wrap around, on some chips they stop at the ends of their range; negative powers of all but 1 and -1 are 0."""
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    bases = [base for base in (-3, -2, -1, 0, 1, 2, 3, 7, 11, high, low) if low <= base <= high]
    exponents = [exponent for exponent in (-3, -2, -1, 0, 1, 2, 3, 5, 8, 63, 64, 100) if exponent >= low]
    x, y = (side.ravel().astype(dtype) for side in np.meshgrid(bases, exponents, indexing="ij"))

    def exact(base: int, exponent: int) -> int:
        if exponent < 0:
            return 1 if base == 1 else (-1) ** (exponent % 2) if base == -1 else 0
        return base**exponent

    pairs = [exact(int(a), int(b)) for a, b in zip(x, y, strict=True)]
    wrapped = [(value - low) % (high - low + 1) + low for value in pairs]
    assert power(x, y, np.zeros_like(x)).run(1).tolist() == wrapped
    square = [(int(a) ** 2 - low) % (high - low + 1) + low for a in x]
    assert power(x, dtype.type(2), np.zeros_like(x)).run().tolist() == square
    assert power(dtype.type(2), y, np.zeros_like(y)).run().tolist() == [(exact(2, int(b)) - low) % (high - low + 1) + low for b in y]
    chip("Ascend910A")
    assert power(x, y, np.zeros_like(x)).run(1).tolist() == [min(max(value, low), high) for value in pairs]


def test_powers_on_chips_that_saturate(device: int, chip) -> None:
    x = np.array([300, -300, 2, NAN], np.float16)
    assert_equal(power(x, np.float16(3), np.zeros_like(x)).run(), [INF, -INF, 8, NAN])
    chip("Ascend310P3")
    assert_equal(power(x, np.float16(3), np.zeros_like(x)).run(), [65504, -65504, 8, NAN])


POWER = {"self": Meta((2, 3), np.int32), "exponent": 2, "out": Meta((2, 3), np.int32)}


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, 0),
        ({"exponent": np.int32(-1)}, INVALID),
        ({"exponent": -1.5, "out": Meta((2, 3), np.float32)}, 0),
        ({"self": Meta((2, 3), np.int8), "exponent": np.int8(100)}, 0),
        ({"self": Meta((2, 3), np.bool_), "exponent": True}, INVALID),
        ({"self": Meta((2, 3), np.float16), "exponent": np.float64(1e300), "out": Meta((2, 3), np.float16)}, 0),
        ({"self": Meta((3, 2), np.int32)}, INVALID),
        ({"exponent": 2.5}, INVALID),
        ({"out": Meta((2, 3), np.bool_)}, INVALID),
    ],
    ids=str,
)
def test_exponents_that_are_numbers(changes: dict[str, Any], status: int) -> None:
    assert Case("aclnnPowTensorScalar", POWER).but(**changes).status() == status


def test_exponents_that_the_type_does_not_hold(chip) -> None:
    chip("Ascend950PR_9589")
    assert Case("aclnnPowTensorScalar", {**POWER, "self": Meta((2, 3), np.int8), "exponent": 300}).status() == INVALID
    half = {"self": Meta((2, 3), np.float16), "exponent": 1e6, "out": Meta((2, 3), np.float16)}
    assert Case("aclnnPowTensorScalar", half).status() == INVALID


def test_two_truth_values_have_no_power() -> None:
    truth = Meta((2, 3), np.bool_)
    assert power(truth, truth, truth).status() == INVALID
    assert power(truth, Meta((2, 3), np.int32), Meta((2, 3), np.int32)).status() == 0


def div_mod(x: Any, y: Any, mode: int, out: Any) -> Case:
    return Case("aclnnDivMod" if isinstance(y, (np.ndarray, Meta)) else "aclnnDivMods", {"self": x, "other": y, "mode": mode, "out": out})


MODES = {0: lambda x: x, 1: math.trunc, 2: math.floor}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [*FLOATS, DOUBLE, np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.int8)], ids=str)
def test_rounded_quotients(mode: int, dtype: Any, device: int) -> None:
    x = np.array([7, -7, 7, -7, 9, 0, 100, -100], dtype)
    y = np.array([2, 2, -2, -2, 3, 4, 7, 7], dtype)
    exact = [MODES[mode](a / b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    out = np.zeros_like(x)
    stored = [math.trunc(value) for value in exact] if dtype.kind == "i" else exact
    check = assert_equal if dtype.kind == "i" or mode else lambda one, other: np.testing.assert_allclose(np.float64(one), other, rtol=4e-3)
    check(div_mod(x, y, mode, out).run(1), stored)
    check(Case("aclnnInplaceDivMod", {"selfRef": x, "other": y, "mode": mode}).run(2), stored)
    by_two = [MODES[mode](a / 2) for a in x.tolist()]
    check(div_mod(x, dtype.type(2), mode, out).run(), [math.trunc(one) for one in by_two] if dtype.kind == "i" else by_two)
    check(
        Case("aclnnInplaceDivMods", {"selfRef": x, "other": dtype.type(2), "mode": mode}).run(),
        [math.trunc(one) for one in by_two] if dtype.kind == "i" else by_two,
    )
    if dtype.kind == "i" and mode == 0:
        np.testing.assert_allclose(div_mod(x, y, 0, np.zeros(8, np.float32)).run(), exact, rtol=1e-7)


def test_modes_of_quotients(chip) -> None:
    real, whole, twofold = (Meta((2, 3), dtype) for dtype in (np.float32, np.int32, np.complex64))
    assert div_mod(real, real, 0, real).status() == 0
    assert div_mod(real, real, 3, real).status() == INVALID
    assert div_mod(real, real, -1, real).status() == INVALID
    assert div_mod(twofold, twofold, 0, twofold).status() == 0
    assert div_mod(twofold, twofold, 1, twofold).status() == INVALID
    assert div_mod(real, np.complex64(1), 2, twofold).status() == INVALID
    assert div_mod(real, real, 1, whole).status() == INVALID
    assert div_mod(whole, whole, 0, whole).status() == 0
    chip("Ascend950PR_9589")
    assert div_mod(whole, whole, 0, whole).status() == INVALID
    assert div_mod(whole, whole, 1, whole).status() == 0
    assert div_mod(twofold, np.complex64(1), 0, twofold).status() == 0
    for other, name in ((twofold, "aclnnInplaceDivMod"), (np.complex64(1), "aclnnInplaceDivMods")):
        assert Case(name, {"selfRef": twofold, "other": other, "mode": 0}).status() == INVALID
    assert products_of(div_mod(real, real, 1, real), chip) == {"950", "A3", "A2", "910"}


def limited(x: Array, low: Any, high: Any) -> Array:
    found = [max(min(value, INF if high is None else high), -INF if low is None else low) for value in x.ravel().tolist()]
    return np.array(found).reshape(x.shape)


@pytest.mark.parametrize("dtype", [*FLOATS, DOUBLE, *INTEGERS], ids=str)
def test_limits(dtype: Any, device: int) -> None:
    x = numbers((3, 4), dtype, 1, 4)
    number = lambda value: None if value is None else dtype.type(value)  # noqa: E731
    tensor = lambda value: None if value is None else np.full((4,), value, dtype)  # noqa: E731
    for low, high in ((1, 3), (None, 3), (1, None), (3, 1)):
        expected = limited(x, low, high)
        names = {"clipValueMin": low, "clipValueMax": high}
        for name, make in (("aclnnClamp", number), ("aclnnClampTensor", tensor)):
            call = {"self": x, **{key: make(value) for key, value in names.items()}, "out": np.zeros_like(x)}
            assert_equal(Case(name, call).run(3), expected)
    for name, limit, expected in (
        ("ClampMin", {"clipValueMin": number(1)}, limited(x, 1, None)),
        ("ClampMax", {"clipValueMax": number(1)}, limited(x, None, 1)),
        ("ClampMinTensor", {"clipValueMin": tensor(1)}, limited(x, 1, None)),
        ("ClampMaxTensor", {"max": tensor(1)}, limited(x, None, 1)),
        ("Hardtanh", {"clipValueMin": number(1), "clipValueMax": number(2)}, limited(x, 1, 2)),
    ):
        assert_equal(Case(f"aclnn{name}", {"self": x, **limit, "out": np.zeros_like(x)}).run(2), expected)
        if name != "ClampMin":
            assert_equal(Case(f"aclnnInplace{name}", {"selfRef": x, **limit}).run(2), expected)


def test_limits_of_other_types(device: int) -> None:
    """Elements and limits are compared in the type that they are promoted to."""
    x = np.array([0, 1, 200], np.uint8)
    call = {"self": x, "clipValueMin": -5.5, "clipValueMax": 100.5, "out": np.zeros_like(x)}
    assert Case("aclnnClamp", call).run().tolist() == [0, 1, 100]
    assert Case("aclnnHardtanh", call).run().tolist() == [0, 1, 100]
    assert Case("aclnnClamp", {**call, "out": np.zeros(3, np.float32)}).run().tolist() == [0, 1, 100.5]
    assert_equal(Case("aclnnClampMin", {"self": np.array([NAN, -INF]), "clipValueMin": 0.0, "out": np.zeros(2)}).run(), [NAN, 0])


CLAMP = {"self": Meta((2, 3), FLOAT), "clipValueMin": 0.0, "clipValueMax": 1.0, "out": Meta((2, 3), FLOAT)}


@pytest.mark.parametrize(
    ("name", "changes", "status"),
    [
        ("Clamp", {"clipValueMin": None, "clipValueMax": None}, NULLPTR),
        ("Clamp", {"clipValueMin": None}, 0),
        ("Clamp", {"out": Meta((3, 2), FLOAT)}, INVALID),
        ("Clamp", {"self": Meta((2, 3), np.bool_)}, INVALID),
        ("Clamp", {"clipValueMin": 3.0}, 0),
        ("Hardtanh", {"clipValueMin": 3.0}, INVALID),
        ("Hardtanh", {"clipValueMin": None}, NULLPTR),
        ("Hardtanh", {"out": Meta((2, 3), FLOAT16)}, INVALID),
        ("Hardtanh", {"out": Meta((3, 2), FLOAT)}, INVALID),
        ("ClampTensor", {"clipValueMin": None, "clipValueMax": None}, NULLPTR),
        ("ClampTensor", {"clipValueMin": None, "clipValueMax": Meta((4,), FLOAT)}, INVALID),
        ("ClampTensor", {"clipValueMin": Meta((3,), FLOAT), "clipValueMax": None}, 0),
        ("ClampTensor", {"clipValueMin": Meta((3,), FLOAT), "clipValueMax": None, "out": Meta((2, 3), np.int32)}, INVALID),
    ],
    ids=str,
)
def test_limits_that_are_refused(name: str, changes: dict[str, Any], status: int) -> None:
    assert Case(f"aclnn{name}", {**CLAMP, **changes}).status() == status


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_interpolation(dtype: Any, device: int) -> None:
    x, end, weight = numbers((3, 4), dtype, 1), numbers((4,), dtype, 2), numbers((3, 1), dtype, 3)
    a, b, w = (np.float64(value) for value in (x, end, weight))
    largest = np.abs(a) + np.abs(w) * (np.abs(a) + np.abs(b))
    call = {"self": x, "end": end, "weight": weight, "out": np.zeros_like(x)}
    assert_accurate(Case("aclnnLerp", call).run(2), a + w * (b - a), largest=largest)
    assert_accurate(Case("aclnnInplaceLerp", {"selfRef": x, "end": end, "weight": weight}).run(2), a + w * (b - a), largest=largest)
    third = float(np.asarray(0.3).astype(dtype))
    assert_accurate(Case("aclnnLerps", {**call, "weight": dtype.type(0.3)}).run(), a + third * (b - a), largest=largest + np.abs(b))
    assert_accurate(
        Case("aclnnInplaceLerps", {"selfRef": x, "end": end, "weight": dtype.type(0.3)}).run(),
        a + third * (b - a),
        largest=largest + np.abs(b),
    )


def test_interpolation_that_is_refused(chip) -> None:
    one, half, long = Meta((2, 3), FLOAT), Meta((2, 3), FLOAT16), Meta((2, 4), FLOAT)
    call = {"self": one, "end": one, "weight": one, "out": one}
    for changes in ({"end": half}, {"weight": half}, {"out": half}, {"end": long}, {"weight": long}, {"out": long}):
        assert Case("aclnnLerp", {**call, **changes}).status() == INVALID, changes
    for changes in ({"end": half}, {"end": long}, {"out": long}):
        assert Case("aclnnLerps", {**call, "weight": 0.5, **changes}).status() == INVALID, changes
    assert products_of(Case("aclnnLerp", call), chip) == MOST
    assert products_of(Case("aclnnLerps", {**call, "weight": 2}), chip) == MOST - {"310P"}


def test_selections(device: int) -> None:
    condition = np.array([0, 1, 2, 0], np.uint8)
    x, y = np.array([1, 2, 3, 4], np.int32), np.array([[0.5], [1.5]], np.float32)
    expected = np.where(condition != 0, x, y)
    call = {"condition": condition, "self": x, "other": y, "out": np.zeros((2, 4), np.float32)}
    assert_equal(Case("aclnnSWhere", call).run(2), expected)
    assert_equal(Case("aclnnSWhere", {**call, "condition": condition != 0}).run(2), expected)
    assert_equal(Case("aclnnSWhere", {**call, "out": np.zeros((2, 4), np.int64)}).run(), np.trunc(expected))
    assert Case("aclnnSWhere", {**call, "self": x.astype(np.uint64)}).status() == INVALID
    assert Case("aclnnSWhere", {**call, "self": x[:3]}).status() == INVALID
    assert Case("aclnnSWhere", {**call, "out": np.zeros((4, 2), np.float32)}).status() == INVALID


@pytest.mark.parametrize("dtype", [*FLOATS, np.dtype(np.int32), np.dtype(np.int64)], ids=str)
def test_sums_of_lists(dtype: Any, device: int) -> None:
    terms = [numbers((3, 4), dtype, seed, 9) for seed in range(4)]
    for count in (1, 2, 4):
        total = sum(np.asarray(term, object if dtype.kind == "i" else np.float64) for term in terms[:count])
        result = Case("aclnnAddN", {"tensors": terms[:count], "out": np.zeros((3, 4), dtype)}).run(3)
        assert_accurate(result, total, largest=40) if dtype in FLOATS else assert_equal(result, total)


def test_sums_of_lists_that_are_refused(chip) -> None:
    one, half, other = Meta((2, 3), FLOAT), Meta((2, 3), FLOAT16), Meta((3, 2), FLOAT)
    for tensors, out in (([one, half], one), ([one, other], one), ([one], half), ([one], other)):
        assert Case("aclnnAddN", {"tensors": tensors, "out": out}).status() == INVALID
    assert Case("aclnnAddN", {"tensors": [one, None], "out": one}).status() == NULLPTR
    assert Case("aclnnAddN", {"tensors": [], "out": one}).status() == 0
    chip("Ascend950PR_9589")
    assert Case("aclnnAddN", {"tensors": [one], "out": one}).status() == INVALID


@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16, BF16, np.dtype(np.int32)], ids=str)
def test_numbers_plus_tensors(dtype: Any, device: int) -> None:
    x = numbers((3, 4), dtype, 1, 5)
    expected = 3 + 2 * np.float64(x)
    call = {"self": dtype.type(3), "other": x, "alpha": dtype.type(2), "out": np.zeros_like(x)}
    rsub = {"self": x, "other": dtype.type(3), "alpha": dtype.type(2), "out": np.zeros_like(x)}
    for case, golden in (
        (Case("aclnnAddV3", call), expected),
        (Case("aclnnInplaceAddV3", {"selfRef": dtype.type(3), "other": x, "alpha": dtype.type(2)}), expected),
        (Case("aclnnRsubs", rsub), 3 - 2 * np.float64(x)),
        (Case("aclnnRsub", {**rsub, "other": np.full((4,), 3, dtype)}), 3 - 2 * np.float64(x)),
    ):
        assert_accurate(case.run(2), golden, largest=30) if dtype in FLOATS else assert_equal(case.run(2), golden)
    assert Case("aclnnAddV3", {**call, "alpha": 1.5, "self": 3, "other": np.ones(3, np.int32)}).status() == INVALID
    assert Case("aclnnRsub", {**rsub, "other": np.ones((5,), dtype)}).status() == INVALID


def test_times_logarithm_of_one_more(device: int, chip) -> None:
    chip("Ascend950PR_9589")
    x, y = np.array([2, 0, 0, -1.5, 0], np.float32), np.array([0.5, -1, NAN, 1e-7, INF], np.float32)
    result = Case("aclnnXlog1py", {"x": x, "y": y, "z": np.zeros_like(x)}).run()
    assert_accurate(result, [2 * math.log1p(0.5), 0, NAN, -1.5 * math.log1p(float(y[3])), 0])
    one, half = Meta((2, 3), FLOAT), Meta((2, 3), FLOAT16)
    for wrong in ({"y": half}, {"z": half}, {"y": Meta((2, 4), FLOAT)}, {"z": Meta((3, 2), FLOAT)}):
        assert Case("aclnnXlog1py", {"x": one, "y": one, "z": one, **wrong}).status() == INVALID
    assert products_of(Case("aclnnXlog1py", {"x": one, "y": one, "z": one}), chip) == {"950"}
