"""Order effects and self-preference of judges of pairs, on tables made by hand and on a knock-out that was played."""

import pytest

from apps.reasoning.domain.candidate_events import PairJudged
from apps.reasoning.scaffolds import rsa
from apps.reasoning.scaffolds.candidates.judges import Comparison, order_report, own_reports
from tests.reasoning.candidates import better, named
from tests.reasoning.play import play


def both(pair: str, first: str, second: str, judge: str = "j", authors: tuple[str, str] = ("", "")) -> list[Comparison]:
    """A pair a, b in both orders; `first` and `second` are what is named better in each."""
    return [
        Comparison(pair, judge, "a", "b", first, authors),
        Comparison(pair, judge, "b", "a", second, (authors[1], authors[0])),
    ]


def test_a_judge_who_looks_at_the_texts_names_the_same_in_both_orders() -> None:
    report = order_report([*both("1", "a", "a"), *both("2", "b", "b")])
    assert (report.first_won and report.first_won.count, report.agreed and report.agreed.count) == (2, 2)
    assert not report.is_led


def test_a_judge_who_follows_the_order_is_seen() -> None:
    report = order_report([one for number in range(10) for one in both(str(number), "a", "b")])
    assert report.first_won is not None
    assert (report.first_won.count, report.first_won.of) == (20, 20)
    assert (report.followed_first, report.followed_second) == (10, 0)
    assert report.agreed is not None
    assert report.agreed.count == 0
    assert report.is_led


def test_a_judge_who_prefers_the_last_is_seen_as_well() -> None:
    report = order_report([one for number in range(10) for one in both(str(number), "b", "a")])
    assert (report.followed_first, report.followed_second) == (0, 10)
    assert report.is_led


def test_what_could_not_be_read_is_counted_apart_and_nothing_has_no_share() -> None:
    report = order_report(both("1", "a", ""))
    assert (report.comparisons, report.unread, report.agreed) == (2, 1, None)
    empty = order_report([])
    assert (empty.first_won, empty.agreed, empty.is_led) == (None, None, False)


def test_self_preference_is_shown_next_to_other_judges_of_the_same_pairs() -> None:
    rows = [
        one
        for number in range(8)
        for one in (
            *both(str(number), "a", "a", "m", ("m", "n")),
            *both(str(number), "b" if number < 6 else "a", "b" if number < 6 else "a", "third", ("m", "n")),
        )
    ]
    mine, third = own_reports(rows)
    assert mine.judge == "m"
    assert mine.own_won is not None
    assert mine.others is not None
    assert (mine.own_won.count, mine.own_won.of) == (8, 8)
    assert (mine.others.count, mine.others.of) == (2, 8)
    assert (third.own_won, third.others) == (None, None)


@pytest.mark.parametrize("orders", [both("1", "a", "b", "m", ("m", "n")), both("1", "a", "a", "m", ("m", "m"))])
def test_pairs_that_say_nothing_about_it_do_not_count(orders: list[Comparison]) -> None:
    assert [one.own_won for one in own_reports(orders)] in ([], [None])


async def test_a_knock_out_whose_judge_always_names_the_first_is_led_by_the_order() -> None:
    run = await play({"step/*": named, "final/*": better("A")}, rsa.Params(population=9, subset=2, steps=1), scaffold="rsa")
    events = [event for event in run.of("pair.judged") if isinstance(event, PairJudged)]
    rows = [Comparison(event.call[:-2], "scripted", event.first, event.second, event.better) for event in events]
    report = order_report(rows)
    assert report.comparisons == 16
    assert report.first_won is not None
    assert report.first_won.count == 16
    assert report.is_led
    assert report.first_won.words == "16 of 16 (100 %, 81 to 100)"
