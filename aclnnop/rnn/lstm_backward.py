"""aclnnLstmBackward: gradients of layers of long short-term memory."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.runtime.tensor import BoolArray
from acl_emu.spec import (
    Array,
    Bool,
    Double,
    Example,
    HandleKind,
    In,
    Int,
    ListOf,
    Operand,
    Plan,
    direct,
    nothing,
    numbers,
    operator,
    same_shape,
    shape_is,
)
from aclnnop.math.unary import NEWER
from aclnnop.rnn.cells import LSTM
from aclnnop.rnn.layers import one_type, run_back, stack_of, valid_rows
from aclnnop.rnn.sequences import (
    TYPES,
    BatchSizes,
    Params,
    ParamsOut,
    Saved,
    Sequences,
    SequencesOut,
    StatesOut,
    frame_of,
    grouped,
    parameters,
    saved_fit,
    states_fit,
)

FirstStates = Annotated[list[Operand], ListOf(In(*TYPES, rank=3), least=2, most=2)]
OptionalSequences = Annotated[Operand | None, In(*TYPES, rank=(2, 3), optional=True)]
OptionalStates = Annotated[Operand | None, In(*TYPES, rank=3, optional=True)]
Mask = Annotated[BoolArray | None, HandleKind(BoolArray, optional=True)]


@operator(products=NEWER)
def aclnnLstmBackward(
    input: Sequences,
    hx: FirstStates,
    params: Params,
    dy: OptionalSequences,
    dh: OptionalStates,
    dc: OptionalStates,
    i: Saved,
    g: Saved,
    f: Saved,
    o: Saved,
    h: Saved,
    c: Saved,
    tanhc: Saved,
    batchSizesOptional: BatchSizes,
    hasBias: Bool,
    numLayers: Int,
    dropout: Double,
    train: Bool,
    bidirectional: Bool,
    batchFirst: Bool,
    outputMask: Mask,
    dxOut: SequencesOut,
    dhPrevOut: StatesOut,
    dcPrevOut: StatesOut,
    dparamsOut: ParamsOut,
) -> Plan:
    """Go back through all steps of all layers; all gradients are computed, whatever ``outputMask`` says. One that is null counts as 0."""
    lists: dict[str, list[Operand] | None] = {"i": i, "g": g, "f": f, "o": o, "h": h, "c": c, "tanhc": tanhc}
    one_type(input, hx, params, dy, dh, dc, *lists.values(), dxOut, dhPrevOut, dcPrevOut, dparamsOut)
    stack = stack_of(LSTM, input.shape[-1], params, numLayers, both=bidirectional, bias=hasBias)
    stack_of(LSTM, input.shape[-1], dparamsOut, numLayers, both=bidirectional, bias=hasBias, name="dparamsOut")
    frame = frame_of(input, batchSizesOptional, batch_first=batchFirst)
    states_fit(stack, frame, *hx, *(one for one in (dh, dc) if one is not None), dhPrevOut, dcPrevOut)
    shown_shape = (*frame.lead, stack.directions * stack.hidden)
    if dy is not None:
        shape_is(dy, shown_shape, "as input, with the hidden elements of all directions")
    saved = saved_fit(stack, (frame.steps, frame.batch, stack.hidden), lists)
    same_shape(input, dxOut)
    if not input.size:
        return nothing()
    reads = (input, *hx, *params, dy, dh, dc, *(member for members in saved for member in members), batchSizesOptional)
    writes = (dxOut, dhPrevOut, dcPrevOut, *dparamsOut)

    def kernel(*arrays: Array) -> None:
        (x,), first, weights, (of_output, *of_last), *rest = grouped(
            arrays, 1, 2, len(params), 3, *(stack.states for _ in saved), 1, 3, len(params)
        )
        *kept, (sizes,), (to_input, *to_states), to_params = rest
        entered, candidate, forgotten, shown, hidden, cells, flat = kept
        of_output = np.zeros(shown_shape, x.dtype) if of_output is None else of_output
        of_last = [np.zeros_like(state) if one is None else one for one, state in zip(of_last, first, strict=True)]
        valid = None if sizes is None else valid_rows(sizes, frame.batch)
        found = run_back(
            stack,
            frame.by_step(x),
            weights,
            first,
            of_last,
            frame.by_step(of_output),
            [entered, candidate, forgotten, shown, flat],
            [hidden, cells],
            valid,
        )
        to_input[...] = frame.as_given(found.of_input)
        for target, values in zip((*to_states, *to_params), (*found.of_states, *found.of_params), strict=True):
            target[...] = values

    return direct(kernel, reads=reads, writes=writes, scratch={})


@aclnnLstmBackward.example
def examples() -> Iterator[Example]:
    """One layer and two, one direction and both, with and without biases and batch sizes."""
    for dtype, layers, directions, bias, first, sizes in (
        (FLOAT, 1, 1, True, False, None),
        (FLOAT16, 2, 2, False, True, None),
        (FLOAT, 2, 2, True, False, [2, 2, 1]),
    ):
        count = layers * directions
        lead = (6,) if sizes else (2, 3) if first else (3, 2)
        weights = parameters(dtype, 4, 3, 5, layers=layers, directions=directions, bias=bias)
        gates = {
            name: [np.abs(np.tanh(numbers((3, 2, 3), dtype, 10 * seed + one))) for one in range(count)] for seed, name in enumerate("ifo")
        }
        inner = {name: [np.tanh(numbers((3, 2, 3), dtype, 50 * seed + one)) for one in range(count)] for seed, name in enumerate("ghc", 1)}
        yield {
            "input": numbers((*lead, 5), dtype, 1),
            "hx": [numbers((count, 2, 3), dtype, seed) for seed in (2, 3)],
            "params": weights,
            "dy": numbers((*lead, 3 * directions), dtype, 4),
            "dh": numbers((count, 2, 3), dtype, 5),
            "dc": numbers((count, 2, 3), dtype, 6),
            **gates,
            **inner,
            "tanhc": [np.tanh(one) for one in inner["c"]],
            "batchSizesOptional": None if sizes is None else np.array(sizes, np.int64),
            "hasBias": bias,
            "numLayers": layers,
            "dropout": 0.0,
            "train": True,
            "bidirectional": directions == 2,
            "batchFirst": first,
            "outputMask": [True] * 4,
            "dxOut": numbers((*lead, 5), dtype, 7),
            "dhPrevOut": numbers((count, 2, 3), dtype, 8),
            "dcPrevOut": numbers((count, 2, 3), dtype, 9),
            "dparamsOut": [np.zeros_like(one) for one in weights],
        }
