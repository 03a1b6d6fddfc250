"""Statistics of one batch that lies on several devices, from those of the parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from acl_emu.core.dtypes import FLOAT
from acl_emu.spec import Array, Operand, Plan, mapped
from aclnnop.norm.channels import moved
from aclnnop.norm.rows import selected


def gathered(
    combine: Any,
    parts: tuple[Operand, Operand],
    counts: Operand,
    running: tuple[Operand | None, Operand | None],
    outputs: tuple[Operand, Operand],
    *,
    momentum: float,
    eps: float,
) -> Plan:
    """``combine`` takes mean and variance of all from the parts, one row for each device; the rest is the same."""
    column = counts.in_view((counts.size, 1), (counts.view.strides[0], 0))
    # Objects of their own: what is written as it is computed is still read in FLOAT.
    updated = [operand.in_view(operand.shape, operand.view.strides) for operand in running if operand is not None]
    writes = (*outputs, *updated)
    return mapped(
        statistics_of_all,
        reads=(*parts, column, *running),
        writes=writes,
        dtype=FLOAT,
        raw=writes,
        combine=combine,
        momentum=momentum,
        eps=eps,
        wanted=(True, True, *(operand is not None for operand in running)),
    )


def statistics_of_all(
    first: Array,
    second: Array,
    counts: Array,
    running_mean: Array | None,
    running_var: Array | None,
    *,
    combine: Any,
    momentum: float,
    eps: float,
    wanted: tuple[bool, ...],
) -> tuple[Array, ...]:
    """The running variance moves to that of the population that the batch is a sample of."""
    weights = counts.astype(np.float64)
    number = weights.sum(axis=0)
    mean, var = combine(first.astype(np.float64), second.astype(np.float64), weights, number, eps)
    population = var * (number / np.maximum(number - 1, 1))
    results = (
        mean,
        1 / np.sqrt(var + eps),
        running_mean if running_mean is None else moved(running_mean, mean, momentum),
        running_var if running_var is None else moved(running_var, population, momentum),
    )
    return selected(results, wanted)
