"""Operators that tell something about elements or tensors, and those that invert them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from acl_emu import ACLNN_ERR_INNER_TILING_ERROR, ACLNN_ERR_PARAM_INVALID
from tests.operators.accuracy import FLOAT, FLOATS
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.products import products_of
from tests.operators.test_arithmetic import BOOL, DOUBLE, INTEGERS
from tests.operators.test_binary import UNSIGNED

INF, NAN = math.inf, math.nan
MOST = {"950", "A3", "A2", "310P", "910"}
INVALID = ACLNN_ERR_PARAM_INVALID
REALS = [*FLOATS, DOUBLE]
AT = (NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0)


class Row(NamedTuple):
    """What is known of an operator of one tensor that gives truth values."""

    function: Callable[[float], bool]
    products: set[str]
    types: list[Any]
    first: str = "self"


TABLE = {
    "IsFinite": Row(math.isfinite, MOST - {"310P"}, [*REALS, *INTEGERS, BOOL]),
    "IsInf": Row(math.isinf, MOST - {"910"}, [*REALS, *INTEGERS, BOOL], "x"),
    "IsPosInf": Row(lambda x: x == INF, MOST - {"910"}, [*REALS, *INTEGERS, BOOL]),
    "IsNegInf": Row(lambda x: x == -INF, MOST - {"910"}, [*REALS, *INTEGERS, BOOL]),
    "Signbit": Row(lambda x: math.copysign(1, x) < 0, MOST - {"310P"}, [*REALS, *INTEGERS, *UNSIGNED, BOOL]),
    "LogicalNot": Row(lambda x: not x, MOST, [*REALS, *INTEGERS, BOOL]),
}
CAST = ("LogicalNot", "Signbit")
"""Whose results may have other types than BOOL."""
LINES = [(name, dtype) for name, row in TABLE.items() for dtype in row.types]


def call(name: str, x: Any, out: Any) -> Case:
    return Case(f"aclnn{name}", {TABLE[name].first: x, "out": out})


@pytest.mark.parametrize(("name", "dtype"), LINES, ids=str)
def test_values(name: str, dtype: Any, device: int) -> None:
    x = np.concatenate([np.array(AT if dtype in REALS else (0, 1, 0, 1, 0, 1, 1)).astype(dtype), numbers((9,), dtype, 1, 3)])
    expected = [TABLE[name].function(float(value)) for value in x]
    for layout in (0, 3):
        assert call(name, x, np.zeros(16, np.bool_)).run(layout).tolist() == expected
    if name in CAST:
        assert call(name, x, np.zeros(16, np.float32)).run().tolist() == expected
    if name == "Signbit":
        for other in (DOUBLE, np.int8, np.uint32, np.complex64):
            assert call(name, x, np.ones(16, other)).run().tolist() == expected
    if name == "LogicalNot":
        assert Case("aclnnInplaceLogicalNot", {"selfRef": x}).run(2).tolist() == expected


@pytest.mark.parametrize("name", TABLE)
def test_calls_that_are_refused(name: str, chip) -> None:
    good, out = Meta((2, 3), FLOAT), Meta((2, 3), BOOL)
    assert products_of(call(name, good, out), chip) == TABLE[name].products
    chip("Ascend910B1")
    assert call(name, good, Meta((3, 2), BOOL)).status() == INVALID
    if name != "Signbit":
        assert call(name, good, Meta((2, 3), np.complex64)).status() == INVALID
    if name not in CAST:
        assert call(name, good, good).status() == INVALID
    assert call(name, Meta((2, 3), np.complex64), out).status() == INVALID
    deep = Meta((1,) * 9, FLOAT)
    assert call(name, deep, Meta((1,) * 9, BOOL)).status() == (ACLNN_ERR_INNER_TILING_ERROR if name == "IsInf" else INVALID)


@pytest.mark.parametrize("dtype", [*INTEGERS, BOOL], ids=str)
def test_inverted_bits(dtype: Any, device: int) -> None:
    x = numbers((20,), dtype, 1, 50)
    expected = [
        not value if dtype == BOOL else int(np.array(~int(value) & 2 ** (8 * dtype.itemsize) - 1, np.uint64).astype(dtype)) for value in x
    ]
    assert Case("aclnnBitwiseNot", {"self": x, "out": np.zeros_like(x)}).run(2).tolist() == expected


def test_inverted_bits_that_are_refused(chip) -> None:
    one = Meta((2, 3), np.int32)
    for wrong in ({"out": Meta((2, 3), np.int64)}, {"out": Meta((3, 2), np.int32)}, {"self": Meta((2, 3), FLOAT)}):
        assert Case("aclnnBitwiseNot", {"self": one, "out": one, **wrong}).status() == INVALID, wrong
    assert products_of(Case("aclnnBitwiseNot", {"self": one, "out": one}), chip) == MOST


def close(x: Any, y: Any, rtol: float, atol: float, nan: bool, out: Any) -> Case:
    return Case("aclnnIsClose", {"self": x, "other": y, "rtol": rtol, "atol": atol, "equalNan": nan, "out": out})


@pytest.mark.parametrize("dtype", REALS, ids=str)
@pytest.mark.parametrize("nan", [False, True])
def test_nearly_equal(dtype: Any, nan: bool, device: int) -> None:
    x = np.array([1, 1, 4, INF, INF, -INF, NAN, NAN, 1, 0], dtype)
    y = np.array([1.25, 1.5, 3, INF, 1, INF, NAN, 1, INF, 0.125], dtype)
    expected = [True, False, False, True, False, False, nan, False, False, True]
    assert close(x, y, 0.125, 0.125, nan, np.zeros(10, np.bool_)).run(2).tolist() == expected
    assert close(x[:, None], y, 0.125, 0.125, nan, np.zeros((10, 10), np.bool_)).run(2).diagonal().tolist() == expected


def test_nearly_equal_integers(device: int, chip) -> None:
    x, y = np.array([2**60, 7, -3], np.int64), np.array([2**60 + 1, 9, 3], np.int64)
    assert close(x, y, 0, 0, False, np.zeros(3, np.bool_)).run().tolist() == [False, False, False]
    assert close(x, y, 0, 2, False, np.zeros(3, np.bool_)).run().tolist() == [True, True, False]
    one, out = Meta((2, 3), FLOAT), Meta((2, 3), BOOL)
    assert close(one, Meta((2, 4), FLOAT), 0, 0, False, out).status() == INVALID
    assert close(one, one, 0, 0, False, Meta((3, 2), BOOL)).status() == INVALID
    assert close(one, one, 0, 0, False, one).status() == INVALID
    assert products_of(close(one, one, 0, 0, False, out), chip) == MOST


def equal(x: Any, y: Any, out: Any) -> Case:
    return Case("aclnnEqual", {"self": x, "other": y, "out": out})


@pytest.mark.parametrize("dtype", [*REALS, *INTEGERS, *UNSIGNED, BOOL], ids=str)
def test_equal_tensors(dtype: Any, device: int) -> None:
    x, out = numbers((3, 4), dtype, 1, 3), np.ones(1, np.bool_)
    other = x.copy()
    other[2, 3] = not other[2, 3] if dtype == BOOL else other[2, 3] + 1
    for y, same in ((x, True), (other, False), (x[0], False), (x.reshape(4, 3), False), (x[:, :0], False)):
        assert equal(x, y, out).run(3).tolist() == [same]
    assert equal(x[:0], x[:0], ~out).run().tolist() == [True]


def test_equal_tensors_of_two_types(device: int, chip) -> None:
    x = np.array([1, 2, 3], np.int32)
    assert equal(x, x.astype(np.float32), np.zeros(1, np.bool_)).run().tolist() == [True]
    assert equal(np.array([NAN], np.float32), np.array([NAN], np.float32), np.ones(1, np.bool_)).run().tolist() == [False]
    assert equal(x, x.astype(np.uint64), Meta((1,), BOOL)).status() == INVALID
    assert equal(x, x, Meta((3,), BOOL)).status() == INVALID
    one = Meta((2, 3), FLOAT)
    assert products_of(equal(one, one, Meta((1,), BOOL)), chip) == MOST


def among(element: Any, others: Any, invert: bool, out: Any) -> Case:
    """Whether a number is among elements, or which elements are a number."""
    first, second = ("element", "testElements") if isinstance(others, (np.ndarray, Meta)) else ("element", "testElement")
    name = "aclnnIsInScalarTensor" if second == "testElements" else "aclnnIsInTensorScalar"
    return Case(name, {first: element, second: others, "assumeUnique": False, "invert": invert, "out": out})


@pytest.mark.parametrize("dtype", [*REALS, *INTEGERS, np.dtype(np.uint16), np.dtype(np.complex64), BOOL], ids=str)
@pytest.mark.parametrize("invert", [False, True])
def test_members(dtype: Any, invert: bool, device: int) -> None:
    x: Array = np.array([0, 1, 0, 1, 1]).astype(dtype)
    one, none = x[1], np.array([], dtype)
    assert among(x, one, invert, np.zeros(5, np.bool_)).run(3).tolist() == [bool(value == one) != invert for value in x]
    for others in (x, x[:1], none):
        assert among(one, others, invert, np.zeros((), np.bool_)).run().tolist() == ((one in others.tolist()) != invert)


def test_members_that_are_refused(chip) -> None:
    x, out = Meta((2, 3), FLOAT), Meta((2, 3), BOOL)
    assert among(x, 1.0, False, Meta((3, 2), BOOL)).status() == INVALID
    assert among(x, 1.0, False, x).status() == INVALID
    assert among(1.0, x, False, out).status() == INVALID
    assert among(Meta((2, 3), np.uint16), 1.0, False, out).status() == INVALID
    assert products_of(among(x, 1.0, False, out), chip) == {"950", "A3", "A2", "910"}
    assert products_of(among(1.0, x, False, Meta((), BOOL)), chip) == {"A3", "A2", "910"}
