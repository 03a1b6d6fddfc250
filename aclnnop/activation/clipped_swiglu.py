"""aclnnClippedSwiglu: a gated linear unit whose halves are clamped first."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT64
from acl_emu.spec import (
    Array,
    Bool,
    Double,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    direct,
    nothing,
    numbers,
    operator,
    require,
    same_dtype,
)
from aclnnop.activation.gated import result_fits, split_axis
from aclnnop.activation.pointwise import NEWER
from aclnnop.activation.swiglu_rows import as_rows, clipped_swiglu, late_clipped_swiglu, put, row_count, rows_taken, split
from aclnnop.math.unary import FLOATS

Values = Annotated[Operand, In(*FLOATS, rank=(1, 8))]
ValuesOut = Annotated[Operand, Out(*FLOATS, rank=(1, 8), const=True)]
Groups = Annotated[Operand | None, In(INT64, rank=1, optional=True)]


@operator(products=NEWER)
def aclnnClippedSwiglu(
    x: Values,
    groupIndexOptional: Groups,
    dim: Int,
    alpha: Double,
    limit: Double,
    bias: Double,
    interleaved: Bool,
    out: ValuesOut,
) -> Plan:
    """Clamp both parts of ``x``, and multiply the swish of one with the other plus ``bias``; groups say how many rows count."""
    return clipped_plan(x, groupIndexOptional, dim, alpha, limit, bias, interleaved, out, late=False)


@aclnnClippedSwiglu.example
def examples() -> Iterator[Example]:
    """Halves and pairs, along the last and another axis, all rows and some."""
    for dtype, interleaved, dim, groups in (
        (FLOAT, True, -1, [1, 1]),
        (BF16, False, 1, None),
        (FLOAT16, False, -1, None),
        (FLOAT, True, 1, [2]),
    ):
        yield {
            "x": numbers((3, 4, 6), dtype, 1, 3),
            "groupIndexOptional": groups and numbers((len(groups),), INT64, 2, 0) + groups,
            "dim": dim,
            "alpha": 1.5,
            "limit": 2.0,
            "bias": 1.0,
            "interleaved": interleaved,
            "out": numbers((3, 4, 3) if dim == -1 else (3, 2, 6), dtype, 3),
        }


def clipped_plan(
    x: Operand,
    groups: Operand | None,
    dim: int,
    alpha: float,
    limit: float,
    bias: float,
    interleaved: bool,
    out: Operand,
    *,
    late: bool,
) -> Plan:
    """The plan of all versions."""
    axis = split_axis(x, dim)
    require(limit > 0, f"limit is {limit}, expected a value above 0")
    same_dtype(x, out)
    result_fits(x, axis, out)
    if not out.size:
        return nothing()
    rows = row_count(x, axis)

    def kernel(x: Array, counts: Array | None, out: Array) -> None:
        gate, linear = split(as_rows(x, rows)[: rows_taken(counts, rows)], interleaved=interleaved)
        put(
            out,
            late_clipped_swiglu(gate, linear, limit=limit) if late else clipped_swiglu(gate, linear, alpha=alpha, limit=limit, bias=bias),
        )

    return direct(kernel, reads=(x, groups), writes=(out,), scratch={})
