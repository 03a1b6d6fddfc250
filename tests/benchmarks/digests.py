"""``python -m tests.benchmarks.digests``: a digest of every output of every operator of the chip, as JSON."""

from __future__ import annotations

import hashlib
import json
import os

from benchmarks.emulator import Call
from benchmarks.operators import arguments
from benchmarks.problems import SUBJECTS


def digests() -> dict[str, str]:
    """Of calls with some 200 K elements, which are enough for several threads."""
    found = {}
    for subject in SUBJECTS:
        if subject.chip != os.environ.get("ACL_EMU_SOC", ""):
            continue
        layouts = ("contiguous",) if subject.kind == "product" else ("contiguous", "transposed")
        for dtype in subject.dtypes:
            for layout in layouts if dtype == subject.dtypes[0] else layouts[:1]:
                with Call(subject.operator, arguments(subject, dtype, "medium", layout)) as call:
                    call.run()
                    for name, array in call.results().items():
                        found[f"{subject.name} {dtype} {layout} {name}"] = hashlib.sha256(array.tobytes()).hexdigest()
    return found


if __name__ == "__main__":
    print(json.dumps(digests()))
