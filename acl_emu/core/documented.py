"""The documented operators: names, families, headers and prototypes, emulated or not. One line each in documented.jsonl.

Nothing but the standard library is needed here: the build reads the table before the package can be imported.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

TABLE = Path(__file__).with_name("documented.jsonl")
PHASE_ONE = "GetWorkspaceSize"
"""What the name of an operator's phase one ends with."""

_PLANNED = (("uint64_t*", "workspaceSize"), ("aclOpExecutor**", "executor"))
_RUN = (("void*", "workspace"), ("uint64_t", "workspaceSize"), ("aclOpExecutor*", "executor"), ("aclrtStream", "stream"))

Parameters = tuple[tuple[str, str], ...]
"""C type and name of each parameter."""


class Documented(NamedTuple):
    """A documented operator."""

    name: str
    family: str
    header: str
    """Below include/."""
    parameters: Parameters
    """Without those that every operator has."""
    single_phase: bool = False
    """One plain function, without workspace and executor."""
    probed: bool = False
    """Clients look the name up, and do without where it is missing: it is exported once it is emulated."""

    @property
    def functions(self) -> dict[str, Parameters]:
        """The C functions of the operator: name -> parameters. All of them return aclnnStatus."""
        if self.single_phase:
            return {self.name: self.parameters}
        return {self.name + PHASE_ONE: self.parameters + _PLANNED, self.name: _RUN}

    def line(self) -> str:
        """Its line of the table."""
        entry: dict[str, Any] = self._asdict()
        entry["parameters"] = ", ".join(f"{c_type} {name}" for c_type, name in self.parameters)
        return json.dumps({key: value for key, value in entry.items() if value is not False})


@lru_cache(maxsize=None)
def table() -> dict[str, Documented]:
    """Every documented operator, by name."""
    found = {}
    with TABLE.open(encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            parts = entry["parameters"].split(", ") if entry["parameters"] else []
            entry["parameters"] = tuple((c_type, name) for c_type, _, name in (part.rpartition(" ") for part in parts))
            found[entry["name"]] = Documented(**entry)
    return found


def python_name(parameter: str) -> str:
    """What a parameter is called in Python: a word of the language, such as ``lambda``, gets an underscore."""
    return f"{parameter}_" if keyword.iskeyword(parameter) else parameter


def official_name(parameter: str) -> str:
    """What its prototype calls a parameter of a Python function."""
    plain = parameter.removesuffix("_")
    return plain if keyword.iskeyword(plain) else parameter


@lru_cache(maxsize=None)
def single_phases() -> frozenset[str]:
    """The names of those that have no phases. Few lines are looked at: every program asks for them."""
    with TABLE.open(encoding="utf-8") as lines:
        return frozenset(json.loads(line)["name"] for line in lines if '"single_phase"' in line)


def refusal(name: str, emulated: Iterable[str] = ()) -> str:
    """What is said of an operator that is not emulated, by the name of either phase; ``emulated`` are names that may have been meant."""
    plain = name.removesuffix(PHASE_ONE)
    if plain in table():
        return f"{plain} is documented but not emulated; `acl-emu ops` lists what is"
    near = _similar(plain, emulated)
    return f"{plain} is not emulated; " + (f"did you mean {', '.join(near)}?" if near else "`acl-emu ops` lists what is")


def _similar(name: str, names: Iterable[str]) -> list[str]:
    import difflib

    spelled = {known.removeprefix("aclnn").lower(): known for known in names}
    wanted = name.lower().removeprefix("aclnn")  # which all have in common
    if wanted in spelled:
        return [spelled[wanted]]
    near = difflib.get_close_matches(wanted, spelled, 3) or [known for known in spelled if wanted in known][:3]
    return [spelled[known] for known in near]
