"""Targets that name a class: finding them, and the negative log likelihood of what is found there."""

import numpy as np

from acl_emu.errors import DeviceFault
from acl_emu.spec import Array, Reduction


def find_classes(target: Array, classes: int, ignored: int, *, faults: bool = True) -> tuple[Array, Array]:
    """The class of every target (0 where it does not count) and whether it counts; one outside the classes faults, or does not count."""
    target = target.astype(np.int64, order="C")
    inside = (target >= 0) & (target < classes)
    counted = target != ignored
    if faults and (counted & ~inside).any():
        place = tuple(int(i) for i in np.argwhere(counted & ~inside)[0])
        raise DeviceFault(f"target{list(place)} is {target[place]}, outside [0, {classes - 1}]")
    counted &= inside
    return np.where(counted, target, 0), counted


def at_classes(values: Array, index: Array, axis: int) -> Array:
    """What stands at each target's class along an axis, in float64."""
    picked = np.take_along_axis(values, np.expand_dims(index, axis), axis)
    return np.asarray(np.squeeze(picked, axis).astype(np.float64))


def reduced(losses: Array, weights: Array, reduction: Reduction) -> Array:
    """Losses as they are, their sum, or their sum over that of the weights."""
    if reduction == Reduction.NONE:
        return losses
    total = losses.sum()
    return np.asarray(total / weights.sum() if reduction == Reduction.MEAN else total)
