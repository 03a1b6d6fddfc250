"""The engine without fused steps: what is planned inside runs step by step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from acl_emu import engine
from acl_emu.core import soc
from acl_emu.engine import bindings, functions
from acl_emu.runtime import plans


def _forget() -> None:
    plans.forget()
    engine.programs.clear()
    engine.nest_for.cache_clear()


@contextmanager
def in_single_steps() -> Iterator[None]:
    """Plans that are made meanwhile have no fused steps, also when they run later."""
    entries = bindings.library()
    assert entries is not None
    single = {name: number for name, number in entries.tables.steps.items() if "." in name}
    plain = entries._replace(tables=entries.tables._replace(steps=single))
    with ExitStack() as stack:
        for module in (engine, bindings, functions):
            stack.enter_context(patch.object(module, "library", lambda: plain))
        stack.enter_context(patch.object(soc, "compiling", lambda: "off"))
        _forget()
        stack.callback(_forget)
        yield
