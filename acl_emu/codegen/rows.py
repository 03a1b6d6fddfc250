"""Kernels of several rows: each phase goes through some of them, and numbers of rows are worked out side by side in between."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from acl_emu.codegen.graph import MASKS, Graph
from acl_emu.codegen.kernel import Kernel, forms_in, row_statement, without_unused

_FORMS = ("d", "f", "id", "if")
"""Of a number of a row: in double, and in float; itself, and its reciprocal."""


def takes_rows(graph: Graph, storage: str, way: str) -> bool:
    """Whether its kernel takes several rows: it does not end with what one of them comes to, nor goes back for one only."""
    if graph.in_parts or graph.row_outputs or any(graph.steps[name].op in MASKS for name in graph.rows):
        return False
    return not (way == "settled" and graph.rough) and not Kernel(graph, "", storage, way).falls_back


class Rows(Kernel):
    """The function that evaluates a graph on rows as far apart as the call says, some of them together.

    While a number of one row is waited for, the processor is busy with another; logarithms and divisions are taken of all at once.
    """

    def text(self) -> Iterator[str]:
        """Its lines."""
        phases = [without_unused(list(self._phase(phase))) for phase in range(self.graph.phases)]
        stages = [list(self._stage(phase, [line for later in phases[phase + 1 :] for line in later])) for phase in range(self.graph.phases)]
        text = "\n".join(line for lines in (*phases, *stages) for line in lines)
        numbers = sorted(set(re.findall(r"\b(?:row|per)_t\d+\b", text)))
        yield f"static void {self.name}(const fused_call *call, size_t n)"
        yield "{"
        yield from self._manner()
        yield from self._constants_used(Counter(re.findall(r"\b[dfr][kx]\d+\b", text)))
        if not self.graph.reductions:
            (only,) = phases
            yield "    for (int64_t row = 0; row < call->rows; row++) {"
            yield from (f"        {line}" for line in self._row(only, "row"))
            yield from (f"    {line}" for line in only)
            yield from ("    }", "}")
            return
        yield f"    double {', '.join(f'{name}[ROWS_TOGETHER]' for name in numbers)};"
        yield from (f"    double_vector held_{name}[ROWS_TOGETHER];" for name in self.graph.reductions if self._is_added_up(name))
        yield "    for (int64_t first = 0, some; first < call->rows; first += some) {"
        yield "        some = call->rows - first < call->together ? call->rows - first : call->together;"
        for phase, stage in zip(phases, stages, strict=True):
            if phase:
                yield "        for (int64_t at = 0; at < some; at++) {"
                yield from (f"            {line}" for line in self._row(phase, "(first + at)"))
                yield from (f"        {line}" for line in phase)
                yield "        }"
            yield from (f"        {line}" for line in stage)
        yield "    }"
        yield "}"

    def _row(self, lines: Sequence[str], row: str) -> Iterator[str]:
        """What the lines of a phase refer to of a row: where it is, and its numbers."""
        text = "\n".join(lines)
        for name in self.graph.inputs:
            if re.search(rf"\b(?:in|soon){name[1:]}\b", text):
                yield f"const void *const in{name[1:]} = (const char *)call->ins[{name[1:]}] + {row} * call->pitches[{name[1:]}];"
            if re.search(rf"\bsoon{name[1:]}\b", text):
                yield from self._asked_for(name)
        for number in map(self.graph.outputs.index, self.graph.lane_outputs):
            if re.search(rf"\bout{number}\b", text):
                yield f"char *const out{number} = (char *)call->outs[{number}] + {row} * call->out_pitches[{number}];"
        for number in range(len(self.graph.kept)):
            if re.search(rf"\bkept{number}\b", text):
                yield f"char *const kept{number} = KEPT_OF_ROW({'double' if self.way == 'in_double' else 'float'}, {number}, at);"
        for name in (one for one in self.graph.steps if one in self.graph.rows):
            for form in sorted(forms_in(name, lines, _FORMS)):
                kind, found = "float" if form[-1] == "f" else "double", f"{'per' if form[0] == 'i' else 'row'}_{name}[at]"
                yield f"const {kind}_vector {form}{name} = all_{kind}({f'(float){found}' if kind == 'float' else found});"

    def _room(self, name: str) -> str:
        return f"kept{self.graph.kept.index(name)}"

    def _rows(self, phase: int, ending: Sequence[str], lane: str, found: str = "") -> Iterator[str]:
        for name in ending:
            if self._is_added_up(name):
                yield f"    held_{name}[at] = l_{name} + u_{name};"
            else:
                yield f"    row_{name}[at] = {found or self._found(name, lane)};"

    def _is_added_up(self, name: str) -> bool:
        """Whether a number of a row is what a vector of its sums comes to."""
        return self.graph.steps[name].op == "sum" and not self.graph.is_count(name)

    def _stage(self, phase: int, later: Sequence[str]) -> Iterator[str]:
        """The numbers of all rows that follow a phase, as far as they are used later."""
        graph = self.graph
        names = [name for name in graph.steps if name in graph.rows and graph.levels[name] == phase + 1]
        statements = {name: row_statement(graph, name) for name in names if name not in graph.reductions}
        lines = list(statements.values())
        for name in names:
            forms = {form[0] == "i" for form in forms_in(name, later, _FORMS)}
            used_in_rows = any(name in graph.steps[other].arguments for other in graph.rows if graph.levels[other] > phase + 1)
            if name not in graph.reductions and (False in forms or used_in_rows):
                lines.append(f"write_double(row_{name} + at, d{name});")
            if True in forms:
                lines.append(f"write_double(per_{name} + at, 1 / d{name});")
        yield from (f"sums_of_rows(held_{name}, some, row_{name});" for name in self._ending(phase) if self._is_added_up(name))
        if not lines:
            return
        text = "\n".join(lines)
        given = [name for name in graph.steps if name in graph.rows and name not in statements and re.search(rf"\bd{name}\b", text)]
        yield from (f"fill_up(row_{name}, some);" for name in given if name in names and not self._is_added_up(name))
        yield "for (int64_t at = 0; at < some; at += DOUBLES) {"
        yield from (f"    const double_vector d{name} = read_double(row_{name} + at);" for name in given)
        yield from (f"    {line}" for line in lines)
        yield "}"
