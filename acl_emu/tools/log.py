"""The log: one line for each call, in the shape of the real library's.

``[LEVEL] MODULE(pid,program):date-time [file:line]thread function:text``. Failures are errors, calls are info, arguments are debug. The
place in brackets is the program's: a line of a Python file, or the executable and the offset that a call of a C program returns to.

Nothing is written unless one of these asks for it:

===============================  ==========================================================================================
``ACL_EMU_LOG=1``                to stderr, from level info on
``ACL_EMU_LOG=debug``            to stderr, from that level on: debug, info, warning or error
``ACL_EMU_LOG=FILE``             appended to a file; ``debug:FILE`` chooses the level as well
``ASCEND_LOG_PRINT_TO_STDOUT=1`` to stdout; ``ASCEND_SLOG_PRINT_TO_STDOUT`` is its older name, the newer one wins
``ASCEND_PROCESS_LOG_PATH=DIR``  to ``DIR/debug/plog/plog-PID_TIME.log``, where not to stdout
===============================  ==========================================================================================

``ASCEND_GLOBAL_LOG_LEVEL`` (0 debug, 1 info, 2 warning, 3 error, 4 none) is the level where none is named: 3 by default, info for
``ACL_EMU_LOG``. ``ASCEND_MODULE_LOG_LEVEL=ASCENDCL=0:OP=4`` changes it for single modules.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from acl_emu.core.errors import AclError, timestamp
from acl_emu.core.observe import Call, Place, Tool, Work
from acl_emu.core.soc import ConfigurationError
from acl_emu.runtime.stream import Stream
from acl_emu.tools import spell

DEBUG, INFO, WARNING, ERROR, NONE = range(5)
LEVELS = {"debug": DEBUG, "info": INFO, "warning": WARNING, "error": ERROR}
_NAMES = {level: name.upper() for name, level in LEVELS.items()}

ACL, OPERATORS, RUNTIME, PROGRAM = "ASCENDCL", "OP", "RUNTIME", "APP"


class Settings(NamedTuple):
    """What the environment asks for."""

    target: str | int
    """A file descriptor, or the path of a file."""
    level: int
    modules: Mapping[str, int]


def settings(environment: Mapping[str, str], now: float | None = None) -> Settings | None:
    """Where to log to, and from which level on; None where no log is wanted."""
    official = _level(environment.get("ASCEND_GLOBAL_LOG_LEVEL", ""))
    modules: dict[str, int] = {}
    for item in environment.get("ASCEND_MODULE_LOG_LEVEL", "").split(":"):
        module, _, text = item.partition("=")
        level = _level(text)
        if level is not None:
            modules[module.strip()] = level
    own = environment.get("ACL_EMU_LOG", "")
    if own and own != "0":
        named, _, path = own.partition(":")
        level = LEVELS.get(named.lower())
        target: str | int = 2 if own == "1" or (level is not None and not path) else own if level is None else path
        return Settings(target, level if level is not None else INFO if official is None else official, modules)
    level = ERROR if official is None else official
    if environment.get("ASCEND_LOG_PRINT_TO_STDOUT", environment.get("ASCEND_SLOG_PRINT_TO_STDOUT", "")) == "1":
        return Settings(1, level, modules)
    folder = environment.get("ASCEND_PROCESS_LOG_PATH", "")
    if not folder:
        return None
    when = time.time() if now is None else now
    stamp = time.strftime("%Y%m%d%H%M%S", time.localtime(when)) + f"{int(when * 1000) % 1000:03d}"
    return Settings(os.path.join(folder, "debug", "plog", f"plog-{os.getpid()}_{stamp}.log"), level, modules)


def _level(text: str) -> int | None:
    """A level as the official variables name it; None for anything else, which counts as not set."""
    return int(text) if text in ("0", "1", "2", "3", "4") else None


def from_environment(_value: str) -> Tool | None:
    """What ``ACL_EMU_LOG`` and the official variables ask for."""
    chosen = settings(os.environ)
    return None if chosen is None else Log(chosen)


class Log(Tool):
    """Writes the lines."""

    def __init__(self, chosen: Settings) -> None:
        self._level = chosen.level
        self._modules = chosen.modules
        self._program = _program()
        self._where: dict[tuple[int, int], Place] = {}
        """Where the work came from that a stream has not done yet."""
        if isinstance(chosen.target, int):
            self._file = chosen.target
        else:
            try:
                Path(chosen.target).parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(chosen.target, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)
            except OSError as error:
                raise ConfigurationError(f"the log {chosen.target} cannot be written: {error.strerror}") from None

    def _wants(self, level: int, module: str) -> bool:
        return self._modules.get(module, self._level) <= level

    def _write(self, level: int, module: str, place: Place, function: str, text: str) -> None:
        one_line = " ".join(text.splitlines())
        line = (
            f"[{_NAMES[level]}] {module}({os.getpid()},{self._program}):{timestamp()} [{_spelled(place)}]{threading.get_native_id()} "
            f"{function}:{one_line}\n"
        )
        try:
            os.write(self._file, line.encode("utf-8", "replace"))  # whole lines, whoever else writes
        except OSError:
            self._level, self._modules = NONE, {}  # a full disk or a closed pipe is no reason to stop the program

    # What is heard

    def call_begins(self, call: Call) -> None:
        """Arguments, which the call may destroy."""
        module = module_of(call.name)
        if self._wants(DEBUG, module):
            pairs = zip(call.parameters, call.arguments, strict=False)
            given = ", ".join(f"{name} = {spell.argument(value, name)}" for name, value in pairs)
            self._write(DEBUG, module, call.place, call.name, f"start to execute {call.name}{given and ', ' + given}")

    def call_ends(self, call: Call) -> None:
        """What came of it."""
        module = module_of(call.name)
        failed = call.error is not None and (call.status is None or call.status != 0)
        if failed and self._wants(ERROR, module):
            code = call.error.code if call.error is not None else call.status or 0
            self._write(ERROR, module, call.place, call.name, f"failed with {code} ({spell.status(code)}): {call.error}")
        elif not failed and self._wants(INFO, module):
            results = ", ".join(spell.argument(value) for value in call.results)
            microseconds = (call.end - call.begin) / 1000
            self._write(INFO, module, call.place, call.name, f"done{results and ', result ' + results}, {microseconds:.1f} us")

    def submitted(self, work: Work) -> None:
        """Remembered for what becomes of it."""
        if work.stream is not None and work.call is not None:
            self._where[work.stream.number, work.place] = work.call.place
            if self._wants(DEBUG, RUNTIME):
                self._write(
                    DEBUG,
                    RUNTIME,
                    work.call.place,
                    work.call.name,
                    f"{work.label} queued, stream_id={work.stream.number}, task_id={work.place}",
                )

    def task_ends(self, stream: Stream, place: int, error: AclError | None) -> None:
        """A task that failed."""
        where = self._where.pop((stream.number, place), Place())
        if error is not None:
            if self._wants(ERROR, RUNTIME):
                text = f"Task run failed, stream_id={stream.number}, task_id={place}, {error.code} ({spell.status(error.code)}): {error}"
                self._write(ERROR, RUNTIME, where, "task", text)
        elif self._wants(DEBUG, RUNTIME):
            self._write(DEBUG, RUNTIME, where, "task", f"done, stream_id={stream.number}, task_id={place}")

    def logged(self, level: int, text: str) -> None:
        """A line of the program's own."""
        if DEBUG <= level <= ERROR and self._wants(level, PROGRAM):
            self._write(level, PROGRAM, Place(), "", text)


def module_of(function: str) -> str:
    """The module that a function logs as."""
    return OPERATORS if function.startswith("aclnn") else ACL


def _program() -> str:
    """The name of the executable."""
    try:
        return os.path.basename(os.readlink("/proc/self/exe"))
    except OSError:
        return os.path.basename(sys.executable)


@lru_cache(maxsize=4096)
def _spelled(place: Place) -> str:
    if place.file:
        return f"{os.path.basename(place.file)}:{place.line}"
    if not place.address:
        return "?:0"
    first: dict[str, int] = {}
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            parts = line.split(maxsplit=5)
            if len(parts) == 6:
                begin, end = (int(text, 16) for text in parts[0].split("-"))
                path = parts[5].rstrip("\n")
                first.setdefault(path, begin)
                if begin <= place.address < end:
                    return f"{os.path.basename(path)}:{place.address - first[path]:#x}"
    return f"{place.address:#x}:0"
