"""What operators that create evenly spaced numbers share."""

from __future__ import annotations

import numpy as np

from acl_emu.core.dtypes import DOUBLE
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Array, Operand, Plan, direct, nothing, require
from aclnnop.math.conversion import converted


def real(scalar: Scalar, name: str) -> float | int:
    """A scalar as a number; whole ones stay whole."""
    require(scalar.dtype.kind != "complex", f"{name} has dtype {scalar.dtype}, expected a real number")
    return int(scalar.value) if scalar.dtype.kind in ("integer", "bool") else float(scalar.value)


def filled(values: Array, out: Operand) -> Plan:
    """``out`` holds these numbers, converted to its type."""
    if not out.size:
        return nothing()
    return direct(fill, reads=(), writes=(out,), scratch={}, values=converted(np.asarray(values), out.dtype).reshape(out.shape))


def spaced(start: float, end: float, steps: int) -> Array:
    """``steps`` numbers from ``start`` to ``end``, both exactly."""
    found: Array = np.linspace(start, end, steps, dtype=DOUBLE.numpy)
    return found


def fill(out: Array, *, values: Array) -> None:
    """In place."""
    out[...] = values
