"""Stacks of recurrent layers, in one direction or both: shapes, the loops over time, and the sums that gradients are made of.

A cell says what happens in one step. Sequences of a batch may end early: where a step is beyond the end, states stay as they are.
Every product is taken in FLOAT, states are kept in FLOAT, and results are rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from acl_emu.core.errors import DeviceFault
from acl_emu.engine.matmul import matmul
from acl_emu.spec import Array, Operand, require, same_dtype, shape_is

Arrays = list[Array]


class Cell(NamedTuple):
    """One kind of recurrent layer."""

    gates: int
    step: Callable[[Array, Array, Arrays], tuple[Arrays, Arrays]]
    """From the products with input and state, and the states: the new states, and what gradients need."""
    back: Callable[[Arrays, Arrays, Arrays], tuple[Array, Array, Arrays]]
    """From the gradients of the new states, what was saved, and the old states: the gradients of both products and of the old states."""


class Stack(NamedTuple):
    """Sizes of a stack of layers."""

    cell: Cell
    layers: int
    directions: int
    bias: bool
    hidden: int
    inputs: int

    @property
    def states(self) -> int:
        """How many states there are, one for each direction of each layer."""
        return self.layers * self.directions

    @property
    def of_each(self) -> int:
        """Parameters of one direction of one layer."""
        return 4 if self.bias else 2

    def shapes(self) -> Iterator[tuple[int, ...]]:
        """Those of all parameters, in order."""
        rows = self.cell.gates * self.hidden
        for layer in range(self.layers):
            columns = self.directions * self.hidden if layer else self.inputs
            for _ in range(self.directions):
                yield from ((rows, columns), (rows, self.hidden), *([(rows,)] * 2 if self.bias else ()))

    def weights(self, params: Sequence[Any], state: int) -> tuple[Any, Any, Any, Any]:
        """Both matrices and both biases of a state; biases are None where there are none."""
        own = [*params[state * self.of_each : (state + 1) * self.of_each], None, None]
        return own[0], own[1], own[2], own[3]


def stack_of(cell: Cell, inputs: int, params: Sequence[Operand], layers: int, *, both: bool, bias: bool, name: str = "params") -> Stack:
    """The sizes that parameters say, all of which have to fit."""
    require(layers > 0, f"numLayers is {layers}, expected a value of at least 1")
    directions = 2 if both else 1
    count = layers * directions * (4 if bias else 2)
    require(len(params) == count, f"{name} has {len(params)} members, expected {count}")
    rows = params[0].shape[0] if params[0].rank else 0
    require(
        rows % cell.gates == 0 and rows > 0,
        f"{params[0].name} has shape {list(params[0].shape)}, expected {cell.gates} gates of equal size",
    )
    stack = Stack(cell, layers, directions, bias, rows // cell.gates, inputs)
    for param, shape in zip(params, stack.shapes(), strict=True):
        shape_is(param, shape, "gates of all hidden elements, by what they are multiplied with")
    return stack


def one_type(first: Operand, *others: Operand | Sequence[Operand] | None) -> None:
    """All tensors, members of lists included, have the type of the first."""
    for other in others:
        same_dtype(first, *(other if isinstance(other, (list, tuple)) else (other,)))


def valid_rows(sizes: Array, batch: int) -> Array:
    """Which sequences of a batch still run at each step, as a column for each step; they are sorted by length."""
    counts = np.asarray(sizes, np.int64)
    if not (np.all(counts[:-1] >= counts[1:]) and np.all(counts > 0) and counts[:1] == [batch]):
        raise DeviceFault(f"batch sizes are {counts.tolist()}, expected positive ones that do not grow, the first of them {batch}")
    found: Array = np.arange(batch)[np.newaxis, :, np.newaxis] < counts[:, np.newaxis, np.newaxis]
    return found


def multiplied(a: Array, b: Array) -> Array:
    """The product of two matrices in FLOAT."""
    out = np.zeros((a.shape[0], b.shape[1]), np.float32)
    if out.size and a.shape[1]:
        matmul(a, b, out)
    return out


def projected(x: Array, weight: Array, bias: Array | None) -> Array:
    """Rows times a transposed matrix, plus a bias."""
    product = multiplied(x, weight.T)
    return product if bias is None else product + np.asarray(bias, np.float32)


def in_order(steps: int, backwards: bool) -> Sequence[int]:
    """The steps of a direction."""
    return range(steps - 1, -1, -1) if backwards else range(steps)


class Pass(NamedTuple):
    """What one direction of a layer leaves."""

    output: Array
    """The first state of every step; 0 beyond the end."""
    last: Arrays
    saved: Arrays
    """For each step, what gradients need."""


def passed(stack: Stack, x: Array, weights: tuple[Any, Any, Any, Any], states: Arrays, valid: Array | None, backwards: bool) -> Pass:
    """One direction of one layer over all steps."""
    steps, batch, width = x.shape
    w_input, w_state, b_input, b_state = weights
    of_input = projected(x.reshape(steps * batch, width), w_input, b_input).reshape(steps, batch, -1)
    output = np.zeros((steps, batch, stack.hidden), np.float32)
    saved: Arrays = []
    for step in in_order(steps, backwards):
        new, kept = stack.cell.step(of_input[step], projected(states[0], w_state, b_state), states)
        states = new if valid is None else [np.where(valid[step], after, before) for after, before in zip(new, states, strict=True)]
        output[step] = new[0] if valid is None else np.where(valid[step], new[0], 0)
        saved = saved or [np.zeros((steps, *one.shape), np.float32) for one in kept]
        for whole, one in zip(saved, kept, strict=True):
            whole[step] = one if valid is None else np.where(valid[step], one, 0)
    return Pass(output, states, saved)


def run(stack: Stack, x: Array, params: Arrays, initial: Arrays, valid: Array | None) -> tuple[Array, list[Pass]]:
    """All layers: the output of the last, and what every direction of every layer leaves. ``initial``: all states of each kind."""
    passes: list[Pass] = []
    for layer in range(stack.layers):
        for direction in range(stack.directions):
            state = layer * stack.directions + direction
            own = [np.asarray(kind[state], np.float32) for kind in initial]
            passes.append(passed(stack, x, stack.weights(params, state), own, valid, direction == 1))
        x = np.concatenate([one.output for one in passes[-stack.directions :]], axis=-1)
    return x, passes


class Gradients(NamedTuple):
    """Of one direction of a layer, or of all of them."""

    of_input: Array
    of_states: Arrays
    of_params: Arrays


def returned(
    stack: Stack,
    x: Array,
    weights: tuple[Any, Any, Any, Any],
    initial: Arrays,
    grads: Arrays,
    of_output: Array,
    saved: Arrays,
    states: Arrays,
    valid: Array | None,
    backwards: bool,
) -> Gradients:
    """Back through one direction of one layer. ``grads``: of the last states; ``states``: those of every step."""
    steps, batch, width = x.shape
    w_input, w_state, b_input, _ = weights
    order = in_order(steps, backwards)
    before = [np.zeros((steps, *one.shape), np.float32) for one in initial]
    current = initial
    for step in order:
        for whole, one in zip(before, current, strict=True):
            whole[step] = one
        after = [whole[step] for whole in states]
        current = after if valid is None else [np.where(valid[step], a, b) for a, b in zip(after, current, strict=True)]
    of_inputs, of_hiddens = (np.zeros((steps, batch, stack.cell.gates * stack.hidden), np.float32) for _ in range(2))
    for step in reversed(order):
        arrived = [grads[0] + of_output[step], *grads[1:]]
        from_input, from_state, old = stack.cell.back(arrived, [whole[step] for whole in saved], [whole[step] for whole in before])
        if valid is not None:
            from_input, from_state = (np.where(valid[step], one, 0) for one in (from_input, from_state))
        old[0] = old[0] + multiplied(from_state, w_state)
        grads = old if valid is None else [np.where(valid[step], a, b) for a, b in zip(old, grads, strict=True)]
        of_inputs[step], of_hiddens[step] = from_input, from_state
    rows = of_inputs.reshape(steps * batch, -1), of_hiddens.reshape(steps * batch, -1)
    to_params = [multiplied(rows[0].T, x.reshape(steps * batch, width)), multiplied(rows[1].T, before[0].reshape(steps * batch, -1))]
    if b_input is not None:
        to_params += [one.sum(axis=0, dtype=np.float64) for one in rows]
    return Gradients(multiplied(rows[0], w_input).reshape(x.shape), grads, to_params)


def run_back(
    stack: Stack,
    x: Array,
    params: Arrays,
    initial: Arrays,
    grads: Arrays,
    of_output: Array,
    saved: list[Arrays],
    states: list[Arrays],
    valid: Array | None,
) -> Gradients:
    """Back through all layers. ``saved`` and ``states`` have lists over directions of layers; the first state is the layers' output."""
    size = stack.hidden
    to_states = [np.zeros(kind.shape, np.float32) for kind in initial]
    to_params: list[Any] = [None] * len(params)
    for layer in reversed(range(stack.layers)):
        below = range((layer - 1) * stack.directions, layer * stack.directions)
        source = np.concatenate([np.asarray(states[0][state], np.float32) for state in below], axis=-1) if layer else x
        of_source = np.zeros(source.shape, np.float32)
        for direction in range(stack.directions):
            state = layer * stack.directions + direction
            found = returned(
                stack,
                source,
                stack.weights(params, state),
                [np.asarray(kind[state], np.float32) for kind in initial],
                [np.asarray(kind[state], np.float32) for kind in grads],
                of_output[..., direction * size : (direction + 1) * size],
                [np.asarray(kind[state], np.float32) for kind in saved],
                [np.asarray(kind[state], np.float32) for kind in states],
                valid,
                direction == 1,
            )
            of_source += found.of_input
            for whole, one in zip(to_states, found.of_states, strict=True):
                whole[state] = one
            to_params[state * stack.of_each : (state + 1) * stack.of_each] = found.of_params
        of_output = of_source
    return Gradients(of_output, to_states, to_params)
