"""What variances and standard deviations share: their parameters and their plan."""

from collections.abc import Callable
from typing import Annotated, Any

from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import Array, HandleKind, In, Operand, Out, Plan
from aclnnop.math.reduction import FLOATS, average, reduced, reduced_axes

FloatIn = Annotated[Operand, In(*FLOATS)]
FloatOut = Annotated[Operand, Out(*FLOATS)]
DimIn = Annotated[IntArray | None, HandleKind(IntArray, optional=True)]


def spread(
    kernel: Callable[..., Array],
    self: Operand,
    dim: IntArray | None,
    correction: int,
    keep: bool,
    out: Operand,
    mean: Operand | None = None,
) -> Plan:
    """``out = kernel(self)``, and the mean where it is wanted; all dimensions where ``dim`` is null or empty. Of nothing both are NaN."""

    def with_mean(values: Array, *, axes: tuple[int, ...]) -> Any:
        return kernel(values, axes=axes, correction=correction), average(values, axes=axes)

    axes, nan = reduced_axes(dim, self, "dim"), float("nan")
    if mean is None:
        return reduced(kernel, self, axes, keep, out, dtype=self.dtype, of_none=nan, correction=correction)
    return reduced(with_mean, self, axes, keep, out, mean, dtype=self.dtype, of_none=nan)
