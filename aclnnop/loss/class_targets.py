"""Targets that name a class: what they choose, and the reduction of a loss that is taken there."""

import numpy as np

from acl_emu.core.errors import DeviceFault
from acl_emu.engine.indexing import Chosen, choose
from acl_emu.spec import Array, Reduction


def find_classes(
    target: Array, classes: int, ignored: int, source: Array | None = None, axis: int = 0, weight: Array | None = None
) -> Chosen:
    """What the targets choose along an axis of ``source``, and of one weight for each class; one outside the classes is a fault."""
    chosen = choose(target, classes, ignored, source, axis, weight)
    if chosen.outside:
        wrong = (target != ignored) & ((target < 0) | (target >= classes))
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise DeviceFault(f"target{list(place)} is {target[place]}, outside [0, {classes - 1}]")
    return chosen


def target_weights(chosen: Chosen) -> Array:
    """The weight of each target in float64: that of its class, or 1 where none are given, and 0 where it does not count."""
    return (chosen.counted if chosen.weights is None else chosen.weights).astype(np.float64)


def reduced(losses: Array, weights: Array, reduction: Reduction) -> Array:
    """Losses as they are, their sum, or their sum over that of the weights."""
    if reduction == Reduction.NONE:
        return losses
    total = losses.sum()
    return np.asarray(total / weights.sum() if reduction == Reduction.MEAN else total)
