"""aclnnCtcLoss: negative log likelihood of label sequences, summed over their alignments."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import BOOL, DOUBLE, FLOAT, FLOAT16, INT32, INT64, from_numpy, round_to
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
    same_dtype,
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

Probabilities = Annotated[Operand, In(*PROBABILITY_TYPES, rank=(2, 3))]
ScoresOut = Annotated[Operand, Out(*PROBABILITY_TYPES)]


@operator(products=ALL - {Product.A310B})
def aclnnCtcLoss(
    logProbs: Probabilities,
    targets: Annotated[Operand, In(INT64, INT32, BOOL, FLOAT, FLOAT16, rank=(1, 2))],
    inputLengths: IntArrayIn,
    targetLengths: IntArrayIn,
    blank: Int,
    zeroInfinity: Bool,
    negLogLikelihoodOut: ScoresOut,
    logAlphaOut: ScoresOut,
) -> Plan:
    """Loss of every sequence, and the scores of all beginnings of its alignments for the backward pass."""
    same_dtype(logProbs, negLogLikelihoodOut, logAlphaOut)
    time, batch, longest = check_sequences(logProbs, targets, inputLengths, targetLengths, blank)
    shape_is(negLogLikelihoodOut, logProbs.shape[1:-1], "logProbs without time and classes")
    width = alpha_width(longest)
    shape_is(logAlphaOut, (batch, time, width), f"2 * {longest} + 1 states" + ("" if width == 2 * longest + 1 else ", rounded up to 8"))
    outputs = (negLogLikelihoodOut, logAlphaOut)
    given = Sequences(logProbs, targets, *outputs, inputLengths, targetLengths, blank, zeroInfinity)
    return plan_sequences(forward, "acl_emu_alignments_loss", given, (logProbs, targets), outputs)


@aclnnCtcLoss.example
def examples() -> Iterator[Example]:
    """Targets in rows, and one behind the other in each type."""
    for dtype, targets in ((FLOAT, np.array(PADDED)), (FLOAT16, np.array(JOINED, np.int32)), (DOUBLE, np.array(JOINED, np.float16))):
        yield {
            **sequence_examples(dtype, targets),
            "zeroInfinity": True,
            "negLogLikelihoodOut": numbers((3,), dtype, 2),
            "logAlphaOut": numbers((3, 7, alpha_width(3)), dtype, 3),
        }


def alpha_width(longest: int) -> int:
    """How many scores logAlphaOut holds for each moment: one for each state, rounded up on some chips."""
    states = 2 * longest + 1
    return states if soc.current().product is Product.A950 else -(-states // 8) * 8


def forward(
    log_probs: Array,
    targets: Array,
    loss: Array,
    log_alpha: Array,
    *,
    input_lengths: Array,
    target_lengths: Array,
    blank: int,
    zero_infinity: bool,
) -> None:
    """Scores time by time, in float64. The first row of scores is -inf where nothing can begin; what lies outside a sequence is 0."""
    by_sequence = log_probs if log_probs.ndim == 3 else log_probs[:, np.newaxis]
    time, _, classes = by_sequence.shape
    states = states_of(targets, target_lengths, classes, blank)
    count, dtype = states.labels.shape[1], from_numpy(loss.dtype)
    log_alpha[...] = 0
    log_alpha[:, :1] = -np.inf
    likelihood = np.where((input_lengths == 0) & (target_lengths == 0), 0, -np.inf)
    scores = np.where(states.exist & (np.arange(count) < 2), 0, -np.inf)
    for t in range(time):
        scores = (states.arrivals(scores) if t else scores) + states.emitted(by_sequence[t])
        inside = states.exist & (t < input_lengths)[:, np.newaxis]
        np.copyto(log_alpha[:, t, :count], round_to(scores, dtype), where=inside)
        last = input_lengths == t + 1
        if last.any():
            likelihood = np.where(last, states.at_end(scores), likelihood)
    if zero_infinity:
        likelihood = np.where(np.isinf(likelihood), 0, likelihood)
    loss[...] = round_to(-likelihood, dtype).reshape(loss.shape)
