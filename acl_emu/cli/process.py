"""Running a program to its end: signals go to it, and how it ended is known."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from acl_emu.tools.pages import SampleError

_BY_KEY = (signal.SIGINT, signal.SIGQUIT)
_ENDING = (*_BY_KEY, signal.SIGTERM, signal.SIGHUP)
_FORWARDED = (*_ENDING, signal.SIGUSR1, signal.SIGUSR2)


class End(NamedTuple):
    """How a program ended."""

    code: int
    """Its exit code, or 128 plus the number of the signal that ended it."""
    by_signal: bool
    told_to: bool
    """Whether a signal told this process to end meanwhile."""


def run(command: list[str], environment: Mapping[str, str]) -> End:
    """Run a program; its output is not touched, signals that this process gets are passed on to it."""
    with _signals() as received:
        try:
            # Python ignores two signals, which a program expects to be as they are by default.
            defaults = (signal.SIGPIPE, signal.SIGXFSZ)
            child = os.posix_spawn(command[0], command, {**os.environ, **environment}, setsigdef=defaults)
        except OSError as error:
            raise SampleError(f"{command[0]} cannot be run: {error.strerror}") from None
        told_to = False
        ended = 0
        while not ended:
            select.select([received], [], [])
            for number in os.read(received, 512):
                told_to = told_to or number in _ENDING
                if number in _FORWARDED and not (number in _BY_KEY and _is_in_front()):
                    os.kill(child, number)
            ended, status = os.waitpid(child, os.WNOHANG)
    code = os.waitstatus_to_exitcode(status)
    return End(128 - code if code < 0 else code, code < 0, told_to)


@contextmanager
def _signals() -> Iterator[int]:
    """A file to read the numbers of signals from, whichever thread of this process gets them."""
    received, written = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    before_file = signal.set_wakeup_fd(written, warn_on_full_buffer=False)
    wanted = [number for number in _FORWARDED if signal.getsignal(number) is not signal.SIG_IGN]
    # Where SIGCHLD is ignored nobody learns how a program ended.
    before = {number: signal.signal(number, lambda _number, _frame: None) for number in (*wanted, signal.SIGCHLD)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before_file)
        os.close(received)
        os.close(written)


def _is_in_front() -> bool:
    """Whether keys of the terminal send their signals to this process group, to the program as well."""
    try:
        with open("/dev/tty", "rb", buffering=0) as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False
