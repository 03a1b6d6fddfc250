"""Matrix products: right, and the same whatever the number of threads and the layout."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from acl_emu.engine import matmul as module
from acl_emu.engine.matmul import matmul
from tests.conftest import run_python
from tests.native.products import (
    SHAPES,
    check_batches,
    check_bits,
    check_few_rows,
    check_rounded_factors,
    check_special_numbers,
    check_values,
)


@pytest.mark.parametrize(("rows", "inner", "columns"), SHAPES)
def test_values(rows: int, inner: int, columns: int) -> None:
    check_values(rows, inner, columns)
    check_bits(rows, inner, columns)


@pytest.mark.parametrize(("rows", "inner", "columns"), [(4, 5, 6), (31, 300, 67), (500, 260, 45), (5, 300, 100)])
def test_special_numbers(rows: int, inner: int, columns: int) -> None:
    check_special_numbers(rows, inner, columns)
    check_rounded_factors(rows, inner, columns)


@pytest.mark.parametrize(("inner", "columns"), [(3, 90), (64, 700), (300, 130), (512, 96), (2100, 100), (5000, 1200)])
def test_few_rows(inner: int, columns: int) -> None:
    check_few_rows(inner, columns)


def test_batches() -> None:
    check_batches()


def test_without_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "function", lambda *_: None)
    check_values(15, 17, 33)
    check_rounded_factors(4, 5, 6)


CODE = """
import hashlib, numpy as np
from acl_emu.engine.matmul import Sum, matmul
SHAPES = (
    *((64, 512, 64), (512, 64, 64), (64, 64, 512), (1024, 300, 700), (1, 4096, 64), (33, 4097, 31), (300, 64, 5000), (700, 3000, 9)),
    *((1, 2100, 2000), (3, 700, 4000), (9, 20000, 100), (8, 30000, 8), (100000, 5, 7), (1, 1000000, 1)),
)
for rows, inner, columns in SHAPES:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((rows, inner), (inner, columns)))
    out, halves = np.empty((rows, columns), np.float32), np.ones((rows, columns), np.float16)
    matmul(a, b, out)
    matmul(a, b, halves, plus=Sum(halves, 0.1, 0.3))
    print(hashlib.sha256(out.tobytes() + halves.tobytes()).hexdigest())
a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((300, 20, 30), (300, 30, 40)))
out = np.empty((300, 20, 40), np.float32)
matmul(a, b, out)
print(hashlib.sha256(out.tobytes()).hexdigest())
"""


def test_numbers_of_threads_agree() -> None:
    runs = [run_python(CODE, ACL_EMU_THREADS=count) for count in ("1", "2", "3")]
    assert all(run.returncode == 0 for run in runs), [run.stderr for run in runs]
    assert len(runs[0].stdout.splitlines()) == 15
    assert runs[0].stdout == runs[1].stdout == runs[2].stdout


def test_several_at_once() -> None:
    a = np.random.default_rng(0).standard_normal((600, 600)).astype(np.float32)

    def squared(_: int) -> np.ndarray:
        out = np.empty_like(a)
        matmul(a, a, out)
        return out

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(squared, range(12))
    for other in others:
        np.testing.assert_array_equal(other, first)
