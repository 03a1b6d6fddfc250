"""Fake quantisation: numbers that are rounded as a quantised type would be, and stay what they are."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BOOL, FLOAT, FLOAT16, INT32
from acl_emu.spec import Array, In, Operand, Out, Plan, castable, mapped, require, same_shape

Numbers = Annotated[Operand, In(FLOAT16, FLOAT)]
Scales = Annotated[Operand, In(FLOAT16, FLOAT, rank=1)]
Points = Annotated[Operand, In(INT32, rank=1)]
Result = Annotated[Operand, Out(FLOAT16, FLOAT)]
Mask = Annotated[Operand, Out(BOOL)]


def require_range(quantMin: int, quantMax: int) -> None:
    """From one to the other."""
    require(quantMin <= quantMax, f"quantMin is {quantMin}, expected a value of at most that of quantMax: {quantMax}")


def rounded(
    self: Operand, scale: Operand, zeroPoint: Operand, low: int, high: int, out: Operand, mask: Operand, *, shape: tuple[int, ...]
) -> Plan:
    """Round and clamp; ``shape`` is that in which scales broadcast."""
    castable(self.dtype, out)
    same_shape(self, out, mask)
    limits = {"low": low, "high": high}
    return mapped(affine, reads=(self, scale, zeroPoint), writes=(out, mask), raw=(zeroPoint,), dtype=self.dtype, shape=shape, **limits)


def affine(x: Array, scale: Array, point: Array, *, shape: tuple[int, ...], low: int, high: int) -> tuple[Array, Array]:
    """What lies outside the limits is marked by a 0."""
    factor, zero = scale.reshape(shape), point.reshape(shape).astype(np.float32)
    least, most = np.float32(low), np.float32(high)
    whole = np.rint(x / factor) + zero
    return (np.minimum(most, np.maximum(least, whole)) - zero) * factor, (whole >= least) & (whole <= most)
