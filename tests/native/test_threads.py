"""The threads that kernels share: everybody's work is done when the call returns, whoever else works at the same time."""

from __future__ import annotations

import pytest

from tests.conftest import run_python

PRELUDE = """
import ctypes, os, sys, threading
from acl_emu.engine.bindings import PATH

engine = ctypes.CDLL(str(PATH))
FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
engine.acl_emu_engine_together.argtypes = (FUNCTION, ctypes.c_void_p, ctypes.c_int64)


class Work:
    # units that whoever joins takes one by one
    def __init__(self, units, each=lambda unit: None):
        self.left, self.taken, self.done, self.each = list(range(units)), 0, [], each
        self.lock = threading.Lock()
        self.function = FUNCTION(self.run)

    def run(self, _):
        while True:
            with self.lock:
                if not self.left:
                    return
                unit = self.left.pop()
            self.each(unit)
            with self.lock:
                self.done.append(unit)

    def together(self, threads):
        engine.acl_emu_engine_together(self.function, None, threads)
        return len(self.done)
"""

BODIES = {
    "any number of threads": """
for threads in (-1, 0, 1, 2, 3, 17):
    for units in (0, 1, 5, 100):
        assert Work(units).together(threads) == units
""",
    "again and again": """
assert all(Work(3).together(4) == 3 for _ in range(200))
""",
    "after a pause": """
import time
for pause in (0, 0.0001, 0.001, 0.01):
    for _ in range(20):
        time.sleep(pause)
        assert Work(8).together(3) == 8
""",
    "several callers": """
found = []
def call():
    for _ in range(20):
        found.append(Work(20).together(4))
callers = [threading.Thread(target=call) for _ in range(5)]
for caller in callers: caller.start()
for caller in callers: caller.join()
assert found == [20] * 100
""",
    "a helper joins the next one": """
first, second = Work(2), Work(2)
joined, begun, gate = set(), threading.Barrier(2), threading.Event()
def hold(unit):
    begun.wait()
    gate.wait()
first.each = hold
def meet(unit):
    gate.set()  # the helper is through with the first one then, and needed here
    joined.add(threading.get_ident())
    pair.wait(60)
pair = threading.Barrier(2)
second.each = meet
caller = threading.Thread(target=first.together, args=(2,))
caller.start()
while first.left: pass
assert second.together(2) == 2 and len(joined) == 2
caller.join()
assert len(first.done) == 2
""",
    "inside each other": """
def inner(unit):
    assert Work(4).together(3) == 4
for _ in range(10):
    assert Work(6, inner).together(3) == 6
""",
    "in a child": """
Work(8).together(3)
child = os.fork()
if not child:
    os._exit(0 if Work(8).together(3) == 8 else 1)
assert os.waitpid(child, 0)[1] == 0
assert Work(8).together(3) == 8
""",
}


@pytest.mark.parametrize("body", sorted(BODIES))
def test_together(body: str) -> None:
    done = run_python(PRELUDE + BODIES[body])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
