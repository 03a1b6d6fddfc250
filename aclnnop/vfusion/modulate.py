"""aclnnModulate: features, scaled and shifted differently for each sample."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.spec import Array, Example, In, Operand, Out, Plan, numbers, operator, require, same_dtype, same_shape
from aclnnop.math.unary import FLOATS, NEWER
from aclnnop.norm.adaptive import adaptive_shape
from aclnnop.norm.views import in_shapes

Factor = Annotated[Operand | None, In(*FLOATS, rank=(2, 3), optional=True)]


@operator(products=NEWER)
def aclnnModulate(
    self: Annotated[Operand, In(*FLOATS, rank=3)],
    scaleOptional: Factor,
    shiftOptional: Factor,
    out: Annotated[Operand, Out(*FLOATS, rank=3)],
) -> Plan:
    """Multiply by ``1 + scaleOptional`` and add ``shiftOptional``."""
    same_dtype(self, scaleOptional, shiftOptional, out)
    factors = [factor for factor in (scaleOptional, shiftOptional) if factor is not None]
    for factor in factors:
        require(self.size > 0 or not factor.size, f"self is empty, expected {factor.name} of shape {list(factor.shape)} to be empty, too")
    inner = adaptive_shape(self, *factors)
    same_shape(self, out)
    reads = ((self, self.shape), (scaleOptional, inner), (shiftOptional, inner))
    return in_shapes(modulated, reads=reads, writes=((out, self.shape),))


def modulated(x: Array, scale: Array | None, shift: Array | None) -> tuple[Array]:
    """The formula; what is not given is left out."""
    weighed = x * 1 if scale is None else x * (1 + scale)
    return (weighed if shift is None else weighed + shift,)


@aclnnModulate.example
def examples() -> Iterator[Example]:
    """Both factors, with and without positions, and either of them."""
    for dtype, inner, given in zip(FLOATS, ((2, 8), (2, 1, 8), (2, 8)), ((True, True), (True, False), (False, True)), strict=True):
        yield {
            "self": numbers((2, 3, 8), dtype, 1),
            "scaleOptional": numbers(inner, dtype, 2) if given[0] else None,
            "shiftOptional": numbers(inner, dtype, 3) if given[1] else None,
            "out": numbers((2, 3, 8), dtype, 4),
        }
