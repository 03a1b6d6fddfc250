"""Fused steps that are compiled on demand: the same bits, a cache that nobody else can write; without a compiler nothing is lost."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from acl_emu import engine
from acl_emu.core import compiler, observe, soc
from acl_emu.engine import on_demand
from acl_emu.engine.bindings import library
from acl_emu.engine.capture import Input, capture
from acl_emu.engine.lower import lower
from acl_emu.engine.program import Layout, Program
from acl_emu.engine.render import Late
from tests.conftest import run_python
from tests.native.support import assert_same, engine_is, run

Array = npt.NDArray[Any]


def scaled(x: Array, y: Array) -> Array:
    """A formula of no operator."""
    return np.exp(-np.abs(x)) * np.float32(3.25) + np.sqrt(np.abs(y)) / (np.float32(1.75) + x * x)


def normalised(x: Array, y: Array) -> Array:
    """With reductions, and rows that are computed in one phase and read in the next."""
    grown = np.expm1(np.tanh(x) * y) + np.float32(1.5)
    return grown / grown.sum(axis=-1, keepdims=True, dtype=np.float64).astype(x.dtype) - y


def summed_up(x: Array, y: Array) -> Array:
    """With a scan behind the elementwise part."""
    return np.cumsum(np.tanh(x) * y - np.float32(0.75), axis=-1, dtype=np.float32)


def two_results(x: Array, y: Array) -> tuple[Array, Array]:
    """Of which one is computed from the other."""
    first = np.sinh(x) - y * np.float32(1.125)
    return first, np.cosh(first) * x


def forget() -> None:
    engine.programs.clear()
    engine.nest_for.cache_clear()


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Callable[[str], on_demand._Workshop]]:
    """``workshop("wait")`` begins anew, as another process would, with the same cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

        def begin(mode: str) -> on_demand._Workshop:
            patch.setattr(soc, "compiling", lambda: mode)
            made = on_demand._Workshop()
            patch.setattr(on_demand, "_workshop", made)
            forget()
            return made

        yield begin
        on_demand._workshop.close()
    forget()
    on_demand._command.cache_clear()
    on_demand._origin.cache_clear()


@pytest.fixture
def compiler_is(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def choose(*command: str) -> None:
        monkeypatch.setattr(compiler, "COMPILER", list(command))
        on_demand._command.cache_clear()
        on_demand._origin.cache_clear()

    return choose


class Lines(observe.Tool):
    """Hears the log."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def logged(self, level: int, text: str) -> None:
        assert level == 2
        self.lines.append(text)


def operands(shape: tuple[int, ...] = (37, 150)) -> tuple[Array, Array]:
    rng = np.random.default_rng(3)
    x, y = (rng.standard_normal(shape).astype(np.float32) for _ in range(2))
    return x, y


def results(kernel: Callable[..., Any], shape: tuple[int, ...] = (37, 150)) -> list[Array]:
    outputs = [np.empty(shape, np.float32) for _ in range(2 if kernel is two_results else 1)]
    run(kernel, operands(shape), *outputs)
    return outputs


def singles(kernel: Callable[..., Any], shape: tuple[int, ...] = (37, 150)) -> list[Array]:
    """In single steps."""
    with pytest.MonkeyPatch.context() as patch, engine_is(library()):
        patch.setattr(soc, "compiling", lambda: "off")
        return results(kernel, shape)


def entries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache" / "acl-emu" / "fused-steps").glob("*.so"))


def program_of(kernel: Callable[..., Any]) -> Program:
    layout, found = Layout((30, 40), (160, 4), np.dtype(np.float32)), library()
    assert found is not None
    count = 2 if kernel is two_results else 1
    graph = capture(kernel, [Input(layout.shape, layout.dtype)] * 2, {})
    return lower(graph, [layout] * 2, [layout] * count, found.tables, late=on_demand.step_for)


KERNELS = pytest.mark.parametrize("kernel", [scaled, normalised, summed_up, two_results])


@KERNELS
def test_compiled_steps_give_the_same_bits(workshop: Any, kernel: Callable[..., Any], tmp_path: Path) -> None:
    """At once, and where a program had been made before: within a row, in columns, in place."""
    for mode in ("background", "wait"):
        workshop(mode)
        for shape in ((37, 150), (3, 5000), (2000, 3)):
            for one, other in zip(results(kernel, shape), singles(kernel, shape), strict=True):
                assert_same(one, other)
    late = workshop("background")
    before = results(kernel)
    nest = engine.nest_for.cache_info()
    assert entries(tmp_path)
    for step in late.steps.values():  # all were found in the cache
        assert step.library is not None
    for one, other in zip(results(kernel), before, strict=True):
        assert_same(one, other)
    assert engine.nest_for.cache_info().misses == nest.misses


@KERNELS
def test_a_program_changes_over_while_it_runs(workshop: Any, kernel: Callable[..., Any]) -> None:
    begun = workshop("background")
    expected = singles(kernel)
    outputs = [np.empty_like(one) for one in expected]
    given = operands()
    nest = engine.nest_for(kernel, tuple(map(engine.layout_of, given)), tuple(map(engine.layout_of, outputs)), np.dtype(np.float32), ())
    assert nest is not None
    assert begun.steps
    compiling = threading.Thread(target=lambda: [begun.compile(step) for step in begun.steps.values()])
    compiling.start()
    is_last = False
    while not is_last:
        is_last = not compiling.is_alive()
        for output in outputs:
            output.fill(np.nan)
        assert nest.run([array.ctypes.data for array in (*given, *outputs)])
        for one, other in zip(outputs, expected, strict=True):
            assert_same(one, other)
    assert all(step.library is not None for step in begun.steps.values())


def test_a_compiled_step_stands_alone(workshop: Any) -> None:
    """A program that is made later has no single steps."""
    workshop("background")
    codes = [step.code for step in program_of(scaled).phases[0].tiles]
    assert codes[0] == "unless_late"
    assert {"call_late", "skip", "call"} <= set(codes)
    workshop("wait")
    assert [step.code for step in program_of(scaled).phases[0].tiles] == ["load", "load", "call_late", "store"]
    workshop("off")
    assert {step.code for step in program_of(scaled).phases[0].tiles} == {"load", "call", "store"}


def test_results_may_lie_on_arguments(workshop: Any) -> None:
    expected = singles(two_results)
    for mode in ("background", "wait"):
        workshop(mode)
        x, y = operands()
        run(two_results, [x, y], y, x)
        assert_same(y, expected[0])
        assert_same(x, expected[1])


# When


def test_a_tenth_of_the_time(workshop: Any) -> None:
    begun = workshop("background")
    begun.spent, begun.longest = 3.0, 0.5
    assert begun.missing_time(20.0) == pytest.approx(15)
    assert begun.missing_time(35.0) == pytest.approx(0)


_IN_BACKGROUND = """
import time, os
import numpy as np
from acl_emu import engine
from acl_emu.engine import on_demand

def scaled(x, y):
    return np.exp(-np.abs(x)) * np.float32(3.25) + np.sqrt(np.abs(y)) / (np.float32(1.75) + x * x)

on_demand._workshop.longest = 0.0
x, y = (np.random.default_rng(3).standard_normal((100, 1000)).astype(np.float32) for _ in range(2))
first, out = np.empty_like(x), np.empty_like(x)
engine.apply(scaled, [x, y], [first])
(step,) = on_demand._workshop.steps.values()
assert step.library is None
while not {done}:
    engine.apply(scaled, [x, y], [out])
    assert (first == out).all()
print(step.state.used >= 100_000_000, time.process_time() >= 10 * on_demand._workshop.spent > 0)
"""


def test_in_the_background(tmp_path: Path) -> None:
    """After 100 ms in single steps, and no earlier."""
    program = _IN_BACKGROUND.format(done="step.library")
    done = run_python(program, ACL_EMU_COMPILE="background", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert (done.stdout.split()[:1], done.stderr) == (["True"], "")
    assert len(entries(tmp_path)) == 1


def test_the_end_of_the_process_does_not_wait(tmp_path: Path) -> None:
    """What the compiler started ends with the process, too."""
    script = tmp_path / "compiler"
    script.write_text(f"#!/bin/sh\nsleep 600 &\necho $$ $! > {tmp_path}/pids.new\nmv {tmp_path}/pids.new {tmp_path}/pids\nwait\n")
    script.chmod(0o700)
    program = _IN_BACKGROUND.format(done=f"os.path.exists({str(tmp_path / 'pids')!r})")
    done = run_python(program, ACL_EMU_COMPILE="background", XDG_CACHE_HOME=str(tmp_path / "cache"), CC=str(script))
    assert (done.returncode, done.stderr) == (0, "")
    for pid in map(int, (tmp_path / "pids").read_text().split()):
        assert not is_alive(pid)
    assert not entries(tmp_path)


def is_alive(pid: int) -> bool:
    """One that nobody has waited for is dead all the same."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_one_compiler_at_a_time_at_low_priority(workshop: Any, compiler_is: Any, tmp_path: Path) -> None:
    script = tmp_path / "compiler"
    real = " ".join(compiler.COMPILER)
    lines = [
        "#!/bin/sh",
        f"mkdir {tmp_path}/lock || echo overlaps >> {tmp_path}/found",
        'for k in $(seq 200); do test "$(nice)" = 19 && break; sleep 0.05; done',
        f"nice >> {tmp_path}/found",
        f'{real} "$@"; status=$?',
        f"rmdir {tmp_path}/lock; exit $status",
    ]
    script.write_text("\n".join(lines))
    script.chmod(0o700)
    compiler_is(str(script))
    workshop("wait")
    threads = [threading.Thread(target=program_of, args=(kernel,)) for kernel in (scaled, two_results)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "found").read_text().split() == ["19", "19"]
    assert len(entries(tmp_path)) == 2


# The cache


def test_processes_share_it(workshop: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    workshop("wait").step_for(fusion())
    (entry,) = entries(tmp_path)
    assert entry.lstat().st_mode & 0o022 == 0
    monkeypatch.setattr(on_demand.subprocess, "Popen", pytest.fail)
    for mode in ("background", "wait"):
        found = workshop(mode).step_for(fusion())
        assert found is not None
        assert found.ready
    assert entries(tmp_path) == [entry]


def fusion() -> Any:
    with engine.collected() as found:
        engine.nest_for.cache_clear()
        x, y = operands()
        run(scaled, [x, y], np.empty_like(x))
    engine.nest_for.cache_clear()
    return found[0]


@pytest.mark.parametrize("damage", [lambda content: content[:-100], lambda content: b"\0" * len(content), lambda content: b""])
def test_a_damaged_entry_is_built_again(workshop: Any, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    workshop("wait").step_for(fusion())
    (entry,) = entries(tmp_path)
    good = entry.read_bytes()
    entry.unlink()  # it is still loaded
    entry.write_bytes(damage(good))
    entry.chmod(0o600)
    found = workshop("background").step_for(fusion())
    assert found is not None
    assert not found.ready
    assert workshop("wait").step_for(fusion()) == Late(found_address(), True)
    assert len(entry.read_bytes()) == len(good)


def found_address() -> int:
    (step,) = on_demand._workshop.steps.values()
    return step.address


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_an_entry_that_others_can_write_is_not_loaded(workshop: Any, tmp_path: Path, mode: int) -> None:
    workshop("wait").step_for(fusion())
    (entry,) = entries(tmp_path)
    entry.chmod(mode)
    tool = Lines()
    with observe.watched(tool):
        found = workshop("wait").step_for(fusion())
    assert found is not None
    assert not found.ready
    assert [line for line in tool.lines if "is not the user's alone" in line] == tool.lines
    assert len(tool.lines) == 1


def test_a_folder_that_others_can_write_is_not_used(workshop: Any, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "acl-emu" / "fused-steps"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    tool = Lines()
    with observe.watched(tool):
        found = workshop("wait").step_for(fusion())
    assert found is not None
    assert not found.ready
    (line,) = tool.lines
    assert "others can write it" in line


def test_nothing_is_made_before_it_is_needed(workshop: Any, tmp_path: Path) -> None:
    workshop("background").step_for(fusion())
    assert not (tmp_path / "cache").exists()


def test_its_size_is_bounded(workshop: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    begun = workshop("wait")
    begun.step_for(fusion())
    (first,) = entries(tmp_path)
    size, now = first.stat().st_size, time.time()
    old, used, stale, busy = (first.with_name(name) for name in ("old.so", "used.so", "new-stale", "new-busy"))
    for path, age in ((old, 50), (used, 10)):
        path.write_bytes(bytes(size))
        os.utime(path, (now - age, now - age))
    stale.mkdir()
    busy.mkdir()
    os.utime(stale, (now - 10_000, now - 10_000))
    os.utime(first, (now - 60, now - 60))
    monkeypatch.setattr(on_demand, "MOST_BYTES", 3 * size + 100)
    workshop("background").step_for(fusion())  # is used again
    program_of_two = workshop("wait")
    program_of(two_results)
    assert program_of_two.spent > 0
    left = entries(tmp_path)
    assert old not in left
    assert first in left
    assert used in left
    assert not stale.exists()
    assert busy.exists()


# Where nothing can be compiled


def full_disk(patch: pytest.MonkeyPatch, _folder: Path) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    patch.setattr(on_demand.os, "replace", fail)


def no_folder(patch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / "file").touch()
    patch.setenv("XDG_CACHE_HOME", str(folder / "file" / "cache"))
    patch.setattr(tempfile, "tempdir", str(folder / "file"))


def no_compiler(patch: pytest.MonkeyPatch, _folder: Path) -> None:
    patch.setattr(compiler, "COMPILER", ["no-such-compiler"])


def failing_compiler(patch: pytest.MonkeyPatch, folder: Path) -> None:
    script = folder / "compiler"
    script.write_text("#!/bin/sh\necho out of order >&2\nexit 3\n")
    script.chmod(0o700)
    patch.setattr(compiler, "COMPILER", [str(script)])


def wrong_compiler(patch: pytest.MonkeyPatch, _folder: Path) -> None:
    patch.setattr(compiler, "COMPILER", ["true"])


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (full_disk, "No space left on device"),
        (no_folder, "is not used as cache folder"),
        (no_compiler, "there is no C compiler no-such-compiler"),
        (failing_compiler, "failed with 3: out of order"),
        (wrong_compiler, "No such file or directory"),
    ],
)
def test_single_steps_go_on(
    workshop: Any, compiler_is: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trouble: Callable[..., None], words: str
) -> None:
    """And one line in the log says why."""
    expected = singles(scaled), singles(two_results)
    compiler_is(*compiler.COMPILER)
    trouble(monkeypatch, tmp_path)
    tool = Lines()
    with observe.watched(tool):
        workshop("wait")
        for kernel, bits in zip((scaled, two_results), expected, strict=True):
            for one, other in zip(results(kernel), bits, strict=True):
                assert_same(one, other)
    (line,) = tool.lines
    assert line.startswith("no fused steps are compiled on demand, single steps go on: ")
    assert words in line
    monkeypatch.undo()
    assert not entries(tmp_path)
    assert not list((tmp_path / "cache").rglob("new-*"))
