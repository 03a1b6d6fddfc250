"""acl-emu explain: what phase one would do, without a program."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acl_emu.core import dtypes, handles, soc
from acl_emu.spec.kinds import TensorKind
from acl_emu.tools import explain, explain_output
from tests.cface.programs import clean_environment
from tests.conftest import PATIENCE, ROOT
from tests.operators.case import Case
from tests.operators.examples import every_operator, over_examples

COMMAND = str(Path(sys.executable).with_name("acl-emu"))
GRADIENT = ("gradOut=4x1:FLOAT16", "self=4x8:FLOAT", "target=8:BF16", "reduction=1", "beta=0.5", "gradInput=4x8:FLOAT")


def told(name: str, *words: str) -> dict[str, Any]:
    """The explanation as a tool reads it; no object may be left behind."""
    before = handles.census()
    with explain.explained(name, words) as explanation:
        text = explain_output.as_text(explanation)
        facts: dict[str, Any] = json.loads(explain_output.as_json(explanation))
    assert handles.census() == before
    assert facts["operator"] in text
    assert max(map(len, text.splitlines())) <= 140
    return facts


def mistake(name: str, *words: str) -> str:
    before = handles.census()
    with pytest.raises(explain.Mistake) as caught, explain.explained(name, words):
        pass
    assert handles.census() == before
    return str(caught.value)


def command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "explain", *words], capture_output=True, text=True, timeout=PATIENCE, env=clean_environment(**environment)
    )


def test_the_whole_story_of_a_call_that_succeeds() -> None:
    facts = told("aclnnSmoothL1LossBackward", *GRADIENT)
    assert facts["soc"] == soc.current().name
    assert (facts["status"], facts["message"]) == (0, "")
    assert [check["check"] for check in facts["checks"]] == [
        "NULL",
        "DTYPE",
        "check_format",
        "check_rank",
        "check_choice",
        "require",
        "promote",
        "broadcast_shape",
        "shape_is",
        "CHIP",
    ]
    assert {check["state"] for check in facts["checks"]} == {"passed"}
    assert (facts["promoted"], facts["broadcast"]) == ("FLOAT", [4, 8])
    assert facts["plan"] == {
        "empty": False,
        "kernel": {
            "name": "aclnnop.loss.reduction.chain",
            "via": "FLOAT",
            "attributes": {"slope": "slope_within", "scale": 0.03125, "beta": 0.5},
        },
        "reads": ["gradOut", "self", "target"],
        "writes": ["gradInput"],
    }
    assert facts["workspace"] == {
        "size": 1024,
        "parts": [
            {"name": "gradOut as float32", "shape": [4, 1], "dtype": "float32", "offset": 0, "bytes": 16},
            {"name": "target as float32", "shape": [8], "dtype": "float32", "offset": 512, "bytes": 32},
        ],
    }


def test_the_check_that_fails_is_the_last_and_what_follows_was_not_reached() -> None:
    facts = told("aclnnSmoothL1LossBackward", "gradOut=4x8:FLOAT", "self=4x8:INT32", "target=8:FLOAT", "reduction=0", "beta=1")
    assert (facts["status"], facts["status_name"]) == (161002, "ACLNN_ERR_PARAM_INVALID")
    assert facts["message"].startswith("aclnnSmoothL1LossBackward: self has dtype ACL_INT32, expected one of")
    assert [(check["check"], check["state"]) for check in facts["checks"]] == [
        ("NULL", "passed"),
        ("DTYPE", "failed"),
        ("check_format", "not reached"),
        ("check_rank", "not reached"),
        ("check_choice", "not reached"),
    ]
    assert facts["plan"] is facts["workspace"] is facts["promoted"] is None


@pytest.mark.parametrize(
    ("words", "code", "check"),
    [
        (("self=null", "dim=0", "out=4:FLOAT"), 161001, "NULL"),
        (("self=4:FLOAT", "dim=1", "out=4:FLOAT"), 161002, "wrap_dim"),
        (("self=4:FLOAT", "dim=0", "out=5:FLOAT"), 161002, "same_shape"),
        (("self=1x1x1x1x1x1x1x1x1:FLOAT", "dim=0", "out=5:FLOAT"), 161002, "check_rank"),
    ],
)
def test_each_failure_has_its_check_and_code(words: tuple[str, ...], code: int, check: str) -> None:
    facts = told("aclnnLogSoftmax", *words)
    failed = [entry["check"] for entry in facts["checks"] if entry["state"] == "failed"]
    assert (facts["status"], failed) == (code, [check])


def test_a_chip_without_a_kernel(chip: Callable[[str], None]) -> None:
    chip("Ascend310P3")
    facts = told("aclnnAdd", "self=4:FLOAT", "other=4:FLOAT")
    assert facts["status"] == 561103
    assert facts["checks"][-1]["check"] == "CHIP"
    assert facts["checks"][-1]["state"] == "failed"


def test_nothing_to_do_is_a_plan_too() -> None:
    facts = told("aclnnLogSoftmax", "self=0x3:FLOAT", "dim=1")
    assert facts["plan"] == {"empty": True, "kernel": None, "reads": [], "writes": []}
    assert facts["workspace"]["size"] == 0


def test_what_is_left_out() -> None:
    facts = told("aclnnReduceSum", "self=4x8:FLOAT16", "dims=[1]", "dtype=FLOAT")
    values = {one["name"]: (one["value"], one["assumed"]) for one in facts["arguments"]}
    assert values["keepDims"] == ("false", True)
    assert values["out"] == ("4 FLOAT", True)
    facts = told("aclnnNLLLoss", "self=4x8:FLOAT", "target=4:INT64", "weight=8:FLOAT", "reduction=1", "ignoreIndex=-100")
    values = {one["name"]: (one["value"], one["assumed"]) for one in facts["arguments"]}
    assert facts["status"] == 0
    assert values["totalWeightOut"][1]
    facts = told("aclnnAdd", "self=4x1:INT32", "other=8:FLOAT16")
    values = {one["name"]: (one["value"], one["assumed"]) for one in facts["arguments"]}
    assert (values["alpha"], values["out"]) == (("1 INT64", True), ("4x8 FLOAT16", True))


def test_ways_to_write_an_argument() -> None:
    facts = told("ADD", "self=scalar:float32", "other=:acl_float", "alpha=2.5", "out=:FLOAT:format=NCHW")
    assert [one["value"] for one in facts["arguments"]] == ["scalar FLOAT", "scalar FLOAT", "2.5 FLOAT", "scalar FLOAT, NCHW"]
    facts = told("Add", "self=[4,8]:FLOAT:strides=1x4:offset=2", "other=4,8:FLOAT", "alpha=true:INT32")
    assert facts["arguments"][0]["value"] == "4x8 FLOAT, strides 1x4, from element 2"
    assert facts["arguments"][2]["value"] == "1 INT32"
    facts = told("mseloss", "self=4:FLOAT", "target=4:FLOAT", "reduction=MEAN")
    assert facts["arguments"][2]["value"] == "1 (mean)"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("self",), "self: expected name=value"),
        (("slf=4:FLOAT",), "aclnnMseLoss has no parameter slf; did you mean self?"),
        (("self=4:FLOAT", "self=4:FLOAT"), "self is given twice"),
        (("self=4:FLOAT",), "aclnnMseLoss needs target (a tensor such as 4x8:FLOAT), reduction (0 none or 1 mean or 2 sum) as well"),
        (("self=4y:FLOAT",), "self=4y:FLOAT: 4y is no shape"),
        (("self=4:FLOT",), "FLOT is no data type; did you mean FLOAT?"),
        (("self=4",), "expected a shape and a data type"),
        (("self=4x8:FLOAT:strides=1",), "1 strides for 2 dimensions"),
        (("self=4:FLOAT:colour=red",), "colour=red is not understood"),
        (("self=4:FLOAT:format=XY",), "XY is no format"),
        (("self=4:FLOAT", "target=4:FLOAT", "reduction=most"), "expected an integer"),
        (("self=4:FLOAT", "target=4:FLOAT", f"reduction={2**70}"), "must fit int64_t"),
    ],
)
def test_mistakes_are_one_clear_message(words: tuple[str, ...], text: str) -> None:
    assert text in mistake("aclnnMseLoss", *words)


def test_mistakes_in_scalars_arrays_and_names() -> None:
    assert "expected a number" in mistake("aclnnAdd", "self=4:FLOAT", "other=4:FLOAT", "alpha=x")
    assert "expected values in brackets" in mistake("aclnnReduceSum", "self=4:FLOAT", "dims=1", "dtype=FLOAT")
    assert "expected true or false" in mistake("aclnnReduceSum", "self=4:FLOAT", "dims=[0]", "keepDims=maybe", "dtype=FLOAT")
    assert "did you mean aclnnSmoothL1Loss" in mistake("aclnnSmoothL1Los")
    assert "`acl-emu ops` lists what is" in mistake("aclnnZzzzqqq")


@every_operator
def test_every_operator_has_a_declaration(name: str) -> None:
    operator = explain.find(name)
    facts = json.loads(explain_output.declaration_as_json(operator))
    assert [parameter["name"] for parameter in facts["parameters"]] == [parameter.name for parameter in operator.parameters]
    text = explain_output.declaration_as_text(operator, 100)
    assert all(check["rule"].split()[0] in text for check in facts["checks"])


def spelled(kind: object, value: Any) -> str:
    """An argument of an example, as a user would write it."""
    if value is None:
        return "null"
    if isinstance(kind, TensorKind):
        return f"{'x'.join(map(str, value.shape))}:{dtypes.from_numpy(value.dtype).name}"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(spelled(getattr(kind, 'member', None), item) for item in value)}]"
    if isinstance(value, np.generic) and type(kind).__name__ == "HandleKind":
        return f"{value.item()}:{dtypes.from_numpy(value.dtype).name}"
    return str(value).lower() if isinstance(value, bool) else str(value)


@over_examples
def test_every_example_is_explained_as_it_is_planned(case: Case) -> None:
    words = [f"{parameter}={spelled(kind, case.arguments[parameter])}" for parameter, kind in case.declared.parameters]
    status, size = case.plan()
    facts = told(case.operator, *words)
    assert facts["status"] == status == 0
    assert facts["workspace"]["size"] == size
    assert all(part["offset"] + part["bytes"] <= size for part in facts["workspace"]["parts"])


def test_the_command() -> None:
    good = command("aclnnSmoothL1LossBackward", *GRADIENT)
    assert (good.returncode, good.stderr) == (0, "")
    assert "\x1b" not in good.stdout
    assert re.search(r"^ +512 +32 +8 +float32 +target as float32$", good.stdout, re.MULTILINE)
    assert good.stdout.endswith("aclnnSmoothL1LossBackwardGetWorkspaceSize returns 0 (success)\n")
    fails = command("--json", "--soc", "Ascend310P3", "aclnnSmoothL1LossBackward", *GRADIENT)
    assert (fails.returncode, fails.stderr) == (1, "")
    assert "target has dtype ACL_BF16" in json.loads(fails.stdout)["message"]
    for words, text in ((("aclnnNothing",), "is not emulated"), (("--soc", "Ascend1", "aclnnAdd"), "Ascend1 is unknown")):
        wrong = command(*words)
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert wrong.stderr.startswith("acl-emu: ")
        assert text in wrong.stderr
    assert "ACL_EMU_SOC" in command("aclnnAdd", "self=4:FLOAT", "other=4:FLOAT", ACL_EMU_SOC="nothing").stderr
    shown = command("scaledmaskedsoftmax")
    assert "Checks, in order" in shown.stdout
    assert "The mask may be null only where" in shown.stdout


def test_the_loops_in_c() -> None:
    shown = command("--c", "aclnnSmoothL1LossBackward", *GRADIENT)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("/* aclnnSmoothL1LossBackward: ")
    assert "compiled with the package" in shown.stdout
    assert "= where_f32(" in shown.stdout
    assert "nothing to fuse" in command("--c", "aclnnNeg", "self=4:FLOAT").stdout
    fails = command("--c", "aclnnAdd", "self=4:FLOAT", "other=5:FLOAT")
    assert (fails.returncode, "FAILED" in fails.stdout) == (1, True)
    for words in (("--c", "aclnnAdd"), ("--c", "--json", "aclnnNeg", "self=4:FLOAT")):
        wrong = command(*words)
        assert (wrong.returncode, wrong.stderr) == (2, "acl-emu: --c needs arguments, and no --json\n")


def test_the_document_shows_what_the_command_prints() -> None:
    text = (ROOT / "docs" / "debugging.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n\$ acl-emu explain (?P<words>.*)\n(?P<output>(?:(?!```).*\n)*)```$", text, re.MULTILINE)
    assert len(blocks) == 2
    for words, output in blocks:
        assert command(*words.split(), COLUMNS="100").stdout == output
