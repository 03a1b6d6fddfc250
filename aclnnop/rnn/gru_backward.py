"""aclnnGRUBackward: gradients of layers of gated recurrent units."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    Int,
    Operand,
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
from aclnnop.rnn.cells import GRU
from aclnnop.rnn.layers import one_type, run_back, stack_of
from aclnnop.rnn.sequences import (
    BatchSizes,
    Params,
    ParamsOut,
    Saved,
    Sequences,
    SequencesOut,
    States,
    StatesOut,
    frame_of,
    grouped,
    parameters,
    saved_fit,
    states_fit,
)


@operator(products=frozenset({Product.A2, Product.A3}))
def aclnnGRUBackward(
    input: Sequences,
    params: Params,
    hx: States,
    dy: Sequences,
    dh: States,
    r: Saved,
    z: Saved,
    n: Saved,
    h_n: Saved,
    h: Saved,
    batchSizesOptional: BatchSizes,
    hasBias: Bool,
    numLayers: Int,
    bidirection: Bool,
    batchFirst: Bool,
    dxOut: SequencesOut,
    dhPrevOut: StatesOut,
    dparamsOut: ParamsOut,
) -> Plan:
    """Go back through all steps of all layers, for sequences of one length."""
    lists: dict[str, list[Operand] | None] = {"r": r, "z": z, "n": n, "h_n": h_n, "h": h}
    one_type(input, params, hx, dy, dh, *lists.values(), dxOut, dhPrevOut, dparamsOut)
    given = batchSizesOptional is not None and batchSizesOptional.size > 0
    require(not given, "batchSizesOptional is given, expected null or an empty tensor")
    stack = stack_of(GRU, input.shape[-1], params, numLayers, both=bidirection, bias=hasBias)
    stack_of(GRU, input.shape[-1], dparamsOut, numLayers, both=bidirection, bias=hasBias, name="dparamsOut")
    frame = frame_of(input, None, batch_first=batchFirst)
    states_fit(stack, frame, hx, dh, dhPrevOut)
    shape_is(dy, (*frame.lead, stack.directions * stack.hidden), "as input, with the hidden elements of all directions")
    saved = saved_fit(stack, (frame.steps, frame.batch, stack.hidden), lists)
    same_shape(input, dxOut)
    if not input.size:
        return nothing()
    reads = (input, *params, hx, dy, dh, *(member for members in saved for member in members))

    def kernel(*arrays: Array) -> None:
        (x,), weights, (first, of_output, of_last), *rest = grouped(
            arrays, 1, len(params), 3, *(stack.states for _ in saved), 2, len(params)
        )
        *kept, hidden, (to_input, to_state), to_params = rest
        steps, back = frame.by_step(x), frame.by_step(of_output)
        found = run_back(stack, steps, weights, [first], [of_last], back, kept, [hidden], None)
        to_input[...] = frame.as_given(found.of_input)
        for target, values in zip((to_state, *to_params), (*found.of_states, *found.of_params), strict=True):
            target[...] = values

    return direct(kernel, reads=reads, writes=(dxOut, dhPrevOut, *dparamsOut), scratch={})


@aclnnGRUBackward.example
def examples() -> Iterator[Example]:
    """One layer and two, one direction and both, with and without biases."""
    for dtype, layers, directions, bias, first in ((FLOAT, 1, 1, True, False), (FLOAT16, 2, 2, False, True), (FLOAT, 2, 2, True, False)):
        count = layers * directions
        lead = (2, 3) if first else (3, 2)
        weights = parameters(dtype, 3, 3, 5, layers=layers, directions=directions, bias=bias)
        saved = {
            name: [np.tanh(numbers((3, 2, 3), dtype, 10 * seed + one)) for one in range(count)]
            for seed, name in enumerate(("n", "h_n", "h"))
        }
        gates = {name: [np.abs(one) for one in saved[other]] for name, other in (("r", "h"), ("z", "n"))}
        yield {
            "input": numbers((*lead, 5), dtype, 1),
            "params": weights,
            "hx": numbers((count, 2, 3), dtype, 2),
            "dy": numbers((*lead, 3 * directions), dtype, 3),
            "dh": numbers((count, 2, 3), dtype, 4),
            **gates,
            **saved,
            "batchSizesOptional": None if first else np.zeros(0, np.int64),
            "hasBias": bias,
            "numLayers": layers,
            "bidirection": directions == 2,
            "batchFirst": first,
            "dxOut": numbers((*lead, 5), dtype, 5),
            "dhPrevOut": numbers((count, 2, 3), dtype, 6),
            "dparamsOut": [np.zeros_like(one) for one in weights],
        }
