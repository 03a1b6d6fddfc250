"""Errors that a program got and went on regardless.

A status is looked at where the program compares it, which nobody sees. What can be seen is what the thread calls next. Asking for the
message, trying the same call again and releasing things are reactions; anything else is going on. An error that a rule can explain
(a dead executor, a workspace that is too small) is reported as what it is, unless the program asked for the message.
"""

from __future__ import annotations

from acl_emu.core import constants as c
from acl_emu.core.observe import Call
from acl_emu.tools.checker.findings import Finding, Findings, origin_of

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


class StatusRules:
    """The last error of each thread, until the thread shows what it makes of it."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self._pending: dict[int, tuple[Call, list[Finding]]] = {}

    def failed(self, call: Call, explained: list[Finding]) -> None:
        """A call returned an error."""
        if explained or not (call.status in HARMLESS or call.name.startswith(_ASKING) or call.name.startswith(_RELEASING)):
            self._pending[call.thread] = (call, explained)

    def next_call(self, call: Call) -> None:
        """A thread makes its next call."""
        if not self._pending:
            return
        pending = self._pending.pop(call.thread, None)
        if pending is None or call.name in QUESTIONS:
            return
        failed, explained = pending
        for finding in explained:
            self.findings.note(finding)
        if not explained and call.name != failed.name and not call.name.startswith(_RELEASING):
            what = f"returned {failed.status}" if failed.status is not None else "returned null"
            reason = f" ({failed.error})" if failed.error is not None else ""
            self.findings.add(
                "error-ignored", origin_of(failed), "", f"{failed.name} {what}{reason}", (f"went on with {call.name}", origin_of(call))
            )

    def end(self) -> None:
        """The program ends: an error that ended it needs no finding, its explanation does."""
        for _, explained in self._pending.values():
            for finding in explained:
                self.findings.note(finding)
        self._pending.clear()
