"""Receive files in pieces. An upload that stopped continues with its next byte, also from another window."""

import hashlib
import tempfile
from collections.abc import Iterator
from typing import IO

from django.db import transaction
from django.db.models import F, Sum

from apps.accounts.models import User
from apps.contests.models import Contest, ContestState
from apps.contests.record_keepers import event_publish
from apps.scanning.models import MARK_LENGTH, PATH_LENGTH, FilePiece, FileState, ScanFile

PIECE_BYTES = 4 * 1024**2
FILE_BYTES = 2 * 1024**3
#: Of all files of a contest: 3,000 pages of 300 dpi with some room.
CONTEST_BYTES = 12 * 1024**3
FILES_AT_MOST = 20_000


class ScansRefused(Exception):
    """Scans cannot be received or changed now; the message says why and what to do."""


def scans_refusal(contest: Contest) -> str:
    """Why no scans can be added or handed in now; empty if they can."""
    if contest.state in (ContestState.PREPARING, ContestState.OPEN):
        return ""
    if contest.state == ContestState.MARKING:
        return "The contest is being marked. Reopen it to add scans."
    return "The contest is closed."


@transaction.atomic
def file_begin(*, contest: Contest, path: str, size: int, by: User, mark: str = "") -> ScanFile:
    """Begin an upload. With a `mark`, such as the time of the file, continue one of the same file. Raises `ScansRefused`."""
    if refusal := scans_refusal(contest):
        raise ScansRefused(refusal)
    path = path_clean(path)
    if not 0 < size <= FILE_BYTES:
        raise ScansRefused(
            f"{path} is empty."
            if size == 0
            else f"{path} is larger than {FILE_BYTES // 1024**3} GB. Split it into smaller files."
        )
    mark = mark[:MARK_LENGTH]
    begun = contest.scan_files.filter(path=path, size=size, sent_mark=mark, by=by, state=FileState.RECEIVING, archive=None)
    if mark and (found := begun.first()) is not None:
        return found
    _room(contest, size)
    if not contest.scan_files.exists():
        event_publish(contest, "contest.scans", by)
    return ScanFile.objects.create(contest=contest, path=path, size=size, by=by, sent_mark=mark)


def _room(contest: Contest, size: int) -> None:
    """Raise `ScansRefused` if a contest has no room for this many more bytes, or for another file."""
    used = contest.scan_files.aggregate(bytes=Sum("size"))["bytes"] or 0
    if used + size > CONTEST_BYTES or contest.scan_files.count() >= FILES_AT_MOST:
        raise ScansRefused(f"A contest has at most {CONTEST_BYTES // 1024**3} GB of scans. Remove files that you do not need.")


@transaction.atomic
def piece_add(*, file: ScanFile, at: int, data: bytes) -> ScanFile:
    """Add the bytes that begin at `at`. A piece that is not the next one changes nothing; the sender reads `received`.

    Raises `ScansRefused` for a piece beyond the announced size.
    """
    file = ScanFile.objects.select_for_update().get(pk=file.pk)
    if file.state != FileState.RECEIVING or at != file.received or not data:
        return file
    if at + len(data) > file.size or len(data) > PIECE_BYTES:
        raise ScansRefused(f"{file.path} changed while it was uploaded. Choose it again.")
    FilePiece.objects.create(file=file, at=at, data=data)
    file.received = at + len(data)
    if file.received == file.size:
        file_complete(file)
    file.save(update_fields=["received", "state", "digest", "reason"])
    return file


def file_complete(file: ScanFile) -> None:
    """Set the digest and the next state of a file whose bytes are all there. The caller saves it."""
    digest = hashlib.sha256()
    for piece in pieces_of(file):
        digest.update(piece)
    file.digest = digest.hexdigest()
    same = ScanFile.objects.filter(contest=file.contest_id, digest=file.digest).exclude(pk=file.pk)
    if (first := same.exclude(state=FileState.FAILED).first()) is not None:
        file.state, file.reason = FileState.FAILED, f"The same file was added before, as {first.path}."[:300]
    else:
        file.state = FileState.WAITING


def pieces_of(file: ScanFile) -> Iterator[bytes]:
    """The bytes of a file, piece by piece."""
    for key in list(FilePiece.objects.filter(file=file).order_by("at").values_list("pk", flat=True)):
        yield bytes(FilePiece.objects.values_list("data", flat=True).get(pk=key))


def opened(file: ScanFile) -> IO[bytes]:
    """The bytes of a file as a temporary file, which the caller closes."""
    found = tempfile.TemporaryFile()  # noqa: SIM115
    for piece in pieces_of(file):
        found.write(piece)
    found.seek(0)
    return found


def file_store(*, archive: ScanFile, path: str, stream: IO[bytes], most: int) -> int:
    """Store a member of an archive; returns its size. Raises `ScansRefused` above `most` bytes."""
    with transaction.atomic():
        _room(archive.contest, 0)  # The archive itself still counts; it has about the bytes of its members.
        file = ScanFile.objects.create(contest=archive.contest, archive=archive, path=path_clean(path), size=0, by=archive.by)
        while data := stream.read(PIECE_BYTES):
            if file.size + len(data) > most:
                raise ScansRefused(f"{archive.path} unpacks to more than is allowed. Split it into smaller archives.")
            FilePiece.objects.create(file=file, at=file.size, data=data)
            file.size += len(data)
        file.received = file.size
        if file.size:
            file_complete(file)
        else:
            file.state, file.reason = FileState.FAILED, "The file is empty."
        file.save()
        return file.size


@transaction.atomic
def file_remove(*, file: ScanFile, by: User) -> None:
    """Remove a file with its pages. Pages that were handed in stay in their texts. Raises `ScansRefused`."""
    if refusal := scans_refusal(file.contest):
        raise ScansRefused(refusal)
    event_publish(file.contest, "contest.scans-removed", by, pages=file.pages)
    file.delete()


@transaction.atomic
def file_again(*, file: ScanFile) -> None:
    """Read a file again that could not be read."""
    ScanFile.objects.filter(pk=file.pk, state=FileState.FAILED, received=F("size")).update(
        state=FileState.WAITING, reason="", attempt=0
    )


def path_clean(path: str) -> str:
    """A path of an upload as text: forward slashes, no empty parts, at most 300 characters from its end."""
    plain = "".join(sign if sign.isprintable() else " " for sign in path.replace("\\", "/"))
    parts = [part.strip() for part in plain.split("/")]
    return "/".join(part for part in parts if part not in ("", ".", ".."))[-PATH_LENGTH:] or "scan"
