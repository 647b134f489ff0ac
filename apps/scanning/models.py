"""Page codes, uploaded files in pieces, and the pages read from them.

A page names a paper because organisers sort pages by names. Markers never see these tables: they see the pages of a version.
"""

import uuid
from typing import TYPE_CHECKING

from django.db import models

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem, Paper
from apps.scanning.codes import TOKEN_LENGTH, token_random
from apps.submissions.models import Scan

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager

PATH_LENGTH = 300
REASON_LENGTH = 300
MARK_LENGTH = 40


class SheetCode(models.Model):
    """The token of a paper on printed sheets, drawn when they are printed for the first time."""

    paper = models.OneToOneField(Paper, on_delete=models.CASCADE, related_name="sheet_code")
    token = models.CharField(max_length=TOKEN_LENGTH, unique=True, default=token_random)


class FileState(models.TextChoices):
    """The state of an uploaded file. A file that is being received continues where its upload stopped."""

    RECEIVING = "receiving", "Being uploaded"
    WAITING = "waiting", "Waits to be read"
    READING = "reading", "Being read"
    READ = "read", "Read"
    FAILED = "failed", "Not read"


class ScanFile(models.Model):
    """An uploaded file, or a member of an uploaded archive. Its bytes are in `FilePiece`, those of an archive in its members.

    `digest`: sha-256 of the bytes, in hex, once all are there. `pages`: their number, 0 while unknown. `beat_at`: the last sign
    of the process that reads it. `attempt`: how often reading began without reading a page. `sent_mark`: separates a file on
    the sender's device from another one of the same name and size.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    contest = models.ForeignKey(Contest, on_delete=models.CASCADE, related_name="scan_files")
    archive = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE, related_name="members")
    path = models.CharField(max_length=PATH_LENGTH)
    size = models.PositiveBigIntegerField()
    received = models.PositiveBigIntegerField(default=0)
    sent_mark = models.CharField(max_length=MARK_LENGTH, blank=True)
    digest = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=9, choices=FileState, default=FileState.RECEIVING)
    reason = models.CharField(max_length=REASON_LENGTH, blank=True)
    pages = models.PositiveIntegerField(default=0)
    attempt = models.PositiveSmallIntegerField(default=0)
    beat_at = models.DateTimeField(null=True, blank=True)
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    added_at = models.DateTimeField(auto_now_add=True)

    if TYPE_CHECKING:
        pieces: RelatedManager["FilePiece"]
        scanned: RelatedManager["ScannedPage"]

    class Meta:
        ordering = ["path", "pk"]
        indexes = [
            models.Index(fields=["state", "beat_at"], name="scan_file_work"),
            models.Index(fields=["contest", "digest"], name="scan_file_digest"),
        ]

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


class FilePiece(models.Model):
    """A piece of a file's bytes that begins at `at`."""

    file = models.ForeignKey(ScanFile, on_delete=models.CASCADE, related_name="pieces")
    at = models.PositiveBigIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ["at"]
        constraints = [models.UniqueConstraint(fields=["file", "at"], name="file_piece_once")]


class PageState(models.TextChoices):
    """Where a page is. Only placed pages are handed in."""

    READ = "read", "Read, not placed yet"
    TRAY = "tray", "To be assigned"
    PLACED = "placed", "Placed"
    COVER = "cover", "Cover sheet"
    BLANK = "blank", "Blank"
    DUPLICATE = "duplicate", "Duplicate"
    DISCARDED = "discarded", "Put away"


class PlacedBy(models.TextChoices):
    """What placed a page."""

    CODE = "code", "page code"
    COVER = "cover", "cover sheet"
    NAME = "name", "file name"
    HAND = "hand", "hand"


class ScannedPage(models.Model):
    """A page of a file. `number` counts from 1. In the tray, `paper` and `problem` are a suggestion; `reason`: why it waits.

    `turned`: degrees by which a person turned it. `code`: the text of its code. `sheet`: the page number on the printed
    sheet, 0 for plain paper. `ink`, `likeness`: see `reading.PageRead`. `scan`: the page of a handed-in text that was made
    from it.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    file = models.ForeignKey(ScanFile, on_delete=models.CASCADE, related_name="scanned")
    number = models.PositiveIntegerField()
    jpeg = models.BinaryField()
    width = models.PositiveIntegerField(default=0)
    height = models.PositiveIntegerField(default=0)
    turned = models.PositiveSmallIntegerField(default=0)
    code = models.CharField(max_length=60, blank=True)
    ink = models.FloatField(default=0)
    likeness = models.TextField(blank=True)
    state = models.CharField(max_length=9, choices=PageState, default=PageState.READ)
    placed_by = models.CharField(max_length=5, choices=PlacedBy, blank=True)
    paper = models.ForeignKey(Paper, null=True, blank=True, on_delete=models.SET_NULL, related_name="scanned_pages")
    problem = models.ForeignKey(ContestProblem, null=True, blank=True, on_delete=models.SET_NULL, related_name="scanned_pages")
    sheet = models.PositiveSmallIntegerField(default=0)
    reason = models.CharField(max_length=REASON_LENGTH, blank=True)
    scan = models.ForeignKey(Scan, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["file__path", "file", "number"]
        constraints = [models.UniqueConstraint(fields=["file", "number"], name="scanned_page_once")]
        indexes = [models.Index(fields=["paper", "problem", "state"], name="scanned_page_place")]
