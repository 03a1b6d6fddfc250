"""acl/acl_base.h: descriptions of the tensors that operators of the older interface take (see ``acl_op_compiler``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import index as whole

from acl_emu.api.border import Handle, acl, plain, values_of
from acl_emu.core import constants as c
from acl_emu.core import dtypes, handles
from acl_emu.core.errors import InvalidParam, NullParam, report
from acl_emu.runtime.tensor import MAX_RANK

HEADER = "acl/acl_base.h"

_PLACES = (c.ACL_MEMTYPE_DEVICE, c.ACL_MEMTYPE_HOST, c.ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT)
_UNKNOWN_RANK = -2


@dataclass(eq=False)
class TensorDesc:
    """What a tensor is like, without its memory."""

    c_name = "aclTensorDesc"

    dtype: int
    shape: tuple[int, ...]
    format: int
    name: str = ""
    storage_format: int = c.ACL_FORMAT_UNDEFINED
    storage_shape: tuple[int, ...] | None = None
    """As it lies in memory, where that is another shape."""
    place: int = c.ACL_MEMTYPE_DEVICE
    handle: int = 0


def find_description(handle: Handle, name: str = "desc") -> TensorDesc:
    """The living description behind a handle."""
    if not handle:
        raise NullParam(f"{name} must not be a null pointer")
    found = handles.find(handle, TensorDesc)
    if found is None:
        raise InvalidParam(f"{name} is {handles.describe(handle)}, expected a living aclTensorDesc")
    return found


def _dimensions(dims: Sequence[int] | None) -> tuple[int, ...]:
    found = tuple(whole(value) for value in values_of(dims))
    if len(found) > MAX_RANK:
        raise InvalidParam(f"dims has {len(found)} dimensions, expected at most {MAX_RANK}")
    return found


@plain(HEADER, "aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims, aclFormat format)")
def aclCreateTensorDesc(dataType: int, dims: Sequence[int] | None, format: int) -> Handle:
    """A description; null where there are too many dimensions."""
    made = TensorDesc(dataType, _dimensions(dims), format)
    made.handle = handles.issue(made)
    return made.handle


@plain(HEADER, "void aclDestroyTensorDesc(const aclTensorDesc* desc)")
def aclDestroyTensorDesc(desc: Handle) -> None:
    """Forget a description; null is none."""
    if desc:
        handles.retire(find_description(desc).handle)


@plain(HEADER, "aclDataType aclGetTensorDescType(const aclTensorDesc* desc)")
def aclGetTensorDescType(desc: Handle) -> int:
    """Its data type; ACL_DT_UNDEFINED of none."""
    try:
        return find_description(desc).dtype
    except InvalidParam as error:
        report(error)
        return c.ACL_DT_UNDEFINED


@plain(HEADER, "aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc)")
def aclGetTensorDescFormat(desc: Handle) -> int:
    """Its format; ACL_FORMAT_UNDEFINED of none."""
    try:
        return find_description(desc).format
    except InvalidParam as error:
        report(error)
        return c.ACL_FORMAT_UNDEFINED


@plain(HEADER, "size_t aclGetTensorDescNumDims(const aclTensorDesc* desc)")
def aclGetTensorDescNumDims(desc: Handle) -> int:
    """How many dimensions it has; ACL_UNKNOWN_RANK where the only one is -2."""
    shape = find_description(desc).shape
    return c.ACL_UNKNOWN_RANK if shape == (_UNKNOWN_RANK,) else len(shape)


@plain(HEADER, "size_t aclGetTensorDescElementCount(const aclTensorDesc* desc)")
def aclGetTensorDescElementCount(desc: Handle) -> int:
    """How many elements it has; 0 while a dimension is not known."""
    shape = find_description(desc).shape
    return 0 if any(size < 0 for size in shape) else math.prod(shape)


@plain(HEADER, "size_t aclGetTensorDescSize(const aclTensorDesc* desc)")
def aclGetTensorDescSize(desc: Handle) -> int:
    """Its bytes, as it is described."""
    found = find_description(desc)
    shape = found.shape if found.storage_shape is None else found.storage_shape
    return 0 if any(size < 0 for size in shape) else math.prod(shape) * dtypes.data_type_size(found.dtype)


@acl(HEADER, "aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize)")
def aclGetTensorDescDimV2(desc: Handle, index: int) -> int:
    """One of its dimensions."""
    shape = find_description(desc).shape
    if not 0 <= index < len(shape):
        raise InvalidParam(f"index is {index}, expected a value in [0, {len(shape)})")
    return shape[index]


@plain(HEADER, "void aclSetTensorDescName(aclTensorDesc* desc, const char* name)")
def aclSetTensorDescName(desc: Handle, name: str | None) -> None:
    """Give it a name; null is none."""
    find_description(desc).name = name or ""


@plain(HEADER, "const char* aclGetTensorDescName(aclTensorDesc* desc)")
def aclGetTensorDescName(desc: Handle) -> str:
    """Its name; empty of none."""
    found = handles.find(desc, TensorDesc)
    return found.name if found else ""


@acl(HEADER, "aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format)")
def aclSetTensorFormat(desc: Handle, format: int) -> None:
    """The format that it has in memory."""
    find_description(desc).storage_format = format


@acl(HEADER, "aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims)")
def aclSetTensorShape(desc: Handle, dims: Sequence[int] | None) -> None:
    """The shape that it has in memory."""
    find_description(desc).storage_shape = _dimensions(dims)


@acl(HEADER, "aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType)")
def aclSetTensorPlaceMent(desc: Handle, memType: int) -> None:
    """Whose memory it lies in: the device's or the host's."""
    found = find_description(desc)
    if memType not in _PLACES:
        raise InvalidParam(f"memType is {memType}, expected one of {list(_PLACES)}")
    found.place = memType
