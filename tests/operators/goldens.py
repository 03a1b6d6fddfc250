"""References in float64, and how results of all examples are compared with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import aclnnop
from acl_emu.core.soc import PROFILES, Product
from tests.operators.accuracy import assert_accurate
from tests.operators.case import Array, Case

Arguments = dict[str, Any]
Golden = dict[str, Any]
"""Outputs by name: what they should be, or that and the largest term of the sums they are made of."""
Reference = Callable[[Arguments], Golden]


def call(operator: str, number: int = 0) -> Case:
    """One of its examples."""
    return Case(operator, list(aclnnop.find(operator).examples())[number])


def wide(arguments: Arguments) -> Arguments:
    """Arrays in float64."""
    return {name: value.astype(np.float64) if isinstance(value, np.ndarray) else value for name, value in arguments.items()}


def compare(case: Case, golden: Golden, layout: int = 0) -> None:
    """Every output that the reference knows; the others are not written."""
    outputs = [name for name, kind in case.declared.parameters if kind.io != "in" and case.arguments[name] is not None]
    for name, found in zip(outputs, case.results(layout), strict=True):
        expected = golden.get(name)
        if expected is None:
            assert found.tobytes() == np.ascontiguousarray(case.arguments[name]).tobytes(), name
            continue
        value, largest = expected if isinstance(expected, tuple) else (expected, None)
        limit = None if largest is None else np.broadcast_to(largest, np.shape(value))
        assert_accurate(found, value, largest=limit)


def check_examples(operator: str, reference: Reference, chip: Callable[[str], None], compared: Callable[..., None] = compare) -> None:
    """Every example, contiguous and not, on a chip that has it."""
    for source in aclnnop.find(operator).example_sources:
        product = min(source.products, key=list(Product).index) if Product.A2 not in source.products else Product.A2
        chip(next(profile.name for profile in PROFILES.values() if profile.product is product))
        for arguments in source.build():
            case, golden = Case(operator, arguments), reference(wide(arguments))
            for layout in (0, 5):
                compared(case, golden, layout)


def moments(x: Array, axes: tuple[int, ...], eps: float) -> tuple[Array, Array, Array]:
    mean = x.mean(axis=axes, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=axes, keepdims=True)
    return mean, var, 1 / np.sqrt(var + eps)


def shaped(row: Array | None, like: Array, axis: int, default: float) -> Array:
    """A factor for each channel; null ones are the default."""
    shape = [1] * like.ndim
    shape[axis] = like.shape[axis]
    return np.full(shape, default) if row is None else row.reshape(shape)


def normal_gradient(dy: Array, x: Array, mean: Array, rstd: Array, weight: Array, axes: tuple[int, ...]) -> tuple[Array, Array]:
    """The gradient of (x - mean(x)) / std(x) * weight, and its largest term."""
    unit = (x - mean) * rstd
    weighed = dy * weight
    terms = (weighed, weighed.mean(axis=axes, keepdims=True), unit * (weighed * unit).mean(axis=axes, keepdims=True))
    largest = np.abs(unit) * np.abs(weighed * unit).max(axis=axes, keepdims=True) + np.abs(weighed).max(axis=axes, keepdims=True)
    return (terms[0] - terms[1] - terms[2]) * rstd, largest * rstd
