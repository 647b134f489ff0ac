"""Create the PDF of a document in a child process, with limits on size, time, memory and concurrency.

Recent PDFs are cached for all users by the digest of their text and pictures.
"""

import json
import logging
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import BoundedSemaphore

from django.conf import settings
from django.http import HttpResponse

from apps.ui.typeset.document import Document
from apps.ui.typeset.kept import FileCache
from apps.ui.unavailable import Unavailable

logger = logging.getLogger(__name__)
TEMPLATE = Path(__file__).with_name("document.typ")
WALL_S = 45.0
LETTERS_AT_MOST = 1_500_000
PICTURES_AT_MOST = 64 * 1024**2
#: Concurrent PDFs per web process, and the time in seconds that another one waits.
AT_ONCE, WAIT_S = 2, 5.0
PLACES = BoundedSemaphore(AT_ONCE)
MADE = FileCache(bytes_at_most=32 * 1024**2, seconds=600)


class PdfFailed(Exception):
    """No PDF was created; the message has the reason for the user."""


class PdfBusy(Unavailable):
    """The wait for other PDFs took too long."""

    headline = "The server is creating other PDFs."
    explanation = "It creates a few at a time, and each takes some seconds."
    advice = "Try again in a moment."


def is_possible() -> bool:
    """Whether the libraries for PDFs are installed."""
    return find_spec("typst") is not None and find_spec("latex2mathml") is not None


def pdf_made(document: Document) -> bytes:
    """The PDF of a document. Raises `PdfFailed`, `PdfBusy`."""
    if not is_possible():
        raise PdfFailed("This server cannot create PDFs: the libraries typst and latex2mathml are missing.")
    too_much = PdfFailed("This is too long for one PDF. Print the page from your browser instead.")
    if document.letters > LETTERS_AT_MOST or sum(map(len, document.pictures.values())) > PICTURES_AT_MOST:
        raise too_much
    source = json.dumps(document.value)
    if len(source) > LETTERS_AT_MOST:
        raise too_much
    digest = _digest(source, document.pictures)
    if (data := MADE.get(digest)) is not None:
        return data
    if not PLACES.acquire(timeout=WAIT_S):
        raise PdfBusy
    try:
        data = MADE.get(digest) or _pressed(source, document.pictures)
    finally:
        PLACES.release()
    MADE.put(digest, data)
    return data


def pdf_of_template(template: Path, value: object) -> bytes:
    """The PDF of another template of ours, which reads `value` from document.json. Raises `PdfFailed`, `PdfBusy`."""
    if not is_possible():
        raise PdfFailed("This server cannot create PDFs: the libraries typst and latex2mathml are missing.")
    if not PLACES.acquire(timeout=WAIT_S):
        raise PdfBusy
    try:
        return _pressed(json.dumps({"parts": [], "value": value}), {}, template)
    finally:
        PLACES.release()


def _digest(source: str, pictures: Mapping[str, bytes]) -> str:
    parts = [source.encode(), *(part for name, data in sorted(pictures.items()) for part in (name.encode(), data))]
    return sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()


def _pressed(source: str, pictures: Mapping[str, bytes], template: Path = TEMPLATE) -> bytes:
    with tempfile.TemporaryDirectory(prefix="lemmascope-pdf-") as name:
        folder = Path(name)
        (folder / "document.json").write_text(source)
        shutil.copyfile(template, folder / "document.typ")
        for picture, data in pictures.items():
            (folder / picture).write_bytes(data)
        _run(folder)
        return (folder / "out.pdf").read_bytes()


def _run(folder: Path) -> None:
    command = [sys.executable, "-m", "apps.ui.typeset.child", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=WALL_S, cwd=settings.BASE_DIR)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise PdfFailed("Creating the PDF took too long. Print the page from your browser instead.") from error
    if done.returncode or not (folder / "out.pdf").exists():
        logger.error("PDF failed with exit status %d: %s", done.returncode, done.stderr[-2_000:])
        raise PdfFailed("The PDF could not be created. Print the page from your browser instead.")
    if done.stderr:
        logger.warning("Typst warning: %s", done.stderr[-2_000:])


def pdf_answer(document: Document, name: str) -> HttpResponse:
    """A response with the PDF as a download of this name. Raises `PdfFailed`, `PdfBusy`."""
    answer = HttpResponse(pdf_made(document), content_type="application/pdf")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
