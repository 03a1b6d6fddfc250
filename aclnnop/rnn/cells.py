"""The cells of recurrent layers: one step, and the way back through it."""

from __future__ import annotations

import numpy as np

from acl_emu.spec import Array
from aclnnop.activation.curves import logistic
from aclnnop.rnn.layers import Arrays, Cell


def memory_step(of_input: Array, of_state: Array, states: Arrays) -> tuple[Arrays, Arrays]:
    """Gates in the order of the weights: input, forget, candidate, output. Saved: input, candidate, forget, output, h, c, tanh of c."""
    entered, forgotten, candidate, shown = np.split(of_input + of_state, 4, axis=-1)
    entered, forgotten, shown, candidate = logistic(entered), logistic(forgotten), logistic(shown), np.tanh(candidate)
    c = forgotten * states[1] + entered * candidate
    flat = np.tanh(c)
    h = shown * flat
    return [h, c], [entered, candidate, forgotten, shown, h, c, flat]


def memory_back(grads: Arrays, saved: Arrays, before: Arrays) -> tuple[Array, Array, Arrays]:
    """Both products have the same gradient."""
    entered, candidate, forgotten, shown, flat = saved
    of_h, of_c = grads
    total = of_h * shown * (1 - flat * flat) + of_c
    gates = (
        total * candidate * entered * (1 - entered),
        total * before[1] * forgotten * (1 - forgotten),
        total * entered * (1 - candidate * candidate),
        of_h * flat * shown * (1 - shown),
    )
    joined = np.concatenate(gates, axis=-1)
    return joined, joined, [np.zeros_like(of_h), total * forgotten]


def gated_step(of_input: Array, of_state: Array, states: Arrays) -> tuple[Arrays, Arrays]:
    """Gates in the order of the weights: reset, update, new. Saved: these, the new gate's product with the state, and h."""
    (reset, update, new), (from_reset, from_update, inner) = (np.split(product, 3, axis=-1) for product in (of_input, of_state))
    reset, update = logistic(reset + from_reset), logistic(update + from_update)
    new = np.tanh(new + reset * inner)
    h = (1 - update) * new + update * states[0]
    return [h], [reset, update, new, inner, h]


def gated_back(grads: Arrays, saved: Arrays, before: Arrays) -> tuple[Array, Array, Arrays]:
    """The products differ in what the reset gate holds back."""
    reset, update, new, inner = saved
    (of_h,) = grads
    of_update = of_h * (before[0] - new) * update * (1 - update)
    of_new = of_h * (1 - update) * (1 - new * new)
    of_reset = of_new * inner * reset * (1 - reset)
    from_input = np.concatenate((of_reset, of_update, of_new), axis=-1)
    from_state = np.concatenate((of_reset, of_update, of_new * reset), axis=-1)
    return from_input, from_state, [of_h * update]


LSTM = Cell(4, memory_step, memory_back)
GRU = Cell(3, gated_step, gated_back)
