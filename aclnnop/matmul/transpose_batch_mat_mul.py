"""aclnnTransposeBatchMatMul and aclnnTransposeBatchMatMulWeightNz: products of batches whose axes are exchanged on the way."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT8, INT64, UINT64
from acl_emu.engine.matmul import Taken
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import (
    Array,
    Example,
    In,
    IntArrayIn,
    IntKind,
    Operand,
    Out,
    Plan,
    Product,
    between,
    direct,
    nothing,
    numbers,
    operator,
    require,
    shape_is,
)
from acl_emu.spec.fractal import Blocked, blocked, is_blocked
from aclnnop.matmul.cube import ALL_LENIENT, IN_BLOCKS, CubeMath, combined_dtype, multiply, planned, product_shape, rounding
from aclnnop.quant.narrowing import narrowed
from aclnnop.quant.parameters import unpacked

PRODUCTS = frozenset({Product.A950, Product.A3, Product.A2})
ORDERS = {"permX1": ((0, 1, 2), (1, 0, 2)), "permX2": ((0, 1, 2), (0, 2, 1)), "permY": ((1, 0, 2),)}
"""The orders of axes that are allowed."""

Unused = Annotated[Operand | None, In(FLOAT, FLOAT16, BF16, optional=True)]
Scale = Annotated[Operand | None, In(INT64, UINT64, rank=1, optional=True)]
Factor = Annotated[int, IntKind("const int32_t")]


@operator(products=PRODUCTS)
def aclnnTransposeBatchMatMul(
    x1: Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=3)],
    x2: Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=3)],
    bias: Unused,
    scale: Scale,
    permX1: IntArrayIn,
    permX2: IntArrayIn,
    permY: IntArrayIn,
    cubeMathType: CubeMath,
    batchSplitFactor: Factor,
    out: Annotated[Operand, Out(FLOAT, FLOAT16, BF16, INT8, rank=3)],
) -> Plan:
    """Multiply the matrices of two batches, whose axes may come in another order, and put the batch behind the rows."""
    return exchanged(x1, x2, bias, scale, permX1, permX2, permY, cubeMathType, batchSplitFactor, out)


@operator(products=PRODUCTS)
def aclnnTransposeBatchMatMulWeightNz(
    x1: Annotated[Operand, In(FLOAT16, BF16, rank=3)],
    x2: Annotated[Operand, In(FLOAT16, BF16, rank=3, formats=IN_BLOCKS)],
    bias: Unused,
    scale: Scale,
    permX1: IntArrayIn,
    permX2: IntArrayIn,
    permY: IntArrayIn,
    cubeMathType: CubeMath,
    batchSplitFactor: Factor,
    out: Annotated[Operand, Out(FLOAT16, BF16, INT8, rank=3)],
) -> Plan:
    """The same with weights in blocks."""
    return exchanged(x1, x2, bias, scale, permX1, permX2, permY, cubeMathType, batchSplitFactor, out)


def exchanged(
    x1: Operand,
    x2: Operand,
    bias: Operand | None,
    scale: Operand | None,
    permX1: IntArray,
    permX2: IntArray,
    permY: IntArray,
    mode: int,
    parts: int,
    out: Operand,
) -> Plan:
    """The plan of both."""
    require(bias is None, "bias has a value, expected a null pointer")
    for name, order in (("permX1", permX1), ("permX2", permX2), ("permY", permY)):
        wanted = " or ".join(str(list(one)) for one in ORDERS[name])
        require(order.values in ORDERS[name], f"{name} is {order}, expected {wanted}")
    dtype = combined_dtype(x1, x2)
    taken = rounding(mode, dtype, ALL_LENIENT)
    left = x1 if permX1.values[0] == 0 else exchange_first(x1)
    right = x2 if permX2.values[1] == 1 else x2.transposed()
    require(left.shape[0] == right.shape[0], f"x2 has shape {list(x2.shape)}, expected a batch as long as that of x1: {left.shape[0]}")
    batch, rows, columns = product_shape(left, right)
    require(1 <= parts <= max(batch, 1), f"batchSplitFactor is {parts}, expected 1 to {batch}")
    require(batch % parts == 0, f"batchSplitFactor is {parts}, expected a divisor of {batch}")
    if scale is None:
        require(out.dtype is dtype, f"out has dtype {out.dtype}, expected {dtype}")
        shape_is(out, (parts, rows, batch // parts * columns) if parts > 1 else (rows, batch, columns), "rows, batch, columns")
        return in_parts(left, right, out, (batch, rows, columns), parts, taken)
    require(parts == 1, f"batchSplitFactor is {parts}, expected 1 with scale")
    require(dtype is FLOAT16 and out.dtype is INT8, f"out has dtype {out.dtype}, expected {INT8} of {FLOAT16} with scale")
    shape_is(scale, (batch * columns,), "batch times columns")
    shape_is(out, (rows, 1, batch * columns), "rows, batch times columns")
    if 0 in out.shape:
        return nothing()
    weight = blocked(right) if is_blocked(right) else None
    scratch: dict[str, tuple[tuple[int, ...], Any]] = {"sums": ((rows, batch, columns), np.float32)}
    if weight is not None:
        *outer, across, width = weight.memory.shape
        scratch["matrix"] = ((*outer, across * width), right.dtype.numpy)
    memory = right if weight is None else weight.memory
    return direct(quantised, reads=(left, memory, scale), writes=(out,), scratch=scratch, weight=weight, taken=taken)


def exchange_first(operand: Operand) -> Operand:
    """The same tensor with its first two axes exchanged."""
    (first, second, *shape), (step, other, *strides) = operand.shape, operand.view.strides
    return operand.in_view((second, first, *shape), (other, step, *strides))


def in_parts(left: Operand, right: Operand, out: Operand, shape: tuple[int, int, int], parts: int, taken: Taken) -> Plan:
    """Products whose batch is split in parts, each with rows of its own."""
    batch, rows, columns = shape
    if 0 in shape:
        return nothing()
    if parts == 1:
        return planned(left, right, exchange_first(out), shape, taken)
    each = batch // parts
    first, second, third = out.view.strides
    target = out.in_view((parts, each, rows, columns), (first, columns * third, second, third))
    factors = [
        operand.in_view((parts, each, *operand.shape[1:]), (each * operand.view.strides[0], *operand.view.strides))
        for operand in (left, right)
    ]
    return planned(factors[0], factors[1], target, (parts, each, rows, columns), taken)


def quantised(
    left: Array, right: Array, scale: Array, out: Array, *, weight: Blocked | None, taken: Taken, sums: Array, matrix: Array | None = None
) -> None:
    """Products in FLOAT, scaled, rounded to even and saturated."""
    target = sums.transpose(1, 0, 2)
    multiply(left, right, None, target, weight=weight, taken=taken, alpha=1.0, beta=0.0, matrix=matrix)
    scales, offsets = unpacked(scale)
    out[:, 0] = narrowed(sums.reshape(len(sums), -1) * scales + offsets, INT8)


def examples_of(types: tuple[Any, ...]) -> Iterator[Example]:
    """All orders; a batch in one part and in two; quantised."""
    for dtype, first, second, parts in ((types[0], 0, 1, 1), (types[1], 1, 0, 2)):
        yield {
            "x1": numbers((7, 4, 32) if first else (4, 7, 32), dtype, 1),
            "x2": numbers((4, 16, 32) if second else (4, 32, 16), dtype, 2),
            "bias": None,
            "scale": None,
            "permX1": ORDERS["permX1"][first],
            "permX2": ORDERS["permX2"][second],
            "permY": (1, 0, 2),
            "cubeMathType": 1,
            "batchSplitFactor": parts,
            "out": numbers((2, 7, 32) if parts > 1 else (7, 4, 16), dtype, 3),
        }
    yield {
        "x1": numbers((2, 7, 32), FLOAT16, 1),
        "x2": numbers((2, 32, 16), FLOAT16, 2),
        "bias": None,
        "scale": between(1, 9, (32,), np.float32, 3).view(np.uint32).astype(np.uint64),
        "permX1": (0, 1, 2),
        "permX2": (0, 1, 2),
        "permY": (1, 0, 2),
        "cubeMathType": 0,
        "batchSplitFactor": 1,
        "out": numbers((7, 1, 32), INT8, 4),
    }


aclnnTransposeBatchMatMul.example(lambda: examples_of((FLOAT, BF16)))
aclnnTransposeBatchMatMulWeightNz.example(lambda: examples_of((FLOAT16, BF16)))
