"""Data formats: which ones name the axes of a strided tensor, and which ones are blocked."""

from __future__ import annotations

from acl_emu.core import constants as c

STRIDED = frozenset(
    {
        c.ACL_FORMAT_ND,
        c.ACL_FORMAT_NCHW,
        c.ACL_FORMAT_NHWC,
        c.ACL_FORMAT_HWCN,
        c.ACL_FORMAT_NDHWC,
        c.ACL_FORMAT_NCDHW,
        c.ACL_FORMAT_NC,
        c.ACL_FORMAT_NCL,
    }
)
"""Formats that name the axes of an ordinary strided tensor, whatever its rank and storage shape: where one is allowed, all are."""

_NAMES = {value: name for name, value in vars(c).items() if name.startswith(("ACL_FORMAT_", "ACL_FRACTAL_"))}

ANY_FORMAT = frozenset(_NAMES)
"""For operators that do not look at formats."""


def format_name(code: int) -> str:
    """The C name of a format code, or the bare number where there is none."""
    return _NAMES.get(code, f"aclFormat({code})")


def is_private(code: int) -> bool:
    """Whether the format is a blocked one (NC1HWC0, FRACTAL_NZ, ...), whose storage shape differs from the view shape."""
    return code in _NAMES and code not in STRIDED and code != c.ACL_FORMAT_UNDEFINED
