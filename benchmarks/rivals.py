"""The same calls with torch, in the ``out=`` form where it has one. Importing this needs torch."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import numpy.typing as npt

os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE")  # its bfloat16 kernels crash on some machines without

import torch

from benchmarks.layouts import place, whole

Array = npt.NDArray[Any]
aten = torch.ops.aten

_TYPES = {
    np.dtype(np.float32): torch.float32,
    np.dtype(np.float16): torch.float16,
    np.dtype(ml_dtypes.bfloat16): torch.bfloat16,
    np.dtype(np.int32): torch.int32,
}


class Rival(NamedTuple):
    """How torch does what an operator does."""

    run: Callable[[Any], object]
    """Given the arguments by name, writes the outputs."""
    composite: bool = False
    """Whether it takes several calls: torch has no single one."""
    wide: tuple[str, ...] = ()
    """Of matrix products, the outputs: in half types they are also measured by way of float32, which is faster there."""


def as_tensor(array: Array) -> torch.Tensor:
    """A copy of an array's block, and the array's place in it, as a tensor."""
    _, offset = place(array)
    view = np.ndarray(array.shape, array.dtype, whole(array).copy(), offset * array.itemsize, array.strides)
    if view.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(view.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(view)


def as_array(tensor: torch.Tensor) -> Array:
    """What a tensor holds now."""
    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def arguments(given: dict[str, Any]) -> SimpleNamespace:
    """The arguments of a call as torch takes them: the same bytes in tensors of its own, every number as it is."""

    def convert(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return as_tensor(value)
        if isinstance(value, list):
            return [convert(one) for one in value]
        return _TYPES[value] if isinstance(value, np.dtype) else value

    return SimpleNamespace(**{name: convert(value) for name, value in given.items()})


def by_way_of_float32(rival: Rival) -> Callable[[Any], object]:
    """The same with half types converted to float32 first, and back at the end."""

    def convert(value: Any) -> Any:
        return value.float() if isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16) else value

    def run(a: Any) -> None:
        wide = SimpleNamespace(**{name: convert(value) for name, value in vars(a).items()})
        rival.run(wide)
        for name in rival.wide:
            if getattr(a, name) is not None:
                getattr(a, name).copy_(getattr(wide, name))

    return run


def _taken(call: Callable[[Any], Any], *outputs: str) -> Callable[[Any], object]:
    """Results that are taken as they are: torch has no kernel that writes where it is told, and its ``out=`` form copies."""

    def run(a: Any) -> None:
        found = call(a)
        vars(a).update(zip(outputs, found if isinstance(found, tuple) else (found,), strict=True))

    return run


def _reducing(call: Any, *names: str, out: str = "out") -> Callable[[Any], object]:
    """A loss; reduced it is given as a result, because its ``out=`` form would allocate what it reduces as ``out``."""

    def run(a: Any) -> None:
        values, result = [getattr(a, name) for name in names], getattr(a, out)
        if a.reduction == 0:
            call.out(*values, out=result)
        else:
            result.copy_(call(*values))

    return run


def _l1(a: Any) -> None:
    if a.reduction == 0:
        torch.sub(a.self, a.target, out=a.out).abs_()
    else:
        torch.mean((a.self - a.target).abs_(), (), out=a.out)


def _mse_first_axis(a: Any) -> None:
    torch.mean((a.self - a.target).square_(), 0, out=a.out)


def _soft_cross_entropy(a: Any) -> None:
    logarithms = aten._log_softmax(a.features, 1, False)
    torch.sum(a.labels * logarithms, 1, out=a.loss).neg_()
    torch.exp(logarithms, out=a.backprop).sub_(a.labels)


def _masked_softmax(a: Any) -> None:
    aten._softmax.out((a.x * a.scale).masked_fill_(a.mask, -10000.0), -1, False, out=a.y)


def _masked_softmax_backward(a: Any) -> None:
    aten._softmax_backward_data.out(a.gradOutput, a.y, -1, a.y.dtype, grad_input=a.out).mul_(a.scale).masked_fill_(a.mask, 0)


def _cross_entropy(a: Any) -> None:
    aten._log_softmax.out(a.input, 1, False, out=a.logProbOut)
    total = a.input.new_empty(())
    aten.nll_loss_forward.output(a.logProbOut, a.target, None, 1, a.ignoreIndex, output=a.lossOut.view(()), total_weight=total)


def _cross_entropy_backward(a: Any) -> None:
    total = a.logProb.new_empty(())
    picked = aten.nll_loss_backward(a.gradLoss, a.logProb, a.target, None, 0, a.ignoreIndex, total)
    aten._log_softmax_backward_data.out(picked, a.logProb, 1, a.logProb.dtype, out=a.out)


def _ctc(a: Any) -> None:
    loss, scores = aten._ctc_loss(a.logProbs, a.targets, a.inputLengths, a.targetLengths, a.blank, a.zeroInfinity)
    a.negLogLikelihoodOut.copy_(loss)
    a.logAlphaOut[:, :, : scores.shape[2]] = scores
    a.logAlphaOut[:, :1, scores.shape[2] :] = float("-inf")


def _ctc_backward(a: Any) -> None:
    scores = a.logAlpha[:, :, : 2 * max(a.targetLengths) + 1]
    rest = (a.targets, a.inputLengths, a.targetLengths, a.negLogLikelihood, scores, a.blank, a.zeroInfinity)
    a.out.copy_(aten._ctc_loss_backward(a.gradOut, a.logProbs, *rest))


def _chamfer(a: Any) -> None:
    pulls = []
    for points, others, nearest, grad, out in (
        (a.xyz1, a.xyz2, a.idx1, a.gradDist1, a.gradXyz1),
        (a.xyz2, a.xyz1, a.idx2, a.gradDist2, a.gradXyz2),
    ):
        index = nearest.long().unsqueeze(-1).expand_as(points)
        pull = torch.mul((points - others.gather(1, index)).mul_(2), grad.unsqueeze(-1), out=out)
        pulls.append((index, pull.neg()))
    a.gradXyz2.scatter_add_(1, *pulls[0])
    a.gradXyz1.scatter_add_(1, *pulls[1])


def _bits(mask: torch.Tensor, rows: int) -> torch.Tensor:
    """Whether each row's bit is set."""
    return ((mask.unsqueeze(1) >> torch.arange(8, dtype=torch.uint8)) & 1).reshape(-1)[:rows].bool()


def _online(a: Any) -> None:
    logits = a.vocabParallelLogitsOutOptional
    if logits is None:
        exact = torch.mm(a.input, a.weight.t()).float()
    else:
        exact = torch.mm(a.input, a.weight.t(), out=logits).to(torch.float32, copy=True)
    torch.amax(exact, 1, out=a.logitsMaxLocalOut)
    masked = (a.target < a.vocabStartIndex) | (a.target > a.vocabEndIndex)
    torch.sub(a.target, a.vocabStartIndex, out=a.maskedTargetOut).masked_fill_(masked, 0)
    exact.sub_(a.logitsMaxLocalOut.unsqueeze(1))
    a.predictedLogitsLocalOut.copy_(exact.gather(1, a.maskedTargetOut.unsqueeze(1))[:, 0]).masked_fill_(masked, 0)
    torch.sum(exact.exp_(), 1, out=a.sumExpLogitsLocalOut)
    weights = 1 << torch.arange(8)
    padded = torch.nn.functional.pad(masked.long(), (0, -len(masked) % 8)).view(-1, 8)
    a.targetMaskOut.copy_((padded * weights).sum(1))


def _linear_backward(a: Any) -> None:
    rows = len(a.grad)
    if a.softmaxOptional is None:
        exact = torch.mm(a.input, a.weight.t()).float()
        exact.sub_(a.logitsMaxOptional.unsqueeze(1)).exp_().div_(a.sumExpLogitsOptional.unsqueeze(1))
    else:
        exact = a.softmaxOptional.clone()
    counted = (~_bits(a.targetMask, rows)).float()
    exact.scatter_add_(1, a.maskedTarget.unsqueeze(1), -counted.unsqueeze(1))
    slopes = exact.mul_(a.grad.unsqueeze(1)).to(a.input.dtype)
    torch.mm(slopes, a.weight, out=a.inputGradOut)
    torch.mm(slopes.t(), a.input, out=a.weightGradOut)


def _with_max_sum(a: Any) -> None:
    torch.log(a.sumExpLogits, out=a.lossOut).sub_(a.predictedLogits)
    torch.sub(a.vocabParallelLogitsOptional, a.logitsMax.unsqueeze(1), out=a.softMaxOutOptional)
    a.softMaxOutOptional.exp_().div_(a.sumExpLogits.unsqueeze(1))


def _sum_exp_and_index(a: Any) -> None:
    masked = (a.target < a.vocabStartIndex) | (a.target >= a.vocabEndIndex)
    a.targetMaskOut.copy_(masked)
    torch.sub(a.target, a.vocabStartIndex, out=a.targetOffsetOut).masked_fill_(masked, 0)
    largest = a.globalLogitsMax.float()
    torch.sub(a.vocabParallelLogits, largest.unsqueeze(1), out=a.expLogitsOut)
    a.predictedLogitsOut.copy_(a.expLogitsOut.gather(1, a.targetOffsetOut.long().unsqueeze(1))[:, 0]).masked_fill_(masked, 0)
    torch.sum(a.expLogitsOut.exp_(), 1, out=a.sumExpLogitsOut)


def _logits_loss(a: Any) -> None:
    a.out.copy_(aten.binary_cross_entropy_with_logits(a.self, a.target, None, None, a.reduction))


def _logits_loss_backward(a: Any) -> None:
    torch.sigmoid(a.self, out=a.out).sub_(a.target).mul_(a.gradOutput)


def _divergence_target(a: Any) -> None:
    torch.log(a.target, out=a.gradTarget).sub_(a.self).add_(1).mul_(a.gradOutput)


def _nll_backward(call: Any) -> Callable[[Any], object]:
    return lambda a: call(a.gradOutput, a.self, a.target, a.weight, a.reduction, a.ignoreIndex, a.totalWeight, grad_input=a.out)


def _nll(call: Any) -> Callable[[Any], object]:
    return lambda a: call(a.self, a.target, a.weight, a.reduction, a.ignoreIndex, output=a.out, total_weight=a.totalWeightOut)


def _mse_out(a: Any) -> None:
    if a.reduction == 0:
        aten.mse_loss.out(a.self, a.target, 0, out=a.out)
    else:
        _mse_first_axis(a)


def _slice(a: Any) -> None:
    places = [slice(None)] * a.self.dim()
    places[a.dim] = slice(a.start, a.end, a.step)
    a.out.copy_(a.self[tuple(places)])


def _pad(a: Any) -> None:
    rows, columns = a.self.shape
    a.out.fill_(a.value)
    a.out[a.pad[2] : a.pad[2] + rows, a.pad[0] : a.pad[0] + columns] = a.self


def _layer_norm_backward(a: Any) -> Any:
    return aten.native_layer_norm_backward(
        a.gradOut, a.input, a.normalizedShape, a.mean, a.rstd, a.weightOptional, a.biasOptional, a.outputMask
    )


def _batch_norm(a: Any) -> None:
    """``saveInvstd`` holds variances on the usual chip."""
    tensors, settings = (a.input, a.weight, a.bias, a.runningMean, a.runningVar), (a.training, a.momentum, a.eps)
    aten.native_batch_norm.out(*tensors, *settings, out=a.output, save_mean=a.saveMean, save_invstd=a.saveInvstd)
    a.saveInvstd.square_().reciprocal_().sub_(a.eps)


def _convolution(a: Any) -> Any:
    return aten.convolution(a.input, a.weight, a.bias, a.stride, a.padding, a.dilation, a.transposed, a.outputPadding, a.groups)


RIVALS: dict[str, Rival] = {
    "aclnnLogSigmoid": Rival(lambda a: aten.log_sigmoid.out(a.self, out=a.out)),
    "aclnnLogSigmoidForward": Rival(lambda a: aten.log_sigmoid_forward.output(a.self, output=a.out, buffer=a.buffer)),
    "aclnnLogSigmoidBackward": Rival(
        lambda a: aten.log_sigmoid_backward.grad_input(a.gradOutput, a.self, a.buffer, grad_input=a.gradInput)
    ),
    "aclnnLogSoftmax": Rival(lambda a: aten._log_softmax.out(a.self, a.dim, False, out=a.out)),
    "aclnnLogSoftmaxBackward": Rival(
        lambda a: aten._log_softmax_backward_data.out(a.gradOutput, a.output, a.dim, a.output.dtype, out=a.out)
    ),
    "aclnnSoftmax": Rival(lambda a: aten._softmax.out(a.self, a.dim, False, out=a.out)),
    "aclnnSoftmaxBackward": Rival(
        lambda a: aten._softmax_backward_data.out(a.gradOutput, a.output, a.dim, a.output.dtype, grad_input=a.out)
    ),
    "aclnnSoftmaxCrossEntropyWithLogits": Rival(_soft_cross_entropy, composite=True),
    "aclnnScaledMaskedSoftmax": Rival(_masked_softmax, composite=True),
    "aclnnScaledMaskedSoftmaxBackward": Rival(_masked_softmax_backward, composite=True),
    "aclnnL1Loss": Rival(_l1, composite=True),
    "aclnnMseLoss": Rival(_reducing(aten.mse_loss, "self", "target", "reduction")),
    "aclnnMseLossOut": Rival(_mse_out, composite=True),
    "aclnnSmoothL1Loss": Rival(_reducing(aten.smooth_l1_loss, "self", "target", "reduction", "beta", out="result")),
    "aclnnSoftMarginLoss": Rival(_reducing(aten.soft_margin_loss, "self", "target", "reduction")),
    "aclnnBinaryCrossEntropy": Rival(_reducing(aten.binary_cross_entropy, "self", "target", "weight", "reduction")),
    "aclnnBinaryCrossEntropyWithLogits": Rival(_logits_loss, composite=True),
    "aclnnL1LossBackward": Rival(lambda a: torch.sub(a.self, a.target, out=a.gradInput).sign_().mul_(a.gradOutput), composite=True),
    "aclnnMseLossBackward": Rival(
        lambda a: aten.mse_loss_backward.grad_input(a.gradOutput, a.self, a.target, a.reduction, grad_input=a.out)
    ),
    "aclnnSmoothL1LossBackward": Rival(
        lambda a: aten.smooth_l1_loss_backward.grad_input(a.gradOut, a.self, a.target, a.reduction, a.beta, grad_input=a.gradInput)
    ),
    "aclnnSoftMarginLossBackward": Rival(
        lambda a: aten.soft_margin_loss_backward.grad_input(a.gradOutput, a.self, a.target, a.reduction, grad_input=a.out)
    ),
    "aclnnBinaryCrossEntropyBackward": Rival(
        lambda a: aten.binary_cross_entropy_backward.grad_input(
            a.gradOutput, a.self, a.target, a.weightOptional, a.reduction, grad_input=a.out
        )
    ),
    "aclnnBinaryCrossEntropyWithLogitsBackward": Rival(_logits_loss_backward, composite=True),
    "aclnnKlDivBackward": Rival(lambda a: torch.mul(a.gradOutput, a.target, out=a.out).neg_(), composite=True),
    "aclnnKlDivTargetBackward": Rival(_divergence_target, composite=True),
    "aclnnLogit": Rival(lambda a: aten.logit.out(a.input, a.eps, out=a.out)),
    "aclnnLogitGrad": Rival(lambda a: aten.logit_backward.grad_input(a.dy, a.x, a.eps, grad_input=a.out)),
    "aclnnAdd": Rival(lambda a: torch.add(a.self, a.other, alpha=a.alpha, out=a.out)),
    "aclnnAdds": Rival(lambda a: torch.add(a.self, a.other, alpha=a.alpha, out=a.out)),
    "aclnnInplaceAdd": Rival(lambda a: a.selfRef.add_(a.other, alpha=a.alpha)),
    "aclnnInplaceAdds": Rival(lambda a: a.selfRef.add_(a.other, alpha=a.alpha)),
    "aclnnSub": Rival(lambda a: torch.sub(a.self, a.other, alpha=a.alpha, out=a.out)),
    "aclnnSubs": Rival(lambda a: torch.sub(a.self, a.other, alpha=a.alpha, out=a.out)),
    "aclnnInplaceSub": Rival(lambda a: a.selfRef.sub_(a.other, alpha=a.alpha)),
    "aclnnInplaceSubs": Rival(lambda a: a.selfRef.sub_(a.other, alpha=a.alpha)),
    "aclnnMul": Rival(lambda a: torch.mul(a.self, a.other, out=a.out)),
    "aclnnMuls": Rival(lambda a: torch.mul(a.self, a.other, out=a.out)),
    "aclnnInplaceMul": Rival(lambda a: a.selfRef.mul_(a.other)),
    "aclnnInplaceMuls": Rival(lambda a: a.selfRef.mul_(a.other)),
    "aclnnExp": Rival(lambda a: torch.exp(a.self, out=a.out)),
    "aclnnInplaceExp": Rival(lambda a: a.selfRef.exp_()),
    "aclnnLog": Rival(lambda a: torch.log(a.self, out=a.out)),
    "aclnnInplaceLog": Rival(lambda a: a.selfRef.log_()),
    "aclnnAmax": Rival(lambda a: torch.amax(a.self, a.dim, a.keepDim, out=a.out)),
    "aclnnMax": Rival(lambda a: aten.max.unary_out(a.self, out=a.out)),
    "aclnnReduceSum": Rival(lambda a: torch.sum(a.self, a.dims, a.keepDims, dtype=a.dtype, out=a.out)),
    "aclnnMean": Rival(lambda a: torch.mean(a.self, a.dim, a.keepDim, dtype=a.dtype, out=a.out)),
    "aclnnNorm": Rival(lambda a: torch.linalg.vector_norm(a.self, a.pScalar, a.dim, a.keepdim, out=a.out)),
    "aclnnCumsum": Rival(lambda a: torch.cumsum(a.self, a.dim, dtype=a.dtype, out=a.out)),
    "aclnnSort": Rival(lambda a: torch.sort(a.self, stable=a.stable, dim=a.dim, descending=a.descending, out=(a.valuesOut, a.indicesOut))),
    "aclnnTopk": Rival(lambda a: torch.topk(a.self, a.k, a.dim, a.largest, a.sorted, out=(a.valuesOut, a.indicesOut))),
    "aclnnCast": Rival(lambda a: a.out.copy_(a.self)),
    "aclnnNLLLoss": Rival(_nll(aten.nll_loss_forward.output)),
    "aclnnNLLLoss2d": Rival(_nll(aten.nll_loss2d_forward.output)),
    "aclnnNLLLossBackward": Rival(_nll_backward(aten.nll_loss_backward.grad_input)),
    "aclnnNLLLoss2dBackward": Rival(_nll_backward(aten.nll_loss2d_backward.grad_input)),
    "aclnnCrossEntropyLoss": Rival(_cross_entropy, composite=True),
    "aclnnCrossEntropyLossGrad": Rival(_cross_entropy_backward, composite=True),
    "aclnnMultilabelMarginLoss": Rival(
        lambda a: aten.multilabel_margin_loss_forward.output(a.self, a.target, a.reduction, output=a.out, is_target=a.isTarget)
    ),
    "aclnnCtcLoss": Rival(_ctc),
    "aclnnCtcLossBackward": Rival(_ctc_backward),
    "aclnnChamferDistanceBackward": Rival(_chamfer, composite=True),
    "aclnnEmbedding": Rival(lambda a: torch.index_select(a.weight, 0, a.indices, out=a.out)),
    "aclnnEmbeddingDenseBackward": Rival(
        lambda a: aten.embedding_dense_backward.out(a.grad, a.indices, a.numWeights, -1, a.scaleGradByFreq, out=a.out)
    ),
    "aclnnIndexAdd": Rival(lambda a: torch.index_add(a.self, a.dim, a.index, a.source, alpha=a.alpha, out=a.out)),
    "aclnnInplaceCopy": Rival(lambda a: a.selfRef.copy_(a.src)),
    "aclnnCat": Rival(lambda a: torch.cat(a.tensors, a.dim, out=a.out)),
    "aclnnSlice": Rival(_slice),
    "aclnnPermute": Rival(lambda a: a.out.copy_(a.self.permute(a.dims))),
    "aclnnConstantPadNd": Rival(_pad, composite=True),
    "aclnnRepeat": Rival(lambda a: a.out.unflatten(1, (a.repeats[1], -1)).copy_(a.self.unsqueeze(1))),
    "aclnnFlip": Rival(_taken(lambda a: torch.flip(a.self, a.dims), "out")),
    "aclnnIndexSelect": Rival(lambda a: torch.index_select(a.self, a.dim, a.index, out=a.out)),
    "aclnnNonzero": Rival(lambda a: torch.nonzero(a.self, out=a.out)),
    "aclnnLayerNorm": Rival(
        _taken(
            lambda a: aten.native_layer_norm(a.input, a.normalizedShape, a.weightOptional, a.biasOptional, a.eps),
            "out",
            "meanOutOptional",
            "rstdOutOptional",
        )
    ),
    "aclnnLayerNormBackward": Rival(_taken(_layer_norm_backward, "gradInputOut", "gradWeightOut", "gradBiasOut")),
    "aclnnRmsNorm": Rival(_taken(lambda a: aten._fused_rms_norm(a.x, a.gamma.shape, a.gamma, a.epsilon), "yOut", "rstdOut")),
    "aclnnGroupNorm": Rival(
        _taken(
            lambda a: aten.native_group_norm(a.self, a.gamma, a.beta, a.N, a.C, a.HxW, a.group, a.eps),
            "out",
            "meanOut",
            "rstdOut",
        )
    ),
    "aclnnBatchNorm": Rival(_batch_norm),
    "aclnnConvolution": Rival(_taken(_convolution, "output")),
    "aclnnMatmul": Rival(lambda a: torch.matmul(a.self, a.mat2, out=a.out), wide=("out",)),
    "aclnnMm": Rival(lambda a: torch.mm(a.self, a.mat2, out=a.out), wide=("out",)),
    "aclnnAddmm": Rival(lambda a: torch.addmm(a.self, a.mat1, a.mat2, beta=a.beta, alpha=a.alpha, out=a.out), wide=("out",)),
    "aclnnInplaceAddmm": Rival(lambda a: a.selfRef.addmm_(a.mat1, a.mat2, beta=a.beta, alpha=a.alpha), wide=("selfRef",)),
    "aclnnFusedLinearOnlineMaxSum": Rival(_online, composite=True, wide=("vocabParallelLogitsOutOptional",)),
    "aclnnFusedLinearCrossEntropyLossGrad": Rival(_linear_backward, composite=True, wide=("inputGradOut", "weightGradOut")),
    "aclnnFusedCrossEntropyLossWithMaxSum": Rival(_with_max_sum, composite=True),
    "aclnnCrossEntropySumExpAndIndexLogit": Rival(_sum_exp_and_index, composite=True),
}
"""What torch does for each operator."""
