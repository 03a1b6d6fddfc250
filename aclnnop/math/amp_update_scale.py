"""aclnnAmpUpdateScale: the scale of a loss in mixed precision, after a step."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32
from acl_emu.spec import Array, Double, Example, In, Int, Operand, Out, Plan, Product, direct, length_is, operator, require, same_dtype
from acl_emu.spec.tiling import in_tiling

FLOATS = (FLOAT, FLOAT16, BF16)


@operator(products=frozenset({Product.A950, Product.A3, Product.A2}))
def aclnnAmpUpdateScale(
    currentScale: Annotated[Operand, In(*FLOATS)],
    growthTracker: Annotated[Operand, In(INT32)],
    foundInf: Annotated[Operand, In(*FLOATS)],
    growthFactor: Double,
    backoffFactor: Double,
    growthInterval: Int,
    updatedScale: Annotated[Operand, Out(*FLOATS, const=True)],
    updatedGrowthTracker: Annotated[Operand, Out(INT32, const=True)],
) -> Plan:
    """Make the scale smaller where something was infinite, and larger after ``growthInterval`` steps where nothing was."""
    same_dtype(currentScale, foundInf, updatedScale)
    with in_tiling():
        for operand in (currentScale, growthTracker, foundInf, updatedScale, updatedGrowthTracker):
            length_is(operand, 1, "a single number")
        require(0 < growthInterval < 2**31, f"growthInterval is {growthInterval}, expected a value from 1 to {2**31 - 1}")
    reads = (currentScale, growthTracker, foundInf)
    factors = {"growth": growthFactor, "backoff": backoffFactor, "interval": growthInterval}
    plan = direct(update, reads=reads, writes=(updatedScale, updatedGrowthTracker), scratch={}, **factors)
    plan.in_blocks = False  # all is read before anything is written, and clients update their scale in place
    return plan


@aclnnAmpUpdateScale.example
def examples() -> Iterator[Example]:
    """Growth, and a step back."""
    for dtype, tracker, found in ((FLOAT, 4, 0), (BF16, 2, 1), (FLOAT16, 2, 0)):
        yield {
            "currentScale": np.array([1024]).astype(dtype.numpy),
            "growthTracker": np.array([tracker], np.int32),
            "foundInf": np.array([found]).astype(dtype.numpy),
            "growthFactor": 2.0,
            "backoffFactor": 0.5,
            "growthInterval": 5,
            "updatedScale": np.zeros(1, dtype.numpy),
            "updatedGrowthTracker": np.zeros(1, np.int32),
        }


def update(
    scale: Array, tracker: Array, found: Array, changed: Array, counted: Array, *, growth: float, backoff: float, interval: int
) -> None:
    """A scale that would become infinite stays as it is."""
    dtype = dtypes.from_numpy(scale.dtype)
    steps = int(tracker.reshape(())) + 1
    back = bool(found.reshape(()) != 0)
    grown = not back and steps == interval
    factor = np.float32(backoff if back else growth if grown else 1)
    wanted = dtypes.round_to(np.asarray(scale, np.float32).reshape(()) * factor, dtype)
    changed[...] = scale.reshape(()) if grown and not np.isfinite(wanted) else wanted
    counted[...] = 0 if back or grown else np.int64(steps).astype(np.int32)
