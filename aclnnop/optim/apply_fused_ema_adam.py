"""aclnnApplyFusedEmaAdam: a step of Adam or AdamW, and a moving average of the weights."""

import enum
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import FLOAT, FLOAT16
from acl_emu.spec import Array, Bool, Double, Example, IntKind, Plan, between, numbers, operator, same_dtype, same_shape
from aclnnop.optim.adam import NEWER, Gradient, IntegerStep, Ref, averaged, number, updated


class Mode(enum.IntEnum):
    """Where the decay of the weights goes: into the gradient, or into the step."""

    L2 = 0
    ADAMW = 1


@operator(products=NEWER)
def aclnnApplyFusedEmaAdam(
    grad: Gradient,
    varRef: Ref,
    mRef: Ref,
    vRef: Ref,
    sRef: Ref,
    step: IntegerStep,
    lr: Double,
    emaDecay: Double,
    beta1: Double,
    beta2: Double,
    eps: Double,
    mode: Annotated[int, IntKind(choices=Mode)],
    biasCorrection: Bool,
    weightDecay: Double,
) -> Plan:
    """Take a step of Adam (``mode`` 0) or AdamW (1); ``sRef`` is a moving average of the weights."""
    same_dtype(grad, varRef, mRef, vRef, sRef)
    same_shape(grad, varRef, mRef, vRef, sRef)
    settings = {"lr": lr, "emaDecay": emaDecay, "beta1": beta1, "beta2": beta2, "eps": eps, "weightDecay": weightDecay}
    refs = [varRef, mRef, vRef, sRef]
    return updated(ema_adam, [grad, *refs, number(step)], refs, mode=mode, corrected=biasCorrection, **settings)


@aclnnApplyFusedEmaAdam.example
def examples() -> Iterator[Example]:
    """Both modes."""
    for dtype, mode in ((FLOAT, 1), (FLOAT16, 0)):
        yield {
            "grad": numbers((3, 5), dtype, 5),
            "varRef": numbers((3, 5), dtype, 1),
            "mRef": numbers((3, 5), dtype, 2),
            "vRef": between(0, 1, (3, 5), dtype, 3),
            "sRef": numbers((3, 5), dtype, 4),
            "step": np.array([3]),
            "lr": 0.01,
            "emaDecay": 0.5,
            "beta1": 0.9,
            "beta2": 0.99,
            "eps": 1e-8,
            "mode": mode,
            "biasCorrection": mode == 1,
            "weightDecay": 0.1,
        }


def ema_adam(
    grad: Array,
    var: Array,
    m: Array,
    v: Array,
    s: Array,
    step: Any,
    *,
    lr: float,
    emaDecay: float,
    beta1: float,
    beta2: float,
    eps: float,
    weightDecay: float,
    mode: int,
    corrected: bool,
) -> tuple[Any, ...]:
    """The weights, both averages, and that of the weights."""
    slope = grad if mode == Mode.ADAMW else grad + weightDecay * var
    m, v = averaged(m, slope, beta1), averaged(v, slope * slope, beta2)
    first, second = (1 - np.power(beta1, step), 1 - np.power(beta2, step)) if corrected else (1, 1)
    update = (m / first) / (np.sqrt(v / second) + eps)
    changed = var - lr * (update + weightDecay * var if mode == Mode.ADAMW else update)
    return changed, m, v, averaged(s, changed, emaDecay)
