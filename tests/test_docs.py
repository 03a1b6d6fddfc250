"""Every Python snippet in the documents that is directly followed by its output prints exactly that.

The snippets of one document run in order, in one fresh process that they share, as a reader would type them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT, run_python

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
