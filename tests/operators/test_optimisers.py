"""Optimisers: steps of training against the same steps in float64, and what their arguments can be wrong in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from acl_emu import ACLNN_ERR_INNER_TILING_ERROR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.operators.accuracy import FLOAT, FLOAT16, FLOATS, assert_equal, assert_meets_standard
from tests.operators.case import Array, Case, Meta
from tests.operators.products import products_of

NEWEST, USUAL = "Ascend950PR_9589", "Ascend910B1"
LR, BETA1, BETA2, DECAY, EPS = 0.01, 0.9, 0.99, 0.1, 1e-3


def drawn(dtype: Any, seed: int, shape: tuple[int, ...] = (4, 5), low: float = -2, high: float = 2) -> Array:
    return np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)


def start(dtype: Any) -> tuple[Array, Array, Array, Array]:
    """Weights, both averages, the largest ones."""
    return drawn(dtype, 1), drawn(dtype, 2), drawn(dtype, 3, low=0.1), drawn(dtype, 4, low=0.1)


class Adam:
    """The textbook, in float64."""

    def __init__(self, state: tuple[Array, ...]) -> None:
        self.w, self.m, self.v, self.top = (np.asarray(one, np.float64) for one in state)

    def step(self, grad: Any, t: float, *, amsgrad: bool = False, decay: float = DECAY, eps: float = EPS, lr: float = LR) -> None:
        self.m = BETA1 * self.m + (1 - BETA1) * grad
        self.v = BETA2 * self.v + (1 - BETA2) * grad**2
        self.top = np.maximum(self.top, self.v) if amsgrad else self.top
        used = self.top if amsgrad else self.v
        step = lr * (self.m / (1 - BETA1**t)) / (np.sqrt(used / (1 - BETA2**t)) + eps)
        self.w = self.w - step - lr * decay * self.w


def adamw_v2(state: tuple[Array, ...], grad: Any, step: Any, amsgrad: bool, maximize: bool) -> Case:
    settings = {"lr": LR, "beta1": BETA1, "beta2": BETA2, "weightDecay": DECAY, "eps": EPS, "amsgrad": amsgrad, "maximize": maximize}
    refs = dict(zip(("varRef", "mRef", "vRef", "maxGradNormOptionalRef"), state, strict=True))
    return Case("aclnnApplyAdamWV2", {**refs, "grad": grad, "step": step, **settings})


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("maximize", [False, True])
def test_adamw_v2(dtype: Any, amsgrad: bool, maximize: bool, device: int) -> None:
    state: tuple[Any, ...] = start(dtype)
    for t in (1, 2, 3):
        exact = Adam(state)
        grad = drawn(dtype, 10 + t)
        step = np.array([t], np.int64 if t == 2 else np.float32)
        results = adamw_v2(state if amsgrad else (*state[:3], None), grad, step, amsgrad, maximize).results(t)
        exact.step((-1 if maximize else 1) * grad.astype(np.float64), t, amsgrad=amsgrad)
        for result, wanted in zip(results, (exact.w, exact.m, exact.v, exact.top), strict=False):
            assert_meets_standard(result, wanted)
        state = (*results, state[3])[:4]


def test_adamw_v2_takes_a_narrower_gradient(device: int) -> None:
    state, grad = start(np.float32), drawn(np.float16, 9)
    exact = Adam(state)
    exact.step(grad.astype(np.float64), 7)
    results = adamw_v2((*state[:3], None), grad, np.array([7]), False, False).results()
    assert_meets_standard(results[0], exact.w)


def adamw(state: tuple[Array, ...], grad: Any, t: int, amsgrad: bool, maximize: bool) -> Case:
    dtype = state[0].dtype
    values = {
        "beta1Power": BETA1 ** (t - 1),
        "beta2Power": BETA2 ** (t - 1),
        "lr": LR,
        "weightDecay": DECAY,
        "beta1": BETA1,
        "beta2": BETA2,
        "eps": EPS,
    }
    settings = {name: np.array([value]).astype(dtype) for name, value in values.items()}
    refs = dict(zip(("varRef", "mRef", "vRef"), state, strict=False))
    top = state[3] if amsgrad else None
    return Case("aclnnApplyAdamW", {**refs, **settings, "grad": grad, "maxGradNormOptional": top, "amsgrad": amsgrad, "maximize": maximize})


@pytest.mark.parametrize("amsgrad", [False, True])
def test_adamw(amsgrad: bool, device: int, chip) -> None:
    chip(NEWEST)
    state, grad = start(np.float32), drawn(np.float32, 9)
    for t in (1, 5):
        exact = Adam(state)
        exact.step(-grad.astype(np.float64), t, amsgrad=amsgrad)
        results = adamw(state, grad, t, amsgrad, True).results(t)
        for result, wanted in zip(results, (exact.w, exact.m, exact.top if amsgrad else exact.v), strict=True):
            assert_meets_standard(result, wanted)


def test_half_types_of_adamw(device: int, chip) -> None:
    chip(NEWEST)
    for dtype in FLOATS[1:]:
        state, grad = start(dtype), drawn(dtype, 9)
        case = adamw(state, grad, 2, False, False)
        b1, b2, lr, decay, eps = (float(case.arguments[name][0]) for name in ("beta1", "beta2", "lr", "weightDecay", "eps"))
        p1, p2 = (float(case.arguments[f"beta{i}Power"][0]) for i in (1, 2))
        w, m, v, g = (np.asarray(one, np.float64) for one in (*state[:3], grad))
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        w = w - lr * (m / (1 - p1 * b1)) / (np.sqrt(v / (1 - p2 * b2)) + eps) - lr * decay * w
        for result, wanted in zip(case.results(), (w, m, v), strict=True):
            assert_meets_standard(result, wanted)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("nesterov", [False, True])
def test_adam(dtype: Any, nesterov: bool, device: int, chip) -> None:
    chip(NEWEST)
    w, m, v, _ = start(dtype)
    g = drawn(dtype, 9)
    values = {"beta1Power": BETA1**3, "beta2Power": BETA2**3, "lr": LR, "beta1": BETA1, "beta2": BETA2, "epsilon": EPS}
    settings = {name: np.array([value], np.float32) for name, value in values.items()}
    case = Case("aclnnApplyAdam", {"varRef": w, "m": m, "v": v, **settings, "grad": g, "useLocking": False, "useNesterov": nesterov})
    w, m, v, g = (np.asarray(one, np.float64) for one in (w, m, v, g))
    m, v = BETA1 * m + (1 - BETA1) * g, BETA2 * v + (1 - BETA2) * g * g
    ahead = BETA1 * m + (1 - BETA1) * g if nesterov else m
    wanted = w - LR * np.sqrt(1 - BETA2**3) / (1 - BETA1**3) * ahead / (np.sqrt(v) + EPS)
    assert_meets_standard(case.run(3), wanted)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("mode", "corrected"), [(0, True), (1, True), (1, False)])
def test_ema_adam(dtype: Any, mode: int, corrected: bool, device: int) -> None:
    w, m, v, s = start(dtype)
    g = drawn(dtype, 9)
    settings = {"lr": LR, "emaDecay": 0.3, "beta1": BETA1, "beta2": BETA2, "eps": EPS, "mode": mode, "biasCorrection": corrected}
    refs = {"grad": g, "varRef": w, "mRef": m, "vRef": v, "sRef": s, "step": np.array([4])}
    results = Case("aclnnApplyFusedEmaAdam", {**refs, **settings, "weightDecay": DECAY}).results(2)
    w, m, v, s, g = (np.asarray(one, np.float64) for one in (w, m, v, s, g))
    g = g if mode else g + DECAY * w
    m, v = BETA1 * m + (1 - BETA1) * g, BETA2 * v + (1 - BETA2) * g * g
    c1, c2 = (1 - BETA1**4, 1 - BETA2**4) if corrected else (1, 1)
    update = m / c1 / (np.sqrt(v / c2) + EPS) + (DECAY * w if mode else 0)
    w = w - LR * update
    for result, wanted in zip(results, (w, m, v, 0.3 * s + 0.7 * w), strict=True):
        assert_meets_standard(result, wanted)


def test_quantised_adamw(device: int) -> None:
    """Averages that the tables hold exactly come back as the entries nearest to the new ones."""
    rng = np.random.default_rng(5)
    shape, block = (2, 300), 256
    w, g = drawn(np.float32, 1, shape), drawn(np.float32, 2, shape)
    m, v = rng.integers(0, 256, shape, np.uint8), rng.integers(0, 256, shape, np.uint8)
    tables = np.linspace(-1, 1, 256, dtype=np.float32), np.linspace(0, 1, 256, dtype=np.float32)
    tops = np.array([5, 2, 1], np.float32), np.array([3, 4, 2], np.float32)
    settings = {"lr": LR, "beta1": BETA1, "beta2": BETA2, "weightDecay": DECAY, "eps": EPS, "gnormScale": 0.5}
    names = ("varRef", "grad", "mRef", "vRef", "qmapM", "qmapV", "absmaxMRef", "absmaxVRef")
    arrays = dict(zip(names, (w, g, m, v, *tables, *tops), strict=True))
    case = Case("aclnnApplyAdamWQuant", {**arrays, "step": np.array([3]), **settings, "quantModeOptional": None, "blockSize": block})
    blocks = (np.arange(600) // block).reshape(shape)
    exact = Adam((w, tables[0][m].astype(np.float64) * tops[0][blocks], tables[1][v].astype(np.float64) * tops[1][blocks], w))
    exact.step(0.5 * g.astype(np.float64), 3)
    weights, codes_m, codes_v, top_m, top_v = case.results(1)
    assert_meets_standard(weights, exact.w)
    for codes, top, table, average in ((codes_m, top_m, tables[0], exact.m), (codes_v, top_v, tables[1], exact.v)):
        wanted = [np.abs(average.ravel()[first : first + block]).max() for first in range(0, 600, block)]
        np.testing.assert_allclose(top, wanted, rtol=1e-6)
        error = np.abs(table[codes] * top[blocks] - average)
        assert (error <= (table[1] - table[0]) / 2 * top[blocks] * 1.001).all()


def sgd(params: Any, grads: Any, buffers: Any, scale: Any = None, **changes: Any) -> Case:
    values = {"weightDecay": DECAY, "momentum": 0.8, "lr": LR, "dampening": 0.25}
    modes = {"nesterov": False, "maximize": False, "isFirstStep": False}
    lists = {"paramsRef": params, "gradsRef": grads, "momentumBufferListOptionalRef": buffers, "gradScaleOptional": scale}
    return Case("aclnnFusedSgd", {**lists, **values, **modes, **changes})


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("buffered", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_sgd(dtype: Any, nesterov: bool, buffered: bool, scaled: bool, device: int) -> None:
    shapes = ((2, 3), (5,))
    params = [drawn(dtype, 1, shape) for shape in shapes]
    buffers = [drawn(dtype, 2, shape) for shape in shapes]
    for step in (0, 1):
        grads = [drawn(dtype, 5 + step, shape) for shape in shapes]
        scale = np.array([4]).astype(dtype) if scaled else None
        modes = {"nesterov": nesterov, "maximize": step == 1, "isFirstStep": step == 0}
        results = sgd(params, grads, buffers if buffered else None, scale, **modes).results(step)
        for index in range(2):
            w, g, b = (np.asarray(one[index], np.float64) for one in (params, grads, buffers))
            unscaled = g / 4 if scaled else g
            slope = (-unscaled if step else unscaled) + DECAY * w
            b = slope if step == 0 else 0.8 * b + 0.75 * slope
            final = slope if not buffered else slope + 0.8 * b if nesterov else b
            assert_meets_standard(results[index], w - LR * final)
            assert_meets_standard(results[2 + index], unscaled)
            if buffered:
                assert_meets_standard(results[4 + index], b)
        params, buffers = list(results[:2]), list(results[4:]) if buffered else buffers


def adamw_of_lists(dtype: Any, amsgrad: bool, scale: Any, found: Any, **changes: Any) -> Case:
    shapes = ((2, 3), (5,))
    lists = [[drawn(dtype, seed, shape, low) for shape in shapes] for seed, low in ((1, -2), (2, -2), (3, -2), (4, 0.1), (5, 0.1))]
    names = ("paramsRef", "grads", "expAvgsRef", "expAvgSqsRef", "maxExpAvgSqsRef")
    arguments = dict(zip(names, lists, strict=True))
    arguments["maxExpAvgSqsRef"] = lists[4] if amsgrad else None
    settings = {"lr": LR, "beta1": BETA1, "beta2": BETA2, "weightDecay": DECAY, "eps": EPS, "amsgrad": amsgrad, "maximize": False}
    steps = {"stateSteps": [np.array([3]), np.array([4])], "gradScaleOptional": scale, "foundInfOptional": found}
    return Case("aclnnFusedAdamw", {**arguments, **steps, **settings, **changes})


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("amsgrad", [False, True])
def test_adamw_of_lists(dtype: Any, amsgrad: bool, device: int) -> None:
    case = adamw_of_lists(dtype, amsgrad, np.array([2], np.float32), np.array([0], np.float32))
    results = case.results(1)
    for index in range(2):
        state = [case.arguments[name][index] for name in ("paramsRef", "expAvgsRef", "expAvgSqsRef")]
        top = case.arguments["maxExpAvgSqsRef"][index] if amsgrad else state[2]
        exact = Adam((*state, top))
        exact.step(case.arguments["grads"][index].astype(np.float64) / 2, 3 + index, amsgrad=amsgrad)
        for place, wanted in enumerate((exact.w, exact.m, exact.v, exact.top)[: 3 + amsgrad]):
            assert_meets_standard(results[2 * place + index], wanted)


def test_nothing_changes_where_something_was_infinite(device: int) -> None:
    case = adamw_of_lists(np.float32, False, None, np.array([1], np.float32))
    before = [one for name in ("paramsRef", "expAvgsRef", "expAvgSqsRef") for one in case.arguments[name]]
    for result, old in zip(case.results(), before, strict=True):
        assert_equal(result, old)


def advance(**changes: Any) -> Case:
    arguments = {
        "inputTokens": np.arange(5),
        "sampledTokenIds": np.array([[11], [12], [13]]),
        "inputPositions": np.zeros(5, np.int64),
        "seqLens": np.array([1, 2, 5, 7, 9]),
        "slotMapping": np.full(5, -1),
        "blockTables": 10 * np.arange(20).reshape(5, 4),
        "numSeqs": 5,
        "numQueries": 3,
        "blockSize": 2,
    }
    return Case("aclnnAdvanceStep", {**arguments, **changes})


def test_advance_step(device: int) -> None:
    tokens, positions, lengths, slots = advance().results(1)
    assert tokens.tolist() == [11, 12, 13, 3, 4]
    assert positions.tolist() == [1, 2, 5, 0, 0]
    assert lengths.tolist() == [2, 3, 6, 7, 9]
    assert slots.tolist() == [1, 100, 201, -1, -1]  # blocks 0, 5 and 10 of the flat table, times 2


def test_advance_step_as_the_document_calls_it(device: int) -> None:
    eight = np.arange(8).reshape(8, 1)
    names = ("inputTokens", "inputPositions", "seqLens", "slotMapping", "blockTables")
    case = advance(**dict.fromkeys(names, eight), sampledTokenIds=np.arange(4).reshape(4, 1), numSeqs=8, numQueries=4)
    tokens, positions, lengths, slots = case.results()
    assert positions.ravel().tolist() == list(range(8))
    assert lengths.ravel().tolist() == [1, 2, 3, 4, 4, 5, 6, 7]
    assert tokens.ravel().tolist() == list(range(8))
    assert slots.ravel().tolist() == [0, 3, 6, 9, 4, 5, 6, 7]


@pytest.mark.parametrize("length", [-1, 1000])
def test_advance_step_without_a_block(length: int, device: int) -> None:
    assert advance(seqLens=np.array([1, length, 5, 7, 9])).refused() == acl.ACL_ERROR_RT_AICORE_EXCEPTION


def amp(scale: float, tracker: int, found: float, dtype: Any = FLOAT, **changes: Any) -> Case:
    arguments = {
        "currentScale": np.array([scale]).astype(dtype),
        "growthTracker": np.array([tracker], np.int32),
        "foundInf": np.array([found]).astype(dtype),
        "growthFactor": 2.0,
        "backoffFactor": 0.5,
        "growthInterval": 4,
        "updatedScale": np.zeros(1, dtype),
        "updatedGrowthTracker": np.zeros(1, np.int32),
    }
    return Case("aclnnAmpUpdateScale", {**arguments, **changes})


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_amp_update_scale(dtype: Any, device: int) -> None:
    for given, wanted in (
        ((1024, 2, 0), (1024, 3)),
        ((1024, 3, 0), (2048, 0)),
        ((1024, 4, 0), (1024, 5)),
        ((1024, 3, 1), (512, 0)),
        ((1024, 0, np.nan), (512, 0)),
    ):
        scale, tracker = amp(*given, dtype).results()
        assert (float(scale[0]), int(tracker[0])) == wanted, given


def test_a_scale_never_becomes_infinite(device: int) -> None:
    scale, tracker = amp(40000, 3, 0, FLOAT16).results()
    assert (float(scale[0]), int(tracker[0])) == (40000, 0)


NULL, INVALID, LATE = ACLNN_ERR_PARAM_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_INNER_TILING_ERROR
WRONG = np.zeros((2, 2), np.float32)
ERRORS: list[tuple[str, str, dict[str, Any], int]] = [
    ("aclnnApplyAdamWV2", USUAL, {"maxGradNormOptionalRef": None}, NULL),
    ("aclnnApplyAdamWV2", USUAL, {"maxGradNormOptionalRef": WRONG}, INVALID),
    ("aclnnApplyAdamWV2", USUAL, {"grad": WRONG}, INVALID),
    ("aclnnApplyAdamWV2", USUAL, {"mRef": WRONG}, INVALID),
    ("aclnnApplyAdamWV2", USUAL, {"step": np.array([1, 2])}, INVALID),
    ("aclnnApplyAdamW", NEWEST, {"maxGradNormOptional": None}, NULL),
    ("aclnnApplyAdamW", NEWEST, {"maxGradNormOptional": WRONG}, INVALID),
    ("aclnnApplyAdamW", NEWEST, {"lr": np.zeros(2, np.float32)}, INVALID),
    ("aclnnApplyAdamW", NEWEST, {"lr": np.zeros(1, np.float16)}, INVALID),
    ("aclnnApplyAdamW", NEWEST, {"vRef": WRONG}, INVALID),
    ("aclnnApplyAdam", NEWEST, {"epsilon": np.zeros(2, np.float32)}, INVALID),
    ("aclnnApplyAdam", NEWEST, {"grad": WRONG}, INVALID),
    ("aclnnApplyAdam", NEWEST, {"grad": Meta((3, 5), FLOAT16)}, INVALID),
    ("aclnnApplyFusedEmaAdam", USUAL, {"mode": 2}, INVALID),
    ("aclnnApplyFusedEmaAdam", USUAL, {"sRef": WRONG}, INVALID),
    ("aclnnApplyFusedEmaAdam", USUAL, {"sRef": Meta((3, 5), FLOAT16)}, INVALID),
    ("aclnnApplyFusedEmaAdam", USUAL, {"step": np.array([1, 2])}, INVALID),
    ("aclnnApplyAdamWQuant", USUAL, {"blockSize": 0}, INVALID),
    ("aclnnApplyAdamWQuant", USUAL, {"qmapM": np.zeros(255, np.float32)}, INVALID),
    ("aclnnApplyAdamWQuant", USUAL, {"absmaxVRef": np.zeros(3, np.float32)}, INVALID),
    ("aclnnApplyAdamWQuant", USUAL, {"vRef": np.zeros(3, np.uint8)}, INVALID),
    ("aclnnFusedSgd", USUAL, {"lr": -1.0}, INVALID),
    ("aclnnFusedSgd", USUAL, {"momentum": -1.0}, INVALID),
    ("aclnnFusedSgd", USUAL, {"weightDecay": np.nan}, INVALID),
    ("aclnnFusedSgd", USUAL, {"dampening": -0.1}, INVALID),
    ("aclnnFusedSgd", USUAL, {"gradsRef": [WRONG]}, INVALID),
    ("aclnnFusedSgd", USUAL, {"gradsRef": [WRONG, WRONG]}, INVALID),
    ("aclnnFusedSgd", USUAL, {"gradsRef": [WRONG, None]}, INVALID),
    ("aclnnFusedSgd", USUAL, {"gradsRef": None}, NULL),
    ("aclnnFusedSgd", USUAL, {"momentumBufferListOptionalRef": [WRONG]}, INVALID),
    ("aclnnFusedSgd", USUAL, {"gradScaleOptional": np.zeros(2, np.float32)}, INVALID),
    ("aclnnFusedAdamw", USUAL, {"maxExpAvgSqsRef": None}, NULL),
    ("aclnnFusedAdamw", USUAL, {"maxExpAvgSqsRef": []}, INVALID),
    ("aclnnFusedAdamw", USUAL, {"grads": [WRONG, WRONG]}, INVALID),
    ("aclnnFusedAdamw", USUAL, {"grads": [Meta((3, 4), FLOAT16), Meta((2, 1, 5), FLOAT16)]}, INVALID),
    ("aclnnFusedAdamw", USUAL, {"stateSteps": [np.array([1])]}, INVALID),
    ("aclnnFusedAdamw", USUAL, {"stateSteps": [np.array([1]), np.zeros(0)]}, INVALID),
    ("aclnnAdvanceStep", USUAL, {"numSeqs": 4}, LATE),
    ("aclnnAdvanceStep", USUAL, {"numQueries": 2}, LATE),
    ("aclnnAdvanceStep", USUAL, {"sampledTokenIds": np.zeros((3, 2), np.int64)}, LATE),
    ("aclnnAdvanceStep", USUAL, {"sampledTokenIds": np.zeros((5, 1), np.int64), "numQueries": 5}, LATE),
    ("aclnnAdvanceStep", USUAL, {"seqLens": np.zeros(4, np.int64)}, LATE),
    ("aclnnAdvanceStep", USUAL, {"blockSize": 0}, LATE),
    ("aclnnAmpUpdateScale", USUAL, {"growthInterval": 0}, LATE),
    ("aclnnAmpUpdateScale", USUAL, {"growthInterval": 2**31}, LATE),
    ("aclnnAmpUpdateScale", USUAL, {"foundInf": np.zeros(2, np.float32)}, LATE),
    ("aclnnAmpUpdateScale", USUAL, {"foundInf": np.zeros(1, np.float16)}, INVALID),
    ("aclnnAmpUpdateScale", USUAL, {"updatedScale": np.zeros(1, np.float16)}, INVALID),
]


@pytest.mark.parametrize(("name", "soc", "changes", "status"), ERRORS, ids=lambda value: value if isinstance(value, str) else None)
def test_errors(name: str, soc: str, changes: dict[str, Any], status: int, chip) -> None:
    chip(soc)
    case = Case(name, next(aclnnop.find(name).examples()))
    assert case.status() == 0
    assert case.but(**changes).status() == status


def test_products(chip) -> None:
    newer = {"950", "A3", "A2"}
    assert products_of(amp(1, 1, 0, FLOAT16), chip) == newer
    assert products_of(advance(), chip) == newer
    half = {name: Meta((3, 5), FLOAT16) for name in ("varRef", "mRef", "vRef", "grad", "maxGradNormOptionalRef")}
    assert products_of(Case("aclnnApplyAdamWV2", next(aclnnop.find("aclnnApplyAdamWV2").examples())).but(**half), chip) == newer
