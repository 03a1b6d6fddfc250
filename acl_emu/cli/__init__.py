"""The ``acl-emu`` command."""

from __future__ import annotations

import os

import click

from acl_emu.cli import commands
from acl_emu.cli.execute import execute
from acl_emu.cli.run import run
from acl_emu.version import __version__

_SET_ASIDE = "_ACL_EMU_KEPT_"
"""How the launcher names the variables of Python that are not meant for this command, but for the program that it runs."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="acl-emu")
def main() -> None:
    """Run and build programs for Huawei Ascend's ACL without an NPU."""
    for name in [name for name in os.environ if name.startswith(_SET_ASIDE)]:
        os.environ[name.removeprefix(_SET_ASIDE)] = os.environ.pop(name)


for command in (run, execute, commands.lay_out_toolkit, commands.env, commands.ops, commands.explain, commands.doctor):
    main.add_command(command)
