"""What holds for every operator, by its declaration."""

from __future__ import annotations

import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from acl_emu.codegen.python_faces import operators
from acl_emu.core import dtypes, soc
from acl_emu.spec import CHOICE
from acl_emu.spec.kinds import HandleKind, IntKind, StringKind, TensorKind
from tests.conftest import message, run_python
from tests.operators.case import Case, Meta
from tests.operators.examples import GROUPS, NAMES, described, emulating, every_group, every_operator, examples, over_examples


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


def test_the_index_names_every_operator() -> None:
    """The tests over all operators are derived from it."""
    assert [operator.name for operator in operators()] == NAMES


@every_operator
def test_every_operator_has_an_example(name: str) -> None:
    for shown in examples(name):
        assert shown.case.arguments.keys() == {parameter.name for parameter in shown.case.declared.parameters}
    assert examples(name)


@every_operator
def test_examples_are_the_same_each_time(name: str) -> None:
    for shown, again in zip(examples(name), examples.__wrapped__(name), strict=True):
        np.testing.assert_equal(again.case.arguments, shown.case.arguments)


@every_operator
def test_no_check_is_made_twice(name: str) -> None:
    checks = aclnnop.find(name).checks
    assert len(set(checks)) == len(checks)


@over_examples
def test_examples_are_accepted(case: Case) -> None:
    assert case.status() == 0


@over_examples
def test_null_for_a_required_parameter(case: Case) -> None:
    required = [
        name for name, kind in case.declared.parameters if isinstance(kind, (TensorKind, HandleKind, StringKind)) and not kind.optional
    ]
    for name in required:
        assert case.but(**{name: None}).status() == acl.ACLNN_ERR_PARAM_NULLPTR, name
        assert name in message()


@over_examples
def test_dtype_outside_the_declaration(case: Case) -> None:
    for name, kind, array in tensors(case):
        allowed = {dtype.code for dtype in kind.dtypes_on(soc.current())}
        for code in [*dtypes.BY_CODE, acl.ACL_DT_UNDEFINED, 77] if allowed else [acl.ACL_DT_UNDEFINED, 77]:
            if code not in allowed:
                assert case.but(**{name: Meta(array.shape, code)}).status() == acl.ACLNN_ERR_PARAM_INVALID, (name, code)
                assert name in message()


@over_examples
def test_rank_outside_the_declaration(case: Case) -> None:
    for name, kind, array in tensors(case):
        for rank in (kind.least - 1, kind.most + 1):
            if rank >= 0:
                assert case.but(**{name: Meta((1,) * rank, array.dtype)}).status() == acl.ACLNN_ERR_PARAM_INVALID, (name, rank)
                assert name in message()


@over_examples
def test_format_outside_the_declaration(case: Case) -> None:
    for name, kind, array in tensors(case):
        if kind.formats:
            other = next(code for code in (acl.ACL_FORMAT_ND, acl.ACL_FORMAT_NCHW) if code not in kind.formats)
            assert case.but(**{name: Meta(array.shape, array.dtype, format=other)}).status() == acl.ACLNN_ERR_PARAM_INVALID, name
            assert name in message()


@over_examples
def test_negative_strides_and_offsets(case: Case) -> None:
    for name, _, array in tensors(case):
        if array.ndim:
            odd = Meta(array.shape, array.dtype, strides=(-1,) * array.ndim)
            assert case.but(**{name: odd}).status() == acl.ACLNN_ERR_PARAM_INVALID, name
        assert case.but(**{name: Meta(array.shape, array.dtype, offset=-1)}).status() == acl.ACLNN_ERR_PARAM_INVALID, name


@over_examples
def test_choice_outside_the_declaration(case: Case) -> None:
    for name, kind in case.declared.parameters:
        if isinstance(kind, IntKind) and kind.choices:
            for value in (min(kind.choices) - 1, max(kind.choices) + 1, kind.high):
                assert case.but(**{name: value}).status() == acl.ACLNN_ERR_PARAM_INVALID, (name, value)
                # Where the operator looks at it after the shapes, a shape that does not fit it may be named instead.
                assert name in message() or CHOICE not in case.declared.checks


@every_operator
def test_products(name: str) -> None:
    """What a chip has no types for is a parameter error; what it has no kernel for is found out after all other checks.

    Examples are made anew for each product: a shape may depend on it. Those for some products say nothing about the others.
    """
    declared = aclnnop.find(name)
    missing = declared.elsewhere("").code
    for build, products in declared.example_sources:
        everywhere = products == declared.products
        built: dict[soc.Product, list[Case]] = {}
        for chip in soc.PROFILES.values():
            if not everywhere and chip.product not in products:
                continue
            with emulating(chip.name):
                if chip.product not in built:
                    built[chip.product] = [Case(name, arguments) for arguments in build()]
                for case in built[chip.product]:
                    if not all(holds(chip, kind, array) for _, kind, array in tensors(case)):
                        expected = acl.ACLNN_ERR_PARAM_INVALID
                    elif chip.product in declared.products:
                        expected = 0
                    else:
                        expected = acl.ACLNN_ERR_INNER_NULLPTR if missing == acl.ACLNN_ERR_INNER else missing
                    assert case.status() == expected, (chip.name, described(case))


@over_examples
def test_strided_equals_contiguous(case: Case) -> None:
    plain = [result.tobytes() for result in case.results()]
    for layout in range(1, 8):
        assert [result.tobytes() for result in case.results(layout)] == plain, layout


@over_examples
def test_phase_one_leaves_device_memory_alone(case: Case) -> None:
    assert case.leaves_memory_alone()


@over_examples
def test_workspace(case: Case) -> None:
    _, size = case.plan()
    for missing in {1, size} if size else ():
        assert case.refused(missing=missing) == acl.ACLNN_ERR_PARAM_INVALID


@over_examples
def test_schedules_agree(case: Case) -> None:
    found = {}
    for schedule in soc.SCHEDULES:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ACL_EMU_SCHEDULE", schedule)
            soc.schedule.cache_clear()
            try:
                found[schedule] = [result.tobytes() for result in case.results()]
            finally:
                patch.undo()
                soc.schedule.cache_clear()
    assert found["async"] == found["lazy"] == found["eager"]


@every_group
def test_numbers_of_threads_agree(group: str) -> None:
    code = f"from tests.operators.examples import print_digests; print_digests({group!r})"
    one, two = (run_python(code, ACL_EMU_THREADS=count) for count in ("1", "2"))
    assert one.returncode == two.returncode == 0, one.stderr + two.stderr
    assert one.stdout == two.stdout
    assert {line.split("-")[0] for line in one.stdout.splitlines()} == set(GROUPS[group])
