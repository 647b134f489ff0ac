"""Read text files from an uploaded ZIP archive in memory. Sizes are measured, not taken from the archive."""

import io
import lzma
import stat
import zipfile
import zlib
from pathlib import PurePosixPath

from apps.files.tables import FILE_BYTES, FileWrong

__all__ = ["DAMAGED", "FILE_BYTES", "FileWrong", "archive_read", "is_archive"]

MEMBERS_AT_MOST = 1_000
MEMBER_BYTES = 2 * 1024 * 1024
TOTAL_BYTES = 50 * 1024 * 1024
RATIO_AT_MOST = 100
_RATIO_FROM = 64 * 1024
_CHUNK = 64 * 1024
#: Errors of zipfile and its decompressors for unreadable archives.
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError, EOFError, OSError, ValueError)
_SUFFIXES = {".md", ".markdown", ".tex", ".txt"}


def is_archive(data: bytes) -> bool:
    """Whether the data starts with a ZIP signature."""
    return data[:4] in (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")


def archive_read(data: bytes) -> tuple[dict[PurePosixPath, str], list[tuple[str, str]]]:
    """Return texts by path, and skipped members with reasons.

    Raises `FileWrong` for hostile archives: absolute names or `..`, links, too many members, or extreme compression.
    """
    texts: dict[PurePosixPath, str] = {}
    skipped: list[tuple[str, str]] = []
    total = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > MEMBERS_AT_MOST:
                raise FileWrong(f"The archive has {len(members):,} files; the limit is {MEMBERS_AT_MOST:,}. Split the archive.")
            for member in members:
                path = _path(member)
                if member.is_dir() or _is_clutter(path):
                    continue
                if path.suffix.lower() not in _SUFFIXES:
                    skipped.append((str(path), "Not a Markdown, LaTeX or text file."))
                    continue
                content = _content(archive, member, TOTAL_BYTES - total)
                total += len(content)
                try:
                    texts[path] = content.decode("utf-8-sig")
                except UnicodeDecodeError:
                    skipped.append((str(path), "Not encoded in UTF-8."))
    except DAMAGED as error:
        raise FileWrong("Could not read the ZIP archive: it is damaged, encrypted or of an unsupported kind.") from error
    if not texts:
        raise FileWrong("The archive contains no Markdown, LaTeX or text file.")
    return texts, skipped


def _path(member: zipfile.ZipInfo) -> PurePosixPath:
    name = member.filename.replace("\\", "/")
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or (path.parts and ":" in path.parts[0]):
        raise FileWrong("Nothing was imported: a file name in the archive points outside of it.")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise FileWrong("Nothing was imported: the archive contains a symbolic link.")
    return path


def _is_clutter(path: PurePosixPath) -> bool:
    return path.parts[:1] == ("__MACOSX",) or any(part.startswith(".") for part in path.parts)


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, room: int) -> bytes:
    """Decompress a member. Raises `FileWrong` as soon as it exceeds a limit."""
    found = bytearray()
    with archive.open(member) as stream:
        while chunk := stream.read(_CHUNK):
            found += chunk
            if len(found) > MEMBER_BYTES or len(found) > room:
                raise FileWrong(f"Nothing was imported: {member.filename} is too large when unpacked.")
            if len(found) > _RATIO_FROM and len(found) > RATIO_AT_MOST * max(member.compress_size, 1):
                raise FileWrong(f"Nothing was imported: {member.filename} has an extreme compression ratio.")
    return bytes(found)
