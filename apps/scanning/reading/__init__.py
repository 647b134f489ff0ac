"""Read scanned pages in fenced child processes, some files or some pages of a PDF at a time."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from apps.submissions.intake import modules

_PARTS = (Path(__file__).with_name("cleaning.py"), Path(__file__).with_name("child.py"))
WALL_S = 240.0
#: Reads two lines from descriptor 3, creates the modules of the first one and runs `main` of the last.
_BOOT = (
    "import sys,json\n"
    "L=open(3,'rb').read().split(b'\\n')\n"
    "sys.modules['boot_lines']=B=type(sys)('boot_lines');B.lines=L\n"
    "for n,s in json.loads(L[0]):\n"
    " m=sys.modules[n]=type(sys)(n);exec(compile(s,n,'exec'),m.__dict__)\n"
    " for p in [n.rpartition('.')]:\n"
    "  if p[0]:sys.modules.setdefault(p[0],type(sys)(p[0]));setattr(sys.modules[p[0]],p[2],m)\n"
    "m.main()"
)


class ReadingFailed(Exception):
    """The child process ended before its work; what it wrote before counts."""


@dataclass(frozen=True)
class Work:
    """A file in the input: `kind` is `pdf` or `image`; pages from `first` to before `last`, counted from 0."""

    kind: str
    at: int
    size: int
    first: int = 0
    last: int = 1_000_000


@dataclass(frozen=True)
class PageRead:
    """What was read of a page, or why it was not (`error`). `page` is -1 if the whole file could not be read.

    `ink`: share of pixels in strokes of ink below the code, 0 on a blank page. `likeness`: the ink in 64 rows of 48 cells, a
    hex digit each (`likeness`).
    """

    file: int
    page: int
    pages: int = 0
    jpeg: bytes = b""
    width: int = 0
    height: int = 0
    codes: tuple[str, ...] = ()
    turn: int = 0
    angle: float = 0.0
    ink: float = 0.0
    likeness: str = ""
    error: str = ""


def kind_of(head: bytes) -> str:
    """The file type by its first 1,024 bytes: `pdf`, `image`, `zip` or empty."""
    if head[:1024].lstrip()[:5] == b"%PDF-":
        return "pdf"
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return "zip"
    is_heic = head[4:8] == b"ftyp" and head[8:12] in (b"heic", b"heix", b"mif1", b"msf1", b"hevc", b"heim", b"heis")
    known = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"II*\x00", b"MM\x00*")
    return "image" if is_heic or head.startswith(known) else ""


def pages_of(source: IO[bytes], work: Sequence[Work]) -> Iterator[PageRead]:
    """Read pages of the files in `source`, a real file. Raises `ReadingFailed` after the pages that were read."""
    sources = [*modules(), *((f"scan_{path.stem}", path.read_text(encoding="utf-8")) for path in _PARTS)]
    lines = json.dumps(sources).encode() + b"\n" + json.dumps([one.__dict__ for one in work]).encode()
    source.seek(0)
    with _handed(lines) as descriptor:
        process = subprocess.Popen(  # noqa: S603  Our own program; the input is an open file.
            [sys.executable, "-I", "-B", "-c", _BOOT.replace("open(3", f"open({descriptor}")],
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(descriptor,),
            env={"OPENBLAS_NUM_THREADS": "1"},
            cwd="/",
        )
    assert process.stdout is not None
    try:
        yield from _answers(process.stdout)
        if process.wait(WALL_S) != 0:
            raise ReadingFailed
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextlib.contextmanager
def _handed(lines: bytes) -> Iterator[int]:
    """A descriptor of a file in memory with these lines, for a child process."""
    descriptor = os.memfd_create("scan-work")
    try:
        os.write(descriptor, lines)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _answers(stream: IO[bytes]) -> Iterator[PageRead]:
    while line := stream.readline():
        try:
            head: dict[str, Any] = json.loads(line)
        except ValueError as error:
            raise ReadingFailed from error
        size = head.pop("bytes", 0)
        jpeg = stream.read(size)
        if len(jpeg) != size:
            raise ReadingFailed
        head["codes"] = tuple(head.get("codes", ()))
        yield PageRead(jpeg=jpeg, **head)
