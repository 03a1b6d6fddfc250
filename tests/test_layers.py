"""The folders of acl_emu are layers: a lower one never imports a higher one."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "acl_emu"
LAYERS = ("core", "runtime", "engine", "spec", "api", "cface", "tools", "codegen", "cli")


def imports(path):
    """The modules of acl_emu that a file imports when it is loaded or used; what only type checkers read does not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    unread = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in unread:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_only_itself_and_lower_ones(layer):
    allowed = {*LAYERS[: LAYERS.index(layer) + 1], "version"}
    files = sorted((PACKAGE / layer).rglob("*.py"))
    assert files
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in files
        for name in imports(path)
        if name.startswith("acl_emu.") and name.split(".")[1] not in allowed
    ]
    assert not wrong


def test_every_folder_is_a_layer():
    folders = {path.parent.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE}
    assert folders == set(LAYERS)
