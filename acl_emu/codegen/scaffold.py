"""``python -m acl_emu.codegen new aclnnFoo``: the file of an operator and of its tests, as far as a catalogue knows them.

What is written can be imported, and makes the checks of its declaration. Phase one then refuses with 561103 until somebody has written
what the catalogue does not say: every such place is marked TODO, and the tests fail as long as one is left.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from acl_emu.codegen import scaffold_parameters as parameters
from acl_emu.codegen import scaffold_tests
from acl_emu.codegen.catalog import Entry, documented, read
from acl_emu.codegen.scaffold_parameters import WIDTH, Constants, Parameter, call_text, joined, tuple_text
from acl_emu.core import constants as c
from acl_emu.core.documented import python_name
from aclnnop.registry import MODULES

CATALOGS = ("catalog.jsonl", "catalog-newer.jsonl")


class Unknown(Exception):
    """There is nothing to write for a name; the text says why."""


def catalogs_beside(root: Path) -> list[Path]:
    """The catalogues in the nearest folder ``shared/facts`` above the project."""
    folders = (parent / "shared" / "facts" for parent in root.parents)
    return next((found for folder in folders if (found := [folder / name for name in CATALOGS if (folder / name).exists()])), [])


def files(name: str, catalogs: Iterable[Path]) -> dict[str, str]:
    """Path below the project -> text, for an operator and those that share its page and header."""
    entries = read(catalogs)
    if name not in entries:
        raise Unknown(f"{name} is in no catalogue that was given")
    asked = entries[name]
    if asked["kind"] != "two-phase":
        raise Unknown(f"{name} is {asked['kind']}: a function of acl_emu.api, not an operator")
    header = documented(asked).header
    together = [
        Declaration(entry, entries)
        for entry in entries.values()
        if entry["kind"] == "two-phase" and documented(entry).header == header and (entry is asked or entry["page"] == asked["page"])
    ]
    declared = [one.name for one in together if one.name in MODULES]
    if declared:
        raise Unknown(f"{joined(declared)}: declared already, in {MODULES[declared[0]]}")
    together.sort(key=lambda one: (one.plain is not None, one.name))
    family = asked["category"]
    stem = Path(header).stem.removeprefix("aclnn_")
    found = {f"aclnnop/{family}/{stem}.py": module_text(together)}
    package = f"aclnnop/{family}/__init__.py"
    found[f"tests/operators/test_{stem}.py"] = scaffold_tests.text(
        [(one.name, one.parameters, one.errors) for one in together], sample=asked["sample"]
    )
    return {package: f'"""Operators of the family {family}."""\n', **found}


def write(root: Path, texts: dict[str, str]) -> list[str]:
    """Write files that are not there yet, and give their names. An operator or a test that is there is never overwritten."""
    new = {name: text for name, text in texts.items() if not (name.endswith("__init__.py") and (root / name).exists())}
    there = [name for name in new if (root / name).exists()]
    if there:
        raise Unknown(f"{joined(there)}: there already, nothing was written; --print shows what would be")
    for name, text in new.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return list(new)


class Error:
    """A documented error: its status, what is wrong, and the parameters that it names."""

    def __init__(self, code: int, when: str) -> None:
        self.code = code
        self.what, _, names = when.partition(": ")
        self.names = [name.strip() for name in names.split(",") if name.strip()]
        self.text = f"{code} {when}"

    def name_all(self, parameters: Iterable[Parameter]) -> None:
        """Where none is named, every required tensor is meant."""
        if not self.names and self.what in ("null pointer", "dtype not supported"):
            self.names = [one.name for one in parameters if one.tensor and not one.optional]


HINTS = {
    "null pointer": "null= in the declaration, or a check of its own before NULL, where the code is not 161001",
    "rank out of range": "wrap_dim(...) of a dimension, rank= of a tensor",
    "dtype promotion not possible": "promote(...)",
    "dtype not convertible": "castable(dtype, out)",
    "dtype mismatch": "same_dtype(...)",
    "shapes not broadcastable": "broadcast_shape(...) or broadcasts_to(...)",
    "shape mismatch": "same_shape(...) or shape_is(...)",
    "value out of range": "require(...), or choices in the declaration",
    "length/count wrong": "least=, most= or like= of a list, or require(...)",
    "empty tensor not allowed": "require(...)",
    "format not supported or mismatched": "formats= in the declaration, or same_format(...)",
    "non-contiguous not allowed": "nothing, unless a device is known to refuse",
}
"""How a rule that the declaration cannot express is usually written."""


class Declaration:
    """What a catalogue says of an operator, and how it is declared."""

    def __init__(self, entry: Entry, entries: dict[str, Entry]) -> None:
        self.name: str = entry["name"]
        self.family: str = entry["category"]
        self.foreach = self.family == "foreach"
        self.products = frozenset(parameters.PRODUCTS[name] for name in entry["products"])
        errors = [Error(error["code"], when) for error in entry["errors"] for when in dict.fromkeys(error["when"])]
        self.parameters = [
            Parameter(one, self.products, errors) for one in entry["params"] if one["ctype"] not in ("uint64_t*", "aclOpExecutor**")
        ]
        if strange := [f"{one.name} ({one.c_type})" for one in self.parameters if not one.known]:
            raise Unknown(f"{self.name}: no parameter kind describes {joined(strange)}")
        self.page = f"{entry['page']} of {entry['library']}"
        tensors = [one for one in self.parameters if one.tensor]
        for error in errors:
            error.name_all(self.parameters)
        common = [name for name in parameters.EASY if all(name in one.everywhere for one in tensors)]
        for one in (one for one in self.parameters if tensors and common and (one.tensor or not one.types)):
            one.example_type = common[0]
        self.plain = self._plain(entry, entries)
        self.errors = self._filled(errors)

    def _plain(self, entry: Entry, entries: dict[str, Entry]) -> Entry | None:
        """The operator on the same page whose form in place this one is: ``(self, ..., out)`` without ``out``."""
        plain = entries.get(self.name.replace("aclnnInplace", "aclnn", 1)) if self.name.startswith("aclnnInplace") else None
        if plain is None or (plain["page"], documented(plain).header) != (entry["page"], documented(entry).header):
            return None
        first, *others, last = [(one["ctype"].replace("const ", ""), one["name"], one["io"]) for one in plain["params"]]
        alike = others == [(one.c_type.replace("const ", ""), one.name, one.io) for one in self.parameters[1:]]
        return plain if alike and first[0] == last[0] == "aclTensor*" and last[2] == "out" else None

    def _filled(self, errors: list[Error]) -> list[tuple[Error, bool]]:
        """The errors, each with whether the declaration or a line below it finds it already."""
        by_name = {one.name: one for one in self.parameters}
        rank_code = c.ACLNN_ERR_INNER_TILING_ERROR if self.foreach else c.ACLNN_ERR_PARAM_INVALID
        alike = {frozenset(names) for names in self._same_types(errors)}

        def found(error: Error) -> bool:
            named = [by_name[name] for name in error.names if name in by_name]
            if not named or len(named) < len(error.names):
                return False
            tensors = all(one.tensor for one in named)
            return {
                "null pointer": error.code == c.ACLNN_ERR_PARAM_NULLPTR and all(one.pointer for one in named),
                "dtype not supported": error.code == c.ACLNN_ERR_PARAM_INVALID and all(one.typed for one in named),
                "rank out of range": error.code == rank_code and tensors,
                "format not supported or mismatched": error.code == c.ACLNN_ERR_PARAM_INVALID
                and all(one.tensor and not one.blocked for one in named),
                "dtype mismatch": error.code == c.ACLNN_ERR_PARAM_INVALID and frozenset(error.names) in alike,
            }.get(error.what, False)

        self.same_types = self._same_types(errors)
        return [(error, found(error)) for error in errors]

    def _same_types(self, errors: list[Error]) -> list[list[str]]:
        """Parameters whose types have to be equal, where nothing is promoted; lists are left to the author."""
        if self._is_unary():  # its rule says so
            return []
        plain = {one.name for one in self.parameters if one.tensor and not one.list}
        required = {one.name for one in self.parameters if not one.optional}
        groups = [[one.same_as, one.name] for one in self.parameters if one.same_as]
        if not any(error.what == "dtype promotion not possible" for error in errors):
            groups += [error.names for error in errors if error.what == "dtype mismatch" and error.code == c.ACLNN_ERR_PARAM_INVALID]
        kept: list[list[str]] = []
        for names in groups:
            if len(names) > 1 and plain.issuperset(names) and names[0] in required and not any(set(names) <= set(one) for one in kept):
                kept.append(names)
        return kept

    def text(self, constants: Constants) -> str:
        """The declaration and its examples."""
        if self.plain is not None:
            return self._in_place(constants)
        if self.foreach and (derived := self._foreach(constants)):
            return derived
        if self._is_unary():
            return self._unary(constants)
        return self._function(constants)

    def _in_place(self, constants: Constants) -> str:
        assert self.plain is not None
        plain = Declaration(self.plain, {})
        (taken, *_, given), own = plain.parameters, self.parameters[0]
        common = {one: [t for t in types if t in given.types_on(one)] for one, types in ((p, taken.types_on(p)) for p in self.products)}
        arguments = [plain.name]
        if any(sorted(common[one]) != sorted(own.types_on(one)) for one in self.products):
            arguments += [*constants.types(own), *constants.on(own)]
        if own.name != f"{taken.name}Ref":
            arguments.append(f'ref="{own.name}"')
        if own.c_type.startswith("const "):
            arguments.append("const=True")
        limits = max(taken.least, given.least), min(taken.most, given.most)
        if (own.least, own.most) != limits:
            arguments.append(f"rank=({own.least}, {own.most})")
        if self.products != plain.products:
            arguments.append(f"products={parameters.products_text(self.products)}")
        return call_text(f"{self.name} = in_place(", arguments, ")") + "\n"

    def _foreach(self, constants: Constants) -> str:
        """Derived from the plain operator, where that one is emulated and nothing but lists is added."""
        words = self.name.removeprefix("aclnnForeach")
        suffix = "Inplace" if words.endswith("Inplace") else ""
        by_lower = {name.lower(): name for name in MODULES}
        plain = by_lower.get(f"aclnn{words.removesuffix(suffix)}".lower())
        shape = [(one.name, one.io) for one in self.parameters]
        wanted = [("x", "inout")] if suffix else [("x", "in"), ("out", "out")]
        if plain is None or shape not in (wanted, [("x", "in")] if suffix else wanted):
            return ""
        arguments = [plain]
        if not suffix and set(self.parameters[0].types) != {"FLOAT", "FLOAT16", "BF16"}:
            arguments += constants.types(self.parameters[0])
        if self.name != f"aclnnForeach{plain.removeprefix('aclnn')}{suffix}":
            arguments.append(f'name="{self.name}"')
        constants.import_line(f"from {MODULES[plain]} import {plain}")
        return call_text(f"{self.name} = {'foreach_in_place' if suffix else 'foreach'}(", arguments, ")") + "\n"

    def _is_unary(self) -> bool:
        """Whether it is a function of one tensor, of the family in aclnnop/math/unary.py."""
        shape = [(one.io, one.tensor and not one.list, one.optional, one.least, one.most) for one in self.parameters]
        return shape == [("in", True, False, 0, 8), ("out", True, False, 0, 8)] and self.family in ("math", "activation")

    def _unary(self, constants: Constants) -> str:
        taken, given = self.parameters
        arguments = [*constants.types(taken)]
        if set(given.types) != set(taken.types):
            arguments.append(f"results={constants.tuple(given.types, given.name)}")
        arguments += constants.on(taken)
        arguments += ["rule=unwritten", f"products={parameters.products_text(self.products)}"]
        if given.name != "out":
            arguments.append(f'out="{given.name}"')
        if given.c_type.startswith("const "):
            arguments.append("const_out=True")
        return (
            f"{self._todo('', formula=False)}"
            "# TODO rule: floating, same or converted, of aclnnop.math.unary; integers= where integers have a formula of their own\n"
            f"{call_text('@unary(', arguments, ')')}\n"
            f"def {self.name}({taken.name}: Array) -> Any:\n"
            f'    """TODO: say in one sentence what it does to every element."""\n'
            f'    raise NotImplementedError("TODO: the formula")\n'
        )

    def _function(self, constants: Constants) -> str:
        declared = [f"{python_name(one.name)}: {one.annotation(constants, foreach=self.foreach)}" for one in self.parameters]
        products = parameters.products_text(self.products)
        decorator = call_text("@operator(", [f"products={products}", *(["checks=CHECKS"] if self.foreach else [])], ")")
        rules = "".join(f"    same_dtype({', '.join(names)})\n" for names in self.same_types)
        rules += "".join(f"    {line}\n" for one in self.parameters for line in one.rules())
        # Types and ranks are those of the declaration; whether shapes fit nobody can know.
        example = [f'"{one.name}": {one.example(seed)}' for seed, one in enumerate(self.parameters, 1)]
        return (
            f"{decorator}\n{call_text(f'def {self.name}(', declared, ') -> Plan:')}\n"
            f'    """TODO: say in one sentence what it computes."""\n'
            f"{rules}{self._todo('    ')}    unwritten()\n\n\n"
            f"@{self.name}.example\n"
            f"def {example_name(self.name)}() -> Iterator[Example]:\n"
            f'    """TODO: one call per type group and mode, of shapes that fit."""\n'
            f"    {call_text('yield {', example, '}', indent=4)}\n"
        )

    def _todo(self, indent: str, *, formula: bool = True) -> str:
        """What is left to write, one line each."""
        lines = [f"read {self.page}"]
        lines += [
            f"{error.text}{f': {HINTS[error.what]}' if error.what in HINTS else ''}"
            + (", inside `with in_tiling():`" if error.code == c.ACLNN_ERR_INNER_TILING_ERROR and not self.foreach else "")
            for error, filled in self.errors
            if not filled
        ]
        notes: dict[str, list[str]] = {}
        for one in self.parameters:
            for note in one.notes:
                notes.setdefault(note, []).append(one.name)
        lines += [f"{', '.join(names)}: {note}" for note, names in notes.items()]
        if formula and self.foreach:
            lines.append(f"the plan of one member, and return for_each(plan, {', '.join(one.name for one in self.parameters if one.list)})")
        elif formula:
            reads, writes = (
                tuple_text([f"{'*' * one.list}{one.name}" for one in self.parameters if one.tensor and (one.io in ways)])
                for ways in (("in", "inout"), ("out", "inout"))
            )
            lines.append(f"the formula, and return mapped(formula, reads={reads}, writes={writes}, dtype=...)")
        wrapped = (textwrap.wrap(f"TODO {line}", WIDTH - len(indent) - 4) for line in dict.fromkeys(lines))
        return "".join(f"{indent}# {'  ' if number else ''}{part}\n" for parts in wrapped for number, part in enumerate(parts))


def example_name(operator: str) -> str:
    """The function that yields the examples of an operator; one file may hold several operators."""
    return "examples_of_" + re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", operator.removeprefix("aclnn")).lower()


def module_text(together: Sequence[Declaration]) -> str:
    """The file of the operators that share a page and a header."""
    constants = Constants()
    body = "\n\n".join(one.text(constants) for one in together)
    rest = constants.shortened(body)
    apart = "\n\n" if rest.startswith(("@", "#", "class ")) else "\n"
    todo = ": TODO: what is computed" if "TODO" in body else ""
    return f'"""{joined([one.name for one in together])}{todo}."""\n\n{constants.imports(rest)}{apart}{rest}'
