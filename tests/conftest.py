"""What all tests share: a device that must come back clean, chips and schedules to choose, fresh processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ["ACL_EMU_COMPILE"] = "off"  # no test depends on what a cache holds, but for those of compiling on demand

import acl_emu as acl
from acl_emu.core import errors, handles, soc
from acl_emu.runtime import context, plans

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
PATIENCE = 900
"""Seconds after which a program hangs, however busy the machine is. It decides nothing else: programs end by themselves."""

settings.register_profile(
    "suite",
    deadline=None,
    max_examples=60,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # one device serves all examples of a test, and is checked after them
)
settings.load_profile("suite")


def used_bytes() -> int:
    return sum(device._memory.used for device in context.devices() if device._memory)


@pytest.fixture
def device() -> Iterator[int]:
    """Device 0 on this thread; afterwards no allocation and no handle may be left."""
    handles_before, bytes_before = handles.census(), used_bytes()
    assert acl.aclrtSetDevice(0) == 0
    yield 0
    acl.aclrtSynchronizeDevice()
    assert acl.aclrtResetDevice(0) == 0
    errors.take_recent(keep_previous=False)
    assert handles.census() == handles_before
    assert used_bytes() == bytes_before


@pytest.fixture
def chip(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """``chip("Ascend310P3")`` emulates another SoC for one test."""

    def choose(name: str) -> None:
        monkeypatch.setenv("ACL_EMU_SOC", name)
        soc.current.cache_clear()
        plans.forget()

    yield choose
    monkeypatch.undo()
    soc.current.cache_clear()
    plans.forget()


@pytest.fixture(params=soc.SCHEDULES)
def schedule(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Every schedule in turn; streams made in the test use it."""
    monkeypatch.setenv("ACL_EMU_SCHEDULE", request.param)
    soc.schedule.cache_clear()
    yield request.param
    monkeypatch.undo()
    soc.schedule.cache_clear()


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, with some environment variables."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("ACL_EMU_", "ASCEND_"))} | {"ACL_EMU_COMPILE": "off"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, env={**env, **environment})


def message() -> str:
    """The recent-error text of this thread."""
    return acl.aclGetRecentErrMsg() or ""


@pytest.fixture
def cache(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.fixture(scope="session")
def warm_cache(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One cache for tests that do not look at caching."""
    return {"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}
