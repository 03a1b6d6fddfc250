"""Data formats: one line per aclFormat that a program may set."""

from __future__ import annotations

from acl_emu.core import constants as c

# format code -> number of dimensions it names; None fits any
PUBLIC: dict[int, int | None] = {
    c.ACL_FORMAT_ND: None,
    c.ACL_FORMAT_NCHW: 4,
    c.ACL_FORMAT_NHWC: 4,
    c.ACL_FORMAT_HWCN: 4,
    c.ACL_FORMAT_NDHWC: 5,
    c.ACL_FORMAT_NCDHW: 5,
    c.ACL_FORMAT_NC: 2,
    c.ACL_FORMAT_NCL: 3,
}

_NAMES = {value: name for name, value in vars(c).items() if name.startswith(("ACL_FORMAT_", "ACL_FRACTAL_"))}


def format_name(code: int) -> str:
    """The C name of a format code, or the bare number where there is none."""
    return _NAMES.get(code, f"aclFormat({code})")


def is_private(code: int) -> bool:
    """Whether the format is a blocked one (NC1HWC0, FRACTAL_NZ, ...), whose storage shape differs from the view shape."""
    return code in _NAMES and code not in PUBLIC and code != c.ACL_FORMAT_UNDEFINED
