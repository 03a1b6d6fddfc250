"""``python -m acl_emu.cli``."""

from acl_emu.cli import main

main(prog_name="acl-emu")
