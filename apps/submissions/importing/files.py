"""Text files out of a ZIP archive that somebody uploaded. Nothing is written to disk; sizes are counted, not believed."""

import io
import lzma
import stat
import zipfile
import zlib
from pathlib import PurePosixPath

from apps.problems.importing.files import FILE_BYTES, FileWrong

__all__ = ["FILE_BYTES", "FileWrong", "archive_read", "is_archive"]

MEMBERS_AT_MOST = 1_000
MEMBER_BYTES = 2 * 1024 * 1024
TOTAL_BYTES = 50 * 1024 * 1024
RATIO_AT_MOST = 100
_RATIO_FROM = 64 * 1024
_CHUNK = 64 * 1024
#: What zipfile raises over an archive that it cannot read; the errors of decompressors are none of its own.
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError, EOFError, OSError, ValueError)
_ENDINGS = {".md", ".markdown", ".tex", ".txt"}


def is_archive(data: bytes) -> bool:
    """Does it begin as a ZIP does?"""
    return data[:4] in (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")


def archive_read(data: bytes) -> tuple[dict[PurePosixPath, str], list[tuple[str, str]]]:
    """The texts by path, and what was left out with the reason. Raises `FileWrong` for an archive that nobody would make in
    good faith: absolute names or `..`, links, too many members, or far more inside than its size.
    """
    texts: dict[PurePosixPath, str] = {}
    left_out: list[tuple[str, str]] = []
    total = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > MEMBERS_AT_MOST:
                raise FileWrong(f"The archive has {len(members):,} files; at most {MEMBERS_AT_MOST:,} go in at once.")
            for member in members:
                path = _path(member)
                if member.is_dir() or _is_clutter(path):
                    continue
                if path.suffix.lower() not in _ENDINGS:
                    left_out.append((str(path), "It is no Markdown, LaTeX or text file."))
                    continue
                content = _content(archive, member, TOTAL_BYTES - total)
                total += len(content)
                try:
                    texts[path] = content.decode("utf-8-sig")
                except UnicodeDecodeError:
                    left_out.append((str(path), "It is not in UTF-8."))
    except _DAMAGED as error:
        raise FileWrong("This ZIP archive is damaged, encrypted, or of a kind that is not read here.") from error
    if not texts:
        raise FileWrong("The archive has no Markdown, LaTeX or text file in it.")
    return texts, left_out


def _path(member: zipfile.ZipInfo) -> PurePosixPath:
    name = member.filename.replace("\\", "/")
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or (path.parts and ":" in path.parts[0]):
        raise FileWrong("The archive has a file whose name leads out of it. Nothing was taken from it.")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise FileWrong("The archive has a link in it. Nothing was taken from it.")
    return path


def _is_clutter(path: PurePosixPath) -> bool:
    return path.parts[:1] == ("__MACOSX",) or any(part.startswith(".") for part in path.parts)


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, room: int) -> bytes:
    """The bytes of a member, counted while they come. Raises `FileWrong` where they are more than they may."""
    found = bytearray()
    with archive.open(member) as stream:
        while chunk := stream.read(_CHUNK):
            found += chunk
            if len(found) > MEMBER_BYTES or len(found) > room:
                raise FileWrong(f"{member.filename} is too large once it is unpacked. Nothing was taken from the archive.")
            if len(found) > _RATIO_FROM and len(found) > RATIO_AT_MOST * max(member.compress_size, 1):
                raise FileWrong(f"{member.filename} unpacks to far more than it is. Nothing was taken from the archive.")
    return bytes(found)
