"""Every operator, called by a C++ program with its examples: it has to give what Python gets.

One program for each group of operators, with one function for each operator: compiling it costs less than a tenth of a second per operator.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import aclnnop
from acl_emu.core import dtypes
from acl_emu.spec import Operator
from acl_emu.spec.kinds import Kind, tensor_kind
from tests.cface.programs import clean_environment, compile_program, run
from tests.conftest import ROOT
from tests.operators.case import Array, lay_out, typed
from tests.operators.examples import GROUPS, RELAID, Shown, described, emulating, every_group, examples

LAYOUTS = (0, 3)
"""Contiguous, and strided with gaps; see lay_out."""


class Storage(NamedTuple):
    """An array in its memory, as the file of calls holds it."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...]
    offset: int
    count: int

    def view(self, block: Array) -> Array:
        item = self.dtype.itemsize
        return np.ndarray(self.shape, self.dtype, block, self.offset * item, [stride * item for stride in self.strides])


class Call(NamedTuple):
    """One call in the file, and what the program writes for it."""

    shown: Shown
    layout: int
    outputs: list[Storage]


def number(value: int) -> bytes:
    return struct.pack("Q", value % 2**64)  # also those that only an unsigned one holds


def sized(data: bytes) -> bytes:
    return number(len(data)) + data


def tensor(array: Array, layout: int, kind: Kind, outputs: list[Storage]) -> bytes:
    strides, offset, count = lay_out(array, layout)
    storage = Storage(array.shape, array.dtype, strides, offset, count)
    block = np.zeros(count, array.dtype)
    if array.size:
        storage.view(block)[...] = array
    if kind.io != "in":
        outputs.append(storage)
    declared = tensor_kind(kind)
    assert declared is not None
    header = [
        dtypes.from_numpy(array.dtype).code,
        declared.format_for(array.ndim),
        kind.io != "in",
        offset,
        array.ndim,
        *array.shape,
        *strides,
        count,
    ]
    return b"".join(map(number, map(int, header))) + sized(block.tobytes())


def scalar(value: Any) -> bytes:
    found = typed(value)
    return number(dtypes.from_numpy(found.dtype).code) + sized(found.tobytes())


def members(values: list[Any], encode: Callable[[Any], bytes]) -> bytes:
    return number(len(values)) + b"".join(number(0) if value is None else number(1) + encode(value) for value in values)


def argument(kind: Kind, value: Any, layout: int, outputs: list[Storage]) -> bytes:
    """A value as the program reads it: a number for what it is, by the C type of the parameter, and its bytes."""
    c_type = kind.c_type.removeprefix("const ")
    if value is None:
        return number(0)
    if c_type == "aclTensor*":
        return number(1) + tensor(value, layout, kind, outputs)
    if c_type == "char*":
        return number(4) + sized(value.encode())
    if c_type == "aclScalar*":
        return number(5) + scalar(value)
    if c_type in _ARRAYS:
        tag, dtype = _ARRAYS[c_type]
        return number(tag) + sized(np.asarray(value, dtype).tobytes())
    if c_type == "aclTensorList*":
        return number(9) + members(value, lambda one: tensor(one, layout, kind, outputs))
    if c_type == "aclScalarList*":
        return number(10) + members(value, scalar)
    return number(3) + struct.pack("d", value) if c_type in ("float", "double") else number(2) + number(int(value))


_ARRAYS = {"aclIntArray*": (6, np.int64), "aclFloatArray*": (7, np.float32), "aclBoolArray*": (8, np.bool_)}


def parameter(index: int, kind: Kind) -> str:
    """The C++ expression for an argument."""
    c_type = kind.c_type.removeprefix("const ")
    if c_type == "char*":
        return f"given.text({index})"
    if c_type.endswith("*"):
        return f"given.object<{c_type[:-1]}>({index})"
    return f"static_cast<{c_type}>(given.{'real' if c_type in ('float', 'double') else 'whole'}({index}))"


def program(operators: list[Operator]) -> str:
    """The text of a program that knows some operators."""
    lines = [
        f'#include "{ROOT / "tests" / "cface" / "example_calls.hpp"}"',
        *dict.fromkeys(f'#include "{one.header}"' for one in operators),
    ]
    for one in operators:
        arguments = ", ".join(parameter(index, kind) for index, (_, kind) in enumerate(one.parameters))
        lines += [
            f"static aclnnStatus plan_{one.name}(Arguments &given, uint64_t *size, aclOpExecutor **executor)",
            "{",
            f"    return {one.name}GetWorkspaceSize({arguments}, size, executor);",
            "}",
        ]
    table = (f'    {{"{one.name}", plan_{one.name}, {one.name}}},' for one in operators)
    lines += [
        "static const Operator operators[] = {",
        *table,
        "};",
        "int main(int, char **words) { return carry_out(operators, words[1], words[2]); }",
    ]
    return "\n".join(lines) + "\n"


def written(calls: list[Call], names: list[str]) -> bytes:
    """The file of calls; fills in what each of them writes."""
    parts = [number(len(calls))]
    for shown, layout, outputs in calls:
        parameters = shown.case.declared.parameters
        parts += [number(names.index(shown.case.operator)), number(len(parameters))]
        parts += [argument(kind, shown.case.arguments[name], layout, outputs) for name, kind in parameters]
    return b"".join(parts)


def compare(calls: list[Call], data: bytes) -> list[str]:
    """The calls whose status, workspace or results are not those of Python."""
    wrong, at = [], 0
    for shown, layout, outputs in calls:
        status, size = struct.unpack_from("qQ", data, at)
        at += 16
        found = []
        for storage in outputs if status == 0 else ():
            block = np.frombuffer(data, storage.dtype, storage.count, at)
            at += block.nbytes
            found.append(storage.view(block).tobytes())
        expected = [result.tobytes() for result in shown.case.results(layout)]
        if (status, size) != shown.case.plan() or found != expected:
            wrong.append(f"{described(shown.case)}: status {status}, workspace {size}, in layout {layout}")
    assert at == len(data)
    return wrong


@every_group
def test_a_program_gets_what_python_gets(group: str, tmp_path: Path, device: int) -> None:
    names = GROUPS[group]
    built = compile_program(tmp_path, program([aclnnop.find(name) for name in names]), "-O0", "-g0", suffix=".cpp")
    shown = [one for name in names for one in examples(name)]
    for chip in dict.fromkeys(one.chip for one in shown):
        calls = [
            Call(one, layout, []) for one in shown if one.chip == chip for layout in LAYOUTS if not (layout and one.case.operator in RELAID)
        ]
        (tmp_path / "calls").write_bytes(written(calls, names))
        done = run(built, str(tmp_path / "calls"), str(tmp_path / "results"), env=clean_environment(ACL_EMU_SOC=chip))
        assert (done.returncode, done.stderr) == (0, "")
        with emulating(chip):
            assert compare(calls, (tmp_path / "results").read_bytes()) == []
