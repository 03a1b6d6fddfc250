"""Gated linear units and their gradients, plain, clamped and over groups: against the documents' formulas in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aclnnop
from acl_emu import ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_INNER_TILING_ERROR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from acl_emu.core import soc
from tests.operators.accuracy import BF16, FLOAT, FLOATS, assert_accurate, assert_equal, assert_meets_standard
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import layouts
from tests.operators.test_activations import gelu, gelu_slope, sigma, silu_slope, tanh_gelu, tanh_gelu_slope

NEWER = "950 A3 A2"


def unit(approximate: Any) -> Callable[[Any], Any]:
    return tanh_gelu if approximate in (1, "tanh") else gelu


def situ(gate: Any, linear: Any, beta: float, linearBeta: float) -> Any:
    return beta * np.tanh(gate / beta) * sigma(gate) * (linearBeta * np.tanh(linear / linearBeta) if linearBeta > 0 else linear)


def situ_gradients(g: Any, gate: Any, linear: Any, beta: float, linearBeta: float) -> Any:
    t, s = np.tanh(gate / beta), sigma(gate)
    up = linearBeta * np.tanh(linear / linearBeta) if linearBeta > 0 else linear
    up_slope = 1 - np.tanh(linear / linearBeta) ** 2 if linearBeta > 0 else 1
    return g * up * s * ((1 - t**2) + beta * t * (1 - s)), g * beta * t * s * up_slope


class Row(NamedTuple):
    """A unit: results of the gate and of what it is the gate of, or their gradients."""

    reference: Callable[..., Any]
    left: Callable[[dict[str, Any]], bool]
    settings: tuple[dict[str, Any], ...]
    products: str
    others: tuple[str, ...] = ()
    """Inputs beside the gradient and the tensor that is cut."""
    results: int = 1


BOTH = ({"dim": -1}, {"dim": 1}, {"dim": 0})
GEGLU = ({"dim": -1, "approximate": 1}, {"dim": 1, "approximate": 0})
GEGLU_V3 = tuple({**one, "activateLeft": left} for one in GEGLU for left in (True, False))
SITU = (
    {"dim": -1, "beta": 1.5, "linearBeta": 0.0, "activateLeft": True},
    {"dim": 1, "beta": 2.0, "linearBeta": 3.0, "activateLeft": False},
)
NONE, LAST = lambda _: True, lambda _: False
WANTED = lambda setting: setting["activateLeft"]  # noqa: E731
FORWARD: dict[str, Row] = {
    "Glu": Row(lambda b, a: a * sigma(b), LAST, BOTH, "950 A3 A2 310P 910"),
    "SwiGlu": Row(lambda a, b: a * sigma(a) * b, NONE, BOTH, f"{NEWER} 310P"),
    "GeGlu": Row(lambda g, x, approximate: (unit(approximate)(g) * x, unit(approximate)(g)), LAST, GEGLU, f"{NEWER} 310P", results=2),
    "GeGluV3": Row(
        lambda g, x, approximate: (unit(approximate)(g) * x, unit(approximate)(g)), WANTED, GEGLU_V3, f"{NEWER} 310P", results=2
    ),
    "SituGlu": Row(situ, WANTED, SITU, NEWER),
    "GeluMul": Row(
        lambda g, x, approximateOptional: unit(approximateOptional)(g) * x,
        NONE,
        ({"approximateOptional": "tanh"}, {"approximateOptional": "none"}, {"approximateOptional": None}),
        NEWER,
    ),
}
BACKWARD: dict[str, Row] = {
    "GluBackward": Row(lambda g, b, a: (g * sigma(b) * (a - a * sigma(b)), g * sigma(b)), LAST, BOTH, "950 A3 A2 310P 910"),
    "SwiGluGrad": Row(lambda g, a, b: (g * silu_slope(a) * b, g * sigma(a) * a), NONE, BOTH, f"{NEWER} 310P"),
    "GeGluBackward": Row(
        lambda g, x, y, gelu, approximate: (g * y * (tanh_gelu_slope(x) if approximate else gelu_slope(x)), g * gelu),
        LAST,
        GEGLU,
        f"{NEWER} 310P",
        ("gelu",),
    ),
    "GeGluV3Backward": Row(
        lambda g, x, y, gelu, approximate: (g * y * (tanh_gelu_slope(x) if approximate else gelu_slope(x)), g * gelu),
        WANTED,
        GEGLU_V3,
        f"{NEWER} 310P",
        ("gelu",),
    ),
    "SituGluGrad": Row(situ_gradients, WANTED, SITU, NEWER),
}
TABLE = FORWARD | BACKWARD
every = pytest.mark.parametrize("name", sorted(TABLE))


def halves(x: Array, dim: int, *, left: bool) -> list[Array]:
    parts = np.split(np.asarray(x, np.float64), 2, axis=dim)
    return parts if left else parts[::-1]


def tensor_names(name: str) -> list[str]:
    return [one for one, kind in aclnnop.find(f"aclnn{name}").parameters if kind.c_type.endswith("aclTensor*")]


def call(name: str, *tensors: Any, **setting: Any) -> Case:
    given = {**dict(zip(tensor_names(name), tensors, strict=True)), **setting}
    return Case(f"aclnn{name}", {one: given[one] for one in aclnnop.find(f"aclnn{name}").names})


def half(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    return tuple(length // 2 if axis == dim % len(shape) else length for axis, length in enumerate(shape))


def fitting(name: str, setting: dict[str, Any], shape: tuple[int, ...], make: Callable[[tuple[int, ...], int], Any]) -> list[Any]:
    """The tensors of a call, in order."""
    small = half(shape, setting.get("dim", -1))
    kinds = [shape, *[small] * TABLE[name].results] if name in FORWARD else [small, shape, *[small] * len(TABLE[name].others), shape]
    return [make(one, seed) for seed, one in enumerate(kinds)]


def golden(name: str, tensors: list[Array], setting: dict[str, Any]) -> tuple[Array, ...]:
    row, dim = TABLE[name], setting.get("dim", -1)
    numbers = {key: value for key, value in setting.items() if key not in ("dim", "activateLeft")}
    left = row.left(setting)
    if name in FORWARD:
        found = row.reference(*halves(tensors[0], dim, left=left), **numbers)
        return found if row.results > 1 else (found,)
    grad, x, *others = (np.asarray(one, np.float64) for one in tensors[: 2 + len(row.others)])
    pair = row.reference(grad, *halves(x, dim, left=left), *others, **numbers)
    return (np.concatenate(pair if left else pair[::-1], axis=dim),)


@every
@given(data=st.data())
def test_values(name: str, device: int, data: st.DataObject) -> None:
    setting, dtype = data.draw(st.sampled_from(TABLE[name].settings)), data.draw(st.sampled_from(FLOATS))
    shape = tuple(2 * data.draw(st.integers(1, 3)) for _ in range(3))
    seed = data.draw(st.integers(0, 1000))
    tensors = fitting(name, setting, shape, lambda one, place: numbers(one, dtype, seed + place, 2))
    found = call(name, *tensors, **setting).results(data.draw(layouts))
    for result, expected in zip(found, golden(name, tensors, setting), strict=True):
        assert_accurate(result, expected) if name in FORWARD and dtype == FLOAT else assert_meets_standard(result, expected)


@every
def test_shapes_and_types_that_do_not_fit(name: str) -> None:
    setting = TABLE[name].settings[0]
    good = fitting(name, setting, (4, 6), lambda shape, _: Meta(shape, np.float32))
    assert call(name, *good, **setting).status() == 0
    for place, one in enumerate(good):
        others = [*good]
        for wrong in (Meta((*one.shape[:-1], one.shape[-1] + 1), np.float32), Meta(one.shape, np.float16), Meta(one.shape, np.int32)):
            others[place] = wrong
            cast = name == "Glu" and wrong.dtype == np.float16
            assert call(name, *others, **setting).status() == (0 if cast else ACLNN_ERR_PARAM_INVALID), (place, wrong)
        others[place] = None
        assert call(name, *others, **setting).status() == ACLNN_ERR_PARAM_NULLPTR
    if "dim" in setting:
        for dim in (2, -3):
            assert call(name, *good, **{**setting, "dim": dim}).status() == ACLNN_ERR_PARAM_INVALID


@every
def test_products_and_empty_tensors(name: str, chip) -> None:
    setting = TABLE[name].settings[0]
    for profile in soc.PROFILES.values():
        chip(profile.name)
        missing = 0 if profile.product.short in TABLE[name].products.split() else ACLNN_ERR_INNER_NULLPTR
        assert call(name, *fitting(name, setting, (4, 6), lambda shape, _: Meta(shape, np.float16)), **setting).status() == missing
        empty = call(name, *fitting(name, setting, (0, 6), lambda shape, _: Meta(shape, np.float16)), **setting)
        assert empty.plan() == (0, 0)


def test_modes_of_the_gate() -> None:
    def modes(name: str, dtype: Any, **changes: Any) -> int:
        setting = {**TABLE[name].settings[0], **changes}
        return call(name, *fitting(name, setting, (4, 6), lambda shape, _: Meta(shape, dtype)), **setting).status()

    assert modes("GeGluBackward", np.float32, approximate=2) == ACLNN_ERR_PARAM_INVALID
    assert modes("GeGluV3Backward", np.float32, approximate=-1) == ACLNN_ERR_PARAM_INVALID
    assert modes("GeGluBackward", np.float32, approximate=0) == 0
    assert modes("GeluMul", np.float32, approximateOptional="erf") == ACLNN_ERR_PARAM_INVALID


def test_only_the_tangent_on_310p(chip) -> None:
    chip("Ascend310P3")
    for approximate, status in ((0, ACLNN_ERR_PARAM_INVALID), (1, 0)):
        setting = {"dim": -1, "approximate": approximate}
        assert (
            call("GeGluBackward", *fitting("GeGluBackward", setting, (4, 6), lambda s, _: Meta(s, np.float16)), **setting).status()
            == status
        )


def test_glu_of_doubles(device: int) -> None:
    x = numbers((3, 8), np.float64, 1)
    np.testing.assert_allclose(call("Glu", x, np.zeros((3, 4)), dim=-1).run(), x[:, :4] * sigma(x[:, 4:]), rtol=1e-14)
    assert call("Glu", Meta((), np.float32), Meta((), np.float32), dim=0).status() == ACLNN_ERR_PARAM_INVALID


def test_glu_casts_its_result(device: int) -> None:
    x = numbers((3, 8), np.float32, 2)
    expected = x[:, :4] * sigma(x[:, 4:])
    np.testing.assert_allclose(call("Glu", x, np.zeros((3, 4), np.float16), dim=-1).run(), expected, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(call("Glu", x, np.zeros((3, 4)), dim=-1).run(), expected, rtol=1e-6)


def test_situ_gradients_where_the_tangent_is_flat(device: int) -> None:
    x, grad = np.linspace(-20, 20, 82).astype(FLOAT).reshape(2, 41).T.copy(), np.ones((41, 1), FLOAT)
    for beta, bound in ((1.0, 0.0), (1.5, 2.0)):
        case = call("SituGluGrad", grad, x, np.zeros_like(x), dim=-1, beta=beta, linearBeta=bound, activateLeft=True)
        gate, up = np.split(x.astype(np.float64), 2, axis=1)
        sech = lambda z: 1 / np.cosh(z) ** 2  # noqa: E731
        line = bound * np.tanh(up / bound) if bound else up
        slope = sigma(gate) * (sech(gate / beta) + beta * np.tanh(gate / beta) * sigma(-gate))
        of_up = beta * np.tanh(gate / beta) * sigma(gate) * (sech(up / bound) if bound else 1)
        np.testing.assert_allclose(case.run(), np.concatenate((line * slope, of_up), axis=1), rtol=2e-5, atol=1e-9)


def test_fatrelu_mul(device: int, chip) -> None:
    x, threshold = numbers((3, 8), BF16, 1), np.array([0.5], BF16)
    x[0, 0] = 0.5  # an element at the threshold stays
    wide = x.astype(np.float64)
    case = Case("aclnnFatreluMul", {"input": x, "threshold": threshold, "out": np.zeros((3, 4), BF16)})
    assert_meets_standard(case.run(3), np.where(wide[:, :4] < 0.5, 0, wide[:, :4]) * wide[:, 4:])
    assert np.isnan(case.but(input=np.full((3, 8), np.nan, BF16)).run()).all()
    assert case.but(threshold=np.zeros(2, BF16)).status() == ACLNN_ERR_PARAM_INVALID
    assert case.but(threshold=None).status() == ACLNN_ERR_PARAM_NULLPTR
    assert case.but(input=Meta((3, 7), BF16)).status() == ACLNN_ERR_PARAM_INVALID
    assert case.but(input=Meta((8,), BF16)).status() == ACLNN_ERR_PARAM_INVALID
    chip("Ascend950PR_9589")
    assert case.status() == ACLNN_ERR_INNER_NULLPTR


# Clamped units, of which groups take the first rows.


def clipped(a: Array, b: Array, alpha: float, limit: float, bias: float) -> Array:
    a, b = np.minimum(a, limit), np.clip(b, -limit, limit)
    return np.asarray(a * sigma(alpha * a) * (b + bias))


def clipped_case(name: str, dtype: Any = FLOAT, **changes: Any) -> Case:
    x = numbers((4, 3, 6), dtype, 1, 4)
    given: dict[str, Any] = {
        "gradY": numbers((4, 3, 3), dtype, 2),
        "x": x,
        "groupIndexOptional": None,
        "dim": -1,
        "alpha": 1.702,
        "limit": 2.0,
        "bias": 1.0,
        "interleaved": False,
        "clampMode": 0,
        "out": np.full((4, 3, 3), 9, dtype),
        "gradXOut": np.full((4, 3, 6), 9, dtype),
        **changes,
    }
    return Case(f"aclnn{name}", {one: given[one] for one in aclnnop.find(f"aclnn{name}").names})


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("groups", [None, [2, 3], [99]], ids=str)
@pytest.mark.parametrize("name", ["ClippedSwiglu", "ClippedSwigluV2"])
def test_clipped_swiglu(name: str, dtype: Any, interleaved: bool, groups: Any, device: int, chip) -> None:
    chip("Ascend950PR_9589")
    for late in (False, True) if name.endswith("V2") else (False,):
        counts = None if groups is None else np.array(groups)
        case = clipped_case(name, dtype, interleaved=interleaved, groupIndexOptional=counts)
        rows = case.arguments["x"].astype(np.float64).reshape(12, 6)
        a, b = (rows[:, ::2], rows[:, 1::2]) if interleaved else (rows[:, :3], rows[:, 3:])
        expected = clipped(a, b, 1.702, 2.0, 1.0)
        if late:
            case, expected = case.but(clampMode=1), np.minimum(a * sigma(a), 2.0) * np.clip(b, -2, 2)
        taken = 12 if groups is None else min(sum(groups), 12)
        result = case.run(3).reshape(12, 3)
        assert_meets_standard(result[:taken], expected[:taken])
        assert_equal(result[taken:], np.full((12 - taken, 3), 9.0))


def test_clipped_swiglu_along_another_axis(device: int) -> None:
    """Pairs are those of the rows that the axis and all behind it make."""
    x = numbers((2, 4, 3), FLOAT, 3, 3)
    case = clipped_case("ClippedSwiglu", x=x, dim=1, interleaved=True, out=np.zeros((2, 2, 3), FLOAT))
    rows = x.astype(np.float64).reshape(2, 12)
    assert_meets_standard(case.run(), clipped(rows[:, ::2], rows[:, 1::2], 1.702, 2.0, 1.0).reshape(2, 2, 3))


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("groups", [None, [2, 3]], ids=str)
def test_clipped_swiglu_gradient(interleaved: bool, groups: Any, device: int) -> None:
    case = clipped_case("ClippedSwigluGrad", interleaved=interleaved, groupIndexOptional=None if groups is None else np.array(groups))
    rows = case.arguments["x"].astype(np.float64).reshape(12, 6)
    grad = case.arguments["gradY"].astype(np.float64).reshape(12, 3)
    expected = np.zeros((12, 6))
    for row in range(12 if groups is None else 5):
        for h in range(3):
            first, second = (2 * h, 2 * h + 1) if interleaved else (h, h + 3)
            a, b = min(rows[row, first], 2.0), min(max(rows[row, second], -2.0), 2.0)
            s = 1 / (1 + math.exp(-1.702 * a))
            expected[row, first] = grad[row, h] * (b + 1) * s * (1 + 1.702 * a * (1 - s)) * (rows[row, first] <= 2)
            expected[row, second] = grad[row, h] * a * s * (-2 <= rows[row, second] <= 2)
    np.testing.assert_allclose(case.run(3).reshape(12, 6), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "changes", "status"),
    [
        ("ClippedSwiglu", {"x": None}, ACLNN_ERR_PARAM_NULLPTR),
        ("ClippedSwiglu", {"out": None}, ACLNN_ERR_PARAM_NULLPTR),
        ("ClippedSwiglu", {"dim": 3}, ACLNN_ERR_PARAM_INVALID),
        ("ClippedSwiglu", {"dim": 1}, ACLNN_ERR_PARAM_INVALID),
        ("ClippedSwiglu", {"limit": 0.0}, ACLNN_ERR_PARAM_INVALID),
        ("ClippedSwiglu", {"groupIndexOptional": Meta((1,), np.int32)}, ACLNN_ERR_PARAM_INVALID),
        ("ClippedSwiglu", {"groupIndexOptional": Meta((1, 1), np.int64)}, ACLNN_ERR_PARAM_INVALID),
        ("ClippedSwiglu", {"x": Meta((4, 3, 6), np.int32)}, ACLNN_ERR_PARAM_INVALID),
        ("ClippedSwiglu", {"out": Meta((4, 3, 6), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        ("ClippedSwigluV2", {"clampMode": 2}, ACLNN_ERR_PARAM_INVALID),
        ("ClippedSwigluGrad", {"gradY": None}, ACLNN_ERR_PARAM_NULLPTR),
        ("ClippedSwigluGrad", {"gradY": Meta((4, 3, 3), np.float16)}, ACLNN_ERR_PARAM_INVALID),
        ("ClippedSwigluGrad", {"gradY": Meta((4, 3, 6), np.float32)}, ACLNN_ERR_INNER_TILING_ERROR),
        ("ClippedSwigluGrad", {"gradXOut": Meta((4, 3, 3), np.float32)}, ACLNN_ERR_INNER_TILING_ERROR),
        ("ClippedSwigluGrad", {"dim": 3}, ACLNN_ERR_INNER_TILING_ERROR),
        ("ClippedSwigluGrad", {"limit": -1.0}, ACLNN_ERR_INNER_TILING_ERROR),
    ],
    ids=str,
)
def test_clipped_calls_that_are_refused(name: str, changes: dict[str, Any], status: int, chip) -> None:
    chip("Ascend950PR_9589")
    assert clipped_case(name, **changes).status() == status


def group_case(name: str, dtype: Any = FLOAT, **changes: Any) -> Case:
    weight = (2, 3, 1) if name == "SwigluGroupGrad" else (2, 3)
    given: dict[str, Any] = {
        "gradY": numbers((2, 3, 4), dtype, 1),
        "x": numbers((2, 3, 8), dtype, 2, 3),
        "weightOptional": numbers(weight, FLOAT, 3),
        "yOriginOptional": numbers((2, 3, 4), dtype, 4),
        "groupIndexOptional": np.array([3, 1]),
        "clampLimit": 1.5,
        "out": np.full((2, 3, 4), 9, dtype),
        "gradXOut": np.full((2, 3, 8), 9, dtype),
        "gradWeightOutOptional": np.full(weight, 9, FLOAT),
        **changes,
    }
    return Case(f"aclnn{name}", {one: given[one] for one in aclnnop.find(f"aclnn{name}").names})


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("full", [False, True])
def test_swiglu_group(dtype: Any, full: bool, device: int, chip) -> None:
    chip("Ascend950PR_9589")
    case = group_case("SwigluGroup", dtype)
    if not full:
        case = case.but(weightOptional=None, groupIndexOptional=None, clampLimit=-1.0)
    x = case.arguments["x"].astype(np.float64).reshape(6, 8)
    expected = clipped(x[:, :4], x[:, 4:], 1.0, 1.5 if full else math.inf, 0.0)
    taken = 4 if full else 6
    if full:
        expected = expected * case.arguments["weightOptional"].astype(np.float64).reshape(6, 1)
    result = case.run(3).reshape(6, 4)
    assert_meets_standard(result[:taken], expected[:taken])
    assert_equal(result[taken:], np.full((6 - taken, 4), 9.0))


@pytest.mark.parametrize("name", ["SwigluGroupQuantGrad", "SwigluGroupGrad"])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("full", [False, True])
def test_swiglu_group_gradients(name: str, dtype: Any, full: bool, device: int, chip) -> None:
    chip("Ascend950PR_9589")
    case = group_case(name, dtype)
    if not full:
        off = dict.fromkeys(("weightOptional", "yOriginOptional", "groupIndexOptional", "gradWeightOutOptional"))
        case = case.but(**off, clampLimit=0.0 if name == "SwigluGroupGrad" else -1.0)
    wide = {key: value.astype(np.float64) for key, value in case.arguments.items() if isinstance(value, np.ndarray)}
    x, grad, limit = wide["x"].reshape(6, 8), wide["gradY"].reshape(6, 4), 1.5 if full else math.inf
    a, b = np.minimum(x[:, :4], limit), np.clip(x[:, 4:], -limit, limit)
    weighted = grad * wide["weightOptional"].reshape(6, 1) if full else grad
    first = weighted * b * silu_slope(a) * (x[:, :4] < limit)
    second = weighted * a * sigma(a) * (abs(x[:, 4:]) < limit)
    expected = np.concatenate((first, second), axis=1)
    if full:
        expected[4:] = 0
    found = case.results(3)
    np.testing.assert_allclose(found[0].reshape(6, 8).astype(np.float64), expected, rtol=2.0**-7 if dtype != FLOAT else 1e-6, atol=1e-6)
    if full:
        sums = (grad * wide["yOriginOptional"].reshape(6, 4)).sum(axis=1)
        if name == "SwigluGroupQuantGrad":
            sums[4:] = 0
        np.testing.assert_allclose(found[1].reshape(6), sums, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "changes", "status"),
    [
        ("SwigluGroup", {"x": None}, ACLNN_ERR_PARAM_NULLPTR),
        ("SwigluGroup", {"out": Meta((2, 3, 4), np.float16)}, ACLNN_ERR_PARAM_INVALID),
        ("SwigluGroup", {"x": Meta((), np.float32)}, ACLNN_ERR_INNER_TILING_ERROR),
        ("SwigluGroup", {"x": Meta((2, 3, 7), np.float32)}, ACLNN_ERR_INNER_TILING_ERROR),
        ("SwigluGroup", {"clampLimit": 0.0}, ACLNN_ERR_INNER_TILING_ERROR),
        ("SwigluGroup", {"weightOptional": Meta((2, 3), np.float16)}, ACLNN_ERR_INNER_TILING_ERROR),
        ("SwigluGroup", {"weightOptional": Meta((2,), np.float32)}, ACLNN_ERR_INNER_TILING_ERROR),
        ("SwigluGroup", {"groupIndexOptional": Meta((2,), np.int32)}, ACLNN_ERR_INNER_TILING_ERROR),
        ("SwigluGroup", {"groupIndexOptional": Meta((0,), np.int64)}, ACLNN_ERR_INNER_TILING_ERROR),
        ("SwigluGroupQuantGrad", {"gradXOut": None}, ACLNN_ERR_PARAM_NULLPTR),
        ("SwigluGroupQuantGrad", {"weightOptional": Meta((2, 3), np.float16)}, ACLNN_ERR_PARAM_INVALID),
        ("SwigluGroupQuantGrad", {"clampLimit": 0.0}, ACLNN_ERR_INNER_TILING_ERROR),
        ("SwigluGroupQuantGrad", {"gradY": Meta((2, 3, 8), np.float32)}, ACLNN_ERR_INNER_TILING_ERROR),
        ("SwigluGroupQuantGrad", {"weightOptional": Meta((5,), np.float32)}, ACLNN_ERR_INNER_TILING_ERROR),
        ("SwigluGroupQuantGrad", {"yOriginOptional": None}, ACLNN_ERR_INNER_TILING_ERROR),
        ("SwigluGroupGrad", {"clampLimit": -1.0}, ACLNN_ERR_PARAM_INVALID),
        ("SwigluGroupGrad", {"clampLimit": math.nan}, ACLNN_ERR_PARAM_INVALID),
        ("SwigluGroupGrad", {"gradY": Meta((2, 3, 8), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        ("SwigluGroupGrad", {"gradY": Meta((3, 2, 4), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        ("SwigluGroupGrad", {"yOriginOptional": None}, ACLNN_ERR_PARAM_INVALID),
        ("SwigluGroupGrad", {"weightOptional": Meta((2, 3, 2), np.float32)}, ACLNN_ERR_PARAM_INVALID),
        ("SwigluGroupGrad", {"groupIndexOptional": Meta((0,), np.int64)}, ACLNN_ERR_PARAM_INVALID),
    ],
    ids=str,
)
def test_group_calls_that_are_refused(name: str, changes: dict[str, Any], status: int, chip) -> None:
    chip("Ascend950PR_9589")
    assert group_case(name, **changes).status() == status
