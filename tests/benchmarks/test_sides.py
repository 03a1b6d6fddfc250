"""Both sides get the same bytes, a wrong rival is not measured, and a slowed operator shows."""

from __future__ import annotations

import itertools
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import acl_emu as acl
import aclnnop.registry
from benchmarks import moves, operators
from benchmarks.compare import Disagreement
from benchmarks.draw import DTYPES, SIZES, Draw
from benchmarks.emulator import Call
from benchmarks.layouts import LAYOUTS, arrays, lay_out, whole
from benchmarks.operators import arguments, bytes_moved, measure
from benchmarks.problems import SUBJECTS, Subject

HERE = [subject for subject in SUBJECTS if not subject.chip]
SMOOTH = next(subject for subject in SUBJECTS if subject.operator == "aclnnSmoothL1LossBackward")
INPLACE = next(subject for subject in SUBJECTS if subject.operator == "aclnnInplaceAdd")


def named(name: str) -> Subject:
    return next(subject for subject in SUBJECTS if subject.name == name)


@pytest.fixture(scope="module")
def rivals() -> Any:
    pytest.importorskip("torch", reason="torch is installed for benchmarks only")
    from benchmarks import rivals

    return rivals


def test_what_is_measured_is_emulated_and_has_a_rival(rivals: Any) -> None:
    measured = {subject.operator for subject in SUBJECTS}
    assert measured <= set(aclnnop.registry.MODULES)
    assert measured == set(rivals.RIVALS)


@pytest.mark.parametrize("size", SIZES[:2])
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_draws_can_be_repeated(subject: Subject, size: str) -> None:
    first, second = (arrays(subject.make(Draw(size, DTYPES[subject.dtypes[0]]))) for _ in range(2))
    assert {name: array.tobytes() for name, array in first.items()} == {name: array.tobytes() for name, array in second.items()}


@pytest.mark.parametrize("size", ["medium", "large"])
def test_what_is_drawn_without_ties_has_none(size: str) -> None:
    values = named("Topk (rows)").make(Draw(size, np.float32))["self"]
    assert np.array_equal(np.sort(values, axis=None), np.arange(values.size))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_hold_the_same_elements(layout: str) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    assert np.array_equal(lay_out(x, layout), x)
    assert lay_out(x, layout).flags.c_contiguous == (layout == "contiguous")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("subject", HERE, ids=lambda subject: subject.name)
def test_the_device_gets_the_bytes(subject: Subject, layout: str) -> None:
    for dtype in subject.dtypes:
        given = arguments(subject, dtype, "small", layout)
        before = {name: whole(array).tobytes() for name, array in arrays(given).items()}
        with Call(subject.operator, given) as call:
            assert call.inputs() == before


def test_torch_gets_the_bytes(rivals: Any) -> None:
    for subject, layout in itertools.product(HERE, LAYOUTS):
        for dtype in subject.dtypes:
            given = arguments(subject, dtype, "small", layout)
            wanted = {name: array.tobytes() for name, array in arrays(given).items()}
            assert operators.Rivalry(subject, given, []).inputs() == wanted, (subject.name, dtype, layout)


def test_torch_computes_the_same(rivals: Any) -> None:
    for subject in HERE:
        row = measure(subject, subject.dtypes[0], "small", "contiguous")
        assert row.torch is not None, (subject.name, row.note)


def test_what_is_replaced_is_restored() -> None:
    given = arguments(INPLACE, "float32", "small", "contiguous")
    with Call(INPLACE.operator, given) as call:
        before = call.inputs()
        call.run()
        assert call.inputs() != before
        call.restore()
        assert call.inputs() == before
        call.run()
        np.testing.assert_array_equal(call.results()["selfRef"], given["selfRef"] + np.float32(0.5) * given["other"])


def test_bytes_that_must_move() -> None:
    smooth = arguments(SMOOTH, "float16", "medium", "stepped")
    assert bytes_moved(SMOOTH, smooth) == 4 * 512 * 512 * 2
    inplace = arguments(INPLACE, "float32", "medium", "contiguous")
    assert bytes_moved(INPLACE, inplace) == 3 * 512 * 512 * 4


@pytest.mark.parametrize(
    ("name", "elements"),
    [
        ("InplaceCopy", 2 * 512 * 512),
        ("Cat", 2 * 512 * 512),
        ("Slice (rows)", 2 * 256 * 512),
        ("Slice (columns)", 2 * 4096 * 128),
        ("Repeat", 512 * 256 + 512 * 512),
        ("ConstantPadNd", 512 * 512 + 516 * 528),
    ],
)
def test_bytes_that_moves_read_and_write(name: str, elements: int) -> None:
    subject = named(name)
    for dtype in subject.dtypes:
        assert bytes_moved(subject, arguments(subject, dtype, "medium", "contiguous")) == elements * np.dtype(DTYPES[dtype]).itemsize


@pytest.mark.parametrize("subject", [s for s in SUBJECTS if s.kind == "move"], ids=lambda subject: subject.name)
def test_moves_of_large_calls_have_runs_of_256_bytes(subject: Subject) -> None:
    """The shortest row of any tensor; the borders that a call adds are no runs."""
    for dtype in subject.dtypes:
        assert min(array.shape[-1] * array.itemsize for array in arrays(subject.make(Draw("large", DTYPES[dtype]))).values()) >= 256


@pytest.mark.parametrize(
    ("name", "flops"),
    [
        ("Mm", 2 * 4096 * 1024 * 4096),
        ("Convolution (3x3, 64 to 64)", 2 * (8 * 56 * 56) * (64 * 9) * 64),
        ("Convolution (7x7 by steps of 2, 3 to 64)", 2 * (8 * 112 * 112) * (3 * 49) * 64),
    ],
)
def test_multiplications_of_products(name: str, flops: int) -> None:
    assert named(name).flops("large") == flops


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_tensors_of_a_list_are_laid_out_too(layout: str) -> None:
    first, second = arguments(named("Cat"), "float32", "medium", layout)["tensors"]
    assert first.flags.c_contiguous == second.flags.c_contiguous == (layout == "contiguous")
    with Call("aclnnCat", arguments(named("Cat"), "float32", "medium", layout)) as call:
        call.run()
        np.testing.assert_array_equal(call.results()["out"], np.concatenate([first, second], -1))


def test_numpy_is_timed_where_it_computes_the_same() -> None:
    contest = operators.Contest(named("Nonzero"), "float32", "medium", "contiguous")
    with contest.call:
        contest.invite_numpy(moves.numpy_nonzero)
        row = contest.result()
        assert row.numpy is not None
        assert len(row.samples["numpy"]) == len(row.samples["emulator"])
        with pytest.raises(Disagreement):
            contest.invite_numpy(lambda given: {"out": np.argwhere(given["self"])[::-1]})


class FakeRivals:
    """A rival in numpy, for SmoothL1LossBackward."""

    def __init__(self, factor: float = 1.0, seconds: float = 0.0) -> None:
        def run(a: Any) -> None:
            time.sleep(seconds)
            difference = a.self - a.target
            a.gradInput[...] = factor * a.gradOut * np.where(np.abs(difference) < a.beta, difference, np.sign(difference))

        self.RIVALS = {SMOOTH.operator: SimpleNamespace(run=run, composite=False, wide=())}

    def arguments(self, given: dict[str, Any]) -> SimpleNamespace:
        return SimpleNamespace(**{name: value.copy() if isinstance(value, np.ndarray) else value for name, value in given.items()})

    def as_array(self, array: Any) -> Any:
        return array


def test_a_right_rival_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "rivals", FakeRivals(seconds=0.01))
    row = measure(SMOOTH, "float32", "medium", "contiguous")
    assert row.torch is not None
    assert row.torch >= 0.01
    assert row.note == ""


def test_a_wrong_rival_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "rivals", FakeRivals(factor=1.01))
    row = measure(SMOOTH, "float32", "medium", "contiguous")
    assert row.torch is None
    assert row.ratio is None
    assert row.note.startswith("refused: gradInput")


@pytest.mark.parametrize("size", SIZES[:2])
def test_a_slowed_operator_shows(size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kernel is followed by 50 ms of other work on its stream: the operator must not look better than that."""
    monkeypatch.setattr(operators, "rivals", FakeRivals(seconds=0.025))
    original = Call.wait

    def wait(self: Call) -> None:
        assert acl.aclrtLaunchHostFunc(self.stream, lambda _: time.sleep(0.05), None) == 0
        original(self)

    plain = measure(SMOOTH, "float32", size, "contiguous")
    monkeypatch.setattr(Call, "wait", wait)
    monkeypatch.setattr(Call, "run_both", lambda self: self.run())
    slowed = measure(SMOOTH, "float32", size, "contiguous")
    assert slowed.emulator >= 0.05
    assert plain.emulator < 0.05
    assert slowed.ratio is not None
    assert slowed.torch is not None
    assert slowed.ratio <= slowed.torch / 0.05


def test_without_torch_the_emulator_is_measured_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "rivals", None)
    row = measure(SMOOTH, "float32", "medium", "contiguous")
    assert row.emulator > 0
    assert row.torch is None


def test_transposed_operands_are_timed_beside_those_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "rivals", None)
    row = measure(SMOOTH, "float32", "medium", "transposed")
    assert row.order is not None
    assert len(row.samples["contiguous"]) == len(row.samples["emulator"]) >= 3


def test_everything_is_measured_in_several_passes_but_what_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "rivals", None)
    monkeypatch.setattr(operators.Selection, "rows", lambda self, subject: iter([("float32", "small", "contiguous")]))
    chosen = operators.Selection(only="SmoothL1LossBackward")
    assert [found["subject"] for found in operators.passes(chosen)] == ["SmoothL1LossBackward"] * operators.PASSES
    monkeypatch.setattr(operators, "TOO_LONG", 0.0)
    assert len(list(operators.passes(chosen))) == 1
