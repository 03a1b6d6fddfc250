"""Decompositions, determinants and distances: what their results have to fulfil, and what their arguments can be wrong in."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acl_emu as acl
from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, Refused, numbers
from tests.operators.drawing import layouts, shapes

DOUBLE, COMPLEX64, COMPLEX128 = (np.dtype(t) for t in (np.float64, np.complex64, np.complex128))
NUMBERS = (FLOAT, DOUBLE, COMPLEX64, COMPLEX128)
SOME = settings(max_examples=20)
TOLERANCE = {FLOAT16: 2e-3, BF16: 1e-2, FLOAT: 1e-6, COMPLEX64: 1e-6, DOUBLE: 1e-12, COMPLEX128: 1e-12}


def wide(array: Array) -> Array:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def adjoint(array: Array) -> Array:
    return np.conj(np.swapaxes(array, -1, -2))


def near(actual: Array, expected: Array, dtype: Any, scale: float = 1.0) -> None:
    """Within the rounding of a type, relative to the size of the numbers."""
    assert np.abs(wide(actual) - expected).max(initial=0) <= TOLERANCE[np.dtype(dtype)] * scale * max(1.0, np.abs(expected).max(initial=0))


batches = st.sampled_from([(), (2,), (2, 3)])
sides = st.integers(1, 6)


# QR


@pytest.mark.parametrize("dtype", [*NUMBERS, FLOAT16], ids=str)
@pytest.mark.parametrize("mode", ["some", "all", "reduced", "complete", "r"])
@SOME
@given(batch=batches, rows=sides, columns=sides, layout=layouts)
def test_qr(mode: str, dtype: np.dtype[Any], batch: tuple[int, ...], rows: int, columns: int, layout: int, device: int) -> None:
    a = numbers((*batch, rows, columns), dtype, rows)
    inner = rows if mode in ("all", "complete") else min(rows, columns)
    outs = {"Q": np.zeros((0,) if mode == "r" else (*batch, rows, inner), dtype), "R": np.zeros((*batch, inner, columns), dtype)}
    if mode in ("some", "all"):
        case = Case("aclnnQr", {"self": a, "some": mode == "some", **outs})
    else:
        case = Case("aclnnLinalgQr", {"self": a, "mode": ["reduced", "complete", "r"].index(mode), **outs})
    q, r = map(wide, case.results(layout))
    assert (np.tril(r, -1) == 0).all()
    if mode == "r":
        near(adjoint(r) @ r, adjoint(wide(a)) @ wide(a), dtype, 20)
        return
    near(q @ r, wide(a), dtype, 20)
    near(adjoint(q) @ q, np.broadcast_to(np.eye(inner), (*batch, inner, inner)), dtype, 20)


def test_the_documented_qr(device: int) -> None:
    a = np.array([[1, 2], [3, 4]], np.float32)
    q, r = Case("aclnnLinalgQr", {"self": a, "mode": 0, "Q": np.zeros((2, 2), np.float32), "R": np.zeros((2, 2), np.float32)}).results()
    np.testing.assert_allclose(q, [[-0.3162, -0.9487], [-0.9487, 0.3162]], atol=1e-4)
    np.testing.assert_allclose(r, [[-3.1623, -4.4272], [0, -0.6325]], atol=1e-4)


# Singular values


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("full", [True, False], ids=["full", "some"])
@SOME
@given(batch=batches, rows=sides, columns=sides, layout=layouts)
def test_svd(dtype: np.dtype[Any], full: bool, batch: tuple[int, ...], rows: int, columns: int, layout: int, device: int) -> None:
    a = numbers((*batch, rows, columns), dtype, columns)
    few = min(rows, columns)
    outs = {
        "sigma": np.zeros((*batch, few), dtype),
        "u": np.zeros((*batch, rows, rows if full else few), dtype),
        "v": np.zeros((*batch, columns, columns if full else few), dtype),
    }
    case = Case("aclnnSvd", {"input": a, "fullMatrices": full, "computeUV": True, **outs})
    sigma, u, v = map(wide, case.results(layout))
    near((u[..., :few] * sigma[..., np.newaxis, :]) @ adjoint(v[..., :few]), wide(a), dtype, 10)
    for vectors in (u, v):
        near(adjoint(vectors) @ vectors, np.broadcast_to(np.eye(vectors.shape[-1]), (*batch, *vectors.shape[-1:] * 2)), dtype, 10)
    assert (np.diff(sigma.real, axis=-1) <= 0).all()
    alone, *_ = case.but(computeUV=False, u=np.zeros(0, dtype), v=np.zeros(0, dtype)).results(layout)
    near(alone, sigma, dtype, 10)


def test_svd_of_what_is_not_a_number(device: int) -> None:
    """One matrix of a batch has no singular values; the others do."""
    a = numbers((3, 2, 2), np.float32)
    a[1, 0, 0] = np.nan
    outs = {"sigma": np.zeros((3, 2), np.float32), "u": np.zeros((3, 2, 2), np.float32), "v": np.zeros((3, 2, 2), np.float32)}
    sigma, u, _ = Case("aclnnSvd", {"input": a, "fullMatrices": True, "computeUV": True, **outs}).results()
    assert np.isnan(sigma[1]).all()
    assert np.isnan(u[1]).all()
    np.testing.assert_allclose(sigma[::2], np.linalg.svd(a[::2].astype(np.float64), compute_uv=False), rtol=1e-6)


# Triangles


@pytest.mark.parametrize("dtype", [FLOAT, BF16], ids=str)
@pytest.mark.parametrize("upper", [True, False], ids=["upper", "lower"])
@SOME
@given(batch=batches, side=sides, layout=layouts)
def test_cholesky(dtype: np.dtype[Any], upper: bool, batch: tuple[int, ...], side: int, layout: int, device: int) -> None:
    half = numbers((*batch, side, side), np.float64, side)
    a = (half @ adjoint(half) + np.eye(side)).astype(dtype)
    a = np.asarray((wide(a) + adjoint(wide(a))) / 2).astype(dtype)  # rounded alike on both sides
    found = wide(Case("aclnnLinalgCholesky", {"self": a, "upper": upper, "out": np.zeros(a.shape, dtype)}).run(layout))
    assert ((np.tril if upper else np.triu)(found, -1 if upper else 1) == 0).all()
    near(adjoint(found) @ found if upper else found @ adjoint(found), wide(a), dtype, 8)


def test_cholesky_of_another_matrix(device: int) -> None:
    """NaN for the one that is not positive definite; only one triangle is read."""
    a = np.array([[[4, 99], [2, 5]], [[-1, 0], [0, 1]]], np.float32)
    found = Case("aclnnLinalgCholesky", {"self": a, "upper": False, "out": np.zeros((2, 2, 2), np.float32)}).run()
    assert_equal(found[0], [[2, 0], [1, 2]])
    assert np.isnan(found[1]).all()


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize(("upper", "transpose", "unit"), list(itertools.product([False, True], repeat=3)))
@SOME
@given(batch=st.sampled_from([((), ()), ((2,), ()), ((), (3,)), ((2, 1), (3,)), ((0,), ())]), side=sides, columns=sides, layout=layouts)
def test_triangular_solve(
    dtype: np.dtype[Any], upper: bool, transpose: bool, unit: bool, batch: Any, side: int, columns: int, layout: int, device: int
) -> None:
    a = (numbers((*batch[0], side, side), np.float64, 1, 0.5) + 2 * np.eye(side)).astype(dtype)
    b = numbers((*batch[1], side, columns), dtype, 2)
    joint = np.broadcast_shapes(*batch)
    case = Case(
        "aclnnTriangularSolve",
        {
            "self": b,
            "A": a,
            "upper": upper,
            "transpose": transpose,
            "unitriangular": unit,
            "xOut": np.zeros((*joint, side, columns), dtype),
            "mOut": np.zeros((*joint, side, side), dtype),
        },
    )
    if unit and dtype != FLOAT:
        assert case.status() == ACLNN_ERR_PARAM_INVALID
        return
    x, m = case.results(layout)
    triangle = np.broadcast_to((np.triu if upper else np.tril)(a), m.shape)
    assert_equal(m.real, triangle.real)
    used = wide(triangle)
    if unit:
        used = used - used * np.eye(side) + np.eye(side)
    near(x, np.linalg.solve(np.swapaxes(used, -1, -2) if transpose else used, np.broadcast_to(wide(b), x.shape)), dtype, 20)


def test_triangular_solve_without_a_solution(device: int) -> None:
    call = {
        "self": np.ones((2, 1), np.float32),
        "A": np.array([[0, 1], [0, 2]], np.float32),
        "upper": True,
        "transpose": False,
        "unitriangular": False,
    }
    x, _ = Case("aclnnTriangularSolve", {**call, "xOut": np.zeros((2, 1), np.float32), "mOut": np.zeros((2, 2), np.float32)}).results()
    assert x[1] == 0.5
    assert not np.isfinite(x[0])


# Inverse and determinants


@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16, DOUBLE], ids=str)
@SOME
@given(batch=batches, side=sides, layout=layouts)
def test_inverse(dtype: np.dtype[Any], batch: tuple[int, ...], side: int, layout: int, device: int, chip: Callable[[str], None]) -> None:
    chip("Ascend950PR_9589")
    a = (numbers((*batch, side, side), np.float64, side, 0.5) + 2 * np.eye(side)).astype(dtype)
    near(Case("aclnnInverse", {"self": a, "out": np.zeros(a.shape, dtype)}).run(layout), np.linalg.inv(wide(a)), dtype, 4)


def test_a_matrix_without_inverse(device: int) -> None:
    a = np.stack((np.eye(2), np.ones((2, 2)))).astype(np.float32)
    with pytest.raises(Refused, match="singular") as refused:
        Case("aclnnInverse", {"self": a, "out": np.zeros((2, 2, 2), np.float32)}).run()
    assert refused.value.status == acl.ACL_ERROR_RT_AICORE_EXCEPTION


@pytest.mark.parametrize("out", NUMBERS, ids=str)
@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@SOME
@given(batch=batches, side=st.integers(0, 5), layout=layouts)
def test_determinants(dtype: np.dtype[Any], out: np.dtype[Any], batch: tuple[int, ...], side: int, layout: int, device: int) -> None:
    a = numbers((*batch, side, side), dtype, side)
    signed = Case("aclnnSlogdet", {"self": a, "signOut": np.zeros(batch, out), "logOut": np.zeros(batch, out)})
    plain = Case("aclnnLogdet", {"self": a, "out": np.zeros(batch, out)})
    if dtype.kind == "c" and out.kind != "c":
        assert signed.status() == plain.status() == ACLNN_ERR_PARAM_INVALID
        return
    sign, log = map(wide, signed.results(layout))
    expected = np.linalg.det(wide(a))
    narrow = dtype if TOLERANCE[dtype] > TOLERANCE[out] else out
    near(sign * np.exp(log), expected, narrow, 20)
    near(np.abs(sign), np.ones(batch), narrow, 4)
    assert (log.imag == 0).all()
    found = wide(plain.run(layout))
    if dtype.kind == "c":
        near(np.exp(found), expected, narrow, 20)
    else:
        assert_equal(np.isnan(found.real), expected < 0)
        near(np.exp(found)[expected > 0], expected[expected > 0], narrow, 20)


def test_the_determinant_of_a_singular_matrix(device: int) -> None:
    a = np.ones((2, 2), np.float32)
    sign, log = Case("aclnnSlogdet", {"self": a, "signOut": np.ones((), np.float32), "logOut": np.ones((), np.float32)}).results()
    assert (sign, log) == (0, -np.inf)
    assert Case("aclnnLogdet", {"self": a, "out": np.ones((), np.float32)}).run() == -np.inf


@pytest.mark.parametrize("dtype", [*FLOATS, DOUBLE, COMPLEX64, *map(np.dtype, "?bBhiq")], ids=str)
@SOME
@given(rows=st.integers(0, 6), columns=st.integers(0, 6), layout=layouts)
def test_trace(dtype: np.dtype[Any], rows: int, columns: int, layout: int, device: int) -> None:
    a = numbers((rows, columns), dtype, 3, 50)
    out = np.ones((), np.int64 if dtype.kind in "?bBhiqu" else dtype)
    found = Case("aclnnTrace", {"self": a, "out": out}).run(layout)
    expected = sum((wide(a[i, i]) for i in range(min(rows, columns))), start=np.zeros(()))
    near(found, np.asarray(expected), DOUBLE if out.dtype == np.int64 else dtype, 2)


# Cross products and grids


@pytest.mark.parametrize("dtype", [*FLOATS, DOUBLE, COMPLEX64, COMPLEX128, *map(np.dtype, "bBhiq")], ids=str)
@SOME
@given(data=st.data())
def test_cross(dtype: np.dtype[Any], data: st.DataObject, device: int) -> None:
    shape = list(data.draw(shapes(4, 3, 1)))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    shape[axis] = 3
    first, second = ([1 if data.draw(st.integers(0, 3)) == 0 else n for n in shape] for _ in range(2))
    first[axis] = 3
    x, y = numbers(tuple(first), dtype, 1, 9), numbers(tuple(second), dtype, 2, 9)
    joint = np.broadcast_shapes(first, second)
    found = Case("aclnnLinalgCross", {"self": x, "other": y, "dim": axis, "out": np.zeros(joint, dtype)}).run(data.draw(layouts))
    of = [np.broadcast_to(a if dtype.kind in "iu" else wide(a), joint) for a in (x, y)]
    expected = np.cross(*of, axis=axis)
    if dtype.kind in "iu":
        assert (found == expected.astype(dtype)).all()
    else:
        near(found, expected, dtype, 4)


def test_the_documented_cross(device: int) -> None:
    x, y = np.arange(9.0).reshape(3, 3), np.repeat([1.0, 2, 3], 3).reshape(3, 3)
    found = Case("aclnnLinalgCross", {"self": x, "other": y, "dim": 1, "out": np.zeros((3, 3))}).run()
    assert found.tolist() == [[-1, 2, -1], [-2, 4, -2], [-3, 6, -3]]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@SOME
@given(data=st.data())
def test_affine_grid(dtype: np.dtype[Any], data: st.DataObject, device: int) -> None:
    """Every pixel by itself."""
    picture = data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=3))
    corners, axes = data.draw(st.booleans()), len(picture)
    theta = numbers((2, axes, axes + 1), dtype, 1)
    out = np.zeros((2, *picture, axes), dtype)
    found = Case("aclnnAffineGrid", {"theta": theta, "size": [2, 7, *picture], "alignCorners": corners, "out": out}).run(data.draw(layouts))
    expected = np.empty(out.shape)
    for n, *pixel in np.ndindex(2, *picture):
        place = [
            0 if length == 1 else 2 * i / (length - 1) - 1 if corners else (2 * i + 1) / length - 1
            for i, length in zip(pixel, picture, strict=True)
        ]
        expected[(n, *pixel)] = wide(theta[n]) @ [*place[::-1], 1]
    near(found, expected, dtype, 2)


# Distances


def distance(x: Array, y: Array, p: float) -> float:
    d = [abs(float(a) - float(b)) for a, b in zip(x, y, strict=True)]
    if p == 0:
        return float(sum(one != 0 for one in d))
    if math.isinf(p):
        return max(d, default=0.0)
    return math.fsum(one**p for one in d) ** (1 / p)


NORMS = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf]


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@settings(max_examples=8)
@given(batch=st.sampled_from([((), ()), ((2,), (1,)), ((2, 1), (3,))]), sizes=st.tuples(*[st.integers(0, 4)] * 3), layout=layouts)
def test_cdist(dtype: np.dtype[Any], p: float, batch: Any, sizes: tuple[int, int, int], layout: int, device: int) -> None:
    many, others, length = sizes
    x, y = numbers((*batch[0], many, length), dtype, 1), numbers((*batch[1], others, length), dtype, 2)
    joint = np.broadcast_shapes(*batch)
    found = Case("aclnnCdist", {"x1": x, "x2": y, "p": p, "compute_mode": 2, "out": np.ones((*joint, many, others), dtype)}).run(layout)
    wide_x, wide_y = np.broadcast_to(x, (*joint, many, length)), np.broadcast_to(y, (*joint, others, length))
    expected = np.array([distance(wide_x[(*at, i)], wide_y[(*at, j)], p) for *at, i, j in np.ndindex(*joint, many, others)])
    assert_accurate(found, expected.reshape(found.shape))


@pytest.mark.parametrize("name", ["aclnnPdist", "aclnnPdistForward"])
@pytest.mark.parametrize("p", [*NORMS, 60.0])
@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16], ids=str)
def test_pdist(name: str, dtype: np.dtype[Any], p: float, device: int) -> None:
    for rows, length in ((0, 3), (1, 3), (5, 4), (4, 0), (3, 1)):
        x = numbers((rows, length), dtype, 1, 100 if dtype == FLOAT16 else 1e20)
        call = {"self": x, ("p" if name == "aclnnPdist" else "pScalar"): p, "out": np.ones(rows * (rows - 1) // 2, dtype)}
        found = Case(name, call).run(rows)
        pairs = itertools.combinations(x, 2)
        if p == 60:  # the powers overflow
            expected = [
                float(max(d := np.abs(wide(a) - wide(b)), default=0.0)) * (np.sum((d / max(d)) ** 60) ** (1 / 60) if len(d) else 0)
                for a, b in pairs
            ]
        else:
            expected = [distance(a, b, p) for a, b in pairs]
        assert_accurate(found, np.array(expected))


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_cdist_backward(dtype: np.dtype[Any], p: float, device: int) -> None:
    """The slope of the distances, taken by a small step."""
    x, y = numbers((2, 4, 3), dtype, 1), numbers((1, 5, 3), dtype, 2)
    grad = numbers((2, 4, 5), dtype, 3)
    distances = np.array([distance(x[b, i], y[0, j], p) for b, i, j in np.ndindex(2, 4, 5)]).reshape(2, 4, 5)
    call = {"grad": grad, "x1": x, "x2": y, "cdist": distances.astype(dtype), "p": p, "out": np.ones((2, 4, 3), dtype)}
    found = Case("aclnnCdistBackward", call).run(4)
    step = 1e-6
    expected = np.zeros((2, 4, 3))
    for b, i, j, k in np.ndindex(2, 4, 5, 3):
        moved = [wide(x[b, i]) for _ in range(2)]
        moved[0][k], moved[1][k] = moved[0][k] + step, moved[1][k] - step
        slope = (distance(moved[0], y[0, j], p) - distance(moved[1], y[0, j], p)) / 2 / step
        expected[b, i, k] += 0 if p == 0 else slope * float(grad[b, i, j])
    np.testing.assert_allclose(
        wide(found), expected, rtol={FLOAT: 1e-4, FLOAT16: 1e-2, BF16: 8e-2}[dtype], atol={FLOAT: 1e-4, FLOAT16: 2e-2, BF16: 2e-1}[dtype]
    )


def test_cdist_backward_of_equal_points(device: int) -> None:
    """There is no slope where there is no distance."""
    x = np.ones((1, 3), np.float32)
    for p in NORMS:
        call = {
            "grad": np.ones((1, 1), np.float32),
            "x1": x,
            "x2": x,
            "cdist": np.zeros((1, 1), np.float32),
            "p": p,
            "out": np.ones((1, 3), np.float32),
        }
        assert (Case("aclnnCdistBackward", call).run() == 0).all()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("tol", [None, 1e-3, 1e-6, 0.0])
def test_sinkhorn(dtype: np.dtype[Any], tol: float | None, device: int) -> None:
    cost = np.abs(numbers((6, 4), dtype, 1, 0.5))
    found = Case("aclnnSinkhorn", {"cost": cost, "tol": tol, "p": np.zeros((6, 4), dtype)}).run(2)
    weights = np.exp(wide(cost))
    right, error, rounds = np.ones(4), 1e9, 0
    while error > (1e-4 if tol is None else tol) and rounds < 1000:
        left = 1 / (6 * ((right * weights).sum(1) + 1e-8))
        new = 1 / (4 * ((left[:, None] * weights).sum(0) + 1e-8))
        error, right, rounds = np.abs(right - new).mean(), new, rounds + 1
    assert_accurate(found, right * weights * left[:, None])


def test_sinkhorn_ends(device: int) -> None:
    """Whatever the numbers are."""
    for value in (np.nan, np.inf, -np.inf, 1e30):
        call = {"cost": np.array([[value, 1], [1, 1]], np.float32), "tol": -1.0, "p": np.zeros((2, 2), np.float32)}
        assert Case("aclnnSinkhorn", call).run().shape == (2, 2)


# Errors


def m(*shape: int, dtype: Any = FLOAT) -> Meta:
    return Meta(shape, dtype)


CALLS: dict[str, dict[str, Any]] = {
    "aclnnLinalgCross": {"self": m(2, 3), "other": m(2, 3), "dim": 1, "out": m(2, 3)},
    "aclnnLinalgQr": {"self": m(2, 4, 3), "mode": 0, "Q": m(2, 4, 3), "R": m(2, 3, 3)},
    "aclnnQr": {"self": m(2, 4, 3), "some": True, "Q": m(2, 4, 3), "R": m(2, 3, 3)},
    "aclnnInverse": {"self": m(2, 3, 3), "out": m(2, 3, 3)},
    "aclnnTriangularSolve": {
        "self": m(2, 3, 1),
        "A": m(3, 3),
        "upper": True,
        "transpose": False,
        "unitriangular": False,
        "xOut": m(2, 3, 1),
        "mOut": m(2, 3, 3),
    },
    "aclnnSlogdet": {"self": m(2, 3, 3), "signOut": m(2), "logOut": m(2)},
    "aclnnLogdet": {"self": m(2, 3, 3), "out": m(2)},
    "aclnnTrace": {"self": m(2, 3), "out": m()},
    "aclnnCdist": {"x1": m(2, 4, 3), "x2": m(5, 3), "p": 2.0, "compute_mode": 2, "out": m(2, 4, 5)},
    "aclnnAffineGrid": {"theta": m(2, 2, 3), "size": [2, 1, 4, 5], "alignCorners": True, "out": m(2, 4, 5, 2)},
    "aclnnSvd": {"input": m(4, 3), "fullMatrices": True, "computeUV": True, "sigma": m(3), "u": m(4, 4), "v": m(3, 3)},
    "aclnnLinalgCholesky": {"self": m(3, 3), "upper": True, "out": m(3, 3)},
    "aclnnCdistBackward": {"grad": m(2, 4, 5), "x1": m(2, 4, 3), "x2": m(1, 5, 3), "cdist": m(2, 4, 5), "p": 2.0, "out": m(2, 4, 3)},
    "aclnnPdist": {"self": m(4, 3), "p": 2.0, "out": m(6)},
    "aclnnPdistForward": {"self": m(4, 3), "pScalar": 2.0, "out": m(6)},
    "aclnnSinkhorn": {"cost": m(4, 3), "tol": None, "p": m(4, 3)},
}

WRONG: dict[str, list[tuple[dict[str, Any], str]]] = {
    "aclnnLinalgCross": [
        ({"other": m(2, 3, dtype=DOUBLE)}, "other has dtype"),
        ({"other": m(4, 3)}, "does not broadcast"),
        ({"out": m(3, 3)}, "out has shape"),
        ({"dim": 0}, "2 elements along dim 0"),
        ({"dim": 2}, "dim is 2"),
        ({"dim": -3}, "dim is -3"),
        ({"self": m(), "other": m(), "out": m(), "dim": 0}, "1 elements along dim 0"),
    ],
    "aclnnLinalgQr": [
        ({"mode": 3}, "mode is 3"),
        ({"mode": 1}, "Q has shape"),
        ({"R": m(2, 4, 3)}, "R has shape"),
        ({"self": m(4)}, "self has 1"),
    ],
    "aclnnQr": [
        ({"some": False}, "Q has shape"),
        ({"Q": m(2, 4, 3, dtype=BF16)}, "Q has dtype"),
        ({"self": m(2, 4, 3, dtype=COMPLEX64)}, "cannot be cast"),
    ],
    "aclnnInverse": [
        ({"self": m(2, 3, 4), "out": m(2, 3, 4)}, "last two dimensions"),
        ({"out": m(3, 3)}, "out has shape"),
        ({"out": m(2, 3, 3, dtype=FLOAT16)}, "out has dtype"),
        ({"self": m(2, 3, 3, dtype=DOUBLE), "out": m(2, 3, 3, dtype=DOUBLE)}, "self has dtype"),
    ],
    "aclnnTriangularSolve": [
        ({"A": m(3, 4)}, "last two dimensions"),
        ({"self": m(2, 4, 1)}, "expected as many rows as A"),
        ({"A": m(3, 3, 3)}, "does not broadcast"),
        ({"xOut": m(3, 1)}, "xOut has shape"),
        ({"mOut": m(3, 3)}, "mOut has shape"),
        ({"A": m(3, 3, dtype=DOUBLE)}, "A has dtype"),
        ({"self": m(3)}, "self has 1 dimensions"),
    ],
    "aclnnSlogdet": [
        ({"self": m(2, 3, 4)}, "last two dimensions"),
        ({"signOut": m(3)}, "signOut has shape"),
        ({"logOut": m(2, 1)}, "logOut has shape"),
        ({"self": m(2, 3, 3, dtype=COMPLEX64)}, "signOut has dtype"),
        ({"self": m(2, 3, 3, dtype=FLOAT16)}, "self has dtype"),
    ],
    "aclnnLogdet": [
        ({"self": m(2, 3, 4)}, "last two dimensions"),
        ({"out": m(3)}, "out has shape"),
        ({"self": m(3)}, "self has 1 dimensions"),
    ],
    "aclnnTrace": [
        ({"self": m(2, 3, 4)}, "self has 3 dimensions"),
        ({"out": m(2)}, "out has 1 dimensions"),
        ({"out": m(dtype=DOUBLE)}, "out has dtype"),
        ({"self": m(2, 3, dtype=np.int32)}, "out has dtype"),
        ({"self": m(2, 3, dtype=np.uint16)}, "self has dtype"),
    ],
    "aclnnCdist": [
        ({"x2": m(5, 4)}, "x2 has shape"),
        ({"p": -1.0}, "p is -1"),
        ({"p": math.nan}, "p is nan"),
        ({"x2": m(3, 5, 3)}, "does not broadcast"),
        ({"out": m(4, 5)}, "out has shape"),
        ({"x2": m(5, 3, dtype=FLOAT16)}, "x2 has dtype"),
        ({"x1": m(3)}, "x1 has 1 dimensions"),
    ],
    "aclnnAffineGrid": [
        ({"theta": m(2, 3)}, "theta has 2 dimensions"),
        ({"size": [2, 1, 4]}, "size has 3 members"),
        ({"theta": m(2, 3, 4)}, "theta has shape"),
        ({"size": [3, 1, 4, 5]}, "theta has shape"),
        ({"out": m(2, 5, 4, 2)}, "out has shape"),
        ({"out": m(2, 4, 5, 2, dtype=BF16)}, "out has dtype"),
    ],
    "aclnnSvd": [
        ({"sigma": m(4)}, "sigma has shape"),
        ({"u": m(4, 3)}, "u has shape"),
        ({"v": m(3, 4)}, "v has shape"),
        ({"v": m(3, 3, dtype=DOUBLE)}, "v has dtype"),
        ({"input": m(4)}, "input has 1 dimensions"),
        ({"input": m(4, 3, dtype=FLOAT16)}, "input has dtype"),
    ],
    "aclnnLinalgCholesky": [
        ({"out": m(3, 3, dtype=BF16)}, "out has dtype"),
        ({"out": m(2, 3, 3)}, "out has shape"),
        ({"self": m(3)}, "self has 1 dimensions"),
        ({"self": m(2, 3), "out": m(2, 3)}, "last two dimensions"),
        ({"self": m(*[1] * 9)}, "self has 9 dimensions"),
    ],
    "aclnnCdistBackward": [
        ({"cdist": m(2, 4, 4)}, "cdist has shape"),
        ({"x1": m(4, 3)}, "x1 has 2 dimensions"),
        ({"x1": m(2, 5, 3)}, "x1 has shape"),
        ({"x2": m(2, 4, 3)}, "x2 has shape"),
        ({"x2": m(2, 1, 3)}, "x2 has shape"),
        ({"out": m(2, 4, 4)}, "out has shape"),
        ({"grad": m(2, 4, 5, dtype=DOUBLE)}, "grad has dtype"),
    ],
    "aclnnPdist": [
        ({"p": -1.0}, "p is -1"),
        ({"p": math.nan}, "p is nan"),
        ({"out": m(5)}, "out has shape"),
        ({"self": m(2, 4, 3)}, "self has 3 dimensions"),
        ({"out": m(6, 1)}, "out has 2 dimensions"),
        ({"out": m(6, dtype=FLOAT16)}, "out has dtype"),
    ],
    "aclnnPdistForward": [
        ({"pScalar": -1.0}, "pScalar is -1"),
        ({"pScalar": math.nan}, "pScalar is nan"),
        ({"out": m(5)}, "out has shape"),
    ],
    "aclnnSinkhorn": [
        ({"p": m(3, 4)}, "p has shape"),
        ({"cost": m(4, 3, dtype=DOUBLE)}, "cost has dtype"),
        ({"tol": np.float64(1)}, "tol has dtype"),
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_errors(name: str, device: int) -> None:
    call = Case(name, CALLS[name])
    assert call.status() == 0
    for changes, text in WRONG[name]:
        assert call.but(**changes).status() == ACLNN_ERR_PARAM_INVALID, changes
        assert text in message(), changes
    for parameter, value in CALLS[name].items():
        if isinstance(value, (Meta, list)):
            assert call.but(**{parameter: None}).status() == ACLNN_ERR_PARAM_NULLPTR, parameter
