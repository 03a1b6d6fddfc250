"""Calls of activations, softmax and losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.draw import MATRIX, POINTS, ROWS, SCORES, SEQUENCES, VOCABULARY, Arguments, Array, Draw, Maker, Shape

# Activations and row-wise operators


def unary(d: Draw) -> Arguments:
    return {"self": d.normal(), "out": d.empty()}


def log_sigmoid_forward(d: Draw) -> Arguments:
    return {"self": d.normal(), "out": d.empty(), "buffer": d.empty()}


def log_sigmoid_backward(d: Draw) -> Arguments:
    x = d.normal()
    return {"gradOutput": d.normal(), "self": x, "buffer": np.exp(-np.abs(x)).astype(x.dtype), "gradInput": d.empty()}


def along(sizes: dict[str, Shape] = MATRIX) -> Maker:
    return lambda d: {"self": d.normal(sizes[d.size]), "dim": 1, "out": d.empty(sizes[d.size])}


def gradient_along(output: Callable[[Draw, Shape], Array], sizes: dict[str, Shape] = MATRIX) -> Maker:
    return lambda d: {"gradOutput": d.normal(sizes[d.size]), "output": output(d, sizes[d.size]), "dim": 1, "out": d.empty(sizes[d.size])}


def softmax_cross_entropy(d: Draw) -> Arguments:
    return {"features": d.normal(), "labels": d.distribution(), "loss": d.empty(d.matrix[:1]), "backprop": d.empty()}


def scaled_masked_softmax(d: Draw) -> Arguments:
    shape = SCORES[d.size]
    mask = d.index((shape[0], 1, *shape[2:]), 2, np.bool_)
    return {"x": d.normal(shape), "mask": mask, "scale": 0.3, "fixTriuMask": False, "y": d.empty(shape)}


def scaled_masked_softmax_backward(d: Draw) -> Arguments:
    shape = SCORES[d.size]
    mask = d.index((shape[0], 1, *shape[2:]), 2, np.bool_)
    return {
        "gradOutput": d.normal(shape),
        "y": d.distribution(shape),
        "mask": mask,
        "scale": 0.3,
        "fixTriuMask": False,
        "out": d.empty(shape),
    }


# Element-wise losses


def loss(reduction: int, *, out: str = "out", shape: Shape = (), **others: Any) -> Maker:
    def make(d: Draw) -> Arguments:
        result = d.empty(d.matrix if reduction == 0 else shape)
        return {"self": d.normal(), "target": d.normal(), "reduction": reduction, **others, out: result}

    return make


def soft_margin(reduction: int) -> Maker:
    def make(d: Draw) -> Arguments:
        signs = (2 * d.index(d.matrix, 2) - 1).astype(d.dtype)
        return {"self": d.normal(), "target": signs, "reduction": reduction, "out": d.empty(d.matrix if reduction == 0 else ())}

    return make


def binary(reduction: int) -> Maker:
    def make(d: Draw) -> Arguments:
        result = d.empty(d.matrix if reduction == 0 else ())
        return {"self": d.probability(), "target": d.probability(), "weight": d.positive(), "reduction": reduction, "out": result}

    return make


def binary_with_logits(reduction: int) -> Maker:
    def make(d: Draw) -> Arguments:
        result = d.empty(d.matrix if reduction == 0 else ())
        weights = {"weightOptional": None, "posWeightOptional": None}
        return {"self": d.normal(), "target": d.probability(), **weights, "reduction": reduction, "out": result}

    return make


def slope(*, out: str = "out", grad: str = "gradOutput", **others: Any) -> Maker:
    return lambda d: {grad: d.normal(), "self": d.normal(), "target": d.normal(), "reduction": 0, **others, out: d.empty()}


def soft_margin_slope(d: Draw) -> Arguments:
    signs = (2 * d.index(d.matrix, 2) - 1).astype(d.dtype)
    return {"gradOutput": d.normal(), "self": d.normal(), "target": signs, "reduction": 0, "out": d.empty()}


def binary_slope(d: Draw) -> Arguments:
    inputs = {"gradOutput": d.normal(), "self": d.probability(), "target": d.probability(), "weightOptional": d.positive()}
    return {**inputs, "reduction": 0, "out": d.empty()}


def binary_with_logits_slope(d: Draw) -> Arguments:
    inputs = {"gradOutput": d.normal(), "self": d.normal(), "target": d.probability(), "weightOptional": None, "posWeightOptional": None}
    return {**inputs, "reduction": 0, "out": d.empty()}


def divergence_slope(out: str) -> Maker:
    def make(d: Draw) -> Arguments:
        inputs = {"gradOutput": d.normal(), "self": d.normal(), "target": d.probability()}
        return {**inputs, "reduction": 0, "logTarget": False, out: d.empty()}

    return make


def logit(d: Draw) -> Arguments:
    return {"input": d.probability(), "eps": 0.0625, "out": d.empty()}


def logit_slope(d: Draw) -> Arguments:
    return {"x": d.probability(), "dy": d.normal(), "eps": 0.0625, "out": d.empty()}


# Losses whose targets are indices


def nll(shapes: dict[str, Shape], reduction: int) -> Maker:
    def make(d: Draw) -> Arguments:
        shape = shapes[d.size]
        targets = shape[:1] + shape[2:]
        return {
            "self": d.log_distribution(shape),
            "target": d.index(targets, shape[1]),
            "weight": d.positive(shape[1:2]),
            "reduction": reduction,
            "ignoreIndex": -100,
            "out": d.empty(targets if reduction == 0 else ()),
            "totalWeightOut": d.empty(()),
        }

    return make


def nll_slope(shapes: dict[str, Shape]) -> Maker:
    def make(d: Draw) -> Arguments:
        shape = shapes[d.size]
        targets = shape[:1] + shape[2:]
        return {
            "gradOutput": d.normal(targets),
            "self": d.empty(shape),
            "target": d.index(targets, shape[1]),
            "weight": d.positive(shape[1:2]),
            "reduction": 0,
            "ignoreIndex": -100,
            "totalWeight": np.ones((), d.dtype),
            "out": d.empty(shape),
        }

    return make


def cross_entropy(d: Draw) -> Arguments:
    rows, classes = ROWS[d.size]
    return {
        "input": d.normal((rows, classes)),
        "target": d.index((rows,), classes),
        "weightOptional": None,
        "reductionOptional": "mean",
        "ignoreIndex": -100,
        "labelSmoothing": 0.0,
        "lseSquareScaleForZloss": 0.0,
        "returnZloss": False,
        "lossOut": d.empty((1,)),
        "logProbOut": d.empty((rows, classes)),
        "zlossOut": d.empty((1,)),
        "lseForZlossOut": d.empty((rows,)),
    }


def cross_entropy_slope(d: Draw) -> Arguments:
    rows, classes = ROWS[d.size]
    return {
        "gradLoss": d.normal((rows,)),
        "logProb": d.log_distribution((rows, classes)),
        "target": d.index((rows,), classes),
        "weightOptional": None,
        "gradZlossOptional": None,
        "lseForZlossOptional": None,
        "reductionOptional": "none",
        "ignoreIndex": -100,
        "labelSmoothing": 0.0,
        "lseSquareScaleForZloss": 0.0,
        "out": d.empty((rows, classes)),
    }


def multilabel(d: Draw) -> Arguments:
    rows, classes = ROWS[d.size]
    target = np.full((rows, classes), -1, np.int64)
    target[:, :4] = (d.index((rows, 1), classes) + np.arange(4) * (classes // 4)) % classes
    return {
        "self": d.normal((rows, classes)),
        "target": target,
        "reduction": 0,
        "out": d.empty((rows,)),
        "isTarget": d.empty((rows, classes)),
    }


def sequences(d: Draw) -> tuple[Array, Array, list[int], list[int], int]:
    time, batch, classes = SEQUENCES[d.size]
    longest = min(60, time // 4)
    targets = 1 + d.index((batch, longest), classes - 1)
    return d.log_distribution((time, batch, classes)), targets, [time] * batch, [longest] * batch, -(-(2 * longest + 1) // 8) * 8


def ctc(d: Draw) -> Arguments:
    log_probs, targets, times, lengths, width = sequences(d)
    time, batch, _ = log_probs.shape
    return {
        "logProbs": log_probs,
        "targets": targets,
        "inputLengths": times,
        "targetLengths": lengths,
        "blank": 0,
        "zeroInfinity": False,
        "negLogLikelihoodOut": d.empty((batch,)),
        "logAlphaOut": d.empty((batch, time, width)),
    }


def ctc_slope(d: Draw) -> Arguments:
    """Likelihood and scores as the forward operator gives them."""
    import acl_emu as acl

    forward = ctc(d)
    likelihood, scores = acl.call("aclnnCtcLoss", **forward)
    kept = {name: forward[name] for name in ("logProbs", "targets", "inputLengths", "targetLengths", "blank", "zeroInfinity")}
    return {
        "gradOut": d.normal(likelihood.shape),
        **kept,
        "negLogLikelihood": likelihood,
        "logAlpha": scores,
        "out": d.empty(forward["logProbs"].shape),
    }


def chamfer(d: Draw) -> Arguments:
    shape = POINTS[d.size]
    return {
        "xyz1": d.normal(shape),
        "xyz2": d.normal(shape),
        "idx1": d.index(shape[:2], shape[1], np.int32),
        "idx2": d.index(shape[:2], shape[1], np.int32),
        "gradDist1": d.normal(shape[:2]),
        "gradDist2": d.normal(shape[:2]),
        "gradXyz1": d.empty(shape),
        "gradXyz2": d.empty(shape),
    }


# The vocabulary-parallel chain


def online(logits: bool) -> Maker:
    def make(d: Draw) -> Arguments:
        rows, words, width = VOCABULARY[d.size]
        return {
            "input": d.normal((rows, width), scale=width**-0.5),
            "weight": d.normal((words, width)),
            "target": d.index((rows,), 2 * words),
            "vocabStartIndex": words // 2,
            "vocabEndIndex": words // 2 + words - 1,
            "logitsMaxLocalOut": d.empty((rows,), np.float32),
            "sumExpLogitsLocalOut": d.empty((rows,), np.float32),
            "predictedLogitsLocalOut": d.empty((rows,), np.float32),
            "targetMaskOut": d.empty((-(-rows // 8),), np.uint8),
            "maskedTargetOut": d.empty((rows,), np.int64),
            "vocabParallelLogitsOutOptional": d.empty((rows, words)) if logits else None,
        }

    return make


def linear_slope(saving: bool) -> Maker:
    def make(d: Draw) -> Arguments:
        rows, words, width = VOCABULARY[d.size]
        features, table = d.normal((rows, width), scale=width**-0.5), d.normal((words, width))
        logits = features.astype(np.float32) @ table.astype(np.float32).T
        largest = logits.max(axis=1)
        logits -= largest[:, np.newaxis]
        np.exp(logits, out=logits)
        total = logits.sum(axis=1)
        if not saving:
            logits /= total[:, np.newaxis]
        return {
            "grad": d.normal((rows,), np.float32),
            "input": features,
            "weight": table,
            "targetMask": d.index((-(-rows // 8),), 256, np.uint8),
            "maskedTarget": d.index((rows,), words),
            "labelSmoothing": 0.0,
            "logitsMaxOptional": largest if saving else None,
            "sumExpLogitsOptional": total if saving else None,
            "softmaxOptional": None if saving else logits,
            "inputGradOut": d.empty((rows, width)),
            "weightGradOut": d.empty((words, width)),
        }

    return make


def with_max_sum(d: Draw) -> Arguments:
    rows, words, _ = VOCABULARY[d.size]
    logits = d.normal((rows, words))
    largest = logits.max(axis=1).astype(np.float32)
    return {
        "logitsMax": largest,
        "sumExpLogits": np.exp(logits.astype(np.float32) - largest[:, np.newaxis]).sum(axis=1),
        "predictedLogits": -np.abs(d.normal((rows,), np.float32)),
        "labelSmoothing": 0.0,
        "inputOptional": None,
        "weightOptional": None,
        "vocabParallelLogitsOptional": logits,
        "lossOut": d.empty((rows,), np.float32),
        "softMaxOutOptional": d.empty((rows, words), np.float32),
    }


def sum_exp_and_index(d: Draw) -> Arguments:
    rows, words, _ = VOCABULARY[d.size]
    logits = d.normal((rows, words))
    return {
        "vocabParallelLogits": logits,
        "target": d.index((rows,), 3 * words, np.int32),
        "globalLogitsMax": logits.max(axis=1),
        "vocabStartIndex": words,
        "vocabEndIndex": 2 * words,
        "predictedLogitsOut": d.empty((rows,), np.float32),
        "sumExpLogitsOut": d.empty((rows,), np.float32),
        "expLogitsOut": d.empty((rows, words), np.float32),
        "targetOffsetOut": d.empty((rows,), np.int32),
        "targetMaskOut": d.empty((rows,), np.int32),
    }
