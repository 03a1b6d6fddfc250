"""``python -m acl_emu.codegen.fused_steps ENGINE FILE``: the fused steps of all declared operators, as C, for the build."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import acl_emu as acl
import aclnnop
from acl_emu import engine
from acl_emu.core import soc
from acl_emu.engine import bindings
from acl_emu.engine.render import Fusion, source_of
from acl_emu.spec import Operator
from acl_emu.spec.kinds import BoolKind, IntKind
from aclnnop.registry import MODULES


def of_examples() -> list[Fusion]:
    """What could be fused in the examples of all operators, and in the same calls with other choices."""
    with engine.collected() as found:
        for name in sorted(MODULES):
            operator = aclnnop.find(name)
            for build, products in operator.example_sources:
                os.environ["ACL_EMU_SOC"] = next(chip.name for chip in soc.PROFILES.values() if chip.product in products)
                soc.current.cache_clear()
                for values in (values for example in build() for values in _calls(operator, example)):
                    # A choice may not fit an example, a type may have no array.
                    with contextlib.suppress(acl.AclCallError, TypeError, ValueError):
                        acl.call(name, *values)
    return found


def _calls(operator: Operator, example: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    return itertools.product(*(_values(kind, example[name]) for name, kind in operator.parameters))


def _values(kind: Any, value: Any) -> list[Any]:
    if isinstance(kind, IntKind) and kind.choices:
        return [choice.value for choice in kind.choices]
    return [False, True] if isinstance(kind, BoolKind) else [value]


if __name__ == "__main__":
    bindings.PATH = Path(sys.argv[1])
    Path(sys.argv[2]).write_text(source_of(fusion.text for fusion in of_examples()), encoding="utf-8")
