"""aclnnCat: tensors one behind the other along a dimension."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import (
    BF16,
    BOOL,
    COMPLEX64,
    DOUBLE,
    FLOAT,
    FLOAT8_E8M0,
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
from acl_emu.spec import (
    Example,
    In,
    Int,
    ListOf,
    Operand,
    Out,
    Plan,
    Product,
    castable,
    numbers,
    operator,
    promote,
    require,
    shape_is,
    together,
    wrap_dim,
)
from aclnnop.conversion.moves import EIGHTS, EVERY, converted_copy, narrowed

TYPES = (FLOAT, FLOAT16, INT32, INT64, INT16, INT8, UINT8, BOOL, DOUBLE, COMPLEX64, BF16)
NEWEST = {Product.A950: (*TYPES, UINT16, UINT32, UINT64, *EIGHTS, FLOAT8_E8M0)}


@operator(products=EVERY)
def aclnnCat(
    tensors: Annotated[list[Operand], ListOf(In(*TYPES, rank=(1, 8), on=NEWEST))],
    dim: Int,
    out: Annotated[Operand, Out(*TYPES, rank=(1, 8), on=NEWEST)],
) -> Plan:
    """Join tensors along ``dim``; their other dimensions agree, and an empty tensor of one dimension counts for nothing."""
    dtype = promote(*tensors)
    castable(dtype, out)
    parts = [one for one in tensors if one.shape != (0,)] or tensors[:1]
    first = parts[0]
    axis = wrap_dim(dim, first)
    for one in parts[1:]:
        require(one.rank == first.rank, f"{one.name} has {one.rank} dimensions, expected {first.rank} as {first.name}")
        same = [length for place, length in enumerate(one.shape) if place != axis]
        wanted = [length for place, length in enumerate(first.shape) if place != axis]
        require(same == wanted, f"{one.name} has shape {list(one.shape)}, expected {list(first.shape)} but for dim {axis}, as {first.name}")
    total = sum(one.shape[axis] for one in parts)
    shape_is(out, (*first.shape[:axis], total, *first.shape[axis + 1 :]), "that of all members in a row")
    plans, start = [], 0
    for one in parts:
        plans.append(converted_copy(one, narrowed(out, axis, start, one.shape[axis]), dtype))
        start += one.shape[axis]
    return together(plans)


@aclnnCat.example
def examples() -> Iterator[Example]:
    """Two and three members, along the first, an inner and the last dimension; types that are promoted."""
    calls = (
        ((FLOAT, (2, 5)), (FLOAT, (3, 5)), 0, FLOAT, (5, 5)),
        ((BF16, (2, 3, 2)), (BF16, (2, 1, 2)), 1, BF16, (2, 4, 2)),
        ((FLOAT16, (2, 3)), (INT32, (2, 4)), -1, FLOAT, (2, 7)),
    )
    for (first, shape), (second, other), dim, result, whole in calls:
        yield {"tensors": [numbers(shape, first, 1, 9), numbers(other, second, 2, 9)], "dim": dim, "out": numbers(whole, result, 7)}
