"""Fused steps that the package was built without: of the user's own operators, of rare attributes and types.

A program has both ways for them: the fused step, used from the tile on that finds it compiled, and single steps. The engine counts the time
that goes by without it. When that is worth it, a thread has it compiled and keeps what comes out in the user's cache, where any process
finds it. Where that cannot be done, single steps go on.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
from functools import lru_cache
from pathlib import Path

from acl_emu.core import cache, compiler, ending, observe, soc
from acl_emu.engine.functions import function
from acl_emu.engine.render import Fusion, Late, source_of

_SOURCES = Path(__file__).resolve().parent / "c"
_TABLE = "acl_emu_fused"
_SHARE = 10
"""Of the time of the process: a compiler may have used the tenth part."""
_FIRST_GUESS = 0.2
"""Seconds of a processor that the first compilation may take; later ones are judged by those before."""
_PATIENCE = 120
"""Seconds after which a compiler hangs."""
_MOST_STEPS = 4096
"""Which can be waiting. Whoever has more graphs uses none of them much."""
MOST_BYTES = 32 << 20
"""Of the cache."""
_STALE = 3600
"""Seconds after which nobody works in a folder any more: its process has been killed."""
_WARNING = 2


class _LateStep(ctypes.Structure):
    """late_step in engine_program.h."""

    _fields_ = (("run", ctypes.c_void_p), ("used", ctypes.c_int64))


class _NamedStep(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("run", ctypes.c_void_p))


class _StepTable(ctypes.Structure):
    _fields_ = (("steps", ctypes.POINTER(_NamedStep)), ("count", ctypes.c_int64))


class _Step:
    """A fused step, compiled or not."""

    __slots__ = ("library", "state", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.state = _LateStep()
        self.library: ctypes.CDLL | None = None

    @property
    def address(self) -> int:
        """Where C finds its state."""
        return ctypes.addressof(self.state)


class Failed(Exception):
    """Nothing can be compiled; the text says why."""


class _Workshop:
    """All late steps of a process, and the thread that has them compiled."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        """Of the steps."""
        self.compiling = threading.Lock()
        """One compiler at a time."""
        self.steps: dict[str, _Step] = {}
        """By digest."""
        self.closed = False
        """Whether nothing is compiled any more: it failed, or the process ends."""
        self.thread: threading.Thread | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.spent = 0.0
        """Seconds of a processor that compilers have used."""
        self.longest = _FIRST_GUESS

    def step_for(self, fusion: Fusion) -> Late | None:
        """A step for a program that is being made; None where none is wanted."""
        mode = soc.compiling()
        if mode == "off":
            return None
        with self.lock:
            step = self.steps.get(fusion.digest)
            if step is None:
                if len(self.steps) >= _MOST_STEPS:
                    return None
                step = self.steps[fusion.digest] = _Step(fusion.text)
                with contextlib.suppress(OSError, Failed, cache.NoCache, cache.Untrusted):
                    _load(step, _folder(make=False) / _entry(step.text))
            if step.library is None and mode == "background" and self.thread is None and not self.closed:
                self.thread = threading.Thread(target=self._work, name="acl-emu-compile", daemon=True)
                self.thread.start()
        if step.library is None and mode == "wait":
            self.compile(step)
        return Late(step.address, step.library is not None)

    def _work(self) -> None:
        wait, is_worth = function("acl_emu_engine_wait"), function("acl_emu_engine_is_worth", ctypes.c_int64)
        assert wait is not None
        assert is_worth is not None
        while not self.closed:
            with self.lock:
                found = next((step for step in self.steps.values() if is_worth(ctypes.byref(step.state))), None)
            missing = self.missing_time(time.process_time())
            if found is None:
                wait()
            elif missing > 0:
                time.sleep(max(missing / soc.threads(), 0.05))  # the process cannot use more time than that before
            else:
                self.compile(found)

    def missing_time(self, used: float) -> float:
        """Seconds that the process has to use before the next compilation may begin."""
        return _SHARE * (self.spent + self.longest) - used

    def compile(self, step: _Step) -> None:
        """Have a step compiled; where that fails, say so and try no more."""
        with self.compiling:
            if self.closed or step.library is not None:
                return
            try:
                folder = _folder(make=True)
                entry = folder / _entry(step.text)
                if not _load(step, entry):  # another process may have been faster
                    self._run_compiler(step, folder, entry)
                    _remove_old(folder)
            except (OSError, Failed, cache.NoCache, cache.Untrusted, subprocess.SubprocessError) as error:
                self._give_up(str(error))

    def _give_up(self, reason: str) -> None:
        if not self.closed:
            self.closed = True
            if observe.watching is not None:
                observe.watching.tell("logged", _WARNING, f"no fused steps are compiled on demand, single steps go on: {reason}")

    def _run_compiler(self, step: _Step, folder: Path, entry: Path) -> None:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryDirectory(prefix="new-", dir=folder, ignore_cleanup_errors=True) as name:
            work = Path(name)
            (work / "step.c").write_text(source_of([step.text]), encoding="utf-8")
            with open(work / "errors", "wb") as errors:
                # In a session of its own, so that all of it can be ended; with none of the program's files.
                self.process = subprocess.Popen(
                    [*_command(), "-o", str(work / "step.so"), str(work / "step.c"), "-lm"],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    start_new_session=True,
                    env={**os.environ, "TMPDIR": name, "LC_ALL": "C"},
                )
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PGRP, self.process.pid, 19)
            if self.closed:
                self.kill()
            try:
                status = self.process.wait(_PATIENCE)
            finally:
                self.kill()
                self.process = None
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            self.spent += used
            self.longest = max(self.longest, used)
            if status:
                text = (work / "errors").read_text(encoding="utf-8", errors="replace").split("\n", 1)[0]
                raise Failed(f"{compiler.COMPILER[0]} failed with {status}{text and ': ' + text}")
            made = (work / "step.so").read_bytes()
            (work / "entry").write_bytes(made + hashlib.sha256(made).digest())
            os.replace(work / "entry", entry)
        if not _load(step, entry):
            raise Failed(f"{entry} cannot be loaded")

    def kill(self) -> None:
        """The compiler, if one is running, and what it started."""
        process = self.process
        if process is not None and process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1)

    def close(self) -> None:
        """The process ends: nothing may keep it waiting."""
        self.closed = True
        self.kill()
        thread = self.thread
        if thread is not None and thread is not threading.current_thread():
            wake = function("acl_emu_engine_wake")
            if wake is not None:
                wake()
            thread.join(0.2)


_workshop = _Workshop()


def step_for(fusion: Fusion) -> Late | None:
    """A fused step that the engine does not have; None where none is wanted."""
    return _workshop.step_for(fusion)


@ending.when_stopping
def _close() -> None:
    _workshop.close()


# The cache


def _folder(*, make: bool) -> Path:
    return cache.own(cache.lasting(make=make) / "fused-steps", make=make)


@lru_cache(maxsize=None)
def _command() -> tuple[str, ...]:
    """The compiler, and all that it is told but for files."""
    found = shutil.which(compiler.COMPILER[0])
    if found is None:
        raise Failed(f"there is no C compiler {compiler.COMPILER[0]}")
    flags = list(compiler.variants(compiler.MACHINE).values())
    processor = function("acl_emu_engine_processor", ctypes.c_int) if len(flags) > 1 else None
    chosen = flags[processor() if processor is not None else 0]
    rest = (*compiler.FLAGS, *compiler.ENGINE_FLAGS, *chosen, *compiler.TILE_FLAGS)
    return (found, *compiler.COMPILER[1:], *rest, f"-I{_SOURCES}", f"-DFUSED={_TABLE}", "-shared")


@lru_cache(maxsize=None)
def _origin() -> str:
    """All that a compiled step depends on, beside its text."""
    command = _command()
    binary = Path(command[0]).resolve()
    found = binary.stat()
    sources = [(_SOURCES / name).read_text(encoding="utf-8") for name in ("engine.h", "functions.h")]
    return repr((binary, found.st_size, found.st_mtime_ns, command[1:], sources))


def _entry(text: str) -> str:
    return hashlib.sha256(f"{_origin()}{source_of([text])}".encode()).hexdigest()[:32] + ".so"


def _load(step: _Step, entry: Path) -> bool:
    """Let a step run what was compiled before; False where there is no such entry, or a damaged one."""
    try:
        found = entry.lstat()
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & cache.OTHERS_WRITE:
        raise cache.Untrusted(f"{entry} is not the user's alone")
    content = entry.read_bytes()
    if hashlib.sha256(content[:-32]).digest() != content[-32:]:
        entry.unlink(missing_ok=True)
        return False
    library = ctypes.CDLL(str(entry))
    table = _StepTable.in_dll(library, _TABLE)
    set_compiled = function("acl_emu_engine_set_compiled")
    assert set_compiled is not None
    set_compiled(ctypes.byref(step.state), ctypes.c_void_p(table.steps[0].run))
    step.library = library
    with contextlib.suppress(OSError):
        os.utime(entry)  # what was used last goes last
    return True


def _remove_old(folder: Path) -> None:
    """Entries that were not used for the longest time, where the cache is full; folders whose process was killed."""
    entries: list[tuple[float, int, Path]] = []
    now = time.time()
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another process removes as well
            found = path.lstat()
            if stat.S_ISREG(found.st_mode):
                entries.append((found.st_mtime, found.st_size, path))
            elif found.st_mtime < now - _STALE:
                shutil.rmtree(path, ignore_errors=True)
    size = sum(one[1] for one in entries)
    for _, bytes_, path in sorted(entries):
        if size <= MOST_BYTES:
            break
        path.unlink(missing_ok=True)
        size -= bytes_
