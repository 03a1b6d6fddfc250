"""No result of any operator changes by a bit with the number of threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from benchmarks.problems import SUBJECTS
from tests.conftest import ROOT


def digests(chip: str, threads: str) -> dict[str, str]:
    environment = {**os.environ, "ACL_EMU_SOC": chip, "ACL_EMU_THREADS": threads}
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.digests"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("threads", ["2", "3"])
@pytest.mark.parametrize("chip", sorted({subject.chip for subject in SUBJECTS}))
def test_bits_do_not_depend_on_threads(chip: str, threads: str) -> None:
    alone = digests(chip, "1")
    assert alone
    assert digests(chip, threads) == alone
