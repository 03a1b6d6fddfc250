"""Fused steps: the elementwise part of a phase as one C function, a plain loop that the compiler vectorises.

Registers in, registers out: casts of half types, strides, broadcasts, reductions stay with the steps around it, so one loop serves every
layout and every stored type. The loop calls the functions of functions.h, as single steps do, so the bits are the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from acl_emu.engine.graph import REDUCTIONS, SCANS, DType, Node

_SHORT = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "bool": "b8",
    **{f"{sign}int{bits}": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
_C_TYPES = {
    "f32": "float",
    "f64": "double",
    "b8": "bool",
    **{f"{sign}{bits}": f"{'u' * (sign == 'u')}int{bits}_t" for sign in "iu" for bits in (8, 16, 32, 64)},
}
_OUTSIDE = REDUCTIONS | SCANS | {"input", "constant", "broadcast"}


class Fusion(NamedTuple):
    """Steps that can be one."""

    text: str
    """One line that says all: ``i0.f32 k1.f32 t0=subtract.f32(i0,k1) t1=exp.f32(t0) -> t1``."""
    digest: str
    """By which the engine knows it."""
    inputs: tuple[Node, ...]
    """Registers that it reads, constants among them."""
    results: tuple[Node, ...]


class Late(NamedTuple):
    """A fused step that is compiled on demand."""

    address: int
    """Of what C knows of it."""
    ready: bool
    """Whether it has been compiled."""


def short(dtype: DType) -> str:
    """The name of a type in functions.h."""
    return _SHORT[dtype.name]


def is_fusable(node: Node) -> bool:
    """Whether a node is a function of elements, of types that C has."""
    types = [node.dtype, *(argument.dtype for argument in node.arguments)]
    return node.op not in _OUTSIDE and all(short(dtype) in _C_TYPES for dtype in types)


def fuse(core: Sequence[Node], results: Sequence[Node], is_constant: Callable[[Node], bool]) -> Fusion:
    """Some nodes, each after its arguments, as one step."""
    names: dict[Node, str] = {}
    inputs: list[Node] = []
    lines: list[str] = []

    def name(node: Node) -> str:
        if node not in names:
            names[node] = f"{'k' if is_constant(node) else 'i'}{len(inputs)}"
            inputs.append(node)
        return names[node]

    for node in core:
        arguments = [argument.resolved for argument in node.arguments]
        function = f"{short(node.dtype)}_of.{short(arguments[0].dtype)}" if node.op == "cast" else f"{node.op}.{short(arguments[-1].dtype)}"
        text = ",".join(map(name, arguments))
        names[node] = f"t{len(lines)}"
        lines.append(f"{names[node]}.{short(node.dtype)}={function}({text})")
    given = [f"{names[node]}.{short(node.dtype)}" for node in inputs]
    text = f"{' '.join(given)} | {' '.join(lines)} -> {','.join(f'{names[node]}.{short(node.dtype)}' for node in results)}"
    return Fusion(text, digest_of(text), tuple(inputs), tuple(results))


def digest_of(text: str) -> str:
    """The name of a fused step, by its content."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def function_of(text: str) -> str:
    """The C function of a fused step."""
    given, rest = text.split(" | ")
    steps, results = rest.split(" -> ")
    lines = [f"static void fused_{digest_of(text)}(void *const *results, const void *const *arguments, size_t n)", "{"]
    inside = []
    for number, (name, dtype) in enumerate(one.split(".") for one in given.split()):
        if name.startswith("k"):
            lines.append(f"    const {_C_TYPES[dtype]} {name} = *(const {_C_TYPES[dtype]} *)arguments[{number}];")
        else:
            lines.append(f"    const {_stored(dtype)} *a{number} = arguments[{number}];")
            inside.append(f"        const {_C_TYPES[dtype]} {name} = a{number}[i];")
    for step in steps.split():
        left, right = step.split("=", 1)
        name, dtype = left.split(".")
        function, arguments = right[:-1].split("(")
        kind, argument_type = function.rsplit(".", 1)
        values = arguments.replace(",", ", ")
        inside.append(f"        const {_C_TYPES[dtype]} {name} = {kind}_{argument_type}({values});")
    for number, (name, dtype) in enumerate(one.split(".") for one in results.split(",")):
        lines.append(f"    {_stored(dtype)} *d{number} = results[{number}];")
        inside.append(f"        d{number}[i] = {name};")
    return "\n".join([*lines, "    INDEPENDENT for (size_t i = 0; i < n; i++)", "    {", *inside, "    }", "}"])


def _stored(dtype: str) -> str:
    """The type of a register: gcc has no vectors of bool."""
    return "uint8_t" if dtype == "b8" else _C_TYPES[dtype]


def source_of(texts: Iterable[str]) -> str:
    """A C file with all of these fused steps, and the table that the engine finds them by."""
    ordered = sorted(set(texts))
    functions = "\n\n".join(f"/* {text} */\n{function_of(text)}" for text in ordered)
    entries = "\n".join(f'    {{"{digest_of(text)}", fused_{digest_of(text)}}},' for text in ordered)
    return f"""/* Fused steps, rendered by acl_emu/engine/render.py. */
#include "engine.h"
#include "functions.h"

#define INDEPENDENT _Pragma("GCC ivdep")

{functions}

static const named_step steps[] = {{
{entries}
    {{NULL, NULL}},
}};

const step_table FUSED = {{steps, {len(ordered)}}};
"""
