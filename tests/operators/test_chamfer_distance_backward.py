"""aclnnChamferDistanceBackward."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acl_emu import ACLNN_ERR_INNER_NULLPTR, ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR
from tests.conftest import message
from tests.operators.accuracy import BF16, FLOAT, FLOAT16, assert_accurate, assert_equal
from tests.operators.case import Array, Case, Meta, numbers
from tests.operators.drawing import floats, layouts


def valid(batch: int = 2, first: int = 5, second: int = 4, dtype=FLOAT) -> Case:
    rng = np.random.default_rng(1)
    return Case(
        "aclnnChamferDistanceBackward",
        {
            "xyz1": numbers((batch, first, 2), dtype, 1),
            "xyz2": numbers((batch, second, 2), dtype, 2),
            "idx1": rng.integers(0, max(second, 1), (batch, first)).astype(np.int32),
            "idx2": rng.integers(0, max(first, 1), (batch, second)).astype(np.int32),
            "gradDist1": numbers((batch, first), dtype, 3),
            "gradDist2": numbers((batch, second), dtype, 4),
            "gradXyz1": numbers((batch, first, 2), dtype, 5),
            "gradXyz2": numbers((batch, second, 2), dtype, 6),
        },
    )


def golden(call: Case) -> tuple[Array, Array, float]:
    """Derivatives of the squared distances, coordinate by coordinate; and the largest term."""
    xyz = [call.arguments[f"xyz{i}"].astype(np.float64) for i in (1, 2)]
    grads, largest = [np.zeros(points.shape) for points in xyz], 0.0
    for side, other in ((0, 1), (1, 0)):
        nearest, grad = call.arguments[f"idx{side + 1}"], call.arguments[f"gradDist{side + 1}"]
        for b, i in np.ndindex(nearest.shape):
            j = int(nearest[b, i])
            if 0 <= j < xyz[other].shape[1]:
                for axis in range(2):
                    term = 2 * float(grad[b, i]) * (xyz[side][b, i, axis] - xyz[other][b, j, axis])
                    grads[side][b, i, axis] += term
                    grads[other][b, j, axis] -= term
                    largest = max(largest, abs(term))
    return grads[0], grads[1], largest


def test_documented_sample(device: int) -> None:
    """The second batch's indices are those of no point: it has no gradient."""
    order = np.arange(4, dtype=np.int32).reshape(2, 2)
    call = valid(2, 2, 2).but(
        xyz1=np.arange(8, dtype=np.float32).reshape(2, 2, 2),
        xyz2=np.array([1, 1, 1, 2, 2, 2, 3, 3], np.float32).reshape(2, 2, 2),
        idx1=order,
        idx2=order,
        gradDist1=order.astype(np.float32),
        gradDist2=order.astype(np.float32),
    )
    one, two = call.results()
    assert_equal(one, [[[0, 0], [4, 4]], [[0, 0], [0, 0]]])
    assert_equal(two, -one)


@given(st.data())
def test_values(device: int, data: st.DataObject) -> None:
    """Types, also mixed; shapes, empty ones among them; indices of no point; strides."""
    lengths = data.draw(st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(0, 6)))
    dtypes = st.sampled_from((FLOAT, FLOAT16))
    call, changes = valid(*lengths), {}
    for name in ("xyz1", "xyz2", "gradDist1", "gradDist2"):
        changes[name] = data.draw(floats(call.arguments[name].shape, data.draw(dtypes)))
    for name in ("gradXyz1", "gradXyz2"):
        changes[name] = call.arguments[name].astype(data.draw(dtypes))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    reach = data.draw(st.sampled_from((0, 1)))
    for name, count in (("idx1", lengths[2]), ("idx2", lengths[1])):
        changes[name] = rng.integers(-reach, max(count, 1) + reach, call.arguments[name].shape).astype(np.int32)
    call = call.but(**changes)
    one, two, largest = golden(call)
    via = FLOAT if any(changes[name].dtype == FLOAT for name in ("xyz1", "xyz2", "gradDist1", "gradDist2")) else FLOAT16
    results = call.results(data.draw(layouts))
    assert_accurate(results[0], one, via=via, largest=largest)
    assert_accurate(results[1], two, via=via, largest=largest)


def test_many_points_have_one_nearest(device: int) -> None:
    call = valid(1, 20000, 3)
    one, two, _ = golden(call)
    results = call.results()
    assert_accurate(results[0], one)
    assert_accurate(results[1], two)


def test_empty(device: int) -> None:
    assert valid(0).plan() == valid(2, 0, 0).plan() == (0, 0)
    assert_equal(valid(2, 0, 4).results()[1], np.zeros((2, 4, 2)))


ERRORS = [
    ({"xyz1": Meta((2, 5, 2), BF16)}, "xyz1"),
    ({"gradDist2": Meta((2, 4), np.float64)}, "gradDist2"),
    ({"idx1": Meta((2, 5), np.int64)}, "idx1"),
    ({"gradXyz2": Meta((2, 4, 2), np.int32)}, "gradXyz2"),
    ({"xyz1": Meta((2, 5), FLOAT)}, "xyz1"),
    ({"xyz1": Meta((2, 5, 3), FLOAT)}, "xyz1"),
    ({"xyz2": Meta((3, 4, 2), FLOAT)}, "xyz2"),
    ({"idx1": Meta((2, 4), np.int32)}, "idx1"),
    ({"idx2": Meta((2, 5), np.int32)}, "idx2"),
    ({"gradDist1": Meta((2, 4), FLOAT)}, "gradDist1"),
    ({"gradDist2": Meta((2, 5), FLOAT)}, "gradDist2"),
    ({"gradXyz1": Meta((2, 4, 2), FLOAT)}, "gradXyz1"),
    ({"gradXyz2": Meta((2, 5, 2), FLOAT)}, "gradXyz2"),
]


@pytest.mark.parametrize(("changes", "named"), ERRORS, ids=lambda item: str(item)[:60])
def test_parameter_errors(changes: dict, named: str) -> None:
    assert valid().but(**changes).status() == ACLNN_ERR_PARAM_INVALID
    assert f": {named} " in message()


@pytest.mark.parametrize("soc", ["Ascend910B1", "Ascend910A"])
def test_order_of_checks(soc: str, chip) -> None:
    chip(soc)
    assert valid().but(gradXyz2=None, xyz1=Meta((1,), np.int8)).status() == ACLNN_ERR_PARAM_NULLPTR
    assert valid().but(gradXyz2=Meta((1, 1, 1), np.int8), xyz1=Meta((2, 5, 3), FLOAT)).status() == ACLNN_ERR_PARAM_INVALID
    assert "gradXyz2 has dtype" in message()


def test_products(chip) -> None:
    for soc in ("Ascend950PR_9589", "Ascend910_9391", "Ascend910B1"):
        chip(soc)
        assert valid().status() == 0, soc
    for soc in ("Ascend310P3", "Ascend310B1", "Ascend910A"):
        chip(soc)
        assert valid().status() == ACLNN_ERR_INNER_NULLPTR, soc
