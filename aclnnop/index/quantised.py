"""What operators share that quantise updates before they write them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32, DType
from acl_emu.spec import Array, Operand, length_is, require
from aclnnop.quant.narrowing import narrowed

PAIRS = {BF16: (BF16, BF16), FLOAT16: (FLOAT, INT32)}
"""The types of scales and zero points for those of updates."""


def check_types(updates: Operand, scales: Operand, zeros: Operand | None) -> None:
    """161002 for types that do not go together."""
    for operand, wanted in zip((scales, zeros), PAIRS[updates.dtype], strict=True):
        if operand is not None:
            require(
                operand.dtype is wanted,
                f"{operand.name} has dtype {operand.dtype}, expected {wanted} beside {updates.name} of {updates.dtype}",
            )


def check_scales(updates: Operand, scales: Operand, zeros: Operand | None, axis: int, reduction: int) -> None:
    """161002 for another axis than the last one, another number of scales, or another mode."""
    require(axis in (-1, updates.rank - 1), f"quantAxis is {axis}, expected -1 or {updates.rank - 1}")
    require(reduction == 1, f"reduction is {reduction}, expected 1 (update)")
    for operand in filter(None, (scales, zeros)):
        length_is(operand, updates.shape[-1], f"as many as {updates.name} has along quantAxis")


def quantised(to: DType) -> Callable[..., Array]:
    """What makes updates of a type of them: divided by their scales, shifted, rounded; in float32."""

    def convert(updates: Array, scales: Array, zeros: Array | None = None) -> Array:
        scaled = updates.astype(np.float32) / scales.reshape(-1).astype(np.float32)
        return narrowed(scaled if zeros is None else scaled + zeros.reshape(-1).astype(np.float32), to)

    return convert
