"""The end of the process, and what has to work until then.

A program may call until its own last line, and that is late: hooks that it registered before ours, objects that Python destroys when it
clears the modules, functions that C runs at exit. In a Python process it goes like this:

=====================  =======================================================================================================
``atexit``             background threads stop: Python is about to end all threads but one. Calls work as before.
before modules clear   our modules, and those that they need, leave ``sys.modules``: Python clears only what it finds there
when ``sys`` clears    all objects of the program are gone: who watched says what was found, and C learns what is still alive
after Python           C answers (``runtime/c/ending.c``)
=====================  =======================================================================================================

In a C program Python never ends; the library calls ``stop`` and ``finish``.
"""

from __future__ import annotations

import atexit
import builtins
import gc
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from acl_emu.core._bridge import lib

Function = TypeVar("Function", bound=Callable[[], object])

_OURS = ("acl_emu", "aclnnop")
_KEPT = sys.stdlib_module_names.union(_OURS)
"""What is kept with all that it refers to: the parts of Python's library refer to one another in more ways than can be seen."""
_NOT_KEPT = frozenset({"__main__", "sys", "builtins"})
_PLAIN = frozenset({"builtins", "sys", "_io"})
"""Where the types of Python's own values in ``sys`` and ``builtins`` come from; others are the program's, and are not kept."""

_stopping: list[Callable[[], object]] = []
_finishing: list[Callable[[], object]] = []
_withdrawn: dict[str, types.ModuleType] = {}
_emptied: list[tuple[dict[str, Any], dict[str, Any]]] = []
"""What Python empties wherever it is, and what of it comes back."""


def when_stopping(function: Function) -> Function:
    """Call it when the program ends, while there are threads."""
    _stopping.append(function)
    return function


def when_finished(function: Function) -> Function:
    """Call it last of all, when no call comes any more, after those that were registered before."""
    _finishing.append(function)
    return function


def forget() -> None:
    """In a child that was forked: the end is its parent's."""
    _stopping.clear()
    _finishing.clear()


def stop() -> None:
    """The program ends: its last calls are still to come."""
    for function in _stopping:
        function()


def finish() -> None:
    """No call comes any more."""
    for function in _finishing:
        function()
    _finishing.clear()


def _needed(module: types.ModuleType) -> Iterator[str]:
    """Names of the modules whose contents a module refers to."""
    for value in list(vars(module).values()):
        # By their types: some objects warn when they are asked what they are.
        if issubclass(type(value), types.ModuleType):
            yield value.__name__
        else:
            named = value if issubclass(type(value), (type, types.FunctionType, types.BuiltinFunctionType)) else type(value)
            yield str(named.__module__)


def _plain(contents: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in contents.items() if type(value).__module__ in _PLAIN}


def _withdraw(_phase: str, _info: dict[str, int]) -> None:
    """Python collects garbage once more before it clears the modules, and tells before it does: the program has no hook as late as this."""
    if _withdrawn or not sys.is_finalizing():
        return
    lib.acl_emu_begin_end()
    found = [name for name in sys.modules if name.partition(".")[0] in _KEPT]
    kept: set[int] = set()
    while found:
        name = found.pop()
        module = sys.modules.get(name)
        if id(module) not in kept and name not in _NOT_KEPT and isinstance(module, types.ModuleType):
            kept.add(id(module))
            found += _needed(module)
    _withdrawn.update({name: module for name, module in sys.modules.items() if id(module) in kept})  # some have two names
    for name, module in _withdrawn.items():
        del sys.modules[name]
        if name.partition(".")[0] in _OURS:
            vars(module).setdefault("open", open)  # Python takes back what it put into ``builtins`` late
    _emptied.extend((contents, _plain(contents)) for contents in (vars(sys), vars(builtins)))


class _End:
    """Dies when Python clears ``sys``, the last module but one."""

    def __del__(self) -> None:
        if _withdrawn:
            sys.modules.update(_withdrawn)  # what is imported inside functions is found again; nothing is cleared twice
            for contents, kept in _emptied:
                contents.update(kept)
            finish()


@atexit.register
def _leave() -> None:
    stop()
    gc.callbacks.append(_withdraw)
    gc.enable()
    setattr(sys, "_acl_emu_end", _End())  # noqa: B010  # an attribute that no stub knows
