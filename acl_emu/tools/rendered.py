"""The C of a plan: its fused steps, as they are compiled with the package or on demand."""

from __future__ import annotations

from collections.abc import Sequence

from acl_emu.engine.bindings import library
from acl_emu.engine.render import Fusion, function_of

_HEAD = """/* {name}: the parts of its kernel that are one loop each. Arguments and results are tiles. Loads, casts from and to the
 * stored types, reductions and stores are steps of the engine around them. The functions are those of functions.h. */"""
_NOTHING = "/* {name}: there is nothing to fuse. A single step, a function in C or numpy runs it. */"


def as_c(operator: str, fusions: Sequence[Fusion]) -> str:
    """The loops of an operator's plan, one after the other."""
    entries = library()
    known = entries.tables.steps if entries is not None else {}
    lines = [(_HEAD if fusions else _NOTHING).format(name=operator)]
    for fusion in dict.fromkeys(fusions):
        origin = "compiled with the package" if fusion.digest in known else "compiled on demand"
        lines += ["", f"/* {origin} */", function_of(fusion.text)]
    return "\n".join(lines) + "\n"
