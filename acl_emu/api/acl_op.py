"""acl/acl_op.h: attributes of operators of the older interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from acl_emu.api.border import Handle, acl, plain, values_of
from acl_emu.core import handles
from acl_emu.core.errors import InvalidParam, NullParam

HEADER = "acl/acl_op.h"


class Attributes(dict[str, Any]):
    """Attributes by name."""

    c_name = "aclopAttr"
    handle = 0


def find_attributes(handle: Handle, name: str = "attr") -> Attributes:
    """The living attributes behind a handle."""
    if not handle:
        raise NullParam(f"{name} must not be a null pointer")
    found = handles.find(handle, Attributes)
    if found is None:
        raise InvalidParam(f"{name} is {handles.describe(handle)}, expected a living aclopAttr")
    return found


def _set(attr: Handle, name: str | None, value: Any) -> None:
    attributes = find_attributes(attr)
    if name is None:
        raise NullParam("attrName must not be a null pointer")
    attributes[name] = value


@plain(HEADER, "aclopAttr* aclopCreateAttr()")
def aclopCreateAttr() -> Handle:
    """No attributes yet."""
    made = Attributes()
    made.handle = handles.issue(made)
    return made.handle


@plain(HEADER, "void aclopDestroyAttr(const aclopAttr* attr)")
def aclopDestroyAttr(attr: Handle) -> None:
    """Forget attributes; null is none."""
    if attr:
        handles.retire(find_attributes(attr).handle)


@acl(HEADER, "aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName, uint8_t attrValue)")
def aclopSetAttrBool(attr: Handle, attrName: str | None, attrValue: int) -> None:
    """True or false."""
    _set(attr, attrName, bool(attrValue))


@acl(HEADER, "aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName, int64_t attrValue)")
def aclopSetAttrInt(attr: Handle, attrName: str | None, attrValue: int) -> None:
    """An integer."""
    _set(attr, attrName, attrValue)


@acl(HEADER, "aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName, float attrValue)")
def aclopSetAttrFloat(attr: Handle, attrName: str | None, attrValue: float) -> None:
    """A number."""
    _set(attr, attrName, attrValue)


@acl(HEADER, "aclError aclopSetAttrString(aclopAttr* attr, const char* attrName, const char* attrValue)")
def aclopSetAttrString(attr: Handle, attrName: str | None, attrValue: str | None) -> None:
    """A text."""
    if attrValue is None:
        raise NullParam("attrValue must not be a null pointer")
    _set(attr, attrName, attrValue)


@acl(HEADER, "aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName, aclDataType attrValue)")
def aclopSetAttrDataType(attr: Handle, attrName: str | None, attrValue: int) -> None:
    """A data type."""
    _set(attr, attrName, attrValue)


@acl(HEADER, "aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName, int numValues, const uint8_t* values)")
def aclopSetAttrListBool(attr: Handle, attrName: str | None, values: Sequence[int] | None) -> None:
    """Truths."""
    _set(attr, attrName, tuple(map(bool, values_of(values))))


@acl(HEADER, "aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName, int numValues, const int64_t* values)")
def aclopSetAttrListInt(attr: Handle, attrName: str | None, values: Sequence[int] | None) -> None:
    """Integers."""
    _set(attr, attrName, values_of(values))


@acl(HEADER, "aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName, int numValues, const float* values)")
def aclopSetAttrListFloat(attr: Handle, attrName: str | None, values: Sequence[float] | None) -> None:
    """Numbers."""
    _set(attr, attrName, values_of(values))


@acl(
    HEADER,
    "aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName, int numLists, const int* numValues, "
    "const int64_t* const* values)",
)
def aclopSetAttrListListInt(attr: Handle, attrName: str | None, values: Sequence[Sequence[int]] | None) -> None:
    """Lists of integers."""
    _set(attr, attrName, tuple(map(tuple, values_of(values))))
