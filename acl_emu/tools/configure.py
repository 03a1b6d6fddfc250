"""``acl_emu.configure`` and ``acl_emu.reset``: another chip, schedule or number of devices for a part of a Python program."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Literal

from acl_emu.api.acl_rt import lifecycle
from acl_emu.core import errors, handles
from acl_emu.core import soc as settings
from acl_emu.runtime import context, objects, plans
from acl_emu.tools.checker import Findings
from acl_emu.tools.checker import check as checked


class CheckError(AssertionError):
    """The checker has found something; ``findings`` has it all."""

    def __init__(self, findings: Findings) -> None:
        super().__init__(str(findings))
        self.findings = findings


@contextmanager
def configure(
    *,
    soc: str | None = None,
    schedule: str | None = None,
    devices: int | None = None,
    check: bool | Literal["warn"] = False,
) -> Iterator[Findings | None]:
    """Emulate other devices inside a ``with`` block, as if the program had started there.

    ``soc``, ``schedule`` and ``devices`` are what ``ACL_EMU_SOC``, ``ACL_EMU_SCHEDULE`` and ``ACL_EMU_DEVICES`` choose; what is left out
    stays as it is. ``check=True`` runs the checker on the block, which then ends with a ``CheckError`` where something was found;
    ``check="warn"`` makes that a warning. The block gets its findings: ``with acl_emu.configure(check="warn") as findings``.

    The devices of the block are its own. Contexts, streams and device memory of the outside are untouched, and there again afterwards;
    those of the block end with it. Other threads have to set a device inside to use them.

    >>> with configure(soc="Ascend310P3", schedule="lazy"):  # doctest: +SKIP
    ...     test_the_program()
    """
    if check not in (True, False, "warn"):
        raise ValueError(f"check is {check!r}, expected True, False or 'warn'")
    given = {"ACL_EMU_SOC": soc, "ACL_EMU_SCHEDULE": schedule, "ACL_EMU_DEVICES": devices}
    with settings.choose({name: str(value) for name, value in given.items() if value is not None}):
        settings.check_environment()
        with context.other_devices(), lifecycle.other_process(), _forgetting_plans():
            with checked() if check else nullcontext() as findings:
                yield findings
            if findings:
                _tell(findings, check)


def _tell(findings: Findings, check: bool | str) -> None:
    if check == "warn":
        warnings.warn(str(findings), RuntimeWarning, stacklevel=4)
    else:
        raise CheckError(findings)


@contextmanager
def _forgetting_plans() -> Iterator[None]:
    """Calls that were known before are planned anew inside, and again behind it: the chip may be another."""
    plans.forget()
    try:
        yield
    finally:
        plans.forget()


def reset() -> None:
    """Back to the start of the process: no device set, no object, stream or device memory left, environment variables read anew.

    Page-locked host memory stays, since a program may look at it; so do tools that are running.
    """
    context.end_devices()
    for handle in list(handles.alive):
        handles.retire(handle)
    objects.destroy_all()
    plans.forget()
    lifecycle.forget_process()
    errors.forget()
    settings.read_again()
