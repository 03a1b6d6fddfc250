"""The commands that do not run a program."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import click

from acl_emu.cface import toolkit
from acl_emu.cli.failure import Failure, chip_named
from acl_emu.core import cache, soc


@click.command("toolkit")
@click.argument("folder", type=click.Path(path_type=Path))
def lay_out_toolkit(folder: Path) -> None:
    """Lay out a CANN-shaped install tree in FOLDER: include/, lib64/, set_env.sh."""
    try:
        toolkit.lay_out(folder.absolute())
    except (toolkit.ToolkitError, OSError, shutil.Error) as error:
        raise Failure(str(error)) from None
    click.echo(f"{folder}: source {folder}/set_env.sh, or set ASCEND_CUSTOM_PATH={folder.absolute()}")


@click.command()
def env() -> None:
    """Print exports for a shell: eval "$(acl-emu env)"."""
    try:
        click.echo(toolkit.shell_exports(toolkit.cached(cache.lasting())), nl=False)
    except cache.NoCache as error:
        raise Failure(f"{error}; `acl-emu toolkit FOLDER` lays the tree out anywhere else") from None
    except (toolkit.ToolkitError, OSError) as error:
        raise Failure(str(error)) from None


@click.command()
@click.argument("name", required=False)
def ops(name: str | None) -> None:
    """List the emulated operators, or show one: signature, dtypes, products."""
    from acl_emu.tools import describe

    try:
        click.echo(describe.one(name) if name else describe.all_of_them(), nl=False)
    except LookupError as error:
        raise Failure(str(error)) from None


@click.command()
@click.argument("operator")
@click.argument("arguments", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--soc", "chip", help="Chip to emulate, such as Ascend910B1 (default) or Ascend310P3.")
@click.option("--json", "for_tools", is_flag=True, help="For tools.")
@click.option("--c", "rendered", is_flag=True, help="The loops in C that the plan is compiled to, instead of the plan.")
def explain(operator: str, arguments: tuple[str, ...], chip: str | None, for_tools: bool, rendered: bool) -> None:
    """Show what phase one of OPERATOR does with arguments such as self=4x8:FLOAT: checks, plan, workspace. Exit code 1 if it would fail."""
    from acl_emu import engine
    from acl_emu.tools import explain as explaining
    from acl_emu.tools import explain_output
    from acl_emu.tools.rendered import as_c

    if rendered and (for_tools or not arguments):
        raise Failure("--c needs arguments, and no --json")

    if chip is not None:
        os.environ["ACL_EMU_SOC"] = chip_named(chip).name
    width = min(shutil.get_terminal_size((120, 24)).columns, 140)
    try:
        if not arguments:
            found = explaining.find(operator)
            click.echo(
                explain_output.declaration_as_json(found) if for_tools else explain_output.declaration_as_text(found, width), nl=False
            )
            return
        with engine.collected() as fusions, explaining.explained(operator, arguments) as explanation:
            text = explain_output.as_json(explanation) if for_tools else explain_output.as_text(explanation, width, _painter())
    except (explaining.Mistake, soc.ConfigurationError) as error:
        raise Failure(str(error)) from None
    if rendered and explanation.outcome.error is None:
        text = as_c(explanation.operator.name, fusions)
    click.echo(text, nl=False)
    sys.exit(0 if explanation.outcome.error is None else 1)


def _painter() -> Callable[[str, str], str]:
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return lambda text, _colour: text
    return lambda text, colour: click.style(text, bold=True) if colour == "bold" else click.style(text, fg=colour)


@click.command()
def doctor() -> None:
    """Say what is missing, and how to get it."""
    complete = True
    for title, found, advice in _findings():
        complete = complete and bool(found)
        click.echo(f"{'ok     ' if found else 'missing'} {title}{': ' + found if found else ''}")
        if not found:
            click.echo(f"        {advice}")
    sys.exit(0 if complete else 1)


def _findings() -> list[tuple[str, str, str]]:
    """What is looked at: title, what was found, how to get it."""
    from acl_emu.engine.bindings import PATH  # with numpy, which other commands do without

    compiler = next((path for name in ("g++", "clang++") if (path := shutil.which(name))), "")
    return [
        ("Python", f"{sys.version.split()[0]} ({sys.executable})", ""),
        (
            "shared library of Python",
            _shared_python(),
            "install the one of your Python (Debian: libpython3-dev), or a Python built with --enable-shared",
        ),
        ("C++ compiler", compiler, "install g++ or clang (Debian: apt-get install g++); only needed to compile programs"),
        ("library", _existing(toolkit.library_file), "install the package again with a C compiler at hand"),
        (
            "engine",
            str(PATH) if PATH.exists() else "",
            "install the package again with a C compiler at hand; until then numpy runs the kernels",
        ),
        ("headers", _existing(toolkit.include_folder), "install the package again"),
        ("cache folder", *_cache()),
    ]


def _cache() -> tuple[str, str]:
    try:
        return str(cache.lasting()), ""
    except cache.NoCache as error:
        return "", str(error)


def _existing(find: object) -> str:
    try:
        return str(find())  # type: ignore[operator]
    except toolkit.ToolkitError:
        return ""


def _shared_python() -> str:
    if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        name = f"libpython{sys.version_info.major}.{sys.version_info.minor}.so.1.0"
        folders = [sysconfig.get_config_var("LIBDIR") or "", *(f"/usr/lib/{arch}-linux-gnu" for arch in ("x86_64", "aarch64"))]
        return next((path for folder in folders if os.path.exists(path := os.path.join(folder, name))), "")
    return os.path.join(str(sysconfig.get_config_var("LIBDIR")), str(sysconfig.get_config_var("INSTSONAME")))
