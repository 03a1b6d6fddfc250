"""What holds for every operator, by its declaration."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import acl_emu as acl
from acl_emu.codegen.python_faces import operators
from acl_emu.core import dtypes, soc
from acl_emu.spec import CHOICE
from acl_emu.spec.kinds import HandleKind, IntKind, StringKind, TensorKind
from tests.conftest import message, run_python
from tests.operators.case import Case, Meta
from tests.operators.examples import EXAMPLES

REGISTRY = {operator.name: operator for operator in operators()}
CASES = [
    pytest.param(case, id=f"{name}-{i}") for name in sorted(REGISTRY.keys() & EXAMPLES.keys()) for i, case in enumerate(EXAMPLES[name]())
]
every_case = pytest.mark.parametrize("case", CASES)


def tensors(case: Case) -> list[tuple[str, TensorKind, np.ndarray]]:
    """The tensor arguments that the call gives."""
    return [
        (name, kind, case.arguments[name])
        for name, kind in case.declared.parameters
        if isinstance(kind, TensorKind) and case.arguments[name] is not None
    ]


def holds(chip: soc.Soc, kind: TensorKind, array: np.ndarray) -> bool:
    """Whether a chip has the type of a tensor."""
    dtype = dtypes.from_numpy(array.dtype)
    return dtype in kind.dtypes_on(chip) if kind.allowed else chip.bf16 or dtype is not dtypes.BF16


@contextmanager
def on_a_chip_that_has(case: Case) -> Iterator[None]:
    """The default chip where it has the operator, else the first that has."""
    if soc.current().product in case.declared.products:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACL_EMU_SOC", next(name for name, chip in soc.PROFILES.items() if chip.product in case.declared.products))
        soc.current.cache_clear()
        yield
    soc.current.cache_clear()


@pytest.fixture(autouse=True)
def _its_chip(request: pytest.FixtureRequest) -> Iterator[None]:
    if "case" not in request.fixturenames:
        yield
        return
    with on_a_chip_that_has(request.getfixturevalue("case")):
        yield


def digests() -> list[str]:
    """Every example's results, as text."""
    found = []
    for parameter in CASES:
        with on_a_chip_that_has(parameter.values[0]):
            results = parameter.values[0].results()
        found += [f"{parameter.id} {hashlib.sha256(result.tobytes()).hexdigest()}" for result in results]
    return found


def test_every_operator_has_an_example() -> None:
    assert REGISTRY.keys() == EXAMPLES.keys()


def test_no_check_is_made_twice() -> None:
    assert [name for name, operator in REGISTRY.items() if len(set(operator.checks)) < len(operator.checks)] == []


@every_case
def test_examples_are_accepted(case: Case) -> None:
    assert case.status() == 0


@every_case
def test_null_for_a_required_parameter(case: Case) -> None:
    required = [
        name for name, kind in case.declared.parameters if isinstance(kind, (TensorKind, HandleKind, StringKind)) and not kind.optional
    ]
    for name in required:
        assert case.but(**{name: None}).status() == acl.ACLNN_ERR_PARAM_NULLPTR, name
        assert name in message()


@every_case
def test_dtype_outside_the_declaration(case: Case) -> None:
    for name, kind, array in tensors(case):
        allowed = {dtype.code for dtype in kind.dtypes_on(soc.current())}
        for code in [*dtypes.BY_CODE, acl.ACL_DT_UNDEFINED, 77] if allowed else [acl.ACL_DT_UNDEFINED, 77]:
            if code not in allowed:
                assert case.but(**{name: Meta(array.shape, code)}).status() == acl.ACLNN_ERR_PARAM_INVALID, (name, code)
                assert name in message()


@every_case
def test_rank_outside_the_declaration(case: Case) -> None:
    for name, kind, array in tensors(case):
        for rank in (kind.least - 1, kind.most + 1):
            if rank >= 0:
                assert case.but(**{name: Meta((1,) * rank, array.dtype)}).status() == acl.ACLNN_ERR_PARAM_INVALID, (name, rank)
                assert name in message()


@every_case
def test_format_outside_the_declaration(case: Case) -> None:
    for name, kind, array in tensors(case):
        if kind.formats:
            other = next(code for code in (acl.ACL_FORMAT_ND, acl.ACL_FORMAT_NCHW) if code not in kind.formats)
            assert case.but(**{name: Meta(array.shape, array.dtype, format=other)}).status() == acl.ACLNN_ERR_PARAM_INVALID, name
            assert name in message()


@every_case
def test_negative_strides_and_offsets(case: Case) -> None:
    for name, _, array in tensors(case):
        if array.ndim:
            odd = Meta(array.shape, array.dtype, strides=(-1,) * array.ndim)
            assert case.but(**{name: odd}).status() == acl.ACLNN_ERR_PARAM_INVALID, name
        assert case.but(**{name: Meta(array.shape, array.dtype, offset=-1)}).status() == acl.ACLNN_ERR_PARAM_INVALID, name


@every_case
def test_choice_outside_the_declaration(case: Case) -> None:
    for name, kind in case.declared.parameters:
        if isinstance(kind, IntKind) and kind.choices:
            for value in (min(kind.choices) - 1, max(kind.choices) + 1, kind.high):
                assert case.but(**{name: value}).status() == acl.ACLNN_ERR_PARAM_INVALID, (name, value)
                # Where the operator looks at it after the shapes, a shape that does not fit it may be named instead.
                assert name in message() or CHOICE not in case.declared.checks


@every_case
def test_products(case: Case, chip, request: pytest.FixtureRequest) -> None:
    """What a chip has no types for is a parameter error; what it has no kernel for is found out after all other checks.

    Examples are made anew for each chip: a shape may depend on it.
    """
    declared = case.declared
    missing = declared.elsewhere("").code
    name, _, number = request.node.callspec.id.rpartition("-")
    for profile in soc.PROFILES.values():
        chip(profile.name)
        case = EXAMPLES[name]()[int(number)]
        if not all(holds(profile, kind, array) for _, kind, array in tensors(case)):
            expected = acl.ACLNN_ERR_PARAM_INVALID
        elif profile.product in declared.products:
            expected = 0
        else:
            expected = acl.ACLNN_ERR_INNER_NULLPTR if missing == acl.ACLNN_ERR_INNER else missing
        assert case.status() == expected, profile.name


@every_case
def test_strided_equals_contiguous(case: Case, device: int) -> None:
    plain = [result.tobytes() for result in case.results()]
    for layout in range(1, 8):
        assert [result.tobytes() for result in case.results(layout)] == plain, layout


@every_case
def test_phase_one_leaves_device_memory_alone(case: Case, device: int) -> None:
    assert case.leaves_memory_alone()


@every_case
def test_workspace(case: Case, device: int) -> None:
    _, size = case.plan()
    if not size:
        pytest.skip("the example needs no workspace")
    assert case.refused(missing=1) == acl.ACLNN_ERR_PARAM_INVALID
    assert case.refused(missing=size) == acl.ACLNN_ERR_PARAM_INVALID


def test_schedules_agree(device: int) -> None:
    found = {}
    for schedule in soc.SCHEDULES:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ACL_EMU_SCHEDULE", schedule)
            soc.schedule.cache_clear()
            found[schedule] = digests()
        soc.schedule.cache_clear()
    assert found["async"] == found["lazy"] == found["eager"]
    assert len(found["async"]) >= len(CASES)


def test_numbers_of_threads_agree() -> None:
    code = (
        "import acl_emu as acl; from tests.operators.test_registry import digests; "
        "assert acl.aclrtSetDevice(0) == 0; print('\\n'.join(digests())); assert acl.aclrtResetDevice(0) == 0"
    )
    one, two = (run_python(code, ACL_EMU_THREADS=count) for count in ("1", "2"))
    assert one.returncode == two.returncode == 0, one.stderr + two.stderr
    assert one.stdout == two.stdout
    assert len(one.stdout.splitlines()) >= len(CASES)
