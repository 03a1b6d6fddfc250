"""aclnnSleep: a stream that does nothing for a while."""

import time
from collections.abc import Iterator

from acl_emu.core.errors import DeviceFault
from acl_emu.spec import Example, IntArrayIn, Plan, Product, direct, operator, require
from acl_emu.spec.tiling import in_tiling

CLOCK = 1.65e9
"""Cycles in a second."""
LONGEST = 1080
"""Seconds after which a device stops a kernel."""


@operator(products=frozenset({Product.A950}))
def aclnnSleep(cycles: IntArrayIn) -> Plan:
    """Let the stream wait for so many cycles of the device's clock."""
    with in_tiling():
        require(len(cycles.values) > 0, "cycles has 0 members, expected 1")
        require(cycles.values[0] > 0, f"cycles is {cycles}, expected a value above 0")
    return direct(wait, reads=(), writes=(), scratch={}, cycles=cycles.values[0])


def wait(*, cycles: int) -> None:
    """A device would end it after a while with the same fault."""
    if cycles / CLOCK > LONGEST:
        raise DeviceFault(f"cycles is {cycles}: a kernel that runs for more than {LONGEST} seconds is stopped")
    time.sleep(cycles / CLOCK)


@aclnnSleep.example
def examples() -> Iterator[Example]:
    """Less than a millisecond."""
    yield {"cycles": [1000]}
