"""What opens the next rung, what a rung may be written from."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.reasoning.feedback.ladder import RUNGS, TOP, Asked, Gate, Rules, Source, Track, gate, sources_at

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def asked(*minutes_ago: int | None) -> list[Asked]:
    """Rungs from 0 on, given that long ago; None was not given yet."""
    return [
        Asked(level=level, given_at=None if ago is None else NOW - timedelta(minutes=ago))
        for level, ago in enumerate(minutes_ago)
    ]


def at(rungs: list[Asked], rules: Rules | None = None, *, spent: int | None = None, is_over: bool = False) -> Gate:
    return gate(rungs, rules or Rules(), spent=len(rungs) if spent is None else spent, now=NOW, is_over=is_over)


def test_both_tracks_have_a_title_for_every_rung() -> None:
    for track in Track:
        assert [rung.level for rung in RUNGS[track]] == list(range(TOP + 1))


def test_each_rung_may_be_written_from_more_until_people_must_write() -> None:
    assert sources_at(0) == (Source.TEXT,)
    for level in range(5):
        assert set(sources_at(level)) < set(sources_at(level + 1))
    assert Source.REFERENCE not in sources_at(4)
    assert sources_at(6) == (Source.APPROVED,)
    assert sources_at(7) == (Source.SOLUTION,)


def test_the_first_rung_needs_nothing() -> None:
    assert at([]) == Gate(level=0)


def test_nothing_opens_before_the_last_was_given() -> None:
    assert at(asked(60, None)).refusal


@pytest.mark.parametrize(("ago", "opens"), [(9, False), (10, True)])
def test_ten_minutes_after_the_first(ago: int, opens: bool) -> None:
    found = at(asked(ago))
    assert (found.level, found.refusal == "", found.needs_answer) == (1, opens, True)
    assert (found.opens_at is None) is opens


@pytest.mark.parametrize(("ago", "opens"), [(29, False), (30, True)])
def test_half_an_hour_after_later_ones(ago: int, opens: bool) -> None:
    assert (at(asked(90, ago)).refusal == "") is opens


def test_above_the_coach_s_limit_nothing_opens() -> None:
    assert at(asked(99, 99, 99, 99, 99)) == Gate(level=None, refusal="For this problem there are no further hints.")
    assert at(asked(99, 99, 99, 99, 99), Rules(highest=5)).level == 5


def test_what_was_had_on_other_versions_counts() -> None:
    assert at([], Rules(budget=3), spent=3).refusal
    assert at([], Rules(budget=3), spent=2).refusal == ""


def test_the_solution_waits_for_the_end_even_where_a_coach_opened_it() -> None:
    rungs, rules = asked(*[99] * 7), Rules(highest=7, budget=50)
    assert at(rungs, rules).refusal
    assert at(rungs, rules, is_over=True) == Gate(level=7, needs_answer=True)
    assert at(asked(*[99] * 8), rules, is_over=True).level is None
