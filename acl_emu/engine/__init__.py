"""Kernels at the machine's speed: a kernel, a pure numpy function, is traced into a graph and run by the engine in the shim.

The numpy function stays the one definition. Where it does something that cannot be traced, where operands overlap, and where
ACL_EMU_NATIVE=0 is set, numpy runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from acl_emu.core import dtypes
from acl_emu.engine.bindings import IN_DOUBLE, PLAIN_FLOAT, SETTLED, Program, find_fused, library
from acl_emu.engine.program import DTYPES, Fused, Layout, compile_graph
from acl_emu.engine.signature import signature_of
from acl_emu.engine.trace import Graph, Node, Untraceable, trace

__all__ = ["Layout", "Program", "apply", "compiled", "compiled_cast", "layout_of", "program_of"]

Array = npt.NDArray[Any]

_EXACT = frozenset(
    {
        *("input", "constant", "same", "neg", "abs", "sign", "maximum", "minimum", "max", "where", "as_number"),
        *("less", "less_equal", "equal", "not_equal", "and", "or", "not"),
    }
)
_APPROXIMATE = frozenset({"exp", "exp_of_difference", "exp_of_product", "log", "log1p", "log_of_odds"})
_HALVES = ("float16", "bfloat16")
_WHOLE = ("int8", "uint8", "int16", "int32", "int64")
_WHOLE_FUNCTIONS = frozenset({"input", "constant", "same", "add", "sub", "mul", "sum", "max"})
"""What the engine has for lanes of whole numbers."""


def compiled(
    kernel: Callable[..., Any],
    reads: Sequence[Layout | None],
    writes: Sequence[Layout],
    *,
    via: np.dtype[Any],
    compute: np.dtype[Any],
    single: bool = False,
    raw: Sequence[int] = (),
    on_host: bool = False,
    attributes: dict[str, Any],
) -> Program | None:
    """A program for ``writes = kernel(*reads, **attributes)``; None where numpy has to run it.

    Inputs are taken as ``compute``, results rounded to ``via``, then to the type of the output. ``single``: float32 is accurate enough
    for results in float32, though ``compute`` is wider. ``raw``: results, by number, that are not rounded to ``via``.
    """
    if library() is None:
        return None
    present = [layout for layout in reads if layout is not None]
    try:
        if compute.name in _WHOLE and not raw:
            return _in_whole_numbers(kernel, reads, writes, via, compute, attributes, on_host=on_host)
        if compute.name not in ("float32", "float64"):
            return None
        given = [None if layout is None else (layout.shape, layout.dtype) for layout in reads]
        graph = _traced(kernel, given, compute, attributes)
        if graph.outputs[0].op == "input" and len(present) == len(writes) == 1 and np.can_cast(present[0].dtype, compute):
            return compiled_cast(present[0], writes[0], on_host=on_host)
        exact = _rounds_once(graph, present, via, ("add", "sub", "mul", "div") if via.name == "float16" else ("add", "sub"))
        narrow = compute.name == "float32" or (single and via.name == "float32") or exact
        _check_types(graph, present, via, narrow)
        lanes = "float32" if narrow else "float64"
        rounding = [
            (via.name,) if index not in raw and layout.dtype != via and via.name != lanes else () for index, layout in enumerate(writes)
        ]
        if len(writes) != len(graph.outputs):
            return None
        plain = _rounds_once(graph, present, via, ("add", "sub", "mul", "div", "square"))
        ways = _ways(via, compute, narrow, plain)
        signatures: list[str] = []

        def find(of_rows: Sequence[int], columns: bool) -> Fused | None:
            storage = _storage(graph, present, writes, rounding, of_rows, via, narrow)
            if storage is None:
                return None
            try:
                signature = signature_of(graph, of_rows)
            except Untraceable:
                return None
            signatures.append(signature.text)
            results = [_is_reduced(node, of_rows) for node in graph.outputs]
            for way in ways:
                number = find_fused(signature.text, storage, way, columns=columns)
                if number >= 0:
                    return Fused(number, way, storage, signature.constants, results)
            return None

        numbers = compile_graph(graph, present, writes, rounding, lane=np.dtype(lanes), find=find)
    except Untraceable:
        return None
    return _program(numbers, present, writes, signatures, on_host=on_host)


def _program(
    numbers: bytes, reads: Sequence[Layout], writes: Sequence[Layout], signatures: Sequence[str] = (), *, on_host: bool = False
) -> Program:
    elements = max(int(np.prod(layout.shape)) for layout in (*reads, *writes))
    return Program(numbers, len(reads) + len(writes), elements, tuple(signatures), on_host=on_host)


def compiled_cast(read: Layout, write: Layout, *, on_host: bool = False) -> Program | None:
    """A program that casts numbers, without a detour by another type; None where numpy has to."""
    if library() is None:
        return None
    graph = Graph(write.dtype)
    graph.outputs.append(graph.node("input", (), read.shape, detail=0))
    try:
        return _program(_in_steps(graph, (read,), (write,), write.dtype), (read,), (write,), on_host=on_host)
    except Untraceable:
        return None


def _in_whole_numbers(
    kernel: Callable[..., Any],
    reads: Sequence[Layout | None],
    writes: Sequence[Layout],
    via: np.dtype[Any],
    compute: np.dtype[Any],
    attributes: dict[str, Any],
    *,
    on_host: bool,
) -> Program:
    """Lanes are of the type that is computed in, so that no digit is lost, and what is too large wraps around as in numpy."""
    present = [layout for layout in reads if layout is not None]
    if any(layout.dtype.kind not in "iub" for layout in present):
        raise Untraceable("numbers that are not whole")
    if via != compute and any(layout.dtype != via for layout in writes):
        raise Untraceable("a result that is rounded twice")
    graph = _traced(kernel, [None if layout is None else (layout.shape, compute) for layout in reads], compute, attributes)
    if len(writes) != len(graph.outputs) or any(node.op not in _WHOLE_FUNCTIONS for node in graph.nodes):
        raise Untraceable("no such function of whole numbers")
    return _program(_in_steps(graph, present, writes, compute), present, writes, on_host=on_host)


def _in_steps(graph: Graph, reads: Sequence[Layout], writes: Sequence[Layout], lane: np.dtype[Any]) -> bytes:
    """A program whose results are cast once, from lanes to where they are stored; none is known as a whole."""
    return compile_graph(graph, reads, writes, [()] * len(writes), lane=lane, find=lambda of_rows, columns: None)


def _storage(
    graph: Graph,
    reads: Sequence[Layout],
    writes: Sequence[Layout],
    rounding: Sequence[Sequence[str]],
    of_rows: Sequence[int],
    via: np.dtype[Any],
    narrow: bool,
) -> int | None:
    """The one type that all elements are stored in; None where they differ, or something is rounded on the way, unless to float32."""
    if any(node.op == "sqrt" for node in graph.nodes) or any(rounding):
        return None
    numbers = [layout for index, layout in enumerate(reads) if index not in of_rows and layout.dtype != np.bool_]
    lanes = [layout for layout, node in zip(writes, graph.outputs, strict=True) if not _is_reduced(node, of_rows)]
    found = {layout.dtype.name for layout in (*numbers, *lanes)}
    if len(found) != 1 or not found <= set(DTYPES[:4]):
        return None
    if lanes and lanes[0].dtype != via and not (narrow and via.name == "float32"):
        return None
    return DTYPES.index(found.pop())


def _is_reduced(node: Node, of_rows: Sequence[int]) -> bool:
    """Whether a node has one value for a whole row, as a whole kernel sees it: a reduction, or made of such, constants and row inputs."""
    if node.op in ("sum", "max"):
        return True
    fitting = [_is_reduced(one, of_rows) for one in node.arguments]
    others = (one for one, reduced in zip(node.arguments, fitting, strict=True) if not reduced)
    return any(fitting) and all(one.op == "constant" or (one.op == "input" and one.detail in of_rows) for one in others)


def _ways(via: np.dtype[Any], compute: np.dtype[Any], narrow: bool, plain: bool) -> tuple[int, ...]:
    """How a kernel that was compiled as a whole may be evaluated, the fastest first."""
    if via.name == "float32":
        return (PLAIN_FLOAT,) if narrow else (IN_DOUBLE,)
    exact = (SETTLED, IN_DOUBLE) if compute.name == "float64" else ()
    return (PLAIN_FLOAT, *exact) if plain else exact


def _traced(kernel: Callable[..., Any], inputs: Sequence[Any], compute: np.dtype[Any], attributes: dict[str, Any]) -> Graph:
    try:
        with np.errstate(all="ignore"):
            return trace(kernel, inputs, compute, attributes)
    except Exception as error:  # whatever a kernel may do with an array and not with a symbol
        raise Untraceable(str(error)) from None


def _check_types(graph: Graph, reads: Sequence[Layout], via: np.dtype[Any], narrow: bool) -> None:
    if via.name == "float64" and any(node.op in _APPROXIMATE for node in graph.nodes):
        raise Untraceable("the engine's functions are not accurate enough for float64")
    masks = {node.detail for node in graph.nodes if node.op == "input" and node.mask}
    for index, layout in enumerate(reads):
        # A whole number is rounded to `via` first, which a load does only where both are float32.
        if layout.dtype.kind in "iu" and not (narrow and via.name == "float32") and index not in masks:
            raise Untraceable("whole numbers that may have to be rounded")


def _rounds_once(graph: Graph, reads: Sequence[Layout], via: np.dtype[Any], operations: Sequence[str]) -> bool:
    """Whether half numbers combined in float32 and rounded give the same as in float64: at most one of the ``operations``, all else exact.

    Twice the digits of the half type and two more make the second rounding innocent. Products and quotients of bfloat16, unlike those
    of float16, may fall below the smallest normal float32; kernels that were compiled as a whole look out for that.
    """
    if via.name not in _HALVES or any(layout.dtype not in (via, np.bool_) for layout in reads):
        return False
    factors = (0.5, 1.0, 2.0) if via.name == "float16" else (0.5, 1.0)  # twice a bfloat16 number may be too large for float32
    rounding = [node.op for node in graph.nodes if node.op not in _EXACT and not _is_scaling(node, factors)]
    if len(rounding) > 1 or not set(rounding) <= set(operations):
        return False
    constants = [node.detail for node in graph.nodes if node.op == "constant"]
    with np.errstate(over="ignore"):
        return all(float(via.type(value)) == value or value != value for value in constants)


def _is_scaling(node: Node, factors: Sequence[float]) -> bool:
    """A product with a small power of two."""
    return node.op == "mul" and any(factor.op == "constant" and abs(factor.detail) in factors for factor in node.arguments)


def layout_of(array: Array) -> Layout:
    """How an array lies in memory."""
    return Layout(array.shape, array.strides, array.dtype)


def apply(
    kernel: Callable[..., Any],
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    *,
    compute: npt.DTypeLike = np.float32,
    single: bool = False,
    **attributes: Any,
) -> None:
    """``outputs = kernel(*inputs, **attributes)`` on arrays, evaluated in ``compute`` and rounded once to each output's type."""
    layouts = tuple(map(layout_of, inputs)), tuple(map(layout_of, outputs))
    program = program_of(kernel, *layouts, np.dtype(compute), single, tuple(sorted(attributes.items())))
    if program is not None and program.run([array.ctypes.data for array in (*inputs, *outputs)]):
        return
    with np.errstate(all="ignore"):
        wide = [array if array.dtype == np.bool_ else array.astype(compute, copy=False) for array in inputs]
        results = kernel(*wide, **attributes)
        for output, result in zip(outputs, results if isinstance(results, tuple) else (results,), strict=True):
            output[...] = dtypes.round_to(np.asarray(result), dtypes.from_numpy(output.dtype))


@lru_cache(maxsize=256)
def program_of(
    kernel: Callable[..., Any],
    reads: tuple[Layout, ...],
    writes: tuple[Layout, ...],
    compute: np.dtype[Any],
    single: bool,
    attributes: tuple[tuple[str, Any], ...],
) -> Program | None:
    """The program that ``apply`` runs on arrays that lie like these, by address."""
    via = writes[0].dtype
    raw = range(len(writes))
    return compiled(kernel, reads, writes, via=via, compute=compute, single=single, raw=raw, on_host=True, attributes=dict(attributes))
