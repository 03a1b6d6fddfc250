"""aclnnApplyAdamW: a step of AdamW whose settings are tensors."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT
from acl_emu.spec import Array, Bool, Example, In, Operand, Plan, Product, between, numbers, operator, same_dtype, same_shape
from aclnnop.optim.adam import FLOATS, Gradient, Ref, averaged, decayed, number, required, updated

Setting = Annotated[Operand, In(*FLOATS)]


@operator(products=frozenset({Product.A950}))
def aclnnApplyAdamW(
    varRef: Ref,
    mRef: Ref,
    vRef: Ref,
    beta1Power: Setting,
    beta2Power: Setting,
    lr: Setting,
    weightDecay: Setting,
    beta1: Setting,
    beta2: Setting,
    eps: Setting,
    grad: Gradient,
    maxGradNormOptional: Annotated[Operand | None, In(*FLOATS, rank=(1, 8), optional=True)],
    amsgrad: Bool,
    maximize: Bool,
) -> Plan:
    """Take a step of AdamW; ``beta1Power`` and ``beta2Power`` are the betas to the number of steps before."""
    settings = (beta1Power, beta2Power, lr, weightDecay, beta1, beta2, eps)
    largest = required(maxGradNormOptional, "maxGradNormOptional", "amsgrad is true") if amsgrad else None
    same_dtype(varRef, mRef, vRef, *settings, grad, largest)
    same_shape(varRef, mRef, vRef, grad, *([largest] if largest else []))
    return updated(adamw, [varRef, mRef, vRef, grad, largest, *map(number, settings)], [varRef, mRef, vRef], maximize=maximize)


@aclnnApplyAdamW.example
def examples() -> Iterator[Example]:
    """With and without the largest averages."""
    values = {"beta1Power": 0.81, "beta2Power": 0.96, "lr": 0.01, "weightDecay": 0.1, "beta1": 0.9, "beta2": 0.98, "eps": 1e-3}
    for dtype, amsgrad in ((FLOAT, True), (BF16, False)):
        yield {
            "varRef": numbers((3, 5), dtype, 1),
            "mRef": numbers((3, 5), dtype, 2),
            "vRef": between(0, 1, (3, 5), dtype, 3),
            **{name: np.array([value]).astype(dtype.numpy) for name, value in values.items()},
            "grad": numbers((3, 5), dtype, 5),
            "maxGradNormOptional": between(0, 1, (3, 5), dtype, 4) if amsgrad else None,
            "amsgrad": amsgrad,
            "maximize": not amsgrad,
        }


def adamw(var: Array, m: Array, v: Array, grad: Array, largest: Any, *settings: Any, maximize: bool) -> tuple[Any, ...]:
    """The weights and both averages; ``v`` is the largest one where that counts."""
    power1, power2, lr, weightDecay, beta1, beta2, eps = settings
    slope = -grad if maximize else grad
    m, v = averaged(m, slope, beta1), averaged(v, slope * slope, beta2)
    top = v if largest is None else np.maximum(largest, v)
    return decayed(var, m, top, lr=lr, eps=eps, weightDecay=weightDecay, power1=power1 * beta1, power2=power2 * beta2), m, top
