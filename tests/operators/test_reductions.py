"""aclnnAmax, aclnnMax and aclnnReduceSum."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import (
    ACL_FLOAT,
    ACL_FLOAT16,
    ACL_FORMAT_FRACTAL_NZ,
    ACL_FORMAT_NCHW,
    ACLNN_ERR_INNER_NULLPTR,
    ACLNN_ERR_PARAM_INVALID,
    ACLNN_ERR_PARAM_NULLPTR,
)
from acl_emu.core import dtypes
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal, rounded
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import float_dtypes, floats, layouts, shapes

DOUBLE, BOOL = np.dtype(np.float64), np.dtype(np.bool_)
INTEGERS = [np.dtype(t) for t in (np.int8, np.uint8, np.int16, np.int32, np.int64)]
ORDERED = [*FLOATS, DOUBLE, *INTEGERS, BOOL]
COMPLEX = [np.dtype(np.complex64), np.dtype(np.complex128)]


def slices(x: Array, dims: list[int], keep: bool) -> tuple[Array, tuple[int, ...]]:
    """Rows to be reduced, one after the other, and the shape of the result."""
    axes = {dim % max(x.ndim, 1) for dim in dims} or set(range(x.ndim))
    axes &= set(range(x.ndim))
    others = [axis for axis in range(x.ndim) if axis not in axes]
    rows = x.transpose([*others, *sorted(axes)]).reshape(
        math.prod(x.shape[axis] for axis in others), -1 if x.size else math.prod(x.shape[axis] for axis in axes)
    )
    return rows, tuple(1 if axis in axes else length for axis, length in enumerate(x.shape) if keep or axis not in axes)


def amax(x: Any, dims: list[int], keep: bool, out: Any) -> Case:
    return Case("aclnnAmax", {"self": x, "dim": dims, "keepDim": keep, "out": out})


def reduce_sum(x: Any, dims: list[int], keep: bool, out: Any, dtype: int | None = None) -> Case:
    code = dtypes.from_numpy(out.dtype).code if dtype is None else dtype
    return Case("aclnnReduceSum", {"self": x, "dims": dims, "keepDims": keep, "dtype": code, "out": out})


def largest(row: Array) -> Any:
    """NaN if there is one."""
    return math.nan if any(value != value for value in row) else max(row)


def any_numbers(shape: tuple[int, ...], dtype: np.dtype, seed: int = 1) -> Array:
    if dtype == BOOL:
        return numbers(shape, FLOAT, seed) > 0
    if dtype in INTEGERS:
        return np.random.default_rng(seed).integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    return numbers(shape, dtype, seed)


def draw_dims(data: st.DataObject, rank: int) -> list[int]:
    chosen = data.draw(st.sets(st.integers(0, max(rank, 1) - 1)))
    return [dim - data.draw(st.sampled_from((0, max(rank, 1)))) for dim in chosen]


def test_documented_samples(device: int) -> None:
    x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    assert amax(x, [0, 2], True, np.zeros((1, 3, 1), np.float32)).run().tolist() == [[[7], [9], [11]]]
    assert Case("aclnnMax", {"self": np.arange(1, 10, dtype=np.float32).reshape(3, 3), "out": np.zeros(1, np.float32)}).run().tolist() == [
        9
    ]
    assert reduce_sum(np.arange(8, dtype=np.float32).reshape(4, 2), [0], False, np.zeros(2, np.float32)).run().tolist() == [12, 16]


@given(st.data())
def test_largest(device: int, data: st.DataObject) -> None:
    shape, dtype, keep = data.draw(shapes()), data.draw(st.sampled_from(ORDERED)), data.draw(st.booleans())
    x = data.draw(floats(shape, dtype, special=True)) if dtype in FLOATS else any_numbers(shape, dtype, data.draw(st.integers(0, 99)))
    dims = draw_dims(data, len(shape))
    rows, left = slices(x, dims, keep)
    expected = np.array([largest(row) for row in rows], np.float64 if dtype in FLOATS else dtype).reshape(left)
    result = amax(x, dims, keep, np.zeros(left, dtype)).run(data.draw(layouts))
    np.testing.assert_array_equal(result.astype(expected.dtype), expected)


@pytest.mark.parametrize("dtype", ORDERED, ids=str)
@pytest.mark.parametrize("shape", [(), (1,)], ids=str)
def test_largest_of_all(dtype: np.dtype, shape: tuple[int, ...], device: int) -> None:
    for x in (any_numbers((3, 5, 2), dtype), any_numbers((), dtype)):
        result = Case("aclnnMax", {"self": x, "out": np.zeros(shape, dtype)}).run(4)
        assert result.shape == shape
        assert result.ravel()[0] == max(x.ravel().tolist())


def test_largest_of_all_is_cast(device: int) -> None:
    x = numbers((3, 4), FLOAT, 1)
    assert_equal(Case("aclnnMax", {"self": x, "out": np.zeros(1, FLOAT16)}).run(), rounded(x.max(), FLOAT16))
    assert Case("aclnnMax", {"self": x, "out": np.zeros(1, np.int32)}).status() == ACLNN_ERR_PARAM_INVALID
    assert np.isnan(Case("aclnnMax", {"self": np.array([1, math.nan, 2], FLOAT16), "out": np.zeros(1, FLOAT16)}).run()[0])


def test_largest_of_none(device: int) -> None:
    empty = Case("aclnnMax", {"self": np.zeros((2, 0), FLOAT), "out": np.full(1, 7, FLOAT)})
    assert empty.plan() == (0, 0)
    assert empty.run().tolist() == [7]


@given(st.data())
def test_sums_of_floats(device: int, data: st.DataObject) -> None:
    shape, dtype, out, keep = data.draw(shapes()), data.draw(float_dtypes), data.draw(float_dtypes), data.draw(st.booleans())
    x, dims = data.draw(floats(shape, dtype)), draw_dims(data, len(shape))
    rows, left = slices(rounded(x.astype(np.float64), out), dims, keep)
    expected = np.array([math.fsum(row) for row in rows]).reshape(left)
    terms = np.abs(rows).max(axis=1, initial=0).reshape(left)
    assert_accurate(reduce_sum(x, dims, keep, np.zeros(left, out)).run(data.draw(layouts)), expected, largest=terms, ulps=1)


@pytest.mark.parametrize("out", INTEGERS, ids=str)
@pytest.mark.parametrize("dtype", [*INTEGERS, BOOL], ids=str)
def test_sums_of_integers_wrap_around(dtype: np.dtype, out: np.dtype, device: int) -> None:
    x = any_numbers((30, 4), dtype)
    low, modulus = np.iinfo(out).min, 2 ** (8 * out.itemsize)
    exact = [(sum(int(value) for value in column) - low) % modulus + low for column in x.T]
    assert reduce_sum(x, [0], False, np.zeros(4, out)).run(2).tolist() == exact


def test_sums_of_other_types(device: int) -> None:
    x = np.array([[1, 0], [0, 0], [1, 0]], np.bool_)
    assert reduce_sum(x, [0], False, np.zeros(2, np.bool_)).run().tolist() == [True, False]
    assert reduce_sum(x, [], False, np.zeros((), FLOAT)).run() == 2
    assert reduce_sum(np.array([1.9, -1.9, math.nan, 2.5], FLOAT), [0], False, np.zeros((), np.int32)).run() == 2
    for dtype in COMPLEX:
        z = (numbers((50,), DOUBLE, 1) + 1j * numbers((50,), DOUBLE, 2)).astype(dtype)
        result = reduce_sum(z, [0], True, np.zeros(1, dtype)).run()
        assert abs(complex(result[0]) - sum(z.astype(np.complex128))) < 50 * np.finfo(dtype).eps
    doubles = numbers((50,), DOUBLE, 1)
    assert reduce_sum(doubles, [-1], False, np.zeros((), DOUBLE)).run() == pytest.approx(math.fsum(doubles), rel=1e-14)


def test_long_sums_are_rounded_once(device: int) -> None:
    for dtype in FLOATS:
        x = numbers((2, 20000), dtype, 1)
        expected = [math.fsum(row) for row in x.astype(np.float64)]
        assert_accurate(reduce_sum(x, [1], False, np.zeros(2, dtype)).run(), expected, largest=np.full(2, 4.0), ulps=1)


def test_sums_of_nothing_are_zero(device: int) -> None:
    assert reduce_sum(np.zeros((0, 3), FLOAT), [0], False, np.ones(3, FLOAT)).run().tolist() == [0, 0, 0]
    assert reduce_sum(np.zeros((0, 3), FLOAT), [1], False, np.ones(0, FLOAT)).plan() == (0, 0)
    assert reduce_sum(Meta((0, 3), FLOAT), [0], False, Meta((3,), np.complex64), 16).status() == ACLNN_ERR_PARAM_INVALID


@pytest.mark.parametrize("dims", [[0], [-1], []], ids=str)
def test_a_number_is_a_row_of_one(dims: list[int], device: int) -> None:
    x = np.array(2.5, BF16)
    assert amax(x, dims, True, np.zeros((), BF16)).run() == reduce_sum(x, dims, False, np.zeros((), BF16)).run() == 2.5


@pytest.mark.parametrize("operator", [amax, reduce_sum])
@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"self": Meta((2, 3), np.uint16)}, "self"),
        ({"out": Meta((2,), np.uint16)}, "out"),
        ({"out": Meta((3,), FLOAT)}, "out"),
        ({"out": Meta((2, 1), FLOAT)}, "out"),
        ({"self": Meta((1,) * 9, FLOAT)}, "self"),
    ],
    ids=str,
)
def test_parameter_errors(operator: Any, changes: dict, named: str) -> None:
    case = operator(Meta((2, 3), FLOAT), [1], False, Meta((2,), FLOAT))
    assert case.but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


@pytest.mark.parametrize(("operator", "name"), [(amax, "dim"), (reduce_sum, "dims")])
@pytest.mark.parametrize("dims", [[2], [-3], [1, 1], [0, -2]], ids=str)
def test_dimensions_outside_or_repeated(operator: Any, name: str, dims: list[int]) -> None:
    assert operator(Meta((2, 3), FLOAT), dims, True, Meta((1, 1), FLOAT)).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {name} is " in message()


def test_errors_of_one_operator() -> None:
    assert amax(Meta((2, 0), FLOAT), [1], False, Meta((2,), FLOAT)).status() == ACLNN_ERR_PARAM_INVALID
    assert amax(Meta((2, 0), FLOAT), [0], False, Meta((0,), FLOAT)).plan() == (0, 0)
    assert amax(Meta((2, 3), FLOAT), [1], False, Meta((2,), FLOAT16)).status() == ACLNN_ERR_PARAM_INVALID
    for code in (ACL_FORMAT_NCHW, ACL_FORMAT_FRACTAL_NZ):  # a device only warns
        assert amax(Meta((2, 3), FLOAT, format=code), [1], False, Meta((2,), FLOAT)).status() == 0
    for shape in ((2,), (1, 2), (0,)):
        assert Case("aclnnMax", {"self": Meta((2, 3), FLOAT), "out": Meta(shape, FLOAT)}).status() == ACLNN_ERR_PARAM_INVALID
    for code in (ACL_FLOAT16, 7, 999, -1):
        assert reduce_sum(Meta((2, 3), FLOAT), [1], False, Meta((2,), FLOAT), code).status() == ACLNN_ERR_PARAM_INVALID
        assert "dtype is" in message()


def test_outputs_of_one_element(device: int) -> None:
    x = numbers((5,), np.float32, 1)
    total = reduce_sum(x, [0], False, np.zeros((), np.float32)).run()
    for dims, keep, shape in (([0], False, (1,)), ([0], True, ()), ([], True, ()), ([], False, (1, 1, 1))):
        assert_equal(reduce_sum(x, dims, keep, np.zeros(shape, np.float32)).run(), total.reshape(shape))
        assert_equal(amax(x, dims, keep, np.zeros(shape, np.float32)).run(), x.max().reshape(shape))


def test_an_empty_sum_is_zero_whatever_the_shape(device: int) -> None:
    for shape in ((3,), (2, 2), ()):
        for dtype in (np.float32, np.int32, np.bool_):
            call = reduce_sum(np.zeros((0, 3), dtype), [0], False, np.ones(shape, dtype))
            assert_equal(call.run(), np.zeros(shape))


@pytest.mark.parametrize("soc", ["Ascend910B1", "Ascend310B1"])
def test_order_of_checks(soc: str, chip) -> None:
    chip(soc)
    wrong = reduce_sum(Meta((2, 3), np.uint16), [5], False, Meta((9,), FLOAT), 999)
    assert wrong.but(out=None).status() == ACLNN_ERR_PARAM_NULLPTR
    for changes, text in (({}, "self has dtype"), ({"self": Meta((2, 3), FLOAT)}, "dims is")):
        wrong = wrong.but(**changes)
        assert wrong.status() == ACLNN_ERR_PARAM_INVALID
        assert text in message()


def test_products(chip) -> None:
    def cases(dtype: Any) -> list[Case]:
        x, out, code = Meta((2, 3), dtype), Meta((1,), dtype), ACL_FLOAT if dtype == FLOAT else 27
        return [
            amax(x, [], False, out._replace(shape=())),
            Case("aclnnMax", {"self": x, "out": out}),
            reduce_sum(x, [0, 1], False, out._replace(shape=()), code),
        ]

    for soc in ("Ascend950PR_9589", "Ascend910_9391", "Ascend910B1", "Ascend310P3", "Ascend910A", "Ascend310B1"):
        chip(soc)
        for case in cases(FLOAT):
            assert case.status() == (ACLNN_ERR_INNER_NULLPTR if soc == "Ascend310B1" else 0)
        if soc in ("Ascend310P3", "Ascend910A"):
            assert {case.status() for case in cases(ml_dtypes.bfloat16)} == {ACLNN_ERR_PARAM_INVALID}
