"""Arrays for calls: their shapes at every size, and how they are drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

SIZES = ("small", "medium", "large")
"""Those of the tables; what is compared with another checkout has a ``million`` elements, too."""
DTYPES: dict[str, Any] = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}

MATRIX = {"small": (2, 4), "medium": (512, 512), "million": (1024, 1024), "large": (4096, 4096)}
ROWS = {"small": (4, 16), "medium": (1024, 256), "million": (1024, 1024), "large": (16384, 1024)}
IMAGES = {"small": (1, 4, 4, 4), "medium": (4, 16, 64, 64), "million": (8, 32, 64, 64), "large": (16, 64, 128, 128)}
SEGMENTS = {"small": (1, 4, 4, 4), "medium": (2, 21, 80, 80), "million": (3, 21, 128, 128), "large": (12, 21, 256, 256)}
"""Images with few channels, one for each class."""
SHORT_ROWS = {"small": (4, 16), "medium": (4096, 64), "million": (16384, 64), "large": (262144, 64)}
SCORES = {"small": (1, 2, 4, 8), "medium": (2, 8, 128, 128), "million": (4, 4, 256, 256), "large": (8, 8, 512, 512)}
SEQUENCES = {"small": (8, 1, 8), "medium": (128, 8, 256), "million": (128, 8, 1024), "large": (512, 32, 1024)}
POINTS = {"small": (1, 8, 2), "medium": (8, 16384, 2), "million": (16, 32768, 2), "large": (64, 131072, 2)}
PRODUCT = {"small": (4, 8, 4), "medium": (512, 512, 512), "million": (1024, 1024, 1024), "large": (4096, 1024, 4096)}
HEADS = {"small": (1, 2, 4, 8), "medium": (2, 8, 128, 128), "million": (4, 8, 256, 128), "large": (8, 16, 1024, 128)}
"""Sequences, heads, steps, width."""
TABLE = {"small": (16, 8), "medium": (4096, 256), "million": (4096, 256), "large": (65536, 256)}
NARROW_TABLE = {"small": (16, 8), "medium": (8192, 16), "million": (32768, 16), "large": (524288, 16)}
VOCABULARY = {"small": (8, 128, 16), "medium": (256, 2048, 256), "million": (512, 2048, 512), "large": (2048, 32768, 1024)}
"""Rows, words, width."""
ONE_ROW = {size: (math.prod(shape),) for size, shape in MATRIX.items()}


@dataclass
class Draw:
    """Draws the arguments of one call; every array has a seed of its own, so that equal draws are equal."""

    size: str
    dtype: Any
    _seed: int = field(default=0, init=False)

    def normal(self, shape: Shape | None = None, dtype: Any = None, scale: float = 1.0) -> Array:
        """Normally distributed numbers."""
        self._seed += 1
        values = _normal(self._seed, self.matrix if shape is None else shape) * np.float32(scale)
        return values.astype(self.dtype if dtype is None else dtype, copy=False)

    def positive(self, shape: Shape | None = None) -> Array:
        """The same without their signs, and away from 0."""
        return (np.abs(self.normal(shape, np.float32)) + np.float32(0.01)).astype(self.dtype, copy=False)

    def probability(self, shape: Shape | None = None) -> Array:
        """Numbers between 0.01 and 0.99."""
        self._seed += 1
        values = _uniform(self._seed, self.matrix if shape is None else shape)
        return (values * np.float32(0.98) + np.float32(0.01)).astype(self.dtype, copy=False)

    def distribution(self, shape: Shape | None = None) -> Array:
        """Rows of probabilities that add up to 1."""
        values = np.exp(self.normal(shape, np.float32))
        values /= values.sum(axis=-1, keepdims=True)
        return values.astype(self.dtype, copy=False)

    def log_distribution(self, shape: Shape | None = None) -> Array:
        """Their logarithms."""
        values = self.normal(shape, np.float32)
        values -= np.log(np.exp(values).sum(axis=-1, keepdims=True))
        return values.astype(self.dtype, copy=False)

    def distinct(self, shape: Shape) -> Array:
        """Whole numbers from 0 on, each once: up to 16 M of them are exact in float32."""
        self._seed += 1
        return _order(self._seed, math.prod(shape)).reshape(shape).astype(self.dtype)

    def index(self, shape: Shape, count: int, dtype: Any = np.int64) -> Array:
        """Numbers from 0 to ``count - 1``."""
        self._seed += 1
        return np.random.default_rng(self._seed).integers(0, count, shape).astype(dtype, copy=False)

    def empty(self, shape: Shape | None = None, dtype: Any = None) -> Array:
        """An output; what it holds does not matter."""
        return np.zeros(self.matrix if shape is None else shape, self.dtype if dtype is None else dtype)

    @property
    def matrix(self) -> Shape:
        """The shape of element-wise and row-wise operands."""
        return MATRIX[self.size]


@lru_cache(maxsize=6)
def _normal(seed: int, shape: Shape) -> Array:
    """Drawn once for all operators that want the same."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


@lru_cache(maxsize=3)
def _uniform(seed: int, shape: Shape) -> Array:
    return np.random.default_rng(seed).random(shape, np.float32)


@lru_cache(maxsize=1)
def _order(seed: int, count: int) -> Array:
    return np.random.default_rng(seed).permutation(np.arange(count, dtype=np.float32))


Arguments = dict[str, Any]
Maker = Callable[[Draw], Arguments]
