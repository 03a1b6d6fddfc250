"""aclnnL1Loss: integers, which no other element-wise loss takes."""

from __future__ import annotations

import numpy as np
import pytest

from acl_emu import ACLNN_ERR_PARAM_INVALID
from tests.conftest import message
from tests.operators.accuracy import FLOAT, FLOAT16, FLOATS, assert_equal, rounded
from tests.operators.case import Array, Meta
from tests.operators.losses import BY_NAME, MEAN, NONE, SUM

L1 = BY_NAME["aclnnL1Loss"]
INT64 = np.dtype(np.int64)
INTEGERS = {"self": np.array([[1 << 62, -5], [7, 0]]), "target": np.array([[3, 4], [-(1 << 40), 0]])}


@pytest.mark.parametrize("out", [INT64, *FLOATS], ids=str)
def test_integers_are_exact(out: np.dtype, device: int) -> None:
    exact = np.array([[(1 << 62) - 3, 9], [(1 << 40) + 7, 0]])
    assert_equal(L1.case(INTEGERS, NONE, out).run(), exact if out == INT64 else rounded(exact, out))
    small = {name: array % 1000 for name, array in INTEGERS.items()}
    total = sum(abs(a - b) for a, b in zip(small["self"].ravel(), small["target"].ravel(), strict=True))
    assert_equal(L1.case(small, SUM, out).run(), total if out == INT64 else rounded(total, out))


@pytest.mark.parametrize("reduction", [MEAN, SUM])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_integers_are_rounded_to_the_type_they_meet(dtype: np.dtype, reduction: int, device: int) -> None:
    """2 ** 24 + 1 has no float of its own, and neither has 1025 in any half type."""
    for number in ((1 << 24) + 1, 2049):
        inputs = {"self": np.array([number]), "target": np.array([1], dtype)}
        assert_equal(L1.case(inputs, reduction, dtype).run(), rounded(rounded(number, dtype) - 1, dtype))


def ones(types: dict[str, np.dtype]) -> dict[str, Array]:
    return {name: np.ones((2, 2), types.get(name, INT64)) for name in L1.inputs}


ERRORS = [
    ({"target": FLOAT}, NONE, FLOAT, "target has dtype"),
    ({}, MEAN, FLOAT, "self has dtype"),
    ({"self": FLOAT}, NONE, INT64, "out has dtype"),
    ({"target": FLOAT16}, SUM, INT64, "out has dtype"),
]


@pytest.mark.parametrize(("types", "reduction", "out", "text"), ERRORS, ids=str)
def test_types_that_do_not_go_together(types: dict[str, np.dtype], reduction: int, out: np.dtype, text: str) -> None:
    assert L1.case(ones(types), reduction, out).status() == ACLNN_ERR_PARAM_INVALID
    assert text in message()


def test_types_that_do_go_together() -> None:
    for types, reduction in (({"self": FLOAT}, NONE), ({"target": FLOAT}, SUM), ({"self": FLOAT16}, MEAN), ({"target": FLOAT}, MEAN)):
        assert L1.case(ones(types), reduction, FLOAT).status() == 0, (types, reduction)


def test_integers_of_another_width_are_refused() -> None:
    assert L1.valid().but(self=Meta((2, 3), np.int32)).status() == ACLNN_ERR_PARAM_INVALID
