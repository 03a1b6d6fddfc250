"""aclnnDequantSituQuant: a sigmoid-tanh unit of numbers that are dequantised first, quantised to eight bits."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, INT32, INT64
from acl_emu.core.errors import AclnnRuntime
from acl_emu.spec import (
    Array,
    Bool,
    Example,
    Float,
    In,
    Operand,
    Out,
    Plan,
    Product,
    between,
    direct,
    numbers,
    operator,
    require,
    shape_is,
)
from aclnnop.activation.gated import result_fits, split_axis
from aclnnop.activation.situ_glu import situ
from aclnnop.activation.swiglu_rows import row_count, split, store
from aclnnop.quant.activated import not_empty
from aclnnop.quant.dequantised_units import INTEGERS, dequantised, groups_of_rows, has_one_of, mode_of, needed, scaled_rows, unneeded
from aclnnop.quant.narrowing import narrowed
from aclnnop.quant.swi_glu_quant import Mode

Line = Annotated[Operand | None, In(FLOAT, rank=1, optional=True)]


@operator(products=frozenset({Product.A3, Product.A2}), elsewhere=AclnnRuntime)
def aclnnDequantSituQuant(
    x: Annotated[Operand, In(INT8, INT32, BF16, FLOAT16, rank=(2, 8))],
    weightScaleOptional: Line,
    activationScaleOptional: Line,
    biasOptional: Line,
    quantScaleOptional: Line,
    quantOffsetOptional: Line,
    groupIndexOptional: Annotated[Operand | None, In(INT64, rank=1, optional=True)],
    beta: Float,
    linearBeta: Float,
    activateLeft: Bool,
    quantTypeOptional: Mode,
    yOut: Annotated[Operand, Out(INT8, rank=(2, 8), const=True)],
    yScaleOut: Annotated[Operand, Out(FLOAT, rank=(1, 7), const=True)],
) -> Plan:
    """Scale integers, gate one half of every row by the other, and quantise; null stands for a scale of every row's own."""
    mode = mode_of("quantTypeOptional", quantTypeOptional, "dynamic")
    of = f"where x has dtype {x.dtype}"
    if x.dtype in INTEGERS:
        needed(weightScaleOptional, "weightScaleOptional", of)
    if x.dtype is INT32:
        needed(activationScaleOptional, "activationScaleOptional", of)
    if mode == "static":
        needed(quantScaleOptional, "quantScaleOptional", "where quantTypeOptional is static")
    optional = weightScaleOptional, activationScaleOptional, biasOptional, quantScaleOptional, quantOffsetOptional, groupIndexOptional
    not_empty(x, yOut, yScaleOut, *optional)
    axis = split_axis(x, -1)
    require(beta != 0, f"beta is {beta}, expected another value")
    require(x.dtype is INT8 or x.rank == 2, f"x has {x.rank} dimensions, expected 2 for dtype {x.dtype}")
    if x.dtype is INT8:
        unneeded((activationScaleOptional, groupIndexOptional), of)
    if x.dtype is INT32:
        unneeded((quantScaleOptional, quantOffsetOptional), of)
    length = x.shape[-1]
    for operand in (weightScaleOptional, biasOptional):
        has_one_of(operand, (length,), (1,))
    has_one_of(activationScaleOptional, (1,))
    has_one_of(quantScaleOptional, (length // 2,), (1,))
    has_one_of(quantOffsetOptional, quantScaleOptional.shape if quantScaleOptional is not None else (length // 2,), (1,))
    result_fits(x, axis, yOut)
    shape_is(yScaleOut, x.shape[:-1], "that of x without its last dimension")
    rows, whole, dynamic = row_count(x, axis), x.dtype in INTEGERS, mode == "dynamic"

    def kernel(x: Array, *others: Any) -> None:
        weight, activation, bias, factors, offsets, groups, y, scales = others
        group = groups_of_rows(groups, rows, 1)
        lines = x.reshape(rows, -1)
        known: tuple[Any, Any, Any] = (weight, activation, bias) if whole else (None, None, None)
        values = situ(*split(dequantised(lines, *known, np.zeros_like(group)), left=activateLeft), beta, linearBeta)
        if dynamic:
            values = values if factors is None else values * factors
            found, values = scaled_rows(values, INT8)
            store(scales, found)
        else:
            values = values / factors + (0 if offsets is None else offsets)
        store(y, narrowed(np.trunc(values.astype(np.float32)), INT8))

    return direct(kernel, reads=(x, *optional), writes=(yOut, yScaleOut), scratch={})


@aclnnDequantSituQuant.example
def examples() -> Iterator[Example]:
    """Each type, with what it needs; both modes."""
    for dtype, mode, shape in ((INT8, "dynamic", (2, 3, 8)), (INT8, "static", (3, 8)), (INT32, None, (4, 8)), (BF16, "dynamic", (4, 8))):
        whole = dtype in INTEGERS
        yield {
            "x": between(-90, 90, shape, dtype, 1) if whole else numbers(shape, dtype, 1, 3),
            "weightScaleOptional": between(0.01, 0.1, (8,), FLOAT, 2) if whole else None,
            "activationScaleOptional": np.array([0.5], np.float32) if dtype is INT32 else None,
            "biasOptional": numbers((8,), FLOAT, 3) if whole else None,
            "quantScaleOptional": between(0.1, 0.3, (4,), FLOAT, 4) if dtype is INT8 else None,
            "quantOffsetOptional": numbers((4,), FLOAT, 5) if mode == "static" else None,
            "groupIndexOptional": np.array([1, 2]) if dtype is INT32 else None,
            "beta": 4.0,
            "linearBeta": 25.0,
            "activateLeft": mode != "static",
            "quantTypeOptional": mode,
            "yOut": np.zeros((*shape[:-1], 4), np.int8),
            "yScaleOut": np.zeros(shape[:-1], np.float32),
        }
