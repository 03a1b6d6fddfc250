"""What the machine can do: the memory's bandwidth and the speed of a float32 matrix product, both with all threads."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np

COPIED = 16 << 20
"""Elements that are copied: as many as large operands have."""
EDGE = 2048
"""Of the matrices that are multiplied."""


class Copy:
    """A copy between two float32 arrays, each thread its part."""

    def __init__(self, threads: int | None = None) -> None:
        count = threads or len(os.sched_getaffinity(0))
        source, target = np.ones(COPIED, np.float32), np.zeros(COPIED, np.float32)
        self.bytes = source.nbytes + target.nbytes
        self._parts = list(zip(np.array_split(target, count), np.array_split(source, count), strict=True))
        self._pool = ThreadPoolExecutor(max(1, count - 1))

    def run(self) -> None:
        """One copy."""
        first, *others = self._parts
        pending = [self._pool.submit(np.copyto, *part) for part in others]
        np.copyto(*first)
        for part in pending:
            part.result()


class Product:
    """A float32 product of two square matrices with numpy's BLAS."""

    def __init__(self) -> None:
        rng = np.random.default_rng(1)
        self._a, self._b = (rng.standard_normal((EDGE, EDGE), np.float32) for _ in range(2))
        self._out = np.empty_like(self._a)
        self.flops = 2 * EDGE**3

    def run(self) -> None:
        """One product."""
        np.matmul(self._a, self._b, out=self._out)


@lru_cache(maxsize=None)
def copy() -> Copy:
    """The copy of this process."""
    return Copy()


@lru_cache(maxsize=None)
def product() -> Product:
    """The product of this process."""
    return Product()
