"""Operators that are documented but not emulated: declared, exported, refused with a text; but for those that clients look up."""

from __future__ import annotations

from pathlib import Path

import pytest

import aclnnop
from acl_emu.core import documented
from aclnnop.registry import EMULATED, MODULES
from tests.cface.programs import clean_environment, compile_program, run

MISSING = {name: entry for name, entry in documented.table().items() if name not in EMULATED}
PLAIN = next(name for name, entry in MISSING.items() if not entry.probed and not entry.single_phase)
SINGLE = next((name for name, entry in MISSING.items() if not entry.probed and entry.single_phase), None)
PROBED = next((name for name, entry in MISSING.items() if entry.probed), None)


def call(name: str, parameters: documented.Parameters) -> str:
    """A call with nothing in its arguments."""
    return f"{name}({', '.join(f'({c_type})0' for c_type, _ in parameters)})"


PROGRAM = """
#include <stdio.h>
#include "acl/acl.h"
#include "{header}"
int main(void)
{{
    int status = {call};
    printf("%d %s\\n", status, aclGetRecentErrMsg());
    return 0;
}}
"""


def program(tmp_path: Path, function: str) -> Path:
    entry = MISSING[function.removesuffix(documented.PHASE_ONE)]
    text = PROGRAM.format(header=entry.header, call=call(function, entry.functions[function]))
    return compile_program(tmp_path, text, name=function)


@pytest.mark.parametrize("function", [PLAIN + documented.PHASE_ONE, PLAIN, SINGLE])
def test_a_call_is_refused_by_name(function: str | None, tmp_path: Path) -> None:
    if function is None:
        pytest.skip("all of them are emulated")
    done = run(program(tmp_path, function), env=clean_environment())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("561103 ")
    assert f"{function.removesuffix(documented.PHASE_ONE)} is documented but not emulated" in done.stdout


def test_whoever_watches_learns_of_it(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    done = run(program(tmp_path, PLAIN + documented.PHASE_ONE), env=clean_environment(ACL_EMU_TRACE=str(trace)))
    assert done.returncode == 0, done.stderr
    assert PLAIN + documented.PHASE_ONE in trace.read_text(encoding="utf-8")


def test_python_is_told_as_well() -> None:
    with pytest.raises(AttributeError, match=f"{PLAIN} is documented but not emulated"):
        getattr(aclnnop, PLAIN)
    with pytest.raises(AttributeError, match="aclnnNeverHeardOf is not emulated"):
        aclnnop.aclnnNeverHeardOfGetWorkspaceSize  # noqa: B018


LOOK_UP = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include "acl/acl.h"
int main(void)
{{
    aclInit(NULL);
    printf("%d %d\\n", dlsym(RTLD_DEFAULT, "{probed}") != NULL, dlsym(RTLD_DEFAULT, "{emulated}") != NULL);
    return 0;
}}
"""


def test_a_name_that_clients_look_up_is_not_there_before_it_is_emulated(tmp_path: Path) -> None:
    emulated = next(name for name in MODULES if documented.table()[name].probed)
    if PROBED is None:
        pytest.skip("all of them are emulated")
    done = run(compile_program(tmp_path, LOOK_UP.format(probed=PROBED, emulated=emulated)), env=clean_environment())
    assert (done.returncode, done.stdout) == (0, "0 1\n")


def test_an_operator_page_is_refused_before_it_is_compiled(tmp_path: Path) -> None:
    from acl_emu.tools import builds, pages

    source = tmp_path / "page.cpp"
    source.write_text(PROGRAM.format(header=MISSING[PLAIN].header, call=call(PLAIN + documented.PHASE_ONE, ())))
    (found,) = pages.programs_in(source)
    assert builds.not_emulated(found, builds.Build()) == [PLAIN]
