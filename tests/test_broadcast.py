"""Checks that operators share: broadcasting, promotion, dimensions."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

from acl_emu import ACL_FORMAT_ND
from acl_emu.core import dtypes
from acl_emu.core.errors import AclnnInvalid
from acl_emu.runtime.tensor import Operand, make_view
from acl_emu.spec import broadcast_shape, castable, length_is, promote, same_dtype, same_shape, shape_is, wrap_dim

SIX = (5,) * 6


def operand(shape: tuple[int, ...], dtype: dtypes.DType = dtypes.FLOAT, name: str = "x") -> Operand:
    return Operand(name, make_view(shape, dtype.code, None, 0, ACL_FORMAT_ND, shape))


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ([()], ()),
        ([(), (3,)], (3,)),
        ([(2, 1), (3,)], (2, 3)),
        ([(1,), (1, 1, 4), (5, 1)], (1, 5, 4)),
        ([(0,), (1,)], (0,)),
        ([(1,), (0,)], (0,)),
        ([(0,), (0,)], (0,)),
        ([(2, 0), ()], (2, 0)),
        ([(0, 1), (3,)], (0, 3)),
    ],
    ids=str,
)
def test_broadcast_shape(shapes: list[tuple[int, ...]], expected: tuple[int, ...]) -> None:
    assert broadcast_shape(*map(operand, shapes)) == expected


@pytest.mark.parametrize(
    "shapes", [[(2,), (3,)], [(0,), (3,)], [(3,), (0,)], [(2, 3), (3, 2)], [(1, 2), (4,), (2,)], [(2, 0), (2, 2)]], ids=str
)
def test_shapes_that_do_not_broadcast(shapes: list[tuple[int, ...]]) -> None:
    with pytest.raises(AclnnInvalid, match="does not broadcast") as refusal:
        broadcast_shape(*(operand(shape, name=f"input{i}") for i, shape in enumerate(shapes)))
    assert refusal.value.code == 161002
    for i, shape in enumerate(shapes):
        assert f"input{i} {list(shape)}" in str(refusal.value)


@given(hnp.mutually_broadcastable_shapes(num_shapes=3, min_dims=0, max_dims=8, min_side=0, max_side=3))
def test_broadcast_as_numpy_does(shapes: hnp.BroadcastableShapes) -> None:
    assert broadcast_shape(*map(operand, shapes.input_shapes)) == shapes.result_shape == np.broadcast_shapes(*shapes.input_shapes)


FEW_AXES = (dtypes.COMPLEX64, dtypes.COMPLEX128, dtypes.DOUBLE, dtypes.INT16, dtypes.UINT16, dtypes.UINT64)


@pytest.mark.parametrize("dtype", FEW_AXES, ids=str)
def test_six_groups_of_axes_are_too_many(dtype: dtypes.DType) -> None:
    with pytest.raises(AclnnInvalid, match="6 groups of axes"):
        broadcast_shape(operand((5, 1, 5, 1, 5, 1), dtype), operand(SIX, dtype))
    assert broadcast_shape(operand((5, 1, 5, 5, 1, 1), dtype), operand(SIX, dtype)) == SIX
    assert broadcast_shape(operand((5, 1, 5, 1, 5), dtype), operand((5,) * 5, dtype)) == (5,) * 5
    assert broadcast_shape(operand(SIX, dtype), operand(SIX, dtype)) == SIX


def test_the_type_that_inputs_are_combined_in_counts() -> None:
    """INT8 and UINT8 meet in INT16, which has few axes."""
    with pytest.raises(AclnnInvalid, match="6 groups of axes"):
        broadcast_shape(operand((5, 1, 5, 1, 5, 1), dtypes.INT8), operand(SIX, dtypes.UINT8))
    assert broadcast_shape(operand((5, 1, 5, 1, 5, 1), dtypes.INT8), operand(SIX, dtypes.INT8)) == SIX
    assert broadcast_shape(operand((5, 1, 5, 1, 5, 1), dtypes.INT32), operand(SIX, dtypes.FLOAT)) == SIX


def test_axes_of_length_one_do_not_part_groups() -> None:
    shape = (5, 1, 5, 1, 5, 1, 5, 1)
    assert broadcast_shape(operand(shape, dtypes.DOUBLE), operand((), dtypes.DOUBLE)) == shape


def test_promote() -> None:
    assert promote(operand((), dtypes.FLOAT16), operand((), dtypes.BF16), operand((), dtypes.FLOAT16)) is dtypes.FLOAT
    assert promote(operand((), dtypes.INT8), operand((), dtypes.UINT8), operand((), dtypes.INT64)) is dtypes.INT64
    with pytest.raises(AclnnInvalid, match=r"other has dtype ACL_UINT32, which cannot be combined with ACL_FLOAT"):
        promote(operand(()), operand((), dtypes.UINT32, "other"))


def test_castable() -> None:
    castable(dtypes.FLOAT, operand((), dtypes.COMPLEX64))
    with pytest.raises(AclnnInvalid, match="out has dtype ACL_INT32"):
        castable(dtypes.FLOAT, operand((), dtypes.INT32, "out"))


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (lambda: same_dtype(operand(()), operand((), dtypes.BF16, "y")), "y has dtype ACL_BF16, expected that of x: ACL_FLOAT"),
        (lambda: same_shape(operand((2, 3)), operand((3, 2), name="y")), "y has shape [3, 2], expected [2, 3] (as x)"),
        (lambda: shape_is(operand((2,)), ()), "x has shape [2], expected []"),
        (lambda: length_is(operand((2, 2)), 3, "C"), "x has 4 elements, expected 3 (C)"),
        (lambda: wrap_dim(2, operand((4, 4))), "dim is 2, expected a value in [-2, 1]"),
        (lambda: wrap_dim(-2, operand(())), "dim is -2, expected a value in [-1, 0]"),
    ],
)
def test_messages_name_parameter_rule_and_value(check, text: str) -> None:
    with pytest.raises(AclnnInvalid, match=re.escape(text)):
        check()


@pytest.mark.parametrize(("dim", "shape", "expected"), [(0, (), 0), (-1, (), 0), (-3, (1, 1, 1), 0), (2, (1, 1, 1), 2), (-1, (1, 1), 1)])
def test_wrap_dim(dim: int, shape: tuple[int, ...], expected: int) -> None:
    assert wrap_dim(dim, operand(shape)) == expected
