"""The CANN-shaped install tree that C programs are built against."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from acl_emu.cface import headers
from acl_emu.cface.build import ALIAS, ALIAS_NAME, LIBRARY
from acl_emu.core import cache, documented, soc

PACKAGE = Path(__file__).resolve().parents[1]
OTHER_NAMES = (
    "libacl_op_compiler.so",
    "libacl_rt.so",
    "libacl_tdt_channel.so",
    "libge_runner.so",
    "libgraph.so",
    "libhccl.so",
    "libruntime.so",
    "libnnopbase.so",
    "libopapi.so",
    "libopapi_math.so",
    "libopapi_nn.so",
    "libopapi_cv.so",
    "libopapi_transformer.so",
)


PRELOAD = "preload"
"""Where the same libraries are once more, each with its own name inside: see acl_emu/torch.py."""
FOLDERS = ("opp", "runtime", "compiler")
"""What clients look for before they load a library."""
VERSIONED = ("version.info", "runtime/version.info", "compiler/version.info", "opp/version.info")


class ToolkitError(Exception):
    """The tree cannot be laid out."""


def include_folder() -> Path:
    """Where the headers are: in the package when installed, beside it in a checkout."""
    for folder in (PACKAGE / "include", PACKAGE.parent / "include"):
        if (folder / "acl" / "acl.h").exists():
            return folder
    raise ToolkitError("the headers are missing; install the package again")


def library_file() -> Path:
    """The compiled library."""
    path = PACKAGE / "lib64" / LIBRARY
    if not path.exists():
        raise ToolkitError(f"{path} is missing; install the package again with a C compiler at hand (pip install .)")
    return path


def lay_out(target: Path) -> None:
    """Write include/, lib64/ and set_env.sh below ``target``."""
    if target.exists() and any(target.iterdir()) and not (target / "set_env.sh").exists():
        raise ToolkitError(f"{target} is not empty and not a toolkit; name a new folder")
    library, include = library_file(), include_folder()
    shutil.copytree(include, target / "include", dirs_exist_ok=True, ignore=shutil.ignore_patterns("aclnnop"))
    for folder in ("aclnn", "aclnnop/level2"):
        (target / "include" / folder).mkdir(parents=True, exist_ok=True)
    for name, text in (headers.of_operators() | headers.forwarding()).items():
        (target / "include" / name).write_text(text, encoding="utf-8")
    for link, origin in (("op_api", "aclnnop"), ("op_host/op_api", "../aclnnop")):  # pages include ../op_api/aclnn_foo.h
        path = target / "include" / link
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace_link(path, origin)
    lib64 = target / "lib64"
    lib64.mkdir(parents=True, exist_ok=True)
    fresh = lib64 / f"{LIBRARY}.{os.getpid()}"
    shutil.copy2(library, fresh)
    fresh.replace(lib64 / LIBRARY)  # a program that runs keeps the file it has loaded
    (lib64 / "python.txt").write_text(sys.executable + "\n", encoding="utf-8")
    for name in OTHER_NAMES:
        _replace_link(lib64 / name, LIBRARY)
    _write_aliases(target / PRELOAD)
    for folder in FOLDERS:
        (target / folder).mkdir(exist_ok=True)
    for name in VERSIONED:
        (target / name).write_text(f"Version={soc.cann_version()}\nversion_dir=acl-emu\n", encoding="utf-8")
    (target / "set_env.sh").write_text(_SET_ENV, encoding="utf-8")


def _write_aliases(folder: Path) -> None:
    """A process that runs finds a library by the name inside, where it has been loaded before, and not by that of a link."""
    folder.mkdir(exist_ok=True)
    alias = (PACKAGE / "lib64" / ALIAS).read_bytes()
    for name in OTHER_NAMES:
        renamed = alias.replace(ALIAS_NAME.encode(), name.encode().ljust(len(ALIAS_NAME), b"\0"))
        (folder / name).write_bytes(renamed)


_SET_ENV = """# Source this file: it says where this toolkit is.
acl_emu_here="${BASH_SOURCE:-}"
if [ -z "$acl_emu_here" ] && [ -n "${ZSH_VERSION:-}" ]; then acl_emu_here="$0"; fi
if [ -z "$acl_emu_here" ]; then # a plain sh does not say what it reads: look at its open files
    for acl_emu_file in /proc/"$(exec sh -c 'echo "$PPID"')"/fd/*; do
        case "$(readlink "$acl_emu_file")" in */set_env.sh) acl_emu_here="$(readlink "$acl_emu_file")" ;; esac
    done
fi
ASCEND_HOME_PATH="$(cd "$(dirname "$acl_emu_here")" && pwd)"
unset acl_emu_here acl_emu_file
export ASCEND_HOME_PATH
export ASCEND_TOOLKIT_HOME="$ASCEND_HOME_PATH"
export ASCEND_OPP_PATH="$ASCEND_HOME_PATH/opp"
export LD_LIBRARY_PATH="$ASCEND_HOME_PATH/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export TASK_QUEUE_ENABLE="${TASK_QUEUE_ENABLE:-0}"
"""


def _replace_link(path: Path, origin: str) -> None:
    if path.is_symlink() or path.exists():
        path.unlink()
    path.symlink_to(origin)


def environment(toolkit: Path) -> dict[str, str]:
    """What a shell needs to build and run against a toolkit."""
    libraries = str(toolkit / "lib64")
    before = os.environ.get("LD_LIBRARY_PATH")
    return {
        "ASCEND_HOME_PATH": str(toolkit),
        "ASCEND_TOOLKIT_HOME": str(toolkit),
        "ASCEND_OPP_PATH": str(toolkit / "opp"),
        "ASCEND_CUSTOM_PATH": str(toolkit),
        "LD_LIBRARY_PATH": f"{libraries}:{before}" if before else libraries,
        # torch_npu has a thread that makes its calls, and may wait for it while it keeps Python from running, which calls need here.
        "TASK_QUEUE_ENABLE": os.environ.get("TASK_QUEUE_ENABLE", "0"),
    }


def shell_exports(toolkit: Path) -> str:
    """The same as lines for a shell."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in environment(toolkit).items())


def cached(folder: Path | None = None) -> Path:
    """A toolkit of exactly this version in the cache, or in another folder of that kind."""
    digest = hashlib.sha256(f"{sys.executable} {soc.cann_version()}".encode())
    digest.update(library_file().read_bytes())
    for source in (documented.TABLE, Path(headers.__file__), Path(__file__)):  # the rest of the tree is made of these
        digest.update(source.read_bytes())
    include = include_folder()
    for header in sorted(path for path in include.rglob("*.h") if path.parent.name != "aclnnop"):
        digest.update(str(header.relative_to(include)).encode() + header.read_bytes())
    target = (folder or cache.folder()) / "toolkits" / digest.hexdigest()[:20]
    if not target.exists():
        with new_entry(target.parent) as fresh:
            lay_out(fresh)
            publish(fresh, target)
    return target


@contextmanager
def new_entry(folder: Path) -> Iterator[Path]:
    """A folder to fill and to publish; where something goes wrong, or another process is faster, it is removed."""
    fresh = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=folder))
        fresh.chmod(0o755)
        yield fresh
    except shutil.Error as error:  # several files, each with its reason
        raise ToolkitError(f"{folder}: {error.args[0][0][-1]}") from None
    except OSError as error:
        raise ToolkitError(f"{folder}: {error.strerror or error}") from None
    finally:
        if fresh is not None:
            shutil.rmtree(fresh, ignore_errors=True)


def publish(fresh: Path, target: Path) -> None:
    """Give a finished folder its final name; another process may have been faster."""
    try:
        fresh.rename(target)
    except OSError:
        if not target.exists():
            raise
