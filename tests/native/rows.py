"""Kernels on rows that are compiled as a whole against float64: reductions, several results, masks; for whichever build of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from acl_emu.engine.bindings import PLAIN_FLOAT
from tests.native.drawing import KINDS, drawn_inputs
from tests.native.graphs import DOUBLE, SINGLE, Estimate, Whole, estimate, judge, whole
from tests.native.support import at_odd_address, plan_of, program_of, run
from tests.native.whole import CALM, CONSTANTS, drawn_constants
from tests.operators.accuracy import FLOAT

Array = npt.NDArray[Any]
Axes = tuple[int, ...]

_LAST = (-1,)
_OF_ROWS = (0.0, 1.0, -1.0, 0.3, 257.0, 1e-3, 3e9, 1e-20, -70.0, np.inf, -np.inf, np.nan)
_VECTOR = 16
_LEAST, _MOST, _SEVERAL = 512, 8192, 16
"""The lengths from which on numbers of rows are not repeated for each element, and rows are worked on in pieces."""
LENGTHS = (2, 3, 16, 33, 100, 257)


class Rows(NamedTuple):
    """What a kernel is called with."""

    known: Whole
    inputs: list[Array]
    constants: dict[str, float]
    dtype: np.dtype[Any]
    axis: Axes = _LAST

    def outputs(self, of_rows: np.dtype[Any] | None = None) -> list[Array]:
        """Room for the results; where one number for a row may have a type of its own, that of ``of_rows``."""
        graph = self.known.graph
        shape = np.broadcast_shapes(*(one.shape for one in self.inputs))
        reduced = tuple(1 if k - len(shape) in self.axis or k in self.axis else length for k, length in enumerate(shape))
        free = graph.outputs[0] not in graph.rows or not graph.lane_outputs
        row_dtype = of_rows if of_rows is not None and free else self.dtype
        return [np.zeros(reduced, row_dtype) if name in graph.rows else np.zeros(shape, self.dtype) for name in graph.outputs]


def drawn_rows(
    rng: np.random.Generator, signature: str, shape: tuple[int, int], dtype: np.dtype[Any], *, kinds: tuple[str, ...] = KINDS
) -> Rows:
    """Rows of some kinds, each input of one of them; if of all, with odd ones among them."""
    known = whole(signature)
    calm = kinds != KINDS
    rows, length = shape
    named = [name for name in known.inputs if name[0] == "i"]
    drawn = [drawn_inputs(rng, len(named), length, dtype, kinds) for _ in range(rows)]
    values = {name: np.stack([row[place] for row in drawn]) for place, name in enumerate(named)}
    values |= {name: rng.random(shape) < rng.choice([0, 0.5, 0.9, 1], (rows, 1)) for name in known.inputs if name[0] == "m"}
    if not calm:
        with np.errstate(all="ignore"):
            _make_odd(rng, [values[name] for name in named])
    of_rows = rng.choice([FLOAT, dtype] if calm or dtype == FLOAT else [FLOAT, dtype, np.dtype(np.float64)])
    for name in known.inputs:
        if name[0] == "x":
            other = rng.uniform(0.5, 4, (rows, 1)) if calm else rng.choice(_OF_ROWS, (rows, 1))
            with np.errstate(all="ignore"):
                near = values[named[0]].max(axis=-1, keepdims=True).astype(np.float64)
                values[name] = np.where(rng.random((rows, 1)) < 0.6, near if name == "x0" else np.abs(near) + 0.5, other).astype(of_rows)
    constants = drawn_constants(rng, known, CONSTANTS[:8] if calm else (*CONSTANTS, -np.inf))
    return Rows(known, [values[name] for name in known.inputs], constants, dtype)


def _make_odd(rng: np.random.Generator, values: Sequence[Array]) -> None:
    """Rows of infinities, of NaN, of one number only, and with their largest number more than once."""
    rows, length = values[0].shape
    for row in range(min(rows, 8)):
        one = values[rng.integers(len(values))][row]
        place = rng.integers(length)
        if row == 0:
            one[:] = -np.inf
        elif row == 1:
            one[place] = np.nan
        elif row == 2:
            one[place] = np.inf
        elif row == 3:
            one[place] = -np.inf
        elif row == 4:
            one[:] = one[place]
        elif row == 5:
            one[rng.integers(0, length, 3)] = one[place] if np.isnan(one).all() else one[~np.isnan(one)].max()
        elif row == 6:
            one[:] = rng.choice([0.0, -0.0], length)


def run_whole(given: Rows, inputs: list[Array], outputs: list[Array], loops: str, *, single: bool = False) -> None:
    """Compute by the engine; if loops are named, in these, by a kernel compiled as a whole."""
    options: dict[str, Any] = {"compute": np.float64, "single": single, "axis": given.axis, **given.constants}
    if loops:
        program = program_of(given.known.kernel, inputs, outputs, **options)
        assert program is not None
        assert given.known.graph.signature in program.signatures
        plan = plan_of(program)
        is_exact = len(given.known.graph.steps) == 1 and given.dtype != FLOAT  # one step of half numbers, in which float loses nothing
        assert (plan.loops, plan.is_whole, plan.way == PLAIN_FLOAT) in ((loops, True, single), (loops, True, single or is_exact)), plan
    run(given.known.kernel, inputs, *outputs, **options)


def check_rows(
    given: Rows,
    outputs: list[Array] | None = None,
    *,
    inputs: list[Array] | None = None,
    loops: str = "",
    single: bool = False,
    expected: list[Estimate] | None = None,
) -> float:
    """Every result is that of float64, rounded once, or as near as float32 comes. Returns the share of results that leave no choice.

    ``inputs`` are those given, laid out in another way; ``loops`` are those that have to be run, of a kernel compiled as a whole.
    """
    outputs = given.outputs() if outputs is None else outputs
    inputs = given.inputs if inputs is None else inputs
    expected = expected or expected_of(given, single=single)
    run_whole(given, inputs, outputs, loops, single=single)
    shares = []
    for name, actual, wanted in zip(given.known.graph.outputs, outputs, expected, strict=True):
        wanted = Estimate(*(np.broadcast_to(part, actual.shape) for part in wanted))
        verdict = judge(actual, wanted)
        wrong = np.argwhere(~verdict.right)
        assert not wrong.size, (
            f"{name}: {len(wrong)} of {actual.size} {given.dtype}, {given.constants}: at {wrong[0]} of {actual.shape} "
            f"{actual[tuple(wrong[0])]}, exact {wanted.value[tuple(wrong[0])]!r} within {wanted.error[tuple(wrong[0])]!r}"
        )
        shares.append(verdict.settled.mean())
    return float(np.mean(shares))


def expected_of(given: Rows, *, single: bool = False) -> list[Estimate]:
    """The results in float64."""
    return estimate(given.known, given.inputs, given.constants, axis=given.axis, precision=SINGLE if single else DOUBLE)


def loops_of(signature: str, length: int) -> str:
    """The loops around a kernel, on rows that lie one after the other."""
    known = whole(signature)
    has_numbers_of_rows = any(name[0] == "x" for name in known.inputs)
    return "rows" if known.graph.reductions or (has_numbers_of_rows and length <= _MOST) else "map"


def check_kinds(signature: str, dtype: np.dtype[Any], rounds: int, *, single: bool = False) -> float:
    """Rows of any length and kind. Returns the share of results that leave no choice.

    The second time, each number fills a vector of its own: where one lane of a vector is in doubt, all of them are computed again.
    """
    rng = np.random.default_rng((len(signature), dtype.num, single))
    shares = []
    for length in LENGTHS * rounds:
        length += 0 if whole(signature).graph.reductions else _LEAST
        given = drawn_rows(rng, signature, (20, length), dtype, kinds=CALM if single else KINDS)
        outputs = given.outputs(None if single else rng.choice([dtype, FLOAT]))
        shares.append(check_rows(given, outputs, loops=loops_of(signature, length), single=single))
        repeated = given._replace(inputs=[np.repeat(one, _VECTOR, axis=-1) if one.shape[-1] > 1 else one for one in given.inputs])
        shares.append(check_rows(repeated, loops=loops_of(signature, _VECTOR * length), single=single))
    if whole(signature).graph.lane_outputs:  # so many numbers that some are hard to round
        given = drawn_rows(rng, signature, (140, 517), dtype, kinds=("normal", "negative", "dense"))
        check_rows(given, loops=loops_of(signature, 517), single=single)
    return float(np.mean(shares))


def turned(rows: Array) -> Array:
    """Rows that lie side by side in memory."""
    return np.asfortranarray(rows)


def stepped(rows: Array) -> Array:
    """With a gap after each element."""
    return np.repeat(rows, 2, axis=-1)[:, ::2]


def apart(rows: Array) -> Array:
    """With gaps after elements and rows."""
    return np.repeat(np.repeat(rows, 3, axis=-1), 2, axis=0)[::2, 1::3]


LAYOUTS = {"turned": turned, "stepped": stepped, "apart": apart, "unaligned": at_odd_address}


def check_layout(signature: str, dtype: np.dtype[Any], layout: str) -> None:
    """Inputs, results, or all of them but one lie in another way; as many rows as fill no block."""
    rng = np.random.default_rng(len(signature))

    def laid(arrays: Sequence[Array]) -> list[Array]:
        return [LAYOUTS[layout](one) if one.shape[-1] > 1 else one for one in arrays]

    for shape in ((37, 200), (9, 131), (70, 165)):
        given = drawn_rows(rng, signature, shape, dtype)
        expected = expected_of(given)
        loops = "columns" if layout == "turned" and given.known.graph.in_parts else ""
        check_rows(given, laid(given.outputs()), inputs=laid(given.inputs), loops=loops, expected=expected)
        check_rows(given, inputs=laid(given.inputs), loops=loops, expected=expected)
        check_rows(given, laid(given.outputs()), loops="rows" if given.known.graph.reductions else "", expected=expected)
        check_rows(given, inputs=[given.inputs[0], *laid(given.inputs[1:])], expected=expected)


def loops_of_short(signature: str, length: int, *, single: bool) -> str:
    """The loops around short rows: side by side, unless several go through two phases together, in float."""
    graph = whole(signature).graph
    return "rows" if single and length >= _SEVERAL and graph.phases == 2 and not graph.row_outputs else "columns"


def check_short(signature: str, dtype: np.dtype[Any]) -> None:
    """Short rows side by side, all of them in each pass; in memory, with others between them, or gathered."""
    rng = np.random.default_rng(14)
    single = dtype == FLOAT
    for count, length in ((32, 2), (40, 7), (1_100, 31), (2_600, 10), (500, 15), (500, 16)):
        given = drawn_rows(rng, signature, (count, length), dtype, kinds=CALM if single else KINDS)
        expected, loops = expected_of(given, single=single), loops_of_short(signature, length, single=single)
        for lay in (np.array, turned, stepped, apart):
            inputs = [lay(one) for one in given.inputs]
            check_rows(given, inputs=inputs, loops=loops, single=single, expected=expected)
            as_they_lie = "columns" if lay is turned else loops
            check_rows(given, [lay(one) for one in given.outputs()], inputs=inputs, loops=as_they_lie, single=single, expected=expected)
