"""Kernels of short rows side by side: a number of a row has as many lanes as there are columns, and each pass goes through all rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from acl_emu.codegen.graph import Graph, spelled
from acl_emu.codegen.kernel import Kernel, without_unused


class Columns(Kernel):
    """The function that evaluates a graph on short rows side by side: a number of a row has as many lanes as there are columns."""

    _element = "row * call->stride + i"

    def __init__(self, graph: Graph, name: str, storage: str, way: str) -> None:
        super().__init__(graph, name, storage, way, columns=True)
        self.graph, self.wide = graph, self

    def text(self) -> Iterator[str]:
        """Its lines."""
        lines = [line for phase in range(self.graph.phases) for line in (*self._pass(phase), *self._between_passes(phase))]
        yield from self._beginning(Counter(re.findall(r"\b(?:d|f|r)[kx]\d+\b", "\n".join(lines))))
        yield from lines
        yield "}"

    def _refer(self, name: str, lane: str) -> str:
        return spelled(name, "float" if lane == "f" else "double", lane) if name in self.graph.rows else super()._refer(name, lane)

    def _pass(self, phase: int) -> Iterator[str]:
        """One pass over all elements."""
        if body := self._bodies[phase]:
            yield from self._by_columns(body, self._ending(phase), self._lane(phase), list(self._numbers_of_rows(body)))

    @cached_property
    def _bodies(self) -> list[list[str]]:
        """What passes do with a vector of elements."""
        graph, found = self.graph, []
        for phase in range(graph.phases):
            keep = [name for name in graph.kept if graph.levels[name] == phase]
            at_hand = [name for name in graph.kept if graph.levels[name] < phase]
            needed = graph.needed([*graph.wanted(phase), *keep], at_hand=at_hand)
            found.append(without_unused(list(self._body(phase, self._lane(phase), needed, self._ending(phase), keep, at_hand))))
        return found

    def _numbers_of_rows(self, lines: Sequence[str]) -> Iterator[str]:
        """Those that lines refer to and do not make, from where they were left."""
        text = "\n".join(lines)
        for name in (one for one in self.graph.steps if one in self.graph.rows):
            for prefix in ("l", "u", "f", "il", "iu", "if"):
                if re.search(rf"\b{prefix}{name}\b", text) and f" {prefix}{name} = " not in text:
                    kind = "float" if prefix[-1] == "f" else "double"
                    yield f"const {kind}_vector {prefix}{name} = read_{kind}({self._slot(name, prefix)});"

    def _slot(self, name: str, prefix: str) -> str:
        """Where a number of each row is, in double or float, itself or its reciprocal."""
        names = [one for one in self.graph.steps if one in self.graph.rows]
        if prefix in ("l", "u") and name in self.graph.reductions:
            number = self.graph.reductions.index(name)
        else:
            number = len(self.graph.reductions) + 4 * names.index(name) + ("l", "f", "il", "if").index(prefix.replace("u", "l"))
        place = f"call->sums + {number} * call->stride"
        return f"(float *)({place}) + i" if prefix[-1] == "f" else f"{place} + i{' + DOUBLES' if prefix[-1] == 'u' else ''}"

    def _between_passes(self, phase: int) -> Iterator[str]:
        """What follows the reductions of a pass, left where the next ones look for it."""
        graph = self.graph
        names = [name for name in graph.steps if name in graph.rows and graph.levels[name] == phase + 1]
        if not names:
            return
        made = [f"        {self._statement(name, lane)}" for name in names if name not in graph.reductions for lane in "lu"]
        for name in names:
            for prefix, kind, value in (
                *(("l", "double", f"l{name}"), ("u", "double", f"u{name}")) * (name not in graph.reductions),
                ("f", "float", f"joined(l{name}, u{name})"),
                ("il", "double", f"1 / l{name}"),
                ("iu", "double", f"1 / u{name}"),
                ("if", "float", f"joined(1 / l{name}, 1 / u{name})"),
            ):
                if prefix in self._forms[name]:
                    made.append(f"        write_{kind}({self._slot(name, prefix)}, {value});")
            if name in graph.row_outputs:
                place = f"call->results + {graph.outputs.index(name)} * call->stride + i"
                made += [f"        write_double({place}, l{name});", f"        write_double({place} + DOUBLES, u{name});"]
        yield "    for (size_t i = 0; i < n; i += FLOATS) {"
        yield from (f"        {line}" for line in self._numbers_of_rows(made))
        yield from made
        yield "    }"

    @cached_property
    def _forms(self) -> dict[str, set[str]]:
        """In which forms the numbers of rows are used after the pass that they come from."""
        text = [line for body in self._bodies for line in body]
        for name in self.graph.steps:
            if name in self.graph.rows and name not in self.graph.reductions:
                text += [self._statement(name, lane) for lane in "lu"]
        found: dict[str, set[str]] = {name: set() for name in self.graph.rows}
        for prefix, name in re.findall(r"\b(l|u|f|il|iu|if)(t\d+)\b(?! =)", "\n".join(text)):
            if name in found:
                found[name].add(prefix)
        return found
