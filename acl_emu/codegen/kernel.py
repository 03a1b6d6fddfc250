"""A kernel compiled as a whole: the C function that evaluates a graph on a row, a part of one, or columns side by side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from acl_emu.codegen.graph import COMPARED, DEAR, FLOAT_DIGITS, FUNCTION_UNITS, MASKS, Bound, Errors, Exactness, Graph, Step, spelled, total
from acl_emu.codegen.shorter import shorter

DIGITS = {"f16": 11, "bf16": 8}
"""Of the half types."""
ROUGH_UNITS = 1.25
"""What was rounded to float, and was off by ROUGH of fused.h before."""
_NAMES = {"abs": "absolute", "as_number": "number", "where": "select", "exp": "exp_of", "log": "log_of", "log1p": "log1p_of"}
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|"}
_PREFIX = {"neg": "-", "not": "~"}


def last_errors(graph: Graph, rough_units: float = ROUGH_UNITS) -> tuple[Errors, list[Bound]]:
    """What is known of the last phase in float, and of its results; rows and what was kept have been rounded to float.

    ``rough_units``: how far what is made of a rough sum may be off.
    """
    last = graph.phases - 1
    given = {name: graph.signs[name]._replace(units=1, error="") for name in (*graph.rows, *graph.kept)}
    for name in graph.rows:
        if graph.steps[name].op == "max" and graph.exact_in_float(graph.steps[name].arguments[0]):
            given[name] = given[name]._replace(units=0)
        elif graph.rough:
            given[name] = given[name]._replace(units=rough_units)
    if graph.rough:
        given |= {name: given[name]._replace(units=rough_units) for name in graph.kept}
    for name, step in graph.steps.items():  # of half types, products of two inputs have few enough digits
        if step.op == "mul" and all(graph.is_input(argument) for argument in step.arguments):
            given[name] = graph.signs[name]._replace(units=0, error="")
    errors = Errors(graph, graph.needed(graph.wanted(last), at_hand=graph.kept), given)
    return errors, [errors.bounds[name] for name in graph.lane_outputs if graph.levels[name] == last]


def _expression(graph: Graph, step: Step, arguments: Sequence[str], lane: str) -> str:
    if step.op == "div" and _by_reciprocal(graph, step):
        return f"{arguments[0]} * i{arguments[1]}"
    if step.op in _PREFIX:
        return f"{_PREFIX[step.op]}{arguments[0]}"
    if step.op in _INFIX:
        return f"{arguments[0]} {_INFIX[step.op]} {arguments[1]}"
    if step.op == "square":
        return f"{arguments[0]} * {arguments[0]}"
    named = _NAMES.get(step.op, step.op)
    if step.op == "exp_of_difference" and graph.is_largest(step.arguments[1], step.arguments[0]):
        named = "exp_of_distance"
    if step.op == "log1p" and step.arguments[0] in graph.steps and graph.signs[step.arguments[0]].part:
        named = "log1p_of_part"
    return f"{named}_{lane}({', '.join(arguments)})"


def _by_reciprocal(graph: Graph, step: Step) -> bool:
    """Whether elements are divided by a number of a row: where functions are not exact either, a product with its reciprocal will do."""
    dear = any(one.op in DEAR for one in graph.steps.values())
    return step.arguments[1] in graph.rows and graph.is_lane(step.arguments[0]) and dear


class Between(NamedTuple):
    """A result that lies between two numbers: something less multiples of a number of the row."""

    function: str
    """Of fused.h."""
    arguments: tuple[str, ...]
    row: str
    units: float
    """How far the multiples may be off."""


def between_of(graph: Graph, name: str) -> Between | None:
    """Numbers less multiples of exponentials, or numbers and one of their row, both weighed: those that half types have two ends of."""
    last = graph.steps[name]
    product = graph.steps.get(last.arguments[-1])
    if last.op != "sub" or product is None or product.op != "mul":
        return None
    first = last.arguments[0]
    for row, size in (product.arguments, product.arguments[::-1]):
        if row in graph.rows and graph.steps[row].op == "sum":
            inner, weighed = graph.steps.get(size), graph.steps.get(first)
            if inner is not None and inner.op == "exp" and inner.arguments[0] in graph.inputs and first in graph.inputs:
                return Between("less_exponentials", (first, size), row, FUNCTION_UNITS["exp"])
            if weighed is not None and weighed.op == "mul" and size == weighed.arguments[1] and {*weighed.arguments} <= {*graph.inputs}:
                return Between("less_weighed", weighed.arguments, row, 0)
    return None


class Kernel:
    """The function that evaluates a graph on a row, or on a part of one; on columns side by side, one element of each."""

    def __init__(self, graph: Graph, name: str, storage: str, way: str, *, columns: bool = False) -> None:
        self.graph = graph if way == "in_double" else shorter(graph)
        self.wide = self if self.graph is graph else Kernel(graph, name, storage, "in_double")
        """What is evaluated in double where float is in doubt."""
        self.name = name
        self.storage = storage
        self.way = way
        self.columns = columns
        self.exactness = Exactness(graph, DIGITS.get(storage, FLOAT_DIGITS))

    def _last_errors(self) -> tuple[Errors, list[Bound]]:
        return last_errors(self.graph)

    _element = "i"
    """Where an element has its place in rooms for what is kept."""

    def text(self) -> Iterator[str]:
        """Its lines."""
        body = [line for phase in range(self.graph.phases) for line in without_unused(list(self._phase(phase)))]
        uses = Counter(re.findall(r"\b(?:d|f|r|id|if)[kxt]\d+\b", "\n".join(body)))
        yield from self._beginning(uses)
        for line in body:
            row = re.match(r"    const (?:float|double)_vector (ft\d+|i[fd]t\d+) = (?:joined|1 / )", line)
            if not (row and uses[row[1]] == 1):  # rows that are used in one type only
                yield line
        yield "}"

    def _beginning(self, uses: Counter[str]) -> Iterator[str]:
        """What the call says, as far as it is used."""
        yield f"static void {self.name}(const fused_call *call, size_t n)"
        yield "{"
        for name in self.graph.inputs:
            yield f"    const void *const in{name[1:]} = call->ins[{name[1:]}];"
        for name in self.graph.lane_outputs:
            yield f"    void *const out{self.graph.outputs.index(name)} = call->outs[{self.graph.outputs.index(name)}];"
        yield from self._manner()
        if self.graph.asking(self.storage) is not None and not self.columns:
            yield from (f"    {line}" for name in self.graph.inputs for line in self._asked_for(name))
        yield from self._constants_used(uses)

    def _manner(self) -> Iterator[str]:
        """How results are written, and whether memory is asked for that the call tells of."""
        if self.graph.lane_outputs:
            yield "    const int streamed = call->streamed;"
        if self.graph.asking(self.storage) is not None and not self.columns and not self.graph.busy:
            yield "    const int told = call->soon != NULL;"

    def _asked_for(self, name: str) -> Iterator[str]:
        """Where memory is that is needed soon."""
        yield f"const int64_t apart{name[1:]} = APART({name[1:]}, {self._item_of(name)});"
        yield f"const char *const soon{name[1:]} = SOON({name[1:]}, {self._item_of(name)});"

    def _item_of(self, name: str) -> str:
        """The size of an element of an input."""
        return "sizeof(uint8_t)" if name[0] == "m" else "sizeof(float)" if self.storage == "f32" else "sizeof(uint16_t)"

    def _constants_used(self, uses: Counter[str]) -> Iterator[str]:
        for name in self.graph.constants:
            for prefix, lane in (("d", "double"), ("f", "float")):
                if uses[prefix + name]:
                    yield f"    const {lane}_vector {prefix}{name} = all_{lane}(({lane})call->constants[{name[1:]}]);"
            if uses[f"r{name}"]:
                constant = f"call->constants[{name[1:]}]"
                yield f"    const float_vector r{name} = all_float((float)({constant} - (float){constant}));"

    def _ask(self, phase: int) -> Iterator[str]:
        """For memory that is needed soon: where there are no rows, or little to compute, only if the call says what that is."""
        if phase == self.graph.asking(self.storage) and not self.columns:
            ask = "ASK_FOR" if self.graph.busy else "ASK_IF_TOLD"
            yield from (f"        {ask}(soon{name[1:]}, apart{name[1:]}, i);" for name in self.graph.inputs)

    def _ending(self, phase: int) -> list[str]:
        """The reductions that a phase ends with."""
        return [name for name in self.graph.reductions if self.graph.levels[name] == phase + 1]

    def _lane(self, phase: int) -> str:
        """What a phase is evaluated in: maxima need no more than float, what ends in float has been settled or needs no more."""
        graph = self.graph
        if self.way == "plain":
            return "float"
        ending = self._ending(phase)
        if ending and all(graph.steps[name].op == "max" and graph.exact_in_float(graph.steps[name].arguments[0]) for name in ending):
            outs = [name for name in graph.lane_outputs if graph.levels[name] == phase]
            kept = [name for name in graph.kept if graph.levels[name] == phase]
            return "double" if outs or kept else "float"
        return "settled" if self.way == "settled" and phase == graph.phases - 1 else "double"

    def _phase(self, phase: int) -> Iterator[str]:
        graph, lane = self.graph, self._lane(phase)
        ending = self._ending(phase)
        keep = [name for name in graph.kept if graph.levels[name] == phase]
        at_hand = [*(name for name in graph.kept if graph.levels[name] < phase), *self._ahead(lane)]
        wanted = [*graph.wanted(phase), *keep]
        if not wanted:
            return
        begin = "0"
        between = between_of(graph, wanted[0]) if lane == "settled" and len(wanted) == 1 and wanted[0] in graph.steps else None
        needed = graph.needed(between.arguments if between else [*wanted, *self._ahead(lane)], at_hand=at_hand)
        if self._is_largest_input(ending, wanted):
            yield from self._rows(phase, ending, lane, f"largest_{self.storage}(in{wanted[0][1:]}, n)")
            return
        rough = self.way == "settled" and graph.rough in ending
        if rough:
            (given,), (largest,) = graph.inputs, (name for name in graph.reductions if graph.steps[name].op == "max")
            yield f"    int rough = is_fit_for_float(d{largest}[0], n) && in{given[1:]} != out0;"
            yield "anew:;"
        for name in ending if not self.columns else ():
            yield from self._begin(name, lane)
        if rough:
            kept = "(float *)call->kept[0]" if graph.kept else "NULL"
            counts = [f"&c_{name}" for name in ending if graph.is_count(name)] or ["NULL"]
            sums = f"&l_{graph.rough}, &u_{graph.rough}, {counts[0]}, &unit"
            asked = f"soon{given[1:]}, apart{given[1:]}"
            yield "    double_vector unit = all_double(1);"
            yield "    if (rough) {"
            yield f"        add_exponentials_{self.storage}(in{given[1:]}, n, {asked}, d{largest}[0], {kept}, {sums});"
            yield "    }"
            begin = "rough ? n : 0"
        if between:
            yield from self._certain_between(between)
        elif lane == "settled":
            yield from self._certain(needed)
        body = list(self._body(phase, lane, needed, ending, keep, at_hand))
        if self._is_dot(ending, wanted) or self._is_sum_of_input(ending, wanted):
            (name,) = ending
            function = "dot" if len(wanted) > 1 else "row"
            yield f"    add_{function}_{self.storage}({', '.join(f'in{one[1:]}' for one in wanted)}, n, &l_{name}, &u_{name});"
        elif self._is_taken_by_twos(ending):
            yield from self._by_twos(body, ending, lane, begin)
        elif self.columns:
            yield from self._by_columns(body, ending, lane)
        elif self._ahead(lane):
            yield from self._by_blocks(body)
        else:
            yield f"    for (size_t i = {begin}; i < n; i += FLOATS) {{"
            yield from body
            yield "    }"
        if graph.in_parts:
            for name in ending if not self.columns else ():
                place = f"call->sums + {graph.reductions.index(name)} * PARTIALS"
                if self._kind(name, lane) == "sums":
                    yield f"    store_sums({place}, {self._held(name, lane)});"
                else:
                    yield f"    store_largest({place}, {self._found(name, lane)});"
        else:
            yield from self._rows(phase, ending, lane)

    def _body(
        self,
        phase: int,
        lane: str,
        needed: Sequence[str],
        ending: Sequence[str],
        keep: Sequence[str],
        at_hand: Sequence[str],
    ) -> Iterator[str]:
        """What a phase does with a vector of elements."""
        graph = self.graph
        if not self.columns:
            yield "        const size_t left = n - i;"
        if not self._ahead(lane):
            yield from self._ask(phase)
        for name in graph.inputs:
            if name in needed:
                yield f"        {self._fetch(name)}"
        stored = [name for name in graph.lane_outputs if graph.levels[name] == phase]
        if lane == "double":
            yield from self._halves(needed, at_hand)
        else:
            yield from self._floats(needed, at_hand, doubtful=lane == "settled")
        for name in ending:
            yield from self._column(name, lane) if self.columns else self._add(name, lane)
        for name in keep:
            yield f"        {self._keep(name, lane)}"
        if lane == "settled":
            yield from self._settle(stored, needed)
        if lane == "float" and self.wide is not self:
            yield from self._guard(stored)
            return
        for name in stored if lane != "settled" else ():
            result = f"JOINED_{self.storage}(l{name}, u{name})" if lane == "double" else f"f{name}"
            yield f"        PUT_{self.storage}({self._place(name)}, i, left, {result});"

    def _place(self, name: str) -> str:
        """Where elements of a result go."""
        return f"out{self.graph.outputs.index(name)}"

    def _room(self, name: str) -> str:
        """Where what is kept of elements is."""
        return f"call->kept[{self.graph.kept.index(name)}]"

    def _guard(self, stored: Sequence[str]) -> Iterator[str]:
        """Results of a shorter formula; where an exponential may be too large for it, those of the kernel."""
        exact = self.wide.graph
        large = [f"less_float(all_float(0x1p60f), f{name})" for name, step in self.graph.steps.items() if step.op == "exp"]
        yield f"        const float_mask doubt = {' | '.join(large)};"
        yield from (f"        float_vector g{name} = f{name};" for name in stored)
        yield "        if (UNLIKELY(any(doubt))) {"
        yield from self.wide._halves(exact.needed(exact.outputs), (), "            ")
        for name, other in zip(stored, exact.outputs, strict=True):
            yield f"            g{name} = select_float(doubt, JOINED_{self.storage}(l{other}, u{other}), f{name});"
        yield "        }"
        for name in stored:
            yield f"        PUT_{self.storage}(out{self.graph.outputs.index(name)}, i, left, g{name});"

    def _fetch(self, name: str) -> str:
        kind, fetch = ("mask", "mask") if name[0] == "m" else ("vector", self.storage)
        row = f"(const char *)in{name[1:]} + row * call->pitches[{name[1:]}]" if self.columns else f"in{name[1:]}"
        return f"const float_{kind} f{name} = FETCH_{fetch}({row}, i, left);"

    def _ahead(self, lane: str) -> list[str]:
        """Functions that are evaluated for a block before anything else is: where the rest can do without what they are made of."""
        if lane != "settled" or self.graph.phases > 1:
            return []
        dear = [name for name, step in self.graph.steps.items() if step.op in DEAR]
        doubtful = [name for name in self.graph.needed(dear) if name in self.graph.steps and any(self._doubts(name))]
        if set(doubtful).difference(dear) or set(dear).intersection(self._last_errors()[0].computed):
            return []
        used = self.graph.needed(self.graph.outputs, at_hand=dear)
        return [name for name in dear if name in used or name in doubtful]

    def _by_blocks(self, body: list[str]) -> Iterator[str]:
        """Functions first, then the rest: in shorter chains of steps a processor sees more vectors at once."""
        ahead = self._ahead("settled")
        first = self.graph.needed(ahead)
        yield "    for (size_t begin = 0; begin < n; begin += BLOCK) {"
        yield "        const size_t end = n - begin < BLOCK ? n : begin + BLOCK;"
        yield from (f"        float_vector b{name}[BLOCK / FLOATS];" for name in ahead)
        yield "        for (size_t i = begin; i < end; i += FLOATS) {"
        yield "            const size_t left = n - i;"
        yield from ("    " + line for line in self._ask(0))
        yield from (f"            {self._fetch(name)}" for name in first if name in self.graph.inputs)
        yield from ("    " + line for line in self._floats(first, (), doubtful=False))
        yield from (f"            b{name}[(i - begin) / FLOATS] = f{name};" for name in ahead)
        yield "        }"
        yield "        for (size_t i = begin; i < end; i += FLOATS) {"
        yield from ("    " + line for line in body)
        yield "        }"
        yield "    }"

    def _is_sum_of_input(self, ending: Sequence[str], wanted: Sequence[str]) -> bool:
        """Whether a phase does nothing but add up an input."""
        alone = len(ending) == len(wanted) == 1 and wanted[0] in self.graph.inputs and self.graph.summands(ending[0]) == (wanted[0],)
        return alone and self.graph.steps[ending[0]].op == "sum" and not self.columns

    def _is_largest_input(self, ending: Sequence[str], wanted: Sequence[str]) -> bool:
        """Whether a phase does nothing but look for the largest number of an input."""
        alone = len(ending) == 1 and wanted == list(self.graph.steps[ending[0]].arguments) and wanted[0] in self.graph.inputs
        return alone and self.graph.steps[ending[0]].op == "max" and not self.columns

    def _is_dot(self, ending: Sequence[str], wanted: Sequence[str]) -> bool:
        """Whether a phase does nothing but add up the products of two inputs."""
        alone = len(ending) == 1 and len(wanted) == 2 and tuple(wanted) == self.graph.summands(ending[0])
        return alone and all(one in self.graph.inputs for one in wanted) and not self.columns

    def _is_taken_by_twos(self, ending: Sequence[str]) -> bool:
        """Whether a reduction would wait for itself: nothing but cheap steps between one addition and the next."""
        return bool(ending) and self.graph.in_parts and not self.columns and not any(step.op in DEAR for step in self.graph.steps.values())

    def _by_twos(self, body: list[str], ending: Sequence[str], lane: str, begin: str) -> Iterator[str]:
        """Two vectors at a time, added up apart from each other."""
        for name in ending:
            for line in self._begin(name, lane):
                yield _other(line)
        yield f"    for (size_t i = {begin}; i < n; i += FLOATS) {{"
        yield from body
        yield "        i += FLOATS;"
        yield "        if (i < n) {"
        yield from ("    " + _other(line) for line in body)
        yield "        }"
        yield "    }"
        for name in ending:
            held = [one.strip() for one in self._held(name, lane).split(",")]
            for one in held:
                if self.graph.steps[name].op == "sum":
                    yield f"    {one} += {_other(one)};"
                elif one[0] == "n":
                    yield f"    {one} |= {_other(one)};"
                else:
                    lanes = "float" if one[0] == "f" else "double"
                    yield f"    {one} = {'larger' if lanes == 'float' else 'maximum'}_{lanes}({one}, {_other(one)});"

    def _by_columns(self, body: list[str], ending: Sequence[str], lane: str) -> Iterator[str]:
        """Some rows for a vector of columns at a time: what they have come to is not fetched for each."""
        held = [self._held_in_memory(name, lane) for name in ending]
        yield "    for (int64_t first = 0; first < call->rows; first += call->together) {"
        yield "        const int64_t end = call->rows - first < call->together ? call->rows : first + call->together;"
        yield "        for (size_t i = 0; i < n; i += FLOATS) {"
        yield "            const size_t left = n - i;"
        yield from (f"            {fetched}" for fetched, _ in held)
        yield "            for (int64_t row = first; row < end; row++) {"
        yield from ("        " + line for line in body)
        yield "            }"
        yield from (f"            {line}" for _, put_back in held for line in put_back)
        yield "        }"
        yield "    }"

    def _held_in_memory(self, name: str, lane: str) -> tuple[str, list[str]]:
        """How what a column has come to is fetched, and put back."""
        low, high = (f"call->sums + {self.graph.reductions.index(name)} * call->stride + i{offset}" for offset in ("", " + DOUBLES"))
        if self._is_single_column(name, lane):
            fetched = f"float_vector f_{name} = joined(read_double({low}), read_double({high}));"
            return fetched, [f"write_double({low}, lower_half(f_{name}));", f"write_double({high}, upper_half(f_{name}));"]
        fetched = f"double_vector l_{name} = read_double({low}), u_{name} = read_double({high});"
        return fetched, [f"write_double({low}, l_{name});", f"write_double({high}, u_{name});"]

    def _is_single_column(self, name: str, lane: str) -> bool:
        """Whether columns need no more than float for a while: the largest of float numbers is one of them."""
        return lane == "float" and self.graph.steps[name].op == "max" and all(map(self.graph.is_lane, self.graph.summands(name)))

    # Elements

    def _refer(self, name: str, lane: str) -> str:
        """A name on lanes of float (f), or on the lower (l) or upper (u) half of them in double."""
        kind = "float" if lane == "f" else "double"
        return spelled(name, kind, lane if self.graph.is_lane(name) else kind[0])

    def _statement(self, name: str, lane: str, *, followed: bool = False) -> str:
        step, kind = self.graph.steps[name], "float" if lane == "f" else "double"
        result = "mask" if step.op in MASKS else "vector"
        arguments = [self._refer(argument, lane) for argument in step.arguments]
        expression = _expression(self.graph, step, arguments, kind)
        if followed and self.exactness.is_followed(name):
            op, arguments = self._operation(name)
            expression = f"near_{op}_{self.storage}({', '.join(arguments)})"
        elif lane == "f" and self.way == "settled" and step.op == "sub" and self._is_exact_product(step.arguments[0]):
            factors = [self._refer(argument, "f") for argument in self.graph.steps[step.arguments[0]].arguments]
            expression = f"fma_float({', '.join(factors)}, -{arguments[1]})"
        elif lane == "f" and step.op == "exp_of_difference" and (rest := self._rest(step)):
            expression = f"exp_of_rounded_distance_float({arguments[0]}, {rest}, {arguments[1]})"
        elif lane == "f" and self.way == "settled" and step.op == "exp" and (rough := self._roughly(step)):
            expression = f"{rough}({arguments[0]})"
        return f"const {kind}_{result} {lane}{name} = {expression};"

    @property
    def falls_back(self) -> bool:
        """Whether there are rows that it leaves to another kernel."""
        return any(map(self._has_rest, self.graph.reductions))

    def _has_rest(self, row: str) -> bool:
        """Whether what products lost is made up for in exponentials less a number of the row."""
        return any(self._rest(step) for step in self.graph.steps.values() if step.op == "exp_of_difference" and step.arguments[1] == row)

    def _rest(self, step: Step) -> str:
        """What numbers lost that an exponential is taken of, less the largest of them, where a constant has scaled them; none if empty."""
        if self.way != "plain" or not self.graph.is_largest(step.arguments[1], step.arguments[0]):
            return ""
        return self._rest_of(step.arguments[0])

    def _rest_of(self, name: str) -> str:
        step = self.graph.steps.get(name)
        if step is not None and step.op == "mul" and step.arguments[0] in self.graph.inputs and step.arguments[1] in self.graph.constants:
            constant = step.arguments[1]
            return f"rest_of_product({self._refer(step.arguments[0], 'f')}, f{constant}, r{constant}, f{name})"
        if step is not None and step.op == "where" and (rest := self._rest_of(step.arguments[2])):
            return f"select_float({self._refer(step.arguments[0], 'f')}, all_float(0), {rest})"
        return ""

    def _roughly(self, step: Step) -> str:
        """What makes an exponential of a half number whose last digit does not matter; none where the number may be too large for that."""
        if not self.graph.exact_in_float(step.arguments[0]):
            return ""
        if self.storage == "f16" or any(self._is_safe(output) for output in self.graph.lane_outputs):
            return "exp_roughly_float"
        return "exp_roughly_to_part" if self.graph.signs[step.arguments[0]].negative else ""

    def _is_exact_product(self, name: str) -> bool:
        step = self.graph.steps.get(name)
        return step is not None and step.op == "mul" and all(argument in self.graph.inputs for argument in step.arguments)

    def _operation(self, name: str) -> tuple[str, list[str]]:
        """A step of plain arithmetic on float as an operation on two numbers."""
        step = self.graph.steps[name]
        op, arguments = ("mul", step.arguments * 2) if step.op == "square" else (step.op, step.arguments)
        return op, [self._refer(argument, "f") for argument in arguments]

    def _floats(self, needed: Sequence[str], at_hand: Sequence[str], *, doubtful: bool) -> Iterator[str]:
        """The steps in float, and where they are doubtful."""
        turned = self._last_errors()[0].turned if doubtful and not self.exactness.applies else {}
        quotients = [quotient for quotient, _ in turned.values()]
        if doubtful:
            yield f"        float_mask doubt = {self._doubt_before()};"
        for name in needed:
            if name in self.graph.kept and name in at_hand:
                place = f"(const float *){self._room(name)} + {self._element}"
                yield f"        const float_vector f{name} = read_float({place});"
            elif name in at_hand:
                yield f"        const float_vector f{name} = b{name}[(i - begin) / FLOATS];"
                yield from self._doubts(name)
            elif name in turned:
                yield from self._turned(name, *turned[name])
                yield from self._doubts(name)
            elif name in self.graph.steps and name not in quotients:
                yield f"        {self._statement(name, 'f', followed=doubtful and self.exactness.applies)}"
                if doubtful:
                    yield from self._inexact(name) if self.exactness.applies else self._doubts(name)

    def _turned(self, name: str, quotient: str, factor: str) -> Iterator[str]:
        """A product with a quotient, of which the other factor is divided."""
        dividend, divisor = self.graph.steps[quotient].arguments
        arguments = [self._refer(argument, "f") for argument in (factor, divisor)]
        yield f"        const float_vector q{name} = {_expression(self.graph, Step('div', (factor, divisor)), arguments, 'float')};"
        yield f"        const float_vector f{name} = {self._refer(dividend, 'f')} * q{name};"

    def _halves(self, needed: Sequence[str], at_hand: Sequence[str], indent: str = "        ") -> Iterator[str]:
        """The steps in double, on the lower and the upper half of the elements."""
        for name in needed:
            for lane, half, offset in (("l", "lower", ""), ("u", "upper", " + DOUBLES")):
                if name in self.graph.inputs:
                    kind = "mask" if name[0] == "m" else "vector"
                    yield f"{indent}const double_{kind} {lane}{name} = {half}_{'mask' if kind == 'mask' else 'half'}(f{name});"
                elif name in at_hand:
                    place = f"(const double *){self._room(name)} + {self._element}{offset}"
                    yield f"{indent}const double_vector {lane}{name} = read_double({place});"
                else:
                    yield f"{indent}{self._statement(name, lane)}"

    def _keep(self, name: str, lane: str) -> str:
        place = self._room(name)
        if lane == "float":
            return f"write_float((float *){place} + {self._element}, f{name});"
        if self.way == "settled":
            return f"write_float((float *){place} + {self._element}, KEPT_{self.storage}(l{name}, u{name}));"
        low = f"(double *){place} + {self._element}"
        return f"write_double({low}, l{name}), write_double({low} + DOUBLES, u{name});"

    # Float results of half types

    def _certain(self, needed: Sequence[str]) -> Iterator[str]:
        """Whether float can be trusted with what is the same for all elements, and with the size of the inputs."""
        graph = self.graph
        steps = [graph.steps[name] for name in needed if name in graph.steps and name not in graph.kept]
        around = {argument for step in steps if step.op != "exp" for argument in step.arguments}
        yield "    int certain = 1;"
        for name in sorted(around):
            if name in graph.constants:
                yield f"    certain &= is_moderate(call->constants[{name[1:]}]);"
            elif name in graph.rows:
                yield f"    certain &= is_moderate(d{name}[0]);"
            if name in graph.constants and (name[0] == "x" or self.exactness.applies):
                yield f"    certain &= is_float(call->constants[{name[1:]}]);"
            alone = any(graph.is_share(output) for output in graph.outputs)
            if name[0] == "i" and self.storage == "bf16" and not self.exactness.applies and graph.has_products and not alone:
                yield f"    certain &= is_moderate_bf16(in{name[1:]}, n);"
        yield "    const float_mask uncertain = first_ones(certain ? 0 : FLOATS);"

    def _certain_between(self, between: Between) -> Iterator[str]:
        """The same for results between two numbers, and what these are made of; what is summed up to a number is made of numbers."""
        row, (first, size) = f"d{between.row}[0]", between.arguments
        yield "    float_vector least, most;"
        yield f"    spread({row}, {float(between.units)}f, &least, &most);"
        yield f"    int certain = is_moderate({row}) && {row} == {row};"
        if size in self.graph.inputs:
            yield f"    certain &= are_weights_{self.storage}(in{size[1:]}, n);"
            if self.storage == "bf16":
                yield f"    certain &= {row} != 0 || is_moderate_bf16(in{first[1:]}, n);"
        yield "    const float_mask uncertain = first_ones(certain ? 0 : FLOATS);"

    def _inexact(self, name: str) -> Iterator[str]:
        """Where a step is not exact, if that matters."""
        ending = [one for out in self.graph.outputs for one in self.exactness.rounded.get(out, [])]
        if name not in (*self.exactness.required, *ending):
            return
        op, arguments = self._operation(name)
        found = f"inexact_{op}_{self.storage}({', '.join([*arguments, f'f{name}'])})"
        yield f"        doubt |= {found};" if name in self.exactness.required else f"        const float_mask r{name} = {found};"

    def _doubts(self, name: str) -> Iterator[str]:
        graph, step, errors = self.graph, self.graph.steps[name], self._last_errors()[0]
        if step.op in COMPARED:
            # Where numbers that are compared may be off, so may the answer be, unless one is zero: known signs are never wrong.
            bounds = [errors.bounds[argument] for argument in step.arguments]
            arguments = [self._refer(argument, "f") for argument in step.arguments]
            off = total([bound.of(argument) for bound, argument in zip(bounds, arguments, strict=True)])
            if off and not ("0" in step.arguments and not any(bound.error for bound in bounds)):
                yield f"        doubt |= less_equal_float(absolute_float({arguments[0]} - {arguments[1]}), ({off}) * 2);"
        if step.op.startswith("exp") and not any(output == name or self._is_safe(output) for output in graph.lane_outputs):
            # What goes on into other steps may be too large for their results in float, or too small to have all digits.
            large = step.op != "exp" or not errors.bounds[step.arguments[0]].negative
            small = self.storage == "bf16" or bool(graph.rows)  # with those, what comes to nothing in float may still have a sign
            if large and small:
                yield f"        doubt |= extreme(f{name});"
            elif large:
                yield f"        doubt |= less_float(all_float(0x1p60f), f{name});"
            elif small:
                yield f"        doubt |= less_float(f{name}, all_float(0x1p-60f));"
            if not small:  # zeros have signs
                yield f"        doubt |= equal_float(f{name}, all_float(0));"
        if name in errors.computed:
            yield f"        const float_vector e{name} = {errors.computed[name]};"

    def _is_safe(self, output: str) -> bool:
        """Whether a result is in doubt by itself where exponentials are too large or too small."""
        return self.graph.is_share(output) or between_of(self.graph, output) is not None

    def _settle(self, stored: Sequence[str], needed: Sequence[str]) -> Iterator[str]:
        graph, exact, (errors, _) = self.graph, self.wide.graph, self._last_errors()
        unclear, second = "", []
        for name in stored:
            bound, between = errors.bounds[name], between_of(graph, name)
            yield f"        half_vector h{name};"
            if between:
                arguments = ", ".join(self._refer(argument, "f") for argument in between.arguments)
                yield f"        doubt |= {between.function}_{self.storage}({arguments}, least, most, &h{name});"
                continue
            if self.exactness.applies:
                yield f"        doubt |= middle_{self.storage}(f{name}, {self._rounded(name) or 'first_ones(0)'}, &h{name});"
                continue
            own = f"{float(bound.units)}f, &h{name}"
            look = f"unsure_{self.storage}(f{name}, {bound.error}, {own})" if bound.error else f"close_{self.storage}(f{name}, {own})"
            looks = [f"doubt |= {look};", *self._faded(name)]
            if bound.error or self._is_often_small():
                yield from (f"        {look}" for look in looks)
            else:
                unclear += f" | unclear_{self.storage}(f{name}, {own})"
                second += looks
        yield f"        int again = any(doubt{unclear});"
        if second:
            yield "        if (UNLIKELY(again)) {"
            yield from (f"            {look}" for look in second)
            yield "            again = any(doubt);"
            yield "        }"
        yield "        if (UNLIKELY(again)) {"
        results = [exact.outputs[graph.outputs.index(name)] for name in stored]
        whole = exact.needed(results)
        wide = list(self.wide._halves(whole, (), "            "))
        yield from (f"            {line}" for line in self._begin_again(wide))
        yield from (f"            {self._fetch(name)}" for name in whole if name in graph.inputs and name not in needed)
        yield from wide
        if graph.rough:
            yield f"            if (rough && is_shaky_{self.storage}(l{stored[0]}, u{stored[0]})) {{"
            yield from (f"                {line}" for line in self._begin_anew())
            yield "            }"
        for name in results:
            yield f"            PUT_{self.storage}({self.wide._place(name)}, i, left, JOINED_{self.storage}(l{name}, u{name}));"
        yield "        } else {"
        for name in stored:
            yield f"            PUT_half({self._place(name)}, i, left, h{name});"
        yield "        }"

    def _doubt_before(self) -> str:
        """Where results are in doubt, whatever they come to."""
        return "uncertain"

    def _begin_again(self, lines: Sequence[str]) -> Iterator[str]:
        """What lines in double need, where float is in doubt."""
        yield from ()

    def _begin_anew(self) -> Iterator[str]:
        """What leads to a sum in double."""
        yield from ("rough = 0;", "goto anew;")

    def _is_often_small(self) -> bool:
        """Whether a first look is of no use: shares of a row are small, where zeros are chosen there are some."""
        steps = [self.graph.steps[name] for name in self.graph.needed(self.graph.lane_outputs) if name in self.graph.steps]
        chosen = any(step.op == "where" and "0" in step.arguments for step in steps)
        shares = any(self.graph.steps[name].op == "div" for name in self.graph.lane_outputs)
        return chosen or (bool(self.graph.rows) and shares and self.storage == "f16")

    def _rounded(self, name: str) -> str:
        """Where a result has been rounded, as an expression; of a choice, where what was chosen has."""
        if name not in self.graph.steps or not self.exactness.rounded.get(name):
            return ""
        if self.exactness.rounded[name] == [name]:
            return f"r{name}"
        step = self.graph.steps[name]
        found = [self._rounded(argument) for argument in step.arguments]
        if step.op == "where":
            chosen = self._refer(step.arguments[0], "f")
            found = [f"({side}{chosen} & ({one}))" for side, one in zip(("", "~"), found[1:], strict=True) if one]
        return " | ".join(one for one in found if one)

    def _faded(self, name: str) -> Iterator[str]:
        """A bfloat16 number may have become too small for float: exponentials, unless zero, as it is then too; products of many numbers."""
        steps = self.graph.steps
        ops = [steps[one].op for one in self.graph.needed([name]) if one in steps and self.storage == "bf16"]
        if ops and (self.graph.is_share(name) or sum(op in ("mul", "div", "square") for op in ops) > 3):
            yield f"doubt |= less_float(absolute_float(f{name}), all_float(0x1p-90f));"
        elif any(op.startswith("exp") for op in ops):
            yield f"doubt |= faded(f{name});"

    # Reductions

    def _kind(self, name: str, lane: str) -> str:
        if self.graph.steps[name].op == "sum":
            return "counts" if self.graph.is_count(name) and not self.graph.in_parts else "sums"
        return "largest_float" if lane == "float" else "largest_double"

    def _held(self, name: str, lane: str) -> str:
        """The vectors that a reduction is held in."""
        if self._kind(name, lane) == "counts":
            return f"c_{name}"
        return f"f_{name}, n_{name}" if self._kind(name, lane) == "largest_float" else f"l_{name}, u_{name}"

    def _found(self, name: str, lane: str) -> str:
        kind, held = self._kind(name, lane), self._held(name, lane)
        return f"(double){held}" if kind == "counts" else f"{kind}_of({held})"

    def _begin(self, name: str, lane: str) -> Iterator[str]:
        if self._kind(name, lane) == "largest_float":
            yield f"    float_vector f_{name} = all_float(-INFINITY);"
            yield f"    float_mask n_{name} = first_ones(0);"
        elif self._kind(name, lane) == "counts":
            yield f"    size_t c_{name} = 0;"
        else:
            first = "0" if self.graph.steps[name].op == "sum" else "-INFINITY"
            yield f"    double_vector l_{name} = all_double({first}), u_{name} = all_double({first});"

    def _terms(self, name: str, lane: str, half: str, *, masked: bool) -> list[str]:
        """What a half of the elements brings to a reduction, in double; elements beyond the end bring nothing."""
        prefix, side = ("l", "lower") if half == "l" else ("u", "upper")
        nothing = "0" if self.graph.steps[name].op == "sum" else "-INFINITY"
        terms = []
        for value in self.graph.summands(name):
            if lane == "float" and self.graph.is_lane(value):
                term = self._refer(value, "f")
                terms.append(f"{side}_half({f'live_float(left, {term}, {nothing})' if masked else term})")
            else:
                term = self._refer(value, prefix)
                terms.append(f"live_{side}(left, {term}, {nothing})" if masked else term)
        return terms

    def _add(self, name: str, lane: str) -> Iterator[str]:
        if self._kind(name, lane) == "largest_float":
            (value,) = self.graph.summands(name)
            yield f"        const float_vector v{name} = live_float(left, {self._refer(value, 'f')}, -INFINITY);"
            yield f"        f_{name} = larger_float(f_{name}, v{name});"
            yield f"        n_{name} |= not_equal_float(v{name}, v{name});"
            return
        if self._kind(name, lane) == "counts":
            (value,) = self.graph.summands(name)
            (mask,) = self.graph.steps[value].arguments
            marked = f"joined_masks(l{mask}, u{mask})" if lane == "double" else f"f{mask}"
            yield f"        c_{name} += count_of({marked}, left);"
            return
        if lane == "double" and (parts := self._left_out(name)):
            for half, side in (("l", "lower"), ("u", "upper")):
                mask, value = (self._refer(part, half) for part in parts)
                yield f"        {half}_{name} = added_unless({mask}, {half}_{name}, live_{side}(left, {value}, 0));"
            return
        for half in "lu":
            yield f"        {half}_{name} = {self._joined(name, f'{half}_{name}', self._terms(name, lane, half, masked=True))};"

    def _left_out(self, name: str) -> tuple[str, str] | None:
        """Which elements a sum leaves out, and what it adds up of the others."""
        values = self.graph.summands(name)
        step = self.graph.steps.get(values[0])
        chosen = len(values) == 1 and step is not None and step.op == "where" and step.arguments[1] == "0"
        return (step.arguments[0], step.arguments[2]) if step is not None and chosen and self.graph.is_lane(step.arguments[2]) else None

    def _column(self, name: str, lane: str) -> Iterator[str]:
        if self._is_single_column(name, lane):
            (value,) = self.graph.summands(name)
            yield f"        f_{name} = maximum_float(f_{name}, {self._refer(value, 'f')});"
            return
        for half in "lu":
            yield f"        {half}_{name} = {self._joined(name, f'{half}_{name}', self._terms(name, lane, half, masked=False))};"

    def _joined(self, name: str, held: str, terms: Sequence[str]) -> str:
        if self.graph.steps[name].op == "max":
            return f"maximum_double({held}, {terms[0]})"
        return f"added_double({held}, {terms[0]})" if len(terms) == 1 else f"fma_double({terms[0]}, {terms[1]}, {held})"

    # Rows

    def _rows(self, phase: int, ending: Sequence[str], lane: str, found: str = "") -> Iterator[str]:
        graph = self.graph
        for name in ending:
            yield f"    const double_vector d{name} = all_double({found or self._found(name, lane)});"
            if self.way == "settled" and name == graph.rough:  # what has been cut off counts where nothing is larger
                yield f"    if (rough && !(d{name}[0] > 0x1p-60)) {{"
                yield from ("        rough = 0;", "        goto anew;", "    }")
            if self._has_rest(name):
                yield f"    if (UNLIKELY(!(fabs(d{name}[0]) < 0x1p15))) {{ /* products may have lost too much for it to be made up for */"
                yield from (f"        {self.name.replace('_plain', '_in_double')}(call, n);", "        return;", "    }")
        names = [name for name in graph.steps if name in graph.rows and graph.levels[name] == phase + 1]
        for name in names:
            if name not in ending:
                yield f"    {row_statement(graph, name)}"
        for name in names:
            if graph.steps[name].op not in MASKS:
                yield f"    const float_vector f{name} = joined(d{name}, d{name});"
                one = "unit" if self.way == "settled" and name == graph.rough else "1"
                yield f"    const float_vector if{name} = joined({one} / d{name}, {one} / d{name});"
                yield f"    const double_vector id{name} = 1 / d{name};"
        for name in names:
            if name in graph.row_outputs:
                yield f"    call->results[{graph.outputs.index(name)}] = d{name}[0];"


def _other(line: str) -> str:
    """The same for the other of two vectors: what a reduction is held in has another name."""
    return re.sub(r"\b([flun]_t\d+)\b", r"\1b", line)


def without_unused(lines: list[str]) -> list[str]:
    """Lines without the halves of numbers and the products that they do not use."""
    uses = Counter(re.findall(r"\b(?:[lu][imt]|ft)\d+\b", "\n".join(lines)))
    unused = re.compile(r"\s{8,}const \w+ ((?:[lu][imt]|ft)\d+) = ")
    return [line for line in lines if not ((found := unused.match(line)) and uses[found[1]] == 1)]


def forms_in(name: str, lines: Iterable[str], forms: Sequence[str]) -> set[str]:
    """Those of some forms in which lines have a number of a row."""
    return set(re.findall(rf"\b({'|'.join(forms)}){name}\b", "\n".join(lines)))


def row_statement(graph: Graph, name: str) -> str:
    """A number of a row that is made of others."""
    step = graph.steps[name]
    arguments = [spelled(argument, "double", "d") for argument in step.arguments]
    return f"const double_{'mask' if step.op in MASKS else 'vector'} d{name} = {_expression(graph, step, arguments, 'double')};"
