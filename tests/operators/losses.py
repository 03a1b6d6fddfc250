"""Element-wise losses and their gradients as data: formula, parameters and rules of each, as documented."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.operators.case import Array, Case, numbers

NONE, MEAN, SUM = 0, 1, 2
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Loss:
    """One operator."""

    operator: str
    formula: Callable[..., Any]
    """Of the inputs in extended precision, 1 for an absent weight; with respect to one pair of elements."""
    inputs: tuple[str, ...] = ("self", "target")
    out: str = "out"
    optional: tuple[str, ...] = ()
    like_self: tuple[str, ...] = ()
    """Tensors that must have the type of self."""
    shaped_as_self: tuple[str, ...] = ()
    mixed: tuple[str, ...] = ()
    """Tensors that may mix FLOAT and FLOAT16 with self, and no other types."""
    onto_self: bool = False
    """Whether the other inputs broadcast to self, which stays as it is."""
    reduced: tuple[Shape, ...] = ((1,), (), (1, 1))
    """Shapes of a reduced output; none for a gradient."""
    any_reduction: bool = False
    """Whether a reduction outside the set is accepted."""
    first_axis: bool = False
    probabilities: tuple[str, ...] = ()
    attributes: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """Other parameters, with values to try; the first is the usual one."""
    products: str = "950 A3 A2 310P 910"
    terms: Callable[..., Any] | None = None
    """The magnitudes that the formula adds up, where they may cancel."""

    @property
    def gradient(self) -> bool:
        return not self.reduced

    def out_shape(self, shape: Shape, reduction: int) -> Shape:
        if reduction == NONE or self.gradient:
            return shape
        return shape[1:] if self.first_axis else self.reduced[0]

    def case(self, inputs: Mapping[str, Array | None], reduction: int, out_dtype: Any, **attributes: float) -> Case:
        shape = np.broadcast_shapes(*(array.shape for array in inputs.values() if array is not None))
        out = np.full(self.out_shape(shape, reduction), 7, out_dtype)
        usual = {name: values[0] for name, values in self.attributes.items()}
        return Case(self.operator, {**inputs, "reduction": reduction, **usual, **attributes, self.out: out})

    def valid(self, shape: Shape = (2, 3), dtype: Any = np.float32, reduction: int = NONE, seed: int = 0) -> Case:
        inputs = {name: self.within(name, numbers(shape, dtype, seed + i)) for i, name in enumerate(self.inputs)}
        return self.case(inputs, reduction, dtype)

    def within(self, name: str, array: Array) -> Array:
        """The numbers that an input is documented to hold."""
        return np.minimum(np.abs(array), np.ones((), array.dtype)) if name in self.probabilities else array

    def golden(self, case: Case) -> tuple[Array, Array]:
        """The result in extended precision, and the largest terms of it."""
        arrays = [np.longdouble(1) if array is None else array.astype(np.longdouble) for array in map(case.arguments.get, self.inputs)]
        attributes = {name: np.longdouble(np.float32(case.arguments[name])) for name in self.attributes}
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        with np.errstate(all="ignore"):
            values, terms = (
                np.broadcast_to(formula(*arrays, **attributes), shape) for formula in (self.formula, self.terms or self.formula)
            )
            reduction = case.arguments["reduction"]
            if self.gradient:
                count = values.size if reduction == MEAN else 1
                return values / count, terms / count
            if reduction != NONE:
                rows, magnitudes = (np.atleast_1d(part) if self.first_axis else part.reshape(-1) for part in (values, np.abs(terms)))
                count = len(rows) if reduction == MEAN else 1
                target = case.arguments[self.out].shape
                return (rows.sum(axis=0) / count).reshape(target), (magnitudes.sum(axis=0) / count).reshape(target)
            return values, terms


def logistic(x: Any) -> Any:
    return (1 + np.tanh(x / 2)) / 2


def side(d: Any) -> Any:
    return np.where(d > 0, 1, np.where(d < 0, -1, d))


def smooth(x: Any, y: Any, beta: Any) -> Any:
    d = np.abs(x - y)
    return np.where(d < beta, d * d / (2 * beta), d - beta / 2)


def clamped_log(x: Any) -> Any:
    return np.where(np.log(x) < -100, -100, np.log(x))


def variance(x: Any) -> Any:
    return np.where(x * (1 - x) < 1e-12, np.longdouble(1e-12), x * (1 - x))


def log_loss(x: Any, t: Any, weight: Any, positive: Any) -> Any:
    return -weight * (positive * t * -np.log1p(np.exp(-x)) + (1 - t) * -np.log1p(np.exp(x)))


def log_loss_slope(g: Any, x: Any, t: Any, weight: Any, positive: Any) -> Any:
    return g * weight * ((1 - t) * logistic(x) - positive * t * logistic(-x))


def log_loss_terms(x: Any, t: Any, weight: Any, positive: Any) -> Any:
    return np.abs(weight) * (np.abs(positive * t) * np.log1p(np.exp(-x)) + np.abs(1 - t) * np.log1p(np.exp(x)))


def log_loss_slope_terms(g: Any, x: Any, t: Any, weight: Any, positive: Any) -> Any:
    return np.abs(g * weight) * (np.abs(1 - t) * logistic(x) + np.abs(positive * t) * logistic(-x))


GRADIENT: dict[str, Any] = {"inputs": ("gradOutput", "self", "target"), "reduced": ()}
WEIGHTS = ("weightOptional", "posWeightOptional")

LOSSES = (
    Loss("aclnnL1Loss", lambda x, y: np.abs(x - y)),
    Loss("aclnnL1LossBackward", lambda g, x, y: g * side(x - y), out="gradInput", **GRADIENT),
    Loss("aclnnMseLoss", lambda x, y: (x - y) ** 2),
    Loss("aclnnMseLossOut", lambda x, y: (x - y) ** 2, first_axis=True),
    Loss(
        "aclnnMseLossBackward",
        lambda g, x, y: g * (x - y) * 2,
        like_self=("gradOutput", "target"),
        products="950 A3 A2 310P",
        **GRADIENT,
    ),
    Loss("aclnnSmoothL1Loss", smooth, out="result", attributes={"beta": (1.0, 0.0, 1e-3, 0.3, 7.5)}),
    Loss("aclnnSoftMarginLoss", lambda x, t: np.log1p(np.exp(-t * x)), any_reduction=True),
    Loss("aclnnSoftMarginLossBackward", lambda g, x, t: -g * t * logistic(-t * x), products="950 A3 A2 910", **GRADIENT),
    Loss(
        "aclnnBinaryCrossEntropy",
        lambda x, t, weight: -weight * (t * clamped_log(x) + (1 - t) * clamped_log(1 - x)),
        inputs=("self", "target", "weight"),
        optional=("weight",),
        like_self=("target", "weight", "out"),
        shaped_as_self=("target", "weight"),
        probabilities=("self", "target"),
    ),
    Loss(
        "aclnnBinaryCrossEntropyBackward",
        lambda g, x, t, weight: g * weight * (x - t) / variance(x),
        inputs=("gradOutput", "self", "target", "weightOptional"),
        optional=("weightOptional",),
        onto_self=True,
        reduced=(),
        probabilities=("self", "target"),
    ),
    Loss(
        "aclnnBinaryCrossEntropyWithLogits",
        log_loss,
        inputs=("self", "target", *WEIGHTS),
        optional=WEIGHTS,
        like_self=("target", *WEIGHTS, "out"),
        shaped_as_self=("target",),
        onto_self=True,
        terms=log_loss_terms,
    ),
    Loss(
        "aclnnBinaryCrossEntropyWithLogitsBackward",
        log_loss_slope,
        inputs=("gradOutput", "self", "target", *WEIGHTS),
        optional=WEIGHTS,
        like_self=("target", "out"),
        mixed=WEIGHTS,
        shaped_as_self=("target",),
        onto_self=True,
        reduced=(),
        terms=log_loss_slope_terms,
    ),
)
BY_NAME = {loss.operator: loss for loss in LOSSES}
