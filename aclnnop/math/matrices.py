"""Decompositions and determinants of matrices, one for each batch: what their operators share.

All is computed in double precision by LAPACK and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from acl_emu.core import dtypes
from acl_emu.core.dtypes import COMPLEX64, COMPLEX128, DOUBLE, FLOAT, FLOAT16
from acl_emu.spec import Array, Operand, Plan, castable, direct, nothing, require

NUMBERS = (FLOAT, DOUBLE, COMPLEX64, COMPLEX128)
WITH_HALF = (FLOAT, FLOAT16, DOUBLE, COMPLEX64, COMPLEX128)


def require_square(self: Operand) -> None:
    """As many rows as columns."""
    rows, columns = self.shape[-2:]
    require(rows == columns, f"{self.name} has shape {list(self.shape)}, expected its last two dimensions to be equal")


def decomposed(kernel: Callable[..., Any], reads: Sequence[Operand], writes: Sequence[Operand], **attributes: Any) -> Plan:
    """``writes = kernel(*reads)``, all in double precision."""
    for out in writes:
        castable(reads[0].dtype, out)
    if all(out.size == 0 for out in writes):
        return nothing()
    return direct(in_double, reads=reads, writes=writes, scratch={}, formula=kernel, inputs=len(reads), attributes=attributes)


def in_double(*arrays: Array, formula: Callable[..., Any], inputs: int, attributes: dict[str, Any]) -> None:
    """The formula, and its results as the outputs hold them."""
    results = formula(*(_wide(array) for array in arrays[:inputs]), **attributes)
    for out, result in zip(arrays[inputs:], results if isinstance(results, tuple) else (results,), strict=True):
        out[...] = dtypes.round_to(np.asarray(result), dtypes.from_numpy(out.dtype))


def _wide(array: Array) -> Array:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def each(function: Callable[[Array], Any], matrices: Array, shapes: Sequence[tuple[int, ...]]) -> tuple[Array, ...]:
    """A decomposition of every matrix, NaN for one that has none; LAPACK gives up a whole batch for it."""
    try:
        found = function(matrices)
        return found if isinstance(found, tuple) else (found,)
    except np.linalg.LinAlgError:
        if matrices.ndim == 2:
            return tuple(np.full(shape, np.nan) for shape in shapes)
    batch = matrices.shape[:-2]
    parts = [each(function, matrix, shapes) for matrix in matrices.reshape(-1, *matrices.shape[-2:])]
    return tuple(np.stack(part).reshape(*batch, *shape) for part, shape in zip(zip(*parts, strict=True), shapes, strict=True))


def adjoint(matrices: Array) -> Array:
    """Transposed and conjugated."""
    found: Array = np.conj(np.swapaxes(matrices, -1, -2))
    return found
