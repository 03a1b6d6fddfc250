"""What the engine takes for a run, it gives back."""

from __future__ import annotations

from tests.conftest import run_python

_LONG_ROW = """
import threading, numpy as np
from acl_emu import engine as native

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

def run(x, out):
    native.apply(softmax, [x], [out])

def grown(count, action):
    before = resident()
    for _ in range(count):
        action()
    return (resident() - before) / 2**20

def in_a_thread(x, out):
    thread = threading.Thread(target=run, args=(x, out))
    thread.start()
    thread.join()

small, middle, huge = (np.zeros((1, n), np.float32) for n in (1000, 250_000, 4_000_000))
outs = [np.ones_like(x) for x in (small, middle, huge)]
for x, out in zip((small, middle, huge), outs):
    x += 1
    in_a_thread(small, outs[0])
native.apply(softmax, [small], [outs[0]])
print(grown(1, lambda: run(huge, outs[2])), grown(60, lambda: in_a_thread(middle, outs[1])))
assert abs(outs[2].sum() - 1) < 1e-3 and abs(outs[1].sum() - 1) < 1e-3
"""


def test_long_rows_and_short_lived_threads_leave_nothing() -> None:
    """A row of 4 million numbers takes 16 MB at least, one of 250,000 a megabyte in each of 60 threads."""
    found = run_python(_LONG_ROW)
    assert found.returncode == 0, found.stderr
    after_huge, after_threads = map(float, found.stdout.split())
    assert after_huge < 8
    assert after_threads < 16
