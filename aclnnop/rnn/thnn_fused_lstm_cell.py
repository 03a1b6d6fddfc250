"""aclnnThnnFusedLstmCell: one step of long short-term memory, behind its matrix products."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import (
    Array,
    Example,
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
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.rnn.cells import memory_step

TYPES = (FLOAT, FLOAT16)
Gates = Annotated[Operand, In(*TYPES, rank=2)]
OptionalBias = Annotated[Operand | None, In(*TYPES, rank=1, optional=True)]
CellOut = Annotated[Operand, Out(*TYPES, rank=2)]


@operator(products=frozenset({Product.A2, Product.A3}))
def aclnnThnnFusedLstmCell(
    inputGates: Gates,
    hiddenGates: Gates,
    cx: Gates,
    inputBiasOptional: OptionalBias,
    hiddenBiasOptional: OptionalBias,
    hyOut: CellOut,
    cyOut: CellOut,
    storageOut: CellOut,
) -> Plan:
    """Take the next states from the sums of both products, and keep the gates."""
    same_dtype(inputGates, hiddenGates, cx, inputBiasOptional, hiddenBiasOptional, hyOut, cyOut, storageOut)
    both = (inputBiasOptional is None) == (hiddenBiasOptional is None)
    require(both, "only one of inputBiasOptional and hiddenBiasOptional is given, expected both or none")
    batch, hidden = cx.shape
    shape_is(inputGates, (batch, 4 * hidden), "as cx, with four gates")
    same_shape(inputGates, hiddenGates, storageOut)
    same_shape(cx, hyOut, cyOut)
    biases = [operand for operand in (inputBiasOptional, hiddenBiasOptional) if operand is not None]
    for bias in biases:
        shape_is(bias, (4 * hidden,), "four gates of all hidden elements")
    if not cx.size:
        return nothing()

    def kernel(cx: Array, h_new: Array, c_new: Array, storage: Array, *terms: Array) -> None:
        products = [np.asarray(term, np.float32) for term in terms]
        first = products[0] + products[2] if biases else products[0]
        second = products[1] + products[3] if biases else products[1]
        (h, c), (entered, candidate, forgotten, shown, *_) = memory_step(first, second, [cx, np.asarray(cx, np.float32)])
        h_new[...], c_new[...] = h, c
        storage[...] = np.concatenate((entered, forgotten, candidate, shown), axis=-1)

    reads = (inputGates, hiddenGates, *biases, cx)
    return direct(lambda *arrays: kernel(*arrays[-4:], *arrays[:-4]), reads=reads, writes=(hyOut, cyOut, storageOut), scratch={})


@aclnnThnnFusedLstmCell.example
def examples() -> Iterator[Example]:
    """With and without biases."""
    for dtype in TYPES:
        yield {
            "inputGates": numbers((2, 12), dtype, 1),
            "hiddenGates": numbers((2, 12), dtype, 2),
            "cx": numbers((2, 3), dtype, 3),
            "inputBiasOptional": numbers((12,), dtype, 4) if dtype is FLOAT else None,
            "hiddenBiasOptional": numbers((12,), dtype, 5) if dtype is FLOAT else None,
            "hyOut": numbers((2, 3), dtype, 6),
            "cyOut": numbers((2, 3), dtype, 7),
            "storageOut": numbers((2, 12), dtype, 8),
        }
