"""``acl-emu exec``: run any command with the emulated toolkit in its environment."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import click

from acl_emu.cface import toolkit
from acl_emu.cli import options, process
from acl_emu.cli.afterwards import Afterwards
from acl_emu.cli.failure import Failure
from acl_emu.core import cache
from acl_emu.tools.pages import SampleError


class _Exec(click.Command):
    """``--check`` alone means ``--check=1``. What stands behind the command is the command's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with_value = {name for option in self.params if isinstance(option, click.Option) for name in option.opts} - {"--check"}
        changed = list(args)
        index = 0
        while index < len(changed) and changed[index].startswith("-") and changed[index] != "--":
            if changed[index] == "--check":
                changed[index] = "--check=1"
            index += 2 if changed[index] in with_value else 1
        return super().parse_args(ctx, changed)


@click.command("exec", cls=_Exec, context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND...")
@options.emulation
@options.watching
def execute(
    command: tuple[str, ...],
    chip: str | None,
    schedule: str | None,
    devices: int | None,
    check: str | None,
    trace: Path | None,
    report: Path | None,
    faults: tuple[str, ...],
) -> None:
    """Run COMMAND, such as python train.py, with the emulated toolkit: the libraries it loads are those of the emulator."""
    options.emulate(chip, schedule, devices, faults)
    program = shutil.which(command[0])
    if program is None:
        raise Failure(f"{command[0]} is no command that can be run")
    afterwards = Afterwards(check, trace, report, several=False)
    try:
        with tempfile.TemporaryDirectory(prefix="acl-emu-") as notes:
            environment = {**toolkit.environment(toolkit.cached(cache.lasting())), **afterwards.environment(1, Path(notes))}
            code = afterwards.finish(process.run([program, *command[1:]], environment), Path(notes))
    except (SampleError, toolkit.ToolkitError, cache.NoCache) as error:
        raise Failure(str(error)) from None
    except OSError as error:
        raise Failure(f"{error.filename or program}: {error.strerror or error}") from None
    sys.exit(code)
