"""Kernels that are compiled as a whole against float64; for whichever build of the engine is in use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from acl_emu.codegen.graph import Exactness
from acl_emu.codegen.kernel import last_errors
from tests.native.drawing import drawn_inputs, hardest
from tests.native.graphs import Estimate, Whole, estimate, judge, whole
from tests.native.support import BF16, assert_same, plan_of, program_of, run
from tests.operators.accuracy import FLOAT, FLOAT16

Array = npt.NDArray[Any]

CONSTANTS = (0.75, -1.5, 3.0, 1 / 3, 0.3, 1e-5, -100.0, 64.0, 2048.0, 1e-12, 2.0**-30 * 1.1, 1 - 1e-6, 1e20, 1e-30, 3e30, np.nan, np.inf)
CALM = ("normal", "unit", "near_one", "moderate", "small", "large", "negative")
_OF_FEW_DIGITS, _OF_MANY_DIGITS = CONSTANTS[:3], (0.75 + 2.0**-40, 3 - 2.0**-38, 1 / 3)
_DRAWN, _MANY, _MOST, _HARD, _ANY = 8192, 1 << 16, 1 << 19, 768, 256
_VECTOR = 16
"""Numbers in the widest vector."""


def check_rounding(signature: str, dtype: np.dtype[Any], rounds: int) -> float:
    """Every result is that of float64, rounded once. Returns the share of results that leave no choice.

    Each number fills a vector of its own: where one lane of a vector is in doubt, all of them are computed again.
    """
    rng = np.random.default_rng((len(signature), dtype.num))
    known = whole(signature)
    shares = []
    for _ in range(rounds):
        drawn = drawn_inputs(rng, len(known.inputs), _DRAWN, dtype)
        shares.append(_check_round(signature, drawn, drawn_constants(rng, known), exact=True))
    if dtype != FLOAT and len(known.graph.steps) > 1:
        # Where float32 may end in the middle between two numbers, and the exact result does not.
        arithmetic = not any(step.op.startswith(("exp", "log")) for step in known.graph.steps.values())
        drawn = drawn_inputs(rng, len(known.inputs), _MOST if arithmetic else _MANY, dtype, ("dense",))
        for choice in (_OF_FEW_DIGITS, _OF_MANY_DIGITS) if known.constants else ((),):
            _check_round(signature, drawn, drawn_constants(rng, known, choice), exact=False)
    return float(np.mean(shares))


def is_followed(signature: str) -> bool:
    """Whether a kernel of bfloat16 is followed step by step, through products that may leave the range of float32."""
    graph = whole(signature).graph
    return whole(signature).is_elementwise and Exactness(graph, 8).applies and graph.has_products


def check_range(signature: str) -> None:
    """The same where products are too large for float32, or so small that it has few digits left for them."""
    known = whole(signature)
    rng = np.random.default_rng(len(signature))
    for least, most in ((-76, -58), (-133, -90), (58, 66), (-70, 66)):
        drawn = [_spread(rng, least, most) for _ in known.inputs]
        _check_round(signature, drawn, drawn_constants(rng, known, _OF_FEW_DIGITS), exact=False)
    one, other = _spread(rng, -133, -100), _spread(rng, -20, 2)  # a small number is the only one
    for place in range(len(known.inputs)):
        drawn = [one if k == place else other for k in range(len(known.inputs))]
        _check_round(signature, drawn, drawn_constants(rng, known, _OF_FEW_DIGITS), exact=True)


def _spread(rng: np.random.Generator, least: float, most: float) -> Array:
    """Numbers of bfloat16 with any magnitude in between, and some zeros."""
    drawn = 2 ** rng.uniform(least, most, _MANY) * rng.choice([-1.0, 1.0], _MANY)
    return np.where(rng.random(_MANY) < 0.01, 0, drawn).astype(BF16)


def _check_round(signature: str, drawn: list[Array], numbers: dict[str, float], *, exact: bool) -> float:
    known, dtype, count = whole(signature), drawn[0].dtype, len(drawn[0])
    (expected,) = estimate(known, drawn, numbers)
    taken = np.concatenate([hardest(np.broadcast_to(expected.value, count), dtype, _HARD, exact=exact), np.arange(_ANY)])
    chosen = [one[taken] for one in drawn]
    expected = Estimate(*(np.broadcast_to(part, count)[taken] for part in expected))
    repeated = [np.repeat(one, _VECTOR) for one in chosen]
    out = np.empty(_VECTOR * len(taken), dtype)
    program = program_of(known.kernel, repeated, [out], compute=np.float64, **numbers)
    assert program is not None
    assert program.signatures == (signature,)
    assert plan_of(program).is_whole
    run(known.kernel, repeated, out, compute=np.float64, **numbers)
    assert_same(out, np.repeat(out[::_VECTOR], _VECTOR))
    verdict = judge(out[::_VECTOR], expected)
    wrong = np.flatnonzero(~verdict.right)
    assert not wrong.size, (
        f"{len(wrong)} of {len(taken)} {dtype}: {[float(one[wrong[0]]) for one in chosen]}, {numbers} "
        f"gave {out[_VECTOR * wrong[0]]}, exact {expected.value[wrong[0]]!r} within {expected.error[wrong[0]]!r}"
    )
    # In vectors with others, and with less than a vector left over.
    odd = [one[:-3] for one in chosen]
    together = run(known.kernel, odd, np.empty(len(taken) - 3, dtype), compute=np.float64, **numbers)
    assert judge(together, Estimate(*(part[:-3] for part in expected))).right.all()
    return float(verdict.settled.mean())


def drawn_constants(rng: np.random.Generator, known: Whole, choice: Sequence[float] = CONSTANTS) -> dict[str, float]:
    """Numbers that a call brings."""
    drawn = rng.choice(choice, len(known.constants), replace=False)
    return {name: float(one) for name, one in zip(known.constants, drawn, strict=True)}


def units_of(signature: str) -> float:
    """How far float32 results of an element-wise kernel may be off as the generator has it, in 2^-24 of themselves."""
    (bound,) = last_errors(whole(signature).graph)[1]
    return np.inf if bound.error else bound.units


def check_bound(signature: str, rounds: int) -> None:
    """Where the error in float32 is said beforehand, no result is further off; one that is too large for float32 is computed again."""
    known = whole(signature)
    rng = np.random.default_rng(len(signature))
    for _ in range(rounds):
        drawn = drawn_inputs(rng, len(known.inputs), _DRAWN, rng.choice([FLOAT16, BF16]), CALM)
        numbers = drawn_constants(rng, known, CONSTANTS[:8])
        (expected,) = estimate(known, drawn, numbers)
        actual = run(known.kernel, [one.astype(np.float32) for one in drawn], np.empty(_DRAWN, np.float32), **numbers)
        with np.errstate(all="ignore"):
            size = np.abs(expected.value)
            sure = np.isfinite(actual) & np.isfinite(expected.value) & (size > 2.0**-90) & (expected.error <= 2.0**-38 * size)
            off = np.where(sure, np.abs(actual - expected.value) / size * 2.0**24, 0)
        assert off.max() <= units_of(signature) + 0.01, (off.max(), [float(one[off.argmax()]) for one in drawn], numbers)
