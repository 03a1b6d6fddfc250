"""How kernels run: a kernel, a pure numpy function, is captured as a graph, lowered to a program, and run by the engine in C.

The numpy function stays the one definition. Where it does something that cannot be captured, where operands overlap, and where
ACL_EMU_NATIVE=0 is set, numpy runs it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from acl_emu.core import dtypes, soc
from acl_emu.engine.bindings import Nest, library, nest_of
from acl_emu.engine.capture import Input, capture
from acl_emu.engine.graph import DType, Expression, Graph, Uncapturable
from acl_emu.engine.lower import lower
from acl_emu.engine.numbers import Answers, Unknown, described, told_apart
from acl_emu.engine.program import Layout, Template
from acl_emu.engine.render import Fusion, Late

__all__ = ["Layout", "Nest", "apply", "collected", "compiled", "compiled_cast", "layout_of", "nest_for"]

Array = npt.NDArray[Any]

_requests: list[Fusion] | None = None


@contextmanager
def collected() -> Iterator[list[Fusion]]:
    """The fused steps that programs which are made meanwhile could use, whether the engine has them or not."""
    global _requests
    before, _requests = _requests, []
    try:
        yield _requests
    finally:
        _requests = before


def compiled(
    kernel: Callable[..., Any],
    reads: Sequence[Layout | None],
    writes: Sequence[Layout],
    *,
    via: DType,
    compute: DType,
    raw: Sequence[bool],
    attributes: dict[str, Any],
) -> Nest | None:
    """A nest for ``writes = kernel(*reads, **attributes)``; None where numpy has to run it.

    Inputs that are not ``raw`` are taken as ``compute``, integers rounded to ``via`` before; results of that type that are not
    ``raw`` are rounded to ``via``, all then to the type of the output. ``raw`` has a word for every read and write.
    """
    inputs = [
        None if layout is None else Input(layout.shape, layout.dtype, () if as_stored else casts_of(layout.dtype, via, compute))
        for layout, as_stored in zip(reads, raw, strict=False)
    ]
    present = [layout for layout in reads if layout is not None]
    return _made(kernel, inputs, present, writes, attributes, via=via, compute=compute, raw=raw[len(reads) :])


def casts_of(stored: DType, via: DType, compute: DType) -> tuple[DType, ...]:
    """The types that an input goes through: an integer that meets a half type is rounded to it."""
    return (via, compute) if stored.kind in "iu" and stored != via and via != compute else (compute,)


def _made(
    kernel: Callable[..., Any],
    inputs: Sequence[Input | None],
    reads: Sequence[Layout],
    writes: Sequence[Layout],
    attributes: dict[str, Any],
    *,
    via: DType | None = None,
    compute: DType | None = None,
    raw: Sequence[bool] = (),
    on_host: bool = False,
) -> Nest | None:
    if library() is None or any(0 in layout.shape for layout in (*reads, *writes)):
        return None
    program = programs.find(kernel, inputs, reads, writes, attributes, via, compute, tuple(raw))
    if program is None:
        return None
    layouts = (*reads, *writes)
    numbers = nest_of(program, layouts)
    elements = max(math.prod(layout.shape) for layout in layouts)
    return None if numbers is None else Nest(numbers, len(layouts), elements, on_host=on_host)


class _Known(NamedTuple):
    """What is known of a kind of call: its program, None where numpy has to run it, or what has to be asked of its numbers first."""

    program: Template | None
    asked: Expression | None
    kernel: Callable[..., Any]
    """Kept since kernels are told apart by where their code lies."""


class _Programs:
    """Programs by kind of call: they know no lengths, so one serves all calls whose lengths follow the same pattern.

    Nor do they know numbers that the kernel only computes with: these are filled in. Where it has asked for some, there is a program for
    each row of answers.
    """

    def __init__(self) -> None:
        self._known: dict[Any, _Known] = {}

    def find(
        self,
        kernel: Callable[..., Any],
        inputs: Sequence[Input | None],
        reads: Sequence[Layout],
        writes: Sequence[Layout],
        attributes: dict[str, Any],
        via: DType | None,
        compute: DType | None,
        raw: tuple[bool, ...],
    ) -> bytes | None:
        """The program that computes ``kernel``; None where numpy has to."""
        numbers: list[Any] = []
        key: Any = None
        # Not known again are kernels that refer to something of this call only, attributes that have no hash, numbers that fail to combine.
        with suppress(Unknown, TypeError, ArithmeticError):
            made_with = described(kernel, numbers), described(attributes, numbers)
            present = [one if one is None else (one.dtype, one.casts) for one in inputs]
            stored = [layout.dtype for layout in writes]
            key = (made_with, *present, *stored, via, compute, raw, pattern_of((*reads, *writes)), soc.compiling())
            known = self._find(key, numbers)
            if known is not None and _requests is None:
                return None if known.program is None else known.program.filled(numbers)
        answers = None if key is None else Answers(numbers)
        program, is_sized = _made_program(kernel, inputs, reads, writes, attributes, via, compute, raw, answers)
        if answers is not None and not is_sized:
            self._keep(key, kernel, program, answers)
        return None if program is None else program.filled(numbers)

    def _find(self, key: Any, numbers: Sequence[Any]) -> _Known | None:
        known = self._known.get(key)
        answers: tuple[Any, ...] = ()
        while known is not None and known.asked is not None:
            with np.errstate(all="ignore"):
                answers = (*answers, told_apart(known.asked(numbers)))
            known = self._known.get((key, answers))
        return known

    def _keep(self, key: Any, kernel: Callable[..., Any], program: Template | None, answers: Answers) -> None:
        row: tuple[Any, ...] = ()
        for asked, answer in answers.given:
            self._add((key, row) if row else key, _Known(None, asked, kernel))
            row = (*row, answer)
        self._add((key, row) if row else key, _Known(program, None, kernel))

    def _add(self, key: Any, known: _Known) -> None:
        if len(self._known) >= _MOST_PROGRAMS:
            self._known.pop(next(iter(self._known)))
        self._known[key] = known

    def clear(self) -> None:
        """Forget all: for tests that exchange the engine."""
        self._known.clear()


def identified(attributes: dict[str, Any]) -> tuple[tuple[str, Any, Any], ...]:
    """Attributes with what tells their values apart: numbers that are equal may differ in type or sign."""
    return tuple((name, value, (type(value), repr(value))) for name, value in attributes.items())


programs = _Programs()
_MOST_PROGRAMS = 4096


def pattern_of(layouts: Sequence[Layout]) -> tuple[int, ...]:
    """Which lengths are 1, and which are the same: what a graph can depend on, unless its kernel looks at lengths."""
    numbers = {1: 1}
    found: list[int] = []
    for layout in layouts:
        found.append(-len(layout.shape))
        found.extend([numbers.setdefault(length, len(numbers) + 1) for length in layout.shape])
    return tuple(found)


def _made_program(
    kernel: Callable[..., Any],
    inputs: Sequence[Input | None],
    reads: Sequence[Layout],
    writes: Sequence[Layout],
    attributes: dict[str, Any],
    via: DType | None,
    compute: DType | None,
    raw: Sequence[bool],
    answers: Answers | None,
) -> tuple[Template | None, bool]:
    """A program, and whether it may hold for these lengths only."""
    entries = library()
    assert entries is not None
    try:
        graph = _captured(kernel, inputs, attributes, answers)
        if via is not None and via != compute:
            graph.outputs = [
                graph.cast(node, via) if node.dtype == compute and layout.dtype != via and not as_stored else node
                for node, layout, as_stored in zip(graph.outputs, writes, raw, strict=False)
            ]
        request = None if _requests is None else _requests.append
        return Template(lower(graph, reads, writes, entries.tables, request=request, late=_late)), graph.is_sized
    except Uncapturable:
        return None, True


def _captured(kernel: Callable[..., Any], inputs: Sequence[Input | None], attributes: dict[str, Any], answers: Answers | None) -> Graph:
    """The graph, with numbers to be filled in; where that cannot be, with those of this call."""
    if answers is not None and answers.values:
        with suppress(Uncapturable):
            return capture(kernel, inputs, attributes, answers)
        answers.ask_all()
    return capture(kernel, inputs, attributes)


def _late(fusion: Fusion) -> Late | None:
    if _requests is not None or soc.compiling() == "off":
        return None
    from acl_emu.engine import on_demand  # most programs never need it

    return on_demand.step_for(fusion)


def compiled_cast(read: Layout, write: Layout) -> Nest | None:
    """A nest that casts numbers, without a detour by another type; None where numpy has to."""
    return _made(lambda values: values, [Input(read.shape, read.dtype, (write.dtype,))], [read], [write], {})


def layout_of(array: Array) -> Layout:
    """How an array lies in memory."""
    return Layout(array.shape, array.strides, array.dtype)


def apply(
    kernel: Callable[..., Any], inputs: Sequence[Array], outputs: Sequence[Array], *, dtype: npt.DTypeLike = np.float32, **attributes: Any
) -> None:
    """``outputs = kernel(*inputs, **attributes)`` on arrays, computed in ``dtype`` and rounded once to each output's type.

    Truth values stay what they are.
    """
    layouts = tuple(map(layout_of, inputs)), tuple(map(layout_of, outputs))
    nest = nest_for(kernel, *layouts, np.dtype(dtype), identified(attributes))
    if nest is not None and nest.run([array.ctypes.data for array in (*inputs, *outputs)]):
        return
    with np.errstate(all="ignore"):
        wide = [array if array.dtype == np.bool_ else array.astype(dtype, copy=False) for array in inputs]
        results = kernel(*wide, **attributes)
        for output, result in zip(outputs, results if isinstance(results, tuple) else (results,), strict=True):
            output[...] = dtypes.round_to(np.asarray(result), dtypes.from_numpy(output.dtype))


@lru_cache(maxsize=256)
def nest_for(
    kernel: Callable[..., Any],
    reads: tuple[Layout, ...],
    writes: tuple[Layout, ...],
    dtype: DType,
    attributes: tuple[tuple[str, Any, Any], ...],
) -> Nest | None:
    """The nest that ``apply`` runs on arrays that lie like these, by address; attributes as ``identified`` gives them."""
    inputs = [Input(layout.shape, layout.dtype, () if layout.dtype == np.bool_ else (dtype,)) for layout in reads]
    return _made(kernel, inputs, reads, writes, {name: value for name, value, _ in attributes}, on_host=True)
