"""Building programs: what is not emulated, the compiler, and the cache of what it made."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from acl_emu.cface import toolkit
from acl_emu.core import cache, documented
from acl_emu.tools.pages import Program, SampleError, code_only
from aclnnop.registry import EMULATED

_OPERATOR_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<](?P<path>[^">]*?(?P<header>acl(?:nn)?_\w+\.h))[">]', re.MULTILINE)
_FOREIGN_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<](?P<path>(?:hccl|acl|aclnn|aclnnop)/[^">]+)[">]', re.MULTILINE)
_OPERATOR_CALL = re.compile(r"\b(?P<operator>aclnn[A-Z]\w*?)(?P<phase_one>GetWorkspaceSize)?\s*(?P<arguments>\()")
_ARM_HALF = re.compile(rb"\b__fp16\b")
_LINKED = re.compile(r"-l\S|-L\S|.*\.(o|a|so)(\.\d+)*$")
_SEARCH_PATHS = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX")
"""Variables that tell a compiler where to look."""
_DEPENDENCIES = "dependencies.json"
_PROGRAM = "program"
"""The folder with the program and its source: they may have any name."""
_MOST_OF_A_KEY = 4
"""So many builds of the same text, with different headers, stay in the cache."""


class DoesNotCompile(SampleError):
    """The compiler refuses the program."""


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
    command = how.compiler(program.suffix)
    # Not the newest form: older tools of binutils take one file for another in it.
    flags = [*([f"-std={how.std}"] if how.std else []), *(["-gdwarf-4"] if how.lines else [])]
    if program.folder is not None:
        flags += ["-iquote", str(program.folder)]
    entries = cache.folder() / "programs" / _key(program, [*command, *flags], tree)
    entry = next((folder for folder in _newest_first(entries) if _is_current(folder / _DEPENDENCIES)), None)
    if entry is None:
        print(f"acl-emu: building {program.name} ...", file=sys.stderr, flush=True)
        with toolkit.new_entry(entries.parent) as fresh:
            _compile(program, fresh, [*command, *flags], tree)
            entries.mkdir(exist_ok=True)
            entry = entries / hashlib.sha256((fresh / _DEPENDENCIES).read_bytes()).hexdigest()[:20]
            toolkit.publish(fresh, entry)
        for old in _newest_first(entries)[_MOST_OF_A_KEY:]:
            shutil.rmtree(old, ignore_errors=True)
    if how.keep is not None:
        try:
            how.keep.mkdir(parents=True, exist_ok=True)
            for name in (program.name, program.name + program.suffix):
                shutil.copy2(entry / _PROGRAM / name, how.keep / name)
        except OSError as error:
            raise SampleError(f"--keep {how.keep}: {error.strerror}") from None
    return entry / _PROGRAM / program.name


def _key(program: Program, command: list[str], tree: Path) -> str:
    """What a build depends on, besides the files that the compiler reads."""
    version = subprocess.run([command[0], "--version"], capture_output=True, check=False).stdout
    paths = [f"{name}={os.environ.get(name, '')}" for name in _SEARCH_PATHS]
    where = [program.name, program.suffix, _line_directive(program)]
    recipe = "\0".join([*command, *paths, str(tree), *where, os.getcwd() if _has_relative(command, paths) else ""])
    return hashlib.sha256(os.fsencode(recipe) + b"\0" + version + b"\0" + program.text).hexdigest()[:20]


def _has_relative(command: list[str], paths: list[str]) -> bool:
    """Whether words of a command may be paths that count from where it is given."""
    words = [part for path in paths for part in path.partition("=")[2].split(":")] + [re.sub(r"^-[IL]", "", word) for word in command[1:]]
    return any(word and not word.startswith(("-", "/")) for word in words)


def _newest_first(entries: Path) -> list[Path]:
    found = entries.iterdir() if entries.is_dir() else ()
    return sorted(found, key=lambda folder: folder.stat().st_mtime_ns, reverse=True)


def _is_current(dependencies: Path) -> bool:
    """Whether every file that the compiler read is as it was."""
    try:
        known = json.loads(dependencies.read_bytes())
    except (OSError, ValueError):
        return False
    return bool(known == _contents(known))


def _contents(files: Iterable[str]) -> dict[str, str]:
    """A digest of each file, empty where it cannot be read."""

    def digest(file: str) -> str:
        try:
            return hashlib.sha256(Path(file).read_bytes()).hexdigest()
        except OSError:
            return ""

    return {file: digest(file) for file in files}


def _line_directive(program: Program) -> str:
    """What makes messages name the lines of the page or file that a user knows."""
    name = program.name + program.suffix if program.file is None else str(program.file.absolute())
    text = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {program.line} "{text}"\n'


def _compile(program: Program, folder: Path, command: list[str], tree: Path) -> None:
    """Compile into a folder, where the program, its source and the digests of what was read are found afterwards."""
    (folder / _PROGRAM).mkdir()
    (folder / _PROGRAM / (program.name + program.suffix)).write_bytes(program.text)
    unit, listed = folder / f"unit{program.suffix}", folder / "unit.d"
    unit.write_bytes(os.fsencode(_line_directive(program)) + program.text)
    include, libraries = tree / "include", tree / "lib64"
    done = subprocess.run(
        [
            *command,
            str(unit),  # not the program's own name, which might be taken for an option
            *("-MD", "-MF", str(listed), "-MT", "program"),
            *(f"-I{path}" for path in (include, include / "aclnn", include / "aclnnop")),
            *_half_precision(program, include),
            f"-L{libraries}",
            *("-lopapi_nn", "-lopapi_math", "-lascendcl", "-lnnopbase", "-lpthread"),
            f"-Wl,-rpath,{libraries}",
            *("-o", str(folder / _PROGRAM / program.name)),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        text = done.stderr.decode("utf-8", "replace").rstrip()
        raise DoesNotCompile(f"{program.name}{program.suffix} does not compile:\n{text}")
    read = [file for file in _files_in(listed) if not Path(file).is_relative_to(tree) and file != str(unit)]
    read += [os.path.abspath(word) for word in command[1:] if os.path.isfile(word)]
    (folder / _DEPENDENCIES).write_text(json.dumps(_contents(read), indent=0, sort_keys=True), encoding="utf-8")


def _half_precision(program: Program, include: Path) -> list[str]:
    """Hosts of devices are mostly Arm machines, whose compilers have ``__fp16``; elsewhere the class of the toolkit stands for it."""
    if platform.machine() in ("aarch64", "arm64") or program.suffix == ".c" or not _ARM_HALF.search(program.text):
        return []
    return ["-include", str(include / "aclnn/opdev/fp16_t.h"), "-D__fp16=op::fp16_t"]


def _files_in(listed: Path) -> list[str]:
    """The files that a compiler says it read, in the form that make understands."""
    text = os.fsdecode(listed.read_bytes()).partition(":")[2].replace("\\\n", " ")
    words = re.findall(r"(?:\\.|[^\s\\])+", text)
    files = [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words]
    return [os.path.abspath(file) for file in files]


def not_emulated(program: Program, how: Build) -> list[str]:
    """What the program needs and is not there, by name, before a compiler or linker says it in its own way: operators, or headers."""
    include = toolkit.cached() / "include"
    text = program.text.decode("latin-1")

    def is_missing(path: str, *folders: str) -> bool:
        neighbour = program.folder is not None and (program.folder / path).is_file()
        return not neighbour and not any((include / folder / path).exists() for folder in ("", *folders))

    missing = []
    if not any(_LINKED.match(word) for word in how.compiler(program.suffix)[1:]):  # else the program may bring its own operators
        missing = [operator for operator in operators_of(text) if operator not in EMULATED]
    headers = [match for match in _OPERATOR_INCLUDE.finditer(text) if is_missing(match["path"])]
    if not missing:
        missing = [match["header"] for match in headers if is_missing(match["header"], "aclnnop", "aclnn", "acl")]
    foreign = [match["path"] for match in _FOREIGN_INCLUDE.finditer(text) if not _OPERATOR_INCLUDE.match(match[0])]
    return list(dict.fromkeys([*missing, *filter(is_missing, foreign)]))


def operators_of(text: str) -> list[str]:
    """The operators that a program calls and does not define itself: what has a phase one, and what is documented."""
    code = code_only(text)
    called: dict[str, bool] = {}
    for match in _OPERATOR_CALL.finditer(code):
        if match["phase_one"] or match["operator"] in documented.table():
            called[match["operator"]] = called.get(match["operator"], False) or _is_definition(code, match.start("arguments"))
    return [operator for operator, defined in called.items() if not defined]


def _is_definition(code: str, opening: int) -> bool:
    """Whether a function body follows the parenthesis that opens here."""
    depth = 0
    for place in range(opening, len(code)):
        depth += (code[place] == "(") - (code[place] == ")")
        if depth == 0:
            return re.match(r"\)\s*(noexcept\s*)?\{", code[place : place + 200]) is not None
    return False
