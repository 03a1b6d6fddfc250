"""Operators over lists: each member as the plain operator has it, in one launch; and what lists can be wrong in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_INNER_TILING_ERROR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from acl_emu.core import soc
from acl_emu.runtime.stream import Stream
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS
from tests.operators.case import Array, Case, Meta
from tests.operators.drawing import layouts, shapes
from tests.operators.test_unary import FOREACH, TABLE, plain, within

every = pytest.mark.parametrize("name", FOREACH)
IN_PLACE = {"ACosInplace": "Acos", "LogInplace": "Log"}
NEWEST = "Ascend950PR_9589"


def foreach(name: str, x: Any, out: Any) -> Case:
    return Case(f"aclnnForeach{name}", {"x": x, "out": out})


def in_place(name: str, x: Any) -> Case:
    return Case(f"aclnnForeach{name}", {"x" if name == "ZeroInplace" else "xRef": x})


def good(count: int = 2, dtype: Any = FLOAT) -> list[Meta]:
    return [Meta((2, 3 + i), dtype) for i in range(count)]


def expected(name: str, x: list[Array]) -> list[bytes]:
    return [plain(name, one, np.zeros_like(one)).run().tobytes() for one in x]


@every
@given(data=st.data())
def test_every_member_is_what_the_plain_operator_makes_of_it(name: str, device: int, data: st.DataObject) -> None:
    dtype, seed = data.draw(st.sampled_from(FLOATS)), data.draw(st.integers(0, 1000))
    x = [within(TABLE[name], shape, dtype, seed) for shape in data.draw(st.lists(shapes(least=0), min_size=0, max_size=4))]
    results = foreach(name, x, [np.zeros_like(one) for one in x]).results(data.draw(layouts))
    assert [result.tobytes() for result in results] == expected(name, x)


@pytest.mark.parametrize(("name", "of"), IN_PLACE.items())
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_in_place(name: str, of: str, dtype: Any, device: int, chip) -> None:
    x = [within(TABLE[of], shape, dtype, 7) for shape in ((2, 3), (), (0, 4), (40,))]
    wanted = expected(of, x)
    chip(NEWEST)
    assert [result.tobytes() for result in in_place(name, x).results(3)] == wanted


@pytest.mark.parametrize("name", ["Exp", "Expm1"])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8])
def test_results_of_integers_are_floats(name: str, dtype: Any, device: int, chip) -> None:
    x = [np.array([0, 1, 2, 3, 60], dtype), np.array([[5]], dtype)]
    floats = [np.zeros(one.shape, np.float32) for one in x]
    for result, one in zip(foreach(name, x, floats).results(1), x, strict=True):
        exact = np.exp(one.astype(np.float64)) - (name == "Expm1")
        np.testing.assert_allclose(result, exact, rtol=1e-6)
    for wrong in (dtype, FLOAT16, BF16):
        assert foreach(name, x, [np.zeros(one.shape, wrong) for one in x]).status() == ACLNN_ERR_PARAM_INVALID
    chip(NEWEST)
    assert foreach(name, x, floats).status() == (ACLNN_ERR_PARAM_INVALID if name == "Exp" else 0)


@pytest.mark.parametrize(("name", "dtypes"), [("Neg", "hbi"), ("Sign", "biq")])
def test_integers_stay_whole(name: str, dtypes: str, device: int) -> None:
    for dtype in dtypes:
        x = [np.array([-7, 0, 100], dtype), np.array([-1], dtype)]
        results = foreach(name, x, [np.zeros_like(one) for one in x]).results(1)
        function = np.negative if name == "Neg" else np.sign
        assert all(np.array_equal(result, function(one)) for result, one in zip(results, x, strict=True))


def test_short_integers_of_the_newest_chip(chip) -> None:
    chip(NEWEST)
    for dtype, status in ((np.int32, 0), (np.int16, ACLNN_ERR_PARAM_INVALID), (np.uint8, ACLNN_ERR_PARAM_INVALID)):
        assert foreach("Neg", good(dtype=dtype), good(dtype=dtype)).status() == status


def test_unsigned_numbers_wrap_around(device: int) -> None:
    (result,) = foreach("Neg", [np.array([0, 1, 255], np.uint8)], [np.zeros(3, np.uint8)]).results()
    assert result.tolist() == [0, 255, 1]


def test_one_launch_for_all_members(device: int, monkeypatch: pytest.MonkeyPatch) -> None:
    submitted: list[int] = []
    close = Stream.close
    monkeypatch.setattr(Stream, "close", lambda self, **named: submitted.append(self.submitted) or close(self, **named))
    x = [np.ones((3, 1 + i), np.float32) for i in range(40)]
    foreach("Sqrt", x, [np.zeros_like(one) for one in x]).results()
    assert submitted == [1]


def test_a_larger_result_is_filled_from_the_front(device: int) -> None:
    x = np.array([[1, -2], [-3, 4]], np.float32)
    (result,) = foreach("Abs", [x], [np.full((2, 3), 9, np.float32)]).results()
    assert result.tolist() == [[1, 2, 3], [4, 9, 9]]
    (result,) = foreach("Abs", [x], [np.zeros(4, np.float32)]).results()
    assert result.tolist() == [1, 2, 3, 4]


@every
def test_empty_lists_and_empty_members(name: str) -> None:
    assert foreach(name, [], []).plan() == (0, 0)
    assert foreach(name, [Meta((0, 3), FLOAT)], [Meta((0, 3), FLOAT)]).plan() == (0, 0)
    assert foreach(name, [Meta((0,), FLOAT), Meta((2,), FLOAT)], [Meta((0,), FLOAT), Meta((2,), FLOAT)]).status() == 0


@every
@pytest.mark.parametrize(
    ("changes", "status", "text"),
    [
        ({"x": None}, ACLNN_ERR_PARAM_NULLPTR, "x must not"),
        ({"out": None}, ACLNN_ERR_PARAM_NULLPTR, "out must not"),
        ({"x": [Meta((2, 3), FLOAT), None]}, ACLNN_ERR_PARAM_NULLPTR, "x[1] must not"),
        ({"out": [None, Meta((2, 4), FLOAT)]}, ACLNN_ERR_PARAM_NULLPTR, "out[0] must not"),
        ({"x": [Meta((2, 3), FLOAT), Meta((2, 4), np.float64)]}, ACLNN_ERR_PARAM_INVALID, "x[1] has dtype"),
        ({"x": good(dtype=BF16)}, ACLNN_ERR_PARAM_INVALID, "out[0] has dtype"),
        ({"out": [Meta((2, 3), FLOAT), Meta((2, 4), FLOAT16)]}, ACLNN_ERR_PARAM_INVALID, "out[1] has dtype"),
        (
            {"x": [Meta((2, 3), FLOAT), Meta((2, 4), BF16)], "out": [Meta((2, 3), FLOAT), Meta((2, 4), BF16)]},
            ACLNN_ERR_INNER_TILING_ERROR,
            "x[1] has dtype",
        ),
        ({"x": good(3)}, ACLNN_ERR_INNER_TILING_ERROR, "out has 2 members, expected 3"),
        ({"out": []}, ACLNN_ERR_INNER_TILING_ERROR, "out has 0 members"),
        ({"out": [Meta((2, 3), FLOAT), Meta((2, 3), FLOAT)]}, ACLNN_ERR_INNER_TILING_ERROR, "out[1] has shape"),
        ({"out": [Meta((2, 3), FLOAT), Meta((2, 8), FLOAT, strides=(16, 2))]}, ACLNN_ERR_INNER_TILING_ERROR, "out[1] has shape"),
        ({"x": [Meta((2, 3), FLOAT), Meta((1,) * 9, FLOAT)]}, ACLNN_ERR_INNER_TILING_ERROR, "x[1] has 9 dimensions"),
        ({"out": [Meta((2, 3), FLOAT), Meta((1,) * 9, FLOAT)]}, ACLNN_ERR_INNER_TILING_ERROR, "out[1] has 9 dimensions"),
    ],
    ids=str,
)
def test_parameter_errors(name: str, changes: dict[str, Any], status: int, text: str) -> None:
    assert foreach(name, good(), good()).status() == 0
    assert foreach(name, good(), good()).but(**changes).status() == status
    assert text in message()


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize(
    ("x", "status"),
    [
        (None, ACLNN_ERR_PARAM_NULLPTR),
        ([Meta((2,), FLOAT), None], ACLNN_ERR_PARAM_INVALID),
        ([Meta((2,), np.float64)], ACLNN_ERR_PARAM_INVALID),
        ([Meta((2,), FLOAT), Meta((2,), BF16)], ACLNN_ERR_INNER_TILING_ERROR),
        ([Meta((1,) * 9, FLOAT)], ACLNN_ERR_INNER_TILING_ERROR),
        ([], 0),
    ],
    ids=str,
)
def test_parameter_errors_in_place(name: str, x: Any, status: int, chip) -> None:
    chip(NEWEST)
    assert in_place(name, x).status() == status


@every
def test_products(name: str, chip) -> None:
    for profile in soc.PROFILES.values():
        chip(profile.name)
        missing = 0 if profile.product.short in ("950", "A3", "A2") else ACLNN_ERR_INNER_NULLPTR
        assert foreach(name, good(dtype=FLOAT16), good(dtype=FLOAT16)).status() == missing


def test_products_in_place(chip) -> None:
    for profile in soc.PROFILES.values():
        chip(profile.name)
        for name in IN_PLACE:
            assert in_place(name, good()).status() == (0 if profile.name.startswith("Ascend950") else ACLNN_ERR_INNER_NULLPTR)


def test_copies_are_bit_by_bit(device: int) -> None:
    for dtype in (np.uint16, np.uint32, np.int64, np.bool_, np.float64, BF16):
        x = [np.arange(6).reshape(2, 3).astype(dtype), np.ones((), dtype), np.zeros((0, 2), dtype)]
        results = foreach("Copy", x, [np.zeros_like(one) for one in x]).results(2)
        assert [result.tobytes() for result in results] == [one.tobytes() for one in x]
    (result,) = foreach("Copy", [np.array([np.nan, -0.0], np.float32)], [np.zeros(2, np.float32)]).results()
    assert result.tobytes() == np.array([np.nan, -0.0], np.float32).tobytes()


def test_copies_with_a_cast(device: int) -> None:
    x = np.array([1 / 3, -2.5, 1e-9, 60001], np.float64)
    for source, wanted in ((FLOAT, FLOAT16), (FLOAT, BF16), (FLOAT16, FLOAT)):
        single = x.astype(source)
        (result,) = foreach("Copy", [single], [np.zeros(4, wanted)]).results(2)
        assert result.tobytes() == single.astype(np.float64).astype(np.float32).astype(wanted).tobytes()
    for source, wanted in ((BF16, FLOAT), (FLOAT16, BF16), (FLOAT, np.float64), (np.int32, np.int64)):
        assert foreach("Copy", good(dtype=source), good(dtype=wanted)).status() == ACLNN_ERR_PARAM_INVALID
    mixed = [Meta((2, 3), FLOAT), Meta((2, 4), FLOAT16)]
    assert foreach("Copy", good(), mixed).status() == ACLNN_ERR_INNER_TILING_ERROR


@pytest.mark.parametrize("dtype", [*FLOATS, np.dtype(np.int16), np.dtype(np.int32)], ids=str)
def test_zeros_in_place(dtype: Any, device: int) -> None:
    x = [np.ones((2, 3), dtype), np.ones((), dtype), np.zeros((0, 2), dtype)]
    assert all(not result.any() for result in in_place("ZeroInplace", x).results(5))


def test_products_of_copy_and_zero(chip) -> None:
    for profile in soc.PROFILES.values():
        chip(profile.name)
        for case in (foreach("Copy", good(), good()), in_place("ZeroInplace", good())):
            assert case.status() == (0 if profile.product.short in ("950", "A3", "A2") else ACLNN_ERR_INNER_NULLPTR)
