"""Reads the escape corpus (format: tests/sandbox/corpus/README.md)."""

from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).with_name("corpus")

#: Code that precedes every attempt. `facts` come from `Surroundings`.
PRELUDE = """
import ctypes, mmap, os, signal, socket, stat, subprocess, sys, threading, time
HERE = {facts!r}
libc = ctypes.CDLL(None, use_errno=True)
def syscall(x86_64, aarch64, *arguments):
    number = x86_64 if os.uname().machine == "x86_64" else aarch64
    result = libc.syscall(ctypes.c_long(number), *arguments)
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
def escaped(*proof):
    print("ESCAPED", *proof)
def gets_through(*calls):
    for call in calls:
        try:
            escaped(call())
        except (OSError, ValueError, ImportError) as error:
            print("refused:", type(error).__name__)
"""


@dataclass(frozen=True)
class Attempt:
    """An attempt to escape. `code` prints ESCAPED when it succeeds; `ends` are the accepted values of `Execution.error`."""

    sentence: str
    code: str
    ends: tuple[str, ...] = ("", "exception")
    wall_s: float = 30.0
    fence: str = ""


def _attempts(path: Path) -> list[Attempt]:
    _, *blocks = path.read_text(encoding="utf-8").split("\n== ")
    return [_attempt(*block.split("\n", 1)) for block in blocks]


def _attempt(head: str, code: str) -> Attempt:
    sentence, *marks = head.split(" | ")
    values = dict(mark.split(": ", 1) for mark in marks)
    ends = tuple("" if end == "well" else end for end in values.pop("ends", "well, exception").split(", "))
    found = Attempt(sentence, code, ends, float(values.pop("wall", 30)), values.pop("behind", ""))
    assert not values, f"{sentence}: unknown marks {', '.join(values)}"
    return found


ATTEMPTS = [attempt for path in sorted(CORPUS.glob("*.txt")) for attempt in _attempts(path)]
