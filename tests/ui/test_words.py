"""Numbers, times and confidences in words."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.ui import words

NOW = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (9_999, "9,999"), (12_400, "12.4k"), (80_000, "80k"), (3_000_000, "3M"), (2.5e9, "2.5G")]
)
def test_big_numbers_are_short(number: float, text: str) -> None:
    assert words.compact(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.42, "0.4 s"), (42, "42 s"), (60, "1 min"), (200, "3 min 20 s"), (7_500, "2 h 5 min"), (349_200, "4 d 1 h")],
)
def test_durations_have_two_units_at_most(seconds: float, text: str) -> None:
    assert words.duration(seconds) == text


@pytest.mark.parametrize(
    ("back", "text"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=3), "3 min ago"),
        (timedelta(hours=5), "5 h ago"),
        (timedelta(days=2), "2 d ago"),
        (timedelta(days=30), "12 Feb 2026"),
    ],
)
def test_times_have_one_unit_and_later_become_dates(back: timedelta, text: str) -> None:
    assert words.ago(NOW - back, NOW) == text


@pytest.mark.parametrize(
    ("value", "step"), [(None, "none"), (float("nan"), "none"), (0, "0"), (0.59, "2"), (1.0, "4"), (1.2, "4")]
)
def test_a_confidence_has_a_swatch_and_no_confidence_is_not_zero(value: float | None, step: str) -> None:
    assert words.ramp_step(value) == step
