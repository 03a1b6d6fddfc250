"""Kernels of short rows side by side: a number of a row has as many lanes as there are columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from acl_emu.codegen.graph import FUNCTION_UNITS, Bound, Errors, Graph, spelled
from acl_emu.codegen.kernel import ROUGH_UNITS, Kernel, between_of, forms_in, last_errors, without_unused

_FORMS = ("l", "u", "f", "il", "iu", "if")
"""Of a number of each row: halves of it in double, and in float; itself, and its reciprocal."""
_ROOMS = ("l", "f", "il", "if")
"""For the forms of a number of a row: in double, both halves of it, and in float; itself, and its reciprocal."""


def is_settled_in_columns(graph: Graph) -> bool:
    """Whether columns of half types are evaluated in float first: those whose sums are, and those that lie between two numbers."""
    return bool(graph.rough) or (len(graph.outputs) == 1 and graph.phases == 2 and between_of(graph, graph.outputs[0]) is not None)


class Columns(Kernel):
    """The function that evaluates a graph on short rows side by side: a number of a row has as many lanes as there are columns.

    A vector of columns goes through all phases but the last. That one goes through row by row, so that results are written in order.
    """

    _element = "row * stride + i"

    def __init__(self, graph: Graph, name: str, storage: str, way: str) -> None:
        super().__init__(graph, name, storage, way, columns=True)
        self.graph, self.wide = graph, self
        self._last = graph.phases - 1
        self._between = between_of(graph, graph.outputs[0]) if way == "settled" else None

    def text(self) -> Iterator[str]:
        """Its lines."""
        if self._is_tried:
            lines = [line for phase in range(self._last) for line in self._phase_of_vector(phase)]
            head = f"static __attribute__((noinline)) void {self._exactly}(const fused_call *call, size_t i, size_t left)"
            yield from self._function(head, [*lines, *self._left_to_last_phase(trusted=not self._is_weighed)])
            yield ""
        body = [*self._by_vectors(), *self._by_rows(), *self._after_rows()]
        yield from self._function(f"static void {self.name}(const fused_call *call, size_t n)", body)

    def _function(self, head: str, lines: list[str]) -> Iterator[str]:
        """A function, and what its lines need of the call."""
        lines = without_unused(lines)
        text = "\n".join(lines)
        yield from (head, "{")
        for line in self._said_by_call():
            (name,) = re.findall(r"(\w+) = ", line)
            if re.search(r"\bPUT_" if name == "streamed" else rf"\b{name}\b", text):
                yield f"    {line}"
        yield from self._constants_used(Counter(re.findall(r"\b(?:d|f|r)[kx]\d+\b", text)))
        yield from lines
        yield "}"

    def _said_by_call(self) -> Iterator[str]:
        graph = self.graph
        for number in (name[1:] for name in graph.inputs):
            yield f"const char *const in{number} = call->ins[{number}];"
            yield f"const int64_t pitch{number} = call->pitches[{number}];"
            yield f"const char *const soon{number} = call->soon[{number}];"
            yield f"const int64_t apart{number} = call->apart[{number}];"
        for result in map(graph.outputs.index, graph.lane_outputs):
            yield f"char *const out{result} = call->outs[{result}];"
            yield f"const int64_t out_pitch{result} = call->out_pitches[{result}];"
        yield from (f"char *const kept{room} = call->kept[{room}];" for room in range(len(graph.kept)))
        yield "double *const sums = call->sums;"
        yield "double *const results = call->results;"
        yield "const size_t stride = call->stride;"
        yield "const int64_t rows = call->rows;"
        yield "const int streamed = call->streamed;"

    # What is otherwise than in kernels of rows

    def _refer(self, name: str, lane: str) -> str:
        return spelled(name, "float" if lane == "f" else "double", lane) if name in self.graph.rows else super()._refer(name, lane)

    def _room(self, name: str) -> str:
        return f"kept{self.graph.kept.index(name)}"

    def _fetch(self, name: str) -> str:
        kind, fetch = ("mask", "mask") if name[0] == "m" else ("vector", self.storage)
        return f"const float_{kind} f{name} = FETCH_{fetch}(in{name[1:]} + row * pitch{name[1:]}, i, left);"

    def _place(self, name: str) -> str:
        number = self.graph.outputs.index(name)
        return f"out{number} + row * out_pitch{number}"

    def _doubt_before(self) -> str:
        return "unordered(least, most)" if self._between else "first_ones(0)"

    def _begin_again(self, lines: Sequence[str]) -> Iterator[str]:
        if self.graph.rough:
            yield from ("int rough = 1;", "anew:;")
        yield from self._numbers_of_rows(lines)

    def _begin_anew(self) -> Iterator[str]:
        yield from ("rough = 0;", f"{self._exactly}(call, i, left);", "goto anew;")

    # Columns whose sums are tried in float

    @property
    def _is_tried(self) -> bool:
        return self.way == "settled" and (bool(self.graph.rough) or self._is_weighed)

    @property
    def _is_weighed(self) -> bool:
        return self._between is not None and self._between.function == "less_weighed"

    @property
    def _exactly(self) -> str:
        """The function that makes sums of a vector of columns in double, where they have to be."""
        return f"{self.name}_exactly"

    def _try(self) -> Iterator[str]:
        """Sums of a vector of columns in float, along with what that loses, or of products that lose nothing."""
        phase, counted = self._last - 1, [name for name in self._ending(self._last - 1) if self.graph.is_count(name)]
        for before in range(phase):
            yield from self._phase_of_vector(before)
        if self._between:
            (total,), (first, weights) = self._ending(phase), self._between.arguments
            given = f"in{first[1:]}, pitch{first[1:]}, in{weights[1:]}, pitch{weights[1:]}, rows, i, left, &l_{total}, &u_{total}"
            function = f"add_weighed_{self.storage}({given})"
        else:
            (given,), total = self.graph.inputs, self.graph.rough
            (largest,) = (name for name in self.graph.reductions if self.graph.steps[name].op == "max")
            kept = f"(float *){self._room(self.graph.kept[0])} + i, stride" if self.graph.kept else "NULL, 0"
            count = f"&c_{counted[0]}" if counted else "NULL"
            asked = f"soon{given[1:]}, apart{given[1:]}"
            columns = f"in{given[1:]}, pitch{given[1:]}, rows, i, left, {asked}, f_{largest}, {kept}"
            function = f"add_columns_{self.storage}({columns}, &l_{total}, &u_{total}, {count}, &l_unit, &u_unit)"
            yield "    double_vector l_unit, u_unit;"
        yield f"    double_vector l_{total} = all_double(0), u_{total} = all_double(0);"
        yield from (f"    float_vector c_{name} = all_float(0);" for name in counted)
        yield f"    if (UNLIKELY(!{function})) {{"
        yield from (f"        {self._exactly}(call, i, left);", "        continue;", "    }")
        yield from (f"    const double_vector l_{name} = lower_half(c_{name}), u_{name} = upper_half(c_{name});" for name in counted)
        yield from self._come_to(phase, tried=True)

    @cached_property
    def _logarithm(self) -> str:
        """The logarithm of a rough sum: in float, since of few rows it is most of the work; in double where results are in doubt."""
        graph = self.graph
        found = [name for name in graph.rows if graph.steps[name].op == "log1p"] if self._is_tried and graph.rough else []
        return found[0] if found else ""

    @property
    def _of_logarithm(self) -> str:
        """What it is taken of, which is left to the last phase in its place."""
        return self.graph.steps[self._logarithm].arguments[0]

    def _last_errors(self) -> tuple[Errors, list[Bound]]:
        return last_errors(self.graph, ROUGH_UNITS + (FUNCTION_UNITS["log1p"] if self._logarithm else 0))

    # Phases

    def _by_vectors(self) -> Iterator[str]:
        """All phases but the last, for one vector of columns after the other."""
        if not self._last:
            return
        yield "    for (size_t i = 0; i < n; i += FLOATS) {"
        yield "        const size_t left = n - i;"
        phases: Iterable[Iterator[str]] = [self._try()] if self._is_tried else map(self._phase_of_vector, range(self._last))
        yield from (f"    {line}" for phase in phases for line in phase)
        yield from (f"    {line}" for line in self._left_to_last_phase())
        yield "    }"

    def _phase_of_vector(self, phase: int) -> Iterator[str]:
        """All rows of a vector of columns, and what they come to."""
        yield from self._begin_columns(phase)
        yield "    for (int64_t row = 0; row < rows; row++) {"
        yield from self._bodies[phase]
        yield "    }"
        yield from self._come_to(phase)

    def _begin_columns(self, phase: int) -> Iterator[str]:
        for name in self._ending(phase):
            if self._is_single_column(name, self._lane(phase)):
                yield f"    float_vector f_{name} = all_float(-INFINITY);"
            else:
                first = "0" if self.graph.steps[name].op == "sum" else "-INFINITY"
                yield f"    double_vector l_{name} = all_double({first}), u_{name} = all_double({first});"

    def _by_rows(self) -> Iterator[str]:
        """The last phase; what it adds up is held in memory."""
        body, lane = self._bodies[self._last], self._lane(self._last)
        held = [self._held_in_memory(name, lane) for name in self._ending(self._last)]
        if held:
            yield "    for (size_t i = 0; i < n; i += FLOATS) {"
            yield from (f"    {line}" for line in self._begin_columns(self._last))
            yield from (f"        {line}" for _, put_back in held for line in put_back)
            yield "    }"
        yield "    for (int64_t row = 0; row < rows; row++) {"
        yield "        for (size_t i = 0; i < n; i += FLOATS) {"
        yield "            const size_t left = n - i;"
        if self._between:
            ends = ("least", self._slot(self._between.row, "f")), ("most", self._slot(self._between.row, "if"))
            yield from (f"            const float_vector {end} = read_float({place});" for end, place in ends)
        yield from (f"            {line}" for line in (*self._numbers_of_rows(body), *(fetched for fetched, _ in held)))
        yield from (f"    {line}" for line in body)
        yield from (f"            {line}" for _, put_back in held for line in put_back)
        yield "        }"
        yield "    }"

    def _after_rows(self) -> Iterator[str]:
        """What the last phase comes to."""
        if ending := self._ending(self._last):
            lines = list(self._come_to(self._last))
            yield "    for (size_t i = 0; i < n; i += FLOATS) {"
            yield from (f"        {self._held_in_memory(name, self._lane(self._last))[0]}" for name in ending)
            yield from (f"        {line}" for line in self._numbers_of_rows(lines))
            yield from (f"    {line}" for line in lines)
            yield "    }"

    @cached_property
    def _bodies(self) -> list[list[str]]:
        """What phases do with a vector of elements."""
        graph, found = self.graph, []
        for phase in range(graph.phases):
            lane = self._lane(phase)
            keep = [name for name in graph.kept if graph.levels[name] == phase]
            at_hand = [name for name in graph.kept if graph.levels[name] < phase]
            wanted = self._between.arguments if self._between and lane == "settled" else (*graph.wanted(phase), *keep)
            body = self._body(phase, lane, graph.needed(wanted, at_hand=at_hand), self._ending(phase), keep, at_hand)
            found.append(without_unused([*self._asked(phase), *body]))
        return found

    def _asked(self, phase: int) -> Iterator[str]:
        """What is needed soon is asked for where there is most to compute."""
        if phase == (self.graph.busy or self._last):
            for name in self.graph.inputs:
                yield f"        ASK_FOR_ROW(soon{name[1:]}, apart{name[1:]}, row, i * {self._item_of(name)});"

    # Numbers of rows

    def _come_to(self, phase: int, *, tried: bool = False) -> Iterator[str]:
        """Numbers of columns that follow a phase, in all forms that they are used in."""
        graph = self.graph
        for name in (one for one in graph.steps if one in graph.rows and graph.levels[one] == phase + 1):
            single = name in graph.reductions and self._is_single_column(name, self._lane(phase))
            if single:
                yield f"    const double_vector l{name} = lower_half(f_{name});"
                yield f"    const double_vector u{name} = upper_half(f_{name});"
            elif name in graph.reductions:
                yield f"    const double_vector l{name} = l_{name}, u{name} = u_{name};"
            elif name == self._logarithm:
                inner = self._of_logarithm
                yield f"    const float_vector f{name} = trusted(l{inner}, u{inner}, log1p_of_float(joined(l{inner}, u{inner})));"
                continue
            else:
                yield from (f"    {self._statement(name, lane)}" for lane in "lu")
            reciprocal = f"l_unit * il{name}, u_unit * iu{name}" if tried and name == graph.rough else f"1 / l{name}, 1 / u{name}"
            for form, kind, value in (
                ("f", "float", f"f_{name}" if single else f"joined(l{name}, u{name})"),
                ("il", "double", f"1 / l{name}"),
                ("iu", "double", f"1 / u{name}"),
                ("if", "float", f"joined({reciprocal})"),
            ):
                if form in self._forms[name]:
                    trusted = f"trusted(l{name}, u{name}, {value})" if self.way == "settled" and kind == "float" else value
                    yield f"    const {kind}_vector {form}{name} = {trusted};"
            if name in graph.row_outputs:
                place = f"results + {graph.outputs.index(name)} * stride + i"
                yield f"    write_double({place}, l{name}), write_double({place} + DOUBLES, u{name});"

    @cached_property
    def _forms(self) -> dict[str, set[str]]:
        """In which forms the numbers of rows are used by elements."""
        return {name: forms_in(name, [line for body in self._bodies for line in body], _FORMS) for name in self.graph.rows}

    def _left_to_last_phase(self, *, trusted: bool = True) -> Iterator[str]:
        """What the last phase needs of columns, left where it looks for it; not trusted: nothing is to be made of it in float."""
        body = self._bodies[self._last]
        for name in (one for one in self.graph.steps if one in self.graph.rows and self.graph.levels[one] <= self._last):
            for form in sorted(forms_in(name, body, _FORMS)):
                left = self._of_logarithm if name == self._logarithm and form in ("l", "u") else name
                yield f"    write_{'float' if form[-1] == 'f' else 'double'}({self._slot(left, form)}, {form}{left});"
        if self._between:
            row = self._between.row
            if trusted:
                yield "    float_vector least, most;"
                yield f"    spread_columns(l{row}, u{row}, {float(self._between.units)}f, &least, &most);"
            else:
                yield "    const float_vector least = all_float(NAN), most = least;"
            yield f"    write_float({self._slot(row, 'f')}, least), write_float({self._slot(row, 'if')}, most);"

    def _numbers_of_rows(self, lines: Sequence[str]) -> Iterator[str]:
        """Those that lines refer to and do not make, from where they were left."""
        text = "\n".join(lines)
        for name in (one for one in self.graph.steps if one in self.graph.rows):
            for form in sorted(forms_in(name, lines, _FORMS)):
                if f" {form}{name} = " not in text:
                    kind = "float" if form[-1] == "f" else "double"
                    if name == self._logarithm and kind == "double":
                        yield f"const double_vector {form}{name} = log1p_of_double(read_double({self._slot(self._of_logarithm, form)}));"
                    else:
                        yield f"const {kind}_vector {form}{name} = read_{kind}({self._slot(name, form)});"

    def _slot(self, name: str, form: str) -> str:
        """Where a number of each row is left."""
        reductions, names = self.graph.reductions, [one for one in self.graph.steps if one in self.graph.rows]
        if form in ("l", "u") and name in reductions:
            number = reductions.index(name)
        else:
            number = len(reductions) + len(_ROOMS) * names.index(name) + _ROOMS.index(form.replace("u", "l"))
        place = f"sums + {number} * stride"
        return f"(float *)({place}) + i" if form[-1] == "f" else f"{place} + i{' + DOUBLES' if form[-1] == 'u' else ''}"
