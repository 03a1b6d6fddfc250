"""Reductions along dimensions, against Python's own functions of every slice in float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aclnnop
from acl_emu import ACL_DT_UNDEFINED, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from acl_emu.core import dtypes
from acl_emu.runtime.tensor import IntArray, Scalar
from acl_emu.spec.kinds import BoolKind, DataTypeKind, HandleKind, IntKind, TensorKind
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import floats, layouts, shapes
from tests.operators.products import products_of

INF, NAN = math.inf, math.nan
DOUBLE, BOOL = np.dtype(np.float64), np.dtype(np.bool_)
INTEGERS = [np.dtype(t) for t in (np.int8, np.uint8, np.int16, np.int32, np.int64)]

Golden = Callable[..., float]


def mean(row: list[float]) -> float:
    return math.fsum(row) / len(row)


def variance(row: list[float], correction: int = 1) -> float:
    middle = mean(row)
    squares = math.fsum((value - middle) ** 2 for value in row)
    count = max(len(row) - correction, 0)
    return squares / count if count else NAN if not squares else INF


def deviation(row: list[float], correction: int = 1) -> float:
    return math.sqrt(variance(row, correction))


def norm(row: list[float], order: float) -> float:
    size = [abs(value) for value in row]
    if order == 0:
        return float(sum(value != 0 for value in size))
    if math.isinf(order):
        return max(size) if order > 0 else min(size)
    if order < 0 and 0 in size:
        return 0.0
    return math.pow(math.fsum(math.pow(value, order) for value in size), 1 / order)


def log_sum_exp(row: list[float]) -> float:
    top = max(row)
    return top + math.log(math.fsum(math.exp(value - top) for value in row))


class Row(NamedTuple):
    """What is known of an operator beside its declaration: a golden function for each output, the values of other parameters."""

    golden: tuple[Golden, ...]
    products: str
    others: Mapping[str, Any] = MappingProxyType({})
    low: float = -INF
    """Of the elements that values are compared for."""


ALL = "950 A3 A2 310B 310P 910"
USUAL = "950 A3 A2 310P 910"
NEWER = "950 A3 A2"
TABLE: dict[str, Row] = {
    "Mean": Row((mean,), USUAL),
    "MeanV2": Row((mean,), USUAL, {"noopWithEmptyAxes": False}),
    "Prod": Row((math.prod,), USUAL),
    "ProdDim": Row((math.prod,), USUAL),
    "All": Row((all,), ALL),
    "Any": Row((any,), ALL),
    "Amax": Row((max,), USUAL),
    "Amin": Row((min,), USUAL),
    "Max": Row((max,), USUAL),
    "Min": Row((min,), USUAL),
    "MaxV2": Row((max,), USUAL, {"noopWithEmptyDims": False}),
    "Aminmax": Row((min, max), USUAL),
    "AminmaxDim": Row((min, max), "950 A3 A2 910"),
    "AminmaxAll": Row((min, max), "950 A3 A2 910"),
    "ArgMin": Row((lambda row: row.index(min(row)),), USUAL),
    "MaxDim": Row((max, lambda row: row.index(max(row))), USUAL),
    "MinDim": Row((min, lambda row: row.index(min(row))), USUAL),
    "ReduceNansum": Row((math.fsum,), NEWER),
    "ReduceLogSum": Row((lambda row: math.log(math.fsum(row)),), "950 A3 A2 310P", {"noopWithEmptyAxes": False}, low=0.1),
    "LogSumExp": Row((log_sum_exp,), USUAL),
    "Std": Row((lambda row: deviation(row, 2),), USUAL, {"correction": 2}),
    "Var": Row((lambda row: variance(row, 0),), "950 A3 A2 910", {"unbiased": False}),
    "VarCorrection": Row((variance,), USUAL, {"correction": 1}),
    "VarMean": Row((variance, mean), "950 A3 A2 910", {"correction": 1}),
    "StdMeanCorrection": Row((lambda row: deviation(row, -1), mean), "950 A3 A2 910", {"correction": -1}),
    "Norm": Row((lambda row: norm(row, 2),), ALL, {"pScalar": 2.0}),
    "LinalgVectorNorm": Row((lambda row: norm(row, 3),), "950 A3 A2 310B 910", {"ord": 3.0}),
}
every = pytest.mark.parametrize("name", TABLE)


def kinds(name: str) -> dict[str, Any]:
    return dict(aclnnop.find(f"aclnn{name}").parameters)


def taken(name: str) -> set[np.dtype]:
    first = next(iter(kinds(name).values()))
    return {dtype.numpy for dtype in first.allowed}


def along(name: str) -> str:
    """Which dimensions it takes."""
    if any(isinstance(kind, HandleKind) and kind.kind is IntArray for kind in kinds(name).values()):
        return "some"
    return "one" if "dim" in kinds(name) else "all"


def result_types(name: str, dtype: np.dtype) -> list[np.dtype]:
    """Those of the outputs for an input: the same where it is allowed, else the first."""
    given = [kind for kind in kinds(name).values() if isinstance(kind, TensorKind) and kind.io == "out"]
    chosen = []
    for kind in given:
        allowed = [one.numpy for one in kind.allowed]
        chosen.append(dtype if dtype in allowed and not (allowed[0] == np.int64 and len(allowed) > 9) else allowed[0])
    return chosen


def call(name: str, x: Any, dims: list[int], keep: bool, shape: tuple[int, ...], results: list[Any] | None = None, **others: Any) -> Case:
    """Outputs have ``shape`` and the types ``results``."""
    stored = iter(results or result_types(name, np.dtype(x.dtype)))
    made: dict[str, Any] = {}
    for parameter, kind in kinds(name).items():
        if parameter in others or parameter in TABLE[name].others:
            made[parameter] = others.get(parameter, TABLE[name].others.get(parameter))
        elif isinstance(kind, TensorKind) and kind.io == "out":
            dtype = next(stored)
            made[parameter] = Meta(shape, dtype) if isinstance(x, Meta) else np.zeros(shape, dtype)
        elif isinstance(kind, TensorKind):
            made[parameter] = x
        elif isinstance(kind, HandleKind) and kind.kind is IntArray:
            made[parameter] = dims
        elif isinstance(kind, BoolKind):
            made[parameter] = keep
        elif isinstance(kind, IntKind):
            made[parameter] = dims[0]
        else:
            assert isinstance(kind, DataTypeKind)
    out = next(value for parameter, value in made.items() if getattr(kinds(name)[parameter], "io", "") == "out")
    for parameter in kinds(name).keys() - made.keys():
        made[parameter] = dtypes.from_numpy(out.dtype).code
    return Case(f"aclnn{name}", {parameter: made[parameter] for parameter in kinds(name)})


def slices(x: Array, dims: list[int], keep: bool) -> tuple[list[list[Any]], tuple[int, ...]]:
    """Rows to be reduced, one after the other, and the shape of the result."""
    axes = {dim % max(x.ndim, 1) for dim in dims} & set(range(x.ndim)) if dims else set(range(x.ndim))
    others = [axis for axis in range(x.ndim) if axis not in axes]
    rows = x.transpose([*others, *sorted(axes)]).reshape(math.prod(x.shape[axis] for axis in others), -1)
    exact = rows.astype(np.float64) if x.dtype.kind not in "iub" else rows
    return exact.tolist(), tuple(1 if axis in axes else length for axis, length in enumerate(x.shape) if keep or axis not in axes)


def draw_dims(data: st.DataObject, name: str, rank: int) -> tuple[list[int], bool]:
    if along(name) == "all":
        return [], False
    keep = data.draw(st.booleans())
    chosen = data.draw(st.sets(st.integers(0, max(rank, 1) - 1), min_size=along(name) == "one", max_size=1 if along(name) == "one" else 9))
    return [dim - data.draw(st.sampled_from((0, max(rank, 1)))) for dim in chosen], keep


@every
@given(st.data())
def test_floats(name: str, device: int, data: st.DataObject) -> None:
    row = TABLE[name]
    shape, dtype = data.draw(shapes()), data.draw(st.sampled_from(sorted(taken(name) & set(FLOATS), key=str)))
    if name == "ReduceLogSum" and dtype == BF16:
        dtype = FLOAT
    x = data.draw(floats(shape, dtype))
    if row.low > -INF:
        x = np.maximum(np.abs(x), dtype.type(row.low))
    dims, keep = draw_dims(data, name, len(shape))
    rows, left = slices(x, dims, keep)
    results = call(name, x, dims, keep, left).results(data.draw(layouts))
    terms = np.array([max(map(abs, values)) for values in rows]).reshape(left)
    for result, golden in zip(results, row.golden, strict=True):
        expected = np.array([golden(values) for values in rows], np.float64).reshape(left)
        if result.dtype in FLOATS:
            assert_accurate(result, expected, largest=terms if golden in (mean, math.fsum) or name == "LogSumExp" else None)
        else:
            assert_equal(result, expected)


def wrapped(value: int, dtype: np.dtype) -> int:
    low, modulus = np.iinfo(dtype).min, 2 ** (8 * dtype.itemsize)
    return (int(value) - low) % modulus + low


@every
def test_integers_and_truth_values(name: str, device: int) -> None:
    row = TABLE[name]
    for dtype in sorted(taken(name) & {*INTEGERS, BOOL}, key=str):
        x = np.random.default_rng(3).integers(0 if dtype.kind in "ub" else -9, 2 if dtype == BOOL else 9, (4, 3, 5)).astype(dtype)
        dims = [] if along(name) == "all" else [1]
        rows, left = slices(x, dims, False)
        for result, golden in zip(call(name, x, dims, False, left).results(2), row.golden, strict=True):
            found = [golden(values) for values in rows]
            if result.dtype in FLOATS:
                assert_accurate(result, np.array(found).reshape(left), largest=np.full(left, 9.0))
            elif result.dtype == BOOL:
                assert result.ravel().tolist() == [bool(value) for value in found]
            else:
                assert result.ravel().tolist() == [wrapped(math.trunc(value), result.dtype) for value in found]


def test_integers_keep_their_digits(device: int) -> None:
    x = np.array([2**53 + 1, 2**53 + 3, -(2**40)], np.int64)
    assert call("Mean", x[:2], [0], False, ()).run() == 2**53 + 2
    assert call("Mean", np.array([-3, -4], np.int8), [0], False, ()).run() == -3
    assert call("Amin", x, [0], False, ()).run() == -(2**40)
    assert call("MaxDim", x, [0], False, ()).results()[0] == 2**53 + 3
    assert call("Prod", np.array([2**62, 2, 3], np.int64), [], False, ()).run() == wrapped(3 * 2**63, np.dtype(np.int64))


@every
def test_doubles_and_complex_numbers(name: str, device: int) -> None:
    row = TABLE[name]
    for dtype in sorted(taken(name) & {DOUBLE, np.dtype(np.complex64), np.dtype(np.complex128)}, key=str):
        x = numbers((4, 3, 5), dtype, 1)
        dims = [] if along(name) == "all" else [-2]
        left = () if along(name) == "all" else (4, 5)
        rows = x.reshape(1, -1) if not dims else x.transpose(0, 2, 1).reshape(20, 3)
        for result, golden in zip(call(name, x, dims, False, left).results(3), row.golden, strict=True):
            if dtype == DOUBLE:
                expected: Any = [golden(values) for values in rows.tolist()]
            else:
                product = [math.prod(values.tolist()) for values in rows.astype(np.complex128)]
                expected = product if golden is math.prod else [sum(values.tolist()) / len(values) for values in rows]
            rtol = 4e-6 if dtype == np.complex64 else 1e-13
            np.testing.assert_allclose(result.ravel(), np.asarray(expected), rtol=rtol, atol=rtol)


@every
def test_a_number_is_a_row_of_one(name: str, device: int) -> None:
    x = np.array(2.5, FLOAT16)
    dims = {"some": [-1], "one": [0], "all": []}[along(name)]
    for result, golden in zip(call(name, x, dims, True, ()).results(), TABLE[name].golden, strict=True):
        assert_accurate(result, golden([2.5])) if result.dtype in FLOATS else assert_equal(result, golden([2.5]))


@every
def test_long_rows(name: str, device: int) -> None:
    """Where the engine works in parts, on several threads."""
    row = TABLE[name]
    x = numbers((2, 1 << 15), FLOAT, 5)
    if name in ("Prod", "ProdDim"):
        x = np.exp(x / 50)
    elif row.low > -INF:
        x = np.abs(x)
    dims = [] if along(name) == "all" else [1]
    rows, left = slices(x, dims, False)
    for result, golden in zip(call(name, x, dims, False, left).results(), row.golden, strict=True):
        expected = np.array([golden(values) for values in rows], np.float64).reshape(left)
        if golden is math.prod:  # of thousands of rounded factors
            np.testing.assert_allclose(result.astype(np.float64), expected, rtol=1e-6)
        elif result.dtype in FLOATS:
            assert_accurate(result, expected, largest=np.full(left, 4.0))
        else:
            assert_equal(result, expected)


OF_NONE = {
    "Mean": [NAN],
    "MeanV2": [NAN],
    "Prod": [1],
    "ProdDim": [1],
    "All": [1],
    "Any": [0],
    "ReduceNansum": [0],
    "ReduceLogSum": [-INF],
    "LogSumExp": [-INF],
    "Std": [NAN],
    "Var": [NAN],
    "VarCorrection": [NAN],
    "VarMean": [NAN, NAN],
    "StdMeanCorrection": [NAN, NAN],
    "Norm": [0],
    "LinalgVectorNorm": [0],
}
LEFT_ALONE = {"Max", "Min", "ArgMin", "MaxDim", "MinDim"}


@every
def test_slices_without_elements(name: str, device: int) -> None:
    left = () if along(name) == "all" else (3,)
    empty = call(name, np.zeros((3, 0), FLOAT), [1], False, left)
    if name in OF_NONE:
        for result, expected in zip(empty.results(), OF_NONE[name], strict=True):
            assert_equal(result, np.full(left, expected))
    else:
        assert empty.status() == (0 if name in LEFT_ALONE else ACLNN_ERR_PARAM_INVALID)
    if along(name) != "all":
        assert call(name, Meta((0, 3), FLOAT), [1], False, (0,)).plan() == (0, 0)


def test_no_complex_results_of_nothing() -> None:
    for name in ("Mean", "ProdDim"):
        assert call(name, Meta((3, 0), np.complex64), [1], False, (3,)).status() == ACLNN_ERR_PARAM_INVALID
        assert "complex" in message()


SPECIAL: list[tuple[str, list[float], list[float], dict[str, Any]]] = [
    ("Mean", [INF, 1, 2], [INF], {}),
    ("Mean", [INF, -INF], [NAN], {}),
    ("Mean", [3e38, 3e38], [3e38], {}),
    ("Prod", [1e30, 1e30, 1e-30, 1e-30], [1], {}),
    ("Prod", [0.0, INF], [NAN], {}),
    ("All", [NAN, INF, 1], [1], {}),
    ("All", [-0.0, 1, 1], [0], {}),
    ("Any", [0.0, NAN], [1], {}),
    ("Any", [0.0, -0.0], [0], {}),
    ("Amin", [1, NAN, -INF], [NAN], {}),
    ("Min", [1, -INF, 3], [-INF], {}),
    ("ArgMin", [1, NAN, 0, NAN], [1], {}),
    ("ArgMin", [2, 1, 1], [1], {}),
    ("MaxDim", [1, NAN, 3, NAN], [NAN, 1], {}),
    ("MaxDim", [3, 1, 3], [3, 0], {}),
    ("MinDim", [0.0, -0.0], [0, 0], {}),
    ("ReduceNansum", [NAN, 1, 2, NAN], [3], {}),
    ("ReduceNansum", [NAN, NAN], [0], {}),
    ("ReduceNansum", [INF, NAN], [INF], {}),
    ("ReduceLogSum", [1, -2], [NAN], {}),
    ("ReduceLogSum", [1, -1], [-INF], {}),
    ("LogSumExp", [1000, 1000], [1000 + math.log(2)], {}),
    ("LogSumExp", [-1000, -1000], [-1000 + math.log(2)], {}),
    ("LogSumExp", [INF, 1], [INF], {}),
    ("LogSumExp", [-INF, -INF], [-INF], {}),
    ("LogSumExp", [INF, NAN], [NAN], {}),
    ("Std", [1e8, 1e8 + 16, 1e8 - 16], [math.sqrt(512 / 2)], {"correction": 1}),
    ("Std", [1, 2], [INF], {"correction": 2}),
    ("Std", [7], [NAN], {"correction": 1}),
    ("Var", [7], [NAN], {"unbiased": True}),
    ("Var", [7], [0], {"unbiased": False}),
    ("VarMean", [1, INF], [NAN, INF], {}),
    ("VarMean", [1e30, -1e30], [INF, 0], {}),
    ("Norm", [3, 4, 0], [5], {}),
    ("Norm", [3e30, 4e30], [5e30], {}),
    ("Norm", [3e-30, 4e-30], [5e-30], {}),
    ("Norm", [1, 0, NAN, -0.0], [2], {"pScalar": 0.0}),
    ("Norm", [-3, 2], [5], {"pScalar": 1.0}),
    ("Norm", [-3, 2], [3], {"pScalar": INF}),
    ("Norm", [-3, 2], [2], {"pScalar": -INF}),
    ("Norm", [2, 2], [1], {"pScalar": -1.0}),
    ("Norm", [2, 0], [0], {"pScalar": -2.0}),
    ("Norm", [0, 0], [0], {"pScalar": 3.0}),
    ("Norm", [1, INF], [INF], {"pScalar": 2.5}),
    ("Norm", [1, NAN], [NAN], {"pScalar": 2.5}),
    ("Norm", [1e20, 1e20], [1e20 * 2**0.1], {"pScalar": 10.0}),
    ("Norm", [4, 9], [25], {"pScalar": 0.5}),
    ("LinalgVectorNorm", [1, 2, 2], [3], {"ord": np.int64(2)}),
]


@pytest.mark.parametrize(("name", "row", "expected", "others"), SPECIAL, ids=[f"{one[0]}-{one[1]}-{one[3]}" for one in SPECIAL])
def test_special_values(name: str, row: list[float], expected: list[float], others: dict[str, Any], device: int) -> None:
    x = np.array(row, FLOAT)
    results = call(name, x, [] if along(name) == "all" else [0], False, (), **others).results()
    for result, value in zip(results, expected, strict=True):
        assert_accurate(result, value) if result.dtype in FLOATS else assert_equal(result, value)


@pytest.mark.parametrize("name", ["Mean", "LinalgVectorNorm", "ReduceNansum", "LogSumExp"])
def test_results_of_other_types(name: str, device: int) -> None:
    x = np.array([[1.0, 2.5], [3.25, 1e5]], FLOAT)
    wide = call(name, x, [1], False, (2,)).run().astype(np.float64)
    narrow = call(name, x[:1], [1], False, (1,), results=[FLOAT16]).run()
    assert narrow[0] == np.float16(wide[0])


def test_conversions(device: int) -> None:
    x = np.array([1.0, 2.0, 4.0], BF16)
    case = call("Mean", x, [0], False, (), results=[FLOAT], dtype=dtypes.BF16.code)
    assert case.run() == 2.328125  # 7 / 3 in BF16, stored as FLOAT
    assert call("Mean", np.array([1, 2], np.int32), [0], False, (), results=[FLOAT]).run() == 1.5
    assert call("MeanV2", np.array([1, 2], np.int32), [0], False, (), results=[FLOAT]).run() == 1.0
    assert call("ProdDim", np.array([100, 100], np.int8), [0], False, (), results=[np.int32]).run() == 10000
    nan = np.array([NAN, 1.9, -0.0], FLOAT)
    assert call("ReduceNansum", nan, [0], False, (), results=[np.int32]).run() == 1
    assert not call("ReduceNansum", nan[:1], [0], False, (), results=[np.bool_]).run()
    assert call("MaxDim", np.array([1, 5, 3], FLOAT), [0], False, (), results=[FLOAT, np.int32]).results()[1] == 1
    assert call("MaxDim", np.array([1, 5, 3], FLOAT), [0], False, (), results=[FLOAT, FLOAT16]).results()[1] == 1.0
    assert call("Any", np.array([0, 3], np.int32), [0], False, (), results=[np.uint8]).run() == 1


@pytest.mark.parametrize(
    ("name", "flag"), [("MeanV2", "noopWithEmptyAxes"), ("MaxV2", "noopWithEmptyDims"), ("ReduceLogSum", "noopWithEmptyAxes")]
)
def test_no_dimension_leaves_everything(name: str, flag: str, device: int) -> None:
    x = numbers((3, 4), FLOAT, 1)
    assert_equal(call(name, x, [], False, (3, 4), **{flag: True}).run(2), x)
    assert call(name, Meta((3, 4), FLOAT), [], False, (), **{flag: True}).status() == ACLNN_ERR_PARAM_INVALID
    assert call(name, Meta((3, 4), FLOAT), [0], False, (4,), **{flag: True}).status() == 0


def test_null_dimensions_are_all(device: int) -> None:
    x = numbers((3, 4), FLOAT, 1)
    for name in ("Std", "Var", "VarCorrection", "VarMean", "StdMeanCorrection"):
        everything = call(name, x, [], True, (1, 1))
        null = Case(everything.operator, {**everything.arguments, "dim": None})
        assert [result.tobytes() for result in null.results()] == [result.tobytes() for result in everything.results()]


@every
def test_wrong_dimensions_and_shapes(name: str) -> None:
    x = Meta((2, 3), FLOAT)
    left = () if along(name) == "all" else (2,)
    assert call(name, x, [1], False, left).status() == 0
    assert call(name, x, [1], False, (3,)).status() == ACLNN_ERR_PARAM_INVALID
    assert call(name, Meta((1,) * 9, FLOAT), [1], False, left).status() == ACLNN_ERR_PARAM_INVALID
    if along(name) == "all":
        return
    assert call(name, x, [1], True, (2,)).status() == ACLNN_ERR_PARAM_INVALID
    wrong = [[2], [-3]] if along(name) == "one" else [[2], [-3], [1, 1], [0, -2]]
    for dims in wrong:
        assert call(name, x, dims, True, (1, 1)).status() == ACLNN_ERR_PARAM_INVALID, dims
        assert " is " in message()


WRONG: list[tuple[str, dict[str, Any], int]] = [
    ("Mean", {"dtype": dtypes.BOOL.code}, ACLNN_ERR_PARAM_INVALID),
    ("Mean", {"dtype": ACL_DT_UNDEFINED}, ACLNN_ERR_PARAM_INVALID),
    ("Mean", {"self": Meta((2, 3), np.complex64)}, ACLNN_ERR_PARAM_INVALID),
    ("Mean", {"dtype": dtypes.INT32.code}, ACLNN_ERR_PARAM_INVALID),
    ("Mean", {"out": Meta((2,), np.int32)}, ACLNN_ERR_PARAM_INVALID),
    ("Mean", {"self": Meta((2, 3), np.bool_)}, ACLNN_ERR_PARAM_INVALID),
    ("MeanV2", {"out": Meta((2,), np.int32)}, ACLNN_ERR_PARAM_INVALID),
    ("ProdDim", {"dtype": dtypes.FLOAT16.code}, ACLNN_ERR_PARAM_INVALID),
    ("ProdDim", {"out": Meta((2,), np.int32), "dtype": dtypes.INT32.code}, ACLNN_ERR_PARAM_INVALID),
    ("ProdDim", {"dim": 7}, ACLNN_ERR_PARAM_INVALID),
    ("All", {"out": Meta((2,), FLOAT)}, ACLNN_ERR_PARAM_INVALID),
    ("Any", {"self": Meta((2, 3), np.complex64)}, ACLNN_ERR_PARAM_INVALID),
    ("Amin", {"out": Meta((2,), FLOAT16)}, ACLNN_ERR_PARAM_INVALID),
    ("AminmaxDim", {"maxOut": Meta((2,), FLOAT16)}, ACLNN_ERR_PARAM_INVALID),
    ("MaxDim", {"out": Meta((2,), FLOAT16)}, ACLNN_ERR_PARAM_INVALID),
    ("MaxDim", {"self": Meta((2, 3), np.int32), "out": Meta((2,), np.int32)}, ACLNN_ERR_PARAM_INVALID),
    ("ArgMin", {"out": Meta((2,), np.int16)}, ACLNN_ERR_PARAM_INVALID),
    ("ReduceNansum", {"dtype": dtypes.FLOAT16.code}, ACLNN_ERR_PARAM_INVALID),
    ("ReduceNansum", {"self": Meta((2, 3), DOUBLE)}, ACLNN_ERR_PARAM_INVALID),
    ("LogSumExp", {"out": Meta((2,), np.int32)}, ACLNN_ERR_PARAM_INVALID),
    ("Std", {"self": Meta((2, 3), DOUBLE)}, ACLNN_ERR_PARAM_INVALID),
    ("VarMean", {"meanOut": Meta((3,), FLOAT)}, ACLNN_ERR_PARAM_INVALID),
    ("Norm", {"pScalar": None}, ACLNN_ERR_PARAM_NULLPTR),
    ("LinalgVectorNorm", {"dtype": dtypes.FLOAT16.code}, ACLNN_ERR_PARAM_INVALID),
    ("ReduceLogSum", {"reduce": Meta((2,), FLOAT16)}, ACLNN_ERR_PARAM_INVALID),
]


@pytest.mark.parametrize(("name", "changes", "status"), WRONG, ids=[f"{one[0]}-{'-'.join(one[1])}" for one in WRONG])
def test_errors_of_one_operator(name: str, changes: dict[str, Any], status: int) -> None:
    good = call(name, Meta((2, 3), FLOAT), [1], False, (2,))
    assert good.status() == 0
    assert good.but(**changes).status() == status
    assert any(f"{parameter} " in message() for parameter in kinds(name))


@every
def test_products(name: str, chip: Callable[[str], None]) -> None:
    left = () if along(name) == "all" else (2,)
    assert products_of(call(name, Meta((2, 3), FLOAT16), [1], False, left), chip) == set(TABLE[name].products.split())


@pytest.mark.parametrize(
    ("soc", "name", "dtype", "accepted"),
    [
        ("Ascend950PR_9589", "MaxDim", np.int32, True),
        ("Ascend910B1", "MaxDim", np.int32, False),
        ("Ascend950PR_9589", "ReduceLogSum", BF16, True),
        ("Ascend910B1", "ReduceLogSum", BF16, False),
        ("Ascend910B1", "All", BF16, True),
        ("Ascend310B1", "All", BF16, False),
        ("Ascend910A", "All", BF16, False),
        ("Ascend910A", "Std", BF16, False),
    ],
)
def test_types_of_products(soc: str, name: str, dtype: Any, accepted: bool, chip: Callable[[str], None]) -> None:
    chip(soc)
    stored = [BOOL] if name == "All" else [dtype, np.int64]
    assert call(name, Meta((2, 3), dtype), [1], False, (2,), stored).status() == (0 if accepted else ACLNN_ERR_PARAM_INVALID)


def test_every_scalar_counts(device: int) -> None:
    assert any(isinstance(kind, HandleKind) and kind.kind is Scalar for kind in kinds("Norm").values())
    x = np.array([3, 4], FLOAT)
    for order in (np.float64(2), np.int32(2), np.float16(2)):
        assert call("Norm", x, [0], False, (), pScalar=order).run() == 5
