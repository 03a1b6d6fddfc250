"""Layer normalisation that is scaled and shifted once more, differently for each sample: what its forms share."""

from __future__ import annotations

from typing import Annotated

from acl_emu.core.dtypes import FLOAT
from acl_emu.runtime.tensor import Shape
from acl_emu.spec import Array, In, Operand, require, shape_is
from aclnnop.math.unary import FLOATS
from aclnnop.norm.rows import Axes, normalised, scaled, selected

Rows = Annotated[Operand, In(*FLOATS, rank=(2, 8))]
Adaptive = Annotated[Operand, In(*FLOATS, rank=(1, 8))]
Factor = Annotated[Operand | None, In(*FLOATS, rank=1, optional=True)]


def adaptive_shape(x: Operand, *operands: Operand) -> Shape:
    """As ``x``, with length 1 for the positions of a sample, which the operands may lack."""
    *batch, _, length = x.shape
    for operand in operands:
        require(
            operand.shape in ((*batch, length), (*batch, 1, length)),
            f"{operand.name} has shape {list(operand.shape)}, expected {[*batch, length]} or {[*batch, 1, length]}, as {x.name}",
        )
    return (*batch, 1, length)


def factors_fit(x: Operand, *factors: Operand | None) -> None:
    """One element for each column, in the type of ``x`` or in FLOAT."""
    for factor in filter(None, factors):
        require(
            factor.dtype in (FLOAT, x.dtype), f"{factor.name} has dtype {factor.dtype}, expected that of {x.name}, {x.dtype}, or {FLOAT}"
        )
        shape_is(factor, x.shape[-1:], f"the last length of {x.name}")


def not_empty(*operands: Operand | None) -> None:
    """All have elements."""
    for operand in filter(None, operands):
        require(operand.size > 0, f"{operand.name} has shape {list(operand.shape)}, expected no length of 0")


def adapted_rows(
    x: Array,
    scale: Array,
    shift: Array,
    weight: Array | None,
    bias: Array | None,
    *,
    axes: Axes,
    count: int,
    epsilon: float,
    wanted: tuple[bool, ...] = (True,) * 3,
) -> tuple[Array, ...]:
    """The rows, means and inverse standard deviations; those that are wanted."""
    values, mean, rstd = normalised(x, axes, count, epsilon)
    return selected((scaled(values, weight, bias) * (1 + scale) + shift, mean, rstd), wanted)
