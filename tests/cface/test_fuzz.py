"""The C interface under random calls: see fuzz.c."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from acl_emu.api.border import FUNCTIONS
from acl_emu.api.prototypes import phases
from acl_emu.codegen.python_faces import operators
from tests.cface.programs import clean_environment, compile_program, once, run

SOURCE = Path(__file__).with_name("fuzz.c")
SEEDS = 8
CALLS = 25_000
SCHEDULES = ("async", "lazy", "eager")

_OBJECTS = {
    "aclScalar*": "SCALAR",
    "aclIntArray*": "INTS",
    "aclFloatArray*": "FLOATS",
    "aclBoolArray*": "BOOLS",
    "aclTensorList*": "TENSORS",
    "aclScalarList*": "SCALARS",
}


def _argument(c_type: str, operator: str, tensor: int) -> tuple[str, str]:
    """The C type of a variable and the expression that fills it."""
    plain = c_type.replace("const ", "").strip()
    if plain == "aclTensor*":
        return "void*", f'tensor_for("{operator}", {tensor}, &refuse)'
    if plain in _OBJECTS:
        return "void*", f"object_for({_OBJECTS[plain]}, &refuse)"
    if plain == "char*":
        return "char*", "text_for(&refuse)"
    if plain in ("float", "double"):
        return plain, f"({plain})real_number()"
    if plain == "bool":
        return "bool", "chance(50)"
    return plain, f"({plain})integer()"


def _has_recipe(operator: str) -> bool:
    return f'{{"{operator}", ' in SOURCE.read_text(encoding="utf-8").replace(",\n", ", ")


def operator_calls() -> str:
    """Both phases of every declared operator, as the driver includes them."""
    includes, first, second = [], [], []
    for index, operator in enumerate(operators()):
        includes.append(f'#include "{operator.header}"')
        variables, tensors, ignored = [], 0, []
        for name, kind in operator.parameters:
            c_type, value = _argument(kind.c_type, operator.name, tensors)
            tensors += "tensor_for" in value
            unless = getattr(kind, "unless", "")
            if unless:  # not looked at where the other one is given
                ignored.append(f"refuse_{name} && !a_{unless}")
                variables.append(f"        int refuse_{name} = 0;")
                value = value.replace("&refuse)", f"&refuse_{name})")
            variables.append(f"        {c_type} a_{name} = {value};")
            if name == "reduction" and _has_recipe(operator.name):
                variables.append(f"        refuse |= a_{name} < 0 || a_{name} > 2;")
        names = ", ".join(f"a_{name}" for name, _ in operator.parameters)
        first += [
            f"    case {index}: {{",
            *variables,
            *(f"        refuse |= {condition};" for condition in ignored),
            "        uint64_t* where = out(&size, &refuse);",
            f"        if (!STATUS(refuse, {operator.name}GetWorkspaceSize, {names}, where, out(&executor, &refuse)))",
            f"            note_executor({index}, executor);",
            "        break;",
            "    }",
        ]
        second.append(f"    case {index}: STATUS(refuse, {operator.name}, room, size, executor, stream); break;")
    return "\n".join(
        [
            *dict.fromkeys(includes),
            f"#define OPERATORS {len(second)}",
            "static const char *const operator_names[] = {",
            *(f'    "{operator.name}",' for operator in operators()),
            "};",
            "static void phase_one(int which)",
            "{",
            "    int refuse = 0;",
            "    uint64_t size = 0;",
            "    aclOpExecutor* executor = NULL;",
            "    switch (which) {",
            *first,
            "    }",
            "}",
            "static void phase_two(int which, void* executor, int what)",
            "{",
            "    int where, refuse;",
            "    uint64_t size;",
            "    void *room = workspace(&size), *stream = pick(STREAM, &where);",
            "    Thing* thing = find(EXECUTOR, executor);",
            "    refuse = what != VALID || where == BAD || thing->operator_index != which;",
            "    switch (which) {",
            *second,
            "    }",
            "    ran(which, executor);",
            "}",
            "",
        ]
    )


def refused_calls() -> str:
    """What is declared but not emulated: it has to refuse whatever it is given."""
    lines = []
    headers = sorted({function.prototype.header for function in FUNCTIONS.values()})
    for function in FUNCTIONS.values():
        if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in inspect.signature(function.python).parameters.values()):
            arguments = [
                f"({parameter.c_type})(uintptr_t)" + ("foreign()" if parameter.c_type.endswith("*") else "any()")
                for parameter in function.prototype.parameters
            ]
            lines.append(f"    case {len(lines)}: STATUS(1, {', '.join([function.prototype.name, *arguments])}); break;")
    includes = [f'#include "{header}"' for header in headers]
    return "\n".join(
        [*includes, "static void not_emulated(void)", "{", f"    switch (below({max(1, len(lines))})) {{", *lines, "    }", "}", ""]
    )


def _driven() -> set[str]:
    """The acl functions that the driver calls: those that it names, and all that refuse."""
    text = SOURCE.read_text(encoding="utf-8") + refused_calls()
    return {name for name in FUNCTIONS if re.search(rf"\b{name}\b", text)}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with once("fuzz", tmp_path_factory) as folder:
        if not (folder / "fuzz").exists():
            (folder / "declared.inc").write_text(operator_calls() + refused_calls(), encoding="utf-8")
            compile_program(folder, SOURCE.read_text(encoding="utf-8"), "-Wno-unused-function", name="fuzz")
    return folder / "fuzz"


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_calls(seed: int, program: Path) -> None:
    schedule = SCHEDULES[seed % len(SCHEDULES)]
    done = run(program, str(seed), str(CALLS), env=clean_environment(ACL_EMU_DEVICES="2", ACL_EMU_SCHEDULE=schedule))
    assert (done.returncode, done.stderr) == (0, "")
    tallies = {name: (int(calls), int(successes)) for name, calls, successes in map(str.split, done.stdout.splitlines())}
    declared = set(FUNCTIONS) | {phase.name for operator in operators() for phase in phases(operator)}
    assert _driven() <= set(tallies) <= declared
    assert sum(calls for calls, _ in tallies.values()) >= CALLS
    served = [phase.name for operator in operators() if _has_recipe(operator.name) for phase in phases(operator)]
    assert len(served) == 8
    assert all(tallies[name][1] for name in served), "operators whose every call failed were not tried"
