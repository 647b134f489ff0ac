"""What was made is kept within a number of bytes and a time."""

import time

import pytest

from apps.ui.typeset.kept import Kept


def test_what_was_used_longest_ago_goes_first() -> None:
    files = Kept(bytes_at_most=10, seconds=60)
    files.put("a", b"1234")
    files.put("b", b"1234")
    assert files.get("a") == b"1234"
    files.put("c", b"1234")
    assert [files.get(name) for name in "abc"] == [b"1234", None, b"1234"]


def test_what_is_too_large_is_not_kept_and_moves_nothing_out() -> None:
    files = Kept(bytes_at_most=10, seconds=60)
    files.put("a", b"1234")
    files.put("b", b"x" * 11)
    assert [files.get(name) for name in "ab"] == [b"1234", None]


def test_after_its_time_it_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    files, now = Kept(bytes_at_most=10, seconds=60), 1_000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    files.put("a", b"1234")
    now = 1_059.0
    assert files.get("a") == b"1234"
    now = 1_061.0
    assert files.get("a") is None
