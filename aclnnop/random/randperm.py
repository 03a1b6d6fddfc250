"""aclnnRandperm: the numbers below n in random order."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8
from acl_emu.engine.philox import fill_words
from acl_emu.spec import Array, Example, Int, Operand, Out, Plan, direct, nothing, numbers, operator, require, shape_is
from aclnnop.random.drawing import TRAINING, words_for

TYPES = (INT64, INT32, INT16, UINT8, INT8, FLOAT, FLOAT16, DOUBLE, BF16)


@operator(products=TRAINING)
def aclnnRandperm(n: Int, seed: Int, offset: Int, out: Annotated[Operand, Out(*TYPES)]) -> Plan:
    """Give the numbers from 0 to ``n - 1`` in random order."""
    require(n >= 0, f"n is {n}, expected a value of at least 0")
    shape_is(out, (n,), "n numbers")
    if n == 0:
        return nothing()
    return direct(shuffled, reads=(), writes=(out,), scratch=words_for(n, 2), seed=seed, offset=offset)


@aclnnRandperm.example
def examples() -> Iterator[Example]:
    """Whole and real types."""
    for dtype in (INT64, UINT8, FLOAT, BF16):
        yield {"n": 15, "seed": 1234, "offset": 8, "out": numbers((15,), dtype)}


def shuffled(out: Array, *, words: Array, seed: int, offset: int) -> None:
    """The order of so many random numbers."""
    fill_words(words, seed, offset)
    order = np.argsort(words.view(np.uint64)[: out.size], kind="stable")
    out[...] = dtypes.round_to(order, dtypes.from_numpy(out.dtype))
