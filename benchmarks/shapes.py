"""Shapes and layouts drawn at random, against torch: what tables of chosen ones do not show.

``make bench SHAPES=90`` draws for so many seconds and shows how many calls were slower than torch's, and the slowest; nothing is written.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.draw import DTYPES, Arguments, Shape
from benchmarks.operators import Contest, Row, rivals
from benchmarks.problems import Subject

Array = npt.NDArray[Any]

LEAST, MOST = 1 << 16, 1 << 21
"""Elements of a call: few enough for many draws."""
SHOWN = 30


class Drawing:
    """Draws the operands of a call; equal seeds draw alike."""

    def __init__(self, seed: int, least: int = LEAST, most: int = MOST) -> None:
        self.random = random.Random(seed)
        self._numbers = np.random.default_rng(seed)
        self._least, self._most = least, most
        self.dtype = self.random.choice(tuple(DTYPES))

    def shape(self) -> Shape:
        """Up to five axes, some of them short."""
        left = math.exp(self.random.uniform(math.log(self._least), math.log(self._most)))
        lengths = []
        for _ in range(self.random.choice((0, 1, 1, 2, 2, 3, 4))):
            lengths.append(int(left ** self.random.uniform(0, 0.9)))
            left /= lengths[-1]
        lengths.append(math.ceil(left))
        self.random.shuffle(lengths)
        return tuple(lengths)

    def values(self, shape: Shape) -> Array:
        """Numbers in one of four layouts: half of all are in order."""
        return self.laid(self._numbers.standard_normal(shape, np.float32).astype(DTYPES[self.dtype]))

    def empty(self, shape: Shape, dtype: str = "") -> Array:
        """A result, in order."""
        return np.zeros(shape, DTYPES[dtype or self.dtype])

    def some_axes(self, shape: Shape) -> list[int]:
        """One of them, or several."""
        return sorted(self.random.sample(range(len(shape)), self.random.randint(1, len(shape))))

    def broadcast(self, shape: Shape) -> Shape:
        """The same, or with some axes of length 1."""
        return tuple(self.random.choice((1, length)) for length in shape) if self.random.random() < 0.5 else shape

    def laid(self, array: Array) -> Array:
        """The same elements, in order or not."""
        way = self.random.choice(("in order", "in order", "in order", "permuted", "stepped", "sliced"))
        if way == "in order":
            return array
        if way == "permuted":
            axes = self.random.sample(range(array.ndim), array.ndim)
            return np.ascontiguousarray(array.transpose(axes)).transpose(np.argsort(axes))
        length = array.shape[-1]
        step, more = (self.random.choice((2, 2, 3, 4)), 0) if way == "stepped" else (1, self.random.choice((1, 3, 8, 64)))
        result = np.zeros((*array.shape[:-1], step * length + more), array.dtype)
        laid = result[..., : step * length : step]
        laid[...] = array
        return laid


def _one(d: Drawing) -> Arguments:
    shape = d.shape()
    return {"self": d.values(shape), "out": d.empty(shape)}


def _one_and_number(d: Drawing) -> Arguments:
    return {**_one(d), "other": 1.5}


def _two(d: Drawing) -> Arguments:
    shape = d.shape()
    return {"self": d.values(shape), "other": d.values(d.broadcast(shape)), "out": d.empty(shape)}


def _added(d: Drawing) -> Arguments:
    return {**_two(d), "alpha": 1.0}


def _replaced(d: Drawing) -> Arguments:
    shape = d.shape()
    return {"selfRef": d.values(shape), "other": d.values(d.broadcast(shape))}


def _along(d: Drawing) -> Arguments:
    given = _one(d)
    return {**given, "dim": d.random.randrange(given["out"].ndim)}


def _gradient(sign: int) -> Callable[[Drawing], Arguments]:
    def make(d: Drawing) -> Arguments:
        given = _along(d)
        output = d.values(given["out"].shape)
        np.multiply(np.abs(output), sign, out=output, casting="unsafe")
        return {"gradOutput": given["self"], "output": output, "dim": given["dim"], "out": given["out"]}

    return make


def _slope(d: Drawing) -> Arguments:
    shape = d.shape()
    operands = {name: d.values(shape) for name in ("gradOut", "self", "target")}
    return {**operands, "reduction": 0, "beta": 1.0, "gradInput": d.empty(shape)}


def _kept(d: Drawing) -> tuple[Array, list[int], Array]:
    shape = d.shape()
    axes = d.some_axes(shape)
    return d.values(shape), axes, d.empty(tuple(length for axis, length in enumerate(shape) if axis not in axes))


def _sum(d: Drawing) -> Arguments:
    x, axes, out = _kept(d)
    return {"self": x, "dims": axes, "keepDims": False, "dtype": out.dtype, "out": out}


def _largest(d: Drawing) -> Arguments:
    x, axes, out = _kept(d)
    return {"self": x, "dim": axes, "keepDim": False, "out": out}


def _cast(d: Drawing) -> Arguments:
    shape, other = d.shape(), d.random.choice([name for name in DTYPES if name != d.dtype])
    return {"self": d.values(shape), "dtype": np.dtype(DTYPES[other]), "out": d.empty(shape, other)}


DRAWN: dict[str, Callable[[Drawing], Arguments]] = {
    "aclnnAdd": _added,
    "aclnnMul": _two,
    "aclnnInplaceMul": _replaced,
    "aclnnMuls": _one_and_number,
    "aclnnExp": _one,
    "aclnnSmoothL1LossBackward": _slope,
    "aclnnSoftmax": _along,
    "aclnnLogSoftmax": _along,
    "aclnnSoftmaxBackward": _gradient(1),
    "aclnnLogSoftmaxBackward": _gradient(-1),
    "aclnnReduceSum": _sum,
    "aclnnAmax": _largest,
    "aclnnCast": _cast,
}


def _told(given: Arguments) -> str:
    """Shapes, strides and axes, as far as they say something."""
    words = []
    for name, value in given.items():
        if isinstance(value, np.ndarray):
            strides = [stride // value.itemsize for stride in value.strides]
            words.append(f"{name}{list(value.shape)}" + ("" if value.flags.c_contiguous else f" by {strides}"))
        elif name in ("dim", "dims"):
            words.append(f"{name} {value}")
    return ", ".join(words)


def contest(seed: int, least: int = LEAST, most: int = MOST) -> tuple[Contest, str]:
    """A drawn call, and what it is like; whoever asked for it closes it."""
    drawing = Drawing(seed, least, most)
    operator = drawing.random.choice(tuple(DRAWN))
    given = DRAWN[operator](drawing)
    return Contest(Subject(operator, lambda _: given), drawing.dtype, "medium", "contiguous"), _told(given)


def measured(seed: int) -> tuple[Row, str]:
    """One drawn call against torch."""
    drawn, told = contest(seed)
    with drawn.call:
        drawn.invite("torch")
        return drawn.result(), told


def _until(end: float, seed: int) -> Iterator[tuple[Row, str]]:
    """One at least."""
    yield measured(seed)
    while time.monotonic() < end:
        seed += 1
        yield measured(seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    if rivals is None:
        raise SystemExit("this needs torch")
    drawn = list(_until(time.monotonic() + chosen.seconds, chosen.seed))
    found = sorted(((row.ratio, row, told) for row, told in drawn if row.ratio is not None), key=lambda one: one[0])
    for row, told in drawn:
        if row.ratio is None:
            print(f"{row.note}: {row.subject} {row.dtype}: {told}")
    if found:
        print(f"{len(found)} calls; torch / emulator: median {found[len(found) // 2][0]:.2f}; slower than torch by more than")
        for limit in (1.0, 0.9, 0.7, 0.5):
            print(f"  {1 - limit:4.0%}: {sum(ratio < limit for ratio, *_ in found) / len(found):5.1%}")
    for ratio, row, told in found[:SHOWN]:
        print(f"{ratio:.2f}  {row.subject} {row.dtype}: {told}")


if __name__ == "__main__":
    main()
