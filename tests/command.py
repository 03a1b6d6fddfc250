"""The acl-emu command in tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import PATIENCE

COMMAND = Path(sys.executable).with_name("acl-emu")

HELLO = r"""
#include <cstdio>
#include "acl/acl.h"
int main(int argc, char** argv) {
  std::printf("%s %d", aclrtGetSocName(), argc);
  for (int i = 1; i < argc; ++i) std::printf(" [%s]", argv[i]);
  uint32_t count = 0;
  aclrtGetDeviceCount(&count);
  std::printf(" %u\n", count);
  return 7;
}
"""


def acl_emu(*arguments: str | Path, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("ACL_EMU_", "ASCEND_", "PYTHON"))}
    return subprocess.run(
        [str(COMMAND), *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, cwd=cwd, env={**env, **environment}
    )


def refused(*arguments: str | Path, **environment: str) -> str:
    done = acl_emu(*arguments, **environment)
    assert done.returncode != 0
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr
