"""Slices scaled down to a norm, segment sums and sums of groups of rows, in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, Refused, numbers
from tests.operators.drawing import float_dtypes, floats, layouts, shapes
from tests.operators.products import products_of

INF, NAN = math.inf, math.nan
ORDERS = (0.0, 0.5, 1.0, 2.0, 3.0, INF)


def size(row: list[float], order: float) -> float:
    magnitudes = [abs(value) for value in row]
    if order == 0:
        return float(sum(value != 0 for value in magnitudes))
    return max(magnitudes) if order == INF else math.fsum(value**order for value in magnitudes) ** (1 / order)


def renorm(x: Any, order: Any, dim: int, most: Any, out: Any) -> Case:
    return Case("aclnnRenorm", {"self": x, "p": order, "dim": dim, "maxNorm": most, "out": out})


def embedding(rows: Any, indices: Any, most: float, order: float) -> Case:
    return Case("aclnnEmbeddingRenorm", {"selfRef": rows, "indices": indices, "maxNorm": most, "normType": order})


@given(st.data())
def test_renorm(device: int, data: st.DataObject) -> None:
    shape, dtype = data.draw(shapes(least_dims=2)), data.draw(float_dtypes)
    x, order = data.draw(floats(shape, dtype)), data.draw(st.sampled_from(ORDERS))
    axis, most = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.sampled_from((0.0, 1.25, 5.0)))
    expected = np.moveaxis(x.astype(np.float64), axis, 0).copy()
    for part in expected:
        length = size(part.ravel().tolist(), order)
        if length > most:
            part *= most / length
    expected = np.moveaxis(expected, 0, axis)
    dim = axis - data.draw(st.sampled_from((0, len(shape))))
    assert_accurate(renorm(x, order, dim, most, np.zeros(shape, dtype)).run(data.draw(layouts)), expected)
    in_place = Case("aclnnInplaceRenorm", {"selfRef": x.copy(), "p": order, "dim": dim, "maxNorm": most})
    assert_accurate(in_place.run(data.draw(layouts)), expected)


@given(st.data())
def test_embedding_renorm(device: int, data: st.DataObject) -> None:
    dtype, order = data.draw(float_dtypes), data.draw(st.sampled_from(ORDERS))
    rows = numbers((7, 4), dtype, data.draw(st.integers(0, 99)))
    indices = np.array(data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=8)), data.draw(st.sampled_from((np.int32, np.int64))))
    expected = rows.astype(np.float64)
    for index in set(indices.tolist()):
        length = size(expected[index].tolist(), order)
        if length > 1.25:
            expected[index] *= 1.25 / (length + 1e-7)
    assert_accurate(embedding(rows, indices, 1.25, order).run(data.draw(layouts)), expected)


@pytest.mark.parametrize("index", [7, -1])
def test_rows_outside(index: int, device: int) -> None:
    with pytest.raises(Refused, match=f"indices holds {index}, outside"):
        embedding(numbers((7, 4), FLOAT, 1), np.array([1, index]), 1.0, 2.0).run()
    assert embedding(Meta((7, 4), FLOAT), Meta((0,), np.int64), 1.0, 2.0).plan() == (0, 0)


def segments(x: Array) -> Array:
    """The sums one by one."""
    length = x.shape[-1]
    found = np.zeros((*x.shape, length))
    for i in range(length):
        for j in range(i + 1):
            found[..., i, j] = np.exp([math.fsum(row[j + 1 : i + 1]) for row in x.reshape(-1, length).tolist()]).reshape(x.shape[:-1])
    return found


@given(st.data())
def test_segments(device: int, data: st.DataObject) -> None:
    shape, dtype = data.draw(shapes(least_dims=3)), data.draw(float_dtypes)
    x = data.draw(floats(shape, dtype))
    square = (*shape, shape[-1])
    forward = Case("aclnnExpSegsum", {"self": x, "out": np.ones(square, dtype)})
    assert_accurate(forward.run(data.draw(layouts)), segments(x.astype(np.float64)))
    gradient, result = numbers(square, dtype, 1), numbers(square, dtype, 2)
    terms = gradient.astype(np.float64) * result.astype(np.float64)
    expected, largest = np.zeros(shape), np.zeros(shape)
    for k in range(shape[-1]):
        inside = [terms[..., i, j] for i in range(k, shape[-1]) for j in range(k)]
        if inside:
            expected[..., k], largest[..., k] = np.sum(inside, axis=0), np.abs(inside).max(axis=0)
    case = Case("aclnnExpSegsumBackward", {"gradOutput": gradient, "gradSelf": result, "gradInput": np.ones(shape, dtype)})
    assert_accurate(case.run(data.draw(layouts)), expected, largest=largest)


def test_documented_segments(device: int) -> None:
    ones = np.ones((1, 1, 1, 4, 4), FLOAT)
    case = Case("aclnnExpSegsumBackward", {"gradOutput": ones, "gradSelf": ones, "gradInput": np.zeros((1, 1, 1, 4), FLOAT)})
    assert case.run().ravel().tolist() == [0, 3, 4, 3]
    x = np.array([[[INF, -INF, 0]]], FLOAT)
    found = Case("aclnnExpSegsum", {"self": x, "out": np.zeros((1, 1, 3, 3), FLOAT)}).run()[0, 0]
    assert_equal(found, [[1, 0, 0], [0, 1, 0], [0, 1, 1]])


def grouped(x: Any, groups: Any, out: Any, holds: int | None = None) -> Case:
    arguments = {"gradY": x, "groupIdxOptional": groups, "out": out}
    return (
        Case("aclnnGroupedBiasAddGrad", arguments)
        if holds is None
        else Case("aclnnGroupedBiasAddGradV2", {**arguments, "groupIdxType": holds})
    )


@given(st.data())
def test_groups(device: int, data: st.DataObject) -> None:
    dtype, sizes = data.draw(float_dtypes), data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=6))
    x = data.draw(floats((sum(sizes), 5), dtype)) if sum(sizes) else np.zeros((0, 5), dtype)
    exact, ends = x.astype(np.float64), np.cumsum(sizes)
    parts = [exact[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    expected = np.array([[math.fsum(column) for column in part.T] for part in parts])
    terms = np.array([np.abs(part).max(axis=0, initial=0) for part in parts])
    index = data.draw(st.sampled_from((np.int32, np.int64)))
    for holds in (None, 0, 1):
        groups = np.array(sizes if holds else ends, index)
        assert_accurate(grouped(x, groups, np.ones(expected.shape, dtype), holds).run(data.draw(layouts)), expected, largest=terms)
    cube = data.draw(floats((2, 3, 4), dtype))
    sums = cube.astype(np.float64).sum(axis=1)
    assert_accurate(grouped(cube, None, np.ones((2, 4), dtype)).run(), sums, largest=np.abs(cube.astype(np.float64)).max(axis=1))


@pytest.mark.parametrize(("groups", "holds"), [([2, 1, 4], 0), ([2, 9], 0), ([-1, 4], 0), ([3, 3], 1), ([5, -1], 1)])
def test_groups_that_do_not_fit(groups: list[int], holds: int, device: int) -> None:
    with pytest.raises(Refused, match="groupIdxOptional holds"):
        grouped(numbers((4, 5), FLOAT, 1), np.array(groups), np.zeros((len(groups), 5), FLOAT), holds).run()


ROWS, SQUARE = Meta((4, 5), FLOAT), Meta((2, 3, 4, 4), FLOAT)
GOOD = {
    "renorm": renorm(ROWS, 2.0, 0, 1.0, ROWS),
    "in_place": Case("aclnnInplaceRenorm", {"selfRef": ROWS, "p": 2.0, "dim": 0, "maxNorm": 1.0}),
    "embedding": embedding(ROWS, Meta((3,), np.int64), 1.0, 2.0),
    "segments": Case("aclnnExpSegsum", {"self": Meta((2, 3, 4), FLOAT), "out": SQUARE}),
    "backward": Case("aclnnExpSegsumBackward", {"gradOutput": SQUARE, "gradSelf": SQUARE, "gradInput": Meta((2, 3, 4), FLOAT)}),
    "groups": grouped(ROWS, Meta((3,), np.int64), Meta((3, 5), FLOAT)),
    "groups_v2": grouped(ROWS, Meta((3,), np.int64), Meta((3, 5), FLOAT), 1),
}
BAD = ACLNN_ERR_PARAM_INVALID
WRONG: list[tuple[str, dict[str, Any], int]] = [
    ("renorm", {"out": Meta((5, 4), FLOAT)}, BAD),
    ("renorm", {"out": Meta((4, 5), FLOAT16)}, BAD),
    ("renorm", {"self": Meta((4, 5), np.float64)}, BAD),
    ("renorm", {"p": -1.0}, BAD),
    ("renorm", {"p": NAN}, BAD),
    ("renorm", {"dim": 2}, BAD),
    ("renorm", {"maxNorm": -0.5}, BAD),
    ("renorm", {"self": Meta((4,), FLOAT), "out": Meta((4,), FLOAT)}, BAD),
    ("renorm", {"p": None}, ACLNN_ERR_PARAM_NULLPTR),
    ("renorm", {"maxNorm": None}, ACLNN_ERR_PARAM_NULLPTR),
    ("in_place", {"p": -1.0}, BAD),
    ("in_place", {"dim": -3}, BAD),
    ("in_place", {"maxNorm": -1.0}, BAD),
    ("in_place", {"selfRef": Meta((4,), FLOAT)}, BAD),
    ("embedding", {"selfRef": Meta((4, 5, 6), FLOAT)}, BAD),
    ("embedding", {"selfRef": Meta((4, 5), np.float64)}, BAD),
    ("embedding", {"indices": Meta((3,), np.int16)}, BAD),
    ("embedding", {"indices": Meta((1,) * 9, np.int64)}, BAD),
    ("embedding", {"indices": None}, ACLNN_ERR_PARAM_NULLPTR),
    ("segments", {"out": Meta((2, 3, 4, 5), FLOAT)}, BAD),
    ("segments", {"out": Meta((2, 3, 4, 4), BF16)}, BAD),
    ("segments", {"self": Meta((3, 4), FLOAT)}, BAD),
    ("backward", {"gradSelf": Meta((2, 3, 4, 3), FLOAT)}, BAD),
    ("backward", {"gradSelf": Meta((2, 3, 4, 4), BF16)}, BAD),
    ("backward", {"gradOutput": Meta((2, 3, 4, 5), FLOAT), "gradSelf": Meta((2, 3, 4, 5), FLOAT)}, BAD),
    ("backward", {"gradInput": Meta((2, 4, 3), FLOAT)}, BAD),
    ("groups", {"gradY": Meta((2, 4, 5), FLOAT)}, BAD),
    ("groups", {"groupIdxOptional": None}, BAD),
    ("groups", {"groupIdxOptional": Meta((3,), np.int16)}, BAD),
    ("groups", {"groupIdxOptional": Meta((4,), np.int64)}, BAD),
    ("groups", {"out": Meta((3, 5), BF16)}, BAD),
    ("groups", {"groupIdxOptional": Meta((2049,), np.int64), "out": Meta((2049, 5), FLOAT)}, BAD),
    ("groups", {"gradY": None}, ACLNN_ERR_PARAM_NULLPTR),
    ("groups_v2", {"groupIdxType": 2}, BAD),
    ("groups_v2", {"groupIdxType": -1}, BAD),
]


@pytest.mark.parametrize(("name", "changes", "status"), WRONG, ids=[f"{one[0]}-{'-'.join(one[1])}" for one in WRONG])
def test_errors(name: str, changes: dict[str, Any], status: int) -> None:
    assert GOOD[name].status() == 0
    assert GOOD[name].but(**changes).status() == status
    assert message()


PRODUCTS = {
    "renorm": "950 A3 A2 910",
    "in_place": "950 A3 A2 910",
    "embedding": "950 A3 A2 910",
    "segments": "950 A3 A2",
    "backward": "A3 A2",
    "groups": "950 A3 A2",
    "groups_v2": "950 A3 A2",
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str, chip: Callable[[str], None]) -> None:
    assert products_of(GOOD[name], chip) == set(PRODUCTS[name].split())
