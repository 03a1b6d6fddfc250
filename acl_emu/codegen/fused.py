"""acl_emu/cshim/fused.c: the element-wise kernels of all operators, each compiled as a whole.

Every operator is asked for its plan with plain tensors and each combination of optional tensors, modes and numbers that it takes; the
graphs of those plans are what is compiled. Whatever is called otherwise runs step by step in the engine, with the same results.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import aclnnop
from acl_emu import dtypes
from acl_emu.codegen.python_faces import MARK
from acl_emu.errors import AclError
from acl_emu.spec.kinds import BoolKind, FloatKind, HandleKind, IntKind, Kind, TensorKind
from acl_emu.spec.operator import Operator
from acl_emu.tensor import Operand, Scalar, make_view
from aclnnop.index import MODULES

_SHAPE = (8,)
_NUMBERS = (0.75, 0.0, 1.0, -1.0)
_SCALARS = (0.75, 0.0, 1.0, -1.0, 2.0, 0.5)
"""One of no special value, and those that a graph looks different with."""


def signatures() -> list[str]:
    """The graphs of all operators, without doubles."""
    found: set[str] = set()
    for name in MODULES:
        operator = aclnnop.find(name)
        for values in _calls(operator):
            try:
                plan = operator._plan(values)
            except AclError:
                continue
            signature = getattr(plan.kernel, "signature", None)
            if signature:
                found.add(signature)
    return sorted(found)


def _calls(operator: Operator) -> Iterator[tuple[Any, ...]]:
    return itertools.product(*(_values(name, kind) for name, kind in operator.parameters))


def _values(name: str, kind: Kind) -> list[Any]:
    if isinstance(kind, TensorKind):
        given = Operand(name, make_view(_SHAPE, dtypes.FLOAT.code, None, 0, 2, _SHAPE))
        return [given, None] if kind.optional else [given]
    if isinstance(kind, IntKind):
        return [choice.value for choice in kind.choices] if kind.choices else [0]
    if isinstance(kind, FloatKind):
        return list(_NUMBERS)
    if isinstance(kind, BoolKind):
        return [False, True]
    if isinstance(kind, HandleKind) and kind.kind is Scalar:
        return [Scalar(dtypes.FLOAT, np.float32(number).tobytes()) for number in _SCALARS]
    return []


class Step(NamedTuple):
    """One step of a graph."""

    op: str
    arguments: tuple[str, ...]


class Bound(NamedTuple):
    """What is known of a number that is computed in float: how far it may be off, and its sign."""

    units: float
    """In 2^-24 of the number itself; infinite where that is not known beforehand."""
    positive: bool = False
    negative: bool = False
    error: str = ""
    """Else a vector that bounds it, which is computed along with the number; none where nothing is known."""

    @property
    def known(self) -> bool:
        """Whether there is a bound at all."""
        return self.units < _UNKNOWN or bool(self.error)

    def of(self, name: str) -> str:
        """How far a number of that name may be off, as an expression; none where it is exact."""
        return self.error or (f"absolute_float({name}) * {float(self.units)}f * UNIT" if self.units else "")


_UNKNOWN = float("inf")
_NOTHING = Bound(_UNKNOWN)
_COMPARED = ("less", "less_equal", "equal", "not_equal")
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "less": "<", "less_equal": "<=", "equal": "==", "not_equal": "!="}
_FUNCTION_UNITS = {"exp": 2.5, "exp_of_difference": 2.5, "log": 2.0, "log1p": 3.0}
"""The accuracy of engine_vector.h, twice the ulps that tests find."""


class Graph:
    """A signature, taken apart."""

    def __init__(self, signature: str) -> None:
        self.signature = signature
        self.steps = [Step(op, tuple(arguments.split(","))) for op, arguments in (text.split(":") for text in signature.split())]
        names = {argument for step in self.steps for argument in step.arguments}
        self.inputs = sorted(name for name in names if name.startswith("i"))
        self.constants = sum(name.startswith("k") for name in names)
        self._analyse(0)
        self.rounds_once = self.result.units <= 1
        """Whether one step rounds at most, given constants that need no rounding."""
        self._analyse(1)

    @property
    def result(self) -> Bound:
        """How far the result may be off in float."""
        return self.bounds[f"t{len(self.steps) - 1}"]

    @property
    def fades(self) -> bool:
        """Whether a number may become too small for float: exponentials, and products of many numbers."""
        return any(step.op.startswith("exp") for step in self.steps) or sum(step.op in ("mul", "div", "square") for step in self.steps) > 3

    def _analyse(self, of_constants: float) -> None:
        self.bounds = {name: Bound(0) for name in self.inputs} | {f"k{k}": Bound(of_constants) for k in range(self.constants)}
        self.errors: dict[int, str] = {}
        """Bounds that are computed, by step."""
        for number, step in enumerate(self.steps):
            for argument in step.arguments:
                if argument not in self.bounds:
                    value = float(argument)
                    self.bounds[argument] = Bound(0, value >= 0, value <= 0)
            bound = _bound(step, [self.bounds[argument] for argument in step.arguments])
            if not bound.known:
                error = self._error(number, step)
                if error:
                    self.errors[number] = error
                    bound = bound._replace(error=f"e{number}")
            self.bounds[f"t{number}"] = bound

    def _error(self, number: int, step: Step) -> str:
        """A bound that has to be computed: absolute errors add up, and are scaled by what their numbers are multiplied by."""
        bounds = [self.bounds[argument] for argument in step.arguments]
        if not all(bound.known for bound in bounds):
            return ""
        names = [self._spelled(argument, "float") for argument in step.arguments]
        errors = [bound.of(name) for bound, name in zip(bounds, names, strict=True)]
        own = f"absolute_float(t{number}) * {{:.1f}}f * UNIT"
        if step.op in ("add", "sub", "maximum", "minimum"):
            return _total([*errors, own.format(2)])
        if step.op == "where":
            return _total(errors[1:])
        if step.op in ("neg", "abs"):
            return errors[0]
        if step.op == "mul":
            crossed = [
                f"({error}) * absolute_float({other})" if error else "" for error, other in zip(errors, reversed(names), strict=True)
            ]
            return _total([*crossed, own.format(2)])
        if step.op == "div" and not bounds[1].error:
            return _total([f"({errors[0]}) / absolute_float({names[1]})", own.format(bounds[1].units + 2)])
        if step.op == "exp" and errors[0]:
            return _total([f"({errors[0]}) * 1.5f * t{number}", own.format(4)])
        if step.op in ("log", "log1p") and errors[0]:
            inside = names[0] if step.op == "log" else f"({names[0]} + 1)"
            return _total([f"({errors[0]}) * 1.5f / absolute_float({inside})", own.format(4)])
        return ""

    def body(self, lane: str) -> Iterator[str]:
        """The statements that evaluate it on vectors; in float, with the bounds that have to be computed."""
        for number, step in enumerate(self.steps):
            arguments = [self._spelled(argument, lane) for argument in step.arguments]
            kind = "mask" if step.op in (*_COMPARED, "and", "or", "not") else "vector"
            yield f"    const {lane}_{kind} t{number} = {_expression(step.op, arguments, lane)};"
            if lane == "float" and step.op in _COMPARED:
                yield from self._doubt(step, arguments)
            if lane == "float" and step.op.startswith("exp") and number < len(self.steps) - 1:
                yield from self._range(number, step)
            if lane == "float" and number in self.errors and self.result.error:
                yield f"    const float_vector e{number} = {self.errors[number]};"

    def _doubt(self, step: Step, arguments: list[str]) -> Iterator[str]:
        """Where numbers that are compared may be off, so may the answer be, unless one is zero: known signs are never wrong."""
        bounds = [self.bounds[argument] for argument in step.arguments]
        computed = any(bound.error for bound in bounds)
        if not self.result.known or ("0" in step.arguments and not computed):
            return
        errors = _total([bound.of(name) for bound, name in zip(bounds, arguments, strict=True)])
        if errors:
            yield f"    *doubt |= absolute_float({arguments[0]} - {arguments[1]}) <= ({errors}) * 2;"

    def _range(self, number: int, step: Step) -> Iterator[str]:
        """An exponential that goes on into other steps may be too large for their results in float, or too small to have all digits."""
        if step.op != "exp" or not self.bounds[step.arguments[0]].negative:
            yield f"    *doubt |= t{number} > 0x1p60f;"
        yield f"    *doubt |= tiny_counts & (t{number} < 0x1p-60f);"

    @staticmethod
    def _spelled(argument: str, lane: str) -> str:
        return argument if argument[0] in "ikt" else f"all_{lane}({argument})"


def _total(errors: list[str]) -> str:
    return " + ".join(error for error in errors if error)


def _bound(step: Step, arguments: list[Bound]) -> Bound:
    """How an operation carries relative errors and signs on; adding numbers that may cancel leaves no relative error."""
    units = [argument.units for argument in arguments]
    first = arguments[0]
    second = arguments[-1]
    if step.op in ("add", "sub"):
        flipped = second if step.op == "add" else Bound(second.units, second.negative, second.positive)
        positive, negative = first.positive and flipped.positive, first.negative and flipped.negative
        safe = positive or negative or not any(units)
        return Bound(max(units) + 1 if safe else _UNKNOWN, positive, negative)
    if step.op in ("mul", "div", "square"):
        factors = [first, first] if step.op == "square" else [first, second]
        positive = step.op == "square" or (first.positive and second.positive) or (first.negative and second.negative)
        negative = (first.positive and second.negative) or (first.negative and second.positive)
        exact = step.op == "mul" and any(argument in ("2", "0.5", "-0.5", "-1") for argument in step.arguments)
        return Bound(sum(factor.units for factor in factors) + (not exact), positive, negative and step.op != "square")
    if step.op == "neg":
        return Bound(first.units, first.negative, first.positive)
    if step.op == "abs":
        return Bound(first.units, True)
    if step.op == "sign":
        return Bound(0, first.positive, first.negative) if first.units < _UNKNOWN else _NOTHING
    if step.op in ("maximum", "minimum"):
        larger = step.op == "maximum"
        positive = (any if larger else all)(argument.positive for argument in arguments)
        negative = (all if larger else any)(argument.negative for argument in arguments)
        return Bound(max(units), positive, negative)
    if step.op == "where":
        branches = arguments[1:]
        return Bound(max(units), all(branch.positive for branch in branches), all(branch.negative for branch in branches))
    if step.op in _FUNCTION_UNITS:
        own = _FUNCTION_UNITS[step.op]
        if step.op == "log1p" and first.positive:
            return Bound(first.units + own, True)
        return Bound(own if not any(units) else _UNKNOWN, step.op.startswith("exp"))
    # Truth values, and numbers made of them: where an answer is doubtful, the whole result is.
    return Bound(0 if all(argument.known for argument in arguments) else _UNKNOWN, True)


def _expression(op: str, arguments: list[str], lane: str) -> str:
    first, *others = arguments
    if op in _INFIX:
        return f"{first} {_INFIX[op]} {others[0]}"
    named = {"abs": "absolute", "as_number": "number", "where": "select", "exp": "exp_of", "log": "log_of", "log1p": "log1p_of"}.get(op, op)
    simple = {
        "neg": f"-{first}",
        "square": f"{first} * {first}",
        "not": f"~{first}",
    }
    if op in simple:
        return simple[op]
    if op in ("and", "or"):
        return f"{first} {'&' if op == 'and' else '|'} {others[0]}"
    return f"{named}_{lane}({', '.join(arguments)})"


_STORAGES = ("f32", "f16", "bf16")
_WAYS = ("settled", "in_double", "plain")


def source() -> str:
    """The file."""
    graphs = [Graph(signature) for signature in signatures()]
    lines = [f"/* The element-wise kernels of all operators. {MARK} */", '#include "fused.h"', ""]
    for number, graph in enumerate(graphs):
        lines += [*_bodies(graph, number), ""]
        for storage, way in itertools.product(_STORAGES, _WAYS):
            if _is_made(graph, storage, way):
                lines += [*_kernel(graph, number, storage, way), ""]
    lines += ["static const fused_entry entries[] = {"]
    for number, graph in enumerate(graphs):
        lines += [f'    {{"{graph.signature}",', "     {"]
        for storage in ("f32", "f64", "f16", "bf16"):
            names = [f"g{number}_{storage}_{way}" if _is_made(graph, storage, way) else "NULL" for way in _WAYS]
            lines += [f"         {{{', '.join(names)}}},"]
        lines += ["     }},"]
    lines += ["};", "", "const fused_table FUSED = {entries, sizeof entries / sizeof *entries};", ""]
    return "\n".join(lines)


def _is_made(graph: Graph, storage: str, way: str) -> bool:
    """Half types are settled where the error is known, and need no more than float where only one step rounds."""
    if storage == "f32":
        return way != "settled"
    return storage in _STORAGES and {"settled": graph.result.known, "in_double": True, "plain": graph.rounds_once}[way]


def _names(graph: Graph, lane: str) -> list[str]:
    return [f"const {lane}_vector {name}" for name in graph.inputs] + [f"const {lane}_vector k{k}" for k in range(graph.constants)]


def _bodies(graph: Graph, number: int) -> Iterator[str]:
    yield f"/* {graph.signature} */"
    for lane in ("float", "double"):
        doubt = ", float_mask *doubt, float_vector *error, const int tiny_counts" if lane == "float" else ""
        yield f"static inline {lane}_vector g{number}_{lane}({', '.join(_names(graph, lane))}{doubt})"
        yield "{"
        yield from graph.body(lane)
        if lane == "float":
            bound = graph.result.of(f"t{len(graph.steps) - 1}") if graph.result.known else ""
            yield f"    *error = {bound or '(float_vector){0}'};"
            yield "    (void)doubt;"
            yield "    (void)tiny_counts;"
        yield f"    return t{len(graph.steps) - 1};"
        yield "}"


def _kernel(graph: Graph, number: int, storage: str, way: str) -> Iterator[str]:
    def call(lane: str, pattern: str) -> str:
        constants = [f"{lane[0]}{k}" for k in range(graph.constants)]
        arguments = [*(pattern.format(name) for name in graph.inputs), *constants]
        extra = f", &doubt, &error, {-(storage == 'bf16')}" if lane == "float" else ""
        return f"g{number}_{lane}({', '.join(arguments)}{extra})"

    in_double = f"JOINED_{storage}({call('double', 'lower_half({})')}, {call('double', 'upper_half({})')})"
    yield f"static void g{number}_{storage}_{way}(void *const *outs, const void *const *ins, const double *constants, size_t n)"
    yield "{"
    for lane in {"settled": ("float", "double"), "in_double": ("double",), "plain": ("float",)}[way]:
        for k in range(graph.constants):
            yield f"    const {lane}_vector {lane[0]}{k} = all_{lane}(({lane})constants[{k}]);"
    if not graph.constants:
        yield "    (void)constants;"
    yield "    for (size_t i = 0; i < n; i += 8) {"
    for name in graph.inputs:
        yield f"        const float_vector {name} = FETCH_{storage}(ins[{name[1:]}], i);"
    if way == "in_double":
        yield f"        PUT_{storage}(outs[0], i, {in_double});"
    else:
        yield "        float_mask doubt = {0};"
        yield "        float_vector error;"
        yield f"        const float_vector result = {call('float', '{}')};"
        yield "        (void)error;"
    if way == "plain":
        yield f"        PUT_{storage}(outs[0], i, result);"
    if way == "settled":
        computed = bool(graph.result.error)
        writing = f"write_{'unsure' if computed else 'close'}_{storage}"
        bound = "error" if computed else f"{float(graph.result.units)}f"
        yield f"        if (UNLIKELY({writing}((uint16_t *)outs[0] + i, result, {bound}, doubt, {int(graph.fades)}))) {{"
        yield f"            PUT_{storage}(outs[0], i, {in_double});"
        yield "        }"
    yield "    }"
    yield "}"
