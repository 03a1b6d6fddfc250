"""Operators of the older interface, each as the calls of the two-phase interface that do the same: ``ROUTES``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from acl_emu.api.acl_base import TensorDesc
from acl_emu.api.acl_base_rt import DataBuffer
from acl_emu.api.acl_op import Attributes
from acl_emu.core import constants as c
from acl_emu.core import dtypes
from acl_emu.core.errors import InvalidParam
from acl_emu.runtime import memory


class Unsupported(Exception):
    """The operator exists, but not for what it is given."""


class Given(NamedTuple):
    """A tensor of a call: what it is like, and its memory."""

    description: TensorDesc
    buffer: DataBuffer

    @property
    def shape(self) -> tuple[int, ...]:
        """As it is described."""
        return self.description.shape

    @property
    def dtype(self) -> int:
        """A code."""
        return self.description.dtype

    @property
    def absent(self) -> bool:
        """An optional input that is left out; torch_npu passes one without dimensions in its place, too."""
        return self.dtype == c.ACL_DT_UNDEFINED or self.shape == ()

    def numbers(self) -> tuple[int, ...]:
        """The values of a small tensor of integers, in the memory of the host or of the device."""
        dtype = dtypes.BY_CODE[self.description.dtype]
        values = np.empty(math.prod(self.description.shape), dtype.numpy)
        if values.nbytes > self.buffer.size:
            raise InvalidParam(f"a tensor of {values.nbytes} bytes has a buffer of {self.buffer.size}")
        memory.move(values.ctypes.data, self.buffer.address, values.nbytes)
        return tuple(map(int, values))


@dataclass(eq=False)
class Scratch:
    """A tensor of the device that is there for the call only."""

    shape: tuple[int, ...]
    dtype: int


class View(NamedTuple):
    """Some elements of a contiguous tensor, in another shape."""

    of: Given | Scratch
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0


Tensor = Given | Scratch | View
Argument = Tensor | tuple[Tensor, ...] | Sequence[int] | int | float | None
"""A tensor, a list of tensors, integers in an array, an attribute, or nothing."""
Routed = list[tuple[str, tuple[Argument, ...]]]
"""Operators of the two-phase interface, one after the other, and their arguments."""
Route = Callable[[Sequence[Given], Sequence[Given], Attributes], Routed]
"""Of inputs, outputs and attributes."""


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of a contiguous tensor."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _copy(inputs: Sequence[Given], outputs: Sequence[Given], _: Attributes) -> Routed:
    return [("aclnnInplaceCopy", (outputs[0], inputs[0]))]


def _fill(operator: str) -> Route:
    return lambda _inputs, outputs, _attributes: [(operator, (outputs[0],))]


def _reduce(operator: str) -> Route:
    return lambda inputs, outputs, attributes: [
        (operator, (inputs[0], inputs[1].numbers(), bool(attributes.get("keep_dims", False)), outputs[0]))
    ]


def _elementwise(operator: str) -> Route:
    return lambda inputs, outputs, _attributes: [(operator, (*inputs, outputs[0]))]


def _cast(inputs: Sequence[Given], outputs: Sequence[Given], attributes: Attributes) -> Routed:
    return [("aclnnCast", (inputs[0], int(attributes.get("dst_type", outputs[0].dtype)), outputs[0]))]


# Distances


def _first_along(given: Given, axis: int) -> View:
    """Without an axis, counted from the end, along which all elements are the same."""
    shape, strides = list(given.shape), list(row_major(given.shape))
    del shape[axis], strides[axis]
    return View(given, tuple(shape), tuple(strides))


def _distance_gradient(inputs: Sequence[Given], outputs: Sequence[Given], attributes: Attributes) -> Routed:
    """All inputs come with the axes of both sets of points and of coordinates; a norm below 0 stands for infinity.

    The output may be without axes that the points were broadcast along: their gradients are added up.
    """
    (grad, first, second, distances), (out,) = inputs, outputs
    if 0 in grad.shape:
        return [("aclnnInplaceZero", (out,))]
    points = _first_along(first, -2)
    views = (_first_along(grad, -1), points, _first_along(second, -3), _first_along(distances, -1))
    norm = float(attributes.get("p", 2.0))
    norm = norm if norm >= 0 else math.inf
    if out.shape == points.shape:
        return [("aclnnCdistBackward", (*views, norm, out))]
    kept = (1,) * (len(points.shape) - len(out.shape)) + out.shape
    axes = tuple(axis for axis, (one, whole) in enumerate(zip(kept, points.shape, strict=True)) if one != whole)
    every = Scratch(points.shape, out.dtype)
    summed = View(out, kept, row_major(kept))
    return [("aclnnCdistBackward", (*views, norm, every)), ("aclnnReduceSum", (every, axes, True, out.dtype, summed))]


# Long short-term memory: one layer over all steps, weights of all gates side by side in columns

_PLAIN: dict[str, tuple[object, ...]] = {
    "direction": ("UNIDIRECTIONAL",),
    "use_peephole": (False,),
    "num_proj": (0,),
    "activation": ("tanh",),
    "recurrent_activation": ("sigmoid",),
    "time_major": (True,),
    "cell_clip": (-1.0,),
    "forget_bias": (0.0,),
}
"""What is emulated, and the default. ``cell_type`` can only be "LSTM", and torch_npu sets another type of attribute in its place."""
_GATES = ("ifjo", "ifco")
"""Input, forget, candidate, output: the order of the two-phase operators, as older ones spell it. Their default is another one."""


def _require_plain(attributes: Attributes, optional: Sequence[Given]) -> None:
    for key, values in (*_PLAIN.items(), ("gate_order", _GATES)):
        given = attributes.get(key, values[0] if key in _PLAIN else "ijfo")
        if given not in values:
            raise Unsupported(f"{key} is {given!r}, emulated is {' or '.join(map(repr, values))}")
    if not all(one.absent for one in optional):
        raise Unsupported("lengths of sequences, a mask and weights of peepholes are not emulated")


def _transposed(weight: Given, first: int, rows: int) -> View:
    """Some rows of a matrix, as columns."""
    return View(weight, (weight.shape[1], rows), (1, weight.shape[1]), first * weight.shape[1])


def _forward(x: Given, weights: tuple[View, View], bias: Given, states: Sequence[Given], outputs: Sequence[Given]) -> Routed:
    output, hidden, cells, entered, candidate, forgotten, shown, flat = outputs
    no_bias = Scratch(bias.shape, bias.dtype)
    last = tuple(Scratch((1, *output.shape[1:]), output.dtype) for _ in range(2))
    saved = tuple((one,) for one in (entered, candidate, forgotten, shown, hidden, cells, flat))
    flags = (True, 1, 0.0, True, False, False)
    return [
        ("aclnnInplaceZero", (no_bias,)),
        ("aclnnLSTM", (x, (*weights, bias, no_bias), tuple(states), None, *flags, output, *last, *saved)),
    ]


def _joined(weight: Given, width: int) -> tuple[View, View]:
    """The weights of input and state, which are one matrix."""
    return _transposed(weight, 0, width), _transposed(weight, width, weight.shape[0] - width)


def _apart(of_input: Given, of_state: Given) -> tuple[View, View]:
    return _transposed(of_input, 0, of_input.shape[0]), _transposed(of_state, 0, of_state.shape[0])


def _memory(inputs: Sequence[Given], outputs: Sequence[Given], attributes: Attributes) -> Routed:
    x, weight, bias, lengths, *states = inputs[:6]
    _require_plain(attributes, (lengths, *inputs[6:]))
    return _forward(x, _joined(weight, x.shape[-1]), bias, states, outputs)


def _memory_of_two_weights(inputs: Sequence[Given], outputs: Sequence[Given], attributes: Attributes) -> Routed:
    x, of_input, of_state, bias, lengths, *states = inputs[:7]
    _require_plain(attributes, (lengths, *inputs[7:]))
    return _forward(x, _apart(of_input, of_state), bias, states, outputs)


def _three_axes(given: Given) -> View:
    """One step, or the states of one layer, may be without their axis."""
    shape = (1,) * (3 - len(given.shape)) + given.shape
    return View(given, shape, row_major(shape))


def _backward(
    weights: tuple[View, View], inputs: Sequence[Given], to_weights: tuple[View, View], to_bias: Given, outputs: Sequence[Given]
) -> Routed:
    """``inputs``: x, y, both first states, h and c of all steps, gradients of y and of both last states, gates. Biases have no effect."""
    x, _, h, c, hidden, cells, *grads, entered, candidate, forgotten, shown, flat = map(_three_axes, inputs)
    no_bias, unused = (Scratch(to_bias.shape, to_bias.dtype) for _ in range(2))
    saved: tuple[Argument, ...] = tuple((one,) for one in (entered, candidate, forgotten, shown, hidden, cells, flat))
    flags = (None, True, 1, 0.0, True, False, False, None)
    to_params = (*to_weights, to_bias, unused)
    results: tuple[Argument, ...] = (*map(_three_axes, outputs), to_params)
    return [
        ("aclnnInplaceZero", (no_bias,)),
        ("aclnnLstmBackward", (x, (h, c), (*weights, no_bias, no_bias), *grads, *saved, *flags, *results)),
    ]


def _memory_gradient(inputs: Sequence[Given], outputs: Sequence[Given], attributes: Attributes) -> Routed:
    x, weight, _, *rest = inputs[:16]
    _require_plain(attributes, inputs[16:])
    to_weight, to_bias, *others = outputs[:5]
    return _backward(_joined(weight, x.shape[-1]), (x, *rest), _joined(to_weight, x.shape[-1]), to_bias, others)


def _gradient_of_two_weights(inputs: Sequence[Given], outputs: Sequence[Given], attributes: Attributes) -> Routed:
    x, of_input, of_state, *rest = inputs[:16]
    _require_plain(attributes, inputs[16:])
    to_input, to_state, to_bias, *others = outputs[:6]
    return _backward(_apart(of_input, of_state), (x, *rest), _apart(to_input, to_state), to_bias, others)


ROUTES: dict[str, Route] = {
    "CdistGrad": _distance_gradient,
    "DynamicRNN": _memory,
    "DynamicRNNGrad": _memory_gradient,
    "DynamicRNNV2": _memory_of_two_weights,
    "DynamicRNNV2Grad": _gradient_of_two_weights,
    "Identity": _copy,
    "TensorMove": _copy,
    "ViewCopy": _copy,
    "Cast": _cast,
    "OnesLike": _fill("aclnnInplaceOne"),
    "ZerosLike": _fill("aclnnInplaceZero"),
    "ReduceMax": _reduce("aclnnAmax"),
    "ReduceMin": _reduce("aclnnAmin"),
    "Mul": _elementwise("aclnnMul"),
    "RealDiv": _elementwise("aclnnDiv"),
    **{
        name: _elementwise(f"aclnn{name}") for name in ("Abs", "Exp", "Log", "Maximum", "Minimum", "Neg", "Relu", "Sigmoid", "Sqrt", "Tanh")
    },
}
