"""The parameters of a catalogue's entry as annotations, example values and rules of an operator's declaration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from acl_emu import spec
from acl_emu.core import constants as c
from acl_emu.core import dtypes
from acl_emu.core.soc import ALL, PROFILES, Product
from acl_emu.spec.kinds import MAX_DIMS

WIDTH = 140

PRODUCTS = {
    "ascend950": Product.A950,
    "a3": Product.A3,
    "a2": Product.A2,
    "atlas200i_500_a2": Product.A310B,
    "atlas_inference": Product.A310P,
    "atlas_training": Product.A910,
}
"""What catalogues call the products."""

_RENAMED = {"FLOAT32": "FLOAT", "BFLOAT16": "BF16", "FLOAT64": "DOUBLE"}
_FLOATS = ("BF16", "FLOAT", "FLOAT16")
_WITHOUT_BF16 = frozenset(one.product for one in PROFILES.values() if not one.bf16)
_TYPE_NAMES = frozenset(dtype.name for dtype in dtypes.BY_CODE.values())
EASY = ("FLOAT", "FLOAT16", "INT32", "INT64", "BF16", "INT8", "UINT8", "BOOL", "DOUBLE", "COMPLEX64")
"""Types for examples, the best first."""
_SCALARS = {"FLOAT": "1.5", "INT64": "2", "BOOL": "True"}
"""Numbers that stand for scalars of these types."""
_VALUES = {"aclIntArray": "[0]", "aclFloatArray": "[0.5]", "aclBoolArray": "[True]", "bool": "False", "float": "0.5", "double": "0.5"}
_WITHOUT_ARRAYS = frozenset(dtype.name for dtype in dtypes.BY_CODE.values() if not dtype.numpy_name)
_WRONG = ("UINT64", "COMPLEX128", "BOOL", "DOUBLE", "STRING")
"""Types for wrong calls, the best first."""
_SHAPES = ("()", "(4,)", "(3, 4)", "(2, 3, 4)", "(2, 3, 2, 4)", "(1, 2, 3, 2, 4)")

_NUMBERS = {"bool": "Bool", "float": "Float", "double": "Double", "aclDataType": "DataType"}
_HANDLES = {"aclScalar": "Scalar", "aclIntArray": "IntArray", "aclFloatArray": "FloatArray", "aclBoolArray": "BoolArray"}
_INTEGER = re.compile(r"u?int(8|16|32|64)_t|int")
_ENUMS = {"reduction": "ReductionMode", "cubeMathType": "CubeMath"}
"""Parameters with a set of values that several operators share."""


def joined(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def call_text(head: str, arguments: Sequence[str], tail: str, *, indent: int = 0, follows: int = 0) -> str:
    """Head, arguments and tail on one line, or one argument on each where that is too long; so many characters follow."""
    line = f"{head}{', '.join(arguments)}{tail}"
    if indent + len(line) + follows <= WIDTH or not arguments:
        return line
    space = " " * indent
    return f"{head}\n" + "".join(f"{space}    {argument},\n" for argument in arguments) + f"{space}{tail}"


def products_text(products: frozenset[Product]) -> str:
    """A set of products, as short as it can be written."""
    absent = [f"Product.{one.name}" for one in Product if one not in products]
    present = [f"Product.{one.name}" for one in Product if one in products]
    if products == ALL:
        return "ALL"
    return f"ALL - {{{', '.join(absent)}}}" if len(absent) < len(present) else f"frozenset({{{', '.join(present)}}})"


class Parameter:
    """One parameter, as the catalogue describes it."""

    def __init__(self, entry: dict[str, Any], products: frozenset[Product], errors: Iterable[Any]) -> None:
        self.name: str = entry["name"]
        by_value = "*" not in entry["ctype"]
        self.c_type: str = entry["ctype"].removeprefix("const ") if by_value else entry["ctype"]
        self.io: str = entry["io"].rstrip("?")
        self.bare = self.c_type.removeprefix("const ").removesuffix("*")
        self.list = self.bare in ("aclTensorList", "aclScalarList")
        self.tensor = self.bare in ("aclTensor", "aclTensorList")
        self.pointer = not by_value
        self.notes: list[str] = []
        named = {error.what for error in errors if self.name in error.names}
        self.optional = bool(entry.get("optional")) and self.pointer
        if self.optional and "null pointer" in named:
            self.optional = False
            self.notes.append("optional by its description, and 161001 where it is null by the list of errors")
        if entry["io"].endswith("?"):
            self.notes.append("whether it is read or written is a guess")
        self.choices: dict[str, int] | list[str] = entry.get("choices", [])
        self.products = products
        self._take_types(entry, named)
        self._take_ranks(entry.get("dims") or {}, refused="rank out of range" in named)
        listed = entry.get("formats") or []
        # Where ND is allowed every format that only names axes is.
        self.formats = [] if "ND" in listed or not self.tensor else [one for one in map(_format, listed) if one]
        self.blocked = [one for one in listed if one.startswith(("FRACTAL", "NC1", "NDC1"))]
        if self.blocked:
            self.notes.append(f"what storage of {joined(self.blocked)} looks like")
        self.same_as: str = entry.get("dtype_same_as", "") if self.tensor else ""
        own = [one for one in EASY if one in self.everywhere] or [one for one in EASY if one in self.types]
        self.example_type = next((one for one in (*own, *self.types) if one not in _WITHOUT_ARRAYS), "FLOAT")
        """Of its example; where a type fits all tensors of the call, that one."""

    def _take_types(self, entry: dict[str, Any], named: set[str]) -> None:
        # A scalar's types are seldom checked: only where an error says so.
        self.typed = self.tensor or (self.bare in ("aclScalar", "aclScalarList") and "dtype not supported" in named)
        listed = entry.get("dtypes") or []
        per_product = entry.get("dtypes_per_product") or {}
        self.types = _types(listed) if self.typed else ()
        self.on = {PRODUCTS[product]: _types(names) for product, names in per_product.items()} if self.typed else {}
        self.on = {product: types for product, types in self.on.items() if product in self.products and self._differs(product, types)}
        if self.typed and not self.types:
            self.typed = False
            self.notes.append("its types, any are taken")

    def _differs(self, product: Product, types: tuple[str, ...]) -> bool:
        """BF16 goes without saying on chips that have none."""
        unsaid = {"BF16"} if product in _WITHOUT_BF16 else set()
        return set(types) - unsaid != set(self.types) - unsaid

    def _take_ranks(self, dims: dict[str, Any], *, refused: bool) -> None:
        listed = sorted(dims.get("set", ()))
        self.least, self.most = dims.get("min", 0), dims.get("max", MAX_DIMS)
        self.ranks: list[int] = []
        if listed:
            self.least, self.most = listed[0], listed[-1]
            self.ranks = listed if len(listed) <= self.most - self.least else []
        if self.least == 1 < self.most and not refused:
            self.least = 0  # what is not supported is no error where none is listed
            self.notes.append("0 dimensions are accepted, as no error is listed for them: what comes out")
        if other := dims.get("same_as") or dims.get("text"):
            self.notes.append(f"its rank, documented as {'that of ' if 'same_as' in dims else ''}{' '.join(other.split())}")

    @property
    def known(self) -> bool:
        """Whether a kind describes its C type."""
        plain = self.bare in _NUMBERS or _INTEGER.fullmatch(self.bare)
        return bool(plain) if not self.pointer else self.tensor or self.list or self.bare in _HANDLES or self.bare == "char"

    def types_on(self, product: Product) -> tuple[str, ...]:
        """What a product takes."""
        listed = self.on.get(product, self.types)
        return tuple(one for one in listed if one != "BF16") if product in _WITHOUT_BF16 else listed

    @property
    def everywhere(self) -> list[str]:
        """The types that all products with the operator take; any where none are listed."""
        if not self.types:
            return list(EASY)
        return [one for one in self.types if all(one in self.types_on(product) for product in self.products)]

    @property
    def wrong_type(self) -> str:
        """A type that no product takes."""
        taken = {*self.types, *(one for types in self.on.values() for one in types)}
        return next(one for one in _WRONG if one not in taken)

    def annotation(self, constants: Constants, *, foreach: bool) -> str:
        """What stands behind the name in the declaration."""
        none = " | None" if self.optional else ""
        if self.list:
            member = "Operand" if self.tensor else "Scalar"
            return f"Annotated[list[{member}]{none}, {self._list_kind(constants, foreach=foreach)}]"
        if self.tensor:
            return self._short() or f"Annotated[Operand{none}, {self._tensor_kind(constants)}]"
        if self.bare in _HANDLES:
            return self._handle(constants, none)
        if self.bare == "char":
            return self._string(none)
        if isinstance(self.choices, dict) and self.choices:
            kind = constants.enum(self.name, self.choices)
            return f"Annotated[int, IntKind({_quoted(self.c_type)}, choices={kind})]"
        if self.name in _ENUMS and _INTEGER.fullmatch(self.c_type):
            return _ENUMS[self.name]
        if self.c_type in _NUMBERS:
            return _NUMBERS[self.c_type]
        return "Int" if self.c_type == "int64_t" else f"Annotated[int, IntKind({_quoted(self.c_type)})]"

    def _short(self) -> str:
        """The name of a common kind."""
        if tuple(sorted(self.types)) != _FLOATS or self.on or self.formats or (self.least, self.most) != (0, MAX_DIMS):
            return ""
        const = self.c_type.startswith("const ")
        known = {("in", True, False): "FloatIn", ("in", True, True): "OptionalFloatIn"}
        known |= {("out", False, False): "FloatOut", ("out", True, False): "ConstFloatOut"}
        return known.get((self.io, const, self.optional), "")

    def _tensor_kind(self, constants: Constants) -> str:
        kind = {"in": "In", "out": "Out", "inout": "InOut"}[self.io]
        arguments = [*constants.types(self)]
        if self.optional and not self.list and kind != "InOut":
            arguments.append("optional=True")
        if self.c_type.startswith("const ") != (kind != "Out"):
            arguments.append(f"const={kind == 'Out'}")
        if (self.least, self.most) != (0, MAX_DIMS):
            arguments.append(f"rank={self.least}" if self.least == self.most else f"rank=({self.least}, {self.most})")
        if self.formats:
            arguments.append(f"formats=frozenset({{{', '.join(self.formats)}}})")
        return f"{kind}({', '.join([*arguments, *constants.on(self)])})"

    def _list_kind(self, constants: Constants, *, foreach: bool) -> str:
        if self.tensor and foreach and not self.optional:
            kind = {"in": "TensorsIn", "out": "TensorsOut", "inout": "TensorsInOut"}[self.io]
            if self.c_type.startswith("const "):
                return f"{kind}({', '.join(constants.types(self))})"
        member = self._tensor_kind(constants) if self.tensor else f"HandleKind({', '.join(['Scalar', *constants.types(self)])})"
        return f"ListOf({', '.join([member, *(['optional=True'] if self.optional else [])])})"

    def _handle(self, constants: Constants, none: str) -> str:
        kind = _HANDLES[self.bare]
        const = self.c_type.startswith("const ")
        if const and not none and not self.types:
            return f"{kind}In"
        arguments = [kind, *constants.types(self), *(["optional=True"] if none else []), *([] if const else ["const=False"])]
        return f"Annotated[{kind}{none}, HandleKind({', '.join(arguments)})]"

    def _string(self, none: str) -> str:
        arguments = [] if self.c_type == "const char*" else [_quoted(self.c_type)]
        arguments += ["optional=True"] if none else []
        if self.choices:
            arguments.append(f"choices={tuple_text([_quoted(one) for one in self.choices])}")
        return f"Annotated[str{none}, StringKind({', '.join(arguments)})]" if arguments else "String"

    def rules(self) -> list[str]:
        """What the declaration cannot say of it, as lines of the operator's body."""
        if not self.ranks or self.list:
            return []
        return [f"rank_in({self.name}, {', '.join(map(str, self.ranks))})"]

    def example(self, seed: int) -> str:
        """A value for a valid call, as source."""
        if self.tensor:
            return self._example_tensor(seed)
        if self.optional:
            return "None"
        if self.bare == "char":
            return _quoted(next(iter(self.choices), "TODO"))
        if isinstance(self.choices, dict) and self.choices:
            return str(next(iter(self.choices.values())))
        if self.bare == "aclDataType":
            return f"{self.example_type}.code"
        if self.bare in ("aclScalar", "aclScalarList"):
            value = next(
                (_SCALARS[name] for name in _SCALARS if name in self.types or not self.types), f"{self.example_type}.numpy.type(2)"
            )
            return f"[{value}, {value}]" if self.list else value
        return _VALUES.get(self.bare, "0")

    def _example_tensor(self, seed: int) -> str:
        if self.optional:
            return "None"
        rank = min(max(2, self.least), self.most)
        rank = rank if not self.ranks or rank in self.ranks else next((one for one in self.ranks if one), self.ranks[0])
        shape = _SHAPES[rank] if rank < len(_SHAPES) else str((1,) * (rank - 2) + (3, 4))
        member = f"numbers({shape}, {self.example_type}, {seed})"
        return f"[{member}, {member}]" if self.list else member


def _format(name: str) -> str:
    """The constant of a format; empty where there is none."""
    return next((known for known in (f"ACL_FORMAT_{name}", f"ACL_{name}") if hasattr(c, known)), "")


def _quoted(text: str) -> str:
    return f'"{text}"'


def _words(name: str) -> str:
    """A parameter's name as a constant is spelled."""
    return re.sub(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Z][a-z])", "_", name).upper()


def tuple_text(names: Sequence[str]) -> str:
    """The source of a tuple."""
    return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"


def _types(names: Iterable[str]) -> tuple[str, ...]:
    """Types as they are called here, each once; what is no aclDataType of a tensor is left out."""
    return tuple(dict.fromkeys(one for one in (_RENAMED.get(name, name) for name in names) if one in _TYPE_NAMES and one != "STRING"))


class Constants:
    """What stands at the top of a file: imports, and long lists of types that several parameters share."""

    def __init__(self) -> None:
        self._tuples: dict[tuple[str, ...], str] = {}
        self._tables: dict[str, str] = {}
        self._enums: dict[str, dict[str, int]] = {}
        self._lines: list[str] = []

    def types(self, one: Parameter) -> list[str]:
        """The types of a parameter, as arguments of its kind."""
        if len(one.types) <= 3:
            return list(one.types)
        return [f"*{self.tuple(one.types, one.name)}"]

    def on(self, one: Parameter) -> list[str]:
        """Where products take others."""
        parts = [f"Product.{product.name}: {self.tuple(types, f'{one.name}{product.short}')}" for product, types in one.on.items()]
        if len(parts) < 2:
            return [f"on={{{parts[0]}}}"] if parts else []
        table = call_text("{", parts, "}", follows=len(_words(one.name)) + 6)
        return [f"on={self._tables.setdefault(table, f'{_words(one.name)}_ON')}"]

    def tuple(self, types: tuple[str, ...], wish: str) -> str:
        """A constant for these types, or the tuple itself where it is short."""
        if len(types) <= 3:
            return tuple_text(types)
        if types not in self._tuples:
            taken = set(self._tuples.values())
            name = f"{_words(wish)}_TYPES"
            self._tuples[types] = name if name not in taken else f"{_words(wish)}_{len(taken)}_TYPES"
        return self._tuples[types]

    def enum(self, name: str, choices: dict[str, int]) -> str:
        """An enumeration for the values of a parameter."""
        title = name[:1].upper() + name[1:]
        self._enums[title] = choices
        return title

    def shortened(self, body: str) -> str:
        """The constants and what uses them; one that stands alone is called TYPES."""
        constant = self.text()
        text = f"{constant}\n\n{body}" if constant else body
        if len(self._tuples) == 1:
            text = re.sub(rf"\b{next(iter(self._tuples.values()))}\b", "TYPES", text)
        return text

    def import_line(self, line: str) -> None:
        """A line that the file needs beside those that its names need."""
        self._lines.append(line)

    def text(self) -> str:
        """The constants."""
        enums = "".join(
            f'\n\nclass {title}(enum.IntEnum):\n    """TODO: what it chooses."""\n\n'
            + "".join(f"    {k} = {v}\n" for k, v in values.items())
            for title, values in self._enums.items()
        )
        tuples = [call_text(f"{name} = (", types, ")") for types, name in self._tuples.items()]
        return "".join(f"{line}\n" for line in [*tuples, *(f"{name} = {table}" for table, name in self._tables.items())]) + (
            enums if tuples else enums.lstrip()
        )

    def imports(self, body: str) -> str:
        """The import statements of a file."""
        used = set(re.findall(r"[A-Za-z_]\w*", re.sub(r"#.*", "", body)))
        typing = [name for name in ("Annotated", "Any") if name in used]
        standard = ["import enum"] if "enum" in used else []
        standard += ["from collections.abc import Iterator"] if "Iterator" in used else []
        standard += [f"from typing import {', '.join(typing)}"] if typing else []
        groups = [
            ("acl_emu.core.constants", {name for name in used if name.startswith(("ACL_FORMAT_", "ACL_FRACTAL_"))}),
            ("acl_emu.core.dtypes", used & _TYPE_NAMES),
            ("acl_emu.runtime.tensor", used & set(_HANDLES.values())),
            ("acl_emu.spec", used & set(spec.__all__)),
            ("aclnnop.foreach.each", used & {"CHECKS", "TensorsIn", "TensorsInOut", "TensorsOut", "foreach", "foreach_in_place"}),
            ("aclnnop.math.unary", used & {"unary"}),
            ("aclnnop.matmul.cube", used & {"CubeMath"}),
        ]
        own = [call_text(f"from {module} import ", sorted(names, key=_import_order), "") for module, names in groups if names]
        own = [line if "\n" not in line else line.replace("import \n", "import (\n") + ")" for line in own]
        own = sorted([*own, *dict.fromkeys(self._lines)], key=lambda line: line.split()[1])
        return "\n".join([*standard, *([""] if standard else []), *own]) + "\n"


def _import_order(name: str) -> tuple[int, list[Any]]:
    """Constants, then classes, then functions, numbers within names by value: as ruff sorts them."""
    kind = 0 if name.isupper() else 1 if name[0].isupper() else 2
    return kind, [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
