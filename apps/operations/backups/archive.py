"""The backup file: a tar of named members in one zstd frame. The last member lists all others with their SHA-256.

`header.json` comes first and holds the format version. `database/…` are the parts of the dump in order; `files/…` are files
below the data folder. A truncated file has no list, so it is never mistaken for a complete one.
"""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import zstandard
from pydantic import BaseModel

FORMAT = 1
HEADER, MANIFEST, DATABASE, FILES = "header.json", "manifest.json", "database/", "files/"
#: Size of the parts of a dump. One part at a time is in memory.
PART_BYTES = 16 * 2**20
CHUNK_BYTES = 2**20
_WHOLE = b"end of a backup"
#: The last bytes of the file: a frame that zstd skips. It detects truncation, even of the checksum alone.
END = b"\x50\x2a\x4d\x18" + len(_WHOLE).to_bytes(4, "little") + _WHOLE


class ArchiveError(Exception):
    """The file is no backup, is damaged, or has a newer format. The text says what is wrong and what to do."""


class Header(BaseModel):
    """Content of the first member. `migrations`: applied migrations by app; `vendor`: Django's name of the database."""

    format: int
    application: str
    vendor: str
    created: str
    migrations: dict[str, list[str]]


@dataclass
class Manifest:
    """Content of the last member: size and SHA-256 by member; hard links (`same`) and symbolic links by path."""

    members: dict[str, tuple[int, str]] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return sum(size for size, _ in self.members.values())


class _Hashed:
    """A reader that hashes the bytes it reads from `source`."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self.digest = hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = self._source.read(size)
        self.digest.update(data)
        return data


class ArchiveWriter:
    """Writes members to `file`, one after the other. `finish` completes the backup."""

    def __init__(self, file: IO[bytes], header: Header) -> None:
        self.manifest = Manifest()
        self._file = file
        self._stream = zstandard.ZstdCompressor(level=3, write_checksum=True).stream_writer(file, closefd=False)
        self._tar = tarfile.open(mode="w|", fileobj=self._stream, bufsize=CHUNK_BYTES)  # noqa: SIM115  (closed by `finish`)
        self._add_bytes(HEADER, header.model_dump_json(indent=1).encode())

    def add(self, name: str, source: IO[bytes], size: int, *, mode: int = 0o600, mtime: int = 0) -> None:
        """Add the next `size` bytes of `source`. Raises `OSError` if `source` has fewer or the disk is full."""
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode, entry.mtime = size, mode, mtime
        hashed = _Hashed(source)
        self._tar.addfile(entry, hashed)  # type: ignore[arg-type]  # It only reads.
        self._tar.members.clear()  # type: ignore[attr-defined]  # It would keep every entry in memory.
        self.manifest.members[name] = (size, hashed.digest.hexdigest())

    def add_dump(self, source: IO[bytes]) -> Iterator[int]:
        """Add a dump of unknown length in parts; yield the size of each part in bytes."""
        number = 0
        while part := source.read(PART_BYTES):
            self.add(f"{DATABASE}{number:08}", io.BytesIO(part), len(part))
            number += 1
            yield len(part)

    def finish(self) -> None:
        """Write the list of members and end the frame."""
        listed = {"members": self.manifest.members, "same": self.manifest.same, "links": self.manifest.links}
        self._add_bytes(MANIFEST, json.dumps(listed).encode())
        self._tar.close()
        self._stream.close()  # type: ignore[no-untyped-call]
        self._file.write(END)

    def _add_bytes(self, name: str, data: bytes) -> None:
        self.add(name, io.BytesIO(data), len(data))


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn errors of zstd, tar and the file system into `ArchiveError`."""
    try:
        yield
    except zstandard.ZstdError as error:
        raise ArchiveError(f"{path} is no backup of Lemmascope, or is damaged ({error}). {_ADVICE}") from error
    except (tarfile.TarError, EOFError) as error:
        raise ArchiveError(f"{path} is cut off or is no backup of Lemmascope ({error}). {_ADVICE}") from error
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read ({error.strerror or error}). Nothing was restored.") from error


_ADVICE = "Nothing was restored. Copy the file again from where it was made, or take another backup."


@dataclass(frozen=True)
class Member:
    """One member while the archive is read; `data` is valid until the next member is requested."""

    name: str
    size: int
    mode: int
    mtime: int
    data: IO[bytes]


def members_read(path: Path) -> Iterator[Member]:
    """Yield all members in file order. Raises `ArchiveError`, and errors of zstd and tar."""
    with (
        path.open("rb") as file,
        zstandard.ZstdDecompressor().stream_reader(file) as stream,
        tarfile.open(mode="r|", fileobj=stream, bufsize=CHUNK_BYTES) as tar,
    ):
        while (entry := tar.next()) is not None:
            data = tar.extractfile(entry)
            if data is None:
                raise ArchiveError(f"{path} holds {entry.name}, which is no file. {_ADVICE}")
            yield Member(entry.name, entry.size, entry.mode, int(entry.mtime), data)
            tar.members.clear()  # type: ignore[attr-defined]


def header_read(path: Path) -> Header:
    """Read the header of a backup. Raises `ArchiveError`, also for an unknown format."""
    with _explained(path):
        member = next(members_read(path), None)
        if member is not None and member.name == HEADER:
            return _header_of(path, member.data.read())
    raise ArchiveError(f"{path} is no backup of Lemmascope: it does not begin with {HEADER}. Nothing was restored.")


def _header_of(path: Path, data: bytes) -> Header:
    try:
        fields: dict[str, Any] = json.loads(data)
        if int(fields["format"]) > FORMAT:
            raise ArchiveError(
                f"{path} was made by Lemmascope {fields.get('application')} in format {fields['format']}; "
                f"this version reads {FORMAT}. Install that version or a newer one, then restore."
            )
        return Header.model_validate(fields)
    except (ValueError, KeyError, TypeError) as error:
        raise ArchiveError(f"{path} has a header that cannot be read. {_ADVICE}") from error


def archive_verify(path: Path, report: Callable[[int], None]) -> Manifest:
    """Read the whole file and compare every member with the list at its end. Raises `ArchiveError`."""
    found: dict[str, tuple[int, str]] = {}
    listed: Manifest | None = None
    with _explained(path):
        with path.open("rb") as file:
            file.seek(-min(len(END), path.stat().st_size), os.SEEK_END)
            if file.read() != END:
                raise ArchiveError(f"{path} is cut off: its end is missing. {_ADVICE}")
        for member in members_read(path):
            if member.name == MANIFEST:
                listed = _manifest_of(path, member.data.read())
            else:
                found[member.name] = (member.size, _digest_of(member, report))
    if listed is None:
        raise ArchiveError(f"{path} is cut off: the list of members at its end is missing. {_ADVICE}")
    wrong = [name for name in {**found, **listed.members} if found.get(name) != listed.members.get(name)]
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise ArchiveError(f"{path} is damaged: the checksum of {wrong[0]}{more} is wrong. {_ADVICE}")
    return listed


def _digest_of(member: Member, report: Callable[[int], None]) -> str:
    digest = hashlib.sha256()
    while data := member.data.read(CHUNK_BYTES):
        digest.update(data)
        report(len(data))
    return digest.hexdigest()


def _manifest_of(path: Path, data: bytes) -> Manifest:
    try:
        fields = json.loads(data)
        members = {str(name): (int(size), str(sha)) for name, (size, sha) in fields["members"].items()}
        return Manifest(members, dict(fields["same"]), dict(fields["links"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ArchiveError(f"{path} has a list of members that cannot be read. {_ADVICE}") from error
