"""Searches in sorted sequences and histograms, against the formulas element by element."""

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
from tests.operators.accuracy import BF16, FLOAT
from tests.operators.case import Case, Meta, Refused, numbers
from tests.operators.drawing import layouts, shapes
from tests.operators.products import products_of

INF, NAN = math.inf, math.nan
TYPES = [np.dtype(t) for t in (np.float64, np.float32, np.float16, np.uint8, np.int8, np.int16, np.int32, np.int64)]


def search(sequence: Any, x: Any, out: Any, *, right: bool = False, sorter: Any = None, int32: bool | None = None) -> Case:
    chosen = out.dtype == np.int32 if int32 is None else int32
    return Case(
        "aclnnSearchSorted", {"sortedSequence": sequence, "self": x, "outInt32": chosen, "right": right, "sorter": sorter, "out": out}
    )


def search_number(sequence: Any, x: Any, out: Any, *, right: bool = False, sorter: Any = None) -> Case:
    return Case("aclnnSearchSorteds", {**search(sequence, x, out, right=right, sorter=sorter).arguments})


def bucketize(x: Any, boundaries: Any, out: Any, *, right: bool = False) -> Case:
    return Case("aclnnBucketize", {"self": x, "boundaries": boundaries, "outInt32": out.dtype == np.int32, "right": right, "out": out})


def histc(x: Any, bins: int, low: Any, high: Any, out: Any) -> Case:
    return Case("aclnnHistc", {"self": x, "bins": bins, "min": low, "max": high, "out": out})


def place(row: list[Any], value: Any, *, right: bool) -> int:
    """The formula."""
    fits = [j for j, element in enumerate(row) if (element > value if right else element >= value)]
    return min(fits, default=len(row))


@given(st.data())
def test_search(device: int, data: st.DataObject) -> None:
    shape, dtype = data.draw(shapes(least_dims=1)), data.draw(st.sampled_from(TYPES))
    other = data.draw(st.sampled_from(TYPES)) if dtype.kind == "i" else dtype
    seed, right, length = data.draw(st.integers(0, 99)), data.draw(st.booleans()), data.draw(st.integers(1, 9))
    rows = shape[:-1] if data.draw(st.booleans()) else ()
    sequence = numbers((*rows, length), dtype, seed, 3)
    x = numbers(shape, other, seed + 1, 3)
    sorter = np.argsort(sequence, -1, kind="stable")
    ranked = np.take_along_axis(sequence, sorter, -1)
    shuffled = data.draw(st.booleans())
    out = np.zeros(shape, data.draw(st.sampled_from((np.int32, np.int64))))
    found = search(sequence if shuffled else ranked, x, out, right=right, sorter=sorter if shuffled else None).run(data.draw(layouts))
    plain = np.broadcast_to(ranked.reshape(-1, length) if rows else ranked, (math.prod(shape[:-1]), length)).astype(np.float64).tolist()
    values = x.reshape(-1, shape[-1]).astype(np.float64).tolist()
    assert found.ravel().tolist() == [place(row, value, right=right) for row, few in zip(plain, values, strict=True) for value in few]


def test_special_numbers(device: int) -> None:
    sequence = np.array([-INF, 1, 1, 2, INF, NAN], FLOAT)
    x = np.array([NAN, INF, -INF, 1, 3, -0.0], FLOAT)
    for right, expected in ((False, [6, 4, 0, 1, 4, 1]), (True, [6, 5, 1, 3, 4, 1])):
        assert search(sequence, x, np.zeros(6, np.int64), right=right).run().tolist() == expected
    big = np.array([2**53, 2**53 + 1], np.int64)
    assert search(big, big, np.zeros(2, np.int64)).run().tolist() == [0, 1]
    assert search(np.zeros((0,), FLOAT), np.zeros(3, FLOAT), np.ones(3, np.int64)).run().tolist() == [0, 0, 0]


@pytest.mark.parametrize("right", [False, True])
def test_search_of_a_number(right: bool, device: int) -> None:
    sequence = np.array([1, 3, 3, 7], np.int32)
    for number in (0.5, 3.0, np.int32(3), np.int64(9), 3.5):
        found = search_number(sequence, number, np.zeros(1, np.int64), right=right).run(2)
        assert found.tolist() == [place(sequence.tolist(), number, right=right)]
    sorter = np.array([3, 0, 2, 1])
    assert search_number(sequence[[1, 3, 2, 0]], 3.0, np.zeros(1, np.int32), right=right, sorter=sorter).run() == (3 if right else 1)


@given(st.data())
def test_buckets(device: int, chip: Callable[[str], None], data: st.DataObject) -> None:
    chip("Ascend950PR_9589")
    shape, dtype = data.draw(shapes()), data.draw(st.sampled_from([*TYPES[1:], BF16]))
    x = numbers(shape, dtype, data.draw(st.integers(0, 99)), 3)
    boundaries, right = np.sort(numbers((6,), dtype, 5, 3)), data.draw(st.booleans())
    found = bucketize(x, boundaries, np.zeros(shape, np.int64), right=right).run(data.draw(layouts))
    plain = boundaries.astype(np.float64).tolist()
    assert found.ravel().tolist() == [place(plain, value, right=right) for value in x.astype(np.float64).ravel().tolist()]


def bins_of(row: list[float], bins: int, low: float, high: float) -> list[int]:
    """Edges compared one by one."""
    if low == high and row:
        low, high = min(row), max(row)
    if low == high:
        low, high = low - 1, high + 1
    counts = [0] * bins
    for value in row:
        if low <= value <= high:
            counts[min(math.floor((value - low) / (high - low) * bins), bins - 1)] += 1
    return counts


@given(st.data())
def test_histograms(device: int, data: st.DataObject) -> None:
    shape, dtype = data.draw(shapes()), data.draw(st.sampled_from(TYPES[1:]))
    x, bins = numbers(shape, dtype, data.draw(st.integers(0, 99)), 3), data.draw(st.integers(1, 7))
    low, high = data.draw(st.sampled_from(((-2.0, 2.0), (0.0, 0.0), (0.0, 5.0), (1.0, 1.0))))
    found = histc(x, bins, low, high, np.zeros(bins, dtype)).run(data.draw(layouts))
    assert found.tolist() == bins_of(x.astype(np.float64).ravel().tolist(), bins, low, high)


def test_special_histograms(device: int) -> None:
    x = np.array([NAN, INF, 1, 2, -INF], FLOAT)
    assert histc(x, 2, 1.0, 2.0, np.zeros(2, FLOAT)).run().tolist() == [1, 1]
    assert histc(np.zeros((0,), FLOAT), 3, 0.0, 0.0, np.ones(3, FLOAT)).run().tolist() == [0, 0, 0]
    assert histc(np.full(4, 7, np.int32), 2, np.int64(0), np.int64(0), np.zeros(2, np.int64)).run().tolist() == [0, 4]
    assert histc(np.arange(1, 10, dtype=FLOAT), 3, 1.0, 9.0, np.zeros(3, FLOAT)).run().tolist() == [3, 3, 3]


def test_an_index_outside(device: int) -> None:
    with pytest.raises(Refused, match="sorter holds 4, outside"):
        search(np.zeros(3, FLOAT), np.zeros(2, FLOAT), np.zeros(2, np.int64), sorter=np.array([0, 4, 1])).run()


S, M = Meta((2, 4), FLOAT), Meta((2, 3), FLOAT)
GOOD = {
    "search": search(S, M, Meta((2, 3), np.int64)),
    "number": search_number(Meta((4,), FLOAT), 1.0, Meta((1,), np.int64)),
    "bucketize": bucketize(M, Meta((4,), FLOAT), Meta((2, 3), np.int64)),
    "histc": histc(M, 4, 0.0, 1.0, Meta((4,), FLOAT)),
}
WRONG: list[tuple[str, dict[str, Any], int]] = [
    ("search", {"sortedSequence": Meta((2, 4), BF16)}, ACLNN_ERR_PARAM_INVALID),
    ("search", {"outInt32": True}, ACLNN_ERR_PARAM_INVALID),
    ("search", {"out": Meta((2, 3), np.int32)}, ACLNN_ERR_PARAM_INVALID),
    ("search", {"out": Meta((3, 2), np.int64)}, ACLNN_ERR_PARAM_INVALID),
    ("search", {"sorter": Meta((2, 4), np.int32)}, ACLNN_ERR_PARAM_INVALID),
    ("search", {"sorter": Meta((4,), np.int64)}, ACLNN_ERR_PARAM_INVALID),
    ("search", {"sortedSequence": Meta((3, 4), FLOAT)}, ACLNN_ERR_PARAM_INVALID),
    ("search", {"sortedSequence": None}, ACLNN_ERR_PARAM_NULLPTR),
    ("number", {"sortedSequence": Meta((2, 4), FLOAT)}, ACLNN_ERR_PARAM_INVALID),
    ("number", {"outInt32": True}, ACLNN_ERR_PARAM_INVALID),
    ("number", {"sorter": Meta((3,), np.int64)}, ACLNN_ERR_PARAM_INVALID),
    ("number", {"self": True}, ACLNN_ERR_PARAM_INVALID),
    ("number", {"self": None}, ACLNN_ERR_PARAM_NULLPTR),
    ("number", {"out": Meta((2,), np.int64)}, ACLNN_ERR_PARAM_INVALID),
    ("bucketize", {"boundaries": Meta((2, 2), FLOAT)}, ACLNN_ERR_PARAM_INVALID),
    ("bucketize", {"out": Meta((3,), np.int64)}, ACLNN_ERR_PARAM_INVALID),
    ("bucketize", {"outInt32": True}, ACLNN_ERR_PARAM_INVALID),
    ("bucketize", {"self": Meta((2, 3), np.float64)}, ACLNN_ERR_PARAM_INVALID),
    ("bucketize", {"boundaries": None}, ACLNN_ERR_PARAM_NULLPTR),
    ("histc", {"self": Meta((2, 3), np.float64)}, ACLNN_ERR_PARAM_INVALID),
    ("histc", {"bins": 0}, ACLNN_ERR_PARAM_INVALID),
    ("histc", {"min": 2.0}, ACLNN_ERR_PARAM_INVALID),
    ("histc", {"min": NAN}, ACLNN_ERR_PARAM_INVALID),
    ("histc", {"out": Meta((2, 2), FLOAT)}, ACLNN_ERR_PARAM_INVALID),
    ("histc", {"out": Meta((3,), FLOAT)}, ACLNN_ERR_PARAM_INVALID),
    ("histc", {"self": Meta((1,) * 9, FLOAT)}, ACLNN_ERR_PARAM_INVALID),
    ("histc", {"max": None}, ACLNN_ERR_PARAM_NULLPTR),
]


@pytest.mark.parametrize(("name", "changes", "status"), WRONG, ids=[f"{one[0]}-{'-'.join(one[1])}" for one in WRONG])
def test_errors(name: str, changes: dict[str, Any], status: int, chip: Callable[[str], None]) -> None:
    if name == "bucketize":
        chip("Ascend950PR_9589")
    assert GOOD[name].status() == 0
    assert GOOD[name].but(**changes).status() == status
    assert message()


@pytest.mark.parametrize(
    ("name", "products"),
    [("search", "950 A3 A2 910"), ("number", "A3 A2 910"), ("bucketize", "950"), ("histc", "950 A3 A2 310P 910")],
)
def test_products(name: str, products: str, chip: Callable[[str], None]) -> None:
    assert products_of(GOOD[name], chip) == set(products.split())
