"""aclnnLogSigmoidBackward: gradient of the logarithm of the logistic function, given its input."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.core.formats import ANY_FORMAT
from acl_emu.spec import ALL, Array, Example, In, Operand, Plan, Product, mapped, numbers, operator, same_dtype, same_shape
from aclnnop.activation.ranked import ANY_RANK, Values, ValuesOut

Unused = Annotated[Operand | None, In(optional=True, rank=ANY_RANK, formats=ANY_FORMAT)]


@operator(products=ALL - {Product.A310B})
def aclnnLogSigmoidBackward(gradOutput: Values, self: Values, buffer: Unused, gradInput: ValuesOut) -> Plan:
    """``gradOutput / (1 + exp(self))``; ``buffer`` is not looked at."""
    same_dtype(gradOutput, self, gradInput)
    same_shape(gradOutput, self, gradInput)
    return mapped(gradient, reads=(gradOutput, self), writes=(gradInput,), dtype=self.dtype)


@aclnnLogSigmoidBackward.example
def examples() -> Iterator[Example]:
    """Each type."""
    for dtype in (FLOAT, FLOAT16, BF16):
        yield {name: numbers((3, 5), dtype, seed, 2) for seed, name in enumerate(("gradOutput", "self", "buffer", "gradInput"))}


def gradient(grad: Array, x: Array) -> Array:
    """The slope is the logistic function of ``-x``, made of roots: an exponential may be too small for a number, its product not."""
    root = np.exp(np.abs(x) * -0.5)
    factor = np.where(x > 0, root, 1)
    slopes: Array = grad * factor * factor / (1 + root * root)
    return slopes
