"""How kernels run: a kernel, a pure numpy function, is captured as a graph, lowered to a program, and run by the engine in C.

The numpy function stays the one definition. Where it does something that cannot be captured, where operands overlap, and where
ACL_EMU_NATIVE=0 is set, numpy runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from acl_emu.core import dtypes, soc
from acl_emu.engine.bindings import Nest, library, nest_of
from acl_emu.engine.capture import Input, capture
from acl_emu.engine.graph import DType, Graph, Uncapturable
from acl_emu.engine.lower import lower
from acl_emu.engine.program import Layout
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

    Inputs that are not ``raw`` are taken as ``compute``, whole numbers rounded to ``via`` before; results of that type that are not
    ``raw`` are rounded to ``via``, all then to the type of the output. ``raw`` has a word for every read and write.
    """
    inputs = [
        None if layout is None else Input(layout.shape, layout.dtype, () if as_stored else casts_of(layout.dtype, via, compute))
        for layout, as_stored in zip(reads, raw, strict=False)
    ]
    present = [layout for layout in reads if layout is not None]
    return _made(kernel, inputs, present, writes, attributes, via=via, compute=compute, raw=raw[len(reads) :])


def casts_of(stored: DType, via: DType, compute: DType) -> tuple[DType, ...]:
    """The types that an input goes through: a whole number that meets a half type is rounded to it."""
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
    try:
        graph = capture(kernel, inputs, attributes)
        if via is not None and via != compute:
            graph.outputs = [
                graph.cast(node, via) if node.dtype == compute and layout.dtype != via and not as_stored else node
                for node, layout, as_stored in zip(graph.outputs, writes, raw, strict=False)
            ]
        return _nest(graph, reads, writes, on_host=on_host)
    except Uncapturable:
        return None


def _nest(graph: Graph, reads: Sequence[Layout], writes: Sequence[Layout], *, on_host: bool) -> Nest | None:
    entries = library()
    assert entries is not None
    request = None if _requests is None else _requests.append
    program = lower(graph, reads, writes, entries.tables, request=request, late=_late).numbers()
    layouts = (*reads, *writes)
    numbers = nest_of(program, layouts)
    elements = max(int(np.prod(layout.shape)) for layout in layouts)
    return None if numbers is None else Nest(numbers, len(layouts), elements, on_host=on_host)


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
    nest = nest_for(kernel, *layouts, np.dtype(dtype), tuple(sorted(attributes.items())))
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
    attributes: tuple[tuple[str, Any], ...],
) -> Nest | None:
    """The nest that ``apply`` runs on arrays that lie like these, by address."""
    inputs = [Input(layout.shape, layout.dtype, () if layout.dtype == np.bool_ else (dtype,)) for layout in reads]
    return _made(kernel, inputs, reads, writes, dict(attributes), on_host=True)
