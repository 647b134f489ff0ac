"""The cache of PDFs is limited in size and time."""

import time

import pytest

from apps.ui.typeset.kept import FileCache


def test_the_least_recently_used_file_is_removed_first() -> None:
    files = FileCache(bytes_at_most=10, seconds=60)
    files.put("a", b"1234")
    files.put("b", b"1234")
    assert files.get("a") == b"1234"
    files.put("c", b"1234")
    assert [files.get(name) for name in "abc"] == [b"1234", None, b"1234"]


def test_a_too_large_file_is_not_stored_and_removes_nothing() -> None:
    files = FileCache(bytes_at_most=10, seconds=60)
    files.put("a", b"1234")
    files.put("b", b"x" * 11)
    assert [files.get(name) for name in "ab"] == [b"1234", None]


def test_a_file_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    files, now = FileCache(bytes_at_most=10, seconds=60), 1_000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    files.put("a", b"1234")
    now = 1_059.0
    assert files.get("a") == b"1234"
    now = 1_061.0
    assert files.get("a") is None
