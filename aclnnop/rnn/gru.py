"""aclnnGRU: layers of gated recurrent units over sequences."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.core.errors import AclnnNullptr
from acl_emu.spec import (
    AFTER_NULL,
    NULL,
    Array,
    Bool,
    Double,
    Example,
    In,
    Int,
    Operand,
    Operator,
    Plan,
    Product,
    direct,
    nothing,
    numbers,
    operator,
    require,
    shape_is,
)
from aclnnop.rnn.cells import GRU
from aclnnop.rnn.layers import one_type, run, stack_of, valid_rows
from aclnnop.rnn.sequences import (
    TYPES,
    BatchSizes,
    Frame,
    Params,
    SavedOut,
    Sequences,
    SequencesOut,
    StatesOut,
    frame_of,
    grouped,
    packed,
    parameters,
    saved_fit,
    states_fit,
    unpacked,
)

FirstState = Annotated[Operand | None, In(*TYPES, rank=3, optional=True)]
LISTS = ("rOut", "zOut", "nOut", "hnOut", "hOut")


def saved_in_training(operator: Operator, values: tuple[Any, ...]) -> None:
    """161001 for a list that training needs."""
    named = dict(zip(operator.names, values, strict=True))
    for name in LISTS:
        if named["train"] and named[name] is None:
            raise AclnnNullptr(f"{name} must not be a null pointer where train is true")


@operator(products=frozenset({Product.A2, Product.A3}), checks=(NULL, saved_in_training, *AFTER_NULL))
def aclnnGRU(
    input: Sequences,
    params: Params,
    hx: FirstState,
    batchSizes: BatchSizes,
    hasBias: Bool,
    numLayers: Int,
    dropout: Double,
    train: Bool,
    bidirection: Bool,
    batchFirst: Bool,
    output: SequencesOut,
    hy: StatesOut,
    rOut: SavedOut,
    zOut: SavedOut,
    nOut: SavedOut,
    hnOut: SavedOut,
    hOut: SavedOut,
) -> Plan:
    """Run all layers, keep the last states, and in training what gradients need; ``dropout`` has no effect."""
    lists = dict(zip(LISTS, (rOut, zOut, nOut, hnOut, hOut), strict=True))
    one_type(input, params, hx, output, hy)
    stack = stack_of(GRU, input.shape[-1], params, numLayers, both=bidirection, bias=hasBias)
    if batchSizes is None:
        frame = frame_of(input, None, batch_first=batchFirst)
        lead: tuple[int, ...] = (frame.steps, frame.batch)
    else:
        require(
            input.rank == 2, f"input has {input.rank} dimensions, expected 2 where batchSizes is given; its shape is {list(input.shape)}"
        )
        frame, lead = Frame(batchSizes.size, hy.shape[1], input.shape[:1], False), input.shape[:1]
    states_fit(stack, frame, hy, *(() if hx is None else (hx,)))
    shape_is(output, (*frame.lead, stack.directions * stack.hidden), "as input, with the hidden elements of all directions")
    saved = saved_fit(stack, (*lead, stack.hidden), lists) if train else []
    one_type(input, *saved)
    if not output.size:
        return nothing()
    writes = (output, hy, *(member for members in saved for member in members))

    def kernel(*arrays: Array | None) -> None:
        (x,), weights, (first, sizes, out, last), *kept = grouped(arrays, 1, len(params), 4, *(stack.states for _ in saved))
        valid = None if sizes is None else valid_rows(sizes, frame.batch)
        steps = frame.by_step(x) if valid is None else unpacked(x, valid)
        initial = np.zeros((stack.states, frame.batch, stack.hidden), np.float32) if first is None else first
        result, passes = run(stack, steps, weights, [initial], valid)
        out[...] = frame.as_given(result) if valid is None else packed(result, valid)
        for state, one in enumerate(passes):
            (last[state],) = one.last
            for members, values in zip(kept, one.saved, strict=False):
                members[state][...] = values if valid is None else packed(values, valid)

    return direct(kernel, reads=(input, *params, hx, batchSizes), writes=writes, scratch={})


@aclnnGRU.example
def examples() -> Iterator[Example]:
    """One layer and two, one direction and both, with and without biases, states, training and batch sizes."""
    for dtype, layers, directions, bias, train, first, sizes in (
        (FLOAT, 1, 1, True, True, False, None),
        (FLOAT16, 2, 2, False, False, True, None),
        (FLOAT, 2, 2, True, True, False, [2, 2, 1]),
    ):
        lead = (5,) if sizes else (2, 3) if first else (3, 2)
        count = layers * directions
        saved = (*(lead if sizes else (3, 2)), 3)
        yield {
            "input": numbers((*lead, 5), dtype, 1),
            "params": parameters(dtype, 3, 3, 5, layers=layers, directions=directions, bias=bias),
            "hx": numbers((count, 2, 3), dtype, 2) if layers == 2 else None,
            "batchSizes": None if sizes is None else np.array(sizes, np.int64),
            "hasBias": bias,
            "numLayers": layers,
            "dropout": 0.0,
            "train": train,
            "bidirection": directions == 2,
            "batchFirst": first,
            "output": numbers((*lead, 3 * directions), dtype, 3),
            "hy": numbers((count, 2, 3), dtype, 4),
            **{name: [numbers(saved, dtype, 5)] * count if train else None for name in LISTS},
        }
