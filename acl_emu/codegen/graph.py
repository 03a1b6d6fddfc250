"""Graphs of kernels that are compiled as a whole, taken apart: what belongs to rows, what to which phase, and how far float may be off.

A graph without reductions is one phase. With them, a phase computes what the next reductions add up; when a row is through, they are
finished, and the next phase begins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import NamedTuple

REDUCTIONS = ("sum", "max")
COMPARED = ("less", "less_equal", "equal", "not_equal")
MASKS = (*COMPARED, "and", "or", "not")
DEAR = ("exp", "exp_of_difference", "exp_of_product", "log", "log1p", "log_of_odds")
"""Worth keeping for a later phase, rather than computing again."""
_EXACT = ("neg", "abs", "sign", "maximum", "minimum", "where", "as_number", *MASKS)
FLOAT_DIGITS = 24
_RANGED_DIGITS = 11
"""Of float16; a type with less has the range of float."""
_ROUNDING = ("add", "sub", "mul", "div", "square")
FUNCTION_UNITS = {"exp": 3.0, "exp_of_difference": 2.5, "exp_of_product": 3.0, "log": 2.0, "log1p": 3.0, "log_of_odds": 3.5}
"""The accuracy of engine_types.h, twice the ulps that tests find; of exponentials that are made roughly."""


class Step(NamedTuple):
    """One step of a graph."""

    op: str
    arguments: tuple[str, ...]


class Bound(NamedTuple):
    """What is known of a number that is computed in float: how far it may be off, and its sign."""

    units: float
    """In 2^-24 of the number itself, besides the error if there is one; infinite where that is not known beforehand."""
    positive: bool = False
    negative: bool = False
    error: str = ""
    """A vector that bounds the rest, which is computed along with the number; none where nothing is known."""
    part: bool = False
    """Whether it lies between 0 and 1."""

    @property
    def known(self) -> bool:
        """Whether there is a bound at all."""
        return self.units < UNKNOWN

    def of(self, name: str) -> str:
        """How far a number of that name may be off, as an expression; none where it is exact."""
        if self.units and self.error:
            return f"fma_float(absolute_float({name}), all_float({float(self.units)}f * UNIT), {self.error})"
        return self.error or (f"absolute_float({name}) * ({float(self.units)}f * UNIT)" if self.units else "")


UNKNOWN = float("inf")
_NOTHING = Bound(UNKNOWN)


class Graph:
    """A signature, taken apart."""

    def __init__(self, signature: str) -> None:
        self.signature = signature
        texts = [text.split(":") for text in signature.split()]
        self.outputs = [f"t{len(texts) - 1}"]
        if texts[-1][0] == "out":
            self.outputs = texts.pop()[1].split(",")
        self.steps = {f"t{number}": Step(op, tuple(arguments.split(","))) for number, (op, arguments) in enumerate(texts)}
        names = {argument for step in self.steps.values() for argument in step.arguments}
        self.inputs = sorted((name for name in names if name[0] in "im"), key=lambda name: int(name[1:]))
        self.constants = sorted((name for name in names if name[0] in "kx"), key=lambda name: int(name[1:]))
        self.rows: set[str] = set()
        """Steps with one value for a whole row."""
        self.levels: dict[str, int] = {}
        """How many reductions come before a step."""
        for name, step in self.steps.items():
            level = max((self.levels.get(argument, 0) for argument in step.arguments), default=0)
            if step.op in REDUCTIONS or (level and not any(self.is_lane(argument) for argument in step.arguments)):
                self.rows.add(name)
            self.levels[name] = level + (step.op in REDUCTIONS)
        self.phases = 1 + max(self.levels[name] - (name in self.rows) for name in self.outputs)

    def is_lane(self, name: str) -> bool:
        """Whether a name stands for a number of each element."""
        return name[0] in "im" or (name in self.steps and name not in self.rows)

    def is_input(self, name: str) -> bool:
        """Whether a name stands for an input, of whichever sign."""
        step = self.steps.get(name)
        return name in self.inputs or (step is not None and step.op in ("neg", "abs") and self.is_input(step.arguments[0]))

    @property
    def lane_outputs(self) -> list[str]:
        """Results with a number for each element."""
        return [name for name in self.outputs if name not in self.rows]

    @property
    def row_outputs(self) -> list[str]:
        """Results with one number for a row."""
        return [name for name in self.outputs if name in self.rows]

    @property
    def reductions(self) -> list[str]:
        """The steps that add up."""
        return [name for name, step in self.steps.items() if step.op in REDUCTIONS]

    @property
    def in_parts(self) -> bool:
        """Whether parts of a row can be worked on independently: one pass, and nothing but reduced results."""
        return bool(self.reductions) and self.phases == 1 and not self.lane_outputs

    @property
    def plain(self) -> str:
        """The one reduction of its only input, where elements are needed for nothing else; none if empty."""
        alone = self.in_parts and len(self.reductions) == 1 and self.steps[self.reductions[0]].arguments == tuple(self.inputs)
        return self.steps[self.reductions[0]].op if alone else ""

    def is_largest(self, row: str, name: str) -> bool:
        """Whether a number of a row is the largest of numbers of that name."""
        return row in self.steps and self.steps[row] == Step("max", (name,))

    def is_distance(self, name: str) -> bool:
        """Whether a step is how far numbers lie above the largest of them: never above zero, and zero at least once in a row."""
        step = self.steps.get(name)
        return step is not None and step.op == "sub" and self.is_largest(step.arguments[1], step.arguments[0])

    def is_further_largest(self, name: str) -> bool:
        """Whether a step is how many numbers are as large as the largest, but for one."""
        for op, others in (("sub", ("1",)), ("sum", ()), ("as_number", ())):
            step = self.steps.get(name)
            if step is None or step.op != op or step.arguments[1:] != others:
                return False
            name = step.arguments[0]
        return self._are_largest(name)

    def _are_largest(self, name: str) -> bool:
        """Whether a step is where numbers are as large as the largest."""
        step = self.steps.get(name)
        return step is not None and step.op == "equal" and step.arguments[1] == "0" and self.is_distance(step.arguments[0])

    @cached_property
    def rough(self) -> str:
        """A sum of exponentials of an input that may be a little off, since results are off no more than it is; none if empty.

        They are shares of it, or distances less its logarithm, neither of which cancel.
        """
        totals = [name for name in self.reductions if self.steps[name].op == "sum" and not self.is_count(name)]
        if len(totals) != 1 or len(self.outputs) != 1 or self.row_outputs:
            return ""
        (total,), (output,) = totals, self.outputs
        (value,) = self.steps[total].arguments
        term, last = self.steps.get(value), self.steps[output]
        without_largest = term is not None and term.op == "where" and term.arguments[1] == "0" and self._are_largest(term.arguments[0])
        if term is not None and without_largest:
            value = term.arguments[2]
            term = self.steps.get(value)
        if term is None or term.op != "exp_of_difference" or not self.is_largest(term.arguments[1], term.arguments[0]):
            return ""
        if term.arguments[0] not in self.inputs or len(self.inputs) > 1:
            return ""
        if not without_largest:
            return total if last == Step("div", (value, total)) else ""
        logarithm = self.steps.get(last.arguments[-1])
        if last.op != "sub" or not self.is_distance(last.arguments[0]) or logarithm is None or logarithm.op != "log1p":
            return ""
        inner = self.steps[logarithm.arguments[0]]
        return total if inner.op == "add" and inner.arguments[0] == total and self.is_further_largest(inner.arguments[1]) else ""

    def is_count(self, reduction: str) -> bool:
        """Whether a sum counts elements."""
        (value,) = self.steps[reduction].arguments
        return value in self.steps and self.steps[value].op == "as_number"

    def summands(self, reduction: str) -> tuple[str, ...]:
        """What a reduction adds up: a number, or two whose product is not rounded first."""
        (argument,) = self.steps[reduction].arguments
        inner = self.steps.get(argument)
        return inner.arguments if self.steps[reduction].op == "sum" and inner is not None and inner.op == "mul" else (argument,)

    def wanted(self, phase: int) -> list[str]:
        """The numbers of elements that a phase ends with, but for those that it keeps."""
        sums = [value for name in self.reductions if self.levels[name] == phase + 1 for value in self.summands(name)]
        return [name for name in (*sums, *(out for out in self.lane_outputs if self.levels[out] == phase)) if self.is_lane(name)]

    @cached_property
    def _dear(self) -> dict[str, list[int]]:
        """Steps of elements that are dear to compute, and the phases that need them."""
        found: dict[str, list[int]] = {}
        for phase in range(self.phases):
            for name in self.needed(self.wanted(phase), at_hand=tuple(found)):
                if name in self.steps and self.steps[name].op in DEAR:
                    found.setdefault(name, []).append(phase)
        return found

    @cached_property
    def kept(self) -> list[str]:
        """Steps of one phase that a later one needs as well, and that are dear to compute."""
        return [name for name in self.steps if len(self._dear.get(name, ())) > 1]

    @cached_property
    def busy(self) -> int | None:
        """The phase that has most to compute while memory could be read, but not before the first reduction; none where none has."""
        counts = Counter(phases[0] for phases in self._dear.values())
        later = [phase for phase in counts if phase or not self.reductions]
        return max(later, key=lambda phase: (counts[phase], -phase), default=None)

    def asking(self, storage: str) -> int | None:
        """The phase that asks for memory: the busy one or, in float, the last one after a reduction, whose elements are at hand."""
        return self.phases - 1 if self.busy is None and self.phases > 1 and storage == "f32" else self.busy

    def needed(self, wanted: Iterable[str], *, at_hand: Collection[str] = ()) -> list[str]:
        """Inputs and steps of elements that the wanted ones are computed from, themselves included, in order."""
        seen: set[str] = set()

        def visit(name: str) -> None:
            if name not in seen and self.is_lane(name):
                seen.add(name)
                if name in self.steps and name not in at_hand:
                    for argument in self.steps[name].arguments:
                        visit(argument)

        for name in wanted:
            visit(name)
        return [name for name in (*self.inputs, *self.steps) if name in seen]

    @cached_property
    def signs(self) -> dict[str, Bound]:
        """What is known of signs, whatever numbers are computed in."""
        return Errors(self, list(self.steps), {}).bounds

    def rounds_once(self, storage: str) -> bool:
        """Whether one step rounds at most, given constants that need no rounding; twice a bfloat16 number may be too large for float."""
        if self.reductions or len(self.outputs) > 1:
            return False
        large = "2" if storage == "bf16" else None
        rounding = [s for s in self.steps.values() if s.op not in _EXACT and (not _is_scaling(s) or large in s.arguments)]
        return len(rounding) <= 1 and all(step.op in _ROUNDING for step in rounding)

    @property
    def has_products(self) -> bool:
        """Whether numbers may leave the range of float."""
        products = [step for step in self.steps.values() if step.op in ("mul", "div", "square")]
        return any(not _is_scaling(step) or "2" in step.arguments for step in products)

    def is_share(self, name: str) -> bool:
        """Whether a step divides an input by one and an exponential of another: it is as near as that, unless it is next to nothing."""
        step = self.steps.get(name)
        if step is None or step.op != "div" or not self.is_input(step.arguments[0]):
            return False
        divisor = self.steps.get(step.arguments[1])
        if divisor is None or divisor.op != "add" or divisor.arguments[0] != "1":
            return False
        exponential = self.steps.get(divisor.arguments[1])
        return exponential is not None and exponential.op == "exp" and self.is_input(exponential.arguments[0])

    def exact_in_float(self, name: str) -> bool:
        """Whether nothing is rounded on the way to a number when it is computed in float."""
        if name not in self.steps:
            return name[0] in "imx" or _is_number(name)
        step = self.steps[name]
        return step.op in _EXACT and name not in self.rows and all(self.exact_in_float(argument) for argument in step.arguments)


class Exactness:
    """Which steps of a graph of plain arithmetic have to be exact in float for a half result to be right.

    A result that is rounded in one step from exact numbers, and then to the half type, is wrong only where the first rounding ends in the
    middle between two half numbers. So everything before that step has to be exact, as it mostly is with the few digits of half types.
    """

    def __init__(self, graph: Graph, digits: int) -> None:
        self.graph = graph
        self._digits = digits
        self.required: list[str] = []
        """Steps that have to be exact. Sums always are among them: they nearly always are."""
        self.rounded: dict[str, list[str]] = {}
        """The products and quotients whose rounding a number may have in it."""
        self.applies = not graph.reductions and all(step.op in (*_ROUNDING, *_EXACT) for step in graph.steps.values())
        """Whether it is so likely that float is worth trying."""
        expected = dict.fromkeys((*graph.inputs, *graph.constants), digits)
        """Digits of numbers, in most cases."""
        relied_on: list[str] = []
        for name, step in graph.steps.items() if self.applies else ():
            given = [expected.get(argument, 1) for argument in step.arguments]
            expected[name] = _digits(step, given)
            of_arguments = [one for argument in step.arguments for one in self.rounded.get(argument, [])]
            followed = self.is_followed(name)
            if followed or step.op in (*COMPARED, "sign", "maximum", "minimum"):
                relied_on += step.arguments
                self.required += [one for one in of_arguments if one not in self.required]
            if followed and step.op in ("add", "sub"):
                self.required.append(name)
            elif followed:
                self.rounded[name] = [name]
            elif step.op in ("neg", "abs", "where", "mul"):
                self.rounded[name] = list(dict.fromkeys(of_arguments))
        self.applies &= all(expected[name] <= FLOAT_DIGITS for name in relied_on if name in graph.steps)

    def is_followed(self, name: str) -> bool:
        """Whether a step may round: not where it scales a number that stays in the range of float, as those of float16 do."""
        step = self.graph.steps[name]
        if step.op not in _ROUNDING or not _is_scaling(step):
            return step.op in _ROUNDING
        return self._digits < _RANGED_DIGITS and ("2" in step.arguments or self._has_products(step.arguments))

    def _has_products(self, names: Iterable[str]) -> bool:
        before = [self.graph.steps[one] for one in self.graph.needed(names) if one in self.graph.steps]
        return any(step.op in ("mul", "div", "square") for step in before)


class Errors:
    """How far some steps may be off that are computed in float, given what is known of where they begin."""

    def __init__(self, graph: Graph, names: Iterable[str], given: dict[str, Bound]) -> None:
        self.graph = graph
        self.bounds = {name: Bound(0) for name in graph.inputs}
        self.bounds |= {name: Bound(0 if name[0] == "x" else 1) for name in graph.constants}
        self.bounds |= given
        self.computed: dict[str, str] = {}
        """Bounds that are computed, by step."""
        self.turned: dict[str, tuple[str, str]] = {}
        """Products with a quotient that nothing else needs, by step: the quotient and the other factor. That factor is divided instead, and
        what the dividend may be off by is multiplied by what comes out."""
        for name in names:
            if name in given or name not in graph.steps:
                continue
            step = graph.steps[name]
            for argument in step.arguments:
                if argument not in self.bounds:
                    value = float(argument)
                    self.bounds[argument] = Bound(0, value >= 0, value <= 0)
            self._turn(name, step)
            bound = _bound(step, [one._replace(units=UNKNOWN) if one.error else one for one in self._arguments(step)], self._own(step))
            if not bound.known:
                error, units = self._error(name, step)
                if error:
                    self.computed[name] = error
                    bound = bound._replace(units=units, error=f"e{name}")
            if graph.is_distance(name):
                bound = bound._replace(negative=True)
            if graph.is_further_largest(name):
                bound = bound._replace(positive=True)
            self.bounds[name] = bound

    def _turn(self, name: str, step: Step) -> None:
        for quotient, factor in (step.arguments, step.arguments[::-1]) if step.op == "mul" else ():
            divided = quotient in self.graph.steps and self.graph.steps[quotient].op == "div" and self.bounds[quotient].error
            used = [*self.graph.outputs, *(one for other in self.graph.steps.values() for one in other.arguments)].count(quotient)
            if divided and used == 1 and self.bounds[factor].known and not self.bounds[factor].error:
                self.turned[name] = quotient, factor

    def _own(self, step: Step) -> float:
        """What an operation rounds off; a division by a number of a row may be a product with a reciprocal."""
        return 0 if _is_scaling(step) else 2 if step.op == "div" and step.arguments[1] in self.graph.rows else 1

    def _arguments(self, step: Step) -> list[Bound]:
        return [self.bounds[argument] for argument in step.arguments]

    def _error(self, name: str, step: Step) -> tuple[str, float]:
        """A bound to compute, and units besides: absolute errors add up, and are scaled by what their numbers are multiplied by."""
        bounds = self._arguments(step)
        if not all(bound.known for bound in bounds):
            return "", 0
        names = [spelled(argument, "float", "f") for argument in step.arguments]
        sizes = [name if bound.positive else f"absolute_float({name})" for name, bound in zip(names, bounds, strict=True)]
        errors = [bound.of(spelling) for bound, spelling in zip(bounds, names, strict=True)]
        units = [bound.units for bound in bounds]
        if step.op in ("add", "sub"):
            return bounds[0]._replace(error=total([bounds[0].error, errors[1]])).of(names[0]), 1
        if step.op in ("maximum", "minimum"):
            return total(errors), 0
        if step.op == "where":
            return total(bound.error for bound in bounds[1:]), max(units[1:])
        if step.op in ("neg", "abs"):
            return bounds[0].error, units[0]
        if name in self.turned:
            dividend = self.bounds[self.graph.steps[self.turned[name][0]].arguments[0]]
            return f"{dividend.error} * absolute_float(q{name})", sum(units) + 1
        if step.op == "mul":
            crossed = [f"{bound.error} * {size}" if bound.error else "" for bound, size in zip(bounds, reversed(sizes), strict=True)]
            return total(crossed), sum(units) + 1
        if step.op == "div" and bounds[0].error and not bounds[1].error:
            return f"over_float({bounds[0].error}, {sizes[1]})", sum(units) + self._own(step)
        if step.op == "exp_of_product":
            errors = [f"({error}) * {size}" if error else "" for error, size in zip(errors, reversed(sizes), strict=True)]
        if step.op in ("exp", "exp_of_difference", "exp_of_product") and any(errors):
            return f"({total(errors)}) * 1.5f * f{name}", 4
        if step.op in ("log", "log1p", "log_of_odds") and errors[0]:
            inside = {"log": "{0}", "log1p": "{0} + 1", "log_of_odds": "{0} * (1 - {0})"}[step.op].format(names[0])
            return f"over_float(({errors[0]}) * 1.5f, absolute_float({inside}))", 4
        return "", 0


def spelled(name: str, lane: str, prefix: str) -> str:
    """A name as it stands in a kernel: numbers as vectors of their own, all others with the prefix of their lanes."""
    return f"all_{lane}({name})" if _is_number(name) else prefix + name


def total(errors: Iterable[str]) -> str:
    """The sum of those that are there."""
    return " + ".join(error for error in errors if error)


def _is_number(name: str) -> bool:
    return name[0] in "-0123456789"


def _is_scaling(step: Step) -> bool:
    return step.op == "mul" and any(argument in ("2", "0.5", "-0.5", "-1", "1") for argument in step.arguments)


def _digits(step: Step, given: list[int]) -> int:
    if step.op in ("add", "sub"):
        return max(given) + 8
    if step.op == "square" or (step.op == "mul" and not _is_scaling(step)):
        return sum(given) * (2 if step.op == "square" else 1)
    return FLOAT_DIGITS + 1 if step.op == "div" else 1 if step.op == "sign" else max(given)


def _bound(step: Step, arguments: list[Bound], own: float) -> Bound:
    """How an operation carries relative errors and signs on, and its own; adding numbers that may cancel leaves no relative error."""
    units = [argument.units for argument in arguments]
    first = arguments[0]
    second = arguments[-1]
    if step.op in ("add", "sub"):
        flipped = second if step.op == "add" else Bound(second.units, second.negative, second.positive)
        positive, negative = first.positive and flipped.positive, first.negative and flipped.negative
        safe = positive or negative or not any(units)
        if step.op == "add" and "1" in step.arguments and any(argument.part for argument in arguments):
            return Bound(max(units) / 2 + 1, True)
        return Bound(max(units) + 1 if safe else UNKNOWN, positive, negative)
    if step.op in ("mul", "div", "square"):
        factors = [first, first] if step.op == "square" else [first, second]
        positive = step.op == "square" or (first.positive and second.positive) or (first.negative and second.negative)
        negative = (first.positive and second.negative) or (first.negative and second.positive)
        part = step.op != "div" and all(factor.part for factor in factors)
        return Bound(sum(factor.units for factor in factors) + own, positive, negative and step.op != "square", part=part)
    if step.op == "neg":
        return Bound(first.units, first.negative, first.positive)
    if step.op == "abs":
        return Bound(first.units, True)
    if step.op == "sign":
        return Bound(0, first.positive, first.negative) if first.units < UNKNOWN else _NOTHING
    if step.op in ("maximum", "minimum"):
        larger = step.op == "maximum"
        positive = (any if larger else all)(argument.positive for argument in arguments)
        negative = (all if larger else any)(argument.negative for argument in arguments)
        return Bound(max(units), positive, negative)
    if step.op == "where":
        branches = arguments[1:]
        return Bound(max(units), all(branch.positive for branch in branches), all(branch.negative for branch in branches))
    if step.op in FUNCTION_UNITS:
        own = FUNCTION_UNITS[step.op]
        if step.op == "log1p" and first.positive:
            return Bound(first.units + own, True)
        product = (first.negative and second.positive) or (first.positive and second.negative)
        part = (step.op == "exp" and first.negative) or (step.op == "exp_of_product" and product)
        return Bound(own if not any(units) else UNKNOWN, step.op.startswith("exp"), part=part)
    if step.op in REDUCTIONS:
        return Bound(UNKNOWN, first.positive, first.negative and step.op == "sum")
    # Truth values, and numbers made of them: where an answer is doubtful, the whole result is.
    return Bound(0 if all(argument.known for argument in arguments) else UNKNOWN, True)
