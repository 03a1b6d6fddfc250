"""The family of reductions that tell something about slices: whether all elements, or any, are true."""

from collections.abc import Callable
from typing import Any

from acl_emu.core.dtypes import BOOL, UINT8
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import Array, HandleKind, In, Operand, Operator, Out, Plan
from acl_emu.spec.families import calling_module, derived
from acl_emu.spec.kinds import BoolKind, Kind
from aclnnop.math.reduction import ORDERED_OR_BOOL, reduced, reduced_axes, reduction_examples, without_bf16


def truth(name: str, function: Callable[..., Any], of_none: float, doc: str) -> Operator:
    """``aclnnXxx(self, dim, keepdim, out)``; NaN is true."""
    kinds: dict[str, Kind] = {
        "self": In(*ORDERED_OR_BOOL, on=without_bf16(*ORDERED_OR_BOOL)),
        "dim": HandleKind(IntArray),
        "keepdim": BoolKind(),
        "out": Out(BOOL, UINT8),
    }

    def kernel(values: Array, *, axes: tuple[int, ...]) -> Any:
        return function(values, axis=axes)

    def plan(self: Operand, dim: IntArray, keep: bool, out: Operand) -> Plan:
        return reduced(kernel, self, reduced_axes(dim, self, "dim"), keep, out, dtype=self.dtype, of_none=of_none, raw=(out,))

    made = derived(name, kinds, plan, module=calling_module(), doc=doc)
    made.example(lambda: reduction_examples(made))
    return made
