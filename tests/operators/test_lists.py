"""Lists as operands: what ``ListOf`` checks of lists and of their members, on an operator that declares some of everything."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated, Any

import numpy as np
import pytest

import acl_emu as acl
from acl_emu.api import numpy_call
from acl_emu.core.dtypes import BF16, FLOAT, FLOAT16, INT32
from acl_emu.core.errors import AclnnInvalid
from acl_emu.core.soc import Product
from acl_emu.runtime import plans
from acl_emu.runtime.tensor import Scalar
from acl_emu.spec import HandleKind, In, InOut, ListOf, Operand, Out, Plan, direct, operator
from acl_emu.tools.checks_made import made
from tests.conftest import message
from tests.operators.case import Case, Meta

NULL, INVALID = acl.ACLNN_ERR_PARAM_NULLPTR, acl.ACLNN_ERR_PARAM_INVALID
FLOATS_IN = In(FLOAT, BF16, rank=(1, 3), formats=(acl.ACL_FORMAT_ND, acl.ACL_FORMAT_NCHW), on={Product.A310P: (FLOAT16,)})


@operator()
def aclnnTestLists(
    tensors: Annotated[list[Operand], ListOf(FLOATS_IN, most=3)],
    gaps: Annotated[list[Operand | None], ListOf(In(INT32, optional=True), least=0)],
    strict: Annotated[list[Operand] | None, ListOf(In(INT32), optional=True, null=AclnnInvalid)],
    scalars: Annotated[list[Scalar], ListOf(HandleKind(Scalar, FLOAT), like="tensors")],
    changed: Annotated[list[Operand], ListOf(InOut(FLOAT), least=2, most=2)],
    out: Annotated[list[Operand], ListOf(Out(FLOAT), like="tensors")],
) -> Plan:
    """Multiply tensors by scalars; count, in ``changed``, the gaps and the other integers."""

    def kernel(*arrays: Any) -> None:
        count = len(tensors)
        for source, scalar, target in zip(arrays[:count], scalars, arrays[-count:], strict=True):
            target[...] = source.astype(np.float32) * scalar.value
        arrays[count][...] += sum(member is None for member in gaps)
        arrays[count + 1][...] += len(strict or ())

    return direct(kernel, reads=tensors, writes=(*changed, *out), scratch={})


class ListCase(Case):
    """A call of an operator that is declared here."""

    @property
    def declared(self) -> Any:
        return aclnnTestLists

    def but(self, /, **changes: Any) -> ListCase:
        return ListCase(self.operator, {**self.arguments, **changes})


@pytest.fixture
def case(device: int) -> ListCase:
    x = [np.array([1.0, 2.0], np.float32), np.array([[3.0]], np.float32)]
    arguments = {
        "tensors": x,
        "gaps": [None, np.ones(2, np.int32), None],
        "strict": [np.ones(1, np.int32)],
        "scalars": [np.float32(2), np.float32(-1)],
        "changed": [np.zeros(1, np.float32), np.full(2, 10, np.float32)],
        "out": [np.zeros_like(one) for one in x],
    }
    return ListCase("aclnnTestLists", arguments)


def test_members_reach_the_operator_in_order(case: ListCase) -> None:
    for layout in range(3):
        results = [result.tolist() for result in case.results(layout)]
        assert results == [[2.0], [11.0, 11.0], [2.0, 4.0], [[-3.0]]]
    assert [result.tolist() for result in case.but(gaps=[], strict=None).results()][:2] == [[0.0], [10.0, 10.0]]


@pytest.mark.parametrize(
    ("changes", "status", "text"),
    [
        ({"tensors": None}, NULL, "tensors must not be a null pointer"),
        ({"changed": None}, NULL, "changed must not be a null pointer"),
        ({"scalars": None}, NULL, "scalars must not be a null pointer"),
        ({"tensors": [Meta((2,), np.float32), None]}, NULL, "tensors[1] must not be a null pointer"),
        ({"out": [None, Meta((1, 1), np.float32)]}, NULL, "out[0] must not be a null pointer"),
        ({"scalars": [np.float32(1), None]}, NULL, "scalars[1] must not be a null pointer"),
        ({"strict": [None]}, INVALID, "strict[0] must not be a null pointer"),
        ({"tensors": []}, INVALID, "tensors has 0 members, expected 1 to 3"),
        ({"tensors": [Meta((2,), np.float32)] * 4}, INVALID, "tensors has 4 members, expected 1 to 3"),
        ({"strict": []}, INVALID, "strict has 0 members, expected at least 1"),
        ({"out": [Meta((2,), np.float32)]}, INVALID, "out has 1 members, expected as many as tensors: 2"),
        ({"scalars": [np.float32(1)] * 3}, INVALID, "scalars has 3 members, expected as many as tensors: 2"),
        ({"changed": [Meta((2,), np.float32)]}, INVALID, "changed has 1 members, expected 2 to 2"),
        ({"tensors": [Meta((2,), np.float32), Meta((1, 1), np.float64)]}, INVALID, "tensors[1] has dtype ACL_DOUBLE"),
        ({"gaps": [None, Meta((1,), np.int64)]}, INVALID, "gaps[1] has dtype ACL_INT64"),
        ({"scalars": [np.float32(1), np.int64(1)]}, INVALID, "scalars[1] has dtype ACL_INT64"),
        ({"tensors": [Meta((2,), np.float32), Meta((), np.float32)]}, INVALID, "tensors[1] has 0 dimensions"),
        ({"tensors": [Meta((1,) * 4, np.float32), Meta((1,), np.float32)]}, INVALID, "tensors[0] has 4 dimensions"),
        ({"tensors": [Meta((2,), np.float32, strides=(-1,)), Meta((1,), np.float32)]}, INVALID, "tensors[0] has strides"),
        ({"tensors": [Meta((2,), np.float32, format=acl.ACL_FORMAT_NHWC), Meta((1,), np.float32)]}, INVALID, "tensors[0] has format"),
    ],
    ids=str,
)
def test_what_can_be_wrong(case: ListCase, changes: dict[str, Any], status: int, text: str) -> None:
    assert case.status() == 0
    assert case.but(**changes).status() == status
    assert text in message()


def test_types_by_product(case: ListCase, chip) -> None:
    chip("Ascend310P3")
    assert case.status() == INVALID
    assert "tensors[0] has dtype" in message()
    assert case.but(tensors=[Meta((2,), np.float16), Meta((1, 1), np.float16)]).status() == 0


def test_dead_members(case: ListCase) -> None:
    with ExitStack() as stack:
        arguments = case._arguments(stack, {}, None)
        dead = acl.aclCreateTensor([1], acl.ACL_FLOAT, None, 0, acl.ACL_FORMAT_ND, [1], None)
        listed = acl.aclCreateTensorList([dead])
        assert acl.aclDestroyTensor(dead) == 0
        assert aclnnTestLists.get_workspace_size(listed, *arguments[1:])[2] == INVALID
        assert "tensors[0] is" in message()
        assert acl.aclDestroyTensorList(listed) == 0


def test_plans_are_found_by_what_members_are(case: ListCase) -> None:
    plans.forget()
    assert case.status() == case.status() == 0
    assert plans.count() == 1
    assert case.but(scalars=[np.float32(2), np.float32(3)]).status() == 0
    assert case.but(gaps=[np.ones(2, np.int32), None, None]).status() == 0
    assert plans.count() == 3


def test_the_checks_of_lists_are_shown(case: ListCase) -> None:
    with ExitStack() as stack:
        steps = made(aclnnTestLists, case._arguments(stack, {}, None))
    details = [step.detail for step in steps]
    assert "tensors 2, gaps 3, strict 1, scalars 2, changed 2, out 2" in details
    assert any("gaps[0] is null, gaps[1], gaps[2] is null" in detail for detail in details)
    assert any("tensors[1] FLOAT" in detail and "scalars[1] FLOAT" in detail for detail in details)


def test_prototypes() -> None:
    assert [kind.c_type for _, kind in aclnnTestLists.parameters] == [
        *["const aclTensorList*"] * 3,
        "const aclScalarList*",
        "const aclTensorList*",
        "aclTensorList*",
    ]


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_call.aclnnop, "find", lambda name: aclnnTestLists)


@pytest.mark.usefixtures("known")
def test_call_takes_lists_of_arrays_and_numbers(case: ListCase) -> None:
    changed, more, first, second = acl.call("aclnnTestLists", **{**case.arguments, "scalars": [2.0, -1.0]})
    assert (changed.tolist(), more.tolist(), first.tolist(), second.tolist()) == ([2.0], [11.0, 11.0], [2.0, 4.0], [[-3.0]])
