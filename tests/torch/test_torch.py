"""The unmodified torch_npu wheel. These tests need it: in this environment, or in the one that ACL_EMU_TORCH names the Python of."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest

from acl_emu.cface import toolkit
from tests.checker.running import parse
from tests.command import COMMAND
from tests.conftest import PATIENCE, ROOT

SAMPLES = ROOT / "samples" / "torch"


@lru_cache(maxsize=None)
def python() -> str:
    """The Python that has torch_npu."""
    named = os.environ.get("ACL_EMU_TORCH", "")
    if named:
        return named
    of_make_torch = ROOT / ".venv-torch" / "bin" / "python"
    if (ROOT / ".venv-torch" / "ready").exists():
        return str(of_make_torch)
    if importlib.util.find_spec("torch_npu") is None:
        pytest.skip("torch_npu is not installed here, `make torch` has not run, and ACL_EMU_TORCH does not name a Python that has it")
    return sys.executable


def environment(**variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ACL_EMU_", "ASCEND_", "PYTHON", "TASK_QUEUE"))}
    return {**kept, "PYTHONPATH": str(ROOT), **variables}


def execute(*arguments: str | Path, options: tuple[str, ...] = (), **variables: str) -> subprocess.CompletedProcess[str]:
    """A program under acl-emu exec."""
    return subprocess.run(
        [COMMAND, "exec", *options, python(), *arguments], capture_output=True, text=True, timeout=PATIENCE, env=environment(**variables)
    )


def test_import_and_first_steps():
    program = """
import torch, torch_npu
print(torch.npu.is_available(), torch.npu.device_count(), torch.npu.get_device_name(0))
x = torch.randn(3, 4)
print(torch.equal((x.npu() + x.npu()).cpu(), x + x))
"""
    done = execute("-c", program, options=("--devices", "2"))
    assert done.stdout.splitlines() == ["True 2 Ascend910B1", "True"], done.stderr


def test_import_in_a_notebook(tmp_path):
    file = tmp_path / "cell.py"
    file.write_text("import acl_emu.torch\nimport acl_emu.torch\nimport torch\nprint(float(torch.ones(3).npu().sum()))\n")
    done = subprocess.run([python(), file], capture_output=True, text=True, timeout=PATIENCE, env=environment())
    assert done.stdout == "3.0\n", done.stderr


def test_expandable_segments():
    program = """
import torch
parts = [torch.full((512, 1024 * n), float(n)).npu() for n in range(1, 8)]
print(sum(float((part + part).sum()) for part in parts) == sum(1024 * 1024 * n * n for n in range(1, 8)))
del parts
torch.npu.empty_cache()
print(float(torch.ones(3000, 300).npu().sum()))
"""
    done = execute("-c", program, PYTORCH_NPU_ALLOC_CONF="expandable_segments:True")
    assert done.stdout.split() == ["True", "900000.0"], done.stderr


def test_programs():
    done = execute(SAMPLES / "run.py")
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = [line.split()[1] for line in done.stdout.rpartition("\n\n")[2].splitlines()]
    assert len(verdicts) >= 12
    assert set(verdicts) == {"ok"}


def test_a_mistake():
    file = SAMPLES / "mistake.py"
    line = {name: i for i, text in enumerate(file.read_text().splitlines(), 1) for name in ("x * 2", "y + 1") if name in text}
    done = execute(file, options=("--check",))
    (entry,) = parse(done.stderr)
    shown = file.relative_to(ROOT) if Path.cwd() == ROOT else file
    assert entry[:4] == ("race", "aclnnAdds", "self", f"{shown}:{line['y + 1']}"), done.stderr
    assert f"queued by aclnnMuls at {shown}:{line['x * 2']}" in entry.lines
    assert done.returncode == 86


def test_programs_without_a_mistake():
    done = execute(SAMPLES / "run.py", "mlp_adamw", "scaler", "loader", "streams", "captured_graph", options=("--check",))
    assert done.returncode == 0, done.stderr


ENTRIES = ["add", "mul", "softmax", "sum", "where", "cat", "clamp_min"]
ENTRIES += [f"nn.functional.{name}" for name in ("linear", "cross_entropy", "relu")]


def test_entries_of_the_database():
    command = [sys.executable, "-m", "tests.torch.database", "--python", python(), "--processes", "1", "--samples", "6", *ENTRIES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment(), cwd=ROOT)
    assert done.stdout == "10 entries: 10 equal, 0 more equal forward, 0 different, 0 not yet\n", done.stdout + done.stderr


def test_too_late(tmp_path):
    (tmp_path / "torch_npu.py").write_text("")
    home = environment(PYTHONPATH=f"{ROOT}:{tmp_path}")
    done = subprocess.run(
        [sys.executable, "-c", "import torch_npu\nimport acl_emu.torch"], capture_output=True, text=True, timeout=PATIENCE, env=home
    )
    assert "import acl_emu.torch before torch" in done.stderr
    assert done.returncode == 1


def test_libraries_that_are_loaded_already_are_found_by_name():
    """What ``import acl_emu.torch`` relies on, without torch."""
    names = ", ".join(repr(name) for name in toolkit.OTHER_NAMES)
    program = f"""
import acl_emu.torch, ctypes
for name in ({names}):
    assert ctypes.CDLL(name).aclInit, name
assert ctypes.CDLL("libopapi.so").aclnnAddGetWorkspaceSize
print("found")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, env=environment())
    assert done.stdout == "found\n", done.stderr
