"""Examples of the losses whose targets are indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from numpy import float16, float32, float64, int32, int64, uint8

from acl_emu.core import soc
from tests.operators.case import Case, numbers

bfloat16 = ml_dtypes.bfloat16
Index = Any


def nll_loss(operator: str = "aclnnNLLLoss", pixels: tuple[int, ...] = ()) -> list[Case]:
    return [
        Case(
            operator,
            {
                "self": numbers((6, 5, *pixels), dtype, 1),
                "target": classes((6, *pixels), index),
                "weight": numbers((5,), dtype, 2),
                "reduction": reduction,
                "ignoreIndex": 3,
                "out": numbers((6, *pixels) if reduction == 0 else (1,), dtype, 3),
                "totalWeightOut": numbers((1,), dtype, 4),
            },
        )
        for dtype, index, reduction in ((float32, int64, 0), (float32, int32, 1), (bfloat16, uint8, 2))
    ]


def nll_loss2d() -> list[Case]:
    return nll_loss("aclnnNLLLoss2d", (3, 4))


def nll_loss_backward() -> list[Case]:
    return [
        Case(
            "aclnnNLLLossBackward",
            {
                "gradOutput": numbers(shape, dtype, 1),
                "self": numbers((6, 5), dtype, 2),
                "target": classes((6,), index),
                "weight": numbers((5,), dtype, 3),
                "reduction": reduction,
                "ignoreIndex": 3,
                "totalWeight": np.array([2.5], dtype),
                "out": numbers((6, 5), dtype, 4),
            },
        )
        for shape, dtype, index, reduction in (((6,), float32, int64, 0), ((), float16, uint8, 1))
    ]


def classes(shape: tuple[int, ...], index: Index, count: int = 5) -> np.ndarray:
    return np.random.default_rng(7).integers(0, count, shape).astype(index)


def cross_entropy_loss() -> list[Case]:
    return [
        Case(
            "aclnnCrossEntropyLoss",
            {
                "input": numbers((6, 5), dtype, 1),
                "target": classes((6,), index),
                "weightOptional": weight,
                "reductionOptional": reduction,
                "ignoreIndex": 3,
                "labelSmoothing": smoothing,
                "lseSquareScaleForZloss": 0.0,
                "returnZloss": False,
                "lossOut": numbers((6,) if reduction == "none" else (1,), dtype, 3),
                "logProbOut": numbers((6, 5), dtype, 4),
                "zlossOut": numbers((1,), dtype, 5),
                "lseForZlossOut": numbers((6,), dtype, 6),
            },
        )
        for dtype, index, weight, reduction, smoothing in (
            (float32, int64, numbers((5,), float32, 2), "mean", 0.1),
            (bfloat16, int32, None, "none", 0.0),
        )
    ]


def cross_entropy_loss_grad() -> list[Case]:
    return [
        Case(
            "aclnnCrossEntropyLossGrad",
            {
                "gradLoss": numbers(shape, dtype, 1),
                "logProb": -np.abs(numbers((6, 5), dtype, 2)),
                "target": classes((6,), int64),
                "weightOptional": weight,
                "gradZlossOptional": None if weight is None else numbers(shape, dtype, 4),
                "lseForZlossOptional": None if weight is None else numbers((6,), dtype, 5),
                "reductionOptional": reduction,
                "ignoreIndex": 3,
                "labelSmoothing": 0.0,
                "lseSquareScaleForZloss": 0.0,
                "out": numbers((6, 5), dtype, 6),
            },
        )
        for dtype, shape, weight, reduction in ((float32, (), numbers((5,), float32, 3), "mean"), (float16, (6,), None, "none"))
    ]


def multilabel_margin_loss() -> list[Case]:
    return [
        Case(
            "aclnnMultilabelMarginLoss",
            {
                "self": numbers((4, 5), dtype, 1),
                "target": np.array([[0, 3, -1, 1, 1], [-1, 0, 0, 0, 0], [4, 2, 1, 0, 3], [2, 2, 0, -1, -1]], index),
                "reduction": reduction,
                "out": numbers((4,) if reduction == 0 else (), dtype, 2),
                "isTarget": numbers((4, 5), dtype, 3),
            },
        )
        for dtype, index, reduction in ((float32, int64, 0), (bfloat16, int32, 1))
    ]


def alpha_width(longest: int) -> int:
    """How wide logAlphaOut is on the current chip."""
    states = 2 * longest + 1
    return states if soc.current().product is soc.Product.A950 else (states + 7) // 8 * 8


def log_probabilities(shape: tuple[int, ...], dtype: Any, seed: int = 1) -> np.ndarray:
    logits = numbers(shape, float64, seed)
    return (logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))).astype(dtype)


def ctc_loss() -> list[Case]:
    return [
        Case(
            "aclnnCtcLoss",
            {
                "logProbs": log_probabilities((7, 3, 5), dtype),
                "targets": targets,
                "inputLengths": [7, 4, 6],
                "targetLengths": [3, 2, 1],
                "blank": 0,
                "zeroInfinity": True,
                "negLogLikelihoodOut": numbers((3,), dtype, 2),
                "logAlphaOut": numbers((3, 7, alpha_width(3)), dtype, 3),
            },
        )
        for dtype, targets in (
            (float32, np.array([[1, 2, 2, 9], [3, 4, 9, 9], [1, 9, 9, 9]], int64)),
            (float16, np.array([1, 2, 2, 3, 4, 1], int32)),
            (float64, np.array([1, 2, 2, 3, 4, 1], float16)),
        )
    ]


def ctc_loss_backward() -> list[Case]:
    return [
        Case(
            "aclnnCtcLossBackward",
            {
                "gradOut": numbers((3,), dtype, 2),
                "logProbs": log_probabilities((7, 3, 5), dtype),
                "targets": targets,
                "inputLengths": [7, 4, 6],
                "targetLengths": [3, 2, 1],
                "negLogLikelihood": np.array([8, 5, 7], dtype),
                "logAlpha": -np.abs(numbers((3, 7, 9), dtype, 3, 4)),
                "blank": 0,
                "zeroInfinity": False,
                "out": numbers((7, 3, 5), dtype, 4),
            },
        )
        for dtype, targets in (
            (float32, np.array([[1, 2, 2, 9], [3, 4, 9, 9], [1, 9, 9, 9]], int64)),
            (bfloat16, np.array([1, 2, 2, 3, 4, 1], int32)),
        )
    ]


def chamfer_distance_backward() -> list[Case]:
    return [
        Case(
            "aclnnChamferDistanceBackward",
            {
                "xyz1": numbers((2, 5, 2), first, 1),
                "xyz2": numbers((2, 4, 2), second, 2),
                "idx1": classes((2, 5), int32, 4),
                "idx2": classes((2, 4), int32, 5),
                "gradDist1": numbers((2, 5), first, 3),
                "gradDist2": numbers((2, 4), second, 4),
                "gradXyz1": numbers((2, 5, 2), out, 5),
                "gradXyz2": numbers((2, 4, 2), out, 6),
            },
        )
        for first, second, out in ((float32, float32, float32), (float16, float16, float16), (float16, float32, float16))
    ]


EXAMPLES: dict[str, Callable[[], list[Case]]] = {
    "aclnnChamferDistanceBackward": chamfer_distance_backward,
    "aclnnCrossEntropyLoss": cross_entropy_loss,
    "aclnnCrossEntropyLossGrad": cross_entropy_loss_grad,
    "aclnnCtcLoss": ctc_loss,
    "aclnnCtcLossBackward": ctc_loss_backward,
    "aclnnMultilabelMarginLoss": multilabel_margin_loss,
    "aclnnNLLLoss": nll_loss,
    "aclnnNLLLoss2d": nll_loss2d,
    "aclnnNLLLossBackward": nll_loss_backward,
}
