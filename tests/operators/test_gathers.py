"""Operators that take elements by their places: bit by bit against loops over the elements, and what their arguments can be wrong in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acl_emu as acl
import aclnnop
from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import FLOATS, assert_accurate
from tests.operators.case import Array, Case, Meta, Refused, numbers
from tests.operators.drawing import layouts, shapes
from tests.operators.products import products_of

SOME = [*FLOATS, *map(np.dtype, "dqiB?")]
FAULT = acl.ACL_ERROR_RT_AICORE_EXCEPTION
Draw = Callable[..., Any]
Drawn = tuple[dict[str, Any], Array]
DRAWN: dict[str, Callable[[Draw, Any], Drawn]] = {}


def drawn(name: str) -> Callable[[Callable[[Draw, Any], Drawn]], None]:
    """One drawn call of an operator: the arguments but the last, and the result."""

    def take(make: Callable[[Draw, Any], Drawn]) -> None:
        DRAWN[name] = make

    return take


def filled(shape: tuple[int, ...], dtype: Any) -> Array:
    """Different numbers, as far as the type has them."""
    return np.arange(1, 1 + math.prod(shape)).reshape(shape).astype(dtype)


def indices(draw: Draw, length: int, shape: tuple[int, ...], *, negative: bool = False) -> Array:
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    return rng.integers(-length if negative else 0, length, shape).astype(draw(st.sampled_from((np.int32, np.int64))))


def sliced(x: Array, axis: int, places: Array) -> Array:
    """Slice by slice."""
    rows = np.moveaxis(x, axis, 0)
    found = np.stack([rows[int(place)] for place in places.reshape(-1)]) if places.size else rows[:0]
    found = found.reshape(*places.shape, *rows.shape[1:])
    return np.moveaxis(found, range(places.ndim), range(axis, axis + places.ndim))


@drawn("aclnnEmbedding")
def embedding(draw: Draw, dtype: Any) -> Drawn:
    weight = filled(draw(shapes(2, 5, 2)), dtype)
    places = indices(draw, len(weight), draw(shapes(3, 4, 0, 0)))
    return {"weight": weight, "indices": places}, sliced(weight, 0, places)


@drawn("aclnnIndexSelect")
def index_select(draw: Draw, dtype: Any) -> Drawn:
    x = filled(draw(shapes(4, 4, 1)), dtype)
    dim = draw(st.integers(-x.ndim, x.ndim - 1))
    places = indices(draw, x.shape[dim], draw(shapes(1, 6, 1, 0)))
    return {"self": x, "dim": dim, "index": places}, sliced(x, dim % x.ndim, places)


@drawn("aclnnGather")
def gather(draw: Draw, dtype: Any) -> Drawn:
    x = filled(draw(shapes(4, 4, 1)), dtype)
    dim = draw(st.integers(-x.ndim, x.ndim - 1))
    axis = dim % x.ndim
    shape = tuple(draw(st.integers(0, 5 if other == axis else length)) for other, length in enumerate(x.shape))
    places = indices(draw, x.shape[axis], shape, negative=True)
    result = np.zeros(shape, x.dtype)
    for place in np.ndindex(shape):
        result[place] = x[(*place[:axis], int(places[place]), *place[axis + 1 :])]
    return {"self": x, "dim": dim, "index": places}, result


@drawn("aclnnOneHot")
def one_hot(draw: Draw, dtype: Any) -> Drawn:
    wanted = dtype if dtype in (np.float32, np.float16, np.int32, np.int64) else np.dtype(np.float32)
    classes = indices(draw, 6, draw(shapes(3, 4, 1))) - 1
    axis, count = draw(st.integers(-1, classes.ndim)), draw(st.integers(1, 5))
    result = np.stack([np.where(classes == one, 3, 0) for one in range(count)], axis).astype(wanted)
    values = [np.array([value, 9], wanted) for value in (3, 0)]
    return {"self": classes, "numClasses": count, "onValue": values[0], "offValue": values[1], "axis": axis}, result


@pytest.mark.parametrize("name", DRAWN)
@given(data=st.data())
def test_values(name: str, device: int, data: st.DataObject) -> None:
    arguments, wanted = DRAWN[name](data.draw, data.draw(st.sampled_from(SOME)))
    case = Case(name, {**arguments, "out": np.full(wanted.shape, 77).astype(wanted.dtype)})
    result = case.run(data.draw(layouts))
    assert result.shape == wanted.shape
    assert result.tobytes() == wanted.tobytes()


# Outputs whose size the data decide


def chosen(x: Array, mask: Array) -> list[Any]:
    """Element by element."""
    values, mask = np.broadcast_arrays(x, mask)
    return [values[place] for place in np.ndindex(values.shape) if mask[place]]


@given(data=st.data())
def test_masked_select(device: int, data: st.DataObject) -> None:
    shape = data.draw(shapes(3, 4))
    dtype = data.draw(st.sampled_from(SOME))
    x, mask = (filled(tuple(1 if data.draw(st.booleans()) else n for n in shape[data.draw(st.integers(0, 1)) :]), dtype) for _ in range(2))
    mask = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 2, mask.shape).astype(data.draw(st.sampled_from("?B")))
    golden = chosen(x, mask)
    out = np.zeros(math.prod(np.broadcast_shapes(x.shape, mask.shape)), dtype)
    found = acl.call("MaskedSelect", x, mask, out)
    assert found.dtype == dtype
    assert found.tolist() == [one.item() if hasattr(one, "item") else one for one in golden]


@given(data=st.data())
def test_nonzero(device: int, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(SOME))
    x = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 2, data.draw(shapes(4, 3, 0, 0))).astype(dtype)
    golden = [list(place) for place in np.ndindex(x.shape) if x[place] != 0]
    found = acl.call("Nonzero", x, np.zeros((x.size, x.ndim), np.int64))
    assert found.shape == (len(golden), x.ndim)
    assert found.tolist() == golden
    columns = acl.call("NonzeroV2", x, np.zeros((x.ndim, x.size), np.int64))
    assert columns.shape == (x.ndim, len(golden))
    assert columns.T.tolist() == golden


@pytest.mark.parametrize("shape", [(200_001,), (300, 701), (7, 100, 3, 101)], ids=str)
def test_nonzero_of_many(device: int, shape: tuple[int, ...]) -> None:
    for dtype in (np.float32, np.bool_, np.int64):
        x = np.random.default_rng(1).integers(0, 2, shape).astype(dtype)
        golden = np.stack(np.nonzero(x), axis=1)
        assert np.array_equal(acl.call("Nonzero", x, np.zeros((x.size, x.ndim), np.int64)), golden)
        assert np.array_equal(acl.call("NonzeroV2", x, np.zeros((x.ndim, x.size), np.int64)), golden.T)


def test_special_numbers_are_not_zero(device: int) -> None:
    for dtype in FLOATS:
        x = np.array([0.0, -0.0, np.nan, np.inf, 6e-8]).astype(dtype)
        assert acl.call("Nonzero", x, np.zeros((5, 1), np.int64)).ravel().tolist() == [2, 3, 4]


def test_an_output_that_is_too_small_is_a_fault(device: int) -> None:
    case = Case("aclnnNonzero", {"self": np.ones(4, np.float32), "out": np.zeros((3, 1), np.int64)})
    with pytest.raises(Refused, match=re.escape("out has shape [3, 1], the result has shape [4, 1]")) as fault:
        case.run()
    assert fault.value.status == FAULT
    assert case.but(self=np.array([0, 1, 1, 1], np.float32)).run().ravel().tolist() == [1, 2, 3]


# What else is documented


def test_a_number_is_a_row_of_one(device: int) -> None:
    x = np.array(2.5, np.float32)
    assert Case("aclnnIndexSelect", {"self": x, "dim": 0, "index": np.array([0]), "out": x * 0}).run() == 2.5
    assert Case("aclnnIndexSelect", {"self": x, "dim": -1, "index": np.array(0), "out": np.zeros(1, np.float32)}).run().tolist() == [2.5]
    case = Case("aclnnGather", {"self": x, "dim": 0, "index": np.array([0, -1]), "out": np.zeros(2, np.float32)})
    assert case.run().tolist() == [2.5, 2.5]


@pytest.mark.parametrize(
    ("name", "index", "text"),
    [
        ("aclnnEmbedding", "indices", "indices[0] is 99, outside [0, 9]"),
        ("aclnnIndexSelect", "index", "index[0] is 99, outside [0, 2]"),
        ("aclnnGather", "index", "index[0, 0] is 99, outside [-3, 2]"),
    ],
)
def test_indices_outside_are_faults(name: str, index: str, text: str, device: int) -> None:
    case = Case(name, next(aclnnop.find(name).examples()))
    for wrong in (99, -99):
        places = case.arguments[index].copy()
        places.reshape(-1)[0] = wrong
        with pytest.raises(Refused, match=re.escape(text.replace("99", str(wrong)))) as fault:
            case.but(**{index: places}).run()
        assert fault.value.status == FAULT


def masked(x: Array, mask: Array, value: Any) -> Array:
    result = x.copy()
    for place in np.ndindex(x.shape):
        if np.broadcast_to(mask, x.shape)[place]:
            result[place] = value
    return result


@given(data=st.data())
def test_masked_fill(device: int, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([*FLOATS, *map(np.dtype, "bqi?")]))
    x = filled(data.draw(shapes(3, 4, 0, 0)), dtype)
    own = tuple(1 if data.draw(st.booleans()) else n for n in x.shape)[data.draw(st.integers(0, 1)) * (x.ndim > 0) :]
    mask = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 2, own).astype(np.bool_)
    special = [0.5, -np.inf, np.inf, np.nan] if dtype in FLOATS else [0, 1] if dtype == np.bool_ else [-3, 100]
    value = np.asarray(data.draw(st.sampled_from(special))).astype(dtype)
    layout = data.draw(layouts)
    golden = masked(x, mask, value)
    for operator, given_value in (("aclnnInplaceMaskedFillScalar", value[()]), ("aclnnInplaceMaskedFillTensor", value)):
        found = Case(operator, {"selfRef": x, "mask": mask, "value": given_value}).run(layout)
        np.testing.assert_array_equal(found, golden)


def test_truth_values_take_every_number(device: int) -> None:
    x, mask = np.zeros(3, np.bool_), np.array([True, False, True])
    assert Case("aclnnInplaceMaskedFillScalar", {"selfRef": x, "mask": mask, "value": 5}).run().tolist() == mask.tolist()
    call = {"dim": 0, "index": np.array([1]), "value": 2}
    assert Case("aclnnInplaceIndexFill", {"selfRef": x, **call}).run().tolist() == [False, True, False]
    assert Case("aclnnInplaceScatterValue", {"selfRef": x, **call, "reduce": 0}).run().tolist() == [False, True, False]
    call = {"self": x, "dim": 0, "index": np.array([1]), "source": mask[:1], "alpha": 1, "out": x}
    assert Case("aclnnIndexAdd", call).run().tolist() == [False, True, False]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("by_frequency", [False, True])
def test_embedding_gradient(dtype: Any, by_frequency: bool, device: int) -> None:
    rng = np.random.default_rng(7)
    for places_type in (np.int64, np.int32, np.int16, np.uint8, np.float32):
        grad, places = numbers((40, 3, 6), dtype, 2), rng.integers(0, 5, (40, 3)).astype(places_type)
        golden, terms = np.zeros((7, 6)), np.zeros((7, 6))
        for place in np.ndindex(places.shape):
            golden[int(places[place])] += grad[place].astype(np.float64)
            terms[int(places[place])] += np.abs(grad[place].astype(np.float64))
        if by_frequency:
            golden /= np.maximum(1, np.bincount(places.ravel().astype(np.int64), minlength=7))[:, np.newaxis]
        golden[3] = 0
        arguments = {"grad": grad, "indices": places, "numWeights": 7, "paddingIdx": 3, "scaleGradByFreq": by_frequency}
        case = Case("aclnnEmbeddingDenseBackward", {**arguments, "out": np.full((7, 6), 5).astype(dtype)})
        assert_accurate(case.run(3), golden, largest=terms, ulps=1)
    assert case.but(paddingIdx=2**64 - 1).run()[3].any()
    with pytest.raises(Refused, match=re.escape("indices[0, 0] is 7, outside [0, 6]")):
        case.but(indices=np.full((40, 3), 7)).run()


N, I = ACLNN_ERR_PARAM_NULLPTR, ACLNN_ERR_PARAM_INVALID  # noqa: E741
F, L = acl.ACL_FLOAT, acl.ACL_INT64
ERRORS: list[tuple[str, dict[str, Any], int, str]] = [
    ("aclnnEmbedding", {"weight": None}, N, "weight must not"),
    ("aclnnEmbedding", {"indices": None}, N, "indices must not"),
    ("aclnnEmbedding", {"out": None}, N, "out must not"),
    ("aclnnEmbedding", {"weight": Meta((10, 3), acl.ACL_UINT64)}, I, "weight has dtype"),
    ("aclnnEmbedding", {"indices": Meta((4,), acl.ACL_INT16)}, I, "indices has dtype"),
    ("aclnnEmbedding", {"out": Meta((4, 3), acl.ACL_FLOAT16)}, I, "out has dtype"),
    ("aclnnEmbedding", {"out": Meta((3, 4), F)}, I, "out has shape"),
    ("aclnnEmbedding", {"weight": Meta((1,) * 9, F)}, I, "weight has 9 dimensions"),
    ("aclnnEmbedding", {"weight": Meta((), F)}, I, "weight has 0 dimensions"),
    ("aclnnEmbeddingDenseBackward", {"grad": None}, N, "grad must not"),
    ("aclnnEmbeddingDenseBackward", {"indices": None}, N, "indices must not"),
    ("aclnnEmbeddingDenseBackward", {"out": None}, N, "out must not"),
    ("aclnnEmbeddingDenseBackward", {"grad": Meta((2, 6, 5), acl.ACL_DOUBLE)}, I, "grad has dtype"),
    ("aclnnEmbeddingDenseBackward", {"indices": Meta((2, 6), acl.ACL_COMPLEX64)}, I, "indices has dtype"),
    ("aclnnEmbeddingDenseBackward", {"out": Meta((4, 5), acl.ACL_DOUBLE)}, I, "out has dtype"),
    ("aclnnEmbeddingDenseBackward", {"grad": Meta((1,) * 9, F)}, I, "grad has 9 dimensions"),
    ("aclnnEmbeddingDenseBackward", {"indices": Meta((2, 5), L)}, I, "grad has shape"),
    ("aclnnEmbeddingDenseBackward", {"out": Meta((5, 5), F)}, I, "out has shape"),
    ("aclnnIndexSelect", {"self": None}, N, "self must not"),
    ("aclnnIndexSelect", {"index": None}, N, "index must not"),
    ("aclnnIndexSelect", {"out": None}, N, "out must not"),
    ("aclnnIndexSelect", {"self": Meta((3, 4, 5), acl.ACL_INT4)}, I, "self has dtype"),
    ("aclnnIndexSelect", {"index": Meta((6,), acl.ACL_INT8)}, I, "index has dtype"),
    ("aclnnIndexSelect", {"dim": 3}, I, "dim is 3"),
    ("aclnnIndexSelect", {"dim": -4}, I, "dim is -4"),
    ("aclnnIndexSelect", {"index": Meta((2, 3), L)}, I, "index has 2 dimensions"),
    ("aclnnIndexSelect", {"self": Meta((1,) * 9, F)}, I, "self has 9 dimensions"),
    ("aclnnIndexSelect", {"self": Meta((), F), "dim": 0}, I, "index has 6 elements"),
    ("aclnnIndexSelect", {"out": Meta((5, 4, 5), F)}, I, "out has shape"),
    ("aclnnGather", {"self": None}, N, "self must not"),
    ("aclnnGather", {"index": None}, N, "index must not"),
    ("aclnnGather", {"out": None}, N, "out must not"),
    ("aclnnGather", {"self": Meta((3, 4), acl.ACL_COMPLEX64)}, I, "self has dtype"),
    ("aclnnGather", {"index": Meta((5, 3), acl.ACL_INT8)}, I, "index has dtype"),
    ("aclnnGather", {"out": Meta((5, 3), acl.ACL_FLOAT16)}, I, "out has dtype"),
    ("aclnnGather", {"self": Meta((3, 4, 1), F)}, I, "index has 2 dimensions"),
    ("aclnnGather", {"self": Meta((1,) * 9, F)}, I, "self has 9 dimensions"),
    ("aclnnGather", {"out": Meta((5, 4), F)}, I, "out has shape"),
    ("aclnnGather", {"dim": 2}, I, "dim is 2"),
    ("aclnnGather", {"dim": -3}, I, "dim is -3"),
    ("aclnnGather", {"dim": 1}, I, "index has shape"),
    ("aclnnGather", {"self": Meta((0, 4), F)}, I, "self has shape"),
    ("aclnnNonzero", {"self": None}, N, "self must not"),
    ("aclnnNonzero", {"out": None}, N, "out must not"),
    ("aclnnNonzero", {"self": Meta((3,), acl.ACL_COMPLEX64)}, I, "self has dtype"),
    ("aclnnNonzero", {"self": Meta((1,) * 9, F)}, I, "self has 9 dimensions"),
    ("aclnnNonzero", {"out": Meta((12, 2), acl.ACL_INT32)}, I, "out has dtype"),
    ("aclnnNonzero", {"out": Meta((12,), L)}, I, "out has 1 dimensions"),
    ("aclnnNonzero", {"self": Meta((1, 2**31), acl.ACL_INT8)}, I, "self has shape [1, 2147483648]"),
    ("aclnnNonzeroV2", {"self": Meta((2**31, 1), acl.ACL_INT8)}, I, "self has shape [2147483648, 1]"),
    ("aclnnNonzeroV2", {"self": None}, N, "self must not"),
    ("aclnnNonzeroV2", {"out": None}, N, "out must not"),
    ("aclnnNonzeroV2", {"self": Meta((3,), acl.ACL_COMPLEX64)}, I, "self has dtype"),
    ("aclnnNonzeroV2", {"out": Meta((2, 12), acl.ACL_INT32)}, I, "out has dtype"),
    ("aclnnNonzeroV2", {"self": Meta((1,) * 9, F)}, I, "self has 9 dimensions"),
    ("aclnnMaskedSelect", {"self": None}, N, "self must not"),
    ("aclnnMaskedSelect", {"mask": None}, N, "mask must not"),
    ("aclnnMaskedSelect", {"out": None}, N, "out must not"),
    ("aclnnMaskedSelect", {"self": Meta((3, 4), acl.ACL_COMPLEX64)}, I, "self has dtype"),
    ("aclnnMaskedSelect", {"mask": Meta((3, 4), acl.ACL_INT32)}, I, "mask has dtype"),
    ("aclnnMaskedSelect", {"out": Meta((12,), L)}, I, "out has dtype"),
    ("aclnnMaskedSelect", {"mask": Meta((5,), acl.ACL_BOOL)}, I, "mask has shape"),
    ("aclnnMaskedSelect", {"out": Meta((3, 4), F)}, I, "out has 2 dimensions"),
    ("aclnnMaskedSelect", {"out": Meta((11,), F)}, I, "out has 11 elements"),
    ("aclnnOneHot", {"self": None}, N, "self must not"),
    ("aclnnOneHot", {"onValue": None}, N, "onValue must not"),
    ("aclnnOneHot", {"offValue": None}, N, "offValue must not"),
    ("aclnnOneHot", {"out": None}, N, "out must not"),
    ("aclnnOneHot", {"self": Meta((4, 2), acl.ACL_INT16)}, I, "self has dtype"),
    ("aclnnOneHot", {"onValue": Meta((1,), acl.ACL_BOOL)}, I, "onValue has dtype"),
    ("aclnnOneHot", {"offValue": Meta((1,), acl.ACL_BOOL)}, I, "offValue has dtype"),
    ("aclnnOneHot", {"out": Meta((4, 2, 5), acl.ACL_BOOL)}, I, "out has dtype"),
    ("aclnnOneHot", {"onValue": Meta((1,), L)}, I, "onValue has dtype"),
    ("aclnnOneHot", {"self": Meta((0, 2), L), "numClasses": 0}, I, "numClasses is 0"),
    ("aclnnOneHot", {"numClasses": -1}, I, "numClasses is -1"),
    ("aclnnOneHot", {"axis": -2}, I, "axis is -2"),
    ("aclnnOneHot", {"axis": 3}, I, "axis is 3"),
    ("aclnnOneHot", {"out": Meta((4, 10), F)}, I, "out has shape"),
    ("aclnnOneHot", {"out": Meta((4, 5, 2), F)}, I, "out has shape"),
    ("aclnnOneHot", {"self": Meta((1,) * 9, L)}, I, "self has 9 dimensions"),
    ("aclnnInplaceMaskedFillScalar", {"selfRef": None}, N, "selfRef must not"),
    ("aclnnInplaceMaskedFillScalar", {"mask": None}, N, "mask must not"),
    ("aclnnInplaceMaskedFillScalar", {"value": None}, N, "value must not"),
    ("aclnnInplaceMaskedFillScalar", {"selfRef": Meta((3, 4), acl.ACL_COMPLEX64)}, I, "selfRef has dtype"),
    ("aclnnInplaceMaskedFillScalar", {"mask": Meta((3, 4), acl.ACL_UINT8)}, I, "mask has dtype"),
    ("aclnnInplaceMaskedFillScalar", {"mask": Meta((3, 3), acl.ACL_BOOL)}, I, "mask has shape"),
    ("aclnnInplaceMaskedFillScalar", {"value": np.complex64(1j)}, I, "value has dtype"),
    ("aclnnInplaceMaskedFillTensor", {"selfRef": None}, N, "selfRef must not"),
    ("aclnnInplaceMaskedFillTensor", {"mask": None}, N, "mask must not"),
    ("aclnnInplaceMaskedFillTensor", {"value": None}, N, "value must not"),
    ("aclnnInplaceMaskedFillTensor", {"selfRef": Meta((3, 4), acl.ACL_COMPLEX64)}, I, "selfRef has dtype"),
    ("aclnnInplaceMaskedFillTensor", {"mask": Meta((3, 4), acl.ACL_UINT8)}, I, "mask has dtype"),
    ("aclnnInplaceMaskedFillTensor", {"mask": Meta((3, 3), acl.ACL_BOOL)}, I, "mask has shape"),
    ("aclnnInplaceMaskedFillTensor", {"value": Meta((), acl.ACL_COMPLEX64)}, I, "value has dtype"),
    ("aclnnInplaceMaskedFillTensor", {"value": Meta((2,), F)}, I, "value has 2 elements"),
]


@pytest.mark.parametrize(("name", "changes", "status", "text"), ERRORS, ids=lambda value: str(value)[:60])
def test_errors(name: str, changes: dict[str, Any], status: int, text: str) -> None:
    assert Case(name, next(aclnnop.find(name).examples())).but(**changes).status() == status
    assert text in message()


NEWER = {"950", "A3", "A2"}
CHIPS = {"Ascend950PR_9589": "950", "Ascend910_9391": "A3", "Ascend910B1": "A2", "Ascend310P3": "310P", "Ascend910A": "910"}
PRODUCTS = {
    "aclnnEmbedding": NEWER | {"310B", "310P", "910"},
    "aclnnEmbeddingDenseBackward": NEWER | {"910"},
    "aclnnIndexSelect": NEWER | {"310P", "910"},
    "aclnnGather": {"A3", "A2"},
    "aclnnNonzero": NEWER | {"310P", "910"},
    "aclnnNonzeroV2": NEWER | {"310P", "910"},
    "aclnnMaskedSelect": NEWER | {"310P", "910"},
    "aclnnOneHot": NEWER | {"310P", "910"},
    "aclnnInplaceMaskedFillScalar": NEWER | {"310P", "910"},
    "aclnnInplaceMaskedFillTensor": NEWER | {"910"},
}


@pytest.mark.parametrize(("name", "products"), PRODUCTS.items())
def test_products(name: str, products: set[str], chip: Callable[[str], None]) -> None:
    assert products_of(Case(name, next(aclnnop.find(name).examples())), chip) == products


@pytest.mark.parametrize(
    ("name", "parameter", "code", "accepting"),
    [
        ("aclnnNonzero", "self", acl.ACL_UINT32, {"950"}),
        ("aclnnNonzeroV2", "self", acl.ACL_UINT32, NEWER | {"310P", "910"}),
        ("aclnnNonzero", "self", acl.ACL_BF16, NEWER),
        ("aclnnOneHot", "self", acl.ACL_UINT8, NEWER - {"A3"} | {"310P", "910"}),
    ],
)
def test_types_of_products(name: str, parameter: str, code: int, accepting: set[str], chip: Callable[[str], None]) -> None:
    case = Case(name, next(aclnnop.find(name).examples()))
    case = case.but(**{parameter: Meta(case.arguments[parameter].shape, code)})
    for soc, product in CHIPS.items():
        chip(soc)
        assert (case.status() == 0) == (product in accepting), soc


@pytest.mark.parametrize("name", ["aclnnNonzero", "aclnnNonzeroV2"])
def test_coordinates_beyond_int32(name: str, chip: Callable[[str], None]) -> None:
    case = Case(name, {"self": Meta((2**31,), acl.ACL_INT8), "out": Meta((1, 1), L)})
    for soc, product in CHIPS.items():
        chip(soc)
        assert case.status() == (0 if product == "950" else I), soc
        assert case.but(self=Meta((2**31 - 1,), acl.ACL_INT8)).status() == 0, soc


def test_half_types_are_moved_bit_by_bit(device: int) -> None:
    """Also numbers that are none."""
    weight = np.arange(65536, dtype=np.uint16).view(ml_dtypes.bfloat16).reshape(256, 256)
    places = np.arange(256)[::-1].copy()
    case = Case("aclnnEmbedding", {"weight": weight, "indices": places, "out": np.zeros_like(weight)})
    assert case.run().view(np.uint16).tolist() == weight[::-1].view(np.uint16).tolist()


@pytest.mark.parametrize(("width", "count"), [(1, 100_000), (3, 30_000), (520, 4_200)])
@pytest.mark.parametrize("dtype", [np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.int64)], ids=str)
def test_large(width: int, count: int, dtype: Any, device: int) -> None:
    """On several threads, past the caches, and along another dimension."""
    weight = numbers((500, width), dtype, 1, 99)
    places = np.random.default_rng(2).integers(0, 500, count).astype(np.int32)
    case = Case("aclnnEmbedding", {"weight": weight, "indices": places, "out": np.zeros((count, width), dtype)})
    golden = weight[places]
    assert case.run().tobytes() == golden.tobytes()
    stacked = np.stack([weight, weight + weight])
    case = Case("aclnnIndexSelect", {"self": stacked, "dim": 1, "index": places, "out": np.zeros((2, count, width), dtype)})
    assert case.run().tobytes() == np.stack([golden, golden + golden]).tobytes()
    places[-1] = 500
    with pytest.raises(Refused, match=re.escape(f"index[{count - 1}] is 500, outside [0, 499]")):
        case.but(index=places).run()
