"""Pooling, sliding and adaptive, and the way back: against loops over windows in float64."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acl_emu as acl
import aclnnop
from aclnnop.registry import MODULES
from tests.conftest import message
from tests.operators.accuracy import FLOAT, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import floats, layouts
from tests.operators.raw import Raw, run_raw

INVALID, NULLPTR, FAULT = acl.ACLNN_ERR_PARAM_INVALID, acl.ACLNN_ERR_PARAM_NULLPTR, acl.ACL_ERROR_RT_AICORE_EXCEPTION

AVERAGE = {2: "aclnnAvgPool2d", 3: "aclnnAvgPool3d"}
LARGEST = {2: "aclnnMaxPool2dWithIndices", 3: "aclnnMaxPool3dWithArgmax"}


# References: one window after the other.


def ranges(
    lengths: Sequence[int], kernel: Sequence[int], stride: Sequence[int], pad: Sequence[int], ceil: bool
) -> list[list[tuple[int, int]]]:
    """For each axis where windows begin and end, padding included."""
    found = []
    for length, size, step, padding in zip(lengths, kernel, stride, pad, strict=True):
        count = (math.ceil if ceil else math.floor)((length + 2 * padding - size) / step) + 1
        starts = [i * step - padding for i in range(count) if not (ceil and i * step >= length + padding)]
        found.append([(start, min(start + size, length + padding)) for start in starts])
    return found


def shared(lengths: Sequence[int], sizes: Sequence[int]) -> list[list[tuple[int, int]]]:
    """The same for windows that share the axes out."""
    return [[(math.floor(i * n / k), math.ceil((i + 1) * n / k)) for i in range(k)] for n, k in zip(lengths, sizes, strict=True)]


def each(windows: list[list[tuple[int, int]]], lengths: Sequence[int]) -> Iterator[tuple[tuple[int, ...], list[tuple[int, ...]], int]]:
    """Where a window's result stands, which elements it has, and how many with padding."""
    for place in itertools.product(*(range(len(axis)) for axis in windows)):
        bounds = [windows[axis][number] for axis, number in enumerate(place)]
        inside = [range(max(start, 0), min(end, length)) for (start, end), length in zip(bounds, lengths, strict=True)]
        yield place, list(itertools.product(*inside)), math.prod(end - start for start, end in bounds)


def divisor_of(elements: list[tuple[int, ...]], padded: int, counted: bool, override: int) -> int:
    return override or (padded if counted else len(elements))


def mean_of(x: Array, windows: list[list[tuple[int, int]]], counted: bool, override: int) -> Array:
    count = len(windows)
    out = np.zeros((*x.shape[:-count], *map(len, windows)))
    for place, elements, padded in each(windows, x.shape[-count:]):
        out[(..., *place)] = sum(x[(..., *element)] for element in elements) / divisor_of(elements, padded, counted, override)
    return out


def mean_gradient_of(grad: Array, shape: tuple[int, ...], windows: list[list[tuple[int, int]]], counted: bool, override: int) -> Array:
    out = np.zeros(shape)
    for place, elements, padded in each(windows, shape[-len(windows) :]):
        for element in elements:
            out[(..., *element)] += grad[(..., *place)] / divisor_of(elements, padded, counted, override)
    return out


def largest_of(x: Array, windows: list[list[tuple[int, int]]]) -> tuple[Array, Array]:
    count = len(windows)
    lengths = x.shape[-count:]
    out = np.zeros((*x.shape[:-count], *map(len, windows)))
    indices = np.zeros(out.shape, np.int64)
    for place, elements, _ in each(windows, lengths):
        rows = np.stack([x[(..., *element)] for element in elements], axis=-1)
        best = rows.argmax(axis=-1)
        out[(..., *place)] = np.take_along_axis(rows, best[..., None], -1)[..., 0]
        indices[(..., *place)] = np.array([np.ravel_multi_index(element, lengths) for element in elements])[best]
    return out, indices


def added_back(grad: Array, indices: Array, shape: tuple[int, ...], count: int) -> Array:
    out = np.zeros(shape)
    for place in np.ndindex(*grad.shape):
        out[(*place[:-count], *np.unravel_index(int(indices[place]), shape[-count:]))] += grad[place]
    return out


# Drawn calls


@st.composite
def sliding(draw: st.DrawFn, count: int) -> dict[str, Any]:
    """A tensor and windows that fit into it."""
    dtype = draw(st.sampled_from(FLOATS))
    lead = draw(st.sampled_from([(2,), (2, 3), (1, 1)]))
    kernel = tuple(draw(st.integers(1, 3)) for _ in range(count))
    lengths = tuple(draw(st.integers(size, 6)) for size in kernel)
    stride = tuple(draw(st.integers(1, 3)) for _ in range(count))
    pad = tuple(draw(st.integers(0, size // 2)) for size in kernel)
    ceil = draw(st.booleans())
    x = draw(floats((*lead, *lengths), dtype, 4))
    windows = ranges(lengths, kernel, stride, pad, ceil)
    small = (*lead, *map(len, windows))
    return {"x": x, "kernel": kernel, "stride": stride, "pad": pad, "ceil": ceil, "windows": windows, "small": small, "dtype": dtype}


def average_arguments(call: dict[str, Any], counted: bool, override: int, operator: str, **tensors: Array) -> Case:
    values = {
        **dict.fromkeys(("kernelSize",), call["kernel"]),
        **dict.fromkeys(("stride", "strides"), call["stride"]),
        **dict.fromkeys(("padding", "paddings"), call["pad"]),
        "ceilMode": call["ceil"],
        "countIncludePad": counted,
        "divisorOverride": override,
        "cubeMathType": 0,
        **tensors,
    }
    return Case(operator, {name: values[name] for name in aclnnop.find(operator).names})


@pytest.mark.parametrize("count", [2, 3])
@given(data=st.data(), counted=st.booleans(), override=st.sampled_from([0, 0, 3]), layout=layouts)
def test_means(count: int, data: st.DataObject, counted: bool, override: int, layout: int, device: int) -> None:
    call = data.draw(sliding(count))
    case = average_arguments(call, counted, override, AVERAGE[count], self=call["x"], out=numbers(call["small"], call["dtype"], 2))
    x = call["x"].astype(np.float64)
    assert_accurate(case.run(layout), mean_of(x, call["windows"], counted, override), largest=np.abs(x).max(initial=0))


@pytest.mark.parametrize("count", [2, 3])
@given(data=st.data(), counted=st.booleans(), override=st.sampled_from([0, 0, 3]), layout=layouts)
def test_gradients_of_means(count: int, data: st.DataObject, counted: bool, override: int, layout: int, device: int) -> None:
    call = data.draw(sliding(count))
    grad = data.draw(floats(call["small"], call["dtype"], 2))
    result = numbers(call["x"].shape, call["dtype"], 3)
    tensors = {"gradOutput": grad, "self": call["x"], "gradInput": result, "output": result}
    case = average_arguments(call, counted, override, AVERAGE[count] + "Backward", **tensors)
    golden = mean_gradient_of(grad.astype(np.float64), call["x"].shape, call["windows"], counted, override)
    assert_accurate(case.run(layout), golden, largest=np.abs(grad.astype(np.float64)).max(initial=0))


def largest_arguments(call: dict[str, Any], operator: str, **tensors: Array) -> Case:
    values = {
        "kernelSize": call["kernel"],
        "stride": call["stride"],
        "padding": call["pad"],
        "dilation": (1,),
        "ceilMode": call["ceil"],
        **tensors,
    }
    return Case(operator, {name: values[name] for name in aclnnop.find(operator).names})


@pytest.mark.parametrize("count", [2, 3])
@given(data=st.data(), layout=layouts)
def test_largest_elements(count: int, data: st.DataObject, layout: int, device: int) -> None:
    call = data.draw(sliding(count))
    tensors = {"self": call["x"], "out": numbers(call["small"], call["dtype"], 2), "indices": np.zeros(call["small"], np.int32)}
    out, indices = largest_arguments(call, LARGEST[count], **tensors).results(layout)
    values, places = largest_of(call["x"].astype(np.float64), call["windows"])
    assert_equal(out, values)
    assert_equal(indices, places)


@pytest.mark.parametrize("count", [2, 3])
@given(data=st.data(), layout=layouts)
def test_gradients_of_largest_elements(count: int, data: st.DataObject, layout: int, device: int) -> None:
    call = data.draw(sliding(count))
    dtype = FLOAT if count == 2 else call["dtype"]
    x, grad = call["x"].astype(dtype), data.draw(floats(call["small"], dtype, 2))
    _, places = largest_of(x.astype(np.float64), call["windows"])
    tensors = {"gradOutput": grad, "self": x, "indices": places.astype(np.int32), "gradInput": numbers(x.shape, dtype, 3)}
    case = largest_arguments(call, LARGEST[count] + "Backward", **tensors)
    golden = added_back(grad.astype(np.float64), places, x.shape, count)
    assert_accurate(case.run(layout), golden, largest=np.abs(grad.astype(np.float64)).max(initial=0))


@given(data=st.data())
def test_a_mask_is_read_as_it_is_written(data: st.DataObject, device: int) -> None:
    call = data.draw(sliding(2))
    lead = (2, 3)
    x = numbers((*lead, *call["x"].shape[-2:]), FLOAT, 1, 4)
    small = (*lead, *call["small"][-2:])
    mask = np.full((*lead, math.prod(call["kernel"]), (math.ceil(math.prod(small[-2:]) / 16) + 1) * 32), 7, np.int8)
    out, written = largest_arguments(call, "aclnnMaxPool2dWithMask", self=x, out=numbers(small, FLOAT, 2), indices=mask).results()
    values, places = largest_of(x.astype(np.float64), call["windows"])
    assert_equal(out, values)
    assert np.unpackbits(written.view(np.uint8)).sum() == math.prod(small)
    grad = numbers(small, FLOAT, 3)
    tensors = {"gradOutput": grad, "self": x, "indices": written, "gradInput": numbers(x.shape, FLOAT, 4)}
    back = largest_arguments(call, "aclnnMaxPool2dWithMaskBackward", **tensors).run()
    assert_accurate(back, added_back(grad.astype(np.float64), places, x.shape, 2), largest=np.abs(grad).max())


@given(data=st.data())
def test_every_bit_of_a_mask_takes_its_gradient(data: st.DataObject, device: int) -> None:
    """None, one or several in a window; those in the padding count for nothing."""
    call = data.draw(sliding(2))
    shape = (2, 3, *call["x"].shape[-2:])
    small, kernel = (2, 3, *call["small"][-2:]), call["kernel"]
    count = math.prod(small[-2:])
    bits = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 2, (2, 3, math.prod(kernel), (math.ceil(count / 16) + 1) * 256))
    mask = np.packbits(bits.astype(np.uint8), axis=-1, bitorder="little").view(np.int8)
    grad = numbers(small, FLOAT, 3)
    expected = np.zeros(shape)
    for sample, channel, place, window in np.ndindex(2, 3, math.prod(kernel), count):
        top, left = np.unravel_index(window, small[-2:])
        row, column = (
            int(at) * stride - pad + int(inside)
            for at, stride, pad, inside in zip((top, left), call["stride"], call["pad"], np.unravel_index(place, kernel), strict=True)
        )
        if bits[sample, channel, place, window] and 0 <= row < shape[2] and 0 <= column < shape[3]:
            expected[sample, channel, row, column] += grad[sample, channel, top, left]
    tensors = {"gradOutput": grad, "self": numbers(shape, FLOAT, 1), "indices": mask, "gradInput": numbers(shape, FLOAT, 4)}
    back = largest_arguments(call, "aclnnMaxPool2dWithMaskBackward", **tensors).run()
    assert_accurate(back, expected, largest=np.full(shape, math.prod(kernel) * np.abs(grad).max()))


@st.composite
def adaptive(draw: st.DrawFn, count: int) -> tuple[Array, tuple[int, ...], list[list[tuple[int, int]]]]:
    lead = draw(st.sampled_from([(2,), (2, 3)]))
    lengths = tuple(draw(st.integers(1, 6)) for _ in range(count))
    sizes = tuple(draw(st.integers(1, 7)) for _ in range(count))
    return draw(floats((*lead, *lengths), draw(st.sampled_from(FLOATS)), 4)), (*lead, *sizes), shared(lengths, sizes)


@pytest.mark.parametrize("count", [2, 3])
@given(data=st.data(), layout=layouts)
def test_adaptive_means(count: int, data: st.DataObject, layout: int, device: int) -> None:
    x, small, windows = data.draw(adaptive(count))
    name = f"aclnnAdaptiveAvgPool{count}d"
    plain = Case(name, {"self": x, "outputSize": small[-count:], "out": numbers(small, x.dtype, 2)})
    wide = x.astype(np.float64)
    assert_accurate(plain.run(layout), mean_of(wide, windows, False, 0), largest=np.abs(wide).max())
    grad = data.draw(floats(small, x.dtype, 2))
    back = Case(f"{name}Backward", {"gradOutput": grad, "self": x, "out": numbers(x.shape, x.dtype, 3)})
    golden = mean_gradient_of(grad.astype(np.float64), x.shape, windows, False, 0)
    assert_accurate(back.run(layout), golden, largest=np.abs(grad.astype(np.float64)).max() * math.prod(small[-count:]))


EMPTY = [
    ("aclnnAdaptiveAvgPool2d", "Ascend910B1", (0, 2, 4, 4), (2, 2), 0),
    ("aclnnAdaptiveAvgPool2d", "Ascend910B1", (0, 4, 4), (2, 2), 0),
    ("aclnnAdaptiveAvgPool2d", "Ascend910B1", (2, 0, 4, 4), (2, 2), INVALID),
    ("aclnnAdaptiveAvgPool2d", "Ascend910B1", (2, 2, 4, 4), (2, 0), INVALID),
    ("aclnnAdaptiveAvgPool3d", "Ascend910B1", (0, 2, 4, 4, 4), (2, 2, 2), 0),
    ("aclnnAdaptiveAvgPool3d", "Ascend310P3", (0, 2, 4, 4, 4), (2, 2, 2), INVALID),
    ("aclnnAdaptiveAvgPool3d", "Ascend910B1", (2, 0, 4, 4, 4), (2, 2, 2), INVALID),
    ("aclnnAdaptiveAvgPool3d", "Ascend910B1", (2, 2, 4, 4, 4), (0, 2, 2), INVALID),
    ("aclnnAdaptiveAvgPool3dBackward", "Ascend910B1", (0, 2, 4, 4, 4), (2, 2, 2), INVALID),
    ("aclnnAdaptiveAvgPool3dBackward", "Ascend950PR_9589", (0, 2, 4, 4, 4), (2, 2, 2), 0),
    ("aclnnAdaptiveAvgPool3dBackward", "Ascend950PR_9589", (0, 4, 4, 4), (2, 2, 2), INVALID),
    ("aclnnAdaptiveAvgPool3dBackward", "Ascend950PR_9589", (2, 0, 4, 4, 4), (2, 2, 2), INVALID),
    ("aclnnAdaptiveAvgPool2dBackward", "Ascend910B1", (2, 0, 4, 4), (2, 2), 0),
    ("aclnnAdaptiveMaxPool2d", "Ascend910B1", (0, 2, 4, 4), (2, 2), 0),
    ("aclnnAdaptiveMaxPool2d", "Ascend910B1", (2, 0, 4, 4), (2, 2), INVALID),
    ("aclnnAdaptiveMaxPool2d", "Ascend910B1", (2, 2, 4, 4), (0, 2), INVALID),
]


@pytest.mark.parametrize(("operator", "soc", "shape", "sizes", "status"), EMPTY)
def test_dimensions_without_elements(
    operator: str, soc: str, shape: tuple[int, ...], sizes: tuple[int, ...], status: int, chip: Callable[[str], None], device: int
) -> None:
    chip(soc)
    assert Case(operator, adaptive_arguments(operator, shape, sizes)).status() == status


@pytest.mark.parametrize(
    ("operator", "soc", "status"),
    [
        ("aclnnAdaptiveMaxPool3d", "Ascend910B1", INVALID),
        ("aclnnAdaptiveMaxPool3d", "Ascend950PR_9589", INVALID),
        ("aclnnAdaptiveMaxPool2dBackward", "Ascend910B1", INVALID),
        ("aclnnAdaptiveMaxPool3dBackward", "Ascend910B1", INVALID),
        ("aclnnAdaptiveMaxPool3dBackward", "Ascend950PR_9589", 0),
    ],
)
def test_more_places_than_an_index_has(operator: str, soc: str, status: int, chip: Callable[[str], None], device: int) -> None:
    chip(soc)
    count = 3 if "3d" in operator else 2
    for last, expected in ((2**15, status), (2**15 - 1, 0)):
        shape = (1, 1, *(1,) * (count - 2), 2**16, last)
        assert Case(operator, adaptive_arguments(operator, shape, (1,) * count)).status() == expected


def adaptive_arguments(operator: str, shape: tuple[int, ...], sizes: tuple[int, ...]) -> dict[str, Any]:
    """Arguments that phase one only looks at."""
    large = Meta(shape, FLOAT)
    small = Meta((*shape[: -len(sizes)], *sizes), FLOAT)
    places = small._replace(dtype=np.int64 if operator == "aclnnAdaptiveMaxPool2d" else np.int32)
    back = operator.endswith("Backward")
    values = {"self": large, "gradOutput": small, "indices": places, "gradInput": large, "outputSize": sizes}
    values |= {"outputOut": small, "indicesOut": places, "out": large if back else small}
    return {name: values[name] for name in aclnnop.find(operator).names}


@pytest.mark.parametrize(("count", "place"), [(2, np.int64), (3, np.int32)])
@given(data=st.data(), layout=layouts)
def test_adaptive_largest_elements(count: int, place: Any, data: st.DataObject, layout: int, device: int) -> None:
    x, small, windows = data.draw(adaptive(count))
    name = f"aclnnAdaptiveMaxPool{count}d"
    tensors = {"outputOut": numbers(small, x.dtype, 2), "indicesOut": np.zeros(small, place)}
    out, indices = Case(name, {"self": x, "outputSize": small[-count:], **tensors}).results(layout)
    values, places = largest_of(x.astype(np.float64), windows)
    assert_equal(out, values)
    assert_equal(indices, places)
    grad = data.draw(floats(small, x.dtype, 2))
    back = Case(f"{name}Backward", {"gradOutput": grad, "self": x, "indices": indices, "gradInput": numbers(x.shape, x.dtype, 3)})
    golden = added_back(grad.astype(np.float64), places, x.shape, count)
    assert_accurate(back.run(layout), golden, largest=np.abs(grad.astype(np.float64)).max() * math.prod(small[-count:]))


def test_largest_elements_with_channels_last(device: int) -> None:
    """NHWC names the axes; places are those in a plane."""
    x = numbers((2, 3, 5, 4), np.dtype(FLOAT), 1, 9)
    small = (2, 2, 3, 4)
    sizes = acl.aclCreateIntArray([2, 3])
    status, found = run_raw(
        "aclnnAdaptiveMaxPool2d",
        self=Raw(x, x.shape, acl.ACL_FLOAT, format=acl.ACL_FORMAT_NHWC),
        outputSize=sizes,
        outputOut=Raw(np.zeros(small, FLOAT), small, acl.ACL_FLOAT, format=acl.ACL_FORMAT_NHWC),
        indicesOut=Raw(np.zeros(small, np.int64), small, acl.ACL_INT64, format=acl.ACL_FORMAT_NHWC),
    )
    assert acl.aclDestroyIntArray(sizes) == status == 0
    values, places = largest_of(np.moveaxis(x, -1, 1).astype(np.float64), shared((3, 5), (2, 3)))
    assert_equal(np.moveaxis(found["outputOut"], -1, 1), values)
    assert_equal(np.moveaxis(found["indicesOut"], -1, 1), places)


@pytest.mark.parametrize("operator", [*LARGEST.values(), "aclnnAdaptiveMaxPool2d", "aclnnAdaptiveMaxPool3d"])
def test_nan_is_the_largest(operator: str, device: int) -> None:
    case = Case(operator, next(iter(aclnnop.find(operator).examples())))
    out, indices = case.but(self=np.full_like(case.arguments["self"], np.nan)).results()
    assert np.isnan(out).all()
    out, indices = case.but(self=np.full_like(case.arguments["self"], -np.inf)).results()
    assert np.isneginf(out).all()
    assert indices.reshape(-1)[0] == 0


@pytest.mark.parametrize(
    ("pads", "kernel", "strides", "ceil", "expected"),
    [
        ((), (2, 2), (2, 2), 1, [[5, 6], [8, 9]]),
        ((), (2,), (), 0, [[5, 6], [8, 9]]),
        ((1, 0, 0, 1), (2, 2), (2, 2), 0, [[2, 3], [8, 9]]),
        ((1,), (3,), (2,), 0, [[5, 6], [8, 9]]),
    ],
)
def test_padding_of_each_side(pads: Any, kernel: Any, strides: Any, ceil: int, expected: Any, device: int) -> None:
    values = np.arange(1, 10, dtype=np.float32).reshape(1, 3, 3)
    arguments = {"self": values, "kernelShape": kernel, "strides": strides, "autoPad": 0, "pads": pads, "dilations": (), "ceilMode": ceil}
    assert_equal(Case("aclnnMaxPool", {**arguments, "out": np.zeros((1, 2, 2), np.float32)}).run(), [expected])


@pytest.mark.parametrize("count", [2, 3])
@given(data=st.data(), layout=layouts, dtype=st.sampled_from(["float32", "int8", "int64"]))
def test_unpooling(count: int, data: st.DataObject, layout: int, dtype: str, device: int) -> None:
    small = (2, *(data.draw(st.integers(1, 3)) for _ in range(count)))
    large = (2, *(length + data.draw(st.integers(0, 2)) for length in small[1:]))
    length = math.prod(large[1:])
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    places = np.stack([rng.permutation(length)[: math.prod(small[1:])] for _ in range(2)]).reshape(small)
    values, grad = (numbers(shape, np.dtype(dtype), seed, 50) for seed, shape in ((1, small), (2, large)))
    extra = {"stride": (1,) * 3, "padding": (0,) * 3} if count == 3 else {}
    name = f"aclnnMaxUnpool{count}d"
    common = {"self": values, "indices": places, "outputSize": large[1:], **extra}
    plain = Case(name, {**common, "outRef" if count == 3 else "out": numbers(large, np.dtype(dtype), 3)})
    expected, fetched = np.zeros(large), np.zeros(small)
    for place in np.ndindex(*small):
        target = (place[0], *np.unravel_index(int(places[place]), large[1:]))
        expected[target] = values[place]
        fetched[place] = grad[target]
    assert_equal(plain.run(layout), expected)
    back = Case(f"{name}Backward", {"gradOutput": grad, **common, "out": numbers(small, np.dtype(dtype), 4)})
    assert_equal(back.run(layout if count == 2 else 0), fetched)


def test_gradients_of_unpooling_in_another_type(device: int) -> None:
    """More elements than places, which the page's own call has."""
    places = np.array([0, 1, 2, 1, 2, 0, 1, 1], np.int32).reshape(2, 2, 2)
    grad = np.arange(6, dtype=np.int32).reshape(2, 3, 1)
    case = Case(
        "aclnnMaxUnpool2dBackward",
        {"gradOutput": grad, "self": grad[:, :2].repeat(2, -1), "indices": places, "outputSize": (3, 1), "out": np.zeros((2, 2, 2), FLOAT)},
    )
    assert_equal(case.run(), [[[0, 1], [2, 1]], [[5, 3], [4, 4]]])
    floats = case.but(gradOutput=grad.astype(FLOAT), self=case.arguments["self"].astype(FLOAT), out=np.zeros((2, 2, 2), np.int32))
    assert floats.status() == INVALID


UNPOOLING_ERRORS = [
    ("aclnnMaxUnpool2d", {"outputSize": (1, 5), "out": Meta((2, 3, 1, 5), FLOAT)}, "outputSize is [1, 5]"),
    ("aclnnMaxUnpool3d", {"outputSize": (1, 1, 5), "outRef": Meta((2, 3, 1, 1, 5), FLOAT)}, "outputSize is [1, 1, 5]"),
    ("aclnnMaxUnpool3d", {"stride": (2,)}, "stride has 1 values"),
    ("aclnnMaxUnpool3d", {"padding": (0,)}, "padding has 1 values"),
    ("aclnnMaxUnpool3d", {"stride": (1, 0, 1)}, "expected values above 0"),
    ("aclnnMaxUnpool3d", {"self": Meta((2, 0, 2, 3, 2), FLOAT), "indices": Meta((2, 0, 2, 3, 2), np.int64)}, "expected elements"),
    ("aclnnMaxUnpool2dBackward", {"outputSize": (0, 5), "gradOutput": Meta((2, 3, 0, 5), FLOAT)}, "expected elements"),
    ("aclnnMaxUnpool3dBackward", {"out": Meta((2, 3, 2, 3, 2), FLOAT, (72, 24, 12, 4, 2))}, "expected a contiguous tensor"),
    ("aclnnMaxUnpool3dBackward", {"out": Meta((2, 3, 2, 3, 2), np.float16)}, "out has dtype"),
    ("aclnnMaxUnpool3dBackward", {"outputSize": (1, 1, 5), "gradOutput": Meta((2, 3, 1, 1, 5), FLOAT)}, "outputSize is [1, 1, 5]"),
    ("aclnnMaxUnpool3dBackward", {"padding": (0, 0)}, "padding has 2 values"),
]


@pytest.mark.parametrize(("operator", "bad", "text"), UNPOOLING_ERRORS, ids=[f"{line[0]}-{line[2]}" for line in UNPOOLING_ERRORS])
def test_wrong_unpooling(operator: str, bad: dict[str, Any], text: str, device: int) -> None:
    assert call_of(operator).but(**bad).status() == INVALID
    assert text in message()


@pytest.mark.parametrize("operator", ["aclnnMaxUnpool3d", "aclnnMaxUnpool3dBackward"])
def test_the_padding_of_an_unpooling_is_not_looked_at(operator: str, device: int) -> None:
    assert call_of(operator).but(padding=(-1, 0, 99)).status() == 0


@pytest.mark.parametrize("operator", ["aclnnGlobalAveragePool", "aclnnGlobalMaxPool"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_one_number_for_each_channel(operator: str, dtype: Any, device: int) -> None:
    x = numbers((2, 3, 4, 5, 2), np.dtype(dtype), 1)
    out = Case(operator, {"self": x, "out": numbers((2, 3, 1, 1, 1), np.dtype(dtype), 2)}).run()
    wide = x.astype(np.float64)
    if operator == "aclnnGlobalMaxPool":
        assert_equal(out, wide.max(axis=(2, 3, 4), keepdims=True))
    else:
        np.testing.assert_allclose(out, wide.mean(axis=(2, 3, 4), keepdims=True), rtol=1e-3 if dtype is np.float16 else 1e-6)


@pytest.mark.parametrize(
    ("soc", "status"), [("Ascend910A", INVALID), ("Ascend310P3", INVALID), ("Ascend910B1", 0), ("Ascend950PR_9589", 0)]
)
def test_products_that_limit_the_divisor(soc: str, status: int, chip: Callable[[str], None], device: int) -> None:
    chip(soc)
    case = call_of("aclnnAvgPool2dBackward")
    assert case.but(divisorOverride=-255).status() == 0
    for divisor in (256, -256):
        assert case.but(divisorOverride=divisor).status() == status


def test_windows_longer_than_their_axis(device: int) -> None:
    """Padding makes room for them, which the gradient takes and AvgPool3d does not."""
    settings = {"kernelSize": (3,), "stride": (1,), "padding": (1,), "ceilMode": False, "countIncludePad": True, "divisorOverride": 0}
    x = np.ones((1, 3, 3, 2), FLOAT)
    assert Case("aclnnAvgPool3d", {"self": x, **settings, "out": np.zeros_like(x)}).status() == INVALID
    assert "no window longer than its axis: 2" in message()
    assert Case("aclnnAvgPool3dBackward", {"gradOutput": x, "self": x, **settings, "output": np.zeros_like(x)}).status() == 0


def call_of(operator: str) -> Case:
    return Case(operator, next(iter(aclnnop.find(operator).examples())))


POOLS = sorted(name for name in MODULES if ("Pool" in name or "Unpool" in name) and "Roi" not in name)
SLIDING = [name for name in POOLS if "kernelSize" in aclnnop.find(name).names]


@pytest.mark.parametrize("operator", POOLS)
def test_null_pointers(operator: str, device: int) -> None:
    case = call_of(operator)
    for name, kind in case.declared.parameters:
        if kind.c_type.endswith("*"):
            assert case.but(**{name: None}).status() == NULLPTR, name


@pytest.mark.parametrize("operator", POOLS)
def test_wrong_types_and_shapes(operator: str, device: int) -> None:
    case = call_of(operator)
    for name, value in case.arguments.items():
        if isinstance(value, np.ndarray):
            assert case.but(**{name: value.astype(np.complex64)}).status() == INVALID, name
            assert case.but(**{name: value.reshape(-1)}).status() == INVALID, name
            if name not in ("self", "gradOutput") or not operator.startswith(("aclnnAdaptive", "aclnnGlobal")):
                assert case.but(**{name: np.concatenate([value, value], -1)}).status() == INVALID, name


@pytest.mark.parametrize("operator", SLIDING)
@pytest.mark.parametrize(
    "bad",
    [
        {"kernelSize": ()},
        {"kernelSize": (2, 2, 2, 2)},
        {"kernelSize": (0,)},
        {"kernelSize": (-1,)},
        {"kernelSize": (100,)},
        {"stride": (0,)},
        {"stride": (-1,)},
        {"stride": (1, 1, 1, 1)},
        {"padding": ()},
        {"padding": (-1,)},
        {"padding": (2,)},
        {"padding": (0, 0, 0, 0)},
        {"dilation": ()},
        {"dilation": (2,)},
        {"dilation": (0,)},
    ],
    ids=str,
)
def test_wrong_windows(operator: str, bad: dict[str, Any], device: int) -> None:
    case = call_of(operator)
    changes = {name if name in case.arguments else f"{name}s": value for name, value in bad.items()}
    if changes.keys() <= case.arguments.keys():
        assert case.but(**changes).status() == INVALID


@pytest.mark.parametrize(
    "bad",
    [
        {"kernelShape": ()},
        {"kernelShape": (0, 2)},
        {"strides": (0,)},
        {"strides": (1, 1, 1)},
        {"autoPad": 1},
        {"pads": (1, 1, 1)},
        {"pads": (2, 2, 2, 2)},
        {"pads": (-1,)},
        {"dilations": (2,)},
        {"dilations": (1, 1, 1)},
    ],
    ids=str,
)
def test_wrong_windows_of_max_pool(bad: dict[str, Any], device: int) -> None:
    assert call_of("aclnnMaxPool").but(**bad).status() == INVALID


@pytest.mark.parametrize("operator", [name for name in POOLS if "outputSize" in aclnnop.find(name).names])
@pytest.mark.parametrize("sizes", [(), (2,), (-1, 2), (-1, 2, 2), (2, 2, 2, 2)])
def test_wrong_output_sizes(operator: str, sizes: tuple[int, ...], device: int) -> None:
    assert call_of(operator).but(outputSize=sizes).status() == INVALID


GRADIENTS = [name for name in POOLS if name.endswith("Backward") and "Max" in name and "Unpool" not in name and "Mask" not in name]


@pytest.mark.parametrize("operator", GRADIENTS)
@pytest.mark.parametrize("place", ["before", "behind"])
def test_a_place_outside_counts_for_nothing(operator: str, place: str, device: int) -> None:
    """A public page has one; the checker is told where to look."""
    case = call_of(operator)
    count = 3 if "3d" in operator else 2
    shape = case.arguments["self"].shape
    wrong, grad = case.arguments["indices"].copy(), case.arguments["gradOutput"].copy()
    wrong.reshape(-1)[1] = -1 if place == "before" else math.prod(shape[-count:])
    found = case.but(indices=wrong).run()
    wrong.reshape(-1)[1] = 0
    grad.reshape(-1)[1] = 0
    assert_equal(found, case.but(indices=wrong, gradOutput=grad).run())


@pytest.mark.parametrize("operator", ["aclnnMaxUnpool2d", "aclnnMaxUnpool3d", "aclnnMaxUnpool2dBackward", "aclnnMaxUnpool3dBackward"])
def test_a_place_outside_is_a_fault(operator: str, device: int) -> None:
    case = call_of(operator)
    wrong = case.arguments["indices"].copy()
    wrong.reshape(-1)[1] = -1
    assert case.but(indices=wrong).refused() == FAULT
