"""Running a program to its end: signals go to it, and how it ended is known."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import NamedTuple

from acl_emu.tools.pages import SampleError

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_FORWARDED = (*_ENDING, signal.SIGUSR1, signal.SIGUSR2)
_SENT_BY_THE_TERMINAL = 0x80
"""SI_KERNEL: who is in front of the terminal got the signal, the program too."""


class End(NamedTuple):
    """How a program ended."""

    code: int
    """Its exit code, or 128 plus the number of the signal that ended it."""
    by_signal: bool
    told_to: bool
    """Whether a signal told this process to end meanwhile."""


def run(command: list[str], environment: Mapping[str, str]) -> End:
    """Run a program; its output is not touched, signals that this process gets are passed on to it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored nobody learns how a program ended
    forwarded = [number for number in _FORWARDED if signal.getsignal(number) is not signal.SIG_IGN]
    waited_for = {*forwarded, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited_for)
    try:
        # Python ignores two signals, which a program expects to be as they are by default.
        child = os.posix_spawn(
            command[0], command, {**os.environ, **environment}, setsigmask=before, setsigdef=(signal.SIGPIPE, signal.SIGXFSZ)
        )
        told_to = False
        while True:
            told = signal.sigwaitinfo(waited_for)
            if told.si_signo == signal.SIGCHLD:
                ended, status = os.waitpid(child, os.WNOHANG)
                if ended:
                    break
                continue
            told_to = told_to or told.si_signo in _ENDING
            if told.si_code != _SENT_BY_THE_TERMINAL:
                os.kill(child, told.si_signo)
    except OSError as error:
        raise SampleError(f"{command[0]} cannot be run: {error.strerror}") from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    code = os.waitstatus_to_exitcode(status)
    return End(128 - code if code < 0 else code, code < 0, told_to)
