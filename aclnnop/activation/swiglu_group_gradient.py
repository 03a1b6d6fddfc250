"""What the gradients of grouped gated linear units share."""

from collections.abc import Iterator

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.spec import Array, Example, Operand, Plan, direct, nothing, numbers
from aclnnop.activation.swiglu_rows import as_rows, clipped_gradients, joined, put, row_count, rows_taken, split


def gradient_plan(
    grad: Operand,
    x: Operand,
    weight: Operand | None,
    origin: Operand | None,
    groups: Operand | None,
    limit: float,
    out: Operand,
    grad_weight: Operand | None,
    *,
    masked_weight: bool,
) -> Plan:
    """The plan of both gradients; ``masked_weight``: whether rows behind the groups count for nothing in that of the weights too."""
    if not out.size:
        return nothing()
    rows = row_count(x, x.rank - 1)

    def kernel(
        grad: Array,
        x: Array,
        weight: Array | None,
        origin: Array | None,
        counts: Array | None,
        out: Array,
        grad_weight: Array | None,
    ) -> None:
        given = (np.arange(rows) < rows_taken(counts, rows)).reshape(-1, 1)
        slopes = as_rows(grad, rows)
        weighted = slopes if weight is None else slopes * as_rows(weight, rows)
        pair = clipped_gradients(weighted, *split(as_rows(x, rows)), limit=limit, at_limit=False)
        if grad_weight is not None and origin is not None:
            products = slopes * as_rows(origin, rows)
            put(grad_weight, np.where(given | (not masked_weight), products, 0).sum(axis=1, keepdims=True))
        put(out, np.where(given, joined(*pair), 0))

    return direct(kernel, reads=(grad, x, weight, origin, groups), writes=(out, grad_weight), scratch={})


def gradient_examples(weight_shape: tuple[int, ...], unclamped: float) -> Iterator[Example]:
    """Without anything optional, and with all of it."""
    for dtype, full in ((FLOAT, True), (BF16, False), (FLOAT16, True)):
        yield {
            "gradY": numbers((2, 3, 4), dtype, 1),
            "x": numbers((2, 3, 8), dtype, 2, 3),
            "weightOptional": numbers(weight_shape, FLOAT, 3) if full else None,
            "yOriginOptional": numbers((2, 3, 4), dtype, 4) if full else None,
            "groupIndexOptional": np.array([3, 1]) if full else None,
            "clampLimit": 1.5 if full else unclamped,
            "gradXOut": numbers((2, 3, 8), dtype, 5),
            "gradWeightOutOptional": numbers(weight_shape, FLOAT, 6) if full else None,
        }
