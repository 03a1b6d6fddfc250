"""aclnnApplyAdamWV2: a step of AdamW."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, INT64
from acl_emu.spec import Bool, Example, Float, Operand, Plan, between, numbers, operator, same_shape
from acl_emu.spec.kinds import TensorKind
from aclnnop.optim.adam import FLOATS, NEWER, Gradient, Ref, Step, adamw, number, required, updated

OptionalRef = Annotated[Operand | None, TensorKind(*FLOATS, io="inout", optional=True, const=False, rank=(1, 8))]


@operator(products=NEWER)
def aclnnApplyAdamWV2(
    varRef: Ref,
    mRef: Ref,
    vRef: Ref,
    maxGradNormOptionalRef: OptionalRef,
    grad: Gradient,
    step: Step,
    lr: Float,
    beta1: Float,
    beta2: Float,
    weightDecay: Float,
    eps: Float,
    amsgrad: Bool,
    maximize: Bool,
) -> Plan:
    """Take a step of AdamW; with ``amsgrad`` the largest averages so far count, which ``maxGradNormOptionalRef`` holds."""
    writes = [varRef, mRef, vRef]
    if amsgrad:
        writes.append(required(maxGradNormOptionalRef, "maxGradNormOptionalRef", "amsgrad is true"))
    same_shape(varRef, *writes[1:3], grad, *writes[3:])
    settings = {"lr": lr, "beta1": beta1, "beta2": beta2, "weightDecay": weightDecay, "eps": eps}
    return updated(adamw, [*writes[:3], grad, number(step), *writes[3:]], writes, maximize=maximize, **settings)


@aclnnApplyAdamWV2.example
def examples() -> Iterator[Example]:
    """With and without the largest averages."""
    for dtype, amsgrad, step in ((FLOAT, True, INT64), (BF16, False, FLOAT)):
        yield {
            "varRef": numbers((3, 5), dtype, 1),
            "mRef": numbers((3, 5), dtype, 2),
            "vRef": between(0, 1, (3, 5), dtype, 3),
            "maxGradNormOptionalRef": between(0, 1, (3, 5), dtype, 4) if amsgrad else None,
            "grad": numbers((3, 5), dtype, 5),
            "step": np.array([3], step.numpy),
            "lr": 0.01,
            "beta1": 0.9,
            "beta2": 0.99,
            "weightDecay": 0.1,
            "eps": 1e-8,
            "amsgrad": amsgrad,
            "maximize": not amsgrad,
        }
