"""What holds for every operator, by its declaration."""

from __future__ import annotations

import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from acl_emu.codegen.python_faces import operators
from acl_emu.core import dtypes, soc
from acl_emu.core.formats import ANY_FORMAT, STRIDED
from acl_emu.runtime.tensor import MAX_RANK
from acl_emu.spec import CHOICE, RANK
from acl_emu.spec.kinds import MAX_DIMS, IntKind, ListKind, TensorKind
from tests.conftest import message, run_python
from tests.operators.case import Case, Meta
from tests.operators.examples import (
    GROUPS,
    NAMES,
    RELAID,
    described,
    emulating,
    every_group,
    every_operator,
    examples,
    over_examples,
    tensors,
)


def lists(case: Case) -> list[tuple[str, ListKind]]:
    """The list parameters that the call gives."""
    return [(name, kind) for name, kind in case.declared.parameters if isinstance(kind, ListKind) and case.arguments[name] is not None]


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
    required = [(name, kind) for name, kind in case.declared.parameters if kind.pointer and not kind.optional]
    for name, kind in required:
        expected = kind.null("").code if isinstance(kind, TensorKind) else acl.ACLNN_ERR_PARAM_NULLPTR
        assert case.but(**{name: None}).status() == expected, name
        assert name in message()


@over_examples
def test_null_members_of_lists(case: Case) -> None:
    for name, kind in lists(case):
        members = list(case.arguments[name])
        for index in range(len(members)):
            status = case.but(**{name: [*members[:index], None, *members[index + 1 :]]}).status()
            if kind.member.optional:
                assert status != kind.null("").code, (name, index)
            else:
                assert status == kind.null("").code, (name, index)
                assert f"{name}[{index}]" in message()


@over_examples
def test_lengths_of_lists(case: Case) -> None:
    """Lists that are too short, empty ones among them, or too long; other lists follow where they have to be as long."""
    for name, kind in lists(case):
        members = list(case.arguments[name])
        follow = [other for other, its in lists(case) if other != name]
        for count in {0, kind.least - 1, len(members) + 1 if kind.most is None else kind.most + 1} - {-1}:
            changed = {name: [members[i % len(members)] for i in range(count)]}
            wrong = count < kind.least or (kind.most is not None and count > kind.most)
            if wrong:
                assert case.but(**changed).status() == acl.ACLNN_ERR_PARAM_INVALID, (name, count)
                assert f"{name} has {count} members" in message()
            elif kind.like:
                assert case.but(**changed).status() == acl.ACLNN_ERR_PARAM_INVALID, (name, count)
            elif count == 0:
                # What an empty list means is the operator's to say, and it has to be said: where all lists are empty it is no fault.
                meant = (0, acl.ACLNN_ERR_PARAM_INVALID, acl.ACLNN_ERR_INNER_TILING_ERROR)
                assert case.but(**changed, **{other: [] for other in follow}).status() in meant, name


@over_examples
def test_dtype_outside_the_declaration(case: Case) -> None:
    for given in tensors(case):
        allowed = {dtype.code for dtype in given.kind.dtypes_on(soc.current())}
        for code in [*dtypes.BY_CODE, acl.ACL_DT_UNDEFINED, 77] if allowed else [acl.ACL_DT_UNDEFINED, 77]:
            if code not in allowed:
                status = given.replaced(case, Meta(given.array.shape, code)).status()
                assert status == acl.ACLNN_ERR_PARAM_INVALID, (given.name, code)
                assert given.name in message()


@over_examples
def test_rank_outside_the_declaration(case: Case) -> None:
    wrong = acl.ACLNN_ERR_PARAM_INVALID if RANK in case.declared.checks else acl.ACLNN_ERR_INNER_TILING_ERROR
    for given in tensors(case):
        for rank in (given.kind.least - 1, given.kind.most + 1):
            of_one = given.kind.io == "out" and given.array.size == 1 and rank <= MAX_DIMS
            if 0 <= rank <= MAX_RANK and not of_one:
                assert given.replaced(case, Meta((1,) * rank, given.array.dtype)).status() == wrong, (given.name, rank)
                assert given.name in message()


@over_examples
def test_outputs_of_one_element_have_any_rank(case: Case) -> None:
    single = [given for given in tensors(case) if given.kind.io == "out" and given.array.size == 1]
    plain = [result.tobytes() for result in case.results()]
    for rank in (0, 1, 2, 8):
        for given in single:
            results = given.replaced(case, given.array.reshape((1,) * rank)).results()
            assert [result.tobytes() for result in results] == plain, (given.name, rank)


@over_examples
def test_format_outside_the_declaration(case: Case) -> None:
    for given in tensors(case):
        for other in (ANY_FORMAT | {77}) - given.kind.formats:
            changed = given.replaced(case, Meta(given.array.shape, given.array.dtype, format=other))
            assert changed.status() == acl.ACLNN_ERR_PARAM_INVALID, (given.name, other)
            assert given.name in message()


@over_examples
def test_strided_formats_with_flat_storage(case: Case) -> None:
    """They name the axes of an ordinary tensor: where ND is allowed, all are, and clients give all memory as one dimension."""
    for code in STRIDED:
        tagged = case
        for given in tensors(case):
            if acl.ACL_FORMAT_ND not in given.kind.formats:  # which axis is which has to be said
                continue
            tagged = given.replaced(tagged, Meta(given.array.shape, given.array.dtype, format=code, storage=(given.array.size,)))
        assert tagged.status() == 0, code


@over_examples
def test_negative_strides_and_offsets(case: Case) -> None:
    wrong = acl.ACLNN_ERR_PARAM_INVALID if RANK in case.declared.checks else acl.ACLNN_ERR_INNER_TILING_ERROR
    for given in tensors(case):
        shape, dtype = given.array.shape, given.array.dtype
        if shape:
            assert given.replaced(case, Meta(shape, dtype, strides=(-1,) * len(shape))).status() == wrong, given.name
        assert given.replaced(case, Meta(shape, dtype, offset=-1)).status() == wrong, given.name


@over_examples
def test_choice_outside_the_declaration(case: Case) -> None:
    for name, kind in case.declared.parameters:
        if isinstance(kind, IntKind) and kind.choices:
            for value in (min(kind.choices) - 1, max(kind.choices) + 1, kind.high):
                status = case.but(**{name: value}).status()
                if not kind.checked:  # it may still decide which shapes fit
                    assert status == 0 or f"{name} is" not in message(), (name, value)
                    continue
                assert status == acl.ACLNN_ERR_PARAM_INVALID, (name, value)
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
                    if not all(holds(chip, given.kind, given.array) for given in tensors(case)):
                        expected = acl.ACLNN_ERR_PARAM_INVALID
                    elif chip.product in declared.products:
                        expected = 0
                    else:
                        expected = acl.ACLNN_ERR_INNER_NULLPTR if missing == acl.ACLNN_ERR_INNER else missing
                    assert case.status() == expected, (chip.name, described(case))


@over_examples
def test_strided_equals_contiguous(case: Case) -> None:
    if case.operator in RELAID:
        return
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
