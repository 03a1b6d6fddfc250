"""What is left to do when a program has ended: its pictures, its findings, and why its last call failed."""

from __future__ import annotations

import os
from pathlib import Path

import click

from acl_emu.cli.failure import Failure, tell
from acl_emu.cli.process import End
from acl_emu.core import notes, soc


def check_option(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Refuse a ``--check=`` that means nothing."""
    if value is not None:
        from acl_emu.tools.checker.options import parse

        try:
            parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
    return value


class Afterwards:
    """The files that options ask for, and what is said at the end; each of several programs gets its own files."""

    def __init__(self, check: str | None, trace: Path | None, report: Path | None, *, several: bool) -> None:
        self._check = check
        self._wanted = {"--trace": trace, "--report": report}
        self._several = several
        self._files: dict[str, Path] = {}

    def environment(self, number: int, folder: Path) -> dict[str, str]:
        """What the program with this number is told; ``folder`` is for its notes."""
        self._files = {option: self._numbered(file, number) for option, file in self._wanted.items() if file is not None}
        for option, file in self._files.items():
            _make_sure(option, file)
        given = {"--trace": "ACL_EMU_TRACE", "--report": "ACL_EMU_REPORT"}
        environment = {given[option]: str(file) for option, file in self._files.items()}
        if self._check is not None:
            mode, separator, name = self._check.partition("json:")
            if separator:
                self._files["--check"] = self._numbered(Path(name), number)
                _make_sure("--check", self._files["--check"])
                name = str(self._files["--check"])
            environment["ACL_EMU_CHECK"] = mode + separator + name
        return {**environment, notes.VARIABLE: str(folder)}

    def _numbered(self, file: Path, number: int) -> Path:
        return (file.with_name(f"{file.stem}-{number}{file.suffix}") if self._several else file).absolute()

    def finish(self, end: End, folder: Path) -> int:
        """Do it; the exit code."""
        found = self._print_findings(folder)
        self._finish_pictures()
        if end.code:
            _tell_failure(folder)
        return found if found and not end.by_signal else end.code

    def _print_findings(self, folder: Path) -> int:
        """Those that the program could not print any more; the exit code that they ask for."""
        code = 0
        checked = (folder / notes.FINDINGS).exists()
        if not checked and "--check" not in self._files:
            return code
        from acl_emu.tools.checker.findings import Findings
        from acl_emu.tools.checker.options import parse
        from acl_emu.tools.checker.record import recorded
        from acl_emu.tools.checker.report import report, write_json

        options = parse(self._check or os.environ.get("ACL_EMU_CHECK") or "1")
        file = self._files.get("--check") or (options.json if options else None)
        for one in recorded(folder):
            if not one.printed and one.findings:
                click.echo(report(one.findings, one.mapped), err=True, nl=False)
                if file is not None:
                    write_json(file, one.findings, one.mapped)
                if options is not None and options.exit_code is not None:
                    code = options.exit_code
        if file is not None and not file.exists():
            write_json(file, Findings())
        return code

    def _finish_pictures(self) -> None:
        """A program that died may have left something to do."""
        file = self._files.get("--report")
        if file is not None:
            from acl_emu.tools import report

            try:
                report.finish(file)
            except OSError as error:
                raise Failure(f"--report {file}: {error.strerror}; the report is not written") from None
        file = self._files.get("--trace")
        if file is not None and file.exists():
            from acl_emu.tools import trace_file

            try:
                trace_file.repair(file)
            except OSError as error:
                raise Failure(f"--trace {file}: {error.strerror}; the trace is not complete") from None
        for file in self._files.values():
            if not file.exists():
                tell(f"{file} was not written: the program made no call")


def _make_sure(option: str, file: Path) -> None:
    """That a file can be written, and is not an old one."""
    try:
        if file.exists() and not file.is_file():
            raise Failure(f"{option} {file}: not a file that can be replaced")
        file.unlink(missing_ok=True)
        file.touch()
        file.unlink()
    except OSError as error:
        raise Failure(f"{option} {file}: {error.strerror}") from None


def _tell_failure(folder: Path) -> None:
    """Say why the last call that failed did, unless the program asked for that itself: most programs print a number."""
    for failure in notes.read(folder, notes.FAILURE):
        from acl_emu.tools import spell

        code = failure["code"]
        tell(f"{failure['function']} returned {code} ({spell.status(code)}): {failure['text']}{_elsewhere(failure['function'])}")


def _elsewhere(function: str) -> str:
    """Which chips have an operator that this one lacks."""
    import aclnnop

    if not function.startswith("aclnn"):
        return ""
    try:
        products = aclnnop.find(function).products
    except AttributeError:
        return ""
    if soc.current().product in products:
        return ""
    chips = [chip.name for chip in soc.PROFILES.values() if chip.product in products]
    return f"; with --soc it runs on {', '.join(chips)}" if chips else ""
