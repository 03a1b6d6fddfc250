"""What the optimisers of the Adam family share: moving averages, the correction of their bias, and the checks.

A kernel evaluates in float64; results are rounded to FLOAT, and then to the types of the tensors, as a device that computes in FLOAT does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT64
from acl_emu.core.errors import AclnnNullptr
from acl_emu.spec import Array, In, InOut, Operand, Plan, Product, length_is, mapped

FLOATS = (FLOAT16, BF16, FLOAT)
NEWER = frozenset({Product.A950, Product.A3, Product.A2})

Ref = Annotated[Operand, InOut(*FLOATS, const=False, rank=(1, 8))]
Gradient = Annotated[Operand, In(*FLOATS, rank=(1, 8))]
Step = Annotated[Operand, In(INT64, FLOAT)]
IntegerStep = Annotated[Operand, In(INT64)]


def updated(kernel: Callable[..., Any], reads: Sequence[Operand | None], writes: Sequence[Operand], **attributes: Any) -> Plan:
    """``writes = kernel(*reads, **attributes)``, in the precision of the family."""
    return mapped(kernel, reads=reads, writes=writes, dtype=FLOAT, **attributes)


def number(operand: Operand) -> Operand:
    """A tensor that holds a single number."""
    length_is(operand, 1, "a single number")
    return operand.in_view(())


def required(operand: Operand | None, name: str, reason: str) -> Operand:
    """161001 where an optional tensor is missing that something else asks for."""
    if operand is None:
        raise AclnnNullptr(f"{name} must not be a null pointer where {reason}")
    return operand


def averaged(old: Array, new: Any, beta: Any) -> Any:
    """A moving average, one step on."""
    return beta * old + (1 - beta) * new


def decayed(var: Array, m: Any, v: Any, *, lr: Any, eps: Any, weightDecay: Any, power1: Any, power2: Any) -> Any:
    """The weights after a step of AdamW; ``power1`` and ``power2`` are the betas to the number of the step."""
    return var - lr * (m / (1 - power1)) / (np.sqrt(v / (1 - power2)) + eps) - lr * weightDecay * var


def adamw(
    var: Array,
    m: Array,
    v: Array,
    grad: Array,
    step: Any,
    top: Any = None,
    *,
    maximize: bool,
    beta1: float,
    beta2: float,
    **rest: float,
) -> tuple[Any, ...]:
    """The weights, both averages, and the largest ones."""
    slope = -grad if maximize else grad
    m, v = averaged(m, slope, beta1), averaged(v, slope * slope, beta2)
    used = v if top is None else np.maximum(top, v)
    changed = decayed(var, m, used, power1=np.power(beta1, step), power2=np.power(beta2, step), **rest)
    return (changed, m, v) if top is None else (changed, m, v, used)
