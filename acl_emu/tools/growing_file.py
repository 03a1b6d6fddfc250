"""A file that is complete at every moment: what was written is there even when the process is killed, and ends as it should.

It is mapped into memory. To add to it then costs no system call, which would let other threads run in between and slow a program with
several of them down many times; and what is in the mapping is in the file, whatever becomes of the process. Behind the end there are
blanks, which a closed file has no more.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from pathlib import Path

_WINDOW = 1 << 20
"""So much of the file is mapped at a time."""


class GrowingFile:
    """Bytes that stay, and after them a tail that the next addition replaces."""

    def __init__(self, path: Path) -> None:
        self.path, self._file = _open(path)
        self._base = 0
        self._kept = 0
        """Bytes that stay."""
        self._end = 0
        """Where the tail ends."""
        self._blank_to = 0
        """Where the blanks end, and the file with them."""
        self._window: mmap.mmap | None = None

    def append(self, data: bytes, tail: bytes) -> None:
        """Put ``data`` where the tail was, and a new tail behind it. An OSError leaves the file as it was."""
        text = data + tail
        end = self._kept + len(text)
        window = self._window
        if window is None or end > self._blank_to:
            window = self._move(end)
        if end < self._end:
            text += b" " * (self._end - end)
        first = self._kept - self._base
        window[first : first + len(text)] = text
        self._kept += len(data)
        self._end = end

    def _move(self, end: int) -> mmap.mmap:
        """Map the part of the file from the tail on, with room behind ``end``."""
        self._base = self._kept // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
        blank_to = end + _WINDOW
        _write(self._file, b" " * (blank_to - self._blank_to), self._blank_to)  # a full disk is an error here, and a signal in the mapping
        self._blank_to = blank_to
        if self._window is not None:
            self._window.close()
        self._window = mmap.mmap(self._file, blank_to - self._base, offset=self._base)
        return self._window

    def close(self) -> None:
        """Cut the blanks off."""
        if self._window is not None:
            self._window.close()
        os.ftruncate(self._file, self._end)
        os.close(self._file)


def _open(path: Path) -> tuple[Path, int]:
    """The file, emptied; one with the number of the process in its name where another process writes it."""
    for candidate in (path, path.with_name(f"{path.stem}.{os.getpid()}{path.suffix}")):
        opened = os.open(candidate, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(opened)
            continue
        os.ftruncate(opened, 0)
        return candidate, opened
    raise OSError(f"{path} is being written by another process")


def _write(file: int, data: bytes, offset: int) -> None:
    while data:
        count = os.pwrite(file, data, offset)
        data, offset = data[count:], offset + count
