"""Checks that the real library leaves to a kernel's tiling: what fails there is 561002 or another inner error, not 161002."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from acl_emu.core.constants import ACLNN_ERR_INNER_TILING_ERROR
from acl_emu.core.errors import AclnnInner, AclnnInvalid


@contextmanager
def in_tiling(code: int = ACLNN_ERR_INNER_TILING_ERROR) -> Iterator[None]:
    """Whatever is refused inside is refused by the tiling; some operators report it with another code."""
    try:
        yield
    except AclnnInvalid as refusal:
        raise AclnnInner(str(refusal), code) from None
