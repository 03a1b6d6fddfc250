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


def along_an_axis(name: str) -> Callable[[], list[Case]]:
    return lambda: [
        Case(name, {"self": numbers((3, 5, 7), dtype, 1, 3), "dim": 1, "out": numbers((3, 5, 7), out, 2)})
        for dtype, out in ((float32, float32), (float64, float64), (float16, float32), (bfloat16, float16))
    ]


def softmax_backward() -> list[Case]:
    return [
        Case(
            "aclnnSoftmaxBackward",
            {
                "gradOutput": numbers((3, 5, 7), dtype, 1),
                "output": np.abs(numbers((3, 5, 7), dtype, 2)),
                "dim": -1,
                "out": numbers((3, 5, 7), out, 3),
            },
        )
        for dtype, out in ((float32, float32), (bfloat16, float64))
    ]


def softmax_cross_entropy_with_logits() -> list[Case]:
    return [
        Case(
            "aclnnSoftmaxCrossEntropyWithLogits",
            {
                "features": numbers((4, 6), dtype, 1),
                "labels": np.abs(numbers((4, 6), dtype, 2)),
                "loss": numbers((4,), dtype, 3),
                "backprop": numbers((4, 6), dtype, 4),
            },
        )
        for dtype in (float32, float16, bfloat16)
    ]


def log_sigmoid() -> list[Case]:
    return [
        Case("aclnnLogSigmoid", {"self": numbers((3, 5), dtype, 1, 4), "out": numbers((3, 5), dtype, 2)})
        for dtype in (float32, float16, bfloat16)
    ]


def log_sigmoid_forward() -> list[Case]:
    return [
        Case("aclnnLogSigmoidForward", {**case.arguments, "buffer": buffer})
        for case, buffer in zip(log_sigmoid(), (numbers((3, 5), float32, 3), None, np.zeros(0, bfloat16)), strict=True)
    ]


def log_sigmoid_backward() -> list[Case]:
    return [
        Case(
            "aclnnLogSigmoidBackward",
            {name: numbers((3, 5), dtype, seed, 2) for seed, name in enumerate(("gradOutput", "self", "buffer", "gradInput"))},
        )
        for dtype in (float32, float16, bfloat16)
    ]


def masked(name: str, *tensors: str) -> Callable[[], list[Case]]:
    """Attention scores of shape (2, 3, 4, 5) under each of the documented masks."""
    *inputs, output = tensors
    return lambda: [
        Case(
            name,
            {
                **{tensor: numbers((2, 3, 4, 5), dtype, seed) for seed, tensor in enumerate(inputs)},
                "mask": np.random.default_rng(8).integers(0, 2, shape).astype(np.bool_),
                "scale": 0.3,
                "fixTriuMask": False,
                output: numbers((2, 3, 4, 5), dtype, 9),
            },
        )
        for dtype, shape in ((float32, (2, 3, 4, 5)), (float16, (1, 3, 4, 5)), (bfloat16, (2, 1, 4, 5)))
    ]


EXAMPLES: dict[str, Callable[[], list[Case]]] = {
    "aclnnCrossEntropySumExpAndIndexLogit": cross_entropy_sum_exp_and_index_logit,
    "aclnnFusedCrossEntropyLossWithMaxSum": fused_cross_entropy_loss_with_max_sum,
    "aclnnFusedLinearOnlineMaxSum": fused_linear_online_max_sum,
    "aclnnLogSigmoid": log_sigmoid,
    "aclnnLogSigmoidBackward": log_sigmoid_backward,
    "aclnnLogSigmoidForward": log_sigmoid_forward,
    "aclnnLogSoftmax": along_an_axis("aclnnLogSoftmax"),
    "aclnnScaledMaskedSoftmax": masked("aclnnScaledMaskedSoftmax", "x", "y"),
    "aclnnScaledMaskedSoftmaxBackward": masked("aclnnScaledMaskedSoftmaxBackward", "gradOutput", "y", "out"),
    "aclnnSoftmax": along_an_axis("aclnnSoftmax"),
    "aclnnSoftmaxBackward": softmax_backward,
    "aclnnSoftmaxCrossEntropyWithLogits": softmax_cross_entropy_with_logits,
}
