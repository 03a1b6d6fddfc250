"""aclnnFusedCrossEntropyLossWithMaxSum: loss and softmax of a vocabulary-parallel cross entropy, after the exchange between shards."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.engine import apply
from acl_emu.engine.chain import Chain
from acl_emu.spec import (
    Array,
    Example,
    Float,
    In,
    Operand,
    Out,
    Plan,
    Product,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_shape,
    shape_is,
)

Rows = Annotated[Operand, In(FLOAT, rank=1)]
RowsOut = Annotated[Operand, Out(FLOAT, rank=1)]
Ignored = Annotated[Operand | None, In(FLOAT, optional=True)]
Logits = Annotated[Operand | None, In(FLOAT, FLOAT16, BF16, optional=True, rank=2)]
SoftmaxOut = Annotated[Operand | None, Out(FLOAT, optional=True, rank=2)]


@operator(products=frozenset({Product.A2, Product.A3, Product.A950}))
def aclnnFusedCrossEntropyLossWithMaxSum(
    logitsMax: Rows,
    sumExpLogits: Rows,
    predictedLogits: Rows,
    labelSmoothing: Float,
    inputOptional: Ignored,
    weightOptional: Ignored,
    vocabParallelLogitsOptional: Logits,
    lossOut: RowsOut,
    softMaxOutOptional: SoftmaxOut,
) -> Plan:
    """``log(sumExpLogits) - predictedLogits`` of each row; with the logits of this shard, their softmax too."""
    require(labelSmoothing == 0, f"labelSmoothing is {labelSmoothing}, expected 0")
    same_shape(logitsMax, sumExpLogits, predictedLogits, lossOut)
    rows, width = logitsMax.size, 0
    if vocabParallelLogitsOptional is not None:
        width = vocabParallelLogitsOptional.shape[1]
        shape_is(vocabParallelLogitsOptional, (rows, width), "first length of logitsMax")
    if softMaxOutOptional is not None:
        require(
            vocabParallelLogitsOptional is not None, "softMaxOutOptional is given, expected vocabParallelLogitsOptional to be given too"
        )
        shape_is(softMaxOutOptional, (rows, width), "as vocabParallelLogitsOptional")
    if rows == 0:
        return nothing()
    plan = direct(
        loss_and_softmax,
        reads=(logitsMax, sumExpLogits, predictedLogits, vocabParallelLogitsOptional),
        writes=(lossOut, softMaxOutOptional),
        scratch={},
    )
    chain = Chain(plan)
    chain.kernel(losses, (chain.of(sumExpLogits), chain.of(predictedLogits)), (chain.of(lossOut),), dtype=np.float64)
    if vocabParallelLogitsOptional is not None and softMaxOutOptional is not None:
        per_row = chain.of(logitsMax).with_axis(1), chain.of(sumExpLogits).with_axis(1)
        chain.kernel(
            probabilities,
            (chain.of(vocabParallelLogitsOptional), *per_row),
            (chain.of(softMaxOutOptional),),
        )
    return chain.planned()


@aclnnFusedCrossEntropyLossWithMaxSum.example
def examples() -> Iterator[Example]:
    """With the softmax of logits of each type, and without."""
    rows, vocabulary = 9, 33
    for dtype in (FLOAT, FLOAT16, BF16, None):
        logits = numbers((rows, vocabulary), dtype or FLOAT, 1)
        largest = logits.max(axis=1).astype(np.float32) + np.float32(0.5)
        yield {
            "logitsMax": largest,
            "sumExpLogits": np.exp(logits.astype(np.float64) - largest[:, np.newaxis]).sum(axis=1).astype(np.float32),
            "predictedLogits": -np.abs(numbers((rows,), FLOAT, 2)),
            "labelSmoothing": 0.0,
            "inputOptional": None,
            "weightOptional": numbers((2,), FLOAT, 3) if dtype is FLOAT else None,
            "vocabParallelLogitsOptional": logits if dtype else None,
            "lossOut": numbers((rows,), FLOAT, 4),
            "softMaxOutOptional": numbers((rows, vocabulary), FLOAT, 5) if dtype else None,
        }


def loss_and_softmax(maximum: Array, sum_exp: Array, predicted: Array, logits: Array | None, loss: Array, softmax: Array | None) -> None:
    """Both formulas as if in float64, rounded once."""
    apply(losses, (sum_exp, predicted), (loss,), dtype=np.float64)
    if logits is not None and softmax is not None:
        rows = (logits, maximum[:, np.newaxis], sum_exp[:, np.newaxis])
        apply(probabilities, rows, (softmax,))


def losses(total: Array, predicted: Array) -> Array:
    """The loss of each row."""
    return np.log(total) - predicted


def probabilities(logits: Array, maximum: Array, total: Array) -> Array:
    """The softmax, from a maximum and a sum that are known beforehand."""
    shares: Array = np.exp(logits - maximum) / total
    return shares
