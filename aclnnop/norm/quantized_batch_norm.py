"""aclnnQuantizedBatchNorm: batch normalisation of integers that stand for others, by statistics that are given."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import FLOAT, INT8, INT32, UINT8
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import (
    Array,
    Example,
    Float,
    HandleKind,
    In,
    Operand,
    Out,
    Plan,
    direct,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.math.unary import NEWER

INTEGERS = (INT8, UINT8, INT32)
Row = Annotated[Operand, In(FLOAT, rank=1)]
OptionalRow = Annotated[Operand | None, In(FLOAT, rank=1, optional=True, const=False)]
Scale = Annotated[Scalar, HandleKind(Scalar, FLOAT)]
Point = Annotated[Scalar, HandleKind(Scalar, INT32)]


@operator(products=NEWER)
def aclnnQuantizedBatchNorm(
    input: Annotated[Operand, In(*INTEGERS, rank=4)],
    mean: Row,
    var: Row,
    inputScale: Scale,
    inputZeroPoint: Point,
    outputScale: Scale,
    outputZeroPoint: Point,
    weight: OptionalRow,
    bias: OptionalRow,
    epsilon: Float,
    output: Annotated[Operand, Out(*INTEGERS, rank=4)],
) -> Plan:
    """Take integers for what they stand for, normalise every channel, and give integers again."""
    same_dtype(input, output)
    require(input.size > 0, f"input has shape {list(input.shape)}, expected no length of 0")
    for row in filter(None, (mean, var, weight, bias)):
        shape_is(row, (input.shape[1],), "one for each channel of input")
    same_shape(input, output)
    limits = np.iinfo(input.dtype.numpy)
    for name, point in (("inputZeroPoint", inputZeroPoint), ("outputZeroPoint", outputZeroPoint)):
        inside = limits.min <= int(point.value) <= limits.max
        require(inside, f"{name} is {point.value}, expected a value from {limits.min} to {limits.max} for {input.dtype}")
    scale, zero = float(inputScale.value), int(inputZeroPoint.value)
    out_scale, out_zero = float(outputScale.value), int(outputZeroPoint.value)

    def kernel(x: Array, mean: Array, var: Array, weight: Array | None, bias: Array | None, out: Array) -> None:
        real = (x.astype(np.float64) - zero) * scale
        values = (real - by_channel(mean)) / np.sqrt(by_channel(var) + epsilon)
        values = values if weight is None else values * by_channel(weight)
        values = values if bias is None else values + by_channel(bias)
        rounded = np.nan_to_num(np.rint(values / out_scale + out_zero), nan=0.0)
        out[...] = np.clip(rounded, limits.min, limits.max).astype(out.dtype)

    return direct(kernel, reads=(input, mean, var, weight, bias), writes=(output,), scratch={})


def by_channel(row: Array) -> Array:
    """A row of factors as it broadcasts, in float64."""
    return np.asarray(row, np.float64)[:, np.newaxis, np.newaxis]


@aclnnQuantizedBatchNorm.example
def examples() -> Iterator[Example]:
    """Every type, with and without factors."""
    for turn, dtype in enumerate(INTEGERS):
        yield {
            "input": numbers((2, 3, 2, 4), dtype, 1, 20),
            "mean": numbers((3,), FLOAT, 2),
            "var": np.abs(numbers((3,), FLOAT, 3)),
            "inputScale": np.float32(0.1),
            "inputZeroPoint": np.int32(3),
            "outputScale": np.float32(0.05),
            "outputZeroPoint": np.int32(7),
            "weight": numbers((3,), FLOAT, 4) if turn else None,
            "bias": numbers((3,), FLOAT, 5) if turn != 1 else None,
            "epsilon": 1e-5,
            "output": np.zeros((2, 3, 2, 4), dtype.numpy),
        }
