"""``python -m benchmarks``: measure, show, and write docs/benchmarks.md with its picture."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import base, page, programs, roofline, scale, targets, torch_step
from benchmarks.operators import Row
from benchmarks.problems import SUBJECTS

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "build" / "bench" / "results.json"


def operator_rows(only: str, failed: list[str], *, full: bool) -> list[Row]:
    """Measured in a process for each chip, in several passes, and shown; what fails is noted."""
    rows: dict[tuple[str, str, str, str], Row] = {}
    for chip in dict.fromkeys(subject.chip for subject in SUBJECTS if only.lower() in subject.operator.lower()):
        command = [sys.executable, "-m", "benchmarks.operators", "--only", only, "--chip", chip, *(["--full"] if full else [])]
        with subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, "ACL_EMU_SOC": chip, "ACL_EMU_COMPILE": "wait"}, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                found = json.loads(line)
                if "failed" in found:
                    print("FAILED", found["failed"], flush=True)
                    failed.append(found["failed"])
                else:
                    row = Row(**found)
                    show(row)
                    if row.place in rows:
                        rows[row.place].join(row)
                    else:
                        rows[row.place] = row
        if process.returncode:
            failed.append(f"the process of {chip or 'the usual chip'} ended with {process.returncode}")
    return list(rows.values())


def show(row: Row) -> None:
    """A line on the terminal."""
    print(
        f"{row.subject:44.44} {row.dtype:8} {row.size:6} {row.layout:10} {page.milliseconds(row.emulator):>8} ms"
        f"  torch {page.milliseconds(row.torch):>8} ms  ratio {page.number(row.ratio):>5}  bound {page.number(row.share):>5}"
        f"  in order {page.number(row.order):>5}  single steps {page.number(row.single):>5}  {row.note}",
        flush=True,
    )


def bounds_of(rows: list[Row]) -> dict[str, float]:
    """Bandwidth and speed of products: medians of what was timed beside the operators."""
    bandwidth = [row.bytes / row.bound for row in rows if row.bound and not row.flops]
    peak = [row.flops / row.bound for row in rows if row.bound and row.flops]
    return {"bandwidth": statistics.median(bandwidth), "peak": statistics.median(peak)}


def _noted(failed: list[str], name: str, part: Callable[[], Any]) -> dict[str, Any]:
    """A part of the results; nothing, and a note, where it fails."""
    try:
        return {name: part()}
    except Exception as error:  # the other parts are measured all the same
        print("FAILED", name, error, flush=True)
        failed.append(f"{name}: {type(error).__name__}: {error}")
        return {}


def measure(*, full: bool, checkout: Path | None) -> dict[str, Any]:
    """Everything, the quick parts first."""
    failed: list[str] = []
    bystanders = page.Bystanders()
    others = {
        **_noted(failed, "small", lambda: scale.in_process("benchmarks.small_calls")),
        **_noted(failed, "programs", lambda: {"start_up": programs.start_up(), "checker": programs.checker()}),
        **_noted(failed, "torch_npu", torch_step.measure),
        **_noted(failed, "scale", scale.measure),
        **({} if checkout is None else _noted(failed, "base", lambda: base.measure(checkout, show=base.show))),
    }
    rows = operator_rows("", failed, full=full)
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "full": full,
        "machine": page.machine(),
        "bounds": bounds_of(rows),
        "operators": [asdict(row) for row in rows],
        "failed": failed,
        "bystanders": bystanders.share(os.cpu_count() or 1),
        **others,
    }


def publish(found: dict[str, Any]) -> None:
    """The page, the picture, and the targets on the terminal."""
    rows = [Row(**row) for row in found["operators"]]
    verdicts = targets.of_operators(rows) + targets.of_layers(rows)
    verdicts += targets.of_small_calls(found["small"]) if "small" in found else []
    verdicts += targets.of_scale(found["scale"]) if "scale" in found else []
    verdicts += targets.of_base(found["base"]) if "base" in found else []
    verdicts += targets.of_torch(found["torch_npu"]) if found.get("torch_npu") else []
    (ROOT / "docs" / "benchmarks.md").write_text(page.write(found, rows, verdicts), encoding="utf-8")
    (ROOT / "docs" / "roofline.svg").write_text(roofline.draw(rows, **found["bounds"]), encoding="utf-8")
    print(f"\nother processes used {found['bystanders']:.0%} of the processors meanwhile")
    for verdict in verdicts:
        print(f"{ {True: 'met', False: 'NOT MET', None: '-'}[verdict.met]:8} {verdict.target}: {verdict.found}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--full", action="store_true", help="every dtype, size and layout, and torch's slowest kernels")
    parser.add_argument("--only", default="", help="operators whose name has this in it; nothing is written")
    parser.add_argument("--again", action="store_true", help="write the page from the numbers of the last run")
    parser.add_argument("--base", type=Path, help="another checkout, built, to compare with row by row")
    chosen = parser.parse_args()
    if chosen.only:
        failed: list[str] = []
        if chosen.base:
            base.measure(chosen.base, chosen.only, base.show)
        operator_rows(chosen.only, failed, full=chosen.full)
        sys.exit(1 if failed else 0)
    if not chosen.again:
        found = measure(full=chosen.full, checkout=chosen.base)
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(json.dumps(found, indent=1), encoding="utf-8")
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    publish(found)
    sys.exit(1 if found["failed"] else 0)


if __name__ == "__main__":
    main()
