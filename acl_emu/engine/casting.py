"""Casts on all threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from acl_emu.engine import apply

Array = npt.NDArray[Any]


def cast(source: Array, target: Array) -> None:
    """``target = source``, rounded once where its type is narrower."""
    apply(same, (source,), (target,), dtype=np.float64 if source.dtype == np.float64 else np.float32)


def same(values: Array) -> Array:
    """As it is: only what is stored is rounded."""
    return values
