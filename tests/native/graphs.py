"""The kernels that are compiled as a whole, read from the generated file and evaluated here a second time, step by step."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from acl_emu.codegen.graph import REDUCTIONS, Graph, Step
from tests.conftest import ROOT
from tests.native.functions import EXACT
from tests.operators.accuracy import rounded

Array = npt.NDArray[Any]

_NUMPY: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "square": np.square,
    "maximum": np.maximum,
    "minimum": np.minimum,
    **EXACT,
    "less": np.less,
    "less_equal": np.less_equal,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "where": np.where,
    "as_number": lambda mask: mask * 1.0,
}


class Precision(NamedTuple):
    """How far one step may be off, relative to its result."""

    arithmetic: float
    functions: float
    least: float
    """The same of the smallest numbers, which have fewer digits."""


DOUBLE = Precision(2.0**-52, 2.0**-42, 0)
SINGLE = Precision(2.0**-23, 2.0**-22, 2.0**-148)


def signatures() -> list[str]:
    """All of them."""
    found = re.findall(r'^    \{"([^"]+)"', (ROOT / "acl_emu" / "engine" / "c" / "fused.c").read_text(encoding="utf-8"), re.M)
    assert found
    return found


class Whole(NamedTuple):
    """A kernel as a numpy function, and what it takes."""

    kernel: Callable[..., Any]
    graph: Graph
    inputs: tuple[str, ...]
    """Their names; those that it does not use included."""
    constants: tuple[str, ...]

    @property
    def is_elementwise(self) -> bool:
        """Whether it takes a number for each element and has one result for each, and nothing else."""
        return not self.graph.reductions and len(self.graph.outputs) == 1 and all(name[0] == "i" for name in self.inputs)


@lru_cache(maxsize=None)
def whole(signature: str) -> Whole:
    """The kernel of a signature; reductions are along the axes that it is given."""
    graph = Graph(signature)
    of_rows = [name for name in graph.constants if name[0] == "x"]
    known = {int(name[1:]): name for name in graph.inputs}
    count = max(len(known) + len(of_rows), 1 + max(known))
    left = iter(of_rows)
    inputs = tuple(known[number] if number in known else next(left, f"i{number}") for number in range(count))

    def kernel(*given: Any, axis: tuple[int, ...] = (-1,), **constants: float) -> Any:
        values: dict[str, Any] = dict(zip(inputs, given, strict=True)) | constants
        for name, step in graph.steps.items():
            operands = [values[one] if one in values else float(one) for one in step.arguments]
            if step.op in REDUCTIONS:
                values[name] = getattr(operands[0], step.op)(axis=axis, keepdims=True)
            else:
                values[name] = _NUMPY[step.op](*operands)
        results = tuple(values[name] for name in graph.outputs)
        return results if len(results) > 1 else results[0]

    return Whole(kernel, graph, inputs, tuple(name for name in graph.constants if name[0] == "k"))


class Estimate(NamedTuple):
    """A number in float64 and how far such a number may be from the exact one; of a truth value, infinite where it may be wrong."""

    value: Any
    error: Any


def estimate(
    kernel: Whole, inputs: Sequence[Array], constants: dict[str, float], *, axis: tuple[int, ...] = (-1,), precision: Precision = DOUBLE
) -> list[Estimate]:
    """The results of a graph: whatever the functions in it are, an evaluation as accurate as the engine's lies within the error."""
    with np.errstate(all="ignore"):
        known = {
            name: Estimate(value if value.dtype == np.bool_ else value.astype(np.float64), np.zeros(value.shape))
            for name, value in zip(kernel.inputs, inputs, strict=True)
        }
        half_a_digit = 0 if precision is DOUBLE else 2.0**-24
        known |= {name: Estimate(value, abs(value) * half_a_digit if np.isfinite(value) else 0.0) for name, value in constants.items()}
        for name, step in kernel.graph.steps.items():
            operands = [known[one] if one in known else Estimate(float(one), 0.0) for one in step.arguments]
            known[name] = _reduced(step, operands[0], axis, precision) if step.op in REDUCTIONS else _step(step.op, operands, precision)
    return [known[name] for name in kernel.graph.outputs]


def _reduced(step: Step, terms: Estimate, axis: tuple[int, ...], precision: Precision) -> Estimate:
    """Sums are added up in float64, in whichever order."""
    value, error = np.asarray(terms.value), np.broadcast_to(terms.error, np.shape(terms.value))
    if step.op == "max":
        return Estimate(value.max(axis=axis, keepdims=True), error.max(axis=axis, keepdims=True))
    count = np.prod([value.shape[one] for one in axis])
    sizes = np.where(np.isfinite(value), np.abs(value), 0).sum(axis=axis, keepdims=True)
    total = value.sum(axis=axis, keepdims=True, dtype=np.longdouble).astype(np.float64)
    off = error.sum(axis=axis, keepdims=True)
    whole_numbers = ((np.rint(value) == value) | ~np.isfinite(value)).all(axis=axis, keepdims=True) & (sizes < 2.0**24) & (off == 0)
    own = (count / 8 + 8) * DOUBLE.arithmetic * sizes + _rounding(total, precision)
    return Estimate(total, np.where(whole_numbers, 0, np.where(sizes < 1e300, off + own, np.inf)))


def _rounding(value: Any, precision: Precision) -> Any:
    return precision.arithmetic * np.where(np.isfinite(value), np.abs(value), 0.0) + precision.least


def _step(op: str, operands: list[Estimate], precision: Precision) -> Estimate:
    values, errors = [operand.value for operand in operands], [operand.error for operand in operands]
    value = _NUMPY[op](*values)
    size = np.where(np.isfinite(value), np.abs(value), 0.0)
    own, of_function = _rounding(value, precision), precision.functions * size + precision.least
    a, ea = np.abs(values[0]), errors[0]
    b, eb = np.abs(values[-1]), errors[-1]
    if op in ("add", "sub"):
        error = ea + eb + own
    elif op in ("mul", "square"):
        error = ea * b + eb * a + ea * eb + own
    elif op == "div":
        error = np.where(eb < b, (ea + size * eb) / (b - eb), np.where(np.asarray(eb) > 0, np.inf, 0)) + 2 * own
    elif op == "exp_of_product":
        # In float32, what a product or the difference of two numbers loses is made up for.
        error = size * np.expm1(ea * b + eb * a + ea * eb + DOUBLE.arithmetic * a * b) + of_function
    elif op in ("exp", "exp_of_difference"):
        lost = DOUBLE.arithmetic * np.abs(values[0] - values[-1]) if len(values) > 1 else 0
        error = size * np.expm1(sum(errors) + lost) + of_function
    elif op == "log_of_odds":
        inside = np.abs(values[0] * (1 - values[0]))
        lost = 2 * DOUBLE.arithmetic
        error = np.where(ea < inside / 2, 2 * ea / inside, np.where(np.asarray(ea) > 0, np.inf, 0)) + lost + of_function
    elif op in ("log", "log1p"):
        inside = np.abs(values[0] + (op == "log1p"))
        error = np.where(ea < inside / 2, 2 * ea / inside, np.where(np.asarray(ea) > 0, np.inf, 0)) + of_function
    elif op in ("neg", "abs"):
        error = ea
    elif op == "sign":
        error = np.where((a <= ea) & (np.asarray(ea) > 0), np.inf, 0)
    elif op in ("maximum", "minimum"):
        apart = np.abs(values[0] - values[1]) > ea + eb
        error = np.where(apart, np.where(value == values[0], ea, eb), np.maximum(ea, eb))
    elif op == "where":
        error = ea + np.where(values[0], errors[1], eb)
    elif op in ("less", "less_equal", "equal", "not_equal"):
        off = np.asarray(ea + eb)
        error = np.where((off > 0) & ~(np.abs(values[0] - values[1]) > off), np.inf, 0)
    else:
        error = np.maximum(ea, eb)
    # What infinities and NaN lead to is certain, unless they meet a number that may be zero.
    odd = np.logical_or.reduce(np.broadcast_arrays(*(~np.isfinite(one) for one in values)))
    sure = np.logical_and.reduce(np.broadcast_arrays(*(np.isfinite(e) & ((np.abs(v) > e) | (e == 0) | np.isnan(v)) for v, e in operands)))
    error = np.where(~np.isfinite(value) & odd & sure, 0, error)
    if precision is SINGLE:  # what is too large for float32 on the way
        error = np.where(np.isfinite(value) & (size > 2.0**127), np.inf, error)
    if op.startswith(("exp", "log")):
        return Estimate(value, np.where(np.isnan(error), np.inf, error))
    # Arithmetic on equal numbers gives equal numbers, however it is rounded.
    exact = np.logical_and.reduce([np.asarray(one) == 0 for one in np.broadcast_arrays(*errors)])
    if precision is SINGLE:
        exact = exact & (np.asarray(value, np.float32) == value)
    return Estimate(value, np.where(exact, 0, np.where(np.isnan(error), np.inf, error)))


class Verdict(NamedTuple):
    """Which results are right, and which are the only right ones."""

    right: Array
    settled: Array


def judge(actual: Array, expected: Estimate) -> Verdict:
    """A result is the float64 result, rounded once; NaN is NaN."""
    with np.errstate(all="ignore"):
        got = actual.astype(np.float64)
        least, most = (rounded(expected.value + side * expected.error, actual.dtype) for side in (-1, 1))
    settled = (least == most) | (np.isnan(expected.value) & np.isfinite(expected.error))
    right = ((got >= least) & (got <= most)) | (np.isnan(got) & np.isnan(expected.value)) | np.isinf(expected.error)
    return Verdict(right, settled)
