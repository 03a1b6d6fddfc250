"""What docs/operators/ and `acl-emu ops` say about operators."""

from __future__ import annotations

import re

import pytest

from acl_emu.codegen import coverage
from acl_emu.core import documented
from acl_emu.tools import describe
from aclnnop.registry import EMULATED, MODULES

PAGES = coverage.pages()


def entry(operator: str) -> str:
    page = PAGES[f"operators/{documented.table()[operator].family}.md"]
    return page.split(f"### {operator}\n")[1].split("\n### ")[0]


def test_every_documented_operator_has_a_section() -> None:
    sections = {name for page in PAGES.values() for name in re.findall(r"^### (\w+)$", page, re.MULTILINE)}
    assert sections == documented.table().keys()
    for name in documented.table():
        assert ("Not emulated." in entry(name)) == (name not in EMULATED), name


def test_the_index_of_pages_changes_with_families_only() -> None:
    assert not [name for name in MODULES if name in PAGES["operators.md"]]
    assert not re.search(r"\d+ (of|operators)", PAGES["operators.md"])


def test_operators_are_counted() -> None:
    assert describe.all_of_them().splitlines()[-1].startswith(f"{len(EMULATED)} of {len(documented.table())} documented operators")


@pytest.mark.parametrize("operator", ["aclnnNLLLoss", "aclnnNLLLossBackward", "aclnnNLLLoss2d", "aclnnNLLLoss2dBackward"])
def test_modes_that_are_checked_late_are_listed(operator: str) -> None:
    assert "- modes reduction: none, mean, sum" in entry(operator)
    assert "reduction            int64_t: 0 none, 1 mean, 2 sum" in describe.one(operator)


@pytest.mark.parametrize("operator", ["aclnnCrossEntropyLoss", "aclnnCrossEntropyLossGrad"])
def test_modes_that_are_words_are_listed(operator: str) -> None:
    assert "- modes reductionOptional: none, mean, sum; " in entry(operator)
    assert "reductionOptional    char*: none, mean, sum" in describe.one(operator)


def test_samples_that_use_an_operator_are_listed() -> None:
    for operator in ("aclnnFusedLinearOnlineMaxSum", "aclnnFusedCrossEntropyLossWithMaxSum", "aclnnInplaceSub"):
        assert "vocab_parallel.cpp" in entry(operator)
        assert "vocab_parallel.py" in entry(operator)
    assert "vocab_parallel" not in entry("aclnnFusedLinearCrossEntropyLossGrad")  # it has samples of its own
    assert "- sample -" in entry("aclnnSub")


def test_a_product_without_the_operator_has_no_types() -> None:
    assert "310B" not in entry("aclnnMul")
    assert "on Atlas 200I/500 A2 (Ascend310B)" in entry("aclnnSub")


def test_tensors_that_are_changed_in_place() -> None:
    assert "in-place tensor" in describe.one("aclnnInplaceAdd")
