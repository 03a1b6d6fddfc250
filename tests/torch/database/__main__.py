"""``python -m tests.torch.database --python PYTHON``: run the entries of torch's operator database, and write docs/torch.md.

It ends with 1 where an entry differs without a reason in reasons.json, or does not differ although it has one.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from acl_emu.cface import toolkit
from acl_emu.core import cache
from tests.torch.database import page

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build" / "torch"
PATIENCE = 300
"""Seconds for one entry, and for a process to begin."""


ON_CPU = re.compile(r"operator '([\w:.]+)' is not currently supported on the NPU")
"""What torch_npu says of it, once in every process."""


class Stopped(Exception):
    """The process ended, or took too long."""


class Worker:
    """A process that runs entries, one after the other."""

    def __init__(self, python: str, log: Path) -> None:
        paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(":"))]
        home = {**os.environ, **toolkit.environment(toolkit.cached(cache.lasting())), "PYTHONPATH": ":".join(paths)}
        with log.open("a") as file:
            self.process = subprocess.Popen(
                [python, "-m", "tests.torch.database.worker"],
                env=home,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                start_new_session=True,
            )
        try:
            self.entries: list[str] = self._answer()
        except Stopped as stopped:
            raise SystemExit(f"the database cannot be run: {stopped}; see {log}") from None

    def _answer(self) -> Any:
        output = self.process.stdout
        assert output is not None
        ready, _, _ = select.select([output], [], [], PATIENCE)
        line = output.readline() if ready else ""
        if not line:
            why = f"it takes longer than {PATIENCE} seconds" if not ready else f"the process ends with {self.process.wait()}"
            self.end()
            raise Stopped(why)
        return json.loads(line)

    def ask(self, **asked: Any) -> Any:
        """The answer for one entry."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def end(self) -> None:
        """Whatever it does."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextmanager
def progress(total: int) -> Iterator[Any]:
    """A line on the terminal that counts."""
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if sys.stderr.isatty() or done % 50 == 0:
            print(f"{done} of {total} entries", end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)

    yield step


def run_all(python: str, processes: int, names: list[str], dtype: str, samples: int, random: set[str]) -> list[dict[str, Any]]:
    """Every entry, side by side in processes; one that ends its process gets a new one."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for log in FOLDER.glob("worker-*.log"):
        log.unlink()
    logs = [FOLDER / f"worker-{number}.log" for number in range(processes)]
    first = Worker(python, logs[0])
    unknown = sorted(set(names) - set(first.entries))
    if unknown:
        first.end()
        raise SystemExit(f"no entry of the database: {', '.join(unknown)}")
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    wanted = names or first.entries
    for name in wanted:
        waiting.put(name)
    found: dict[str, dict[str, Any]] = {}
    with progress(len(wanted)) as step:

        def work(worker: Worker | None, log: Path) -> None:
            while True:
                try:
                    name = waiting.get_nowait()
                except queue.Empty:
                    break
                worker = worker or Worker(python, log)
                try:
                    found[name] = worker.ask(entry=name, dtype=dtype, samples=samples, shapes_only=name in random)
                except (Stopped, BrokenPipeError) as stopped:
                    found[name] = {"entry": name, "dtype": "", "steps": {"forward": page.stopped(str(stopped))}}
                    worker = None
                step()
            if worker:
                worker.end()

        threads = [threading.Thread(target=work, args=(first if log is logs[0] else None, log)) for log in logs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return [found[name] for name in wanted]


def main() -> int:
    """The number to exit with."""
    parser = argparse.ArgumentParser(prog="python -m tests.torch.database", description=__doc__)
    parser.add_argument("--python", required=True, help="of an environment with torch_npu")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--samples", type=int, default=60, help="of each entry, at most")
    parser.add_argument("--dtype", default="", help="such as float16; by default float32 where the entry takes it. Nothing is written")
    parser.add_argument("entries", nargs="*", help="all by default; then the page is written")
    asked = parser.parse_args()
    reasons = page.read_reasons()
    random = {entry for reason in reasons if reason.get("compare") == "shapes" for entry in reason["entries"]}
    found = run_all(asked.python, asked.processes, asked.entries, asked.dtype, asked.samples, random)
    whole = not asked.entries and not asked.dtype
    if whole:
        (FOLDER / "results.json").write_text(json.dumps(found, indent=1))
    on_cpu = {name for log in FOLDER.glob("worker-*.log") for name in ON_CPU.findall(log.read_text(errors="replace"))}
    table = page.Table(found, reasons, sorted(on_cpu))
    if whole:
        (ROOT / "docs" / "torch.md").write_text(table.text(asked.samples), encoding="utf-8")
    print(table.summary())
    for line in table.unexplained(stale=whole):
        print(line)
    return 1 if any(table.unexplained(stale=whole)) else 0


if __name__ == "__main__":
    sys.exit(main())
