"""aclnnDequantBias: integers times the scales of rows and columns, with a bias."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32, DType, round_to
from acl_emu.spec import Array, Example, In, Int, Operand, Out, Plan, between, direct, nothing, numbers, operator, require, shape_is
from acl_emu.spec.tiling import in_tiling
from aclnnop.activation.swiglu_rows import RANKS_IN_TILING
from aclnnop.math.unary import NEWER
from aclnnop.quant.results import require_type, wide

MOST_ROWS = 25_000
OptionalRow = Annotated[Operand | None, In(rank=1, optional=True)]


@operator(products=NEWER, checks=RANKS_IN_TILING)
def aclnnDequantBias(
    x: Annotated[Operand, In(INT32, rank=2)],
    weightScale: Annotated[Operand, In(FLOAT, BF16, rank=1)],
    activateScaleOptional: OptionalRow,
    biasOptional: OptionalRow,
    outputDtype: Int,
    out: Annotated[Operand, Out(FLOAT16, BF16, rank=2, const=True)],
) -> Plan:
    """Multiply by a scale for each column and one for each row; a whole bias is added before, any other behind it."""
    rows, columns = x.shape
    with in_tiling():
        for operand, types in ((activateScaleOptional, (FLOAT,)), (biasOptional, (FLOAT, BF16, FLOAT16, INT32))):
            if operand is not None:
                require(operand.dtype in types, f"{operand.name} has dtype {operand.dtype}, expected one of {', '.join(map(str, types))}")
        require_type("outputDtype", outputDtype, out)
        require(rows <= MOST_ROWS, f"x has {rows} rows, expected at most {MOST_ROWS}")
        for operand, length in ((weightScale, columns), (activateScaleOptional, rows), (biasOptional, columns)):
            if operand is not None:
                shape_is(operand, (length,), "as x has in this dimension")
        shape_is(out, x.shape, "as x")
    if out.size == 0:
        return nothing()
    reads = (x, weightScale, activateScaleOptional, biasOptional)
    return direct(dequantised, reads=reads, writes=(out,), scratch={}, dtype=out.dtype)


def dequantised(x: Array, weight: Array, activation: Array | None, bias: Array | None, out: Array, *, dtype: DType) -> None:
    """In FLOAT, rounded once."""
    before = bias is not None and bias.dtype.kind == "i"
    values = wide(x.astype(np.int64) + bias if before and bias is not None else x) * wide(weight)
    if activation is not None:
        values = values * wide(activation)[:, np.newaxis]
    if bias is not None and not before:
        values = values + wide(bias)
    out[...] = round_to(values, dtype)


@aclnnDequantBias.example
def examples() -> Iterator[Example]:
    """Each kind of bias, and none."""
    for of, target, bias in ((FLOAT, FLOAT16, INT32), (BF16, BF16, FLOAT), (FLOAT, FLOAT16, None)):
        yield {
            "x": between(-1000, 1000, (3, 5), INT32, 1),
            "weightScale": numbers((5,), of, 2),
            "activateScaleOptional": numbers((3,), FLOAT, 3) if bias is not None else None,
            "biasOptional": None if bias is None else numbers((5,), bias, 4, 50),
            "outputDtype": target.code,
            "out": numbers((3, 5), target, 5),
        }
