"""aclnnFusedAdamw: a step of AdamW for lists of tensors."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, INT64
from acl_emu.core.errors import AclnnInvalid, AclnnNullptr
from acl_emu.spec import Array, Bool, Double, Example, In, ListOf, Operand, Plan, between, numbers, operator, require, together
from aclnnop.optim.adam import NEWER, adamw, number, updated
from aclnnop.optim.lists import Gradients, OptionalRefs, Refs, matching


@operator(products=NEWER)
def aclnnFusedAdamw(
    paramsRef: Annotated[list[Operand], Refs],
    grads: Annotated[list[Operand], Gradients],
    expAvgsRef: Annotated[list[Operand], Refs],
    expAvgSqsRef: Annotated[list[Operand], Refs],
    maxExpAvgSqsRef: Annotated[list[Operand] | None, OptionalRefs],
    stateSteps: Annotated[list[Operand], ListOf(In(INT64, FLOAT), least=0, null=AclnnInvalid)],
    gradScaleOptional: Annotated[Operand | None, In(FLOAT, optional=True)],
    foundInfOptional: Annotated[Operand | None, In(FLOAT, optional=True)],
    lr: Double,
    beta1: Double,
    beta2: Double,
    weightDecay: Double,
    eps: Double,
    amsgrad: Bool,
    maximize: Bool,
) -> Plan:
    """Take a step of AdamW; gradients are divided by the scale first, and nothing changes where ``foundInfOptional`` is 1."""
    if amsgrad and maxExpAvgSqsRef is None:
        raise AclnnNullptr("maxExpAvgSqsRef must not be a null pointer where amsgrad is true")
    tops = maxExpAvgSqsRef if amsgrad and maxExpAvgSqsRef is not None else []
    others = [("grads", grads), ("expAvgsRef", expAvgsRef), ("expAvgSqsRef", expAvgSqsRef)]
    matching(paramsRef, "paramsRef", *others, *([("maxExpAvgSqsRef", tops)] if amsgrad else []))
    require(len(stateSteps) == len(paramsRef), f"stateSteps has {len(stateSteps)} members, expected {len(paramsRef)} as paramsRef")
    settings = {"lr": lr, "beta1": beta1, "beta2": beta2, "weightDecay": weightDecay, "eps": eps}
    optional = [number(one) if one is not None else None for one in (gradScaleOptional, foundInfOptional)]
    plans = []
    for index, (param, grad, m, v, step) in enumerate(zip(paramsRef, grads, expAvgsRef, expAvgSqsRef, stateSteps, strict=True)):
        require(step.size > 0, f"{step.name} has shape {list(step.shape)}, expected an element")
        top = tops[index] if amsgrad else None
        writes = [param, m, v, *([top] if top else [])]
        reads = [param, m, v, grad, step.in_view(()), top, *optional]
        plans.append(updated(scaled_adamw, reads, writes, maximize=maximize, **settings))
    return together(plans)


@aclnnFusedAdamw.example
def examples() -> Iterator[Example]:
    """With a scale and the largest averages, and with neither."""
    shapes = ((3, 4), (2, 1, 5))
    for dtype, amsgrad in ((FLOAT, True), (BF16, False)):
        first, second, third = ([numbers(shape, dtype, seed) for shape in shapes] for seed in range(3))
        fourth, fifth = ([between(0, 1, shape, dtype, seed) for shape in shapes] for seed in (3, 4))
        yield {
            "paramsRef": first,
            "grads": second,
            "expAvgsRef": third,
            "expAvgSqsRef": fourth,
            "maxExpAvgSqsRef": fifth if amsgrad else None,
            "stateSteps": [np.array([3]), np.array([4])],
            "gradScaleOptional": np.array([2], np.float32) if amsgrad else None,
            "foundInfOptional": np.array([0], np.float32) if amsgrad else None,
            "lr": 0.01,
            "beta1": 0.9,
            "beta2": 0.99,
            "weightDecay": 0.1,
            "eps": 1e-8,
            "amsgrad": amsgrad,
            "maximize": not amsgrad,
        }


def scaled_adamw(param: Array, m: Array, v: Array, grad: Array, step: Any, top: Any, scale: Any, found: Any, **settings: Any) -> Any:
    """As ``adamw``, where there was nothing infinite."""
    slope = grad if scale is None else grad / scale
    changed = adamw(param, m, v, slope, step, top, **settings)
    if found is None:
        return changed
    before = (param, m, v) if top is None else (param, m, v, top)
    return tuple(np.where(found == 1, old, new) for old, new in zip(before, changed, strict=True))
