"""Valid calls of the element-wise losses, of the divergence's gradients and of the log-odds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import ml_dtypes
import numpy as np

from tests.operators.case import Case, numbers
from tests.operators.losses import LOSSES, examples


def divergences(operator: str, out: str) -> list[Case]:
    return [
        Case(
            operator,
            {
                "gradOutput": numbers((4, 1), grad, 1),
                "self": numbers((3, 4, 5), dtype, 2),
                "target": np.abs(numbers((3, 4, 5), dtype, 3)),
                "reduction": reduction,
                "logTarget": log_target,
                out: numbers((3, 4, 5), dtype, 4),
            },
        )
        for grad, dtype, reduction, log_target in ((np.float32, np.float32, 0, False), (ml_dtypes.bfloat16, np.float16, 3, True))
    ]


def log_odds(operator: str, *inputs: str) -> list[Case]:
    return [
        Case(
            operator,
            {**{name: np.linspace(0, 1, 35).astype(dtype).reshape(5, 7) for name in inputs}, "eps": eps, "out": numbers((5, 7), dtype)},
        )
        for dtype, eps in ((np.float32, -1.0), (ml_dtypes.bfloat16, 0.1))
    ]


EXAMPLES: dict[str, Callable[[], list[Case]]] = {
    **{loss.operator: partial(examples, loss) for loss in LOSSES},
    "aclnnKlDivBackward": partial(divergences, "aclnnKlDivBackward", "out"),
    "aclnnKlDivTargetBackward": partial(divergences, "aclnnKlDivTargetBackward", "gradTarget"),
    "aclnnLogit": partial(log_odds, "aclnnLogit", "input"),
    "aclnnLogitGrad": partial(log_odds, "aclnnLogitGrad", "x", "dy"),
}
