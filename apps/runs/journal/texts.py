"""Content-addressed texts: store once, name by SHA-256 of the UTF-8 bytes."""

import threading
from collections.abc import Iterable
from typing import Any

import zstandard
from django.db import connection

from apps.runs.models import Blob, Step

_compressor = threading.local()


def blob_values(sha: str, text: str) -> dict[str, Any]:
    """The columns of a text's row, compressed. A compressor may be used by one thread only, and making one is slow."""
    if not hasattr(_compressor, "zstd"):
        _compressor.zstd = zstandard.ZstdCompressor(level=3)
    encoded = text.encode()
    return {"sha": sha, "size": len(encoded), "data": _compressor.zstd.compress(encoded)}


def texts_get(shas: Iterable[str]) -> dict[str, str]:
    """The stored texts by name; the empty name gives the empty text. A name without a row is left out."""
    wanted = {sha for sha in shas if sha}
    found = {"": ""}
    for start in range(0, len(ordered := sorted(wanted)), 500):
        for blob in Blob.objects.filter(sha__in=ordered[start : start + 500]):
            found[blob.sha] = zstandard.ZstdDecompressor().decompress(bytes(blob.data), max_output_size=blob.size).decode()
    return found


def texts_of_steps(run_pk: int) -> dict[str, tuple[int, bytes]]:
    """What models wrote in a run, by name: the size of each text and the text compressed."""
    blob, step = Blob._meta.db_table, Step._meta.db_table
    names = " UNION ".join(f"SELECT {column} FROM {step} WHERE run_id = %s" for column in ("text_sha", "reasoning_sha"))  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT sha, size, data FROM {blob} WHERE sha IN ({names})", [run_pk, run_pk])  # noqa: S608
        return {sha: (size, bytes(data)) for sha, size, data in cursor.fetchall()}


def text_get(sha: str) -> str:
    """One stored text. Raises `Blob.DoesNotExist`."""
    found = texts_get([sha])
    if sha not in found:
        raise Blob.DoesNotExist(f"no text {sha}")
    return found[sha]
