"""The parts of the checker: ranges, overlaps, clocks, symbols, the bounded report."""

from __future__ import annotations

import itertools
import os
import random

import pytest

from acl_emu.core.constants import ACL_FORMAT_ND
from acl_emu.core.dtypes import FLOAT16, INT4
from acl_emu.core.observe import Place, Span, span_of
from acl_emu.engine import launch
from acl_emu.runtime.executor import Executor, Plan, Workspace
from acl_emu.runtime.tensor import BoundOperand, make_view
from acl_emu.tools.checker import elf
from acl_emu.tools.checker.findings import KINDS, Findings, Origin
from acl_emu.tools.checker.intervals import Intervals
from acl_emu.tools.checker.object_rules import ObjectRules
from acl_emu.tools.checker.order import Order
from acl_emu.tools.checker.overlap import is_dense, is_same, overlap
from acl_emu.tools.checker.places import Frameworks, _without_arguments, mapped_files


def test_intervals_are_the_set_of_their_bytes() -> None:
    draw = random.Random(1)
    for _ in range(200):
        intervals, bytes_in = Intervals(), set()
        for _ in range(draw.randrange(1, 12)):
            first = draw.randrange(40)
            last = first + draw.randrange(8)
            intervals.add(first, last)
            bytes_in |= set(range(first, last))
        first = draw.randrange(40)
        last = first + draw.randrange(1, 10)
        assert intervals.gap(first, last) == next((i for i in range(first, last) if i not in bytes_in), None)
        assert intervals.touches(first, last) == any(i in bytes_in for i in range(first, last))
        ranges = intervals.ranges
        assert {i for a, b in ranges for i in range(a, b)} == bytes_in
        assert all(before[1] < after[0] for before, after in itertools.pairwise(ranges))


def bytes_of(span: Span) -> set[int]:
    starts = [span.address]
    for n, stride in zip(span.shape, span.strides, strict=True):
        starts = [start + i * stride for start in starts for i in range(n)]
    return {start + i for start in starts for i in range(span.item)}


def test_overlap_is_exact() -> None:
    draw = random.Random(2)

    def span() -> Span:
        rank = draw.randrange(3)
        item = draw.choice((1, 2, 4))
        shape = tuple(draw.randrange(1, 4) for _ in range(rank))
        return Span("x", 1 << 20 | draw.randrange(24), shape, tuple(draw.randrange(9) for _ in range(rank)), item)

    for _ in range(2000):
        one, other = span(), span()
        assert overlap(one, other) == bool(bytes_of(one) & bytes_of(other)), (one, other)


def test_empty_dense_and_same() -> None:
    flat = Span.flat("x", 4096, 64)
    assert is_dense(flat)
    assert not is_dense(Span("x", 4096, (4,), (8,), 4))
    assert not is_dense(Span("x", 4096, (3, 3), (2, 2), 1))
    assert not overlap(flat, Span("x", 4096, (0, 4), (16, 4), 4))
    assert is_same(Span("x", 4096, (1, 4), (99, 4), 4), Span("y", 4096, (4,), (4,), 4))
    assert not is_same(Span("x", 4096, (4,), (4,), 4), Span("y", 4096, (4,), (0,), 4))


def test_the_memory_of_tensors_whose_elements_share_bytes() -> None:
    shape = (17, 72)
    packed = span_of(BoundOperand("weight", make_view(shape, INT4.code, None, 4, ACL_FORMAT_ND, shape), 1000))
    assert (packed.address, packed.end) == (1000 + 4 // 2, 1000 + 4 // 2 + 17 * 72 // 2)
    strided = span_of(BoundOperand("x", make_view((3, 2), FLOAT16.code, (1, 5), 4, ACL_FORMAT_ND, (100,)), 1000))
    assert (strided.address, strided.end) == (1000 + 4 * 2, 1000 + 4 * 2 + (2 * 1 + 1 * 5) * 2 + 2)


def test_an_event_orders_what_came_before_its_record() -> None:
    order = Order()
    order.submit("a", 1)
    order.submit("a", 2)
    order.record("event", "a", 2)
    order.submit("a", 3)
    order.submit("b", 1)
    order.wait("b", 1, "event")
    clock = order.submit("b", 2)
    assert order.is_before("a", 2, clock)
    assert not order.is_before("a", 3, clock)


def test_order_is_passed_on_by_a_third_stream_and_by_the_host() -> None:
    order = Order()
    for stream, previous in (("a", ""), ("b", "a"), ("c", "b")):
        order.submit(stream, 1)
        if previous:
            order.wait(stream, 1, previous)
        order.submit(stream, 2)
        order.record(stream, stream, 2)
    assert order.is_before("a", 2, order.submit("c", 3))
    assert not order.is_before("a", 2, order.host)
    order.host_waits("c", 2)
    assert order.is_before("a", 2, order.host)
    assert order.is_before("c", 2, order.submit("d", 1))


def test_work_submitted_before_a_wait_of_the_host_knows_nothing_of_it() -> None:
    order = Order()
    order.submit("a", 1)
    early = order.submit("b", 1)
    order.host_waits("a", 1)
    assert not order.is_before("a", 1, early)
    assert order.is_before("a", 1, order.submit("b", 2))


def test_a_stream_that_ended_has_done_everything() -> None:
    order = Order()
    order.submit("a", 1)
    order.stream_ends("a")
    assert order.is_before("a", 1, {})


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("main", "main"),
        ("int Create<short>(std::vector<short, std::allocator<short> > const&, int (*)(int))", "Create<short>"),
        ("Owner::operator()(int) const", "Owner::operator()"),
        ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"),
        ("(anonymous namespace)::Queue(int)", "(anonymous namespace)::Queue"),
        ("??", ""),
    ],
)
def test_names_without_arguments(name: str, short: str) -> None:
    assert _without_arguments(name) == short


def test_functions_of_a_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    from tests.checker.running import PROGRAMS, compiled

    image = elf.read(str(compiled(PROGRAMS / "double_free.cpp", tmp_path_factory)))
    assert image is not None
    main = next(function for function in image.functions if function.name == "main")
    found = image.find(main.first + main.size - 1)
    assert found is not None
    assert found.name == "main"
    assert image.find(0) is None
    assert elf.read(__file__) is None
    assert elf.read("/nonexistent") is None


def test_what_a_framework_keeps_is_not_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    library = next(path for _, _, path in mapped_files() if os.path.basename(path).startswith("libc"))
    inside = next(first for first, _, path in mapped_files() if path == library)
    monkeypatch.setattr(Frameworks, "NAMES", (os.path.basename(library),))
    findings = Findings()
    for place in (Place(inside, "train.py", 3), Place(file="train.py", line=4), Place(1, "train.py", 5)):
        for kind in ("race", "object-leaked"):
            findings.add(kind, Origin("aclrtCreateStream", place), "", "text")
    assert [(finding.kind, finding.origin.place.line) for finding in findings] == [
        ("race", 3),
        ("race", 4),
        ("race", 5),
        ("object-leaked", 4),
        ("object-leaked", 5),
    ]


def test_the_report_is_bounded_and_counts() -> None:
    findings = Findings()
    for line in range(25):
        for _ in range(3):
            findings.add("race", Origin("aclrtMemcpy", Place(file=__file__, line=line)), "src", "text")
    findings.add("double-free", Origin("aclrtFree", Place(file=__file__, line=1)), "devPtr", "text")
    text = str(findings)
    assert text.count("(3 times)") == 10
    assert "  ... and 15 more of this kind\n" in text
    assert text.endswith("acl-emu check: 26 findings (1 double-free, 25 race)\n")
    assert str(Findings()) == ""


def test_kernels_over_blocks_are_told_from_others() -> None:
    rules = ObjectRules(Findings())
    in_blocks = launch.direct(lambda: None, reads=(), writes=(), scratch={})
    executor = Executor("aclnnX", in_blocks, (), ())
    try:
        rules.made(executor.handle, executor)
        assert not rules.works_in_place(executor.handle)
        executor.plan = Plan(lambda _reads, _writes, _workspace: None, (), (), Workspace())
        assert rules.works_in_place(executor.handle)
    finally:
        executor.destroy()


def test_every_kind_has_one_line_of_advice() -> None:
    assert all(kind.advice and "\n" not in kind.advice and kind.title for kind in KINDS.values())
