"""Checks that operators share. Each raises 161002 with the parameter, the rule and the value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NoReturn

from acl_emu.core import constants as c
from acl_emu.core import dtypes, formats, soc
from acl_emu.core.dtypes import DType
from acl_emu.core.errors import AclnnInner, AclnnInvalid
from acl_emu.core.soc import Product
from acl_emu.runtime.tensor import Operand, Scalar, Shape


def require(condition: bool, text: str) -> None:
    """The general check."""
    if not condition:
        raise AclnnInvalid(text)


def unwritten(*_: object) -> NoReturn:
    """Stands where the rules and the plan of a new operator will: phase one refuses as for one that is not emulated."""
    raise AclnnInner("declared, but not emulated yet: its plan is not written", c.ACLNN_ERR_INNER_NULLPTR)


def promote(first: Operand, *others: Operand | None) -> DType:
    """The type that the inputs are combined in, pair by pair from the left; null ones are left out."""
    common = first.dtype
    for operand in filter(None, others):
        combined = dtypes.promote_types(common, operand.dtype)
        if combined is None:
            raise AclnnInvalid(f"{operand.name} has dtype {operand.dtype}, which cannot be combined with {common}")
        common = combined
    return common


def promote_scalar(operand: Operand, scalar: Scalar, name: str) -> DType:
    """The type that a tensor and a scalar are combined in: by rules of their own on the newest chips, as two tensors on the others."""
    rule = dtypes.promote_scalar if soc.current().product is Product.A950 else dtypes.promote_types
    combined = rule(scalar.dtype, operand.dtype)
    if combined is None:
        raise AclnnInvalid(f"{name} has dtype {scalar.dtype}, which cannot be combined with that of {operand.name}: {operand.dtype}")
    return combined


def scalar_castable(scalar: Scalar, name: str, target: DType) -> None:
    """The scalar can be converted to the type that is computed in."""
    require(dtypes.can_cast(scalar.dtype, target), f"{name} has dtype {scalar.dtype}, which cannot be cast to {target}")


def castable(source: DType, target: Operand) -> None:
    """The result can be stored in the output's dtype."""
    require(dtypes.can_cast(source, target.dtype), f"{target.name} has dtype {target.dtype}, a result of {source} cannot be cast to it")


def same_dtype(first: Operand, *others: Operand | None) -> None:
    """All have the dtype of the first; null ones are left out."""
    for other in filter(None, others):
        require(other.dtype is first.dtype, f"{other.name} has dtype {other.dtype}, expected that of {first.name}: {first.dtype}")


def rank_in(operand: Operand | None, *ranks: int) -> None:
    """One of these numbers of dimensions, where they are no range; null is left out."""
    if operand is not None:
        wanted = " or ".join(map(str, ranks))
        require(
            operand.rank in ranks, f"{operand.name} has {operand.rank} dimensions, expected {wanted}; its shape is {list(operand.shape)}"
        )


def same_format(first: Operand, *others: Operand | None) -> None:
    """All have the format of the first; strided formats count as one, null operands are left out."""
    for other in filter(None, others):
        codes = {first.view.format, other.view.format}
        require(
            len(codes) == 1 or codes <= formats.STRIDED,
            f"{other.name} has format {formats.format_name(other.view.format)}, "
            f"expected that of {first.name}: {formats.format_name(first.view.format)}",
        )


def shape_is(operand: Operand, shape: Sequence[int], rule: str = "") -> None:
    """Exactly this shape.

    An output of one element fits every shape of one element, and has that shape from here on.
    """
    if operand.is_output and operand.size == math.prod(shape) == 1:
        operand.view = operand.in_view(shape).view
    require(operand.shape == tuple(shape), f"{operand.name} has shape {list(operand.shape)}, expected {list(shape)}{rule and f' ({rule})'}")


def same_shape(first: Operand, *others: Operand) -> None:
    """All have the shape of the first."""
    for other in others:
        shape_is(other, first.shape, f"as {first.name}")


def length_is(operand: Operand, count: int, rule: str) -> None:
    """Exactly this many elements."""
    require(operand.size == count, f"{operand.name} has {operand.size} elements, expected {count} ({rule})")


# Above five groups of axes these types have no broadcasting kernel.
_FEW_AXES = frozenset({dtypes.COMPLEX64, dtypes.COMPLEX128, dtypes.DOUBLE, dtypes.INT16, dtypes.UINT16, dtypes.UINT64})
_MOST_GROUPS = 5


def broadcast_shape(*operands: Operand) -> Shape:
    """The shape that the inputs broadcast to: right-aligned, a 1 gives way."""
    rank = max(operand.rank for operand in operands)
    result = [1] * rank
    for operand in operands:
        for axis, length in enumerate(operand.shape, rank - operand.rank):
            if length != 1 and result[axis] not in (1, length):
                shapes = ", ".join(f"{other.name} {list(other.shape)}" for other in operands)
                raise AclnnInvalid(f"{operand.name} has shape {list(operand.shape)}, which does not broadcast with the others: {shapes}")
            if length != 1:
                result[axis] = length
    if not _FEW_AXES.isdisjoint(_combined_dtypes(operands)):
        groups = _axis_groups(operands, result)
        require(
            groups <= _MOST_GROUPS,
            f"{operands[0].name}: broadcasting these shapes needs {groups} groups of axes, at most {_MOST_GROUPS} are supported",
        )
    return tuple(result)


def broadcasts_to(shape: Sequence[int], rule: str, *operands: Operand | None) -> None:
    """Each broadcasts to a shape that stays as it is; null ones are left out."""
    for operand in filter(None, operands):
        pairs = zip(reversed(operand.shape), reversed(shape), strict=False)
        require(
            operand.rank <= len(shape) and all(own in (1, length) for own, length in pairs),
            f"{operand.name} has shape {list(operand.shape)}, which does not broadcast to {list(shape)} ({rule})",
        )


def _combined_dtypes(operands: Sequence[Operand]) -> set[DType]:
    """The types of the inputs and those that they are combined in, as far as they can be."""
    found = {operand.dtype for operand in operands}
    common: DType | None = operands[0].dtype
    for operand in operands[1:]:
        common = dtypes.promote_types(common, operand.dtype) if common else None
    return found | {common} if common else found


def _axis_groups(operands: Sequence[Operand], result: Sequence[int]) -> int:
    """How many axes are left when neighbours that broadcast alike are merged."""
    rank = len(result)
    patterns = [
        tuple(axis >= rank - operand.rank and operand.shape[axis - rank + operand.rank] == length for operand in operands)
        for axis, length in enumerate(result)
        if length != 1
    ]
    return sum(1 for i, pattern in enumerate(patterns) if i == 0 or pattern != patterns[i - 1])


def wrap_dim(dim: int, operand: Operand, name: str = "dim") -> int:
    """A dimension counted from either end, as one counted from the front; a 0-dim tensor counts as 1-dim."""
    rank = max(operand.rank, 1)
    require(
        -rank <= dim < rank, f"{name} is {dim}, expected a value in [{-rank}, {rank - 1}] for {operand.name} of shape {list(operand.shape)}"
    )
    return dim % rank
