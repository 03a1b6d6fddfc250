"""acl_emu/engine/c/fused.c: the kernels of all operators, each compiled as a whole.

Every operator is asked for its plan with plain tensors and each combination of optional tensors, modes and numbers that it takes; the
graphs of those plans are what is compiled, and those of kernels that are marked as ``whole``. Whatever is called otherwise runs step by
step in the engine, within the same bounds.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

from acl_emu.cface.headers import MARK
from acl_emu.codegen.collect import signatures
from acl_emu.codegen.columns import Columns, is_settled_in_columns
from acl_emu.codegen.graph import MASKS, Exactness, Graph
from acl_emu.codegen.kernel import DIGITS, Kernel, last_errors, row_statement
from acl_emu.codegen.rows import Rows, takes_rows
from acl_emu.codegen.shorter import shorter

_STORAGES = ("f32", "f16", "bf16")
_TYPES = ("f32", "f64", "f16", "bf16")
"""As engine.h has them."""
_WAYS = ("settled", "in_double", "plain")


def source() -> str:
    """The file."""
    graphs = [Graph(signature) for signature in signatures()]
    lines = [f"/* The kernels of all operators. {MARK} */", '#include "fused_plain.h"', ""]
    for number, graph in enumerate(graphs):
        lines += [f"/* {graph.signature} */"]
        for storage, way in itertools.product(_STORAGES, _WAYS):
            if _is_made(graph, storage, way) and not graph.plain:
                kernel = Rows if takes_rows(graph, storage, way) else Kernel
                lines += [*kernel(graph, f"g{number}_{storage}_{way}", storage, way).text(), ""]
                if graph.in_parts:
                    lines += [*Kernel(graph, f"g{number}_{storage}_{way}_columns", storage, way, columns=True).text(), ""]
            if _is_made_of_columns(graph, storage, way):
                lines += [*Columns(graph, f"g{number}_{storage}_{way}_columns", storage, way).text(), ""]
        if graph.in_parts:
            lines += [*_finish(graph, number), ""]
    lines += ["static const fused_entry entries[] = {"]
    for number, graph in enumerate(graphs):
        lines += [
            f'    {{"{graph.signature}",',
            f'     "{"".join(graph.steps[name].op[0] for name in graph.reductions)}",',
            f"     {len(graph.kept)}, {_asking(graph)}, {_several(graph)}, {_values(graph)},",
        ]
        lines += [
            _table(graph, number, "", _is_made),
            _table(graph, number, "_columns", _is_made if graph.in_parts else _is_made_of_columns),
            f"     {_kernels_of_rows(graph)},",
        ]
        lines += [f"     {f'g{number}_finish' if graph.in_parts else 'NULL'}}},"]
    lines += ["};", "", "const fused_table FUSED = {entries, sizeof entries / sizeof *entries};", ""]
    return "\n".join(lines)


def _table(graph: Graph, number: int, kind: str, is_made: Callable[[Graph, str, str], bool]) -> str:
    rows = []
    for storage in _TYPES:
        own = f"{graph.plain}_of{kind or '_row'}_{storage}" if graph.plain else ""
        names = [(own or f"g{number}_{storage}_{way}{kind}") if is_made(graph, storage, way) else "NULL" for way in _WAYS]
        rows.append(f"{{{', '.join(names)}}}")
    return f"     {{{', '.join(rows)}}},"


def _asking(graph: Graph) -> str:
    """The storage types whose kernels ask for memory, as bits."""
    return " | ".join(f"1 << {storage.upper()}" for storage in _STORAGES if graph.asking(storage) is not None) or "0"


def _several(graph: Graph) -> str:
    """The kernels that take several rows, as bits."""
    made = [(storage, way) for storage, way in itertools.product(_STORAGES, _WAYS) if _is_made(graph, storage, way)]
    bits = [f"TAKES_ROWS({storage.upper()}, {_WAYS.index(way)})" for storage, way in made if takes_rows(graph, storage, way)]
    return " | ".join(bits) or "0"


def _kernels_of_rows(graph: Graph) -> str:
    return f"{{{', '.join(f'{graph.plain}_of_rows_{storage}' if graph.plain and storage in _STORAGES else 'NULL' for storage in _TYPES)}}}"


def _is_made_of_columns(graph: Graph, storage: str, way: str) -> bool:
    """Rows so short that they are worked on side by side: where there is something to reduce, and more than one pass over it."""
    if not graph.reductions or graph.in_parts or any(name[0] == "x" for name in graph.constants):
        return False
    if any(graph.steps[name].op in MASKS for name in graph.rows):
        return False
    if way == "plain":
        return storage == "f32" and not Kernel(graph, "", storage, way).falls_back
    return storage in DIGITS and way == ("settled" if is_settled_in_columns(graph) else "in_double")


def _is_made(graph: Graph, storage: str, way: str) -> bool:
    """Half types need no more than float where only one step rounds; they are tried in float where that is worth it and the error known."""
    if storage == "f32":
        return way != "settled"
    settled = storage in DIGITS and _is_settled(graph, storage)
    return storage in _STORAGES and {"settled": settled, "in_double": not settled, "plain": graph.rounds_once(storage)}[way]


def _is_settled(graph: Graph, storage: str) -> bool:
    if graph.in_parts or any(graph.levels[name] == graph.phases for name in graph.reductions):
        return False
    return Exactness(graph, DIGITS[storage]).applies or all(bound.known for bound in last_errors(shorter(graph))[1])


def _values(graph: Graph) -> int:
    """Rooms for numbers of rows that passes over columns leave to the next."""
    return 4 * len(graph.rows) if any(_is_made_of_columns(graph, storage, way) for storage in _STORAGES for way in _WAYS) else 0


def _finish(graph: Graph, number: int) -> Iterator[str]:
    """What follows the reductions of a graph, on those of many rows or columns."""
    body = []
    for place, name in enumerate(graph.reductions):
        body.append(f"        const double_vector d{name} = read_double(call->sums + {place} * call->stride + i);")
    body += [f"        {row_statement(graph, name)}" for name in graph.steps if name in graph.rows and name not in graph.reductions]
    for name in graph.row_outputs:
        body.append(f"        write_double(call->results + {graph.outputs.index(name)} * call->stride + i, d{name});")
    used = set(re.findall(r"\bd[kx]\d+\b", "\n".join(body)))
    yield f"static void g{number}_finish(const fused_call *call, size_t n)"
    yield "{"
    for name in graph.constants:
        if f"d{name}" in used:
            yield f"    const double_vector d{name} = all_double(call->constants[{name[1:]}]);"
    yield "    for (size_t i = 0; i < n; i += DOUBLES) {"
    yield from body
    yield "    }"
    yield "}"
