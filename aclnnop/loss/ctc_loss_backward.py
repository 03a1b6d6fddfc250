"""aclnnCtcLossBackward: gradient of aclnnCtcLoss with respect to the logits below its log probabilities."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, BOOL, FLOAT, INT32, INT64
from acl_emu.engine import apply
from acl_emu.spec import (
    ALL,
    Array,
    Bool,
    Example,
    In,
    Int,
    IntArrayIn,
    Operand,
    Out,
    Plan,
    Product,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.loss.alignments import (
    JOINED,
    PADDED,
    PROBABILITY_TYPES,
    Sequences,
    check_sequences,
    plan_sequences,
    sequence_examples,
    states_of,
)

Cube = Annotated[Operand, In(*PROBABILITY_TYPES, rank=3)]
PerSequence = Annotated[Operand, In(*PROBABILITY_TYPES, rank=1)]


@operator(products=ALL - {Product.A310B})
def aclnnCtcLossBackward(
    gradOut: PerSequence,
    logProbs: Cube,
    targets: Annotated[Operand, In(INT64, INT32, BOOL, rank=(1, 2))],
    inputLengths: IntArrayIn,
    targetLengths: IntArrayIn,
    negLogLikelihood: PerSequence,
    logAlpha: Cube,
    blank: Int,
    zeroInfinity: Bool,
    out: Annotated[Operand, Out(*PROBABILITY_TYPES, rank=3)],
) -> Plan:
    """Probabilities minus the share of all alignments that pass there, times ``gradOut``."""
    same_dtype(logProbs, gradOut, negLogLikelihood, logAlpha, out)
    time, batch, longest = check_sequences(logProbs, targets, inputLengths, targetLengths, blank)
    shape_is(gradOut, (batch,), "N of logProbs")
    shape_is(negLogLikelihood, (batch,), "N of logProbs")
    require(
        logAlpha.size > 0 and logAlpha.shape[:2] == (batch, time) and logAlpha.shape[2] >= 2 * longest + 1,
        f"logAlpha has shape {list(logAlpha.shape)}, expected ({batch}, {time}, at least {2 * longest + 1}) and not empty",
    )
    same_shape(logProbs, out)
    reads = (gradOut, logProbs, targets, negLogLikelihood, logAlpha)
    given = Sequences(logProbs, targets, negLogLikelihood, logAlpha, inputLengths, targetLengths, blank, zeroInfinity)
    return plan_sequences(gradient, "acl_emu_alignments_gradient", given, reads, (out,), (gradOut, out))


@aclnnCtcLossBackward.example
def examples() -> Iterator[Example]:
    """Targets in rows, and one behind the other."""
    for dtype, targets in ((FLOAT, np.array(PADDED)), (BF16, np.array(JOINED, np.int32))):
        yield {
            **sequence_examples(dtype, targets),
            "gradOut": numbers((3,), dtype, 2),
            "negLogLikelihood": np.array([8, 5, 7], dtype.numpy),
            "logAlpha": -np.abs(numbers((3, 7, 9), dtype, 3, 4)),
            "zeroInfinity": False,
            "out": numbers((7, 3, 5), dtype, 4),
        }


def gradient(
    grad: Array,
    log_probs: Array,
    targets: Array,
    loss: Array,
    log_alpha: Array,
    out: Array,
    *,
    input_lengths: Array,
    target_lengths: Array,
    blank: int,
    zero_infinity: bool,
) -> None:
    """From the last time to the first: what was scored up to a state, times what can come after it, over the likelihood of all."""
    time, _, classes = log_probs.shape
    states = states_of(targets, target_lengths, classes, blank)
    sequence = np.arange(len(states.labels))
    scores, losses = log_alpha[:, :, : states.labels.shape[1]], loss.astype(np.float64)
    shares = np.empty(log_probs.shape)
    after = np.full(states.labels.shape, -np.inf)
    for t in reversed(range(time)):
        after = np.where((input_lengths == t + 1)[:, np.newaxis], np.where(states.end, 0, -np.inf), after)
        share = np.where(states.exist, np.exp(scores[:, t].astype(np.float64) + after + losses[:, np.newaxis]), 0)
        shares[t] = states.by_class(share, classes)
        after = states.departures(after + states.emitted(log_probs[t]))
    endless = np.isinf(losses)
    if zero_infinity:  # the loss may have been made 0 already, its scores have not
        endless |= np.isneginf(states.at_end(scores[sequence, input_lengths - 1].astype(np.float64)))
    inside = np.arange(time)[:, np.newaxis, np.newaxis] < input_lengths[:, np.newaxis]
    given = (log_probs, shares, grad[:, np.newaxis], inside, endless[:, np.newaxis])
    apply(slope, given, (out,), dtype=np.float64, endless_slope=0.0 if zero_infinity else np.nan)


def slope(log_probs: Array, share: Array, grad: Array, inside: Array, endless: Array, *, endless_slope: float) -> Array:
    """Probabilities less the share of the alignments that pass there; nothing behind the end of a sequence."""
    return np.where(inside, np.where(endless, endless_slope, (np.exp(log_probs) - share) * grad), 0)
