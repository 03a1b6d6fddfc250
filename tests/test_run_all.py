"""samples/run_all.py, which is `make run`: what it finds, what it builds without CMake, what it says about a failure."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from samples import run_all

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="no g++")

GOOD = '#include "acl/acl.h"\n#include <cstdio>\nint main() { std::puts(aclrtGetSocName()); return aclInit(nullptr); }\n'


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Small samples in a folder of their own, on a machine without CMake."""
    for name in ("cpp", "python", "build"):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(run_all, name.upper(), tmp_path / name)
    which = shutil.which
    monkeypatch.setattr(run_all.shutil, "which", lambda name: None if name == "cmake" else which(name))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.delenv("ACL_EMU_SOC", raising=False)
    (tmp_path / "cpp" / "good.cpp").write_text(GOOD, encoding="utf-8")
    (tmp_path / "python" / "fine.py").write_text("if __name__ == '__main__':\n    print('one')\n    print('two')\n", encoding="utf-8")
    (tmp_path / "python" / "support.py").write_text("raise SystemExit('not a program')\n", encoding="utf-8")
    return tmp_path


def test_table(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_all.main() == 0
    printed = capsys.readouterr()
    header, *rows, blank, summary = printed.out.splitlines()
    assert header.split()[:3] == ["sample", "language", "result"]
    assert [row.split() for row in rows] == [["fine", "Python", "ok", "two"], ["good", "C++", "ok", "Ascend910B1"]]
    assert blank == ""
    assert summary.startswith("2 of 2 samples ok, ")
    assert printed.err == "building 1 C++ samples with the compiler alone ...\n  1 of 1: good\n"


def test_what_cmake_has_built_is_told_while_it_builds(capsys: pytest.CaptureFixture[str]) -> None:
    run_all.build_step(["echo", "[ 50%] Building CXX object a.o\n[ 50%] Built target one\n[100%] Built target two"], {}, total=2)
    assert capsys.readouterr().err == "  1 of 2: one\n  2 of 2: two\n"


def test_a_failed_sample_is_shown_in_full(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = "if __name__ == '__main__':\n    print('first')\n    raise SystemExit('no luck')\n"
    (folders / "python" / "poor.py").write_text(program, encoding="utf-8")
    assert run_all.main() == 1
    printed = capsys.readouterr().out
    assert "poor    Python    failed  no luck\n" in printed
    assert "poor (Python) ended with code 1:\nfirst\nno luck\n" in printed
    assert "2 of 3 samples ok" in printed


def test_a_sample_that_does_not_compile(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folders / "cpp" / "bad.cpp").write_text("int main() { return nonsense; }\n", encoding="utf-8")
    assert run_all.main() == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "cannot build the samples" in printed.err
    assert "nonsense" in printed.err


def test_no_compiler(folders: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(run_all.shutil, "which", lambda name: None)
    assert run_all.main() == 1
    assert "no C++ compiler found; install g++ or clang" in capsys.readouterr().err
