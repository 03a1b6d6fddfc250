"""Calls of arithmetic, reductions, sorts, casts, products and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.draw import MATRIX, PRODUCT, TABLE, Arguments, Draw, Maker, Shape

# Arithmetic


def tensors(*, inplace: bool, alpha: bool) -> Maker:
    def make(d: Draw) -> Arguments:
        first = {"selfRef" if inplace else "self": d.normal()}
        return {**first, "other": d.normal(), **({"alpha": 0.5} if alpha else {}), **({} if inplace else {"out": d.empty()})}

    return make


def scalar(*, inplace: bool, alpha: bool) -> Maker:
    def make(d: Draw) -> Arguments:
        first = {"selfRef" if inplace else "self": d.normal()}
        return {**first, "other": 1.5, **({"alpha": 0.5} if alpha else {}), **({} if inplace else {"out": d.empty()})}

    return make


def repeated(other: Callable[[Shape], Shape], sizes: dict[str, Shape] = MATRIX) -> Maker:
    """A factor that is repeated along some axes."""
    return lambda d: {"self": d.normal(sizes[d.size]), "other": d.normal(other(sizes[d.size])), "out": d.empty(sizes[d.size])}


def without(shape: Shape, axes: Sequence[int]) -> Shape:
    return tuple(length for axis, length in enumerate(shape) if axis not in axes)


def largest_along(axes: Sequence[int] = (1,), sizes: dict[str, Shape] = MATRIX) -> Maker:
    return lambda d: {"self": d.normal(sizes[d.size]), "dim": list(axes), "keepDim": False, "out": d.empty(without(sizes[d.size], axes))}


def largest(d: Draw) -> Arguments:
    return {"self": d.normal(), "out": d.empty(())}


def summed(axes: Sequence[int] = (1,), sizes: dict[str, Shape] = MATRIX) -> Maker:
    return lambda d: {
        "self": d.normal(sizes[d.size]),
        "dims": list(axes),
        "keepDims": False,
        "dtype": np.dtype(d.dtype),
        "out": d.empty(without(sizes[d.size], axes)),
    }


def mean(d: Draw) -> Arguments:
    shape = MATRIX[d.size]
    return {"self": d.normal(shape), "dim": [1], "keepDim": False, "dtype": np.dtype(d.dtype), "out": d.empty(shape[:1])}


def norm(d: Draw) -> Arguments:
    shape = MATRIX[d.size]
    return {"self": d.normal(shape), "pScalar": 2.0, "dim": [1], "keepdim": False, "out": d.empty(shape[:1])}


def cumsum(d: Draw) -> Arguments:
    return {"self": d.normal(), "dim": 1, "dtype": np.dtype(d.dtype), "out": d.empty()}


def sort(sizes: dict[str, Shape]) -> Maker:
    return lambda d: {
        "self": d.normal(sizes[d.size]),
        "stable": True,
        "dim": -1,
        "descending": False,
        "valuesOut": d.empty(sizes[d.size]),
        "indicesOut": d.empty(sizes[d.size], np.int64),
    }


def topk(sizes: dict[str, Shape]) -> Maker:
    """No two elements are equal."""

    def make(d: Draw) -> Arguments:
        shape = sizes[d.size]
        k = min(50, shape[-1])
        return {
            "self": d.distinct(shape),
            "k": k,
            "dim": -1,
            "largest": True,
            "sorted": True,
            "valuesOut": d.empty((*shape[:-1], k)),
            "indicesOut": d.empty((*shape[:-1], k), np.int64),
        }

    return make


def cast(d: Draw) -> Arguments:
    """From a half type to float32, from float32 to float16."""
    wanted = np.dtype(np.float16 if d.dtype is np.float32 else np.float32)
    return {"self": d.normal(), "dtype": wanted, "out": d.empty(dtype=wanted)}


def cast_to_integer(d: Draw) -> Arguments:
    return {"self": d.normal(scale=100), "dtype": np.dtype(np.int32), "out": d.empty(dtype=np.int32)}


def cast_from_integer(d: Draw) -> Arguments:
    return {"self": d.index(d.matrix, 1000, np.int32), "dtype": np.dtype(d.dtype), "out": d.empty()}


# Matrix products


def matmul(d: Draw) -> Arguments:
    rows, inner, columns = PRODUCT[d.size]
    return {"self": d.normal((rows, inner)), "mat2": d.normal((inner, columns)), "out": d.empty((rows, columns)), "cubeMathType": 0}


def row_times_matrix(d: Draw) -> Arguments:
    inner, columns = d.matrix
    return {"self": d.normal((1, inner)), "mat2": d.normal(), "out": d.empty((1, columns)), "cubeMathType": 0}


def addmm(inplace: bool) -> Maker:
    def make(d: Draw) -> Arguments:
        rows, inner, columns = PRODUCT[d.size]
        added = {"selfRef" if inplace else "self": d.normal((rows, columns))}
        factors = {"mat1": d.normal((rows, inner)), "mat2": d.normal((inner, columns)), "beta": 0.5, "alpha": 2.0}
        return {**added, **factors, **({} if inplace else {"out": d.empty((rows, columns))}), "cubeMathType": 0}

    return make


def embedding(d: Draw) -> Arguments:
    rows, width = TABLE[d.size]
    return {"weight": d.normal((rows, width)), "indices": d.index((rows,), rows), "out": d.empty((rows, width))}


def embedding_slope(sizes: dict[str, Shape] = TABLE, times: int = 1) -> Maker:
    """So many gradients as the table has rows, or that many times more."""

    def make(d: Draw) -> Arguments:
        rows, width = sizes[d.size]
        settings = {"numWeights": rows, "paddingIdx": 2**64 - 1, "scaleGradByFreq": False}
        return {
            "grad": d.normal((times * rows, width)),
            "indices": d.index((times * rows,), rows),
            **settings,
            "out": d.empty((rows, width)),
        }

    return make


def index_add(sizes: dict[str, Shape] = TABLE) -> Maker:
    def make(d: Draw) -> Arguments:
        rows, width = sizes[d.size]
        drawn = {"self": d.normal((rows, width)), "dim": 0, "index": d.index((2 * rows,), rows)}
        return {**drawn, "source": d.normal((2 * rows, width)), "alpha": 1.0, "out": d.empty((rows, width))}

    return make
