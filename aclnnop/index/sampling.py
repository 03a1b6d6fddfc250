"""What drawing a token from logits has in common: which tokens are left, how likely they are, and which one is taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from acl_emu.spec import Array, Operand, require, same_dtype, shape_is
from aclnnop.math.ordering import order

MOST_KEPT = 1024
"""A larger ``topK`` keeps everything."""


def check_rows(logits: Operand, topK: Operand, topP: Operand, q: Operand | None, minPs: Operand | None = None) -> None:
    """There is a number for each row of ``logits``, and as many weights as there are logits."""
    require(logits.size > 0, f"logits has shape {list(logits.shape)}, expected at least one element")
    if q is not None:
        shape_is(q, logits.shape, "as logits")
    for limit in (topK, topP):
        shape_is(limit, logits.shape[:1], "a number for each row of logits")
    if minPs is not None:
        rows = logits.shape[0]
        require(minPs.shape in ((rows,), (rows, 1)), f"minPs has shape {list(minPs.shape)}, expected {[rows]} or {[rows, 1]}")
    same_dtype(logits, topP, minPs)


@dataclass
class Kept:
    """Tokens of each row, the likeliest first where they had to be sorted."""

    places: Array
    """Where they are in ``logits``."""
    chances: Array
    """How likely they are, among those that ``topK`` leaves."""
    mask: Array
    """Which of them are left."""

    def taken(self, q: Array | None, eps: float) -> Array:
        """The token with the largest quotient of chance and weight; without weights the likeliest. Weights count in the order here."""
        chances = np.where(self.mask, self.chances, -1.0)
        best = (chances if q is None else chances / (q.astype(np.float64) + eps)).argmax(axis=1)
        return np.take_along_axis(self.places, best[:, None], 1)[:, 0]

    def in_place(self) -> Array:
        """The mask in the order of ``logits``."""
        found = np.zeros(self.mask.shape, np.bool_)
        np.put_along_axis(found, self.places, self.mask, 1)
        return found


def likeliest(
    logits: Array, topK: Array, topP: Array, minPs: Array | None = None, *, most: int = MOST_KEPT, normalised: bool = False
) -> Kept:
    """The ``topK`` largest of each row, of these as many as reach ``topP``, of these what has ``minPs`` of the largest chance."""
    values = logits.astype(np.float64)
    count = values.shape[1]
    ranks = np.arange(count)
    k, p = topK.astype(np.int64)[:, None], topP.astype(np.float64)[:, None]
    by_k, by_p = (k >= 1) & (k <= min(count, most)), p < 1
    places = np.where(by_k | by_p, order(logits, 1, descending=True), ranks)
    ranked = np.take_along_axis(values, places, 1)
    mask = ~by_k | (ranks < k)
    chances = np.where(mask, ranked, 0.0) if normalised else _softmax(ranked, mask)
    before = np.cumsum(np.pad(chances[:, :-1], ((0, 0), (1, 0))), axis=1)
    mask &= ~by_p | (before <= p) | (ranks == 0)
    if minPs is not None:
        share = minPs.reshape(-1).astype(np.float64)[:, None]
        left = np.where(mask, chances, -1.0)
        mask &= np.where(share >= 1, ranks == left.argmax(axis=1, keepdims=True), chances >= left.max(axis=1, keepdims=True) * share) | (
            share <= 0
        )
    return Kept(places, chances, mask)


def _softmax(ranked: Array, mask: Array) -> Array:
    powers = np.where(mask, np.exp(ranked - ranked.max(axis=1, keepdims=True)), 0.0)
    found: Array = powers / powers.sum(axis=1, keepdims=True)
    return found
