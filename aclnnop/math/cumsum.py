"""aclnnCumsum and aclnnCumsumV2: sums of all elements up to each."""

from typing import Annotated

import numpy as np

from acl_emu.spec import Array, Bool, DataType, In, Int, Operand, Out, Plan, castable, operator, same_dtype
from aclnnop.math.reduction import NUMBERS, dtype_of_out, without_bf16
from aclnnop.math.scan import running_sum, scan_examples, scanned

NumberIn = Annotated[Operand, In(*NUMBERS, on=without_bf16(*NUMBERS))]
NumberOut = Annotated[Operand, Out(*NUMBERS, on=without_bf16(*NUMBERS))]


@operator()
def aclnnCumsum(self: NumberIn, dim: Int, dtype: DataType, out: NumberOut) -> Plan:
    """Add up all elements up to each along ``dim``, converted to ``dtype`` first."""
    castable(self.dtype, out)
    return scanned(running_sum, self, dim, out, dtype=dtype_of_out(dtype, NUMBERS, out))


aclnnCumsum.example(lambda: scan_examples(aclnnCumsum))


@operator()
def aclnnCumsumV2(self: NumberIn, dim: Int, exclusive: Bool, reverse: Bool, out: NumberOut) -> Plan:
    """Add up all elements up to each along ``dim``: without itself if ``exclusive``, from the end if ``reverse``."""
    same_dtype(self, out)

    def directed(values: Array, *, axis: int) -> Array:
        ordered = np.flip(values, axis) if reverse else values
        sums = running_sum(ordered, axis=axis)
        if exclusive:
            sums = np.roll(sums, 1, axis)
            np.moveaxis(sums, axis, 0)[0] = 0
        return np.flip(sums, axis) if reverse else sums

    return scanned(directed, self, dim, out, dtype=self.dtype)


aclnnCumsumV2.example(lambda: scan_examples(aclnnCumsumV2, exclusive=(False, True), reverse=(False, True, True)))
