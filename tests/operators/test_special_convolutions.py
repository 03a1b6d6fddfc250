"""aclnnQuantConvolution, aclnnDeformableConv2d and its gradients."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from acl_emu import ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.convolving import Geometry, forward
from tests.operators.products import products_of
from tests.operators.raw import Raw, run_raw
from tests.operators.test_quant_product import codes_of

NEWEST = "Ascend950PR_9589"
INT8, INT32 = np.dtype(np.int8), np.dtype(np.int32)


def quantised(x: Any, weight: Any, bias: Any, scale: Any, out: Any, geometry: Geometry, **changes: Any) -> Case:
    arguments = {
        "input": x,
        "weight": weight,
        "bias": bias,
        "scale": scale,
        "offset": None,
        "stride": geometry.stride,
        "padding": geometry.padding,
        "dilation": geometry.dilation,
        "transposed": False,
        "outputPadding": None,
        "groups": geometry.groups,
        "offsetx": 0,
        "roundMode": None,
        "output": out,
    }
    return Case("aclnnQuantConvolution", {**arguments, **changes})


@pytest.mark.parametrize("dtype", [FLOAT16, BF16], ids=str)
def test_quantised_volumes(dtype: np.dtype, device: int) -> None:
    geometry = Geometry((1, 2, 1), (1, 0, 1), (1, 1, 2))
    x, weight = numbers((2, 20, 3, 6, 6), INT8, 1, 40), numbers((4, 20, 2, 3, 2), INT8, 2, 40)
    scale, bias = np.abs(numbers((4,), FLOAT, 3)) * np.float32(0.001), numbers((4,), dtype, 4)
    sums = forward(x.astype(np.float64), weight.astype(np.float64), geometry)
    golden = sums * scale.astype(np.float64).reshape(-1, 1, 1, 1) + bias.astype(np.float64).reshape(-1, 1, 1, 1)
    result = quantised(x, weight, bias, scale, np.zeros(golden.shape, dtype), geometry).run(3)
    assert_accurate(result, golden, largest=np.abs(golden) + 8)


def test_sums_are_exact(chip: Any, device: int) -> None:
    """More terms, and larger ones, than FLOAT could count."""
    chip(NEWEST)
    geometry = Geometry((1, 1), (0, 0), (1, 1))
    x, weight = np.full((1, 1500, 3, 3), -128, INT8), np.full((2, 1500, 2, 2), -128, INT8)
    x[0, ::2, 1] = 127
    sums = forward(x.astype(np.float64), weight.astype(np.float64), geometry)
    offset = -sums[0, :, 0, 0].astype(np.int32)
    result = quantised(x, weight, offset, np.ones(2, np.float32), np.zeros((1, 2, 2, 2), FLOAT), geometry).run()
    assert_equal(result, sums + offset.reshape(-1, 1, 1))


def test_quantised_images_of_the_newest_chip(chip: Any, device: int) -> None:
    chip(NEWEST)
    geometry = Geometry((1, 1), (1, 1, 0, 0), (1, 1), 2)
    eight = np.dtype(ml_dtypes.float8_e4m3fn)
    x, weight = numbers((1, 4, 5, 5), eight, 1), numbers((6, 2, 3, 3), eight, 2)
    scale, bias = np.full(6, 0.5, np.float32), numbers((6,), FLOAT, 3)
    golden = forward(x.astype(np.float64), weight.astype(np.float64), geometry) * 0.5 + bias.astype(np.float64).reshape(-1, 1, 1)
    for given in (scale, codes_of(scale)):
        result = quantised(x, weight, bias, given, np.zeros(golden.shape, FLOAT), geometry, roundMode="rint").run()
        assert_accurate(result, golden, largest=np.abs(golden) + 50)


Q = quantised(
    Meta((1, 2, 3, 4, 5), INT8),
    Meta((4, 2, 1, 2, 2), INT8),
    Meta((4,), FLOAT),
    Meta((4,), FLOAT),
    Meta((1, 4, 3, 3, 4), FLOAT16),
    Geometry((1,) * 3, (0,) * 3, (1,) * 3),
)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"input": None}, ACLNN_ERR_PARAM_NULLPTR),
        ({"scale": None}, ACLNN_ERR_PARAM_NULLPTR),
        ({"input": Meta((1, 2, 3, 4, 5), np.uint8)}, ACLNN_ERR_PARAM_INVALID),
        ({"input": Meta((1, 2, 3, 4, 5), INT8, format=2)}, ACLNN_ERR_PARAM_INVALID),
        ({"input": Meta((2, 3, 4, 5), INT8)}, ACLNN_ERR_PARAM_INVALID),
        ({"input": Meta((1, 3, 3, 4, 5), INT8)}, ACLNN_ERR_PARAM_INVALID),
        ({"input": Meta((0, 2, 3, 4, 5), INT8)}, ACLNN_ERR_PARAM_INVALID),
        ({"weight": Meta((4, 2, 4, 2, 2), INT8)}, ACLNN_ERR_PARAM_INVALID),
        ({"bias": Meta((3,), FLOAT)}, ACLNN_ERR_PARAM_INVALID),
        ({"bias": Meta((4,), INT32)}, ACLNN_ERR_PARAM_INVALID),
        ({"scale": Meta((3,), FLOAT)}, ACLNN_ERR_PARAM_INVALID),
        ({"scale": Meta((4,), np.int64)}, ACLNN_ERR_PARAM_INVALID),
        ({"offset": Meta((4,), FLOAT)}, ACLNN_ERR_PARAM_INVALID),
        ({"stride": [1, 1]}, ACLNN_ERR_PARAM_INVALID),
        ({"stride": [1, 0, 1]}, ACLNN_ERR_PARAM_INVALID),
        ({"padding": [0]}, ACLNN_ERR_PARAM_INVALID),
        ({"dilation": [1, 1]}, ACLNN_ERR_PARAM_INVALID),
        ({"groups": 2}, ACLNN_ERR_PARAM_INVALID),
        ({"transposed": True}, ACLNN_ERR_PARAM_INVALID),
        ({"offsetx": 1}, ACLNN_ERR_PARAM_INVALID),
        ({"roundMode": "floor"}, ACLNN_ERR_PARAM_INVALID),
        ({"output": Meta((1, 4, 3, 3, 3), FLOAT16)}, ACLNN_ERR_PARAM_INVALID),
        ({"output": Meta((1, 4, 3, 3, 4), FLOAT)}, ACLNN_ERR_PARAM_INVALID),
        ({"padding": [0, 256, 0], "output": Meta((1, 4, 3, 515, 4), FLOAT16)}, ACLNN_ERR_INNER_NULLPTR),
    ],
    ids=str,
)
def test_errors_of_quantised_ones(changes: dict[str, Any], status: int, chip: Any) -> None:
    assert Q.status() == 0
    assert Q.but(**changes).status() == status
    chip("Ascend310P3")
    assert Q.status() == ACLNN_ERR_PARAM_INVALID


KERNEL, STRIDE, PADDING, DILATION, GROUPS, PARTS = (3, 2), (2, 1), (1, 1, 0, 1), (1, 2), 2, 2
PLACES = (3, 5)


def bilinear(image: Array, y: float, x: float) -> Any:
    """Between the four pixels around a place; zero outside."""
    value: Any = 0.0
    for row in (math.floor(y), math.floor(y) + 1):
        for column in (math.floor(x), math.floor(x) + 1):
            if 0 <= row < image.shape[0] and 0 <= column < image.shape[1]:
                value += image[row, column] * (1 - abs(y - row)) * (1 - abs(x - column))
    return value


def moved(x: Array, offset: Array) -> Array:
    """All samples, by the formula: (images, channels, places × kernel)."""
    high, wide = KERNEL
    split = offset.reshape(len(x), 3, PARTS, high, wide, *PLACES)
    found = np.zeros((*x.shape[:2], PLACES[0] * high, PLACES[1] * wide))
    for n, c, oh, kh, ow, kw in np.ndindex(*x.shape[:2], PLACES[0], high, PLACES[1], wide):
        part = c // (x.shape[1] // PARTS)
        dx, dy, mask = split[n, :, part, kh, kw, oh, ow]
        y = oh * STRIDE[0] - PADDING[0] + kh * DILATION[0] + dy
        across = ow * STRIDE[1] - PADDING[2] + kw * DILATION[1] + dx
        found[n, c, oh * high + kh, ow * wide + kw] = mask * bilinear(x[n, c], y, across)
    return found


def convolved(samples: Array, weight: Array) -> Array:
    return forward(samples, weight, Geometry(KERNEL, (0, 0), (1, 1), GROUPS))


def inputs(dtype: np.dtype) -> tuple[Array, Array, Array]:
    x, weight = numbers((2, 4, 5, 6), dtype, 1), numbers((6, 2, *KERNEL), dtype, 2)
    return x, weight, numbers((2, 3 * PARTS * 6, *PLACES), dtype, 3)


def deformable(x: Any, weight: Any, offset: Any, bias: Any, out: Any, samples: Any, **changes: Any) -> Case:
    arguments = {
        "x": x,
        "weight": weight,
        "offset": offset,
        "biasOptional": bias,
        "kernelSize": KERNEL,
        "stride": (1, 1, *STRIDE),
        "padding": PADDING,
        "dilation": (1, 1, *DILATION),
        "groups": GROUPS,
        "deformableGroups": PARTS,
        "modulated": True,
        "out": out,
        "deformOutOptional": samples,
    }
    return Case("aclnnDeformableConv2d", {**arguments, **changes})


@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16, BF16], ids=str)
def test_moved_samples(dtype: np.dtype, device: int) -> None:
    x, weight, offset = inputs(dtype)
    bias = numbers((6,), dtype, 4)
    samples = moved(x.astype(np.float64), offset.astype(np.float64))
    golden = convolved(samples, weight.astype(np.float64)) + bias.astype(np.float64).reshape(-1, 1, 1)
    case = deformable(x, weight, offset, bias, np.zeros((2, 6, *PLACES), dtype), np.zeros(samples.shape, dtype))
    out, found = case.results(3)
    assert_accurate(found, samples, largest=np.abs(samples) + 4)
    assert_accurate(out, golden, largest=np.abs(golden) + 64)
    (alone,) = case.but(deformOutOptional=None, biasOptional=None).results()
    assert_accurate(alone, convolved(samples, weight.astype(np.float64)), largest=np.abs(golden) + 64)


def test_moves_without_weights(device: int) -> None:
    x, weight, offset = inputs(FLOAT)
    plain = offset.reshape(2, 3, -1, *PLACES).copy()
    plain[:, 2] = 1
    whole = deformable(x, weight, plain.reshape(offset.shape), None, np.zeros((2, 6, *PLACES), FLOAT), None).results()
    short = np.ascontiguousarray(plain[:, :2]).reshape(2, -1, *PLACES)
    without = deformable(x, weight, short, None, np.zeros((2, 6, *PLACES), FLOAT), None, modulated=False).results()
    assert_equal(whole[0], without[0])


def test_gradients_are_differences(chip: Any, device: int) -> None:
    """Against the formula, a small step to both sides."""
    chip(NEWEST)
    x, weight, offset = inputs(FLOAT)
    offset = (np.round(offset * 4) / 4 + np.float32(0.1)).astype(np.float32)  # not where the slope jumps
    gradient = numbers((2, 6, *PLACES), FLOAT, 5)
    samples = moved(x.astype(np.float64), offset.astype(np.float64))
    names = ("input", "gradOutput", "offsetOut", "weight", "offset")
    attributes = deformable(None, None, None, None, None, None).arguments
    arguments = {
        **dict(zip(names, (x, gradient, samples.astype(np.float32), weight, offset), strict=True)),
        **{name: attributes[name] for name in ATTRIBUTES},
        "gradInput": np.zeros_like(x),
        "gradWeight": np.zeros_like(weight),
        "gradOffset": np.zeros_like(offset),
        "gradBias": np.zeros(6, np.float32),
    }
    found = Case("aclnnDeformableConv2dBackward", arguments).results(3)
    wide = gradient.astype(np.float64)
    np.testing.assert_allclose(found[3], wide.sum((0, 2, 3)), rtol=1e-5, atol=1e-5)

    def loss(x: Array, weight: Array, offset: Array) -> float:
        return float((convolved(moved(x, offset), weight) * wide).sum())

    base = [array.astype(np.float64) for array in (x, weight, offset)]
    rng = np.random.default_rng(1)
    for position, result in enumerate(found[:3]):
        for _ in range(4):
            direction = rng.standard_normal(base[position].shape)
            sides = []
            for step in (1e-5, -1e-5):
                changed = [array + step * direction if place == position else array for place, array in enumerate(base)]
                sides.append(loss(*changed))
            expected = (sides[0] - sides[1]) / 2e-5
            assert (result.astype(np.float64) * direction).sum() == pytest.approx(expected, rel=1e-3, abs=1e-2)


ATTRIBUTES = ("kernelSize", "stride", "padding", "dilation", "groups", "deformableGroups", "modulated")
X, W, OFFSET = Meta((2, 4, 5, 6), FLOAT), Meta((6, 2, 3, 2), FLOAT), Meta((2, 36, 3, 5), FLOAT)
PLAIN = deformable(X, W, OFFSET, Meta((6,), FLOAT), Meta((2, 6, 3, 5), FLOAT), Meta((2, 4, 9, 10), FLOAT))
BACK = Case(
    "aclnnDeformableConv2dBackward",
    {
        "input": X,
        "gradOutput": Meta((2, 6, 3, 5), FLOAT),
        "offsetOut": Meta((2, 4, 9, 10), FLOAT),
        "weight": W,
        "offset": OFFSET,
        **{
            name: PLAIN.arguments[name]
            for name in ("kernelSize", "stride", "padding", "dilation", "groups", "deformableGroups", "modulated")
        },
        "gradInput": X,
        "gradWeight": W,
        "gradOffset": OFFSET,
        "gradBias": Meta((6,), FLOAT),
    },
)
SHARED: list[dict[str, Any]] = [
    {"weight": Meta((6, 2, 2, 2), FLOAT)},
    {"weight": Meta((6, 2, 3, 2), FLOAT16)},
    {"offset": Meta((2, 24, 3, 5), FLOAT)},
    {"kernelSize": (3,)},
    {"kernelSize": (3, 0)},
    {"stride": (2, 1)},
    {"stride": (1, 2, 2, 1)},
    {"padding": (1, 1)},
    {"dilation": (1, 1)},
    {"dilation": (2, 1, 1, 1)},
    {"groups": 3},
    {"groups": 0},
    {"deformableGroups": 3},
    {"kernelSize": (64, 64)},
]


@pytest.mark.parametrize("changes", SHARED, ids=str)
def test_errors_of_moved_ones(changes: dict[str, Any], chip: Any) -> None:
    for case, soc in ((PLAIN, "Ascend910B1"), (BACK, NEWEST)):
        chip(soc)
        assert case.status() == 0
        assert case.but(**changes).status() == ACLNN_ERR_PARAM_INVALID


def test_other_errors_of_moved_ones(chip: Any) -> None:
    for changes in (
        {"x": Meta((2, 4, 5, 6), np.int8)},
        {"x": Meta((4, 5, 6), FLOAT)},
        {"x": Meta((0, 4, 5, 6), FLOAT)},
        {"biasOptional": Meta((5,), FLOAT)},
        {"out": Meta((2, 6, 5, 3), FLOAT)},
        {"deformOutOptional": Meta((2, 4, 10, 9), FLOAT)},
        {"deformOutOptional": Meta((2, 4, 9, 10), FLOAT16)},
    ):
        assert PLAIN.but(**changes).status() == ACLNN_ERR_PARAM_INVALID, changes
    assert products_of(PLAIN, chip) == {"950", "A3", "A2"}
    assert products_of(BACK, chip) == {"950"}
    chip(NEWEST)
    for name in ("x", "weight", "offset", "out"):
        assert PLAIN.but(**{name: None}).status() == ACLNN_ERR_PARAM_NULLPTR
    for name in ("offsetOut", "gradBias", "gradInput"):
        assert BACK.but(**{name: None}).status() == ACLNN_ERR_PARAM_NULLPTR
    for changes in (
        {"modulated": False},
        {"gradInput": OFFSET},
        {"gradBias": Meta((5,), FLOAT)},
        {"gradOutput": Meta((2, 6, 5, 3), FLOAT)},
    ):
        assert BACK.but(**changes).status() == ACLNN_ERR_PARAM_INVALID, changes


def size_of(shape: list[int], transposed: bool = False, groups: int = 1, code: int = acl.ACL_FLOAT16) -> tuple[int, int]:
    handle = acl.aclCreateIntArray(shape)
    found = aclnnop.aclnnCalculateConvolutionWeightSize(handle, transposed, groups, code)
    acl.aclDestroyIntArray(handle)
    return found


def test_sizes_of_kernels_in_blocks(chip: Any) -> None:
    wrong = (0, ACLNN_ERR_PARAM_INVALID)
    assert size_of([2, 4, 8, 8])[1] == ACLNN_ERR_INNER_NULLPTR
    chip("Ascend310P3")
    assert size_of([2, 4, 8, 8]) == (16384, 0)
    assert size_of([17, 33, 1, 2]) == (3 * 2 * 2 * 16 * 16, 0)
    assert size_of([0, 4, 8, 8]) == (0, 0)
    assert size_of([2, 4, 8]) == size_of([2, 4, 8, -1]) == size_of([2, 4, 8, 8], True) == size_of([2, 4, 8, 8], groups=0) == wrong
    assert size_of([2, 4, 8, 8], code=acl.ACL_FLOAT) == wrong
    assert aclnnop.aclnnCalculateConvolutionWeightSize(None, False, 1, acl.ACL_FLOAT16) == (0, ACLNN_ERR_PARAM_NULLPTR)


@pytest.mark.parametrize("dtype", [FLOAT16, FLOAT], ids=str)
def test_a_kernel_in_blocks(dtype: np.dtype, chip: Any, device: int) -> None:
    """As the page's program does it: into blocks, and a convolution with the same tensor."""
    chip("Ascend310P3")
    shape, size = (5, 20, 3, 2), 2 * 3 * 2 * 1 * 16 * 16
    weight, x = numbers(shape, dtype, 1), numbers((2, 20, 6, 7), FLOAT16, 2)
    geometry = Geometry((1, 1), (0, 0), (1, 1))
    half, source = acl.ACL_FLOAT16, acl.ACL_FLOAT if dtype == FLOAT else acl.ACL_FLOAT16
    memory = np.full(size, 7, FLOAT16)
    before = Raw(memory, shape, half, None, acl.ACL_FORMAT_NCHW, shape)
    status, found = run_raw(
        "aclnnTransConvolutionWeight",
        weightIn=Raw(weight, shape, source, None, acl.ACL_FORMAT_NCHW),
        transposed=False,
        groups=1,
        weightOut=before,
    )
    assert status == 0
    blocks = found["weightOut"].reshape(12, 1, 16, 16)
    expected = np.zeros_like(blocks)
    for n, c, h, w in np.ndindex(shape):
        expected[(c // 16 * 3 + h) * 2 + w, n // 16, n % 16, c % 16] = weight[n, c, h, w].astype(FLOAT16)
    np.testing.assert_array_equal(blocks, expected)
    arrays = {name: acl.aclCreateIntArray(list(values)) for name, values in zip(("stride", "padding", "dilation"), geometry, strict=False)}
    status, found = run_raw(
        "aclnnConvolution",
        input=Raw(x, x.shape, half, None, acl.ACL_FORMAT_NCHW),
        weight=Raw(found["weightOut"], shape, half, None, acl.ACL_FORMAT_FRACTAL_Z, blocks.shape),
        bias=None,
        **arrays,
        transposed=False,
        outputPadding=arrays["padding"],
        groups=1,
        output=Raw(np.zeros((2, 5, 4, 6), FLOAT16), (2, 5, 4, 6), half, None, acl.ACL_FORMAT_NCHW),
        cubeMathType=2,
    )
    assert status == 0
    golden = forward(x.astype(np.float64), weight.astype(FLOAT16).astype(np.float64), geometry)
    assert_accurate(found["output"], golden, largest=np.abs(golden) + 64)
    for array in arrays.values():
        acl.aclDestroyIntArray(array)


def test_errors_of_kernels_in_blocks(chip: Any) -> None:
    shape = (16, 16, 2, 2)
    case = Case(
        "aclnnTransConvolutionWeight",
        {"weightIn": Meta(shape, FLOAT), "transposed": False, "groups": 1, "weightOut": Meta(shape, FLOAT16)},
    )
    assert case.status() == ACLNN_ERR_INNER_NULLPTR
    chip("Ascend310P3")
    assert case.status() == 0
    for changes in (
        {"weightIn": Meta(shape, np.int8)},
        {"weightIn": Meta(shape, FLOAT, format=2)},
        {"weightIn": Meta((0, 16, 2, 2), FLOAT)},
        {"weightOut": Meta(shape, FLOAT)},
        {"transposed": True},
        {"groups": 65536},
    ):
        assert case.but(**changes).status() == ACLNN_ERR_PARAM_INVALID, changes
    assert case.but(weightIn=None).status() == ACLNN_ERR_PARAM_NULLPTR
