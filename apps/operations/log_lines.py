"""Search the log files of the embedded stack for one run or call. Bounded in bytes, lines and seconds."""

import json
import mmap
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST_LINES = 400
MOST_SECONDS = 2.0
MOST_FOLLOWING = 60
LONGEST_LINE = 4000
_TEXT = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (\w+) +(\S+): (.*)", re.DOTALL)
_CALL = re.compile(r"[0-9a-f-]{36}/(\S+)#\d+")
_BEGINS = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} |\{\"at\": ")

_TRACEBACK = b"Traceback "


@dataclass(frozen=True)
class LogLine:
    """One line with the traceback below it. `at`: time as logged; `file`: file name without its extension, names the process.

    `step`: the call that the line names, or empty.
    """

    at: str
    level: str
    logger: str
    text: str
    file: str
    step: str = ""


@dataclass(frozen=True)
class Found:
    """The newest lines, oldest first. `is_cut`: a bound was reached, so there may be more."""

    lines: list[LogLine]
    files: int
    is_cut: bool


def lines_about(folder: Path, run: str, step: str = "") -> Found:
    """All lines that name the run and, if given, the step. Newest files are read first."""
    files = sorted(folder.glob("*.log*"), key=lambda path: path.stat().st_mtime, reverse=True) if folder.is_dir() else []
    until = time.monotonic() + MOST_SECONDS
    wanted = _pattern(step)
    lines: list[LogLine] = []
    is_cut = False
    for path in files:
        of_file = 0
        for line in _search(path, run.encode(), until):
            if wanted is None or wanted.search(line):
                lines.append(_read(line.decode(errors="replace"), path.name.partition(".")[0]))
                of_file += 1
            if of_file >= MOST_LINES:
                is_cut = True
                break
        is_cut = is_cut or time.monotonic() > until
    lines.sort(key=lambda line: line.at)
    return Found(lines[-MOST_LINES:], len(files), is_cut or len(lines) > MOST_LINES)


def _pattern(step: str) -> "re.Pattern[bytes] | None":
    """A pattern for the step as a whole word: `s0/r1` does not match `s0/r12`."""
    return re.compile(rb"[/\s\"=]" + re.escape(step.encode()) + rb"(?=[#\s\",\]:]|$)") if step else None


def _search(path: Path, needle: bytes, until: float) -> Iterator[bytes]:
    """Yield lines with `needle` from the end of the file backwards, each with the traceback below it."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            end = len(text)
            while time.monotonic() < until and (at := text.rfind(needle, 0, end)) >= 0:
                begin = text.rfind(b"\n", 0, at) + 1
                while begin and not _BEGINS.match(text, begin):  # Inside a traceback: its first line is above.
                    begin = text.rfind(b"\n", 0, begin - 1) + 1
                yield text[begin : _end(text, at)]
                end = begin
    except (OSError, ValueError):  # Rotated in the meantime, or empty.
        return


def _end(text: mmap.mmap, at: int) -> int:
    """The end of the line at `at`, including a traceback directly below it."""
    end = text.find(b"\n", at)
    if end < 0 or text[end + 1 : end + 1 + len(_TRACEBACK)] != _TRACEBACK:
        return len(text) if end < 0 else end
    for _ in range(MOST_FOLLOWING):
        end = text.find(b"\n", end + 1)
        if end < 0:
            return len(text)
        if end + 1 == len(text) or _BEGINS.match(text, end + 1):
            break
    return end


def _read(line: str, file: str) -> LogLine:
    if line.startswith("{"):
        try:
            return _of_json(json.loads(line), file)
        except ValueError:
            return LogLine("", "", "", line[:LONGEST_LINE], file)
    found = _TEXT.match(line)
    if found is None:
        return LogLine("", "", "", line[:LONGEST_LINE], file)
    at, level, logger, text = found.groups()
    call = _CALL.search(text)
    return LogLine(at, level, logger, text[:LONGEST_LINE], file, call.group(1) if call else "")


def _of_json(fields: dict[str, Any], file: str) -> LogLine:
    message, step = str(fields.get("message", "")), str(fields.get("step", ""))
    named = message if step in message else f"{message} [{step}]"
    text = "\n".join(part for part in (named, str(fields.get("exception", ""))) if part)
    at, level, logger = (str(fields.get(name, "")) for name in ("at", "level", "logger"))
    return LogLine(at, level, logger, text[:LONGEST_LINE], file, step)
