"""The wheel: installed in an environment of its own, it brings headers and library along and needs nothing of the checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from acl_emu.cface import toolkit
from tests.conftest import ROOT

pytestmark = pytest.mark.xdist_group("wheel")  # it is built once, by one process

PAGE = """# A page
```cpp
#include <cstdio>
#include "acl/acl.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
int main() {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  auto ret = aclnnSmoothL1LossBackwardGetWorkspaceSize(nullptr, nullptr, nullptr, 0, 1, nullptr, &size, &executor);
  std::printf("%s %d\\n", aclrtGetSocName(), ret);
}
```
"""


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", **environment}
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(
        ROOT, source, ignore=shutil.ignore_patterns(".git", ".venv*", "build", "lib64", "*.so", "*.egg-info", "__pycache__", ".*_cache")
    )
    run(
        sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "-w", folder, source, cwd=folder
    )
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_carries_headers_library_and_no_trace_of_this_machine(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        assert {"acl_emu/include/acl/acl.h", "acl_emu/include/aclnnop/aclnn_softmax.h", "acl_emu/lib64/libascendcl.so"} <= names
        assert {"aclnnop/index.json", "aclnnop/__init__.pyi", "acl_emu/py.typed", "acl_emu/core/documented.jsonl"} <= names
        assert "acl_emu/lib64/python.txt" not in names
        assert not any(name.startswith(("tests/", "samples/")) for name in names)


def test_an_installed_wheel_runs_a_page_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env", cwd=tmp_path)
    python = tmp_path / "env" / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip())
    # numpy and its like come from here; the checkout does not, because this line does not read other .pth files
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    assert run(python, "-c", "import acl_emu; print(acl_emu.__file__)", cwd=tmp_path).startswith(str(packages))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "page.md").write_text(PAGE)
    printed = run(tmp_path / "env" / "bin" / "acl-emu", "run", "page.md", cwd=elsewhere, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert printed == "Ascend910B1 161001\n"
    # linked straight to the installed library, which finds its Python by where it lies
    (elsewhere / "page.cpp").write_text(PAGE.split("```cpp\n")[1].split("```")[0])
    package = packages / "acl_emu"
    run(
        "g++",
        "page.cpp",
        f"-I{package / 'include'}",
        f"-L{package / 'lib64'}",
        "-lascendcl",
        f"-Wl,-rpath,{package / 'lib64'}",
        cwd=elsewhere,
    )
    assert run(elsewhere / "a.out", cwd=Path("/")) == "Ascend910B1 161001\n"


@pytest.mark.parametrize("shell", ["sh", "dash", "bash", "zsh"])
@pytest.mark.parametrize(
    "script", [". cann/set_env.sh", "set -eu; . ./cann/set_env.sh", "cd cann; . ./set_env.sh", ":; (. cann/set_env.sh; env); exit"]
)
def test_set_env_in_every_shell(shell: str, script: str, tmp_path: Path) -> None:
    if not shutil.which(shell):
        pytest.skip(f"no {shell}")
    toolkit.lay_out(tmp_path / "built")
    (tmp_path / "built").rename(tmp_path / "cann")  # a tree may move
    printed = run(shutil.which(shell), "-c", f"{script}\nenv", cwd=tmp_path).splitlines()
    assert f"ASCEND_HOME_PATH={tmp_path}/cann" in printed
    assert f"LD_LIBRARY_PATH={tmp_path}/cann/lib64" in printed
    assert not any(line.startswith("acl_emu_") for line in printed)


def test_without_a_compiler_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--build-lib", str(tmp_path), "--build-temp", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "CC": "no-such-compiler -O2"},
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "acl-emu: there is no C compiler no-such-compiler; install one (Debian: apt-get install gcc) or set CC"
    )
    assert "Traceback" not in done.stderr


def test_the_licence_in_the_metadata(wheel: Path) -> None:
    """An expression and a file need setuptools 77."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = archive.read(name).decode()
    assert "License-Expression: Apache-2.0\n" in metadata
    assert "License-File: LICENSE\n" in metadata
    assert "setuptools>=77" in (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[project]")[0]
