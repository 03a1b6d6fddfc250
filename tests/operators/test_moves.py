"""Operators that create, cut, join, pad and move elements: bit by bit against numpy, and what their arguments can be wrong in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import acl_emu as acl
import aclnnop
from acl_emu import ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_INNER_TILING_ERROR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import layouts, shapes
from tests.operators.products import products_of

NEWEST, USUAL = "Ascend950PR_9589", "Ascend910B1"
SOME = [*FLOATS, *map(np.dtype, "bqB?")]
FAULT = acl.ACL_ERROR_RT_AICORE_EXCEPTION


def filled(shape: tuple[int, ...], dtype: Any) -> Array:
    """Different numbers, as far as the type has them."""
    return np.arange(1, 1 + math.prod(shape)).reshape(shape).astype(dtype)


def blank(array: Array) -> Array:
    """An output for it, with other numbers in it."""
    return np.full(array.shape, 77).astype(array.dtype)


def same(case: Case, wanted: Any, layout: int) -> None:
    """The output, bit by bit."""
    wanted = np.asarray(wanted)
    result = case.run(layout)
    assert result.shape == wanted.shape
    assert result.tobytes() == wanted.astype(result.dtype).tobytes()


# One drawn call for each operator: the arguments but the last, and the result.
Drawn = tuple[dict[str, Any], Array]
DRAWN: dict[str, Callable[[Callable[..., Any], Any], Drawn]] = {}


def drawn(name: str) -> Callable[[Callable[[Callable[..., Any], Any], Drawn]], None]:
    def take(make: Callable[[Callable[..., Any], Any], Drawn]) -> None:
        DRAWN[name] = make

    return take


def shape_of(draw: Callable[..., Any], least_dims: int = 1, least: int = 0, most_dims: int = 4) -> tuple[int, ...]:
    return tuple(draw(shapes(most_dims, 4, least_dims, least)))


@drawn("aclnnPermute")
def permute(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x = filled(shape_of(draw, 0), dtype)
    axes = draw(st.permutations(range(x.ndim)))
    return {"self": x, "dims": [axis - x.ndim * draw(st.booleans()) for axis in axes]}, x.transpose(axes)


@drawn("aclnnSlice")
def one_slice(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x = filled(shape_of(draw), dtype)
    dim = draw(st.integers(-x.ndim, x.ndim - 1))
    start, end, step = (draw(st.integers(low, 9)) for low in (-9, -9, 1))
    cut = (slice(None),) * (dim % x.ndim) + (slice(start, end, step),)
    return {"self": x, "dim": dim, "start": start, "end": end, "step": step}, x[cut]


@drawn("aclnnSliceV2")
def slices(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x = filled(shape_of(draw, 2), dtype)
    cuts = [[draw(st.integers(low, 6)) for low in (-6, -6, 1)] for _ in range(2)]
    key = (slice(*cuts[1]), slice(*cuts[0]))
    starts, ends, steps = zip(*cuts, strict=True)
    return {"self": x, "starts": starts, "ends": ends, "axes": [1, -x.ndim], "steps": steps}, x[key]


@drawn("aclnnExpand")
def expand(draw: Callable[..., Any], dtype: Any) -> Drawn:
    shape = shape_of(draw, 0, most_dims=3)
    x = filled(tuple(1 if draw(st.booleans()) else length for length in shape), dtype)
    size = [-1 if own == length and draw(st.booleans()) else length for own, length in zip(x.shape, shape, strict=True)]
    added = draw(st.integers(0, 2))
    return {"self": x, "size": [2] * added + size}, np.broadcast_to(x, (2,) * added + shape)


@drawn("aclnnRepeat")
def repeat(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x = filled(shape_of(draw, 0, most_dims=3), dtype)
    times = [draw(st.integers(0, 3)) for _ in range(x.ndim + draw(st.integers(0, 2)))]
    assume(0 in times or sum(count > 1 for count in times) <= 3)
    return {"self": x, "repeats": times}, np.tile(x, times) if times else x


@drawn("aclnnRoll")
def roll(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x = filled(shape_of(draw), dtype)
    if draw(st.booleans()):
        shift = draw(st.integers(-30, 30))
        return {"x": x, "shifts": [shift], "dims": draw(st.sampled_from([[], None]))}, np.roll(x, shift)
    axes = draw(st.lists(st.integers(-x.ndim, x.ndim - 1), min_size=1, max_size=3))
    shifts = [draw(st.integers(-9, 9)) for _ in axes]
    return {"x": x, "shifts": shifts, "dims": axes}, np.roll(x, shifts, axes)


@drawn("aclnnTril")
def tril(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x = filled(shape_of(draw, 2), dtype)
    diagonal = draw(st.sampled_from([0, 1, -1, 3, -3, 2**62, -(2**62)]))
    return {"self": x, "diagonal": diagonal}, np.tril(x, max(-9, min(9, diagonal)))


@drawn("aclnnTriu")
def triu(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x = filled(shape_of(draw, 2), dtype)
    diagonal = draw(st.integers(-5, 5))
    return {"self": x, "diagonal": diagonal}, np.triu(x, diagonal)


@drawn("aclnnConstantPadNd")
def constant_pad(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x = filled(shape_of(draw, 1, 1), dtype)
    pairs = [[draw(st.integers(-((length - 1) // 2), 3)) for _ in range(2)] for length in x.shape[::-1][: draw(st.integers(0, x.ndim))]]
    full = np.pad(x, [(0, 0)] * (x.ndim - len(pairs)) + [(max(a, 0), max(b, 0)) for a, b in pairs[::-1]], constant_values=1)
    cut = [slice(None)] * (x.ndim - len(pairs)) + [
        slice(max(-a, 0), n + max(a, 0) + b if b < 0 else None)
        for (a, b), n in zip(pairs[::-1], x.shape[x.ndim - len(pairs) :], strict=True)
    ]
    return {"self": x, "pad": [one for pair in pairs for one in pair], "value": 1}, full[tuple(cut)]


@drawn("aclnnFlatten")
def flatten(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x = filled(shape_of(draw, 1, 1), dtype)
    axis = draw(st.integers(-x.ndim, x.ndim - 1))
    rows = math.prod(x.shape[: axis % x.ndim])
    return {"self": x, "axis": axis}, x.reshape(rows, -1)


@drawn("aclnnDiag")
def diag(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x = filled(shape_of(draw, 1, 1, 2), dtype)
    diagonal = draw(st.integers(-4, 4)) if x.ndim == 1 else draw(st.integers(-x.shape[0], x.shape[1]))
    return {"self": x, "diagonal": diagonal}, np.diag(x, diagonal)


@drawn("aclnnDiagFlat")
def diag_flat(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x = filled(shape_of(draw, 1, 1, 3), dtype)
    diagonal = draw(st.integers(-4, 4))
    return {"self": x, "diagonal": diagonal}, np.diagflat(x, diagonal)


@drawn("aclnnChannelShuffle")
def channel_shuffle(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x = filled((draw(st.integers(0, 3)), 6, *shape_of(draw, 1, 0, 3)), dtype)
    groups = draw(st.sampled_from([1, 2, 3, 6]))
    rows = x.reshape(x.shape[0], groups, 6 // groups, *x.shape[2:])
    return {"self": x, "groups": groups}, rows.swapaxes(1, 2).reshape(x.shape)


@drawn("aclnnRepeatInterleaveInt")
def interleave(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x, times = filled(shape_of(draw, 0), dtype), draw(st.integers(0, 3))
    wanted = np.repeat(x, times)
    return {"self": x, "repeats": times, "outputSize": wanted.size}, wanted


@drawn("aclnnRepeatInterleaveIntWithDim")
def interleave_slices(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x, times = filled(shape_of(draw), dtype), draw(st.integers(0, 3))
    dim = draw(st.integers(-x.ndim, x.ndim - 1))
    wanted = np.repeat(x, times, dim)
    return {"self": x, "repeats": times, "dim": dim, "outputSize": wanted.shape[dim]}, wanted


@drawn("aclnnRepeatInterleave")
def interleave_by(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x = filled(shape_of(draw, 0, 1), dtype)
    counts = np.array([draw(st.integers(0, 3)) for _ in range(x.size if draw(st.booleans()) else 1)], draw(st.sampled_from("iq")))
    wanted = np.repeat(x, counts)
    return {"self": x, "repeats": counts, "outputSize": wanted.size}, wanted


@drawn("aclnnRepeatInterleaveWithDim")
def interleave_slices_by(draw: Callable[..., Any], dtype: Any) -> Drawn:
    x = filled(shape_of(draw, 1, 1), dtype)
    dim = draw(st.integers(-x.ndim, x.ndim - 1))
    counts = np.array([draw(st.integers(0, 3)) for _ in range(x.shape[dim])])
    wanted = np.repeat(x, counts, dim)
    return {"self": x, "repeats": counts, "dim": dim, "outputSize": wanted.shape[dim]}, wanted


@drawn("aclnnCat")
def cat(draw: Callable[..., Any], dtype: Any) -> Drawn:
    shape = list(shape_of(draw, 1))
    dim = draw(st.integers(-len(shape), len(shape) - 1))
    members = []
    for _ in range(draw(st.integers(1, 4))):
        shape[dim] = draw(st.integers(0, 3))
        members.append(filled(tuple(shape), dtype))
    joined = np.concatenate(members, dim)
    extra = [np.zeros(0, dtype)] if draw(st.booleans()) and len(shape) > 1 else []
    return {"tensors": members + extra, "dim": dim}, joined


@pytest.mark.parametrize("name", DRAWN)
@given(data=st.data())
def test_values(name: str, device: int, data: st.DataObject) -> None:
    declared = aclnnop.find(name)
    out = declared.parameters[-1]
    types = [dtype for dtype in SOME if any(dtype.name == allowed.numpy_name.rpartition(".")[2] for allowed in out.kind.allowed)]
    arguments, wanted = DRAWN[name](data.draw, data.draw(st.sampled_from(types)))
    same(Case(name, {**arguments, out.name: blank(wanted)}), wanted, data.draw(layouts))


@pytest.mark.parametrize("name", ["aclnnInplaceTril", "aclnnInplaceTriu"])
def test_triangles_in_place(name: str, device: int) -> None:
    x = filled((2, 3, 4), np.float32)
    same(Case(name, {"selfRef": x, "diagonal": 1}), (np.tril if "Tril" in name else np.triu)(x, 1), 3)


def test_parts(device: int) -> None:
    x = filled((3, 7), np.float16)
    for name, how, sizes in (
        ("aclnnSplitTensor", {"splitSections": 3}, (3, 3, 1)),
        ("aclnnSplitWithSize", {"splitSize": [1, 0, 6]}, (1, 0, 6)),
    ):
        out = [np.zeros((3, size), np.float16) for size in sizes]
        results = Case(name, {"self": x, **how, "dim": -1, "out": out}).results(2)
        wanted = np.split(x, np.cumsum(sizes)[:-1], -1)
        assert [one.tobytes() for one in results] == [one.tobytes() for one in wanted], name


def test_cat_promotes(device: int) -> None:
    members = [np.array([2049, 3], np.int32), np.array([0.5], np.float16)]
    assert Case("aclnnCat", {"tensors": members, "dim": 0, "out": np.zeros(3, np.float32)}).run().tolist() == [2048, 3, 0.5]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("aclnnCat", lambda x: {"tensors": [x, x], "dim": 0, "out": np.zeros((4, 3), x.dtype)}),
        ("aclnnPermute", lambda x: {"self": x, "dims": [1, 0], "out": np.zeros((3, 2), x.dtype)}),
        ("aclnnRepeat", lambda x: {"self": x, "repeats": [2, 1], "out": np.zeros((4, 3), x.dtype)}),
    ],
)
def test_bytes_of_narrow_types(name: str, arguments: Any, device: int, chip) -> None:
    chip(NEWEST)
    x = np.arange(6, dtype=np.uint8).reshape(2, 3).view(ml_dtypes.float8_e5m2)
    plain = x.view(np.uint8)
    wanted = plain.T if name == "aclnnPermute" else np.concatenate([plain, plain])
    assert Case(name, arguments(x)).run(1).tobytes() == np.ascontiguousarray(wanted).tobytes()


def test_constant_borders_of_narrow_types(device: int, chip) -> None:
    chip(NEWEST)
    for name, value, bits in (("float8_e5m2", 1.5, 0x3E), ("float8_e4m3fn", -2, 0xC0), ("float8_e8m0fnu", 0.0, 0)):
        x = np.arange(6, dtype=np.uint8).reshape(2, 3).view(getattr(ml_dtypes, name))
        case = Case("aclnnConstantPadNd", {"self": x, "pad": [1, 0, 0, 2], "value": value, "out": np.zeros((4, 4), x.dtype)})
        assert case.run(1).view(np.uint8).tolist() == np.pad(x.view(np.uint8), [(0, 2), (1, 0)], constant_values=bits).tolist()
        assert case.but(pad=[1, -1, 0, 0], out=np.zeros((2, 3), x.dtype)).status() == ACLNN_ERR_PARAM_INVALID
        assert case.but(value=np.complex64(1)).status() == ACLNN_ERR_PARAM_INVALID
    x = Meta((2, 3), acl.ACL_HIFLOAT8)
    good = Case("aclnnConstantPadNd", {"self": x, "pad": [1, 0], "value": 1.0, "out": Meta((2, 4), acl.ACL_HIFLOAT8)})
    assert good.status() == 0
    chip(USUAL)
    assert good.status() == ACLNN_ERR_PARAM_INVALID


# Pads that take their border from the tensor.
MODES = {"Reflection": "reflect", "Replication": "edge", "Circular": "wrap"}
PADS = [(kind, dims) for kind in MODES for dims in (1, 2, 3) if (kind, dims) != ("Circular", 1)]


def padding(dims: int, seed: int) -> tuple[list[int], tuple[int, ...], list[tuple[int, int]]]:
    rng = np.random.default_rng(seed)
    pads = [(int(rng.integers(0, 3)), int(rng.integers(0, 3))) for _ in range(dims)]
    return [one for pair in pads for one in pair], (2, *(3 + place for place in range(dims))), [(0, 0), *pads[::-1]]


@pytest.mark.parametrize(("kind", "dims"), PADS)
@pytest.mark.parametrize("dtype", [*FLOATS, np.dtype(np.int8)], ids=str)
def test_pads(kind: str, dims: int, dtype: Any, device: int) -> None:
    for seed, batch in ((1, ()), (2, (2,))):
        pad, shape, full = padding(dims, seed)
        x = filled((*batch, *shape), dtype)
        wanted = np.pad(x, [(0, 0)] * len(batch) + full, mode=MODES[kind])
        same(Case(f"aclnn{kind}Pad{dims}d", {"self": x, "padding": pad, "out": blank(wanted)}), wanted, seed)


@pytest.mark.parametrize(("kind", "dims"), PADS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_gradients_of_pads(kind: str, dims: int, dtype: Any, device: int) -> None:
    pad, shape, full = padding(dims, 3)
    places = np.pad(np.arange(math.prod(shape)).reshape(shape), full, mode=MODES[kind])
    grad = numbers(places.shape, dtype, 5)
    wanted = np.zeros(math.prod(shape))
    np.add.at(wanted, places.ravel(), grad.astype(np.float64).ravel())
    x = filled(shape, dtype)
    case = Case(f"aclnn{kind}Pad{dims}dBackward", {"gradOutput": grad, "self": x, "padding": pad, "gradInput": blank(x)})
    assert_accurate(case.run(2), wanted.reshape(shape), largest=1)


@pytest.mark.parametrize(("kind", "dims"), PADS)
def test_errors_of_pads(kind: str, dims: int, chip) -> None:
    chip(USUAL)
    pad, shape, full = padding(dims, 1)
    x = filled(shape, np.float32)
    good = Case(f"aclnn{kind}Pad{dims}d", {"self": x, "padding": pad, "out": np.pad(x, full)})
    wrong: list[dict[str, Any]] = [
        {"padding": pad[:-1]},
        {"padding": [*pad, 1, 1]},
        {"out": np.pad(x, full).astype(np.float16)},
        {"out": Meta((2,) * (dims + 1), FLOAT)},
        {"self": Meta((3,) * dims, FLOAT)},
        {"self": Meta((3,) * (dims + 3), FLOAT)},
        {"self": Meta((2, *(0,) * dims), FLOAT)},
        {"padding": [-9, 0, *pad[2:]]},
        {"padding": [x.shape[-1], 0, *pad[2:]]},
    ]
    assert good.status() == 0
    allowed = (kind, dims) == ("Replication", 3)
    empty = {"self": Meta((0, *shape[1:]), FLOAT), "out": Meta((0, *np.pad(x, full).shape[1:]), FLOAT)}
    assert good.but(**empty).status() == (0 if allowed else ACLNN_ERR_PARAM_INVALID)
    for changes in wrong:
        assert good.but(**changes).status() == ACLNN_ERR_PARAM_INVALID, changes
    back = Case(f"{good.operator}Backward", {"gradOutput": np.pad(x, full), "self": x, "padding": pad, "gradInput": x})
    assert back.status() == 0
    for changes in ({"padding": pad[:-1]}, {"gradOutput": x[:1]}, {"gradInput": x[:1]}, {"gradOutput": np.pad(x, full).astype(np.float16)}):
        assert back.but(**changes).status() == ACLNN_ERR_PARAM_INVALID, changes
    first = {name: Meta((0, *np.shape(back.arguments[name])[1:]), FLOAT) for name in ("gradOutput", "self", "gradInput")}
    allowed = (kind, dims) in (("Circular", 2), ("Replication", 2))
    assert back.but(**first).status() == (0 if allowed else ACLNN_ERR_PARAM_INVALID)
    wide = np.pad(x, [*full[:-1], (x.shape[-1], 0)])
    allowed = (kind, dims) == ("Replication", 1)
    assert back.but(padding=[x.shape[-1], 0, *pad[2:]], gradOutput=wide).status() == (0 if allowed else ACLNN_ERR_PARAM_INVALID)
    for case in (good, back):
        for name in case.arguments:
            assert case.but(**{name: None}).status() == ACLNN_ERR_PARAM_NULLPTR, name


# Series, parts of complex numbers, and operators with rules of their own.


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_series(dtype: Any, device: int) -> None:
    out = np.zeros(7, dtype)
    result = Case("aclnnLinspace", {"start": 0.5, "end": -3, "steps": 7, "out": out}).run(1)
    assert_accurate(result, [0.5 - 3.5 * i / 6 for i in range(7)])
    result = Case("aclnnLogSpace", {"start": -1, "end": 2.0, "steps": 7, "base": 3.0, "result": out}).run()
    assert_accurate(result, [3.0 ** (-1 + i / 2) for i in range(7)])
    result = Case("aclnnRange", {"start": 3.0, "end": 0.0, "step": -0.5, "out": out}).run()
    assert_equal(result, [3, 2.5, 2, 1.5, 1, 0.5, 0])


def test_series_of_integers(device: int) -> None:
    assert Case("aclnnLinspace", {"start": 0, "end": 10, "steps": 4, "out": np.zeros(4, np.int32)}).run().tolist() == [0, 3, 6, 10]
    big = 2**60 + 1
    start, end, step = (np.float32(number) for number in (2.74, 20.43, 0.61))
    for count in (29, 30):  # by double and by single precision
        found = Case("aclnnRange", {"start": start, "end": end, "step": step, "out": np.zeros(count, np.float32)}).run()
        np.testing.assert_allclose(found, float(start) + np.arange(count) * float(step), rtol=1e-7)
    assert Case("aclnnRange", {"start": big, "end": big + 5, "step": 2, "out": np.zeros(3, np.int64)}).run().tolist() == [
        big,
        big + 2,
        big + 4,
    ]
    assert Case("aclnnLinspace", {"start": 2, "end": 9, "steps": 1, "out": np.zeros(1, np.float32)}).run().tolist() == [2]
    assert Case("aclnnLinspace", {"start": 2, "end": 9, "steps": 0, "out": np.zeros(0, np.float32)}).plan() == (0, 0)


def test_eye(device: int) -> None:
    for n, m in ((2, 3), (3, 2), (1, 1)):
        same(Case("aclnnEye", {"n": n, "m": m, "out": np.full((n, m), 7, np.int8)}), np.eye(n, m), 1)


def test_complex_numbers(device: int) -> None:
    real, imag = numbers((3, 1), np.float32, 1), numbers((4,), np.float32, 2)
    whole = Case("aclnnComplex", {"real": real, "imag": imag, "out": np.zeros((3, 4), np.complex64)}).run(1)
    np.testing.assert_array_equal(whole, real + 1j * imag.astype(np.complex64))
    np.testing.assert_array_equal(
        Case("aclnnReal", {"self": whole, "out": np.zeros((3, 4), np.float32)}).run(), np.broadcast_to(real, (3, 4))
    )
    turned = Case("aclnnPolar", {"input": real, "angle": imag[np.newaxis], "out": np.zeros((3, 4), np.complex64)}).run()
    np.testing.assert_allclose(turned, real * np.exp(1j * imag.astype(np.float64)), rtol=2e-7, atol=1e-7)


def test_fills(device: int) -> None:
    x = np.zeros((2, 3), BF16)
    same(Case("aclnnInplaceFillTensor", {"selfRef": x, "value": np.array([2.5]).astype(BF16)}), np.full((2, 3), 2.5), 2)
    for shape, wrap in (((7, 3), True), ((7, 3), False), ((3, 7), True), ((3, 3, 3), False)):
        wanted = filled(shape, np.float32)
        case = Case("aclnnInplaceFillDiagonal", {"selfRef": wanted.copy(), "fillValue": -1, "wrap": wrap})
        np.fill_diagonal(wanted, -1, wrap)
        same(case, wanted, 1)
    for dtype, value, wanted in ((np.int8, -1.75, -1), (np.uint8, -1, 255), (np.int64, 2**63 - 1, 2**63 - 1), (np.float16, np.inf, np.inf)):
        case = Case("aclnnInplaceFillDiagonal", {"selfRef": np.zeros((2, 2), dtype), "fillValue": value, "wrap": False})
        assert case.run().diagonal().tolist() == [wanted] * 2, dtype


def columns(x: Array, size: Any, dilation: Any, pad: Any, stride: Any) -> Iterator[Any]:
    """Every patch of every channel, by loops."""
    full = np.pad(x, [(0, 0), (pad[0], pad[0]), (pad[1], pad[1])])
    spans = [range(0, full.shape[1 + i] - dilation[i] * (size[i] - 1), stride[i]) for i in range(2)]
    for c in range(x.shape[0]):
        for i in range(size[0]):
            for j in range(size[1]):
                yield [full[c, y + i * dilation[0], z + j * dilation[1]] for y in spans[0] for z in spans[1]]


def test_im2col(device: int) -> None:
    x = filled((2, 2, 5, 6), np.float32)
    how = ((2, 3), (2, 1), (1, 0), (1, 2))
    wanted = np.array([list(columns(one, *how)) for one in x])
    names = ("kernelSize", "dilation", "padding", "stride")
    case = Case("aclnnIm2col", {"self": x, **dict(zip(names, map(list, how), strict=True)), "out": blank(wanted.astype(np.float32))})
    same(case, wanted, 2)
    same(case.but(self=x[1], out=blank(wanted[1].astype(np.float32))), wanted[1], 0)


def test_gradients_of_repeats_and_windows(device: int, chip) -> None:
    chip(NEWEST)
    grad, counts = numbers((2, 6), np.float32, 1), np.array([1, 0, 3, 2])
    wanted = np.stack([grad[:, 0], 0 * grad[:, 0], grad[:, 1:4].astype(np.float64).sum(1), grad[:, 4:].astype(np.float64).sum(1)], 1)
    result = Case("aclnnRepeatInterleaveGrad", {"yGrad": grad, "repeats": counts, "axis": -1, "out": np.zeros((2, 4), np.float32)}).run(1)
    assert_accurate(result, wanted, largest=3)
    flat, pairs = np.zeros((2, 3, 2), np.float32), grad.astype(np.float64).reshape(2, 3, 2)  # any shape of as many elements
    for repeats in (np.array([1]), np.array(1, np.int32)):
        assert_accurate(
            Case("aclnnRepeatInterleaveGrad", {"yGrad": grad, "repeats": repeats, "axis": 1, "out": flat}).run(0), pairs, largest=3
        )
    arguments = {"yGrad": grad, "repeats": np.array([2]), "axis": 1, "out": np.zeros(6, np.float32)}
    assert_accurate(Case("aclnnRepeatInterleaveGrad", arguments).run(0), pairs.sum(2).reshape(-1), largest=3)
    grad = numbers((3, 2, 3), np.float32, 2)
    wanted = np.zeros((7, 2))
    for window in range(3):
        for place in range(3):
            wanted[2 * window + place] += grad[window, :, place]
    arguments = {"gradOut": grad, "inputSizes": [7, 2], "dim": 0, "size": 3, "step": 2, "gradIn": np.zeros((7, 2), np.float32)}
    assert_accurate(Case("aclnnUnfoldGrad", arguments).run(1), wanted, largest=3)


def test_chunks(device: int) -> None:
    x, y = filled((4, 2), np.float32), filled((5, 3), np.float32)
    padded = np.pad(y, [(0, 1), (0, 0)])
    wanted = np.concatenate([x.reshape(2, -1), padded.reshape(2, -1)], 1)
    same(Case("aclnnChunkCat", {"tensors": [x, y], "dim": 0, "numChunks": 2, "out": blank(wanted)}), wanted, 1)


def test_shape_and_order(device: int, chip) -> None:
    chip(NEWEST)
    x = filled((2, 3, 4), np.int16)
    how = {"x": x, "shape": [6, 4]}
    wanted = x.transpose(1, 0, 2).reshape(6, 4)
    same(Case("aclnnConfusionTranspose", {**how, "perm": [1, 0, 2], "transposeFirst": True, "out": blank(wanted)}), wanted, 1)
    wanted = x.reshape(6, 4).T
    same(Case("aclnnConfusionTranspose", {**how, "perm": [1, 0], "transposeFirst": False, "out": blank(wanted)}), wanted, 1)


def strided(x: Array, key: Any, out: Any = None, **masks: int) -> Case:
    begin, end, strides = zip(*key, strict=True)
    names = ("beginMask", "endMask", "ellipsisMask", "newAxisMask", "shrinkAxisMask")
    return Case(
        "aclnnStridedSlice", {"self": x, "begin": begin, "end": end, "strides": strides, **dict.fromkeys(names, 0), **masks, "out": out}
    )


def test_strided_slices(device: int, chip) -> None:
    chip(NEWEST)
    x = filled((3, 4, 5), np.float32)
    for case, wanted in (
        (strided(x, [(0, 3, 2), (3, -9, -2)]), x[0:3:2, 3:-9:-2]),
        (strided(x, [(2, 0, 1), (1, 3, 1)], beginMask=1, endMask=1), x[:, 1:3]),
        (strided(x, [(1, 2, 1), (0, 0, 1)], shrinkAxisMask=1, newAxisMask=2), x[1, None]),
        (strided(x, [(0, 0, 1), (-2, 9, 1)], ellipsisMask=1), x[..., -2:9]),
        (strided(x, [(2, 1, 1)]), x[2:1]),
    ):
        same(case.but(out=blank(wanted)), wanted, 2)
    good = strided(x, [(0, 3, 2), (0, 4, 1)], np.zeros((2, 4, 5), np.float32))
    assert good.status() == 0
    for changes in (
        {"strides": [0, 1]},
        {"end": [3]},
        {"ellipsisMask": 3},
        {"begin": [0] * 4, "end": [1] * 4, "strides": [1] * 4},
        {"shrinkAxisMask": 1, "begin": [3, 0]},
        {"shrinkAxisMask": 1, "strides": [-1, 1]},
        {"out": x},
    ):
        assert good.but(**changes).status() == ACLNN_ERR_PARAM_INVALID, changes


def test_slices_that_are_written(device: int) -> None:
    var, value = filled((4, 5), np.float32), filled((2, 3), np.float32) + 100
    how = {"begin": [0, 1], "end": [4, 4], "strides": [2, 1], "axesOptional": None}
    wanted = var.copy()
    wanted[0:4:2, 1:4] = value
    same(Case("aclnnStridedSliceAssignV2", {"varRef": var, "inputValue": value, **how}), wanted, 1)
    how = {"begin": [-2], "end": [9], "strides": [1], "axesOptional": [-1]}
    wanted = var.copy()
    wanted[:, -2:] = 7
    same(Case("aclnnStridedSliceAssignV2", {"varRef": var, "inputValue": np.array([7], np.float32), **how}), wanted, 0)


@pytest.mark.parametrize("counts", [[1, -1, 2], [1, 1, 1]])
def test_counts_that_are_wrong_stop_the_device(counts: list[int], device: int) -> None:
    case = Case("aclnnRepeatInterleaveTensor", {"repeats": np.array(counts), "outputSize": 2, "out": np.zeros(2, np.int64)})
    assert case.refused() == FAULT
    assert case.but(repeats=np.array([0, 2, 0])).run().tolist() == [1, 1]


INVALID, NULL, LATE = ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR, ACLNN_ERR_INNER_TILING_ERROR
F = np.float32
ERRORS: list[tuple[str, dict[str, Any], int, str]] = [
    ("aclnnCat", {"dim": 2}, INVALID, "dim is 2"),
    ("aclnnCat", {"dim": -3}, INVALID, "dim is -3"),
    ("aclnnCat", {"tensors": [np.ones((2, 5), F), np.ones((3, 4), F)]}, INVALID, "tensors[1] has shape"),
    ("aclnnCat", {"tensors": [np.ones((2, 5), F), np.ones((2, 5, 1), F)]}, INVALID, "tensors[1] has 3 dimensions"),
    ("aclnnCat", {"tensors": []}, INVALID, "tensors has 0 members"),
    ("aclnnCat", {"out": np.ones((5, 5), np.int32)}, INVALID, "out has dtype"),
    ("aclnnCat", {"out": np.ones((4, 5), F)}, INVALID, "out has shape"),
    ("aclnnTril", {"self": np.ones(3, F), "out": np.ones(3, F)}, INVALID, "self has 1 dimension"),
    ("aclnnTriu", {"out": np.ones((2, 4, 5), np.int8)}, INVALID, "out has dtype"),
    ("aclnnTriu", {"out": np.ones((2, 4, 4), F)}, INVALID, "out has shape"),
    ("aclnnLinspace", {"steps": -1}, INVALID, "steps is -1"),
    ("aclnnLinspace", {"steps": 8}, INVALID, "out has 7 elements"),
    ("aclnnLinspace", {"start": None}, NULL, "start must not"),
    ("aclnnLogSpace", {"steps": -1}, INVALID, "steps is -1"),
    ("aclnnLogSpace", {"start": np.complex64(1)}, INVALID, "start has dtype"),
    ("aclnnRange", {"step": 0.0}, INVALID, "step is 0"),
    ("aclnnRange", {"step": -0.5}, INVALID, "does not lead"),
    ("aclnnRange", {"end": np.inf}, INVALID, "end is inf"),
    ("aclnnRange", {"end": 9.0}, INVALID, "out has 7 elements"),
    ("aclnnRepeat", {"repeats": [2]}, INVALID, "repeats has 1 values"),
    ("aclnnRepeat", {"repeats": [2, -1]}, INVALID, "no negative"),
    ("aclnnRepeat", {"repeats": [1] * 9}, INVALID, "repeats has 9 values"),
    ("aclnnRepeat", {"repeats": [2, 2]}, INVALID, "out has shape"),
    ("aclnnRepeat", {"repeats": [2] * 5, "out": np.ones((2, 2, 2, 6, 8), F)}, ACLNN_ERR_INNER_NULLPTR, "at most 4"),
    ("aclnnRepeat", {"repeats": [1, 2, 2, 2, 2], "out": np.ones((1, 2, 2, 6, 8), F)}, ACLNN_ERR_INNER_NULLPTR, "at most 3"),
    ("aclnnRepeat", {"repeats": [2, 2, 1, 2, 2], "out": np.ones((2, 2, 1, 6, 8), F)}, 0, ""),
    ("aclnnRepeat", {"repeats": [2, 2, 0, 2, 2], "out": np.ones((2, 2, 0, 6, 8), F)}, 0, ""),
    ("aclnnRoll", {"shifts": [1, 2]}, INVALID, "shifts has 2 values"),
    ("aclnnRoll", {"dims": [2]}, INVALID, "dims is 2"),
    ("aclnnRoll", {"shifts": [1, 2], "dims": []}, INVALID, "shifts has 2 values"),
    ("aclnnPermute", {"dims": [0, 1]}, INVALID, "dims has 2 values"),
    ("aclnnPermute", {"dims": [0, 1, 1]}, INVALID, "every dimension once"),
    ("aclnnPermute", {"dims": [0, 1, 3]}, INVALID, "dims is 3"),
    ("aclnnPermute", {"out": np.ones((3, 4, 5), F)}, INVALID, "out has shape"),
    ("aclnnEye", {"n": -1}, INVALID, "n is -1"),
    ("aclnnEye", {"m": 5}, INVALID, "out has shape"),
    ("aclnnConstantPadNd", {"pad": [1]}, INVALID, "pad has 1 values"),
    ("aclnnConstantPadNd", {"pad": [1] * 6}, INVALID, "pad has 6 values"),
    ("aclnnConstantPadNd", {"pad": [-5, 0]}, INVALID, "which leaves"),
    ("aclnnConstantPadNd", {"pad": [-4, 0, 1, 0], "out": np.ones((4, 0), F)}, INVALID, "which leaves"),
    ("aclnnConstantPadNd", {"out": np.ones((3, 4), F)}, INVALID, "out has shape"),
    ("aclnnConstantPadNd", {"value": None}, NULL, "value must not"),
    ("aclnnIm2col", {"kernelSize": [2]}, INVALID, "kernelSize has 1 values"),
    ("aclnnIm2col", {"kernelSize": [0, 3]}, INVALID, "kernelSize is"),
    ("aclnnIm2col", {"stride": [0, 1]}, INVALID, "stride is"),
    ("aclnnIm2col", {"dilation": [0, 1]}, INVALID, "dilation is"),
    ("aclnnIm2col", {"padding": [-1, 1]}, INVALID, "padding is"),
    ("aclnnIm2col", {"kernelSize": [9, 3]}, INVALID, "at least one"),
    ("aclnnSlice", {"step": 0}, INVALID, "step is 0"),
    ("aclnnSlice", {"dim": 2}, INVALID, "dim is 2"),
    ("aclnnSlice", {"out": np.ones((6, 4), F)}, INVALID, "out has shape"),
    ("aclnnSlice", {"out": np.ones((3, 4), np.int8)}, INVALID, "out has dtype"),
    ("aclnnSliceV2", {"steps": [1]}, INVALID, "steps has 1 values"),
    ("aclnnSliceV2", {"axes": [0, 3]}, INVALID, "dim is 3"),
    ("aclnnSliceV2", {"axes": [0, -3]}, INVALID, "at most once"),
    ("aclnnSliceV2", {"steps": [2, -1]}, INVALID, "step is -1"),
    ("aclnnExpand", {"size": [4]}, INVALID, "size has 1 values"),
    ("aclnnExpand", {"size": [3, 5]}, INVALID, "does not broadcast"),
    ("aclnnExpand", {"size": [-1, 3, 4]}, INVALID, "no negative"),
    ("aclnnSplitWithSize", {"splitSize": [1, 3]}, INVALID, "splitSize is"),
    ("aclnnSplitWithSize", {"splitSize": [-1, 6]}, INVALID, "splitSize is"),
    ("aclnnSplitWithSize", {"dim": 2}, INVALID, "dim is 2"),
    ("aclnnSplitWithSize", {"splitSize": [1, 2, 2]}, INVALID, "out has 2 members"),
    ("aclnnSplitTensor", {"splitSections": 0}, INVALID, "splitSections is 0"),
    ("aclnnSplitTensor", {"self": np.zeros((3, 0), F), "out": [np.zeros((3, 0), F)]}, INVALID, "splitSections is 2"),
    ("aclnnSplitTensor", {"splitSections": 3}, INVALID, "out has 3 members"),
    ("aclnnRepeatInterleaveInt", {"repeats": -1}, INVALID, "repeats is -1"),
    ("aclnnRepeatInterleaveInt", {"outputSize": 23}, INVALID, "outputSize is 23"),
    ("aclnnRepeatInterleaveIntWithDim", {"dim": 2}, INVALID, "dim is 2"),
    ("aclnnRepeatInterleaveIntWithDim", {"self": np.ones((), F)}, INVALID, "self has 0 dimensions"),
    ("aclnnRepeatInterleaveWithDim", {"self": np.ones((), F)}, INVALID, "self has 0 dimensions"),
    ("aclnnRepeatInterleave", {"repeats": np.array([1, 2])}, INVALID, "repeats has 2 elements"),
    ("aclnnRepeatInterleaveWithDim", {"repeats": np.array([1, 2])}, INVALID, "repeats has 2 elements"),
    ("aclnnRepeatInterleaveGrad", {"repeats": np.zeros(0, np.int64)}, LATE, "repeats has shape"),
    ("aclnnRepeatInterleaveGrad", {"out": np.zeros((2, 5), F)}, INVALID, "out has 10 elements"),
    ("aclnnInplaceFillDiagonal", {"selfRef": np.ones((2, 3, 3), F)}, INVALID, "equal lengths"),
    ("aclnnInplaceFillDiagonal", {"selfRef": np.ones((3, 3), np.complex64), "fillValue": np.complex64(1)}, INVALID, "fillValue has dtype"),
    ("aclnnInplaceFillDiagonal", {"selfRef": np.ones((3, 3), np.int8), "fillValue": 128}, INVALID, "fillValue is 128"),
    ("aclnnInplaceFillDiagonal", {"selfRef": np.ones((3, 3), np.uint8), "fillValue": -256}, INVALID, "fillValue is -256"),
    ("aclnnInplaceFillDiagonal", {"selfRef": np.ones((3, 3), np.int32), "fillValue": np.nan}, INVALID, "fillValue is nan"),
    ("aclnnInplaceFillDiagonal", {"selfRef": np.ones((3, 3), np.float16), "fillValue": 1e5}, INVALID, "fillValue is 100000"),
    ("aclnnInplaceFillTensor", {"value": np.ones(2, F)}, INVALID, "value has 2 elements"),
    ("aclnnDiag", {"diagonal": 5}, INVALID, "diagonal is 5"),
    ("aclnnDiag", {"out": np.ones(2, F)}, INVALID, "out has shape"),
    ("aclnnFlatten", {"axis": 3}, INVALID, "axis is 3"),
    ("aclnnReal", {"out": np.ones((3, 4), np.float64)}, INVALID, "out has dtype"),
    ("aclnnComplex", {"imag": np.ones(4, np.float64)}, INVALID, "imag has dtype"),
    ("aclnnComplex", {"out": np.ones((3, 4), np.complex128)}, INVALID, "out has dtype"),
    ("aclnnPolar", {"angle": np.ones((1, 3), F)}, INVALID, "does not broadcast"),
    ("aclnnPolar", {"angle": np.ones(4, F)}, INVALID, "angle has 1 dimensions"),
    ("aclnnChannelShuffle", {"groups": 4}, INVALID, "groups is 4"),
    ("aclnnChannelShuffle", {"groups": 0}, INVALID, "groups is 0"),
    ("aclnnChunkCat", {"numChunks": 0}, INVALID, "numChunks is 0"),
    ("aclnnChunkCat", {"dim": 1}, INVALID, "dim is 1"),
    ("aclnnChunkCat", {"dim": -2}, INVALID, "dim is -2"),
    ("aclnnChunkCat", {"tensors": [np.ones((4, 2), F), np.ones((5, 3), np.float16)]}, INVALID, "tensors[1] has dtype"),
    ("aclnnConfusionTranspose", {"shape": [5, 4]}, ACLNN_ERR_INNER_NULLPTR, "shape is"),
    ("aclnnConfusionTranspose", {"perm": [0, 0, 1]}, ACLNN_ERR_INNER_NULLPTR, "perm is"),
    ("aclnnConfusionTranspose", {"out": np.ones(5, F)}, ACLNN_ERR_INNER_NULLPTR, "out has shape"),
    ("aclnnStridedSliceAssignV2", {"strides": [0, 1]}, INVALID, "strides is"),
    ("aclnnStridedSliceAssignV2", {"inputValue": np.ones((3, 3), F)}, INVALID, "does not broadcast"),
    ("aclnnUnfoldGrad", {"step": 0}, LATE, "step is 0"),
    ("aclnnUnfoldGrad", {"size": 5}, LATE, "size is 5"),
    ("aclnnUnfoldGrad", {"dim": 2}, LATE, "dim is 2"),
    ("aclnnUnfoldGrad", {"inputSizes": [4, 3, 5], "dim": 0}, LATE, "one of the last two"),
    ("aclnnUnfoldGrad", {"inputSizes": [99, 4], "dim": 0, "size": 89}, LATE, "size is 89"),
    ("aclnnUnfoldGrad", {"step": 49089}, LATE, "step is 49089"),
    ("aclnnUnfoldGrad", {"inputSizes": [3, 9]}, LATE, "gradOut has shape"),
]


@pytest.mark.parametrize(("name", "changes", "status", "text"), ERRORS, ids=[f"{row[0]}-{row[3]}" for row in ERRORS])
def test_errors(name: str, changes: dict[str, Any], status: int, text: str, chip) -> None:
    chip(NEWEST if name in ("aclnnConfusionTranspose", "aclnnRepeatInterleaveGrad") else USUAL)
    case = Case(name, next(aclnnop.find(name).examples()))
    assert case.status() == 0
    assert case.but(**changes).status() == status
    assert text in message()


@pytest.mark.parametrize("kind", ["Reflection", "Replication"])
def test_widest_borders_of_bf16(kind: str, chip) -> None:
    chip(USUAL)
    for dtype, width, status in ((BF16, 7, 0), (BF16, 8, INVALID), (FLOAT, 8, 0)):
        x, grad = Meta((1, 9, 9), dtype), Meta((1, 9, 9 + width), dtype)
        case = Case(f"aclnn{kind}Pad2dBackward", {"gradOutput": grad, "self": x, "padding": [width, 0, 0, 0], "gradInput": x})
        assert case.status() == status, (dtype, width)


@pytest.mark.parametrize("name", ["aclnnTril", "aclnnTriu", "aclnnConstantPadNd"])
def test_formats_that_differ(name: str, chip) -> None:
    chip(USUAL)
    nchw, nd = (Meta((1, 2, 3, 4), FLOAT, format=code) for code in (acl.ACL_FORMAT_NCHW, acl.ACL_FORMAT_ND))
    others: dict[str, Any] = {"pad": [0, 0], "value": 0} if name == "aclnnConstantPadNd" else {"diagonal": 0}
    case = Case(name, {"self": nchw, **others, "out": nchw})
    assert case.status() == 0
    assert case.but(out=nd).status() == INVALID
    assert "another format" in message()
    assert case.but(self=nd).status() == (0 if name == "aclnnConstantPadNd" else INVALID)


@pytest.mark.parametrize("name", ["aclnnTril", "aclnnTriu"])
def test_triangles_of_complex_numbers(name: str, device: int, chip) -> None:
    x = (np.arange(12) * (1 + 2j)).astype(np.complex64).reshape(3, 4)
    case = Case(name, {"self": x, "diagonal": 1, "out": np.zeros_like(x)})
    chip(USUAL)
    assert case.status() == INVALID
    assert case.but(self=Meta((3, 4), FLOAT), out=Meta((3, 4), FLOAT)).status() == 0
    chip(NEWEST)
    same(case, (np.tril if name == "aclnnTril" else np.triu)(x, 1), 1)


def test_strided_slices_elsewhere(chip) -> None:
    chip(USUAL)
    assert Case("aclnnStridedSlice", next(aclnnop.find("aclnnStridedSlice").examples())).status() == INVALID


def test_products(chip) -> None:
    newer = {"950", "A3", "A2"}
    x = Meta((2, 3, 4), FLOAT16)
    for name, arguments, wanted in (
        ("aclnnPermute", {"self": x, "dims": [0, 1, 2], "out": x}, newer | {"910", "310P"}),
        ("aclnnTriu", {"self": x, "diagonal": 0, "out": x}, newer | {"910", "310P"}),
        ("aclnnTril", {"self": x, "diagonal": 0, "out": x}, newer | {"910"}),
        ("aclnnFlatten", {"self": x, "axis": 0, "out": Meta((1, 24), FLOAT16)}, newer | {"910", "310P", "310B"}),
        ("aclnnDiagFlat", {"self": Meta((2,), FLOAT16), "diagonal": 0, "out": Meta((2, 2), FLOAT16)}, {"A3", "A2", "910", "310P"}),
        ("aclnnReal", {"self": x, "out": x}, {"A3", "A2", "910"}),
        ("aclnnReflectionPad2d", {"self": x, "padding": [0] * 4, "out": x}, newer | {"910", "310P"}),
        ("aclnnCircularPad2d", {"self": x, "padding": [0] * 4, "out": x}, {"A3", "A2"}),
        ("aclnnCircularPad2dBackward", {"gradOutput": x, "self": x, "padding": [0] * 4, "gradInput": x}, newer),
    ):
        assert products_of(Case(name, arguments), chip) == wanted, name
