"""Operators that take, write, add or combine slices by indices: every documented error, and the products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from acl_emu import ACLNN_ERR_INNER_TILING_ERROR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.case import Case, Meta
from tests.operators.products import products_of

NEWEST = "Ascend950PR_9589"
COMBINING = ("aclnnScatterMul", "aclnnScatterMax", "aclnnScatterMin", "aclnnScatterDiv")
N, I, T = ACLNN_ERR_PARAM_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_INNER_TILING_ERROR  # noqa: E741
F, L, U = acl.ACL_FLOAT, acl.ACL_INT64, acl.ACL_UINT64
Lines = list[tuple[dict[str, Any], int, str]]
NINE = (1,) * 9
ADDING: Lines = [
    ({"alpha": None}, N, "alpha must not"),
    ({"source": Meta((5, 3, 2), acl.ACL_FLOAT16)}, I, "source has dtype"),
    ({"out": Meta((4, 3, 2), acl.ACL_FLOAT16)}, I, "out has dtype"),
    ({"dim": 3}, I, "dim is 3"),
    ({"alpha": np.complex64(1j)}, I, "alpha has dtype"),
    ({"source": Meta((5, 2, 2), F)}, I, "source has shape"),
    ({"index": Meta((5, 1), L)}, I, "index has 2 dimensions"),
    ({"index": Meta((4,), L)}, I, "index has 4 elements"),
    ({"out": Meta((3, 4, 2), F)}, I, "out has shape"),
]
FILLING: Lines = [
    ({"value": None}, N, "value must not"),
    ({"dim": 2}, I, "dim is 2"),
    ({"self": Meta(NINE, F)}, I, "self has 9 dimensions"),
    ({"out": Meta((4, 3), F)}, I, "out has shape"),
    ({"out": Meta((3, 4), L)}, I, "out has dtype"),
    ({"value": np.complex64(1j)}, I, "value has dtype"),
]
COMBINED: Lines = [
    ({"updates": Meta((5, 4), acl.ACL_FLOAT16)}, I, "updates has dtype"),
    ({"varRef": Meta((3, 4), acl.ACL_BF16)}, I, "varRef has dtype"),
    ({"updates": Meta((5, 3), F)}, T, "updates has shape"),
]
ERRORS: dict[str, Lines] = {
    "aclnnGatherV2": [
        ({"dim": 3}, I, "dim is 3"),
        ({"dim": -4}, I, "dim is -4"),
        ({"self": Meta(NINE, F)}, I, "self has 9 dimensions"),
        ({"index": Meta(NINE, L)}, I, "index has 9 dimensions"),
        ({"out": Meta((2, 2, 4, 5), L)}, I, "out has dtype"),
        ({"out": Meta((2, 4, 5), F)}, I, "out has shape"),
    ],
    "aclnnGatherV3": [
        ({"self": Meta(NINE, F)}, I, "self has 9 dimensions"),
        ({"index": Meta(NINE, L)}, I, "index has 9 dimensions"),
        ({"out": Meta((2, 2, 4, 5), L)}, I, "out has dtype"),
        ({"out": Meta((2, 4, 5), F)}, I, "out has shape"),
        ({"batchDims": 1}, I, "batchDims is 1"),
        ({"batchDims": -1}, I, "batchDims is -1"),
        ({"batchDims": 1, "dim": 1}, I, "index has shape"),
    ],
    "aclnnGatherNd": [
        ({"self": Meta((), F)}, I, "self has 0 dimensions"),
        ({"self": Meta(NINE, F)}, I, "self has 9 dimensions"),
        ({"indices": Meta((), L)}, I, "indices has 0 dimensions"),
        ({"indices": Meta((2, 4), L)}, I, "indices has shape"),
        ({"indices": Meta((2, 0), L)}, I, "indices has shape"),
        ({"out": Meta((2,), L)}, I, "out has dtype"),
        ({"out": Meta((3,), F)}, I, "out has shape"),
    ],
    "aclnnTake": [
        ({"out": Meta((2, 2), L)}, I, "out has dtype"),
        ({"index": Meta(NINE, L)}, I, "index has 9 dimensions"),
        ({"out": Meta((4,), F)}, I, "out has shape"),
        ({"self": Meta((0,), F)}, I, "self has shape"),
        ({"self": Meta((4, 2), F, format=acl.ACL_FORMAT_FRACTAL_NZ)}, I, "self has format"),
    ],
    "aclnnIndexAdd": ADDING,
    "aclnnIndexAddV2": ADDING,
    "aclnnIndexCopy": [
        ({"source": Meta((2, 3, 5), acl.ACL_FLOAT16)}, I, "source has dtype"),
        ({"source": Meta((3, 3, 5), F)}, I, "index has 2 elements"),
        ({"source": Meta((2, 4, 5), F)}, I, "source has shape"),
        ({"index": Meta((2, 1), L)}, I, "index has 2 dimensions"),
        ({"selfRef": Meta((4,), F), "outRef": Meta((4,), F), "source": Meta((), F)}, I, "index has 2 elements"),
        ({"source": Meta((2, 3), F)}, I, "source has 2 dimensions"),
        ({"outRef": Meta((4, 3, 4), F)}, I, "outRef has shape"),
        ({"outRef": Meta((4, 3, 5), acl.ACL_FLOAT16)}, I, "outRef has dtype"),
        ({"dim": 3}, I, "dim is 3"),
    ],
    "aclnnInplaceIndexCopy": [({"source": Meta((2, 3, 5), L)}, I, "source has dtype"), ({"dim": -4}, I, "dim is -4")],
    "aclnnIndexFill": FILLING,
    "aclnnIndexFillTensor": FILLING,
    "aclnnInplaceIndexFill": [({"value": None}, N, "value must not"), ({"dim": 2}, I, "dim is 2")],
    "aclnnInplaceIndexFillTensor": [
        ({"index": None}, N, "index must not"),
        ({"value": None}, N, "value must not"),
        ({"dim": 2}, I, "dim is 2"),
        ({"index": [4]}, I, "index holds 4"),
        ({"index": [-5]}, I, "index holds -5"),
    ],
    "aclnnInplacePut": [
        ({"source": Meta((6,), L)}, I, "source has dtype"),
        ({"source": Meta((5,), F)}, I, "source has 5 elements"),
        ({"selfRef": Meta((0,), F)}, I, "selfRef has shape"),
    ],
    "aclnnInplaceMaskedScatter": [
        ({"mask": Meta((3, 4), acl.ACL_INT32)}, I, "mask has dtype"),
        ({"mask": Meta((3, 3), acl.ACL_BOOL)}, I, "mask has shape"),
        ({"mask": Meta((1, 3, 4), acl.ACL_BOOL)}, I, "mask has shape"),
        ({"source": Meta((12,), L)}, I, "source has dtype"),
    ],
    "aclnnScatterAdd": [
        ({"src": Meta((4, 7), L)}, I, "src has dtype"),
        ({"out": Meta((4, 3), F)}, I, "out has shape"),
        ({"index": Meta((5, 4), L)}, I, "index has shape"),
        ({"src": Meta((2, 7), F)}, I, "index has shape"),
        ({"dim": 2}, I, "dim is 2"),
    ],
    "aclnnScatterReduce": [
        ({"reduce": 6}, I, "reduce is 6"),
        ({"reduce": 2}, I, "reduce is 2"),
        ({"includeSelf": False}, I, "includeSelf is false"),
        ({"src": Meta((3, 6), L)}, I, "src has dtype"),
        ({"out": Meta((5, 3), F)}, I, "out has shape"),
        ({"index": Meta((3,), L)}, I, "index has 1 dimensions"),
        ({"dim": 2}, I, "dim is 2"),
        ({"self": Meta(NINE, F)}, I, "self has 9 dimensions"),
        ({"index": Meta((4, 4), L)}, I, "index has shape"),
    ],
    "aclnnInplaceScatterReduce": [({"reduce": -1}, I, "reduce is -1"), ({"src": Meta((3, 6), L)}, I, "src has dtype")],
    "aclnnScatterNd": [
        ({"indices": Meta((2, 4), L)}, I, "indices has shape"),
        ({"updates": Meta((3,), F)}, I, "updates has shape"),
        ({"updates": Meta((2, 1), F)}, I, "updates has shape"),
        ({"data": Meta((), F)}, I, "data has 0 dimensions"),
        ({"out": Meta((3, 4), F)}, I, "out has shape"),
        ({"updates": Meta((2,), acl.ACL_FLOAT16)}, I, "updates has dtype"),
    ],
    "aclnnScatterNdUpdate": [
        ({"indices": Meta((2, 4), L)}, I, "indices has shape"),
        ({"indices": Meta((), L)}, I, "indices has 0 dimensions"),
        ({"updates": Meta((3,), F)}, I, "updates has shape"),
        ({"updates": Meta((2,), acl.ACL_FLOAT16)}, I, "updates has dtype"),
    ],
    "aclnnTfScatterAdd": [
        ({"updates": Meta((2, 3, 4), acl.ACL_FLOAT16)}, I, "updates has dtype"),
        ({"varRef": Meta((0, 4), F)}, I, "varRef has shape"),
        ({"updates": Meta((2, 3, 5), F)}, I, "indices has shape"),
        ({"indices": Meta((2, 1), L)}, I, "updates has shape"),
    ],
    **dict.fromkeys(COMBINING, COMBINED),
}
LINES = [(name, *line) for name, lines in ERRORS.items() for line in lines]
TENSORS = [(name, parameter) for name in ERRORS for parameter, kind in aclnnop.find(name).parameters if kind.c_type.endswith("aclTensor*")]


@pytest.mark.parametrize(("name", "changes", "status", "text"), LINES, ids=lambda value: str(value)[:60])
def test_errors(name: str, changes: dict[str, Any], status: int, text: str, chip: Callable[[str], None]) -> None:
    if name in COMBINING:
        chip(NEWEST)
    status = I if name == "aclnnScatterMin" else status
    assert Case(name, next(aclnnop.find(name).examples())).but(**changes).status() == status
    assert text in message()


@pytest.mark.parametrize(("name", "parameter"), TENSORS)
def test_null_and_types(name: str, parameter: str) -> None:
    case = Case(name, next(aclnnop.find(name).examples()))
    assert case.but(**{parameter: None}).status() == N
    assert case.but(**{parameter: Meta(case.arguments[parameter].shape, acl.ACL_STRING)}).status() == I


NEWER = {"950", "A3", "A2"}
PRODUCTS = {
    **dict.fromkeys(ERRORS, NEWER),
    "aclnnGatherV2": NEWER | {"310P", "910"},
    "aclnnTake": NEWER | {"910"},
    "aclnnInplacePut": NEWER | {"310P", "910"},
    "aclnnTfScatterAdd": {"A3", "A2"},
    **{name: {"950"} for name in COMBINING},
}


@pytest.mark.parametrize(("name", "products"), PRODUCTS.items())
def test_products(name: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(Case(name, next(aclnnop.find(name).examples())), chip) == products
