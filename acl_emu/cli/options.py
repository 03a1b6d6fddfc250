"""Options of the commands that run a program: what is emulated, and who watches."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from acl_emu.cli.afterwards import check_option
from acl_emu.cli.failure import Failure, chip_named
from acl_emu.core import soc

F = TypeVar("F", bound=Callable[..., Any])

_EMULATION = (
    click.option("--soc", "chip", help="Chip to emulate, such as Ascend910B1 (default), 910B or 310P3."),
    click.option("--schedule", type=click.Choice(soc.SCHEDULES), help="When queued tasks run."),
    click.option("--devices", type=click.IntRange(1, 64), help="How many devices there are (default 8)."),
)
_WATCHING = (
    click.option(
        "--check",
        callback=check_option,
        metavar="[=warn|=json:FILE]",
        help="Look for mistakes; exit code 86 if any, unless =warn. =json:FILE also writes them to a file, =warn,json:FILE does both.",
    ),
    click.option("--trace", type=click.Path(path_type=Path), help="Write what happens to this file, for ui.perfetto.dev."),
    click.option("--report", type=click.Path(path_type=Path), help="Show what happens on a page: an HTML file that needs no network."),
    click.option(
        "--fault", "faults", multiple=True, metavar="RULE", help="Let something fail, as aclrtMalloc:3=207001 says; may be repeated."
    ),
)


def emulation(function: F) -> F:
    """--soc, --schedule, --devices."""
    return _with(_EMULATION, function)


def watching(function: F) -> F:
    """--check, --trace, --report, --fault."""
    return _with(_WATCHING, function)


def _with(options: tuple[Callable[[F], F], ...], function: F) -> F:
    for option in reversed(options):
        function = option(function)
    return function


def emulate(chip: str | None, schedule: str | None, devices: int | None, faults: tuple[str, ...]) -> soc.Soc:
    """Put what the options say into the environment. What means nothing stops the command, not every call of the program."""
    if faults:
        from acl_emu.tools.faults import parse

        try:
            for rule in faults:
                parse(rule)
        except ValueError as error:
            raise Failure(f"--fault {error}") from None
    chosen = {
        "ACL_EMU_SOC": chip_named(chip).name if chip is not None else None,
        "ACL_EMU_SCHEDULE": schedule,
        "ACL_EMU_DEVICES": str(devices) if devices else None,
        "ACL_EMU_FAULT": ";".join(faults) or None,
    }
    os.environ.update({name: value for name, value in chosen.items() if value is not None})
    try:
        soc.check_values()
    except soc.ConfigurationError as error:
        raise Failure(str(error)) from None
    return soc.current()
