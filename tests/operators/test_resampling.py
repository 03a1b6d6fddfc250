"""Resampled images, samples along grids, columns of patches, and the way back: against loops over elements in float64."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acl_emu as acl
import aclnnop
from aclnnop.registry import MODULES
from tests.operators.accuracy import FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import layouts

INVALID, NULLPTR = acl.ACLNN_ERR_PARAM_INVALID, acl.ACLNN_ERR_PARAM_NULLPTR
UPSAMPLE = sorted(name for name in MODULES if name.startswith("aclnnUpsample"))
BACKWARD = [name for name in UPSAMPLE if name.endswith(("Backward", "BackwardV2", "Grad"))]
FORWARD = [name for name in UPSAMPLE if name not in BACKWARD]
WORDS = {"NearestExact": "exact", "Nearest": "nearest", "Linear": "linear", "Bilinear": "linear", "Trilinear": "linear", "Bicubic": "cubic"}

F = np.float32
"""Coordinates are part of the rule: they are computed in float32."""


def rule_of(operator: str) -> tuple[str, int]:
    """The name of a rule, and the number of axes."""
    word = next(one for one in WORDS if operator.removeprefix("aclnnUpsample").startswith(one))
    return WORDS[word] + (" aa" if "AA" in operator else ""), next(n for n in (1, 2, 3) if f"{n}d" in operator)


# References: one result after the other.


def step_of(length: int, count: int, scale: float, aligned: bool) -> Any:
    if aligned:
        return F(length - 1) / F(count - 1) if count > 1 else F(0)
    return F(1 / scale) if scale > 0 else F(length) / F(count)


def keys(distance: float, a: float) -> float:
    """The cubic convolution kernel."""
    d = abs(distance)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


def weights_of(rule: str, length: int, count: int, scale: float, aligned: bool) -> Array:
    """A row of weights for each result."""
    step = step_of(length, count, scale, aligned)
    matrix = np.zeros((count, length))
    for i in range(count):
        if rule in ("nearest", "exact"):
            matrix[i, min(math.floor(F(i + (0.5 if rule == "exact" else 0.0)) * step), length - 1)] = 1
        elif rule in ("linear", "cubic"):
            place = float(F(i) * step if aligned else (F(i) + F(0.5)) * step - F(0.5))
            place = min(max(place, 0.0), length - 1.0) if rule == "linear" else place
            low = min(math.floor(place), length - 1)
            rest = min(max(place - low, 0.0), 1.0)
            near = {0: 1 - rest, 1: rest} if rule == "linear" else {k: keys(rest - k, -0.75) for k in (-1, 0, 1, 2)}
            for k, weight in near.items():
                matrix[i, min(max(low + k, 0), length - 1)] += weight
        else:
            radius, wide = (1, max(float(step), 1.0)) if rule == "linear aa" else (2, max(float(step), 1.0))
            middle = float(step) * (i + 0.5)
            for j in range(max(int(middle - radius * wide + 0.5), 0), min(int(middle + radius * wide + 0.5), length)):
                distance = (j - middle + 0.5) / wide
                matrix[i, j] = max(1 - abs(distance), 0) if rule == "linear aa" else keys(distance, -0.5)
            matrix[i] /= matrix[i].sum() or 1
    return matrix


def applied(x: Array, matrices: Sequence[Array], first: int = 2) -> Array:
    for axis, matrix in enumerate(matrices, first):
        x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return x


# Drawn calls


@st.composite
def resampled(draw: st.DrawFn, operator: str) -> dict[str, Any]:
    """Lengths, sizes, scales and tensors of a call."""
    rule, axes = rule_of(operator)
    declared = aclnnop.find(operator)
    lengths = tuple(draw(st.integers(1, 7)) for _ in range(axes))
    scale = draw(st.sampled_from([0.0, 0.0, 0.6, 1.0, 1.7, 2.5])) if any(name.startswith("scale") for name in declared.names) else 0.0
    counts = tuple(draw(st.integers(1, 9)) if scale == 0 else max(1, int(n * scale)) for n in lengths)
    aligned = draw(st.booleans()) if "alignCorners" in declared.names else False
    scale_of = float(F(scale)) if operator.endswith("V2") and rule == "nearest" else scale
    matrices = [weights_of(rule, n, k, scale_of, aligned) for n, k in zip(lengths, counts, strict=True)]
    few = (np.dtype(np.float32), np.dtype(np.float16)) if operator == "aclnnUpsampleBilinear2dBackward" else FLOATS
    return {
        "lengths": lengths,
        "counts": counts,
        "scale": scale,
        "aligned": aligned,
        "matrices": matrices,
        "dtype": draw(st.sampled_from(few)),
        "lead": draw(st.sampled_from([(1, 1), (2, 3)])),
        "seed": draw(st.integers(0, 99)),
    }


def call_with(operator: str, call: dict[str, Any], *tensors: Array) -> Case:
    """The call, with input and output."""
    names = aclnnop.find(operator).names
    values: dict[str, Any] = {name: call["scale"] for name in names if name.startswith("scale")}
    values |= {"outputSize": call["counts"], "inputSize": (*call["lead"], *call["lengths"]), "alignCorners": call["aligned"]}
    values |= {names[0]: tensors[0], names[-1]: tensors[1]}
    return Case(operator, {name: values[name] for name in names})


@pytest.mark.parametrize("operator", FORWARD)
@settings(max_examples=25)
@given(data=st.data(), layout=layouts)
def test_resampled(operator: str, data: st.DataObject, layout: int, device: int) -> None:
    call = data.draw(resampled(operator))
    x = numbers((*call["lead"], *call["lengths"]), call["dtype"], call["seed"], 3)
    out = call_with(operator, call, x, numbers((*call["lead"], *call["counts"]), call["dtype"], 1)).run(layout)
    golden = applied(x.astype(np.float64), call["matrices"])
    if "Nearest" in operator:
        assert_equal(out, golden)
    else:
        assert_accurate(out, golden, largest=np.abs(x.astype(np.float64)).max())


@pytest.mark.parametrize("operator", BACKWARD)
@settings(max_examples=25)
@given(data=st.data(), layout=layouts)
def test_gradients_of_resampled(operator: str, data: st.DataObject, layout: int, device: int) -> None:
    call = data.draw(resampled(operator))
    grad = numbers((*call["lead"], *call["counts"]), call["dtype"], call["seed"], 3)
    out = call_with(operator, call, grad, numbers((*call["lead"], *call["lengths"]), call["dtype"], 1)).run(layout)
    wide = grad.astype(np.float64)
    back = [matrix.T for matrix in call["matrices"]]
    assert_accurate(out, applied(wide, back), largest=applied(np.abs(wide), [np.abs(matrix) for matrix in back]).max())


WIDE = [name for name in UPSAMPLE if np.float64 in {dtype.numpy.type for dtype in aclnnop.find(name).parameters[0][1].allowed}]  # type: ignore[attr-defined]


@pytest.mark.parametrize("operator", WIDE)
def test_double_is_computed_in_double(operator: str, device: int) -> None:
    rule, axes = rule_of(operator)
    lengths, counts = (3, 4, 5)[:axes], (7, 3, 6)[:axes]
    call = {"lengths": lengths, "counts": counts, "scale": 0.0, "aligned": False, "lead": (2, 1)}
    small, large = (numbers((2, 1, *shape), np.float64, 3) for shape in (lengths, counts))
    forward = operator in FORWARD
    found = call_with(operator, call, *((small, large) if forward else (large, small))).run()
    matrices = []
    for n, k in zip(lengths, counts, strict=True):
        matrix = np.zeros((k, n))
        for i in range(k):
            if rule == "nearest":
                matrix[i, i * n // k] = 1
                continue
            place = min(max((i + 0.5) * n / k - 0.5, 0), n - 1)
            low = min(math.floor(place), n - 2)
            matrix[i, low], matrix[i, low + 1] = 1 - place + low, place - low
        matrices.append(matrix)
    golden = applied(small, matrices) if forward else applied(large, [matrix.T for matrix in matrices])
    np.testing.assert_allclose(found, golden, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("operator", ["aclnnUpsampleNearest2d", "aclnnUpsampleNearestExact2d", "aclnnUpsampleNearest1dV2"])
def test_pixels_of_bytes_are_moved(operator: str, device: int) -> None:
    _, axes = rule_of(operator)
    x = np.arange(2 * 3 * 4**axes, dtype=np.uint8).reshape(2, 3, *(4,) * axes)
    call = {"lengths": (4,) * axes, "counts": (8,) * axes, "scale": 2.0, "aligned": False, "lead": (2, 3)}
    out = call_with(operator, call, x, np.zeros((2, 3, *(8,) * axes), np.uint8)).run()
    assert_equal(out, x.repeat(2, 2) if axes == 1 else x.repeat(2, 2).repeat(2, 3))


def test_special_values_stay_where_they_are(device: int) -> None:
    x = np.array([np.nan, 1, np.inf, 2, -np.inf, 3], np.float32).reshape(1, 1, 6)
    out = Case("aclnnUpsampleNearest1d", {"self": x, "outputSize": (12,), "out": np.zeros((1, 1, 12), np.float32)}).run()
    assert_equal(out, x.repeat(2, 2))
    grad = np.array([np.inf, 1, 1, 1, np.nan, 1], np.float32).reshape(1, 1, 6)
    arguments = {"gradOut": grad, "outputSize": (6,), "inputSize": (1, 1, 3), "scales": 0.0, "out": np.zeros((1, 1, 3), np.float32)}
    assert_equal(Case("aclnnUpsampleNearest1dBackward", arguments).run(), [[[np.inf, 2, np.nan]]])


@pytest.mark.parametrize("operator", [name for name in UPSAMPLE if "1d" not in name])
def test_channels_last(operator: str, device: int) -> None:
    """The formats NHWC and NDHWC name the axes."""
    case = Case(operator, next(iter(aclnnop.find(operator).examples())))
    names = aclnnop.find(operator).names
    _, axes = rule_of(operator)
    code = acl.ACL_FORMAT_NHWC if axes == 2 else acl.ACL_FORMAT_NDHWC
    shapes = {name: np.moveaxis(case.arguments[name], 1, -1).shape for name in (names[0], names[-1])}
    changes: dict[str, Any] = {name: Meta(shape, case.arguments[name].dtype, format=code, storage=shape) for name, shape in shapes.items()}
    if "inputSize" in names:
        changes["inputSize"] = shapes[names[-1]]
    assert case.but(**changes).status() == 0
    plain = {name: value._replace(format=acl.ACL_FORMAT_ND) if isinstance(value, Meta) else value for name, value in changes.items()}
    assert case.but(**plain).status() == INVALID


@pytest.mark.parametrize("scale", [1e-300, 1e-40, 1e300, math.inf, math.nan])
@pytest.mark.parametrize("operator", [name for name in FORWARD if any(one.startswith("scale") for one in aclnnop.find(name).names)])
def test_no_scale_breaks_a_call(operator: str, scale: float, device: int) -> None:
    case = Case(operator, next(iter(aclnnop.find(operator).examples())))
    out = case.but(**{name: scale for name in case.arguments if name.startswith("scale")}).run()
    assert np.isfinite(out.astype(np.float64)).all()


# Grid samplers


def at(x: Array, place: Sequence[int]) -> Array:
    """An element of each channel, 0 outside."""
    inside = all(0 <= p < n for p, n in zip(place, x.shape[1:], strict=True))
    return x[(slice(None), *place)] if inside else np.zeros(len(x))


def folded(place: float, length: int, padding: int, aligned: bool) -> float:
    if padding == 1:
        return min(max(place, 0.0), length - 1.0)
    if padding == 2:
        low, high = (0.0, length - 1.0) if aligned else (-0.5, length - 0.5)
        while high > low and not low <= place <= high:
            place = 2 * low - place if place < low else 2 * high - place
        return min(max(place, 0.0), length - 1.0) if high > low else 0.0
    return place


def position(value: float, length: int, aligned: bool) -> float:
    return (value + 1) / 2 * (length - 1) if aligned else ((value + 1) * length - 1) / 2


def sample_of(x: Array, point: Sequence[float], mode: int, padding: int, aligned: bool) -> Array:
    """The sample of one image at one point, whose last axis comes first."""
    places = [position(value, n, aligned) for value, n in zip(reversed(list(point)), x.shape[1:], strict=True)]
    total = np.zeros(len(x))
    if mode == 2:
        for shifts in itertools.product(range(-1, 3), repeat=len(places)):
            weight = math.prod(keys(p - math.floor(p) - k, -0.75) for p, k in zip(places, shifts, strict=True))
            moved = [folded(math.floor(p) + k, n, padding, aligned) for p, k, n in zip(places, shifts, x.shape[1:], strict=True)]
            total += weight * at(x, [int(place) for place in moved])
        return total
    places = [folded(p, n, padding, aligned) for p, n in zip(places, x.shape[1:], strict=True)]
    if mode == 1:
        return at(x, [round(p) for p in places])
    for corner in itertools.product((0, 1), repeat=len(places)):
        weight = math.prod(p - math.floor(p) if k else 1 - p + math.floor(p) for p, k in zip(places, corner, strict=True))
        total += weight * at(x, [math.floor(p) + k for p, k in zip(places, corner, strict=True)])
    return total


def samples_of(x: Array, grid: Array, mode: int, padding: int, aligned: bool) -> Array:
    out = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for place in np.ndindex(*grid.shape[:-1]):
        out[(place[0], slice(None), *place[1:])] = sample_of(x[place[0]], grid[place], mode, padding, aligned)
    return out


def grid_call(axes: int, dtype: Any, seed: int) -> tuple[Array, Array]:
    """An image, and positions in it and around it, none of them near a place where a sample jumps or bends."""
    rng = np.random.default_rng(seed)
    lengths = (3, 4, 2)[:axes]
    x = rng.standard_normal((2, 2, *lengths)).astype(dtype)
    grid = np.empty((2, *(2, 3, 2)[:axes], axes), dtype)
    for axis in range(axes):
        length = lengths[axes - 1 - axis]
        cells = rng.integers(-3, length + 3, grid.shape[:-1]) + rng.choice([0.15, 0.3, 0.7, 0.85], grid.shape[:-1])
        grid[..., axis] = ((2 * cells + 1) / length - 1).astype(dtype)
    return x, grid


MODES = [(2, mode, padding, aligned) for mode in (0, 1, 2) for padding in (0, 1, 2) for aligned in (False, True)]
MODES += [(3, mode, padding, aligned) for mode in (0, 1) for padding in (0, 1, 2) for aligned in (False, True)]


def modes_of(mode: int, padding: int, aligned: bool) -> dict[str, Any]:
    return {"interpolationMode": mode, "paddingMode": padding, "alignCorners": aligned}


@pytest.mark.parametrize(("axes", "mode", "padding", "aligned"), MODES)
def test_samples_of_grids(axes: int, mode: int, padding: int, aligned: bool, device: int) -> None:
    for seed, dtype in enumerate((np.float32, np.float16)):
        x, grid = grid_call(axes, dtype, seed)
        if aligned and mode == 1:
            grid = (grid * np.asarray(0.97, dtype)).astype(dtype)
        out = numbers((2, 2, *grid.shape[1:-1]), dtype, 2)
        case = Case(f"aclnnGridSampler{axes}D", {"input": x, "grid": grid, **modes_of(mode, padding, aligned), "out": out})
        golden = samples_of(x.astype(np.float64), grid.astype(np.float64), mode, padding, aligned)
        assert_accurate(case.run(seed), golden, largest=np.abs(x.astype(np.float64)).max())


@pytest.mark.parametrize(("axes", "mode", "padding", "aligned"), [row for row in MODES if row[1] < 2 and not row[3]])
def test_gradients_of_grids(axes: int, mode: int, padding: int, aligned: bool, device: int) -> None:
    """The gradient of the image is the transpose; that of the grid is a quotient of differences, as samples are linear between bends."""
    x, grid = grid_call(axes, np.float32, 5)
    grad = numbers((2, 2, *grid.shape[1:-1]), np.float32, 6)
    tensors = {"gradOutput": grad, "input": x, "grid": grid, **modes_of(mode, padding, aligned), "outputMask": [True, True]}
    arguments = {**tensors, "inputGrad": numbers(x.shape, np.float32, 7), "gridGrad": numbers(grid.shape, np.float32, 8)}
    image_grad, grid_grad = Case(f"aclnnGridSampler{axes}DBackward", arguments).results(3)
    wide, points, given_ = (array.astype(np.float64) for array in (x, grid, grad))
    golden = np.zeros(x.shape)
    for place in np.ndindex(*x.shape[2:]):
        unit = np.zeros(x.shape)
        unit[(slice(None), slice(None), *place)] = 1
        golden[(slice(None), slice(None), *place)] = (samples_of(unit, points, mode, padding, aligned) * given_).sum(
            axis=tuple(range(2, given_.ndim))
        )
    assert_accurate(image_grad, golden, largest=np.abs(given_).sum(axis=tuple(range(2, given_.ndim))).max())
    slopes = np.zeros(grid.shape)
    for axis in range(axes):
        for sign in (1, -1):
            moved = points.copy()
            moved[..., axis] += sign * 1e-3
            slopes[..., axis] += sign * (samples_of(wide, moved, mode, padding, aligned) * given_).sum(axis=1) / 2e-3
    np.testing.assert_allclose(grid_grad, slopes, rtol=1e-4, atol=1e-4)


def test_gradients_of_grids_that_are_not_asked_for(device: int) -> None:
    case = Case("aclnnGridSampler2DBackward", next(iter(aclnnop.find("aclnnGridSampler2DBackward").examples())))
    both = case.results()
    for mask in ((True, False), (False, True), (False, False)):
        found = case.but(outputMask=mask).results()
        for asked, one, all_, before in zip(mask, found, both, (case.arguments["inputGrad"], case.arguments["gridGrad"]), strict=True):
            assert_equal(one, all_ if asked else before)


@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("mode", [0, 1, 2])
def test_positions_that_are_no_numbers(mode: int, padding: int, device: int) -> None:
    grid = np.array([np.nan, 0, np.inf, 0, -np.inf, 0, 1e30, 0, -1e30, 0], np.float32).reshape(1, 1, 5, 2)
    x = np.ones((1, 1, 3, 3), np.float32)
    case = Case(
        "aclnnGridSampler2D", {"input": x, "grid": grid, **modes_of(mode, padding, False), "out": np.zeros((1, 1, 1, 5), np.float32)}
    )
    out = case.run()
    if mode < 2:
        assert_equal(out, np.zeros(out.shape) if padding == 0 else np.ones(out.shape))


# Columns


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("kernel", "dilation", "padding", "stride"),
    [
        ((2, 3), (1, 1), (0, 0), (1, 1)),
        ((2, 2), (2, 1), (1, 0), (2, 2)),
        ((3, 1), (1, 2), (2, 1), (1, 3)),
        ((2, 2), (1, 1), (0, 0), (3, 3)),
    ],
)
def test_columns_added_up(
    dtype: Any, kernel: tuple[int, int], dilation: tuple[int, int], padding: tuple[int, int], stride: tuple[int, int], device: int
) -> None:
    size, channels = (5, 6), 2
    places = [(size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in range(2)]
    grad = numbers((3, channels * math.prod(kernel), math.prod(places)), dtype, 1)
    golden = np.zeros((3, channels, *size))
    for channel, i, j, y, x in itertools.product(range(channels), *map(range, (*kernel, *places))):
        row, column = y * stride[0] - padding[0] + i * dilation[0], x * stride[1] - padding[1] + j * dilation[1]
        if 0 <= row < size[0] and 0 <= column < size[1]:
            golden[:, channel, row, column] += grad[:, (channel * kernel[0] + i) * kernel[1] + j, y * places[1] + x].astype(np.float64)
    arrays = {"inputSize": size, "kernelSize": kernel, "dilation": dilation, "padding": padding, "stride": stride}
    largest = np.abs(grad.astype(np.float64)).max() * math.prod(kernel)
    case = Case("aclnnIm2colBackward", {"gradOutput": grad, **arrays, "out": numbers(golden.shape, dtype, 2)})
    assert_accurate(case.run(4), golden, largest=largest)
    single = case.but(gradOutput=grad[1], out=numbers(golden.shape[1:], dtype, 2))
    assert_accurate(single.run(), golden[1], largest=largest)


# Wrong calls


def call_of(operator: str) -> Case:
    return Case(operator, next(iter(aclnnop.find(operator).examples())))


EVERYTHING = [*UPSAMPLE, *sorted(name for name in MODULES if name.startswith("aclnnGridSampler")), "aclnnIm2colBackward"]


@pytest.mark.parametrize("operator", EVERYTHING)
def test_null_pointers(operator: str, device: int) -> None:
    case = call_of(operator)
    for name, kind in case.declared.parameters:
        if kind.c_type.endswith("*"):
            assert case.but(**{name: None}).status() == NULLPTR, name


@pytest.mark.parametrize("operator", EVERYTHING)
def test_wrong_types_and_shapes(operator: str, device: int) -> None:
    case = call_of(operator)
    for name, value in case.arguments.items():
        if isinstance(value, np.ndarray):
            assert case.but(**{name: value.astype(np.int32)}).status() == INVALID, name
            assert case.but(**{name: value.reshape(-1)}).status() == INVALID, name
            assert case.but(**{name: np.concatenate([value, value], 1)}).status() == INVALID, name
            other = np.float16 if value.dtype == np.float32 else np.float32
            assert case.but(**{name: value.astype(other)}).status() == INVALID, name


LOOSE = ("aclnnUpsampleNearestExact1dBackward", "aclnnUpsampleNearestExact2dBackward", "aclnnUpsampleBilinear2dAABackward")
LOOSE += ("aclnnUpsampleBicubic2dAAGrad",)
ZERO = ("aclnnUpsampleNearestExact1d", "aclnnUpsampleNearestExact2d")
"""Whose pages do not refuse an output size of 0."""


@pytest.mark.parametrize("operator", UPSAMPLE)
def test_wrong_sizes(operator: str, device: int) -> None:
    case = call_of(operator)
    size = case.arguments["outputSize"]
    for wrong in ((), (*size, 1), (-1, *size[1:]), (size[0] + 1, *size[1:]), (0, *size[1:])):
        assert case.but(outputSize=wrong).status() == INVALID, wrong
    if "inputSize" in case.arguments:
        full = case.arguments["inputSize"]
        for wrong in (
            (),
            full[:-1],
            (*full, 1),
            (*full[:-1], 0),
            (*full[:-1], -1),
            (full[0] + 1, *full[1:]),
            (full[0], full[1] + 1, *full[2:]),
        ):
            assert case.but(inputSize=wrong).status() == INVALID, wrong
        longer = case.but(inputSize=(*full[:-1], full[-1] + 1))
        assert longer.status() == (0 if operator in LOOSE else INVALID)


@pytest.mark.parametrize("operator", FORWARD)
def test_no_output_at_all(operator: str, device: int) -> None:
    case = call_of(operator)
    size = (0, *case.arguments["outputSize"][1:])
    empty = case.but(outputSize=size, out=np.zeros((*case.arguments["out"].shape[:2], *size), case.arguments["out"].dtype))
    assert empty.status() == (0 if operator in ZERO else INVALID)


SIGNED = [
    *("aclnnUpsampleNearest1dV2", "aclnnUpsampleNearest2dV2", "aclnnUpsampleNearest3d", "aclnnUpsampleNearestExact1d"),
    *("aclnnUpsampleNearestExact2d", "aclnnUpsampleNearestExact3d", "aclnnUpsampleNearest1dBackward", "aclnnUpsampleNearest2dBackward"),
    *("aclnnUpsampleNearest3dBackward", "aclnnUpsampleLinear1d", "aclnnUpsampleBicubic2d", "aclnnUpsampleBicubic2dBackward"),
    *("aclnnUpsampleBicubic2dAA", "aclnnUpsampleTrilinear3d", "aclnnUpsampleTrilinear3dBackward"),
    *("aclnnUpsampleBilinear2dBackward", "aclnnUpsampleBilinear2dBackwardV2"),
    *("aclnnUpsampleLinear1dBackward", "aclnnUpsampleNearestExact3dBackward"),
]
"""Where a negative scale stands for none; the other pages refuse it."""
WHOLE = ("aclnnUpsampleLinear1dBackward", "aclnnUpsampleBilinear2dBackward", "aclnnUpsampleBilinear2dBackwardV2")
WHOLE += ("aclnnUpsampleBilinear2dAABackward", "aclnnUpsampleBicubic2dBackward", "aclnnUpsampleNearest3dBackward")
"""Whose pages refuse any number of inputSize below 1, not only those of the resampled axes."""


@pytest.mark.parametrize("operator", UPSAMPLE)
def test_negative_scales(operator: str, device: int) -> None:
    case = call_of(operator)
    for name in (one for one in case.arguments if one.startswith("scale")):
        assert case.but(**{name: -1.0}).status() == (0 if operator in SIGNED else INVALID), name


@pytest.mark.parametrize(("operator", "most"), [("aclnnUpsampleLinear1dBackward", 500), ("aclnnUpsampleNearestExact3dBackward", 50)])
def test_large_scales(operator: str, most: int, device: int) -> None:
    case = call_of(operator)
    for name in (one for one in case.arguments if one.startswith("scale")):
        assert case.but(**{name: float(most)}).status() == 0
        assert case.but(**{name: most + 0.5}).status() == INVALID


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_a_gradient_in_another_type(dtype: Any, device: int, chip: Callable[[str], None]) -> None:
    """On 950 a FLOAT gradient may be written in any type; else, and with V2, the types are equal."""
    grad, size = numbers((1, 2, 4, 6), np.float32, 1), (1, 2, 2, 3)
    sizes = {"outputSize": (4, 6), "inputSize": size, "alignCorners": False, "scalesH": 0.0, "scalesW": 0.0}
    call = Case("aclnnUpsampleBilinear2dBackward", {"gradOut": grad, **sizes, "out": numbers(size, dtype, 2)})
    equal = dtype == np.float32
    assert call.status() == (0 if equal else INVALID)
    chip("Ascend950PR_9589")
    back = [weights_of("linear", n, k, 0.0, False).T for n, k in ((2, 4), (3, 6))]
    assert_accurate(call.run(), applied(grad.astype(np.float64), back), largest=6 * np.abs(grad).max())
    assert call.but(gradOut=grad.astype(np.float16)).status() == (0 if dtype == np.float16 else INVALID)
    other = Case("aclnnUpsampleBilinear2dBackwardV2", call.arguments)
    assert other.status() == (0 if equal else INVALID)


@pytest.mark.parametrize("operator", UPSAMPLE)
def test_empty_images(operator: str, device: int) -> None:
    case = call_of(operator)
    names = case.declared.names
    first, last = (case.arguments[name] for name in (names[0], names[-1]))
    nobody: dict[str, Any] = {names[0]: first[:0], names[-1]: last[:0]}
    if "inputSize" in names:
        nobody["inputSize"] = (0, *case.arguments["inputSize"][1:])
    assert case.but(**nobody).status() == (INVALID if operator in WHOLE else 0)
    if operator in FORWARD:
        assert case.but(**{names[0]: first[..., :0]}).status() == INVALID
        colourless = case.but(**{names[0]: first[:, :0], names[-1]: last[:, :0]}).status()
        assert colourless == (INVALID if "3d" in operator or operator == "aclnnUpsampleBicubic2d" else 0)


def wrong_grids() -> Iterator[tuple[str, dict[str, Any]]]:
    for axes, ending in itertools.product((2, 3), ("", "Backward")):
        name = f"aclnnGridSampler{axes}D{ending}"
        most = 2 if (axes, ending) == (2, "") else 1
        yield from ((name, {"interpolationMode": value}) for value in (-1, most + 1))
        yield from ((name, {"paddingMode": value}) for value in (-1, 3))
        case = call_of(name)
        image, grid = case.arguments["input"], case.arguments["grid"]
        yield name, {"input": image[:1]}
        yield name, {"input": image[..., :0]}
        yield name, {"grid": grid[..., :1]}
        yield name, {"grid": grid[:, :1]}
        if ending:
            yield name, {"outputMask": [True]}
            yield name, {"inputGrad": image[..., :1]}
            yield name, {"gridGrad": grid[:, :1]}


@pytest.mark.parametrize(("operator", "bad"), list(wrong_grids()), ids=lambda value: value if isinstance(value, str) else "-".join(value))
def test_wrong_grids(operator: str, bad: dict[str, Any], device: int) -> None:
    assert call_of(operator).but(**bad).status() == INVALID


def test_bicubic_samples_are_for_some_types_and_chips(device: int, chip: Callable[[str], None]) -> None:
    x, grid = grid_call(2, np.float64, 1)
    call = Case("aclnnGridSampler2D", {"input": x, "grid": grid, **modes_of(2, 0, False), "out": np.zeros((2, 2, *grid.shape[1:-1]))})
    assert call.status() == INVALID
    assert call.but(interpolationMode=0).status() == 0
    half = {name: value.astype(np.float16) for name, value in call.arguments.items() if isinstance(value, np.ndarray)}
    assert call.but(**half).status() == 0
    chip("Ascend910A")
    assert call.but(**half).status() == INVALID
    assert call.but(**half, interpolationMode=1).status() == 0


@pytest.mark.parametrize(
    "bad",
    [
        *({name: (2,)} for name in ("inputSize", "kernelSize", "dilation", "padding", "stride")),
        *({name: (0, 1)} for name in ("inputSize", "kernelSize", "dilation", "stride")),
        {"padding": (-1, 0)},
        {"kernelSize": (2, 2)},
        {"kernelSize": (5, 3)},
        {"stride": (2, 1)},
        {"inputSize": (5, 7)},
        {"out": np.zeros((2, 5, 7), np.float32)},
        {"out": np.zeros((1, 2, 5, 6), np.float32)},
        {"gradOutput": np.zeros((13, 16), np.float32)},
    ],
    ids=lambda bad: "-".join(f"{name}={np.shape(value) if isinstance(value, np.ndarray) else value}" for name, value in bad.items()),
)
def test_wrong_columns(bad: dict[str, Any], device: int) -> None:
    assert call_of("aclnnIm2colBackward").but(**bad).status() == INVALID


def test_an_output_that_input_size_does_not_describe(device: int) -> None:
    """The page's own program: inputSize says 2, the output has 4."""
    grad = np.array([[[0, 1]]], np.float32)
    arguments = {"gradOutput": grad, "outputSize": (2,), "inputSize": (1, 1, 2), "scales": 2.0, "out": np.full((1, 1, 4), 7, np.float32)}
    assert_equal(Case("aclnnUpsampleNearestExact1dBackward", arguments).run(), [[[1, 0, 0, 0]]])
