"""The acl-emu command, as a user meets it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from acl_emu.cli import process
from acl_emu.tools.pages import SampleError
from acl_emu.version import __version__
from aclnnop.registry import MODULES
from tests.command import COMMAND, HELLO, acl_emu, refused
from tests.conftest import SHARED

SEEDS = sorted((SHARED / "seeds").glob("*.md"))


def test_version() -> None:
    assert acl_emu("--version").stdout == f"acl-emu, version {__version__}\n"


def test_run_passes_output_arguments_and_exit_code_through(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    source = tmp_path / "hello.cpp"
    source.write_text(HELLO)
    done = acl_emu("run", "--soc", "Ascend310P3", "--devices", "3", source, "--", "-x", "two words", **warm_cache)
    assert done.stdout == "Ascend310P3 3 [-x] [two words] 3\n"
    assert done.returncode == 7


def test_run_builds_once_and_says_so(tmp_path: Path, cache: dict[str, str]) -> None:
    source = tmp_path / "hello.cpp"
    source.write_text(HELLO)
    first, second = acl_emu("run", source, **cache), acl_emu("run", source, **cache)
    assert "building hello" in first.stderr
    assert second.stderr == ""
    assert first.stdout == second.stdout
    source.write_text(HELLO.replace("return 7", "return 8"))
    changed = acl_emu("run", source, **cache)
    assert "building hello" in changed.stderr
    assert changed.returncode == 8


def test_run_keeps_what_it_built(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    source = tmp_path / "hello.cpp"
    source.write_text(HELLO)
    acl_emu("run", "--keep", tmp_path / "kept", source, **warm_cache)
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["hello", "hello.cpp"]
    assert subprocess.run([tmp_path / "kept" / "hello"], capture_output=True).returncode == 7


def test_run_a_c_program(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    source = tmp_path / "plain.c"
    source.write_text('#include <stdio.h>\n#include "acl/acl.h"\nint main(void) { printf("%d\\n", aclInit(NULL)); return 0; }\n')
    assert acl_emu("run", "--std", "c11", source, **warm_cache).stdout == "0\n"


def test_run_from_any_folder_with_hardly_any_environment(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    source = tmp_path / "hello.cpp"
    source.write_text(HELLO)
    done = subprocess.run(
        [str(COMMAND), "run", str(source)], capture_output=True, text=True, cwd="/", env={"PATH": "/usr/bin:/bin", **warm_cache}
    )
    assert done.stdout == "Ascend910B1 1 8\n", done.stderr


def test_a_page_with_several_programs(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("".join(f'```cpp\n#include <cstdio>\nint main() {{ std::puts("{n}"); return {n - 1}; }}\n```\n' for n in (1, 2)))
    both = acl_emu("run", page, **warm_cache)
    assert (both.stdout, both.returncode) == ("1\n2\n", 1)
    assert acl_emu("run", "--which", "1", page, **warm_cache).stdout == "1\n"
    assert "it has 2 programs" in refused("run", "--which", "3", page, **warm_cache)


def test_a_page_with_a_program_for_each_product(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    page = tmp_path / "page.md"
    program = '```cpp\n#include <cstdio>\nint main() {{ std::puts("{0}"); }}\n```\n'
    parts = (("910b,A3", "id1"), ("950", "id2"))
    page.write_text("".join(f'<!-- npu="{names}" {mark} -->\n{program.format(names)}<!-- end {mark} -->\n' for names, mark in parts))
    done = acl_emu("run", page, **warm_cache)
    assert (done.stdout, done.returncode) == ("910b,A3\n", 0)
    assert "program 2 is for 950, not for Ascend910B1" in done.stderr
    assert acl_emu("run", "--soc", "Ascend950PR_9589", page, **warm_cache).stdout == "950\n"
    assert acl_emu("run", "--which", "2", page, **warm_cache).stdout == "950\n"
    assert "none of its 2 programs is for Ascend310P3" in refused("run", "--soc", "Ascend310P3", page, **warm_cache)


def test_a_program_that_dies_gives_the_code_of_its_signal(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    source = tmp_path / "dies.cpp"
    source.write_text("#include <csignal>\nint main() { raise(SIGTERM); }\n")
    assert acl_emu("run", source, **warm_cache).returncode == 128 + 15


def test_one_clear_message_each(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    broken, page, absent = tmp_path / "broken.cpp", tmp_path / "page.md", tmp_path / "absent.cpp"
    broken.write_text("int main() { return undeclared; }\n")
    page.write_text("# a page without a program\n")
    foreign = tmp_path / "foreign.cpp"
    foreign.write_text('#include "aclnnop/aclnn_no_such_operator.h"\nint main() {}\n')
    assert "undeclared" in refused("run", broken, **warm_cache)
    assert "no program found" in refused("run", page, **warm_cache)
    assert "No such file" in refused("run", absent, **warm_cache)
    assert "aclnn_no_such_operator.h is not emulated" in refused("run", foreign, **warm_cache)
    assert "Ascend1 is unknown; known are Ascend910B1" in refused("run", "--soc", "Ascend1", broken, **warm_cache)
    assert "'no-such-compiler' not found" in refused("run", "--cxx", "no-such-compiler", broken, **warm_cache)
    assert "No closing quotation" in refused("run", "--cxx", 'g++ "-O2', broken, **warm_cache)
    assert "no C++ compiler found" in refused("run", broken, **warm_cache, PATH="/nonexistent")


def test_run_where_nothing_can_be_kept(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    source = tmp_path / "program.cpp"
    source.write_text("int main() {}\n")
    assert f"--keep {source}: File exists" in refused("run", "--keep", source, source, **warm_cache)
    assert f"--keep {source}/kept: Not a directory" in refused("run", "--keep", source / "kept", source, **warm_cache)


def test_program_that_cannot_be_run(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("no program")
    with pytest.raises(SampleError, match="program cannot be run: Permission denied"):
        process.run([str(program)], {})


def test_ops_lists_and_shows() -> None:
    listed = acl_emu("ops").stdout
    assert all(re.search(rf"^{name} ", listed, re.MULTILINE) for name in MODULES)
    shown = acl_emu("ops", "smoothl1lossbackward").stdout
    assert "aclnnSmoothL1LossBackward(const aclTensor* gradOut," in shown
    assert "950, A3, A2, 310P, 910" in shown
    assert "did you mean" in refused("ops", "NLLLoss2d" if "aclnnNLLLoss2d" not in MODULES else "LLLoss2dBack")
    assert "is not emulated" in refused("ops", "aclnnNothing")
    assert "did you mean aclnnSoftmax" in refused("ops", "aclnnSofmax")


def test_doctor_finds_everything_here_and_says_what_is_missing(warm_cache: dict[str, str]) -> None:
    good = acl_emu("doctor", **warm_cache)
    assert good.returncode == 0, good.stdout
    poor = acl_emu("doctor", **warm_cache, PATH="/nonexistent")
    assert poor.returncode == 1
    assert "missing C++ compiler" in poor.stdout
    assert "install g++" in poor.stdout


def test_env_names_a_tree_that_compiles(tmp_path: Path, warm_cache: dict[str, str]) -> None:
    (tmp_path / "hello.cpp").write_text(HELLO)
    exports = acl_emu("env", **warm_cache).stdout
    script = exports + (
        "g++ hello.cpp -I $ASCEND_HOME_PATH/include -I $ASCEND_HOME_PATH/include/aclnn -I $ASCEND_HOME_PATH/include/aclnnop "
        "-L $ASCEND_HOME_PATH/lib64 -lopapi_nn -lopapi_math -lascendcl -lnnopbase -o hello && ./hello"
    )
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "Ascend910B1 1 8\n", done.stderr


def test_toolkit_with_the_public_cmake_recipe(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    assert acl_emu("toolkit", tmp_path / "cann").returncode == 0
    (tmp_path / "hello.cpp").write_text(HELLO)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.14)\nproject(hello CXX)\nadd_compile_options(-std=c++11)\n"
        'if(NOT "$ENV{ASCEND_CUSTOM_PATH}" STREQUAL "")\n  set(ROOT $ENV{ASCEND_CUSTOM_PATH})\n'
        "else()\n  set(ROOT /usr/local/Ascend/cann)\nendif()\n"
        "include_directories(${ROOT}/include ${ROOT}/include/aclnn)\nadd_executable(hello hello.cpp)\n"
        "target_link_libraries(hello PRIVATE ${ROOT}/lib64/libascendcl.so ${ROOT}/lib64/libnnopbase.so\n"
        "  ${ROOT}/lib64/libopapi_math.so ${ROOT}/lib64/libopapi_nn.so)\n"
    )
    script = (
        "source cann/set_env.sh && export ASCEND_CUSTOM_PATH=$ASCEND_HOME_PATH && cmake -S . -B build && cmake --build build && build/hello"
    )
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.endswith("Ascend910B1 1 8\n"), done.stderr
    shown = subprocess.run(["bash", "-c", "source cann/set_env.sh && env"], cwd=tmp_path, capture_output=True, text=True).stdout
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "LD_LIBRARY_PATH"):
        assert re.search(rf"^{name}={tmp_path}/cann", shown, re.MULTILINE), name


def test_toolkit_does_not_write_into_somebody_elses_folder(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    assert "not empty" in refused("toolkit", tmp_path)


def expected_of(page: str) -> list[float]:
    if "SmoothL1" in page:
        values = [-1.0, 0, 1, 1, 1, 1, 1, 1]
    elif "NLLLoss2d" in page:
        values = [0.0] * 15
        values[2], values[8], values[11] = -2.7, -2.6, -2.5
    elif "LogSoftmax" in page:
        grad, output = np.arange(8.0).reshape(4, 2), np.array([1.0, 1, 1, 2, 2, 2, 3, 3]).reshape(4, 2)
        values = list((grad - np.exp(output) * grad.sum(axis=0)).ravel().astype(np.float32))
    else:
        values = [0.0] * 16
    return values


@pytest.mark.skipif(not SEEDS, reason="the founding documents are not here")
@pytest.mark.parametrize("page", SEEDS, ids=lambda page: page.stem)
def test_the_founding_pages_run_unchanged(page: Path, warm_cache: dict[str, str]) -> None:
    expected = expected_of(page.stem)
    for flags, schedules in (("g++ -O0", ("async",)), ("g++ -O2", ("async", "lazy", "eager"))):
        for schedule in schedules:
            done = acl_emu("run", "--cxx", flags, "--schedule", schedule, page, **warm_cache)
            assert done.returncode == 0, done.stderr
            assert [line.partition(": ")[0] for line in done.stdout.splitlines()] == [f"result[{i}] is" for i in range(len(expected))]
            printed = [float(line.partition(": ")[2]) for line in done.stdout.splitlines()]
            np.testing.assert_allclose(printed, expected, rtol=3e-7, atol=1e-6)
