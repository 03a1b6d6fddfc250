"""The folder where built things stay between runs: one that nobody else can have put anything into."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import stat
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Untrusted(Exception):
    """Others could have put something into a folder, or could exchange it; the text says why."""


class NoCache(Exception):
    """Nothing can stay between runs; the text says why."""


@lru_cache(maxsize=None)
def folder() -> Path:
    """The cache folder; where none can be trusted, one of this process alone, which is removed at its end."""
    try:
        return lasting()
    except NoCache as error:
        print(f"acl-emu: {error}; what is built is not kept", file=sys.stderr)
    private = Path(tempfile.mkdtemp(prefix="acl-emu-"))
    atexit.register(_remove, private, os.getpid())
    return private


def lasting(*, make: bool = True) -> Path:
    """The cache folder that stays: in the user's own cache, or in the system's temporary folder; made, if wanted, where it is missing."""
    reasons = []
    for candidate in _candidates():
        found = _try(candidate, make=make)
        if isinstance(found, Path):
            return found
        reasons.append(f"{candidate} is not used as cache folder: {found}")
    raise NoCache("; ".join(reasons))


def _try(folder: Path, *, make: bool) -> Path | str:
    """The folder, or why not."""
    try:
        return own(folder, make=make)
    except (Untrusted, OSError) as error:
        return getattr(error, "strerror", None) or str(error)


def _candidates() -> list[Path]:
    base = os.environ.get("XDG_CACHE_HOME", "")
    found = [Path(base) / "acl-emu"] if os.path.isabs(base) else []  # a relative one means nothing, says its specification
    if not found:
        try:
            found = [Path.home() / ".cache" / "acl-emu"]
        except RuntimeError:  # a user without a home
            found = []
    return [*found, Path(tempfile.gettempdir()) / f"acl-emu-{os.geteuid()}"]


def own(path: Path, *, make: bool = True) -> Path:
    """A folder that belongs to the user and that nobody else can write; made, if wanted, where it is missing. It must not be a link.

    Programs in it are run, so that whoever can write it, or put another one in its place, can run code as the user.
    """
    parent = path.parent.resolve()
    for above in (*reversed(parent.parents), parent):
        if make:
            _make(above)
        _check_above(above)
    path = parent / path.name
    if make:
        _make(path)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise Untrusted(f"it is {'a link' if stat.S_ISLNK(found.st_mode) else 'no folder'}")
    if found.st_uid != os.geteuid():
        raise Untrusted(f"it belongs to user {found.st_uid}, not to {os.geteuid()}")
    if found.st_mode & OTHERS_WRITE:
        raise Untrusted(f"others can write it (mode {stat.S_IMODE(found.st_mode):04o}); remove it")
    if not os.access(path, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise Untrusted("it cannot be written")
    return path


def _make(path: Path) -> None:
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)


def _check_above(path: Path) -> None:
    """Raise where others could exchange what is in a folder: it is theirs, or they can write it and no sticky bit hinders them."""
    found = path.lstat()
    if found.st_uid not in (0, os.geteuid()):
        raise Untrusted(f"{path} belongs to user {found.st_uid}")
    if found.st_mode & stat.S_ISVTX:
        return
    # Many systems give each user a group of its own, and let it write what the user makes.
    shared = found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and found.st_gid not in (0, os.getegid()))
    if shared:
        raise Untrusted(f"others can write {path} (mode {stat.S_IMODE(found.st_mode):04o})")


def _remove(private: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(private, ignore_errors=True)
