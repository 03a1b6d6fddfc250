"""Hypothesis strategies for operator calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.operators.accuracy import FLOATS
from tests.operators.case import numbers

layouts = st.integers(0, 200)
"""Strides, offsets and gaps of a call, for Case.run; 0 is the plain layout."""

float_dtypes = st.sampled_from(FLOATS)


def shapes(most_dims: int = 4, most: int = 5, least_dims: int = 0, least: int = 1) -> st.SearchStrategy[tuple[int, ...]]:
    """Small shapes."""
    return hnp.array_shapes(min_dims=least_dims, max_dims=most_dims, min_side=least, max_side=most)


def broadcasting_shapes(count: int, most_dims: int = 4, most: int = 4) -> st.SearchStrategy[Any]:
    """``input_shapes`` that broadcast to ``result_shape``, zero lengths among them."""
    return hnp.mutually_broadcastable_shapes(num_shapes=count, min_dims=0, max_dims=most_dims, min_side=0, max_side=most)


@st.composite
def floats(draw: st.DrawFn, shape: tuple[int, ...], dtype: Any, scale: float = 1.0, *, special: bool = False) -> npt.NDArray[Any]:
    """Numbers of a type: random ones, with zeros, ties and, on request, infinities, NaN and subnormals among them; some expanded."""
    expanded = draw(st.integers(0, len(shape))) if draw(st.booleans()) else 0
    array = numbers((1,) * expanded + shape[expanded:], dtype, draw(st.integers(0, 1000)), scale).copy()
    if array.size and draw(st.booleans()):
        odd = [0.0, -0.0, 1.0, -1.0, 0.5, *([np.inf, -np.inf, np.nan, 1e-6, -1e-39] if special else [])]
        rng = np.random.default_rng(draw(st.integers(0, 1000)))
        flat = array.reshape(-1)
        where = rng.integers(0, flat.size, 1 + flat.size // 3)
        flat[where] = np.asarray(rng.choice(odd, where.size)).astype(array.dtype)
        array = flat.reshape(array.shape)
    return np.broadcast_to(array, shape)
