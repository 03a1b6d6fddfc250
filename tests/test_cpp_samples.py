"""samples/cpp: every program builds the way its reader would build it, runs in every schedule, and notices a wrong result."""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from acl_emu.cface import toolkit
from acl_emu.core import soc
from tests.conftest import PATIENCE, ROOT

CPP = ROOT / "samples" / "cpp"
SOURCES = sorted(CPP.glob("*.cpp"))
NAMES = [source.stem for source in SOURCES]
COMPILERS = [compiler for compiler in ("g++", "clang++") if shutil.which(compiler)]
STRICT = "-Wall -Wextra -Wpedantic -Werror"
# The public line at the default language level, and with warnings; $1 is the source, $2 the executable.
LINE = (
    f"{COMPILERS[0] if COMPILERS else ''} $1 {STRICT} -I $ASCEND_HOME_PATH/include -I $ASCEND_HOME_PATH/include/aclnn "
    "-L $ASCEND_HOME_PATH/lib64 -lopapi_nn -lopapi_math -lascendcl -lnnopbase -o $2"
)

pytestmark = pytest.mark.skipif(not COMPILERS, reason="no C++ compiler")


def clean_environment(**more: str) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("ACL_EMU_", "ASCEND_", "LD_"))}
    return {**env, **more}


def shell(tree: Path, command: str, *arguments: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command in a shell that has sourced the toolkit's set_env.sh; arguments are $1, $2, …"""
    script = f"source {shlex.quote(str(tree / 'set_env.sh'))} && {command}"
    return subprocess.run(
        ["bash", "-c", script, "bash", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=clean_environment(**environment),
    )


def must(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr


class Shared:
    """A toolkit and the compiled samples, made once for all processes of a test run, each when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tree = folder / "toolkit"
        self.once("toolkit", lambda: toolkit.lay_out(self.tree))

    def program(self, name: str) -> Path:
        """A sample, compiled by the plain line."""
        executable = self.folder / name
        self.once(name, lambda: must(shell(self.tree, LINE, CPP / f"{name}.cpp", executable)))
        return executable

    def preload(self, name: str) -> str:
        """A library that comes between a program and the emulator, as the start of a command."""
        library = self.folder / f"{name}.so"
        line = f"{COMPILERS[0]} {STRICT} -shared -fPIC -I $ASCEND_HOME_PATH/include $1 -o $2 -ldl"
        self.once(name, lambda: must(shell(self.tree, line, Path(__file__).parent / "preload" / f"{name}.cpp", library)))
        return f"LD_PRELOAD={shlex.quote(str(library))}"

    def once(self, name: str, make: Callable[[], None]) -> None:
        made = self.folder / f"{name}.made"
        with (self.folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not made.exists():
                make()
                made.touch()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cpp_samples"
    folder.mkdir(exist_ok=True)
    return Shared(folder)


@pytest.fixture
def tree(shared: Shared) -> Path:
    return shared.tree


@pytest.mark.parametrize("schedule", soc.SCHEDULES)
@pytest.mark.parametrize("name", NAMES)
def test_runs(name: str, schedule: str, shared: Shared, tmp_path: Path) -> None:
    done = shell(shared.tree, f"cd {shlex.quote(str(tmp_path))} && $1", shared.program(name), ACL_EMU_SCHEDULE=schedule)
    must(done)
    assert done.stderr == ""
    assert done.stdout


needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")


def cmake(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["cmake", *arguments], capture_output=True, text=True, timeout=PATIENCE, env=clean_environment(**environment))


@needs_cmake
def test_cmake(tree: Path, tmp_path: Path) -> None:
    """The CMake file builds every sample as C++11, with all warnings as errors, and needs no environment at run time."""
    must(cmake("-S", CPP, "-B", tmp_path, ASCEND_CUSTOM_PATH=str(tree), ASCEND_HOME_PATH=str(tmp_path)))
    must(cmake("--build", tmp_path, "--parallel", "2"))
    for name in NAMES:
        must(subprocess.run([tmp_path / name], capture_output=True, text=True, timeout=PATIENCE, env=clean_environment()))


@needs_cmake
def test_cmake_takes_the_toolkit_of_the_shell(tree: Path, tmp_path: Path) -> None:
    must(shell(tree, "cmake -S $1 -B $2", CPP, tmp_path))


@needs_cmake
def test_cmake_without_a_toolkit_says_so(tmp_path: Path) -> None:
    done = cmake("-S", CPP, "-B", tmp_path, ASCEND_CUSTOM_PATH=str(tmp_path / "nowhere"))
    assert done.returncode != 0
    assert "is not a toolkit" in " ".join(done.stderr.split())  # CMake breaks long lines


@pytest.mark.skipif("clang++" not in COMPILERS, reason="no clang++")
def test_clang(tree: Path) -> None:
    includes = "-I $ASCEND_HOME_PATH/include -I $ASCEND_HOME_PATH/include/aclnn"
    must(shell(tree, f'clang++ -std=c++11 {STRICT} -fsyntax-only {includes} "$@"', *SOURCES))


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_released(name: str, shared: Shared) -> None:
    done = shell(shared.tree, f"{shared.preload('count_resources')} $1", shared.program(name))
    must(done)
    made, *left = done.stderr.split()
    assert int(made) > 3
    assert left == []


@pytest.mark.parametrize("name", NAMES)
def test_the_self_check_can_fail(name: str, shared: Shared) -> None:
    done = shell(shared.tree, f"{shared.preload('disturb_results')} $1", shared.program(name))
    assert 1 <= done.returncode < 126, done.stdout
    assert "expected" in done.stdout or "DOES NOT NAME" in done.stdout
    assert done.stderr == ""


def test_a_wrong_expectation_fails(tree: Path, tmp_path: Path) -> None:
    done = run_changed("nll_loss2d_backward", "= -weight[label]", "= weight[label]", tree, tmp_path)
    assert done.returncode == 1
    assert "expected" in done.stdout


@pytest.mark.parametrize("schedule", ["lazy", "async"])
def test_two_streams_need_their_event(schedule: str, tree: Path, tmp_path: Path) -> None:
    wait = "CHECK_RET(aclrtStreamWaitEvent(consumer.Get(), ready.Get()));"
    done = run_changed("two_streams", wait, "", tree, tmp_path, ACL_EMU_SCHEDULE=schedule)
    assert done.returncode == 1
    assert "expected" in done.stdout


def run_changed(name: str, old: str, new: str, tree: Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Compile and run a copy of a sample in which one thing is different."""
    text = (CPP / f"{name}.cpp").read_text(encoding="utf-8")
    assert text.count(old) == 1
    source = folder / f"{name}.cpp"
    source.write_text(text.replace(old, new), encoding="utf-8")
    must(shell(tree, f"{LINE} -iquote {shlex.quote(str(CPP))}", source, folder / name))
    return shell(tree, "$1", folder / name, **environment)


def test_a_failed_call_ends_a_sample(shared: Shared) -> None:
    """On a chip without a kernel, phase one fails: exit code 1, and the reason on stderr."""
    done = shell(shared.tree, "$1", shared.program("logsoftmax_backward"), ACL_EMU_SOC="Ascend310B1")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("aclnnLogSoftmaxBackwardGetWorkspaceSize failed with 561103\n")
    assert "has no kernel for Ascend310B1" in done.stderr


def test_error_handling_prints_the_same_every_time(shared: Shared) -> None:
    first, second = (shell(shared.tree, "$1", shared.program("error_handling"), ACL_EMU_SCHEDULE=name).stdout for name in ("async", "lazy"))
    assert first == second
    codes = [int(code) for code in re.findall(r"^\w.*: (\d+), the message names", first, re.MULTILINE)]
    assert codes == [161001, 161002, 161002, 161002, 161002, 161002, 161001, 561000, 507015, 100000]
    assert "PID" not in first


def test_acl_emu_run_finds_a_header_beside_the_source(tmp_path: Path) -> None:
    """And compiles again when the header has changed, although the source has not."""
    (tmp_path / "answer.cpp").write_text('#include "acl_answer.h"\nint main() { return answer; }\n', encoding="utf-8")
    (tmp_path / "acl_answer.h").write_text('#include "value.h"\nconst int answer = VALUE;\n', encoding="utf-8")
    command = [sys.executable, "-m", "acl_emu.cli", "run", str(tmp_path / "answer.cpp")]
    built = "acl-emu: building answer ...\n"
    for value, message in ((41, built), (41, ""), (42, built)):
        (tmp_path / "value.h").write_text(f"#define VALUE {value}\n", encoding="utf-8")
        environment = clean_environment(XDG_CACHE_HOME=str(tmp_path / "cache"))
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment)
        assert (done.returncode, done.stderr) == (value, message)
