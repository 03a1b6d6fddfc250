"""Attention in float64, all scores at once: what the operators in blocks are compared with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tests.operators.accuracy import assert_accurate
from tests.operators.case import Array

AXES = {"BSH": "BSND", "SBH": "SBND", "BSND": "BSND", "BNSD": "BNSD", "TND": "SND", "NTD": "NSD"}


def to_heads(array: Any, layout: str, heads: int) -> Array:
    """Batch, head, position, feature; in float64."""
    axes, found = AXES[layout], np.asarray(array, np.float64)
    if "H" in layout:
        found = found.reshape(*found.shape[:-1], heads, -1)
    if "B" not in axes:
        axes, found = "B" + axes, found[None]
    return np.einsum(f"{axes.lower()}->bnsd", found)


def from_heads(array: Array, layout: str) -> Array:
    """The other way round."""
    axes = AXES[layout].lower()
    found = np.einsum(f"bnsd->{axes if 'b' in axes else 'b' + axes}", array)
    found = found if "b" in axes else found[0]
    return found.reshape(*found.shape[:-2], -1) if "H" in layout else found


def visible(mode: int, queries: int, keys: int, before: int = 1 << 30, after: int = 1 << 30, prefix: int = 0) -> Array:
    """Which key each query sees in a sparse mode, without the mask that is given."""
    query, key = np.mgrid[:queries, :keys]
    corner = keys - queries
    return {
        0: (key >= query - before) & (key <= query + after),
        1: np.ones_like(query, bool),
        2: key <= query,
        3: key <= query + corner,
        4: (key >= query + corner - before) & (key <= query + corner + after),
        5: (key <= query + corner) | (key < prefix),
        6: (key <= query + corner) | (key < prefix),
    }[mode]


class Attention(NamedTuple):
    """Results by batch, head and position."""

    out: Array
    largest: Array
    total: Array
    weights: Array
    """Before anything is dropped."""
    terms: Array
    """The size of what is added up for ``out``."""


def attention(
    query: Array, key: Array, value: Array, scale: float, seen: Any = True, added: Any = 0.0, first: bool = True, kept: Any = 1.0
) -> Attention:
    """``added`` is a position encoding, before the scores are scaled or after; ``kept`` multiplies the weights."""
    key, value = (np.repeat(array, query.shape[1] // array.shape[1], axis=1) for array in (key, value))
    products = query @ key.swapaxes(2, 3)
    scores = (products + added) * scale if first else products * scale + added
    scores = np.where(np.broadcast_to(seen, scores.shape), scores, -np.inf)
    with np.errstate(all="ignore"):
        largest = scores.max(axis=3, keepdims=True, initial=-np.inf)
        exponentials = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
        total = exponentials.sum(axis=3, keepdims=True)
        weights = np.where(total > 0, exponentials / total, 0)
    thinned = weights * kept
    return Attention(thinned @ value, largest[..., 0], total[..., 0], weights, thinned @ np.abs(value))


def gradients(
    query: Array, key: Array, value: Array, slope: Array, found: Attention, scale: float, kept: Any = 1.0
) -> list[tuple[Array, Array]]:
    """The gradients of queries, keys and values, and the size of the terms of each."""
    group = query.shape[1] // key.shape[1]
    keys, values = (np.repeat(array, group, axis=1) for array in (key, value))
    through = (slope @ values.swapaxes(2, 3)) * kept
    shared = (slope * found.out).sum(axis=3, keepdims=True)
    inner = found.weights * (through - shared) * scale
    size = found.weights * (np.abs(slope) @ np.abs(values.swapaxes(2, 3)) * kept + np.abs(shared)) * scale
    thinned = found.weights * kept

    def merged(array: Array) -> Array:
        return array.reshape(array.shape[0], -1, group, *array.shape[2:]).sum(axis=2)

    return [
        (inner @ keys, size @ np.abs(keys)),
        (merged(inner.swapaxes(2, 3) @ query), merged(size.swapaxes(2, 3) @ np.abs(query))),
        (merged(thinned.swapaxes(2, 3) @ slope), merged(thinned.swapaxes(2, 3) @ np.abs(slope))),
    ]


def assert_close(actual: Array, golden: Array, terms: Array) -> None:
    """As accurate as promised, for sums of terms; scores up to some tens cost some digits of their exponentials."""
    assert_accurate(actual, golden, largest=terms)
