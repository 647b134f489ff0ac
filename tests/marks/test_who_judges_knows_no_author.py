"""Who judges a paper does not learn whose it is, and who learned it judges no script of it; the ledger tells who asked."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem, IdentityReveal, Paper
from apps.contests.opening import identity_open
from apps.contests.services import ContestRefused
from apps.marks.calibration import calibration_left
from apps.marks.claims import task_next, task_of_case
from apps.marks.comparing import fresh_people
from apps.marks.models import MarkingCase, MarkingTask
from apps.marks.passes import knows_author, task_pass
from apps.marks.sealing import cases_settle, saw_more
from tests.marks.factory import claimed, past_grace, problem_to_mark, sealed

ClientFor = Callable[[User | None], Client]
NAME, WHY = "author 0", "The jury asked."


def paper_of(task: MarkingTask) -> Paper:
    return task.case.version.submission.paper


def door(problem: ContestProblem, paper: Paper) -> str:
    return reverse("contests:identity_reveal", args=[problem.contest.public_id, paper.public_id])


def shown(client: Client, problem: ContestProblem, paper: Paper) -> bool:
    """Whether asking shows the name; where not, neither the page before it does, and nothing is kept."""
    before = client.get(door(problem, paper)).content.decode()
    answer = client.post(door(problem, paper), {"reason": WHY})
    assert NAME not in before
    is_shown = NAME in answer.content.decode()
    assert answer.status_code == (200 if is_shown else 422)
    assert ('name="reason"' in before) == is_shown
    assert IdentityReveal.objects.exists() == is_shown
    return is_shown


def test_whose_script_one_is_marking_one_is_not_told(bob: User, client_for: ClientFor) -> None:
    problem, client = problem_to_mark(bob, scripts=1), client_for(bob)
    task = claimed(problem, bob)
    assert not shown(client, problem, paper_of(task))
    assert "You are marking problem 1 of this paper" in client.get(door(problem, paper_of(task))).content.decode()
    mark = sealed(task, bob)
    assert not shown(client, problem, paper_of(task)), "it can be opened again"
    past_grace(mark)
    assert not shown(client, problem, paper_of(task)), "it is not settled"
    cases_settle(problem.contest)
    assert shown(client, problem, paper_of(task))


def test_nor_before_two_marks_that_differ_are_settled(bob: User, dana: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, dana, scripts=1, markers=2, asks_place=False)
    task = claimed(problem, bob)
    past_grace(sealed(task, bob))
    past_grace(sealed(claimed(problem, dana), dana, ("points", {"points": 6}), ("reason", {"words": "A slip."})))
    cases_settle(problem.contest)
    assert MarkingCase.objects.get().state == "disputed"
    assert not shown(client_for(bob), problem, paper_of(task))


def test_a_script_that_was_handed_back_is_no_hindrance_and_does_not_come_again(
    bob: User, dana: User, client_for: ClientFor
) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    task = claimed(problem, bob)
    task_pass(task=task, user=bob, reason="skip")
    assert shown(client_for(bob), problem, paper_of(task))
    assert task_next(problem, bob) is None
    assert task_of_case(problem, bob, task.case_id) is None
    assert claimed(problem, dana) == task, "a colleague marks it"


def test_who_asked_before_is_given_the_other_papers_alone(bob: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, scripts=3)
    known = problem.contest.identities.get(name=NAME).paper
    page = client_for(bob).get(door(problem, known)).content.decode()
    assert "you cannot mark scripts of this paper" in page
    assert shown(client_for(bob), problem, known)
    for _ in range(2):
        assert paper_of(sealed(claimed(problem, bob), bob).task) != known
    assert task_next(problem, bob) is None


def test_who_asked_marks_nothing_afresh_hears_no_appeal_and_calibrates_on_none_of_it(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    case = MarkingCase.objects.get()
    assert bob.pk in fresh_people(case).values_list("person", flat=True)
    MarkingCase.objects.update(is_calibration=True, state="settled")
    assert calibration_left(problem, bob) == [case]
    identity_open(paper=case.version.submission.paper, by=bob, reason=WHY)
    assert list(fresh_people(case).values_list("person", flat=True)) == [dana.pk]
    assert calibration_left(problem, bob) == []
    assert (knows_author(case, bob), knows_author(case, dana)) == (True, False)
    assert (saw_more(case, bob), saw_more(case, dana)) == (True, False), "a mark of his would count nowhere"


def test_who_asked_stands_in_the_ledger_of_every_script_of_the_paper_without_the_reason(
    bob: User, dana: User, client_for: ClientFor
) -> None:
    problem_to_mark(bob, dana, scripts=2)
    known, other = MarkingCase.objects.order_by("pk")
    identity_open(paper=known.version.submission.paper, by=bob, reason="Is it Anna?")
    ledger = client_for(bob).get(reverse("marks:case_ledger", args=[known.public_id])).content.decode()
    assert "Who wrote the paper" in ledger
    assert "Anna" not in ledger
    ledger = client_for(bob).get(reverse("marks:case_ledger", args=[other.public_id])).content.decode()
    assert "Who wrote the paper" not in ledger


def test_where_a_contest_is_not_anonymous_nothing_follows(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=1)
    task = claimed(problem, bob)
    with pytest.raises(ContestRefused, match="You are marking"):
        identity_open(paper=paper_of(task), by=bob, reason=WHY)
    problem.contest.is_anonymous = False
    problem.contest.save()
    identity_open(paper=Paper.objects.select_related("contest").get(), by=bob, reason=WHY)
    sealed(task, bob)
    assert not task.mark.is_assisted


def test_the_words_that_stand_for_the_opening_of_all_are_no_reason_for_one(bob: User, dana: User) -> None:
    problem_to_mark(bob, dana, scripts=1)
    paper = Paper.objects.select_related("contest").get()
    with pytest.raises(ContestRefused, match="Enter another reason"):
        identity_open(paper=paper, by=bob, reason="all identities,  after sign-off")
