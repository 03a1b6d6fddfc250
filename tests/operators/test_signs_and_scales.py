"""Packed signs, scales, comparisons of precision, heads of an attention, and a stream that waits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acl_emu as acl
from acl_emu import ACLNN_ERR_INNER_TILING_ERROR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate
from tests.operators.case import Case, Meta, Refused, numbers
from tests.operators.drawing import floats, layouts, shapes

NEWEST, USUAL = "Ascend950PR_9589", "Ascend910B1"
SOME = settings(max_examples=25)
SAMPLE = [5, 4, 3, 2, 0, -1, -2, 4, 3, 2, 1, 0, -1, -2]
"""What packs to 159 and 15."""


@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16], ids=str)
@SOME
@given(count=st.integers(1, 70), layout=layouts)
def test_packed_signs(dtype: np.dtype[Any], count: int, layout: int, device: int) -> None:
    x = numbers((count,), dtype, count)
    x[count // 2] = 0
    rows = -(-count // 8)
    found = Case("aclnnSignBitsPack", {"self": x, "size": rows, "out": np.zeros((rows, 1), np.uint8)}).run(layout)
    expected = [sum((1 << i) for i in range(8) if 8 * byte + i < count and x[8 * byte + i] >= 0) for byte in range(rows)]
    assert found.ravel().tolist() == expected


@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16], ids=str)
@SOME
@given(data=st.data())
def test_unpacked_signs(dtype: np.dtype[Any], data: st.DataObject, device: int) -> None:
    bits = np.array(data.draw(st.lists(st.integers(0, 255), min_size=1, max_size=9)), np.uint8)
    size = data.draw(st.sampled_from([1, 2, 4, bits.size]))
    code = acl.ACL_FLOAT if dtype == FLOAT else acl.ACL_FLOAT16
    out = np.zeros((size, 8 * bits.size // size), dtype)
    found = Case("aclnnSignBitsUnpack", {"self": bits, "size": size, "dtype": code, "out": out}).run(data.draw(layouts))
    assert found.ravel().tolist() == [1.0 if byte >> i & 1 else -1.0 for byte in bits.tolist() for i in range(8)]


def test_the_documented_signs(device: int) -> None:
    call = {"self": np.array(SAMPLE, np.float32), "size": 2, "out": np.zeros((2, 1), np.uint8)}
    packed = Case("aclnnSignBitsPack", call).run()
    assert packed.ravel().tolist() == [159, 15]


@pytest.mark.parametrize("of", [np.dtype(np.uint8), np.dtype(np.int8), FLOAT16, FLOAT], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@SOME
@given(data=st.data())
def test_masked_scale(dtype: np.dtype[Any], of: np.dtype[Any], data: st.DataObject, device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    x = data.draw(floats(data.draw(shapes()), dtype, special=True))
    mask = numbers(x.shape, of, 2, 3)
    scale = data.draw(st.sampled_from([0.0, 1.25, -3.0]))
    found = Case("aclnnMaskedScale", {"self": x, "mask": mask, "scale": scale, "y": np.zeros(x.shape, dtype)}).run(data.draw(layouts))
    with np.errstate(all="ignore"):
        assert_accurate(found, x.astype(np.float64) * mask.astype(np.float64) * scale)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@SOME
@given(data=st.data())
def test_scale(dtype: np.dtype[Any], data: st.DataObject, device: int) -> None:
    shape = data.draw(shapes(4, 4, 1))
    x = data.draw(floats(shape, dtype))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    first = axis % x.ndim
    count = data.draw(st.integers(-1, x.ndim - first))
    blob = data.draw(st.booleans())
    wanted = shape[first:] if count == -1 else shape[first : first + count]
    if count == 0 and blob:
        wanted = (1,)
    scale, bias = numbers(wanted, dtype, 1), data.draw(st.sampled_from([None, numbers(wanted, dtype, 2)]))
    call = {"x": x, "scale": scale, "bias": bias, "axis": axis, "numAxes": count, "scaleFromBlob": blob, "y": np.zeros(shape, dtype)}
    found = Case("aclnnScale", call).run(data.draw(layouts))
    spread = [1] * first + list(wanted) + [1] * (x.ndim - first - len(wanted)) if wanted != (1,) or count else [1]
    product = x.astype(np.float64) * scale.astype(np.float64).reshape(spread)
    added = 0 if bias is None else bias.astype(np.float64).reshape(spread)
    assert_accurate(found, product + added, largest=np.maximum(np.abs(product), np.abs(added)))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_precision_compare(dtype: np.dtype[Any], device: int) -> None:
    x = numbers((4, 5), dtype, 1)
    x[1, 1], x[2, 2] = np.nan, np.inf
    other = x.copy()
    other[3, 4] = -x[3, 4]
    for golden, real, verdict in ((x, x, 0), (x, other, 503), (other, x, 503), (x[:0], x[:0], 0)):
        assert Case("aclnnPrecisionCompare", {"golden": golden, "realdata": real, "out": np.array(7, np.uint32)}).run(3) == verdict


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@SOME
@given(sizes=st.tuples(*[st.integers(0, 3)] * 2, *[st.integers(1, 4)] * 2), layout=layouts)
def test_heads(dtype: np.dtype[Any], sizes: tuple[int, int, int, int], layout: int, device: int) -> None:
    batch, steps, heads, length = sizes
    x, bias = numbers((batch, steps, 3 * heads * length), dtype, 1), numbers((3 * heads * length,), dtype, 2)
    outs = {name: np.zeros((batch, heads, steps, length), dtype) for name in ("qOut", "kOut", "vOut")}
    found = Case("aclnnTransformBiasRescaleQkv", {"qkv": x, "qkvBias": bias, "numHeads": heads, **outs}).results(layout)
    wide = x.astype(np.float64) + bias.astype(np.float64)
    for index, out in enumerate(found):
        expected, largest = (np.empty(out.shape) for _ in range(2))
        for b, h, t, d in np.ndindex(out.shape):
            place = (index * heads + h) * length + d
            expected[b, h, t, d] = wide[b, t, place] / (math.sqrt(length) if index == 0 else 1)
            largest[b, h, t, d] = max(abs(float(x[b, t, place])), abs(float(bias[place])))
        assert_accurate(out, expected, largest=largest)


def test_sleep(device: int, chip: Callable[[str], None]) -> None:
    """The stream waits, the program does not have to."""
    chip(NEWEST)
    begin = time.monotonic()
    Case("aclnnSleep", {"cycles": [330_000_000]}).results()
    assert time.monotonic() - begin >= 0.2
    with pytest.raises(Refused, match="stopped"):
        Case("aclnnSleep", {"cycles": [2**63 - 1]}).results()


def m(*shape: int, dtype: Any = FLOAT) -> Meta:
    return Meta(shape, dtype)


BYTE = np.dtype(np.uint8)
CALLS: dict[str, dict[str, Any]] = {
    "aclnnSignBitsPack": {"self": m(14), "size": 2, "out": m(2, 1, dtype=BYTE)},
    "aclnnSignBitsUnpack": {"self": m(2, dtype=BYTE), "size": 4, "dtype": acl.ACL_FLOAT, "out": m(4, 4)},
    "aclnnMaskedScale": {"self": m(2, 3), "mask": m(2, 3, dtype=BYTE), "scale": 1.0, "y": m(2, 3)},
    "aclnnScale": {"x": m(2, 3, 4), "scale": m(3), "bias": m(3), "axis": 1, "numAxes": 1, "scaleFromBlob": True, "y": m(2, 3, 4)},
    "aclnnPrecisionCompare": {"golden": m(2, 3), "realdata": m(2, 3), "out": m(dtype=np.uint32)},
    "aclnnTransformBiasRescaleQkv": {
        "qkv": m(2, 5, 12),
        "qkvBias": m(12),
        "numHeads": 2,
        "qOut": m(2, 2, 5, 2),
        "kOut": m(2, 2, 5, 2),
        "vOut": m(2, 2, 5, 2),
    },
    "aclnnSleep": {"cycles": [1]},
}
WRONG: dict[str, list[tuple[dict[str, Any], str]]] = {
    "aclnnSignBitsPack": [
        ({"self": m(2, 7)}, "self has 2 dimensions"),
        ({"size": -1}, "size is -1"),
        ({"size": 0}, "size is 0"),
        ({"size": 3}, "size is 3"),
        ({"out": m(1, 2, dtype=BYTE)}, "out has shape"),
        ({"self": m(14, dtype=BF16)}, "self has dtype"),
    ],
    "aclnnSignBitsUnpack": [
        ({"size": 0}, "size is 0"),
        ({"size": 3}, "size is 3"),
        ({"dtype": acl.ACL_FLOAT16}, "out has dtype"),
        ({"self": m(1, 2, dtype=BYTE)}, "self has 2 dimensions"),
        ({"out": m(2, 8)}, "out has shape"),
    ],
    "aclnnMaskedScale": [
        ({"y": m(2, 3, dtype=BF16)}, "y has dtype"),
        ({"mask": m(3, dtype=BYTE)}, "mask has shape"),
        ({"y": m(3, 2)}, "y has shape"),
        ({"mask": m(2, 3, dtype=BF16)}, "mask has dtype"),
    ],
    "aclnnScale": [
        ({"bias": m(3, dtype=BF16)}, "bias has dtype"),
        ({"scale": m(3, dtype=BF16), "bias": None}, "scale has dtype"),
        ({"y": m(2, 3, 4, dtype=BF16)}, "y has dtype"),
        ({"y": m(2, 3, 5)}, "y has shape"),
        ({"bias": m(4)}, "bias has shape"),
        ({"x": m(*[1] * 9)}, "x has 9 dimensions"),
        ({"axis": 3}, "axis is 3"),
        ({"axis": -4}, "axis is -4"),
        ({"numAxes": -2}, "numAxes is -2"),
        ({"numAxes": 0}, "scale has shape [3], expected [1]"),
        ({"numAxes": 3}, "add up to 4"),
        ({"scale": m(4), "bias": None}, "scale has shape [4], expected [3]"),
        ({"scaleFromBlob": False, "axis": 0}, "scale has shape [3], expected [2]"),
    ],
    "aclnnPrecisionCompare": [
        ({"realdata": m(2, 3, dtype=BF16)}, "realdata has dtype"),
        ({"realdata": m(3, 2)}, "realdata has shape"),
        ({"out": m(2, dtype=np.uint32)}, "out has 1 dimensions"),
        ({"out": m(dtype=np.int32)}, "out has dtype"),
    ],
    "aclnnTransformBiasRescaleQkv": [
        ({"qkvBias": m(12, dtype=BF16)}, "qkvBias has dtype"),
        ({"qkvBias": m(11)}, "qkvBias has shape"),
        ({"numHeads": 0}, "numHeads is 0"),
        ({"numHeads": 3}, "multiple of 3 numHeads"),
        ({"vOut": m(2, 5, 2, 2)}, "vOut has shape"),
        ({"qkv": m(5, 12)}, "qkv has 2 dimensions"),
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_errors(name: str, device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST if name in ("aclnnMaskedScale", "aclnnSleep") else USUAL)
    call = Case(name, CALLS[name])
    assert call.status() == 0
    for changes, text in WRONG.get(name, ()):
        assert call.but(**changes).status() == ACLNN_ERR_PARAM_INVALID, changes
        assert text in message(), changes
    for parameter, value in CALLS[name].items():
        if isinstance(value, (Meta, list)) and parameter != "bias":
            assert call.but(**{parameter: None}).status() == ACLNN_ERR_PARAM_NULLPTR, parameter


@pytest.mark.parametrize("cycles", [[], [0], [-5]], ids=str)
def test_sleep_for_no_time(cycles: list[int], device: int, chip: Callable[[str], None]) -> None:
    chip(NEWEST)
    assert Case("aclnnSleep", {"cycles": cycles}).status() == ACLNN_ERR_INNER_TILING_ERROR
    assert "cycles" in message()
