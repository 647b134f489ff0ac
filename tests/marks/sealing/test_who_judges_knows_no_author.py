"""Markers of a paper cannot open its identity, and coaches who opened it mark no script of it; the ledger lists them."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem, IdentityReveal, Paper
from apps.contests.opening import identity_open
from apps.contests.services import ContestRefused
from apps.marks.coordination.comparing import fresh_people
from apps.marks.models import MarkingCase, MarkingTask
from apps.marks.sealing.calibration import calibration_left
from apps.marks.sealing.sealing import cases_settle, saw_more
from apps.marks.workspace.claims import task_next, task_of_case
from apps.marks.workspace.passes import knows_author, task_pass
from tests.marks.factory import claimed, past_grace, problem_to_mark, sealed

ClientFor = Callable[[User | None], Client]
NAME, WHY = "author 0", "The jury asked."


def paper_of(task: MarkingTask) -> Paper:
    return task.case.version.submission.paper


def identity_page(problem: ContestProblem, paper: Paper) -> str:
    return reverse("contests:identity_reveal", args=[problem.contest.public_id, paper.public_id])


def shown(client: Client, problem: ContestProblem, paper: Paper) -> bool:
    """Report whether a request shows the name; otherwise check that no page shows it and nothing is stored."""
    before = client.get(identity_page(problem, paper)).content.decode()
    answer = client.post(identity_page(problem, paper), {"reason": WHY})
    assert NAME not in before
    is_shown = NAME in answer.content.decode()
    assert answer.status_code == (200 if is_shown else 422)
    assert ('name="reason"' in before) == is_shown
    assert IdentityReveal.objects.exists() == is_shown
    return is_shown


def test_a_marker_cannot_open_the_identity_of_their_script(bob: User, client_for: ClientFor) -> None:
    problem, client = problem_to_mark(bob, scripts=1), client_for(bob)
    task = claimed(problem, bob)
    assert not shown(client, problem, paper_of(task))
    assert "You are marking problem 1 of this paper" in client.get(identity_page(problem, paper_of(task))).content.decode()
    mark = sealed(task, bob)
    assert not shown(client, problem, paper_of(task)), "the mark can be reopened"
    past_grace(mark)
    assert not shown(client, problem, paper_of(task)), "the script is not settled"
    cases_settle(problem.contest)
    assert shown(client, problem, paper_of(task))


def test_a_marker_cannot_open_an_identity_during_a_dispute(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, dana, scripts=1, markers=2, asks_place=False)
    task = claimed(problem, bob)
    past_grace(sealed(task, bob))
    past_grace(sealed(claimed(problem, dana), dana, ("points", {"points": 6}), ("reason", {"words": "A slip."})))
    cases_settle(problem.contest)
    assert MarkingCase.objects.get().state == "disputed"
    assert not shown(client_for(bob), problem, paper_of(task))


def test_a_marker_can_open_the_identity_of_a_script_they_handed_back(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    task = claimed(problem, bob)
    task_pass(task=task, user=bob, reason="skip")
    assert shown(client_for(bob), problem, paper_of(task))
    assert task_next(problem, bob) is None
    assert task_of_case(problem, bob, task.case_id) is None
    assert claimed(problem, dana) == task, "a colleague gets the script"


def test_a_coach_who_opened_an_identity_gets_only_other_papers(bob: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, scripts=3)
    known = problem.contest.identities.get(name=NAME).paper
    page = client_for(bob).get(identity_page(problem, known)).content.decode()
    assert "you cannot mark scripts of this paper" in page
    assert shown(client_for(bob), problem, known)
    for _ in range(2):
        assert paper_of(sealed(claimed(problem, bob), bob).task) != known
    assert task_next(problem, bob) is None


def test_a_coach_who_opened_an_identity_gets_no_further_task_on_the_paper(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    case = MarkingCase.objects.get()
    assert bob.pk in fresh_people(case).values_list("person", flat=True)
    MarkingCase.objects.update(is_calibration=True, state="settled")
    assert calibration_left(problem, bob) == [case]
    identity_open(paper=case.version.submission.paper, by=bob, reason=WHY)
    assert list(fresh_people(case).values_list("person", flat=True)) == [dana.pk]
    assert calibration_left(problem, bob) == []
    assert (knows_author(case, bob), knows_author(case, dana)) == (True, False)
    assert (saw_more(case, bob), saw_more(case, dana)) == (True, False), "a mark by Bob would not be independent"


def test_the_ledger_of_each_script_names_the_coach_without_the_reason(bob: User, dana: User, client_for: ClientFor) -> None:
    problem_to_mark(bob, dana, scripts=2)
    known, other = MarkingCase.objects.order_by("pk")
    identity_open(paper=known.version.submission.paper, by=bob, reason="Is it Anna?")
    ledger = client_for(bob).get(reverse("marks:case_ledger", args=[known.public_id])).content.decode()
    assert "Who wrote the paper" in ledger
    assert "Anna" not in ledger
    ledger = client_for(bob).get(reverse("marks:case_ledger", args=[other.public_id])).content.decode()
    assert "Who wrote the paper" not in ledger


def test_opening_an_identity_has_no_effect_in_a_contest_with_names(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=1)
    task = claimed(problem, bob)
    with pytest.raises(ContestRefused, match="You are marking"):
        identity_open(paper=paper_of(task), by=bob, reason=WHY)
    problem.contest.is_anonymous = False
    problem.contest.save()
    identity_open(paper=Paper.objects.select_related("contest").get(), by=bob, reason=WHY)
    sealed(task, bob)
    assert not task.mark.is_assisted


def test_the_reserved_reason_for_all_identities_is_refused_for_one(bob: User, dana: User) -> None:
    problem_to_mark(bob, dana, scripts=1)
    paper = Paper.objects.select_related("contest").get()
    with pytest.raises(ContestRefused, match="Enter another reason"):
        identity_open(paper=paper, by=bob, reason="all identities,  after sign-off")
