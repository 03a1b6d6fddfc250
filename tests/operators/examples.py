"""The examples of all operators, as tests use them: nothing is imported or built before a test asks for it."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import acl_emu as acl
import aclnnop
from acl_emu.core import dtypes, soc
from acl_emu.core.formats import STRIDED
from acl_emu.runtime import plans
from acl_emu.spec.kinds import TensorKind, tensor_kind
from aclnnop.registry import MODULES
from tests.operators.case import Array, Case

NAMES = sorted(MODULES)


class _Relaid:
    """Operators whose tensors lie in memory by rules of their own: contiguous, in blocks, or in rows that are as long as the data say."""

    def __contains__(self, name: object) -> bool:
        if name in (
            "aclnnTransMatmulWeight",
            "aclnnNonzeroV2",
            "aclnnConvertWeightToINT4Pack",
            "aclnnNpuFormatCast",
            "aclnnTransConvolutionWeight",
            "aclnnMaxUnpool3dBackward",
        ):
            return True
        if str(name).startswith(("aclnnWeightQuantBatchMatmul", "aclnnQuantMatmul")):
            return True
        kinds = [tensor_kind(kind) for _, kind in aclnnop.find(str(name)).parameters]
        return any(kind is not None and kind.formats.isdisjoint(STRIDED) for kind in kinds)


RELAID = _Relaid()
_GROUP = 25
"""So many operators share a process, where a test needs one of its own: starting it costs about as much as they do."""


class Shown(NamedTuple):
    """An example as a call, with the chip that it is for."""

    case: Case
    chip: str


class Given(NamedTuple):
    """A tensor that a call gives: an argument, or a member of a list."""

    parameter: str
    index: int | None
    kind: TensorKind
    array: Array

    @property
    def name(self) -> str:
        """As error texts call it."""
        return self.parameter if self.index is None else f"{self.parameter}[{self.index}]"

    def replaced(self, case: Case, value: Any) -> Case:
        """The same call with something else in its place."""
        if self.index is None:
            return case.but(**{self.parameter: value})
        members = list(case.arguments[self.parameter])
        members[self.index] = value
        return case.but(**{self.parameter: members})


def tensors(case: Case) -> list[Given]:
    """The tensors that the call gives, members of lists one by one."""
    found = []
    for name, kind in case.declared.parameters:
        value, member = case.arguments[name], tensor_kind(kind)
        if member is not None and value is not None:
            given = [(None, value)] if kind is member else list(enumerate(value))
            found += [Given(name, index, member, array) for index, array in given if array is not None]
    return found


def described(case: Case) -> str:
    """The call, tensors by shape and type."""

    def spelled(value: Any) -> str:
        if isinstance(value, np.ndarray):
            return f"{'x'.join(map(str, value.shape))}:{dtypes.from_numpy(value.dtype).name}"
        return f"[{', '.join(map(spelled, value))}]" if isinstance(value, (list, tuple)) else str(value)

    return f"{case.operator} with {', '.join(f'{name}={spelled(value)}' for name, value in case.arguments.items())}"


@contextmanager
def emulating(chip: str) -> Iterator[None]:
    """Another chip for a while."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACL_EMU_SOC", chip)
        soc.current.cache_clear()
        plans.forget()
        try:
            yield
        finally:
            patch.undo()
            soc.current.cache_clear()
            plans.forget()


@lru_cache(maxsize=4)
def examples(name: str) -> tuple[Shown, ...]:
    """All examples of an operator, each for the default chip where that has it, else for the first that has."""
    found = []
    for build, products in aclnnop.find(name).example_sources:
        chip = next(profile.name for profile in (soc.current(), *soc.PROFILES.values()) if profile.product in products)
        with emulating(chip):
            found += [Shown(Case(name, arguments), chip) for arguments in build()]
    return tuple(found)


@contextmanager
def naming(number: int, shown: Shown) -> Iterator[None]:
    """A failure says which example it is about."""
    try:
        yield
    except Exception as error:
        raise AssertionError(f"example {number} on {shown.chip}, {described(shown.case)}: {error}") from error


def _parameter(name: str) -> object:
    # One worker has all tests of a module's operators: it imports, plans and builds what the others need not.
    return pytest.param(name, marks=pytest.mark.xdist_group(MODULES[name]))


every_operator = pytest.mark.parametrize("name", [_parameter(name) for name in NAMES], scope="module")
"""A test for each operator; those of one operator follow each other."""


def over_examples(check: Callable[[Case], None]) -> Callable[..., None]:
    """Make a test for each operator of a check of one call: it is made for every example on its chip. A failure names the example."""

    @every_operator
    def test(name: str, device: int) -> None:
        for number, shown in enumerate(examples(name)):
            with naming(number, shown), emulating(shown.chip):
                check(shown.case)

    test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
    return test


def _groups() -> dict[str, list[str]]:
    families: dict[str, list[str]] = defaultdict(list)
    for name in NAMES:
        families[MODULES[name].split(".")[1]].append(name)
    return {
        f"{family}-{start // _GROUP}": names[start : start + _GROUP]
        for family, names in families.items()
        for start in range(0, len(names), _GROUP)
    }


GROUPS = _groups()
every_group = pytest.mark.parametrize("group", GROUPS)
"""A test for each group of operators, by its name."""


def digests(names: Iterable[str]) -> list[str]:
    """The results of all examples, as text."""
    found = []
    for name in names:
        for number, shown in enumerate(examples(name)):
            with emulating(shown.chip):
                results = shown.case.results()
            found += [f"{name}-{number} {hashlib.sha256(result.tobytes()).hexdigest()}" for result in results] or [f"{name}-{number}"]
    return found


def print_digests(group: str) -> None:
    """The same of a group, by a process of its own."""
    assert acl.aclrtSetDevice(0) == 0
    print("\n".join(digests(GROUPS[group])))
    assert acl.aclrtResetDevice(0) == 0
