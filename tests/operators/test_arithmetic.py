"""aclnnAdd, aclnnSub, aclnnMul, their forms with a scalar, and all of them in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACL_COMPLEX32, ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_equal, rounded
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import broadcasting_shapes, layouts, shapes

DOUBLE, BOOL = np.dtype(np.float64), np.dtype(np.bool_)
INTEGERS = [np.dtype(t) for t in (np.int8, np.uint8, np.int16, np.int32, np.int64)]
FLOATING = [FLOAT16, BF16, FLOAT, DOUBLE]
COMPLEX = [np.dtype(np.complex64), np.dtype(np.complex128)]
TYPES = [BOOL, *INTEGERS, *FLOATING, *COMPLEX]
EPSILON = dict(zip([*FLOATING, *COMPLEX], (2.0**-10, 2.0**-7, 2.0**-23, 2.0**-52, 2.0**-23, 2.0**-52), strict=True))

SIGNS = {"Add": 1, "Sub": -1, "Mul": 0}
"""The sign of ``alpha * other``; 0 where the operator multiplies and has no alpha."""
FORMS = [(operation, scalar, inplace) for operation in SIGNS for scalar in (False, True) for inplace in (False, True)]


def level(dtype: np.dtype) -> int:
    """A result may be stored at its own level of generality or above, and as a truth value only if it is one."""
    return next(i for i, group in enumerate(([BOOL], INTEGERS, FLOATING, COMPLEX)) if dtype in group)


def common(a: np.dtype, b: np.dtype) -> np.dtype:
    """The documented promotion of two tensors, as rules instead of a table."""
    low, high = sorted((a, b), key=lambda dtype: (level(dtype), dtype.itemsize))
    if level(low) == level(high) == 1 and {low, high} == {INTEGERS[0], INTEGERS[1]}:
        return np.dtype(np.int16)
    if {low, high} == {FLOAT16, BF16}:
        return FLOAT
    return COMPLEX[1] if low == DOUBLE and high == COMPLEX[0] else high


def call(operation: str, x: Array, y: Any, alpha: Any, out: Array | None) -> Case:
    """Out of place, or in place where no output is given; a number for ``y`` is a scalar."""
    name = f"aclnn{'Inplace' if out is None else ''}{operation}{'' if isinstance(y, (np.ndarray, Meta)) else 's'}"
    arguments = {"selfRef" if out is None else "self": x, "other": y}
    if SIGNS[operation]:
        arguments["alpha"] = alpha
    return Case(name, arguments if out is None else {**arguments, "out": out})


def valid(operation: str = "Add", dtype: Any = FLOAT, scalar: bool = False, inplace: bool = False, shape: tuple[int, ...] = (2, 3)) -> Case:
    x, y, out = (numbers(shape, dtype, seed, 3) for seed in range(3))
    one = np.asarray(1).astype(dtype)[()]
    return call(operation, x, one if scalar else y, one, None if inplace else out)


def seen(values: Any, via: np.dtype) -> Array:
    """An input as the computing type holds it, in the widest type of its kind; integers as Python's."""
    values = np.asarray(values)
    if level(via) < 2:
        wrapped = values.astype(np.int64) if via == BOOL else values.astype(via)
        return wrapped.astype(object)
    if via in (FLOAT16, BF16):
        return rounded(values.astype(np.float64), via)
    return values.astype(via).astype(np.complex128 if via in COMPLEX else np.float64)


def assert_right(operation: str, x: Array, y: Any, alpha: Any, via: np.dtype, result: Array) -> None:
    """The formula in exact integers, or in the widest type of the kind."""
    sign = SIGNS[operation]
    left, right = seen(x, via), seen(y, via)
    with np.errstate(all="ignore"):
        term = right if sign == 0 else seen(alpha, via) * right
        golden = np.broadcast_to(np.asarray(left * term if sign == 0 else left + sign * term), result.shape)
    if level(via) < 2:
        modulus, least = (2, 0) if via == BOOL else (2 ** (8 * via.itemsize), np.iinfo(via).min)
        exact = [bool(v) if via == BOOL else (int(v) - least) % modulus + least for v in golden.ravel()]
        golden = np.array(exact, via).reshape(result.shape)
        if level(result.dtype) < 2:
            assert result.tobytes() == golden.astype(result.dtype).tobytes()
        else:
            assert_close(result, golden.astype(np.float64), 0)
    elif via in (FLOAT16, BF16):
        assert_close(result, rounded(golden, via), 0)
    else:
        largest = (
            np.abs(golden)
            if sign == 0 and via not in COMPLEX
            else np.abs(left) * np.abs(term)
            if sign == 0
            else np.abs(left) + np.abs(term)
        )
        assert_close(result, golden, 4 * EPSILON[via] * largest)


def assert_close(result: Array, golden: Array, bound: Any) -> None:
    """Within ``bound`` before the result is rounded to its own type, if it is a narrower one."""
    with np.errstate(all="ignore"):
        nearest = rounded(golden, result.dtype) if result.dtype in (FLOAT, FLOAT16, BF16) else golden.astype(result.dtype)
        error = np.abs(np.complex128(result) - np.complex128(golden))
        within = error <= bound + EPSILON[result.dtype] * np.abs(golden) + (2.0**-24 if result.dtype == FLOAT16 else 0)
    assert ((np.complex128(result) == np.complex128(nearest)) | (within & np.any(bound))).all()


@st.composite
def values(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype) -> Array:
    """Numbers of any type: whole ones over all of their range, others around zero."""
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    if level(dtype) < 2:
        low, high = (0, 1) if dtype == BOOL else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        small = draw(st.booleans())
        return np.asarray(rng.integers(max(low, -5) if small else low, 5 if small and high > 1 else high, shape, np.int64, True)).astype(
            dtype
        )
    parts = rng.standard_normal(shape) * 3
    return np.asarray(parts + 1j * rng.standard_normal(shape) if dtype in COMPLEX else parts).astype(dtype)


def storable(via: np.dtype) -> list[np.dtype]:
    return [dtype for dtype in TYPES if level(dtype) >= level(via)]


def test_documented_samples(device: int) -> None:
    x, y = np.arange(8, dtype=np.float32), np.array([1, 1, 1, 2, 2, 2, 3, 3], np.float32)
    out = np.empty(8, np.float32)
    for operation, result in (
        ("Add", [1.2, 2.2, 3.2, 5.4, 6.4, 7.4, 9.6, 10.6]),
        ("Sub", [-1.2, -0.2, 0.8, 0.6, 1.6, 2.6, 2.4, 3.4]),
        ("Mul", [0, 1, 2, 6, 8, 10, 18, 21]),
    ):
        for target in (out, None):
            assert call(operation, x, y, 1.2, target).run().tolist() == pytest.approx(result)
    assert call("Mul", x, np.float32(1.2), None, out).run().tolist() == pytest.approx([1.2 * i for i in range(8)])
    assert call("Add", x, np.float32(2), 1.2, out).run().tolist() == pytest.approx([i + 2.4 for i in range(8)])


@pytest.mark.parametrize("operation", SIGNS)
@given(data=st.data())
def test_values(operation: str, device: int, data: st.DataObject) -> None:
    """Every mix of types, shapes that broadcast, strides."""
    drawn = data.draw(broadcasting_shapes(2))
    dtypes = [data.draw(st.sampled_from(TYPES)) for _ in range(2)]
    x, y = (data.draw(values(shape, dtype)) for shape, dtype in zip(drawn.input_shapes, dtypes, strict=True))
    via = common(*dtypes)
    alpha = data.draw(values((), data.draw(st.sampled_from([t for t in TYPES if level(t) <= level(via)]))))[()]
    out = np.ones(drawn.result_shape, data.draw(st.sampled_from(storable(via))))
    assert_right(operation, x, y, alpha, via, call(operation, x, y, alpha, out).run(data.draw(layouts)))


@pytest.mark.parametrize("operation", SIGNS)
@given(data=st.data())
def test_values_in_place(operation: str, device: int, data: st.DataObject) -> None:
    """The result goes back to the type of selfRef."""
    shape = data.draw(shapes(most_dims=3))
    other = tuple(data.draw(st.sampled_from((1, length))) for length in shape[data.draw(st.integers(0, len(shape))) :])
    dtype = data.draw(st.sampled_from(TYPES))
    second = data.draw(st.sampled_from([t for t in TYPES if dtype in storable(common(dtype, t))]))
    x, y = data.draw(values(shape, dtype)), data.draw(values(other, second))
    via = common(dtype, second)
    alpha = data.draw(values((), via))[()]
    assert_right(operation, x, y, alpha, via, call(operation, x, y, alpha, None).run(data.draw(layouts)))


@pytest.mark.parametrize("operation", SIGNS)
@given(data=st.data())
def test_values_with_a_scalar(operation: str, device: int, data: st.DataObject) -> None:
    """A scalar is promoted as a tensor is."""
    shape, first, second = data.draw(shapes()), *(data.draw(st.sampled_from(TYPES)) for _ in range(2))
    x, y = data.draw(values(shape, first)), data.draw(values((), second))[()]
    via = common(first, second)
    alpha = data.draw(values((), via))[()]
    out = np.ones(shape, data.draw(st.sampled_from(storable(via))))
    assert_right(operation, x, y, alpha, via, call(operation, x, y, alpha, out).run(data.draw(layouts)))
    if first in storable(via) and (operation != "Add" or not {first, second} & set(COMPLEX)):
        assert_right(operation, x, y, alpha, via, call(operation, x, y, alpha, None).run(data.draw(layouts)))


def on_the_newest(scalar: np.dtype, tensor: np.dtype) -> np.dtype:
    """The documented promotion of a scalar on 950: it counts by its kind, and yields to a tensor of the same kind."""
    if level(scalar) <= level(tensor) and (tensor != BOOL):
        return COMPLEX[1] if scalar == DOUBLE and tensor in COMPLEX else tensor
    if level(scalar) == 3:
        return COMPLEX[1] if tensor == DOUBLE else COMPLEX[0]
    return FLOAT if level(scalar) == 2 else scalar


@pytest.mark.parametrize("tensor", TYPES, ids=str)
def test_scalars_on_the_newest_chip(tensor: np.dtype, chip, device: int) -> None:
    chip("Ascend950PR_9589")
    for scalar in TYPES:
        if level(scalar) == 3 and tensor == FLOAT16:
            continue
        via = on_the_newest(scalar, tensor)
        x, y = numbers((5,), tensor, 1, 3), np.asarray(1.2).astype(scalar)[()]
        result = call("Mul", x, y, None, np.zeros(5, via)).run()
        assert_right("Mul", x, y, None, via, result)
        for narrower in (t for t in TYPES if level(t) < level(via)):
            assert call("Mul", x, y, None, np.zeros(5, narrower)).status() == ACLNN_ERR_PARAM_INVALID


def test_half_precision_meets_a_complex_scalar_on_the_newest_chip(chip, device: int) -> None:
    """The parts are rounded to half precision before they are stored."""
    chip("Ascend950PR_9589")
    x, y = np.array([1, 3, 60000, np.inf], FLOAT16), np.complex64(1.1 + 2.3j)
    result = call("Mul", x, y, None, np.zeros(4, COMPLEX[0])).run()
    assert result[:2].tolist() == [complex(np.float16(v * np.float16(1.1)), np.float16(v * np.float16(2.3))) for v in (1, 3)]
    assert np.isinf(result[2].imag)


@pytest.mark.parametrize(("operation", "dtype"), [(o, d) for o in SIGNS for d in FLOATING], ids=str)
def test_infinities_and_nan(operation: str, dtype: np.dtype, device: int) -> None:
    special = np.array([-np.inf, -1, -0.0, 0, 1, np.inf, np.nan])
    x, y = (part.ravel().astype(dtype) for part in np.meshgrid(special, special))
    alpha = np.asarray(2).astype(dtype)[()]
    with np.errstate(all="ignore"):
        term = 2 * y.astype(np.float64)
        expected = x.astype(np.float64) * term / 2 if operation == "Mul" else x.astype(np.float64) + SIGNS[operation] * term
    assert_equal(call(operation, x, y, alpha, np.zeros_like(x)).run(), expected)


def test_truth_values(device: int) -> None:
    """Sums are integers, and what is not zero is true."""
    x, y = np.array([0, 0, 1, 1], np.bool_), np.array([0, 1, 0, 1], np.bool_)
    for operation, expected in (("Add", [0, 1, 1, 1]), ("Sub", [0, 1, 1, 0]), ("Mul", [0, 0, 0, 1])):
        for dtype in (BOOL, np.int32, FLOAT):
            assert_equal(call(operation, x, y, np.True_, np.zeros(4, dtype)).run(), expected)


def test_scalars_wrap_around(device: int) -> None:
    x = np.array([1, 2, 3], np.uint8)
    assert call("Add", x, x, np.int64(-1), np.empty_like(x)).run().tolist() == [0, 0, 0]
    assert call("Mul", x.astype(np.int8), np.int8(127), None, None).run().tolist() == [127, -2, 125]


def test_alpha_is_rounded_to_the_computing_type(device: int) -> None:
    x = np.zeros(1, FLOAT16)
    result = call("Add", x, np.ones(1, FLOAT16), 1.2, np.zeros(1, FLOAT)).run()
    assert result[0] == np.float32(np.float16(1.2))


@pytest.mark.parametrize(("operation", "scalar", "inplace"), FORMS)
@pytest.mark.parametrize("shape", [(), (1,) * 8, (2, 1, 2, 1, 2, 1, 2, 1), (0,), (3, 0, 2)], ids=str)
def test_ranks_and_empty_tensors(operation: str, scalar: bool, inplace: bool, shape: tuple[int, ...], device: int) -> None:
    case = valid(operation, BF16, scalar, inplace, shape)
    arguments = list(case.arguments.values())
    assert_right(operation, arguments[0], arguments[1], np.float32(1), BF16, case.run(3))
    assert (case.plan()[1] == 0) == (0 in shape)


WRONG = {"dtype": Meta((2, 3), np.uint16), "complex32": Meta((2, 3), ACL_COMPLEX32), "rank": Meta((1,) * 9, FLOAT)}


@pytest.mark.parametrize(("operation", "scalar", "inplace"), FORMS)
def test_parameter_errors(operation: str, scalar: bool, inplace: bool) -> None:
    case = valid(operation, FLOAT, scalar, inplace)
    for name in case.arguments:
        changes = [np.uint16(1), np.uint64(1)] if name == "alpha" or (scalar and name == "other") else list(WRONG.values())
        changes += [Meta((2, 2), FLOAT)] if name == "out" or (name == "other" and not scalar) else []
        for change in changes:
            assert case.but(**{name: change}).status() == ACLNN_ERR_PARAM_INVALID, (name, change)
            assert f": {name} " in message()


@pytest.mark.parametrize("operation", SIGNS)
def test_results_that_cannot_be_stored(operation: str) -> None:
    for dtype, out in ((FLOAT, np.int32), (FLOAT, np.bool_), (np.complex64, FLOAT), (np.int8, np.bool_)):
        assert valid(operation, dtype).but(out=Meta((2, 3), out)).status() == ACLNN_ERR_PARAM_INVALID
        assert ": out has dtype" in message()
        assert call(operation, Meta((2, 3), out), Meta((2, 3), dtype), np.True_, None).status() == ACLNN_ERR_PARAM_INVALID
        assert ": selfRef has dtype" in message()


@pytest.mark.parametrize("operation", ["Add", "Sub"])
def test_alpha_that_cannot_be_converted(operation: str) -> None:
    for dtype, alpha in ((np.int32, np.float32(1)), (FLOAT, np.complex64(1)), (np.bool_, np.float32(1))):
        for scalar in (False, True):
            assert valid(operation, dtype, scalar).but(alpha=alpha).status() == ACLNN_ERR_PARAM_INVALID
            assert ": alpha has dtype" in message()


@pytest.mark.parametrize("operation", ["Add", "Sub"])
def test_truth_values_with_a_whole_alpha(operation: str, device: int) -> None:
    """What is not zero counts as one."""
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    for alpha, factor in ((np.int64(1), True), (np.int64(2), True), (np.int32(0), False)):
        expected = (x | (y & factor)) if operation == "Add" else x ^ (y & factor)
        assert_equal(call(operation, x, y, alpha, np.zeros(4, np.bool_)).run(), expected)
        assert_equal(call(operation, x.copy(), y, alpha, None).run(), expected)
        assert_equal(call(operation, x, np.True_, alpha, np.zeros(4, np.bool_)).run(), x | factor if operation == "Add" else x ^ factor)


@pytest.mark.parametrize("operation", SIGNS)
def test_shapes(operation: str) -> None:
    for x, y, out in (((2, 3), (2, 2), (2, 3)), ((2, 3), (3,), (3,)), ((1, 3), (2, 1), (1, 3)), ((0,), (2,), (0,))):
        assert call(operation, Meta(x, FLOAT), Meta(y, FLOAT), 1.0, Meta(out, FLOAT)).status() == ACLNN_ERR_PARAM_INVALID
    assert call(operation, Meta((1, 3), FLOAT), Meta((2, 3), FLOAT), 1.0, None).status() == ACLNN_ERR_PARAM_INVALID
    alternating = Meta((5, 1, 5, 1, 5, 1), np.int16), Meta((5,) * 6, np.int16)
    assert call(operation, *alternating, np.int8(1), Meta((5,) * 6, np.int16)).status() == ACLNN_ERR_PARAM_INVALID


ORDER = [
    ({"out": None, "self": Meta((2, 3), np.uint16)}, ACLNN_ERR_PARAM_NULLPTR, "out"),
    ({"self": Meta((2, 2), np.uint16), "alpha": np.complex64(1)}, ACLNN_ERR_PARAM_INVALID, "self has dtype"),
    ({"alpha": np.complex64(1), "out": Meta((9,), np.int8)}, ACLNN_ERR_PARAM_INVALID, "alpha has dtype"),
    ({"out": Meta((9,), np.int8), "other": Meta((9,), FLOAT)}, ACLNN_ERR_PARAM_INVALID, "out has dtype"),
    ({"out": Meta((9,), FLOAT), "other": Meta((9,), FLOAT)}, ACLNN_ERR_PARAM_INVALID, "other has shape"),
]


@pytest.mark.parametrize("soc", ["Ascend910B1", "Ascend310P3"])
def test_order_of_checks(soc: str, chip) -> None:
    chip(soc)
    for changes, status, text in ORDER:
        assert valid().but(**changes).status() == status
        assert text in message()


CHIPS = {
    "950": "Ascend950PR_9589",
    "A3": "Ascend910_9391",
    "A2": "Ascend910B1",
    "310B": "Ascend310B1",
    "310P": "Ascend310P3",
    "910": "Ascend910A",
}


@pytest.mark.parametrize(("operation", "scalar", "inplace"), FORMS)
def test_products(operation: str, scalar: bool, inplace: bool, chip) -> None:
    lacking = {"Add": {"310B", "310P"}, "Sub": {"310P"}, "Mul": {"310B"}}[operation]
    if scalar and (operation, inplace) != ("Add", True):
        lacking = {"310B"}
    for name, soc in CHIPS.items():
        chip(soc)
        assert valid(operation, FLOAT, scalar, inplace).status() == (ACLNN_ERR_INNER_NULLPTR if name in lacking else 0), name
        assert valid(operation, FLOAT, scalar, inplace, (0,)).plan() == (0, 0), name
        if name in ("310B", "310P", "910") and (operation, scalar, inplace) != ("Add", True, True):
            assert valid(operation, BF16, scalar, inplace).status() == ACLNN_ERR_PARAM_INVALID, name


def test_no_complex_numbers_in_aclnnInplaceAdds() -> None:
    case = valid(scalar=True, inplace=True)
    for name in case.arguments:
        assert case.but(**{name: Meta((2, 3), COMPLEX[0]) if name == "selfRef" else np.complex64(1)}).status() == ACLNN_ERR_PARAM_INVALID
