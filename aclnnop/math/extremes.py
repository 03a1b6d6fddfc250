"""The family of largest and smallest elements: what of, along which dimensions, and where they are."""

from collections.abc import Callable
from typing import Any

from acl_emu.core.dtypes import (
    BF16,
    BOOL,
    COMPLEX64,
    COMPLEX128,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DType,
)
from acl_emu.core.formats import ANY_FORMAT
from acl_emu.runtime.tensor import IntArray
from acl_emu.spec import (
    Array,
    HandleKind,
    In,
    IntKind,
    Operand,
    Operator,
    Out,
    Plan,
    Product,
    castable,
    length_is,
    nothing,
    same_dtype,
    wrap_dim,
)
from acl_emu.spec.families import calling_module, derived
from acl_emu.spec.kinds import BoolKind, Kind
from aclnnop.math.reduction import NOT_310B, ORDERED, ORDERED_OR_BOOL, largest, reduced, reduced_axes, reduction_examples, smallest

Kernel = Callable[..., Any]

INDICES = (INT64, INT32, BOOL, FLOAT, FLOAT16, INT8, INT16, UINT16, UINT8, UINT32, UINT64, DOUBLE, COMPLEX64, COMPLEX128, BF16)
"""What ``indices`` of the forms with values may be stored in, as documented."""
_WITH_PLACE = (FLOAT, FLOAT16, BF16, INT64, BOOL)
_WITH_INT32: dict[Product, tuple[DType, ...]] = {Product.A950: (*_WITH_PLACE, INT32)}


def along_dimensions(name: str, kernel: Kernel, doc: str) -> Operator:
    """``aclnnAmax(self, dim, keepDim, out)`` and its like."""
    kinds: dict[str, Kind] = {
        "self": In(*ORDERED_OR_BOOL, formats=ANY_FORMAT),
        "dim": HandleKind(IntArray),
        "keepDim": BoolKind(),
        "out": Out(*ORDERED_OR_BOOL, formats=ANY_FORMAT),
    }

    def plan(self: Operand, dim: IntArray, keep: bool, out: Operand) -> Plan:
        same_dtype(self, out)
        return reduced(kernel, self, reduced_axes(dim, self, "dim"), keep, out, dtype=self.dtype)

    return _declared(name, kinds, plan, doc, calling_module())


def of_all(name: str, kernel: Kernel, doc: str) -> Operator:
    """``aclnnMax(self, out)`` and its like; of nothing there is none, and ``out`` is left alone."""
    kinds: dict[str, Kind] = {"self": In(*ORDERED_OR_BOOL), "out": Out(*ORDERED_OR_BOOL, rank=(0, 1))}

    def plan(self: Operand, out: Operand) -> Plan:
        castable(self.dtype, out)
        length_is(out, 1, "a single number")
        return nothing() if 0 in self.shape else reduced(kernel, self, tuple(range(self.rank)), False, out, dtype=self.dtype)

    return _declared(name, kinds, plan, doc, calling_module())


def place(name: str, kernel: Kernel, doc: str) -> Operator:
    """``aclnnArgMax(self, dim, keepdim, out)`` and its like: the first where several are equal, NaN before all others."""
    kinds: dict[str, Kind] = {"self": In(*ORDERED), "dim": IntKind(), "keepdim": BoolKind(), "out": Out(INT64, INT32)}

    def first(values: Array, *, axes: tuple[int, ...]) -> Any:
        return kernel(values, axis=axes[0])

    def plan(self: Operand, dim: int, keep: bool, out: Operand) -> Plan:
        axis = wrap_dim(dim, self)
        return nothing() if 0 in self.shape else reduced(first, self, (axis,), keep, out, dtype=self.dtype, raw=(out,))

    return _declared(name, kinds, plan, doc, calling_module())


def with_place(name: str, extreme: Kernel, arg_extreme: Kernel, doc: str) -> Operator:
    """``aclnnMaxDim(self, dim, keepdim, out, indices)`` and its like."""
    kinds: dict[str, Kind] = {
        "self": In(*_WITH_PLACE, on=_WITH_INT32),
        "dim": IntKind(),
        "keepdim": BoolKind(),
        "out": Out(*_WITH_PLACE, on=_WITH_INT32),
        "indices": Out(*INDICES),
    }

    def both(values: Array, *, axes: tuple[int, ...]) -> tuple[Array, Array]:
        return extreme(values, axis=axes[0]), arg_extreme(values, axis=axes[0])

    def plan(self: Operand, dim: int, keep: bool, out: Operand, indices: Operand) -> Plan:
        same_dtype(self, out)
        axis = wrap_dim(dim, self)
        return nothing() if 0 in self.shape else reduced(both, self, (axis,), keep, out, indices, dtype=self.dtype, raw=(indices,))

    return _declared(name, kinds, plan, doc, calling_module())


def both_ends(name: str, dim: Kind | None, doc: str, *, products: frozenset[Product] = NOT_310B) -> Operator:
    """``aclnnAminmax(self, dim, keepDim, minOut, maxOut)``; ``dim`` is a list, a number, or not there: then of all elements."""
    attributes: dict[str, Kind] = {} if dim is None else {"dim": dim, "keepDim": BoolKind()}
    out = Out(*ORDERED_OR_BOOL)
    kinds: dict[str, Kind] = {"self": In(*ORDERED_OR_BOOL), **attributes, "minOut": out, "maxOut": out}

    def both(values: Array, *, axes: tuple[int, ...]) -> tuple[Array, Array]:
        return smallest(values, axes=axes), largest(values, axes=axes)

    def plan(self: Operand, *given: Any) -> Plan:
        *chosen, least, most = given
        same_dtype(self, least, most)
        dims, keep = chosen or (None, False)
        axes = (wrap_dim(dims, self),) if isinstance(dims, int) else reduced_axes(dims, self, "dim")
        return reduced(both, self, axes, keep, least, most, dtype=self.dtype)

    return _declared(name, kinds, plan, doc, calling_module(), products)


def _declared(
    name: str, kinds: dict[str, Kind], plan: Callable[..., Plan], doc: str, module: str, products: frozenset[Product] = NOT_310B
) -> Operator:
    made = derived(name, kinds, plan, module=module, doc=doc, products=products)
    made.example(lambda: reduction_examples(made))
    return made
