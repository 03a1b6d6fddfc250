"""The family of aclnnTril and aclnnTriu: zeros on one side of a diagonal."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, COMPLEX32, COMPLEX64, FLOAT, INT32
from acl_emu.spec import Array, Example, In, IntKind, Operand, Operator, Out, Plan, Product, numbers, require, same_dtype, same_shape
from acl_emu.spec.families import calling_module, derived
from aclnnop.conversion.moves import WIDE, rearranged

TYPES = tuple(dtype for dtype in WIDE if dtype.kind != "complex")
NEWEST = {Product.A950: (*TYPES, COMPLEX32, COMPLEX64)}


def triangle(name: str, doc: str, keep: Callable[..., Array], products: frozenset[Product]) -> Operator:
    """``name(self, diagonal, out)``: ``keep(rows, columns, diagonal)`` says which elements are not set to zero."""

    def plan(self: Operand, diagonal: int, out: Operand) -> Plan:
        require(self.rank != 1, f"{self.name} has 1 dimension, expected at least 2")
        same_dtype(self, out)
        same_shape(self, out)
        require(self.view.format == out.view.format, "out has another format than self")
        return rearranged(masked, (self,), out, keep=keep, diagonal=diagonal)

    kinds = {"self": In(*TYPES, on=NEWEST), "diagonal": IntKind(), "out": Out(*TYPES, on=NEWEST)}
    made = derived(name, kinds, plan, module=calling_module(), doc=doc, products=products)

    @made.example
    def examples() -> Iterator[Example]:
        for dtype, diagonal in ((FLOAT, 0), (BF16, 1), (INT32, -2)):
            yield {"self": numbers((2, 4, 5), dtype, 1, 9), "diagonal": diagonal, "out": numbers((2, 4, 5), dtype, 2)}

    return made


def masked(x: Array, *, keep: Callable[..., Array], diagonal: int) -> Array:
    """A tensor without dimensions stays as it is."""
    if x.ndim < 2:
        return x
    far = sum(x.shape[-2:])
    kept = keep(np.arange(x.shape[-2])[:, None], np.arange(x.shape[-1]), min(max(diagonal, -far), far))
    found = np.array(x)
    found[..., ~kept] = np.zeros((), x.dtype)
    return found
