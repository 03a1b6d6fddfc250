"""aclnnRmsNorm."""

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
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import floats, layouts, shapes
from tests.operators.products import products_of

PAIRS = [(FLOAT, FLOAT), (FLOAT16, FLOAT16), (BF16, BF16), (FLOAT16, FLOAT), (BF16, FLOAT)]
TENSORS = ("x", "gamma", "yOut", "rstdOut")


def call(operator: str) -> Case:
    """Its first example."""
    return Case(operator, next(aclnnop.find(operator).examples()))


def rms_norm(x: Any, gamma: Any, epsilon: float, rstd: Any, out: Any = None) -> Case:
    out = (np.zeros_like(x) if isinstance(x, np.ndarray) else x) if out is None else out
    return Case("aclnnRmsNorm", {"x": x, "gamma": gamma, "epsilon": epsilon, "yOut": out, "rstdOut": rstd})


def expected(x: Array, gamma: Array, epsilon: float) -> tuple[Array, Array]:
    """Row by row in float64, with a sum that is exact."""
    rows = x.astype(np.float64).reshape(-1, gamma.size)
    roots = np.array([math.sqrt(math.fsum(value * value for value in row) / gamma.size + epsilon) for row in rows.tolist()])
    with np.errstate(all="ignore"):
        scaled = rows / roots[:, np.newaxis] * gamma.astype(np.float64).ravel()
        return scaled.reshape(x.shape), (1 / roots).reshape(*x.shape[: x.ndim - gamma.ndim], *[1] * gamma.ndim)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
@given(data=st.data())
def test_values(pair: tuple[Any, Any], device: int, data: st.DataObject) -> None:
    shape = data.draw(shapes(least_dims=1, least=1))
    x = data.draw(floats(shape, pair[0], scale=data.draw(st.sampled_from((1e-3, 1.0, 100.0)))))
    gamma = data.draw(floats(shape[data.draw(st.integers(0, len(shape) - 1)) :], pair[1]))
    epsilon = data.draw(st.sampled_from((1e-6, 1e-12, 0.5)))
    y, rstd = expected(x, gamma, epsilon)
    found = rms_norm(x, gamma, epsilon, np.zeros(rstd.shape, np.float32)).results(data.draw(layouts))
    assert_accurate(found[0], y)
    assert_accurate(found[1], rstd, ulps=4)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_long_rows(dtype: Any, device: int) -> None:
    x, gamma = numbers((3, 5000), dtype, 1, 7), numbers((5000,), dtype, 2)
    y, rstd = expected(x, gamma, 1e-5)
    found = rms_norm(x, gamma, 1e-5, np.zeros((3, 1), np.float32)).results()
    assert_accurate(found[0], y)
    assert_accurate(found[1], rstd, ulps=4)


def test_special_values(device: int) -> None:
    """Squares do not overflow; an infinity is passed on, as the page says, and so is NaN; a row of zeros is divided by epsilon's root."""
    x = np.array([[3e38, -3e38], [math.inf, 1], [-math.inf, 2], [math.nan, 1], [0, -0.0]], np.float32)
    y, rstd = rms_norm(x, np.array([1, 2], np.float32), 0.25, np.zeros((5, 1), np.float32)).results()
    assert y[:3].tolist() == [[1, -2], [math.inf, 0], [-math.inf, 0]]
    assert np.isnan(y[3]).all()
    assert np.isnan(rstd[3, 0])
    assert y[4].tolist() == [0, 0]
    assert rstd[[1, 2, 4], 0].tolist() == [0, 0, 2]
    zero = rms_norm(np.zeros((1, 2), np.float32), np.ones(2, np.float32), 0.0, np.zeros((1, 1), np.float32)).results()
    assert np.isnan(zero[0]).all()
    assert zero[1].tolist() == [[math.inf]]


@pytest.mark.parametrize("shape", [(1, 2, 3, 1), (1, 2, 3), (6,), (1, 2, 3, 8)], ids=str)
def test_factors_of_another_shape(shape: tuple[int, ...], device: int) -> None:
    """Programs give a shape without the normalised dimension, or that of x: a device fills the first elements."""
    x, gamma = numbers((1, 2, 3, 8), FLOAT, 1), numbers((8,), FLOAT, 2)
    _, rstd = expected(x, gamma, 1e-6)
    found = rms_norm(x, gamma, 1e-6, np.full(shape, -1, np.float32)).results()[1].ravel()
    assert_accurate(found[:6], rstd.ravel(), ulps=4)
    assert (found[6:] == -1).all()


def test_empty_inputs(device: int) -> None:
    assert rms_norm(np.zeros((0, 16), np.float32), np.ones(16, np.float32), 1e-6, np.zeros((0, 1), np.float32)).plan() == (0, 0)


def test_documented_sample(device: int) -> None:
    row = np.tile(np.arange(8, dtype=np.float32), 2)
    y, rstd = rms_norm(np.stack([row, row]), row, 1e-6, np.zeros((2, 1), np.float32)).results()
    root = math.sqrt(17.5 + 1e-6)
    assert y == pytest.approx(np.tile(np.arange(8) ** 2 / root, (2, 2)), rel=1e-6)
    assert rstd.ravel().tolist() == pytest.approx([1 / root] * 2, rel=1e-6)


ERRORS: list[tuple[str, dict[str, Any], int, str]] = [
    *[("aclnnRmsNorm", {name: None}, acl.ACLNN_ERR_PARAM_NULLPTR, f"{name} must not") for name in TENSORS],
    *[("aclnnRmsNorm", {name: Meta((2, 3, 16), acl.ACL_DOUBLE)}, acl.ACLNN_ERR_PARAM_INVALID, f"{name} has dtype") for name in TENSORS],
    ("aclnnRmsNorm", {"rstdOut": Meta((2, 3, 1), acl.ACL_FLOAT16)}, acl.ACLNN_ERR_PARAM_INVALID, "rstdOut has dtype"),
    ("aclnnRmsNorm", {"yOut": Meta((2, 3, 16), acl.ACL_FLOAT16)}, acl.ACLNN_ERR_PARAM_INVALID, "yOut has dtype"),
    ("aclnnRmsNorm", {"gamma": Meta((16,), acl.ACL_FLOAT16)}, acl.ACLNN_ERR_PARAM_INVALID, "gamma has dtype"),
    ("aclnnRmsNorm", {"x": Meta((1,) * 9, acl.ACL_FLOAT)}, acl.ACLNN_ERR_PARAM_INVALID, "x has 9 dimensions"),
    ("aclnnRmsNorm", {"x": Meta((), acl.ACL_FLOAT)}, acl.ACLNN_ERR_INNER_TILING_ERROR, "x has 0 dimensions"),
    ("aclnnRmsNorm", {"gamma": Meta((), acl.ACL_FLOAT)}, acl.ACLNN_ERR_INNER_TILING_ERROR, "gamma has shape"),
    ("aclnnRmsNorm", {"gamma": Meta((3,), acl.ACL_FLOAT)}, acl.ACLNN_ERR_INNER_TILING_ERROR, "gamma has shape"),
    ("aclnnRmsNorm", {"gamma": Meta((1, 2, 3, 16), acl.ACL_FLOAT)}, acl.ACLNN_ERR_INNER_TILING_ERROR, "gamma has shape"),
    (
        "aclnnRmsNorm",
        {"x": Meta((2, 0), acl.ACL_FLOAT), "gamma": Meta((0,), acl.ACL_FLOAT)},
        acl.ACLNN_ERR_INNER_TILING_ERROR,
        "expected no length of 0",
    ),
    ("aclnnRmsNorm", {"yOut": Meta((2, 48), acl.ACL_FLOAT)}, acl.ACLNN_ERR_INNER_TILING_ERROR, "yOut has shape"),
    ("aclnnRmsNorm", {"rstdOut": Meta((2, 2, 1), acl.ACL_FLOAT)}, acl.ACLNN_ERR_INNER_TILING_ERROR, "rstdOut has shape"),
    ("aclnnRmsNorm", {"rstdOut": Meta((6,), acl.ACL_FLOAT, (2,))}, acl.ACLNN_ERR_INNER_TILING_ERROR, "rstdOut has shape"),
]


@pytest.mark.parametrize(("operator", "changes", "status", "text"), ERRORS)
def test_errors(operator: str, changes: dict[str, Any], status: int, text: str) -> None:
    assert call(operator).but(**changes).status() == status
    assert text in message()


PRODUCTS = {
    "aclnnRmsNorm": {"950", "A3", "A2", "310P"},
}


@pytest.mark.parametrize(("operator", "products"), PRODUCTS.items())
def test_products(operator: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(call(operator), chip) == products


def test_types_of_a_product(chip: Callable[[str], None]) -> None:
    """310P has one type for all, and rows of 32 bytes at least."""
    mixed = rms_norm(Meta((2, 8), FLOAT16), Meta((8,), FLOAT), 1e-6, Meta((2, 1), FLOAT))
    halves = mixed.but(gamma=Meta((8,), FLOAT16))
    for soc, others in (("Ascend310P3", False), ("Ascend910B1", True)):
        chip(soc)
        assert mixed.status() == (0 if others else acl.ACLNN_ERR_PARAM_INVALID)
        assert halves.status() == (0 if others else acl.ACLNN_ERR_INNER_TILING_ERROR)
        assert rms_norm(Meta((2, 8), FLOAT), Meta((8,), FLOAT), 1e-6, Meta((2, 1), FLOAT)).status() == 0
        bf16 = rms_norm(Meta((2, 16), BF16), Meta((16,), BF16), 1e-6, Meta((2, 1), FLOAT))
        assert bf16.status() == (0 if others else acl.ACLNN_ERR_PARAM_INVALID)
