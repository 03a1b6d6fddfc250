"""Rotary position embeddings, against the formulas of their pages in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acl_emu as acl
import aclnnop
from tests.conftest import message
from tests.operators.accuracy import FLOAT, FLOAT16, FLOATS, assert_accurate
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import layouts, shapes
from tests.operators.products import products_of

INVALID, TILING = acl.ACLNN_ERR_PARAM_INVALID, acl.ACLNN_ERR_INNER_TILING_ERROR
HALF, INTERLEAVE, QUARTER, INTERLEAVE_HALF = range(4)


def call(operator: str) -> Case:
    """Its first example."""
    return Case(operator, next(aclnnop.find(operator).examples()))


def rotated(x: Array, mode: int) -> tuple[Array, Array]:
    """The rows in the order of the result, and those that the sines are for."""
    size = x.shape[-1]
    if mode == INTERLEAVE:
        other = np.empty_like(x)
        other[..., ::2], other[..., 1::2] = -x[..., 1::2], x[..., ::2]
        return x, other
    if mode == QUARTER:
        a, b, c, d = (x[..., i * size // 4 : (i + 1) * size // 4] for i in range(4))
        return x, np.concatenate((-b, a, -d, c), axis=-1)
    first, second = (x[..., ::2], x[..., 1::2]) if mode == INTERLEAVE_HALF else (x[..., : size // 2], x[..., size // 2 :])
    return np.concatenate((first, second), axis=-1), np.concatenate((-second, first), axis=-1)


def embedded(x: Array, cos: Array, sin: Array, mode: int) -> tuple[Array, Array]:
    """The result, and the size of its terms."""
    plain, other = rotated(x.astype(np.float64), mode)
    terms = plain * cos.astype(np.float64), other * sin.astype(np.float64)
    return terms[0] + terms[1], np.abs(terms[0]) + np.abs(terms[1])


@pytest.mark.parametrize("mode", [HALF, INTERLEAVE, QUARTER, INTERLEAVE_HALF])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@given(data=st.data())
def test_rotary_position_embedding(dtype: Any, mode: int, device: int, chip: Callable[[str], None], data: st.DataObject) -> None:
    chip("Ascend950PR_9589")
    front = data.draw(shapes(least_dims=2, most_dims=3, most=3))
    length = 4 * data.draw(st.integers(1, 4))
    angles = tuple(size if data.draw(st.booleans()) else 1 for size in front)
    x, cos, sin = numbers((*front, length), dtype, 1), numbers((*angles, length), dtype, 2), numbers((*angles, length), dtype, 3)
    case = Case("aclnnRotaryPositionEmbedding", {"x": x, "cos": cos, "sin": sin, "mode": mode, "out": np.zeros_like(x)})
    golden, largest = embedded(x, cos, sin, mode)
    assert_accurate(case.run(data.draw(layouts)), golden, largest=largest, ulps=4)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_apply_rotary_pos_emb(dtype: Any, device: int) -> None:
    """In place, both of a pair before either is stored."""
    query, key = numbers((2, 3, 4, 128), dtype, 1), numbers((2, 3, 1, 128), dtype, 2)
    cos, sin = numbers((2, 3, 1, 128), dtype, 3), numbers((2, 3, 1, 128), dtype, 4)
    case = Case("aclnnApplyRotaryPosEmb", {"queryRef": query, "keyRef": key, "cos": cos, "sin": sin, "layout": 1})
    for layout in (0, 3):
        for found, x in zip(case.results(layout), (query, key), strict=True):
            golden, largest = embedded(x, cos, sin, HALF)
            assert_accurate(found, golden, largest=largest, ulps=4)


def meta(*shape: int, dtype: Any = FLOAT) -> Meta:
    return Meta(shape, dtype)


ERRORS: dict[str, list[tuple[dict[str, Any], int, str]]] = {
    "aclnnRotaryPositionEmbedding": [
        *[({name: meta(1, 1, 4, 32, dtype=FLOAT16)}, INVALID, f"{name} has dtype") for name in ("cos", "sin")],
        ({"mode": 2}, TILING, "mode is 2"),
        ({"mode": -1}, TILING, "mode is -1"),
        ({"out": meta(2, 3, 4, 16)}, TILING, "out has shape"),
        ({"sin": meta(1, 1, 1, 32)}, TILING, "sin has shape"),
        ({"cos": meta(1, 1, 3, 32), "sin": meta(1, 1, 3, 32)}, TILING, "cos has shape"),
        ({"cos": meta(1, 4, 32), "sin": meta(1, 4, 32)}, TILING, "cos has 3 dimensions"),
        ({"cos": meta(1, 1, 4, 16), "sin": meta(1, 1, 4, 16)}, TILING, "x has shape"),
        ({name: meta(2, 1, 1, 33) for name in ("x", "cos", "sin", "out")}, TILING, "x has shape"),
    ],
    "aclnnApplyRotaryPosEmb": [
        *[({name: meta(2, 3, 1, 128, dtype=FLOAT16)}, INVALID, f"{name} has dtype") for name in ("keyRef", "cos", "sin")],
        *[({"layout": value}, INVALID, f"layout is {value}") for value in (0, 2, 3)],
        ({"queryRef": meta(2, 3, 4, 64)}, INVALID, "queryRef has shape"),
        ({"keyRef": meta(2, 4, 2, 128)}, INVALID, "keyRef has shape"),
        ({"keyRef": meta(2, 3, 0, 128)}, INVALID, "keyRef has shape"),
        ({"cos": meta(2, 3, 2, 128)}, INVALID, "cos has shape"),
        ({"sin": meta(2, 1, 1, 128)}, INVALID, "sin has shape"),
    ],
}


@pytest.mark.parametrize(
    ("operator", "changes", "status", "text"),
    [pytest.param(operator, *line, id=f"{operator}-{line[2]}") for operator, lines in ERRORS.items() for line in lines],
)
def test_errors(operator: str, changes: dict[str, Any], status: int, text: str) -> None:
    assert call(operator).but(**changes).status() == status
    assert text in message()


PRODUCTS = {
    "aclnnRotaryPositionEmbedding": {"950", "A3", "A2", "310P"},
    "aclnnApplyRotaryPosEmb": {"A3", "A2"},
}


@pytest.mark.parametrize(("operator", "products"), PRODUCTS.items())
def test_products(operator: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(call(operator), chip) == products


def test_modes_of_a_product(chip: Callable[[str], None]) -> None:
    """310P has halves only; the newest chip all."""
    case = call("aclnnRotaryPositionEmbedding")
    for soc, modes in (("Ascend310P3", [HALF]), ("Ascend910B1", [HALF, INTERLEAVE]), ("Ascend950PR_9589", [0, 1, 2, 3])):
        chip(soc)
        assert [mode for mode in range(5) if case.but(mode=mode).status() == 0] == modes
