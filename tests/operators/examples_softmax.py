"""Valid calls of the softmax family and of the vocabulary-parallel chain."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
from numpy import float16, float32, float64, int32, int64, uint8

from tests.operators.case import Case, numbers

bfloat16 = ml_dtypes.bfloat16


def fused_linear_online_max_sum(rows: int = 70, vocabulary: int = 300, width: int = 65) -> list[Case]:
    return [
        Case(
            "aclnnFusedLinearOnlineMaxSum",
            {
                "input": numbers((rows, width), dtype, 1, 0.5),
                "weight": numbers((vocabulary, width), dtype, 2, 0.5),
                "target": np.random.default_rng(3).integers(0, 900, rows, index),
                "vocabStartIndex": 200,
                "vocabEndIndex": 499,
                "logitsMaxLocalOut": numbers((rows,), float32, 4),
                "sumExpLogitsLocalOut": numbers((rows,), float32, 5),
                "predictedLogitsLocalOut": numbers((rows,), float32, 6),
                "targetMaskOut": np.zeros(-(-rows // 8), uint8),
                "maskedTargetOut": np.full(rows, 7, index),
                "vocabParallelLogitsOutOptional": numbers((rows, vocabulary), dtype, 7) if fast else None,
            },
        )
        for dtype, index, fast in ((float16, int32, True), (bfloat16, int64, False))
    ]


def fused_cross_entropy_loss_with_max_sum(rows: int = 9, vocabulary: int = 33) -> list[Case]:
    calls = []
    for dtype in (float32, float16, bfloat16, None):
        logits = numbers((rows, vocabulary), dtype or float32, 1)
        largest = logits.max(axis=1).astype(float32) + float32(0.5)
        calls.append(
            Case(
                "aclnnFusedCrossEntropyLossWithMaxSum",
                {
                    "logitsMax": largest,
                    "sumExpLogits": np.exp(logits.astype(float64) - largest[:, np.newaxis]).sum(axis=1).astype(float32),
                    "predictedLogits": -np.abs(numbers((rows,), float32, 2)),
                    "labelSmoothing": 0.0,
                    "inputOptional": None,
                    "weightOptional": numbers((2,), float32, 3) if dtype is float32 else None,
                    "vocabParallelLogitsOptional": logits if dtype else None,
                    "lossOut": numbers((rows,), float32, 4),
                    "softMaxOutOptional": numbers((rows, vocabulary), float32, 5) if dtype else None,
                },
            )
        )
    return calls


def cross_entropy_sum_exp_and_index_logit() -> list[Case]:
    calls = []
    for shape, dtype in (((5, 24), float32), ((2, 3, 32), bfloat16)):
        leading, words = shape[:-1], shape[-1]
        logits = numbers(shape, dtype, 1)
        calls.append(
            Case(
                "aclnnCrossEntropySumExpAndIndexLogit",
                {
                    "vocabParallelLogits": logits,
                    "target": np.random.default_rng(2).integers(0, 3 * words, leading, int32),
                    "globalLogitsMax": logits.max(axis=-1),
                    "vocabStartIndex": words,
                    "vocabEndIndex": 2 * words,
                    "predictedLogitsOut": numbers(leading, float32, 3),
                    "sumExpLogitsOut": numbers(leading, float32, 4),
                    "expLogitsOut": numbers(shape, float32, 5),
                    "targetOffsetOut": np.full(leading, 7, int32),
                    "targetMaskOut": np.full(leading, 7, int32),
                },
            )
        )
    return calls


EXAMPLES: dict[str, Callable[[], list[Case]]] = {
    "aclnnCrossEntropySumExpAndIndexLogit": cross_entropy_sum_exp_and_index_logit,
    "aclnnFusedCrossEntropyLossWithMaxSum": fused_cross_entropy_loss_with_max_sum,
    "aclnnFusedLinearOnlineMaxSum": fused_linear_online_max_sum,
}
