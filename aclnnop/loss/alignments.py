"""The ways to stretch labels over a longer input, which connectionist temporal classification sums over: rules, states, steps."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, DType
from acl_emu.core.errors import DeviceFault
from acl_emu.engine.calls import code_of, done_by
from acl_emu.runtime.tensor import IntArray, Shape
from acl_emu.spec import Array, Example, Operand, Plan, direct, nothing, numbers, require

PROBABILITY_TYPES = (FLOAT16, FLOAT, BF16, DOUBLE)
THREADED_STATES = 1 << 11
"""Labels at any time, from which on a second thread is worth while."""


def check_sequences(
    logProbs: Operand, targets: Operand, inputLengths: IntArray, targetLengths: IntArray, blank: int
) -> tuple[int, int, int]:
    """Lengths fit the tensors, and the blank is one of the classes; gives time, batch and the longest target."""
    time, *batches, classes = logProbs.shape
    batch = batches[0] if batches else 1
    require(classes > 0, f"logProbs has shape {list(logProbs.shape)}, expected at least one class")
    for name, lengths in (("inputLengths", inputLengths), ("targetLengths", targetLengths)):
        require(len(lengths) == batch, f"{name} has {len(lengths)} values, expected one for each of {batch} sequences")
        require(min(lengths.values, default=0) >= 0, f"{name} is {lengths}, expected no negative length")
    require(max(inputLengths.values, default=0) <= time, f"inputLengths is {inputLengths}, expected at most {time}, T of logProbs")
    longest, total = max(targetLengths.values, default=0), sum(targetLengths.values)
    require(
        targets.shape == (total,) or (targets.rank == 2 and targets.shape[0] == batch and targets.shape[1] >= longest),
        f"targets has shape {list(targets.shape)}, expected ({total}) or ({batch}, at least {longest}) by targetLengths",
    )
    require(0 <= blank < classes, f"blank is {blank}, expected a value in [0, {classes - 1}]")
    return time, batch, longest


class Sequences(NamedTuple):
    """The operands that a loss and its gradient have in common."""

    log_probs: Operand
    targets: Operand
    loss: Operand
    scores: Operand
    input_lengths: IntArray
    target_lengths: IntArray
    blank: int
    zero_infinity: bool


def plan_sequences(
    kernel: Callable[..., Any],
    function: str,
    given: Sequences,
    reads: Sequence[Operand],
    writes: Sequence[Operand],
    gradient: tuple[Operand, Operand] | None = None,
) -> Plan:
    """A kernel on checked sequences, or its function in C; where there are none, nothing is run.

    ``gradient``: the operands that only a gradient has, that of the loss and the result.
    """
    if all(out.size == 0 for out in writes):
        return nothing()
    lengths = {name: np.array(getattr(given, name).values, np.int64) for name in ("input_lengths", "target_lengths")}
    plan = direct(kernel, reads=reads, writes=writes, scratch={}, **lengths, blank=given.blank, zero_infinity=given.zero_infinity)
    if given.log_probs.dtype is DOUBLE or given.targets.dtype.kind == "float":
        return plan
    labels, losses = given.targets.view.layout.strides, given.loss.view.layout.strides
    counts, dtype = lengths["target_lengths"], given.log_probs.dtype
    begins = np.arange(len(counts)) * labels[0] if len(labels) == 2 else (np.cumsum(counts) - counts) * labels[0]
    (time, batch, classes), strides = _cube(given.log_probs)
    rows, times, states = given.scores.view.layout.strides
    longest = max(given.target_lengths.values)
    numbers = (
        *(time, batch, classes, 2 * longest + 1, given.scores.shape[2], given.blank, given.zero_infinity),
        *(code_of(dtype), dtype.itemsize, *strides, code_of(given.targets.dtype), labels[-1], sum(losses), times, rows, states),
        *((0, 0, 0, 0) if gradient is None else (*gradient[0].view.layout.strides, *_cube(gradient[1])[1])),
        *np.stack([lengths["input_lengths"], counts, begins], axis=1).reshape(-1).tolist(),
    )
    return done_by(function, plan, numbers, threaded=batch > 1 and time * batch * longest >= THREADED_STATES)


def _cube(operand: Operand) -> tuple[Shape, Shape]:
    """Lengths and strides of (time, batch, classes); a single sequence has no batch."""
    shape, _, strides, *_ = operand.view.layout
    return (shape, strides) if len(shape) == 3 else ((shape[0], 1, shape[1]), (strides[0], 0, strides[1]))


class States(NamedTuple):
    """What alignments are made of: blank, label, blank, ..., label, blank. All arrays are (batch, states)."""

    labels: Array
    """The class that a state emits."""
    exist: Array
    """Whether the sequence is long enough to have the state."""
    skip: Array
    """Whether the state can follow the one two before it: a label that differs from the label before."""
    end: Array
    """Whether an alignment may end there: the last label, and the blank behind it."""

    def emitted(self, log_probs: Array) -> Array:
        """Each state's log probability at one time, in float64; ``log_probs`` is (batch, classes)."""
        return np.take_along_axis(log_probs, self.labels, axis=1).astype(np.float64)

    def by_class(self, amounts: Array, classes: int) -> Array:
        """Amounts of all states, added up by the class that they emit: (batch, classes)."""
        batch = len(amounts)
        place = self.labels + classes * np.arange(batch)[:, np.newaxis]
        return np.bincount(place.reshape(-1), amounts.reshape(-1), batch * classes).reshape(batch, classes)

    def arrivals(self, scores: Array) -> Array:
        """Log of the sum over the states that come before each state."""
        return _log_sum(scores, _shifted(scores, 1), np.where(self.skip, _shifted(scores, 2), -np.inf))

    def departures(self, scores: Array) -> Array:
        """Log of the sum over the states that come after each state."""
        return _log_sum(scores, _shifted(scores, -1), _shifted(np.where(self.skip, scores, -np.inf), -2))

    def at_end(self, scores: Array) -> Array:
        """Log of the sum over the states where an alignment may end."""
        return np.asarray(np.logaddexp.reduce(np.where(self.end, scores, -np.inf), axis=1))


def states_of(targets: Array, lengths: Array, classes: int, blank: int) -> States:
    """The states of every target, from padded rows or from one target after the other."""
    longest = int(lengths.max())
    used = np.arange(longest) < lengths[:, np.newaxis]
    labels = np.full((len(lengths), 2 * longest + 1), blank, np.int64)
    labels[:, 1::2][used] = targets[:, :longest][used] if targets.ndim == 2 else targets
    outside = (labels < 0) | (labels >= classes)
    if outside.any():
        sequence, place = (int(i) for i in np.argwhere(outside)[0])
        raise DeviceFault(f"targets: label {place // 2} of sequence {sequence} is {labels[sequence, place]}, outside [0, {classes - 1}]")
    state, last = np.arange(labels.shape[1]), 2 * lengths[:, np.newaxis]
    differs = np.zeros(labels.shape, np.bool_)
    differs[:, 2:] = labels[:, 2:] != labels[:, :-2]
    return States(labels, state <= last, differs, (state == last) | (state == last - 1))


def _shifted(scores: Array, by: int) -> Array:
    moved = np.full(scores.shape, -np.inf)
    if by > 0:
        moved[:, by:] = scores[:, :-by]
    else:
        moved[:, :by] = scores[:, -by:]
    return moved


def _log_sum(first: Array, second: Array, third: Array) -> Array:
    return np.asarray(np.logaddexp(np.logaddexp(first, second), third))


PADDED = ((1, 2, 2, 9), (3, 4, 9, 9), (1, 9, 9, 9))
"""Targets of an example, a row for each sequence; what follows a sequence is not read."""
JOINED = (1, 2, 2, 3, 4, 1)
"""The same, one behind the other."""


def sequence_examples(dtype: DType, targets: Array) -> Example:
    """What both directions are given: three sequences over five symbols."""
    logits = numbers((7, 3, 5), DOUBLE, 1)
    return {
        "logProbs": (logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))).astype(dtype.numpy),
        "targets": targets,
        "inputLengths": [7, 4, 6],
        "targetLengths": [3, 2, 1],
        "blank": 0,
    }
