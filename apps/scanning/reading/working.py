"""The orchestrator's part: unpack archives, read pages with two processes at a time, and place them.

All state is in the database. What a killed process had read stays; the next one reads the rest of its file.
"""

import logging
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from tempfile import TemporaryFile

from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from apps.scanning.models import FilePiece, FileState, ScanFile, ScannedPage
from apps.scanning.placing import file_place
from apps.scanning.reading import PageRead, ReadingFailed, Work, kind_of, pages_of
from apps.scanning.reading.unpacking import archive_unpack
from apps.scanning.receiving import ScansRefused, opened, pieces_of

logger = logging.getLogger(__name__)
AT_ONCE = 2
#: Files of one page, and pages of a PDF, that one child process reads; its start costs about as much as two pages.
FILES_EACH, PAGES_EACH = 24, 24
LOST_AFTER = timedelta(minutes=6)
ATTEMPTS = 3
KIND_UNKNOWN = "This is no PDF, JPEG, PNG, TIFF, HEIC or ZIP file."
UNOPENED = "Opening this PDF took more time or memory than is allowed. Save or scan it again."
STOPPED = "Reading stopped at this page, so it and all pages after it are missing. Scan them again."
BROKEN = "This page could not be read within the limits of time and memory. Scan it again with fewer dots per inch."


def scans_work() -> int:
    """Read all waiting files; returns their number."""
    count = 0
    while files := _claimed():
        batches = _batches(files)
        if connection.vendor == "sqlite" and connection.in_atomic_block:  # A test in a transaction.
            for batch in batches:
                _batch_read(batch)
        else:
            with ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(_in_thread, batches))
        count += len(files)
    return count


def _in_thread(batch: Sequence[ScanFile]) -> None:
    try:
        _batch_read(batch)
    finally:
        connection.close()


def _waiting() -> Q:
    lost = Q(state=FileState.READING, beat_at__lt=timezone.now() - LOST_AFTER)
    return Q(state=FileState.WAITING) | lost


def _claimed() -> list[ScanFile]:
    """Files claimed for this process: as many as its two child processes read in a minute."""
    now, found = timezone.now(), []
    for file in ScanFile.objects.filter(_waiting()).select_related("contest").order_by("pk")[: AT_ONCE * FILES_EACH]:
        mine = ScanFile.objects.filter(_waiting(), pk=file.pk)
        if file.attempt >= ATTEMPTS:
            mine.update(state=FileState.FAILED, reason=f"Reading began {ATTEMPTS} times and never ended. Scan it again.")
        elif mine.update(state=FileState.READING, beat_at=now, attempt=F("attempt") + 1):
            found.append(file)
    return found


def _batches(files: Iterable[ScanFile]) -> list[list[ScanFile]]:
    """Archives and PDFs alone; pictures together."""
    alone: list[list[ScanFile]] = []
    pictures: list[ScanFile] = []
    for file in files:
        head = bytes(FilePiece.objects.filter(file=file, at=0).values_list("data", flat=True).first() or b"")
        kind = kind_of(head)
        if kind == "image":
            pictures.append(file)
        elif kind:
            alone.append([file])
        else:
            _failed(file, KIND_UNKNOWN)
    return alone + [pictures[at : at + FILES_EACH] for at in range(0, len(pictures), FILES_EACH)]


def _batch_read(batch: Sequence[ScanFile]) -> None:
    head = bytes(FilePiece.objects.filter(file=batch[0], at=0).values_list("data", flat=True).first() or b"")
    kind = kind_of(head)
    if kind == "zip" and batch[0].archive_id:
        _failed(batch[0], "An archive inside an archive is not unpacked. Add it by itself.")
    elif kind == "zip":
        try:
            archive_unpack(batch[0])
        except ScansRefused as error:
            _failed(batch[0], str(error))
    elif kind == "pdf":
        _pdf_read(batch[0])
    else:
        _pictures_read(batch)


def _pdf_read(file: ScanFile) -> None:
    """Read a PDF, some pages with each child process. A page on which the process dies is left out."""
    first, broken = file.scanned.count(), 0
    with opened(file) as source:
        while True:
            last = first + (1 if broken else PAGES_EACH)
            read = 0
            try:
                for page in pages_of(source, [Work("pdf", 0, file.size, first, last)]):
                    if page.page < 0:
                        _failed(file, page.error)
                        return
                    file.pages = page.pages
                    _stored(file, page)
                    read += 1
            except ReadingFailed:
                if read == 0 and broken and not file.pages:
                    _failed(file, UNOPENED)
                    return
                if read == 0 and broken:
                    _stored(file, PageRead(0, first, file.pages, error=BROKEN))
                    read = 1
                broken = PAGES_EACH
            first += read
            broken = max(0, broken - read)
            if (file.pages and first >= file.pages) or (not read and not broken):
                break
    _done(file)


def _pictures_read(batch: Sequence[ScanFile]) -> None:
    """Read pictures with one child process; what it did not reach is read file by file."""
    left = list(batch)
    try:
        _together(left)
    except ReadingFailed:
        for file in list(left):
            try:
                _together([file])
            except ReadingFailed:
                _stopped(file)


def _together(left: list[ScanFile]) -> None:
    """Read files with one child process, and take those that ended off the list."""
    files = list(left)
    with TemporaryFile() as source:
        work, at = [], 0
        for file in files:
            size = sum(source.write(piece) for piece in pieces_of(file))
            work.append(Work("image", at, size, file.scanned.count()))
            at += size
        source.flush()
        current = 0
        for page in pages_of(source, work):
            for file in files[current : page.file]:
                _ended(file, left)
            current = page.file
            if page.page < 0:
                _failed(files[current], page.error)
            else:
                files[current].pages = page.pages
                _stored(files[current], page)
        for file in files[current:]:
            _ended(file, left)


def _ended(file: ScanFile, left: list[ScanFile]) -> None:
    _done(file)
    left.remove(file)


@transaction.atomic
def _stored(file: ScanFile, page: PageRead) -> None:
    """Store a page once, and a sign of life."""
    values = {
        "jpeg": page.jpeg,
        "width": page.width,
        "height": page.height,
        "code": " ".join(page.codes)[:60],
        "ink": page.ink,
        "likeness": page.likeness,
        "reason": page.error[:300],
    }
    ScannedPage.objects.get_or_create(file=file, number=page.page + 1, defaults=values)
    ScanFile.objects.filter(pk=file.pk).update(pages=file.pages, beat_at=timezone.now(), attempt=0)


@transaction.atomic
def _done(file: ScanFile) -> None:
    """Place the pages of a file that was read to its end."""
    if ScanFile.objects.filter(pk=file.pk, state=FileState.READING).update(state=FileState.READ):
        file.refresh_from_db()
        file_place(file)


def _stopped(file: ScanFile) -> None:
    """End a file in whose middle the process died: place what was read, and let the tray say that pages are missing."""
    if not (count := file.scanned.count()):
        _failed(file, BROKEN)
        return
    _stored(file, PageRead(0, count, file.pages, error=STOPPED))
    _done(file)


def _failed(file: ScanFile, reason: str) -> None:
    ScanFile.objects.filter(pk=file.pk, state=FileState.READING).update(state=FileState.FAILED, reason=reason[:300])
