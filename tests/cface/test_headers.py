"""The generated headers: each compiles alone, in C and C++, and says what the official ones say."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from acl_emu.api.border import FUNCTIONS, parse_prototype
from acl_emu.api.prototypes import phases
from acl_emu.cface import headers, toolkit
from acl_emu.codegen import c_face, catalog
from acl_emu.codegen.python_faces import operators
from acl_emu.core import documented
from tests.conftest import ROOT, SHARED

INCLUDE = ROOT / "include"
HEADERS = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.h") if path.parent.name != "aclnnop")
OPERATOR_HEADERS = sorted(headers.of_operators())
CXX_ONLY = ("aclnn/opdev/fp16_t.h",)
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
DIALECTS = [
    (compiler, language, std)
    for compilers, language, stds in ((("gcc", "clang"), "c", ("c11",)), (("g++", "clang++"), "c++", ("c++11", "c++17", "c++20")))
    for compiler in compilers
    if shutil.which(compiler)
    for std in stds
]


@pytest.mark.parametrize(("compiler", "language", "std"), DIALECTS)
def test_every_header_compiles_alone(compiler: str, language: str, std: str, tmp_path: Path) -> None:
    suffix = "c" if language == "c" else "cpp"
    names = []
    for number, header in enumerate(HEADERS):
        if language == "c" and header in CXX_ONLY:
            continue
        (tmp_path / f"h{number}.{suffix}").write_text(f'#include "{header}"\n#include "{header}"\nextern int x{number};\n')
        names.append(f"h{number}.{suffix}")
    # Headers of operators need nothing but the one that they include first: one program has them all, each twice.
    (tmp_path / f"operators.{suffix}").write_text("".join(f'#include "{header}"\n' * 2 for header in OPERATOR_HEADERS) + "extern int x;\n")
    names.append(f"operators.{suffix}")
    done = subprocess.run(
        [compiler, f"-std={std}", *WARNINGS, f"-I{INCLUDE}", "-fsyntax-only", *names], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_programs_may_declare_the_packing_of_weights(tmp_path: Path) -> None:
    """Some do so with another const: no header that they include declares it."""
    program = tmp_path / "packing.cpp"
    program.write_text(
        '#include "aclnnop/aclnn_cast.h"\n#include "aclnnop/aclnn_weight_quant_batch_matmul_nz.h"\n'
        'extern "C" aclnnStatus aclnnConvertWeightToINT4PackGetWorkspaceSize('
        "const aclTensor *weight, const aclTensor *weightInt4Pack, uint64_t *workspaceSize, aclOpExecutor **executor);\n"
    )
    subprocess.run(["g++", "-fsyntax-only", f"-I{INCLUDE}", str(program)], check=True)


def test_headers_of_operators_include_what_they_need() -> None:
    for name, text in headers.of_operators().items():
        also = ['#include "aclnnop/aclnn_bitwiseand.h"'] if name == "aclnnop/aclnn_bitwise_and_tensor.h" else []
        assert re.findall(r"#include .*", text) == ['#include "aclnn/aclnn_base.h"', *also], name


def test_the_checkout_has_the_headers_of_all_operators() -> None:
    assert {name: (INCLUDE / name).read_text(encoding="utf-8") for name in OPERATOR_HEADERS} == headers.of_operators()
    assert len(OPERATOR_HEADERS) == len(list((INCLUDE / "aclnnop").iterdir()))


def test_operator_headers_are_reachable_in_every_way(tmp_path: Path) -> None:
    include = toolkit.cached() / "include"
    short = "aclnn_smooth_l1_loss_backward.h"
    for number, name in enumerate((f"aclnnop/{short}", f"aclnnop/level2/{short}", short)):
        (tmp_path / f"a{number}.cpp").write_text(f'#include "{name}"\nauto f{number} = aclnnSmoothL1LossBackward;\n')
    done = subprocess.run(
        ["g++", *WARNINGS, f"-I{include}", f"-I{include / 'aclnn'}", "-fsyntax-only", "a0.cpp", "a1.cpp", "a2.cpp"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_operator_status_codes_are_visible_from_acl_h(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(
        '#define ACLNN_ERR_PARAM_NULLPTR 161001\n#include "acl/acl.h"\n'
        '_Static_assert(ACLNN_SUCCESS == 0 && ACLNN_ERR_PARAM_INVALID == 161002 && ACLNN_ERR_INNER == 561000, "codes");\n'
    )
    done = subprocess.run(["gcc", *WARNINGS, f"-I{INCLUDE}", "-fsyntax-only", "a.c"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def facts(name: str) -> object:
    path = SHARED / "facts" / name
    if not path.exists():
        pytest.skip(f"the collected facts ({name}) are not here")
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return json.loads(path.read_text(encoding="utf-8"))


def normal(text: str) -> str:
    """A C declaration without the freedom of its spelling."""
    text = re.sub(r"\(\s*\)", "(void)", " ".join(text.split()))
    return re.sub(r"\s*([*(),])\s*", r"\1", text)


def test_every_used_function_is_declared_with_its_official_prototype() -> None:
    official = facts("functions.json")
    assert isinstance(official, dict)
    declared = {name: normal(c_face.prototype_text(function.prototype)) for name, function in FUNCTIONS.items()}
    for function in official["used_functions"]:
        assert declared.get(function["name"]) == normal(function["prototype"]), function["name"]
    for name, function in official["all_header_prototypes"].items():
        if name in declared:
            assert declared[name] == normal(function["prototype"])
            assert FUNCTIONS[name].prototype.header == function["header"]


OLDER = ("acl/acl_base.h", "acl/acl_op.h", "acl/acl_op_compiler.h", "profiling/prof_api.h", "runtime/rt.h")
"""Headers that the collected facts leave out."""


def test_every_declared_acl_function_is_an_official_one() -> None:
    official = facts("functions.json")
    assert isinstance(official, dict)
    collected = {name for name, function in FUNCTIONS.items() if function.prototype.header not in OLDER}
    assert collected <= set(official["all_header_prototypes"])


def plain(parameters: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Types and names; the const of a value is no part of a function's type."""
    return [(c_type if c_type.endswith("*") else c_type.removeprefix("const "), name) for c_type, name in parameters]


def test_every_operator_is_declared_as_documented() -> None:
    known = documented.table()
    for operator in operators():
        entry = known[operator.name]
        declared = {phase.name: plain(phase.parameters) for phase in phases(operator)}
        assert declared == {name: plain(parameters) for name, parameters in entry.functions.items()}, operator.name
        assert operator.header == entry.header, operator.name
        assert operator.module.split(".")[1] == entry.family, operator.name


def test_the_table_says_what_the_catalogues_say() -> None:
    for name in ("catalog.jsonl", "catalog-newer.jsonl", "probed-names.txt"):
        if not (SHARED / "facts" / name).exists():
            pytest.skip(f"the collected facts ({name}) are not here")
    paths = [SHARED / "facts" / name for name in ("catalog.jsonl", "catalog-newer.jsonl")]
    assert catalog.table(paths, catalog.names_in(SHARED / "facts" / "probed-names.txt")) == documented.TABLE.read_text(encoding="utf-8")


def test_the_table_is_one_sorted_line_for_each_operator() -> None:
    lines = documented.TABLE.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["name"] for line in lines] == sorted(documented.table())
    assert [entry.line() for entry in documented.table().values()] == lines


def test_every_constant_has_its_official_value() -> None:
    official = facts("enums.json")
    assert isinstance(official, dict)
    from acl_emu.core import constants

    for group in ("enums_requested", "enums_other"):
        for name, enum in official[group].items():
            if enum["header"] in ("acl/acl_base_rt.h", "acl/acl_rt.h"):
                for member, value in enum["values"].items():
                    assert getattr(constants, member) == value, f"{name}.{member}"
    for layer in ("aclError_acl_layer", "aclError_rt_layer", "aclnnStatus_codes"):
        for member, value in official[layer]["values"].items():
            assert getattr(constants, member) == value


def test_enum_values_reach_the_compiler(tmp_path: Path) -> None:
    """The headers, not only the Python table, hold the values."""
    table = c_face.constants.table()
    checks = [f'static_assert({name} == {value}, "{name}");' for enum in table["enums"].values() for name, value in enum["values"].items()]
    checks += [f'static_assert({name} == {value}, "{name}");' for codes in table["codes"].values() for name, value in codes.items()]
    (tmp_path / "a.cpp").write_text('#include "acl/acl.h"\n#include "acl/acl_op_compiler.h"\n' + "\n".join(checks))
    done = subprocess.run(["g++", "-std=c++11", f"-I{INCLUDE}", "-fsyntax-only", "a.cpp"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_prototypes_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="not a prototype"):
        parse_prototype("aclError", "acl/acl_rt.h")
