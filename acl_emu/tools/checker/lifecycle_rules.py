"""Rules of the order of aclInit, aclrtSetDevice, aclrtResetDevice and aclFinalize."""

from __future__ import annotations

from acl_emu.api.acl_rt.lifecycle import process
from acl_emu.core import constants as c
from acl_emu.core.errors import InvalidContext
from acl_emu.core.observe import Call
from acl_emu.tools.checker.findings import Finding, Findings, Origin, origin_of

_ANYTIME = frozenset(
    {
        *("aclInit", "aclnnInit", "aclFinalize", "aclnnFinalize", "aclFinalizeReference"),
        *("aclGetRecentErrMsg", "aclrtGetLastError", "aclrtPeekAtLastError"),
        *("aclDataTypeSize", "aclFloatToFloat16", "aclFloat16ToFloat", "aclrtGetSocName", "aclrtGetVersion", "aclGetCannAttribute"),
        *("aclsysGetCANNVersion", "aclsysGetVersionStr"),
    }
)
_ORDER_ERRORS = {
    c.ACL_ERROR_RT_CONTEXT_NULL: "the calling thread has no device; aclrtSetDevice comes first, on each thread",
    c.ACL_ERROR_REPEAT_FINALIZE: "aclFinalize was called before",
    c.ACL_ERROR_RT_CONTEXT_RELEASE_ERROR: "the device is reset more often than it was set",
}


class LifecycleRules:
    """How far the program has come between aclInit and aclFinalize."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self._started = process.count > 0
        self._start: Origin | None = None
        """The aclInit that aclFinalize is due for."""
        self._finalized: Origin | None = None
        self._devices: dict[int, list[Origin]] = {}
        self._told = False

    def begins(self, call: Call) -> None:
        """A call is made."""
        if self._started or self._told or call.name in _ANYTIME:
            return
        self._told = True
        if self._finalized is not None:
            self.findings.add(
                "call-order",
                origin_of(call),
                "",
                f"{call.name} is called after aclFinalize",
                ("the library ended with aclFinalize", self._finalized),
            )
        else:
            self.findings.add("call-order", origin_of(call), "", f"{call.name} is called before aclInit")

    def ends(self, call: Call) -> None:
        """A call has succeeded, or said that the library was initialised before."""
        name = call.name
        if name in ("aclInit", "aclnnInit"):
            self._started = True
            self._finalized = None
            if name == "aclInit" and self._start is None:
                self._start = origin_of(call)
        elif name == "aclFinalize" or (name == "aclFinalizeReference" and not process.count):
            for device, origins in self._devices.items():
                if origins:
                    self.findings.add(
                        "call-order",
                        origin_of(call),
                        "",
                        f"{name} is called while device {device} is set",
                        ("set by aclrtSetDevice", origins[0]),
                    )
            self._devices.clear()
            self._started, self._told = False, False
            self._start, self._finalized = None, origin_of(call)
        elif name == "aclrtSetDevice":
            self._devices.setdefault(call.arguments[0], []).append(origin_of(call))
        elif name == "aclrtResetDevice" and self._devices.get(call.arguments[0]):
            self._devices[call.arguments[0]].pop()
        elif name == "aclrtResetDeviceForce":
            self._devices.pop(call.arguments[0], None)

    def explain(self, call: Call) -> list[Finding]:
        """Why a call was refused, where the order is to blame."""
        text = _ORDER_ERRORS.get(call.status or 0)
        if text is None or call.name.startswith(("aclrtGet", "aclrtCtxGet")) or isinstance(call.error, InvalidContext):
            return []  # a dead context has the same code as no context
        return [Finding("call-order", origin_of(call), "", f"{call.name} returned {call.status}: {text}")]

    def end(self) -> None:
        """The program ends."""
        for device, origins in self._devices.items():
            if origins:
                self.findings.add(
                    "call-order",
                    origins[0],
                    "deviceId",
                    f"device {device} is set more often than it is reset, by {len(origins)}",
                )
        if self._start is not None:
            self.findings.add("call-order", self._start, "", "aclInit is called, and aclFinalize never")
