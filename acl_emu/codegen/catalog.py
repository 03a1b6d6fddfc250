"""Reading catalogues of documented operators, and the table of names and prototypes that is made of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from acl_emu.core.documented import Documented

Entry = dict[str, Any]


def read(paths: Iterable[Path]) -> dict[str, Entry]:
    """The entries of some catalogues, by operator; of two for the same operator the first."""
    found: dict[str, Entry] = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            found.setdefault(entry["name"], entry)
    return found


def names_in(path: Path) -> frozenset[str]:
    """The names in a file, one on each line; those behind # are none."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return frozenset(line.strip() for line in lines if line.strip() and not line.startswith("#"))


WITHOUT_HEADER = frozenset({"aclnnConvertWeightToINT4Pack"})
"""Programs declare these themselves, some with another ``const``: the header that a catalogue names is that of another operator."""


def _header(entry: Entry) -> str:
    """Pages include some headers without their folder or from another one; a page without any gets the name by rule."""
    short = "" if entry["name"] in WITHOUT_HEADER else (entry["header"] or "").rpartition("/")[2]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", entry["name"].removeprefix("aclnn")).lower()
    return f"aclnnop/{short or f'aclnn_{words}.h'}"


CORRECTED = {
    ("aclnnGRUBackward", "hx"): ("const aclTensor*", "hx"),
    ("aclnnGRUBackward", "bidirectional"): ("bool", "bidirection"),
    **{(f"aclnnForeach{name}Inplace", "x"): ("aclTensorList*", "xRef") for name in ("ACos", "Log", "MulScalar", "SubScalar")},
    **{(f"aclnnForeach{name}ListInplace", "x1"): ("aclTensorList*", "x1Ref") for name in ("Add", "Sub", "Mul", "Div")},
}
"""Parameters for which a catalogue says something else than the operator's page and its program."""


def documented(entry: Entry, probed: frozenset[str] = frozenset()) -> Documented:
    """What the table says of a catalogue's entry."""
    single = entry["kind"] == "single-phase"
    parameters = [
        CORRECTED.get((entry["name"], parameter["name"]), (parameter["ctype"], parameter["name"]))
        for parameter in entry["params"]
        if single or parameter["ctype"] not in ("uint64_t*", "aclOpExecutor**")
    ]
    return Documented(entry["name"], entry["category"], _header(entry), tuple(parameters), single, entry["name"] in probed)


def table(paths: Iterable[Path], probed: frozenset[str]) -> str:
    """The text of acl_emu/core/documented.jsonl."""
    entries = read(paths)
    return "".join(documented(entries[name], probed).line() + "\n" for name in sorted(entries))
