"""SoC profiles: what ACL_EMU_SOC chooses between."""

from __future__ import annotations

import enum
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from acl_emu.core.errors import AclError


class Product(enum.Enum):
    """A column of the operators' product tables."""

    A950 = "Ascend 950PR/950DT"
    A3 = "Atlas A3 (Ascend910_93)"
    A2 = "Atlas A2 (Ascend910B)"
    A310B = "Atlas 200I/500 A2 (Ascend310B)"
    A310P = "Atlas inference (Ascend310P)"
    A910 = "Atlas training (Ascend910A)"

    @property
    def short(self) -> str:
        """Its name in tables: 950, A3, A2, 310B, 310P, 910."""
        return self.name if self.name in ("A2", "A3") else self.name.removeprefix("A")


ALL = frozenset(Product)

GiB = 1 << 30
MiB = 1 << 20


@dataclass(frozen=True)
class Soc:
    """One chip, as far as a program can tell."""

    name: str
    product: Product
    memory: int
    """Bytes of device memory."""
    cube_cores: int
    vector_cores: int
    l2: int
    padding: int = 32
    """Bytes that aclrtMalloc adds behind the rounded size."""
    bf16: bool = True
    hbm: bool = True
    saturates: bool = False
    """Whether overflow saturates by default instead of giving infinities."""


_PROFILES = (
    Soc("Ascend910B1", Product.A2, 64 * GiB, 24, 48, 192 * MiB),
    Soc("Ascend910B2", Product.A2, 64 * GiB, 24, 48, 192 * MiB),
    Soc("Ascend910B3", Product.A2, 64 * GiB, 20, 40, 192 * MiB),
    Soc("Ascend910B4", Product.A2, 32 * GiB, 20, 40, 96 * MiB),
    Soc("Ascend910_9391", Product.A3, 64 * GiB, 24, 48, 192 * MiB),
    Soc("Ascend910_9392", Product.A3, 64 * GiB, 24, 48, 192 * MiB),
    Soc("Ascend950PR_9589", Product.A950, 96 * GiB, 32, 64, 128 * MiB, padding=0),
    Soc("Ascend950DT_95A2", Product.A950, 96 * GiB, 36, 72, 128 * MiB, padding=0),
    Soc("Ascend310P3", Product.A310P, 24 * GiB, 8, 7, 16 * MiB, bf16=False, hbm=False, saturates=True),
    Soc("Ascend310P1", Product.A310P, 24 * GiB, 10, 8, 16 * MiB, bf16=False, hbm=False, saturates=True),
    Soc("Ascend910A", Product.A910, 32 * GiB, 32, 32, 32 * MiB, bf16=False, saturates=True),
    Soc("Ascend310B1", Product.A310B, 8 * GiB, 1, 1, 8 * MiB, hbm=False),
    Soc("Ascend310B4", Product.A310B, 8 * GiB, 1, 1, 8 * MiB, hbm=False),
)

PROFILES = {soc.name: soc for soc in _PROFILES}

_SHORT = {
    **{soc.name.removeprefix("Ascend").lower(): soc for soc in _PROFILES},
    **{soc.product.short.lower(): soc for soc in reversed(_PROFILES)},
    "910b": PROFILES["Ascend910B1"],
    **dict.fromkeys(("910_93", "910c", "9391"), PROFILES["Ascend910_9391"]),
    "9392": PROFILES["Ascend910_9392"],
    "950pr": PROFILES["Ascend950PR_9589"],
    "950dt": PROFILES["Ascend950DT_95A2"],
}
"""Short names, without Ascend and in lower case: those of chips, of products (their first chip), and others in use."""


def find(name: str) -> Soc | None:
    """The chip with a name: Ascend910B1, 910B1, ascend910b, 310P, A2, ...; None where there is none."""
    return PROFILES.get(name) or _SHORT.get(name.strip().lower().removeprefix("ascend").removeprefix("atlas").strip("-_ "))


class ConfigurationError(AclError, ValueError):
    """An environment variable has a value that means nothing."""

    tag, title = "EH0009", "Invalid_Configuration"


_AT_IMPORT = {name: text for name, text in os.environ.items() if name.startswith("ACL_EMU_")}
_used: dict[str, str] = {}
"""Variables that have been read, and what they were."""
_chosen: dict[str, str] = {}
"""What stands for variables inside ``acl_emu.configure``."""
_warned: set[str] = set()


def read(variable: str) -> str:
    """An environment variable, or what was chosen in its place; empty where there is none."""
    text = _used[variable] = os.environ.get(variable, "")
    return _chosen.get(variable, text)


def warn_of_late_variables() -> None:
    """A variable that was set after it was read has no effect: say so, once."""
    check_environment()
    for variable, text in _used.items():
        _warn_if_late(variable, text)


def warn_of_late_tools() -> None:
    """The same for the variables of tools, which are read when the package is imported."""
    for variable in [name for name in os.environ if name.startswith("ACL_EMU_") and name not in _used]:
        _warn_if_late(variable, _AT_IMPORT.get(variable, ""))


def _warn_if_late(variable: str, text: str) -> None:
    now = os.environ.get(variable, "")
    if now != text and variable not in _warned:
        _warned.add(variable)
        import warnings  # most programs never need it

        warnings.warn(
            f"{variable} is {now or None!r} now and has no effect: it was {text or None!r} when it was read; set it before "
            "acl_emu is imported, or use acl_emu.configure",
            RuntimeWarning,
            stacklevel=2,
        )


@contextmanager
def choose(variables: dict[str, str]) -> Iterator[None]:
    """Let these stand for environment variables for a while."""
    before = dict(_chosen)
    _chosen.update(variables)
    read_again()
    try:
        yield
    finally:
        _chosen.clear()
        _chosen.update(before)
        read_again()


def read_again() -> None:
    """Forget what the variables were."""
    for cached in (current, visible_devices, threads, native, compiling, schedule, cann_version):
        cached.cache_clear()


def _integer(variable: str, default: int, most: int) -> int:
    text = read(variable)
    if not text:
        return default
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise ConfigurationError(f"{variable}={text!r} must be an integer from 1 to {most}")
    return int(text)


@lru_cache(maxsize=None)
def current() -> Soc:
    """The profile that ACL_EMU_SOC names; it is fixed at first use."""
    name = read("ACL_EMU_SOC") or _PROFILES[0].name
    found = find(name)
    if found is None:
        raise ConfigurationError(f"ACL_EMU_SOC={name!r} is unknown; known are {', '.join(PROFILES)}")
    return found


@lru_cache(maxsize=None)
def visible_devices() -> tuple[int, ...]:
    """Physical numbers of the devices that the program sees, in order.

    ACL_EMU_DEVICES says how many there are; ASCEND_RT_VISIBLE_DEVICES chooses among them: reading stops at the first item that is
    not a number, not a device, or not larger than the one before.
    """
    count = _integer("ACL_EMU_DEVICES", 8, 64)
    chosen = None if "ACL_EMU_DEVICES" in _chosen else os.environ.get("ASCEND_RT_VISIBLE_DEVICES")
    if chosen is None:
        return tuple(range(count))
    devices: list[int] = []
    for item in chosen.split(","):
        text = item.strip()
        if not text.isdecimal() or int(text) >= count or (devices and int(text) <= devices[-1]):
            break
        devices.append(int(text))
    return tuple(devices)


@lru_cache(maxsize=None)
def threads() -> int:
    """ACL_EMU_THREADS: how many threads a kernel may use, by default as many as the process has processors. No result depends on it."""
    return _integer("ACL_EMU_THREADS", len(os.sched_getaffinity(0)), 1024)


@lru_cache(maxsize=None)
def native() -> bool:
    """ACL_EMU_NATIVE: whether the engine runs kernels, where it can; 0 leaves all of them to numpy."""
    text = read("ACL_EMU_NATIVE") or "1"
    if text not in ("0", "1"):
        raise ConfigurationError(f"ACL_EMU_NATIVE={text!r} is unknown; known are 0, 1")
    return text == "1"


COMPILING = ("background", "wait", "off")


@lru_cache(maxsize=None)
def compiling() -> str:
    """ACL_EMU_COMPILE: when fused steps are compiled that the package was built without."""
    name = read("ACL_EMU_COMPILE") or COMPILING[0]
    if name not in COMPILING:
        raise ConfigurationError(f"ACL_EMU_COMPILE={name!r} is unknown; known are {', '.join(COMPILING)}")
    return name


CANN_VERSIONS = ("8.3.RC1", "8.5.0", "9.0.0")


@lru_cache(maxsize=None)
def cann_version() -> str:
    """ACL_EMU_CANN: the version of CANN that programs see, by which some choose what to call."""
    name = read("ACL_EMU_CANN") or CANN_VERSIONS[-1]
    if name not in CANN_VERSIONS:
        raise ConfigurationError(f"ACL_EMU_CANN={name!r} is unknown; known are {', '.join(CANN_VERSIONS)}")
    return name


SCHEDULES = ("async", "lazy", "eager")


@lru_cache(maxsize=None)
def schedule() -> str:
    """ACL_EMU_SCHEDULE: when queued tasks run."""
    name = read("ACL_EMU_SCHEDULE") or SCHEDULES[0]
    if name not in SCHEDULES:
        raise ConfigurationError(f"ACL_EMU_SCHEDULE={name!r} is unknown; known are {', '.join(SCHEDULES)}")
    return name


_shown: set[str] = set()


def check_values() -> None:
    """Raise a ConfigurationError for any variable whose value means nothing."""
    for value in (current, visible_devices, schedule, threads, native, compiling, cann_version):
        value()


def check_environment() -> None:
    """The same, and show it once: most programs print only the code."""
    try:
        check_values()
    except ConfigurationError as error:
        if str(error) not in _shown:
            _shown.add(str(error))
            print(f"acl-emu: {error}", file=sys.stderr, flush=True)
        raise
