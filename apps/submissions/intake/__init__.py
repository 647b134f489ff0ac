"""Scans and photos, from the bytes that somebody uploaded to clean JPEG pages.

What an upload is, its first bytes say, never its name. It is read in a child process with limits (`child`), which gives back
pictures drawn anew: no metadata, no scripts, no text layer of the file goes on. The child has no fence against files and
network: a fault of a parser that lets code run would run it as the web process's user.
"""

import json
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

UPLOAD_BYTES = 32 * 1024 * 1024
PAGES_AT_MOST = 50
WALL_S = 40.0
_CHILD = Path(__file__).with_name("child.py")
_LENGTH = struct.Struct(">IHH")


class UploadWrong(Exception):
    """Nothing can be taken from this file; the message says why and what to do."""


@dataclass(frozen=True)
class PageImage:
    """A page as JPEG."""

    jpeg: bytes
    width: int
    height: int


def pages_read(data: bytes, *, wall_s: float = WALL_S) -> list[PageImage]:
    """The pages of a PDF or the one of a photo (JPEG, PNG, HEIC). Raises `UploadWrong`."""
    if len(data) > UPLOAD_BYTES:
        raise UploadWrong(f"The file is larger than {UPLOAD_BYTES // 1024**2} MB.")
    kind = kind_of(data)
    if not kind:
        raise UploadWrong("This is neither a PDF nor a photo in JPEG, PNG or HEIC.")
    with tempfile.TemporaryFile() as out:
        try:
            done = subprocess.run(  # noqa: S603
                [sys.executable, "-I", "-B", str(_CHILD), kind, str(PAGES_AT_MOST)],
                input=data, stdout=out, stderr=subprocess.DEVNULL, timeout=wall_s, check=False, env={}, cwd="/",
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise UploadWrong("Reading the file took too long, so it was given up.") from error
        out.seek(0)
        found = out.read()
    if done.returncode != 0:
        raise UploadWrong("Reading the file took more time or memory than is allowed.")
    return _unpacked(found)


def kind_of(data: bytes) -> str:
    """`pdf` or `image` by the first bytes; empty for anything else."""
    if data[:1024].lstrip()[:5] == b"%PDF-":
        return "pdf"
    if data[:3] == b"\xff\xd8\xff" or data[:8] == b"\x89PNG\r\n\x1a\n":
        return "image"
    is_heic = data[4:8] == b"ftyp" and data[8:12] in (b"heic", b"heix", b"mif1", b"msf1", b"hevc", b"heim", b"heis")
    return "image" if is_heic else ""


def _unpacked(found: bytes) -> list[PageImage]:
    head, _, rest = found.partition(b"\n")
    try:
        said = json.loads(head)
    except ValueError as error:
        raise UploadWrong("The file could not be read.") from error
    if said["error"]:
        raise UploadWrong(said["error"])
    pages: list[PageImage] = []
    place = 0
    for _ in range(said["pages"]):
        size, width, height = _LENGTH.unpack_from(rest, place)
        place += _LENGTH.size
        pages.append(PageImage(rest[place : place + size], width, height))
        place += size
    return pages
