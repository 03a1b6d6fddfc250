"""aclnnLSTM: layers of long short-term memory over sequences."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import (
    ALL,
    Array,
    Bool,
    Double,
    Example,
    In,
    Int,
    ListOf,
    Operand,
    Plan,
    Product,
    direct,
    nothing,
    numbers,
    operator,
    shape_is,
)
from aclnnop.rnn.cells import LSTM
from aclnnop.rnn.layers import one_type, run, stack_of, valid_rows
from aclnnop.rnn.sequences import (
    TYPES,
    BatchSizes,
    Params,
    SavedOut,
    Sequences,
    SequencesOut,
    StatesOut,
    frame_of,
    grouped,
    parameters,
    saved_fit,
    states_fit,
)

FirstStates = Annotated[list[Operand] | None, ListOf(In(*TYPES, rank=3), optional=True, least=2, most=2)]


@operator(products=ALL - {Product.A310B})
def aclnnLSTM(
    input: Sequences,
    params: Params,
    hx: FirstStates,
    batchSizes: BatchSizes,
    hasBias: Bool,
    numLayers: Int,
    dropout: Double,
    train: Bool,
    bidirectional: Bool,
    batchFirst: Bool,
    output: SequencesOut,
    hy: StatesOut,
    cy: StatesOut,
    iOut: SavedOut,
    jOut: SavedOut,
    fOut: SavedOut,
    oOut: SavedOut,
    hOut: SavedOut,
    cOut: SavedOut,
    tanhCOut: SavedOut,
) -> Plan:
    """Run all layers, keep the last states, and in training what gradients need; ``dropout`` has no effect."""
    lists = {"iOut": iOut, "jOut": jOut, "fOut": fOut, "oOut": oOut, "hOut": hOut, "cOut": cOut, "tanhCOut": tanhCOut}
    one_type(input, params, hx, output, hy, cy)
    stack = stack_of(LSTM, input.shape[-1], params, numLayers, both=bidirectional, bias=hasBias)
    frame = frame_of(input, batchSizes, batch_first=batchFirst)
    states_fit(stack, frame, hy, cy, *(hx or ()))
    lead = frame.lead if batchSizes is None else (frame.steps, frame.batch)
    shape_is(output, (*lead, stack.directions * stack.hidden), "steps, batch, hidden elements of all directions")
    saved = saved_fit(stack, (frame.steps, frame.batch, stack.hidden), lists) if train else []
    one_type(input, *saved)
    if not output.size:
        return nothing()
    reads, writes = (
        (input, *params, *(hx or (None, None)), batchSizes),
        (output, hy, cy, *(member for members in saved for member in members)),
    )

    def kernel(*arrays: Array | None) -> None:
        (x,), weights, first, (sizes,), (out, last_h, last_c), *kept = grouped(
            arrays, 1, len(params), 2, 1, 3, *(stack.states for _ in saved)
        )
        valid = None if sizes is None else valid_rows(sizes, frame.batch)
        zero = np.zeros((stack.states, frame.batch, stack.hidden), np.float32)
        result, passes = run(stack, frame.by_step(x), weights, [zero if one is None else one for one in first], valid)
        out[...] = result if sizes is not None else frame.as_given(result)
        for state, one in enumerate(passes):
            last_h[state], last_c[state] = one.last
            for members, values in zip(kept, one.saved, strict=False):
                members[state][...] = values

    return direct(kernel, reads=reads, writes=writes, scratch={})


@aclnnLSTM.example
def examples() -> Iterator[Example]:
    """One layer and two, one direction and both, with and without biases, states, training and batch sizes."""
    names = ("iOut", "jOut", "fOut", "oOut", "hOut", "cOut", "tanhCOut")
    for dtype, layers, directions, bias, train, first, sizes in (
        (FLOAT, 1, 1, True, True, False, None),
        (FLOAT16, 2, 2, False, False, True, None),
        (FLOAT, 2, 2, True, True, False, [2, 2, 1]),
    ):
        lead = (6,) if sizes else (2, 3) if first else (3, 2)
        states = [numbers((layers * directions, 2, 3), dtype, seed) for seed in (5, 6)]
        yield {
            "input": numbers((*lead, 5), dtype, 1),
            "params": parameters(dtype, 4, 3, 5, layers=layers, directions=directions, bias=bias),
            "hx": states if first or sizes else None,
            "batchSizes": None if sizes is None else np.array(sizes, np.int64),
            "hasBias": bias,
            "numLayers": layers,
            "dropout": 0.0,
            "train": train,
            "bidirectional": directions == 2,
            "batchFirst": first,
            "output": numbers((*((3, 2) if sizes else lead), 3 * directions), dtype, 2),
            "hy": numbers((layers * directions, 2, 3), dtype, 3),
            "cy": numbers((layers * directions, 2, 3), dtype, 4),
            **{name: [numbers((3, 2, 3), dtype, 7)] * (layers * directions) if train else None for name in names},
        }
