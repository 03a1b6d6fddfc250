"""The kernels that are compiled as a whole, read from the generated file and evaluated here a second time, step by step."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from acl_emu.codegen.fused import Graph
from tests.conftest import ROOT
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
    "exp": np.exp,
    "exp_of_difference": lambda x, y: np.exp(x - y),
    "log": np.log,
    "log1p": np.log1p,
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
_ARITHMETIC = 2.0**-52
_FUNCTIONS = 2.0**-42
"""Relative errors of one step in float64: of arithmetic, and of the engine's functions."""


def signatures() -> list[str]:
    """All of them."""
    found = re.findall(r'^    \{"([^"]+)"', (ROOT / "acl_emu" / "cshim" / "fused.c").read_text(encoding="utf-8"), re.M)
    assert found
    return found


class Whole(NamedTuple):
    """A kernel as a numpy function, and what it takes."""

    kernel: Callable[..., Any]
    graph: Graph
    inputs: int
    constants: tuple[str, ...]


@lru_cache(maxsize=None)
def whole(signature: str) -> Whole:
    """The kernel of a signature."""
    graph = Graph(signature)

    def kernel(*inputs: Any, **constants: float) -> Any:
        values: dict[str, Any] = {f"i{number}": value for number, value in enumerate(inputs)} | constants
        for number, step in enumerate(graph.steps):
            operands = [values[name] if name in values else float(name) for name in step.arguments]
            values[f"t{number}"] = _NUMPY[step.op](*operands)
        return values[f"t{len(graph.steps) - 1}"]

    return Whole(kernel, graph, 1 + max(int(name[1:]) for name in graph.inputs), tuple(f"k{k}" for k in range(graph.constants)))


class Estimate(NamedTuple):
    """A number in float64 and how far such a number may be from the exact one; of a truth value, infinite where it may be wrong."""

    value: Any
    error: Any


def estimate(graph: Graph, inputs: list[Array], constants: dict[str, float]) -> Estimate:
    """The result of a graph: whatever the functions in it are, a float64 evaluation as accurate as the engine's lies within the error."""
    with np.errstate(all="ignore"):
        known = {f"i{number}": Estimate(value.astype(np.float64), 0.0) for number, value in enumerate(inputs)}
        known |= {name: Estimate(value, 0.0) for name, value in constants.items()}
        for number, step in enumerate(graph.steps):
            operands = [known[name] if name in known else Estimate(float(name), 0.0) for name in step.arguments]
            known[f"t{number}"] = _step(step.op, operands)
    return known[f"t{len(graph.steps) - 1}"]


def _step(op: str, operands: list[Estimate]) -> Estimate:
    values, errors = [operand.value for operand in operands], [operand.error for operand in operands]
    value = _NUMPY[op](*values)
    size = np.where(np.isfinite(value), np.abs(value), 0.0)
    a, ea = np.abs(values[0]), errors[0]
    b, eb = np.abs(values[-1]), errors[-1]
    if op in ("add", "sub"):
        error = ea + eb + _ARITHMETIC * size
    elif op in ("mul", "square"):
        error = ea * b + eb * a + ea * eb + _ARITHMETIC * size
    elif op == "div":
        error = np.where(eb < b / 2, 2 * (ea + size * eb) / b, np.where(np.asarray(eb) > 0, np.inf, 0)) + _ARITHMETIC * size
    elif op in ("exp", "exp_of_difference"):
        error = size * np.expm1(sum(errors) + (_ARITHMETIC * np.abs(values[0] - values[-1]) if len(values) > 1 else 0)) + _FUNCTIONS * size
    elif op in ("log", "log1p"):
        inside = np.abs(values[0] + (op == "log1p"))
        error = np.where(ea < inside / 2, 2 * ea / inside, np.where(np.asarray(ea) > 0, np.inf, 0)) + _FUNCTIONS * size
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
    if op in ("exp", "exp_of_difference", "log", "log1p"):
        return Estimate(value, np.where(np.isnan(error), np.inf, error))
    # Arithmetic on equal numbers gives equal numbers, however it is rounded.
    exact = np.logical_and.reduce([np.asarray(one) == 0 for one in np.broadcast_arrays(*errors)])
    return Estimate(value, np.where(exact, 0, np.where(np.isnan(error), np.inf, error)))


class Verdict(NamedTuple):
    """Which results are right, and which are the only right ones."""

    right: Array
    settled: Array


def judge(actual: Array, expected: Estimate) -> Verdict:
    """A result of a half type is the float64 result, rounded once; NaN is NaN."""
    with np.errstate(all="ignore"):
        got = actual.astype(np.float64)
        least, most = (rounded(expected.value + side * expected.error, actual.dtype) for side in (-1, 1))
    settled = (least == most) | (np.isnan(expected.value) & np.isfinite(expected.error))
    right = ((got >= least) & (got <= most)) | (np.isnan(got) & np.isnan(expected.value)) | np.isinf(expected.error)
    return Verdict(right, settled)
