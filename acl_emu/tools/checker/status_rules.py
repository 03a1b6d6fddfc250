"""Errors that a program got and went on regardless.

A status is looked at where the program compares it, which nobody sees. What can be seen is what the thread calls next. Asking for the
message and trying the very same call again (or less memory) are reactions, and so is releasing things, unless the program then goes on
with what the failed call was about, or ends with exit code 0. Anything else is going on. An error that a rule can explain (a dead
executor, a workspace that is too small) is reported as what it is, unless the program asked for the message.
"""

from __future__ import annotations

import threading
from itertools import zip_longest
from typing import NamedTuple

from acl_emu.core import constants as c
from acl_emu.core.documented import PHASE_ONE
from acl_emu.core.observe import Call
from acl_emu.tools.checker.findings import Finding, Findings, Origin, origin_of

QUESTIONS = frozenset({"aclGetRecentErrMsg", "aclrtGetLastError", "aclrtPeekAtLastError"})

HARMLESS = frozenset(
    {
        c.ACL_ERROR_REPEAT_INITIALIZE,  # documented: the library is initialised, go on
        c.ACL_ERROR_RT_REPORT_TIMEOUT,  # the answer of a loop that processes reports
        c.ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
        c.ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
        c.ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
    }
)

_ASKING = ("aclrtGet", "aclGet", "aclrtQuery", "aclrtDevice", "aclrtPointer", "aclrtStreamQuery", "aclrtSetDeviceSatMode", "aclrtEvent")
"""Functions that programs try to find out whether something is there."""

_RELEASING = ("aclDestroy", "aclrtDestroy", "aclrtFree", "aclrtReset", "aclrtUnSubscribe", "aclFinalize", "aclnnFinalize")


_PLAIN = (int, float, str, bytes, list, tuple)
"""What can be compared; arrays of numbers cannot."""
_HANDLES_FROM = 1 << 16
"""Larger numbers are handles and addresses, not counts or choices."""


class _Pending(NamedTuple):
    call: Call
    explained: list[Finding]
    released: bool = False
    """Whether the thread has released something since."""


class StatusRules:
    """The last error of each thread, until the thread shows what it makes of it."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self._pending: dict[int, _Pending] = {}

    def failed(self, call: Call, explained: list[Finding]) -> None:
        """A call returned an error."""
        if explained or not (call.status in HARMLESS or call.name.startswith(_ASKING) or call.name.startswith(_RELEASING)):
            self._pending[call.thread] = _Pending(call, explained)

    def next_call(self, call: Call) -> None:
        """A thread makes its next call."""
        if not self._pending:
            return
        pending = self._pending.pop(call.thread, None)
        if pending is None or call.name in QUESTIONS:
            return
        if pending.explained:
            for finding in pending.explained:
                self.findings.note(finding)
        elif call.name.startswith(_RELEASING):
            self._pending[call.thread] = pending._replace(released=True)
        elif _continues(pending.call, call) if pending.released else not _tries_again(pending.call, call):
            self._add(pending.call, (f"went on with {call.name}", origin_of(call)))

    def end(self, exit_code: int | None) -> None:
        """The program ends: an error that ended it needs no finding, its explanation does; and one after which it says that all is well."""
        for pending in self._pending.values():
            for finding in pending.explained:
                self.findings.note(finding)
            if exit_code == 0 and not pending.explained and pending.call.thread == threading.get_ident():
                self._add(pending.call)
        self._pending.clear()

    def _add(self, failed: Call, *related: tuple[str, Origin]) -> None:
        what = f"returned {failed.status}" if failed.status is not None else "returned null"
        reason = f" ({failed.error})" if failed.error is not None else ""
        end = "" if related else ", and the program ended with exit code 0"
        self.findings.add("error-ignored", origin_of(failed), "", f"{failed.name} {what}{reason}{end}", *related)


def _tries_again(failed: Call, call: Call) -> bool:
    """Whether a call is the one that failed once more, with the same arguments or for less memory."""
    if call.name != failed.name:
        return False
    if call.name.startswith("aclrtMalloc") and call.arguments[0] <= failed.arguments[0]:
        return True
    pairs = zip_longest(failed.arguments, call.arguments)
    return all(one is other or (isinstance(one, _PLAIN) and isinstance(other, _PLAIN) and one == other) for one, other in pairs)


def _continues(failed: Call, call: Call) -> bool:
    """Whether a call goes on with what a failed one was about: its phase two, or another call with one of its handles or addresses."""
    if call.name == failed.name:
        return False
    if call.name == failed.name.removesuffix(PHASE_ONE):
        return True
    about = {value for value in failed.arguments if isinstance(value, int) and value >= _HANDLES_FROM}
    return any(isinstance(value, int) and value in about for value in call.arguments)
