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
            missed = np.flatnonzero(mine != other)
        else:
            tolerance = max(TOLERANCE[mine.dtype], TOLERANCE.get(coarsest, 0.0) if coarsest is not None else 0.0)
            missed = _missing(mine.reshape(-1), other.reshape(-1), tolerance)
        if missed.size:
            place = tuple(int(i) for i in np.unravel_index(missed[0], mine.shape))
            raise Disagreement(f"{name}{list(place)} is {mine[place]} against {other[place]}, {missed.size} such elements")


_BLOCK = 1 << 16
"""Elements that are looked at together: they stay in cache."""


def _missing(mine: Array, other: Array, tolerance: float) -> Array:
    """Places of elements that are not as near as wanted, but for a few that are not far off."""
    blocks = [slice(first, first + _BLOCK) for first in range(0, mine.size, _BLOCK)]
    finite = (values[np.isfinite(values)] for values in (other[block].astype(np.float64) for block in blocks))
    typical = (sum(float(np.square(values).sum()) for values in finite) / max(mine.size, 1)) ** 0.5
    found = [block.start + np.flatnonzero(_apart(mine[block], other[block], tolerance, typical)) for block in blocks]
    missed = np.concatenate(found) if found else np.empty(0, np.int64)
    if missed.size > RARE * mine.size:
        return missed
    return missed[_apart(mine[missed], other[missed], tolerance * FAR, typical)]


def _apart(mine: Array, other: Array, tolerance: float, typical: float) -> Array:
    """Which elements differ by more than so much of themselves and of the typical one; no number equals no number."""
    left, right = mine.astype(np.float32), other.astype(np.float32)
    with np.errstate(invalid="ignore"):
        near = np.abs(left - right) <= tolerance * (np.abs(right) + np.float32(typical))
    return ~((near & np.isfinite(right)) | (left == right) | (np.isnan(left) & np.isnan(right)))
