"""aclnnExp and aclnnLog, also in place."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_NCHW, ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import float_dtypes, floats, layouts, shapes

DOUBLE, COMPLEX = np.dtype(np.float64), [np.dtype(np.complex64), np.dtype(np.complex128)]
INTEGERS = {"Exp": [np.bool_, np.int64], "Log": [np.bool_, np.int8, np.uint8, np.int16, np.int32, np.int64]}
OPERATIONS = list(INTEGERS)
LIMITS = {"Exp": (0.0, math.inf), "Log": (-math.inf, math.inf)}
"""At minus and plus infinity, or at the end of the domain."""


def golden(operation: str, x: Array) -> Array:
    """Element by element, by Python's own functions."""

    def value(number: Any) -> Any:
        if np.iscomplexobj(x):
            return getattr(cmath, operation.lower())(complex(number))
        number = float(number)
        if math.isnan(number) or (operation == "Log" and number < 0):
            return math.nan
        if math.isinf(number) or (operation == "Log" and number == 0):
            return LIMITS[operation][number > 0]
        return math.exp(number) if operation == "Exp" and number < 709 else math.inf if operation == "Exp" else math.log(number)

    return np.array([value(number) for number in x.ravel()], np.complex128 if np.iscomplexobj(x) else np.float64).reshape(x.shape)


def call(operation: str, x: Any, out: Any) -> Case:
    return Case(f"aclnn{operation}", {"self": x, "out": out})


def inplace(operation: str, x: Any) -> Case:
    return Case(f"aclnnInplace{operation}", {"selfRef": x})


def valid(operation: str = "Exp", shape: tuple[int, ...] = (2, 3), dtype: Any = FLOAT) -> Case:
    return call(operation, np.abs(numbers(shape, dtype, 1)), numbers(shape, dtype, 2))


def test_documented_samples(device: int) -> None:
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    assert call("Exp", x, out).run().tolist() == pytest.approx([1, 2.718282, 7.389056, 20.085537], rel=1e-6)
    assert inplace("Exp", x).run().tolist() == pytest.approx([1, 2.718282, 7.389056, 20.085537], rel=1e-6)
    x = np.arange(8, dtype=np.float64)
    assert call("Log", x, x.copy()).run().tolist() == pytest.approx([-math.inf, *map(math.log, range(1, 8))], rel=1e-15)
    assert inplace("Log", x).run().tolist() == pytest.approx([-math.inf, *map(math.log, range(1, 8))], rel=1e-15)


@pytest.mark.parametrize("operation", OPERATIONS)
@given(data=st.data())
def test_values(operation: str, device: int, data: st.DataObject) -> None:
    shape, dtype = data.draw(shapes()), data.draw(float_dtypes)
    x = data.draw(floats(shape, dtype, 4.0, special=True))
    out = np.zeros(shape, data.draw(float_dtypes))
    assert_accurate(call(operation, x, out).run(data.draw(layouts)), golden(operation, x), via=dtype)
    assert_accurate(inplace(operation, np.array(x)).run(data.draw(layouts)), golden(operation, x))


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("dtype", [DOUBLE, *COMPLEX], ids=str)
def test_wide_types(operation: str, dtype: np.dtype, device: int) -> None:
    x = (numbers((40,), np.float64, 1) + (1j * numbers((40,), np.float64, 2) if dtype in COMPLEX else 4)).astype(dtype)
    for out in (dtype, COMPLEX[1]):
        result = call(operation, x, np.zeros(40, out)).run()
        np.testing.assert_allclose(result, golden(operation, x), rtol=4 * float(np.finfo(dtype).eps))
    np.testing.assert_allclose(inplace(operation, x).run(), golden(operation, x), rtol=4 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize(("operation", "dtype"), [(o, d) for o in OPERATIONS for d in INTEGERS[o]])
def test_integers_are_taken_as_floats(operation: str, dtype: type, device: int) -> None:
    x = np.array([0, 1, 1, 0, 1]).astype(dtype) if dtype is np.bool_ else np.array([0, 1, 2, 3, 70], dtype)
    for out in (*FLOATS, DOUBLE):
        result = call(operation, x, np.zeros(5, out)).run()
        if out == DOUBLE:
            np.testing.assert_allclose(result, golden(operation, x), rtol=1e-15)
        else:
            assert_accurate(result, golden(operation, x), via=FLOAT)


def test_float_results_are_as_good_as_the_functions_of_the_engine(device: int) -> None:
    x = numbers((3000,), FLOAT, 1, 20)
    assert_accurate(call("Exp", x, np.zeros_like(x)).run(), golden("Exp", x), ulps=1.2)
    assert_accurate(call("Log", np.abs(x), np.zeros_like(x)).run(), golden("Log", np.abs(x)), ulps=0.8)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("shape", [(), (1,) * 8, (0,), (3, 0)], ids=str)
def test_ranks_and_empty_tensors(operation: str, shape: tuple[int, ...], device: int) -> None:
    case = valid(operation, shape, BF16)
    assert_accurate(case.run(3), golden(operation, case.arguments["self"]))
    assert (case.plan()[1] == 0) == (0 in shape)
    assert inplace(operation, np.ones(shape, FLOAT)).run().shape == shape


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"self": Meta((2, 3), np.uint16)}, "self"),
        ({"out": Meta((2, 3), np.int64)}, "out"),
        ({"self": Meta((2, 3), np.complex64)}, "out"),
        ({"out": Meta((3, 2), FLOAT)}, "out"),
        ({"self": Meta((1,) * 9, FLOAT)}, "self"),
        ({"out": Meta((1,) * 9, FLOAT)}, "out"),
    ],
    ids=str,
)
def test_parameter_errors(operation: str, changes: dict, named: str) -> None:
    assert valid(operation).but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


def test_errors_of_one_operator() -> None:
    assert inplace("Exp", Meta((2,), np.int64)).status() == ACLNN_ERR_PARAM_INVALID
    assert inplace("Log", Meta((1,) * 9, FLOAT)).status() == ACLNN_ERR_PARAM_INVALID
    assert call("Exp", Meta((2,), np.int64), Meta((2,), np.complex64)).status() == ACLNN_ERR_PARAM_INVALID
    assert "out has dtype" in message()
    assert call("Log", Meta((2,), np.int64), Meta((2,), np.complex64)).status() == 0
    for code in (ACL_FORMAT_NCHW, ACL_FORMAT_FRACTAL_NZ):  # a device only warns
        assert valid("Log").but(out=Meta((2, 3), FLOAT, format=code)).status() == 0


@pytest.mark.parametrize("soc", ["Ascend910B1", "Ascend310B1"])
def test_order_of_checks(soc: str, chip) -> None:
    chip(soc)
    wrong = valid().but(self=Meta((3,), np.uint16), out=None)
    assert wrong.status() == ACLNN_ERR_PARAM_NULLPTR
    assert wrong.but(out=Meta((2,), np.int8)).status() == ACLNN_ERR_PARAM_INVALID
    assert "self has dtype" in message()
    assert valid().but(self=Meta((3,), COMPLEX[0])).status() == ACLNN_ERR_PARAM_INVALID
    assert "out has dtype" in message()


@pytest.mark.parametrize(("operation", "missing"), [("Exp", ["Ascend310B1"]), ("Log", ["Ascend310P3", "Ascend310B1"])])
def test_products(operation: str, missing: list[str], chip) -> None:
    for soc in {"Ascend950PR_9589", "Ascend910_9391", "Ascend910B1", "Ascend310P3", "Ascend910A"} - set(missing):
        chip(soc)
        assert valid(operation).status() == inplace(operation, Meta((2,), FLOAT16)).status() == 0
    for soc in missing:
        chip(soc)
        assert valid(operation).status() == inplace(operation, Meta((2,), FLOAT16)).status() == ACLNN_ERR_INNER_NULLPTR
        assert valid(operation, (0, 3)).plan() == (0, 0)


def test_zero_and_negative_arguments_of_the_logarithm(device: int) -> None:
    x = np.array([0.0, -0.0, -1, math.inf, -math.inf, math.nan], np.float32)
    assert_equal(call("Log", x, np.zeros_like(x)).run(), [-math.inf, -math.inf, math.nan, math.inf, math.nan, math.nan])
