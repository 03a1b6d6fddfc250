"""Parameter kinds: what C type a parameter has, how an argument is taken, and which of the standard checks it brings along."""

from __future__ import annotations

import ctypes
import enum
import operator as python_operator
import struct
from collections.abc import Hashable
from typing import Annotated, Any

from acl_emu.core import dtypes, handles
from acl_emu.core.dtypes import BF16, DType
from acl_emu.core.errors import AclnnInvalid
from acl_emu.core.formats import format_name
from acl_emu.core.soc import Product, Soc
from acl_emu.runtime.tensor import BoolArray, FloatArray, HandleList, IntArray, Operand, Scalar, ScalarList, Tensor, TensorList

MAX_DIMS = 8
MOST_ELEMENTS = 1 << 48
"""More than any device holds; sizes in bytes stay within 64 bits below it."""


class Kind:
    """What all parameters have in common."""

    c_type = ""
    io = "in"
    optional = False
    """Whether a null pointer is allowed."""
    python_type = "int"
    """For the type stubs."""

    def find(self, name: str, value: Any) -> Any:
        """The argument, or the living object that a handle stands for; None for a null pointer."""
        raise NotImplementedError

    def key(self, found: Any) -> Hashable:
        """All that a plan can depend on of what was found: where keys are equal, plans are."""
        return found  # type: ignore[no-any-return]

    def given(self, name: str, found: Any) -> Any:
        """What was found, as the operator function gets it."""
        return found

    def take(self, name: str, value: Any) -> Any:
        """The argument as the operator function gets it; None for a null pointer."""
        return self.given(name, self.find(name, value))

    def check_dtype(self, name: str, value: Any, soc: Soc) -> None:
        """Raise 161002 for a data type outside the declaration."""

    def check_format(self, name: str, value: Any) -> None:
        """Raise 161002 for a format outside the declaration."""

    def check_rank(self, name: str, value: Any) -> None:
        """Raise 161002 for a number of dimensions outside the declaration."""

    def check_choice(self, name: str, value: Any) -> None:
        """Raise 161002 for a value outside the declaration."""


class TensorKind(Kind):
    """A tensor: ``In(FLOAT, FLOAT16)``, ``Out(FLOAT)``; no dtype listed means any."""

    python_type = "Handle"

    def __init__(
        self,
        *allowed: DType,
        io: str,
        optional: bool = False,
        const: bool,
        rank: int | tuple[int, int] = (0, MAX_DIMS),
        formats: tuple[int, ...] = (),
        on: dict[Product, tuple[DType, ...]] | None = None,
        unless: str = "",
    ) -> None:
        self.allowed = allowed
        self.io = io
        self.optional = optional
        self.c_type = "const aclTensor*" if const else "aclTensor*"
        self.least, self.most = (rank, rank) if isinstance(rank, int) else rank
        self.formats = formats
        self.on = on or {}
        self.unless = unless
        """An optional parameter that replaces this one: where it is given, this one is not looked at."""

    def find(self, name: str, value: Any) -> Tensor | None:
        thing = handles.alive.get(value) if value.__class__ is int else None
        if thing.__class__ is Tensor:  # by far the most
            return thing
        return _living(name, value, Tensor) if value else None

    def key(self, found: Tensor | None) -> Hashable:
        return None if found is None else found.view

    def given(self, name: str, found: Tensor | None) -> Operand | None:
        return None if found is None else Operand(name, found.view)

    def dtypes_on(self, soc: Soc) -> tuple[DType, ...]:
        """What is allowed on a chip; BF16 needs hardware for it."""
        listed = self.on.get(soc.product, self.allowed)
        return listed if soc.bf16 else tuple(dtype for dtype in listed if dtype is not BF16)

    def check_dtype(self, name: str, value: Operand, soc: Soc) -> None:
        code = value.view.dtype_code
        listed = self.dtypes_on(soc)
        if not listed and not _computable(code, soc):
            raise AclnnInvalid(f"{name} has dtype {dtypes.dtype_name(code)}, which is not supported on {soc.name}")
        if listed and all(dtype.code != code for dtype in listed):
            wanted = ", ".join(str(dtype) for dtype in listed)
            raise AclnnInvalid(f"{name} has dtype {dtypes.dtype_name(code)}, expected one of {wanted} on {soc.name}")

    def check_format(self, name: str, value: Operand) -> None:
        if self.formats and value.view.format not in self.formats:
            wanted = ", ".join(format_name(code) for code in self.formats)
            raise AclnnInvalid(f"{name} has format {format_name(value.view.format)}, expected {wanted}")

    def check_rank(self, name: str, value: Operand) -> None:
        view = value.view
        if not self.least <= len(view.shape) <= self.most:
            wanted = str(self.least) if self.least == self.most else f"{self.least} to {self.most}"
            raise AclnnInvalid(f"{name} has {len(view.shape)} dimensions, expected {wanted}; its shape is {list(view.shape)}")
        if any(length < 0 for length in view.shape):
            raise AclnnInvalid(f"{name} has shape {list(view.shape)}, expected no negative dimension")
        if value.size > MOST_ELEMENTS:
            raise AclnnInvalid(f"{name} has shape {list(view.shape)}, expected at most {MOST_ELEMENTS} elements")
        if len(view.strides) != len(view.shape) or any(stride < 0 for stride in view.strides) or view.offset < 0:
            raise AclnnInvalid(f"{name} has strides {list(view.strides)} and offset {view.offset}, expected no negative value")


def In(
    *allowed: DType,
    optional: bool = False,
    const: bool = True,
    rank: int | tuple[int, int] = (0, MAX_DIMS),
    formats: tuple[int, ...] = (),
    on: dict[Product, tuple[DType, ...]] | None = None,
    unless: str = "",
) -> TensorKind:
    """An input tensor."""
    return TensorKind(*allowed, io="in", optional=optional, const=const, rank=rank, formats=formats, on=on, unless=unless)


def Out(
    *allowed: DType,
    optional: bool = False,
    const: bool = False,
    rank: int | tuple[int, int] = (0, MAX_DIMS),
    formats: tuple[int, ...] = (),
    on: dict[Product, tuple[DType, ...]] | None = None,
) -> TensorKind:
    """An output tensor; some prototypes call it const all the same."""
    return TensorKind(*allowed, io="out", optional=optional, const=const, rank=rank, formats=formats, on=on)


def InOut(
    *allowed: DType,
    const: bool = True,
    rank: int | tuple[int, int] = (0, MAX_DIMS),
    formats: tuple[int, ...] = (),
    on: dict[Product, tuple[DType, ...]] | None = None,
) -> TensorKind:
    """A tensor that is changed in place: the selfRef of aclnnInplaceXxx, const in most prototypes."""
    return TensorKind(*allowed, io="inout", const=const, rank=rank, formats=formats, on=on)


def _computable(code: int, soc: Soc) -> bool:
    """Whether any kernel of a chip could store the type: whole bytes, and BF16 only where there is hardware for it."""
    dtype = dtypes.BY_CODE.get(code)
    return dtype is not None and bool(dtype.numpy_name) and dtype.bits >= 8 and (soc.bf16 or dtype is not BF16)


class HandleKind(Kind):
    """A scalar, array or list object."""

    python_type = "Handle"

    def __init__(self, kind: type[Any], *allowed: DType, optional: bool = False, io: str = "in") -> None:
        self.kind = kind
        self.allowed = allowed
        """The types of a scalar; none listed means any."""
        self.optional = optional
        self.io = io
        self.c_type = f"const {kind.c_name}*" if io == "in" else f"{kind.c_name}*"

    def find(self, name: str, value: Any) -> Any:
        thing = _living(name, value, self.kind) if value else None
        if isinstance(thing, HandleList):
            kind = Tensor if isinstance(thing, TensorList) else Scalar
            return tuple(None if member is None else _living(f"{name}[{i}]", member, kind) for i, member in enumerate(thing.members))
        return thing

    def key(self, found: Any) -> Hashable:
        if found is None:
            return None
        if self.kind is TensorList:
            return tuple(None if tensor is None else tensor.view for tensor in found)
        if self.kind is ScalarList:
            return tuple(None if scalar is None else scalar.key for scalar in found)
        return found.key  # type: ignore[no-any-return]

    def given(self, name: str, found: Any) -> Any:
        if found is None or not issubclass(self.kind, HandleList):
            return found
        if self.kind is TensorList:
            return [None if tensor is None else Operand(f"{name}[{i}]", tensor.view) for i, tensor in enumerate(found)]
        return list(found)

    def check_dtype(self, name: str, value: Any, soc: Soc) -> None:
        if self.allowed and (value.dtype not in self.allowed or (value.dtype is BF16 and not soc.bf16)):
            wanted = ", ".join(str(dtype) for dtype in self.allowed)
            raise AclnnInvalid(f"{name} has dtype {value.dtype}, expected one of {wanted} on {soc.name}")


class IntKind(Kind):
    """A C integer, checked against a set of values where one is declared."""

    def __init__(self, c_type: str = "int64_t", choices: type[enum.IntEnum] | None = None) -> None:
        self.c_type = c_type
        self.choices = choices
        bits = int("".join(filter(str.isdigit, c_type)) or 32)
        unsigned = c_type.startswith("u")
        self.low: int = 0 if unsigned else -(2 ** (bits - 1))
        self.high: int = 2**bits - 1 if unsigned else 2 ** (bits - 1) - 1

    def find(self, name: str, value: Any) -> int:
        try:
            number = value if value.__class__ is int else int(python_operator.index(value))
        except TypeError:
            raise TypeError(f"{name} must be a whole number, got {value!r}") from None
        if not self.low <= number <= self.high:
            raise OverflowError(f"{name} must fit {self.c_type}, got {number}")
        return number

    def check_choice(self, name: str, value: int) -> None:
        if self.choices is not None and value not in self.choices._value2member_map_:
            wanted = ", ".join(f"{choice.value} ({choice.name.lower()})" for choice in self.choices)
            raise AclnnInvalid(f"{name} is {value}, expected one of {wanted}")


_INT32 = IntKind("int32_t")


class DataTypeKind(Kind):
    """An aclDataType, handed over as a number: operators decide which ones they take."""

    def __init__(self, c_type: str = "aclDataType") -> None:
        self.c_type = c_type

    def find(self, name: str, value: Any) -> int:
        return _INT32.find(name, value)


class FloatKind(Kind):
    """A C float or double; a float is rounded as C would round it."""

    python_type = "float"

    def __init__(self, c_type: str) -> None:
        self.c_type = c_type

    def find(self, name: str, value: Any) -> float:
        try:
            return float(value) if self.c_type == "double" else ctypes.c_float(value).value
        except (TypeError, ValueError):
            raise TypeError(f"{name} must be a number, got {value!r}") from None

    def key(self, found: float) -> Hashable:
        return found if found < 0 or found > 0 else struct.pack("d", found)  # zeros have signs, and no NaN equals another


class BoolKind(Kind):
    """A C bool."""

    c_type = "bool"
    python_type = "bool"

    def find(self, name: str, value: Any) -> bool:
        return bool(value)


class StringKind(Kind):
    """A C string, checked against a set of words where one is declared."""

    python_type = "str | None"

    def __init__(self, c_type: str = "const char*", *, optional: bool = False, choices: tuple[str, ...] = ()) -> None:
        self.c_type = c_type
        self.optional = optional
        self.choices = choices

    def find(self, name: str, value: Any) -> str | None:
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be a string, got {value!r}")
        return value

    def check_choice(self, name: str, value: str) -> None:
        if self.choices and value not in self.choices:
            raise AclnnInvalid(f"{name} is {value!r}, expected one of {', '.join(self.choices)}")


def _living(name: str, value: Any, kind: type[Any]) -> Any:
    if not isinstance(value, int):
        raise TypeError(f"{name} must be a handle of an {kind.c_name} or None, got {value!r}")
    thing = handles.find(value, kind)
    if thing is None:
        raise AclnnInvalid(f"{name} is {handles.describe(value)}, expected a living {kind.c_name}")
    return thing


class Reduction(enum.IntEnum):
    """How a loss is reduced."""

    NONE = 0
    MEAN = 1
    SUM = 2


_FLOATS = (dtypes.FLOAT, dtypes.FLOAT16, dtypes.BF16)

FloatIn = Annotated[Operand, In(*_FLOATS)]
FloatOut = Annotated[Operand, Out(*_FLOATS)]
ConstFloatOut = Annotated[Operand, Out(*_FLOATS, const=True)]
OptionalFloatIn = Annotated[Operand | None, In(*_FLOATS, optional=True)]
Int = Annotated[int, IntKind()]
Float = Annotated[float, FloatKind("float")]
Double = Annotated[float, FloatKind("double")]
Bool = Annotated[bool, BoolKind()]
ReductionMode = Annotated[int, IntKind(choices=Reduction)]
ScalarIn = Annotated[Scalar, HandleKind(Scalar)]
IntArrayIn = Annotated[IntArray, HandleKind(IntArray)]
FloatArrayIn = Annotated[FloatArray, HandleKind(FloatArray)]
BoolArrayIn = Annotated[BoolArray, HandleKind(BoolArray)]
TensorListIn = Annotated[list[Operand], HandleKind(TensorList)]
TensorListOut = Annotated[list[Operand], HandleKind(TensorList, io="out")]
ScalarListIn = Annotated[list[Scalar], HandleKind(ScalarList)]
String = Annotated[str, StringKind()]
DataType = Annotated[int, DataTypeKind()]
