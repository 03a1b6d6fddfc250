"""The report: what the page holds, and that a real browser shows it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import acl_emu as acl
from acl_emu.core import observe
from acl_emu.core.observe import Place
from acl_emu.tools.report import Reporter, page, spool_of
from tests.conftest import PATIENCE, ROOT, run_python
from tests.watching.test_trace import C_PROGRAM, COMMAND, OPERATOR, Problem

BROWSER = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)

needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium (Debian: apt-get install chromium)")

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--virtual-time-budget=8000", "--window-size=1200,1000"),
)


def data_of(file: Path) -> dict[str, Any]:
    """What a page holds."""
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read_text(encoding="utf-8"), re.DOTALL)
    assert match is not None
    found: dict[str, Any] = json.loads(match[1])
    return found


def opened(file: Path, folder: Path, script: str = "", *flags: str) -> dict[str, str]:
    """The facts that a page writes on itself once a browser has shown it; ``script`` runs when it is ready and may add to them."""
    if script:
        text = file.read_text(encoding="utf-8").replace("</body>", f"<script>{script}</script></body>")
        file = folder / "with-script.html"
        file.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [str(BROWSER), *FLAGS, *flags, f"--user-data-dir={folder / 'profile'}", "--dump-dom", file.as_uri()],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    match = re.search(r"<html([^>]*)>", done.stdout)
    assert match is not None, done.stderr
    facts = dict(re.findall(r'data-([a-z-]+)="([^"]*)"', match[1]))
    assert facts.get("ready") == "1", facts
    assert facts["errors"] == "0", re.findall(r'id="trouble"[^>]*>([^<]*)', done.stdout)
    assert facts["drawn"] == "1"
    return facts


class Finding:
    """As a checker has it."""

    kind, text, advice, place = "race", "two <b>accesses</b>", "synchronize", Place(file=__file__, line=1)


class Finder(observe.Tool):
    """As a checker is."""

    def __init__(self) -> None:
        self.findings = [Finding()]


@pytest.fixture
def small(tmp_path: Path, device: int) -> Path:
    """The report of a few calls: one that works, one that fails, a finding."""
    problem = Problem(acl.ACL_FLOAT16)
    reporter = Reporter(tmp_path / "report.html")
    with observe.watched(Finder(), reporter):
        problem.run(None)
        problem.phase_one(reduction=7)
    reporter.close()
    problem.close()
    assert not spool_of(tmp_path / "report.html").exists()
    return tmp_path / "report.html"


def details(data: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """The details of every call or task of a kind, numbers put back as the page does."""
    numbers = iter(data["numbers"])
    found = []
    for name, detail in zip(data["name"], data["detail"], strict=True):
        text = re.sub("[\1\2]", lambda match: f"#{next(numbers)}" if match[0] == "\1" else f"{next(numbers):#x}", data["details"][detail])
        if data["names"][name]["kind"] == kind:
            found.append(json.loads(text))
    assert next(numbers, None) is None
    return found


def test_a_page_holds_calls_checks_plan_and_findings(small: Path) -> None:
    data = data_of(small)
    good, bad = details(data, "phase one")
    assert good["arguments"]["self"].endswith("[2, 3] FLOAT16")
    assert re.fullmatch(r"aclTensor#[\d.]+ \[2, 3\] FLOAT16", good["arguments"]["self"])
    assert [check[2] for check in good["checks"]] == [""] * len(good["checks"])
    assert good["plan"]["workspace"] > 0
    assert "reduction is 7" in bad["checks"][-1][2]
    assert "reduction is 7" in bad["error"]
    assert list(data["status"].values()) == [acl.ACLNN_ERR_PARAM_INVALID]
    assert [track["name"] for track in data["tracks"] if track["host"]] == ["main thread"]
    (finding,) = data["findings"]
    assert (finding["kind"], finding["text"], finding["advice"]) == ("race", "two <b>accesses</b>", "synchronize")
    assert finding["source"][2][0] == '"""The report: what the page holds, and that a real browser shows it."""'
    assert sum(data["memory"][0]["times"]) > 0


def test_a_page_refers_to_nothing_outside(small: Path) -> None:
    text = small.read_text(encoding="utf-8")
    assert not re.search(r"""(?:src|href)\s*=|@import|url\(|https?://""", text)
    assert "default-src 'none'" in text


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_a_browser_shows_it(small: Path, tmp_path: Path, dark: bool) -> None:
    facts = opened(
        small, tmp_path, "", *(["--blink-settings=preferredColorScheme=0"] if dark else ["--blink-settings=preferredColorScheme=1"])
    )
    assert facts["cards"] == facts["rows"] == "2"
    assert int(facts["tracks"]) == 2
    assert facts["theme"] == ("dark" if dark else "light")


KEYS = """
const root = document.documentElement, $ = (id) => document.getElementById(id);
const press = (id, key) => $(id).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const selected = () => document.querySelector('[aria-selected="true"] .name span').textContent;
const card = () => $("card").textContent;
const said = [];
const { width, height } = $("timeline");
const pixels = $("timeline").getContext("2d").getImageData(0, 0, width, height).data;
root.dataset.ink = String(pixels.filter((value, i) => i % 4 === 3 && value).length);
$("which").value = "calls"; $("which").dispatchEvent(new Event("change"));
press("list", "Home"); said.push(selected());
press("list", "ArrowDown"); said.push(selected());
press("list", "End"); said.push(selected());
root.dataset.failed = String(card().includes("Check 6 failed"));
$("filter").value = "synchron"; $("filter").dispatchEvent(new Event("input"));
press("list", "Home"); said.push(selected());
for (const key of ["+", "-", "ArrowLeft", "ArrowRight", "Home", "n", "p", "ArrowDown", "ArrowUp", "+", "+", "+"]) press("timeline", key);
$("timeline").dispatchEvent(new WheelEvent("wheel", { deltaY: -200, cancelable: true }));
for (const id of ["zoom-in", "zoom-out", "fit", "locate", "theme"]) $(id).click();
root.dataset.said = said.join(" ");
root.dataset.focusable = [...document.querySelectorAll("button, select, input, [tabindex]")].filter((one) => one.tabIndex === 0).length;
root.dataset.bold = String(document.querySelectorAll("#findings b").length);
"""


@needs_browser
def test_it_works_by_keyboard(small: Path, tmp_path: Path) -> None:
    facts = opened(small, tmp_path, KEYS)
    first, second, last, found = facts["said"].split()
    assert first == OPERATOR + "GetWorkspaceSize"
    assert second == "aclrtMalloc"
    assert last == first
    assert found == "aclrtSynchronizeStream"
    assert facts["failed"] == "true"
    assert int(facts["focusable"]) >= 10
    assert int(facts["ink"]) > 10_000
    assert facts["bold"] == "1", "what a finding says is text, not markup"


def synthetic(file: Path, operators: int) -> int:
    """A trace of so many operator calls, as a real one looks; how many calls it has."""
    number, now = 0, 0.0

    def call(name: str, category: str, **facts: Any) -> str:
        nonlocal number, now
        number += 1
        now += 30.5
        event = {"name": name, "cat": category, "ph": "X", "dur": 20.25, "ts": now, "pid": 1, "tid": 1}
        return json.dumps({**event, "args": {"call": number, "from": "program.py:3", "status": 0, **facts}})

    with file.open("w", encoding="utf-8") as out:
        names = [("process_name", 1, 0, "program"), ("thread_name", 1, 1, "main thread"), ("process_name", 10, 0, "device 0")]
        names += [("thread_name", 10, 2, "stream 1")]
        lines = [
            json.dumps({"name": what, "ph": "M", "ts": 0, "pid": pid, "tid": tid, "args": {"name": text}}) for what, pid, tid, text in names
        ]
        out.write("[\n" + ",\n".join(lines))
        for i in range(operators):
            tensors = {name: f"aclTensor#{4 * i + j} [{i % 9}, 8] FLOAT" for j, name in enumerate(("gradOut", "self", "target"))}
            plan = {
                "reads": ["self [8] FLOAT"],
                "writes": ["out [8] FLOAT"],
                "workspace": 512,
                "parts": [["cast", [8], "float32", 0, 32]],
                "empty": False,
            }
            executor = f"aclOpExecutor#{4 * i + 3} of {OPERATOR}"
            checks = [["No null pointer", "self", ""]]
            lines = [
                call(OPERATOR + "GetWorkspaceSize", "phase one", arguments=tensors, plan=plan, checks=checks, results=["512", executor]),
                call(OPERATOR, "phase two", arguments={"executor": executor, "stream": "stream 1"}, **{"planned by": number}),
            ]
            task = {"place": i + 1, "call": number, "planned by": number - 1, "reads": plan["reads"], "workspace": 512}
            lines += [
                json.dumps({"name": OPERATOR, "cat": "kernel", "ph": "X", "dur": 9.5, "ts": now + 25, "pid": 10, "tid": 2, "args": task}),
                call("aclrtMalloc", "call", arguments={"size": "64", "policy": "0"}, results=[hex(0x7F0000000000 + 64 * i)]),
                json.dumps({"name": "memory in use", "ph": "C", "ts": now, "pid": 10, "tid": 0, "args": {"bytes": 64 * (i % 1000)}}),
                call("aclrtFree", "call", arguments={"devPtr": hex(0x7F0000000000 + 64 * i)}),
            ]
            out.write(",\n" + ",\n".join(lines))
        out.write("\n]\n")
    return number


@needs_browser
@pytest.mark.parametrize("operators", [100, 25_000])
def test_a_browser_shows_many_calls(tmp_path: Path, operators: int) -> None:
    assert synthetic(tmp_path / "trace.json", operators) == 4 * operators
    page.write(tmp_path / "trace.json", tmp_path / "report.html")
    data = data_of(tmp_path / "report.html")
    assert len(data["start"]) == 5 * operators
    assert len(data["details"]) < 100, "what repeats is kept once"
    facts = opened(tmp_path / "report.html", tmp_path, KEYS.replace("synchron", "malloc"))
    assert facts["cards"] == str(operators)
    assert int(facts["rows"]) < 40, "only rows that can be seen exist"


def test_a_page_has_a_limit_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_SLICES", 60)
    synthetic(tmp_path / "trace.json", 20)
    page.write(tmp_path / "trace.json", tmp_path / "report.html")
    data = data_of(tmp_path / "report.html")
    assert (len(data["start"]), data["leftOut"]) == (60, 40)


def test_the_command_makes_the_page_of_a_program_that_died(tmp_path: Path) -> None:
    source, file = tmp_path / "program.c", tmp_path / "report.html"
    source.write_text(C_PROGRAM)
    done = subprocess.run([COMMAND, "run", source, "--report", file, "--", "die"], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 128 + signal.SIGABRT
    data = data_of(file)
    assert data["died"]
    assert [data["names"][name]["name"] for name in data["name"]] == ["aclInit", "aclrtSetDevice", "aclrtMalloc"]
    assert all(place.startswith(f"main ({source}:") for place in data["places"].values())
    assert len(data["places"]) == 3
    assert {path.name for path in tmp_path.iterdir()} == {"program.c", "report.html"}


def test_a_forked_child_makes_no_page_and_leaves_its_parent_one(tmp_path: Path) -> None:
    done = run_python(
        """
import os, sys, acl_emu as acl
acl.aclInit(None)
child = os.fork()
if child == 0:
    acl.aclrtGetDeviceCount()
    sys.exit(0)
os.waitpid(child, 0)
acl.aclFinalize()
""",
        ACL_EMU_REPORT=str(tmp_path / "report.html"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert os.listdir(tmp_path) == ["report.html"]
    assert len(data_of(tmp_path / "report.html")["start"]) == 2


def test_two_processes_with_one_name_make_a_page_each(tmp_path: Path) -> None:
    reporters = [Reporter(tmp_path / "report.html") for _ in range(2)]
    with observe.watched(*reporters):
        acl.aclrtGetDeviceCount()
    for reporter in reporters:
        reporter.close()
    assert {path.name for path in tmp_path.iterdir()} == {"report.html", f"report.{os.getpid()}.html"}


def test_a_text_cannot_leave_the_data(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    hostile = "</script><script>alert(1)</script><!--\u2028"
    event = {"name": hostile, "cat": "call", "ph": "X", "ts": 1, "dur": 1, "pid": 1, "tid": 1, "args": {"call": 1, "error": hostile}}
    trace.write_text("[\n" + json.dumps(event) + "\n]\n")
    page.write(trace, tmp_path / "report.html")
    data = data_of(tmp_path / "report.html")
    assert data["names"][0]["name"] == hostile
    assert (tmp_path / "report.html").read_text().count("<script") == 2


def test_the_page_is_packaged() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    assert '"tools/report/page.*"' in text
