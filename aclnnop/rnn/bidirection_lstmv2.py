"""aclnnBidirectionLSTMV2: a layer of long short-term memory, in one direction or both, over sequences of any lengths."""

from typing import Annotated

from acl_emu.core.dtypes import INT32, INT64
from acl_emu.spec import Bool, In, Int, Operand, Plan, Product, operator
from aclnnop.rnn.bidirection_lstm import (
    Matrix,
    OptionalBias,
    OptionalMatrix,
    Sequences,
    SequencesOut,
    States,
    StatesOut,
    calls_with_sizes,
    one_layer,
)


@operator(products=frozenset({Product.A310P}))
def aclnnBidirectionLSTMV2(
    x: Sequences,
    initH: States,
    initC: States,
    wIh: Matrix,
    wHh: Matrix,
    bIhOptional: OptionalBias,
    bHhOptional: OptionalBias,
    wIhReverseOptional: OptionalMatrix,
    wHhReverseOptional: OptionalMatrix,
    bIhReverseOptional: OptionalBias,
    bHhReverseOptional: OptionalBias,
    batchSizeOptional: Annotated[Operand | None, In(INT32, INT64, rank=1, optional=True)],
    numLayers: Int,
    isbias: Bool,
    batchFirst: Bool,
    bidirection: Bool,
    packed: Bool,
    yOut: SequencesOut,
    outputHOut: StatesOut,
    outputCOut: StatesOut,
) -> Plan:
    """Run one layer, and keep the last states; ``batchSizeOptional`` says how many sequences run at each step."""
    params = (wIh, wHh, bIhOptional, bHhOptional, wIhReverseOptional, wHhReverseOptional, bIhReverseOptional, bHhReverseOptional)
    outputs = (yOut, outputHOut, outputCOut)
    return one_layer(x, (initH, initC), params, batchSizeOptional, outputs, numLayers, isbias, batchFirst, bidirection, packs=packed)


aclnnBidirectionLSTMV2.example(calls_with_sizes)
