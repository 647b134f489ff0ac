"""Awards by cut-offs: the usual choice, ties, mentions, fixing on record, and nothing before that."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem, Identity, Paper
from apps.marks.models import AuditEvent, FinalGrade
from apps.marks.office.awards import CutOffs, CutOffsRefused, cutoffs_read, cutoffs_suggested, outcome
from apps.marks.office.cutoffs import cutoffs_fix, cutoffs_fixed, cutoffs_history
from apps.marks.office.office import ResultCell, ResultRow, result_list, results_sign
from tests.marks.office.listed import listed

ClientFor = Callable[[User | None], Client]


def rows(*totals: int | None, full: Sequence[int] = ()) -> list[ResultRow]:
    """Make papers with these totals on one problem; None is a text without a grade."""
    found = []
    for place, total in enumerate(totals):
        cell = ResultCell(waits=True) if total is None else ResultCell(Decimal(total), is_full=place in full)
        found.append(ResultRow(Paper(number=f"P{place}"), [cell]))
    return found


def typed(gold: str = "", silver: str = "", bronze: str = "", *, step: str = "1") -> CutOffs:
    return cutoffs_read({"gold": gold, "silver": silver, "bronze": bronze}, has_mentions=True, step=Decimal(step))


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
    bands = [(str(one.total), one.papers, one.above, one.medal) for one in outcome(papers, cutoffs).bands]
    assert bands == [
        ("40", 3, 3, "gold"), ("30", 2, 5, "bronze"), ("20", 4, 9, ""), ("10", 1, 10, ""), ("5", 1, 11, ""), ("0", 1, 12, ""),
    ]  # fmt: skip


def test_papers_with_equal_totals_share_a_medal_while_mentions_are_counted_for_each() -> None:
    papers = rows(14, 7, 7, 7, full=(0, 2, 3))
    bands = [(str(one.total), one.medal, one.mentions) for one in outcome(papers, typed("14")).bands]
    assert bands == [("14", "gold", 0), ("7", "", 2)]


@pytest.mark.parametrize("totals", [(), (0, 0), (None, None)])
def test_without_points_the_usual_choice_has_no_medals(totals: tuple[int | None, ...]) -> None:
    assert cutoffs_suggested(rows(*totals)).lowest == []


def test_one_large_tie_at_the_top_is_suggested_as_gold() -> None:
    papers = rows(7, 7, 7, 0)
    assert counts(papers, cutoffs_suggested(papers))["gold"] == 3


def test_a_mention_needs_full_points_on_a_problem_and_no_medal() -> None:
    papers = rows(21, 14, 7, 6, full=(0, 2))
    assert [typed("20", "14").award(row) for row in papers] == ["gold", "silver", "mention", ""]
    without = cutoffs_read({"gold": "20"}, has_mentions=False, step=Decimal(1))
    assert [without.award(row) for row in papers] == ["gold", "", "", ""]


def test_a_paper_that_is_not_marked_has_no_award_and_counts_for_no_share() -> None:
    papers = rows(7, None)
    found = outcome(papers, typed("7"))
    assert (found.ranked, found.medals, found.counts[0].share) == (1, 1, 1.0)
    assert typed("7").award(papers[1]) == ""
    assert papers[1].total is None


def test_the_papers_just_below_a_cut_off_are_counted() -> None:
    found = outcome(rows(30, 29, 29, 27), typed("30", "28"))
    assert [count.near for count in found.counts] == [2, 1, 0]


@pytest.mark.parametrize(
    "words",
    [
        ("10", "10"),
        ("10", "12"),
        ("10", "", "11"),
        ("many",),
        ("-1",),
        ("0",),
        ("nan",),
        ("1e9",),
        ("1_0",),
        ("0x7",),
        ("\u0663",),
        ("99999",),
        ("7.125",),
    ],
)
def test_cut_offs_that_make_no_sense_are_refused_with_a_reason(words: tuple[str, ...]) -> None:
    with pytest.raises(CutOffsRefused, match=r"cut-off of (gold|silver|bronze) must be"):
        typed(*words)


def test_a_medal_may_be_left_out_and_half_points_may_be_typed_with_a_comma() -> None:
    assert typed("20,5", "", "10", step="0.5").lowest == [("gold", Decimal("20.5")), ("bronze", Decimal(10))]


@pytest.mark.parametrize(("step", "wrong", "unit"), [("1", "20.5", "whole points"), ("0.5", "20.25", "steps of 0.5 points")])
def test_a_cut_off_that_no_total_can_have_is_refused(step: str, wrong: str, unit: str) -> None:
    with pytest.raises(CutOffsRefused, match=f"must be a total of this contest, which counts in {unit}"):
        typed(wrong, step=step)


def test_a_paper_by_a_model_takes_no_medal_and_counts_for_no_share() -> None:
    people = rows(30, 20, 10, 0, full=(1,))
    model = replace(rows(42, full=(0,))[0], is_model=True)
    assert typed("30").award(model) == ""
    assert outcome([model, *people], typed("30")) == outcome(people, typed("30"))
    assert cutoffs_suggested([model, *people]) == cutoffs_suggested(people)


@pytest.fixture
def problem(bob: User, dana: User) -> ContestProblem:
    """Four marked papers with 7, 2, 2 and 0 points; Bob organises."""
    return listed(bob)


def signed(problem: ContestProblem, by: User) -> str:
    """Sign off the list, and return its digest."""
    digest = result_list(problem.contest).digest
    results_sign(contest=problem.contest, by=by, digest=digest)
    return digest


def regraded(problem: ContestProblem) -> None:
    """Give the paper with no points one point."""
    grade = FinalGrade.objects.get(points=0)
    FinalGrade.objects.create(
        case=grade.case, mark=grade.mark, points=1, scheme_version=grade.scheme_version, sheet=grade.sheet, supersedes=grade
    )


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
    client, digest = client_for(bob), signed(problem, bob)
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
    contest, digest = problem.contest, signed(problem, bob)
    first = cutoffs_fix(contest=contest, by=bob, cutoffs=typed("7"), digest=digest, based_on=None)
    for refused, given in (
        ("another organiser fixed", {"based_on": None, "reason": "A typing error."}),
        ("results changed since you looked", {"based_on": first.pk, "digest": "0" * 64, "reason": "A typing error."}),
        ("Give the reason", {"based_on": first.pk, "reason": "  "}),
    ):
        with pytest.raises(CutOffsRefused, match=refused):
            cutoffs_fix(**{"contest": contest, "by": bob, "cutoffs": typed("7", "2"), "digest": digest} | given)  # type: ignore[arg-type]
    with pytest.raises(CutOffsRefused, match="in force for this list already"):
        cutoffs_fix(contest=contest, by=bob, cutoffs=typed("7"), digest=digest, based_on=first.pk, reason="Again.")
    cutoffs_fix(contest=contest, by=bob, cutoffs=typed("7", "2"), digest=digest, based_on=first.pk, reason="A typing error.")
    fixed = cutoffs_fixed(contest)
    assert fixed is not None
    assert fixed.cutoffs == typed("7", "2")
    assert AuditEvent.objects.filter(verb="awards.fixed").count() == 2, "the earlier choice stays on the record"


def test_a_wrong_what_if_is_answered_with_its_reason_where_htmx_shows_it(
    problem: ContestProblem, bob: User, client_for: ClientFor
) -> None:
    where = reverse("office:awards", args=[problem.contest.public_id])
    answer = client_for(bob).get(where, {"gold": "2", "silver": "7"}, headers={"HX-Request": "true"})
    assert answer.status_code == 200, "htmx swaps no page with an error status"
    swapped = answer.content.decode().split('id="what-if-found"')[1]
    assert "must be above that of silver" in swapped
    assert "Fix these cut-offs" not in swapped


@pytest.mark.parametrize("based_on", ["\u00b2", "x", "9" * 40, "-1"])
def test_a_wrong_event_in_a_form_is_refused_in_words(
    problem: ContestProblem, bob: User, client_for: ClientFor, based_on: str
) -> None:
    sent = {"gold": "7", "digest": signed(problem, bob), "based_on": based_on}
    answer = client_for(bob).post(reverse("office:awards", args=[problem.contest.public_id]), sent, follow=True)
    assert "another organiser fixed cut-offs meanwhile" in answer.content.decode()
    assert cutoffs_fixed(problem.contest) is None


def test_cut_offs_need_a_list_that_is_signed_off(problem: ContestProblem, bob: User) -> None:
    digest = result_list(problem.contest).digest
    with pytest.raises(CutOffsRefused, match="sign off the results first"):
        cutoffs_fix(contest=problem.contest, by=bob, cutoffs=typed("7"), digest=digest, based_on=None)


def test_cut_offs_of_an_older_list_are_marked_on_every_page_until_they_are_confirmed(
    problem: ContestProblem, bob: User, client_for: ClientFor
) -> None:
    contest, client = problem.contest, client_for(bob)
    first = cutoffs_fix(contest=contest, by=bob, cutoffs=typed("7"), digest=signed(problem, bob), based_on=None)
    places = [reverse(f"office:{name}", args=[contest.public_id]) for name in ("awards", "results")]
    places += [
        reverse("office:letters", args=[contest.public_id, "letter"]),
        reverse("results:ranking", args=[contest.public_id]),
    ]
    warning = "The results changed after the cut-offs of the awards were fixed"
    assert [where for where in places if warning in client.get(where).content.decode()] == []
    regraded(problem)
    assert [where for where in places if warning in client.get(where).content.decode()] == places
    sent = {"gold": "7", "mentions": "yes", "digest": signed(problem, bob), "based_on": str(first.pk)}
    assert "Fix these cut-offs for the new list" in client.get(places[0]).content.decode()
    client.post(places[0], sent)
    assert [where for where in places if warning in client.get(where).content.decode()] == []
    assert [one.cutoffs for one in cutoffs_history(contest)] == [typed("7"), typed("7")]


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
