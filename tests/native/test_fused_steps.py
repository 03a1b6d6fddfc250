"""Fused steps: the same bits as single ones, and loops that the compiler has vectorised."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from acl_emu.cface import build
from acl_emu.core import compiler
from acl_emu.engine.bindings import Entries, library
from acl_emu.engine.capture import Input, capture
from acl_emu.engine.lower import lower
from acl_emu.engine.program import Layout
from tests.native.support import BF16, assert_same, engine_is, run, without_fused_steps
from tests.operators.case import Case
from tests.operators.examples import RELAID, over_examples

Array = npt.NDArray[Any]


@over_examples
def test_examples_have_the_same_bits_in_single_steps(case: Case) -> None:
    for layout in (0,) if case.operator in RELAID else (0, 7):
        fused = case.results(layout)
        with engine_is(without_fused_steps()):
            single = case.results(layout)
        for one, other in zip(fused, single, strict=True):
            assert_same(one, other)


def softmax(x: Array) -> Array:
    grown = np.exp(x - x.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True, dtype=np.float64).astype(x.dtype)


def calls_of(entries: Entries) -> int:
    """Steps on tiles that compute something."""
    layout = Layout((30, 40), (160, 4), np.dtype(np.float32))
    graph = capture(softmax, [Input(layout.shape, layout.dtype)], {})
    program = lower(graph, [layout], [layout], entries.tables)
    return sum(step.code == "call" for phase in program.phases for step in phase.tiles)


@pytest.mark.parametrize("dtype", [np.dtype(np.float32), np.dtype(np.float16), BF16], ids=str)
def test_many_numbers_have_the_same_bits_in_single_steps(dtype: np.dtype[Any]) -> None:
    """Of every magnitude, in rows that end within vectors."""
    rng = np.random.default_rng(4)
    shape = (211, 333)
    x = (rng.standard_normal(shape) * 2.0 ** rng.integers(-8, 4, shape)).astype(dtype)
    fused = run(softmax, [x], np.empty(shape, dtype))
    with engine_is(without_fused_steps()):
        assert_same(fused, run(softmax, [x], np.empty(shape, dtype)))


def test_fused_steps_are_used() -> None:
    entries = library()
    assert entries is not None
    assert calls_of(entries) == 2
    assert calls_of(without_fused_steps()) == 3


WITHOUT_VECTORS = ("floor_divide", "remainder", "fmod", "f64_of.i64", "f64_of.u64", "power")
"""What keeps gcc 12 from vectorising some loops: integers are divided one by one, AVX2 has no cast of 64-bit ones, a division with a
rest is a function of the C library; a power of a constant becomes branches."""


def test_every_fused_loop_is_vectorised() -> None:
    """By gcc, for the instructions that most machines have."""
    if shutil.which(compiler.COMPILER[0]) is None or "v3" not in compiler.variants(compiler.MACHINE):
        pytest.skip("no compiler, or another processor")
    if b"Free Software" not in subprocess.run([*compiler.COMPILER, "--version"], capture_output=True, check=True).stdout:
        pytest.skip("another compiler")
    source = build.BUILD / "fused_steps.c"
    (job,) = (job for job in build.fused_jobs(source, "all") if job.name.endswith("v3"))
    noted = ("-fno-ipa-icf", "-fopt-info-vec")  # of functions that are equal, gcc would keep and note only one
    command = [*compiler.COMPILER, *compiler.FLAGS, *build.INCLUDES, *job.flags, *noted, "-c", str(source), "-o", "/dev/null"]
    notes = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    vectorised = {int(note.split(":")[1]) for note in notes.splitlines() if "fused_steps.c" in note and "loop vectorized" in note}
    lines = source.read_text(encoding="utf-8").splitlines()
    loops, text = set(), ""
    for number, line in enumerate(lines, 1):
        text = line if line.startswith("/*") else text
        if "INDEPENDENT for" in line and not any(name in text for name in WITHOUT_VECTORS):
            loops.add(number)
    assert loops
    assert loops <= vectorised, f"not vectorised: lines {sorted(loops - vectorised)}"
