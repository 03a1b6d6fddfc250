"""How the command fails: one clear message, and exit codes that tell failures apart."""

from __future__ import annotations

import click

from acl_emu.core import soc

REFUSED = 2
"""The command cannot do what it was asked for."""
NOT_EMULATED = 84
"""The program needs something that is not emulated."""
DOES_NOT_COMPILE = 85
"""The compiler refuses the program."""


class Failure(click.ClickException):
    """One clear message."""

    exit_code = REFUSED

    def show(self, file: object = None) -> None:
        """Print it."""
        tell(self.message)


def tell(text: str) -> None:
    """Say something that is not the program's."""
    click.echo(f"acl-emu: {text}", err=True)


def chip_named(name: str) -> soc.Soc:
    """The chip that an option names."""
    chip = soc.find(name)
    if chip is None:
        raise Failure(f"--soc {name} is unknown; known are {', '.join(soc.PROFILES)}")
    return chip
