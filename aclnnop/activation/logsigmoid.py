"""aclnnLogSigmoid, aclnnLogSigmoidForward: logarithm of the logistic function, element by element."""

from collections.abc import Iterator
from typing import Annotated

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.core.formats import ANY_FORMAT
from acl_emu.spec import ALL, Example, Operand, Out, Plan, Product, mapped, numbers, operator, same_dtype, same_shape
from aclnnop.activation.curves import log_sigmoid
from aclnnop.activation.ranked import ANY_RANK, Values, ValuesOut

Buffer = Annotated[Operand | None, Out(optional=True, rank=ANY_RANK, formats=ANY_FORMAT)]


def element_wise(self: Operand, out: Operand) -> Plan:
    """The plan of both."""
    same_dtype(self, out)
    same_shape(self, out)
    return mapped(log_sigmoid, reads=(self,), writes=(out,), dtype=self.dtype)


@operator(products=ALL - {Product.A310B, Product.A310P})
def aclnnLogSigmoid(self: Values, out: ValuesOut) -> Plan:
    """``log(1 / (1 + exp(-self)))``."""
    return element_wise(self, out)


@operator(products=ALL - {Product.A310B})
def aclnnLogSigmoidForward(self: Values, out: ValuesOut, buffer: Buffer) -> Plan:
    """The same; ``buffer`` has no use and is left alone."""
    return element_wise(self, out)


@aclnnLogSigmoid.example
def examples() -> Iterator[Example]:
    """Each type."""
    for dtype in (FLOAT, FLOAT16, BF16):
        yield {"self": numbers((3, 5), dtype, 1, 4), "out": numbers((3, 5), dtype, 2)}


@aclnnLogSigmoidForward.example
def forward_examples() -> Iterator[Example]:
    """A buffer, none, an empty one."""
    for example, buffer in zip(examples(), (numbers((3, 5), FLOAT, 3), None, numbers((0,), BF16)), strict=True):
        yield {**example, "buffer": buffer}
