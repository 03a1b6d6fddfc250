"""Boxes, regions of images, deformable attention and blended images: against loops over elements in float64."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from tests.operators.accuracy import FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers

INVALID, NULLPTR, FAULT = acl.ACLNN_ERR_PARAM_INVALID, acl.ACLNN_ERR_PARAM_NULLPTR, acl.ACL_ERROR_RT_AICORE_EXCEPTION
CHIPS = {
    "aclnnNonMaxSuppression": "Ascend310P3",
    "aclnnMrgbaCustom": "Ascend310P3",
    "aclnnBlendImagesCustom": "Ascend310P3",
    "aclnnBackgroundReplace": "Ascend310P3",
    "aclnnCIoU": "Ascend950PR_9589",
    "aclnnRoiPoolingWithArgMax": "Ascend950PR_9589",
    "aclnnRoiPoolingGradWithArgMax": "Ascend950PR_9589",
}
OPERATORS = [
    *CHIPS,
    *("aclnnIou", "aclnnRoiAlign", "aclnnRoiAlignV2", "aclnnRoiAlignV2Backward", "aclnnResize", "aclnnThreeInterpolateBackward"),
    *("aclnnMultiScaleDeformableAttnFunction", "aclnnMultiScaleDeformableAttentionGrad"),
]
Chip = Callable[[str], None]
F = np.float32


def call_of(operator: str, number: int = 0) -> Case:
    return Case(operator, list(aclnnop.find(operator).examples())[number])


def on_its_chip(operator: str, chip: Chip) -> None:
    if operator in CHIPS:
        chip(CHIPS[operator])


# Boxes


def area(box: Any, eps: float = 0.0) -> float:
    return (box[2] - box[0] + eps) * (box[3] - box[1] + eps)


def overlap(a: Any, b: Any, eps: float = 0.0, foreground: bool = False) -> float:
    shared = max(min(a[2], b[2]) - max(a[0], b[0]) + eps, 0) * max(min(a[3], b[3]) - max(a[1], b[1]) + eps, 0)
    return shared / (area(b, eps) if foreground else area(a, eps) + area(b, eps) - shared)


def some_boxes(count: int, dtype: Any, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    low = rng.uniform(-2, 2, (count, 2))
    return np.concatenate([low, low + rng.uniform(0.5, 4, (count, 2))], 1).astype(dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize(("mode", "eps"), [("iou", 0.0), ("iof", 0.0), ("iou", 1.0), ("iof", 0.5)])
def test_overlaps(dtype: Any, aligned: bool, mode: str, eps: float, device: int) -> None:
    first, second = some_boxes(5, dtype, 1), some_boxes(5 if aligned else 4, dtype, 2)
    a, b = first.astype(np.float64), second.astype(np.float64)
    if aligned:
        golden = np.array([[overlap(one, other, eps, mode == "iof")] for one, other in zip(a, b, strict=True)])
    else:
        golden = np.array([[overlap(one, other, eps, mode == "iof") for other in b] for one in a])
    arguments = {
        "bBoxes": first,
        "gtBoxes": second,
        "mode": mode,
        "eps": eps,
        "aligned": aligned,
        "overlap": numbers(golden.shape, dtype, 3),
    }
    assert_accurate(Case("aclnnIou", arguments).run(5), golden)


def test_boxes_without_an_area_do_not_overlap(device: int) -> None:
    point = np.array([[1, 1, 1, 1]], np.float32)
    arguments = {"bBoxes": point, "gtBoxes": point, "mode": "iou", "eps": 0.0, "aligned": True, "overlap": np.ones((1, 1), np.float32)}
    assert Case("aclnnIou", arguments).run()[0, 0] == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("trans", [False, True])
@pytest.mark.parametrize("mode", ["iou", "iof"])
def test_complete_overlaps(dtype: Any, trans: bool, mode: str, device: int, chip: Chip) -> None:
    chip(CHIPS["aclnnCIoU"])
    first, second = some_boxes(1024, dtype, 1).T, some_boxes(1024, dtype, 2).T
    if trans:
        first, second = (np.concatenate([boxes[:2], np.abs(boxes[2:]) + dtype(0.5)]).astype(dtype) for boxes in (first, second))
    golden, turns = np.zeros((1, 1024)), np.zeros((1, 1024))
    for k in range(1024):
        a, b = ([float(value) for value in boxes[:, k]] for boxes in (first, second))
        if trans:
            a, b = ([x - w / 2, y - h / 2, x + w / 2, y + h / 2] for x, y, w, h in (a, b))
        iou = overlap(a, b, foreground=mode == "iof")
        distance = ((a[0] + a[2] - b[0] - b[2]) ** 2 + (a[1] + a[3] - b[1] - b[3]) ** 2) / 4
        around = (max(a[2], b[2]) - min(a[0], b[0])) ** 2 + (max(a[3], b[3]) - min(a[1], b[1])) ** 2
        turns[0, k] = math.atan((b[2] - b[0]) / (b[3] - b[1])) - math.atan((a[2] - a[0]) / (a[3] - a[1]))
        v = 4 / math.pi**2 * turns[0, k] ** 2
        golden[0, k] = iou - distance / around - v * v / (1 - iou + v)
    results = {"overlap": numbers((1, 1024), dtype, 3), "atanSub": numbers((1, 1024), dtype, 4)}
    case = Case("aclnnCIoU", {"bBoxes": first, "gtBoxes": second, "trans": trans, "isCross": False, "mode": mode, **results})
    found, angle = case.results()
    assert_accurate(found, golden, largest=1)
    assert_accurate(angle, turns, largest=1)


def test_boxes_that_are_points(device: int, chip: Chip) -> None:
    """The page's own program: every quotient of the formula is finite."""
    chip(CHIPS["aclnnCIoU"])
    case = call_of("aclnnCIoU").but(bBoxes=np.ones((4, 1024), F), gtBoxes=np.full((4, 1024), 2, F))
    found, angle = case.results()
    assert_equal(found, np.full((1, 1024), -1.0))
    assert_equal(angle, np.zeros((1, 1024)))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("centred", [0, 1])
@pytest.mark.parametrize(("most", "alike", "least"), [(3, 0.5, 0.1), (700, 0.1, 0.0), (1, 1.0, 0.5), (0, 0.5, 0.0), (5, 0.0, 0.0)])
def test_the_best_boxes(dtype: Any, centred: int, most: int, alike: float, least: float, device: int, chip: Chip) -> None:
    chip(CHIPS["aclnnNonMaxSuppression"])
    boxes = np.stack([some_boxes(12, dtype, seed) for seed in (1, 2)])
    given = boxes
    if centred:
        given = np.concatenate([(boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]], -1).astype(dtype)
    scores = np.random.default_rng(3).uniform(0, 1, (2, 3, 12)).round(1).astype(dtype)
    wide = given.astype(np.float64)
    corners = np.concatenate([wide[..., :2] - wide[..., 2:] / 2, wide[..., :2] + wide[..., 2:] / 2], -1) if centred else wide
    rows = []
    for n, c in np.ndindex(2, 3):
        kept: list[int] = []
        for k in sorted(range(12), key=lambda k: (-float(scores[n, c, k]), k)):
            apart = all(overlap(corners[n, k], corners[n, other]) <= float(F(alike)) for other in kept)
            if len(kept) < most and float(scores[n, c, k]) > float(F(least)) and apart:
                kept.append(k)
        rows += [[n, c, k] for k in kept]
    golden = np.array([*rows, *[[-1] * 3] * 40])[:40]
    arguments = {"boxes": given, "scores": scores, "maxOutputBoxesPerClass": [most], "iouThreshold": [alike], "scoreThreshold": [least]}
    case = Case("aclnnNonMaxSuppression", {**arguments, "centerPointBox": centred, "selectedIndices": np.zeros((40, 3), np.int32)})
    assert_equal(case.run(), golden)
    assert_equal(case.but(selectedIndices=np.zeros((2, 3), np.int32)).run(), golden[:2])


# Regions


def sample_at(image: Array, y: float, x: float) -> Array:
    """One sample of each channel: 0 more than one element outside."""
    high, wide = image.shape[1:]
    if not (-1 <= y <= high and -1 <= x <= wide):
        return np.zeros(len(image))
    y, x = min(max(y, 0.0), high - 1.0), min(max(x, 0.0), wide - 1.0)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, high - 1), min(left + 1, wide - 1)
    v, u = y - top, x - left
    upper = image[:, top, left] * (1 - u) + image[:, top, right] * u
    return upper * (1 - v) + (image[:, bottom, left] * (1 - u) + image[:, bottom, right] * u) * v


def aligned_regions(images: Array, boxes: Array, cells: tuple[int, int], scale: float, ratio: int, aligned: bool, largest: bool) -> Array:
    out = np.zeros((len(boxes), images.shape[1], *cells))
    for k, (number, *corners) in enumerate(boxes.astype(np.float64)):
        x1, y1, x2, y2 = (value * scale - (0.5 if aligned else 0.0) for value in corners)
        wide, high = (x2 - x1, y2 - y1) if aligned else (max(x2 - x1, 1.0), max(y2 - y1, 1.0))
        down, across = (ratio or math.ceil(length / count) for length, count in ((high, cells[0]), (wide, cells[1])))
        for row, column in np.ndindex(*cells):
            found = [
                sample_at(
                    images[int(number)],
                    y1 + (row + (i + 0.5) / down) * high / cells[0],
                    x1 + (column + (j + 0.5) / across) * wide / cells[1],
                )
                for i, j in itertools.product(range(down), range(across))
            ]
            if found:
                out[k, :, row, column] = np.max(found, axis=0) if largest else np.mean(found, axis=0)
    return out


BOXES = np.array([[0, 0.3, 0.6, 3.2, 4.4], [1, -2.3, -2.6, 9.1, 7.6], [1, 1.5, 2.25, 1.75, 2.6], [0, 40, 40, 50, 60]])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize(("ratio", "scale"), [(0, 1.0), (2, 0.5), (3, 1.5)])
def test_aligned_regions(dtype: Any, aligned: bool, ratio: int, scale: float, device: int) -> None:
    images, boxes = numbers((2, 3, 5, 6), dtype, 1), BOXES.astype(dtype)
    wide = images.astype(np.float64)
    settings = {"pooledHeight": 2, "pooledWidth": 3, "spatialScale": scale, "samplingRatio": ratio, "aligned": aligned}
    case = Case("aclnnRoiAlignV2", {"self": images, "boxes": boxes, **settings, "out": numbers((4, 3, 2, 3), dtype, 2)})
    golden = aligned_regions(wide, boxes, (2, 3), scale, ratio, aligned, False)
    assert_accurate(case.run(6), golden, largest=np.abs(wide).max())
    if aligned:
        return
    older = {"rois": boxes[:, 1:], "batchIndices": boxes[:, 0].astype(np.int32), "outputHeight": 2, "outputWidth": 3}
    for mode in ("avg", "max"):
        both = {
            **older,
            "samplingRatio": ratio,
            "spatialScale": scale,
            "mode": mode,
            "self": images,
            "out": numbers((4, 3, 2, 3), dtype, 2),
        }
        first = Case("aclnnRoiAlign", {name: both[name] for name in aclnnop.find("aclnnRoiAlign").names})
        golden = aligned_regions(wide, boxes, (2, 3), scale, ratio, False, mode == "max")
        assert_accurate(first.run(), golden, largest=np.abs(wide).max())


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize(("ratio", "scale"), [(0, 1.0), (2, 0.5)])
def test_gradients_of_aligned_regions(aligned: bool, ratio: int, scale: float, device: int) -> None:
    """The transpose: what one element alone gives."""
    grad = numbers((4, 2, 2, 3), F, 1)
    settings = {"pooledHeight": 2, "pooledWidth": 3, "spatialScale": scale, "samplingRatio": ratio, "aligned": aligned}
    tensors = {
        "gradOutput": grad,
        "boxes": BOXES.astype(F),
        "inputShape": (2, 2, 3, 4),
        **settings,
        "gradInput": numbers((2, 2, 3, 4), F, 2),
    }
    golden = np.zeros((2, 2, 3, 4))
    for place in np.ndindex(*golden.shape):
        unit = np.zeros(golden.shape)
        unit[place] = 1
        golden[place] = (aligned_regions(unit, BOXES.astype(F), (2, 3), scale, ratio, aligned, False) * grad).sum()
    assert_accurate(Case("aclnnRoiAlignV2Backward", tensors).run(7), golden, largest=np.abs(grad).sum(axis=(2, 3)).max())


def test_the_region_of_the_page(device: int) -> None:
    image = np.arange(1, 37, dtype=F).reshape(1, 1, 6, 6)
    settings = {"pooledHeight": 3, "pooledWidth": 3, "spatialScale": 0.25, "samplingRatio": 2, "aligned": False}
    box = np.array([[0, -2, -2, 22, 22]], F)
    case = Case("aclnnRoiAlignV2", {"self": image, "boxes": box, **settings, "out": np.zeros((1, 1, 3, 3), F)})
    golden = np.array([4.5, 6.5, 8.5, 16.5, 18.5, 20.5, 28.5, 30.5, 32.5]).reshape(1, 1, 3, 3)
    assert_equal(case.run(), golden)
    back = {"gradOutput": golden.astype(F), "boxes": box, "inputShape": image.shape, **settings, "gradInput": np.zeros(image.shape, F)}
    assert_equal(Case("aclnnRoiAlignV2Backward", back).run()[0, 0, 0], [1.125, 1.125, 1.625, 1.625, 2.125, 2.125])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("scales", [(1.0, 1.0), (0.5, 1.0), (2.0, 0.25)])
def test_pooled_regions(dtype: Any, scales: tuple[float, float], device: int, chip: Chip) -> None:
    chip(CHIPS["aclnnRoiPoolingWithArgMax"])
    images = numbers((2, 3, 5, 6), dtype, 1)
    rois = np.array([[0, 0, 0, 3, 4], [1, 2, 1, 9, 7.5], [1, 5, 2, 2, 4], [0, 50, 0, 60, 3]]).astype(dtype)
    golden, places = np.zeros((4, 3, 2, 3)), np.full((4, 3, 2, 3), -1)
    for k, c, row, column in np.ndindex(4, 3, 2, 3):
        number, x1, y1, x2, y2 = (float(value) for value in rois[k])
        left, right, top, bottom = x1 * scales[1], (x2 + 1) * scales[1], y1 * scales[0], (y2 + 1) * scales[0]
        if right <= left or bottom <= top:
            continue
        h, w = F(F(bottom - top) / F(2)), F(F(right - left) / F(3))
        rows = range(max(math.floor(row * h + F(top)), 0), min(math.ceil((row + 1) * h + F(top)), 5))
        columns = range(max(math.floor(column * w + F(left)), 0), min(math.ceil((column + 1) * w + F(left)), 6))
        cell = [(float(images[int(number), c, i, j]), -(i * 6 + j)) for i in rows for j in columns]
        if cell:
            best = max(cell)
            golden[k, c, row, column], places[k, c, row, column] = best[0], -best[1]
    settings = {"pooled_h": 2, "pooled_w": 3, "spatial_scale_h": scales[0], "spatial_scale_w": scales[1]}
    results = {"y": numbers((4, 3, 2, 3), dtype, 2), "argmax": np.zeros((4, 3, 2, 3), np.int32)}
    found, argmax = Case("aclnnRoiPoolingWithArgMax", {"x": images, "rois": rois, **settings, **results}).results(3)
    assert_equal(found, golden)
    assert_equal(argmax, places)
    grad = numbers((4, 3, 2, 3), dtype, 5)
    back = np.zeros(images.shape)
    for k, c, row, column in np.ndindex(4, 3, 2, 3):
        if argmax[k, c, row, column] >= 0:
            back[int(rois[k, 0]), c, argmax[k, c, row, column] // 6, argmax[k, c, row, column] % 6] += float(grad[k, c, row, column])
    tensors = {"gradOutput": grad, "gradInputRef": numbers(images.shape, dtype, 6), "rois": rois, "argmax": argmax}
    case = Case("aclnnRoiPoolingGradWithArgMax", {**tensors, "pooledH": 2, "pooledW": 3, "spatialScale": 1.0})
    assert_accurate(case.run(4), back, largest=np.abs(grad.astype(np.float64)).sum())


# Deformable attention


def attended(value: Array, shapes: Array, starts: Array, location: Array, weight: Array) -> Array:
    n, queries, heads, levels, points, _ = location.shape
    out = np.zeros((n, queries, heads, value.shape[3]))
    for b, q, h, level, p in np.ndindex(n, queries, heads, levels, points):
        high, wide = shapes[level]
        x, y = location[b, q, h, level, p, 0] * wide - 0.5, location[b, q, h, level, p, 1] * high - 0.5
        for row, column in itertools.product((math.floor(y), math.floor(y) + 1), (math.floor(x), math.floor(x) + 1)):
            if 0 <= row < high and 0 <= column < wide:
                share = (1 - abs(y - row)) * (1 - abs(x - column)) * weight[b, q, h, level, p]
                out[b, q, h] += share * value[b, starts[level] + row * wide + column, h]
    return out.reshape(n, queries, -1)


SHAPES, STARTS = np.array([[2, 3], [2, 2]]), np.array([0, 6])


def deformable(dtype: Any, channels: int, queries: int, seed: int = 0) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {
        "value": rng.standard_normal((2, 10, 2, channels)).astype(dtype),
        "spatialShape": SHAPES.astype(np.int32),
        "levelStartIndex": STARTS.astype(np.int32),
        "location": rng.uniform(-0.2, 1.2, (2, queries, 2, 2, 3, 2)).astype(dtype),
        "attnWeight": rng.uniform(0, 1, (2, queries, 2, 2, 3)).astype(dtype),
    }


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_deformable_attention(dtype: Any, device: int) -> None:
    tensors = deformable(dtype, 8, 32)
    wide = [tensors[name].astype(np.float64) for name in ("value", "location", "attnWeight")]
    golden = attended(wide[0], SHAPES, STARTS, wide[1], wide[2])
    case = Case("aclnnMultiScaleDeformableAttnFunction", {**tensors, "output": numbers((2, 32, 16), dtype, 1)})
    assert_accurate(case.run(5), golden, largest=6 * np.abs(wide[0]).max())


def test_gradients_of_deformable_attention(device: int) -> None:
    """Of values and weights by units, as results are linear in them; of places by differences."""
    tensors = deformable(F, 8, 3, 4)
    grad = numbers((2, 3, 16), F, 1)
    results = {
        "gradValue": numbers(tensors["value"].shape, F, 2),
        "gradLocation": numbers(tensors["location"].shape, F, 3),
        "gradAttnWeight": numbers(tensors["attnWeight"].shape, F, 4),
    }
    case = Case("aclnnMultiScaleDeformableAttentionGrad", {**tensors, "gradOutput": grad, **results})
    values, places, weights = case.results(2)
    wide = [tensors[name].astype(np.float64) for name in ("value", "location", "attnWeight")]

    def slope(number: int, place: tuple[int, ...], step: float) -> float:
        sides = []
        for sign in (1, -1):
            moved = [array.copy() for array in wide]
            moved[number][place] += sign * step
            sides.append((attended(moved[0], SHAPES, STARTS, moved[1], moved[2]) * grad).sum())
        return (sides[0] - sides[1]) / (2 * step)

    rng = np.random.default_rng(5)
    for number, found, step in ((0, values, 1.0), (1, places, 1e-6), (2, weights, 1.0)):
        for _ in range(40):
            place = tuple(int(rng.integers(0, length)) for length in found.shape)
            np.testing.assert_allclose(found[place], slope(number, place, step), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("operator", ["aclnnMultiScaleDeformableAttnFunction", "aclnnMultiScaleDeformableAttentionGrad"])
@pytest.mark.parametrize("bad", [{"levelStartIndex": [0, 7]}, {"levelStartIndex": [-1, 6]}, {"spatialShape": [[2, 3], [2, 3]]}], ids=str)
def test_images_outside_the_values(operator: str, bad: dict[str, Any], device: int) -> None:
    case = call_of(operator)
    assert case.but(**{name: np.array(value, np.int32) for name, value in bad.items()}).refused() == FAULT


def test_the_largest_attention() -> None:
    """Each count at its limit; few queries are enough for a gradient."""
    call = call_of("aclnnMultiScaleDeformableAttentionGrad")
    assert call.but(**attention_of(256, 16, 16, 16, 499999)).status() == call.but(**attention_of()).status() == 0


def test_images_larger_than_the_values(device: int) -> None:
    """The page's own program has lengths beyond all elements; only the first is sampled."""
    value, weight = numbers((1, 1, 2, 8), F, 1), numbers((1, 32, 2, 1, 4), F, 2)
    tensors = {
        "value": value,
        "spatialShape": np.full((1, 2), 1 << 30, np.int32),
        "levelStartIndex": np.zeros(1, np.int32),
        "location": np.zeros((1, 32, 2, 1, 4, 2), F),
        "attnWeight": weight,
    }
    grad = numbers((1, 32, 16), F, 3)
    shares = weight[0, :, :, 0].astype(np.float64).sum(axis=-1) / 4
    found = Case("aclnnMultiScaleDeformableAttnFunction", {**tensors, "output": np.zeros_like(grad)}).run(5)
    assert_accurate(found, (shares[..., None] * value[0]).reshape(1, 32, 16), largest=4)
    results = {"gradValue": np.zeros_like(value), "gradLocation": tensors["location"], "gradAttnWeight": np.zeros_like(weight)}
    back = Case("aclnnMultiScaleDeformableAttentionGrad", {**tensors, "gradOutput": grad, **results}).results(2)[0]
    assert_accurate(back, np.einsum("qh,qhc->hc", shares, grad.reshape(32, 2, 8).astype(np.float64))[None, None], largest=32)


# Other images


@pytest.mark.parametrize(("mode", "scales"), [("nearest", (1, 1, 2, 1.5)), ("bilinear", (1, 1, 2, 1.5)), ("bilinear", (1, 1, 0.6, 0.5))])
def test_resized(mode: str, scales: tuple[float, ...], device: int) -> None:
    x = numbers((2, 3, 5, 4), F, 1)
    size = tuple(math.floor(n * float(F(s))) for n, s in zip(x.shape, scales, strict=True))
    golden = np.zeros(size)
    for i, j in np.ndindex(*size[2:]):
        if mode == "nearest":
            golden[:, :, i, j] = x[:, :, min(math.floor(i / scales[2]), 4), min(math.floor(j / scales[3]), 3)]
        else:
            y, u = ((k + 0.5) / float(F(s)) - 0.5 for k, s in ((i, scales[2]), (j, scales[3])))
            for channel in range(2):
                golden[channel, :, i, j] = sample_at(x[channel].astype(np.float64), max(y, 0), max(u, 0))
    found = Case("aclnnResize", {"self": x, "scales": scales, "mode": mode, "out": numbers(size, F, 2)}).run(3)
    assert_accurate(found, golden, largest=np.abs(x).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("rest", [(), (1,)])
def test_three_neighbours(dtype: Any, rest: tuple[int, ...], device: int) -> None:
    grad, weight = numbers((2, 3, 5, *rest), dtype, 1), numbers((2, 5, 3), dtype, 2)
    idx = np.random.default_rng(3).integers(0, 6, (2, 5, 3))
    golden = np.zeros((2, 3, 6))
    for b, c, n, i in np.ndindex(2, 3, 5, 3):
        golden[b, c, idx[b, n, i]] += float(grad[b, c, n].reshape(())) * float(weight[b, n, i])
    case = Case(
        "aclnnThreeInterpolateBackward",
        {"grad_x": grad, "idx": idx.astype(np.int32), "weight": weight, "m": 6, "grad_y": numbers((2, 3, 6, *rest), dtype, 4)},
    )
    assert_accurate(case.run(3), golden.reshape(2, 3, 6, *rest), largest=20)
    assert case.but(idx=idx.astype(np.int64) + 1).refused() == FAULT


@pytest.mark.parametrize("operator", ["aclnnMrgbaCustom", "aclnnBlendImagesCustom", "aclnnBackgroundReplace"])
def test_blended(operator: str, device: int, chip: Chip) -> None:
    on_its_chip(operator, chip)
    for number in range(len(list(aclnnop.find(operator).examples()))):
        case = call_of(operator, number)
        given = {name: value.astype(np.float64) for name, value in case.arguments.items()}
        if operator == "aclnnBackgroundReplace":
            golden = given["bkg"] * (1 - given["mask"]) + given["src"] * given["mask"]
        else:
            golden = given["rgb"] * (given["alpha"] / 255)
            golden = golden + given["frame"] * (1 - given["alpha"] / 255) if "frame" in given else golden
        found = case.run(3)
        if found.dtype == np.uint8:
            assert (np.abs(found.astype(np.float64) - golden) <= 0.5 + 1e-4).all()
        else:
            assert_accurate(found, golden, largest=2)


# Wrong calls


@pytest.mark.parametrize("operator", OPERATORS)
def test_null_pointers(operator: str, device: int, chip: Chip) -> None:
    on_its_chip(operator, chip)
    case = call_of(operator)
    for name, kind in case.declared.parameters:
        if kind.c_type.endswith("*"):
            assert case.but(**{name: None}).status() == NULLPTR, name


@pytest.mark.parametrize("operator", OPERATORS)
def test_wrong_types_and_shapes(operator: str, device: int, chip: Chip) -> None:
    on_its_chip(operator, chip)
    case = call_of(operator)
    for name, value in case.arguments.items():
        if isinstance(value, np.ndarray):
            assert case.but(**{name: value.astype(np.complex64)}).status() == INVALID, name
            longer = np.concatenate([value, value], 1 if "Roi" in operator and value.ndim == 4 else -1)
            assert case.but(**{name: longer}).status() == INVALID, name
            if value.ndim > 1:
                assert case.but(**{name: value.reshape(-1)}).status() == INVALID, name


TOO_MUCH = ({"channels": 12}, {"channels": 264}, {"heads": 17}, {"levels": 17}, {"points": 17}, {"queries": 500000})


def attention_of(channels: int = 8, heads: int = 1, levels: int = 1, points: int = 1, queries: int = 1) -> dict[str, Meta]:
    """Tensors of a gradient of attention, with so many of each."""
    value, location, weight = (1, 1, heads, channels), (1, queries, heads, levels, points, 2), (1, queries, heads, levels, points)
    return {
        **dict.fromkeys(("value", "gradValue"), Meta(value, F)),
        "spatialShape": Meta((levels, 2), np.int32),
        "levelStartIndex": Meta((levels,), np.int32),
        **dict.fromkeys(("location", "gradLocation"), Meta(location, F)),
        **dict.fromkeys(("attnWeight", "gradAttnWeight"), Meta(weight, F)),
        "gradOutput": Meta((1, queries, heads * channels), F),
    }


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("aclnnIou", {"mode": "giou"}),
    ("aclnnIou", {"eps": -0.1}),
    ("aclnnIou", {"bBoxes": np.zeros((2, 4), F)}),
    ("aclnnIou", {"overlap": np.zeros((3, 3), F)}),
    ("aclnnIou", {"gtBoxes": np.zeros((3, 4), np.float16)}),
    ("aclnnCIoU", {"mode": "giou"}),
    ("aclnnCIoU", {"isCross": True}),
    ("aclnnCIoU", {"overlap": np.zeros((2, 1024), F)}),
    ("aclnnCIoU", {"bBoxes": np.zeros((4, 1000), F), "gtBoxes": np.zeros((4, 1000), F)}),
    ("aclnnNonMaxSuppression", {"maxOutputBoxesPerClass": [701]}),
    ("aclnnNonMaxSuppression", {"maxOutputBoxesPerClass": [-1]}),
    ("aclnnNonMaxSuppression", {"maxOutputBoxesPerClass": []}),
    ("aclnnNonMaxSuppression", {"iouThreshold": [1.5]}),
    ("aclnnNonMaxSuppression", {"iouThreshold": [-0.5]}),
    ("aclnnNonMaxSuppression", {"scoreThreshold": [2.0]}),
    ("aclnnNonMaxSuppression", {"scoreThreshold": [math.nan]}),
    ("aclnnNonMaxSuppression", {"centerPointBox": 2}),
    ("aclnnRoiAlign", {"mode": "sum"}),
    ("aclnnRoiAlign", {"samplingRatio": -1}),
    ("aclnnRoiAlign", {"spatialScale": 0.0}),
    ("aclnnRoiAlign", {"outputHeight": 3}),
    ("aclnnRoiAlign", {"batchIndices": np.zeros(2, np.int32)}),
    ("aclnnRoiAlignV2", {"samplingRatio": -1}),
    ("aclnnRoiAlignV2", {"spatialScale": -1.0}),
    ("aclnnRoiAlignV2", {"pooledWidth": -1}),
    ("aclnnRoiAlignV2Backward", {"inputShape": (2, 3, 5)}),
    ("aclnnRoiAlignV2Backward", {"inputShape": (2, 3, 5, 7)}),
    ("aclnnRoiAlignV2Backward", {"spatialScale": 0.0}),
    ("aclnnRoiAlignV2Backward", {"samplingRatio": -1}),
    ("aclnnRoiPoolingWithArgMax", {"pooled_h": 0}),
    ("aclnnRoiPoolingWithArgMax", {"pooled_w": -1}),
    ("aclnnRoiPoolingWithArgMax", {"spatial_scale_h": 0.0}),
    ("aclnnRoiPoolingWithArgMax", {"spatial_scale_w": -1.0}),
    ("aclnnRoiPoolingGradWithArgMax", {"pooledH": 0}),
    ("aclnnRoiPoolingGradWithArgMax", {"pooledW": 2}),
    ("aclnnResize", {"mode": "cubic"}),
    ("aclnnResize", {"scales": (1, 1, 2)}),
    ("aclnnResize", {"scales": (1, 2, 2, 1.5)}),
    ("aclnnResize", {"scales": (1, 1, 2, 2)}),
    ("aclnnResize", {"scales": (1, 1, -2, 1.5)}),
    ("aclnnResize", {"scales": (1, 1, math.inf, 1.5)}),
    ("aclnnThreeInterpolateBackward", {"m": 0}),
    ("aclnnThreeInterpolateBackward", {"m": 5}),
    ("aclnnMultiScaleDeformableAttnFunction", {"value": np.zeros((1, 10, 2, 31), F), "output": np.zeros((1, 32, 62), F)}),
    (
        "aclnnMultiScaleDeformableAttnFunction",
        {"location": np.zeros((1, 31, 2, 2, 4, 2), F), "attnWeight": np.zeros((1, 31, 2, 2, 4), F), "output": np.zeros((1, 31, 64), F)},
    ),
    *(("aclnnMultiScaleDeformableAttentionGrad", attention_of(**bad)) for bad in TOO_MUCH),
    ("aclnnMrgbaCustom", {"rgb": np.zeros((4, 5, 4), np.uint8), "out": np.zeros((4, 5, 4), np.uint8)}),
    ("aclnnMrgbaCustom", {"alpha": np.zeros((4, 5, 3), np.uint8)}),
    ("aclnnBlendImagesCustom", {"alpha": np.zeros((3, 5, 1), np.uint8)}),
    ("aclnnBackgroundReplace", {"src": np.zeros((4, 5, 3), np.float16)}),
]


@pytest.mark.parametrize(("operator", "bad"), WRONG, ids=lambda value: value if isinstance(value, str) else "-".join(value))
def test_wrong_calls(operator: str, bad: dict[str, Any], device: int, chip: Chip) -> None:
    on_its_chip(operator, chip)
    assert call_of(operator).but(**bad).status() == INVALID


@pytest.mark.parametrize(
    ("operator", "bad"),
    [
        ("aclnnRoiAlign", {"batchIndices": np.array([0, 2, 1], np.int32)}),
        ("aclnnRoiAlign", {"batchIndices": np.array([0, -1, 1], np.int32)}),
        ("aclnnRoiAlign", {"rois": np.array([[0, 0, 1, 1], [0, 0, math.inf, 1], [0, 0, 1, 1]], F)}),
        ("aclnnRoiAlign", {"rois": np.array([[0, 0, 1, 1], [0, 0, 1e9, 1], [0, 0, 1, 1]], F)}),
        ("aclnnRoiAlignV2", {"boxes": np.full((3, 5), 2, F)}),
        ("aclnnRoiAlignV2", {"boxes": np.full((3, 5), math.nan, F)}),
        ("aclnnRoiAlignV2Backward", {"boxes": np.full((3, 5), -1, F)}),
        ("aclnnRoiPoolingWithArgMax", {"rois": np.full((3, 5), 2, F)}),
        ("aclnnRoiPoolingGradWithArgMax", {"rois": np.full((3, 5), 2, F)}),
        ("aclnnRoiPoolingGradWithArgMax", {"argmax": np.full((3, 2, 2, 3), 20, np.int32)}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_faults(operator: str, bad: dict[str, Any], device: int, chip: Chip) -> None:
    on_its_chip(operator, chip)
    assert call_of(operator).but(**bad).refused() == FAULT


@pytest.mark.parametrize(("operator", "status"), [("aclnnIou", 361001), ("aclnnNonMaxSuppression", 361001), ("aclnnCIoU", 561103)])
def test_other_chips(operator: str, status: int, device: int, chip: Chip) -> None:
    chip("Ascend910A")
    assert call_of(operator).status() == status


# Triangles


def drawn(points: Array, faces: Array, high: int, wide: int) -> tuple[Array, Array]:
    """Pixel by pixel, triangle by triangle."""

    def area(a: Any, b: Any, c: Any) -> float:
        return (c[0] - a[0]) * (b[1] - a[1]) - (b[0] - a[0]) * (c[1] - a[1])

    places = [
        ((x / w * 0.5 + 0.5) * (wide - 1) + 0.5, (0.5 + 0.5 * y / w) * (high - 1) + 0.5, z / w * 0.49999 + 0.5)
        for x, y, z, w in points.astype(np.float64)
    ]
    indices, weights = np.zeros((high, wide)), np.zeros((high, wide, 3))
    for row, column in np.ndindex(high, wide):
        best = math.inf
        for number, face in enumerate(faces, 1):
            a, b, c = (places[k] for k in face)
            pixel = (column + 0.5, row + 0.5)
            whole = area(a, b, c)
            if whole == 0:
                continue
            second, third = area(a, pixel, c) / whole, area(a, b, pixel) / whole
            own = np.array([1 - second - third, second, third])
            depth = float(own @ [a[2], b[2], c[2]])
            if (own >= 0).all() and depth < best:
                scaled = own / points[face, 3]
                best, indices[row, column], weights[row, column] = depth, number, scaled / scaled.sum()
    return indices, weights


def test_triangles(device: int) -> None:
    rng = np.random.default_rng(4)
    points = np.concatenate([rng.uniform(-1.3, 1.3, (8, 3)), rng.uniform(0.7, 1.5, (8, 1))], 1).astype(F)
    faces = np.array([[0, 1, 2], [3, 4, 5], [5, 6, 7], [1, 1, 2], [2, 0, 7]], np.int32)
    arguments = {"v": points, "f": faces, "width": 11, "height": 8, "findicesOut": np.full((8, 11), 7, np.int32)}
    case = call_of("aclnnRasterizer").but(**arguments, barycentricOut=numbers((8, 11, 3), F, 1))
    indices, weights = drawn(points, faces, 8, 11)
    assert len(set(indices.reshape(-1))) > 3
    found, own = case.results()
    assert_equal(found, indices)
    np.testing.assert_allclose(own, weights, atol=1e-5)


def test_wrong_triangles(device: int) -> None:
    case = call_of("aclnnRasterizer")
    tiling = acl.ACLNN_ERR_INNER_TILING_ERROR
    for bad in (
        {"width": 0},
        {"width": 4097},
        {"height": 8},
        {"useDepthPrior": 1},
        {"v": np.zeros((5, 3), F)},
        {"v": np.zeros(4, F)},
        {"f": np.zeros((0, 3), np.int32)},
        {"findicesOut": np.zeros((9, 7), np.int32)},
        {"barycentricOut": np.zeros((7, 9, 4), F)},
    ):
        assert case.but(**bad).status() == tiling, bad
    for name in ("v", "f", "findicesOut", "barycentricOut"):
        assert case.but(**{name: None}).status() == NULLPTR
        assert case.but(**{name: case.arguments[name].astype(np.float64)}).status() == INVALID
    assert case.but(f=np.array([[0, 1, 5]], np.int32)).refused() == FAULT
