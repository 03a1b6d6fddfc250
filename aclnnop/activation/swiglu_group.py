"""aclnnSwigluGroup: a gated linear unit over the rows of groups, with a weight for each row."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT64, DType
from acl_emu.spec import (
    Array,
    Double,
    Example,
    In,
    Operand,
    Out,
    Plan,
    Product,
    direct,
    length_is,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
)
from acl_emu.spec.tiling import in_tiling
from aclnnop.activation.gated import result_fits, split_axis
from aclnnop.activation.swiglu_rows import as_rows, clipped_swiglu, put, row_count, rows_taken, split
from aclnnop.math.unary import FLOATS

OptionalIn = Annotated[Operand | None, In(optional=True)]


@operator(products=frozenset({Product.A950}))
def aclnnSwigluGroup(
    x: Annotated[Operand, In(*FLOATS)],
    weightOptional: OptionalIn,
    groupIndexOptional: OptionalIn,
    clampLimit: Double,
    out: Annotated[Operand, Out(*FLOATS, const=True)],
) -> Plan:
    """Multiply the swish of the first half of every row with the second half, and with the row's weight; groups say how many rows count."""
    same_dtype(x, out)
    with in_tiling():
        require(x.rank > 0, f"{x.name} has no dimensions, expected at least 1")
        axis = split_axis(x, -1)
        limit = checked_limit(clampLimit)
        rows = row_count(x, axis)
        has_type(weightOptional, FLOAT)
        if weightOptional is not None:
            length_is(weightOptional, rows, "one for each row of x")
        has_type(groupIndexOptional, INT64)
        require(groupIndexOptional is None or groupIndexOptional.size > 0, "groupIndexOptional is empty, expected at least 1 element")
        result_fits(x, axis, out)
    if not out.size:
        return nothing()

    def kernel(x: Array, weight: Array | None, counts: Array | None, out: Array) -> None:
        taken = rows_taken(counts, rows)
        gate, linear = split(as_rows(x, rows)[:taken])
        result = clipped_swiglu(gate, linear, alpha=1.0, limit=limit, bias=0.0)
        put(out, result if weight is None else result * as_rows(weight, rows)[:taken])

    return direct(kernel, reads=(x, weightOptional, groupIndexOptional), writes=(out,), scratch={})


@aclnnSwigluGroup.example
def examples() -> Iterator[Example]:
    """Without anything optional, and with all of it."""
    for dtype, weight, groups, limit in ((FLOAT, (3, 4), [5, 3], 1.5), (BF16, None, None, -1.0), (FLOAT16, (12,), None, -1.0)):
        yield {
            "x": numbers((3, 4, 6), dtype, 1, 3),
            "weightOptional": weight and numbers(weight, FLOAT, 2),
            "groupIndexOptional": groups and np.array(groups),
            "clampLimit": limit,
            "out": numbers((3, 4, 3), dtype, 3),
        }


def checked_limit(limit: float) -> float:
    """Where numbers are clamped: -1 stands for nowhere."""
    require(limit == -1 or limit > 0, f"clampLimit is {limit}, expected -1 or a value above 0")
    return limit if limit > 0 else np.inf


def has_type(operand: Operand | None, dtype: DType) -> None:
    """The one type that an optional tensor may have."""
    require(
        operand is None or operand.dtype is dtype, f"{operand and operand.name} has dtype {operand and operand.dtype}, expected {dtype}"
    )
