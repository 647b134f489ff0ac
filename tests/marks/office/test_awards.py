"""Awards by cut-offs: the usual choice, ties, mentions, fixing on record, and nothing before that."""

from collections.abc import Callable, Sequence
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem, Identity, Paper
from apps.marks.models import AuditEvent
from apps.marks.office.awards import CutOffs, CutOffsRefused, cutoffs_read, cutoffs_suggested, outcome
from apps.marks.office.cutoffs import cutoffs_fix, cutoffs_fixed
from apps.marks.office.office import ResultCell, ResultRow, result_list
from tests.marks.office.listed import listed

ClientFor = Callable[[User | None], Client]


def rows(*totals: int | None, full: Sequence[int] = ()) -> list[ResultRow]:
    """Make papers with these totals on one problem; None is a text without a grade."""
    found = []
    for place, total in enumerate(totals):
        cell = ResultCell(waits=True) if total is None else ResultCell(Decimal(total), is_full=place in full)
        found.append(ResultRow(Paper(number=f"P{place}"), [cell]))
    return found


def typed(gold: str = "", silver: str = "", bronze: str = "") -> CutOffs:
    return cutoffs_read({"gold": gold, "silver": silver, "bronze": bronze}, has_mentions=True)


def counts(papers: Sequence[ResultRow], cutoffs: CutOffs) -> dict[str, int]:
    return {count.award: count.papers for count in outcome(papers, cutoffs).counts}


def test_the_usual_choice_gives_half_of_the_papers_a_medal_in_the_ratio_1_2_3() -> None:
    papers = rows(*range(42, 30, -1), *range(12, 0, -1))
    assert counts(papers, cutoffs_suggested(papers)) == {"gold": 2, "silver": 4, "bronze": 6, "mention": 0}


def test_equal_totals_get_the_same_medal_and_never_more_than_half_get_one() -> None:
    papers = rows(40, 40, 40, 30, 30, 20, 20, 20, 20, 10, 5, 0)
    cutoffs = cutoffs_suggested(papers)
    assert cutoffs.gold == 40
    assert cutoffs.bronze == 30, "with 20, nine of twelve would get a medal"
    assert outcome(papers, cutoffs).medals == 5
    for band in outcome(papers, cutoffs).bands:
        assert band.papers == sum(row.total == band.total for row in papers)


@pytest.mark.parametrize("totals", [(), (0, 0), (None, None)])
def test_without_points_the_usual_choice_has_no_medals(totals: tuple[int | None, ...]) -> None:
    assert cutoffs_suggested(rows(*totals)).lowest == []


def test_one_large_tie_at_the_top_is_suggested_as_gold() -> None:
    papers = rows(7, 7, 7, 0)
    assert counts(papers, cutoffs_suggested(papers))["gold"] == 3


def test_a_mention_needs_full_points_on_a_problem_and_no_medal() -> None:
    papers = rows(21, 14, 7, 6, full=(0, 2))
    assert [typed("20", "14").award(row) for row in papers] == ["gold", "silver", "mention", ""]
    without = cutoffs_read({"gold": "20"}, has_mentions=False)
    assert [without.award(row) for row in papers] == ["gold", "", "", ""]


def test_a_paper_that_is_not_marked_has_no_award_and_counts_for_no_share() -> None:
    papers = rows(7, None)
    found = outcome(papers, typed("7"))
    assert (found.ranked, found.medals, found.medal_share) == (1, 1, 1.0)
    assert typed("7").award(papers[1]) == ""
    assert papers[1].total is None


def test_the_papers_just_below_a_cut_off_are_counted() -> None:
    found = outcome(rows(30, 29, 29, 27), typed("30", "28"))
    assert [count.near for count in found.counts] == [2, 1, 0]


@pytest.mark.parametrize(
    "words", [("10", "10"), ("10", "12"), ("10", "", "11"), ("many",), ("-1",), ("0",), ("nan",), ("1e9",)]
)
def test_cut_offs_that_make_no_sense_are_refused_with_a_reason(words: tuple[str, ...]) -> None:
    with pytest.raises(CutOffsRefused, match=r"cut-off of (gold|silver|bronze) must be"):
        typed(*words)


def test_a_medal_may_be_left_out_and_half_points_may_be_typed_with_a_comma() -> None:
    assert typed("20,5", "", "10").lowest == [("gold", Decimal("20.5")), ("bronze", Decimal(10))]


@pytest.fixture
def problem(bob: User, dana: User) -> ContestProblem:
    """Four marked papers with 7, 2, 2 and 0 points; Bob organises."""
    return listed(bob)


def page(client: Client, problem: ContestProblem, query: str = "", name: str = "awards") -> str:
    return client.get(reverse(f"office:{name}", args=[problem.contest.public_id]) + query).content.decode()


def test_a_try_changes_nothing_and_the_results_have_no_award(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    tried = page(client, problem, "?gold=7&silver=2&bronze=&mentions=yes")
    assert "<strong>3</strong> of 4 papers with a total get a medal (75 %)" in tried
    assert "must be above" in page(client, problem, "?gold=2&silver=7")
    assert cutoffs_fixed(problem.contest) is None
    assert "Gold medal" not in page(client, problem, name="results")


def test_fixed_cut_offs_are_on_the_record_and_in_the_results(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    client, digest = client_for(bob), result_list(problem.contest).digest
    sent = {"gold": "7", "silver": "2", "mentions": "yes", "digest": digest, "based_on": ""}
    client.post(reverse("office:awards", args=[problem.contest.public_id]), sent)
    event = AuditEvent.objects.get(verb="awards.fixed")
    assert (event.actor, event.body["gold"], event.body["silver"]) == (bob, "7", "2")
    results = page(client, problem, name="results")
    assert results.count("Gold medal") == 1
    assert results.count("Silver medal") == 2
    record = page(client, problem, name="record")
    assert "Fixed the cut-offs of the awards" in record
    assert "gold from" in record


def test_a_change_needs_a_reason_the_current_list_and_the_current_cut_offs(problem: ContestProblem, bob: User) -> None:
    contest, digest = problem.contest, result_list(problem.contest).digest
    first = cutoffs_fix(contest=contest, by=bob, cutoffs=typed("7"), digest=digest, based_on=None)
    for refused, given in (
        ("another organiser fixed", {"based_on": None, "reason": "A typing error."}),
        ("results changed since you looked", {"based_on": first.pk, "digest": "0" * 64, "reason": "A typing error."}),
        ("Give the reason", {"based_on": first.pk, "reason": "  "}),
    ):
        with pytest.raises(CutOffsRefused, match=refused):
            cutoffs_fix(**{"contest": contest, "by": bob, "cutoffs": typed("7", "2"), "digest": digest} | given)  # type: ignore[arg-type]
    with pytest.raises(CutOffsRefused, match="in force already"):
        cutoffs_fix(contest=contest, by=bob, cutoffs=typed("7"), digest=digest, based_on=first.pk, reason="Again.")
    cutoffs_fix(contest=contest, by=bob, cutoffs=typed("7", "2"), digest=digest, based_on=first.pk, reason="A typing error.")
    fixed = cutoffs_fixed(contest)
    assert fixed is not None
    assert fixed.cutoffs == typed("7", "2")
    assert AuditEvent.objects.filter(verb="awards.fixed").count() == 2, "the earlier choice stays on the record"


def test_no_cut_offs_are_fixed_while_a_script_has_no_grade(bob: User, dana: User) -> None:
    problem = listed(bob, unmarked=1)
    digest = result_list(problem.contest).digest
    with pytest.raises(CutOffsRefused, match="1 script has no grade yet"):
        cutoffs_fix(contest=problem.contest, by=bob, cutoffs=typed("7"), digest=digest, based_on=None)


def test_the_pages_name_the_papers_without_a_rank_and_what_is_not_marked(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = listed(bob, unmarked=1)
    number = Identity.objects.get(name="Late 0").paper.number
    client = client_for(bob)
    for name in ("awards", "results"):
        found = " ".join(page(client, problem, name=name).split())
        assert "1 paper has no total, rank or award yet" in found
        assert f'{number}</span> <span class="muted">not marked: problem 1' in found
