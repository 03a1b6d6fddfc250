"""aclnnMultinomial and aclnnMultinomialTensor: classes, drawn with given probabilities."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, INT64
from acl_emu.engine.philox import fill_words
from acl_emu.spec import (
    ALL,
    Array,
    Bool,
    Example,
    In,
    Int,
    Operand,
    Out,
    Plan,
    Product,
    between,
    direct,
    nothing,
    numbers,
    operator,
    require,
    shape_is,
)
from aclnnop.random.drawing import NEWER, Seed, SeedTensor, fractions, positive_fractions, words_for

TYPES = (BF16, FLOAT16, FLOAT, DOUBLE)
MOST_CLASSES = 1 << 24
Samples = Annotated[Operand, Out(INT64, rank=(1, 2))]


@operator(products=ALL - {Product.A310B})
def aclnnMultinomial(
    self: Annotated[Operand, In(*TYPES, rank=(1, 2))], numsamples: Int, replacement: Bool, seed: Int, offset: Int, out: Samples
) -> Plan:
    """Draw ``numsamples`` classes for each row of probabilities, which need not sum to 1."""
    return sampled(self, numsamples, replacement, Seed(seed, offset), out)


@operator(products=NEWER)
def aclnnMultinomialTensor(
    self: Annotated[Operand, In(*TYPES, rank=(1, 2), on={Product.A950: (BF16, FLOAT16, FLOAT)})],
    numsamples: Int,
    replacement: Bool,
    seedTensor: SeedTensor,
    offsetTensor: SeedTensor,
    offset: Int,
    out: Samples,
) -> Plan:
    """Draw ``numsamples`` classes for each row; seed and offset stand in tensors, ``offset`` is added."""
    return sampled(self, numsamples, replacement, Seed.in_tensors(seedTensor, offsetTensor, offset), out)


def sampled(self: Operand, numsamples: int, replacement: bool, seed: Seed, out: Operand) -> Plan:
    """Rules and plan of both."""
    classes = self.shape[-1]
    require(numsamples > 0, f"numsamples is {numsamples}, expected a value above 0")
    require(
        replacement or numsamples <= classes,
        f"numsamples is {numsamples}, but self of shape {list(self.shape)} has {classes} classes to be drawn once each",
    )
    require(classes <= MOST_CLASSES, f"self has {classes} classes, expected at most {MOST_CLASSES}")
    shape_is(out, (*self.shape[:-1], numsamples), "numsamples for each row")
    if out.size == 0:
        return nothing()
    require(classes > 0, f"self has shape {list(self.shape)}, expected at least one class")
    return direct(
        with_replacement if replacement else without_replacement,
        reads=(*seed.tensors, self),
        writes=(out,),
        scratch=words_for(out.size if replacement else self.size, 2),
        seed=seed.seed,
        offset=seed.offset,
    )


def with_replacement(*arrays: Array, words: Array, seed: int, offset: int) -> None:
    """Where a uniform number falls among the running sums of the probabilities."""
    *seeds, prob, out = arrays
    uniform = fractions(_words(words, seeds, seed, offset), 53)[: out.size].reshape(-1, out.shape[-1])
    rows, results = np.atleast_2d(prob), np.empty(uniform.shape, np.int64)
    for row, given, result in zip(rows, uniform, results, strict=True):
        sums = np.cumsum(row, dtype=np.float64)
        result[...] = np.searchsorted(sums, given * sums[-1], side="right")
    out[...] = np.minimum(results, rows.shape[-1] - 1).reshape(out.shape)


def without_replacement(*arrays: Array, words: Array, seed: int, offset: int) -> None:
    """The first of exponential waiting times whose rates are the probabilities: those of probability 0 come last, if ever."""
    *seeds, prob, out = arrays
    waits = -np.log(positive_fractions(_words(words, seeds, seed, offset)))[: prob.size].reshape(prob.shape) / prob.astype(np.float64)
    count = out.shape[-1]
    if count * 8 < prob.shape[-1]:  # sort few of many
        nearest = np.sort(np.argpartition(waits, count, axis=-1)[..., :count], axis=-1)
        order = np.argsort(np.take_along_axis(waits, nearest, -1), axis=-1, kind="stable")
        out[...] = np.take_along_axis(nearest, order, -1)
    else:
        out[...] = np.argsort(waits, axis=-1, kind="stable")[..., :count]


def _words(words: Array, seeds: list[Array], seed: int, offset: int) -> Array:
    given = [int(array.reshape(())) for array in seeds] or [0, 0]
    fill_words(words, seed + given[0], offset + given[1])
    return words.view(np.uint64)


@aclnnMultinomial.example
def examples() -> Iterator[Example]:
    """With and without replacement, one row and several."""
    for dtype, shape, replacement in ((FLOAT, (9,), True), (BF16, (3, 9), False), (FLOAT16, (3, 9), True), (DOUBLE, (40,), False)):
        out = numbers((*shape[:-1], 4), INT64)
        yield {"self": between(0, 1, shape, dtype), "numsamples": 4, "replacement": replacement, "seed": 1234, "offset": 8, "out": out}


@aclnnMultinomialTensor.example
def with_tensors() -> Iterator[Example]:
    """With and without replacement."""
    for dtype, replacement in ((FLOAT, True), (BF16, False)):
        seeds = {"seedTensor": np.array([7]), "offsetTensor": np.array([392]), "offset": 100}
        yield {
            "self": between(0, 1, (3, 9), dtype),
            "numsamples": 4,
            "replacement": replacement,
            **seeds,
            "out": numbers((3, 4), INT64),
        }
