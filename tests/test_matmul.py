"""Matrix products: right, and the same whatever the number of threads."""

from __future__ import annotations


import numpy as np
import pytest

from acl_emu.matmul import matmul
from tests.conftest import run_python


@pytest.mark.parametrize(("rows", "inner", "columns"), [(1, 1, 1), (3, 0, 4), (5, 7, 1300), (1300, 7, 5), (1025, 3, 1024), (512, 512, 513)])
@pytest.mark.parametrize("layout", ["rows", "columns", "strided"])
def test_values(rows: int, inner: int, columns: int, layout: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 9, (rows, inner)).astype(np.float32), rng.integers(-9, 9, (inner, columns)).astype(np.float32)
    if layout == "columns":
        a, b = np.asfortranarray(a), np.asfortranarray(b)
    elif layout == "strided":
        a, b = a.repeat(2, axis=1)[:, ::2], b.repeat(3, axis=1)[:, ::3]
    out = np.full((rows, columns), np.nan, np.float32)
    matmul(a, b, out)
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64))


CODE = """
import hashlib, numpy as np
from acl_emu.matmul import matmul
for rows, inner, columns in ((64, 512, 64), (512, 64, 64), (64, 64, 512), (1024, 300, 700), (1, 4096, 64), (33, 4097, 31), (300, 64, 5000)):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((rows, inner), (inner, columns)))
    out = np.empty((rows, columns), np.float32)
    matmul(a, b, out)
    print(hashlib.sha256(out.tobytes()).hexdigest())
"""


def test_numbers_of_threads_agree() -> None:
    runs = [run_python(CODE, ACL_EMU_THREADS=count) for count in ("1", "2", "3")]
    assert all(run.returncode == 0 for run in runs), [run.stderr for run in runs]
    assert len(runs[0].stdout.splitlines()) == 7
    assert runs[0].stdout == runs[1].stdout == runs[2].stdout


