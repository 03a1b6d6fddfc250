"""The family that combines two tensors element by element: plain, with a number and in place, against Python's own operations."""

from __future__ import annotations

import math
import operator as python
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aclnnop
from acl_emu import ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID
from acl_emu.core import soc
from acl_emu.spec.kinds import HandleKind
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta
from tests.operators.drawing import broadcasting_shapes, layouts
from tests.operators.test_arithmetic import BOOL, COMPLEX, DOUBLE, INTEGERS, common, level, seen

INF, NAN = math.inf, math.nan
UNSIGNED = [np.dtype(one) for one in (np.uint16, np.uint32, np.uint64)]
NEWER, MOST = "950 A3 A2", "950 A3 A2 310P 910"
NOT_310 = "950 A3 A2 910"


class Row(NamedTuple):
    """What is known of an operator of two tensors beside its declaration."""

    function: Callable[[Any, Any], Any]
    """Of Python floats and complex numbers; a truth value for comparisons."""
    forms: dict[str, str]
    """Its forms, and the products that have them."""
    whole: Callable[[int, int], Any] | None = None
    """Of integers, where they stay integers."""
    low: float = -50
    high: float = 50
    positive: bool = False
    """Whether the second operand has to be."""


def level_of(dtype: Any) -> int:
    return 1 if dtype in UNSIGNED else level(dtype)


def smaller(x: float, y: float) -> float:
    return NAN if x != x or y != y else min(x, y)


def larger(x: float, y: float) -> float:
    return NAN if x != x or y != y else max(x, y)


def divide(x: float, y: float) -> float:
    return x / y if y else NAN if x == 0 or x != x else math.copysign(INF, x) * math.copysign(1, y)


def towards_zero(x: int, y: int) -> int:
    return (abs(x) % abs(y)) * (-1 if x < 0 else 1) if y else x


def log_add_exp(x: float, y: float) -> float:
    return max(x, y) + math.log1p(math.exp(-abs(x - y)))


def log_add_exp2(x: float, y: float) -> float:
    return max(x, y) + math.log1p(2 ** -abs(x - y)) / math.log(2)


def x_log_y(x: float, y: float) -> float:
    return x * math.log(y) if x else 0.0


def forms(name: str, products: str, *more: str, elsewhere: dict[str, str] | None = None) -> dict[str, str]:
    """An operator and others like it; ``elsewhere`` has those with other products."""
    return {**dict.fromkeys((name, *more), products), **(elsewhere or {})}


def four(name: str, products: str) -> dict[str, str]:
    """The forms of a comparison."""
    return forms(f"{name}Tensor", products, f"Inplace{name}Tensor", f"{name}Scalar", f"Inplace{name}Scalar")


AND = forms("BitwiseAndTensor", MOST, "BitwiseAndScalar", elsewhere=forms("InplaceBitwiseAndTensor", NOT_310, "InplaceBitwiseAndScalar"))
TABLE: dict[str, Row] = {
    "Maximum": Row(larger, forms("Maximum", MOST), max),
    "Minimum": Row(smaller, forms("Minimum", MOST), min),
    "Div": Row(divide, forms("Div", "950 A3 A2 310B 910", "InplaceDiv", elsewhere=forms("Divs", NOT_310, "InplaceDivs"))),
    "FloorDivide": Row(
        lambda x, y: float(math.floor(x / y)) if y else divide(x, y),
        forms("FloorDivide", MOST, "InplaceFloorDivide", elsewhere=forms("FloorDivides", NOT_310, "InplaceFloorDivides")),
        lambda x, y: x // y if y else 0,
        positive=True,
    ),
    "RemainderTensorTensor": Row(
        lambda x, y: x % y if y else NAN,
        forms(
            "RemainderTensorTensor",
            MOST,
            "InplaceRemainderTensorTensor",
            elsewhere=forms("RemainderTensorScalar", NOT_310, "RemainderScalarTensor", "InplaceRemainderTensorScalar"),
        ),
        lambda x, y: x % y if y else x,
        positive=True,
    ),
    "FmodTensor": Row(
        lambda x, y: math.fmod(x, y) if y else NAN,
        forms("FmodTensor", MOST, "InplaceFmodTensor", elsewhere=forms("FmodScalar", NOT_310, "InplaceFmodScalar")),
        towards_zero,
        positive=True,
    ),
    "BitwiseAndTensor": Row(python.and_, AND, python.and_),
    "BitwiseAndTensorOut": Row(python.and_, forms("BitwiseAndTensorOut", NOT_310, "InplaceBitwiseAndTensorOut"), python.and_),
    "BitwiseOrTensor": Row(
        python.or_, forms("BitwiseOrTensor", MOST, "BitwiseOrScalar", "InplaceBitwiseOrTensor", "InplaceBitwiseOrScalar"), python.or_
    ),
    "BitwiseXorTensor": Row(
        python.xor, forms("BitwiseXorTensor", MOST, "BitwiseXorScalar", "InplaceBitwiseXorTensor", "InplaceBitwiseXorScalar"), python.xor
    ),
    "Gcd": Row(math.gcd, forms("Gcd", MOST), math.gcd),
    "GtTensor": Row(python.gt, four("Gt", MOST)),
    "GeTensor": Row(python.ge, four("Ge", MOST)),
    "LtTensor": Row(python.lt, four("Lt", "950 A3 A2 310B 910")),
    "LeTensor": Row(python.le, four("Le", MOST)),
    "EqTensor": Row(python.eq, four("Eq", NOT_310)),
    "NeTensor": Row(python.ne, four("Ne", NOT_310)),
    "LogicalAnd": Row(lambda x, y: bool(x and y), forms("LogicalAnd", MOST, "InplaceLogicalAnd")),
    "LogicalOr": Row(lambda x, y: bool(x or y), forms("LogicalOr", MOST, "InplaceLogicalOr")),
    "LogicalXor": Row(lambda x, y: bool(x) != bool(y), forms("LogicalXor", MOST)),
    "Atan2": Row(math.atan2, forms("Atan2", MOST, "InplaceAtan2")),
    "LogAddExp": Row(log_add_exp, forms("LogAddExp", MOST)),
    "LogAddExp2": Row(log_add_exp2, forms("LogAddExp2", MOST)),
    "XLogYTensor": Row(
        x_log_y,
        forms(
            "XLogYTensor",
            MOST,
            "InplaceXLogYTensor",
            "XLogYScalarSelf",
            elsewhere=forms("XLogYScalarOther", NOT_310, "InplaceXLogYScalarOther"),
        ),
        positive=True,
    ),
}
TRUTH = {"GtTensor", "GeTensor", "LtTensor", "LeTensor", "EqTensor", "NeTensor", "LogicalAnd", "LogicalOr", "LogicalXor"}
LINES = [(name, form) for name, row in TABLE.items() for form in row.forms]
every = pytest.mark.parametrize("name", TABLE)
every_form = pytest.mark.parametrize(("name", "form"), LINES, ids=[form for _, form in LINES])


def call(form: str, x: Any, y: Any, out: Any) -> Case:
    """A call of an operator in any of its forms; where it takes a number, the only element of an operand of rank 0 is one."""
    parameters = aclnnop.find(f"aclnn{form}").parameters
    values = [value[()] if isinstance(kind, HandleKind) else value for (_, kind), value in zip(parameters, (x, y), strict=False)]
    named = {name: value for (name, _), value in zip(parameters, values, strict=False)}
    return Case(f"aclnn{form}", named if form.startswith("Inplace") else {**named, parameters[-1].name: out})


def scalar_places(form: str) -> list[bool]:
    """Which of the two operands is a number."""
    return [isinstance(kind, HandleKind) for _, kind in aclnnop.find(f"aclnn{form}").parameters[:2]]


def types_of(form: str) -> list[Any]:
    """The numpy types of the tensors on the current chip."""
    kinds = [kind for _, kind in aclnnop.find(f"aclnn{form}").parameters[:2] if not isinstance(kind, HandleKind)]
    return [dtype.numpy for dtype in kinds[0].dtypes_on(soc.current())]


def drawn(row: Row, shape: tuple[int, ...], dtype: Any, seed: int, *, second: bool) -> Array:
    """Numbers of a type in the domain; whole ones with zeros among them, and ends of the range."""
    rng = np.random.default_rng((seed, second))
    if dtype.kind in "iub":
        low, high = (0, 1) if dtype == BOOL else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        found = np.asarray(rng.integers(max(low, -9), min(high, 9) + 1, shape))
        if row.whole is None:
            return np.asarray(np.abs(found) + (second and row.positive) if row.positive else found).astype(dtype)
        return np.where(rng.random(shape) < 0.2, rng.choice((low, high, 0), shape), found).astype(dtype)
    found = rng.uniform(row.low, row.high, shape)
    if second and row.positive:
        found = np.abs(found) + 0.5
    if dtype.kind == "c":
        found = found + 1j * rng.uniform(row.low, row.high, shape)
    ties = np.where(rng.random(shape) < 0.2, np.rint(found.real) + (second and row.positive), found)
    return np.asarray(ties).astype(dtype)


def golden(row: Row, x: Array, y: Array, via: Any) -> Array:
    """The formula of every pair of elements, in Python's numbers; integers wrap around."""
    left, right = (values.astype(via).astype(object) if via in UNSIGNED else seen(values, via) for values in np.broadcast_arrays(x, y))
    whole = row.whole if level_of(via) < 2 else None
    found = [(whole or row.function)(*pair) for pair in zip(left.ravel().tolist(), right.ravel().tolist(), strict=True)]
    if whole is None:
        return np.array(found).reshape(left.shape)
    least, modulus = (0, 2) if via == BOOL else (int(np.iinfo(via).min), 2 ** (8 * via.itemsize))
    return np.array([(one - least) % modulus + least for one in found], via).reshape(left.shape)


def assert_right(result: Array, expected: Array, via: Any) -> None:
    """As accurate as promised: integers and truth values are exact."""
    assert result.shape == expected.shape
    if not result.size:
        return
    if expected.dtype.kind in "iub":
        np.testing.assert_array_equal(result, expected.astype(result.dtype))
    elif result.dtype not in FLOATS:
        np.testing.assert_allclose(result, expected, rtol=64 * float(np.finfo(via).eps), atol=1e-15)
    else:
        # Integers are computed as FLOAT.
        assert_accurate(result, expected, via=FLOAT if via not in FLOATS else via)


@pytest.fixture(autouse=True)
def _a_chip_that_has_it(request: pytest.FixtureRequest, chip) -> None:
    known = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    row = TABLE.get(known.get("name", ""))
    if row and "A2" not in row.forms[known.get("form", known["name"])]:
        chip("Ascend950PR_9589")


def draw_call(data: st.DataObject, name: str, form: str, left: Any, right: Any, out: Any) -> tuple[Case, Array, Array]:
    row, (scalar_left, scalar_right) = TABLE[name], scalar_places(form)
    shapes = data.draw(broadcasting_shapes(2, most_dims=3))
    first, second = shapes.input_shapes
    if form.startswith("Inplace"):
        first = shapes.result_shape
    if scalar_left or scalar_right:
        first, second = (() if scalar_left else first), (() if scalar_right else second)
    seed = data.draw(st.integers(0, 1000))
    x, y = drawn(row, first, left, seed, second=False), drawn(row, second, right, seed, second=True)
    result = np.zeros(np.broadcast_shapes(first, second), out)
    return call(form, x, y, result), x, y


@every_form
@given(data=st.data())
@settings(max_examples=6)
def test_values_of_one_type(name: str, form: str, device: int, data: st.DataObject) -> None:
    row = TABLE[name]
    dtype = data.draw(st.sampled_from([one for one in types_of(form) if one not in (np.int8, np.uint8, BOOL) or "Remainder" not in form]))
    if dtype in COMPLEX and name not in ("Div", "EqTensor", "NeTensor", "LogicalAnd", "LogicalOr", "LogicalXor"):
        return
    if dtype == np.int16 and "Remainder" in form:
        return
    stored = (
        {one.numpy for one in aclnnop.find(f"aclnn{form}").parameters[-1].kind.dtypes_on(soc.current())}
        if "Inplace" not in form
        else {dtype}
    )
    out = dtype if dtype in stored else BOOL if name in TRUTH and BOOL in stored else FLOAT
    case, x, y = draw_call(data, name, form, dtype, dtype, out)
    result, expected = case.run(data.draw(layouts)), golden(row, x, y, dtype)
    if level_of(dtype) < 2 and row.whole is None and name not in TRUTH and out != FLOAT:
        return  # cast back to integers: see below
    assert_right(result, expected, dtype)


MIXED = [name for name in TABLE if name not in ("Gcd", "LogAddExp", "LogAddExp2", "Atan2", "XLogYTensor") and "Bitwise" not in name]


@pytest.mark.parametrize("name", MIXED)
@given(data=st.data())
@settings(max_examples=6)
def test_values_of_two_types(name: str, device: int, data: st.DataObject) -> None:
    """Inputs are promoted, results are cast."""
    listed = [one for one in types_of(name) if one not in UNSIGNED and one not in COMPLEX]
    left, right = (data.draw(st.sampled_from(listed)) for _ in range(2))
    via = common(left, right)
    if "Remainder" in name and via not in (*FLOATS, DOUBLE, np.int32, np.int64):
        assert call(name, Meta((2,), left), Meta((2,), right), Meta((2,), via)).status() == ACLNN_ERR_PARAM_INVALID
        return
    if (name == "FloorDivide" and via == BOOL) or (name == "Div" and level(via) < 2):
        return
    case, x, y = draw_call(data, name, name, left, right, BOOL if name in TRUTH else via)
    assert_right(case.run(data.draw(layouts)), golden(TABLE[name], x, y, via), via)


@pytest.mark.parametrize("out", [np.int32, np.float32, np.float64, np.complex64], ids=lambda dtype: dtype.__name__)
def test_quotients_of_integers(out: Any, device: int) -> None:
    """They are floating-point numbers, which a whole result rounds towards zero."""
    x, y = np.array([7, -7, 1, -9, 0], np.int32), np.array([2, 2, 3, 4, 5], np.int32)
    exact = x / y
    result = call("Div", x, y, np.zeros(5, out)).run()
    np.testing.assert_allclose(result, np.trunc(exact) if out is np.int32 else exact, rtol=6e-8 if out is not np.float64 else 1e-15)
    assert call("InplaceDiv", x, y, None).run().tolist() == [3, -3, 0, -2, 0]


def test_logarithms_of_integers(device: int) -> None:
    x, y = np.array([3, 0, 2], np.int64), np.array([8, 0, 3], np.int64)
    assert call("XLogYTensor", x, y, np.zeros(3, np.int64)).run().tolist() == [6, 0, 2]
    assert call("InplaceXLogYTensor", x, y, None).run().tolist() == [6, 0, 2]
    assert call("InplaceAtan2", np.array([5, -5]), np.array([-1, 0]), None).run().tolist() == [1, -1]


AT = [
    (1.0, 0.0),
    (-1.0, 0.0),
    (0.0, 0.0),
    (1.0, -0.0),
    (NAN, 1.0),
    (1.0, NAN),
    (INF, 2.0),
    (2.0, INF),
    (-2.0, INF),
    (INF, INF),
    (-0.0, 2.0),
]
SPECIAL = {
    "Maximum": (1, 0, 0, 1, NAN, NAN, INF, INF, INF, INF, 2),
    "Minimum": (0, -1, 0, -0.0, NAN, NAN, 2, 2, -2, INF, -0.0),
    "Div": (INF, -INF, NAN, -INF, NAN, NAN, INF, 0, -0.0, NAN, -0.0),
    "FloorDivide": (INF, -INF, NAN, -INF, NAN, NAN, INF, 0, -0.0, NAN, -0.0),
    "RemainderTensorTensor": (NAN, NAN, NAN, NAN, NAN, NAN, NAN, 2, INF, NAN, 0),
    "FmodTensor": (NAN, NAN, NAN, NAN, NAN, NAN, NAN, 2, -2, NAN, -0.0),
    "PowTensorTensor": (1, 1, 1, 1, NAN, 1, INF, INF, INF, INF, 0),
    "GtTensor": (1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0),
    "GeTensor": (1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0),
    "LtTensor": (0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 1),
    "LeTensor": (0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1),
    "EqTensor": (0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0),
    "NeTensor": (1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1),
    "LogicalAnd": (0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0),
    "LogicalOr": (1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1),
    "LogicalXor": (1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1),
    "Atan2": (math.pi / 2, -math.pi / 2, 0, math.pi / 2, NAN, NAN, math.pi / 2, 0, -0.0, math.pi / 4, -0.0),
    "LogAddExp": (
        math.log1p(math.e),
        math.log1p(1 / math.e),
        math.log(2),
        math.log1p(math.e),
        NAN,
        NAN,
        INF,
        INF,
        INF,
        INF,
        2.1269280110429727,
    ),
    "LogAddExp2": (math.log2(3), math.log2(1.5), 1, math.log2(3), NAN, NAN, INF, INF, INF, INF, math.log2(5)),
    "XLogYTensor": (-INF, INF, 0, -INF, NAN, NAN, INF, INF, -INF, INF, 0),
}


@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16, BF16, DOUBLE], ids=str)
def test_special_values(name: str, dtype: Any, device: int) -> None:
    """NaN, infinities, signed zeros, divisions by zero."""
    if dtype not in types_of(name) or dtype not in {one.numpy for one in aclnnop.find(f"aclnn{name}").parameters[-1].kind.allowed}:
        return
    x, y = (np.array(column).astype(dtype) for column in zip(*AT, strict=True))
    result, expected = call(name, x, y, np.zeros(len(AT), dtype)).run().astype(np.float64), np.array(SPECIAL[name], np.float64)
    np.testing.assert_allclose(result, expected, rtol=1e-2 if dtype == BF16 else 1e-3)
    if name in ("Div", "FmodTensor", "Atan2"):
        assert_equal(np.signbit(result)[expected == 0], np.signbit(expected)[expected == 0])


def test_shifts(device: int) -> None:
    """Beyond the width nothing is left, of negative numbers the sign; negative shifts to the right count as none."""
    for dtype in (*INTEGERS, *UNSIGNED):
        width, low = 8 * dtype.itemsize, int(np.iinfo(dtype).min)
        x = np.array([1, 1, 5, 5, low, low, 100, 1], dtype)
        y = np.array([0, width - 1, 2, width, 1, width, 3, min(width + 1, 127)], dtype)
        left = [(int(a) << int(b)) % 2**width if b < width else 0 for a, b in zip(x, y, strict=True)]
        expected = np.array(left, np.uint64).astype(dtype)
        assert_equal(call("LeftShift", x, y, np.zeros_like(x)).run(3), expected)
        assert_equal(call("RightShift", x, y, np.zeros_like(x)).run(3), [int(a) >> int(b) for a, b in zip(x, y, strict=True)])
        for bits in (0, 3, width):
            shifted = [(int(a) << bits) % 2**width if bits < width else 0 for a in x]
            assert_equal(
                call("LeftShifts", x, np.asarray(bits).astype(dtype), np.zeros_like(x)).run(), np.array(shifted, np.uint64).astype(dtype)
            )
    assert call("RightShift", np.array([-9, 9]), np.array([-1, -2]), np.zeros(2, np.int64)).run().tolist() == [-9, 9]
    assert call("LeftShift", np.array([-9, 9]), np.array([-1, -2]), np.zeros(2, np.int64)).run().tolist() == [0, 0]


def test_integers_that_wrap_around(device: int) -> None:
    low = -(2**31)
    x, y = np.array([low, low, 5], np.int32), np.array([-1, 0, 0], np.int32)
    assert call("FloorDivide", x, y, x.copy()).run().tolist() == [low, 0, 0]
    assert call("RemainderTensorTensor", x, y, x.copy()).run().tolist() == [0, low, 5]
    assert call("FmodTensor", x, y, x.copy()).run().tolist() == [0, low, 5]


def test_numbers_on_the_newest_chip(device: int, chip) -> None:
    """A number takes the type of the tensor; a complex number makes half-precision tensors complex with halves for parts."""
    chip("Ascend950PR_9589")
    x = np.array([1, 2, 0.1], np.float16)
    assert call("GtScalar", x, np.array(0.1, np.float64), np.zeros(3, np.bool_)).run().tolist() == [True, True, False]
    assert call("EqScalar", x, np.array(2 + 0j, np.complex64), np.zeros(3, np.bool_)).run().tolist() == [False, True, False]
    halves = call("Divs", x, np.array(3, np.complex64), np.zeros(3, np.complex64)).run()
    assert halves.tolist() == [complex(np.float16(float(value) / 3)) for value in x]
    assert call("Divs", x.astype(np.int32), np.array(2, np.int32), np.zeros(3, np.int32)).status() == ACLNN_ERR_PARAM_INVALID


def refusals(name: str) -> Iterator[tuple[str, Case]]:
    """What every operator of the family refuses."""
    dtype = np.dtype(np.int32) if np.float32 not in types_of(name) else FLOAT
    out = BOOL if name in TRUTH else dtype
    good = Meta((2, 3), dtype)
    yield "shapes that do not broadcast", call(name, good, Meta((2, 4), dtype), Meta((2, 4), out))
    yield "another result", call(name, good, good, Meta((3, 2), out))
    yield "a result that would broadcast", call(name, good, good, Meta((1, 2, 3), out))
    if name not in TRUTH:
        yield "a result that cannot be cast", call(name, good, good, Meta((2, 3), np.bool_ if dtype != FLOAT else np.int32))
    if np.dtype(np.uint64) in types_of(name):
        yield "types that cannot be combined", call(name, Meta((2, 3), np.uint64), good, Meta((2, 3), np.int64))


@every
def test_calls_that_are_refused(name: str) -> None:
    for text, case in refusals(name):
        assert case.status() == ACLNN_ERR_PARAM_INVALID, text


@every_form
def test_products(name: str, form: str, chip) -> None:
    supported = TABLE[name].forms[form].split()
    for profile in soc.PROFILES.values():
        chip(profile.name)
        dtype = np.dtype(np.int32) if np.int32 in types_of(form) and "LogAdd" not in form and "XLogY" not in form else FLOAT
        if "XLogY" in form or "Atan2" in form or form in ("Div", "InplaceDiv", "Divs", "InplaceDivs"):
            dtype = FLOAT
        x, y = (np.asarray(1).astype(dtype) if scalar else Meta((2,), dtype) for scalar in scalar_places(form))
        out = Meta((2,), BOOL if name in TRUTH else FLOAT if "LogAdd" in name else dtype)
        expected = 0 if profile.product.short in supported else ACLNN_ERR_INNER_NULLPTR
        assert call(form, x, y, out).status() == expected, profile.name


@pytest.mark.parametrize(
    ("product", "name", "dtype", "status"),
    [
        ("Ascend910B1", "EqTensor", np.uint64, ACLNN_ERR_PARAM_INVALID),
        ("Ascend950PR_9589", "EqTensor", np.uint64, 0),
        ("Ascend910A", "EqTensor", np.uint32, 0),
        ("Ascend950PR_9589", "EqTensor", np.uint32, ACLNN_ERR_PARAM_INVALID),
        ("Ascend910B1", "LeTensor", np.uint64, ACLNN_ERR_PARAM_INVALID),
        ("Ascend950PR_9589", "LeTensor", np.uint64, 0),
        ("Ascend910B1", "GtTensor", np.uint64, 0),
        ("Ascend910B1", "GtTensor", np.complex64, ACLNN_ERR_PARAM_INVALID),
        ("Ascend910A", "Minimum", np.bool_, ACLNN_ERR_PARAM_INVALID),
        ("Ascend910B1", "Minimum", np.bool_, 0),
        ("Ascend310B1", "LtTensor", BF16, ACLNN_ERR_PARAM_INVALID),
        ("Ascend310B1", "Div", BF16, ACLNN_ERR_PARAM_INVALID),
        ("Ascend910B1", "BitwiseXorTensor", np.uint16, ACLNN_ERR_PARAM_INVALID),
        ("Ascend950PR_9589", "BitwiseXorTensor", np.uint16, 0),
        ("Ascend910_9391", "Gcd", np.int8, ACLNN_ERR_PARAM_INVALID),
        ("Ascend910B1", "Gcd", np.int8, 0),
        ("Ascend950PR_9589", "Div", np.int32, ACLNN_ERR_PARAM_INVALID),
    ],
    ids=str,
)
def test_types_that_differ_between_products(product: str, name: str, dtype: Any, status: int, chip) -> None:
    chip(product)
    out = Meta((2,), np.bool_ if name in TRUTH else dtype)
    assert call(name, Meta((2,), dtype), Meta((2,), dtype), out).status() == status


@pytest.mark.parametrize(
    ("product", "form", "dtype", "status"),
    [
        ("Ascend910A", "InplaceEqTensor", np.uint32, 0),
        ("Ascend910A", "InplaceEqScalar", np.uint64, 0),
        ("Ascend950PR_9589", "InplaceEqTensor", np.uint32, ACLNN_ERR_PARAM_INVALID),
        ("Ascend910B1", "InplaceEqTensor", np.uint64, ACLNN_ERR_PARAM_INVALID),
        ("Ascend950PR_9589", "InplaceNeScalar", np.uint16, 0),
        ("Ascend950PR_9589", "InplaceNeScalar", np.uint32, 0),
        ("Ascend950PR_9589", "NeScalar", np.uint16, ACLNN_ERR_PARAM_INVALID),
        ("Ascend910B1", "InplaceNeScalar", np.uint16, ACLNN_ERR_PARAM_INVALID),
    ],
    ids=str,
)
def test_types_that_differ_in_place(product: str, form: str, dtype: Any, status: int, chip) -> None:
    chip(product)
    other = np.asarray(1).astype(dtype) if "Scalar" in form else Meta((2,), dtype)
    assert call(form, Meta((2,), dtype), other, Meta((2,), np.bool_)).status() == status


def test_wide_unsigned_numbers_in_place(device: int, chip) -> None:
    chip("Ascend910A")
    x, y = np.array([1, 2**32 - 1, 3], np.uint32), np.array([1, 2**32 - 1, 4], np.uint32)
    assert call("InplaceEqTensor", x, y, None).run().tolist() == [1, 1, 0]
    chip("Ascend950PR_9589")
    x = np.array([1, 65535, 3], np.uint16)
    assert call("InplaceNeScalar", x, np.uint16(65535), None).run().tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("changed", "other", "status"),
    [
        ((0, 3), (1, 3), ACLNN_ERR_PARAM_INVALID),
        ((0, 3), (), ACLNN_ERR_PARAM_INVALID),
        ((1, 3), (0, 3), ACLNN_ERR_PARAM_INVALID),
        ((0, 3), (0, 3), 0),
        ((2, 3), (3,), 0),
    ],
    ids=str,
)
def test_equality_in_place_of_one_empty_tensor(changed: tuple[int, ...], other: tuple[int, ...], status: int) -> None:
    assert call("InplaceEqTensor", Meta(changed, FLOAT), Meta(other, FLOAT), None).status() == status
    if changed == (0, 3):
        assert call("InplaceNeTensor", Meta(changed, FLOAT), Meta(other, FLOAT), None).status() == 0


@pytest.mark.parametrize(
    ("dtype", "rank", "status"),
    [(np.complex64, 7, 0), (np.complex64, 8, ACLNN_ERR_PARAM_INVALID), (np.float32, 8, 0)],
)
def test_complex_numbers_of_logical_xor_have_seven_dimensions(dtype: Any, rank: int, status: int) -> None:
    one = Meta((1,) * rank, dtype)
    assert call("LogicalXor", one, one, Meta((1,) * rank, np.bool_)).status() == status
