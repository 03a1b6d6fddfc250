"""What optimisers over lists of tensors share."""

from __future__ import annotations

from collections.abc import Sequence

from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16
from acl_emu.core.errors import AclnnInvalid
from acl_emu.spec import In, InOut, ListOf, Operand, require, same_dtype, same_shape

FLOATS = (BF16, FLOAT16, FLOAT)
Refs = ListOf(InOut(*FLOATS), least=0, null=AclnnInvalid)
OptionalRefs = ListOf(InOut(*FLOATS), least=0, optional=True, null=AclnnInvalid)
Gradients = ListOf(In(*FLOATS), least=0, null=AclnnInvalid)


def matching(first: Sequence[Operand], name: str, *others: tuple[str, Sequence[Operand]]) -> None:
    """161002 for lists of other lengths than the first, for another type anywhere, and for members of other shapes."""
    for other, listed in others:
        require(len(listed) == len(first), f"{other} has {len(listed)} members, expected {len(first)} as {name}")
    for listed in (first, *(listed for _, listed in others)):
        for member in listed:
            same_dtype(first[0], member)
    for _, listed in others:
        for mine, yours in zip(first, listed, strict=True):
            same_shape(mine, yours)
