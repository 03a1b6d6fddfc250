"""``acl-emu run``: find the programs of a file, build them, run them, and say what a program itself does not."""

from __future__ import annotations

import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import click

from acl_emu.cface import toolkit
from acl_emu.cli import options, process
from acl_emu.cli.afterwards import Afterwards
from acl_emu.cli.failure import DOES_NOT_COMPILE, NOT_EMULATED, Failure, tell
from acl_emu.core import soc
from acl_emu.tools import builds, pages


class _Run(click.Command):
    """``--check`` alone means ``--check=1``; what follows it is not its value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, ["--check=1" if i < end and arg == "--check" else arg for i, arg in enumerate(args)])


@click.command(cls=_Run, context_settings={"ignore_unknown_options": False})
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@options.emulation
@click.option("--keep", type=click.Path(path_type=Path), help="Also put source and executable into this folder.")
@click.option("--cxx", default="", help='Compiler, with flags if need be: "g++ -O2".')
@click.option("--std", default="", help="Language level, such as c++17.")
@click.option("--which", type=click.IntRange(1), help="Which program of a page that has several (default: all, in turn).")
@options.watching
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
    """Compile and run the program in FILE: an operator page (.md), a .cpp, a .c or a .py. Arguments after -- go to the program."""
    product = options.emulate(chip, schedule, devices, faults)
    how = builds.Build(cxx, std, keep, lines=bool(check or trace or report))
    try:
        with _ending_in_order():
            found = pages.programs_in(file)
            if which is not None:
                if which > len(found):
                    raise pages.SampleError(f"{file}: --which {which}, but it has {len(found)} program{'s' if len(found) > 1 else ''}")
                found = [found[which - 1]]
            else:
                found = _for_chip(file, found, product)
            code = _run_all(found, arguments, how, Afterwards(check, trace, report, several=len(found) > 1))
    except (pages.SampleError, toolkit.ToolkitError) as error:
        raise Failure(str(error)) from None
    except OSError as error:
        raise Failure(f"{error.filename or file}: {error.strerror or error}") from None
    sys.exit(code)


def _run_all(programs: list[pages.Program], arguments: tuple[str, ...], how: builds.Build, afterwards: Afterwards) -> int:
    """Run programs in turn; the last exit code that is not 0."""
    code = 0
    missing = {program: builds.not_emulated(program, how) for program in programs if program.suffix != pages.PYTHON}
    for program, names in missing.items():
        if names:
            tell(f"{program.name}: {', '.join(names)} {'is' if len(names) == 1 else 'are'} not emulated yet; `acl-emu ops` lists what is")
            code = NOT_EMULATED
    for number, program in enumerate(programs, 1):
        if missing.get(program):
            continue
        try:
            command = _command_of(program, how)
        except builds.DoesNotCompile as error:
            tell(str(error))
            code = DOES_NOT_COMPILE
            continue
        with tempfile.TemporaryDirectory(prefix="acl-emu-") as notes:
            environment = afterwards.environment(number, Path(notes))
            end = process.run([*command, *arguments], environment)
            code = afterwards.finish(end, Path(notes)) or code
        if end.told_to:
            break
    return code


def _command_of(program: pages.Program, how: builds.Build) -> list[str]:
    """How a program is started: as it is, or built before."""
    if program.suffix != pages.PYTHON:
        return [str(builds.build(program, how))]
    given = [name for name, value in (("--cxx", how.cxx), ("--std", how.std), ("--keep", how.keep)) if value]
    if given:
        raise pages.SampleError(f"{program.file}: {', '.join(given)} is for programs that are compiled")
    name = str(program.file)
    return [sys.executable, f"./{name}" if name.startswith("-") else name]


def _for_chip(file: Path, programs: list[pages.Program], chip: soc.Soc) -> list[pages.Program]:
    """The programs that a page gives for the chip; what is left out is said."""
    for number, program in enumerate(programs, 1):
        if chip.product not in program.products:
            others = ", ".join(other.short for other in soc.Product if other in program.products)
            tell(f"program {number} is for {others}, not for {chip.name}; --which {number} runs it all the same")
    kept = [program for program in programs if chip.product in program.products]
    if not kept:
        raise pages.SampleError(f"{file}: none of its {len(programs)} programs is for {chip.name}; choose another chip with --soc")
    return kept


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """A signal that ends this process while no program runs lets it clean up what it has begun."""

    def leave(number: int, _frame: object) -> NoReturn:
        sys.exit(128 + number)

    before = {
        number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
