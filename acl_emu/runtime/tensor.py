"""What an operator is called with: tensors, scalars, arrays and lists. None owns device memory.

The objects live in C. What is here are their values, as they were when they were looked at; ``runtime.objects`` makes and reads them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from acl_emu.core import dtypes, formats, handles
from acl_emu.core._bridge import lib
from acl_emu.core.dtypes import DType
from acl_emu.core.errors import DeviceFault
from acl_emu.runtime import memory

Shape = tuple[int, ...]

MAX_RANK = 25
"""As many dimensions as a tensor object has room for."""


def contiguous_strides(shape: Sequence[int]) -> Shape:
    """Row-major strides in elements; where they do not fit 64 bits they wrap around, as in C."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        stride = strides[axis + 1] * shape[axis + 1]
        strides[axis] = stride if -(2**63) <= stride < 2**63 else (stride + 2**63) % 2**64 - 2**63
    return tuple(strides)


class Layout(NamedTuple):
    """Where the elements of a view lie, in bytes; those of packed types are the bytes that hold them, in a row."""

    shape: Shape
    dtype: np.dtype[Any]
    strides: Shape
    offset: int
    extent: int
    """From the first byte to behind the last; 0 where there is no element."""


class View:
    """What a tensor object says about itself; never changed, only replaced.

    Element (i0, ..., ik) lies at ``address + (offset + i0 * stride0 + ...) * itemsize``; strides and offset count elements.
    ``make_view`` mostly gives the same object for equal descriptions.
    """

    __slots__ = ("_layout", "_origin", "dtype_code", "format", "offset", "shape", "storage", "strides")

    def __init__(self, shape: Shape, dtype_code: int, strides: Shape, offset: int, format: int, storage: Shape) -> None:
        self.shape = shape
        self.dtype_code = dtype_code
        self.strides = strides
        self.offset = offset
        self.format = format
        self.storage = storage
        self._layout: Layout | None = None
        self._origin: View | None = self if offset <= 0 else None

    @property
    def origin(self) -> View:
        """The same elements, counted from the first one: plans do not depend on where that lies."""
        if self._origin is None:
            self._origin = make_view(self.shape, self.dtype_code, self.strides, 0, self.format, self.storage)
        return self._origin

    @property
    def layout(self) -> Layout:
        """Where its elements lie; only for data types that are known."""
        if self._layout is None:
            dtype = dtypes.BY_CODE[self.dtype_code]
            item = dtype.storage.itemsize
            shape, strides, offset = self.shape, tuple(stride * item for stride in self.strides), self.offset * item
            if dtype.bits < 8:
                shape, strides, offset = (-(-math.prod(shape) * dtype.bits // 8),), (1,), self.offset * dtype.bits // 8
            last = sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
            self._layout = Layout(shape, dtype.storage, strides, offset, 0 if 0 in shape else last + item)
        return self._layout


class Tensor:
    """An aclTensor: a view and an address, either of which the program may replace."""

    c_name = "aclTensor"
    number = lib.ACL_EMU_TENSOR
    """Its kind in C."""
    __slots__ = ("address", "view")

    def __init__(self, view: View, address: int | None) -> None:
        self.view = view
        self.address = address

    @property
    def about(self) -> str:
        """Dimensions and type, for the repr of its handle."""
        shape = "×".join(map(str, self.view.shape)) or "0-dim"
        return f"{shape} {dtypes.dtype_name(self.view.dtype_code).removeprefix('ACL_')}"


class Operand:
    """A tensor as a plan sees it: its parameter's name, and its view at phase one. Which tensor it is, each call says anew."""

    __slots__ = ("is_output", "name", "place", "view")

    def __init__(self, name: str, view: View, place: int = 0, *, is_output: bool = False) -> None:
        self.name = name
        self.view = view
        self.place = place
        """Which of the call's tensors it is; members of lists count one by one."""
        self.is_output = is_output
        """Whether it is written and not read."""

    @property
    def dtype(self) -> DType:
        """Its data type; operators only see tensors whose dtype was checked."""
        return dtypes.BY_CODE[self.view.dtype_code]

    @property
    def shape(self) -> Shape:
        """View dimensions."""
        return self.view.shape

    @property
    def rank(self) -> int:
        """Number of view dimensions."""
        return len(self.view.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.view.shape)

    @property
    def contiguous(self) -> bool:
        """Whether its elements follow each other; tensors of at most one element and private formats count as such."""
        view = self.view
        if self.size <= 1 or formats.is_private(view.format):
            return True
        expected = 1
        for length, stride in zip(reversed(view.shape), reversed(view.strides), strict=True):
            if length != 1:
                if stride != expected:
                    return False
                expected *= length
        return True

    def in_view(self, shape: Sequence[int], strides: Sequence[int] | None = None) -> Operand:
        """The same tensor with another shape; without strides its elements follow each other."""
        view = self.view
        return Operand(self.name, make_view(shape, view.dtype_code, strides, view.offset, view.format, view.storage), self.place)

    def with_axis(self, axis: int) -> Operand:
        """The same tensor with an axis of length 1 more."""
        shape, strides = self.view.shape, self.view.strides
        return self.in_view((*shape[:axis], 1, *shape[axis:]), (*strides[:axis], 0, *strides[axis:]))

    def transposed(self) -> Operand:
        """The same tensor with its last two axes exchanged."""
        (*outer, rows, columns), (*steps, down, across) = self.view.shape, self.view.strides
        return self.in_view((*outer, columns, rows), (*steps, across, down))

    def __repr__(self) -> str:
        return f"{self.name}{list(self.shape)}:{dtypes.dtype_name(self.view.dtype_code)}"


class BoundOperand:
    """An operand with its address: all that a queued task needs, whatever happens to the tensor object."""

    __slots__ = ("address", "name", "view")

    def __init__(self, name: str, view: View, address: int | None) -> None:
        self.name = name
        self.view = view
        self.address = address

    def array(self) -> npt.NDArray[Any]:
        """The elements in device memory, as a strided array; those of packed types as the bytes that hold them, in a row."""
        shape, dtype, strides, offset, extent = self.view.layout
        if not extent:
            return np.empty(shape, dtype)
        if not self.address:
            raise DeviceFault(f"{self.name}: the tensor has no address")
        try:
            return memory.strided_array_at(self.address + offset, extent, shape, dtype, strides)
        except DeviceFault as fault:
            raise DeviceFault(f"{self.name}: {fault}") from None


class Scalar:
    """An aclScalar: one value of one type."""

    c_name = "aclScalar"
    number = lib.ACL_EMU_SCALAR
    __slots__ = ("dtype", "raw", "value")

    def __init__(self, dtype: DType, raw: bytes) -> None:
        self.dtype = dtype
        self.raw = raw
        self.value: Any = np.frombuffer(raw, dtype.numpy)[0] if dtype.numpy_name else raw
        """A numpy scalar (the raw bytes for types that numpy lacks)."""

    @property
    def about(self) -> str:
        """Value and type, for messages."""
        return f"{self.value} {self.dtype.name}"

    def as_bool(self) -> bool:
        """Floats are true from the type's epsilon on."""
        if self.dtype.kind == "float":
            import ml_dtypes

            return bool(abs(float(self.value)) >= float(ml_dtypes.finfo(self.dtype.numpy).eps))  # type: ignore[no-untyped-call]
        return bool(self.value)

    def as_real(self) -> float:
        """As a double; a complex value has none and gives 0."""
        return 0.0 if self.dtype.kind == "complex" else float(self.value)

    def converted(self, dtype: DType) -> Any:
        """As a number that ``dtype`` holds, in the type that kernels compute in; integers wrap around."""
        if dtype.kind == "bool":
            return np.bool_(self.as_bool())
        value = np.asarray(self.value)
        if dtype.kind == "float" and dtype.compute != dtype.numpy:
            value = dtypes.round_to(value.astype(np.float64), dtype)
        return value.astype(dtype.numpy).astype(dtype.compute)[()]

    def __repr__(self) -> str:
        return f"{self.value!r}:{self.dtype}"


class Array:
    """An aclIntArray, aclFloatArray or aclBoolArray."""

    c_name = "array"
    number = 0
    __slots__ = ("values",)

    def __init__(self, values: Sequence[Any]) -> None:
        self.values: tuple[Any, ...] = tuple(values)

    @property
    def about(self) -> str:
        """The values, for messages; the first ones where there are many."""
        more = ", …]" if len(self.values) > 32 else "]"
        return "[" + ", ".join(map(str, self.values[:32])) + more

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return repr(list(self.values))


class IntArray(Array):
    """int64_t values."""

    c_name = "aclIntArray"
    number = lib.ACL_EMU_INT_ARRAY
    __slots__ = ()


class FloatArray(Array):
    """float values."""

    c_name = "aclFloatArray"
    number = lib.ACL_EMU_FLOAT_ARRAY
    __slots__ = ()


class BoolArray(Array):
    """bool values."""

    c_name = "aclBoolArray"
    number = lib.ACL_EMU_BOOL_ARRAY
    __slots__ = ()


class HandleList:
    """An aclTensorList or aclScalarList: it refers to its members; null members are allowed."""

    c_name = "list"
    number = 0
    of: type[Any] = object
    """What its members are."""
    __slots__ = ("members",)

    def __init__(self, members: Sequence[int | None]) -> None:
        self.members: tuple[int | None, ...] = tuple(member or None for member in members)

    @property
    def about(self) -> str:
        """How many members it has, for messages."""
        return f"of {len(self.members)}"

    def __len__(self) -> int:
        return len(self.members)


class TensorList(HandleList):
    """Handles of tensors."""

    c_name = "aclTensorList"
    number = lib.ACL_EMU_TENSOR_LIST
    of = Tensor
    __slots__ = ()

    @property
    def tensors(self) -> tuple[Tensor | None, ...]:
        """The members that are alive."""
        return tuple(handles.find(member, Tensor) for member in self.members)


class ScalarList(HandleList):
    """Handles of scalars."""

    c_name = "aclScalarList"
    number = lib.ACL_EMU_SCALAR_LIST
    of = Scalar
    __slots__ = ()

    @property
    def scalars(self) -> tuple[Scalar | None, ...]:
        """The members that are alive."""
        return tuple(handles.find(member, Scalar) for member in self.members)


_views: dict[tuple[Shape, int, Shape, int, int, Shape], View] = {}
_MOST_VIEWS = 1 << 14


def make_view(
    shape: Sequence[int], dtype_code: int, strides: Sequence[int] | None, offset: int, format: int, storage: Sequence[int]
) -> View:
    """A view as aclCreateTensor describes it; nothing is checked here, as on the real library."""
    dims = tuple(map(index, shape))
    steps = contiguous_strides(dims) if strides is None else tuple(map(index, strides))
    key = (dims, index(dtype_code), steps, index(offset), index(format), tuple(map(index, storage)))
    view = _views.get(key)
    if view is None:
        if len(_views) >= _MOST_VIEWS:
            _views.clear()
        view = _views[key] = View(*key)
    return view
