"""Programs: finding them on an operator page, or in a file of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from acl_emu.core.soc import ALL, Product

C_PLUS_PLUS = (".cpp", ".cc", ".cxx")
PYTHON = ".py"
_CODE_TAGS = ("cpp", "c++", "c", "cxx", "cc", "")
_FENCE = re.compile(r"^(?P<indent>[ \t]*)```+[ \t]*(?P<tag>[\w+#.-]*)[ \t]*$")
_GLUED = re.compile(r"^(?P<code>.*\S)[ \t]*```+[ \t]*$")
_MAIN = re.compile(r"\bmain\s*\(")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?P<word>if|ifdef|ifndef|endif)\b", re.MULTILINE)
_NOT_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
# A page may give a part of itself for some products only.
_PRODUCT_MARK = re.compile(r'^\s*<!--\s*npu="(?P<names>[^"]*)"\s+(?P<id>\w+)\s*-->')
_END_MARK = re.compile(r"^\s*<!--\s*end\s+(?P<id>\w+)\s*-->")
_MARKED = {
    "950": Product.A950,
    "a3": Product.A3,
    "910b": Product.A2,
    "310b": Product.A310B,
    "310p": Product.A310P,
    "910": Product.A910,
}


class SampleError(Exception):
    """The program cannot be found, built or run; the text is all that a user needs."""


@dataclass(frozen=True)
class Program:
    """One program: where it is from, and its text."""

    name: str
    text: bytes
    suffix: str
    products: frozenset[Product] = ALL
    """The products that its page gives it for."""
    file: Path | None = None
    """Where it was found."""
    line: int = 1
    """Where it begins there."""

    @property
    def folder(self) -> Path | None:
        """Where a source file lies, which may include its neighbours; a page has none."""
        return None if self.file is None or self.is_of_a_page else self.file.resolve().parent

    @property
    def is_of_a_page(self) -> bool:
        """Whether it is only a part of its file."""
        return self.file is not None and self.file.suffix != self.suffix


def programs_in(path: Path) -> list[Program]:
    """The programs in a page, or the one that a source file is."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SampleError(f"{path}: {error.strerror}") from None
    if path.suffix in (*C_PLUS_PLUS, ".c", PYTHON):
        return [Program(path.stem, raw, path.suffix, file=path)]
    if path.suffix not in (".md", ".markdown"):
        raise SampleError(f"{path}: expected an operator page (.md) or a source file (.cpp, .cc, .cxx, .c, .py)")
    # Pages with a damaged encoding are damaged in their comments only; latin-1 keeps every byte as it is.
    found = [part for block in code_blocks(raw.decode("latin-1")) if _MAIN.search(block.text) for part in split(block)]
    if not found:
        raise SampleError(f"{path}: no program found (no C++ code block with a main function)")
    return [
        Program(f"{path.stem}-{i}" if len(found) > 1 else path.stem, block.text.encode("latin-1"), ".cpp", block.products, path, block.line)
        for i, block in enumerate(found, 1)
    ]


class CodeBlock(NamedTuple):
    """A code block of a page, and the products that the page gives it for."""

    text: str
    products: frozenset[Product]
    line: int
    """The line of the page that it begins in."""


def code_blocks(page: str) -> list[CodeBlock]:
    """The code blocks of a page, whatever became of their fences: unclosed, reopened, indented, glued to the last line."""
    blocks: list[CodeBlock] = []
    marks: dict[str, frozenset[Product]] = {}
    lines: list[str] | None = None
    wanted = False
    indent = ""
    first = 0

    def close() -> None:
        nonlocal lines
        if lines is not None and wanted:
            blocks.append(CodeBlock("\n".join(lines) + "\n", ALL.intersection(*marks.values()), first))
        lines = None

    # not splitlines: a damaged encoding has control characters inside lines
    for number, line in enumerate(page.replace("\r\n", "\n").split("\n"), 1):
        fence = _FENCE.match(line)
        glued = None if fence or lines is None else _GLUED.match(line)
        if mark := _PRODUCT_MARK.match(line):  # no code looks like a mark: a fence that is open here was never closed
            close()
            marks[mark["id"]] = frozenset(_MARKED[name] for name in re.split(r"[,\s]+", mark["names"].lower()) if name in _MARKED)
        elif mark := _END_MARK.match(line):
            close()
            marks.pop(mark["id"], None)
        elif fence and lines is not None and not fence["tag"]:
            close()
        elif fence:
            close()
            lines, indent, first = [], fence["indent"], number + 1
            wanted = fence["tag"].lower() in _CODE_TAGS
        elif glued and lines is not None:
            lines.append(glued["code"].removeprefix(indent))
            close()
        elif lines is not None:
            lines.append(line.removeprefix(indent))
    close()
    return blocks


def code_only(text: str) -> str:
    """C or C++ without comments, strings and characters: blanks stand in their places."""
    return _NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def split(block: CodeBlock) -> Iterator[CodeBlock]:
    """The programs of a block: another one begins where, behind a main function, headers are included for another one."""
    text, line = block.text, block.line
    while (end := _end_of_first(text)) is not None:
        yield block._replace(text=text[:end], line=line)
        line += text.count("\n", 0, end)
        text = text[end:]
    yield block._replace(text=text, line=line)


def _end_of_first(text: str) -> int | None:
    """Behind the first of two programs in a row; None where there are no two."""
    code = code_only(text)
    main = _MAIN.search(code)
    brace = code.find("{", main.end()) if main else -1
    if brace < 0:
        return None
    depth = 0
    for end in range(brace, len(code)):
        depth += (code[end] == "{") - (code[end] == "}")
        if depth == 0:
            break
    conditions = [match["word"] != "endif" for match in _CONDITION.finditer(code, 0, end)]
    if depth or conditions.count(True) != conditions.count(False):
        return None  # one of two ways to compile one program
    following = code.find("\n", end) + 1
    if not following or not _MAIN.search(code, following) or not _INCLUDE.search(code, following):
        return None
    return following
