"""Building all that is compiled, and the files that are derived for it. Run as a script: by setup.py, and by make before anything else.

A source file is compiled when it, something it includes or its command has changed; a library is linked when one of its objects has.
Objects and generated sources are in build/native/. A generated file is written only where its text is another one, so that nothing is
compiled in vain.

    python acl_emu/cface/build.py             in a checkout
    python acl_emu/cface/build.py --into DIR  a package that is about to be installed from DIR
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parent
if __name__ == "__main__":
    # Neither package can be imported before it is built. Parts of them can, below parents that import nothing.
    for name in ("acl_emu", "aclnnop"):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [str(ROOT / name)]

from acl_emu.core.compiler import COMPILER, ENGINE_FLAGS, FLAGS, MACHINE, TILE_FLAGS, variants  # noqa: E402

BUILD = ROOT / "build" / "native"
C_FACE, ENGINE_SOURCES, RUNTIME_SOURCES = (PACKAGE / folder / "c" for folder in ("cface", "engine", "runtime"))
INCLUDES = tuple(f"-I{PACKAGE / folder / 'c'}" for folder in ("runtime", "engine"))
LIBRARY = "libascendcl.so"
ENGINE = "libacl_emu_engine.so"
ALIAS = "libacl_emu_alias.so"
ALIAS_NAME = f"{ALIAS}.{'x' * 40}"
"""What an alias is called before a toolkit gives it the name of another library: long enough for each."""


class Job(NamedTuple):
    """A source file, and what it is compiled with."""

    source: Path
    name: str
    """Of the object."""
    flags: tuple[str, ...]


class Product(NamedTuple):
    """A library or extension module."""

    place: str
    """Where it goes, below the packages."""
    jobs: Sequence[Job]
    link: tuple[str, ...]


# Files that are generated


def write(path: Path, text: str) -> None:
    """Write a file where its text is another one; at once, so that nobody reads half of it."""
    try:
        if path.read_text(encoding="utf-8") == text:
            return
    except OSError:
        path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


def generate(name: str, inputs: Iterable[Path], text: Callable[[], str], recipe: str = "") -> Path:
    """A source file that is made of ``inputs`` by ``text``: made anew when one of them has changed, or ``recipe``, which says all else."""
    target, note = BUILD / name, BUILD / f"{name}.made"
    state = json.dumps([recipe, [[str(path), path.stat().st_mtime_ns] for path in sorted(inputs)]])
    if not (target.exists() and note.exists() and note.read_text(encoding="utf-8") == state):
        write(target, text())
        write(note, state)
    return target


def _exports() -> Path:
    from acl_emu.cface import exports, headers
    from acl_emu.core import documented
    from aclnnop import registry

    include = ROOT / "include"
    known = documented.table().keys()
    emulated = sorted(known & registry.scan().keys())
    inputs = [*map(Path, (exports.__file__, headers.__file__)), documented.TABLE, *(include / name for name in exports.RUNTIME_HEADERS)]
    return generate("exports.c", inputs, lambda: exports.source(include, emulated), " ".join(emulated))


def _bridge() -> Path:
    def text() -> str:
        definition = importlib.import_module("acl_emu.cface.bridge_build")
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(None):
            definition.ffi.emit_c_code(f"{folder}/_bridge.c")
            return Path(folder, "_bridge.c").read_text(encoding="utf-8")

    return generate("_bridge.c", [PACKAGE / "cface" / "bridge_build.py"], text, importlib.metadata.version("cffi"))


# What there is to build


def variants_of(source: Path, stem: str, table: str, machine: str, flags: tuple[str, ...] = ("-O3",)) -> list[Job]:
    """A source that is compiled for every instruction set; each has a table of its own name."""
    return [
        Job(source, f"{stem}_{name}", (*ENGINE_FLAGS, *more, *flags, f"-D{table}=acl_emu_{stem}_{name}"))
        for name, more in variants(machine).items()
    ]


def engine_jobs(machine: str = MACHINE) -> list[Job]:
    """What the engine is made of, but for fused steps."""
    tiles = [
        *variants_of(ENGINE_SOURCES / "engine_tile.c", "tiles", "TILES", machine, TILE_FLAGS),
        *variants_of(ENGINE_SOURCES / "alignments.c", "alignments", "ALIGNMENTS", machine),
        *variants_of(ENGINE_SOURCES / "gemm_tile.c", "products", "PRODUCTS", machine),
    ]
    plain = sorted({*ENGINE_SOURCES.glob("*.c")} - {job.source for job in tiles})
    return [*tiles, *_jobs(plain, *ENGINE_FLAGS, "-O3")]


def fused_jobs(source: Path, stem: str) -> list[Job]:
    """Fused steps."""
    return [job._replace(name=f"{stem}_{job.name}") for job in variants_of(source, "fused", "FUSED", MACHINE, TILE_FLAGS)]


def _without_fused_steps() -> Path:
    return generate("no_fused_steps.c", [], lambda: '#include "engine.h"\nconst step_table FUSED = {NULL, 0};\n')


def _fused_steps(root: Path, engine: Path) -> Path:
    """What can be fused in the operators' examples, which are run for it on an engine that has no fused steps."""

    def text() -> str:
        target = BUILD / "fused_steps.c.new"
        command = [sys.executable, "-m", "acl_emu.codegen.fused_steps", str(engine), str(target)]
        paths = os.pathsep.join((str(root), str(ROOT), *filter(None, sys.path)))
        subprocess.run(command, check=True, cwd=root, env={**os.environ, "PYTHONPATH": paths})
        return target.read_text(encoding="utf-8")

    inputs = [path for folder in ("acl_emu/engine", "acl_emu/spec", "aclnnop") for path in (ROOT / folder).rglob("*.py")]
    return generate("fused_steps.c", [*inputs, ENGINE_SOURCES / "functions.h", ENGINE_SOURCES / "tile_steps.h"], text)


def products(root: Path) -> Iterator[Product]:
    """Everything. The next is asked for when the last is built: what comes behind the extension modules may be generated by the package."""
    python = ("-O2", f"-I{sysconfig.get_path('include')}")
    parts = ("program", "ending", "faults", "wakeup", "memory", "objects", "plans", "stream_queue")
    bridge = [_bridge(), *(RUNTIME_SOURCES / f"{name}.c" for name in parts)]
    yield Product("acl_emu/core/_bridge.abi3.so", _jobs(bridge, *python), ("-ldl", "-lpthread"))
    yield Product(f"acl_emu/core/_fast{sysconfig.get_config_var('EXT_SUFFIX')}", _jobs([RUNTIME_SOURCES / "fast_path.c"], *python), ())
    # No dependency on libpython, and nothing exported but the declared functions.
    face = _jobs([_exports(), C_FACE / "loader.c"], *python, f"-I{ROOT / 'include'}")
    yield Product(f"acl_emu/lib64/{LIBRARY}", face, (f"-Wl,-soname,{LIBRARY}", "-Wl,-z,nodelete", "-Wl,-s", "-ldl", "-lpthread"))
    # Nothing but a name, and that it needs the library: what is loaded under that name has its functions.
    needed = ("-Wl,--no-as-needed", f"-L{root / 'acl_emu' / 'lib64'}", f"-l:{LIBRARY}", "-Wl,-rpath,$ORIGIN:$ORIGIN/../lib64", "-Wl,-s")
    yield Product(f"acl_emu/lib64/{ALIAS}", _jobs([C_FACE / "alias.c"], "-O2"), (f"-Wl,-soname,{ALIAS_NAME}", *needed))
    # Which of its instruction sets is used is chosen at run time.
    engine, plain = engine_jobs(), BUILD / f"{ENGINE}.plain"
    yield Product(str(plain), [*engine, *fused_jobs(_without_fused_steps(), "no")], ("-lm", "-lpthread"))
    yield Product(f"acl_emu/lib64/{ENGINE}", [*engine, *fused_jobs(_fused_steps(root, plain), "all")], ("-lm", "-lpthread"))


def _jobs(sources: Iterable[Path], *flags: str) -> list[Job]:
    return [Job(source, source.stem, flags) for source in sources]


# Compiling and linking


def compiled(job: Job, folder: Path) -> Path:
    """The object of a source file; compiled where it is not up to date."""
    target = folder / f"{job.name}.o"
    command = [*COMPILER, *FLAGS, "-fvisibility=hidden", *INCLUDES, *job.flags, "-c", str(job.source)]
    note, read = target.with_suffix(".command"), target.with_suffix(".d")
    if not _is_current(target, note, command) or _newer_than(target, _dependencies(read)):
        note.unlink(missing_ok=True)
        begun = time.time_ns()
        subprocess.run([*command, "-MD", "-MF", str(read), "-o", str(target)], check=True)
        os.utime(target, ns=(begun, begun))  # a source that changed meanwhile is newer
        note.write_text("\0".join(command), encoding="utf-8")
    return target


def _is_current(target: Path, note: Path, command: Sequence[str]) -> bool:
    try:
        return target.exists() and note.read_text(encoding="utf-8") == "\0".join(command)
    except OSError:
        return False


def _dependencies(read: Path) -> list[Path]:
    """What a compiler says that it has read: ``object: source header ...``, with lines continued by a backslash."""
    listed = read.read_text(encoding="utf-8").replace("\\\n", " ").partition(": ")[2]
    return [Path(name.replace("\0", " ")) for name in listed.replace("\\ ", "\0").split()]


def _newer_than(target: Path, inputs: Iterable[Path]) -> bool:
    made = target.stat().st_mtime_ns
    return any(not path.exists() or path.stat().st_mtime_ns > made for path in inputs)


def link(library: Path, objects: Sequence[Path], flags: Sequence[str], folder: Path) -> None:
    """Write a library beside its place and put it there at once: programs that have the old one loaded keep it."""
    command = [*COMPILER, "-shared", *map(str, objects), *flags]
    note = folder / f"{library.name}.linked"
    if _is_current(library, note, [*command, str(library)]) and not _newer_than(library, objects):
        return
    library.parent.mkdir(parents=True, exist_ok=True)
    unfinished = library.with_name(f"{library.name}.{os.getpid()}")
    subprocess.run([*command, "-o", str(unfinished)], check=True)
    os.replace(unfinished, library)
    note.write_text("\0".join([*command, str(library)]), encoding="utf-8")


def build(root: Path) -> None:
    """Build everything below ``root``, where both packages are."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for product in products(root):
            folder = BUILD / Path(product.place).name.partition(".")[0]
            folder.mkdir(parents=True, exist_ok=True)
            jobs = sorted(product.jobs, key=lambda job: -job.source.stat().st_size)
            objects = list(pool.map(lambda job, folder=folder: compiled(job, folder), jobs))
            link(root / product.place, objects, product.link, folder)


# What is not compiled


def write_headers(include: Path) -> None:
    """The headers of operators. Those of operators that are no longer documented go."""
    from acl_emu.cface import headers
    from acl_emu.core import documented

    def text() -> str:
        files = headers.of_operators()
        for path in (include / "aclnnop").rglob("*.h"):
            if str(path.relative_to(include)) not in files:
                path.unlink()
        for name, content in files.items():
            write(include / name, content)
        return "\n".join(files)

    is_there = (include / "aclnnop").exists()
    generate("headers.txt", [Path(headers.__file__), documented.TABLE], text, f"{include} {is_there}")


def stubs(emulated: Iterable[str]) -> str:
    """aclnnop/__init__.pyi: the functions of every emulated operator, typed."""
    from acl_emu.cface.headers import MARK
    from acl_emu.core import documented

    lines = [f"# {MARK}", "from acl_emu.api.border import Handle", "from acl_emu.spec import Operator"]
    lines += ["from acl_emu.spec.single_phase import SinglePhase", ""]
    lines.append("def find(name: str) -> Operator: ...")
    lines.append("def find_single_phase(name: str) -> SinglePhase: ...")
    known = documented.table()
    for name in emulated:
        if name in known and known[name].single_phase:
            inputs = [(c_type, parameter) for c_type, parameter in known[name].parameters if not _is_result(c_type)]
            results = ["list[int]" if c_type.endswith("**") else "int" for c_type, _ in known[name].parameters if _is_result(c_type)]
            given = ", ".join(f"{parameter}: {_python_type(c_type)}" for c_type, parameter in inputs)
            lines.append(f"def {name}({given}) -> tuple[{', '.join(results)}, int]: ...")
        elif name in known:
            one, two = known[name].functions.items()
            given = ", ".join(
                f"{documented.python_name(parameter)}: {_python_type(c_type)}" for c_type, parameter in known[name].parameters
            )
            lines.append(f"def {one[0]}({given}) -> tuple[int, Handle, int]: ...")
            lines.append(f"def {two[0]}(workspace: Handle, workspaceSize: int, executor: Handle, stream: Handle) -> int: ...")
    return "\n".join(lines) + "\n"


def _is_result(c_type: str) -> bool:
    """Whether a parameter of a function without phases is what C gets a result through."""
    return c_type.endswith("*") and not c_type.startswith(("const ", "acl"))


def _python_type(c_type: str) -> str:
    plain = c_type.replace("const ", "")
    if plain.endswith("*"):
        return "str | None" if plain == "char*" else "Handle"
    return {"float": "float", "double": "float", "bool": "bool"}.get(plain, "int")


def main(arguments: Sequence[str]) -> None:
    """In the checkout, or in the folder behind ``--into``."""
    from aclnnop import registry

    in_place = "--into" not in arguments
    root = ROOT if in_place else Path(arguments[arguments.index("--into") + 1])
    build(root)
    modules = registry.scan()
    write(root / "aclnnop" / "__init__.pyi", stubs(modules))
    if in_place:
        write_headers(ROOT / "include")
        write(PACKAGE / "lib64" / "python.txt", sys.executable + "\n")
    else:
        shutil.copytree(ROOT / "include", root / "acl_emu" / "include", dirs_exist_ok=True)
        write_headers(root / "acl_emu" / "include")
        write(root / "aclnnop" / "index.json", json.dumps(modules, indent=0))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"acl-emu: {' '.join(error.cmd[:1])} failed")
