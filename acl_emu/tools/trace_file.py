"""The file of a trace: how events are written, read back, and mended where a process died."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

END = "\n]\n"
encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, check_circular=False, default=str).encode


def file_for_this_process(name: str | Path) -> Path:
    """``%p`` in a file name stands for the number of the process."""
    return Path(str(name).replace("%p", str(os.getpid()))).absolute()


def events(file: Path) -> Iterator[dict[str, Any]]:
    """The events of a trace, one after the other; what was cut off in the middle is left out."""
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            text = line.strip().rstrip(",").lstrip("\0")
            if text.startswith("{"):
                try:
                    yield json.loads(text)
                except ValueError:
                    return


def repair(file: Path) -> None:
    """End the file of a process that died: cut the blanks off, and close it if it was cut off in the middle of an addition."""
    with file.open("r+b") as opened:
        length = opened.seek(0, os.SEEK_END)
        blanks = b" "
        while length and not blanks.strip():
            step = min(length, 4096)
            opened.seek(length - step)
            blanks = opened.read(step)
            length -= step
        kept = length + len(blanks.rstrip(b" "))
        if kept == opened.seek(0, os.SEEK_END):
            return
        opened.truncate(kept)
    try:
        with file.open(encoding="utf-8") as text:
            json.load(text)
    except ValueError:
        whole = list(events(file))
        file.write_text("[\n" + ",\n".join(map(encode, whole)) + END, encoding="utf-8")
