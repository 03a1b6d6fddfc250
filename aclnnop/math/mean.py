"""aclnnMean and aclnnMeanV2: means along some dimensions."""

from typing import Annotated

from acl_emu.core.dtypes import DType
from acl_emu.spec import Bool, DataType, In, IntArrayIn, Operand, Out, Plan, castable, operator, require
from aclnnop.math.reduction import (
    NOT_310B,
    NUMBERS,
    average,
    convertible,
    declared_dtype,
    reduced,
    reduced_axes,
    reduction_examples,
    rounded_average,
    unreduced,
)

NumberIn = Annotated[Operand, In(*NUMBERS)]
NumberOut = Annotated[Operand, Out(*NUMBERS)]


@operator(products=NOT_310B)
def aclnnMean(self: NumberIn, dim: IntArrayIn, keepDim: Bool, dtype: DataType, out: NumberOut) -> Plan:
    """Take the mean of every slice along ``dim``, converted to ``dtype`` first."""
    computed = declared_dtype(dtype, NUMBERS)
    convertible(self, computed)
    castable(computed, out)
    return averaged(self, reduced_axes(dim, self, "dim"), keepDim, computed, out)


aclnnMean.example(lambda: reduction_examples(aclnnMean))


@operator(products=NOT_310B)
def aclnnMeanV2(self: NumberIn, dim: IntArrayIn, keepDim: Bool, noopWithEmptyAxes: Bool, out: NumberOut) -> Plan:
    """Take the mean of every slice along ``dim``; without any dimension of all elements, or none at all with ``noopWithEmptyAxes``."""
    castable(self.dtype, out)
    axes = reduced_axes(dim, self, "dim")
    if noopWithEmptyAxes and not dim.values:
        return unreduced(self, out)
    return averaged(self, axes, keepDim, self.dtype, out)


aclnnMeanV2.example(lambda: reduction_examples(aclnnMeanV2, noopWithEmptyAxes=(False,)))


def averaged(self: Operand, axes: tuple[int, ...], keep: bool, dtype: DType, out: Operand) -> Plan:
    """Rounded to ``dtype``, then to the type of ``out``; the mean of nothing is NaN."""
    require(0 not in self.shape or out.dtype.kind != "complex", f"out has dtype {out.dtype}, expected no complex type where self is empty")
    kernel = average if dtype is out.dtype else rounded_average
    return reduced(kernel, self, axes, keep, out, dtype=dtype, of_none=float("nan"))
