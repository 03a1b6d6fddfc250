"""aclnnCtcLoss and aclnnCtcLossBackward, against sums over every path."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACL_ERROR_RT_AICORE_EXCEPTION, ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from acl_emu.core import soc
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, Refused, numbers
from tests.operators.drawing import layouts
from tests.operators.refusals import assert_refused

DOUBLE = np.dtype(np.float64)
FORWARD_DTYPES = (np.int64, np.int32, np.float32, np.float16)
Labels = Sequence[int]


def alpha_width(longest: int) -> int:
    """How wide logAlphaOut is on the current chip."""
    states = 2 * longest + 1
    return states if soc.current().product is soc.Product.A950 else (states + 7) // 8 * 8


def log_probabilities(shape: tuple[int, ...], dtype: np.dtype, seed: int = 1) -> Array:
    logits = numbers(shape, DOUBLE, seed)
    return (logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))).astype(dtype)


def collapsed(path: Labels, blank: int) -> list[int]:
    """A path without repetitions, then without blanks."""
    return [label for label, _ in itertools.groupby(path) if label != blank]


def paths(log_probs: Array, start: int, end: int) -> list[tuple[tuple[int, ...], float]]:
    """Every path through some times, and its probability."""
    classes = range(log_probs.shape[1])
    return [
        (path, math.exp(sum(float(log_probs[start + i, k]) for i, k in enumerate(path))))
        for path in itertools.product(classes, repeat=end - start)
    ]


def begun(labels: Labels, state: int, blank: int) -> tuple[list[int], int]:
    """What a path that is in a state has collapsed to, and the class it is at."""
    count = (state + 1) // 2
    return list(labels[:count]), labels[count - 1] if state % 2 else blank


def log_of(total: float) -> float:
    return math.log(total) if total else -math.inf


def golden_alpha(log_probs: Array, labels: Labels, blank: int) -> Array:
    """The probability of all beginnings of paths that are in a state at a time: (time, states)."""
    result = np.zeros((len(log_probs), 2 * len(labels) + 1))
    for t in range(len(log_probs)):
        found = paths(log_probs, 0, t + 1)
        for s in range(result.shape[1]):
            wanted, at = begun(labels, s, blank)
            result[t, s] = log_of(math.fsum(p for path, p in found if path[-1] == at and collapsed(path, blank) == wanted))
    return result


def golden_likelihood(log_probs: Array, labels: Labels, blank: int) -> float:
    return log_of(math.fsum(p for path, p in paths(log_probs, 0, len(log_probs)) if collapsed(path, blank) == list(labels)))


def golden_after(log_probs: Array, labels: Labels, blank: int) -> Array:
    """The probability of all endings of paths that are in a state at a time: (time, states)."""
    result = np.zeros((len(log_probs), 2 * len(labels) + 1))
    for t, s in np.ndindex(result.shape):
        wanted, at = begun(labels, s, blank)
        before = [label for pair in zip([blank] * len(wanted), wanted, strict=True) for label in pair] + [at]
        result[t, s] = log_of(
            math.fsum(p for path, p in paths(log_probs, t + 1, len(log_probs)) if collapsed([*before, *path], blank) == list(labels))
        )
    return result


class Sequences:
    """Some label sequences and their inputs."""

    def __init__(
        self, seed: int = 0, batch: int = 3, time: int = 4, classes: int = 3, blank: int = 0, dtype=FLOAT, feasible: bool = True
    ) -> None:
        rng = np.random.default_rng(seed)
        self.time, self.classes, self.blank, self.dtype = time, classes, blank, dtype
        self.inputs = [int(length) for length in rng.integers(1, time + 1, batch)]
        allowed = [k for k in range(classes) if k != blank]
        lengths = [int(rng.integers(0, (length + 1) // 2 + 1 if feasible else time + 1)) for length in self.inputs]
        self.labels = [[int(rng.choice(allowed)) for _ in range(length)] for length in lengths]
        self.log_probs = log_probabilities((time, batch, classes), dtype, seed)

    def targets(self, index=np.int64, *, padded: bool = True) -> Array:
        if not padded:
            return np.array([label for labels in self.labels for label in labels], index)
        table = np.full((len(self.labels), self.longest + 2), 99, index)
        for row, labels in zip(table, self.labels, strict=True):
            row[: len(labels)] = labels
        return table

    @property
    def longest(self) -> int:
        return max(map(len, self.labels))

    def __iter__(self):
        for n, (length, labels) in enumerate(zip(self.inputs, self.labels, strict=True)):
            yield n, length, labels, self.log_probs[:length, n].astype(np.float64)

    def forward(self, **changes) -> Case:
        batch = len(self.labels)
        arguments = {
            "logProbs": self.log_probs,
            "targets": self.targets(),
            "inputLengths": self.inputs,
            "targetLengths": [len(labels) for labels in self.labels],
            "blank": self.blank,
            "zeroInfinity": False,
            "negLogLikelihoodOut": numbers((batch,), self.dtype, 1),
            "logAlphaOut": numbers((batch, self.time, alpha_width(self.longest)), self.dtype, 2),
        }
        return Case("aclnnCtcLoss", {**arguments, **changes})

    def backward(self, **changes) -> Case:
        """With what the forward pass would have given."""
        loss, alpha = self.golden()
        shared = {name: self.forward().arguments[name] for name in ("logProbs", "targets", "inputLengths", "targetLengths", "blank")}
        more = {
            "gradOut": numbers((len(loss),), self.dtype, 3),
            "negLogLikelihood": loss.astype(self.dtype),
            "logAlpha": alpha.astype(self.dtype),
            "zeroInfinity": False,
            "out": numbers(self.log_probs.shape, self.dtype, 4),
        }
        return Case("aclnnCtcLossBackward", {**shared, **more, **changes})

    def golden(self) -> tuple[Array, Array]:
        """Losses and scores."""
        loss = np.zeros(len(self.labels))
        alpha = np.zeros((len(loss), self.time, alpha_width(self.longest)))
        alpha[:, 0] = -np.inf
        for n, length, labels, log_probs in self:
            loss[n] = -golden_likelihood(log_probs, labels, self.blank)
            alpha[n, :length, : 2 * len(labels) + 1] = golden_alpha(log_probs, labels, self.blank)
        return loss, alpha


def golden_gradient(sequences: Sequences, call: Case) -> Array:
    """Probabilities minus the share of the paths that pass, from the scores and losses that the call is given."""
    result = np.zeros(call.arguments["out"].shape)
    for n, length, labels, log_probs in sequences:
        after = golden_after(log_probs, labels, sequences.blank)
        for t in range(length):
            result[t, n] = np.exp(log_probs[t])
            for s in range(after.shape[1]):
                score = float(call.arguments["logAlpha"][n, t, s]) + after[t, s] + float(call.arguments["negLogLikelihood"][n])
                result[t, n, begun(labels, s, sequences.blank)[1]] -= math.exp(score)
        result[:, n] *= float(call.arguments["gradOut"][n])
    return result


def assert_close(actual: Array, golden: Array) -> None:
    """As accurate as promised; DOUBLE nearly so."""
    if actual.dtype == DOUBLE:
        np.testing.assert_allclose(actual, golden, rtol=1e-12, atol=1e-13)
    else:
        assert_accurate(actual, golden, largest=np.where(np.isfinite(golden), 1, 0))


def draw_sequences(data: st.DataObject, *, feasible: bool = False) -> Sequences:
    classes = data.draw(st.integers(2, 3))
    return Sequences(
        data.draw(st.integers(0, 999)),
        data.draw(st.integers(1, 3)),
        data.draw(st.integers(1, 4)),
        classes,
        data.draw(st.integers(0, classes - 1)),
        data.draw(st.sampled_from((FLOAT, FLOAT16, BF16, DOUBLE))),
        feasible,
    )


@given(st.data())
def test_values(device: int, data: st.DataObject) -> None:
    """Types, lengths, blanks, padded and unpadded targets, sequences without any path, strides."""
    sequences = draw_sequences(data)
    zero = data.draw(st.booleans())
    targets = sequences.targets(data.draw(st.sampled_from(FORWARD_DTYPES)), padded=data.draw(st.booleans()))
    loss, alpha = sequences.forward(targets=targets, zeroInfinity=zero).results(data.draw(layouts))
    expected, expected_alpha = sequences.golden()
    assert_close(loss, np.where(np.isinf(expected), 0, expected) if zero else expected)
    assert_close(alpha, expected_alpha)


@given(st.data())
def test_gradient_values(device: int, data: st.DataObject) -> None:
    """From any scores and losses, in every type."""
    sequences = draw_sequences(data, feasible=True)
    call = sequences.backward()
    targets = sequences.targets(data.draw(st.sampled_from(FORWARD_DTYPES[:2])), padded=data.draw(st.booleans()))
    widened = np.pad(call.arguments["logAlpha"], ((0, 0), (0, 0), (0, data.draw(st.integers(0, 3)))))
    loss = np.where(np.isinf(call.arguments["negLogLikelihood"]), 1, call.arguments["negLogLikelihood"]).astype(sequences.dtype)
    call = call.but(targets=targets, logAlpha=widened, negLogLikelihood=loss)
    assert_close(call.run(data.draw(layouts)), golden_gradient(sequences, call))


def test_the_gradient_is_that_of_the_loss(device: int) -> None:
    """Forward and backward one after the other, against differences of the sum over all paths, taken through the softmax."""
    sequences = Sequences(5, 2, 4, 3, 2, DOUBLE)
    loss, alpha = sequences.forward().results()
    back = sequences.backward(gradOut=np.ones(2), negLogLikelihood=loss, logAlpha=alpha).run()
    logits, step = sequences.log_probs.copy(), 1e-5

    def total(values: Array) -> float:
        normal = values - np.log(np.exp(values).sum(axis=2, keepdims=True))
        return -sum(golden_likelihood(normal[:length, n], labels, 2) for n, length, labels, _ in sequences)

    for place in np.ndindex(logits.shape):
        shift = np.zeros(logits.shape)
        shift[place] = step
        assert math.isclose((total(logits + shift) - total(logits - shift)) / (2 * step), back[place], abs_tol=1e-8)


def test_documented_scores(device: int) -> None:
    """The first sequence of the documented sample, of which the page of the gradient prints the scores."""
    rows = """-1.0894 -2.7162 -0.9764 -1.9126 -2.6162  -3.7759 -1.3742 -1.2549 -1.5807 -1.4562  -0.3468 -2.5855 -2.0723 -2.7147 -3.6668
              -0.8866 -0.7540 -4.4312 -3.4634 -2.6000  -1.2186 -0.8285 -2.9399 -2.1159 -2.3620  -1.6384 -1.2596 -2.1680 -1.8476 -1.3866
              -2.0107 -2.0912 -1.3053 -0.8557 -3.0683  -3.5519 -2.0400 -1.8667 -1.4289 -0.8050  -2.0843 -0.6515 -1.4252 -2.9402 -2.7964
              -1.9052 -0.8330 -2.1839 -2.2459 -1.6193"""
    sequences = Sequences(time=12, classes=5)
    sequences.labels, sequences.inputs = [[1, 2]], [10]
    sequences.log_probs = np.zeros((12, 1, 5), np.float32)
    sequences.log_probs[:10, 0] = np.array(rows.split(), np.float32).reshape(10, 5)
    loss, alpha = sequences.forward().results()
    np.testing.assert_allclose(loss, [10.1999], atol=2e-4)
    np.testing.assert_allclose(
        alpha[0, [1, 9], :5], [[-4.8653, -2.2842, -6.4921, -3.9711, -np.inf], [-18.5078, -12.0705, -12.7846, -11.1988, -10.6593]], atol=2e-4
    )
    assert_equal(alpha[0, 10:], np.zeros((2, 8)))


def test_one_sequence_without_a_batch(device: int) -> None:
    batched = Sequences(3, 1)
    alone = batched.forward(logProbs=batched.log_probs[:, 0], negLogLikelihoodOut=np.zeros((), np.float32))
    for targets in (batched.targets(), batched.targets(padded=False)):
        loss, alpha = alone.but(targets=targets).results(5)
        assert_equal(loss, batched.forward().results()[0][0])
        assert_equal(alpha, batched.forward().results()[1])


def test_boolean_labels(device: int) -> None:
    sequences = Sequences(4, blank=2)
    whole = sequences.forward(targets=sequences.targets(padded=False)).results()
    for one, other in zip(whole, sequences.forward(targets=sequences.targets(np.bool_, padded=False)).results(), strict=True):
        assert_equal(one, other)
    whole = [sequences.backward(targets=sequences.targets(kind, padded=False)).run() for kind in (np.int64, np.bool_)]
    assert_equal(*whole)


def test_no_path_at_all(device: int) -> None:
    """Two labels do not fit one time: the loss is infinite and its gradient none, or both are made zero."""
    sequences = Sequences()
    sequences.labels, sequences.inputs = [[1, 2], [1], [2, 2]], [1, 2, 2]
    for zero, expected, slope in ((False, math.inf, math.nan), (True, 0.0, 0.0)):
        loss, alpha = sequences.forward(zeroInfinity=zero).results()
        assert_equal(loss[[0, 2]], [expected] * 2)
        back = sequences.backward(negLogLikelihood=loss, logAlpha=alpha, zeroInfinity=zero)
        found = back.run()
        assert_equal(found[:1, 0], np.full((1, 3), slope))
        assert_equal(found[:2, 2], np.full((2, 3), slope))
        assert_equal(found[2:], np.zeros((2, 3, 3)))
        assert np.isfinite(found[:, 1]).all()
        assert found[:2, 1].any()


def test_lengths_of_zero(device: int) -> None:
    """No time at all is explained by no labels, and by nothing else."""
    sequences = Sequences()
    sequences.labels, sequences.inputs = [[], [1], []], [0, 0, 2]
    loss, _ = sequences.forward().results()
    assert_close(loss, np.array([0, math.inf, -float(sequences.log_probs[:2, 2, 0].astype(np.float64).sum())]))


def test_a_class_of_probability_zero(device: int) -> None:
    """It takes no part: no path passes there, and there is no gradient."""
    sequences = Sequences(1)
    sequences.labels, sequences.inputs = [[1], [1], [1]], [4, 4, 4]
    sequences.log_probs[1, :, 1] = -np.inf
    found = sequences.backward().run()
    assert_equal(found[1, :, 1], np.zeros(3))
    assert np.isfinite(found).all()


@pytest.mark.parametrize("make", [Sequences.forward, Sequences.backward])
@pytest.mark.parametrize("bad", [3, -1])
def test_foreign_labels_fault_on_the_device(make, bad: int, device: int) -> None:
    sequences = Sequences()
    sequences.labels, sequences.inputs = [[1], [1, 2], [1]], [4, 4, 4]
    targets = sequences.targets()
    targets[1, 1] = bad
    call = make(sequences, targets=targets)
    assert call.status() == 0
    with pytest.raises(Refused, match=rf"label 1 of sequence 1 is {bad}, outside \[0, 2\]") as refusal:
        call.results(2)
    assert refusal.value.status == ACL_ERROR_RT_AICORE_EXCEPTION


def fixed() -> Sequences:
    sequences = Sequences(dtype=FLOAT)
    sequences.labels, sequences.inputs = [[1, 2, 1], [2], [1, 2]], [4, 3, 4]
    return sequences


def test_empty(chip) -> None:
    nothing = {"targets": Meta((0,), np.int64), "inputLengths": [], "targetLengths": []}
    outs = {"negLogLikelihoodOut": Meta((0,), FLOAT), "logAlphaOut": Meta((0, 4, 8), FLOAT)}
    assert fixed().forward(logProbs=Meta((4, 0, 3), FLOAT), **nothing, **outs).plan() == (0, 0)
    chip("Ascend310B1")
    assert fixed().forward(logProbs=Meta((4, 0, 3), FLOAT), **nothing, **outs).plan() == (0, 0)


FORWARD, BACKWARD = fixed().forward(), fixed().backward()
SHARED_ERRORS = [
    ({"logProbs": Meta((4, 3, 3), np.int32)}, "logProbs"),
    ({"targets": Meta((3, 3), np.uint8)}, "targets"),
    ({"logProbs": Meta((4,), FLOAT)}, "logProbs"),
    ({"logProbs": Meta((4, 3, 3, 1), FLOAT)}, "logProbs"),
    ({"logProbs": Meta((4, 3, 0), FLOAT)}, "logProbs"),
    ({"targets": Meta((3, 2), np.int64)}, "targets"),
    ({"targets": Meta((2, 5), np.int64)}, "targets"),
    ({"targets": Meta((5,), np.int64)}, "targets"),
    ({"targets": Meta((), np.int64)}, "targets"),
    ({"targets": Meta((1, 3, 3), np.int64)}, "targets"),
    ({"inputLengths": [4, 3]}, "inputLengths"),
    ({"inputLengths": [4, 3, 5]}, "inputLengths"),
    ({"inputLengths": [4, 3, -1]}, "inputLengths"),
    ({"targetLengths": [3, 1, 2, 0]}, "targetLengths"),
    ({"targetLengths": [3, -1, 2]}, "targetLengths"),
    ({"targetLengths": [3, 1, 6]}, "targets"),
    ({"blank": 3}, "blank"),
    ({"blank": -1}, "blank"),
]
ERRORS = [(call, *error) for call in (FORWARD, BACKWARD) for error in SHARED_ERRORS] + [
    (FORWARD, {"negLogLikelihoodOut": Meta((3,), FLOAT16)}, "negLogLikelihoodOut"),
    (FORWARD, {"logAlphaOut": Meta((3, 4, 8), DOUBLE)}, "logAlphaOut"),
    (FORWARD, {"negLogLikelihoodOut": Meta((4,), FLOAT)}, "negLogLikelihoodOut"),
    (FORWARD, {"negLogLikelihoodOut": Meta((), FLOAT)}, "negLogLikelihoodOut"),
    (FORWARD, {"logAlphaOut": Meta((3, 4, 7), FLOAT)}, "logAlphaOut"),
    (FORWARD, {"logAlphaOut": Meta((3, 4, 16), FLOAT)}, "logAlphaOut"),
    (FORWARD, {"logAlphaOut": Meta((4, 3, 8), FLOAT)}, "logAlphaOut"),
    (BACKWARD, {"targets": Meta((3, 5), FLOAT)}, "targets"),
    (BACKWARD, {"gradOut": Meta((3,), FLOAT16)}, "gradOut"),
    (BACKWARD, {"negLogLikelihood": Meta((3,), DOUBLE)}, "negLogLikelihood"),
    (BACKWARD, {"logAlpha": Meta((3, 4, 8), BF16)}, "logAlpha"),
    (BACKWARD, {"out": Meta((4, 3, 3), FLOAT16)}, "out"),
    (BACKWARD, {"gradOut": Meta((4,), FLOAT)}, "gradOut"),
    (BACKWARD, {"gradOut": Meta((3, 1), FLOAT)}, "gradOut"),
    (BACKWARD, {"negLogLikelihood": Meta((1,), FLOAT)}, "negLogLikelihood"),
    (BACKWARD, {"logProbs": Meta((4, 3), FLOAT)}, "logProbs"),
    (BACKWARD, {"logAlpha": Meta((3, 4, 6), FLOAT)}, "logAlpha"),
    (BACKWARD, {"logAlpha": Meta((3, 5, 8), FLOAT)}, "logAlpha"),
    (BACKWARD, {"logAlpha": Meta((3, 32), FLOAT)}, "logAlpha"),
    (BACKWARD, {"out": Meta((4, 3, 2), FLOAT)}, "out"),
]


@pytest.mark.parametrize(("call", "changes", "named"), ERRORS, ids=lambda item: item.operator if isinstance(item, Case) else str(item)[:60])
def test_parameter_errors(call: Case, changes: dict, named: str) -> None:
    assert call.but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


def test_the_scores_of_a_gradient_must_not_be_empty() -> None:
    empty = {
        "logProbs": Meta((0, 3, 3), FLOAT),
        "logAlpha": Meta((3, 0, 8), FLOAT),
        "out": Meta((0, 3, 3), FLOAT),
        "inputLengths": [0, 0, 0],
    }
    assert BACKWARD.but(**empty).status() == ACLNN_ERR_PARAM_INVALID
    assert ": logAlpha " in message()


ORDER = [
    (FORWARD, {"logAlphaOut": None, "logProbs": Meta((1,), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "logAlphaOut"),
    (FORWARD, {"targetLengths": None, "logProbs": Meta((1,), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "targetLengths"),
    (FORWARD, {"logAlphaOut": Meta((1,), FLOAT16), "inputLengths": [9]}, ACLNN_ERR_PARAM_INVALID, "logAlphaOut has dtype"),
    (FORWARD, {"targets": Meta((1,), np.int64), "blank": 9}, ACLNN_ERR_PARAM_INVALID, "targets has shape"),
    (BACKWARD, {"inputLengths": None, "logProbs": Meta((1,), np.int8)}, ACLNN_ERR_PARAM_NULLPTR, "inputLengths"),
    (BACKWARD, {"out": Meta((1, 1, 1), FLOAT16), "blank": 9}, ACLNN_ERR_PARAM_INVALID, "out has dtype"),
]


def test_order_of_checks(chip) -> None:
    assert_refused(ORDER, chip, ("Ascend910B1", "Ascend310B1"))


def test_products(chip) -> None:
    """The scores are padded everywhere but on the newest chips."""
    for name, width in (("Ascend950PR_9589", 7), ("Ascend910_9391", 8), ("Ascend910B1", 8), ("Ascend310P3", 8), ("Ascend910A", 8)):
        chip(name)
        assert FORWARD.but(logAlphaOut=Meta((3, 4, width), FLOAT)).status() == 0, name
        assert FORWARD.but(logAlphaOut=Meta((3, 4, 15 - width), FLOAT)).status() == ACLNN_ERR_PARAM_INVALID, name
        assert BACKWARD.status() == 0, name
    chip("Ascend310B1")
    assert FORWARD.status() == BACKWARD.status() == ACLNN_ERR_INNER_NULLPTR
