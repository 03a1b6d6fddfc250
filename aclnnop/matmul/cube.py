"""Plain matrix products: what cubeMathType makes of their inputs, and the plan that accumulates in FLOAT and rounds once."""

import enum
import math
from collections.abc import Callable, Container
from typing import Annotated, Any

import numpy as np
from numpy.typing import DTypeLike

from acl_emu import soc
from acl_emu.constants import ACL_FORMAT_ND
from acl_emu.dtypes import BF16, FLOAT, FLOAT16, DType
from acl_emu.errors import AclnnInvalid
from acl_emu.matmul import matmul
from acl_emu.native import apply
from acl_emu.native.casting import cast, same
from acl_emu.native.chain import Chain, Part
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

Rounding = Callable[[Array], Array]

MOST_MATRICES = 1 << 10
"""Of a batch: each has its steps in the plan."""
# Elements that are rounded at once, so that they stay in the cache meanwhile.
BLOCK_ELEMENTS = 1 << 16


def rounding(mode: int, dtype: DType) -> Rounding:
    """What is done to inputs of a type before they are multiplied; refuses what the chip cannot do."""
    older = soc.current().product in OLDER
    supported = {
        CubeMathType.KEEP_DTYPE: not older or dtype is not FLOAT,
        CubeMathType.USE_FP16: dtype is not BF16,
        CubeMathType.USE_HF32: not older and dtype is FLOAT,
    }
    chosen = CubeMathType(mode)
    require(supported.get(chosen, True), f"cubeMathType is {mode} ({chosen.name}), not supported for {dtype} on {soc.current().name}")
    lowered: dict[CubeMathType, Rounding] = {
        CubeMathType.ALLOW_FP32_DOWN_PRECISION: to_half if older else to_hf32,
        CubeMathType.USE_FP16: to_half,
        CubeMathType.USE_HF32: to_hf32,
    }
    return lowered.get(chosen, unchanged) if dtype is FLOAT else unchanged


def unchanged(values: Array) -> Array:
    """As they are."""
    return values


def to_half(values: Array) -> Array:
    """What FLOAT16 makes of them."""
    return values.astype(np.float16).astype(np.float32)


def to_hf32(values: Array) -> Array:
    """What HFLOAT32 makes of them: FLOAT with 11 of the 23 bits behind the point, rounded to nearest even."""
    bits = values.view(np.uint32)
    shortened = (bits + np.uint32(0x7FF) + ((bits >> 12) & np.uint32(1))) & np.uint32(0xFFFFF000)
    return np.where(np.isfinite(values), shortened.view(np.float32), values)


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
    left: Operand, right: Operand, out: Operand, lowered: Rounding, added: Operand | None = None, alpha: float = 1.0, beta: float = 0.0
) -> Plan:
    """``out = alpha × left @ right + beta × added``, in FLOAT, rounded once to the type of ``out``."""
    shape_is(out, product_shape(left, right), f"that of {left.name} @ {right.name}")
    if 0 in out.shape:
        return nothing()
    rows, inner, columns = left.shape[-2] if left.rank > 1 else 1, left.shape[-1], right.shape[-1] if right.rank > 1 else 1
    scratch: dict[str, tuple[tuple[int, ...], DTypeLike]] = {}
    if lowered is not unchanged or not multiplies_as_it_lies(left):
        scratch["a"] = ((rows, inner), np.float32)
    if lowered is not unchanged or not multiplies_as_it_lies(right):
        scratch["b"] = ((inner, columns), np.float32)
    if added is not None or not (out.dtype is FLOAT and out.contiguous):
        scratch["total"] = ((rows, columns), np.float32)
    factors = {"alpha": np.float32(alpha), "beta": np.float32(beta)}
    plan = direct(multiply, reads=(left, right, added), writes=(out,), scratch=scratch, lowered=lowered, **factors)
    return in_steps(plan, left, right, out, lowered, added, scratch, factors)


def in_steps(
    plan: Plan,
    left: Operand,
    right: Operand,
    out: Operand,
    lowered: Rounding,
    added: Operand | None,
    scratch: Container[str],
    factors: dict[str, Any],
) -> Plan:
    """The plan, in C: of each matrix of the batch casts, the product, and what is added."""
    chain = Chain(plan)
    lefts, rights, targets = (chain.of(operand) for operand in (left, right, out))
    if right.rank == 1:
        rights, targets = rights.with_axis(1), targets.with_axis(out.rank)
    if left.rank == 1:
        lefts, targets = lefts.with_axis(0), targets.with_axis(len(targets.layout.shape) - 1)
    batch = targets.layout.shape[:-2]
    if math.prod(batch) > MOST_MATRICES:
        return plan

    def taken(matrix: Part, room: str) -> Part:
        return taken_in_steps(chain, matrix, chain.scratch(room), lowered) if room in scratch else matrix

    factor: Part | None = None
    for index in np.ndindex(batch):
        if factor is None or right.rank > 2:
            factor = taken(rights.matrix(index), "b")
        target = targets.matrix(index)
        result = chain.scratch("total") if "total" in scratch else target
        values = taken(lefts.matrix(index), "a")
        chain.product(values, factor, result)
        if added is not None:
            chain.kernel(weighted_sum, (result, chain.of(added)), (target,), **factors)
        elif result is not target:
            chain.kernel(same, (result,), (target,))
    return chain.planned()


def multiplies_as_it_lies(operand: Operand) -> bool:
    """Whether a tensor holds FLOAT matrices with contiguous rows or columns."""
    if operand.dtype is not FLOAT or operand.contiguous:
        return operand.dtype is FLOAT
    if operand.rank < 2:
        return False
    (rows, columns), (down, across) = operand.shape[-2:], operand.view.strides[-2:]
    return (across == 1 and down >= columns) or (down == 1 and across >= rows)


def multiply(
    left: Array,
    right: Array,
    added: Array | None,
    out: Array,
    *,
    a: Array | None = None,
    b: Array | None = None,
    total: Array | None = None,
    lowered: Rounding,
    alpha: float,
    beta: float,
) -> None:
    """One matrix of the batch after the other; ``a``, ``b`` and ``total`` are given where the tensors themselves will not do."""
    target = out[..., np.newaxis] if right.ndim == 1 else out
    target = target[..., np.newaxis, :] if left.ndim == 1 else target
    batch = target.shape[:-2]
    left, right = (values.copy() if np.may_share_memory(values, out) else values for values in (left, right))
    lefts, rights = np.atleast_2d(left), right[:, np.newaxis] if right.ndim == 1 else right
    lefts, rights = (np.broadcast_to(values, batch + values.shape[-2:]) for values in (lefts, rights))
    factor: Array | None = None
    for index in np.ndindex(batch):
        if factor is None or right.ndim > 2:
            factor = taken(rights[index], b, lowered)
        result = target[index] if total is None else total
        matmul(taken(lefts[index], a, lowered), factor, out=result)
        if added is not None:
            apply(weighted_sum, (result, added), (target[index],), alpha=alpha, beta=beta)
        elif total is not None:
            cast(result, target[index])


def taken(matrix: Array, room: Array | None, lowered: Rounding) -> Array:
    """A matrix as it is multiplied: as it lies, or cast to FLOAT and rounded."""
    if room is None:
        return matrix
    cast(matrix, room)
    if lowered is not unchanged:
        step = max(1, BLOCK_ELEMENTS // max(1, room.shape[1]))
        for first in range(0, len(room), step):
            room[first : first + step] = lowered(room[first : first + step])
    return room


def taken_in_steps(chain: Chain, matrix: Part, room: Part, lowered: Rounding) -> Part:
    """The same as steps of a chain."""
    if lowered is to_half:
        halves = chain.room(room.layout.shape, np.float16)
        chain.kernel(same, (matrix,), (halves,))
        matrix = halves
    chain.kernel(same, (matrix,), (room,))
    if lowered is to_hf32:
        size = math.prod(room.layout.shape)
        chain.call("acl_emu_gemm_shorten", (size,), (room,), threaded=size >= BLOCK_ELEMENTS)
    return room


def weighted_sum(product: Array, added: Array, *, alpha: float, beta: float) -> Array:
    """The sum of both, each times its factor."""
    return product * alpha + added * beta
