"""Operators that take, write, add or combine slices by indices: against loops over the slices, and what their arguments can be wrong in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acl_emu as acl
import aclnnop
from tests.operators.accuracy import FLOATS, assert_accurate
from tests.operators.case import Array, Case, Refused, numbers
from tests.operators.drawing import layouts, shapes
from tests.operators.updates import Draw, Update, agree, combined, indices

REAL = [*FLOATS, *map(np.dtype, "dqihbB?")]
SIMPLE = [*FLOATS, *map(np.dtype, "qi?")]
FAULT = acl.ACL_ERROR_RT_AICORE_EXCEPTION
NEWEST = "Ascend950PR_9589"


def x_of(draw: Draw, types: list[Any], least_dims: int = 1) -> Array:
    return numbers(draw(shapes(3, 4, least_dims)), draw(st.sampled_from(types)), draw(st.integers(0, 99)), 9)


def rows(x: Array, places: list[tuple[int, ...]], updates: Array) -> list[Update]:
    """The updates of every element, of slices for the first dimensions."""
    return [((*place, *rest), update[rest]) for place, update in zip(places, updates, strict=True) for rest in np.ndindex(update.shape)]


# Gathers


@given(data=st.data())
def test_gather_v2_and_v3(device: int, data: st.DataObject) -> None:
    x = x_of(data.draw, [*REAL, np.dtype(np.complex64)])
    dim = data.draw(st.integers(-x.ndim, x.ndim - 1))
    axis = dim % x.ndim
    batch = data.draw(st.integers(0, axis))
    own = data.draw(shapes(2, 3, 1, 0))
    index = indices(data.draw, x.shape[axis], (*x.shape[:batch], *own))
    golden = np.zeros((*x.shape[:axis], *own, *x.shape[axis + 1 :]), x.dtype)
    for place in np.ndindex(golden.shape):
        chosen = (*place[:batch], *place[axis : axis + len(own)])
        golden[place] = x[(*place[:axis], int(index[chosen]), *place[axis + len(own) :])]
    case = Case("aclnnGatherV3", {"self": x, "dim": dim, "index": index, "batchDims": batch, "mode": 0, "out": np.zeros_like(golden)})
    assert case.run(data.draw(layouts)).tobytes() == golden.tobytes()
    if not batch:
        case = Case("aclnnGatherV2", {"self": x, "dim": dim, "index": index, "out": np.zeros_like(golden)})
        assert case.run(data.draw(layouts)).tobytes() == golden.tobytes()


@given(data=st.data())
def test_gather_nd(device: int, data: st.DataObject) -> None:
    x = x_of(data.draw, [*FLOATS, *map(np.dtype, "qibB?")])
    count = data.draw(st.integers(1, x.ndim))
    shape = data.draw(shapes(2, 3, 0, 0))
    negative = data.draw(st.booleans())
    columns = [indices(data.draw, length, shape, negative=negative).astype(np.int64) for length in x.shape[:count]]
    index = np.stack(columns, -1).astype(data.draw(st.sampled_from((np.int32, np.int64))))
    golden = np.zeros((*shape, *x.shape[count:]), x.dtype)
    for place in np.ndindex(shape):
        golden[place] = x[tuple(int(i) for i in index[place])]
    case = Case("aclnnGatherNd", {"self": x, "indices": index, "negativeIndexSupport": negative, "out": np.zeros_like(golden)})
    assert case.run(data.draw(layouts)).tobytes() == golden.tobytes()


@given(data=st.data())
def test_take(device: int, data: st.DataObject) -> None:
    x = x_of(data.draw, [*REAL, np.dtype(np.complex128), np.dtype(np.uint64)], least_dims=0)
    index = indices(data.draw, x.size, data.draw(shapes(3, 3, 0, 0)))
    golden = np.array([x.flatten()[i] for i in index.flatten()], x.dtype).reshape(index.shape)
    assert (
        Case("aclnnTake", {"self": x, "index": index, "out": np.zeros_like(golden)}).run(data.draw(layouts)).tobytes() == golden.tobytes()
    )


def test_take_from_many_dimensions(device: int) -> None:
    x = np.arange(8, dtype=np.float32).reshape(2, *[1] * 9, 4)
    assert Case("aclnnTake", {"self": x, "index": np.array([7, 0]), "out": np.zeros(2, np.float32)}).run().tolist() == [7, 0]


def test_numbers_are_rows_of_one(device: int) -> None:
    x, zero = np.array(2.5, np.float32), np.array(0)
    for name in ("aclnnGatherV2", "aclnnTake"):
        arguments = {"self": x, "dim": 0, "index": zero, "out": x * 0}
        assert Case(name, {key: arguments[key] for key in aclnnop.find(name).names}).run() == 2.5
    assert Case("aclnnGatherV2", {"self": np.ones((2, 3), np.float32), "dim": 1, "index": zero, "out": np.zeros(2, np.float32)}).run().all()
    call = {"dim": 0, "index": zero, "source": x * 2, "alpha": 1.0}
    assert Case("aclnnIndexAdd", {"self": x, **call, "out": x * 0}).run() == 7.5
    assert Case("aclnnInplaceIndexFill", {"selfRef": x, "dim": -1, "index": zero, "value": 4.0}).run() == 4


# Slices along one dimension


@given(data=st.data())
def test_index_add(device: int, data: st.DataObject) -> None:
    x = x_of(data.draw, REAL)
    dim = data.draw(st.integers(-x.ndim, x.ndim - 1))
    axis, count = dim % x.ndim, data.draw(st.integers(0, 5))
    index = indices(data.draw, x.shape[axis], (count,))
    source = numbers((*x.shape[:axis], count, *x.shape[axis + 1 :]), x.dtype, 5, 9)
    alpha = data.draw(st.sampled_from([True] if x.dtype == np.bool_ else [1, 2] if x.dtype.kind in "iu" else [1.0, 0.5, -2.0]))
    moved = np.moveaxis(x, axis, 0)
    exact = (
        source if x.dtype.kind in "b" else source.astype(np.int64) * alpha if x.dtype.kind in "iu" else source.astype(np.float64) * alpha
    )
    updates = rows(moved, [(int(i),) for i in index], np.moveaxis(exact, axis, 0))
    golden = np.moveaxis(combined(moved, updates, "add"), 0, axis)
    call = {"dim": dim, "index": index, "source": source, "alpha": alpha}
    agree(Case("aclnnIndexAdd", {"self": x, **call, "out": np.full_like(x, 7)}).run(data.draw(layouts)), golden)
    agree(Case("aclnnIndexAddV2", {"self": x, **call, "mode": 1, "out": np.full_like(x, 7)}).run(data.draw(layouts)), golden)


def test_the_fast_mode_leaves_alpha_out(device: int) -> None:
    call = {"self": np.zeros((2, 1), np.float32), "dim": 0, "index": np.array([1, 1]), "source": np.ones((2, 1), np.float32), "alpha": 5.0}
    case = Case("aclnnIndexAddV2", {**call, "mode": 0, "out": np.zeros((2, 1), np.float32)})
    assert case.run().tolist() == [[0], [2]]
    assert case.but(mode=1).run().tolist() == [[0], [10]]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("width", [1, 7, 300])
def test_large_sums(dtype: Any, width: int, device: int) -> None:
    """On several threads, rows in parts; a row that nothing is added to stays as it is, bit by bit."""
    rng = np.random.default_rng(3)
    x, source = numbers((200, width), dtype, 1), numbers((3000, width), dtype, 2)
    x[199] = np.nan
    index = rng.integers(0, 199, 3000)
    exact = x.astype(np.float64)
    np.add.at(exact, index, source.astype(np.float64) * 0.5)
    call = {"self": x, "dim": 0, "index": index, "source": source, "alpha": 0.5}
    found = Case("aclnnIndexAdd", {**call, "out": np.zeros_like(x)}).run()
    assert_accurate(found[:199], exact[:199], largest=np.full((199, width), 30), ulps=1)
    assert found[199].tobytes() == x[199].tobytes()
    golden = np.zeros((200, width))
    np.add.at(golden, index, source.astype(np.float64))
    counts = np.maximum(np.bincount(index, minlength=200), 1)[:, np.newaxis]
    for by_frequency, wanted in ((False, golden), (True, golden / counts)):
        call = {"grad": source, "indices": index, "numWeights": 200, "paddingIdx": 2**64 - 1, "scaleGradByFreq": by_frequency}
        found = Case("aclnnEmbeddingDenseBackward", {**call, "out": np.ones_like(x)}).run()
        assert_accurate(found, wanted, largest=np.full((200, width), 30), ulps=1)


@given(data=st.data())
def test_index_copy(device: int, data: st.DataObject) -> None:
    x = x_of(data.draw, [*REAL, np.dtype(np.complex64)])
    dim = data.draw(st.integers(-x.ndim, x.ndim - 1))
    axis, count = dim % x.ndim, data.draw(st.integers(0, 5))
    index = indices(data.draw, x.shape[axis], (count,))
    source = numbers((*x.shape[:axis], count, *x.shape[axis + 1 :]), x.dtype, 5, 9)
    golden = x.copy()
    for slot, place in enumerate(index):
        np.moveaxis(golden, axis, 0)[place] = np.moveaxis(source, axis, 0)[slot]
    call = {"selfRef": x, "dim": dim, "index": index, "source": source}
    assert Case("aclnnIndexCopy", {**call, "outRef": np.full_like(x, 7)}).run(data.draw(layouts)).tobytes() == golden.tobytes()
    assert Case("aclnnInplaceIndexCopy", call).run(data.draw(layouts)).tobytes() == golden.tobytes()


@given(data=st.data())
def test_index_fill(device: int, data: st.DataObject) -> None:
    """Indices beyond the tensor count for nothing where a tensor has them."""
    x = x_of(data.draw, SIMPLE)
    dim = data.draw(st.integers(-x.ndim, x.ndim - 1))
    length = x.shape[dim]
    given_index = data.draw(st.lists(st.integers(-length - 2, length + 1), max_size=5))
    value = x.dtype.type(data.draw(st.sampled_from([0, 1])))
    golden = x.copy()
    for place in given_index:
        if -length <= place < length:
            np.moveaxis(golden, dim, 0)[place] = value
    index = np.array(given_index, data.draw(st.sampled_from((np.int32, np.int64))))
    call, layout = {"dim": dim, "index": index, "value": value}, data.draw(layouts)
    assert Case("aclnnIndexFill", {"self": x, **call, "out": np.zeros_like(x)}).run(layout).tobytes() == golden.tobytes()
    assert Case("aclnnInplaceIndexFill", {"selfRef": x, **call}).run(layout).tobytes() == golden.tobytes()
    call["index"] = [place for place in given_index if -length <= place < length]
    assert Case("aclnnIndexFillTensor", {"self": x, **call, "out": np.zeros_like(x)}).run(layout).tobytes() == golden.tobytes()
    assert Case("aclnnInplaceIndexFillTensor", {"selfRef": x, **call}).run(layout).tobytes() == golden.tobytes()


@pytest.mark.parametrize(
    ("dtype", "value", "stored"),
    [(np.int32, 2.75, 2), (np.int64, np.float16(-2.75), -2), (np.int32, 1e30, 2**31 - 1), (np.float32, 3, 3), (np.bool_, 0.5, True)],
    ids=str,
)
def test_index_fill_with_numbers_of_other_types(dtype: Any, value: Any, stored: Any, device: int) -> None:
    """The pages refuse no real number; integers take what stands before the point."""
    x, expected = np.zeros((2, 3), dtype), np.zeros((2, 3), dtype)
    expected[:, 1] = stored
    call = {"dim": 1, "value": value}
    for name, index in (("aclnnIndexFill", np.array([1])), ("aclnnIndexFillTensor", [1])):
        assert (Case(name, {"self": x, **call, "index": index, "out": np.ones_like(x)}).run() == expected).all()


# Slices for the first dimensions


COMBINING = {"aclnnScatterMul": "multiply", "aclnnScatterMax": "maximum", "aclnnScatterMin": "minimum", "aclnnScatterDiv": "divide"}


@pytest.mark.parametrize("name", COMBINING)
@given(data=st.data())
def test_combining(name: str, chip: Callable[[str], None], device: int, data: st.DataObject) -> None:
    chip(NEWEST)
    dtype = data.draw(st.sampled_from([np.float16, np.float32, np.int32, np.int8, np.uint8]))
    x = np.abs(numbers(data.draw(shapes(3, 4, 1)), dtype, data.draw(st.integers(0, 9)), 20)) + 1
    index = indices(data.draw, len(x), data.draw(shapes(2, 3, 1, 0)))
    updates = np.random.default_rng(data.draw(st.integers(0, 9))).integers(1, 4, (*index.shape, *x.shape[1:])).astype(dtype)
    changes = rows(x, [(int(i),) for i in index.flatten()], updates.reshape(index.size, *x.shape[1:]))
    case = Case(name, {"varRef": x.astype(dtype), "indices": index, "updates": updates, "useLocking": False})
    agree(case.run(data.draw(layouts)), combined(x.astype(dtype), changes, COMBINING[name]))


def test_division_by_zero(chip: Callable[[str], None], device: int) -> None:
    chip(NEWEST)
    call = {"indices": np.array([0, 1]), "useLocking": False}
    x = np.array([1.0, 0.0], np.float32)
    found = Case("aclnnScatterDiv", {"varRef": x, **call, "updates": x * 0}).run()
    assert found[0] == np.inf
    assert np.isnan(found[1])
    whole = np.array([-7, 5], np.int32)
    assert Case("aclnnScatterDiv", {"varRef": whole, **call, "updates": np.array([2, 0], np.int32)}).run().tolist() == [-3, 0]


@given(data=st.data())
def test_tuples(device: int, data: st.DataObject) -> None:
    """Those outside count for nothing in the forms in place, and are faults in the other."""
    x = x_of(data.draw, [*FLOATS, np.dtype(np.bool_)])
    count = data.draw(st.integers(1, x.ndim))
    shape = data.draw(shapes(2, 3, 1, 0))
    beyond = data.draw(st.booleans())
    index = np.stack([indices(data.draw, length + beyond, shape).astype(np.int64) for length in x.shape[:count]], -1)
    updates = numbers((*shape, *x.shape[count:]), x.dtype, 4, 9)
    flat = index.reshape(-1, count)
    inside = [bool((one < x.shape[:count]).all()) for one in flat]
    kept = [tuple(int(i) for i in one) for one, good in zip(flat, inside, strict=True) if good]
    values = updates.reshape(len(flat), *x.shape[count:])[np.array(inside, np.bool_)]
    call = {"indices": index, "updates": updates}
    golden = combined(x, rows(x, kept, values), "replace")
    assert Case("aclnnScatterNdUpdate", {"varRef": x, **call}).run(data.draw(layouts)).tobytes() == golden.tobytes()
    case = Case("aclnnScatterNd", {"data": x, **call, "out": np.zeros_like(x)})
    if all(inside):
        assert case.run(data.draw(layouts)).tobytes() == golden.tobytes()
    elif updates.size:
        assert case.refused() == FAULT
    if x.dtype != np.bool_:
        one_each = updates.shape == (*index.shape, *x.shape[1:])
        if not one_each:
            agree(Case("aclnnTfScatterAdd", {"varRef": x, **call}).run(data.draw(layouts)), combined(x, rows(x, kept, values), "add"))


@given(data=st.data())
def test_tf_scatter_add_of_rows(device: int, data: st.DataObject) -> None:
    x = x_of(data.draw, [*FLOATS, *map(np.dtype, "ibB")])
    index = indices(data.draw, len(x) + 1, data.draw(shapes(2, 3, 1, 0)))
    updates = numbers((*index.shape, *x.shape[1:]), x.dtype, 4, 9)
    places = [(slot, int(i)) for slot, i in enumerate(index.flatten()) if i < len(x)]
    changes = rows(x, [(place,) for _, place in places], updates.reshape(index.size, *x.shape[1:])[[slot for slot, _ in places]])
    agree(
        Case("aclnnTfScatterAdd", {"varRef": x, "indices": index, "updates": updates}).run(data.draw(layouts)), combined(x, changes, "add")
    )


@given(data=st.data())
def test_put(device: int, data: st.DataObject) -> None:
    x = x_of(data.draw, [*REAL, np.dtype(np.complex64)], least_dims=0)
    index = indices(data.draw, x.size, data.draw(shapes(2, 4, 0, 0)), negative=True)
    source = numbers((index.size,), x.dtype, 4, 9)
    changes = [(np.unravel_index(int(i) % x.size, x.shape or (1,)), one) for i, one in zip(index.flatten(), source, strict=True)]
    for accumulate in (False, True):
        wanted = combined(
            x.reshape(x.shape or (1,)), [(tuple(map(int, place)), one) for place, one in changes], "add" if accumulate else "replace"
        )
        found = Case("aclnnInplacePut", {"selfRef": x, "index": index, "source": source, "accumulate": accumulate}).run(data.draw(layouts))
        agree(found, wanted.reshape(x.shape))


@given(data=st.data())
def test_masked_scatter(device: int, data: st.DataObject) -> None:
    x = x_of(data.draw, REAL, least_dims=0)
    own = tuple(1 if data.draw(st.booleans()) else n for n in x.shape)
    mask = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 2, own).astype(data.draw(st.sampled_from("?B")))
    spread = np.broadcast_to(mask, x.shape)
    count = int((spread != 0).sum())
    source = numbers((count + data.draw(st.integers(0, 2)),), x.dtype, 4, 9)
    golden, used = x.copy(), 0
    for place in np.ndindex(x.shape):
        if spread[place]:
            golden[place], used = source[used], used + 1
    case = Case("aclnnInplaceMaskedScatter", {"selfRef": x, "mask": mask, "source": source})
    assert case.run(data.draw(layouts)).tobytes() == golden.tobytes()


def test_masked_scatter_of_too_little_is_a_fault(device: int) -> None:
    call = {"selfRef": np.zeros(3, np.float32), "mask": np.ones(3, np.bool_), "source": np.ones(2, np.float32)}
    with pytest.raises(Refused, match="source has 2 elements, expected at least 3"):
        Case("aclnnInplaceMaskedScatter", call).run()


REDUCE = ["replace", "add", "multiply", "maximum", "minimum", "mean"]


@pytest.mark.parametrize("mode", REDUCE)
@given(data=st.data())
def test_scatter_reduce(mode: str, chip: Callable[[str], None], device: int, data: st.DataObject) -> None:
    chip(NEWEST)
    x = x_of(data.draw, REAL[:-1])
    dim = data.draw(st.integers(-x.ndim, x.ndim - 1))
    axis = dim % x.ndim
    shape = tuple(data.draw(st.integers(0, 4 if other == axis else length)) for other, length in enumerate(x.shape))
    index = indices(data.draw, x.shape[axis], shape)
    src = numbers(shape, x.dtype, 5, 9)
    with_self = data.draw(st.booleans())
    changes = [((*place[:axis], int(index[place]), *place[axis + 1 :]), src[place]) for place in np.ndindex(shape)]
    if mode == "mean":
        golden = mean(x, changes, with_self=with_self)
    elif with_self or mode == "replace":
        golden = combined(x, changes, mode)
    else:  # what comes first replaces the element
        first = dict(reversed(changes))
        begun, seen = x.copy(), set()
        for place, value in first.items():
            begun[place] = value
        rest = [change for change in changes if change[0] in seen or seen.add(change[0])]  # type: ignore[func-returns-value]
        golden = combined(begun, rest, mode)
    call = {"dim": dim, "index": index, "src": src, "reduce": REDUCE.index(mode), "includeSelf": with_self}
    agree(Case("aclnnScatterReduce", {"self": x, **call, "out": np.full_like(x, 7)}).run(data.draw(layouts)), golden)
    agree(Case("aclnnInplaceScatterReduce", {"selfRef": x, **call}).run(data.draw(layouts)), golden)


def mean(x: Array, changes: list[Update], *, with_self: bool) -> Array:
    whole = x.dtype.kind in "iu"
    terms: dict[tuple[int, ...], list[Any]] = {}
    for place, value in changes:
        terms.setdefault(place, [x[place]] if with_self else []).append(value)
    result = x.copy()
    for place, values in terms.items():
        bits = 8 * x.dtype.itemsize
        total = sum(int(v) for v in values) if whole else math.fsum(float(v) for v in values)
        if whole:
            total = (int(total) + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) if x.dtype.kind == "i" else int(total) % 2**bits
        one = np.zeros(1, x.dtype)
        result[place] = combined(one, [((0,), total // len(values) if whole else total / len(values))], "replace")[0]
    return result


def test_scatter_add(device: int) -> None:
    """The example of its page."""
    x, src = np.arange(1, 10, dtype=np.float32).reshape(3, 3), np.arange(10, 16, dtype=np.float32).reshape(2, 3)
    case = Case("aclnnScatterAdd", {"self": x, "dim": 1, "index": np.array([[0, 2, 1], [0, 0, 1]]), "src": src, "out": x * 0})
    assert case.run().tolist() == [[11, 14, 14], [31, 20, 6], [7, 8, 9]]


OUTSIDE: list[tuple[str, dict[str, Any], str]] = [
    ("aclnnGatherV2", {"index": np.array([[0, 3], [0, 0]])}, "index[0, 1] is 3, outside [0, 2]"),
    ("aclnnGatherV3", {"index": np.array([[0, -1], [0, 0]])}, "index[0, 1] is -1, outside [0, 2]"),
    ("aclnnGatherNd", {"indices": np.array([[0, 4, 0], [0, 0, 0]])}, "indices[0, 1] is 4, outside [-4, 3]"),
    ("aclnnTake", {"index": np.array([[0, 12], [0, 0]])}, "index[0, 1] is 12, outside [0, 11]"),
    ("aclnnIndexAdd", {"index": np.array([0, 1, 2, 3, 4])}, "index[4] is 4, outside [0, 3]"),
    ("aclnnIndexAddV2", {"index": np.array([0, 1, -1, 3, 0])}, "index[2] is -1, outside [0, 3]"),
    ("aclnnIndexCopy", {"index": np.array([0, 4])}, "index[1] is 4, outside [0, 3]"),
    ("aclnnInplacePut", {"index": np.array([[0, 12, 1], [2, 3, 4]])}, "index[0, 1] is 12, outside [-12, 11]"),
    ("aclnnScatterNd", {"indices": np.array([[0, 0, 0], [0, 0, 5]])}, "indices[1, 2] is 5, outside [0, 4]"),
    ("aclnnScatterAdd", {"index": np.array([[0, 4]])}, "index[0, 1] is 4, outside [0, 3]"),
    ("aclnnScatterReduce", {"index": np.array([[0, 5]])}, "index[0, 1] is 5, outside [0, 4]"),
]


@pytest.mark.parametrize(("name", "wrong", "text"), OUTSIDE, ids=[name for name, _, _ in OUTSIDE])
def test_indices_outside_are_faults(name: str, wrong: dict[str, Any], text: str, device: int) -> None:
    """Nothing is written then."""
    case = Case(name, next(aclnnop.find(name).examples()))
    with pytest.raises(Refused, match=re.escape(text)) as fault:
        case.but(**wrong).run()
    assert fault.value.status == FAULT
