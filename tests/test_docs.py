"""What the documents show is what happens.

Every Python snippet that is directly followed by its output prints exactly that; the snippets of one document run in order, in one fresh
process that they share, as a reader would type them. Every command prints what is shown below it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, SHARED, run_python

DOCUMENTS = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.exists()]
SNIPPET = re.compile(r"^```python\n(?P<code>(?:(?!```).*\n)*)```\n\n?```text\n(?P<output>(?:(?!```).*\n)*)```$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?://)(?P<target>[^)#]+)(?:#[^)]*)?\)")

RUNNER = """
import contextlib, io, json
namespace = {"__name__": "__main__"}
outputs = []
for number, code in enumerate(json.loads(SNIPPETS)):
    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        exec(compile(code, f"snippet {number}", "exec"), namespace)
    outputs.append(written.getvalue())
print(json.dumps(outputs))
"""


def snippets(document: Path) -> list[tuple[str, str]]:
    return [(match["code"], match["output"]) for match in SNIPPET.finditer(document.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if snippets(path)], ids=lambda path: path.name)
def test_snippets(document: Path) -> None:
    found = snippets(document)
    done = run_python(f"SNIPPETS = {json.dumps([code for code, _ in found])!r}\n{RUNNER}")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for number, (output, (code, expected)) in enumerate(zip(json.loads(done.stdout), found, strict=True)):
        assert output == expected, f"{document.name}, snippet {number}:\n{code}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in LINK.findall(document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target


# Commands

CONSOLE = re.compile(r"^(?P<mark><!-- not run: .+ -->\n)?```console\n(?P<text>(?:(?!```).*\n)*)```$", re.MULTILINE)
COMMAND = re.compile(r"^\$ (?P<command>.*(?:(?<=\\)\n.*)*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
VOLATILE = (
    (r"(?m)^acl-emu: building .* \.\.\.\n", ""),  # at the first run only
    (r"0x[0-9a-f]+", "0xN"),
    (r"\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3}", "TIME"),
    (r"\[PID: \d+\]", "[PID: N]"),
    (r"\((\d+),(\w+)\):", r"(N,\2):"),  # a log line: process, and thread behind the place
    (r"(\[\w+:0xN\])\d+ ", r"\1N "),
    (r"[\d.]+ us", "N us"),
)
PAGE = """# aclnnMatmulAllReduce
```cpp
#include "aclnnop/aclnn_matmul_all_reduce.h"
int main() { return aclnnMatmulAllReduce(nullptr, 0, nullptr, nullptr); }
```
"""
PROGRAM = '#include <cstdio>\n#include "acl/acl.h"\nint main() { return aclInit(nullptr) || aclFinalize(); }\n'


def blocks(document: Path) -> list[list[tuple[str, str]]]:
    """The commands of each block and what they print; not of those that are marked, which say why."""
    found = CONSOLE.finditer(document.read_text(encoding="utf-8"))
    return [[(one["command"], one["output"]) for one in COMMAND.finditer(match["text"])] for match in found if not match["mark"]]


def steady(text: str) -> list[str]:
    """Lines without what differs from run to run."""
    for pattern, instead in VOLATILE:
        text = re.sub(pattern, instead, text)
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def printed_as_shown(printed: list[str], shown: list[str]) -> bool:
    """Whether the lines are the same; ``...`` stands for any, or for the rest of one."""
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
@pytest.mark.parametrize("document", [path for path in DOCUMENTS if blocks(path)], ids=lambda path: path.name)
def test_commands(document: Path, tmp_path: Path) -> None:
    """What a document shows of a command is what it prints, in a folder with the samples and the pages of the operators."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    (tmp_path / "aclnnMatmulAllReduce.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "program.cpp").write_text(PROGRAM, encoding="utf-8")
    for page in (SHARED / "seeds").glob("*.md"):
        (tmp_path / page.name).symlink_to(page)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("ACL_EMU_", "ASCEND_"))}
    env |= {"PATH": f"{Path(sys.executable).parent}:{env['PATH']}", "XDG_CACHE_HOME": str(tmp_path / "cache"), "LC_ALL": "C.UTF-8"}
    env["COLUMNS"] = "100"
    missing, wrong = 0, []
    for block in blocks(document):
        pages = [word for command, _ in block for word in command.split() if word.endswith(".md")]
        if not all((tmp_path / page).exists() for page in pages):
            missing += 1
            continue
        end = "\036"
        script = "exec 2>&1\n" + "".join(f"{command}\ncode=$?; printf '{end}'; (exit $code)\n" for command, _ in block)
        done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
        for (command, expected), printed in zip(block, done.stdout.split(end), strict=False):
            if not printed_as_shown(steady(printed), steady(expected)):
                wrong.append(f"$ {command}\n{printed}")
        assert done.stdout.count(end) == len(block), done.stdout
    assert not wrong, "\n".join(wrong)
    if missing:
        pytest.skip(f"{missing} blocks need pages of the operator documentation that are not here; the others were run")


def test_every_block_is_run_or_says_why_not() -> None:
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        assert len(CONSOLE.findall(text)) == text.count("```console\n"), document.name
        assert all(block for block in blocks(document)), document.name


def test_the_example_of_the_readme_passes_the_checker() -> None:
    code = "".join(code for code, _ in snippets(ROOT / "README.md"))
    done = run_python(code, ACL_EMU_CHECK="1")
    assert (done.returncode, done.stderr) == (0, "")
