"""aclnnNpuFormatCast, and what its result looks like: tensors from and to formats in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from acl_emu.core import soc
from acl_emu.core.constants import (
    ACL_FORMAT_FRACTAL_NZ,
    ACL_FORMAT_FRACTAL_NZ_C0_16,
    ACL_FORMAT_FRACTAL_NZ_C0_32,
    ACL_FORMAT_HWCN,
    ACL_FORMAT_NC,
    ACL_FORMAT_NCDHW,
    ACL_FORMAT_NCHW,
    ACL_FORMAT_NCL,
    ACL_FORMAT_ND,
    ACL_FORMAT_NDHWC,
    ACL_FORMAT_NHWC,
)
from acl_emu.core.dtypes import (
    BF16,
    BY_CODE,
    FLOAT,
    FLOAT4_E1M2,
    FLOAT4_E2M1,
    FLOAT8_E4M3FN,
    FLOAT16,
    HIFLOAT8,
    INT8,
    INT32,
    UINT8,
    UINT32,
    DType,
    dtype_name,
)
from acl_emu.core.errors import AclnnRuntime
from acl_emu.core.formats import STRIDED, format_name
from acl_emu.spec import (
    Array,
    Example,
    In,
    IntKind,
    Operand,
    Out,
    Plan,
    Product,
    direct,
    numbers,
    operator,
    require,
    same_dtype,
    same_shape,
)
from acl_emu.spec.fractal import BLOCK_BYTES
from acl_emu.spec.single_phase import Result, single_phase
from aclnnop.conversion.private_formats import CHANNELS, DHWCN, MATRICES, NZ_COLUMNS, from_blocks, into_blocks, storage_shape
from aclnnop.math.narrow import packed

PRODUCTS = frozenset({Product.A950, Product.A3, Product.A2})
TYPES = (INT8, UINT8, INT32, UINT32, FLOAT, FLOAT16, BF16)
NEWEST = {Product.A950: (*TYPES, FLOAT8_E4M3FN, FLOAT4_E2M1, FLOAT4_E1M2, HIFLOAT8)}
PRIVATE = MATRICES | frozenset(CHANNELS)
ORDINARY = STRIDED | {DHWCN}
FORMATS = PRIVATE | ORDINARY
NAMED = frozenset(
    {ACL_FORMAT_ND, ACL_FORMAT_NCL, ACL_FORMAT_NCHW, ACL_FORMAT_NHWC, ACL_FORMAT_HWCN, ACL_FORMAT_NCDHW, ACL_FORMAT_NDHWC, DHWCN}
)
PLAIN = frozenset({ACL_FORMAT_ND, ACL_FORMAT_NCL, ACL_FORMAT_NCHW, ACL_FORMAT_NCDHW})
"""What matrices in blocks come from, and go to."""
LEAST_RANK, MOST_RANK = 2, 6
AS_SOURCE = -1
_SPLIT = {
    (INT8, INT8): ACL_FORMAT_FRACTAL_NZ,
    (INT32, FLOAT16): ACL_FORMAT_FRACTAL_NZ_C0_16,
    (INT32, BF16): ACL_FORMAT_FRACTAL_NZ_C0_16,
    (FLOAT, FLOAT16): ACL_FORMAT_FRACTAL_NZ_C0_16,
    (FLOAT, BF16): ACL_FORMAT_FRACTAL_NZ_C0_16,
    (FLOAT, FLOAT8_E4M3FN): ACL_FORMAT_FRACTAL_NZ_C0_32,
    (FLOAT16, FLOAT16): ACL_FORMAT_FRACTAL_NZ,
    (BF16, BF16): ACL_FORMAT_FRACTAL_NZ,
    (FLOAT8_E4M3FN, FLOAT8_E4M3FN): ACL_FORMAT_FRACTAL_NZ,
    (FLOAT4_E2M1, FLOAT8_E4M3FN): ACL_FORMAT_FRACTAL_NZ,
    (FLOAT4_E2M1, FLOAT4_E2M1): ACL_FORMAT_FRACTAL_NZ,
    (FLOAT4_E1M2, FLOAT4_E1M2): ACL_FORMAT_FRACTAL_NZ,
    (HIFLOAT8, HIFLOAT8): ACL_FORMAT_FRACTAL_NZ,
}
"""On the newest chips: the format that a tensor gets, by its type and the one that decides how wide blocks are."""


@single_phase(products=PRODUCTS, elsewhere=AclnnRuntime)
def aclnnNpuFormatCastCalculateSizeAndFormat(
    srcTensor: Annotated[Operand, In(*TYPES, rank=(LEAST_RANK, MOST_RANK), formats=FORMATS, on=NEWEST)],
    dstFormat: Annotated[int, IntKind("const int")],
    additionalDtype: Annotated[int, IntKind("const int")],
) -> tuple[
    Annotated[list[int], Result("int64_t*", "dstShape", "list[int]")],
    Annotated[int, Result("uint64_t", "dstShapeSize")],
    Annotated[int, Result("int", "actualFormat")],
]:
    """Say what storage shape and format a tensor has after its conversion."""
    require(0 not in srcTensor.shape, f"srcTensor has shape {list(srcTensor.shape)}, expected no empty dimension")
    require(dstFormat in NAMED | PRIVATE, f"dstFormat is {format_name(dstFormat)}, expected a format that tensors can be converted to")
    dtype = srcTensor.dtype if additionalDtype == AS_SOURCE else BY_CODE.get(additionalDtype)
    allowed = NEWEST.get(soc.current().product, TYPES)
    require(dtype in allowed, f"additionalDtype is {dtype_name(additionalDtype)}, expected one of {', '.join(map(str, allowed))}, or -1")
    assert dtype is not None
    source = srcTensor.view.format
    shape, actual = converted(srcTensor, source, dstFormat, dtype)
    return list(shape), len(shape), actual


def converted(tensor: Operand, source: int, target: int, dtype: DType) -> tuple[tuple[int, ...], int]:
    """Storage shape and format behind a conversion."""
    if not convertible(source, target):
        raise AclnnRuntime(f"dstFormat is {format_name(target)}, to which {format_name(source)} cannot be converted")
    if target in ORDINARY:
        return tensor.shape, target
    columns = BLOCK_BYTES * 8 // dtype.bits
    if soc.current().product is Product.A950:
        actual = _SPLIT.get((tensor.dtype, dtype))
        require(actual is not None, f"additionalDtype is {dtype}, which does not go with srcTensor of {tensor.dtype}")
        assert actual is not None
        return storage_shape(tensor.shape, source, actual, columns), actual
    return storage_shape(tensor.shape, source, target, columns), target


def convertible(source: int, target: int) -> bool:
    """Whether there is a conversion: one of both is in blocks, and of axes that have these names."""
    private, plain = (target, source) if target in PRIVATE else (source, target)
    if private not in PRIVATE or plain not in ORDINARY:
        return False
    newest = soc.current().product is Product.A950
    if newest:
        return private in MATRICES and plain in (ACL_FORMAT_ND, ACL_FORMAT_NCL, ACL_FORMAT_NC)
    return plain in PLAIN if private == ACL_FORMAT_FRACTAL_NZ else private in CHANNELS and plain in CHANNELS[private].plain


@operator(products=PRODUCTS, elsewhere=AclnnRuntime)
def aclnnNpuFormatCast(
    srcTensor: Annotated[Operand, In(*TYPES, rank=(LEAST_RANK, MOST_RANK), formats=FORMATS, on=NEWEST)],
    dstTensor: Annotated[Operand, Out(*TYPES, formats=FORMATS, on=NEWEST)],
) -> Plan:
    """Put the elements of a tensor into the order of another format."""
    same_dtype(srcTensor, dstTensor)
    for tensor in (srcTensor, dstTensor):
        require(tensor.contiguous, f"{tensor.name} has strides {list(tensor.view.strides)}, expected a contiguous tensor")
    require(0 not in srcTensor.shape, f"srcTensor has shape {list(srcTensor.shape)}, expected no empty dimension")
    source, target = srcTensor.view.format, dstTensor.view.format
    both_strided = source in ORDINARY and target in ORDINARY
    require(
        both_strided or convertible(source, target),
        f"dstTensor has format {format_name(target)}, to which {format_name(source)} cannot be converted",
    )
    if both_strided:
        same_shape(srcTensor, dstTensor)
        return direct(copy, reads=(srcTensor,), writes=(dstTensor,), scratch={})
    into = target in PRIVATE
    ordinary, blocked = (srcTensor, dstTensor) if into else (dstTensor, srcTensor)
    plain, private, shape = ordinary.view.format, blocked.view.format, ordinary.shape
    columns = columns_of(blocked, private)
    storage = storage_shape(shape, plain, private, columns)
    require(
        blocked.shape in (shape, storage),
        f"{blocked.name} has shape {list(blocked.shape)}, expected that of {ordinary.name}: {list(shape)}",
    )
    memory = blocked.in_view(storage)
    settings: dict[str, Any] = {"shape": shape, "plain": plain, "private": private, "columns": columns, "bits": srcTensor.dtype.bits}
    reads, writes = (ordinary, memory) if into else (memory, ordinary)
    return direct(split if into else join, reads=(reads,), writes=(writes,), scratch={}, **settings)


def columns_of(tensor: Operand, private: int) -> int:
    """How wide its blocks are: its format says so, or the last length of its storage shape, or its type."""
    by_storage = tensor.view.storage[-1] if len(tensor.view.storage) > tensor.rank else 0
    return NZ_COLUMNS.get(private) or by_storage or BLOCK_BYTES * 8 // tensor.dtype.bits


def copy(source: Array, target: Array) -> None:
    """Formats that name axes do not move elements."""
    target[...] = source


def split(source: Array, target: Array, *, shape: tuple[int, ...], plain: int, private: int, columns: int, bits: int) -> None:
    """Into blocks."""
    found = into_blocks(as_elements(source, shape, bits), plain, private, columns)
    target[...] = as_stored(found, bits).reshape(target.shape)


def join(source: Array, target: Array, *, shape: tuple[int, ...], plain: int, private: int, columns: int, bits: int) -> None:
    """Out of blocks."""
    elements = as_elements(source, storage_shape(shape, plain, private, columns), bits)
    found = from_blocks(elements, shape, plain, private, columns)
    target[...] = as_stored(found, bits).reshape(target.shape)


def as_elements(stored: Array, shape: tuple[int, ...], bits: int) -> Array:
    """The bits of each element, whatever they mean."""
    if bits < 8:
        return np.stack((stored & 15, stored >> 4), axis=-1).reshape(-1)[: int(np.prod(shape))].reshape(shape)
    return stored


def as_stored(elements: Array, bits: int) -> Array:
    """The way back."""
    return packed(np.ascontiguousarray(elements)) if bits < 8 else np.ascontiguousarray(elements)


@aclnnNpuFormatCast.example
def examples() -> Iterator[Example]:
    """Between formats that name axes; those in blocks lie behind each other in another way."""
    for dtype in (FLOAT16, INT8):
        yield {"srcTensor": numbers((5, 7), dtype, 1, 9), "dstTensor": numbers((5, 7), dtype, 2, 9)}
