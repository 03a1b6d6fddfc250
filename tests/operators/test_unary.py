"""The family of functions of one tensor: plain, in place and over lists, against Python's own functions, element by element."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aclnnop
from acl_emu import ACL_FORMAT_NCHW, ACL_FORMAT_ND, ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID
from acl_emu.core import dtypes, soc
from acl_emu.core.soc import Product
from tests.operators.accuracy import BF16, FLOAT, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import layouts, shapes

INF, NAN = math.inf, math.nan
AT = (NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0)
"""Where every function is looked at closely."""


class Row(NamedTuple):
    """What is known of an operator beside its declaration."""

    function: Callable[[float], float]
    low: float
    high: float
    at: tuple[float, ...]
    products: str
    whole: bool = False
    """Whether integers stay integers."""
    complex: Callable[[complex], complex] | None = None


def erfinv(y: float) -> float:
    return NormalDist().inv_cdf((1 + y) / 2) / math.sqrt(2)


def sinc(x: float) -> float:
    """Exactly zero at integers: pi in float64 is no multiple of the period."""
    nearest = round(x)
    return (-1) ** nearest * math.sin(math.pi * (x - nearest)) / (math.pi * x) if x else 1.0


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def sign(x: float) -> float:
    return float((x > 0) - (x < 0))


def digamma(x: float) -> float:
    """The derivative of the logarithm of the gamma function, summed exactly from far away."""
    far = x + 40
    return math.fsum([math.log(far), -0.5 / far, -(far**-2) / 12, far**-4 / 120, -(far**-6) / 252, *(-1 / (x + n) for n in range(40))])


EULER = 0.57721566490153286
MOST = "950 A3 A2 310P 910"
HALF_PI, QUARTER_PI, E = math.pi / 2, math.pi / 4, math.e
TABLE: dict[str, Row] = {
    "Abs": Row(abs, -50, 50, (NAN, INF, INF, 0, 0, 1, 1), "950 A3 A2 310P 910", whole=True),
    "Acos": Row(math.acos, -1, 1, (NAN, NAN, NAN, HALF_PI, HALF_PI, 0, math.pi), "A3 A2 310P 910"),
    "Acosh": Row(math.acosh, 1, 50, (NAN, INF, NAN, NAN, NAN, 0, NAN), "950 A3 A2 310P 910", complex=cmath.acosh),
    "Asin": Row(math.asin, -1, 1, (NAN, NAN, NAN, 0, -0.0, HALF_PI, -HALF_PI), "950 A3 A2 310P 910"),
    "Asinh": Row(math.asinh, -50, 50, (NAN, INF, -INF, 0, -0.0, math.asinh(1), -math.asinh(1)), "A3 A2 310P 910", complex=cmath.asinh),
    "Atan": Row(math.atan, -50, 50, (NAN, HALF_PI, -HALF_PI, 0, -0.0, QUARTER_PI, -QUARTER_PI), "950 A3 A2 310P 910"),
    "Atanh": Row(math.atanh, -0.99, 0.99, (NAN, NAN, NAN, 0, -0.0, INF, -INF), "A3 A2 310P 910", complex=cmath.atanh),
    "Ceil": Row(lambda x: float(math.ceil(x)), -50, 50, (NAN, INF, -INF, 0, -0.0, 1, -1), "950 A3 A2 310P 910"),
    "Cos": Row(math.cos, -50, 50, (NAN, NAN, NAN, 1, 1, math.cos(1), math.cos(1)), "950 A3 A2 310B 310P 910", complex=cmath.cos),
    "Cosh": Row(math.cosh, -9, 9, (NAN, INF, INF, 1, 1, math.cosh(1), math.cosh(1)), "A3 A2 310P 910", complex=cmath.cosh),
    "Digamma": Row(digamma, 0.05, 50, (NAN, INF, NAN, -INF, INF, -EULER, NAN), "950 A3 A2 310P 910"),
    "Erf": Row(math.erf, -5, 5, (NAN, 1, -1, 0, -0.0, math.erf(1), -math.erf(1)), "950 A3 A2 910"),
    "Erfc": Row(math.erfc, -5, 5, (NAN, 0, 2, 1, 1, math.erfc(1), math.erfc(-1)), "950 A3 A2 310P 910"),
    "Erfinv": Row(erfinv, -0.999, 0.999, (NAN, NAN, NAN, 0, -0.0, INF, -INF), "950 A3 A2 910"),
    "Exp": Row(math.exp, -9, 9, (NAN, INF, 0, 1, 1, E, 1 / E), MOST, complex=cmath.exp),
    "Exp2": Row(lambda x: 2.0**x, -9, 9, (NAN, INF, 0, 1, 1, 2, 0.5), "950 A3 A2 310B 910"),
    "Expm1": Row(math.expm1, -9, 9, (NAN, INF, -1, 0, -0.0, math.expm1(1), math.expm1(-1)), "950 A3 A2 310P 910"),
    "Floor": Row(lambda x: float(math.floor(x)), -50, 50, (NAN, INF, -INF, 0, -0.0, 1, -1), "950 A3 A2 910", whole=True),
    "Frac": Row(lambda x: math.fmod(x, 1), -50, 50, (NAN, NAN, NAN, 0, 0, 0, 0), "950 A3 A2 910", whole=True),
    "Lgamma": Row(math.lgamma, 0.05, 50, (NAN, INF, INF, INF, INF, 0, INF), "950 A3 A2 310P 910"),
    "Log": Row(math.log, 0.01, 50, (NAN, INF, NAN, -INF, -INF, 0, NAN), "950 A3 A2 910", complex=cmath.log),
    "Log10": Row(math.log10, 0.01, 50, (NAN, INF, NAN, -INF, -INF, 0, NAN), MOST, complex=cmath.log10),
    "Log1p": Row(math.log1p, -0.9, 50, (NAN, INF, NAN, 0, -0.0, math.log1p(1), -INF), "950 A3 A2 310P 910"),
    "Log2": Row(math.log2, 0.01, 50, (NAN, INF, NAN, -INF, -INF, 0, NAN), MOST, complex=lambda z: cmath.log(z) / math.log(2)),
    "Neg": Row(lambda x: -x, -50, 50, (NAN, -INF, INF, -0.0, 0, -1, 1), "950 A3 A2 310B 910", whole=True, complex=lambda z: -z),
    "Reciprocal": Row(lambda x: 1 / x, 0.01, 50, (NAN, 0, -0.0, INF, -INF, 1, -1), "950 A3 A2 310P 910", complex=lambda z: 1 / z),
    "Relu": Row(lambda x: max(x, 0.0), -50, 50, (NAN, INF, 0, 0, 0, 1, 0), "950 A3 A2 910", whole=True),
    "Round": Row(lambda x: float(round(x)), -50, 50, (NAN, INF, -INF, 0, 0, 1, -1), "950 A3 A2 910", whole=True),
    "Rsqrt": Row(
        lambda x: 1 / math.sqrt(x),
        0.01,
        50,
        (NAN, 0, NAN, INF, -INF, 1, NAN),
        "950 A3 A2 310B 310P 910",
        complex=lambda z: 1 / cmath.sqrt(z),
    ),
    "Sigmoid": Row(sigmoid, -40, 40, (NAN, 1, 0, 0.5, 0.5, sigmoid(1), sigmoid(-1)), "950 A3 A2 310P 910"),
    "Sign": Row(sign, -50, 50, (NAN, 1, -1, 0, 0, 1, -1), MOST, whole=True, complex=lambda z: z / abs(z)),
    "Sin": Row(math.sin, -50, 50, (NAN, NAN, NAN, 0, -0.0, math.sin(1), -math.sin(1)), "950 A3 A2 310B 310P 910", complex=cmath.sin),
    "Sinc": Row(sinc, -9, 9, (NAN, NAN, NAN, 1, 1, sinc(1), sinc(-1)), "950 A3 A2 910"),
    "Sinh": Row(math.sinh, -9, 9, (NAN, INF, -INF, 0, -0.0, math.sinh(1), -math.sinh(1)), "A3 A2 310P 910", complex=cmath.sinh),
    "Sqrt": Row(math.sqrt, 0, 50, (NAN, INF, NAN, 0, -0.0, 1, NAN), "950 A3 A2 910", complex=cmath.sqrt),
    "Tan": Row(math.tan, -50, 50, (NAN, NAN, NAN, 0, -0.0, math.tan(1), -math.tan(1)), "A3 A2 310P 910", complex=cmath.tan),
    "Tanh": Row(math.tanh, -9, 9, (NAN, 1, -1, 0, -0.0, math.tanh(1), -math.tanh(1)), "950 A3 A2 910"),
    "Trunc": Row(lambda x: float(math.trunc(x)), -50, 50, (NAN, INF, -INF, 0, -0.0, 1, -1), "950 A3 A2 310P 910"),
}
IN_PLACE = sorted(TABLE.keys() - {"Abs", "Digamma", "Lgamma", "Sign"})
FOREACH = [
    "Abs",
    "Acos",
    "Asin",
    "Atan",
    "Cos",
    "Cosh",
    "Erf",
    "Erfc",
    "Exp",
    "Expm1",
    "Log",
    "Log10",
    "Log1p",
    "Log2",
    "Neg",
    "Reciprocal",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Sqrt",
    "Tan",
    "Tanh",
]
every = pytest.mark.parametrize("name", sorted(TABLE))


def plain(name: str, x: Any, out: Any) -> Case:
    first, last = aclnnop.find(f"aclnn{name}").names
    return Case(f"aclnn{name}", {first: x, last: out})


def in_place(name: str, x: Any) -> Case:
    (ref,) = aclnnop.find(f"aclnnInplace{name}").names
    return Case(f"aclnnInplace{name}", {ref: x})


def golden(function: Callable[[Any], Any], x: Array) -> Array:
    numbers = [function(complex(number) if np.iscomplexobj(x) else float(number)) for number in x.ravel()]
    return np.array(numbers, np.complex128 if np.iscomplexobj(x) else np.float64).reshape(x.shape)


def within(row: Row, shape: tuple[int, ...], dtype: Any, seed: int) -> Array:
    """Numbers of a type in the function's domain."""
    drawn = np.random.default_rng(seed).uniform(row.low, row.high, shape).astype(dtype)
    return np.clip(drawn, row.low, row.high).astype(dtype)


def taken(name: str) -> set[Any]:
    return {dtype.numpy for dtype in aclnnop.find(f"aclnn{name}").parameters[0].kind.dtypes_on(soc.current()) if dtype.numpy_name}


@pytest.fixture(autouse=True)
def _a_chip_that_has_it(request: pytest.FixtureRequest, chip) -> None:
    if "name" in request.fixturenames and "A2" not in TABLE[request.getfixturevalue("name")].products:
        chip("Ascend950PR_9589")


@every
@given(data=st.data())
def test_values(name: str, device: int, data: st.DataObject) -> None:
    row, shape = TABLE[name], data.draw(shapes())
    dtype = data.draw(st.sampled_from([one for one in FLOATS if one in taken(name)]))
    x = within(row, shape, dtype, data.draw(st.integers(0, 1000)))
    assert_accurate(plain(name, x, np.zeros(shape, dtype)).run(data.draw(layouts)), golden(row.function, x))
    if name in IN_PLACE:
        assert_accurate(in_place(name, x).run(data.draw(layouts)), golden(row.function, x))


@every
def test_special_values(name: str, device: int) -> None:
    x, expected = np.array(AT, np.float32), np.array(TABLE[name].at)
    result = plain(name, x, np.zeros_like(x)).run()
    np.testing.assert_allclose(result, expected, rtol=3e-7)
    assert_equal(np.signbit(result)[expected == 0], np.signbit(expected)[expected == 0])


@every
def test_wide_types(name: str, device: int) -> None:
    row = TABLE[name]
    if np.dtype(np.float64) in taken(name):
        x = within(row, (60,), np.float64, 1)
        np.testing.assert_allclose(
            plain(name, x, np.zeros_like(x)).run(3), golden(row.function, x), rtol=2e-15, atol=2e-15 if name == "Digamma" else 1e-16
        )
    for dtype in (np.complex64, np.complex128):
        if np.dtype(dtype) in taken(name) and name != "Abs":
            assert row.complex is not None
            x = (within(row, (60,), np.float64, 1) + 1j * numbers((60,), np.float64, 2)).astype(dtype)
            result = plain(name, x, np.zeros_like(x)).run(3)
            np.testing.assert_allclose(result, golden(row.complex, x), rtol=16 * float(np.finfo(dtype).eps))


@every
def test_integers(name: str, device: int) -> None:
    row = TABLE[name]
    for dtype in sorted(taken(name) & {np.dtype(one) for one in "?bBhHiIqQ"}, key=str):
        x = np.clip(np.array([0, 1, 2, 3, 7, 120, 1, 0]), math.ceil(row.low), min(9, int(row.high)) if not row.whole else None).astype(
            dtype
        )
        if row.whole:
            assert_equal(plain(name, x, np.zeros_like(x)).run(2), golden(row.function, x))
        else:
            assert_accurate(plain(name, x, np.zeros(x.shape, np.float32)).run(2), golden(row.function, x))


def test_integers_wrap_around_and_keep_their_digits(device: int) -> None:
    least, most = -(2**63), 2**63 - 1
    x = np.array([least, most, -most, 2**53 + 1], np.int64)
    assert plain("Neg", x, x.copy()).run().tolist() == [least, -most, most, -(2**53) - 1]
    assert plain("Abs", x, x.copy()).run().tolist() == [least, most, most, 2**53 + 1]
    assert plain("Floor", x, x.copy()).run().tolist() == x.tolist()
    small = np.array([0, 200], np.uint8)
    assert plain("Relu", small, np.ones_like(small)).run().tolist() == in_place("Relu", small).run().tolist() == [0, 200]


def test_magnitudes_of_complex_numbers(device: int) -> None:
    x = np.array([3 + 4j, -5 + 12j, 1e20 + 1e20j, complex(INF, NAN)], np.complex64)
    np.testing.assert_allclose(plain("Abs", x, np.zeros(4, np.float32)).run(1), [5, 13, math.sqrt(2) * 1e20, INF], rtol=2e-7)
    assert plain("Abs", x, np.zeros(4, np.complex64)).status() == ACLNN_ERR_PARAM_INVALID
    half = Meta((2, 3), dtypes.COMPLEX32.code)
    assert plain("Abs", half, Meta((2, 3), np.float16)).status() == 0
    assert plain("Abs", half, Meta((2, 3), np.float32)).status() == ACLNN_ERR_PARAM_INVALID


@every
@pytest.mark.parametrize("shape", [(), (1,) * 8, (0,), (3, 0, 2)], ids=str)
def test_ranks_and_empty_tensors(name: str, shape: tuple[int, ...], device: int) -> None:
    row = TABLE[name]
    x = within(row, shape, np.float32, 4)
    case = plain(name, x, np.zeros(shape, np.float32))
    assert_accurate(case.run(3), golden(row.function, x))
    if 0 in shape:
        assert case.plan() == (0, 0)


@every
def test_large_tensors(name: str, device: int) -> None:
    """Where the engine may compute in float32."""
    row = TABLE[name]
    x = within(row, (1 << 15,), np.float32, 5)
    assert_accurate(plain(name, x, np.zeros_like(x)).run(), golden(row.function, x))


@every
def test_shapes_and_types_that_do_not_fit(name: str) -> None:
    good = Meta((2, 3), np.float32)
    assert plain(name, good, good).status() == 0
    assert plain(name, good, Meta((3, 2), np.float32)).status() == ACLNN_ERR_PARAM_INVALID
    assert plain(name, good, Meta((1, 2, 3), np.float32)).status() == ACLNN_ERR_PARAM_INVALID
    assert plain(name, good, Meta((2, 3), np.int64)).status() == ACLNN_ERR_PARAM_INVALID
    half = plain(name, good, Meta((2, 3), np.float16)).status()
    assert half == (
        ACLNN_ERR_PARAM_INVALID if name in ("Abs", "Ceil", "Digamma", "Floor", "Frac", "Lgamma", "Relu", "Round", "Sign", "Trunc") else 0
    )
    if np.dtype(np.complex64) in taken(name):
        assert plain(name, Meta((2, 3), np.complex64), Meta((2, 3), np.float64)).status() == ACLNN_ERR_PARAM_INVALID


def test_an_exponential_of_integers_is_real() -> None:
    assert plain("Exp", Meta((2,), np.int64), Meta((2,), np.complex64)).status() == ACLNN_ERR_PARAM_INVALID


@every
def test_products(name: str, chip) -> None:
    supported = TABLE[name].products.split()
    for profile in soc.PROFILES.values():
        chip(profile.name)
        missing = 0 if profile.product.short in supported else ACLNN_ERR_INNER_NULLPTR
        one = Meta((2,), np.float16)
        assert plain(name, one, one).status() == missing, profile.name
        if name in IN_PLACE:
            assert in_place(name, one).status() == missing, profile.name
        if profile.product is Product.A310B and not missing:
            bf16 = Meta((2,), BF16)
            assert plain(name, bf16, bf16).status() == ACLNN_ERR_PARAM_INVALID


@pytest.mark.parametrize(
    ("product", "name", "dtype", "status"),
    [
        ("Ascend910A", "Acosh", np.int32, 0),
        ("Ascend910B1", "Acosh", np.int32, 0),
        ("Ascend910A", "Asinh", np.int32, 0),
        ("Ascend910A", "Asinh", np.complex64, 0),
        ("Ascend910A", "Atanh", np.complex64, 0),
        ("Ascend310P3", "Atanh", np.complex128, 0),
        ("Ascend950PR_9589", "Acosh", np.float64, 0),
        ("Ascend950PR_9589", "Acosh", np.int32, ACLNN_ERR_PARAM_INVALID),
        ("Ascend950PR_9589", "Acosh", np.complex64, ACLNN_ERR_PARAM_INVALID),
        ("Ascend950PR_9589", "Acosh", BF16, ACLNN_ERR_PARAM_INVALID),
        ("Ascend950PR_9589", "Cos", np.complex128, 0),
        ("Ascend950PR_9589", "Atan", np.float64, ACLNN_ERR_PARAM_INVALID),
        ("Ascend910B1", "Atan", np.float64, 0),
        ("Ascend910A", "Cosh", np.int8, 0),
        ("Ascend310P3", "Cosh", np.complex64, 0),
        ("Ascend910A", "Erfinv", np.int8, ACLNN_ERR_PARAM_INVALID),
        ("Ascend910B1", "Erfinv", np.int8, 0),
        ("Ascend910B1", "Sinc", np.int8, 0),
        ("Ascend910A", "Sinc", np.bool_, 0),
        ("Ascend910B1", "Sinc", BF16, 0),
        ("Ascend950PR_9589", "Sinc", np.int8, 0),
        ("Ascend950PR_9589", "Sinc", BF16, ACLNN_ERR_PARAM_INVALID),
        ("Ascend310P3", "Tan", np.complex64, 0),
        ("Ascend310P3", "Tan", np.complex128, 0),
        ("Ascend910A", "Abs", np.complex64, ACLNN_ERR_PARAM_INVALID),
    ],
    ids=str,
)
def test_types_that_differ_between_products(product: str, name: str, dtype: Any, status: int, chip) -> None:
    chip(product)
    result = dtype if np.dtype(dtype).kind == "c" and name != "Abs" else np.float64 if dtype is np.float64 else np.float32
    assert plain(name, Meta((2,), dtype), Meta((2,), result)).status() == status


@pytest.mark.parametrize("name", ["Reciprocal", "Digamma", "Lgamma"])
def test_a_result_of_another_format(name: str) -> None:
    image, matrix = (Meta((1, 2, 3, 4), np.float32, format=one) for one in (ACL_FORMAT_NCHW, ACL_FORMAT_ND))
    assert plain(name, image, image).status() == 0
    assert plain(name, image, matrix).status() == ACLNN_ERR_PARAM_INVALID
    assert plain("Sin", image, matrix).status() == 0


def test_rounding_gives_no_negative_zero(device: int) -> None:
    for dtype in (np.float32, np.float16, BF16, np.float64):
        x = np.array([-0.5, -0.25, -0.0, 0.0, -0.75, -1.5, 2.5]).astype(dtype)
        result = plain("Round", x, np.zeros_like(x)).run().astype(np.float64)
        assert result.tolist() == [0, 0, 0, 0, -1, -2, 2]
        assert np.signbit(result).tolist() == [False] * 4 + [True, True, False]
        assert not np.signbit(in_place("Round", x).run().astype(np.float64)[:4]).any()


@pytest.mark.parametrize(
    ("name", "dtype", "status"),
    [
        ("Sigmoid", np.complex128, 0),
        ("Relu", np.uint8, 0),
        ("Sin", np.float64, 0),
        ("Sin", np.complex64, 0),
        ("Sin", np.int32, ACLNN_ERR_PARAM_INVALID),
        ("Tanh", np.int32, ACLNN_ERR_PARAM_INVALID),
        ("Log10", np.float64, 0),
        ("Expm1", np.float64, ACLNN_ERR_PARAM_INVALID),
    ],
)
def test_types_in_place(name: str, dtype: Any, status: int) -> None:
    assert in_place(name, Meta((2,), dtype)).status() == status


def test_sigmoid_of_complex_numbers_in_place(device: int) -> None:
    x = numbers((20,), np.complex128, 3)
    np.testing.assert_allclose(in_place("Sigmoid", x).run(), golden(lambda z: 1 / (1 + cmath.exp(-z)), x), rtol=1e-14)


def test_sigmoid_far_from_zero(device: int) -> None:
    x = np.array([-100.0, -88.9, 88.9, 1000.0, -1000.0], FLOAT)
    assert_accurate(plain("Sigmoid", x, np.zeros_like(x)).run(), [math.exp(-100), math.exp(float(x[1])), 1, 1, 0])
