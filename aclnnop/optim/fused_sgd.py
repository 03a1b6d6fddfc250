"""aclnnFusedSgd: a step of stochastic gradient descent for lists of tensors."""

from collections.abc import Iterator
from typing import Annotated, Any

from acl_emu.core.dtypes import BF16, FLOAT
from acl_emu.spec import Array, Bool, Example, Float, In, Operand, Plan, numbers, operator, require, together
from aclnnop.optim.adam import NEWER, number, updated
from aclnnop.optim.lists import FLOATS, OptionalRefs, Refs, matching


@operator(products=NEWER)
def aclnnFusedSgd(
    paramsRef: Annotated[list[Operand], Refs],
    gradsRef: Annotated[list[Operand], Refs],
    momentumBufferListOptionalRef: Annotated[list[Operand] | None, OptionalRefs],
    gradScaleOptional: Annotated[Operand | None, In(*FLOATS, optional=True)],
    weightDecay: Float,
    momentum: Float,
    lr: Float,
    dampening: Float,
    nesterov: Bool,
    maximize: Bool,
    isFirstStep: Bool,
) -> Plan:
    """Take a step of gradient descent, with momentum where there are buffers; gradients are divided by the scale in place."""
    buffers = momentumBufferListOptionalRef or []
    others = [("gradsRef", gradsRef)] + ([("momentumBufferListOptionalRef", buffers)] if buffers else [])
    matching(paramsRef, "paramsRef", *others)
    values = {"lr": lr, "momentum": momentum, "weightDecay": weightDecay, "dampening": dampening}
    for name, value in values.items():
        require(value >= 0, f"{name} is {value}, expected a value of at least 0")
    scale = number(gradScaleOptional) if gradScaleOptional is not None and gradScaleOptional.size else None
    modes = {"nesterov": nesterov, "maximize": maximize, "first": isFirstStep}
    plans = []
    for index, (param, grad) in enumerate(zip(paramsRef, gradsRef, strict=True)):
        buffer = buffers[index] if buffers else None
        writes = [param, *([grad] if scale else []), *([buffer] if buffer else [])]
        plans.append(updated(descended, [param, grad, buffer, scale], writes, **values, **modes))
    return together(plans)


@aclnnFusedSgd.example
def examples() -> Iterator[Example]:
    """With momentum, a first step and a later one; and without."""
    for dtype, momentum, first in ((FLOAT, 0.9, False), (BF16, 0.5, True), (FLOAT, 0.0, True)):
        lists = [[numbers(shape, dtype, seed) for shape in ((3, 4), (2, 1, 5))] for seed in range(3)]
        yield {
            "paramsRef": lists[0],
            "gradsRef": lists[1],
            "momentumBufferListOptionalRef": lists[2] if momentum else None,
            "gradScaleOptional": numbers((1,), dtype, 7) if first else None,
            "weightDecay": 0.1,
            "momentum": momentum,
            "lr": 0.01,
            "dampening": 0.2,
            "nesterov": not first,
            "maximize": first,
            "isFirstStep": first,
        }


def descended(
    param: Array,
    grad: Array,
    buffer: Any,
    scale: Any,
    *,
    lr: float,
    momentum: float,
    weightDecay: float,
    dampening: float,
    nesterov: bool,
    maximize: bool,
    first: bool,
) -> Any:
    """The weights; the gradient where it was scaled; the buffer where there is one."""
    unscaled = grad if scale is None else grad / scale
    slope = (-unscaled if maximize else unscaled) + weightDecay * param
    results = [] if scale is None else [unscaled]
    if buffer is not None:
        moved = slope if first else momentum * buffer + (1 - dampening) * slope
        results.append(moved)
        slope = slope + momentum * moved if nesterov else moved
    return (param - lr * slope, *results)
