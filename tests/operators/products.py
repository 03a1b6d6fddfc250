"""Which products have an operator."""

from __future__ import annotations

from collections.abc import Callable

from acl_emu import ACLNN_ERR_INNER_NULLPTR
from acl_emu.core.soc import PROFILES
from tests.operators.case import Case


def products_of(call: Case, chip: Callable[[str], None]) -> set[str]:
    """Short names of the products that accept a call whose types they all have; the others must find no kernel."""
    accepting = set()
    for profile in PROFILES.values():
        chip(profile.name)
        status = call.status()
        assert status in (0, ACLNN_ERR_INNER_NULLPTR), profile.name
        if status == 0:
            accepting.add(profile.product.short)
    return accepting
