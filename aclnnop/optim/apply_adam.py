"""aclnnApplyAdam: the weights after a step of Adam."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT
from acl_emu.spec import Array, Bool, Example, In, Operand, Plan, Product, between, numbers, operator, same_dtype, same_shape
from aclnnop.optim.adam import Gradient, Ref, averaged, number, updated

Setting = Annotated[Operand, In(FLOAT)]


@operator(products=frozenset({Product.A950}))
def aclnnApplyAdam(
    varRef: Ref,
    m: Gradient,
    v: Gradient,
    beta1Power: Setting,
    beta2Power: Setting,
    lr: Setting,
    beta1: Setting,
    beta2: Setting,
    epsilon: Setting,
    grad: Gradient,
    useLocking: Bool,
    useNesterov: Bool,
) -> Plan:
    """Change ``varRef`` by a step of Adam; ``beta1Power`` and ``beta2Power`` are the betas to the number of the step."""
    del useLocking  # a step is never interrupted
    same_dtype(varRef, m, v, grad)
    same_shape(varRef, m, v, grad)
    settings = map(number, (beta1Power, beta2Power, lr, beta1, beta2, epsilon))
    return updated(adam, [varRef, m, v, grad, *settings], [varRef], nesterov=useNesterov)


@aclnnApplyAdam.example
def examples() -> Iterator[Example]:
    """With the average, and with the average one step ahead."""
    values = {"beta1Power": 0.81, "beta2Power": 0.96, "lr": 0.01, "beta1": 0.9, "beta2": 0.98, "epsilon": 1e-8}
    for dtype, nesterov in ((FLOAT, False), (BF16, True)):
        yield {
            "varRef": numbers((3, 5), dtype, 1),
            "m": numbers((3, 5), dtype, 2),
            "v": between(0, 1, (3, 5), dtype, 3),
            **{name: np.array([value], np.float32) for name, value in values.items()},
            "grad": numbers((3, 5), dtype, 5),
            "useLocking": False,
            "useNesterov": nesterov,
        }


def adam(var: Array, m: Array, v: Array, grad: Array, *settings: Any, nesterov: bool) -> Any:
    """The weights."""
    power1, power2, lr, beta1, beta2, epsilon = settings
    m, v = averaged(m, grad, beta1), averaged(v, grad * grad, beta2)
    ahead = averaged(m, grad, beta1) if nesterov else m
    return var - lr * np.sqrt(1 - power2) / (1 - power1) * ahead / (np.sqrt(v) + epsilon)
