"""aclnnSmoothL1LossBackward."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACL_FORMAT_NCHW, ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, FLOATS, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import broadcasting_shapes, float_dtypes, floats, layouts
from tests.operators.products import products_of
from tests.operators.refusals import assert_refused

NONE, MEAN, SUM = 0, 1, 2


def golden(grad: Array, x: Array, y: Array, reduction: int, beta: float) -> Array:
    """The documented formula in float64, element by element; the program's beta is a C float."""
    beta = float(np.float32(beta))
    grad, x, y = (array.astype(np.float64) for array in np.broadcast_arrays(grad, x, y))
    result = np.empty(x.shape)
    for where in np.ndindex(x.shape):
        d = x[where] - y[where]
        slope = d / beta if abs(d) < beta else math.copysign(1, d) if d > 0 or d < 0 else d * 0
        result[where] = grad[where] * slope / (result.size if reduction == MEAN else 1)
    return result


def case(grad: Array, x: Array, y: Array, reduction: int, beta: float, out: Array) -> Case:
    arguments = {"gradOut": grad, "self": x, "target": y, "reduction": reduction, "beta": beta, "gradInput": out}
    return Case("aclnnSmoothL1LossBackward", arguments)


def valid(shape: tuple[int, ...] = (2, 3), dtype=FLOAT) -> Case:
    grad, x, y, out = (numbers(shape, dtype, seed) for seed in range(4))
    return case(grad, x, y, MEAN, 1.0, out)


def combined(*dtypes: np.dtype) -> np.dtype:
    return dtypes[0] if len(set(dtypes)) == 1 else FLOAT


def test_documented_sample(device: int) -> None:
    grad = np.ones((2, 2, 2), np.float32)
    x = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    y = np.array([1, 1, 1, 1, 1, 1, 1, 1], np.float32).reshape(2, 2, 2)
    assert_equal(case(grad, x, y, NONE, 1.0, np.empty_like(x)).run().ravel(), [-1, 0, 1, 1, 1, 1, 1, 1])


@given(st.data())
def test_values(device: int, data: st.DataObject) -> None:
    """Every mix of types, shapes that broadcast, strides, reductions and betas."""
    shapes = data.draw(broadcasting_shapes(3))
    dtypes = [data.draw(float_dtypes) for _ in range(3)]
    inputs = [data.draw(floats(shape, dtype)) for shape, dtype in zip(shapes.input_shapes, dtypes, strict=True)]
    reduction = data.draw(st.sampled_from((NONE, MEAN, SUM)))
    beta = data.draw(st.sampled_from((0.0, 1e-3, 0.3, 1.0, 7.5)))
    out = np.full(shapes.result_shape, 7, data.draw(float_dtypes))
    result = case(*inputs, reduction, beta, out).run(data.draw(layouts))
    assert_accurate(result, golden(*inputs, reduction, beta), via=combined(*dtypes))


@pytest.mark.parametrize("types", list(itertools.product(FLOATS, repeat=4)), ids=lambda types: "-".join(map(str, types)))
def test_every_mix_of_types(types: tuple[np.dtype, ...], device: int) -> None:
    *ins, out = types
    inputs = [numbers((40,), dtype, seed) for seed, dtype in enumerate(ins)]
    result = case(*inputs, SUM, 0.9, np.zeros(40, out)).run()
    assert result.dtype == out
    assert_accurate(result, golden(*inputs, SUM, 0.9), via=combined(*ins))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("beta", [0.0, 1.0, math.inf])
def test_infinities_nan_and_the_edges_of_beta(dtype: np.dtype, beta: float, device: int) -> None:
    values = np.array([-math.inf, -2, -1, -0.0, 0.0, 0.5, 1, 2, math.inf, math.nan])
    x, y = (part.ravel().astype(dtype) for part in np.meshgrid(values, values))
    grad = np.resize([1.0, -3.0, 0.0, math.inf], x.shape).astype(dtype)
    with np.errstate(invalid="ignore"):
        expected = golden(grad, x, y, NONE, beta)
    assert_accurate(case(grad, x, y, NONE, beta, np.empty_like(x)).run(), expected)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_overflow_and_underflow(dtype: np.dtype, device: int) -> None:
    grad = np.array([6e4, 3e38, -3.4e38, 1e-7, 1e-40, 6e-8, 65519, 65520], np.float32)
    twos, zeros = np.full(8, 2, np.float32), np.zeros(8, np.float32)
    result = case(grad, twos, zeros, SUM, 1.0, np.empty(8, dtype)).run()
    assert_accurate(result, golden(grad, twos, zeros, SUM, 1.0), via=FLOAT)


def test_beta_is_a_c_float(device: int) -> None:
    """0.1 as a float is larger than 0.1 as a double: a difference of exactly that float is not within it."""
    x = np.array([np.float32(0.1)])
    assert_equal(case(np.ones_like(x), x, np.zeros_like(x), NONE, 0.1, np.empty_like(x)).run(), [1.0])


@pytest.mark.parametrize("shape", [(), (1,) * 8, (2, 1, 2, 1, 2, 1, 2, 1)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_ranks_from_zero_to_eight(shape: tuple[int, ...], dtype: np.dtype, device: int) -> None:
    call = valid(shape, dtype)
    values = [call.arguments[name] for name in ("gradOut", "self", "target")]
    assert_accurate(call.run(3), golden(*values, MEAN, 1.0))


@pytest.mark.parametrize("shapes", [((0,), (1,), ()), ((2, 0), (2, 1), (0,)), ((0, 3), (0, 3), (0, 3))], ids=str)
def test_empty(shapes: tuple[tuple[int, ...], ...], device: int) -> None:
    inputs = [np.zeros(shape, np.float16) for shape in shapes]
    call = case(*inputs, MEAN, 1.0, np.zeros(np.broadcast_shapes(*shapes), np.float32))
    assert call.plan() == (0, 0)
    assert call.run().size == 0


ERRORS = [
    ({"reduction": -1}, "reduction"),
    ({"reduction": 3}, "reduction"),
    ({"beta": -1e-3}, "beta"),
    ({"beta": math.nan}, "beta"),
    ({"gradOut": Meta((2, 3), np.int32)}, "gradOut"),
    ({"self": Meta((2, 3), np.float64)}, "self"),
    ({"target": Meta((2, 3), np.bool_)}, "target"),
    ({"gradInput": Meta((2, 3), np.float64)}, "gradInput"),
    ({"gradInput": Meta((3, 2), np.float32)}, "gradInput"),
    ({"gradInput": Meta((6,), np.float32)}, "gradInput"),
    ({"gradInput": Meta((1, 2, 3), np.float32)}, "gradInput"),
    ({"target": Meta((2, 4), np.float32)}, "target"),
    ({"target": Meta((0, 3), np.float32)}, "target"),
    ({"self": Meta((1,) * 9, np.float32)}, "self"),
    ({"self": Meta((2, -3), np.float32)}, "self"),
]


@pytest.mark.parametrize(("changes", "named"), ERRORS, ids=lambda item: str(item)[:50])
def test_parameter_errors(changes: dict, named: str) -> None:
    assert valid().but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert named in message()


def test_a_result_that_broadcasts_needs_its_shape() -> None:
    call = valid().but(gradOut=Meta((4, 1, 1), np.float32))
    assert call.status() == ACLNN_ERR_PARAM_INVALID
    assert call.but(gradInput=Meta((4, 2, 3), np.float32)).status() == 0


ORDER = [
    ({"gradInput": None, "gradOut": Meta((2, 3), np.int8), "reduction": 9}, ACLNN_ERR_PARAM_NULLPTR, "gradInput"),
    ({"gradOut": Meta((2, 3), np.int8), "self": Meta((1,) * 9, np.float32)}, ACLNN_ERR_PARAM_INVALID, "gradOut has dtype"),
    ({"target": Meta((1,) * 9, np.float32), "reduction": 9}, ACLNN_ERR_PARAM_INVALID, "target has 9 dimensions"),
    ({"reduction": 9, "beta": -1.0}, ACLNN_ERR_PARAM_INVALID, "reduction is 9"),
    ({"beta": -1.0, "target": Meta((5, 5), np.float32)}, ACLNN_ERR_PARAM_INVALID, "beta is -1"),
    ({"target": Meta((5, 5), np.float32), "gradInput": Meta((7,), np.float32)}, ACLNN_ERR_PARAM_INVALID, "target has shape"),
]


def test_order_of_checks(chip) -> None:
    assert_refused([(valid(), *wrong) for wrong in ORDER], chip, ("Ascend910B1", "Ascend310B1"))


def test_products(chip) -> None:
    assert products_of(valid(), chip) == {"950", "A3", "A2", "310P", "910"}
    chip("Ascend310B1")
    assert valid().status() == ACLNN_ERR_INNER_NULLPTR
    assert "Ascend310B1" in message()
    assert valid((0, 3)).plan() == (0, 0)


@pytest.mark.parametrize("name", ["gradOut", "self", "target", "gradInput"])
def test_bf16_by_chip(name: str, chip) -> None:
    call = valid().but(**{name: Meta((2, 3), BF16)})
    for soc, status in (("Ascend310P3", ACLNN_ERR_PARAM_INVALID), ("Ascend910A", ACLNN_ERR_PARAM_INVALID), ("Ascend910_9391", 0)):
        chip(soc)
        assert call.status() == status, soc


def test_any_format() -> None:
    assert valid((1, 2, 3, 4)).but(self=Meta((1, 2, 3, 4), np.float32, format=ACL_FORMAT_NCHW)).status() == 0


@pytest.mark.parametrize(
    ("changes", "needed"),
    [({}, False), ({"gradOut": FLOAT16}, True), ({"gradInput": BF16}, True), ({"self": BF16, "target": FLOAT16}, True)],
    ids=str,
)
def test_a_cast_needs_workspace(changes: dict, needed: bool) -> None:
    call = valid().but(**{name: Meta((2, 3), dtype) for name, dtype in changes.items()})
    status, size = call.plan()
    assert status == 0
    assert (size > 0) == needed
