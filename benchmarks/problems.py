"""What is measured: one valid call of every operator, at three sizes and in every dtype, as arrays and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

SIZES = ("small", "medium", "large")
DTYPES: dict[str, Any] = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}

_MATRIX = {"small": (2, 4), "medium": (512, 512), "large": (4096, 4096)}
_ROWS = {"small": (4, 16), "medium": (1024, 256), "large": (16384, 1024)}
_IMAGES = {"small": (1, 4, 4, 4), "medium": (4, 16, 64, 64), "large": (16, 64, 128, 128)}
_SEGMENTS = {"small": (1, 4, 4, 4), "medium": (2, 21, 80, 80), "large": (12, 21, 256, 256)}
"""Images with few channels, one for each class."""
_SHORT_ROWS = {"small": (4, 16), "medium": (4096, 64), "large": (262144, 64)}
_SCORES = {"small": (1, 2, 4, 8), "medium": (2, 8, 128, 128), "large": (8, 8, 512, 512)}
_SEQUENCES = {"small": (8, 1, 8), "medium": (128, 8, 256), "large": (512, 32, 1024)}
_POINTS = {"small": (1, 8, 2), "medium": (8, 16384, 2), "large": (64, 131072, 2)}
_PRODUCT = {"small": (4, 8, 4), "medium": (512, 512, 512), "large": (4096, 1024, 4096)}
_TABLE = {"small": (16, 8), "medium": (4096, 256), "large": (65536, 256)}
_VOCABULARY = {"small": (8, 128, 16), "medium": (256, 2048, 256), "large": (2048, 32768, 1024)}
"""Rows, words, width."""


@dataclass
class Draw:
    """Draws the arguments of one call; every array has a seed of its own, so that equal draws are equal."""

    size: str
    dtype: Any
    _seed: int = field(default=0, init=False)

    def normal(self, shape: Shape | None = None, dtype: Any = None, scale: float = 1.0) -> Array:
        """Normally distributed numbers."""
        self._seed += 1
        values = _normal(self._seed, self.matrix if shape is None else shape) * np.float32(scale)
        return values.astype(self.dtype if dtype is None else dtype, copy=False)

    def positive(self, shape: Shape | None = None) -> Array:
        """The same without their signs, and away from 0."""
        return (np.abs(self.normal(shape, np.float32)) + np.float32(0.01)).astype(self.dtype, copy=False)

    def probability(self, shape: Shape | None = None) -> Array:
        """Numbers between 0.01 and 0.99."""
        self._seed += 1
        values = _uniform(self._seed, self.matrix if shape is None else shape)
        return (values * np.float32(0.98) + np.float32(0.01)).astype(self.dtype, copy=False)

    def distribution(self, shape: Shape | None = None) -> Array:
        """Rows of probabilities that add up to 1."""
        values = np.exp(self.normal(shape, np.float32))
        values /= values.sum(axis=-1, keepdims=True)
        return values.astype(self.dtype, copy=False)

    def log_distribution(self, shape: Shape | None = None) -> Array:
        """Their logarithms."""
        values = self.normal(shape, np.float32)
        values -= np.log(np.exp(values).sum(axis=-1, keepdims=True))
        return values.astype(self.dtype, copy=False)

    def index(self, shape: Shape, count: int, dtype: Any = np.int64) -> Array:
        """Numbers from 0 to ``count - 1``."""
        self._seed += 1
        return np.random.default_rng(self._seed).integers(0, count, shape).astype(dtype, copy=False)

    def room(self, shape: Shape | None = None, dtype: Any = None) -> Array:
        """An output; what it holds does not matter."""
        return np.zeros(self.matrix if shape is None else shape, self.dtype if dtype is None else dtype)

    @property
    def matrix(self) -> Shape:
        """The shape of element-wise and row-wise operands."""
        return _MATRIX[self.size]


@lru_cache(maxsize=6)
def _normal(seed: int, shape: Shape) -> Array:
    """Drawn once for all operators that want the same."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


@lru_cache(maxsize=3)
def _uniform(seed: int, shape: Shape) -> Array:
    return np.random.default_rng(seed).random(shape, np.float32)


Arguments = dict[str, Any]
Maker = Callable[[Draw], Arguments]


# Activations and row-wise operators


def _unary(d: Draw) -> Arguments:
    return {"self": d.normal(), "out": d.room()}


def _log_sigmoid_forward(d: Draw) -> Arguments:
    return {"self": d.normal(), "out": d.room(), "buffer": d.room()}


def _log_sigmoid_backward(d: Draw) -> Arguments:
    x = d.normal()
    return {"gradOutput": d.normal(), "self": x, "buffer": np.exp(-np.abs(x)).astype(x.dtype), "gradInput": d.room()}


def _along(sizes: dict[str, Shape] = _MATRIX) -> Maker:
    return lambda d: {"self": d.normal(sizes[d.size]), "dim": 1, "out": d.room(sizes[d.size])}


def _gradient_along(output: Callable[[Draw, Shape], Array], sizes: dict[str, Shape] = _MATRIX) -> Maker:
    return lambda d: {"gradOutput": d.normal(sizes[d.size]), "output": output(d, sizes[d.size]), "dim": 1, "out": d.room(sizes[d.size])}


def _softmax_cross_entropy(d: Draw) -> Arguments:
    return {"features": d.normal(), "labels": d.distribution(), "loss": d.room(d.matrix[:1]), "backprop": d.room()}


def _scaled_masked_softmax(d: Draw) -> Arguments:
    shape = _SCORES[d.size]
    mask = d.index((shape[0], 1, *shape[2:]), 2, np.bool_)
    return {"x": d.normal(shape), "mask": mask, "scale": 0.3, "fixTriuMask": False, "y": d.room(shape)}


def _scaled_masked_softmax_backward(d: Draw) -> Arguments:
    shape = _SCORES[d.size]
    mask = d.index((shape[0], 1, *shape[2:]), 2, np.bool_)
    return {
        "gradOutput": d.normal(shape),
        "y": d.distribution(shape),
        "mask": mask,
        "scale": 0.3,
        "fixTriuMask": False,
        "out": d.room(shape),
    }


# Element-wise losses


def _loss(reduction: int, *, out: str = "out", shape: Shape = (), **others: Any) -> Maker:
    def make(d: Draw) -> Arguments:
        room = d.room(d.matrix if reduction == 0 else shape)
        return {"self": d.normal(), "target": d.normal(), "reduction": reduction, **others, out: room}

    return make


def _soft_margin(reduction: int) -> Maker:
    def make(d: Draw) -> Arguments:
        signs = (2 * d.index(d.matrix, 2) - 1).astype(d.dtype)
        return {"self": d.normal(), "target": signs, "reduction": reduction, "out": d.room(d.matrix if reduction == 0 else ())}

    return make


def _binary(reduction: int) -> Maker:
    def make(d: Draw) -> Arguments:
        room = d.room(d.matrix if reduction == 0 else ())
        return {"self": d.probability(), "target": d.probability(), "weight": d.positive(), "reduction": reduction, "out": room}

    return make


def _binary_with_logits(reduction: int) -> Maker:
    def make(d: Draw) -> Arguments:
        room = d.room(d.matrix if reduction == 0 else ())
        weights = {"weightOptional": None, "posWeightOptional": None}
        return {"self": d.normal(), "target": d.probability(), **weights, "reduction": reduction, "out": room}

    return make


def _slope(*, out: str = "out", grad: str = "gradOutput", **others: Any) -> Maker:
    return lambda d: {grad: d.normal(), "self": d.normal(), "target": d.normal(), "reduction": 0, **others, out: d.room()}


def _soft_margin_slope(d: Draw) -> Arguments:
    signs = (2 * d.index(d.matrix, 2) - 1).astype(d.dtype)
    return {"gradOutput": d.normal(), "self": d.normal(), "target": signs, "reduction": 0, "out": d.room()}


def _binary_slope(d: Draw) -> Arguments:
    inputs = {"gradOutput": d.normal(), "self": d.probability(), "target": d.probability(), "weightOptional": d.positive()}
    return {**inputs, "reduction": 0, "out": d.room()}


def _binary_with_logits_slope(d: Draw) -> Arguments:
    inputs = {"gradOutput": d.normal(), "self": d.normal(), "target": d.probability(), "weightOptional": None, "posWeightOptional": None}
    return {**inputs, "reduction": 0, "out": d.room()}


def _divergence_slope(out: str) -> Maker:
    def make(d: Draw) -> Arguments:
        inputs = {"gradOutput": d.normal(), "self": d.normal(), "target": d.probability()}
        return {**inputs, "reduction": 0, "logTarget": False, out: d.room()}

    return make


def _logit(d: Draw) -> Arguments:
    return {"input": d.probability(), "eps": 0.0625, "out": d.room()}


def _logit_slope(d: Draw) -> Arguments:
    return {"x": d.probability(), "dy": d.normal(), "eps": 0.0625, "out": d.room()}


# Losses whose targets are indices


def _nll(shapes: dict[str, Shape], reduction: int) -> Maker:
    def make(d: Draw) -> Arguments:
        shape = shapes[d.size]
        targets = shape[:1] + shape[2:]
        return {
            "self": d.log_distribution(shape),
            "target": d.index(targets, shape[1]),
            "weight": d.positive(shape[1:2]),
            "reduction": reduction,
            "ignoreIndex": -100,
            "out": d.room(targets if reduction == 0 else ()),
            "totalWeightOut": d.room(()),
        }

    return make


def _nll_slope(shapes: dict[str, Shape]) -> Maker:
    def make(d: Draw) -> Arguments:
        shape = shapes[d.size]
        targets = shape[:1] + shape[2:]
        return {
            "gradOutput": d.normal(targets),
            "self": d.room(shape),
            "target": d.index(targets, shape[1]),
            "weight": d.positive(shape[1:2]),
            "reduction": 0,
            "ignoreIndex": -100,
            "totalWeight": np.ones((), d.dtype),
            "out": d.room(shape),
        }

    return make


def _cross_entropy(d: Draw) -> Arguments:
    rows, classes = _ROWS[d.size]
    return {
        "input": d.normal((rows, classes)),
        "target": d.index((rows,), classes),
        "weightOptional": None,
        "reductionOptional": "mean",
        "ignoreIndex": -100,
        "labelSmoothing": 0.0,
        "lseSquareScaleForZloss": 0.0,
        "returnZloss": False,
        "lossOut": d.room((1,)),
        "logProbOut": d.room((rows, classes)),
        "zlossOut": d.room((1,)),
        "lseForZlossOut": d.room((rows,)),
    }


def _cross_entropy_slope(d: Draw) -> Arguments:
    rows, classes = _ROWS[d.size]
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
        "out": d.room((rows, classes)),
    }


def _multilabel(d: Draw) -> Arguments:
    rows, classes = _ROWS[d.size]
    target = np.full((rows, classes), -1, np.int64)
    target[:, :4] = (d.index((rows, 1), classes) + np.arange(4) * (classes // 4)) % classes
    return {
        "self": d.normal((rows, classes)),
        "target": target,
        "reduction": 0,
        "out": d.room((rows,)),
        "isTarget": d.room((rows, classes)),
    }


def _sequences(d: Draw) -> tuple[Array, Array, list[int], list[int], int]:
    time, batch, classes = _SEQUENCES[d.size]
    longest = min(60, time // 4)
    targets = 1 + d.index((batch, longest), classes - 1)
    return d.log_distribution((time, batch, classes)), targets, [time] * batch, [longest] * batch, -(-(2 * longest + 1) // 8) * 8


def _ctc(d: Draw) -> Arguments:
    log_probs, targets, times, lengths, width = _sequences(d)
    time, batch, _ = log_probs.shape
    return {
        "logProbs": log_probs,
        "targets": targets,
        "inputLengths": times,
        "targetLengths": lengths,
        "blank": 0,
        "zeroInfinity": False,
        "negLogLikelihoodOut": d.room((batch,)),
        "logAlphaOut": d.room((batch, time, width)),
    }


def _ctc_slope(d: Draw) -> Arguments:
    """Likelihood and scores as the forward operator gives them."""
    import acl_emu as acl

    forward = _ctc(d)
    likelihood, scores = acl.call("aclnnCtcLoss", **forward)
    kept = {name: forward[name] for name in ("logProbs", "targets", "inputLengths", "targetLengths", "blank", "zeroInfinity")}
    return {
        "gradOut": d.normal(likelihood.shape),
        **kept,
        "negLogLikelihood": likelihood,
        "logAlpha": scores,
        "out": d.room(forward["logProbs"].shape),
    }


def _chamfer(d: Draw) -> Arguments:
    shape = _POINTS[d.size]
    return {
        "xyz1": d.normal(shape),
        "xyz2": d.normal(shape),
        "idx1": d.index(shape[:2], shape[1], np.int32),
        "idx2": d.index(shape[:2], shape[1], np.int32),
        "gradDist1": d.normal(shape[:2]),
        "gradDist2": d.normal(shape[:2]),
        "gradXyz1": d.room(shape),
        "gradXyz2": d.room(shape),
    }


# Arithmetic


def _tensors(*, inplace: bool, alpha: bool) -> Maker:
    def make(d: Draw) -> Arguments:
        first = {"selfRef" if inplace else "self": d.normal()}
        return {**first, "other": d.normal(), **({"alpha": 0.5} if alpha else {}), **({} if inplace else {"out": d.room()})}

    return make


def _scalar(*, inplace: bool, alpha: bool) -> Maker:
    def make(d: Draw) -> Arguments:
        first = {"selfRef" if inplace else "self": d.normal()}
        return {**first, "other": 1.5, **({"alpha": 0.5} if alpha else {}), **({} if inplace else {"out": d.room()})}

    return make


def _repeated(other: Callable[[Shape], Shape], sizes: dict[str, Shape] = _MATRIX) -> Maker:
    """A factor that is repeated along some axes."""
    return lambda d: {"self": d.normal(sizes[d.size]), "other": d.normal(other(sizes[d.size])), "out": d.room(sizes[d.size])}


def _without(shape: Shape, axes: Sequence[int]) -> Shape:
    return tuple(length for axis, length in enumerate(shape) if axis not in axes)


def _amax(axes: Sequence[int] = (1,), sizes: dict[str, Shape] = _MATRIX) -> Maker:
    return lambda d: {"self": d.normal(sizes[d.size]), "dim": list(axes), "keepDim": False, "out": d.room(_without(sizes[d.size], axes))}


def _max(d: Draw) -> Arguments:
    return {"self": d.normal(), "out": d.room(())}


def _sum(axes: Sequence[int] = (1,), sizes: dict[str, Shape] = _MATRIX) -> Maker:
    return lambda d: {
        "self": d.normal(sizes[d.size]),
        "dims": list(axes),
        "keepDims": False,
        "dtype": np.dtype(d.dtype),
        "out": d.room(_without(sizes[d.size], axes)),
    }


def _mean(d: Draw) -> Arguments:
    shape = _MATRIX[d.size]
    return {"self": d.normal(shape), "dim": [1], "keepDim": False, "dtype": np.dtype(d.dtype), "out": d.room(shape[:1])}


def _norm(d: Draw) -> Arguments:
    shape = _MATRIX[d.size]
    return {"self": d.normal(shape), "pScalar": 2.0, "dim": [1], "keepdim": False, "out": d.room(shape[:1])}


def _cumsum(d: Draw) -> Arguments:
    return {"self": d.normal(), "dim": 1, "dtype": np.dtype(d.dtype), "out": d.room()}


_ONE_ROW = {size: (math.prod(shape),) for size, shape in _MATRIX.items()}


def _sort(sizes: dict[str, Shape]) -> Maker:
    return lambda d: {
        "self": d.normal(sizes[d.size]),
        "stable": True,
        "dim": -1,
        "descending": False,
        "valuesOut": d.room(sizes[d.size]),
        "indicesOut": d.room(sizes[d.size], np.int64),
    }


def _topk(sizes: dict[str, Shape]) -> Maker:
    def make(d: Draw) -> Arguments:
        shape = sizes[d.size]
        k = min(50, shape[-1])
        return {
            "self": d.normal(shape),
            "k": k,
            "dim": -1,
            "largest": True,
            "sorted": True,
            "valuesOut": d.room((*shape[:-1], k)),
            "indicesOut": d.room((*shape[:-1], k), np.int64),
        }

    return make


def _cast(d: Draw) -> Arguments:
    """From a half type to float32, from float32 to float16."""
    wanted = np.dtype(np.float16 if d.dtype is np.float32 else np.float32)
    return {"self": d.normal(), "dtype": wanted, "out": d.room(dtype=wanted)}


def _cast_to_integer(d: Draw) -> Arguments:
    return {"self": d.normal(scale=100), "dtype": np.dtype(np.int32), "out": d.room(dtype=np.int32)}


def _cast_from_integer(d: Draw) -> Arguments:
    return {"self": d.index(d.matrix, 1000, np.int32), "dtype": np.dtype(d.dtype), "out": d.room()}


# Matrix products


def _matmul(d: Draw) -> Arguments:
    rows, inner, columns = _PRODUCT[d.size]
    return {"self": d.normal((rows, inner)), "mat2": d.normal((inner, columns)), "out": d.room((rows, columns)), "cubeMathType": 0}


def _row_times_matrix(d: Draw) -> Arguments:
    inner, columns = d.matrix
    return {"self": d.normal((1, inner)), "mat2": d.normal(), "out": d.room((1, columns)), "cubeMathType": 0}


def _addmm(inplace: bool) -> Maker:
    def make(d: Draw) -> Arguments:
        rows, inner, columns = _PRODUCT[d.size]
        added = {"selfRef" if inplace else "self": d.normal((rows, columns))}
        factors = {"mat1": d.normal((rows, inner)), "mat2": d.normal((inner, columns)), "beta": 0.5, "alpha": 2.0}
        return {**added, **factors, **({} if inplace else {"out": d.room((rows, columns))}), "cubeMathType": 0}

    return make


# The vocabulary-parallel chain


def _online(logits: bool) -> Maker:
    def make(d: Draw) -> Arguments:
        rows, words, width = _VOCABULARY[d.size]
        return {
            "input": d.normal((rows, width), scale=width**-0.5),
            "weight": d.normal((words, width)),
            "target": d.index((rows,), 2 * words),
            "vocabStartIndex": words // 2,
            "vocabEndIndex": words // 2 + words - 1,
            "logitsMaxLocalOut": d.room((rows,), np.float32),
            "sumExpLogitsLocalOut": d.room((rows,), np.float32),
            "predictedLogitsLocalOut": d.room((rows,), np.float32),
            "targetMaskOut": d.room((-(-rows // 8),), np.uint8),
            "maskedTargetOut": d.room((rows,), np.int64),
            "vocabParallelLogitsOutOptional": d.room((rows, words)) if logits else None,
        }

    return make


def _linear_slope(saving: bool) -> Maker:
    def make(d: Draw) -> Arguments:
        rows, words, width = _VOCABULARY[d.size]
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
            "inputGradOut": d.room((rows, width)),
            "weightGradOut": d.room((words, width)),
        }

    return make


def _with_max_sum(d: Draw) -> Arguments:
    rows, words, _ = _VOCABULARY[d.size]
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
        "lossOut": d.room((rows,), np.float32),
        "softMaxOutOptional": d.room((rows, words), np.float32),
    }


def _sum_exp_and_index(d: Draw) -> Arguments:
    rows, words, _ = _VOCABULARY[d.size]
    logits = d.normal((rows, words))
    return {
        "vocabParallelLogits": logits,
        "target": d.index((rows,), 3 * words, np.int32),
        "globalLogitsMax": logits.max(axis=1),
        "vocabStartIndex": words,
        "vocabEndIndex": 2 * words,
        "predictedLogitsOut": d.room((rows,), np.float32),
        "sumExpLogitsOut": d.room((rows,), np.float32),
        "expLogitsOut": d.room((rows, words), np.float32),
        "targetOffsetOut": d.room((rows,), np.int32),
        "targetMaskOut": d.room((rows,), np.int32),
    }


@dataclass(frozen=True)
class Subject:
    """An operator in one of its modes, and how its calls are made."""

    operator: str
    make: Maker
    mode: str = ""
    kind: str = "element"
    """``element``, ``row``, ``index`` or ``product``: what its work is like."""
    exponential: bool = False
    """Whether every element takes an exponential, a logarithm or the like."""
    dtypes: tuple[str, ...] = tuple(DTYPES)
    unread: tuple[str, ...] = ()
    """Tensors whose values the result does not depend on."""
    products: int = 0
    """Matrix products of rows × words × width in it; 1 for a plain one."""
    chip: str = ""
    """ACL_EMU_SOC, where the usual chip does not have the operator."""
    in_order: bool = False
    """Whether it is measured with operands in order only: another subject has the operator's layouts."""

    @property
    def name(self) -> str:
        """Operator and mode, for tables."""
        return self.operator.removeprefix("aclnn") + (f" ({self.mode})" if self.mode else "")

    def flops(self, size: str) -> int:
        """Multiplications and additions of its matrix products."""
        lengths = _PRODUCT if self.kind == "product" and "Fused" not in self.operator else _VOCABULARY
        return 2 * self.products * math.prod(lengths[size])


def _forms(operator: str, make: Callable[[int], Maker], **options: Any) -> list[Subject]:
    return [Subject(operator, make(code), mode, **options) for code, mode in ((0, "none"), (1, "mean"))]


def _embedding(d: Draw) -> Arguments:
    rows, width = _TABLE[d.size]
    return {"weight": d.normal((rows, width)), "indices": d.index((rows,), rows), "out": d.room((rows, width))}


def _embedding_slope(d: Draw) -> Arguments:
    rows, width = _TABLE[d.size]
    settings = {"numWeights": rows, "paddingIdx": 2**64 - 1, "scaleGradByFreq": False}
    return {"grad": d.normal((rows, width)), "indices": d.index((rows,), rows), **settings, "out": d.room((rows, width))}


def _index_add(d: Draw) -> Arguments:
    rows, width = _TABLE[d.size]
    drawn = {"self": d.normal((rows, width)), "dim": 0, "index": d.index((2 * rows,), rows)}
    return {**drawn, "source": d.normal((2 * rows, width)), "alpha": 1.0, "out": d.room((rows, width))}


_HALVES = ("float16", "bfloat16")

SUBJECTS: tuple[Subject, ...] = (
    Subject("aclnnLogSigmoid", _unary, exponential=True),
    Subject("aclnnLogSigmoidForward", _log_sigmoid_forward, exponential=True, unread=("buffer",)),
    Subject("aclnnLogSigmoidBackward", _log_sigmoid_backward, exponential=True, unread=("buffer",)),
    Subject("aclnnLogSoftmax", _along(), kind="row", exponential=True),
    Subject("aclnnLogSoftmaxBackward", _gradient_along(Draw.log_distribution), kind="row", exponential=True),
    Subject("aclnnSoftmax", _along(), kind="row", exponential=True),
    Subject("aclnnSoftmaxBackward", _gradient_along(Draw.distribution), kind="row"),
    Subject("aclnnSoftmaxCrossEntropyWithLogits", _softmax_cross_entropy, kind="row", exponential=True),
    Subject("aclnnScaledMaskedSoftmax", _scaled_masked_softmax, kind="row", exponential=True),
    Subject("aclnnScaledMaskedSoftmaxBackward", _scaled_masked_softmax_backward, kind="row"),
    *_forms("aclnnL1Loss", _loss),
    *_forms("aclnnMseLoss", _loss),
    Subject("aclnnMseLossOut", _loss(0), "none"),
    Subject("aclnnMseLossOut", lambda d: _loss(1, shape=d.matrix[1:])(d), "mean"),
    *_forms("aclnnSmoothL1Loss", lambda code: _loss(code, out="result", beta=1.0)),
    *_forms("aclnnSoftMarginLoss", _soft_margin, exponential=True),
    *_forms("aclnnBinaryCrossEntropy", _binary, exponential=True),
    *_forms("aclnnBinaryCrossEntropyWithLogits", _binary_with_logits, exponential=True),
    Subject("aclnnL1LossBackward", _slope(out="gradInput")),
    Subject("aclnnMseLossBackward", _slope()),
    Subject("aclnnSmoothL1LossBackward", _slope(grad="gradOut", out="gradInput", beta=1.0)),
    Subject("aclnnSoftMarginLossBackward", _soft_margin_slope, exponential=True),
    Subject("aclnnBinaryCrossEntropyBackward", _binary_slope),
    Subject("aclnnBinaryCrossEntropyWithLogitsBackward", _binary_with_logits_slope, exponential=True),
    Subject("aclnnKlDivBackward", _divergence_slope("out"), unread=("self",)),
    Subject("aclnnKlDivTargetBackward", _divergence_slope("gradTarget"), exponential=True),
    Subject("aclnnLogit", _logit, exponential=True),
    Subject("aclnnLogitGrad", _logit_slope),
    Subject("aclnnAdd", _tensors(inplace=False, alpha=True)),
    Subject("aclnnAdds", _scalar(inplace=False, alpha=True)),
    Subject("aclnnInplaceAdd", _tensors(inplace=True, alpha=True)),
    Subject("aclnnInplaceAdds", _scalar(inplace=True, alpha=True)),
    Subject("aclnnSub", _tensors(inplace=False, alpha=True)),
    Subject("aclnnSubs", _scalar(inplace=False, alpha=True)),
    Subject("aclnnInplaceSub", _tensors(inplace=True, alpha=True)),
    Subject("aclnnInplaceSubs", _scalar(inplace=True, alpha=True)),
    Subject("aclnnMul", _tensors(inplace=False, alpha=False)),
    Subject("aclnnMuls", _scalar(inplace=False, alpha=False)),
    Subject("aclnnInplaceMul", _tensors(inplace=True, alpha=False)),
    Subject("aclnnInplaceMuls", _scalar(inplace=True, alpha=False)),
    Subject("aclnnExp", _unary, exponential=True),
    Subject("aclnnInplaceExp", lambda d: {"selfRef": d.normal()}, exponential=True),
    Subject("aclnnLog", lambda d: {"self": d.positive(), "out": d.room()}, exponential=True),
    Subject("aclnnInplaceLog", lambda d: {"selfRef": d.positive()}, exponential=True),
    Subject("aclnnAmax", _amax(), kind="row"),
    Subject("aclnnMax", _max, kind="row"),
    Subject("aclnnReduceSum", _sum(), kind="row"),
    Subject("aclnnMean", _mean, kind="row", in_order=True),
    Subject("aclnnNorm", _norm, kind="row", in_order=True),
    Subject("aclnnCumsum", _cumsum, kind="row", in_order=True),
    Subject("aclnnSort", _sort(_MATRIX), "rows", kind="index", in_order=True),
    Subject("aclnnSort", _sort(_ONE_ROW), "one row", kind="index", in_order=True),
    Subject("aclnnTopk", _topk(_MATRIX), "rows", kind="index", in_order=True, dtypes=("float32",)),  # torch orders ties otherwise
    Subject("aclnnTopk", _topk(_ONE_ROW), "one row", kind="index", in_order=True, dtypes=("float32",)),
    Subject("aclnnCast", _cast),
    Subject("aclnnMul", _repeated(lambda shape: shape[1:]), "a row for all", in_order=True),
    Subject("aclnnMul", _repeated(lambda shape: (shape[0], 1)), "a number for each row", in_order=True),
    Subject("aclnnMul", _repeated(lambda shape: (shape[1], 1, 1), _IMAGES), "a number for each channel", in_order=True),
    Subject("aclnnCast", _cast_to_integer, "to INT32", in_order=True),
    Subject("aclnnCast", _cast_from_integer, "from INT32", in_order=True),
    Subject("aclnnReduceSum", _sum((0,)), "first axis", kind="row", in_order=True),
    Subject("aclnnReduceSum", _sum((0,), _SHORT_ROWS), "first axis, many rows", kind="row", in_order=True),
    Subject("aclnnReduceSum", _sum((1,), _SHORT_ROWS), "short rows", kind="row", in_order=True),
    Subject("aclnnReduceSum", _sum((1,), _IMAGES), "channels", kind="row", in_order=True),
    Subject("aclnnReduceSum", _sum((0, 2, 3), _IMAGES), "all but channels", kind="row", in_order=True),
    Subject("aclnnAmax", _amax((0,)), "first axis", kind="row", in_order=True),
    Subject("aclnnSoftmax", _along(_SHORT_ROWS), "short rows", kind="row", exponential=True, in_order=True),
    Subject("aclnnSoftmax", _along(_SEGMENTS), "channels", kind="row", exponential=True, in_order=True),
    Subject("aclnnLogSoftmax", _along(_SEGMENTS), "channels", kind="row", exponential=True, in_order=True),
    Subject("aclnnSoftmaxBackward", _gradient_along(Draw.distribution, _SEGMENTS), "channels", kind="row", in_order=True),
    Subject(
        "aclnnLogSoftmaxBackward",
        _gradient_along(Draw.log_distribution, _SEGMENTS),
        "channels",
        kind="row",
        exponential=True,
        in_order=True,
    ),
    *_forms("aclnnNLLLoss", lambda code: _nll(_ROWS, code), kind="index", unread=("self",)),
    *_forms("aclnnNLLLoss2d", lambda code: _nll(_IMAGES, code), kind="index", unread=("self",)),
    Subject("aclnnNLLLossBackward", _nll_slope(_ROWS), kind="index", unread=("self", "totalWeight")),
    Subject("aclnnNLLLoss2dBackward", _nll_slope(_IMAGES), kind="index", unread=("self", "totalWeight")),
    Subject("aclnnCrossEntropyLoss", _cross_entropy, kind="row", exponential=True, unread=("zlossOut", "lseForZlossOut")),
    Subject("aclnnCrossEntropyLossGrad", _cross_entropy_slope, kind="row", exponential=True),
    Subject("aclnnMultilabelMarginLoss", _multilabel, kind="index"),
    Subject("aclnnCtcLoss", _ctc, kind="index", exponential=True),
    Subject("aclnnCtcLossBackward", _ctc_slope, kind="index", exponential=True),
    Subject("aclnnChamferDistanceBackward", _chamfer, kind="index", dtypes=("float32", "float16")),
    Subject("aclnnEmbedding", _embedding, kind="index", in_order=True),
    Subject("aclnnEmbeddingDenseBackward", _embedding_slope, kind="index", dtypes=("float32",), in_order=True),
    Subject("aclnnIndexAdd", _index_add, kind="index", dtypes=("float32",), in_order=True),
    Subject("aclnnMatmul", _matmul, kind="product", products=1),
    Subject("aclnnMm", _matmul, kind="product", products=1),
    Subject("aclnnMm", _row_times_matrix, "one row", kind="row"),  # what counts is to read the matrix
    Subject("aclnnAddmm", _addmm(False), kind="product", products=1),
    Subject("aclnnInplaceAddmm", _addmm(True), kind="product", products=1),
    Subject("aclnnFusedLinearOnlineMaxSum", _online(False), "saving", kind="product", products=1, dtypes=_HALVES),
    Subject("aclnnFusedLinearOnlineMaxSum", _online(True), "fast", kind="product", products=1, dtypes=_HALVES),
    Subject("aclnnFusedLinearCrossEntropyLossGrad", _linear_slope(True), "saving", kind="product", products=3, dtypes=_HALVES),
    Subject("aclnnFusedLinearCrossEntropyLossGrad", _linear_slope(False), "fast", kind="product", products=2, dtypes=_HALVES),
    Subject("aclnnFusedCrossEntropyLossWithMaxSum", _with_max_sum, kind="row", exponential=True),
    Subject(
        "aclnnCrossEntropySumExpAndIndexLogit",
        _sum_exp_and_index,
        kind="row",
        exponential=True,
        dtypes=("float32", "bfloat16"),
        chip="Ascend950PR_9589",
    ),
)
