"""The ``acl-emu`` command."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import click

from acl_emu.cface import toolkit
from acl_emu.core import soc
from acl_emu.tools import pages as samples
from acl_emu.version import __version__


class _Failure(click.ClickException):
    """One clear message, exit code 2."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        click.echo(f"acl-emu: {self.message}", err=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="acl-emu")
def main() -> None:
    """Run and build programs for Huawei Ascend's ACL without an NPU."""


class _Run(click.Command):
    """``--check`` alone means ``--check=1``; what follows it is not its value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, ["--check=1" if i < end and arg == "--check" else arg for i, arg in enumerate(args)])


@main.command(cls=_Run, context_settings={"ignore_unknown_options": False})
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--soc", "chip", help="Chip to emulate, such as Ascend910B1 (default) or Ascend310P3.")
@click.option("--schedule", type=click.Choice(soc.SCHEDULES), help="When queued tasks run.")
@click.option("--devices", type=click.IntRange(1, 64), help="How many devices there are (default 8).")
@click.option("--keep", type=click.Path(path_type=Path), help="Also put source and executable into this folder.")
@click.option("--cxx", default="", help='Compiler, with flags if need be: "g++ -O2".')
@click.option("--std", default="", help="Language level, such as c++17.")
@click.option("--which", type=click.IntRange(1), help="Which program of a page that has several (default: all, in turn).")
@click.option("--check", type=click.Choice(["1", "warn"]), metavar="[=warn]", help="Look for mistakes; exit code 86 if any, unless =warn.")
@click.option("--trace", type=click.Path(path_type=Path), help="Write what happens to this file, for ui.perfetto.dev.")
@click.option("--report", type=click.Path(path_type=Path), help="Show what happens on a page: an HTML file that needs no network.")
@click.option("--fault", "faults", multiple=True, metavar="RULE", help="Let something fail, as aclrtMalloc:3=207001 says; may be repeated.")
def run(
    file: Path,
    arguments: tuple[str, ...],
    chip: str | None,
    schedule: str | None,
    devices: int | None,
    keep: Path | None,
    cxx: str,
    std: str,
    which: int | None,
    check: str | None,
    trace: Path | None,
    report: Path | None,
    faults: tuple[str, ...],
) -> None:
    """Compile and run the program in FILE: an operator page (.md), a .cpp or a .c. Arguments after -- go to the program."""
    if chip is not None and chip not in soc.PROFILES:
        raise _Failure(f"--soc {chip} is unknown; known are {', '.join(soc.PROFILES)}")
    _check_faults(faults)
    try:
        found = samples.programs_in(file)
        if which is not None:
            if which > len(found):
                raise samples.SampleError(f"{file}: --which {which}, but it has {len(found)} program{'s' if len(found) > 1 else ''}")
            found = [found[which - 1]]
        else:
            found = _for_chip(file, found, chip or os.environ.get("ACL_EMU_SOC") or next(iter(soc.PROFILES)))
        chosen = {
            "ACL_EMU_SOC": chip,
            "ACL_EMU_SCHEDULE": schedule,
            "ACL_EMU_DEVICES": str(devices) if devices else None,
            "ACL_EMU_CHECK": check,
            "ACL_EMU_FAULT": ";".join(faults) or None,
        }
        environment = {name: value for name, value in chosen.items() if value is not None}
        code = 0
        for number, program in enumerate(found, 1):
            executable = samples.build(program, samples.Build(cxx, std, keep, lines=bool(check or trace or report)))
            pictures = _Pictures(trace, report, number if len(found) > 1 else 0)
            code = samples.run(executable, arguments, {**environment, **pictures.environment}) or code
            pictures.finish()
    except (samples.SampleError, toolkit.ToolkitError) as error:
        raise _Failure(str(error)) from None
    sys.exit(code)


def _for_chip(file: Path, programs: list[samples.Program], chip: str) -> list[samples.Program]:
    """The programs that a page gives for the chip; what is left out is said."""
    if chip not in soc.PROFILES:
        return programs  # the program itself refuses it
    product = soc.PROFILES[chip].product
    for number, program in enumerate(programs, 1):
        if product not in program.products:
            others = ", ".join(other.short for other in soc.Product if other in program.products)
            click.echo(f"acl-emu: program {number} is for {others}, not for {chip}; --which {number} runs it all the same", err=True)
    kept = [program for program in programs if product in program.products]
    if not kept:
        raise samples.SampleError(f"{file}: none of its {len(programs)} programs is for {chip}; choose another chip with --soc")
    return kept


class _Pictures:
    """The files of ``--trace`` and ``--report``; each of several programs gets its own."""

    def __init__(self, trace: Path | None, report: Path | None, number: int) -> None:
        self._trace, self._report = (self._fresh(option, file, number) for option, file in (("--trace", trace), ("--report", report)))
        chosen = {"ACL_EMU_TRACE": self._trace, "ACL_EMU_REPORT": self._report}
        self.environment = {name: str(file) for name, file in chosen.items() if file is not None}

    @staticmethod
    def _fresh(option: str, file: Path | None, number: int) -> Path | None:
        if file is None:
            return None
        file = (file.with_name(f"{file.stem}-{number}{file.suffix}") if number else file).absolute()
        try:
            file.unlink(missing_ok=True)
            file.touch()
            file.unlink()
        except OSError as error:
            raise _Failure(f"{option} {file}: {error.strerror}") from None
        return file

    def finish(self) -> None:
        """A program that died may have left something to do."""
        if self._report is not None:
            from acl_emu.tools import report

            report.finish(self._report)
        if self._trace is not None and self._trace.exists():
            from acl_emu.tools import trace

            trace.repair(self._trace)
        for file in (self._trace, self._report):
            if file is not None and not file.exists():
                click.echo(f"acl-emu: {file} was not written: the program made no call", err=True)


def _check_faults(rules: tuple[str, ...]) -> None:
    if not rules:
        return
    from acl_emu.tools.faults import parse

    try:
        for rule in rules:
            parse(rule)
    except ValueError as error:
        raise _Failure(f"--fault {error}") from None


@main.command("toolkit")
@click.argument("folder", type=click.Path(path_type=Path))
def lay_out_toolkit(folder: Path) -> None:
    """Lay out a CANN-shaped install tree in FOLDER: include/, lib64/, set_env.sh."""
    try:
        toolkit.lay_out(folder.absolute())
    except (toolkit.ToolkitError, OSError) as error:
        raise _Failure(str(error)) from None
    click.echo(f"{folder}: source {folder}/set_env.sh, or set ASCEND_CUSTOM_PATH={folder.absolute()}")


@main.command()
def env() -> None:
    """Print exports for a shell: eval "$(acl-emu env)"."""
    try:
        click.echo(toolkit.shell_exports(toolkit.cached()), nl=False)
    except toolkit.ToolkitError as error:
        raise _Failure(str(error)) from None


@main.command()
@click.argument("name", required=False)
def ops(name: str | None) -> None:
    """List the emulated operators, or show one: signature, dtypes, products."""
    from acl_emu.tools import describe

    try:
        click.echo(describe.one(name) if name else describe.all_of_them(), nl=False)
    except LookupError as error:
        raise _Failure(str(error)) from None


@main.command()
@click.argument("operator")
@click.argument("arguments", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--soc", "chip", help="Chip to emulate, such as Ascend910B1 (default) or Ascend310P3.")
@click.option("--json", "for_tools", is_flag=True, help="For tools.")
def explain(operator: str, arguments: tuple[str, ...], chip: str | None, for_tools: bool) -> None:
    """Show what phase one of OPERATOR does with arguments such as self=4x8:FLOAT: checks, plan, workspace. Exit code 1 if it would fail."""
    from acl_emu.tools import explain as explaining

    if chip is not None:
        if chip not in soc.PROFILES:
            raise _Failure(f"--soc {chip} is unknown; known are {', '.join(soc.PROFILES)}")
        os.environ["ACL_EMU_SOC"] = chip
    width = min(shutil.get_terminal_size((120, 24)).columns, 140)
    try:
        if not arguments:
            found = explaining.find(operator)
            click.echo(explaining.declaration_as_json(found) if for_tools else explaining.declaration_as_text(found, width), nl=False)
            return
        with explaining.explained(operator, arguments) as explanation:
            text = explaining.as_json(explanation) if for_tools else explaining.as_text(explanation, width, _painter())
    except (explaining.Mistake, soc.ConfigurationError) as error:
        raise _Failure(str(error)) from None
    click.echo(text, nl=False)
    sys.exit(0 if explanation.outcome.error is None else 1)


def _painter() -> Callable[[str, str], str]:
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return lambda text, _colour: text
    return lambda text, colour: click.style(text, bold=True) if colour == "bold" else click.style(text, fg=colour)


@main.command()
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
        ("cache folder", str(toolkit.cache_folder()), ""),
    ]


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


if __name__ == "__main__":
    main()
