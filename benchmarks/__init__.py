"""``make bench``: how fast the emulator is, as ratios to what the machine and other libraries do in the same run."""

import os

os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # or numpy's threads go on spinning, and slow down what is timed next
