"""Recurrent layers: outputs against the formulas in float64, gradients against differences of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from tests.conftest import message
from tests.operators.accuracy import FLOAT, FLOAT16
from tests.operators.case import Array, Case, Meta, Refused, numbers
from tests.operators.goldens import Arguments, call
from tests.operators.products import products_of

INVALID, NULLPTR, TILING = acl.ACLNN_ERR_PARAM_INVALID, acl.ACLNN_ERR_PARAM_NULLPTR, acl.ACLNN_ERR_INNER_TILING_ERROR
LSTM_LISTS = ("iOut", "jOut", "fOut", "oOut", "hOut", "cOut", "tanhCOut")
GRU_LISTS = ("rOut", "zOut", "nOut", "hnOut", "hOut")


def sigma(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def lstm_step(x: Array, states: list[Array], w: list[Array]) -> tuple[list[Array], list[Array]]:
    """One row of a batch after one step; and what training keeps. Weights are in the order of torch: i, f, g, o."""
    gates = w[0] @ x + w[1] @ states[0] + w[2] + w[3]
    i, f, g, o = np.split(gates, 4)
    i, f, g, o = sigma(i), sigma(f), np.tanh(g), sigma(o)
    c = f * states[1] + i * g
    return [o * np.tanh(c), c], [i, g, f, o, o * np.tanh(c), c, np.tanh(c)]


def gru_step(x: Array, states: list[Array], w: list[Array]) -> tuple[list[Array], list[Array]]:
    (r, z, n), (hr, hz, hn) = np.split(w[0] @ x + w[2], 3), np.split(w[1] @ states[0] + w[3], 3)
    r, z = sigma(r + hr), sigma(z + hz)
    n = np.tanh(n + r * hn)
    h = (1 - z) * n + z * states[0]
    return [h], [r, z, n, hn, h]


STEPS = {"LSTM": (lstm_step, 4, 2), "GRU": (gru_step, 3, 1)}


def run(kind: str, x: Array, params: list[Array], first: list[Array], layers: int, both: bool, bias: bool, lengths: list[int]) -> Any:
    """Row by row, step by step: the output, the last states, and what training keeps. ``x``: steps first."""
    step, gates, _ = STEPS[kind]
    steps, batch, _ = x.shape
    size, directions = params[0].shape[0] // gates, 2 if both else 1
    each = 4 if bias else 2
    last = [np.zeros((layers * directions, batch, size)) for _ in first]
    kept: list[Any] = []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            place = layer * directions + direction
            w = [*params[place * each : (place + 1) * each], *([np.zeros(gates * size)] * 2)][:4]
            output, saved = np.zeros((steps, batch, size)), [np.zeros((steps, batch, size)) for _ in range(7 if kind == "LSTM" else 5)]
            for row in range(batch):
                states = [one[place, row] for one in first]
                order = range(lengths[row])
                for t in reversed(order) if direction else order:
                    states, found = step(x[t, row], states, w)
                    output[t, row] = states[0]
                    for whole, one in zip(saved, found, strict=True):
                        whole[t, row] = one
                for whole, one in zip(last, states, strict=True):
                    whole[place, row] = one
            outputs.append(output)
            kept.append(saved)
        x = np.concatenate(outputs, axis=-1)
    return x, last, kept


def lengths_of(sizes: Any, steps: int, batch: int) -> list[int]:
    return [steps] * batch if sizes is None else [int((np.asarray(sizes) > row).sum()) for row in range(batch)]


def forward(kind: str, a: Arguments) -> tuple[Array, list[Array], Any]:
    """The reference of a call of aclnnLSTM or aclnnGRU."""
    sizes, both = a["batchSizes"], a.get("bidirectional", a.get("bidirection"))
    batch = a["hy"].shape[1]
    x = np.asarray(a["input"], np.float64)
    steps = x.shape[1 if a["batchFirst"] else 0] if sizes is None else len(sizes)
    lengths = lengths_of(sizes, steps, batch)
    if sizes is not None:
        dense = np.zeros((steps, batch, x.shape[-1]))
        valid = np.arange(batch) < np.asarray(sizes)[:, np.newaxis]
        dense[valid if kind == "GRU" else np.ones_like(valid)] = x
        x = dense
    elif a["batchFirst"]:
        x = x.swapaxes(0, 1)
    given = a["hx"] if kind == "LSTM" else None if a["hx"] is None else [a["hx"]]
    first = [np.zeros(a["hy"].shape) for _ in range(STEPS[kind][2])] if given is None else [np.asarray(one, np.float64) for one in given]
    params = [np.asarray(one, np.float64) for one in a["params"]]
    output, last, kept = run(kind, x, params, first, a["numLayers"], both, a["hasBias"], lengths)
    if sizes is None and a["batchFirst"]:
        output = output.swapaxes(0, 1)
    if sizes is not None and kind == "GRU":
        output, kept = output[valid], [[one[valid] for one in saved] for saved in kept]
    return output, last, kept


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("kind", STEPS)
def test_outputs(kind: str, number: int, device: int) -> None:
    """Outputs, last states and what training keeps."""
    case = call(f"aclnn{kind}", number)
    output, last, kept = forward(kind, case.arguments)
    expected = [output, *last]
    if case.arguments["train"]:
        expected += [state[place] for place in range(len(kept[0])) for state in kept]
    for layout in (0, 4):
        for found, wanted in zip(case.results(layout), expected, strict=True):
            tolerance = 2e-3 if found.dtype == FLOAT16 else 2e-6
            np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=tolerance, atol=tolerance)


def trained(kind: str, layers: int, both: bool, bias: bool, sizes: Any) -> tuple[Arguments, Arguments]:
    """A call of the layers with what training keeps, and the call of the gradient that follows it."""
    directions, gates = 2 if both else 1, STEPS[kind][1]
    count, rng = layers * directions, np.random.default_rng(1)
    lead = (3, 2) if sizes is None else (6,)
    shapes = []
    for layer in range(layers):
        for _ in range(directions):
            shapes += [(gates * 3, directions * 3 if layer else 4), (gates * 3, 3), *([(gates * 3,)] * 2 if bias else [])]
    params = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    states = [rng.standard_normal((count, 2, 3)).astype(np.float32) for _ in range(STEPS[kind][2])]
    names = LSTM_LISTS if kind == "LSTM" else GRU_LISTS
    forwards: Arguments = {
        "input": rng.standard_normal((*lead, 4)).astype(np.float32),
        "params": params,
        "hx": states if kind == "LSTM" else states[0],
        "batchSizes": sizes,
        "hasBias": bias,
        "numLayers": layers,
        "dropout": 0.0,
        "train": True,
        "bidirectional" if kind == "LSTM" else "bidirection": both,
        "batchFirst": False,
        "output": np.zeros((3, 2, 3 * directions), np.float32),
        "hy": np.zeros((count, 2, 3), np.float32),
        **({"cy": np.zeros((count, 2, 3), np.float32)} if kind == "LSTM" else {}),
        **{name: [np.zeros((3, 2, 3), np.float32) for _ in range(count)] for name in names},
    }
    results = Case(f"aclnn{kind}", forwards).results()
    saved = results[1 + STEPS[kind][2] :]
    lists = {name: list(saved[place * count : (place + 1) * count]) for place, name in enumerate(names)}
    grads = [rng.standard_normal((count, 2, 3)).astype(np.float32) for _ in range(STEPS[kind][2])]
    common = {
        "input": forwards["input"],
        "params": params,
        "hx": forwards["hx"],
        "dy": rng.standard_normal((*lead, 3 * directions)).astype(np.float32),
        "dh": grads[0],
        "batchSizesOptional": sizes,
        "hasBias": bias,
        "numLayers": layers,
        "batchFirst": False,
        "dxOut": np.zeros((*lead, 4), np.float32),
        "dhPrevOut": np.zeros((count, 2, 3), np.float32),
        "dparamsOut": [np.zeros_like(one) for one in params],
    }
    if kind == "GRU":
        named = dict(zip(("r", "z", "n", "h_n", "h"), lists.values(), strict=True))
        return forwards, {**common, **named, "bidirection": both}
    named = dict(zip(("i", "g", "f", "o", "h", "c", "tanhc"), lists.values(), strict=True))
    more = {"dc": grads[1], "dcPrevOut": np.zeros((count, 2, 3), np.float32), "dropout": 0.0, "train": True}
    return forwards, {**common, **named, **more, "bidirectional": both, "outputMask": [True] * 4}


SIZES = np.array([2, 2, 1], np.int64)


@pytest.mark.parametrize(
    ("kind", "layers", "both", "bias", "sizes"),
    [
        ("LSTM", 1, False, True, None),
        ("LSTM", 2, True, False, None),
        ("LSTM", 2, True, True, SIZES),
        ("GRU", 1, False, True, None),
        ("GRU", 2, True, False, None),
    ],
    ids=str,
)
def test_gradients(kind: str, layers: int, both: bool, bias: bool, sizes: Any, device: int) -> None:
    """In a random direction of all inputs, the loss changes as the gradients say: central differences of the reference in float64."""
    forwards, backwards = trained(kind, layers, both, bias, sizes)
    name = "aclnnLstmBackward" if kind == "LSTM" else "aclnnGRUBackward"
    ordered = {one: backwards[one] for one in aclnnop.find(name).names}
    case = Case(name, ordered)
    outputs = [one for one, parameter in case.declared.parameters if parameter.io != "in"]
    found = case.results()
    of_input, *rest = found
    of_states, of_params = rest[: STEPS[kind][2]], rest[STEPS[kind][2] :]
    assert outputs[0] == "dxOut"
    rng = np.random.default_rng(2)
    states = forwards["hx"] if kind == "LSTM" else [forwards["hx"]]
    moves = [rng.standard_normal(one.shape) for one in (forwards["input"], *states, *forwards["params"])]

    def loss(step: float) -> float:
        moved = [
            np.asarray(one, np.float64) + step * move
            for one, move in zip((forwards["input"], *states, *forwards["params"]), moves, strict=True)
        ]
        x, first, params = moved[0], moved[1 : 1 + len(states)], moved[1 + len(states) :]
        steps = x.reshape(3, 2, 4)
        output, last, _ = run(kind, steps, params, first, layers, both, bias, lengths_of(sizes, 3, 2))
        grads = [backwards["dh"], *([backwards["dc"]] if kind == "LSTM" else [])]
        return float((output * backwards["dy"].reshape(output.shape)).sum() + sum((a * b).sum() for a, b in zip(last, grads, strict=True)))

    slope = (loss(1e-5) - loss(-1e-5)) / 2e-5
    gradients = (of_input, *of_states, *of_params)
    claimed = sum(float((one.astype(np.float64) * move).sum()) for one, move in zip(gradients, moves, strict=True))
    assert claimed == pytest.approx(slope, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("missing", [("dy",), ("dh", "dc")], ids=str)
def test_gradients_that_are_null_count_as_zero(missing: tuple[str, ...], device: int) -> None:
    """torch_npu passes those that a program has not asked for as null pointers."""
    case = call("aclnnLstmBackward", 0)
    zeros = {name: np.zeros_like(case.arguments[name]) for name in missing}
    for one, other in zip(case.but(**dict.fromkeys(missing)).results(), case.but(**zeros).results(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("number", range(3))
def test_one_layer_of_310p(number: int, device: int, chip: Callable[[str], None]) -> None:
    """Sequences of one length, of several, and packed ones: as the layers of the other products."""
    chip("Ascend310P3")
    case = call("aclnnBidirectionLSTMV2", number)
    a = case.arguments
    names = (
        "wIh",
        "wHh",
        "bIhOptional",
        "bHhOptional",
        "wIhReverseOptional",
        "wHhReverseOptional",
        "bIhReverseOptional",
        "bHhReverseOptional",
    )
    params = [np.asarray(a[name], np.float64) for name in names if a[name] is not None]
    sizes = a["batchSizeOptional"]
    x = np.asarray(a["x"], np.float64)
    valid = np.ones((3, 2), bool) if sizes is None else np.arange(2) < np.asarray(sizes)[:, np.newaxis]
    if a["packed"]:
        dense = np.zeros((3, 2, x.shape[-1]))
        dense[valid] = x
        x = dense
    first = [np.asarray(a[name], np.float64) for name in ("initH", "initC")]
    output, last, _ = run("LSTM", x, params, first, 1, a["bidirection"], a["isbias"], lengths_of(sizes, 3, 2))
    for found, wanted in zip(case.results(), (output[valid] if a["packed"] else output, *last), strict=True):
        np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=2e-3, atol=2e-3)


def test_a_cell_is_a_step(device: int) -> None:
    """The fused cell and its gradient, against one step and its differences."""
    case = call("aclnnThnnFusedLstmCell")
    a = {name: np.asarray(value, np.float64) for name, value in case.arguments.items()}
    gates = a["inputGates"] + a["hiddenGates"] + a["inputBiasOptional"] + a["hiddenBiasOptional"]
    i, f, g, o = np.split(gates, 4, axis=1)
    i, f, g, o = sigma(i), sigma(f), np.tanh(g), sigma(o)
    c = f * a["cx"] + i * g
    h = o * np.tanh(c)
    hy, cy, storage = case.results()
    for found, wanted in ((hy, h), (cy, c), (storage, np.concatenate((i, f, g, o), axis=1))):
        np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-6)
    of_h, of_c = numbers((2, 3), FLOAT, 1), numbers((2, 3), FLOAT, 2)
    back = call("aclnnThnnFusedLstmCellBackward").but(
        gradHyOptional=of_h, gradCOptional=of_c, cx=case.arguments["cx"], cy=cy, storage=storage
    )
    to_gates, to_c, to_bias = back.results()
    move, move_c = numbers((2, 12), FLOAT, 3).astype(np.float64), numbers((2, 3), FLOAT, 4).astype(np.float64)

    def loss(step: float) -> float:
        first, second, third, last = np.split(gates + step * move, 4, axis=1)
        new = sigma(second) * (a["cx"] + step * move_c) + sigma(first) * np.tanh(third)
        return float((of_h * sigma(last) * np.tanh(new)).sum() + (of_c * new).sum())

    slope = (loss(1e-5) - loss(-1e-5)) / 2e-5
    assert float((to_gates * move).sum() + (to_c * move_c).sum()) == pytest.approx(slope, rel=1e-4, abs=1e-5)
    np.testing.assert_allclose(to_bias, to_gates.sum(axis=0), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("sizes", [[2, 2, 3], [1, 1, 1], [2, 1, 0]], ids=str)
def test_batch_sizes_that_make_no_sense(sizes: list[int], device: int) -> None:
    with pytest.raises(Refused, match="batch sizes"):
        call("aclnnLSTM", 2).but(batchSizes=np.array(sizes, np.int64)).results()


def test_packed_rows_have_to_add_up(device: int) -> None:
    with pytest.raises(Refused, match="add up to 4"):
        call("aclnnGRU", 2).but(batchSizes=np.array([2, 1, 1], np.int64)).results()


def meta(*shape: int, dtype: Any = FLOAT) -> Meta:
    return Meta(shape, dtype)


ERRORS: dict[str, list[tuple[Arguments, int, str]]] = {
    "aclnnLSTM": [
        ({"iOut": None}, NULLPTR, "iOut must not"),
        ({"numLayers": 0}, INVALID, "numLayers is 0"),
        ({"numLayers": 2}, INVALID, "params has 4 members"),
        ({"hasBias": False}, INVALID, "params has 4 members"),
        ({"output": meta(3, 2, 3, dtype=FLOAT16)}, INVALID, "output has dtype"),
        ({"output": meta(3, 2, 4)}, INVALID, "output has shape"),
        ({"hy": meta(2, 2, 3)}, INVALID, "hy has shape"),
        ({"tanhCOut": []}, INVALID, "tanhCOut has 0 members"),
        ({"input": meta(6, 5)}, INVALID, "input has 2 dimensions"),
        ({"hx": [meta(1, 2, 3)]}, INVALID, "hx has 1 members"),
    ],
    "aclnnLstmBackward": [
        ({"input": None}, NULLPTR, "input must not"),
        ({"numLayers": 0}, INVALID, "numLayers is 0"),
        ({"dh": meta(2, 2, 3)}, INVALID, "dh has shape"),
        ({"dxOut": meta(3, 2, 4)}, INVALID, "dxOut has shape"),
        ({"dc": meta(1, 2, 3, dtype=FLOAT16)}, INVALID, "dc has dtype"),
        ({"dy": meta(3, 2, 4)}, INVALID, "dy has shape"),
    ],
    "aclnnGRU": [
        ({"rOut": None}, NULLPTR, "rOut must not"),
        ({"hy": meta(1, 2, 3, dtype=FLOAT16)}, INVALID, "hy has dtype"),
        ({"numLayers": 3}, INVALID, "params has 4 members"),
        ({"zOut": []}, INVALID, "zOut has 0 members"),
        ({"hx": meta(2, 2, 3)}, INVALID, "hx has shape"),
        ({"batchSizes": Meta((3,), np.int64)}, INVALID, "input has 3 dimensions"),
    ],
    "aclnnGRUBackward": [
        ({"hx": None}, NULLPTR, "hx must not"),
        ({"batchSizesOptional": Meta((3,), np.int64)}, INVALID, "batchSizesOptional is given"),
        ({"numLayers": 0}, INVALID, "numLayers is 0"),
        ({"dhPrevOut": meta(2, 2, 3)}, INVALID, "dhPrevOut has shape"),
    ],
    "aclnnThnnFusedLstmCell": [
        ({"inputBiasOptional": None}, INVALID, "only one of"),
        ({"cx": meta(2, 4)}, INVALID, "inputGates has shape"),
        ({"hyOut": meta(2, 3, dtype=FLOAT16)}, INVALID, "hyOut has dtype"),
        ({"hiddenBiasOptional": meta(11)}, INVALID, "hiddenBiasOptional has shape"),
    ],
    "aclnnThnnFusedLstmCellBackward": [
        ({"gradBiasOut": None}, NULLPTR, "gradBiasOut must not"),
        ({"storage": meta(2, 11)}, INVALID, "storage has shape"),
        ({"cy": meta(2, 3, dtype=FLOAT16)}, INVALID, "cy has dtype"),
    ],
    "aclnnBidirectionLSTM": [
        ({"wIhReverseOptional": None}, NULLPTR, "wIhReverseOptional must not"),
        ({"numLayers": 2}, TILING, "numLayers is 2"),
        ({"batchFirst": True}, TILING, "batchFirst is true"),
        ({"initH": meta(1, 2, 3, dtype=FLOAT16)}, TILING, "initH has shape"),
        ({"yOut": meta(3, 2, 3, dtype=FLOAT16)}, TILING, "yOut has shape"),
    ],
    "aclnnBidirectionLSTMV2": [({"batchSizeOptional": Meta((4,), np.int32)}, TILING, "x has shape")],
}


@pytest.mark.parametrize(
    ("operator", "changes", "status", "text"),
    [pytest.param(operator, *line, id=f"{operator}-{line[2]}") for operator, lines in ERRORS.items() for line in lines],
)
def test_errors(operator: str, changes: Arguments, status: int, text: str) -> None:
    assert call(operator).but(**changes).status() == status
    assert text in message()


PRODUCTS = {
    "aclnnLSTM": {"950", "A3", "A2", "310P", "910"},
    "aclnnLstmBackward": {"950", "A3", "A2"},
    "aclnnGRU": {"A3", "A2"},
    "aclnnGRUBackward": {"A3", "A2"},
    "aclnnThnnFusedLstmCell": {"A3", "A2"},
    "aclnnThnnFusedLstmCellBackward": {"A3", "A2"},
    "aclnnBidirectionLSTM": {"310P"},
    "aclnnBidirectionLSTMV2": {"310P"},
}


@pytest.mark.parametrize(("operator", "products"), PRODUCTS.items())
def test_products(operator: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(call(operator), chip) == products
