"""The cache folder: programs in it are run, so nobody else may have been able to put one there."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from acl_emu.core import cache
from tests.command import HELLO, acl_emu

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders to others")


def test_it_is_made_for_the_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = cache.own(tmp_path / "new" / "acl-emu")
    finally:
        os.umask(before)
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert stat.S_IMODE(made.parent.stat().st_mode) == 0o700
    assert cache.own(made) == made


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o1777, 0o720, 0o702])
def test_one_that_others_can_write_is_not_used(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "acl-emu"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(cache.Untrusted, match=f"others can write it .mode {mode:04o}."):
        cache.own(folder)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "acl-emu").symlink_to("elsewhere")
    with pytest.raises(cache.Untrusted, match="it is a link"):
        cache.own(tmp_path / "acl-emu")
    (tmp_path / "file").touch()
    with pytest.raises(cache.Untrusted, match="it is no folder"):
        cache.own(tmp_path / "file")


@pytest.mark.parametrize(("mode", "good"), [(0o777, False), (0o1777, True), (0o755, True)])
def test_a_folder_where_others_could_exchange_it_is_not_used(tmp_path: Path, mode: int, good: bool) -> None:
    above = tmp_path / "above"
    above.mkdir()
    above.chmod(mode)
    if good:
        assert cache.own(above / "acl-emu") == above / "acl-emu"
    else:
        with pytest.raises(cache.Untrusted, match="others can write"):
            cache.own(above / "acl-emu")
        assert not (above / "acl-emu").exists()


@as_root
def test_a_folder_of_another_user_is_not_used(tmp_path: Path) -> None:
    for folder in (tmp_path / "theirs", tmp_path / "above"):
        folder.mkdir(mode=0o700)
        os.chown(folder, NOBODY, NOBODY)
    with pytest.raises(cache.Untrusted, match=f"it belongs to user {NOBODY}"):
        cache.own(tmp_path / "theirs")
    with pytest.raises(cache.Untrusted, match=f"above belongs to user {NOBODY}"):
        cache.own(tmp_path / "above" / "acl-emu")


def test_what_is_built_without_a_cache_is_removed(tmp_path: Path) -> None:
    taken, temporary = tmp_path / "taken", tmp_path / "tmp"
    taken.mkdir()
    taken.chmod(0o777)
    temporary.mkdir()
    (temporary / f"acl-emu-{os.geteuid()}").symlink_to(taken)
    source = tmp_path / "hello.cpp"
    source.write_text(HELLO)
    places = {"XDG_CACHE_HOME": str(taken), "TMPDIR": str(temporary)}
    done = acl_emu("run", source, **places)
    assert (done.stdout, done.returncode) == ("Ascend910B1 1 8\n", 7), done.stderr
    assert "others can write" in done.stderr
    assert "is a link; what is built is not kept" in done.stderr
    assert not (taken / "acl-emu").exists()
    assert [path.name for path in temporary.iterdir()] == [f"acl-emu-{os.geteuid()}"]
    refused = acl_emu("env", **places)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "`acl-emu toolkit FOLDER`" in refused.stderr
    assert "missing cache folder" in acl_emu("doctor", **places).stdout


@as_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed")
def test_code_that_another_user_planted_is_not_run(tmp_path: Path) -> None:
    """The attacker made the folder in the temporary folder first, with entries for the program that the victim is to run."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    temporary.chmod(0o1777)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o011)
    source = tmp_path / "hello.cpp"
    source.write_text(HELLO)
    places = {"XDG_CACHE_HOME": "/proc/none", "TMPDIR": str(temporary), "HOME": "/proc/none"}
    assert acl_emu("run", source, **places).returncode == 7  # root's own folder: to be taken over
    planted = temporary / f"acl-emu-{os.geteuid()}"
    for path in [planted, *planted.rglob("*")]:
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    (hello,) = planted.rglob("hello")
    hello.write_text("#!/bin/sh\necho pwned\n")
    done = acl_emu("run", source, **places)
    assert (done.stdout, done.returncode) == ("Ascend910B1 1 8\n", 7)
    assert f"it belongs to user {NOBODY}" in done.stderr


def test_where_it_is(tmp_path: Path) -> None:
    def where(**environment: str) -> str:
        code = "from acl_emu.core import cache; print(cache.folder())"
        env = {**os.environ, "TMPDIR": str(tmp_path), **environment}
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True).stdout.strip()

    assert where(XDG_CACHE_HOME=str(tmp_path / "x")) == str(tmp_path / "x" / "acl-emu")
    assert where(XDG_CACHE_HOME="relative", HOME=str(tmp_path)) == str(tmp_path / ".cache" / "acl-emu")
    assert where(XDG_CACHE_HOME="/proc/none") == str(tmp_path / f"acl-emu-{os.geteuid()}")
