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
from tests.operators.case import Array, Case, Meta, Refused, numbers
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


@pytest.mark.parametrize("mode", [HALF, INTERLEAVE, QUARTER, INTERLEAVE_HALF])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_rotary_position_embedding_grad(dtype: Any, mode: int, device: int, chip: Callable[[str], None]) -> None:
    """The embedding is linear in rows and in angles: its matrix, column by column, is the reference."""
    chip("Ascend950PR_9589")
    x, dy = numbers((2, 3, 2, 8), dtype, 1), numbers((2, 3, 2, 8), dtype, 2)
    cos, sin = numbers((1, 3, 1, 8), dtype, 3), numbers((1, 3, 1, 8), dtype, 4)
    outputs = {"dxOut": np.zeros_like(x), "dcosOut": np.zeros_like(cos), "dsinOut": np.zeros_like(sin)}
    case = Case("aclnnRotaryPositionEmbeddingGrad", {"dy": dy, "cos": cos, "sin": sin, "xOptional": x, "mode": mode, **outputs})
    wide = dy.astype(np.float64)

    def slope(given: Array, embed: Callable[[Array], Array]) -> tuple[Array, Array]:
        parts = [(wide * embed(one.reshape(given.shape))) for one in np.eye(given.size)]
        return np.array([one.sum() for one in parts]).reshape(given.shape), np.full(
            given.shape, max(np.abs(one).max() for one in parts) * 2
        )

    plain, turned = rotated(x.astype(np.float64), mode)
    zero = np.zeros(cos.shape)
    goldens = (
        slope(x, lambda one: embedded(one, cos, sin, mode)[0]),
        slope(cos, lambda one: plain * one + turned * zero),
        slope(sin, lambda one: plain * zero + turned * one),
    )
    for layout in (0, 3):
        for found, (golden, largest) in zip(case.results(layout), goldens, strict=True):
            assert_accurate(found, golden, largest=largest)
    alone = case.but(xOptional=None, dcosOut=None, dsinOut=None).run()
    assert_accurate(alone, goldens[0][0], largest=goldens[0][1])


@pytest.mark.parametrize(("layout", "heads"), [(1, 2), (2, 2), (3, 1)])
@pytest.mark.parametrize(("name", "mode"), [("half", HALF), ("interleave", INTERLEAVE), ("quarter", QUARTER)])
def test_apply_rotary_pos_emb_v2(name: str, mode: int, layout: int, heads: int, device: int) -> None:
    shapes_of = [[2, 3, 3, 128] for _ in range(3)]
    for shape, count in zip(shapes_of, (4, 2, 1), strict=True):
        shape[heads] = count
    query, key, cos = (numbers(tuple(shape), FLOAT, seed) for seed, shape in enumerate(shapes_of))
    sin = numbers(tuple(shapes_of[2]), FLOAT, 9)
    case = Case(
        "aclnnApplyRotaryPosEmbV2", {"queryRef": query, "keyRef": key, "cos": cos, "sin": sin, "layout": layout, "rotaryMode": name}
    )
    for found, x in zip(case.results(4), (query, key), strict=True):
        golden, largest = embedded(x, cos, sin, mode)
        assert_accurate(found, golden, largest=largest, ulps=4)


@pytest.mark.parametrize("number", range(4))
def test_rope_with_sin_cos_cache(number: int, device: int) -> None:
    """Row by row: each half of a table's row has the angles of a position, of which sections may take different ones."""
    case = Case("aclnnRopeWithSinCosCache", list(aclnnop.find("aclnnRopeWithSinCosCache").examples())[number])
    a = case.arguments
    table, size = a["cosSinCache"].astype(np.float64), a["headSize"]
    half = table.shape[1] // 2
    sections = a["mropeSection"]
    for found, name in zip(case.results(2), ("queryIn", "keyIn"), strict=True):
        golden = a[name].astype(np.float64).reshape(3, -1, size)
        for token in range(3):
            angles = np.zeros(2 * half)
            for column in range(half):
                section = 0 if sections is None else int(np.searchsorted(np.cumsum(sections), column, side="right"))
                row = table[a["positions"][token] if sections is None else a["positions"][section, token]]
                angles[column], angles[half + column] = row[column], row[half + column]
            cos, sin = angles[:half], angles[half:]
            places = (slice(0, half), slice(half, 2 * half)) if a["isNeoxStyle"] else (slice(0, 2 * half, 2), slice(1, 2 * half, 2))
            x1, x2 = golden[token, :, places[0]].copy(), golden[token, :, places[1]].copy()
            golden[token, :, places[0]], golden[token, :, places[1]] = x1 * cos - x2 * sin, x2 * cos + x1 * sin
        assert_accurate(found, golden.reshape(found.shape), largest=np.full(found.shape, 8.0))


def test_positions_outside_the_table(device: int) -> None:
    for wrong in (-1, 5):
        with pytest.raises(Refused, match="outside the rows"):
            call("aclnnRopeWithSinCosCache").but(positions=np.array([0, 1, wrong], np.int64)).results()


@pytest.mark.parametrize("number", range(3))
def test_dequant_rope_quant_kvcache(number: int, device: int) -> None:
    """Token by token, with every step of the formula."""
    case = Case("aclnnDequantRopeQuantKvcache", list(aclnnop.find("aclnnDequantRopeQuantKvcache").examples())[number])
    a = case.arguments
    x = a["x"].astype(np.float64)
    if a["x"].dtype == np.int32:
        x = (x + a["biasOptional"]) * a["weightScaleOptional"] * a["activationScaleOptional"].reshape(2, 3, 1)
    rows = x.reshape(-1, 4, 16)
    cos, sin = (a[name].astype(np.float64).reshape(-1, 1, 16) for name in ("cos", "sin"))
    q, k = (embedded(rows[:, part], cos, sin, HALF)[0] for part in (slice(0, 2), slice(2, 3)))
    v = rows[:, 3:]
    caches = {name: a[name].astype(np.float64) for name in ("kCacheRef", "vCacheRef")}
    steps = x.shape[1] if x.ndim == 3 else 1
    for token in range(len(rows)):
        if a["cacheModeOptional"] == "page":
            place = divmod(int(a["indices"][token]), 5)
        else:
            place = (token // steps, int(a["indices"][token // steps]) + token % steps)
        offset = 0 if a["offsetKOptional"] is None else a["offsetKOptional"].reshape(1, 16)
        caches["kCacheRef"][place] = np.clip(k[token] / a["scaleK"].reshape(1, 16) + offset, -128, 127)
        caches["vCacheRef"][place] = np.clip(v[token] / a["scaleV"].reshape(1, 16), -128, 127)
    found = dict(zip(("kCacheRef", "vCacheRef", "qOut", "kOut", "vOut"), case.results(), strict=True))
    for name, wanted in caches.items():
        assert (np.abs(found[name] - wanted) <= 0.501 + 1e-4 * np.abs(wanted)).all()
    wanted_rows = {"qOut": q, **({"kOut": k, "vOut": v} if a["kvOutput"] else {})}
    for name, wanted in wanted_rows.items():
        assert_accurate(found[name], wanted.reshape(found[name].shape), largest=np.full(found[name].shape, np.abs(x).max() * 4))


def test_places_outside_the_cache(device: int) -> None:
    with pytest.raises(Refused, match="outside of kCacheRef"):
        call("aclnnDequantRopeQuantKvcache").but(indices=np.array([0, 3], np.int32)).results()


def meta(*shape: int, dtype: Any = FLOAT) -> Meta:
    return Meta(shape, dtype)


ERRORS: dict[str, list[tuple[dict[str, Any], int, str]]] = {
    "aclnnRotaryPositionEmbeddingGrad": [
        ({"dcosOut": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "dcosOut must not"),
        ({"xOptional": meta(2, 3, 4, 8, dtype=FLOAT16)}, INVALID, "xOptional has dtype"),
        ({"mode": 3}, TILING, "mode is 3"),
        ({"dxOut": meta(2, 3, 4, 16)}, TILING, "dxOut has shape"),
        ({"dsinOut": meta(1, 1, 1, 8)}, TILING, "dsinOut has shape"),
    ],
    "aclnnApplyRotaryPosEmbV2": [
        ({"layout": 4}, INVALID, "layout is 4"),
        ({"rotaryMode": "whole"}, INVALID, "rotaryMode is 'whole'"),
        ({"cos": meta(2, 3, 4, 128)}, INVALID, "cos has shape"),
        ({"keyRef": meta(2, 4, 2, 128)}, INVALID, "keyRef has shape"),
        ({"sin": meta(2, 3, 1, 128, dtype=FLOAT16)}, INVALID, "sin has dtype"),
    ],
    "aclnnRopeWithSinCosCache": [
        ({"headSize": 30}, INVALID, "headSize is 30"),
        ({"cosSinCache": meta(5, 128)}, INVALID, "cosSinCache has shape"),
        ({"keyIn": meta(3, 70)}, INVALID, "keyIn has shape"),
        ({"positions": Meta((4,), np.int64)}, INVALID, "positions has shape"),
        ({"mropeSection": [4, 4, 4], "positions": Meta((3, 3), np.int64)}, INVALID, "add up to 16"),
        ({"mropeSection": [8, 8], "positions": Meta((2, 3), np.int64)}, INVALID, "mropeSection has 2 elements"),
        ({"queryOut": meta(3, 64)}, INVALID, "queryOut has shape"),
    ],
    "aclnnDequantRopeQuantKvcache": [
        ({"weightScaleOptional": None}, acl.ACLNN_ERR_PARAM_NULLPTR, "weightScaleOptional must not"),
        ({"sizeSplits": [32, 32]}, INVALID, "sizeSplits has 2 elements"),
        ({"sizeSplits": [32, 16, 32]}, INVALID, "sizeSplits is"),
        ({"quantModeOptional": "dynamic"}, INVALID, "quantModeOptional is 'dynamic'"),
        ({"indices": Meta((3,), np.int32)}, INVALID, "indices has shape"),
        ({"vCacheRef": Meta((4, 6, 1, 16), np.int8)}, INVALID, "vCacheRef has shape"),
        ({"qOut": meta(2, 3, 1, 16, dtype=FLOAT16)}, INVALID, "qOut has shape"),
        ({"scaleK": meta(15)}, INVALID, "scaleK has 15 elements"),
    ],
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
    "aclnnApplyRotaryPosEmbV2": {"A3", "A2"},
    "aclnnRotaryPositionEmbeddingGrad": {"950", "A3", "A2"},
    "aclnnRopeWithSinCosCache": {"950", "A3", "A2"},
    "aclnnDequantRopeQuantKvcache": {"950", "A3", "A2"},
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
