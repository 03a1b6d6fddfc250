"""``python -m acl_emu.codegen [--check]``: write every derived file, or say which ones are out of date."""

from __future__ import annotations

import sys
from pathlib import Path

from acl_emu.codegen import constants


def derived_files() -> dict[str, str]:
    """Path below the project -> text."""
    files = {"acl_emu/core/constants.py": constants.python_module()}
    from acl_emu.codegen import c_face, coverage, fused, python_faces  # these need acl_emu.core.constants

    files["acl_emu/api/__init__.py"] = python_faces.api_init()
    files["aclnnop/index.py"] = python_faces.operator_index()
    files["aclnnop/__init__.pyi"] = python_faces.operator_stubs()
    files["acl_emu/cface/c/exports.c"] = c_face.exports()
    files["acl_emu/engine/c/fused.c"] = fused.source()
    files["docs/operators.md"] = coverage.page()
    files.update({f"include/{name}": text for name, text in c_face.headers().items()})
    return files


def main() -> int:
    """Write or check."""
    root = Path(__file__).resolve().parents[2]
    files = derived_files()
    from acl_emu.codegen.c_face import WRITTEN_BY_HAND

    kept = {f"include/{name}" for name in WRITTEN_BY_HAND} | files.keys()
    headers = [str(path.relative_to(root)) for path in sorted((root / "include").rglob("*.h"))]
    stale = [name for name in headers if name not in kept]
    if "--check" not in sys.argv:
        for name in stale:
            (root / name).unlink()
    for name, text in files.items():
        path = root / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    print("\n".join(stale) if stale else "derived files are up to date")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
