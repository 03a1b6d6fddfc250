"""samples/python: each program prints what the program on its operator's page prints, and nothing else; the training step checks itself."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from acl_emu.core import soc
from tests.conftest import PATIENCE, ROOT

SAMPLES = ROOT / "samples" / "python"


def log_softmax_gradient() -> list[float]:
    """The formula in plain Python, column by column."""
    grad = [[0, 1], [2, 3], [4, 5], [6, 7]]
    output = [[1, 1], [1, 2], [2, 2], [3, 3]]
    sums = [math.fsum(row[column] for row in grad) for column in range(2)]
    return [grad[i][j] - math.exp(output[i][j]) * sums[j] for i in range(4) for j in range(2)]


EXPECTED: dict[str, list[float]] = {
    "smooth_l1_loss_backward": [-1, 0, 1, 1, 1, 1, 1, 1],
    "nll_loss2d_backward": [0, 0, -2.7, 0, 0, 0, 0, 0, -2.6, 0, 0, -2.5, 0, 0, 0],
    "logsoftmax_backward": log_softmax_gradient(),
    "fused_linear_cross_entropy_loss_grad": [0] * 16,
}


def test_every_sample_is_tested() -> None:
    assert {path.stem for path in SAMPLES.glob("*.py") if path.stem != "sample_support"} == {*EXPECTED, "vocab_parallel"}


def run(name: str, folder: Path = SAMPLES, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("ACL_EMU_", "ASCEND_"))}
    command = [sys.executable, "-W", "error", str(folder / f"{name}.py")]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env={**env, **environment})


@pytest.mark.parametrize("schedule", soc.SCHEDULES)
@pytest.mark.parametrize("name", EXPECTED)
def test_output(name: str, schedule: str) -> None:
    done = run(name, ACL_EMU_SCHEDULE=schedule)
    assert done.stderr == ""
    lines = [line.partition(" is: ") for line in done.stdout.splitlines()]
    assert [head for head, _, _ in lines] == [f"result[{i}]" for i in range(len(EXPECTED[name]))]
    assert [float(value) for _, _, value in lines] == pytest.approx(EXPECTED[name], rel=3e-7, abs=1e-6)
    assert done.returncode == 0


@pytest.mark.parametrize("name", [*EXPECTED, "vocab_parallel"])
def test_a_failed_call_ends_the_program(name: str) -> None:
    """On a chip without a kernel, phase one fails: exit code 1, and the reason on stderr."""
    done = run(name, ACL_EMU_SOC="Ascend310B1")
    code = 361001 if name.startswith("fused") else 561103
    assert done.stdout == ""
    assert f"GetWorkspaceSize failed. ERROR: {code}" in done.stderr
    assert "has no kernel for Ascend310B1" in done.stderr
    assert done.returncode == 1


ROW = re.compile(r"(FLOAT16|BF16) +(fast|memory-saving) +(\d) +(\d\.\d{3}) +(\d+\.\d) % +(\d+\.\d) % +(\d+\.\d) %")
LOSSES = (7.302, 7.023, 6.752)


@pytest.mark.parametrize("schedule", soc.SCHEDULES)
def test_vocab_parallel(schedule: str) -> None:
    """Both types in both modes lose the same in every step, and stay well within the standard."""
    done = run("vocab_parallel", ACL_EMU_SCHEDULE=schedule)
    assert (done.stderr, done.returncode) == ("", 0)
    rows = [row.groups() for line in done.stdout.splitlines()[2:] if (row := ROW.fullmatch(line))]
    assert len(rows) == len(done.stdout.splitlines()) - 2
    modes = [("FLOAT16", "fast"), ("FLOAT16", "memory-saving"), ("BF16", "fast"), ("BF16", "memory-saving")]
    assert [row[:3] for row in rows] == [(*mode, str(step)) for mode in modes for step in (1, 2, 3)]
    assert [float(row[3]) for row in rows] == pytest.approx(4 * LOSSES, abs=0.003)
    assert all(float(share) < 50 for row in rows for share in row[4:])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LEARNING_RATE = 0.02", "LEARNING_RATE = -0.02"),
        ("np.where(masks == 1, 0,", "np.where(masks == 0, 0,"),
        ("(sums * np.exp(below))", "(sums)"),
    ],
)
def test_vocab_parallel_notices(old: str, new: str, tmp_path: Path) -> None:
    """A loss that rises, a target's logit from the wrong shard, sums below different maxima."""
    text = (SAMPLES / "vocab_parallel.py").read_text(encoding="utf-8")
    assert text.count(old) == 1
    (tmp_path / "vocab_parallel.py").write_text(text.replace(old, new), encoding="utf-8")
    done = run("vocab_parallel", tmp_path, PYTHONPATH=str(SAMPLES))
    assert (done.stderr, done.returncode) == ("", 1)
    assert "expected errors below 100 %" in done.stdout
