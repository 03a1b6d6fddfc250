"""aclnnConvertWeightToINT4Pack: weights of four bits, from one number in 32 bits each to one behind the other, in blocks or not."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core import soc
from acl_emu.core.dtypes import FLOAT, FLOAT4_E2M1, INT4, INT32, DType
from acl_emu.core.errors import AclnnRuntime
from acl_emu.spec import Array, Example, In, Operand, Out, Plan, Product, between, direct, operator, require, shape_is
from acl_emu.spec.fractal import Fractal, is_blocked
from aclnnop.math.narrow import encoded
from aclnnop.matmul.cube import BLOCKED

NEWER = frozenset({Product.A950, Product.A3, Product.A2})
PACKED = {(INT32, INT4): INT4, (INT32, INT32): INT4, (FLOAT, FLOAT4_E2M1): FLOAT4_E2M1, (FLOAT, FLOAT): FLOAT4_E2M1}
"""What numbers become, by the types of both tensors."""
WIDTH = {Product.A950: 16}
"""Columns of a block; elsewhere as many as 32 bytes hold."""


@operator(products=NEWER, elsewhere=AclnnRuntime)
def aclnnConvertWeightToINT4Pack(
    weight: Annotated[Operand, In(INT32, rank=(2, 3), on={Product.A950: (INT32, FLOAT)})],
    weightInt4Pack: Annotated[
        Operand, Out(INT4, INT32, rank=(2, 3), formats=BLOCKED, on={Product.A950: (INT4, INT32, FLOAT4_E2M1, FLOAT)})
    ],
) -> Plan:
    """Pack numbers of four bits."""
    dtype = PACKED.get((weight.dtype, weightInt4Pack.dtype))
    require(dtype is not None, f"weightInt4Pack has dtype {weightInt4Pack.dtype}, which does not hold numbers of {weight.dtype}")
    assert dtype is not None
    *batch, rows, columns = weight.shape
    require(0 not in weight.shape, f"weight has shape {list(weight.shape)}, expected no empty dimension")
    per = 1 if weightInt4Pack.dtype is dtype else 8
    multiple = 2 if per == 1 else 8
    require(columns % multiple == 0, f"weight has shape {list(weight.shape)}, expected a last length that {multiple} divides")
    shape_is(weightInt4Pack, (*batch, rows, columns // per), "that of weight, with so many numbers in an element")
    require(
        weight.contiguous and weightInt4Pack.contiguous,
        f"weight has strides {list(weight.view.strides)}, expected contiguous tensors",
    )
    blocks = None
    target = weightInt4Pack
    if is_blocked(weightInt4Pack):
        blocks = Fractal(tuple(batch), rows, columns, WIDTH.get(soc.current().product, 64))
        target = weightInt4Pack.in_view((*blocks.shape[:-1], blocks.width // per))
    return direct(pack, reads=(weight,), writes=(target,), scratch={}, blocks=blocks, dtype=dtype)


def pack(weight: Array, out: Array, *, blocks: Fractal | None, dtype: DType) -> None:
    """Two numbers to a byte, the first in the low half; what fills up blocks is zero."""
    numbers: Any = weight
    if blocks is not None:
        padded = np.zeros((*blocks.batch, blocks.padded_rows, blocks.blocks_across * blocks.width), weight.dtype)
        padded[..., : blocks.rows, : blocks.columns] = weight
        numbers = padded.reshape(*blocks.batch, blocks.padded_rows, blocks.blocks_across, blocks.width).swapaxes(-3, -2)
    codes = encoded(np.ascontiguousarray(numbers).reshape(-1), dtype)
    out[...] = codes.view(out.dtype).reshape(out.shape)


@aclnnConvertWeightToINT4Pack.example
def examples() -> Iterator[Example]:
    """Eight numbers in each element."""
    yield {"weight": between(-8, 8, (5, 16), INT32, 1), "weightInt4Pack": between(0, 9, (5, 2), INT32, 2)}
