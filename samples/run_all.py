"""Build and run every sample, Python and C++, and print a table of what ran. Exit code 1 when one fails."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from acl_emu.cface import toolkit

ROOT = Path(__file__).resolve().parents[1]
CPP = ROOT / "samples" / "cpp"
PYTHON = ROOT / "samples" / "python"
BUILD = ROOT / "build"
TIMEOUT_SECONDS = 300


class BuildError(Exception):
    """A sample could not be built; the text is what the tool printed."""


@dataclass(frozen=True)
class Sample:
    """One program, ready to run."""

    name: str
    language: str
    command: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What became of it."""

    sample: Sample
    code: int
    output: str

    @property
    def last_line(self) -> str:
        """What it said last."""
        return next((" ".join(line.split()) for line in reversed(self.output.splitlines()) if line.strip()), "")


def main() -> int:
    """Everything; the exit code."""
    tree = BUILD / "toolkit"
    began = time.perf_counter()
    try:
        toolkit.lay_out(tree)
        environment = {**os.environ, **toolkit.environment(tree)}
        samples = python_samples() + cpp_samples(tree, environment)
    except (BuildError, toolkit.ToolkitError) as error:
        print(f"cannot build the samples:\n{error}", file=sys.stderr)
        return 1
    outcomes = run_table(samples, environment)
    failed = [outcome for outcome in outcomes if outcome.code]
    for outcome in failed:
        print(f"\n{outcome.sample.name} ({outcome.sample.language}) ended with code {outcome.code}:\n{outcome.output.rstrip()}")
    print(f"\n{len(outcomes) - len(failed)} of {len(outcomes)} samples ok, {time.perf_counter() - began:.1f} s")
    return 1 if failed else 0


def python_samples() -> list[Sample]:
    """The programs among the Python files; the others are there to be imported."""
    programs = [path for path in sorted(PYTHON.glob("*.py")) if "__main__" in path.read_text(encoding="utf-8")]
    return [Sample(path.stem, "Python", (sys.executable, str(path))) for path in programs]


def cpp_samples(tree: Path, environment: Mapping[str, str]) -> list[Sample]:
    """Build all of them: with CMake where it is installed, otherwise with the compiler alone."""
    sources = sorted(CPP.glob("*.cpp"))
    with_cmake = shutil.which("cmake") is not None
    folder = BUILD / ("samples" if with_cmake else "samples-plain")
    folder.mkdir(parents=True, exist_ok=True)
    jobs = os.cpu_count() or 1
    print(f"building {len(sources)} C++ samples with {'CMake' if with_cmake else 'the compiler alone'} ...", file=sys.stderr)
    if with_cmake:
        (folder / "CMakeCache.txt").unlink(missing_ok=True)  # it names the folders of an earlier checkout
        build_step(["cmake", "-S", str(CPP), "-B", str(folder)], environment)
        build_step(["cmake", "--build", str(folder), "--parallel", str(jobs)], environment, total=len(sources))
    else:
        with ThreadPoolExecutor(jobs) as pool:
            built = pool.map(lambda source: build_step(compile_line(source, folder / source.stem, tree), environment), sources)
            for number, (source, _) in enumerate(zip(sources, built, strict=True), 1):
                tell_built(source.stem, number, len(sources))
    return [Sample(source.stem, "C++", (str(folder / source.stem),)) for source in sources]


def compile_line(source: Path, executable: Path, tree: Path) -> list[str]:
    """The one line that compiles a program against a toolkit."""
    compiler = shlex.split(os.environ.get("CXX", "")) or [name for name in ("g++", "clang++", "c++") if shutil.which(name)][:1]
    if not compiler:
        raise BuildError("no C++ compiler found; install g++ or clang")
    include, libraries = tree / "include", tree / "lib64"
    folders = [f"-I{include}", f"-I{include / 'aclnn'}", f"-L{libraries}"]
    linked = ["-lopapi_nn", "-lopapi_math", "-lascendcl", "-lnnopbase", "-pthread"]
    return [*compiler, str(source), *folders, *linked, "-o", str(executable)]


def build_step(command: list[str], environment: Mapping[str, str], total: int = 0) -> None:
    """Run a build tool quietly, but for the programs that are done; what it printed is shown when it fails."""
    printed = []
    number = 0
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as tool:
        assert tool.stdout is not None
        for line in tool.stdout:
            printed.append(line)
            if "Built target " in line:
                number += 1
                tell_built(line.split()[-1], number, total)
    if tool.returncode:
        raise BuildError(f"{' '.join(command)}\n{''.join(printed).rstrip()}")


def tell_built(name: str, number: int, total: int) -> None:
    """One more program is there."""
    print(f"  {number} of {total}: {name}", file=sys.stderr, flush=True)


def run(sample: Sample, environment: Mapping[str, str]) -> Outcome:
    """Run one sample and keep what it prints."""
    try:
        done = subprocess.run(
            sample.command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Outcome(sample, 124, f"stopped after {TIMEOUT_SECONDS} seconds")
    return Outcome(sample, done.returncode, done.stdout)


def run_table(samples: list[Sample], environment: Mapping[str, str]) -> list[Outcome]:
    """Run all of them; one line per sample, as soon as it has run."""
    width = max(len("sample"), *(len(sample.name) for sample in samples))
    print(f"{'sample':{width}}  {'language':8}  result  last line of its output", flush=True)
    outcomes = []
    for sample in samples:
        outcome = run(sample, environment)
        shown = f"{sample.name:{width}}  {sample.language:8}  {'failed' if outcome.code else 'ok':6}  {outcome.last_line[:80]}"
        print(shown.rstrip(), flush=True)
        outcomes.append(outcome)
    return outcomes


if __name__ == "__main__":
    sys.exit(main())
