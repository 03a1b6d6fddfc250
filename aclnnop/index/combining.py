"""Operators that combine slices in place, by one index each; they differ in one function: ``combining(...)`` declares one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16, INT8, INT32, INT64, UINT8
from acl_emu.core.soc import Product
from acl_emu.spec import Example, In, InOut, Operand, Operator, Plan, between, numbers, same_dtype, shape_is
from acl_emu.spec.families import calling_module, derived
from acl_emu.spec.kinds import BoolKind
from acl_emu.spec.tiling import in_tiling
from aclnnop.index.gathering import PLACES
from aclnnop.index.scattering import Combine, changed, slices

TYPES = (FLOAT16, FLOAT, INT32, INT8, UINT8)


def combining(name: str, combine: Combine, doc: str, *, tiled: bool = True) -> Operator:
    """``aclnnXxx(varRef, indices, updates, useLocking)``; ``tiled``: shapes that do not fit are 561002."""

    def plan(varRef: Operand, indices: Operand, updates: Operand, useLocking: bool) -> Plan:
        same_dtype(varRef, updates)
        with in_tiling() if tiled else nullcontext():
            shape_is(updates, (*indices.shape, *varRef.shape[1:]), f"a slice of {varRef.name} for each of {indices.name}")
        return changed(slices, varRef, (indices, updates), varRef, indices=indices.name, name=indices.name, combine=combine)

    kinds = {
        "varRef": InOut(*TYPES, const=False, rank=(1, 8)),
        "indices": In(*PLACES, rank=(1, 8)),
        "updates": In(*TYPES, rank=(1, 8)),
        "useLocking": BoolKind(),
    }
    made = derived(name, kinds, plan, module=calling_module(), doc=doc, products=frozenset({Product.A950}))
    made.example(examples)
    return made


def examples() -> Iterator[Example]:
    """The same index more than once; no update is 0."""
    for dtype, places, shape in (
        (FLOAT, INT32, (5,)),
        (FLOAT16, INT64, (2, 3)),
        (INT32, INT32, (2,)),
        (INT8, INT64, (4,)),
        (UINT8, INT32, (1,)),
    ):
        updates = between(1, 5, (*shape, 4), dtype, 3)
        yield {
            "varRef": between(0, 99, (3, 4), dtype, 1) if dtype.kind == "integer" else numbers((3, 4), dtype, 1, 9),
            "indices": between(0, 3, shape, places, 2),
            "updates": np.where(updates == 0, 1, updates).astype(dtype.numpy),
            "useLocking": False,
        }
