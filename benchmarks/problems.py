"""What is measured: one valid call of every operator, at three sizes and in every dtype."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks import arithmetic, layers, losses, moves
from benchmarks.draw import (
    DTYPES,
    IMAGES,
    MATRIX,
    NARROW_TABLE,
    ONE_ROW,
    PRODUCT,
    ROWS,
    SEGMENTS,
    SHORT_ROWS,
    VOCABULARY,
    Arguments,
    Array,
    Draw,
    Maker,
    Shape,
)


@dataclass(frozen=True)
class Subject:
    """An operator in one of its modes, and how its calls are made."""

    operator: str
    make: Maker
    mode: str = ""
    kind: str = "element"
    """``element``, ``row``, ``move``, ``index``, ``norm``, ``convolution`` or ``product``: what its work is like."""
    exponential: bool = False
    """Whether every element takes an exponential, a logarithm or the like."""
    dtypes: tuple[str, ...] = tuple(DTYPES)
    unread: tuple[str, ...] = ()
    """Tensors whose values the result does not depend on."""
    products: int = 0
    """Matrix products of rows × words × width in it; 1 for a plain one."""
    lengths: dict[str, Shape] | None = None
    """Those of its matrix products by size, where they are others."""
    moved: Callable[[Arguments], int] | None = None
    """Bytes that a call reads and writes, where these are not those of its tensors."""
    numpy: Callable[[Arguments], dict[str, Array]] | None = None
    """The same with numpy, where a large call is compared with that, too."""
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
        usual = PRODUCT if self.kind == "product" and "Fused" not in self.operator else VOCABULARY
        return 2 * self.products * math.prod((self.lengths or usual)[size])


def _forms(operator: str, make: Callable[[int], Maker], **options: Any) -> list[Subject]:
    return [Subject(operator, make(code), mode, **options) for code, mode in ((0, "none"), (1, "mean"))]


def _moves(operator: str, make: Maker, mode: str = "", **options: Any) -> Subject:
    """A half type stands for both: nothing is computed."""
    return Subject(operator, make, mode, kind="move", dtypes=("float32", "float16"), in_order=True, **options)


def _convolution(layer: layers.Layer, mode: str, **options: Any) -> Subject:
    return Subject("aclnnConvolution", layers.convolution(layer), mode, kind="convolution", dtypes=("float32",), in_order=True, **options)


_HALVES = ("float16", "bfloat16")

SUBJECTS: tuple[Subject, ...] = (
    Subject("aclnnLogSigmoid", losses.unary, exponential=True),
    Subject("aclnnLogSigmoidForward", losses.log_sigmoid_forward, exponential=True, unread=("buffer",)),
    Subject("aclnnLogSigmoidBackward", losses.log_sigmoid_backward, exponential=True, unread=("buffer",)),
    Subject("aclnnLogSoftmax", losses.along(), kind="row", exponential=True),
    Subject("aclnnLogSoftmaxBackward", losses.gradient_along(Draw.log_distribution), kind="row", exponential=True),
    Subject("aclnnSoftmax", losses.along(), kind="row", exponential=True),
    Subject("aclnnSoftmaxBackward", losses.gradient_along(Draw.distribution), kind="row"),
    Subject("aclnnSoftmaxCrossEntropyWithLogits", losses.softmax_cross_entropy, kind="row", exponential=True),
    Subject("aclnnScaledMaskedSoftmax", losses.scaled_masked_softmax, kind="row", exponential=True),
    Subject("aclnnScaledMaskedSoftmaxBackward", losses.scaled_masked_softmax_backward, kind="row"),
    *_forms("aclnnL1Loss", losses.loss),
    *_forms("aclnnMseLoss", losses.loss),
    Subject("aclnnMseLossOut", losses.loss(0), "none"),
    Subject("aclnnMseLossOut", lambda d: losses.loss(1, shape=d.matrix[1:])(d), "mean"),
    *_forms("aclnnSmoothL1Loss", lambda code: losses.loss(code, out="result", beta=1.0)),
    *_forms("aclnnSoftMarginLoss", losses.soft_margin, exponential=True),
    *_forms("aclnnBinaryCrossEntropy", losses.binary, exponential=True),
    *_forms("aclnnBinaryCrossEntropyWithLogits", losses.binary_with_logits, exponential=True),
    Subject("aclnnL1LossBackward", losses.slope(out="gradInput")),
    Subject("aclnnMseLossBackward", losses.slope()),
    Subject("aclnnSmoothL1LossBackward", losses.slope(grad="gradOut", out="gradInput", beta=1.0)),
    Subject("aclnnSoftMarginLossBackward", losses.soft_margin_slope, exponential=True),
    Subject("aclnnBinaryCrossEntropyBackward", losses.binary_slope),
    Subject("aclnnBinaryCrossEntropyWithLogitsBackward", losses.binary_with_logits_slope, exponential=True),
    Subject("aclnnKlDivBackward", losses.divergence_slope("out"), unread=("self",)),
    Subject("aclnnKlDivTargetBackward", losses.divergence_slope("gradTarget"), exponential=True),
    Subject("aclnnLogit", losses.logit, exponential=True),
    Subject("aclnnLogitGrad", losses.logit_slope),
    Subject("aclnnAdd", arithmetic.tensors(inplace=False, alpha=True)),
    Subject("aclnnAdds", arithmetic.scalar(inplace=False, alpha=True)),
    Subject("aclnnInplaceAdd", arithmetic.tensors(inplace=True, alpha=True)),
    Subject("aclnnInplaceAdds", arithmetic.scalar(inplace=True, alpha=True)),
    Subject("aclnnSub", arithmetic.tensors(inplace=False, alpha=True)),
    Subject("aclnnSubs", arithmetic.scalar(inplace=False, alpha=True)),
    Subject("aclnnInplaceSub", arithmetic.tensors(inplace=True, alpha=True)),
    Subject("aclnnInplaceSubs", arithmetic.scalar(inplace=True, alpha=True)),
    Subject("aclnnMul", arithmetic.tensors(inplace=False, alpha=False)),
    Subject("aclnnMuls", arithmetic.scalar(inplace=False, alpha=False)),
    Subject("aclnnInplaceMul", arithmetic.tensors(inplace=True, alpha=False)),
    Subject("aclnnInplaceMuls", arithmetic.scalar(inplace=True, alpha=False)),
    Subject("aclnnExp", losses.unary, exponential=True),
    Subject("aclnnInplaceExp", lambda d: {"selfRef": d.normal()}, exponential=True),
    Subject("aclnnLog", lambda d: {"self": d.positive(), "out": d.empty()}, exponential=True),
    Subject("aclnnInplaceLog", lambda d: {"selfRef": d.positive()}, exponential=True),
    Subject("aclnnAmax", arithmetic.largest_along(), kind="row"),
    Subject("aclnnMax", arithmetic.largest, kind="row"),
    Subject("aclnnReduceSum", arithmetic.summed(), kind="row"),
    Subject("aclnnMean", arithmetic.mean, kind="row", in_order=True),
    Subject("aclnnNorm", arithmetic.norm, kind="row", in_order=True),
    Subject("aclnnCumsum", arithmetic.cumsum, kind="row", in_order=True),
    Subject("aclnnSort", arithmetic.sort(MATRIX), "rows", kind="index", in_order=True),
    Subject("aclnnSort", arithmetic.sort(ONE_ROW), "one row", kind="index", in_order=True),
    Subject("aclnnTopk", arithmetic.topk(MATRIX), "rows", kind="index", in_order=True, dtypes=("float32",)),  # torch orders ties otherwise
    Subject("aclnnTopk", arithmetic.topk(ONE_ROW), "one row", kind="index", in_order=True, dtypes=("float32",)),
    Subject("aclnnCast", arithmetic.cast),
    Subject("aclnnMul", arithmetic.repeated(lambda shape: shape[1:]), "a row for all", in_order=True),
    Subject("aclnnMul", arithmetic.repeated(lambda shape: (shape[0], 1)), "a number for each row", in_order=True),
    Subject("aclnnMul", arithmetic.repeated(lambda shape: (shape[1], 1, 1), IMAGES), "a number for each channel", in_order=True),
    Subject("aclnnCast", arithmetic.cast_to_integer, "to INT32", in_order=True),
    Subject("aclnnCast", arithmetic.cast_from_integer, "from INT32", in_order=True),
    Subject("aclnnReduceSum", arithmetic.summed((0,)), "first axis", kind="row", in_order=True),
    Subject("aclnnReduceSum", arithmetic.summed((0,), SHORT_ROWS), "first axis, many rows", kind="row", in_order=True),
    Subject("aclnnReduceSum", arithmetic.summed((1,), SHORT_ROWS), "short rows", kind="row", in_order=True),
    Subject("aclnnReduceSum", arithmetic.summed((1,), IMAGES), "channels", kind="row", in_order=True),
    Subject("aclnnReduceSum", arithmetic.summed((0, 2, 3), IMAGES), "all but channels", kind="row", in_order=True),
    Subject("aclnnAmax", arithmetic.largest_along((0,)), "first axis", kind="row", in_order=True),
    Subject("aclnnSoftmax", losses.along(SHORT_ROWS), "short rows", kind="row", exponential=True, in_order=True),
    Subject("aclnnSoftmax", losses.along(SEGMENTS), "channels", kind="row", exponential=True, in_order=True),
    Subject("aclnnLogSoftmax", losses.along(SEGMENTS), "channels", kind="row", exponential=True, in_order=True),
    Subject("aclnnSoftmaxBackward", losses.gradient_along(Draw.distribution, SEGMENTS), "channels", kind="row", in_order=True),
    Subject(
        "aclnnLogSoftmaxBackward",
        losses.gradient_along(Draw.log_distribution, SEGMENTS),
        "channels",
        kind="row",
        exponential=True,
        in_order=True,
    ),
    *_forms("aclnnNLLLoss", lambda code: losses.nll(ROWS, code), kind="index", unread=("self",)),
    *_forms("aclnnNLLLoss2d", lambda code: losses.nll(IMAGES, code), kind="index", unread=("self",)),
    Subject("aclnnNLLLossBackward", losses.nll_slope(ROWS), kind="index", unread=("self", "totalWeight")),
    Subject("aclnnNLLLoss2dBackward", losses.nll_slope(IMAGES), kind="index", unread=("self", "totalWeight")),
    Subject("aclnnCrossEntropyLoss", losses.cross_entropy, kind="row", exponential=True, unread=("zlossOut", "lseForZlossOut")),
    Subject("aclnnCrossEntropyLossGrad", losses.cross_entropy_slope, kind="row", exponential=True),
    Subject("aclnnMultilabelMarginLoss", losses.multilabel, kind="index"),
    Subject("aclnnCtcLoss", losses.ctc, kind="index", exponential=True),
    Subject("aclnnCtcLossBackward", losses.ctc_slope, kind="index", exponential=True),
    Subject("aclnnChamferDistanceBackward", losses.chamfer, kind="index", dtypes=("float32", "float16")),
    Subject("aclnnEmbedding", arithmetic.embedding, kind="index", in_order=True),
    Subject("aclnnEmbeddingDenseBackward", arithmetic.embedding_slope(), kind="index", dtypes=("float32",), in_order=True),
    Subject(
        "aclnnEmbeddingDenseBackward",
        arithmetic.embedding_slope(NARROW_TABLE, 2),
        "a million rows",
        kind="index",
        dtypes=("float32",),
        in_order=True,
    ),
    Subject("aclnnIndexAdd", arithmetic.index_add(), kind="index", dtypes=("float32",), in_order=True),
    Subject("aclnnIndexAdd", arithmetic.index_add(NARROW_TABLE), "a million rows", kind="index", dtypes=("float32",), in_order=True),
    _moves("aclnnInplaceCopy", moves.copy, moved=moves.copied),
    _moves("aclnnCat", moves.cat),
    _moves("aclnnSlice", moves.slice_rows, "rows", moved=moves.sliced),
    _moves("aclnnSlice", moves.slice_columns, "columns", moved=moves.sliced),
    _moves("aclnnPermute", moves.permute),
    _moves("aclnnConstantPadNd", moves.pad),
    _moves("aclnnRepeat", moves.repeat),
    _moves("aclnnFlip", moves.flip),
    _moves("aclnnIndexSelect", moves.index_select),
    Subject("aclnnNonzero", moves.nonzero, kind="index", dtypes=("float32",), in_order=True, numpy=moves.numpy_nonzero),
    Subject("aclnnLayerNorm", layers.layer_norm, kind="norm", in_order=True),
    Subject(
        "aclnnLayerNormBackward",
        layers.layer_norm_slope(everything=True),
        kind="norm",
        in_order=True,
        unread=("biasOptional",),
        dtypes=("float32",),  # torch adds up half gradients of the weight with half precision
    ),
    Subject(
        "aclnnLayerNormBackward",
        layers.layer_norm_slope(everything=False),
        "of the input",
        kind="norm",
        in_order=True,
        unread=("biasOptional",),
        dtypes=_HALVES,
    ),
    Subject("aclnnRmsNorm", layers.rms_norm, kind="norm", in_order=True),
    Subject("aclnnGroupNorm", layers.group_norm, kind="norm", in_order=True),
    Subject("aclnnBatchNorm", layers.batch_norm, "training", kind="norm", in_order=True),
    *(_convolution(layer, mode, products=1, lengths=layer.lengths()) for mode, layer in layers.LAYERS.items()),
    _convolution(layers.DEPTHWISE, "3x3, each of 128 channels"),  # what counts is to read and to write the images
    Subject("aclnnMatmul", arithmetic.matmul, kind="product", products=1),
    Subject("aclnnMm", arithmetic.matmul, kind="product", products=1),
    Subject("aclnnMm", arithmetic.row_times_matrix, "one row", kind="row"),  # what counts is to read the matrix
    Subject("aclnnAddmm", arithmetic.addmm(False), kind="product", products=1),
    Subject("aclnnInplaceAddmm", arithmetic.addmm(True), kind="product", products=1),
    Subject("aclnnFusedLinearOnlineMaxSum", losses.online(False), "saving", kind="product", products=1, dtypes=_HALVES),
    Subject("aclnnFusedLinearOnlineMaxSum", losses.online(True), "fast", kind="product", products=1, dtypes=_HALVES),
    Subject("aclnnFusedLinearCrossEntropyLossGrad", losses.linear_slope(True), "saving", kind="product", products=3, dtypes=_HALVES),
    Subject("aclnnFusedLinearCrossEntropyLossGrad", losses.linear_slope(False), "fast", kind="product", products=2, dtypes=_HALVES),
    Subject("aclnnFusedCrossEntropyLossWithMaxSum", losses.with_max_sum, kind="row", exponential=True),
    Subject(
        "aclnnCrossEntropySumExpAndIndexLogit",
        losses.sum_exp_and_index,
        kind="row",
        exponential=True,
        dtypes=("float32", "bfloat16"),
        chip="Ascend950PR_9589",
    ),
)
