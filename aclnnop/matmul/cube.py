"""Plain matrix products: what cubeMathType makes of their inputs, and the plan that accumulates in FLOAT and rounds once."""

import enum
from typing import Annotated, Any

import numpy as np

from acl_emu.core import soc
from acl_emu.core.constants import ACL_FORMAT_FRACTAL_NZ
from acl_emu.core.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, DType
from acl_emu.core.errors import AclnnInvalid
from acl_emu.core.formats import STRIDED
from acl_emu.engine.casting import same
from acl_emu.engine.chain import Chain
from acl_emu.engine.matmul import Sum, Taken, matmul
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import Array, HandleKind, In, IntKind, Operand, Out, Plan, Product, castable, direct, nothing, promote, require, shape_is
from acl_emu.spec.fractal import Blocked, blocked, is_blocked

Matrix = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=2)]
BLOCKED = STRIDED | {ACL_FORMAT_FRACTAL_NZ}
"""The formats of a right matrix: weights are often given in blocks."""
Weight = Annotated[Operand, In(FLOAT, FLOAT16, BF16, rank=2, formats=BLOCKED)]
IN_BLOCKS = frozenset({ACL_FORMAT_FRACTAL_NZ})
"""For operators whose weight is always in blocks."""
MatrixOut = Annotated[Operand, Out(FLOAT, FLOAT16, BF16, rank=2)]


class CubeMathType(enum.IntEnum):
    """How the matrix unit may compute."""

    KEEP_DTYPE = 0
    ALLOW_FP32_DOWN_PRECISION = 1
    USE_FP16 = 2
    USE_HF32 = 3
    USE_FP32_ADD = 4


CubeMath = Annotated[int, IntKind("int8_t", choices=CubeMathType)]
Factor = Annotated[Scalar, HandleKind(Scalar, FLOAT, FLOAT16, BF16, DOUBLE, INT8, INT16, INT32, INT64, UINT8)]
BatchFactor = Annotated[Scalar, HandleKind(Scalar, FLOAT, FLOAT16, BF16, DOUBLE, INT8, INT16, INT32, INT64, UINT8, BOOL)]
OLDER = (Product.A310P, Product.A910)
"""Products whose matrix unit has neither FLOAT nor HFLOAT32."""
LENIENT = (Product.A2, Product.A3)
"""Products where a mode that a type has no use for is accepted, and has no effect."""
ALL_LENIENT = (*LENIENT, Product.A950)
"""The same for products of batches."""
_ZERO = np.zeros(1, np.float32)


def rounding(mode: int, dtype: DType, lenient: tuple[Product, ...] = LENIENT) -> Taken:
    """What inputs of a type are rounded to before they are multiplied; refuses what the chip cannot do."""
    product = soc.current().product
    older = product in OLDER
    supported = {
        CubeMathType.KEEP_DTYPE: not older or dtype is not FLOAT,
        CubeMathType.USE_FP16: dtype is not BF16 or product in lenient,
        CubeMathType.USE_HF32: (dtype is FLOAT and not older) or product in lenient,
    }
    chosen = CubeMathType(mode)
    require(supported.get(chosen, True), f"cubeMathType is {mode} ({chosen.name}), not supported for {dtype} on {soc.current().name}")
    lowered = {
        CubeMathType.ALLOW_FP32_DOWN_PRECISION: Taken.AS_HALF if older else Taken.AS_HF32,
        CubeMathType.USE_FP16: Taken.AS_HALF,
        CubeMathType.USE_HF32: Taken.AS_HF32,
    }
    return lowered.get(chosen, Taken.UNCHANGED) if dtype is FLOAT else Taken.UNCHANGED


def combined_dtype(left: Operand, right: Operand) -> DType:
    """The type that two matrices are multiplied in; the halves of two kinds do not go together on some chips."""
    require(
        {left.dtype, right.dtype} != {BF16, FLOAT16} or soc.current().product not in LENIENT,
        f"{right.name} has dtype {right.dtype}, which cannot be combined with that of {left.name}: {left.dtype} on {soc.current().name}",
    )
    return promote(left, right)


def without_precise_sums(mode: int) -> None:
    """Older products refuse the mode that adds in FLOAT."""
    require(
        mode != CubeMathType.USE_FP32_ADD or soc.current().product not in OLDER,
        f"cubeMathType is {mode}, not supported on {soc.current().name}",
    )


def factor(scalar: Scalar) -> float:
    """A number that products or sums are multiplied by, in FLOAT."""
    return float(np.float32(scalar.as_real()))


def blocked_dtype(mode: int, left: Operand, right: Operand, out: Operand) -> Taken:
    """What factors are rounded to where the right one is in blocks; a mode that a type has no use for has no effect."""
    dtype = combined_dtype(left, right)
    castable(dtype, out)
    return rounding(mode, dtype, ALL_LENIENT)


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
    """``out = alpha × left @ right + beta × added``, in FLOAT, rounded once to the type of ``out``; without ``added``, the product."""
    shape = product_shape(left, right)
    shape_is(out, shape, f"that of {left.name} @ {right.name}")
    return planned(left, right, out, shape, taken, added, alpha, beta)


def planned(
    left: Operand,
    right: Operand,
    out: Operand,
    shape: tuple[int, ...],
    taken: Taken,
    added: Operand | None = None,
    alpha: float = 1.0,
    beta: float = 0.0,
) -> Plan:
    """The same for operands that were checked; ``out`` has as many elements as ``shape``, and takes them in that order."""
    if 0 in shape:
        return nothing()
    if out.shape != shape and out.contiguous:
        out = out.in_view(shape)
    weight = blocked(right) if is_blocked(right) else None
    scratch: dict[str, tuple[tuple[int, ...], Any]] = {}
    if out.shape != shape:
        scratch["result"] = (shape, out.dtype.numpy)
    if weight is not None:
        *outer, across, width = weight.memory.shape
        scratch["matrix"] = ((*outer, across * width), right.dtype.numpy)
    plan = direct(
        multiply,
        reads=(left, right if weight is None else weight.memory, added),
        writes=(out,),
        scratch=scratch,
        weight=weight,
        taken=taken,
        alpha=alpha,
        beta=beta,
    )
    return in_steps(plan, left, right, weight, out, shape, taken, added, alpha, beta)


def in_steps(
    plan: Plan,
    left: Operand,
    right: Operand,
    weight: Blocked | None,
    out: Operand,
    shape: tuple[int, ...],
    taken: Taken,
    added: Operand | None,
    alpha: float,
    beta: float,
) -> Plan:
    """The plan, in C: the matrix out of its blocks, the product, and its elements in the order of ``out``."""
    chain = Chain(plan)
    if weight is None:
        rights = chain.of(right)
    else:
        matrix = chain.scratch("matrix")
        chain.kernel(same, (chain.of(weight.memory),), (matrix.dense(weight.memory.shape),))
        *outer, down, across = matrix.layout.strides
        rights = matrix.at(0, right.shape, (*outer, across, down) if weight.transposed else (*outer, down, across))
    lefts = chain.of(left)
    result = targets = chain.of(out) if out.shape == shape else chain.scratch("result")
    if right.rank == 1:
        rights, targets = rights.with_axis(1), targets.with_axis(len(shape))
    if left.rank == 1:
        lefts, targets = lefts.with_axis(0), targets.with_axis(len(targets.layout.shape) - 1)
    plus = chain.constant(_ZERO) if added is None else chain.of(added)
    chain.product(lefts, rights, targets, plus=None if added is None and alpha == 1 else Sum(plus, alpha, beta), taken=taken)
    if out.shape != shape:
        chain.kernel(same, (result.dense(out.shape),), (chain.of(out),))
    return chain.planned()


def multiply(
    left: Array,
    right: Array,
    added: Array | None,
    out: Array,
    *,
    weight: Blocked | None,
    taken: Taken,
    alpha: float,
    beta: float,
    result: Array | None = None,
    matrix: Array | None = None,
) -> None:
    """The product, or what is made of it."""
    if weight is not None and matrix is not None:
        matrix.reshape(right.shape)[...] = right
        right = matrix[..., : weight.blocks.columns]
        right = right.swapaxes(-1, -2) if weight.transposed else right
    target = out if result is None else result
    target = target[..., np.newaxis] if right.ndim == 1 else target
    target = target[..., np.newaxis, :] if left.ndim == 1 else target
    left, right = (values.copy() if np.may_share_memory(values, out) else values for values in (left, right))
    if added is not None and np.may_share_memory(added, out):
        added = added.copy()
    plus = None if added is None and alpha == 1 else Sum(_ZERO if added is None else added, alpha, beta)
    matmul(np.atleast_2d(left), right[:, np.newaxis] if right.ndim == 1 else right, target, plus=plus, taken=taken)
    if result is not None:
        out[...] = result.reshape(out.shape)
