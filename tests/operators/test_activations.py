"""Element-wise activations, their gradients and the functions of the same form: against the documents' formulas in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aclnnop
from acl_emu import ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from acl_emu.core import soc
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal, assert_meets_standard
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import layouts, shapes

INF, NAN = math.inf, math.nan
erf, erfc = (np.vectorize(one, otypes=[float]) for one in (math.erf, math.erfc))


def sigma(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def inner(x: Any) -> Any:
    return math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)


def gelu(x: Any) -> Any:
    return x / 2 * erfc(-x / math.sqrt(2))


def tanh_gelu(x: Any) -> Any:
    return x * sigma(2 * inner(x))  # as tanh, without the difference that cancels


def gelu_slope(x: Any) -> Any:
    return 0.5 + 0.5 * erf(x / math.sqrt(2)) + x / math.sqrt(2 * math.pi) * np.exp(-(x**2) / 2)


def tanh_gelu_slope(x: Any) -> Any:
    tangent = np.tanh(inner(x))
    return 0.5 * (1 + tangent) + 0.5 * x * (1 - tangent**2) * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)


def silu_slope(x: Any, beta: float = 1.0) -> Any:
    return sigma(beta * x) + beta * x * sigma(beta * x) * (1 - sigma(beta * x))


def mish_slope(x: Any) -> Any:
    tangent = np.tanh(np.log1p(np.exp(x)))
    return tangent + x * (1 - tangent**2) * sigma(x)


def hardswish_slope(x: Any, *, middle: Callable[[Any], Any]) -> Any:
    return np.where(middle(x), x / 3 + 0.5, (x > 0) * 1.0)


SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772
ELU = ({"alpha": 1.5, "scale": 0.75, "inputScale": 1.25}, {"alpha": 1, "scale": 2.0, "inputScale": 0.5})
SOFTPLUS = ({"beta": 1.5, "threshold": 2.0}, {"beta": 1, "threshold": 20})


class Row(NamedTuple):
    """What is known of an operator beside its declaration."""

    reference: Callable[..., Any]
    products: str
    settings: tuple[dict[str, Any], ...] = ({},)
    scale: float = 3.0
    at_nan: float = NAN
    mixed: str = "refused"
    """What inputs of other types than the first are: refused, or promoted."""
    broadcasts: bool = False
    converts: bool = False
    """Whether the output may have another type."""


ALL = "950 A3 A2 310P 910"
TABLE: dict[str, Row] = {
    "Gelu": Row(tanh_gelu, ALL),
    "GeluV2": Row(lambda x, approximate: tanh_gelu(x) if approximate else gelu(x), ALL, ({"approximate": 0}, {"approximate": 1})),
    "GeluBackward": Row(lambda g, x: g * gelu_slope(x), ALL, mixed="promoted", broadcasts=True, converts=True),
    "GeluBackwardV2": Row(
        lambda g, x, approximate: g * (tanh_gelu_slope(x) if approximate == "tanh" else gelu_slope(x)),
        ALL,
        ({"approximate": "none"}, {"approximate": "tanh"}),
        mixed="promoted",
        broadcasts=True,
        converts=True,
    ),
    "FastGelu": Row(lambda x: x * sigma(1.702 * x), "950 A3 A2"),
    "FastGeluBackward": Row(lambda g, x: g * ((sigma(1.702 * x) - 1) * -1.702 * x + 1) * sigma(1.702 * x), "950 A3 A2"),
    "Silu": Row(lambda x: x * sigma(x), ALL),
    "SiluBackward": Row(lambda g, x: g * silu_slope(x), "950 A3 A2 910", broadcasts=True),
    "Swish": Row(
        lambda x, betaOptional: x * sigma(f32(1.1 if betaOptional else 1.0) * x), ALL, ({"betaOptional": 1.1}, {"betaOptional": None})
    ),
    "SwishBackward": Row(
        lambda g, x, betaOptional: g * silu_slope(x, f32(1.1 if betaOptional else 1.0)),
        ALL,
        ({"betaOptional": 1.1}, {"betaOptional": None}),
    ),
    "Mish": Row(lambda x: x * np.tanh(np.log1p(np.exp(x))), "950 A3 A2 910"),
    "MishBackward": Row(lambda g, x: g * mish_slope(x), ALL, mixed="promoted", broadcasts=True, converts=True),
    "Hardswish": Row(lambda x: np.where(x <= -3, 0, np.where(x >= 3, x, x * (x + 3) / 6)), "950 A3 A2 910", converts=True),
    "HardswishBackward": Row(lambda g, x: g * hardswish_slope(x, middle=lambda x: (x >= -3) & (x <= 3)), "950 A3 A2 910"),
    "HardswishBackwardV2": Row(lambda g, x: g * hardswish_slope(x, middle=lambda x: (x > -3) & (x < 3)), "950 A3 A2 910"),
    "Hardsigmoid": Row(lambda x: np.clip(x / 6 + 0.5, 0, 1), "950 A3 A2 910"),
    "HardsigmoidBackward": Row(lambda g, x: np.where(abs(x) < 3, g / 6, 0), ALL, at_nan=0, mixed="promoted", converts=True),
    "HardtanhBackward": Row(
        lambda g, x, min, max: np.where((x < min) | (x > max), 0, g), f"{ALL} 310B", ({"min": -1.0, "max": 1.5},), at_nan=1, converts=True
    ),
    "LeakyRelu": Row(
        lambda x, negativeSlope: np.where(x > 0, x, f32(negativeSlope) * x), "950 A3 A2 910", ({"negativeSlope": 0.1},), converts=True
    ),
    "LeakyReluBackward": Row(
        lambda g, x, negativeSlope, selfIsResult: np.where(x > 0, g, g * f32(negativeSlope)),
        ALL,
        ({"negativeSlope": 0.1, "selfIsResult": True}, {"negativeSlope": -2, "selfIsResult": False}),
        at_nan=float(np.float32(0.1)),
        mixed="promoted",
        broadcasts=True,
        converts=True,
    ),
    "Elu": Row(lambda x, alpha, scale, inputScale: scale * np.where(x > 0, x, alpha * np.expm1(x * inputScale)), ALL, ELU, converts=True),
    "EluBackward": Row(
        lambda g, x, alpha, scale, inputScale, isResult: (
            g * np.where(x > 0, scale, inputScale * (x + alpha * scale if isResult else alpha * scale * np.exp(x * inputScale)))
        ),
        ALL,
        tuple({**one, "isResult": result} for one, result in zip(ELU, (True, False), strict=True)),
        converts=True,
    ),
    "Celu": Row(
        lambda x, alpha: np.maximum(0, x) + np.minimum(0, alpha * np.expm1(np.where(x * alpha > 0, 0, x) / alpha * np.sign(alpha))),
        "950 A3 A2 910",
        ({"alpha": 1.5},),
        converts=True,
    ),
    "Selu": Row(lambda x: SCALE * np.where(x > 0, x, ALPHA * np.expm1(x)), "950 A3 A2 910"),
    "SeluBackward": Row(lambda g, y: np.where(y > 0, SCALE * g, g * (y + SCALE * ALPHA)), ALL),
    "Softplus": Row(
        lambda x, beta, threshold: np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta),
        ALL,
        SOFTPLUS,
        converts=True,
    ),
    "SoftplusBackward": Row(
        lambda g, x, beta, threshold: np.where(x * beta > threshold, g, g * sigma(x * beta)),
        "950 A3 A2 910",
        SOFTPLUS,
        mixed="promoted",
        converts=True,
    ),
    "Hardshrink": Row(lambda x, lambd: np.where(abs(x) <= lambd, 0, x), ALL, ({"lambd": 0.5},)),
    "HardshrinkBackward": Row(
        lambda g, x, lambd: np.where(abs(x) <= lambd, 0, g),
        "950 A3 A2 910",
        ({"lambd": 0.5},),
        at_nan=1,
        mixed="promoted",
        broadcasts=True,
        converts=True,
    ),
    "Softshrink": Row(lambda x, lambd: np.where(abs(x) <= lambd, 0, x - np.sign(x) * lambd), ALL, ({"lambd": 0.5}, {"lambd": 0.0})),
    "SoftshrinkBackward": Row(
        lambda g, x, **numbers: np.where(abs(x) <= numbers["lambda"], 0, g),
        f"{ALL} 310B",
        ({"lambda": 0.5},),
        at_nan=1,
        mixed="promoted",
        broadcasts=True,
        converts=True,
    ),
    "Shrink": Row(
        lambda x, lambd, bias: np.where(abs(x) <= lambd, 0, x - np.sign(x) * bias), "950 A3 A2 310P", ({"lambd": 0.5, "bias": 0.25},)
    ),
    "Threshold": Row(
        lambda x, threshold, value: np.where(x > threshold, x, value),
        "950 A3 A2 910",
        ({"threshold": 0.25, "value": 10.0},),
        at_nan=10,
        converts=True,
    ),
    "ThresholdBackward": Row(lambda g, x, threshold: np.where(x > threshold, g, 0), ALL, ({"threshold": 0.25},), at_nan=0, broadcasts=True),
    "SigmoidBackward": Row(lambda g, y: g * y * (1 - y), ALL, mixed="promoted", broadcasts=True, converts=True),
    "TanhBackward": Row(lambda g, y: g * (1 - y * y), ALL, broadcasts=True),
    "SquaredRelu": Row(lambda x: np.maximum(x, 0) ** 2, "950 A3 A2"),
    "Heaviside": Row(lambda x, values: np.where(x == 0, values, np.where(x < 0, 0, 1)), "950 A3 A2", scale=1, at_nan=0, broadcasts=True),
    "NanToNum": Row(lambda x, **_: x, "950 A3 A2", ({"nan": 0.5, "posinf": 7.0, "neginf": -8.0},), at_nan=0.5),
    "Square": Row(np.square, "950"),
}
PRODUCT = {"950": "Ascend950PR_9589", "A2": "Ascend910B1"}
IN_PLACE = ("Mish", "Hardswish", "Hardsigmoid", "LeakyRelu", "Elu", "Celu", "Selu", "Threshold", "NanToNum")
every = pytest.mark.parametrize("name", sorted(TABLE))


def f32(value: float) -> float:
    return float(np.float32(value))


def tensor_names(name: str) -> list[str]:
    return [one for one, kind in aclnnop.find(f"aclnn{name}").parameters if kind.c_type.endswith("aclTensor*")]


def call(name: str, *tensors: Any, out: Any, **numbers: Any) -> Case:
    *inputs, result = tensor_names(name)
    given = {**dict(zip(inputs, tensors, strict=True)), result: out, **(numbers or TABLE[name].settings[0])}
    return Case(f"aclnn{name}", {one: given[one] for one in aclnnop.find(f"aclnn{name}").names})


def meta(name: str, *changes: tuple[int, Any]) -> Case:
    """A call that fits, of FLOAT tensors of shape [2, 3], with some tensors changed by number."""
    tensors = [Meta((2, 3), np.float32) for _ in tensor_names(name)]
    for place, other in changes:
        tensors[place] = other
    return call(name, *tensors[:-1], out=tensors[-1])


def golden(name: str, *tensors: Array, **setting: Any) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(TABLE[name].reference(*(np.asarray(one, np.float64) for one in tensors), **setting))


def drawn(name: str, shape: tuple[int, ...], dtype: Any, seed: int) -> list[Array]:
    count = len(tensor_names(name)) - 1
    return [numbers(shape, dtype, seed + place, TABLE[name].scale) for place in range(count)]


@pytest.fixture(autouse=True)
def _a_chip_that_has_it(request: pytest.FixtureRequest, chip) -> None:
    if "name" in request.fixturenames and "A2" not in TABLE[request.getfixturevalue("name")].products.split():
        chip(PRODUCT["950"])


@every
@given(data=st.data())
def test_values(name: str, device: int, data: st.DataObject) -> None:
    shape, dtype = data.draw(shapes()), data.draw(st.sampled_from(FLOATS if name != "Shrink" else FLOATS[:2]))
    setting = data.draw(st.sampled_from(TABLE[name].settings))
    tensors = drawn(name, shape, dtype, data.draw(st.integers(0, 1000)))
    result = call(name, *tensors, out=np.zeros(shape, dtype), **setting).run(data.draw(layouts))
    expected = golden(name, *tensors, **setting)
    terms = abs(np.asarray(tensors[0], np.float64)) if len(tensors) > 1 else None
    if dtype == FLOAT:
        assert_accurate(result, expected, largest=terms)
    else:  # where terms cancel, the last digit of the half type may depend on the formula
        assert_accurate(result, expected) if terms is None else assert_meets_standard(result, expected)


@every
def test_special_values(name: str, device: int) -> None:
    row = TABLE[name]
    x = np.array([NAN, 0.0, -0.0], FLOAT)
    tensors = [np.ones(3, FLOAT), x] if len(tensor_names(name)) == 3 and name != "Heaviside" else [x]
    if name == "Heaviside":
        tensors = [x, np.full(3, 5, FLOAT)]
    result = call(name, *tensors, out=np.zeros(3, FLOAT)).run()
    np.testing.assert_equal(float(result[0]), row.at_nan)
    assert_accurate(result[1:], golden(name, *(one[1:] for one in tensors), **row.settings[0]))


@every
def test_far_from_zero(name: str, device: int) -> None:
    """Nothing overflows on the way to a result that a number can hold."""
    x = np.array([100.0, -100.0, 3e4, -3e4, 3.0, -3.0], FLOAT)
    tensors = [np.ones(6, FLOAT), x] if len(tensor_names(name)) == 3 else [x]
    setting = TABLE[name].settings[0]
    result = call(name, *tensors, out=np.zeros(6, FLOAT)).run()
    expected = golden(name, *tensors, **setting)
    if name in ("Mish", "MishBackward", "Softplus", "SwishBackward", "FastGeluBackward", "SiluBackward"):  # the formula overflows
        expected = np.where(np.isnan(expected), result, expected)
        assert np.isfinite(result).all()
    np.testing.assert_allclose(result, expected, rtol=2e-6, atol=1e-12)


@every
@pytest.mark.parametrize("shape", [(), (1,) * 8, (0,), (3, 0, 2)], ids=str)
def test_ranks_and_empty_tensors(name: str, shape: tuple[int, ...], device: int) -> None:
    tensors = drawn(name, shape, FLOAT, 4)
    case = call(name, *tensors, out=np.zeros(shape, FLOAT))
    assert_meets_standard(case.run(3), golden(name, *tensors, **TABLE[name].settings[0])) if 0 not in shape else case.run(3)
    if 0 in shape:
        assert case.plan() == (0, 0)


@every
def test_large_tensors(name: str, device: int) -> None:
    """Where the engine may compute in float32."""
    tensors = drawn(name, (1 << 15,), FLOAT, 5)
    for setting in TABLE[name].settings:
        result = call(name, *tensors, out=np.zeros(1 << 15, FLOAT), **setting).run()
        largest = abs(np.asarray(tensors[0], np.float64)) if len(tensors) > 1 else None
        assert_accurate(result, golden(name, *tensors, **setting), largest=largest, ulps=128)


@every
def test_shapes_and_types_that_do_not_fit(name: str) -> None:
    row, last = TABLE[name], len(tensor_names(name)) - 1
    other = np.float16
    assert meta(name).status() == 0
    assert meta(name, (last, Meta((3, 2), np.float32))).status() == ACLNN_ERR_PARAM_INVALID
    assert meta(name, (last, Meta((1, 2, 3), np.float32))).status() == ACLNN_ERR_PARAM_INVALID
    assert meta(name, (last, Meta((2, 3), np.uint64))).status() == ACLNN_ERR_PARAM_INVALID
    assert meta(name, (0, Meta((2, 3), np.uint64))).status() == ACLNN_ERR_PARAM_INVALID
    assert meta(name, (0, Meta((1,) * 9, np.float32))).status() == ACLNN_ERR_PARAM_INVALID
    assert meta(name, (last, Meta((2, 3), other))).status() == (0 if row.converts else ACLNN_ERR_PARAM_INVALID)
    if last == 2:
        assert meta(name, (0, Meta((2, 4), np.float32))).status() == ACLNN_ERR_PARAM_INVALID
        assert meta(name, (0, Meta((2, 3), other))).status() == (0 if row.mixed == "promoted" else ACLNN_ERR_PARAM_INVALID)
        assert meta(name, (1, Meta((1, 3), np.float32))).status() == (0 if row.broadcasts else ACLNN_ERR_PARAM_INVALID)


@every
def test_null_pointers(name: str) -> None:
    for place in range(len(tensor_names(name))):
        assert meta(name, (place, None)).status() == ACLNN_ERR_PARAM_NULLPTR
    for parameter, kind in aclnnop.find(f"aclnn{name}").parameters:
        if kind.c_type.endswith("aclScalar*") and not kind.optional:
            assert meta(name).but(**{parameter: None}).status() == ACLNN_ERR_PARAM_NULLPTR


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.broadcasts])
def test_broadcast_and_mixed_types(name: str, device: int) -> None:
    promotes = TABLE[name].mixed == "promoted"
    first = numbers((4, 1, 3), FLOAT, 1, TABLE[name].scale)
    second = numbers((2, 1), FLOAT16 if promotes else FLOAT, 2, TABLE[name].scale)
    result = call(name, first, second, out=np.zeros((4, 2, 3), FLOAT)).run(3)
    expected = golden(name, first, second, **TABLE[name].settings[0])
    assert_accurate(result, expected, largest=abs(np.broadcast_to(first, (4, 2, 3)).astype(np.float64)))


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.converts])
def test_result_of_another_type(name: str, device: int) -> None:
    tensors = drawn(name, (4, 5), BF16, 7)
    result = call(name, *tensors, out=np.zeros((4, 5), FLOAT)).run()
    expected = golden(name, *tensors, **TABLE[name].settings[0])
    np.testing.assert_allclose(result, expected, rtol=2.0**-7, atol=1e-2)


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name: str, device: int) -> None:
    operator = aclnnop.find(f"aclnnInplace{name}")
    for dtype in (FLOAT, BF16):
        x, setting = numbers((3, 7), dtype, 3, 3), TABLE[name].settings[0]
        case = Case(operator.name, {operator.names[0]: x, **setting})
        assert_equal(case.run(5), call(name, x, out=np.zeros_like(x)).run())


def test_slopes_at_the_bounds(device: int, chip) -> None:
    grad = np.full(5, 2, FLOAT)
    x = np.array([-1.5, -1, 0, 1.5, 2], FLOAT)
    assert call("HardtanhBackward", grad, x, out=np.zeros(5, FLOAT), min=-1.0, max=1.5).run().tolist() == [0, 2, 2, 2, 0]
    assert call("HardshrinkBackward", grad, x, out=np.zeros(5, FLOAT), lambd=-1.25).run().tolist() == [2, 2, 0, 2, 2]
    assert call("HardshrinkBackward", grad, x, out=np.zeros(5, FLOAT), lambd=1.5).run().tolist() == [0, 0, 0, 0, 2]
    chip("Ascend310B4")
    assert call("SoftshrinkBackward", *[Meta((2,), BF16)] * 2, out=Meta((2,), BF16)).status() == ACLNN_ERR_PARAM_INVALID


@every
def test_products(name: str, chip) -> None:
    supported = TABLE[name].products.split()
    for profile in soc.PROFILES.values():
        chip(profile.name)
        missing = 0 if profile.product.short in supported else ACLNN_ERR_INNER_NULLPTR
        half = Meta((2,), np.float16)
        assert call(name, *[half] * (len(tensor_names(name)) - 1), out=half).status() == missing, profile.name


INTEGERS = [
    ("Hardsigmoid", np.int32, [[-9, -3, -2, 0, 2, 3, 9]], [0, 0, 0, 0, 0, 1, 1], {}),
    ("Selu", np.int32, [[-9, -1, 0, 1, 5]], [-1, -1, 0, 1, 5], {}),
    ("Selu", np.int8, [[-9, 100]], [-1, 105], {}),
    ("SeluBackward", np.int32, [[3, 3, -3], [-1, 5, 5]], [2, 3, -3], {}),
    ("Threshold", np.int32, [[-2, 5, 2**30 + 1]], [7, 5, 2**30 + 1], {"threshold": np.int32(3), "value": np.int32(7)}),
    ("Threshold", np.int64, [[2**60 + 1, 0]], [2**60 + 1, -1], {"threshold": 0, "value": -1}),
    ("Threshold", np.uint8, [[200, 3]], [200, 9], {"threshold": np.uint8(3), "value": np.uint8(9)}),
    ("ThresholdBackward", np.int32, [[4, 5], [0, 1]], [0, 5], {"threshold": 0}),
    ("NanToNum", np.int64, [[2**60 + 1, -3]], [2**60 + 1, -3], {}),
    ("NanToNum", np.bool_, [[True, False]], [True, False], {}),
    ("SoftplusBackward", FLOAT, [[2.0, 2.0]], [1.0, 2.0], {"beta": 1, "threshold": 20}),
    ("Square", np.int64, [[-3, 3037000500]], [9, -9223372036709301616], {}),
]


@pytest.mark.parametrize(("name", "dtype", "tensors", "expected", "setting"), INTEGERS, ids=lambda one: getattr(one, "__name__", None))
def test_integers(name: str, dtype: Any, tensors: Any, expected: Any, setting: dict[str, Any], device: int) -> None:
    arrays = [np.array(one, dtype) for one in tensors]
    if name == "SoftplusBackward":
        arrays.append(np.array([0, 50], np.int32))
    assert call(name, *arrays, out=np.zeros(len(expected), dtype), **setting).run().tolist() == expected


def test_leaky_slopes_as_complex_numbers(device: int) -> None:
    grad, x = np.array([2, 3], FLOAT), np.array([-1, 1], FLOAT)
    case = call("LeakyReluBackward", grad, x, out=np.zeros(2, np.complex64), negativeSlope=0.5, selfIsResult=False)
    assert case.run().tolist() == [1, 3]
    assert case.but(out=Meta((2,), np.complex128)).status() == 0
    assert case.but(out=Meta((2,), np.int32)).status() == ACLNN_ERR_PARAM_INVALID


def test_infinities_become_numbers(device: int) -> None:
    x = np.array([INF, -INF, NAN, 1.5], FLOAT)
    assert call("NanToNum", x, out=np.zeros_like(x)).run().tolist() == [7, -8, 0.5, 1.5]
    half = call("NanToNum", x.astype(FLOAT16), out=np.zeros(4, FLOAT16), nan=0.0, posinf=1e9, neginf=-1e9).run()
    assert half.tolist() == [INF, -INF, 0, 1.5]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("Celu", {"alpha": 0.0}),
        ("Celu", {"alpha": np.complex64(1)}),
        ("Elu", {"scale": np.complex64(1)}),
        ("Softplus", {"beta": np.complex64(1)}),
        ("EluBackward", {"alpha": -1.0, "isResult": True}),
        ("LeakyReluBackward", {"negativeSlope": -1.0, "selfIsResult": True}),
        ("LeakyReluBackward", {"negativeSlope": np.complex64(1)}),
        ("GeluBackwardV2", {"approximate": "erf"}),
        ("Hardshrink", {"lambd": np.complex64(1)}),
        ("Softshrink", {"lambd": -0.5}),
        ("SoftshrinkBackward", {"lambda": -0.5}),
        ("Shrink", {"lambd": -0.5}),
        ("Shrink", {"lambd": np.float64(1)}),
    ],
    ids=str,
)
def test_numbers_out_of_range(name: str, changes: dict[str, Any]) -> None:
    assert meta(name).but(**changes).status() == ACLNN_ERR_PARAM_INVALID


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("Celu", {"alpha": -1.0}),
        ("EluBackward", {"alpha": -1.0, "isResult": False}),
        ("GeluV2", {"approximate": 7}),
        ("LeakyRelu", {"negativeSlope": np.int64(1)}),
        ("HardtanhBackward", {"min": np.int64(-1)}),
        ("Hardshrink", {"lambd": np.float64(1)}),
        ("HardshrinkBackward", {"lambd": np.float64(1)}),
        ("Softshrink", {"lambd": np.float64(1)}),
        ("Softshrink", {"lambd": np.int64(1)}),
    ],
    ids=str,
)
def test_numbers_that_are_accepted(name: str, changes: dict[str, Any]) -> None:
    assert meta(name).but(**changes).status() == 0


def test_a_floating_threshold_of_integers(device: int) -> None:
    """The promoted type has to be castable to that of the result."""
    whole = Meta((2,), np.int32)
    assert call("Threshold", whole, out=whole, threshold=0.5, value=1).status() == ACLNN_ERR_PARAM_INVALID
    assert call("Threshold", np.array([0, 1], np.int32), out=np.zeros(2, FLOAT), threshold=0.5, value=7).run().tolist() == [7, 1]


def test_int64_gradients_of_thresholds(chip) -> None:
    for name, status in (("Ascend910B1", ACLNN_ERR_PARAM_INVALID), (PRODUCT["950"], 0)):
        chip(name)
        one = Meta((2,), np.int64)
        assert call("ThresholdBackward", one, one, out=one, threshold=0).status() == status


def test_doubles_and_complex_numbers(device: int) -> None:
    g, y = numbers((20,), np.complex128, 1), numbers((20,), np.complex128, 2)
    np.testing.assert_allclose(call("SigmoidBackward", g, y, out=np.zeros_like(g)).run(), g * y * (1 - y), rtol=1e-14)
    g, y = g.real.copy(), y.real.copy()
    np.testing.assert_allclose(call("TanhBackward", g, y, out=np.zeros_like(g)).run(), g * (1 - y * y), rtol=1e-13)
    np.testing.assert_allclose(
        call("LeakyReluBackward", g, y, out=np.zeros_like(g), negativeSlope=np.float64(0.1), selfIsResult=False).run(),
        np.where(y > 0, g, g * 0.1),
        rtol=1e-15,
    )
    elu = Case("aclnnInplaceElu", {"selfRef": y, "alpha": 1.0, "scale": 1.0, "inputScale": 1.0})
    np.testing.assert_allclose(elu.run(), np.where(y > 0, y, np.expm1(y)), rtol=1e-14)
