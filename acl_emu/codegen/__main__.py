"""``python -m acl_emu.codegen [--check]``: write every derived file that is committed, or say which ones are out of date.

What belongs to single operators is not among them: exports, index, stubs and headers are derived when the package is built or imported.
``python -m acl_emu.codegen new aclnnFoo`` writes the first version of an operator's file and of its tests, from a catalogue.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from acl_emu.codegen import constants

ROOT = Path(__file__).resolve().parents[2]


def derived_files() -> dict[str, str]:
    """Path below the project -> text."""
    files = {"acl_emu/core/constants.py": constants.python_module()}
    from acl_emu.codegen import c_face, coverage, python_faces  # these need acl_emu.core.constants

    files["acl_emu/api/__init__.py"] = python_faces.api_init()
    files.update({f"docs/{name}": text for name, text in coverage.pages().items()})
    files.update({f"include/{name}": text for name, text in c_face.headers().items()})
    return files


def orphans(files: dict[str, str]) -> list[str]:
    """What was derived once, and is not any more."""
    from acl_emu.codegen.c_face import WRITTEN_BY_HAND

    kept = {f"include/{name}" for name in WRITTEN_BY_HAND} | files.keys()
    found = [
        *(ROOT / "include" / "acl").rglob("*.h"),
        *(ROOT / "include" / "aclnn").rglob("*.h"),
        *(ROOT / "docs" / "operators").glob("*.md"),
    ]
    return sorted(name for name in (str(path.relative_to(ROOT)) for path in found) if name not in kept)


def write(*, check: bool) -> int:
    """Write what is out of date, or only say what it is."""
    files = derived_files()
    stale = orphans(files)
    if not check:
        for name in stale:
            (ROOT / name).unlink()
    for name, text in files.items():
        path = ROOT / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    print("\n".join(stale) if stale else "derived files are up to date")
    return 1 if stale and check else 0


def new_operator(name: str, catalogs: list[Path] | None, *, show: bool) -> int:
    """Write the files of an operator that nobody has written yet, and say what is left to do."""
    from acl_emu.codegen import scaffold

    try:
        found = catalogs or scaffold.catalogs_beside(ROOT)
        if not found:
            raise scaffold.Unknown("there is no catalogue in ../shared/facts: give one with --catalog FILE")
        texts = scaffold.files(name, found)
        written = list(texts) if show else scaffold.write(ROOT, texts)
    except (scaffold.Unknown, OSError) as error:
        print(f"{name}: {error}" if name not in str(error) else error, file=sys.stderr)
        return 1
    for path in written:
        print(f"# {path}\n{texts[path]}" if show else f"{path}: {texts[path].count('TODO')} places marked TODO")
    return 0


def main(arguments: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m acl_emu.codegen", description="Write every derived file that is committed.")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail where something is out of date")
    commands = parser.add_subparsers(dest="command")
    table = commands.add_parser("documented", help="make the table of documented operators anew, of catalogues")
    table.add_argument("catalog", nargs="+", type=Path, help="one JSON object in each line; the first that has an operator wins")
    table.add_argument("--probed", type=Path, required=True, help="names that are exported only once they are emulated, one in each line")
    new = commands.add_parser("new", help="write the first version of an operator's file and of its tests")
    new.add_argument("operator", help="the official name; those that share its page and header are written with it")
    new.add_argument("--catalog", nargs="+", type=Path, help="one JSON object in each line; by default those in ../shared/facts")
    new.add_argument("--print", action="store_true", dest="show", help="show the files instead of writing them")
    given = parser.parse_args(arguments)
    if given.command == "new":
        return new_operator(given.operator, given.catalog, show=given.show)
    if given.command == "documented":
        from acl_emu.codegen import catalog
        from acl_emu.core import documented

        documented.TABLE.write_text(catalog.table(given.catalog, catalog.names_in(given.probed)), encoding="utf-8")
        return 0
    return write(check=given.check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
