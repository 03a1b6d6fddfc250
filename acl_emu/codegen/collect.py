"""The graphs that operators run: asked of their plans, and of the kernels that are marked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

import aclnnop
from acl_emu.core import dtypes
from acl_emu.core.errors import AclError
from acl_emu.engine.marks import MARKS, ROW
from acl_emu.engine.signature import signature_of
from acl_emu.engine.trace import trace
from acl_emu.runtime.tensor import IntArray, Operand, Scalar, make_view
from acl_emu.spec.kinds import BoolKind, DataTypeKind, FloatKind, HandleKind, IntKind, Kind, ListKind, TensorKind
from acl_emu.spec.operator import Operator
from aclnnop.registry import MODULES

_SHAPES = ((8,), (8, 1), (4, 8), (2, 2, 4, 32))
"""Rows of one element among them, in whose graphs nothing is reduced."""
_NUMBERS = (0.75, 0.0, 1.0, -1.0)
_SCALARS = (0.75, 0.0, 1.0, -1.0, 2.0, 0.5)
"""One of no special value, and those that a graph looks different with."""


def signatures() -> list[str]:
    """The graphs of all operators, without doubles."""
    found: set[str] = set()
    for name in MODULES:
        operator = aclnnop.find(name)
        for shape in _SHAPES:
            for values in _calls(operator, shape):
                try:
                    plan = operator._plan(values)
                except AclError:
                    continue
                found.update(getattr(plan.kernel, "signatures", ()))
    for mark in MARKS:
        inputs = [(shape, np.dtype(np.float32)) for shape in mark.shapes]
        graph = trace(mark.kernel, inputs, np.dtype(np.float64), mark.attributes)
        found.add(signature_of(graph, [number for number, shape in enumerate(mark.shapes) if shape == ROW]).text)
    return sorted(found)


def _calls(operator: Operator, shape: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    return itertools.product(*(_values(name, kind, shape) for name, kind in operator.parameters))


def _values(name: str, kind: Kind, shape: tuple[int, ...]) -> list[Any]:
    if isinstance(kind, TensorKind):
        dtype = dtypes.FLOAT if not kind.allowed or dtypes.FLOAT in kind.allowed else kind.allowed[0]
        shapes = [shape, shape[:-1], (1,), ()] if kind.io == "out" else [shape]
        given = [Operand(name, make_view(one, dtype.code, None, 0, 2, one)) for one in dict.fromkeys(shapes)]
        return [*given, None] if kind.optional else given
    if isinstance(kind, ListKind):
        return [[value] for value in _values(f"{name}[0]", kind.member, shape) if value is not None]
    if isinstance(kind, IntKind):
        return [choice.value for choice in kind.choices] if kind.choices else [len(shape) - 1]
    if isinstance(kind, DataTypeKind):
        return [dtypes.FLOAT.code]
    if isinstance(kind, FloatKind):
        return list(_NUMBERS)
    if isinstance(kind, BoolKind):
        return [False, True]
    if isinstance(kind, HandleKind) and kind.kind is Scalar:
        return [Scalar(dtypes.FLOAT, np.float32(number).tobytes()) for number in _SCALARS]
    if isinstance(kind, HandleKind) and kind.kind is IntArray:
        return [IntArray((len(shape) - 1,))]
    return []
