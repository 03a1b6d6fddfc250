"""aclnnConvolution, aclnnConvDepthwise2d, aclnnConvTbc, and the gradients."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import (
    ACL_FORMAT_NCHW,
    ACL_FORMAT_ND,
    ACL_FORMAT_NHWC,
    ACL_HIFLOAT8,
    ACLNN_ERR_INNER_NULLPTR,
    ACLNN_ERR_PARAM_INVALID,
    ACLNN_ERR_PARAM_NULLPTR,
    ACLNN_ERR_RUNTIME_ERROR,
)
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_equal, assert_meets_standard, spacing
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.convolving import Geometry, forward, spread, weight_gradient
from tests.operators.drawing import float_dtypes, layouts
from tests.operators.test_matrix_products import to_hf32

KEEP, DOWN, HALF, HF32 = range(4)
A2, NEWEST, OLD = "Ascend910B1", "Ascend950PR_9589", "Ascend310P3"


def conv(
    x: Any, weight: Any, bias: Any, out: Any, geometry: Geometry, mode: int = KEEP, *, extra: list[int] | None = None, **changes: Any
) -> Case:
    """A convolution; transposed where ``extra``, its output padding, is given."""
    arguments = {
        "input": x,
        "weight": weight,
        "bias": bias,
        "stride": geometry.stride,
        "padding": geometry.padding,
        "dilation": geometry.dilation,
        "transposed": extra is not None,
        "outputPadding": extra or [0] * len(geometry.stride),
        "groups": geometry.groups,
        "output": out,
        "cubeMathType": mode,
    }
    return Case("aclnnConvolution", {**arguments, **changes})


def backward(
    gradient: Any,
    x: Any,
    weight: Any,
    geometry: Geometry,
    mask: tuple[bool, bool, bool] = (True, True, True),
    *,
    extra: list[int] | None = None,
    mode: int = KEEP,
    dtype: Any = None,
) -> Case:
    def like(shape: tuple[int, ...], flag: bool) -> Any:
        if not flag:
            return None
        return Meta(shape, dtype or x.dtype) if isinstance(x, Meta) else np.ones(shape, dtype or x.dtype)

    channels = gradient.shape[1]
    arguments = {
        "gradOutput": gradient,
        "input": x,
        "weight": weight,
        "biasSizes": [channels] if mask[2] else None,
        "stride": geometry.stride,
        "padding": geometry.padding,
        "dilation": geometry.dilation,
        "transposed": extra is not None,
        "outputPadding": extra or [0] * len(geometry.stride),
        "groups": geometry.groups,
        "outputMask": list(mask),
        "cubeMathType": mode,
        "gradInput": like(x.shape, mask[0]),
        "gradWeight": like(weight.shape, mask[1]),
        "gradBias": like((channels,), mask[2]),
    }
    return Case("aclnnConvolutionBackward", arguments)


def within(result: Array, golden: Array, terms: Array, length: int) -> None:
    """Sums in FLOAT, rounded once."""
    bound = (length + 4) * 2.0**-24 * terms + 0.5 * spacing(golden, result.dtype)
    assert result.shape == golden.shape
    assert (np.abs(result.astype(np.float64) - golden) <= bound).all()


@st.composite
def geometries(draw: st.DrawFn) -> tuple[Geometry, tuple[int, ...], tuple[int, ...]]:
    """How a kernel moves; its lengths; those of the images."""
    axes = draw(st.integers(1, 3))
    small = st.integers(1, 3)
    kernel, stride, dilation = (tuple(draw(small) for _ in range(axes)) for _ in range(3))
    padding = tuple(draw(st.integers(0, 2)) for _ in range(axes * draw(st.integers(1, 2 if axes < 3 else 1))))
    geometry = Geometry(stride, padding, dilation, draw(st.sampled_from((1, 1, 2, 3))))
    pads = geometry.pads(axes)
    least = [max(1, dilation[i] * (kernel[i] - 1) + 1 - sum(pads[i])) for i in range(axes)]
    return geometry, kernel, tuple(least[i] + draw(st.integers(0, 3)) for i in range(axes))


def channel_shape(array: Array, rank: int) -> Array:
    return np.asarray(array, np.float64).reshape(-1, *[1] * (rank - 2))


@given(st.data())
def test_convolutions_of_any_shape(device: int, data: st.DataObject) -> None:
    geometry, kernel, image = data.draw(geometries())
    groups, dtype = geometry.groups, data.draw(float_dtypes)
    count, results = data.draw(st.integers(1, 3)), groups * data.draw(st.integers(1, 3))
    channels = groups * data.draw(st.sampled_from((1, 2, 17)))
    x = numbers((count, channels, *image), dtype, 1)
    weight = numbers((results, channels // groups, *kernel), dtype, 2)
    bias = numbers((results,), dtype, 3) if data.draw(st.booleans()) else None
    wide_x, wide_weight = x.astype(np.float64), weight.astype(np.float64)
    golden, terms = forward(wide_x, wide_weight, geometry), forward(np.abs(wide_x), np.abs(wide_weight), geometry)
    if bias is not None:
        golden, terms = golden + channel_shape(bias, x.ndim), terms + np.abs(channel_shape(bias, x.ndim))
    out = np.ones(golden.shape, data.draw(float_dtypes))
    result = conv(x, weight, bias, out, geometry).run(data.draw(layouts))
    within(result, golden, terms, math.prod(weight.shape[1:]))


@pytest.mark.parametrize(("results", "kernel", "stride"), [(40, 3, 1), (40, 5, 2), (80, 5, 1), (400, 3, 1)])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_each_channel_on_its_own(results: int, kernel: int, stride: int, dtype: Any, device: int) -> None:
    geometry = Geometry((stride, stride), (kernel // 2, kernel // 2), (1, 1), 40)
    x, weight, bias = numbers((3, 40, 20, 31), dtype, 1), numbers((results, 1, kernel, kernel), dtype, 2), numbers((results,), dtype, 3)
    both = forward(*(array.astype(np.float64) for array in (x, weight)), geometry)
    terms = forward(*(np.abs(array.astype(np.float64)) for array in (x, weight)), geometry) + np.abs(channel_shape(bias, 4))
    result = conv(x, weight, bias, np.ones(both.shape, dtype), geometry).run()
    within(result, both + channel_shape(bias, 4), terms, kernel * kernel)


@given(st.data())
def test_transposed_convolutions_of_any_shape(device: int, data: st.DataObject) -> None:
    geometry, kernel, _ = data.draw(geometries())
    axes = len(kernel)
    geometry = geometry._replace(padding=geometry.padding[:axes])
    groups, dtype = geometry.groups, data.draw(float_dtypes)
    extra = [data.draw(st.integers(0, max(geometry.stride[i], geometry.dilation[i]) - 1)) for i in range(axes)]
    image = tuple(data.draw(st.integers(1, 4)) for _ in range(axes))
    lengths = geometry.back(image, kernel, extra)
    if min(lengths) < 1:
        return
    count, channels, results = data.draw(st.integers(1, 2)), groups * data.draw(st.integers(1, 3)), groups * data.draw(st.integers(1, 3))
    x, weight = numbers((count, channels, *image), dtype, 1), numbers((channels, results // groups, *kernel), dtype, 2)
    bias = numbers((results,), dtype, 3) if data.draw(st.booleans()) else None
    wide_x, wide_weight = x.astype(np.float64), weight.astype(np.float64)
    golden = spread(wide_x, wide_weight, lengths, geometry)
    terms = spread(np.abs(wide_x), np.abs(wide_weight), lengths, geometry)
    if bias is not None:
        golden, terms = golden + channel_shape(bias, x.ndim), terms + np.abs(channel_shape(bias, x.ndim))
    result = conv(x, weight, bias, np.ones(golden.shape, dtype), geometry, extra=extra).run(data.draw(layouts))
    within(result, golden, terms, channels // groups * math.prod(kernel))


@given(st.data())
def test_gradients_of_any_shape(device: int, data: st.DataObject) -> None:
    geometry, kernel, image = data.draw(geometries())
    axes = len(kernel)
    if axes == 1:
        geometry = geometry._replace(padding=geometry.padding[:1])
        least = max(1, geometry.dilation[0] * (kernel[0] - 1) + 1 - 2 * geometry.padding[0])
        image = (max(image[0], least),)
    groups, dtype, transposed = geometry.groups, data.draw(float_dtypes), data.draw(st.booleans())
    count, small, large = data.draw(st.integers(1, 3)), data.draw(st.sampled_from((1, 2, 17))), groups * data.draw(st.integers(1, 3))
    if transposed:
        geometry = geometry._replace(padding=geometry.padding[:axes])
        image = tuple(max(image[i], geometry.dilation[i] * (kernel[i] - 1) + 1) for i in range(axes))
    places = geometry.lengths(image, kernel)
    images, results = numbers((count, small * groups, *image), dtype, 1), numbers((count, large, *places), dtype, 2)
    weight = numbers((large, small, *kernel), dtype, 3)
    mask = tuple(data.draw(st.booleans()) for _ in range(3))
    extra = [image[i] - geometry.back(places, kernel, [0] * axes)[i] for i in range(axes)] if transposed else None
    gradient, x = (images, results) if transposed else (results, images)
    case = backward(gradient, x, weight, geometry, mask, extra=extra)
    if not any(mask):
        assert case.plan() == (0, 0)
        return
    found = iter(case.results(data.draw(layouts)))
    big, rows, kernels = (array.astype(np.float64) for array in (images, results, weight))
    size = math.prod(kernel)
    if mask[0]:
        both = [
            forward(i, k, geometry) if transposed else spread(r, k, image, geometry)
            for i, r, k in ((big, rows, kernels), (abs(big), abs(rows), abs(kernels)))
        ]
        within(next(found), *both, size * (small if transposed else large // groups))
    if mask[1]:
        both = [weight_gradient(i, r, weight.shape, geometry) for i, r in ((big, rows), (abs(big), abs(rows)))]
        within(next(found), *both, count * (math.prod(image) + 2 * math.prod(places)))
    if mask[2]:
        dims = (0, *range(2, gradient.ndim))
        wide = gradient.astype(np.float64)
        within(next(found), wide.sum(dims), np.abs(wide).sum(dims), 4)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_a_layer(dtype: np.dtype, device: int) -> None:
    """Many images of many channels, in several blocks."""
    geometry = Geometry((1, 1), (1, 1), (1, 1))
    x, weight = numbers((5, 40, 60, 60), dtype, 1), numbers((24, 40, 3, 3), dtype, 2, 0.1)
    golden = forward(x.astype(np.float64), weight.astype(np.float64), geometry)
    result = conv(x, weight, None, np.zeros(golden.shape, dtype), geometry).run()
    large = np.abs(golden) > 1
    assert_meets_standard(result[large], golden[large])


def test_float_is_rounded_by_mode(device: int, chip: Any) -> None:
    geometry = Geometry((1,), (0,), (1,))
    x, weight = numbers((1, 3, 9), FLOAT, 1), numbers((2, 3, 3), FLOAT, 2)
    half = [array.astype(np.float16).astype(np.float64) for array in (x, weight)]
    short = [to_hf32(array) for array in (x, weight)]
    exact = [array.astype(np.float64) for array in (x, weight)]
    cases = ((A2, KEEP, exact), (A2, DOWN, short), (A2, HALF, half), (A2, HF32, short), (OLD, DOWN, half), (NEWEST, KEEP, exact))
    for soc, mode, factors in cases:
        chip(soc)
        result = conv(x, weight, None, np.zeros((1, 2, 7), FLOAT), geometry, mode).run()
        within(result, forward(*factors, geometry), forward(*map(np.abs, factors), geometry), 9)


def test_types_of_eight_bits(device: int, chip: Any) -> None:
    chip(NEWEST)
    geometry = Geometry((2,), (0,), (1,))
    eight = np.dtype(ml_dtypes.float8_e4m3fn)
    x, weight = numbers((1, 2, 3), eight, 1), numbers((2, 3, 2), eight, 2)
    result = conv(x, weight, None, np.zeros((1, 3, 6), eight), geometry, extra=[0]).run()
    golden = spread(x.astype(np.float64), weight.astype(np.float64), (6,), geometry)
    assert_equal(result, golden.astype(np.float32).astype(eight))
    gradient = numbers((1, 3, 6), eight, 3)
    (back,) = backward(gradient, x, weight, geometry, (True, False, False), extra=[0]).results()
    assert_equal(back, forward(gradient.astype(np.float64), weight.astype(np.float64), geometry).astype(np.float32).astype(eight))
    assert backward(gradient, x, weight, geometry, (True, True, False), extra=[0]).status() == ACLNN_ERR_PARAM_INVALID
    assert conv(x, weight, numbers((3,), FLOAT, 1), np.zeros((1, 3, 6), eight), geometry, extra=[0]).status() == ACLNN_ERR_PARAM_INVALID
    images, kernel = Meta((1, 2, 5), ACL_HIFLOAT8), Meta((3, 2, 2), ACL_HIFLOAT8)
    plain = conv(images, kernel, Meta((3,), FLOAT), Meta((1, 3, 2), FLOAT), geometry)
    assert plain.status() == 0
    assert plain.but(weight=Meta((3, 2, 2), FLOAT)).status() == ACLNN_ERR_PARAM_INVALID
    both = {"input": Meta((1, 2, 5), eight), "weight": Meta((3, 2, 2), eight)}
    assert plain.but(**both).status() == ACLNN_ERR_PARAM_INVALID


def test_documented_samples(device: int) -> None:
    ones = Geometry((1, 1), (0, 0), (1, 1))
    gradient, weight = np.ones((2, 2, 7, 7), FLOAT), np.ones((2, 2, 1, 1), FLOAT)
    found = backward(gradient, gradient, weight, ones, mode=DOWN).results()
    for result, value in zip(found, (2, 98, 98), strict=True):
        assert_equal(result, np.full(result.shape, value))
    single = tbc(np.ones((2, 2, 3), FLOAT), np.ones((3, 3, 4), FLOAT), np.ones(4, FLOAT), 1, np.zeros((2, 2, 4), FLOAT))
    result = single.but(cubeMathType=DOWN).run()
    assert_equal(result, np.full((2, 2, 4), 7))


def test_depthwise(device: int) -> None:
    x, weight, bias = numbers((2, 3, 6, 7), FLOAT16, 1), numbers((6, 1, 3, 2), FLOAT16, 2), numbers((6,), FLOAT16, 3)
    geometry = Geometry((1, 2), (1, 0), (2, 1), 3)
    golden = forward(x.astype(np.float64), weight.astype(np.float64), geometry)
    terms = forward(np.abs(x).astype(np.float64), np.abs(weight).astype(np.float64), geometry)
    call = depthwise(x, weight, None, np.zeros(golden.shape, FLOAT16), geometry)
    within(call.run(3), golden, terms, 6)
    added = channel_shape(bias, 4)
    within(call.but(bias=bias).run(), golden + added, terms + np.abs(added), 7)


def depthwise(x: Any, weight: Any, bias: Any, out: Any, geometry: Geometry) -> Case:
    arguments = {
        "self": x,
        "weight": weight,
        "kernelSize": list(weight.shape[2:]),
        "bias": bias,
        "stride": geometry.stride,
        "padding": geometry.padding,
        "dilation": geometry.dilation,
        "out": out,
        "cubeMathType": KEEP,
    }
    return Case("aclnnConvDepthwise2d", arguments)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_sequences(dtype: np.dtype, device: int) -> None:
    x, weight, bias = numbers((6, 2, 3), dtype, 1), numbers((3, 3, 4), dtype, 2), numbers((4,), dtype, 3)
    geometry = Geometry((1,), (1,), (1,))
    images, kernel = (array.astype(np.float64) for array in (x.transpose(1, 2, 0), weight.transpose(2, 1, 0)))
    golden, terms = forward(images, kernel, geometry), forward(np.abs(images), np.abs(kernel), geometry)
    added = channel_shape(bias, 3)
    result = tbc(x, weight, bias, 1, np.zeros((6, 2, 4), dtype)).run(2)
    within(result.transpose(1, 2, 0), golden + added, terms + np.abs(added), 10)
    gradient = numbers((6, 2, 4), dtype, 4)
    rows = gradient.transpose(1, 2, 0).astype(np.float64)
    found = tbc_backward(gradient, x, weight, bias, 1, *(np.zeros_like(array) for array in (x, weight, bias))).results(3)
    within(found[0].transpose(1, 2, 0), *(spread(r, k, (6,), geometry) for r, k in ((rows, kernel), (abs(rows), abs(kernel)))), 12)
    both = [weight_gradient(i, r, kernel.shape, geometry) for i, r in ((images, rows), (abs(images), abs(rows)))]
    within(found[1].transpose(2, 1, 0), *both, 12)
    within(found[2], rows.sum((0, 2)), np.abs(rows).sum((0, 2)), 4)


def tbc(x: Any, weight: Any, bias: Any, pad: int, out: Any) -> Case:
    return Case("aclnnConvTbc", {"self": x, "weight": weight, "bias": bias, "pad": pad, "out": out, "cubeMathType": KEEP})


def tbc_backward(gradient: Any, x: Any, weight: Any, bias: Any, pad: int, *outputs: Any) -> Case:
    names = ("self", "input", "weight", "bias", "pad", "cubeMathType", "gradInput", "gradWeight", "gradBias")
    return Case("aclnnConvTbcBackward", dict(zip(names, (gradient, x, weight, bias, pad, KEEP, *outputs), strict=True)))


def test_empty_tensors(device: int) -> None:
    geometry = Geometry((1, 1), (0, 0), (1, 1))
    nothing, weight = np.zeros((0, 2, 5, 5), FLOAT), numbers((3, 2, 2, 2), FLOAT, 1)
    assert conv(nothing, weight, None, np.zeros((0, 3, 4, 4), FLOAT), geometry).plan() == (0, 0)
    found = backward(np.zeros((0, 3, 4, 4), FLOAT), nothing, weight, geometry).results()
    assert_equal(found[1], np.zeros(weight.shape))
    assert_equal(found[2], np.zeros(3))
    channels = Meta((2, 0, 5, 5), FLOAT)
    assert conv(channels, Meta((3, 0, 2, 2), FLOAT), None, Meta((2, 3, 4, 4), FLOAT), geometry).status() == ACLNN_ERR_PARAM_INVALID


PLAIN = Geometry((1, 1), (0, 0), (1, 1))
F, H = FLOAT, FLOAT16
CONV = conv(Meta((2, 4, 6, 7), F), Meta((6, 4, 3, 2), F), Meta((6,), F), Meta((2, 6, 4, 6), F), PLAIN)
BACK = conv(Meta((2, 4, 3, 4), F), Meta((4, 3, 3, 2), F), Meta((3,), F), Meta((2, 3, 5, 5), F), PLAIN, extra=[0, 0])
ONE = conv(Meta((2, 4, 6), F), Meta((6, 4, 3), F), None, Meta((2, 6, 4), F), Geometry((1,), (0,), (1,)))
GRADIENTS = backward(Meta((2, 6, 4, 6), F), Meta((2, 4, 6, 7), F), Meta((6, 4, 3, 2), F), PLAIN)
DEPTHWISE = depthwise(Meta((2, 3, 6, 7), F), Meta((6, 1, 3, 2), F), None, Meta((2, 6, 4, 6), F), PLAIN)
TBC = tbc(Meta((6, 2, 3), F), Meta((3, 3, 4), F), Meta((4,), F), 1, Meta((6, 2, 4), F))
TBC_BACK = tbc_backward(
    Meta((6, 2, 4), F), Meta((6, 2, 3), F), Meta((3, 3, 4), F), Meta((4,), F), 1, Meta((6, 2, 3), F), Meta((3, 3, 4), F), Meta((4,), F)
)

WRONG: list[tuple[Case, dict[str, Any]]] = [
    (CONV, {"input": Meta((2, 4, 6, 7), np.int8)}),
    (CONV, {"input": Meta((2, 4, 6, 7), F, format=ACL_FORMAT_ND)}),
    (CONV, {"input": Meta((2, 4, 6, 7), F, format=ACL_FORMAT_NHWC)}),
    (CONV, {"input": Meta((4, 6), F, format=ACL_FORMAT_NCHW)}),
    (CONV, {"weight": Meta((6, 4, 3), F)}),
    (CONV, {"bias": Meta((6,), np.int32)}),
    (CONV, {"bias": Meta((5,), F)}),
    (CONV, {"bias": Meta((2, 3), F)}),
    (CONV, {"stride": [1]}),
    (CONV, {"stride": [0, 1]}),
    (CONV, {"padding": [0]}),
    (CONV, {"padding": [0, 0, 0]}),
    (CONV, {"padding": [0, -1]}),
    (CONV, {"dilation": [1, 1, 1]}),
    (CONV, {"dilation": [1, 0]}),
    (CONV, {"dilation": [3, 1]}),
    (CONV, {"groups": 0}),
    (CONV, {"groups": 2}),
    (CONV, {"groups": 65536}),
    (CONV, {"input": Meta((2, 12, 6, 7), F), "groups": 3, "weight": Meta((7, 4, 3, 2), F)}),
    (CONV, {"weight": Meta((6, 4, 7, 2), F)}),
    (CONV, {"weight": Meta((6, 4, 0, 2), F)}),
    (CONV, {"output": Meta((2, 6, 4, 7), F)}),
    (CONV, {"output": Meta((6, 4, 6), F)}),
    (CONV, {"cubeMathType": 4}),
    (ONE, {"padding": [0, 0, 0]}),
    (BACK, {"output": Meta((2, 3, 5, 5), H)}),
    (BACK, {"outputPadding": [0]}),
    (BACK, {"outputPadding": [1, 0]}),
    (BACK, {"outputPadding": [-1, 0]}),
    (BACK, {"input": Meta((2, 3, 3, 4), F)}),
    (BACK, {"groups": 3}),
    (BACK, {"bias": Meta((1, 3), F)}),
    (BACK, {"bias": Meta((4,), F)}),
    (BACK, {"padding": [3, 3]}),
    (GRADIENTS, {"gradOutput": Meta((2, 6, 4, 6), np.float64)}),
    (GRADIENTS, {"input": Meta((2, 4, 6, 7), F, format=ACL_FORMAT_ND)}),
    (GRADIENTS, {"gradOutput": Meta((2, 6, 4, 7), F)}),
    (GRADIENTS, {"input": Meta((2, 5, 6, 7), F)}),
    (GRADIENTS, {"weight": Meta((6, 4, 3, 3), F)}),
    (GRADIENTS, {"biasSizes": [5]}),
    (GRADIENTS, {"biasSizes": [6, 1]}),
    (GRADIENTS, {"stride": [1]}),
    (GRADIENTS, {"padding": [0]}),
    (GRADIENTS, {"dilation": [1]}),
    (GRADIENTS, {"groups": 2}),
    (GRADIENTS, {"outputMask": [True, True]}),
    (GRADIENTS, {"gradInput": Meta((2, 4, 6, 6), F)}),
    (GRADIENTS, {"gradWeight": Meta((6, 4, 2, 3), F)}),
    (GRADIENTS, {"gradBias": Meta((5,), F)}),
    (GRADIENTS, {"cubeMathType": -1}),
    (DEPTHWISE, {"self": Meta((2, 3, 6, 7), np.int32)}),
    (DEPTHWISE, {"weight": Meta((6, 1, 3, 2), H)}),
    (DEPTHWISE, {"out": Meta((2, 6, 4, 6), H)}),
    (DEPTHWISE, {"weight": Meta((6, 3, 3, 2), F)}),
    (DEPTHWISE, {"weight": Meta((5, 1, 3, 2), F)}),
    (DEPTHWISE, {"kernelSize": [2, 3]}),
    (DEPTHWISE, {"stride": [1]}),
    (DEPTHWISE, {"padding": [1, 1, 1, 1]}),
    (DEPTHWISE, {"dilation": [1, 1, 1]}),
    (DEPTHWISE, {"out": Meta((2, 6, 4, 5), F)}),
    (DEPTHWISE, {"bias": Meta((3,), F)}),
    (TBC, {"self": Meta((6, 2, 3), np.int8)}),
    (TBC, {"weight": Meta((3, 3, 4), H)}),
    (TBC, {"self": Meta((6, 2, 2), F)}),
    (TBC, {"self": Meta((6, 3), F)}),
    (TBC, {"weight": Meta((3, 4), F)}),
    (TBC, {"bias": Meta((1, 4), F)}),
    (TBC, {"bias": Meta((3,), F)}),
    (TBC, {"out": Meta((5, 2, 4), F)}),
    (TBC, {"pad": -1}),
    (TBC, {"weight": Meta((9, 3, 4), F)}),
    (TBC_BACK, {"self": Meta((6, 2, 4), np.int8)}),
    (TBC_BACK, {"input": Meta((6, 2, 3), H)}),
    (TBC_BACK, {"gradInput": Meta((6, 2, 4), F)}),
    (TBC_BACK, {"gradWeight": Meta((3, 3, 3), F)}),
    (TBC_BACK, {"gradBias": Meta((5,), F)}),
    (TBC_BACK, {"weight": Meta((3, 4, 4), F)}),
    (TBC_BACK, {"bias": Meta((3,), F)}),
    (TBC_BACK, {"bias": Meta((4, 1), F)}),
    (TBC_BACK, {"self": Meta((5, 2, 4), F)}),
    (TBC_BACK, {"pad": -1}),
]


@pytest.mark.parametrize(("call", "changes"), WRONG, ids=lambda item: item.operator if isinstance(item, Case) else str(item)[:60])
def test_parameter_errors(call: Case, changes: dict[str, Any]) -> None:
    assert call.status() == 0, message()
    assert call.but(**changes).status() == ACLNN_ERR_PARAM_INVALID


def test_null_pointers() -> None:
    optional = {"bias", "biasSizes", "gradInput", "gradWeight", "gradBias"}
    for call in (CONV, DEPTHWISE):
        for name, kind in call.declared.parameters:
            if kind.pointer:
                assert call.but(**{name: None}).status() == (0 if name in optional else ACLNN_ERR_PARAM_NULLPTR)
    for name, kind in GRADIENTS.declared.parameters:
        if kind.pointer:
            assert GRADIENTS.but(**{name: None}).status() == ACLNN_ERR_PARAM_NULLPTR, name
    unwanted = dict.fromkeys(("biasSizes", "gradInput", "gradWeight", "gradBias"))
    assert GRADIENTS.but(outputMask=[False] * 3, **unwanted).status() == 0


def test_what_is_accepted() -> None:
    assert CONV.but(bias=Meta((1, 6, 1, 1), F)).status() == 0
    assert CONV.but(padding=[1, 0, 0, 1], output=Meta((2, 6, 5, 7), F)).status() == 0
    assert CONV.but(outputPadding=[5]).status() == 0
    assert ONE.but(padding=[1, 0], output=Meta((2, 6, 5), F)).status() == 0
    assert CONV.but(output=Meta((2, 6, 4, 6), H)).status() == 0
    assert CONV.but(weight=Meta((6, 4, 3, 2), H)).status() == 0
    assert CONV.but(cubeMathType=HF32, **{name: CONV.arguments[name]._replace(dtype=BF16) for name in ("input", "weight")}).status() == 0


STEEP = Geometry((1, 64, 1), (0, 0, 0), (1, 1, 1))
VOLUME = conv(Meta((1, 1, 2, 70, 70), H), Meta((1, 1, 1, 1, 1), H), None, Meta((1, 1, 2, 2, 70), H), STEEP)
PADDED = conv(Meta((1, 1, 2, 2), H), Meta((1, 1, 1, 1), H), None, Meta((1, 1, 514, 2), H), Geometry((1, 1), (256, 0), (1, 1)))
LARGE = conv(Meta((1, 1, 300, 1), H), Meta((1, 1, 260, 1), H), None, Meta((1, 1, 559, 1), H), PLAIN, extra=[0, 0])


def test_limits_of_chips(chip: Any) -> None:
    """What the matrix unit cannot do finds no kernel: by call, the chips that can."""
    geometry = Geometry((1,) * 3, (0,) * 3, (1,) * 3)
    three = conv(Meta((1, 1, 2, 2, 2), F), Meta((1, 1, 1, 1, 1), F), None, Meta((1, 1, 2, 2, 2), F), geometry, DOWN)
    chips = (A2, "Ascend910_9391", NEWEST, OLD, "Ascend310B1")
    expected = [
        (CONV.but(cubeMathType=DOWN), {*chips}),
        (BACK.but(cubeMathType=DOWN), {*chips} - {"Ascend310B1"}),
        (ONE.but(cubeMathType=DOWN), {*chips} - {"Ascend310B1"}),
        (three, {A2, "Ascend910_9391", NEWEST}),
        (VOLUME, set()),
        (PADDED, {NEWEST}),
        (LARGE, {NEWEST, OLD}),
    ]
    for case, accepting in expected:
        for soc in chips:
            chip(soc)
            assert case.status() == (0 if soc in accepting else ACLNN_ERR_INNER_NULLPTR), (soc, case)


def test_gradients_by_chip(chip: Any) -> None:
    volume = backward(Meta((1, 1, 2, 2, 2), H), Meta((1, 1, 2, 2, 2), H), Meta((1, 1, 1, 1, 1), H), Geometry((1,) * 3, (0,) * 3, (1,) * 3))
    wide = backward(Meta((1, 1, 41, 1), H), Meta((1, 1, 300, 1), H), Meta((1, 1, 260, 1), H), PLAIN)
    for soc, flat, deep, large in ((A2, 0, 0, 1), (NEWEST, 0, 0, 0), (OLD, 0, 1, 0), ("Ascend910A", 0, 1, 0)):
        chip(soc)
        found = [GRADIENTS.but(cubeMathType=DOWN).status(), volume.status(), wide.status()]
        assert found == [ACLNN_ERR_INNER_NULLPTR if no else 0 for no in (flat, deep, large)], soc


def test_products(chip: Any) -> None:
    chip("Ascend910A")
    assert CONV.but(cubeMathType=DOWN).status() == ACLNN_ERR_PARAM_INVALID
    assert DEPTHWISE.but(cubeMathType=DOWN).status() == TBC.but(cubeMathType=DOWN).status() == ACLNN_ERR_RUNTIME_ERROR
    assert TBC_BACK.but(cubeMathType=DOWN).status() == 0
    chip("Ascend310B1")
    assert GRADIENTS.status() == ACLNN_ERR_PARAM_INVALID
    assert TBC_BACK.status() == ACLNN_ERR_INNER_NULLPTR
    chip(OLD)
    assert CONV.status() == GRADIENTS.status() == ACLNN_ERR_PARAM_INVALID
    assert "cubeMathType" in message()
    assert CONV.but(cubeMathType=HF32).status() == ACLNN_ERR_PARAM_INVALID
