"""A training step through torch_npu, against torch on the CPU, and what a small call costs there.

``measure`` starts this module in an environment with torch_npu: the one of ``make torch``, or that whose Python ACL_EMU_TORCH names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from acl_emu.cface import toolkit
from acl_emu.core import cache
from benchmarks.timing import Budget, Side, in_turn

ROOT = Path(__file__).resolve().parents[1]
SIZES: dict[str, tuple[tuple[int, ...], tuple[int, int]]] = {
    "2 layers of 32": ((32, 32, 4, 2, 24), (4, 17)),
    "4 layers of 256": ((512, 256, 4, 4, 128), (8, 129)),
}
"""Words, width, heads, layers, length of the model; the shape of its tokens."""
CALLS = 500
ADDED = {"add of 8 elements": 8, "add of none: no kernel": 0}


def python() -> str | None:
    """The Python that has torch_npu."""
    own = ROOT / ".venv-torch"
    return os.environ.get("ACL_EMU_TORCH") or (str(own / "bin" / "python") if (own / "ready").exists() else None)


def measure() -> dict[str, Any]:
    """Seconds by title and device; nothing where torch_npu is not there."""
    named = python()
    if named is None:
        print("no torch_npu: a training step is not measured; `make torch` installs it", flush=True)
        return {}
    home = {**os.environ, **toolkit.environment(toolkit.cached(cache.lasting())), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([named, "-m", "benchmarks.torch_step"], cwd=ROOT, env=home, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def training_step(device: str, size: str, *, half: bool) -> Callable[[], float]:
    """A step of the GPT of the samples."""
    import torch
    from programs import GPT, gpt_step

    torch.manual_seed(3)
    model, shape = SIZES[size]
    gpt, tokens = GPT(*model).to(device), torch.randint(0, model[0], shape).to(device)
    optimizer = torch.optim.AdamW(gpt.parameters(), lr=1e-3)

    def step() -> float:
        with torch.autocast(device_type=device, dtype=torch.bfloat16) if half else nullcontext():
            return gpt_step(gpt, tokens, optimizer)

    return step


def steps() -> dict[str, dict[str, float]]:
    """Both devices in turn; losses have to agree."""
    found = {}
    for size in SIZES:
        for half in (False, True):
            title = f"GPT, {size}, {'bfloat16' if half else 'float32'}"
            by_device = {device: training_step(device, size, half=half) for device in ("npu", "cpu")}
            for _ in range(2):
                one, other = (step() for step in by_device.values())
                if abs(one - other) > (3e-2 if half else 1e-4) * abs(other):
                    raise ValueError(f"{title}: the loss is {one}, on the CPU {other}")
            times = in_turn({device: Side(step) for device, step in by_device.items()}, Budget(least=7, most=25, seconds=4.0))
            found[title] = {device: taken.median for device, taken in times.items()}
    return found


def additions() -> dict[str, float]:
    """Seconds of a small addition, with a kernel and without one, each waited for and one after the other."""
    import torch

    def waited(x: Any) -> Callable[[], None]:
        def run() -> None:
            x + x
            torch.npu.synchronize()

        return run

    found = {}
    given = {title: torch.ones(count).npu() for title, count in ADDED.items()}
    sides = {f"{title}, waited for": Side(waited(x), calls=CALLS) for title, x in given.items()}
    sides |= {f"{title}, queued": Side(lambda x=x: x + x, torch.npu.synchronize, CALLS) for title, x in given.items()}
    found.update({title: taken.median for title, taken in in_turn(sides, Budget(least=7, most=25, seconds=3.0)).items()})
    return found


if __name__ == "__main__":
    import torch_npu  # noqa: F401

    sys.path.insert(0, str(ROOT / "samples" / "torch"))
    print(json.dumps({"steps": steps(), "additions": additions()}))
