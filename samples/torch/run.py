"""Run every program on an emulated NPU and on the CPU, and compare: ``acl-emu exec python samples/torch/run.py [NAME...]``."""

from __future__ import annotations

import re
import sys
import traceback

import torch
import torch_npu  # noqa: F401
from networks import NETWORKS
from programs import PROGRAMS


def main(names: list[str]) -> int:
    """A table at the end; how many programs went wrong."""
    rows, wrong = [], 0
    for program, tolerance in {**PROGRAMS, **NETWORKS}.items():
        if names and program.__name__ not in names:
            continue
        print(f"{program.__name__}: {program.__doc__}")
        expected = program("cpu")
        try:
            found = program("npu")
            torch.npu.synchronize()
        except Exception as error:
            traceback.print_exc()
            missing = re.search(r"aclnn\w+ is documented but not emulated", str(error))
            rows.append((program.__name__, "failed", missing[0] if missing else str(error).partition("\n")[0][:120]))
            wrong += 1
            continue
        largest = max(map(abs, expected)) or 1.0
        distance = max(abs(a - b) for a, b in zip(expected, found, strict=True)) / largest
        ok = distance <= tolerance
        wrong += not ok
        rows.append((program.__name__, "ok" if ok else "differs", f"{distance:.1e} of at most {tolerance:.0e}; ends with {found[-1]:.6g}"))
    print()
    for name, verdict, text in rows:
        print(f"{name:16} {verdict:8} {text}")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
