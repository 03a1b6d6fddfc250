"""Operators over lists with numbers beside them: against float64 formulas, and what numbers and lists can be wrong in."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acl_emu as acl
import aclnnop
from acl_emu import ACLNN_ERR_INNER_TILING_ERROR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from acl_emu.runtime.stream import Stream
from acl_emu.spec.kinds import ListKind, TensorKind
from aclnnop.registry import MODULES
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal, rounded
from tests.operators.case import Array, Case, Meta
from tests.operators.drawing import layouts, shapes
from tests.operators.examples import emulating
from tests.operators.products import products_of

NEWEST, USUAL = "Ascend950PR_9589", "Ascend910B1"
FORMULAS: dict[str, Callable[..., Any]] = {
    "Add": lambda x, y, alpha=1: x + alpha * y,
    "Sub": lambda x, y, alpha=1: x - alpha * y,
    "Mul": lambda x, y: x * y,
    "Div": lambda x, y: x / y,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Pow": lambda x, y: x**y,
    "Addcmul": lambda x, y, z, value: x + value * (y * z),
    "Addcdiv": lambda x, y, z, value: x + value * (y / z),
    "Lerp": lambda x, y, weight: x + weight * (y - x),
}


def formula(name: str) -> Callable[..., Any]:
    """By the longest name that the operator's begins with."""
    plain = name.removeprefix("aclnnForeach")
    if plain == "PowScalarAndTensor":
        return lambda base, x: base**x
    return FORMULAS[max((key for key in FORMULAS if plain.startswith(key)), key=len)]


def forms() -> list[str]:
    """Every operator that ``over_lists`` declares but the rounding ones."""
    known = (name for name in MODULES if name.startswith("aclnnForeach") and "Round" not in name)
    return sorted(name for name in known if any(name.removeprefix("aclnnForeach").startswith(key) for key in FORMULAS))


def chip_of(name: str) -> str:
    return NEWEST if name.endswith("Inplace") else USUAL


def call(name: str, dtype: Any, members: int = 2, seed: int = 0, shape: tuple[int, ...] = (2, 3), number: float = 1.5) -> Case:
    """A valid call with members of growing shapes."""
    rng = np.random.default_rng(seed)
    whole = np.dtype(dtype).kind in "iu"

    def drawn(size: tuple[int, ...]) -> Array:
        return np.asarray(rng.integers(1, 5, size) if whole else rng.uniform(0.5, 3, size)).astype(dtype)

    arguments: dict[str, Any] = {}
    value = 3 if whole else number
    for parameter, kind in aclnnop.find(name).parameters:
        tensors = kind.member if isinstance(kind, ListKind) else None
        if isinstance(tensors, TensorKind):
            arguments[parameter] = [drawn((*shape, 1 + index)) for index in range(members)]
        elif isinstance(kind, ListKind):
            arguments[parameter] = [np.int64(value) if whole else np.float32(value + index) for index in range(members)]
        elif isinstance(kind, TensorKind):
            each = parameter == "scalars"
            typed = np.dtype(dtype) if each else np.dtype(np.int32 if whole else np.float16 if dtype == FLOAT16 else np.float32)
            arguments[parameter] = np.array([value + index * each for index in range(members if each else 1)]).astype(typed)
        else:
            arguments[parameter] = np.int64(value) if whole else np.float32(value)
    return Case(name, arguments)


def member(case: Case, index: int) -> list[Any]:
    """The inputs of one member in float64, or as they are where they are whole."""
    found = []
    for parameter, kind in case.declared.parameters:
        value = case.arguments[parameter]
        if kind.io == "out":
            continue
        if isinstance(kind, ListKind):
            value = value[index]
        elif isinstance(kind, TensorKind):
            value = value.reshape(-1)[index if parameter == "scalars" else 0]
        value = np.asarray(value)
        found.append(value if value.dtype.kind in "iu" else value.astype(np.float64))
    return found


@pytest.mark.parametrize("name", forms())
@given(data=st.data())
def test_every_member_is_what_the_formula_gives(name: str, device: int, data: st.DataObject) -> None:
    with emulating(chip_of(name)):
        dtype, shape = data.draw(st.sampled_from(FLOATS)), data.draw(shapes(least=0, most_dims=2))
        case = call(name, dtype, data.draw(st.integers(name.endswith("DivScalarList"), 3)), data.draw(st.integers(0, 99)), shape)
        results = case.results(data.draw(layouts))
        for index, result in enumerate(results):
            inputs = member(case, index)
            assert_accurate(result, np.broadcast_to(formula(name)(*inputs), result.shape), largest=8)


@pytest.mark.parametrize("name", [name for name in forms() if "Div" not in name and "div" not in name and "Lerp" not in name])
@pytest.mark.parametrize("dtype", [np.int32, np.int16, np.int8, np.uint8], ids=lambda dtype: dtype.__name__)
def test_integers_stay_whole(name: str, dtype: Any, device: int, chip) -> None:
    chip(chip_of(name))
    case = call(name, dtype)
    lists = next(kind.member for _, kind in case.declared.parameters if isinstance(kind, ListKind))
    if all(allowed.numpy_name != np.dtype(dtype).name for allowed in lists.allowed):
        assert case.status() == ACLNN_ERR_PARAM_INVALID
        return
    for index, result in enumerate(case.results(1)):
        exact = np.asarray(formula(name)(*(np.asarray(value).astype(np.int64) for value in member(case, index))))
        np.testing.assert_array_equal(result, np.broadcast_to(exact, result.shape).astype(dtype))


@pytest.mark.parametrize("name", ["aclnnForeachAddScalarV2", "aclnnForeachMulScalarList", "aclnnForeachPowScalar"])
def test_a_fraction_is_no_number_for_whole_tensors(name: str) -> None:
    case = call(name, np.int32)
    (number,) = (key for key in case.arguments if key.startswith("scalar"))
    wrong = {"scalar": np.float32(0.5), "scalars": [np.float32(0.5)] * 2}[number]
    assert case.but(**{number: np.array([0.5], np.float32) if name.endswith("PowScalar") else wrong}).status() == ACLNN_ERR_PARAM_INVALID
    assert f"{number} has dtype" in message()


def test_powers_of_integers(device: int) -> None:
    x, y = np.array([2, 2, 1, -1, -1, 0, 3], np.int32), np.array([-1, 31, -5, -3, -2, 0, 40], np.int32)
    (result,) = Case("aclnnForeachPowList", {"x1": [x], "x2": [y], "out": [np.zeros(7, np.int32)]}).results()
    assert result.tolist() == [0, -(2**31), 1, -1, 1, 1, (3**40 + 2**31) % 2**32 - 2**31]


def test_special_values(device: int) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0, 1.0], np.float32)
    for name, wanted in (("Maximum", [np.nan, np.inf, 0.5, 0.5, 1]), ("Minimum", [np.nan, 0.5, -np.inf, 0, 0.5])):
        (result,) = Case(f"aclnnForeach{name}ScalarV2", {"x": [x], "scalar": 0.5, "out": [x.copy()]}).results()
        assert_equal(result, wanted)
    (result,) = Case("aclnnForeachDivScalarV2", {"x": [x], "scalar": 0.0, "out": [x.copy()]}).results()
    assert_equal(result, [np.nan, np.inf, -np.inf, np.nan, np.inf])


ROUNDED = {
    1: [-2, -0.0, 0, 2, 2, 3, 4],
    2: [-2, -1, 0, 1, 2, 2, 3],
    3: [-1, -0.0, 1, 2, 3, 3, 4],
    4: [-2, -1, 1, 2, 3, 3, 4],
    5: [-1, -0.0, 0, 1, 2, 2, 3],
    6: [-1, -1, 1, 1, 3, 3, 3],
    0: [-2, -0.0, 0, 2, 2, 3, 4],
}
HALVES = [-1.5, -0.5, 0.5, 1.5, 2.5, 2.75, 3.5]


@pytest.mark.parametrize("mode", ROUNDED)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_round_off_number(mode: int, dtype: Any, device: int) -> None:
    x = np.array([*HALVES, 7, np.inf, np.nan]).astype(dtype)
    wanted = [*ROUNDED[mode], 7, np.inf, np.nan]
    out = [np.zeros_like(x)]
    (first,) = Case("aclnnForeachRoundOffNumber", {"x": [x], "roundMode": np.array([mode], np.int8), "out": out}).results()
    (second,) = Case("aclnnForeachRoundOffNumberV2", {"x": [x], "roundMode": np.int64(mode), "out": out}).results()
    assert_equal(first, wanted)
    assert first.tobytes() == second.tobytes()


def test_round_off_just_below_a_half(device: int) -> None:
    x = np.array([0.49999997, -0.49999997, 8388609.0], np.float32)
    (result,) = Case("aclnnForeachRoundOffNumberV2", {"x": [x], "roundMode": np.int8(4), "out": [x.copy()]}).results()
    assert result.tolist() == [0, 0, 8388609]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, 0.5, math.inf, -math.inf, 0.0])
def test_norm(order: float, dtype: Any, device: int) -> None:
    x = [call("aclnnForeachAbs", dtype, 1, seed).arguments["x"][0] * np.asarray(-1).astype(dtype) for seed in (1, 2)]
    results = norm(x, np.float32(order))
    for one, result in zip(x, results, strict=True):
        assert_accurate(result, np.reshape(np.linalg.norm(one.astype(np.float64).ravel(), order), result.shape), ulps=2)


def norm(x: list[Array], order: Any) -> tuple[Array, ...]:
    return Case("aclnnForeachNorm", {"x": x, "scalar": order, "out": [np.zeros((1, 1), one.dtype) for one in x]}).results(2)


def test_norms_without_overflow_of_nothing_and_of_what_is_not_finite(device: int) -> None:
    huge = np.full(4, 3e38, np.float32)
    assert norm([huge], np.float32(math.inf))[0] == np.float32(3e38)
    assert norm([np.full(4, 1e38, np.float32)], np.int64(2))[0] == np.float32(2e38)
    assert norm([np.zeros((0, 3), np.float32)], 2.0)[0] == 0
    assert norm([np.zeros(3, np.float32)], 3.0)[0] == 0
    assert np.isnan(norm([np.array([1, np.nan], np.float32)], 2.0)[0])
    assert norm([np.array([1, -np.inf], np.float32)], 3.0)[0] == np.inf


def test_norms_of_the_newest_chip(device: int, chip) -> None:
    chip(NEWEST)
    x = [np.array([3, -4], np.float32)]
    found = {order: float(norm(x, np.float32(order))[0].item()) for order in (1.0, 1.9, 2.0, 3.0, 0.0, -math.inf, math.inf)}
    assert found == {1.0: 7, 1.9: 7, 2.0: 5, 3.0: 5, 0.0: 5, -math.inf: 5, math.inf: 4}


def unscale(scaled: list[Any], found: Any = None, scale: Any = None) -> Case:
    found = np.array([-1], np.float32) if found is None else found
    scale = np.array([0.125], np.float32) if scale is None else scale
    return Case("aclnnForeachNonFiniteCheckAndUnscale", {"scaledGrads": scaled, "foundInf": found, "invScale": scale})


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("odd", [1.0, np.inf, -np.inf, np.nan])
def test_non_finite_check_and_unscale(dtype: Any, odd: float, device: int) -> None:
    scaled = [np.array([3, 1.5, 7]).astype(dtype), np.array([[2, odd]]).astype(dtype)]
    first, second, found = unscale(scaled, scale=np.array([0.1], np.float32)).results(4)
    for result, one in ((first, scaled[0]), (second, scaled[1])):
        assert_equal(result, rounded(one.astype(np.float64) * np.float64(np.float32(0.1)), np.dtype(dtype)))
    assert found.tolist() == [-1 if odd == 1 else 1]


def test_one_launch_for_all_members(device: int, monkeypatch: pytest.MonkeyPatch) -> None:
    submitted: list[int] = []
    close = Stream.close
    monkeypatch.setattr(Stream, "close", lambda self, **named: submitted.append(self.submitted) or close(self, **named))
    call("aclnnForeachAddListV2", FLOAT, 40).results()
    call("aclnnForeachAddcdivScalarList", FLOAT, 40).results()
    unscale([np.ones(2, np.float32)] * 30).results()
    assert submitted == [1, 1, 1]


def test_as_the_plain_operator(device: int) -> None:
    """The same bits, FLOAT."""
    case = call("aclnnForeachAddListV2", FLOAT, 1, shape=(40, 5), number=0.3)
    (x1,), (x2,), alpha = case.arguments["x1"], case.arguments["x2"], case.arguments["alpha"]
    plain = Case("aclnnAdd", {"self": x1, "other": x2, "alpha": alpha, "out": np.zeros_like(x1)}).run()
    assert case.results()[0].tobytes() == plain.tobytes()
    case = call("aclnnForeachAddcdivScalarV2", FLOAT, 1, shape=(40, 5), number=0.3)
    arrays = [case.arguments[f"x{i}"][0] for i in (1, 2, 3)]
    names = dict(zip(("self", "tensor1", "tensor2"), arrays, strict=True))
    plain = Case("aclnnAddcdiv", {**names, "value": case.arguments["scalar"], "out": np.zeros_like(arrays[0])}).run()
    assert case.results()[0].tobytes() == plain.tobytes()


@pytest.mark.parametrize("name", forms())
def test_errors_of_lists(name: str, chip) -> None:
    chip(chip_of(name))
    newer, in_place = name.endswith("V2"), name.endswith("Inplace")
    late = ACLNN_ERR_PARAM_INVALID if newer else ACLNN_ERR_INNER_TILING_ERROR
    missing = ACLNN_ERR_PARAM_INVALID if in_place or name.endswith(("AddcmulList", "AddcdivList")) else ACLNN_ERR_PARAM_NULLPTR
    good = call(name, FLOAT)
    lists = [key for key, value in good.arguments.items() if isinstance(value, list) and isinstance(value[0], np.ndarray)]
    for key in good.arguments:
        assert good.but(**{key: None}).status() == ACLNN_ERR_PARAM_NULLPTR, key
    for key in lists:
        value = good.arguments[key]
        assert good.but(**{key: [value[0], None]}).status() == missing, key
        assert good.but(**{key: [value[0], Meta(value[1].shape, np.complex64)]}).status() == ACLNN_ERR_PARAM_INVALID, key
        assert good.but(**{key: [value[0], Meta((1,) * 9, FLOAT)]}).status() == late, key
        if len(lists) > 1:
            assert good.but(**{key: [value[0], Meta(value[1].shape, BF16)]}).status() == ACLNN_ERR_PARAM_INVALID, key
            assert good.but(**{key: value[:1]}).status() == late, key
            other = Meta((1,) if key == "out" else (64,), FLOAT)
            assert good.but(**{key: [value[0], other]}).status() == late, key
    mixed = {key: [good.arguments[key][0], Meta(good.arguments[key][1].shape, BF16)] for key in lists}
    assert good.but(**mixed).status() == late
    for key in good.arguments.keys() - set(lists):
        value = good.arguments[key]
        if isinstance(value, np.ndarray):
            assert good.but(**{key: np.ones(5, value.dtype)}).status() == late, key
            assert good.but(**{key: np.ones(value.shape, np.complex64)}).status() == ACLNN_ERR_PARAM_INVALID, key
        elif isinstance(value, list):
            assert good.but(**{key: value[:1]}).status() == late, key
        else:
            assert good.but(**{key: np.uint8(1)}).status() == ACLNN_ERR_PARAM_INVALID, key
    if name != "aclnnForeachDivScalarList":
        assert call(name, FLOAT, 0).plan() == (0, 0)


def test_elements_have_the_type_of_the_members() -> None:
    case = call("aclnnForeachAddcmulScalarList", FLOAT)
    assert case.but(scalars=np.ones(2, np.float16)).status() == ACLNN_ERR_PARAM_INVALID


def test_errors_of_single_operators(device: int) -> None:
    assert call("aclnnForeachDivScalarList", FLOAT, 50).status() == 0
    for members in (0, 51):
        assert call("aclnnForeachDivScalarList", FLOAT, members).status() == ACLNN_ERR_INNER_TILING_ERROR
    x = [np.ones((2, 3), np.float32)]
    case = Case("aclnnForeachNorm", {"x": x, "scalar": 2.0, "out": [np.zeros(1, np.float32)]})
    late = (("out", [np.zeros(2, np.float32)]), ("out", []), ("x", [Meta((1,) * 9, FLOAT)]))
    assert [case.but(**{key: value}).status() for key, value in late] == [ACLNN_ERR_INNER_TILING_ERROR] * 3
    assert case.but(scalar=np.int8(2)).status() == ACLNN_ERR_PARAM_INVALID
    assert case.but(out=[np.zeros(1, np.float16)]).status() == ACLNN_ERR_PARAM_INVALID
    good = unscale([np.ones(3, np.float32)])
    assert good.but(scaledGrads=[np.ones(1, np.float32)] * 256).status() == 0
    for changes in (
        {"scaledGrads": [np.ones(1, np.float32)] * 257},
        {"scaledGrads": [np.ones(1, np.float32), np.ones(1, np.float16)]},
        {"foundInf": np.ones(2, np.float32)},
        {"invScale": np.ones(2, np.float32)},
    ):
        assert good.but(**changes).status() == ACLNN_ERR_INNER_TILING_ERROR, changes
    for key in good.arguments:
        assert good.but(**{key: None}).status() == ACLNN_ERR_PARAM_NULLPTR
    assert good.but(foundInf=np.ones(1, np.float16)).status() == ACLNN_ERR_PARAM_INVALID


def test_products(chip) -> None:
    usual, newest = {"950", "A3", "A2"}, {"950"}
    chip(USUAL)
    for name, wanted in (
        ("AddScalarV2", usual),
        ("SubScalar", usual),
        ("SubList", usual),
        ("MaximumScalar", usual),
        ("MinimumScalar", usual),
        ("PowScalar", usual),
        ("MulListInplace", newest),
        ("SubScalarInplace", newest),
    ):
        case = call(f"aclnnForeach{name}", FLOAT16)
        lists = {key: value for key, value in case.arguments.items() if isinstance(value, list)}
        metas = {key: [Meta(one.shape, one.dtype) for one in value] for key, value in lists.items()}
        assert products_of(case.but(**metas), chip) == wanted, name
    assert products_of(unscale([Meta((2,), FLOAT16)]), chip) == usual | {"310P"}
    chip(NEWEST)
    for name in ("AddScalar", "SubList", "SubListV2"):
        assert call(f"aclnnForeach{name}", np.int16).status() == acl.ACLNN_ERR_PARAM_INVALID


@pytest.mark.parametrize("name", ["Add", "Sub", "Mul", "Div", "Pow"])
def test_lists_of_doubles(device, name):
    """torch_npu passes these, whatever the document lists."""
    x = [np.array([1, 2, 4], np.float32), np.array([8], np.float32)]
    scalars = [np.float64(2), np.float64(0.5)]
    found = acl.call(f"aclnnForeach{name}ScalarList", x, scalars, [np.zeros_like(one) for one in x])
    formula = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": np.power}[name]
    for one, scalar, result in zip(x, scalars, found, strict=True):
        np.testing.assert_allclose(result, formula(one.astype(np.float64), scalar), rtol=1e-6)
