"""Unpack an archive of scans into files. Sizes are measured while unpacking; each member is stored or has a reason."""

import stat
import zipfile
from pathlib import PurePosixPath

from django.utils import timezone

from apps.files.archives import DAMAGED
from apps.scanning.models import FileState, ScanFile
from apps.scanning.receiving import ScansRefused, file_store, opened

MEMBERS_AT_MOST = 5_000
UNPACKED_BYTES = 6 * 1024**3
RATIO_AT_MOST = 60
_RATIO_FROM = 1024**2


def archive_unpack(file: ScanFile) -> None:
    """Store the members as files of their own, then forget the archive's bytes. Continues where a killed process stopped.

    Raises `ScansRefused` for a damaged or hostile archive; the members stored before stay.
    """
    known = set(file.members.values_list("path", flat=True))
    total = sum(file.members.values_list("size", flat=True))
    with opened(file) as source:
        try:
            with zipfile.ZipFile(source) as archive:
                members = [one for one in archive.infolist() if not one.is_dir() and not _is_clutter(one.filename)]
                if len(members) > MEMBERS_AT_MOST:
                    raise ScansRefused(
                        f"The archive has {len(members):,} files; at most {MEMBERS_AT_MOST:,} are read. Split it."
                    )
                for member in members:
                    ScanFile.objects.filter(pk=file.pk).update(beat_at=timezone.now())
                    if _path(member) not in known:
                        total += _stored(archive, member, file, UNPACKED_BYTES - total)
        except DAMAGED as error:
            raise ScansRefused("The archive is damaged, encrypted or incomplete. Pack it again, without a password.") from error
    if not members:
        raise ScansRefused("The archive has no files.")
    file.pieces.all().delete()
    ScanFile.objects.filter(pk=file.pk).update(state=FileState.READ, reason="")


def _stored(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: ScanFile, room: int) -> int:
    if member.file_size > _RATIO_FROM and member.file_size > RATIO_AT_MOST * max(member.compress_size, 1):
        raise ScansRefused(f"{member.filename[:100]} in the archive has an extreme compression ratio, so it was not unpacked.")
    # The size in the archive is a claim; zipfile stops at it, and `room` holds for what really comes.
    with archive.open(member) as stream:
        return file_store(archive=file, path=_path(member), stream=stream, most=min(room, max(member.file_size, 1)))


def _path(member: zipfile.ZipInfo) -> str:
    path = PurePosixPath(member.filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or stat.S_ISLNK(member.external_attr >> 16):
        raise ScansRefused("A file name in the archive leads out of it, so it was not unpacked.")
    return str(path)[-300:]


def _is_clutter(name: str) -> bool:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return (
        parts[:1] == ("__MACOSX",)
        or any(part.startswith(".") and part != ".." for part in parts)
        or parts[-1:] in (("Thumbs.db",), ("desktop.ini",))
    )
