"""What `python -m acl_emu.codegen new` writes: it imports, checks what is declared, refuses the rest, and its tests ask to be finished."""

from __future__ import annotations

import importlib.util
import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import acl_emu as acl
import aclnnop
from acl_emu.codegen import __main__ as command
from acl_emu.codegen import scaffold
from acl_emu.codegen.catalog import read
from acl_emu.core import documented, dtypes
from acl_emu.spec import CHOICE, RANK
from acl_emu.spec.families import derived
from acl_emu.spec.kinds import IntKind, ListKind, StringKind, TensorKind
from aclnnop.registry import MODULES, declared_in
from tests.conftest import ROOT, message
from tests.operators.case import Case, Meta

CATALOG = Path(__file__).with_name("catalog.jsonl")
ENTRIES = read([CATALOG])
REFUSED = {"aclnnMadeUpSize": "single-phase", "aclnnMadeUpPointer": r"values \(const float\*\)"}
NAMES = [name for name in ENTRIES if name not in REFUSED]
REAL = scaffold.catalogs_beside(ROOT)

Load = Callable[..., tuple[dict[str, str], ModuleType, ModuleType]]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Write the files of an operator and import them: the texts, the operator's module and its tests."""

    def module(path: str, name: str, texts: dict[str, str]) -> ModuleType:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(texts[path], encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, tmp_path / path)
        assert spec
        assert spec.loader
        made = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, made)
        spec.loader.exec_module(made)
        return made

    def load(name: str, *catalogs: Path) -> tuple[dict[str, str], ModuleType, ModuleType]:
        texts = scaffold.files(name, catalogs or [CATALOG])
        _, source, tests = texts
        made = module(source, source.removesuffix(".py").replace("/", "."), texts)
        for operator in declared_in(texts[source]):
            monkeypatch.setitem(MODULES, operator, made.__name__)
        return texts, made, module(tests, tests.removesuffix(".py").replace("/", "."), texts)

    return load


def example(name: str) -> Case:
    return Case(name, next(aclnnop.find(name).examples()))


def assert_checks_work(name: str) -> None:
    """Null, types and ranks are refused as declared, and a call in which nothing is wrong as one that is not emulated."""
    case = example(name)
    for parameter, kind in case.declared.parameters:
        if kind.pointer and not kind.optional:
            assert case.but(**{parameter: None}).status() == acl.ACLNN_ERR_PARAM_NULLPTR, parameter
            assert f"{parameter} must not" in message()
        member = kind.member if isinstance(kind, ListKind) else kind
        if not isinstance(member, TensorKind) or case.arguments[parameter] is None:
            continue

        def wrong(shape: tuple[int, ...], dtype: int, parameter: str = parameter, kind: Any = kind) -> int:
            meta = Meta(shape, dtype)
            return case.but(**{parameter: [meta] if isinstance(kind, ListKind) else meta}).status()

        assert wrong((1,) * member.least, acl.ACL_STRING) == acl.ACLNN_ERR_PARAM_INVALID, parameter
        assert parameter in message()
        given = case.arguments[parameter]
        fits = dtypes.from_numpy((given[0] if isinstance(kind, ListKind) else given).dtype).code
        outside = acl.ACLNN_ERR_PARAM_INVALID if RANK in case.declared.checks else acl.ACLNN_ERR_INNER_TILING_ERROR
        assert wrong((2,) * (member.most + 1), fits) == outside, parameter
        assert parameter in message()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_checks_its_declaration(name: str, load: Load) -> None:
    load(name)
    assert_checks_work(name)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_refuses_calls_until_it_is_finished(name: str, load: Load) -> None:
    texts, _, _ = load(name)
    finished = "unwritten" not in str(texts)
    status = example(name).status()
    assert finished or status == acl.ACLNN_ERR_INNER_NULLPTR or "format" in message()
    assert finished == (name == "aclnnForeachRelu")


@pytest.mark.parametrize("name", NAMES)
def test_the_prototype_is_the_documented_one(name: str, load: Load) -> None:
    load(name)
    written = [(kind.c_type, parameter) for parameter, kind in aclnnop.find(name).parameters]
    by_value = [(c_type if "*" in c_type else c_type.removeprefix("const "), parameter) for c_type, parameter in prototype(name)]
    assert written == by_value


def prototype(name: str) -> tuple[tuple[str, str], ...]:
    return scaffold.documented(ENTRIES[name]).parameters


@pytest.mark.parametrize("name", NAMES)
def test_every_documented_error_is_a_line_that_passes_or_asks_to_be_filled_in(name: str, load: Load) -> None:
    _, _, tests = load(name)
    own = [line for line in tests.ERRORS if line[0] == name]
    assert {line[2] for line in own} == {error["code"] for error in ENTRIES[name]["errors"]}
    for line in own:
        if "TODO" in line[3]:
            with pytest.raises(AssertionError):
                tests.test_errors(*line)
        else:
            tests.test_errors(*line)


@pytest.mark.parametrize("name", NAMES)
def test_tests_of_values_and_products_fail_until_they_are_written(name: str, load: Load, device: int, chip: Any) -> None:
    texts, _, tests = load(name)
    with pytest.raises(pytest.fail.Exception, match="TODO"):
        tests.test_values(name, device)
    assert hasattr(tests, "test_documented_sample") == ENTRIES[name]["sample"]
    if "unwritten" in str(texts):
        with pytest.raises(AssertionError):
            tests.test_products(name, tests.PRODUCTS[name], chip)
    else:
        tests.test_products(name, tests.PRODUCTS[name], chip)


def source(name: str) -> str:
    texts = scaffold.files(name, [CATALOG])
    return next(text for path, text in texts.items() if path.startswith("aclnnop/") and "__init__" not in path)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("aclnnMadeUpWave", "@unary(*TYPES, results=(FLOAT, FLOAT16, BF16), rule=unwritten, products=ALL - {Product.A310B})"),
        ("aclnnMadeUpWave", "aclnnInplaceMadeUpWave = in_place(aclnnMadeUpWave)"),
        ("aclnnMadeUpRipple", '    out="result",\n    const_out=True,\n'),
        ("aclnnMadeUpRipple", "on={Product.A2: (FLOAT,)}"),
        ("aclnnMadeUpBlend", '    BF16,\n    ref="selfBlend",\n    const=True,\n    rank=(1, 8),\n    products=frozenset('),
        ("aclnnInplaceMadeUpAlone", "selfRef: Annotated[Operand, InOut(*TYPES)]"),
        ("aclnnMadeUpStrict", "    same_dtype(x, y)\n    same_dtype(x, out)\n"),
        ("aclnnMadeUpStrict", "# TODO 161002 other\n"),
        ("aclnnMadeUpTypedScalar", "low: Annotated[Scalar, HandleKind(Scalar, FLOAT, INT64)]"),
        ("aclnnMadeUpTypedScalar", "high: Annotated[Scalar | None, HandleKind(Scalar, optional=True)]"),
        ("aclnnMadeUpBareScalar", "sizes: Annotated[IntArray | None, HandleKind(IntArray, optional=True, const=False)]"),
        ("aclnnMadeUpAttributes", 'mode: Annotated[int, IntKind("int8_t")]'),
        ("aclnnMadeUpStrings", 'way: Annotated[str, StringKind("char*", choices=("left", "right"))]'),
        ("aclnnMadeUpChoices", "reduction: ReductionMode"),
        ("aclnnMadeUpChoices", 'side: Annotated[int, IntKind("int64_t", choices=Side)]'),
        ("aclnnMadeUpPythonWord", "lambda_: Double"),
        ("aclnnMadeUpRanks", "    rank_in(y, 1, 4)\n"),
        ("aclnnMadeUpRanks", "    rank_in(maskOptional, 2, 4)\n"),
        ("aclnnMadeUpRanks", "# TODO out: its rank, documented as that of x"),
        ("aclnnMadeUpImage", "formats=frozenset({ACL_FORMAT_NCHW, ACL_FORMAT_NHWC})"),
        ("aclnnMadeUpBlocked", "# TODO x: what storage of FRACTAL_NZ looks like"),
        ("aclnnMadeUpLoose", "# TODO x, out: 0 dimensions are accepted"),
        ("aclnnMadeUpLoose", "# TODO read index/l/docs/l.md of invented\n"),
        ("aclnnMadeUpJoin", "reads=(*tensors,), writes=(out,)"),
        ("aclnnMadeUpLoose", "def aclnnMadeUpLoose(x: FloatIn, out: FloatOut)"),
        ("aclnnMadeUpAnyType", ": its types, any are taken"),
        ("aclnnMadeUpOptional", "biasOptional: OptionalFloatIn"),
        ("aclnnMadeUpContradiction", "# TODO scaleOptional: optional by its description, and 161001"),
        ("aclnnMadeUpGuess", ": whether it is read or written is a guess"),
        ("aclnnMadeUpJoin", "tensors: Annotated[list[Operand], ListOf(In(*TENSORS_TYPES, rank=(1, 8), on=TENSORS_ON))]"),
        ("aclnnMadeUpParts", "out: Annotated[list[Operand], ListOf(Out(FLOAT, FLOAT16, BF16))]"),
        ("aclnnMadeUpParts", "groupsOptional: Annotated[list[Operand] | None, ListOf(In(INT64), optional=True)]"),
        ("aclnnForeachRelu", "aclnnForeachRelu = foreach(aclnnRelu)"),
        ("aclnnForeachMadeUp", "checks=CHECKS)"),
    ],
)
def test_what_the_catalogue_says_is_declared(name: str, line: str) -> None:
    assert line in source(name)


def test_errors_that_name_no_parameter_mean_every_required_tensor(load: Load) -> None:
    texts, _, tests = load("aclnnMadeUpNameless")
    assert "TODO 161" not in str(texts)
    wrong = [(next(iter(changes)), status) for _, changes, status, _ in tests.ERRORS]
    codes = (acl.ACLNN_ERR_PARAM_NULLPTR, acl.ACLNN_ERR_PARAM_INVALID)
    assert wrong == [(name, code) for code in codes for name in ("x", "out")]


def test_no_family_hides_a_module_of_the_package() -> None:
    folders = {path.split("/")[1] for name in NAMES for path in scaffold.files(name, [CATALOG]) if path.startswith("aclnnop/")}
    assert "index" in folders
    assert not [folder for folder in folders if (ROOT / "aclnnop" / f"{folder}.py").exists()]


def test_choices_are_checked(load: Load) -> None:
    for name in ("aclnnMadeUpChoices", "aclnnMadeUpStrings"):
        load(name)
        case = example(name)
        assert CHOICE in case.declared.checks
        for parameter, kind in case.declared.parameters:
            if isinstance(kind, (IntKind, StringKind)) and kind.choices:
                assert case.but(**{parameter: "up" if isinstance(kind, StringKind) else 99}).status() == acl.ACLNN_ERR_PARAM_INVALID
                assert parameter in message()


@pytest.mark.parametrize(("name", "text"), REFUSED.items())
def test_what_is_no_operator_is_refused(name: str, text: str) -> None:
    with pytest.raises(scaffold.Unknown, match=text):
        scaffold.files(name, [CATALOG])


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "ROOT", tmp_path)
    assert command.main(["new", "aclnnMadeUpWave", "--catalog", str(CATALOG), "--print"]) == 0
    assert "aclnnInplaceMadeUpWave" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
    assert command.main(["new", "aclnnMadeUpWave", "--catalog", str(CATALOG)]) == 0
    assert "aclnnop/math/made_up_wave.py: " in capsys.readouterr().out
    assert (tmp_path / "tests/operators/test_made_up_wave.py").exists()
    (tmp_path / "aclnnop/math/made_up_wave.py").write_text("mine", encoding="utf-8")
    assert command.main(["new", "aclnnMadeUpWave", "--catalog", str(CATALOG)]) == 1
    assert "there already" in capsys.readouterr().err
    assert (tmp_path / "aclnnop/math/made_up_wave.py").read_text(encoding="utf-8") == "mine"
    assert command.main(["new", "aclnnNoSuch", "--catalog", str(CATALOG)]) == 1
    assert "in no catalogue" in capsys.readouterr().err
    assert command.main(["new", "aclnnAdd", "--catalog", str(tmp_path / "missing")]) == 1
    assert command.main(["new", "aclnnMadeUpWave"]) == 1
    assert "--catalog FILE" in capsys.readouterr().err


def test_an_operator_that_is_declared_is_not_written_again(tmp_path: Path) -> None:
    entry = {**ENTRIES["aclnnMadeUpWave"], "name": "aclnnTanh"}
    (tmp_path / "catalog").write_text(json.dumps(entry), encoding="utf-8")
    with pytest.raises(scaffold.Unknown, match="declared already, in aclnnop"):
        scaffold.files("aclnnTanh", [tmp_path / "catalog"])


@pytest.mark.skipif(shutil.which("ruff", path=str(Path(sys.executable).parent)) is None, reason="ruff is not installed")
def test_what_is_written_is_clean(tmp_path: Path) -> None:
    for name in NAMES:
        for path, text in scaffold.files(name, [CATALOG]).items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
    ruff = [str(Path(sys.executable).with_name("ruff"))]
    first = 'lint.isort.known-first-party=["acl_emu", "aclnnop", "tests"]'
    for check in (["check", "--config", first], ["format", "--check"]):
        run = subprocess.run([*ruff, *check, "--config", str(ROOT / "pyproject.toml"), "."], cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout


@pytest.mark.skipif(not REAL, reason="there is no catalogue beside the project")
def test_a_sample_of_the_real_catalogue(load: Load) -> None:
    entries = read(REAL)
    checked = 0
    for name in random.Random(7).sample(sorted(entries), 40):  # no other ones where more operators are emulated
        try:
            load(name, *REAL)
        except scaffold.Unknown as error:
            assert re.search("no parameter kind describes|declared already|single-phase", str(error))  # noqa: PT017
            continue
        assert_checks_work(name)
        checked += 1
    assert checked or len(MODULES) > len(entries) / 2


def test_no_operator_is_left_unfinished() -> None:
    left = [
        path.name for path in (ROOT / "aclnnop").rglob("*.py") if re.search(r"\bunwritten\b|\bTODO\b", path.read_text(encoding="utf-8"))
    ]
    assert not left
    left = [
        path.name for path in (ROOT / "tests" / "operators").glob("test_*.py") if re.search(r"\bTODO\b", path.read_text(encoding="utf-8"))
    ]
    assert not left


def test_words_of_python_as_names_of_parameters() -> None:
    assert [documented.python_name(name) for name in ("lambda", "self")] == ["lambda_", "self"]
    assert [documented.official_name(name) for name in ("lambda_", "self", "self_")] == ["lambda", "self", "self_"]
    made = derived("aclnnMadeUpWord", {"lambda_": IntKind()}, lambda value: None, module=__name__, doc="")
    assert made.names == ("lambda",)
