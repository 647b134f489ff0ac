"""Content-addressed texts: store once, name by SHA-256 of the UTF-8 bytes."""

import hashlib
from collections.abc import Iterable

import zstandard

from apps.runs.models import Blob


def sha_of(text: str) -> str:
    """The name of `text`; the empty text has the empty name and no row."""
    return hashlib.sha256(text.encode()).hexdigest() if text else ""


def blob_rows(texts: Iterable[str]) -> list[Blob]:
    """Rows for the non-empty texts, one each, compressed."""
    unique = {sha_of(text): text for text in texts if text}
    compress = zstandard.ZstdCompressor(level=3).compress
    return [Blob(sha=sha, size=len(text.encode()), data=compress(text.encode())) for sha, text in unique.items()]


def texts_store(texts: Iterable[str]) -> None:
    """Store the texts that are not there yet."""
    Blob.objects.bulk_create(blob_rows(texts), ignore_conflicts=True)


def texts_get(shas: Iterable[str]) -> dict[str, str]:
    """The stored texts by name; the empty name gives the empty text. A name without a row is left out."""
    wanted = {sha for sha in shas if sha}
    found = {"": ""}
    for start in range(0, len(ordered := sorted(wanted)), 500):
        for blob in Blob.objects.filter(sha__in=ordered[start : start + 500]):
            found[blob.sha] = zstandard.ZstdDecompressor().decompress(bytes(blob.data), max_output_size=blob.size).decode()
    return found


def text_get(sha: str) -> str:
    """One stored text. Raises `Blob.DoesNotExist`."""
    found = texts_get([sha])
    if sha not in found:
        raise Blob.DoesNotExist(f"no text {sha}")
    return found[sha]
