"""Whether two sides computed the same: who returns something else is not timed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

TOLERANCE = {np.dtype(np.float32): 1e-3, np.dtype(np.float16): 1e-2, np.dtype(ml_dtypes.bfloat16): 6e-2}
"""Of an element and of the typical one: rivals round in between, and sum in an order of their own."""
RARE, FAR = 1e-4, 10
"""So few elements may miss it, by so many times at most: those where rounded terms cancel."""


class Disagreement(Exception):
    """Two sides computed different things."""


def agree(ours: Mapping[str, Array], theirs: Mapping[str, Array], coarsest: np.dtype[Any] | None = None) -> None:
    """Raise where an output differs by more than its dtype, or the ``coarsest`` one of the call, explains."""
    if ours.keys() != theirs.keys():
        raise Disagreement(f"outputs {sorted(ours)} against {sorted(theirs)}")
    for name, mine in ours.items():
        other = theirs[name]
        if mine.shape != other.shape or mine.dtype != other.dtype:
            raise Disagreement(f"{name}: {mine.dtype}{mine.shape} against {other.dtype}{other.shape}")
        if mine.dtype not in TOLERANCE:
            wrong = mine != other
        else:
            tolerance = max(TOLERANCE[mine.dtype], TOLERANCE.get(coarsest, 0.0) if coarsest is not None else 0.0)
            arrays = mine.astype(np.float32), other.astype(np.float32)
            wrong = _differ(*arrays, tolerance)
            if np.mean(wrong) <= RARE:
                wrong = _differ(*arrays, tolerance * FAR)
        if np.any(wrong):
            place = np.unravel_index(int(np.argmax(wrong)), mine.shape)
            raise Disagreement(
                f"{name}{[int(i) for i in place]} is {mine[place]} against {other[place]}, {int(np.sum(wrong))} such elements"
            )


def _differ(mine: Array, other: Array, tolerance: float) -> Array:
    finite = np.isfinite(other)
    typical = float(np.sqrt(np.mean(np.square(other[finite], dtype=np.float64)))) if finite.any() else 0.0
    with np.errstate(invalid="ignore"):
        near = np.abs(mine - other) <= tolerance * (np.abs(other) + np.float32(typical))
    same = (mine == other) | (np.isnan(mine) & np.isnan(other))
    return ~((near & finite) | same)
