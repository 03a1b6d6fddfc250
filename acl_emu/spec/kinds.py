"""Parameter kinds: what C type a parameter has, how an argument is taken, and which of the standard checks it brings along."""

from __future__ import annotations

import ctypes
import enum
import operator as python_operator
from collections.abc import Callable, Iterator
from typing import Annotated, Any

from acl_emu.core import constants as c
from acl_emu.core import dtypes, handles
from acl_emu.core._bridge import lib
from acl_emu.core.dtypes import BF16, DType
from acl_emu.core.errors import AclError, AclnnInvalid, AclnnNullptr
from acl_emu.core.formats import STRIDED, format_name
from acl_emu.core.soc import Product, Soc
from acl_emu.runtime.tensor import BoolArray, FloatArray, IntArray, Operand, Scalar, ScalarList, Tensor, TensorList

MAX_DIMS = 8
MOST_FLOATS = 1 << 24
MOST_ELEMENTS = 1 << 48
"""More than any device holds; sizes in bytes stay within 64 bits below it."""


class Kind:
    """What all parameters have in common."""

    c_type = ""
    io = "in"
    pointer = False
    """Whether an argument can be a null pointer."""
    optional = False
    """Whether it may be one."""
    python_type = "int"
    """For the type stubs."""
    number = lib.ACL_EMU_NUMBER
    """How C looks at an argument: the kind of the object that a handle stands for, or as what it compares a value."""
    letter = "P"
    """Its type, as struct spells it; P: a handle, s: a string."""

    def find(self, name: str, value: Any) -> Any:
        """The argument, or the living object that a handle stands for; None for a null pointer."""
        raise NotImplementedError

    def given(self, name: str, found: Any) -> Any:
        """What was found, as the operator function gets it."""
        return found

    def take(self, name: str, value: Any) -> Any:
        """The argument as the operator function gets it; None for a null pointer."""
        return self.given(name, self.find(name, value))

    def check_null(self, name: str, value: Any) -> None:
        """Raise 161001 for a null pointer where none is allowed."""
        if value is None and self.pointer and not self.optional:
            raise AclnnNullptr(f"{name} must not be a null pointer (expected {self.c_type})")

    def check_length(self, name: str, value: Any, others: dict[str, Any]) -> None:
        """Raise 161002 for a number of members outside the declaration; ``others`` are all arguments by name."""

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

    pointer = True
    python_type = "Handle"
    number = Tensor.number

    def __init__(
        self,
        *allowed: DType,
        io: str,
        optional: bool = False,
        const: bool,
        rank: int | tuple[int, int] = (0, MAX_DIMS),
        formats: frozenset[int] = STRIDED,
        on: dict[Product, tuple[DType, ...]] | None = None,
        unless: str = "",
        null: type[AclError] = AclnnNullptr,
    ) -> None:
        self.allowed = allowed
        self.io = io
        self.optional = optional
        self.null = null
        """What a null pointer is where none is allowed."""
        self.c_type = "const aclTensor*" if const else "aclTensor*"
        self.least, self.most = (rank, rank) if isinstance(rank, int) else rank
        self.formats = formats
        self.on = on or {}
        self.unless = unless
        """An optional parameter that replaces this one: where it is given, this one is not looked at."""

    def find(self, name: str, value: Any) -> Tensor | None:
        found: Tensor | None = _living(name, value, Tensor)
        return found

    def given(self, name: str, found: Tensor | None) -> Operand | None:
        return None if found is None else Operand(name, found.view.origin, is_output=self.io == "out")

    def check_null(self, name: str, value: Any) -> None:
        if value is None and not self.optional:
            raise self.null(f"{name} must not be a null pointer (expected {self.c_type})")

    def format_for(self, rank: int) -> int:
        """The format of an array, which has none: ND, or where that is not allowed the declared one for so many dimensions."""
        if c.ACL_FORMAT_ND in self.formats:
            return c.ACL_FORMAT_ND
        letters = {code: len(format_name(code).removeprefix("ACL_FORMAT_")) for code in self.formats}  # one for each axis
        return min(self.formats, key=lambda code: (letters[code] != rank, code))

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
        if value.view.format not in self.formats:
            wanted = ", ".join(format_name(code) for code in sorted(self.formats))
            raise AclnnInvalid(f"{name} has format {format_name(value.view.format)}, expected {wanted}")

    def check_rank(self, name: str, value: Operand) -> None:
        view = value.view
        fits = self.io == "out" and value.size == 1 and len(view.shape) <= MAX_DIMS  # one element, whatever its rank
        if not self.least <= len(view.shape) <= self.most and not fits:
            wanted = str(self.least) if self.least == self.most else f"{self.least} to {self.most}"
            raise AclnnInvalid(f"{name} has {len(view.shape)} dimensions, expected {wanted}; its shape is {list(view.shape)}")
        if any(length < 0 for length in view.shape):
            raise AclnnInvalid(f"{name} has shape {list(view.shape)}, expected no negative dimension")
        if value.size > MOST_ELEMENTS:
            raise AclnnInvalid(f"{name} has shape {list(view.shape)}, expected at most {MOST_ELEMENTS} elements")
        if any(stride < 0 for stride in view.strides) or view.offset < 0:
            raise AclnnInvalid(f"{name} has strides {list(view.strides)} and offset {view.offset}, expected no negative value")


def In(
    *allowed: DType,
    optional: bool = False,
    const: bool = True,
    rank: int | tuple[int, int] = (0, MAX_DIMS),
    formats: frozenset[int] = STRIDED,
    on: dict[Product, tuple[DType, ...]] | None = None,
    unless: str = "",
    null: type[AclError] = AclnnNullptr,
) -> TensorKind:
    """An input tensor."""
    return TensorKind(*allowed, io="in", optional=optional, const=const, rank=rank, formats=formats, on=on, unless=unless, null=null)


def Out(
    *allowed: DType,
    optional: bool = False,
    const: bool = False,
    rank: int | tuple[int, int] = (0, MAX_DIMS),
    formats: frozenset[int] = STRIDED,
    on: dict[Product, tuple[DType, ...]] | None = None,
) -> TensorKind:
    """An output tensor; some prototypes call it const all the same."""
    return TensorKind(*allowed, io="out", optional=optional, const=const, rank=rank, formats=formats, on=on)


def InOut(
    *allowed: DType,
    optional: bool = False,
    const: bool = True,
    rank: int | tuple[int, int] = (0, MAX_DIMS),
    formats: frozenset[int] = STRIDED,
    on: dict[Product, tuple[DType, ...]] | None = None,
) -> TensorKind:
    """A tensor that is changed in place: the selfRef of aclnnInplaceXxx, const in most prototypes."""
    return TensorKind(*allowed, io="inout", optional=optional, const=const, rank=rank, formats=formats, on=on)


def _computable(code: int, soc: Soc) -> bool:
    """Whether any kernel of a chip could store the type: whole bytes, and BF16 only where there is hardware for it."""
    dtype = dtypes.BY_CODE.get(code)
    return dtype is not None and bool(dtype.numpy_name) and dtype.bits >= 8 and (soc.bf16 or dtype is not BF16)


class HandleKind(Kind):
    """A scalar or array object."""

    pointer = True
    python_type = "Handle"

    def __init__(self, kind: type[Any], *allowed: DType, optional: bool = False, const: bool = True) -> None:
        self.kind = kind
        self.number = kind.number
        self.allowed = allowed
        """The types of a scalar; none listed means any."""
        self.optional = optional
        self.c_type = f"const {kind.c_name}*" if const else f"{kind.c_name}*"

    def find(self, name: str, value: Any) -> Any:
        return _living(name, value, self.kind)

    def check_dtype(self, name: str, value: Any, soc: Soc) -> None:
        if isinstance(value, Scalar) and isinstance(value.value, bytes):  # numpy has no such numbers, and no kernel computes with them
            raise AclnnInvalid(f"{name} has dtype {value.dtype}, expected a number that can be converted")
        if self.allowed and (value.dtype not in self.allowed or (value.dtype is BF16 and not soc.bf16)):
            wanted = ", ".join(str(dtype) for dtype in self.allowed)
            raise AclnnInvalid(f"{name} has dtype {value.dtype}, expected one of {wanted} on {soc.name}")


class ListKind(Kind):
    """A list of tensors or scalars, every one of which is checked as a parameter of the member's kind would be."""

    pointer = True
    python_type = "Handle"

    def __init__(
        self, member: TensorKind | HandleKind, *, optional: bool, least: int, most: int | None, like: str, null: type[AclError]
    ) -> None:
        self.member = member
        self.kind: type[Any] = TensorList if isinstance(member, TensorKind) else ScalarList
        self.number = self.kind.number
        self.io = member.io
        self.optional = optional
        self.least = least
        self.most = most
        self.like = like
        self.null = null
        self.c_type = ("const " if member.c_type.startswith("const ") else "") + f"{self.kind.c_name}*"

    def find(self, name: str, value: Any) -> tuple[Any, ...] | None:
        thing = _living(name, value, self.kind)
        return None if thing is None else tuple(self.member.find(f"{name}[{i}]", member) for i, member in enumerate(thing.members))

    def given(self, name: str, found: tuple[Any, ...] | None) -> list[Any] | None:
        return None if found is None else [self.member.given(f"{name}[{i}]", one) for i, one in enumerate(found)]

    def check_null(self, name: str, value: list[Any] | None) -> None:
        super().check_null(name, value)
        for index, member in enumerate(value or ()):
            if member is None and not self.member.optional:
                raise self.null(f"{name}[{index}] must not be a null pointer (expected {self.member.c_type})")

    def check_length(self, name: str, value: list[Any], others: dict[str, Any]) -> None:
        count = len(value)
        if count < self.least or (self.most is not None and count > self.most):
            wanted = f"at least {self.least}" if self.most is None else f"{self.least} to {self.most}"
            raise AclnnInvalid(f"{name} has {count} members, expected {wanted}")
        other = others[self.like] if self.like else None
        if other is not None and len(other) != count:
            raise AclnnInvalid(f"{name} has {count} members, expected as many as {self.like}: {len(other)}")

    def check_dtype(self, name: str, value: list[Any], soc: Soc) -> None:
        for part, member in self._members(name, value):
            self.member.check_dtype(part, member, soc)

    def check_format(self, name: str, value: list[Any]) -> None:
        for part, member in self._members(name, value):
            self.member.check_format(part, member)

    def check_rank(self, name: str, value: list[Any]) -> None:
        for part, member in self._members(name, value):
            self.member.check_rank(part, member)

    @staticmethod
    def _members(name: str, value: list[Any]) -> Iterator[tuple[str, Any]]:
        return ((f"{name}[{index}]", member) for index, member in enumerate(value) if member is not None)


def ListOf(
    member: TensorKind | HandleKind,
    *,
    optional: bool = False,
    least: int = 1,
    most: int | None = None,
    like: str = "",
    null: type[AclError] = AclnnNullptr,
) -> ListKind:
    """A list: ``ListOf(In(FLOAT))``, ``ListOf(Out(FLOAT), like="x")``, ``ListOf(HandleKind(Scalar, FLOAT), least=0, most=50)``.

    A null member is allowed where the member's kind is optional, else it is ``null``: 161001, or ``AclnnInvalid`` for 161002. A list with
    fewer than ``least`` or more than ``most`` members, or not as many as the parameter ``like`` has, is 161002. With ``least=0`` the
    operator gets an empty list as ``[]``.
    """
    return ListKind(member, optional=optional, least=least, most=most, like=like, null=null)


def tensor_kind(kind: Kind) -> TensorKind | None:
    """What the tensors of a parameter are declared as: itself, or the members of a list; None where it has no tensors."""
    member = kind.member if isinstance(kind, ListKind) else kind
    return member if isinstance(member, TensorKind) else None


class IntKind(Kind):
    """A C integer, checked against a set of values where one is declared.

    ``checked=False``: the documents name a set, and the library takes other values all the same.
    """

    def __init__(self, c_type: str = "int64_t", choices: type[enum.IntEnum] | None = None, *, checked: bool = True) -> None:
        self.c_type = c_type
        self.choices = choices
        self.checked = checked
        bits = int("".join(filter(str.isdigit, c_type)) or 32)
        unsigned = c_type.startswith("u")
        self.low: int = 0 if unsigned else -(2 ** (bits - 1))
        self.high: int = 2**bits - 1 if unsigned else 2 ** (bits - 1) - 1
        letter = {8: "b", 16: "h", 32: "i", 64: "q"}[bits]
        self.letter = letter.upper() if unsigned else letter

    def find(self, name: str, value: Any) -> int:
        try:
            number = value if value.__class__ is int else int(python_operator.index(value))
        except TypeError:
            raise TypeError(f"{name} must be an integer, got {value!r}") from None
        if not self.low <= number <= self.high:
            raise OverflowError(f"{name} must fit {self.c_type}, got {number}")
        return number

    def check_choice(self, name: str, value: int) -> None:
        if self.choices is not None and self.checked and value not in self.choices._value2member_map_:
            wanted = ", ".join(f"{choice.value} ({choice.name.lower()})" for choice in self.choices)
            raise AclnnInvalid(f"{name} is {value}, expected one of {wanted}")


_INT32 = IntKind("int32_t")


class DataTypeKind(Kind):
    """An aclDataType, handed over as a number: operators decide which ones they take."""

    letter = "i"

    def __init__(self, c_type: str = "aclDataType") -> None:
        self.c_type = c_type

    def find(self, name: str, value: Any) -> int:
        return _INT32.find(name, value)


class FloatKind(Kind):
    """A C float or double; a float is rounded as C would round it."""

    python_type = "float"

    def __init__(self, c_type: str) -> None:
        self.c_type = c_type
        self.letter = "d" if c_type == "double" else "f"

    def find(self, name: str, value: Any) -> float:
        try:
            return float(value) if self.c_type == "double" else ctypes.c_float(value).value
        except (TypeError, ValueError):
            raise TypeError(f"{name} must be a number, got {value!r}") from None


class FloatsKind(Kind):
    """Numbers in the program's memory, or from Python a list of them; a function gives so many of them."""

    pointer = True
    python_type = "int | list[float] | None"
    c_type = "const float*"
    Found = Callable[[int], list[float]]

    def __init__(self, *, optional: bool = False) -> None:
        self.optional = optional

    def find(self, name: str, value: Any) -> Callable[[int], list[float]] | None:
        if value is None or value.__class__ is int:
            return (lambda count: _floats_at(name, value, count)) if value else None
        return lambda count: [float(number) for number in value[:count]]


def _floats_at(name: str, address: int, count: int) -> list[float]:
    if count > MOST_FLOATS:
        raise AclnnInvalid(f"{name} has {count} numbers, expected at most {MOST_FLOATS}")
    found = (ctypes.c_float * count)()
    if not lib.acl_emu_copy(ctypes.addressof(found), address, ctypes.sizeof(found)):
        raise AclnnInvalid(f"{name} is {address:#x}, where {count} numbers cannot be read")
    return list(found)


class BoolKind(Kind):
    """A C bool."""

    python_type = "bool"
    number = lib.ACL_EMU_BOOL
    letter = "?"

    def __init__(self, c_type: str = "bool") -> None:
        self.c_type = c_type

    def find(self, name: str, value: Any) -> bool:
        return bool(value)


class StringKind(Kind):
    """A C string, checked against a set of words where one is declared."""

    pointer = True
    python_type = "str | None"
    number = lib.ACL_EMU_STRING
    letter = "s"

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
    handles.check_type(name, value, f"a handle of an {kind.c_name}")
    if not value:
        return None
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
ConstBool = Annotated[bool, BoolKind("const bool")]
ConstInt = Annotated[int, IntKind("const int64_t")]
ReductionMode = Annotated[int, IntKind(choices=Reduction)]
ScalarIn = Annotated[Scalar, HandleKind(Scalar)]
IntArrayIn = Annotated[IntArray, HandleKind(IntArray)]
FloatArrayIn = Annotated[FloatArray, HandleKind(FloatArray)]
BoolArrayIn = Annotated[BoolArray, HandleKind(BoolArray)]
String = Annotated[str, StringKind()]
DataType = Annotated[int, DataTypeKind()]
