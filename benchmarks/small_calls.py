"""Small calls: what everything around a kernel costs, against the bare numpy expression and an empty callback in the same process."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import acl_emu as acl
import aclnnop
from benchmarks import c_loops
from benchmarks.compare import agree
from benchmarks.emulator import Call, CallFailed
from benchmarks.timing import Budget, Side, in_turn

ELEMENTS = 8
CALLS = 500
QUEUED = 10_000
LOOPS = ("waited", "planned", "offsets", "shapes", "listed", *c_loops.OBJECTS)


def expression(grad: Any, x: Any, y: Any, beta: float) -> Any:
    """The kernel of SmoothL1LossBackward in numpy, and nothing else."""
    difference = x - y
    return grad * np.where(np.abs(difference) < beta, difference / beta, np.sign(difference))


def problem() -> dict[str, Any]:
    """The call that is made."""
    rng = np.random.default_rng(1)
    grad, x, y = (rng.standard_normal(ELEMENTS, np.float32) for _ in range(3))
    return {"gradOut": grad, "self": x, "target": y, "reduction": 0, "beta": 1.0, "gradInput": np.zeros(ELEMENTS, np.float32)}


def _checked(loop: Callable[[int], int], calls: int) -> Callable[[], None]:
    def run() -> None:
        status = loop(calls)
        if status:
            raise CallFailed(f"a loop in C returned {status}: {acl.aclGetRecentErrMsg()}")

    return run


def _from_python(call: Call) -> dict[str, Callable[[], None]]:
    """The same loops in Python, with the functions at hand as a program has them."""
    plan, launch = aclnnop.aclnnSmoothL1LossBackwardGetWorkspaceSize, aclnnop.aclnnSmoothL1LossBackward
    arguments, stream, synchronize, destroy = call.arguments, call.stream, acl.aclrtSynchronizeStream, acl.aclDestroyAclOpExecutor

    def waited() -> None:
        for _ in range(CALLS):
            size, executor, status = plan(*arguments)
            if status or launch(None, size, executor, stream) or synchronize(stream):
                raise CallFailed("a call from Python failed")

    def queued() -> None:
        for _ in range(QUEUED):
            size, executor, status = plan(*arguments)
            if status or launch(None, size, executor, stream):
                raise CallFailed("a call from Python failed")
        call.wait()

    def planned() -> None:
        for _ in range(CALLS):
            _, executor, status = plan(*arguments)
            if status or destroy(executor):
                raise CallFailed("a call from Python failed")

    return {"waited": waited, "queued": queued, "planned": planned}


def measure() -> dict[str, float]:
    """Seconds for one call of everything, by name."""
    given = problem()
    module = c_loops.load()
    lib, ffi = module.lib, module.ffi
    inputs = np.concatenate([given[name] for name in ("gradOut", "self", "target", "gradInput")])
    if lib.small_prepare(ffi.cast("const float *", inputs.ctypes.data)):
        raise CallFailed(f"the loops in C cannot begin: {acl.aclGetRecentErrMsg()}")
    arrays = given["gradOut"], given["self"], given["target"]

    def bare() -> None:
        for _ in range(CALLS):
            expression(*arrays, 1.0)

    with Call("aclnnSmoothL1LossBackward", given) as call:
        python = _from_python(call)
        runs: dict[str, tuple[Callable[[], object], int]] = {
            "numpy": (bare, CALLS),
            "callback": (lambda: lib.call_empty(CALLS), CALLS),
            **{f"C {name}": (_checked(getattr(lib, f"small_{name}"), CALLS), CALLS) for name in LOOPS},
            "C queued": (_checked(lib.small_queued, QUEUED), QUEUED),
            **{f"Python {name}": (run, QUEUED if name == "queued" else CALLS) for name, run in python.items()},
        }
        expected = {"gradInput": expression(*arrays, 1.0)}
        found = np.empty(ELEMENTS, np.float32)
        runs["C waited"][0]()
        assert not lib.small_result(ffi.cast("float *", found.ctypes.data))
        agree({"gradInput": found}, expected)
        python["waited"]()
        agree(call.results(), expected)
        times = in_turn({name: Side(run) for name, (run, _) in runs.items()}, Budget(least=9, most=9))
    assert not lib.small_finish()
    return {name: times[name].median / calls for name, (_, calls) in runs.items()}


if __name__ == "__main__":
    print(json.dumps(measure()))
    sys.exit()
