"""Calls that are wrong in more than one way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tests.conftest import message
from tests.operators.case import Case

Wrong = tuple[Case, dict[str, Any], int, str]
"""A valid call, what is made wrong of it, the status and a part of the text that it gets."""


def assert_refused(wrong: Iterable[Wrong], chip: Callable[[str], None], socs: Sequence[str]) -> None:
    """The first wrong thing in the documented order decides, on every chip; whether it has the operator comes last."""
    for soc in socs:
        chip(soc)
        for call, changes, status, text in wrong:
            assert call.but(**changes).status() == status, (soc, call.operator, changes)
            assert text in message(), (soc, call.operator, changes)
