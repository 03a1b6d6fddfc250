"""Builds are incremental: what has changed is compiled, and nothing else; an operator is found without any build."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from acl_emu.cface import build, exports
from acl_emu.codegen.python_faces import operators, single_phases
from acl_emu.core.documented import python_name
from aclnnop import registry
from tests.conftest import ROOT


@pytest.fixture
def sources(tmp_path: Path) -> list[build.Job]:
    (tmp_path / "shared thing.h").write_text("#define VALUE 1\n")
    (tmp_path / "one.c").write_text('#include "shared thing.h"\nint one(void);\nint one(void) { return VALUE; }\n')
    (tmp_path / "two.c").write_text("int two(void);\nint two(void) { return 2; }\n")
    return [build.Job(tmp_path / f"{name}.c", name, ("-O0",)) for name in ("one", "two")]


def made(jobs: list[build.Job], folder: Path) -> dict[str, int]:
    """Build, and say when each file was made."""
    folder.mkdir(exist_ok=True)
    objects = [build.compiled(job, folder) for job in jobs]
    build.link(folder / "lib.so", objects, (), folder)
    return {path.name: path.stat().st_mtime_ns for path in (*objects, folder / "lib.so")}


def touch(path: Path, text: str) -> None:
    path.write_text(text)
    later = time.time_ns() + 10**9  # whatever the file system's clock
    os.utime(path, ns=(later, later))


def changed(before: dict[str, int], after: dict[str, int]) -> set[str]:
    return {name for name in after if after[name] != before[name]}


def test_only_what_changed_is_compiled(sources: list[build.Job], tmp_path: Path) -> None:
    folder = tmp_path / "objects"
    first = made(sources, folder)
    assert made(sources, folder) == first
    touch(tmp_path / "shared thing.h", "#define VALUE 3\n")
    second = made(sources, folder)
    assert changed(first, second) == {"one.o", "lib.so"}
    other_flags = [sources[0], sources[1]._replace(flags=("-O1",))]
    assert changed(second, made(other_flags, folder)) >= {"two.o", "lib.so"}


def test_a_header_that_went_away_is_noticed(sources: list[build.Job], tmp_path: Path) -> None:
    made(sources, tmp_path / "objects")
    (tmp_path / "shared thing.h").unlink()
    with pytest.raises(subprocess.CalledProcessError):
        made(sources, tmp_path / "objects")


def test_a_source_that_failed_is_compiled_again(sources: list[build.Job], tmp_path: Path) -> None:
    made(sources, tmp_path / "objects")
    good = sources[1].source.read_text()
    touch(sources[1].source, "not C\n")
    for _ in range(2):
        with pytest.raises(subprocess.CalledProcessError):
            made(sources, tmp_path / "objects")
    sources[1].source.write_text(good)
    made(sources, tmp_path / "objects")


def test_a_generated_file_is_written_when_its_text_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "BUILD", tmp_path / "native")
    given = tmp_path / "input"
    given.write_text("a")
    asked = []

    def text() -> str:
        asked.append(given.read_text())
        return "same"

    target = build.generate("made.c", [given], text)
    stamp = target.stat().st_mtime_ns
    build.generate("made.c", [given], text)
    assert asked == ["a"]
    touch(given, "b")
    build.generate("made.c", [given], text)
    build.generate("made.c", [given], text, "another recipe")
    assert asked == ["a", "b", "b"]
    assert target.stat().st_mtime_ns == stamp


def test_a_checkout_that_is_built_stays_as_it_is() -> None:
    """What `make test` does first: nothing is compiled when nothing, or an operator, has changed."""
    watched = [*(ROOT / "acl_emu" / "lib64").iterdir(), *(ROOT / "acl_emu" / "core").glob("*.so"), ROOT / "aclnnop" / "__init__.pyi"]
    before = [path.stat().st_mtime_ns for path in watched]
    source = ROOT / "aclnnop" / "activation" / "softmax.py"
    status = source.stat()
    os.utime(source)
    try:
        done = subprocess.run([sys.executable, ROOT / "acl_emu" / "cface" / "build.py"], capture_output=True, text=True)
    finally:
        os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert [path.stat().st_mtime_ns for path in watched] == before


def test_stubs_have_the_types_of_the_declarations() -> None:
    text = build.stubs(registry.MODULES)
    for operator in operators():
        parameters = ", ".join(f"{python_name(name)}: {kind.python_type}" for name, kind in operator.parameters)
        assert f"\ndef {operator.name}GetWorkspaceSize({parameters}) -> tuple[int, Handle, int]: ...\n" in text
        assert f"\ndef {operator.name}(workspace: Handle, workspaceSize: int, executor: Handle, stream: Handle) -> int: ...\n" in text


def test_an_operator_that_is_not_emulated_costs_one_line() -> None:
    text = exports.source(ROOT / "include", ["aclnnSoftmax"])
    assert "acl_emu_enter(" in text.split("aclnnSoftmaxGetWorkspaceSize(")[1][:400]
    assert re.findall(r".*aclnnTanhGetWorkspaceSize.*", text) == ["REFUSED(aclnnTanhGetWorkspaceSize)"]


# The index


def scanned(folder: Path) -> dict[str, str]:
    return registry.scan(str(folder), str(folder / "cache" / "names.json"))


def test_an_operator_is_found_as_soon_as_its_file_is_there(tmp_path: Path) -> None:
    (tmp_path / "math").mkdir()
    assert scanned(tmp_path) == {}
    plain = tmp_path / "math" / "tanh.py"
    plain.write_text("from elsewhere import aclnnOther\n@operator()\ndef aclnnTanh(self): ...\ndef helper(): ...\n")
    assert scanned(tmp_path) == {"aclnnTanh": "aclnnop.math.tanh"}
    touch(plain, "aclnnTanh, aclnnInplaceTanh = unary('Tanh')\naclnnThree: Operator = three()\n(\n    aclnnFour,\n    _,\n) = four()\n")
    assert list(scanned(tmp_path)) == ["aclnnFour", "aclnnInplaceTanh", "aclnnTanh", "aclnnThree"]
    plain.unlink()
    assert scanned(tmp_path) == {}


def test_a_file_with_a_mistake_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / "math").mkdir()
    (tmp_path / "math" / "good.py").write_text("def aclnnGood(): ...\n")
    (tmp_path / "math" / "broken.py").write_text("def aclnnBroken(:\n")
    assert scanned(tmp_path) == {"aclnnBroken": "aclnnop.math.broken", "aclnnGood": "aclnnop.math.good"}


def test_an_operator_cannot_be_declared_twice(tmp_path: Path) -> None:
    for family in ("loss", "math"):
        (tmp_path / family).mkdir()
        (tmp_path / family / "log.py").write_text("def aclnnLog(): ...\n")
    with pytest.raises(ImportError, match=r"aclnnLog is declared twice: in aclnnop\.loss\.log and in aclnnop\.math\.log"):
        scanned(tmp_path)


def test_a_file_that_has_not_changed_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "math").mkdir()
    (tmp_path / "math" / "log.py").write_text("def aclnnLog(): ...\n")
    first = scanned(tmp_path)
    monkeypatch.setattr(registry, "_text", lambda path: pytest.fail(f"{path} was read"))
    assert scanned(tmp_path) == first


def test_without_a_place_for_the_cache(tmp_path: Path) -> None:
    (tmp_path / "math").mkdir()
    (tmp_path / "math" / "log.py").write_text("def aclnnLog(): ...\n")
    (tmp_path / "math" / "file").write_text("")
    assert registry.scan(str(tmp_path), str(tmp_path / "math" / "file" / "names.json")) == {"aclnnLog": "aclnnop.math.log"}


def test_the_index_is_that_of_the_modules() -> None:
    assert {operator.name: operator.module for operator in operators()} == registry.MODULES
    assert {function.name: function.module for function in single_phases()} == registry.SINGLE_PHASES
    assert registry.MODULES | registry.SINGLE_PHASES == registry.EMULATED == registry.scan()
