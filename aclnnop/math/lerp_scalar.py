"""aclnnLerps and aclnnInplaceLerps: numbers on the way from one tensor to another, all by the same part of it."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.spec import Example, FloatIn, Operand, Out, Plan, ScalarIn, in_place, operator
from aclnnop.math.binary import NOT_310
from aclnnop.math.interpolation import interpolated, interpolation_examples
from aclnnop.math.unary import REALS


@operator(products=NOT_310)
def aclnnLerps(self: FloatIn, end: FloatIn, weight: ScalarIn, out: Annotated[Operand, Out(*REALS)]) -> Plan:
    """Go from every element to the other one by the part ``weight``."""
    return interpolated(self, end, weight, out)


@aclnnLerps.example
def examples() -> Iterator[Example]:
    """Those of three tensors, with a number for the weight."""
    for number, example in enumerate(interpolation_examples()):
        yield {**example, "weight": (0.3, 2, -0.5)[number]}


aclnnInplaceLerps = in_place(aclnnLerps)
