"""Operators that write windows of batches, tables in another order, and bags of rows: against loops, and what can be wrong with them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acl_emu as acl
import aclnnop
from acl_emu import ACLNN_ERR_INNER_TILING_ERROR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT16, FLOATS, assert_accurate
from tests.operators.case import Array, Case, Meta, Refused, numbers
from tests.operators.drawing import layouts, shapes
from tests.operators.products import products_of
from tests.operators.updates import Draw

FAULT = acl.ACL_ERROR_RT_AICORE_EXCEPTION
NEWEST, USUAL = "Ascend950PR_9589", "Ascend910B1"


def example(name: str) -> Case:
    return Case(name, next(aclnnop.find(name).examples()))


def window(draw: Draw, data: Array) -> tuple[int, Array, tuple[int, ...]]:
    """An axis, indices or pairs of them for some batches, and the shape of the updates."""
    axis = draw(st.integers(1, data.ndim - 1))
    count, length = draw(st.integers(1, len(data))), draw(st.integers(1, data.shape[axis]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    begin = rng.integers(0, data.shape[axis] - length + 1, count)
    paired = draw(st.booleans())
    index = np.stack([rng.permutation(len(data))[:count], begin], -1) if paired else begin
    shape = list(data.shape)
    shape[0], shape[axis] = count, length
    return axis, index.astype(draw(st.sampled_from((np.int32, np.int64)))), tuple(shape)


def written(data: Array, axis: int, index: Array, updates: Array) -> Array:
    result = data.copy()
    for slot, one in enumerate(index):
        batch, begin = (int(one[0]), int(one[1])) if index.ndim == 2 else (slot, int(one))
        for k in range(updates.shape[axis]):
            np.moveaxis(result[batch], axis - 1, 0)[begin + k] = np.moveaxis(updates[slot], axis - 1, 0)[k]
    return result


@given(data=st.data())
def test_scatter_update(device: int, data: st.DataObject) -> None:
    x = numbers(data.draw(shapes(4, 4, 2)), data.draw(st.sampled_from([*FLOATS, *map(np.dtype, "bBi")])), 1, 9)
    axis, index, shape = window(data.draw, x)
    updates = numbers(shape, x.dtype, 2, 9)
    call = {"data": x, "indices": index, "updates": updates, "axis": axis - x.ndim * data.draw(st.booleans())}
    assert Case("aclnnInplaceScatterUpdate", call).run(data.draw(layouts)).tobytes() == written(x, axis, index, updates).tobytes()


@given(data=st.data())
def test_quantised(device: int, data: st.DataObject) -> None:
    x = numbers(data.draw(shapes(3, 4, 3)), np.int8, 1, 9)
    _, index, _shape = window(data.draw, x)
    index = index[:, 1] if index.ndim == 2 else index
    length = data.draw(st.integers(1, x.shape[1]))
    index = np.minimum(index, x.shape[1] - length)
    kind, scale_type, zero_type = data.draw(st.sampled_from([(FLOAT16, np.float32, np.int32), (BF16, BF16, BF16)]))
    updates = numbers((len(index), length, x.shape[2]), kind, 2, 9)
    scales = (np.abs(numbers((1, 1, x.shape[2]), np.float32, 3)) + 0.25).astype(scale_type)
    zeros = numbers((1, 1, x.shape[2]), np.float32, 4, 9).round().astype(zero_type) if data.draw(st.booleans()) else None
    quotient = updates.astype(np.float32) / scales.astype(np.float32) + (0 if zeros is None else zeros.astype(np.float32))
    golden = written(x, 1, index, np.clip(np.rint(quotient), -128, 127).astype(np.int8))
    call = {
        "selfRef": x,
        "indices": index,
        "updates": updates,
        "quantScales": scales,
        "quantZeroPoints": zeros,
        "quantAxis": -1,
        "reduction": 1,
    }
    assert (Case("aclnnInplaceQuantScatter", {**call, "axis": -2}).run(data.draw(layouts)) == golden).all()


@pytest.mark.parametrize("dtype", [np.int8, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2], ids=lambda one: one.__name__)
def test_quantised_to_several_types(dtype: Any, chip: Callable[[str], None], device: int) -> None:
    chip(NEWEST)
    x, updates = numbers((3, 4, 2, 5), dtype, 1, 2), numbers((2, 2, 2, 5), FLOAT16, 2, 9)
    index, scales = np.array([[2, 0], [1, 2]]), np.linspace(0.5, 2, 5, dtype=np.float32)
    case = Case(
        "aclnnInplaceQuantScatterV2",
        {
            "selfRef": x,
            "indices": index,
            "updates": updates,
            "quantScales": scales,
            "quantZeroPoints": np.arange(5, dtype=np.int32),
            "axis": 1,
            "quantAxis": 3,
            "reduction": 1,
            "roundMode": "rint",
        },
    )
    exact = updates.astype(np.float32) / scales + np.arange(5, dtype=np.float32)
    narrow = np.rint(exact).astype(dtype) if dtype is np.int8 else exact.astype(dtype)
    assert case.run(3).tobytes() == written(x, 1, index, narrow).tobytes()


@given(data=st.data())
def test_scatter_list(device: int, data: st.DataObject) -> None:
    shape = data.draw(shapes(3, 4, 1))
    dtype = data.draw(st.sampled_from([*FLOATS, *map(np.dtype, "bBihHI")]))
    count = data.draw(st.integers(1, 3))
    var = [numbers(shape, dtype, seed, 9) for seed in range(count)]
    axis = data.draw(st.integers(1, len(shape)))
    length = data.draw(st.integers(1, shape[axis - 1]))
    own = (count, *shape[: axis - 1], length, *shape[axis:])
    updates = numbers(own, dtype, 9, 9)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    paired = data.draw(st.booleans())
    lengths = rng.integers(0, length + 1, count) if paired else np.full(count, length)
    begin = np.array([rng.integers(0, shape[axis - 1] - one + 1) for one in lengths])
    mask = rng.integers(0, 2, count).astype(np.uint8) if data.draw(st.booleans()) else None
    call = {
        "varRef": var,
        "indice": np.stack([begin, lengths], -1) if paired else begin,
        "updates": updates,
        "maskOptional": mask,
        "reduceOptional": data.draw(st.sampled_from(["update", None])),
        "axis": axis - len(own) * data.draw(st.booleans()),
    }
    for slot, found in enumerate(Case("aclnnScatterList", call).results(data.draw(layouts))):
        golden = var[slot].copy()
        for k in range(lengths[slot] if mask is None or mask[slot] else 0):
            np.moveaxis(golden, axis - 1, 0)[begin[slot] + k] = np.moveaxis(updates[slot], axis - 1, 0)[k]
        assert found.tobytes() == golden.tobytes()


@given(lengths=st.lists(st.integers(0, 4), min_size=1, max_size=5), seed=st.integers(0, 99))
def test_jagged_permute(lengths: list[int], seed: int, device: int) -> None:
    order = np.random.default_rng(seed).permutation(len(lengths))
    begin = np.cumsum([0, *lengths])
    end = np.cumsum([0, *[lengths[one] for one in order]])
    golden = [begin[one] + k for one in order for k in range(lengths[one])]
    arrays = {"permute": order, "inputOffset": begin, "outputOffset": end}
    case = Case(
        "aclnnExpandIntoJaggedPermute",
        {
            **{name: array.astype(np.int32) for name, array in arrays.items()},
            "outputSize": len(golden),
            "outputPermuteOut": np.zeros(len(golden), np.int32),
        },
    )
    assert case.run(seed).tolist() == golden


def test_jagged_permute_as_on_its_page(device: int) -> None:
    assert example("aclnnExpandIntoJaggedPermute").run().tolist() == [3, 4, 0, 1, 5, 6]


# Bags


def bags(weight: Array, indices: Array, edges: list[int], mode: int, padding: int, factors: Array | None) -> tuple[Array, list[int], Array]:
    output, sizes, largest = np.zeros((len(edges) - 1, weight.shape[1])), [], np.zeros((len(edges) - 1, weight.shape[1]), np.int64)
    for bag, (first, end) in enumerate(itertools.pairwise(edges)):
        members = [place for place in range(first, end) if indices[place] != padding]
        rows = [weight[indices[place]].astype(np.float64) * (1 if factors is None else float(factors[place])) for place in members]
        sizes.append(len(members))
        if members and mode < 2:
            output[bag] = sum(rows) / (len(rows) if mode else 1)
        elif members:
            best = np.argmax(np.stack(rows), 0)
            output[bag] = np.max(np.stack(rows), 0)
            largest[bag] = [indices[members[one]] for one in best]
    return output, sizes, largest


@pytest.mark.parametrize("mode", [0, 1, 2, 7])
@pytest.mark.parametrize("soc", [USUAL, NEWEST])
@given(data=st.data())
def test_embedding_bag(mode: int, soc: str, chip: Callable[[str], None], device: int, data: st.DataObject) -> None:
    chip(soc)
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    count, ends = data.draw(st.integers(0, 7)), data.draw(st.booleans())
    offsets = sorted([0, *rng.integers(0, count + 1, data.draw(st.integers(0, 3))).tolist(), *([count] if ends else [])])
    weight = numbers((5, 3), data.draw(st.sampled_from(FLOATS)), 1)
    indices = rng.integers(0, 5, count).astype(data.draw(st.sampled_from((np.int32, np.int64))))
    factors = numbers((count,), weight.dtype, 2) if mode == 0 and data.draw(st.booleans()) else None
    padding = data.draw(st.integers(-1, 4))
    edges = offsets if ends else [*offsets, count]
    output, sizes, largest = bags(weight, indices, edges, mode, padding, factors)
    wide = data.draw(st.sampled_from((np.int32, np.int64)))
    whole = np.promote_types(indices.dtype, wide)
    total = len(edges) - 1
    case = Case(
        "aclnnEmbeddingBag",
        {
            "weight": weight,
            "indices": indices,
            "offsets": np.array(offsets, wide),
            "scaleGradByFreq": False,
            "mode": mode,
            "sparse": False,
            "perSampleWeights": factors,
            "includeLastOffset": ends,
            "paddingIdx": padding,
            "output": np.full((total, 3), 5).astype(weight.dtype),
            "offset2bag": np.full(count, -1, whole),
            "bagSize": np.full(len(offsets) if soc == NEWEST else total, -1, whole),
            "maxIndices": np.full((total, 3) if mode > 1 else (0,) if soc == NEWEST else (total,), -1, whole),
        },
    )
    if not total:
        assert case.plan() == (0, 0)
        return
    found = case.results(data.draw(layouts))
    assert_accurate(found[0], output, largest=np.abs(weight.astype(np.float64)).max() * max(count, 1) * 3, ulps=1)
    assert found[1].tolist() == [bag for bag, (first, end) in enumerate(itertools.pairwise(edges)) for _ in range(first, end)]
    assert found[2].tolist()[:total] == sizes
    assert found[3].tolist() == (largest.tolist() if mode > 1 else [] if soc == NEWEST else [0] * total)


def test_sums_without_the_bag_of_each_index(device: int) -> None:
    """As torch calls it."""
    case = example("aclnnEmbeddingBag")
    whole, part = case.results(), case.but(offset2bag=np.zeros(0, np.int64)).results()
    assert [one.tolist() for one in part] == [whole[0].tolist(), [], whole[2].tolist(), whole[3].tolist()]
    assert case.but(offset2bag=Meta((0,), acl.ACL_INT64), mode=1, perSampleWeights=None).status() == ACLNN_ERR_PARAM_INVALID


# Faults and errors


OUTSIDE: list[tuple[str, dict[str, Any], str]] = [
    ("aclnnInplaceScatterUpdate", {"indices": np.array([1, 4, 3])}, "indices[1] is 4, outside [0, 3]"),
    ("aclnnInplaceScatterUpdate", {"indices": np.array([[0, 0], [3, 0], [1, 1]])}, "indices[1, 0] is 3, outside [0, 2]"),
    ("aclnnInplaceQuantScatter", {"indices": np.array([3, 0])}, "indices[0] is 3, outside [0, 2]"),
    ("aclnnScatterList", {"indice": np.array([[0, 3], [0, 0]])}, "indice[0, 1] is 3, outside [0, 2]"),
    ("aclnnScatterList", {"indice": np.array([[0, 1], [4, 1]])}, "indice[1, 0] is 4, outside [0, 3]"),
    ("aclnnScatterList", {"indice": np.array([-1, 0])}, "indice[0] is -1, outside [0, 2]"),
    ("aclnnExpandIntoJaggedPermute", {"permute": np.array([0, 3, 1], np.int32)}, "permute[1] is 3, outside [0, 2]"),
    ("aclnnExpandIntoJaggedPermute", {"outputOffset": np.array([0, 2, 1, 6], np.int32)}, "outputOffset is [0, 2, 1, 6]"),
    ("aclnnExpandIntoJaggedPermute", {"outputOffset": np.array([0, 2, 4, 7], np.int32)}, "outputOffset is [0, 2, 4, 7]"),
    ("aclnnEmbeddingBag", {"indices": np.array([0, 1, 2, 3, 4, 5, 6])}, "indices[6] is 6, outside [0, 5]"),
    ("aclnnEmbeddingBag", {"offsets": np.array([0, 8, 8, 8], np.int32)}, "offsets is [0, 8, 8, 8]"),
    ("aclnnEmbeddingBag", {"offsets": np.array([1, 2, 3, 4], np.int32)}, "offsets is [1, 2, 3, 4]"),
]


@pytest.mark.parametrize(("name", "wrong", "text"), OUTSIDE, ids=lambda value: str(value)[:40])
def test_indices_outside_are_faults(name: str, wrong: dict[str, Any], text: str, device: int) -> None:
    """Nothing is written then."""
    with pytest.raises(Refused, match=re.escape(text)) as fault:
        example(name).but(**wrong).run()
    assert fault.value.status == FAULT


N, I, T = ACLNN_ERR_PARAM_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_INNER_TILING_ERROR  # noqa: E741
F, H, L = acl.ACL_FLOAT, acl.ACL_FLOAT16, acl.ACL_INT64
ERRORS: list[tuple[str, dict[str, Any], int, str]] = [
    ("aclnnInplaceScatterUpdate", {"data": None}, N, "data must not"),
    ("aclnnInplaceScatterUpdate", {"indices": None}, N, "indices must not"),
    ("aclnnInplaceScatterUpdate", {"updates": None}, N, "updates must not"),
    ("aclnnInplaceScatterUpdate", {"data": Meta((3, 2, 4, 5), L)}, I, "data has dtype"),
    ("aclnnInplaceScatterUpdate", {"updates": Meta((3, 2, 1, 5), H)}, I, "updates has dtype"),
    ("aclnnInplaceScatterUpdate", {"updates": Meta((3, 2, 5), F)}, I, "updates has 3 dimensions"),
    ("aclnnInplaceScatterUpdate", {"indices": Meta((3, 1, 1), L)}, I, "indices has 3 dimensions"),
    ("aclnnInplaceScatterUpdate", {"indices": Meta((), L)}, I, "updates has shape"),
    ("aclnnInplaceScatterUpdate", {"indices": Meta((3, 3), L)}, I, "expected pairs"),
    ("aclnnInplaceScatterUpdate", {"data": Meta((3, 0, 4, 5), F)}, I, "data has shape"),
    ("aclnnInplaceScatterUpdate", {"indices": Meta((0,), L)}, I, "indices has shape"),
    ("aclnnInplaceScatterUpdate", {"updates": Meta((3, 2, 0, 5), F)}, I, "updates has shape"),
    ("aclnnInplaceScatterUpdate", {"axis": 0}, I, "axis is 0"),
    ("aclnnInplaceScatterUpdate", {"axis": -4}, I, "axis is -4"),
    ("aclnnInplaceScatterUpdate", {"axis": 4}, I, "axis is 4"),
    ("aclnnInplaceScatterUpdate", {"axis": 3}, I, "updates has shape"),
    ("aclnnInplaceQuantScatter", {"selfRef": None}, N, "selfRef must not"),
    ("aclnnInplaceQuantScatter", {"quantScales": None}, N, "quantScales must not"),
    ("aclnnInplaceQuantScatter", {"quantScales": Meta((1, 1, 32), acl.ACL_BF16)}, I, "quantScales has dtype"),
    ("aclnnInplaceQuantScatter", {"quantZeroPoints": Meta((1, 1, 32), acl.ACL_BF16)}, I, "quantZeroPoints has dtype"),
    ("aclnnInplaceQuantScatter", {"updates": Meta((2, 32), H)}, I, "updates has 2 dimensions"),
    ("aclnnInplaceQuantScatter", {"axis": -1}, I, "axis is -1"),
    ("aclnnInplaceQuantScatter", {"quantAxis": 1}, I, "quantAxis is 1"),
    ("aclnnInplaceQuantScatter", {"reduction": 2}, I, "reduction is 2"),
    ("aclnnInplaceQuantScatter", {"quantScales": Meta((1, 1, 31), F)}, I, "quantScales has 31 elements"),
    ("aclnnInplaceQuantScatterV2", {"roundMode": None}, N, "roundMode must not"),
    ("aclnnInplaceQuantScatterV2", {"selfRef": Meta((3, 4, 8), acl.ACL_UINT8)}, I, "selfRef has dtype"),
    ("aclnnInplaceQuantScatterV2", {"quantScales": Meta((8,), acl.ACL_BF16)}, I, "quantScales has dtype"),
    ("aclnnInplaceQuantScatterV2", {"updates": Meta((2, 2, 8, 1), H), "quantAxis": 3}, I, "updates has 4 dimensions"),
    ("aclnnInplaceQuantScatterV2", {"axis": -1}, I, "axis is -1"),
    ("aclnnInplaceQuantScatterV2", {"axis": 0}, I, "axis is 0"),
    ("aclnnInplaceQuantScatterV2", {"quantAxis": 0}, I, "quantAxis is 0"),
    ("aclnnInplaceQuantScatterV2", {"roundMode": "round"}, I, "roundMode is 'round'"),
    ("aclnnInplaceQuantScatterV2", {"selfRef": Meta((3, 4, 8), acl.ACL_HIFLOAT8)}, I, "roundMode is 'rint'"),
    ("aclnnScatterList", {"varRef": None}, N, "varRef must not"),
    ("aclnnScatterList", {"indice": None}, N, "indice must not"),
    ("aclnnScatterList", {"updates": None}, N, "updates must not"),
    ("aclnnScatterList", {"varRef": [Meta((5, 4, 4), L)]}, I, "varRef[0] has dtype"),
    ("aclnnScatterList", {"indice": Meta((2,), acl.ACL_INT8)}, I, "indice has dtype"),
    ("aclnnScatterList", {"reduceOptional": "add"}, I, "reduceOptional is 'add'"),
    ("aclnnScatterList", {"updates": Meta((2, 5, 2, 4), H)}, I, "varRef[0] has dtype"),
    ("aclnnScatterList", {"varRef": [Meta((5, 4, 4), F), Meta((5, 4, 3), F)]}, T, "varRef[1] has shape"),
    ("aclnnScatterList", {"varRef": [Meta((), F)]}, T, "varRef[0] has 0 dimensions"),
    ("aclnnScatterList", {"updates": Meta((2, 5, 2), F)}, T, "updates has 3 dimensions"),
    ("aclnnScatterList", {"updates": Meta((3, 5, 2, 4), F)}, T, "updates has shape"),
    ("aclnnScatterList", {"updates": Meta((2, 5, 5, 4), F)}, T, "updates has shape"),
    ("aclnnScatterList", {"indice": Meta((2, 3), L)}, T, "indice has shape"),
    ("aclnnScatterList", {"maskOptional": Meta((3,), acl.ACL_UINT8)}, T, "maskOptional has shape"),
    ("aclnnScatterList", {"axis": 0}, T, "axis is 0"),
    ("aclnnScatterList", {"axis": 4}, T, "axis is 4"),
    ("aclnnExpandIntoJaggedPermute", {"permute": None}, N, "permute must not"),
    ("aclnnExpandIntoJaggedPermute", {"inputOffset": Meta((4,), L)}, I, "inputOffset has dtype"),
    ("aclnnExpandIntoJaggedPermute", {"inputOffset": Meta((3,), acl.ACL_INT32)}, T, "inputOffset has shape"),
    ("aclnnExpandIntoJaggedPermute", {"outputSize": 7}, T, "outputPermuteOut has shape"),
    *[
        ("aclnnEmbeddingBag", {name: None}, N, f"{name} must not")
        for name in ("weight", "indices", "offsets", "output", "offset2bag", "bagSize")
    ],
    ("aclnnEmbeddingBag", {"maxIndices": None}, N, "maxIndices must not"),
    ("aclnnEmbeddingBag", {"weight": Meta((6, 3), L)}, I, "weight has dtype"),
    ("aclnnEmbeddingBag", {"weight": Meta((6,), F)}, I, "weight has 1 dimensions"),
    ("aclnnEmbeddingBag", {"indices": Meta((7,), F)}, I, "indices has dtype"),
    ("aclnnEmbeddingBag", {"indices": Meta((7, 1), L)}, I, "indices has 2 dimensions"),
    ("aclnnEmbeddingBag", {"offsets": Meta((4,), F)}, I, "offsets has dtype"),
    ("aclnnEmbeddingBag", {"offsets": Meta((2, 2), L)}, I, "offsets has 2 dimensions"),
    ("aclnnEmbeddingBag", {"perSampleWeights": Meta((7,), H)}, I, "perSampleWeights has dtype"),
    ("aclnnEmbeddingBag", {"perSampleWeights": Meta((7, 1), F)}, I, "perSampleWeights has 2 dimensions"),
    ("aclnnEmbeddingBag", {"perSampleWeights": Meta((6,), F)}, I, "perSampleWeights has 6 elements"),
    ("aclnnEmbeddingBag", {"mode": 1}, I, "mode is 1"),
    ("aclnnEmbeddingBag", {"output": Meta((4, 3), H)}, I, "output has dtype"),
    ("aclnnEmbeddingBag", {"output": Meta((3, 3), F)}, I, "output has shape"),
    ("aclnnEmbeddingBag", {"offset2bag": Meta((7,), acl.ACL_INT32)}, I, "offset2bag has dtype"),
    ("aclnnEmbeddingBag", {"bagSize": Meta((5,), L)}, I, "bagSize has shape"),
    ("aclnnEmbeddingBag", {"maxIndices": Meta((4, 3), L)}, I, "maxIndices has shape"),
    ("aclnnEmbeddingBag", {"offsets": Meta((0,), acl.ACL_INT32), "includeLastOffset": True}, I, "offsets has shape"),
]


@pytest.mark.parametrize(("name", "changes", "status", "text"), ERRORS, ids=lambda value: str(value)[:60])
def test_errors(name: str, changes: dict[str, Any], status: int, text: str, chip: Callable[[str], None]) -> None:
    if name.endswith("V2"):
        chip(NEWEST)
    assert example(name).but(**changes).status() == status
    assert text in message()


NEWER = {"950", "A3", "A2"}
PRODUCTS = {
    "aclnnInplaceScatterUpdate": NEWER | {"910"},
    "aclnnInplaceQuantScatter": NEWER | {"310P"},
    "aclnnScatterList": NEWER,
    "aclnnExpandIntoJaggedPermute": {"A3", "A2"},
}


@pytest.mark.parametrize(("name", "products"), PRODUCTS.items())
def test_products(name: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(example(name), chip) == products


def test_another_product_is_a_wrong_parameter(device: int) -> None:
    """As the page of that operator says."""
    assert example("aclnnInplaceQuantScatterV2").but(selfRef=Meta((3, 4, 8), acl.ACL_INT8)).status() == I
