"""The Upsample operators: a rule, a number of axes and types make one; so they do its gradient."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from acl_emu.core import constants as c
from acl_emu.core import soc
from acl_emu.core.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, UINT8, DType
from acl_emu.runtime.tensor import IntArray, Shape
from acl_emu.spec import (
    Example,
    HandleKind,
    In,
    Operand,
    Operator,
    Out,
    Plan,
    Product,
    direct,
    nothing,
    numbers,
    require,
    same_dtype,
    shape_is,
)
from acl_emu.spec.families import calling_module, derived
from acl_emu.spec.kinds import BoolKind, FloatKind, Kind
from aclnnop.image.resampling import Axis, Rule, moved, resampled, returned

On = dict[Product, tuple[DType, ...]] | None
HALVES = (FLOAT, FLOAT16)
FLOATS = (*HALVES, BF16)
PIXELS = (*FLOATS, DOUBLE, UINT8)
"""What nearest neighbours are moved of."""
NEWER = frozenset({Product.A950, Product.A3, Product.A2})
TRAINING = NEWER | {Product.A910}
INFERENCE = NEWER | {Product.A310P}
EVERY = TRAINING | INFERENCE
OLDER_HALVES: On = dict.fromkeys((Product.A910, Product.A310P), (FLOAT16,))
OLDER_PIXELS: On = dict.fromkeys((Product.A910, Product.A310P), (FLOAT16, DOUBLE, UINT8))
SMALL_PIXELS: On = {Product.A310P: HALVES, Product.A950: FLOATS}
VOLUMES: On = {Product.A310P: HALVES, Product.A910: (*HALVES, DOUBLE), **dict.fromkeys((Product.A3, Product.A2), (*FLOATS, DOUBLE))}
"""Types of products that do not have all."""
SCALES = {1: ("scales",), 2: ("scalesH", "scalesW"), 3: ("scalesD", "scalesH", "scalesW")}
MOVING = (Rule.NEAREST, Rule.EXACT)
"""Rules that take elements as they are, and have no alignCorners."""
CHANNELS_LAST = {c.ACL_FORMAT_NHWC: 4, c.ACL_FORMAT_NDHWC: 5}
"""Formats in which channels are the last axis, and how many axes they have."""


def first_axis(large: Operand, small: Sequence[int], counts: Sequence[int]) -> int:
    """The first of the axes that are resampled: 1 where a format has channels last, and the shapes agree with it; else 2."""
    last = CHANNELS_LAST.get(large.view.format) == large.rank == len(small)
    return 1 if last and large.shape == _with_axes(tuple(small), 1, counts) else 2


def _numbers_of(array: IntArray, name: str, count: int, low: int, checked: slice = slice(None)) -> Shape:
    require(len(array) == count, f"{name} has {len(array)} values, expected {count}")
    values = tuple(array.values)
    require(all(value >= low for value in values[checked]), f"{name} is {list(values)}, expected values of at least {low}")
    return values


def _check_scales(scales: Sequence[float], names: Sequence[str]) -> None:
    for scale, name in zip(scales, names, strict=True):
        require(not scale < 0, f"{name} is {scale}, expected no negative value")


def _with_axes(shape: Shape, start: int, lengths: Sequence[int]) -> Shape:
    return (*shape[:start], *lengths, *shape[start + len(lengths) :])


def _axes(
    rule: Rule, lengths: Sequence[int], counts: Sequence[int], scales: Sequence[float], aligned: bool, dtype: DType
) -> tuple[Axis, ...]:
    real = np.float64 if dtype is DOUBLE else np.float32
    given = scales or (0.0,) * len(lengths)
    return tuple(Axis(rule, *row, aligned, real) for row in zip(lengths, counts, given, strict=True))


def _attributes(rule: Rule, scales: Sequence[str], scale: str) -> dict[str, Kind]:
    flags: dict[str, Kind] = {} if rule in MOVING else {"alignCorners": BoolKind()}
    return {**flags, **{one: FloatKind(scale) for one in scales}}


def _split(rule: Rule, values: Sequence[Any]) -> tuple[bool, tuple[float, ...]]:
    """alignCorners, where a rule has it, and the scales."""
    return (False, tuple(values)) if rule in MOVING else (values[0], tuple(values[1:]))


def upsample(
    name: str,
    rule: Rule,
    axes: int,
    *types: DType,
    on: On = None,
    products: frozenset[Product] = EVERY,
    first: str = "self",
    scales: Sequence[str] | None = None,
    scale: str = "double",
    least: int = 1,
    signed: bool = True,
    channels: bool = False,
) -> Operator:
    """``name(self, outputSize, alignCorners, scales..., out)``, the flag and the scales where there are any.

    ``first``: what the input is called; ``least``: the smallest output size; ``signed``: whether scales below 0 stand for none, else they
    are refused; ``channels``: whether there has to be one.
    """
    names = SCALES[axes] if scales is None else tuple(scales)

    def plan(self: Operand, outputSize: IntArray, *values: Any) -> Plan:
        aligned, factors = _split(rule, values[:-1])
        out: Operand = values[-1]
        same_dtype(self, out)
        counts = _numbers_of(outputSize, "outputSize", axes, least)
        start = first_axis(out, self.shape, counts)
        lengths = self.shape[start : start + axes]
        require(all(lengths), f"{self.name} has shape {list(self.shape)}, expected elements along the axes that are resampled")
        channel = self.shape[-1 if start == 1 else 1]
        require(channel > 0 or not channels, f"{self.name} has shape {list(self.shape)}, expected at least one channel")
        shape_is(out, _with_axes(self.shape, start, counts), "outputSize")
        if not signed:
            _check_scales(factors, names)
        if 0 in out.shape:
            return nothing()
        table = _axes(rule, lengths, counts, factors, aligned, self.dtype)
        return direct(moved if rule in MOVING else resampled, reads=(self,), writes=(out,), scratch={}, axes=table, first=start)

    kinds = {
        first: In(*types, on=on, rank=axes + 2),
        "outputSize": HandleKind(IntArray),
        **_attributes(rule, names, scale),
        "out": Out(*types, on=on, rank=axes + 2),
    }
    doc = f"Resample the last {axes} axes, {rule.value}."
    made = derived(name, kinds, plan, module=calling_module(), doc=doc, products=products)

    def example(dtype: DType, small: Shape, large: Shape) -> Example:
        return {first: numbers(small, dtype, 1, 4), "outputSize": large[2:], "out": numbers(large, dtype, 2)}

    return _shown(made, axes, types, on, example)


def upsample_backward(
    name: str,
    rule: Rule,
    axes: int,
    *types: DType,
    on: On = None,
    products: frozenset[Product] = EVERY,
    first: str = "gradOut",
    last: str = "out",
    signed: bool = True,
    most: float = math.inf,
    loose: bool = False,
    whole: bool = False,
    narrowing: frozenset[Product] = frozenset(),
) -> Operator:
    """``name(gradOut, outputSize, inputSize, alignCorners, scales..., out)``: the gradient.

    ``first`` and ``last`` are what input and output are called; ``most``: the largest scale; ``loose``: the output may have other lengths
    than inputSize says along the resampled axes, and its own count; ``whole``: all numbers of inputSize have to be above 0, not only those
    of the resampled axes; ``narrowing``: products on which a FLOAT gradient may be written in another type.
    """
    names = SCALES[axes]

    def plan(grad: Operand, outputSize: IntArray, inputSize: IntArray, *values: Any) -> Plan:
        aligned, factors = _split(rule, values[:-1])
        out: Operand = values[-1]
        if grad.dtype is not FLOAT or soc.current().product not in narrowing:
            same_dtype(grad, out)
        counts = _numbers_of(outputSize, "outputSize", axes, 1)
        start = first_axis(grad, inputSize.values, counts)
        middle = slice(start, start + axes)
        size = _numbers_of(inputSize, "inputSize", axes + 2, 1, slice(None) if whole else middle)
        shape_is(grad, _with_axes(size, start, counts), "inputSize and outputSize")
        if not signed:
            _check_scales(factors, names)
        for factor, name in zip(factors, names, strict=True):
            require(not factor > most, f"{name} is {factor}, expected at most {most}")
        shape_is(out, _with_axes(size, start, out.shape[middle]) if loose and out.rank == axes + 2 else size, "inputSize")
        if 0 in out.shape:
            return nothing()
        table = _axes(rule, out.shape[middle], counts, factors, aligned, grad.dtype)
        return direct(returned, reads=(grad,), writes=(out,), scratch={}, axes=table, first=start)

    kinds = {
        first: In(*types, on=on, rank=axes + 2),
        "outputSize": HandleKind(IntArray),
        "inputSize": HandleKind(IntArray),
        **_attributes(rule, names, "double"),
        last: Out(*types, on=on, rank=axes + 2),
    }
    doc = f"Give the gradient back to the elements that the last {axes} axes were resampled from, {rule.value}."
    made = derived(name, kinds, plan, module=calling_module(), doc=doc, products=products)

    def example(dtype: DType, small: Shape, large: Shape) -> Example:
        return {first: numbers(large, dtype, 1, 4), "outputSize": large[2:], "inputSize": small, last: numbers(small, dtype, 2)}

    return _shown(made, axes, types, on, example)


CALLS = (
    ((4, 3, 2), (8, 7, 3), 0.0),
    ((5, 4, 3), (3, 2, 2), 0.0),
    ((3, 2, 4), (7, 5, 10), 2.5),
)
"""Lengths of the input and of the result, and the caller's scale."""


def _shown(made: Operator, axes: int, types: Sequence[DType], on: On, example: Callable[[DType, Shape, Shape], Example]) -> Operator:
    """One example for each type: larger and smaller, with the caller's scales and without, aligned and not."""
    having = {dtype: [one for one in made.products if dtype in (on or {}).get(one, types)] for dtype in types}

    def build(turn: int, dtype: DType) -> Iterator[Example]:
        small, large, scale = CALLS[turn % 3]
        named = dict(made.parameters)
        extra = {one: turn % 2 == 1 if isinstance(kind, BoolKind) else scale for one, kind in named.items() if not kind.pointer}
        values = {**example(dtype, (2, 3, *small[:axes]), (2, 3, *large[:axes])), **extra}
        yield {one: values[one] for one in made.names}

    for turn, dtype in enumerate(sorted(types, key=lambda one: -len(having[one]))):
        made.example_on(*having[dtype])(partial(build, turn, dtype))
    return made
