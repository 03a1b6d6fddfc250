"""aclnnKlDiv: the Kullback-Leibler divergence of ``target`` from ``self``."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import (
    ALL,
    Array,
    Bool,
    Example,
    FloatIn,
    FloatOut,
    Plan,
    Product,
    broadcast_shape,
    castable,
    mapped,
    numbers,
    operator,
    promote,
    shape_is,
    total,
)
from aclnnop.loss.divergence import DivergenceMode, DivergenceReduction


@operator(products=ALL - {Product.A310B})
def aclnnKlDiv(self: FloatIn, target: FloatIn, reduction: DivergenceMode, logTarget: Bool, out: FloatOut) -> Plan:
    """Weigh the distance of the logarithms by the target's probabilities; sum, or average over all or over the batch."""
    dtype = promote(self, target)
    shape = broadcast_shape(self, target)
    castable(dtype, out)
    reduced = reduction in (DivergenceReduction.MEAN, DivergenceReduction.SUM, DivergenceReduction.BATCHMEAN)
    shape_is(out, () if reduced else shape, "when the divergence is reduced" if reduced else "that of self and target together")
    counts: dict[int, int] = {DivergenceReduction.MEAN: int(np.prod(shape)), DivergenceReduction.BATCHMEAN: shape[0] if shape else 1}
    return mapped(
        divergence,
        reads=(self, target),
        writes=(out,),
        dtype=dtype,
        log_target=logTarget,
        axes=tuple(range(len(shape))) if reduced else None,
        count=counts.get(reduction, 1),
        shape=shape,
    )


def divergence(x: Array, target: Array, *, log_target: bool, axes: tuple[int, ...] | None, count: int, shape: tuple[int, ...]) -> Array:
    """What is not positive is no probability, and counts for nothing."""
    if log_target:
        values = np.exp(target) * (target - x)
    else:
        values = np.where(target <= 0, 0, target * (np.log(np.where(target <= 0, 1, target)) - x))
    return values if axes is None else total(np.broadcast_to(values, shape), axes) / count


@aclnnKlDiv.example
def examples() -> Iterator[Example]:
    """Every reduction, plain targets and logarithms, mixed types."""
    for first, second, out, mode, log_target in (
        (FLOAT, FLOAT, FLOAT, 0, False),
        (FLOAT16, FLOAT, FLOAT, 1, True),
        (BF16, BF16, BF16, 2, False),
        (FLOAT, FLOAT, FLOAT16, 3, False),
    ):
        yield {
            "self": numbers((3, 4, 5), first, 1),
            "target": np.abs(numbers((4, 5), second, 2)),
            "reduction": mode,
            "logTarget": log_target,
            "out": numbers((3, 4, 5) if mode == 0 else (), out, 3),
        }
