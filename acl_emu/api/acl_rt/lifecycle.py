"""Start, end, and what went wrong: aclInit, aclFinalize, versions, system parameters, error queries."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from acl_emu.api.acl_rt import HEADER
from acl_emu.api.border import acl, plain
from acl_emu.core import constants as c
from acl_emu.core import errors, soc
from acl_emu.core.errors import AclError, InvalidFile, InvalidParam, ParseFile, RepeatFinalize, RepeatInitialize
from acl_emu.runtime import context

_NESTING_LIMIT = 10
_OPTIONS = range(c.ACL_OPT_DETERMINISTIC, c.ACL_OPT_ENABLE_KERNEL_EARLY_START + 1)
_CONTEXT_OPTIONS = range(c.ACL_OPT_DETERMINISTIC, c.ACL_OPT_STRONG_CONSISTENCY + 1)


class _Process:
    """How often the process was initialised, and with what."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.finalized = False
        self.configuration: str | None = None
        self.options: dict[int, int] = {}


process = _Process()


@contextmanager
def other_process() -> Iterator[None]:
    """As if the process had not been initialised, for a while."""
    before = dict(vars(process))
    forget_process()
    try:
        yield
    finally:
        vars(process).update(before)


def forget_process() -> None:
    """As if the process had not been initialised."""
    vars(process).update(vars(_Process()))


@acl(HEADER, "aclError aclInit(const char* configPath)")
def aclInit(configPath: str | None = None) -> None:
    """Start the library; a second call says so but still counts."""
    soc.warn_of_late_variables()
    soc.warn_of_late_tools()
    with process.lock:
        if process.count:
            process.count += 1
            raise RepeatInitialize(f"aclInit was called before; the count is now {process.count}")
        text, configuration = _read_configuration(configPath) if configPath else ("", {})
        if process.configuration not in (None, text):
            raise InvalidParam("configPath names another configuration than the first aclInit of this process")
        _apply_configuration(configuration)
        process.configuration = text
        process.count = 1
        process.finalized = False


@acl(HEADER, "aclError aclFinalize()")
def aclFinalize() -> None:
    """End the library, however often it was started."""
    with process.lock:
        if process.finalized:
            raise RepeatFinalize("aclFinalize was called before without a new aclInit")
        process.count, process.finalized = 0, True


@acl(HEADER, "aclError aclFinalizeReference(uint64_t* refCount)")
def aclFinalizeReference() -> int:
    """Count one aclInit less; at zero the library ends."""
    with process.lock:
        if process.count == 0:
            raise RepeatFinalize("aclFinalizeReference was called more often than aclInit")
        process.count -= 1
        process.finalized = process.count == 0
        return process.count


def _read_configuration(path: str) -> tuple[str, dict[str, Any]]:
    import json  # most programs have no configuration, and start faster without it

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidFile(f"configPath is {path!r}: {error}") from None
    depth = {"{": 0, "[": 0}
    deepest = 0
    for character in text:
        if character in "{[":
            depth[character] += 1
        elif character in "}]":
            depth["{" if character == "}" else "["] -= 1
        deepest = max(deepest, *depth.values())
    if deepest > _NESTING_LIMIT:
        raise ParseFile(f"configPath is {path!r}: brackets are nested {deepest} deep, at most {_NESTING_LIMIT} are allowed")
    try:
        parsed = json.loads(text) if text.strip() else {}
    except ValueError as error:  # not JSON, or a number of thousands of digits
        raise ParseFile(f"configPath is {path!r}: {error}") from None
    if not isinstance(parsed, dict):
        raise ParseFile(f"configPath is {path!r}: expected a JSON object")
    return text, parsed


def _apply_configuration(configuration: dict[str, Any]) -> None:
    errors.use_process_store(str(configuration.get("err_msg_mode", "0")) == "1")
    default = configuration.get("defaultDevice", {})
    chosen = default.get("default_device") if isinstance(default, dict) else None
    if chosen is not None:
        try:
            context.default_device = context.device(int(chosen)).index
        except (TypeError, ValueError, OverflowError):
            raise ParseFile(f"defaultDevice.default_device is {chosen!r}, expected a device number") from None


@acl(HEADER, "aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion)")
def aclrtGetVersion() -> tuple[int, int, int]:
    """Version of the interface."""
    return c.ACL_MAJOR_VERSION, c.ACL_MINOR_VERSION, c.ACL_PATCH_VERSION


@acl(HEADER, "aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value)")
def aclrtSetSysParamOpt(opt: int, value: int) -> None:
    """Set an option of the process."""
    _check_option(opt, _OPTIONS)
    process.options[opt] = value


@acl(HEADER, "aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value)")
def aclrtGetSysParamOpt(opt: int) -> int:
    """An option of the process; 0 when it was never set."""
    _check_option(opt, _OPTIONS)
    return process.options.get(opt, 0)


@acl(HEADER, "aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value)")
def aclrtCtxSetSysParamOpt(opt: int, value: int) -> None:
    """Set an option of the current context."""
    _check_option(opt, _CONTEXT_OPTIONS)
    context.current().options[opt] = value


@acl(HEADER, "aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value)")
def aclrtCtxGetSysParamOpt(opt: int) -> int:
    """An option of the current context; an error when it was never set."""
    _check_option(opt, _CONTEXT_OPTIONS)
    options = context.current().options
    if opt not in options:
        raise AclError(f"option {opt} was never set in this context", c.ACL_ERROR_RT_SYSPARAMOPT_NOT_SET)
    return options[opt]


def _check_option(opt: int, known: range) -> None:
    if opt not in known:
        raise InvalidParam(f"opt is {opt}, expected a value in [{known.start}, {known.stop - 1}]")


@plain(HEADER, "const char* aclGetRecentErrMsg()")
def aclGetRecentErrMsg() -> str | None:
    """What went wrong on this thread since the last call, or None; the text is cleared."""
    return errors.take_recent(keep_previous=context.find_current() is None)


@plain(HEADER, "aclError aclrtGetLastError(aclrtLastErrLevel level)")
def aclrtGetLastError(level: int) -> int:
    """The last runtime error code of this thread, which is cleared."""
    return _last_error(level, clear=True)


@plain(HEADER, "aclError aclrtPeekAtLastError(aclrtLastErrLevel level)")
def aclrtPeekAtLastError(level: int) -> int:
    """The last runtime error code of this thread, which is kept."""
    return _last_error(level, clear=False)


def _last_error(level: int, *, clear: bool) -> int:
    if level != c.ACL_RT_THREAD_LEVEL:
        return errors.report(InvalidParam(f"level is {level}, expected ACL_RT_THREAD_LEVEL (0)"))
    return errors.last_code(clear=clear)
