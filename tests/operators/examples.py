"""One or more valid calls of every operator, for the properties that all operators share. They are small and not empty."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

import ml_dtypes
import numpy as np
from numpy import float16, float32, int32, int64, uint8

import tests.operators
from tests.operators.case import Case, numbers

bfloat16 = ml_dtypes.bfloat16


def log_softmax_backward() -> list[Case]:
    return [
        Case(
            "aclnnLogSoftmaxBackward",
            {
                "gradOutput": numbers((3, 5, 7), dtype, 1),
                "output": -np.abs(numbers((3, 5, 7), dtype, 2)),
                "dim": 1,
                "out": numbers((3, 5, 7), out, 3),
            },
        )
        for dtype, out in ((float32, float32), (bfloat16, float16))
    ]


def nll_loss2d_backward() -> list[Case]:
    return [
        Case(
            "aclnnNLLLoss2dBackward",
            {
                "gradOutput": numbers(shape, dtype, 1),
                "self": numbers((2, 5, 3, 4), dtype, 2),
                "target": np.arange(24).reshape(2, 3, 4).astype(index) % 5,
                "weight": numbers((5,), dtype, 3),
                "reduction": reduction,
                "ignoreIndex": 3,
                "totalWeight": np.array([2.5], dtype),
                "out": numbers((2, 5, 3, 4), dtype, 4),
            },
        )
        for shape, dtype, index, reduction in (((2, 3, 4), float32, int64, 0), ((1,), bfloat16, uint8, 1))
    ]


def smooth_l1_loss_backward() -> list[Case]:
    return [
        Case(
            "aclnnSmoothL1LossBackward",
            {
                "gradOut": numbers((4, 1), first, 1),
                "self": numbers((3, 4, 5), second, 2),
                "target": numbers((5,), second, 3),
                "reduction": 1,
                "beta": 0.7,
                "gradInput": numbers((3, 4, 5), out, 4),
            },
        )
        for first, second, out in ((float32, float32, float32), (float16, bfloat16, float32), (bfloat16, bfloat16, float16))
    ]


def fused_linear_cross_entropy_loss_grad(rows: int = 128, vocabulary: int = 1030, width: int = 128) -> list[Case]:
    cases = []
    for dtype, index in ((bfloat16, int64), (float16, int32)):
        features, table = numbers((rows, width), dtype, 1, 0.5), numbers((vocabulary, width), dtype, 2, 0.5)
        logits = features.astype(np.float64) @ table.astype(np.float64).T
        largest = logits.max(axis=1).astype(float32)
        sums = np.exp(logits - largest[:, np.newaxis]).sum(axis=1).astype(float32)
        rng = np.random.default_rng(3)
        saving = Case(
            "aclnnFusedLinearCrossEntropyLossGrad",
            {
                "grad": numbers((rows,), float32, 4),
                "input": features,
                "weight": table,
                "targetMask": rng.integers(0, 256, -(-rows // 8), uint8),
                "maskedTarget": rng.integers(0, vocabulary, rows, index),
                "labelSmoothing": 0.0,
                "logitsMaxOptional": largest,
                "sumExpLogitsOptional": sums,
                "softmaxOptional": None,
                "inputGradOut": numbers((rows, width), dtype, 5),
                "weightGradOut": numbers((vocabulary, width), dtype, 6),
            },
        )
        softmax = (np.exp(logits - largest[:, np.newaxis]) / sums[:, np.newaxis]).astype(float32)
        cases += [saving, saving.but(logitsMaxOptional=None, sumExpLogitsOptional=None, softmaxOptional=softmax)]
    return cases


EXAMPLES: dict[str, Callable[[], list[Case]]] = {
    "aclnnFusedLinearCrossEntropyLossGrad": fused_linear_cross_entropy_loss_grad,
    "aclnnLogSoftmaxBackward": log_softmax_backward,
    "aclnnNLLLoss2dBackward": nll_loss2d_backward,
    "aclnnSmoothL1LossBackward": smooth_l1_loss_backward,
}

for _module in pkgutil.iter_modules(tests.operators.__path__, "tests.operators."):
    if _module.name.rpartition(".")[2].startswith("examples_"):
        EXAMPLES.update(importlib.import_module(_module.name).EXAMPLES)
