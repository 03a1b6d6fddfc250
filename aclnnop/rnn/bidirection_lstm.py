"""aclnnBidirectionLSTM: a layer of long short-term memory, in one direction or both."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT16
from acl_emu.core.errors import AclnnNullptr
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    direct,
    nothing,
    numbers,
    operator,
    rank_in,
    require,
    shape_is,
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.rnn.cells import LSTM
from aclnnop.rnn.layers import run, stack_of, valid_rows
from aclnnop.rnn.sequences import Frame, frame_of, grouped, packed, parameters, states_fit, unpacked

Sequences = Annotated[Operand, In(FLOAT16, rank=(2, 3))]
States = Annotated[Operand, In(FLOAT16, rank=3)]
Matrix = Annotated[Operand, In(FLOAT16, rank=2)]
OptionalMatrix = Annotated[Operand | None, In(FLOAT16, rank=2, optional=True)]
OptionalBias = Annotated[Operand | None, In(FLOAT16, rank=1, optional=True)]
SequencesOut = Annotated[Operand, Out(FLOAT16, rank=(2, 3), const=True)]
StatesOut = Annotated[Operand, Out(FLOAT16, rank=3, const=True)]
NAMES = ("wIh", "wHh", "bIhOptional", "bHhOptional", "wIhReverseOptional", "wHhReverseOptional", "bIhReverseOptional", "bHhReverseOptional")


@operator(products=frozenset({Product.A310P}))
def aclnnBidirectionLSTM(
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
    numLayers: Int,
    isbias: Bool,
    batchFirst: Bool,
    bidirection: Bool,
    yOut: SequencesOut,
    outputHOut: StatesOut,
    outputCOut: StatesOut,
) -> Plan:
    """Run one layer over sequences of one length, and keep the last states."""
    params = (wIh, wHh, bIhOptional, bHhOptional, wIhReverseOptional, wHhReverseOptional, bIhReverseOptional, bHhReverseOptional)
    outputs = (yOut, outputHOut, outputCOut)
    return one_layer(x, (initH, initC), params, None, outputs, numLayers, isbias, batchFirst, bidirection, packs=False)


def one_layer(
    x: Operand,
    initial: tuple[Operand, Operand],
    params: tuple[Operand | None, ...],
    sizes: Operand | None,
    outputs: tuple[Operand, Operand, Operand],
    layers: int,
    bias: bool,
    batch_first: bool,
    both: bool,
    *,
    packs: bool,
) -> Plan:
    """The plan of both versions; ``packs``: whether rows of steps follow each other without gaps."""
    wanted = [place for place in range(8) if (bias or place % 4 < 2) and (both or place < 4)]
    given = {place: params[place] for place in wanted}
    for place, operand in given.items():
        if operand is None:
            raise AclnnNullptr(f"{NAMES[place]} must not be a null pointer where isbias is {bias} and bidirection is {both}")
    weights = [operand for operand in given.values() if operand is not None]
    y, last_h, last_c = outputs
    rank_in(y, 2, 3)
    for state in (last_h, last_c):
        rank_in(state, 3)
    with in_tiling():
        require(layers == 1, f"numLayers is {layers}, expected 1")
        require(not batch_first, "batchFirst is true, expected false")
        stack = stack_of(LSTM, x.shape[-1], weights, layers, both=both, bias=bias, name="weights and biases")
        packs = packs and sizes is not None
        if packs:
            assert sizes is not None
            require(x.rank == 2, f"x has {x.rank} dimensions, expected 2 where packed is true; its shape is {list(x.shape)}")
            frame = Frame(sizes.size, initial[0].shape[1], x.shape[:1], False)
        else:
            require(x.rank == 3, f"x has {x.rank} dimensions, expected 3; its shape is {list(x.shape)}")
            frame = frame_of(x, sizes, batch_first=False)
        states_fit(stack, frame, *initial, last_h, last_c)
        shape_is(y, (*frame.lead, stack.directions * stack.hidden), "as x, with the hidden elements of all directions")
    if not y.size:
        return nothing()

    def kernel(*arrays: Array | None) -> None:
        (source, *first), matrices, (counts, out, *lasts) = grouped(arrays, 3, len(weights), 4)
        valid = None if counts is None else valid_rows(counts, frame.batch)
        steps = unpacked(source, valid) if packs and valid is not None else frame.by_step(source)
        result, passes = run(stack, steps, matrices, first, valid)
        out[...] = packed(result, valid) if packs and valid is not None else result
        for state, one in enumerate(passes):
            for target, values in zip(lasts, one.last, strict=True):
                target[state] = values

    return direct(kernel, reads=(x, *initial, *weights, sizes), writes=outputs, scratch={})


def calls() -> Iterator[Example]:
    """One direction and both, with and without biases."""
    for both, bias in ((True, True), (False, False), (False, True)):
        count = 2 if both else 1
        made = iter(parameters(FLOAT16, 4, 3, 5, layers=1, directions=count, bias=bias))
        given = {name: next(made) for place, name in enumerate(NAMES) if (bias or place % 4 < 2) and (both or place < 4)}
        yield {
            "x": numbers((3, 2, 5), FLOAT16, 1),
            "initH": numbers((count, 2, 3), FLOAT16, 2),
            "initC": numbers((count, 2, 3), FLOAT16, 3),
            **dict.fromkeys(NAMES),
            **given,
            "numLayers": 1,
            "isbias": bias,
            "batchFirst": False,
            "bidirection": both,
            "yOut": numbers((3, 2, 3 * count), FLOAT16, 4),
            "outputHOut": numbers((count, 2, 3), FLOAT16, 5),
            "outputCOut": numbers((count, 2, 3), FLOAT16, 6),
        }


aclnnBidirectionLSTM.example(calls)


def calls_with_sizes() -> Iterator[Example]:
    """Sequences of one length, of several, and packed ones."""
    both, one, packs = calls()
    yield {**both, "batchSizeOptional": None, "packed": False}
    yield {**one, "batchSizeOptional": np.array([2, 1, 1], np.int32), "packed": False}
    rows = {"x": numbers((4, 5), FLOAT16, 1), "yOut": numbers((4, 3), FLOAT16, 4)}
    yield {**packs, **rows, "batchSizeOptional": np.array([2, 1, 1], np.int32), "packed": True}
