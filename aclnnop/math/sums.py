"""The plan of sums along dimensions, converted to the type of the result first."""

from collections.abc import Callable

from acl_emu.core.dtypes import BF16, FLOAT16
from acl_emu.spec import Array, Operand, Plan, direct, shape_is
from aclnnop.math.conversion import converted
from aclnnop.math.reduction import reduced, reduced_shape, sum_along


def summed(prepared: Callable[[Array], Array], self: Operand, axes: tuple[int, ...], keep: bool, out: Operand) -> Plan:
    """``prepared`` is what is done to the elements before they are converted."""
    narrower = out.dtype in (FLOAT16, BF16) and self.dtype is not out.dtype
    cut_off = (narrower or self.dtype.kind != out.dtype.kind) and self.dtype.kind in ("float", "complex") and out.dtype.kind != "complex"
    if cut_off and out.size and 0 not in self.shape:
        shape_is(out, reduced_shape(self, axes, keep), f"{self.name} without the reduced dimensions, or with length 1 there")
        along = axes if self.rank else ()

        def sum_converted(values: Array, result: Array) -> None:
            """Of numbers that the other type holds in part only."""
            terms = converted(prepared(values), out.dtype).astype(out.dtype.compute, copy=False)
            result[...] = converted(sum_along(terms, axes=along).reshape(result.shape), out.dtype)

        return direct(sum_converted, reads=(self,), writes=(out,), scratch={})

    def kernel(values: Array, *, axes: tuple[int, ...]) -> Array:
        return sum_along(prepared(values), axes=axes)

    return reduced(kernel, self, axes, keep, out, dtype=out.dtype, of_none=0.0)
