"""Plain matrix products: what cubeMathType makes of their inputs, and the plan that accumulates in FLOAT and rounds once."""

import enum
from typing import Annotated

import numpy as np

from acl_emu.core import soc
from acl_emu.core.constants import ACL_FORMAT_ND
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, DType
from acl_emu.core.errors import AclnnInvalid
from acl_emu.engine.chain import Chain
from acl_emu.engine.matmul import Sum, Taken, matmul
from acl_emu.spec import Array, In, IntKind, Operand, Out, Plan, Product, direct, nothing, require, shape_is

ND = (ACL_FORMAT_ND,)
Matrix = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=2, formats=ND)]
MatrixOut = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=2, formats=ND)]


class CubeMathType(enum.IntEnum):
    """How the matrix unit may compute."""

    KEEP_DTYPE = 0
    ALLOW_FP32_DOWN_PRECISION = 1
    USE_FP16 = 2
    USE_HF32 = 3
    USE_FP32_ADD = 4


CubeMath = Annotated[int, IntKind("int8_t", choices=CubeMathType)]
OLDER = (Product.A310P, Product.A910)
"""Products whose matrix unit has neither FLOAT nor HFLOAT32."""


def rounding(mode: int, dtype: DType) -> Taken:
    """What inputs of a type are rounded to before they are multiplied; refuses what the chip cannot do."""
    older = soc.current().product in OLDER
    supported = {
        CubeMathType.KEEP_DTYPE: not older or dtype is not FLOAT,
        CubeMathType.USE_FP16: dtype is not BF16,
        CubeMathType.USE_HF32: not older and dtype is FLOAT,
    }
    chosen = CubeMathType(mode)
    require(supported.get(chosen, True), f"cubeMathType is {mode} ({chosen.name}), not supported for {dtype} on {soc.current().name}")
    lowered = {
        CubeMathType.ALLOW_FP32_DOWN_PRECISION: Taken.AS_HALF if older else Taken.AS_HF32,
        CubeMathType.USE_FP16: Taken.AS_HALF,
        CubeMathType.USE_HF32: Taken.AS_HF32,
    }
    return lowered.get(chosen, Taken.UNCHANGED) if dtype is FLOAT else Taken.UNCHANGED


def product_shape(left: Operand, right: Operand) -> tuple[int, ...]:
    """The shape of ``left @ right``; a vector is a row on the left and a column on the right, and leaves no dimension behind."""
    require(
        left.shape[-1] == right.shape[-2:][0],  # of a vector it is the only length
        f"{right.name} has shape {list(right.shape)}, expected to be multiplied by {left.name} of shape {list(left.shape)}",
    )
    try:
        batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        text = f"{right.name} has shape {list(right.shape)}, which does not broadcast with {left.name} of shape {list(left.shape)}"
        raise AclnnInvalid(text) from None
    return (*batch, *left.shape[-2:-1], *right.shape[-1:][: right.rank - 1])


def product(
    left: Operand, right: Operand, out: Operand, taken: Taken, added: Operand | None = None, alpha: float = 1.0, beta: float = 0.0
) -> Plan:
    """``out = alpha × left @ right + beta × added``, in FLOAT, rounded once to the type of ``out``."""
    shape_is(out, product_shape(left, right), f"that of {left.name} @ {right.name}")
    if 0 in out.shape:
        return nothing()
    plan = direct(multiply, reads=(left, right, added), writes=(out,), scratch={}, taken=taken, alpha=alpha, beta=beta)
    return in_steps(plan, left, right, out, taken, added, alpha, beta)


def in_steps(
    plan: Plan, left: Operand, right: Operand, out: Operand, taken: Taken, added: Operand | None, alpha: float, beta: float
) -> Plan:
    """The plan, in C."""
    chain = Chain(plan)
    lefts, rights, targets = (chain.of(operand) for operand in (left, right, out))
    if right.rank == 1:
        rights, targets = rights.with_axis(1), targets.with_axis(out.rank)
    if left.rank == 1:
        lefts, targets = lefts.with_axis(0), targets.with_axis(len(targets.layout.shape) - 1)
    chain.product(lefts, rights, targets, plus=None if added is None else Sum(chain.of(added), alpha, beta), taken=taken)
    return chain.planned()


def multiply(left: Array, right: Array, added: Array | None, out: Array, *, taken: Taken, alpha: float, beta: float) -> None:
    """The product, or what is made of it."""
    target = out[..., np.newaxis] if right.ndim == 1 else out
    target = target[..., np.newaxis, :] if left.ndim == 1 else target
    left, right = (values.copy() if np.may_share_memory(values, out) else values for values in (left, right))
    plus = None if added is None else Sum(added.copy() if np.may_share_memory(added, out) else added, alpha, beta)
    matmul(np.atleast_2d(left), right[:, np.newaxis] if right.ndim == 1 else right, target, plus=plus, taken=taken)
