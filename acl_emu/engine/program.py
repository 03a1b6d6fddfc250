"""Programs of the engine: what is computed, in steps on registers, in one row of 64-bit numbers. They know types and axes, no lengths."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from acl_emu.engine.graph import DType, Filled, Shape, Values

# What follows is known to acl_emu/engine/c/engine.h and engine_program.h.
MOST_DIMS, MOST_OPERANDS, MOST_SLOTS, MOST_ACCUMULATORS = 8, 32, 64, 16
DTYPES = ("float32", "float64", "float16", "bfloat16", "bool", "int8", "uint8", "int16", "int32", "int64", "uint16", "uint32", "uint64")
_STEP_CODES = ("call", "load", "cast", "store", "reduce", "scan", "finish", "spread", "call_late", "unless_late", "skip")
_CODES = {name: code for code, name in enumerate(_STEP_CODES)}
_HEADER_WORDS, _CONSTANT_AT, _CONSTANT_WORDS = 22, 15, 4
"""Words of a header and of a constant, whose value is the last; and where the header says where constants begin."""


class Layout(NamedTuple):
    """How an operand lies in memory."""

    shape: Shape
    strides: tuple[int, ...]
    """In bytes."""
    dtype: DType


class Step(NamedTuple):
    """One instruction; engine_program.h says what its numbers mean."""

    code: str
    x: int = 0
    y: int = 0
    z: int = 0
    at: int = 0
    results: tuple[int, ...] = ()
    arguments: tuple[int, ...] = ()

    @property
    def is_call(self) -> bool:
        """Whether it is a function of registers."""
        return self.code == "call" or self.code == "call_late"


@dataclass
class Phase:
    """What is done on every tile of a row, and when they are through."""

    tiles: list[Step] = field(default_factory=list)
    row: list[Step] = field(default_factory=list)
    accumulators: list[int] = field(default_factory=list)
    """Reductions and scans, as the engine numbers them."""


class Operand(NamedTuple):
    """What a program knows of an operand."""

    dtype: DType
    unread: bool = False
    of_rows: bool = False
    axes: tuple[int, ...] = ()
    """Of a write: the axis of the domain that each of its own is, counted from the end, from 0; -1 where it has length 1."""
    turn: int = 0
    """When it is loaded for the last time, or stored: twice the phase, and one more where that is done when a row is through."""


class Constant(NamedTuple):
    """A number in a register; spread over all of it, where single steps read it."""

    slot: int
    dtype: DType
    value: Any
    spread: bool


class Saved(NamedTuple):
    """A register that a later phase reads."""

    slot: int
    item: int


@dataclass
class Program:
    """All of it."""

    reads: int
    operands: list[Operand]
    slots: int
    constants: list[Constant]
    saved: list[Saved]
    phases: list[Phase]
    width: int
    axes: frozenset[int]
    """That are reduced, counted from the end, from -1 on."""
    ordered: bool
    in_parts: bool
    unbuffered: bool

    def numbers(self) -> bytes:
        """As the engine reads it."""
        steps: list[Step] = []
        spans: list[int] = []
        accumulators: list[int] = []
        for phase in self.phases:
            begin, first = len(steps), len(accumulators)
            steps += [*phase.tiles, *phase.row]
            accumulators += phase.accumulators
            middle = begin + len(phase.tiles)
            spans += [begin, middle, middle, len(steps), first, len(accumulators)]
        pool: list[int] = []
        coded: list[int] = []
        for step in steps:
            at = len(pool) if step.is_call else step.at
            coded += (_CODES[step.code], step.x, step.y, step.z, at, len(step.results), len(step.arguments))
            pool += (*step.results, *step.arguments)
        parts = [
            [number for operand in self.operands for number in _operand(operand)],
            [number for constant in self.constants for number in _constant(constant)],
            [number for saved in self.saved for number in saved],
            accumulators,
            spans,
            coded,
            pool,
            list(dict.fromkeys(step.x for step in steps if step.code.endswith("_late"))),
        ]
        places = [_HEADER_WORDS]
        for part in parts:
            places.append(places[-1] + len(part))
        header = [
            *(places.pop(), self.reads, len(self.operands), self.slots, len(self.constants), len(self.saved), len(accumulators)),
            *(len(self.phases), self.width, sum(1 << (-1 - axis) for axis in self.axes)),
            *map(int, (self.ordered, self.in_parts, self.unbuffered)),
            len(parts[-1]),
            *places,
        ]
        assert len(header) == _HEADER_WORDS
        return struct.pack(f"{header[0]}q", *header, *(number for part in parts for number in part))


def code_of(dtype: DType) -> int:
    """The number of a type."""
    return DTYPES.index(dtype.name)


def layout_numbers(layouts: Sequence[Layout]) -> bytes:
    """Layouts as the engine reads them."""
    numbers: list[int] = []
    for shape, strides, _ in layouts:
        filler = (0,) * (MOST_DIMS - len(shape))
        numbers += (len(shape), *shape, *filler, *strides, *filler)
    return struct.pack(f"{len(numbers)}q", *numbers)


def _operand(operand: Operand) -> list[int]:
    filler = [-1] * (MOST_DIMS - len(operand.axes))
    return [code_of(operand.dtype), int(operand.unread), int(operand.of_rows), operand.turn, *operand.axes, *filler]


def _constant(constant: Constant) -> list[int]:
    slot, dtype, value, spread = constant
    (bits,) = (0,) if isinstance(value, Filled) else struct.unpack("q", _bits(value, dtype))
    return [slot, code_of(dtype), int(spread), bits]


def _bits(value: Any, dtype: DType) -> bytes:
    is_float = dtype.kind == "f" or dtype.name == "bfloat16"
    return struct.pack("d", value) if is_float else np.array(value).astype(np.int64, casting="unsafe").tobytes()


class Template:
    """A program as the engine reads it, but for numbers that are filled in."""

    __slots__ = ("_filled", "_numbers")

    def __init__(self, program: Program) -> None:
        self._numbers = program.numbers()
        (first,) = struct.unpack_from("q", self._numbers, 8 * _CONSTANT_AT)
        self._filled = [
            (8 * (first + place * _CONSTANT_WORDS + _CONSTANT_WORDS - 1), constant.value, constant.dtype)
            for place, constant in enumerate(program.constants)
            if isinstance(constant.value, Filled)
        ]

    def filled(self, values: Values) -> bytes:
        """The program for these numbers."""
        if not self._filled:
            return self._numbers
        made = bytearray(self._numbers)
        with np.errstate(all="ignore"):  # a number may overflow the type that it is taken in
            for place, number, dtype in self._filled:
                made[place : place + 8] = _bits(number.value(values), dtype)
        return bytes(made)
