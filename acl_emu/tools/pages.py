"""Programs: finding them on an operator page, compiling them, running them."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from acl_emu.cface import toolkit
from acl_emu.core import documented
from acl_emu.core.soc import ALL, Product
from aclnnop.index import EMULATED

C_PLUS_PLUS = (".cpp", ".cc", ".cxx")
_CODE_TAGS = ("cpp", "c++", "c", "cxx", "cc", "")
_FENCE = re.compile(r"^(?P<indent>[ \t]*)```+[ \t]*(?P<tag>[\w+#.-]*)[ \t]*$")
_GLUED = re.compile(r"^(?P<code>.*\S)[ \t]*```+[ \t]*$")
_MAIN = re.compile(r"\bmain\s*\(")
_OPERATOR_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<](?P<path>[^">]*?(?P<header>acl(?:nn)?_\w+\.h))[">]', re.MULTILINE)
_OPERATOR_CALL = re.compile(r"\b(aclnn[A-Z]\w*?)(?:GetWorkspaceSize)?\s*\(")
_OWN_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"(?P<path>[^"\n]+)"', re.MULTILINE)
_FOREIGN_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<](?P<path>(?:hccl|acl|aclnn|aclnnop)/[^">]+)[">]', re.MULTILINE)
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
    """The program cannot be built; the text is all that a user needs."""


@dataclass(frozen=True)
class Program:
    """One program: where it is from, and its text."""

    name: str
    text: bytes
    suffix: str
    products: frozenset[Product] = ALL
    """The products that its page gives it for."""
    folder: Path | None = None
    """Where a source file lies, which may include its neighbours."""


def programs_in(path: Path) -> list[Program]:
    """The programs in a page, or the one that a source file is."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SampleError(f"{path}: {error.strerror}") from None
    if path.suffix in (*C_PLUS_PLUS, ".c"):
        return [Program(path.stem, raw, path.suffix, folder=path.resolve().parent)]
    if path.suffix not in (".md", ".markdown"):
        raise SampleError(f"{path}: expected an operator page (.md) or a source file (.cpp, .cc, .cxx, .c)")
    # Pages with a damaged encoding are damaged in their comments only; latin-1 keeps every byte as it is.
    found = [block for block in code_blocks(raw.decode("latin-1")) if _MAIN.search(block.text)]
    if not found:
        raise SampleError(f"{path}: no program found (no C++ code block with a main function)")
    return [
        Program(f"{path.stem}-{i}" if len(found) > 1 else path.stem, block.text.encode("latin-1"), ".cpp", block.products)
        for i, block in enumerate(found, 1)
    ]


class CodeBlock(NamedTuple):
    """A code block of a page, and the products that the page gives it for."""

    text: str
    products: frozenset[Product]


def code_blocks(page: str) -> list[CodeBlock]:
    """The code blocks of a page, whatever became of their fences: unclosed, reopened, indented, glued to the last line."""
    blocks: list[CodeBlock] = []
    marks: dict[str, frozenset[Product]] = {}
    lines: list[str] | None = None
    wanted = False
    indent = ""

    def close() -> None:
        nonlocal lines
        if lines is not None and wanted:
            blocks.append(CodeBlock("\n".join(lines) + "\n", ALL.intersection(*marks.values())))
        lines = None

    for line in page.replace("\r\n", "\n").split("\n"):  # not splitlines: a damaged encoding has control characters inside lines
        fence = _FENCE.match(line)
        glued = None if fence or lines is None else _GLUED.match(line)
        if fence and lines is not None and not fence["tag"]:
            close()
        elif fence:
            close()
            lines, indent = [], fence["indent"]
            wanted = fence["tag"].lower() in _CODE_TAGS
        elif glued and lines is not None:
            lines.append(glued["code"].removeprefix(indent))
            close()
        elif lines is not None:
            lines.append(line.removeprefix(indent))
        elif mark := _PRODUCT_MARK.match(line):
            marks[mark["id"]] = frozenset(_MARKED[name] for name in re.split(r"[,\s]+", mark["names"].lower()) if name in _MARKED)
        elif mark := _END_MARK.match(line):
            marks.pop(mark["id"], None)
    close()
    return blocks


@dataclass(frozen=True)
class Build:
    """How to build."""

    cxx: str = ""
    std: str = ""
    keep: Path | None = None
    lines: bool = False
    """Whether the executable knows its source lines, for messages."""

    def compiler(self, suffix: str) -> list[str]:
        """The compiler and its own flags."""
        named = self.cxx or os.environ.get("CC" if suffix == ".c" else "CXX", "")
        if named:
            try:
                command = shlex.split(named)
            except ValueError as error:
                raise SampleError(f"compiler {named!r}: {error}") from None
            if not command or not shutil.which(command[0]):
                raise SampleError(f"compiler {named!r} not found")
            return command
        for candidate in ("gcc", "clang", "cc") if suffix == ".c" else ("g++", "clang++", "c++"):
            if shutil.which(candidate):
                return [candidate]
        raise SampleError("no C++ compiler found; install g++ or clang, or name one with --cxx")


def build(program: Program, how: Build) -> Path:
    """Compile a program, or find it compiled before."""
    tree = toolkit.cached()
    compiler = how.compiler(program.suffix)
    _check_includes(program, tree / "include")
    flags = [f"-std={how.std}"] if how.std else []
    # Not the newest form: older tools of binutils take one file for another in it.
    flags += ["-gdwarf-4"] if how.lines else []
    if program.folder is not None:
        flags += ["-iquote", str(program.folder)]
    version = subprocess.run([compiler[0], "--version"], capture_output=True, check=False).stdout
    recipe = "\0".join([*compiler, *flags, str(tree), program.suffix]).encode() + version
    digest = hashlib.sha256(recipe + program.text + _own_headers(program)).hexdigest()[:20]
    folder = toolkit.cache_folder() / "programs" / digest
    executable = folder / program.name
    if not executable.exists():
        print(f"acl-emu: building {program.name} ...", file=sys.stderr)
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=folder.parent))
        _compile(program, fresh, compiler + flags, tree)
        toolkit.publish(fresh, folder)
    if how.keep is not None:
        try:
            how.keep.mkdir(parents=True, exist_ok=True)
            for name in (program.name, program.name + program.suffix):
                shutil.copy2(folder / name, how.keep / name)
        except OSError as error:
            raise SampleError(f"--keep {how.keep}: {error.strerror}") from None
    return executable


def _own_headers(program: Program) -> bytes:
    """The text of every header that the program includes from its own folder, directly or not."""
    found: dict[Path, bytes] = {}
    waiting = [] if program.folder is None else [(program.folder, program.text)]
    while waiting:
        folder, text = waiting.pop()
        for match in _OWN_INCLUDE.finditer(text):
            for path in {(base / os.fsdecode(match["path"])).resolve() for base in (folder, program.folder) if base is not None}:
                if path not in found and path.is_file():
                    found[path] = path.read_bytes()
                    waiting.append((path.parent, found[path]))
    return b"".join(os.fsencode(path) + b"\0" + found[path] for path in sorted(found))


def _compile(program: Program, folder: Path, command: list[str], tree: Path) -> None:
    source = folder / (program.name + program.suffix)
    source.write_bytes(program.text)
    include, libraries = tree / "include", tree / "lib64"
    done = subprocess.run(
        [
            *command,
            source.name,
            *(f"-I{path}" for path in (include, include / "aclnn", include / "aclnnop")),
            f"-L{libraries}",
            *("-lopapi_nn", "-lopapi_math", "-lascendcl", "-lnnopbase", "-lpthread"),
            f"-Wl,-rpath,{libraries}",
            "-o",
            program.name,
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        raise SampleError(f"{program.name}{program.suffix} does not compile:\n{done.stderr.rstrip()}")


def _check_includes(program: Program, include: Path) -> None:
    """Say which operator is missing, before the compiler says which file is."""
    text = program.text.decode("latin-1")

    def is_neighbour(path: str) -> bool:
        return program.folder is not None and (program.folder / path).is_file()

    missing = [
        f"{name} is not emulated yet; `acl-emu ops` lists what is"
        for name in dict.fromkeys(_OPERATOR_CALL.findall(text))
        if name in documented.table() and name not in EMULATED
    ]
    missing += [
        f"{match['header']} is not emulated yet; `acl-emu ops` lists what is"
        for match in _OPERATOR_INCLUDE.finditer(text)
        if not any((include / folder / match["header"]).exists() for folder in ("aclnnop", "aclnn", "acl"))
        and not is_neighbour(match["path"])
    ]
    missing += [
        f"{match['path']} is not emulated yet"
        for match in _FOREIGN_INCLUDE.finditer(text)
        if not (include / match["path"]).exists() and not _OPERATOR_INCLUDE.match(match[0]) and not is_neighbour(match["path"])
    ]
    if missing:
        raise SampleError(f"{program.name}: " + "; ".join(dict.fromkeys(missing)))


def run(executable: Path, arguments: Sequence[str], environment: dict[str, str]) -> int:
    """Run a program; its output is not touched, its exit code is returned, 128 + the signal that ended it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program gets the interrupt itself, and decides
    try:
        process = subprocess.Popen(
            [str(executable), *arguments],
            env={**os.environ, **environment},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        code = process.wait()
    except OSError as error:
        raise SampleError(f"{executable} cannot be run: {error.strerror}") from None
    finally:
        signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code
