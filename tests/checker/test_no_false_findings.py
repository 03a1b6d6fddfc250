"""Correct programs have no finding, in any schedule: those in correct/, and all samples."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from acl_emu.core import soc
from tests.checker.running import checked, compiled
from tests.conftest import PATIENCE, ROOT
from tests.test_cpp_samples import COMPILERS, NAMES, Shared, shared, shell  # noqa: F401

CORRECT = sorted((Path(__file__).parent / "correct").glob("*.cpp"))
PYTHON = ROOT / "samples" / "python"


@pytest.mark.parametrize("schedule", soc.SCHEDULES)
@pytest.mark.parametrize("source", CORRECT, ids=lambda source: source.stem)
def test_correct_programs(source: Path, schedule: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    done = checked(compiled(source, tmp_path_factory), ACL_EMU_SCHEDULE=schedule)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(not COMPILERS, reason="no C++ compiler")
@pytest.mark.parametrize("schedule", soc.SCHEDULES)
@pytest.mark.parametrize("name", NAMES)
def test_cpp_samples(name: str, schedule: str, shared: Shared) -> None:  # noqa: F811
    done = shell(shared.tree, "$1", shared.program(name), ACL_EMU_SCHEDULE=schedule, ACL_EMU_CHECK="1")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize("schedule", soc.SCHEDULES)
@pytest.mark.parametrize("name", sorted(path.stem for path in PYTHON.glob("*.py") if path.stem != "sample_support"))
def test_python_samples(name: str, schedule: str) -> None:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("ACL_EMU_", "ASCEND_"))}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(PYTHON / f"{name}.py")],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**env, "ACL_EMU_SCHEDULE": schedule, "ACL_EMU_CHECK": "1"},
    )
    assert (done.returncode, done.stderr) == (0, "")
