"""Progress output of the backup commands."""

import time
from collections.abc import Callable

EVERY_S = 5.0


def in_bytes(size: float) -> str:
    """A size in bytes with a unit: "999 bytes", "1.5 MB"."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


class Progress:
    """Prints the progress of a copy every few seconds."""

    def __init__(self, verb: str, write: Callable[[str], object]) -> None:
        self._verb = verb
        self._write = write
        self._next = time.monotonic() + EVERY_S

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY_S
            self._write(f"{self._verb}: {in_bytes(done)}" + (f" of about {in_bytes(max(done, total))}" if total else ""))
