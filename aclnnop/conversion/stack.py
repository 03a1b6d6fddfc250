"""aclnnStack: tensors of one shape, side by side along a new dimension."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core import constants as c
from acl_emu.core.dtypes import (
    BF16,
    BOOL,
    COMPLEX64,
    COMPLEX128,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
)
from acl_emu.core.errors import AclnnInner
from acl_emu.spec import (
    AFTER_NULL,
    ALL,
    NULL,
    Array,
    Example,
    In,
    Int,
    ListOf,
    Operand,
    Operator,
    Out,
    Plan,
    Product,
    castable,
    mapped,
    numbers,
    operator,
    promote,
    require,
    same_shape,
    shape_is,
)

TYPES = (FLOAT16, FLOAT, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, BOOL, DOUBLE, COMPLEX64, COMPLEX128, BF16)


def missing(operator: Operator, values: tuple[Any, ...]) -> None:
    """561103, not 161001, for a list or an output that is null; kinds call them optional so that this comes first."""
    for name, value in zip(operator.names, values, strict=True):
        if value is None:
            raise AclnnInner(f"{name} must not be a null pointer", c.ACLNN_ERR_INNER_NULLPTR)


@operator(products=ALL - {Product.A310B}, checks=(missing, NULL, *AFTER_NULL))
def aclnnStack(
    tensors: Annotated[list[Operand], ListOf(In(*TYPES, rank=(0, 7)), optional=True)],
    dim: Int,
    out: Annotated[Operand, Out(*TYPES, rank=(1, 8), optional=True)],
) -> Plan:
    """Join tensors of one shape along a new dimension ``dim``."""
    first = tensors[0]
    dtype = promote(*tensors)
    castable(dtype, out)
    rank = first.rank + 1
    require(-rank <= dim < rank, f"dim is {dim}, expected a value in [{-rank}, {rank - 1}] for {first.name} of shape {list(first.shape)}")
    same_shape(*tensors)
    axis = dim % rank
    shape_is(out, (*first.shape[:axis], len(tensors), *first.shape[axis:]), "that of the members with the new dimension")
    return mapped(stacked, reads=tensors, writes=(out,), dtype=dtype, axis=axis)


@aclnnStack.example
def examples() -> Iterator[Example]:
    """Two and three members, a new dimension in front, inside and behind; types that are promoted."""
    calls = (
        ((FLOAT, FLOAT), 0, FLOAT, (2, 3, 4)),
        ((BF16, BF16, BF16), 1, BF16, (3, 3, 4)),
        ((FLOAT16, INT32), -1, FLOAT, (3, 4, 2)),
        ((UINT64,), 0, UINT64, (1, 3, 4)),
    )
    for types, dim, result, shape in calls:
        members = [numbers((3, 4), dtype, seed, 9) for seed, dtype in enumerate(types)]
        yield {"tensors": members, "dim": dim, "out": numbers(shape, result, 7)}


def stacked(*members: Array, axis: int) -> Array:
    """Side by side."""
    return np.stack(members, axis)
