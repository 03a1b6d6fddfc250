"""aclnnThnnFusedLstmCellBackward: gradients of one step of long short-term memory, behind its matrix products."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT
from acl_emu.core.errors import AclnnNullptr
from acl_emu.spec import (
    Array,
    Bool,
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
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.rnn.cells import memory_back
from aclnnop.rnn.thnn_fused_lstm_cell import TYPES, CellOut, Gates

OptionalGrad = Annotated[Operand | None, In(*TYPES, rank=2, optional=True)]
BiasOut = Annotated[Operand | None, Out(*TYPES, rank=1, optional=True)]


@operator(products=frozenset({Product.A2, Product.A3}))
def aclnnThnnFusedLstmCellBackward(
    gradHyOptional: OptionalGrad,
    gradCOptional: OptionalGrad,
    cx: Gates,
    cy: Gates,
    storage: Gates,
    hasBias: Bool,
    gradGatesOut: CellOut,
    gradCxOut: CellOut,
    gradBiasOut: BiasOut,
) -> Plan:
    """Give the gradients of the gates before their functions, of the old state, and, summed over the batch, of a bias."""
    if hasBias and gradBiasOut is None:
        raise AclnnNullptr("gradBiasOut must not be a null pointer where hasBias is true")
    same_dtype(cx, cy, storage, gradHyOptional, gradCOptional, gradGatesOut, gradCxOut, gradBiasOut)
    batch, hidden = cx.shape
    for operand in filter(None, (gradHyOptional, gradCOptional, cy, gradCxOut)):
        same_shape(cx, operand)
    shape_is(storage, (batch, 4 * hidden), "as cx, with four gates")
    same_shape(storage, gradGatesOut)
    if gradBiasOut is not None:
        shape_is(gradBiasOut, (4 * hidden,), "four gates of all hidden elements")
    if not cx.size:
        return nothing()

    def kernel(
        of_h: Array | None, of_c: Array | None, cx: Array, cy: Array, storage: Array, to_gates: Array, to_c: Array, to_bias: Array | None
    ) -> None:
        zero = np.zeros(cx.shape, np.float32)
        grads = [zero if one is None else np.asarray(one, np.float32) for one in (of_h, of_c)]
        entered, forgotten, candidate, shown = np.split(np.asarray(storage, np.float32), 4, axis=-1)
        flat = np.tanh(np.asarray(cy, np.float32))
        joined, _, (_, old) = memory_back(grads, [entered, candidate, forgotten, shown, flat], [zero, np.asarray(cx, np.float32)])
        to_gates[...] = joined
        to_c[...] = old
        if to_bias is not None:
            to_bias[...] = joined.sum(axis=0, dtype=np.float64)

    reads = (gradHyOptional, gradCOptional, cx, cy, storage)
    return direct(kernel, reads=reads, writes=(gradGatesOut, gradCxOut, gradBiasOut if hasBias else None), scratch={})


@aclnnThnnFusedLstmCellBackward.example
def examples() -> Iterator[Example]:
    """With and without a bias and gradients of either state."""
    for dtype in TYPES:
        yield {
            "gradHyOptional": numbers((2, 3), dtype, 1),
            "gradCOptional": numbers((2, 3), dtype, 2) if dtype is FLOAT else None,
            "cx": numbers((2, 3), dtype, 3),
            "cy": numbers((2, 3), dtype, 4),
            "storage": np.abs(np.tanh(numbers((2, 12), dtype, 5))),
            "hasBias": dtype is FLOAT,
            "gradGatesOut": numbers((2, 12), dtype, 6),
            "gradCxOut": numbers((2, 3), dtype, 7),
            "gradBiasOut": numbers((12,), dtype, 8) if dtype is FLOAT else None,
        }
