"""Calls near the examples: other lengths, types and layouts, drawn from the declaration. They run, or are refused as they should be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acl_emu as acl
from acl_emu.core import dtypes, soc
from acl_emu.spec.kinds import DataTypeKind
from tests.conftest import message
from tests.operators.case import Array, Case, Refused
from tests.operators.drawing import layouts
from tests.operators.examples import RELAID, Given, described, emulating, every_operator, examples, naming, tensors

REFUSALS = (acl.ACLNN_ERR_PARAM_NULLPTR, acl.ACLNN_ERR_PARAM_INVALID, acl.ACLNN_ERR_INNER_TILING_ERROR, acl.ACLNN_ERR_INNER_NULLPTR)
"""What phase one may say to a call that is wrong."""
LONGEST = 9


def lengths(draw: st.DrawFn, given: list[Given]) -> dict[int, int]:
    """Another length for each that the example has, wherever it occurs: what fitted together still does."""
    found = sorted({length for one in given for length in one.array.shape} - {1})
    return {1: 1, **{length: draw(st.sampled_from((length, *range(LONGEST + 1)))) for length in found}}


@st.composite
def near(draw: st.DrawFn, case: Case) -> Case:
    """The example with other lengths, with other types, or both; some inputs expanded."""
    given = tensors(case)
    what = draw(st.sampled_from(("lengths", "types", "both")))
    resized = {} if what == "types" else lengths(draw, given)
    retyped: dict[Any, Any] = {}
    if what != "lengths":
        for old in sorted({one.array.dtype.name for one in given}):
            allowed = {dtype for one in given if one.array.dtype.name == old for dtype in one.kind.dtypes_on(soc.current())}
            storable = sorted((dtype.numpy.name for dtype in allowed if dtype.numpy_name and dtype.bits >= 8), key=str)
            retyped[old] = draw(st.sampled_from((old, *storable)))
    for one in given:
        dtype = dtypes.from_numpy(one.array.dtype).numpy
        wanted = next((one.numpy for one in dtypes.BY_CODE.values() if one.numpy_name and one.numpy.name == retyped.get(dtype.name)), dtype)
        shape = tuple(resized.get(length, length) for length in one.array.shape)
        with np.errstate(all="ignore"):
            changed = np.resize(one.array if wanted.kind == "c" else one.array.real, shape).astype(wanted)
        if one.kind.io == "in" and changed.size and changed.ndim and draw(st.integers(0, 4)) == 0:
            changed = np.broadcast_to(changed[:1], shape)
        case = one.replaced(case, changed)
    changes: dict[str, Any] = {}
    for name, kind in case.declared.parameters:
        if isinstance(kind, DataTypeKind):
            old = dtypes.BY_CODE[case.arguments[name]].numpy
            changes[name] = dtypes.from_numpy(retyped.get(old.name, old)).code
    return case.but(**changes)


def outcome(case: Case, layout: int) -> tuple[Array, ...] | None:
    """The results; None where the kernel found an index out of range."""
    try:
        return case.results(layout)
    except Refused as refused:
        if refused.status != acl.ACL_ERROR_RT_AICORE_EXCEPTION:
            raise
        return None


def same(one: Array, other: Array) -> bool:
    """Equal, whatever bits a NaN has. DOUBLE and complex numbers are left to numpy, whose sums depend on how they lie in memory."""
    if one.tobytes() == other.tobytes():
        return True
    precise = one.dtype.name in ("float64", "complex128")
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    return np.allclose(one.astype(wide), other.astype(wide), rtol=1e-13 if precise else 0, atol=1e-14 if precise else 0, equal_nan=True)


@every_operator
@given(data=st.data())
@settings(max_examples=16)
def test_calls_near_an_example(name: str, data: st.DataObject, device: int) -> None:
    if name in RELAID:
        pytest.skip("its result lies in memory by rules of its own")
    number, shown = data.draw(st.sampled_from(list(enumerate(examples(name)))))
    with naming(number, shown), emulating(shown.chip):
        case = data.draw(near(shown.case))
        status = case.status()
        if status != 0:
            assert status in REFUSALS, described(case)
            assert message().strip(), described(case)
            return
        plain = outcome(case, 0)
        try:
            strided = outcome(case, data.draw(layouts))
        except Refused as refused:
            if "expected a contiguous tensor" not in str(refused):  # some operators want that of some types
                raise
            return
        assert (plain is None) == (strided is None), described(case)
        assert all(map(same, plain or (), strided or ())), described(case)
