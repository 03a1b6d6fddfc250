"""What all element-wise losses and their gradients have in common."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aclnnop
from acl_emu import ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from acl_emu.tools import describe
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta
from tests.operators.drawing import broadcasting_shapes, float_dtypes, floats, layouts, shapes
from tests.operators.losses import BY_NAME, LOSSES, MEAN, NONE, SUM, Loss

every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.operator)
INVALID = ACLNN_ERR_PARAM_INVALID


def combined(case: Case, loss: Loss) -> np.dtype:
    found = {array.dtype for array in map(case.arguments.get, loss.inputs) if array is not None}
    return found.pop() if len(found) == 1 else FLOAT


def check(loss: Loss, case: Case, layout: int = 0) -> None:
    golden, largest = loss.golden(case)
    result = case.run(layout)
    assert result.dtype == case.arguments[loss.out].dtype
    assert_accurate(result, golden, via=combined(case, loss), largest=largest)


@st.composite
def calls(draw: st.DrawFn, loss: Loss) -> Case:
    """Types, shapes, absent weights, reductions and attributes as documented."""
    dtype = draw(float_dtypes)
    if loss.onto_self or loss.shaped_as_self:
        whole = draw(shapes(least=0))
        where = {name: whole if name in ("self", *loss.shaped_as_self) else draw(onto(whole)) for name in loss.inputs}
    else:
        where = dict(zip(loss.inputs, draw(broadcasting_shapes(len(loss.inputs))).input_shapes, strict=True))
    inputs: dict[str, Array | None] = {}
    for name, shape in where.items():
        choices = st.just(dtype) if name in ("self", *loss.like_self) else float_dtypes
        if name in loss.mixed:
            choices = st.just(dtype) if dtype == BF16 else st.sampled_from((FLOAT, FLOAT16))
        own = draw(choices)
        absent = name in loss.optional and draw(st.booleans())
        inputs[name] = None if absent else loss.within(name, draw(floats(shape, own)))
    attributes = {name: draw(st.sampled_from(values)) for name, values in loss.attributes.items()}
    out = dtype if loss.out in loss.like_self else draw(float_dtypes)
    return loss.case(inputs, draw(st.sampled_from((NONE, MEAN, SUM))), out, **attributes)


@st.composite
def onto(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to another one."""
    return tuple(draw(st.sampled_from((1, length))) for length in shape[draw(st.integers(0, len(shape))) :])


@every_loss
@given(st.data())
def test_values(loss: Loss, device: int, data: st.DataObject) -> None:
    check(loss, data.draw(calls(loss)), data.draw(layouts))


@every_loss
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_infinities_nan_and_edges(loss: Loss, dtype: np.dtype, device: int) -> None:
    values = np.array([-math.inf, -2, -1, -0.0, 0.0, 0.25, 1, 2, math.inf, math.nan])
    x, y = (part.ravel().astype(dtype) for part in np.meshgrid(values, values))
    others = np.resize([1.0, -3.0, 0.5], x.shape).astype(dtype)
    case = loss.case({name: {"self": x, "target": y}.get(name, others) for name in loss.inputs}, NONE, dtype)
    check(loss, case)


@every_loss
@pytest.mark.parametrize("reduction", [NONE, MEAN, SUM])
def test_many_elements(loss: Loss, reduction: int, device: int) -> None:
    """Sums of many terms are as accurate as those of a few."""
    check(loss, loss.valid((300, 331), FLOAT, reduction), 5)


@every_loss
@pytest.mark.parametrize("shape", [(), (1,) * 8, (2, 1, 2, 1, 2, 1, 2, 1)], ids=str)
@pytest.mark.parametrize("reduction", [NONE, MEAN])
def test_ranks_from_zero_to_eight(loss: Loss, shape: tuple[int, ...], reduction: int, device: int) -> None:
    check(loss, loss.valid(shape, FLOAT16, reduction), 3)


@every_loss
def test_nothing_to_do(loss: Loss, device: int) -> None:
    call = loss.valid((2, 0), FLOAT16)
    assert call.plan() == (0, 0)
    assert call.run().shape == (2, 0)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if not loss.gradient], ids=lambda loss: loss.operator)
def test_reductions_of_nothing(loss: Loss, device: int) -> None:
    """The sum of nothing is 0, its mean is not a number."""
    assert_equal(loss.valid((0, 3), FLOAT, SUM).run(), np.zeros(loss.out_shape((0, 3), SUM)))
    assert_equal(loss.valid((0, 3), BF16, MEAN).run(), np.full(loss.out_shape((0, 3), MEAN), math.nan))


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if not loss.gradient and not loss.first_axis], ids=lambda loss: loss.operator)
def test_shape_of_a_reduced_output(loss: Loss, device: int) -> None:
    for shape in loss.reduced:
        call = loss.valid(reduction=MEAN).but(**{loss.out: np.zeros(shape, FLOAT)})
        check(loss, call)


@every_loss
def test_order_of_checks(loss: Loss, chip) -> None:
    """Null, type, dimensions, reduction, shape; the product comes last."""
    byte, deep, odd = Meta((2, 3), np.int8), Meta((1,) * 9, np.float32), Meta((7, 5), np.float32)
    order: list[tuple[dict[str, Any], int, str]] = [
        ({loss.out: None, "self": byte}, ACLNN_ERR_PARAM_NULLPTR, loss.out),
        ({"self": byte, "target": deep}, INVALID, "self has dtype"),
        ({"target": deep, "reduction": 9}, INVALID, "target has 9 dimensions"),
        ({"reduction": 9, loss.out: odd}, INVALID, f"{loss.out} has shape" if loss.any_reduction else "reduction is 9"),
        ({"target": Meta((4, 4), np.float32), loss.out: odd}, INVALID, "target has shape"),
        ({loss.out: odd}, INVALID, f"{loss.out} has shape"),
    ]
    for soc in ("Ascend910B1", "Ascend310B1"):
        chip(soc)
        for changes, status, text in order:
            assert loss.valid().but(**changes).status() == status
            assert text in message()


@every_loss
def test_types_that_must_agree(loss: Loss) -> None:
    for name in (*loss.inputs, loss.out):
        if name != "self":
            status = loss.valid().but(**{name: Meta((2, 3), FLOAT16)}).status()
            assert status == (INVALID if name in loss.like_self else 0), name
            assert status == 0 or name in message()


@every_loss
def test_shapes_that_do_not_fit(loss: Loss) -> None:
    for name in loss.inputs:
        for shape in ((2, 4), (0, 3), (6,)):
            assert loss.valid().but(**{name: Meta(shape, FLOAT)}).status() == INVALID, (name, shape)
        smaller = loss.valid().but(**{name: Meta((1, 3), FLOAT)}).status()
        refused = name in loss.shaped_as_self or (name == "self" and (loss.onto_self or loss.shaped_as_self))
        assert smaller == (INVALID if refused else 0), name
        larger = loss.valid().but(**{name: Meta((4, 2, 3), FLOAT)})
        assert larger.status() == INVALID
        enlarged = larger.but(**{loss.out: Meta((4, 2, 3), FLOAT)}).status()
        fixed = loss.shaped_as_self or (loss.onto_self and name != "self")
        assert enlarged == (INVALID if fixed else 0), name


@every_loss
def test_products(loss: Loss) -> None:
    assert describe.products(aclnnop.find(loss.operator)) == loss.products.replace(" ", ", ")


SAMPLES: list[tuple[str, dict[str, Any], int, list[float]]] = [
    ("aclnnL1Loss", {"self": [[0, 1], [2, 3]], "target": [[1, 1], [1, 1]]}, MEAN, [1.0]),
    ("aclnnL1LossBackward", {"gradOutput": [0, 1, 2, 3], "self": [0, 1, 2, 3], "target": [1, 1, 1, 1]}, MEAN, [0, 0, 0.5, 0.75]),
    ("aclnnMseLoss", {"self": [[0, 1], [2, 3]], "target": [[1, 1], [1, 1]]}, MEAN, [1.5]),
    ("aclnnMseLossOut", {"self": [[0, 1], [2, 3]], "target": [[1, 1], [1, 1]]}, MEAN, [1.0, 2.0]),
    ("aclnnMseLossBackward", {"gradOutput": [0, 1, 2, 3], "self": [0, 1, 2, 3], "target": [1, 1, 1, 1]}, MEAN, [0, 0, 1, 3]),
    ("aclnnSmoothL1Loss", {"self": [1, 1], "target": [1, 1]}, NONE, [0, 0]),
    ("aclnnSoftMarginLoss", {"self": [0.3, 0.7, 0.5, 0.5], "target": [-1, 1, 1, -1]}, NONE, [0.854355, 0.403186, 0.474077, 0.974077]),
    (
        "aclnnSoftMarginLossBackward",
        {"gradOutput": [0, 1, 2, 3], "self": [0, 1, 2, 3], "target": [1, 1, 1, 1]},
        MEAN,
        [0, -0.067235, -0.059601, -0.035569],
    ),
    ("aclnnBinaryCrossEntropy", {"self": [0.3], "target": [0.5], "weight": [1]}, NONE, [0.780324]),
    ("aclnnBinaryCrossEntropyBackward", {"gradOutput": [0.1], "self": [0.3], "target": [0.5], "weightOptional": [1]}, NONE, [-0.095238]),
    (
        "aclnnBinaryCrossEntropyWithLogits",
        {"self": [0.1, 0.2, 0.3, 0.4], "target": [0.2, 0.1, 0.2, 0.1], "weightOptional": [0.5] * 4, "posWeightOptional": [0.5] * 4},
        NONE,
        [0.329978, 0.374116, 0.369460, 0.423682],
    ),
    (
        "aclnnBinaryCrossEntropyWithLogitsBackward",
        {name: [0, 1, 2, 3] for name in ("gradOutput", "self", "weightOptional", "posWeightOptional")} | {"target": [0.1] * 4},
        NONE,
        [0, 0.631059, 3.075507, 7.587801],
    ),
]


@pytest.mark.parametrize(("operator", "inputs", "reduction", "printed"), SAMPLES, ids=lambda item: str(item)[:40])
def test_documented_sample(operator: str, inputs: dict[str, Any], reduction: int, printed: list[float], device: int) -> None:
    """The numbers of the documents' programs, as they are printed: worked out by hand from the formulas."""
    call = BY_NAME[operator].case({name: np.array(values, np.float32) for name, values in inputs.items()}, reduction, np.float32)
    np.testing.assert_allclose(call.run().ravel(), printed, atol=5.1e-7, rtol=0)
