"""aclnnApplyTopKTopP: logits with all but the likeliest set to negative infinity."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, FLOAT, INT32
from acl_emu.core.errors import AclnnNullptr
from acl_emu.spec import (
    Array,
    Example,
    In,
    Operand,
    Out,
    Plan,
    between,
    direct,
    nothing,
    numbers,
    operator,
    same_dtype,
    same_shape,
    shape_is,
)
from aclnnop.math.ordering import order
from aclnnop.math.reduction import FLOATS, NEWER


@operator(products=NEWER)
def aclnnApplyTopKTopP(
    logits: Annotated[Operand, In(*FLOATS, rank=2)],
    p: Annotated[Operand | None, In(*FLOATS, rank=1, optional=True)],
    k: Annotated[Operand | None, In(INT32, rank=1, optional=True)],
    out: Annotated[Operand, Out(*FLOATS, rank=2)],
) -> Plan:
    """Keep the ``k`` largest logits of every row, and of these the likeliest that have the probability ``p``."""
    if p is None and k is None:
        raise AclnnNullptr("p and k must not both be null pointers (expected const aclTensor*)")
    same_dtype(logits, p, out)
    for limit in filter(None, (p, k)):
        shape_is(limit, logits.shape[:1], "a number for each row of logits")
    same_shape(logits, out)
    return direct(keep_likeliest, reads=(logits, p, k), writes=(out,), scratch={}) if out.size else nothing()


@aclnnApplyTopKTopP.example
def examples() -> Iterator[Example]:
    """Both limits, and each alone."""
    for dtype, with_p, with_k in ((FLOAT, True, True), (BF16, True, False), (FLOAT, False, True)):
        yield {
            "logits": numbers((4, 9), dtype, 1, 2),
            "p": between(0.2, 0.9, (4,), dtype, 2) if with_p else None,
            "k": np.array([3, 1, 0, 9], np.int32) if with_k else None,
            "out": numbers((4, 9), dtype, 3),
        }


def keep_likeliest(logits: Array, p: Array | None, k: Array | None, out: Array) -> None:
    """In ascending order: what is smaller than the k-th largest goes, then what has a probability of at most ``1 - p`` in all."""
    places = order(logits, 1, descending=False)
    ranked = np.take_along_axis(logits, places, 1).astype(np.float64)
    count = ranked.shape[1]
    kept = np.ones(ranked.shape, np.bool_)
    if k is not None:
        limits = k.astype(np.int64)[:, None]
        filtered = (limits > 0) & (limits < count)
        kept = ~filtered | (ranked >= np.take_along_axis(ranked, np.where(filtered, count - limits, 0), 1))
    if p is not None:
        powers = np.where(kept, np.exp(ranked - ranked[:, -1:]), 0)
        below = np.cumsum(powers, axis=1) / powers.sum(axis=1, keepdims=True)
        kept &= (below > 1 - p.astype(np.float64)[:, None]) | (np.arange(count) == count - 1)
    result = np.empty_like(ranked)
    np.put_along_axis(result, places, np.where(kept, ranked, -np.inf), 1)
    out[...] = dtypes.round_to(result, dtypes.from_numpy(out.dtype))
