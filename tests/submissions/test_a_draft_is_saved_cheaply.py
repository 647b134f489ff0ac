"""A draft is saved with few queries, and by the rights of `contest_visible_to`."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta

import pytest
from django.http import Http404
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import Role, User
from apps.contests.access import contest_visible_to, problem_own_for
from apps.contests.models import Contest, ContestProblem, ContestState
from apps.submissions.access import submission_own_for
from apps.submissions.models import Submission
from tests.contests.factory import enter, make_contest
from tests.practice.factory import tried

ClientFor = Callable[[User | None], Client]


def test_four_queries_save_a_draft(
    charlie: User, client_for: ClientFor, django_assert_num_queries: Callable[..., AbstractContextManager[object]]
) -> None:
    client, url = client_for(charlie), reverse("submissions:draft", args=[tried(charlie).public_id])
    draft = {"text": "Let $n$ be odd.", "text_format": "markdown", "based_on": "0"}
    assert client.post(url, draft).json()["row_version"] == 1
    with django_assert_num_queries(4):  # Session, user, text with its problem, update.
        assert client.post(url, {**draft, "text": "Let $n$ be even.", "based_on": "1"}).json()["row_version"] == 2
    assert Submission.objects.get().draft == "Let $n$ be even."


@pytest.mark.parametrize("state", ContestState.values)
@pytest.mark.parametrize("hours", [None, -1, 1])
@pytest.mark.parametrize("coaches", [False, True])
def test_a_text_is_visible_where_its_contest_is(bob: User, state: str, hours: int | None, coaches: bool) -> None:
    contest = make_contest(bob)
    person = User.objects.create_user("erin", role=Role.COACH if coaches else Role.STUDENT)
    paper, problem = enter(contest, person)
    if coaches:
        contest.coaches.create(person=person)
    opens_at = None if hours is None else timezone.now() + timedelta(hours=hours)
    Contest.objects.filter(pk=contest.pk).update(state=state, opens_at=opens_at)
    is_visible = contest_visible_to(person).filter(pk=contest.pk).exists()
    assert _is_found(problem_own_for, person, problem) == is_visible
    assert _is_found(submission_own_for, person, problem) == is_visible
    Submission.objects.create(paper=paper, problem=problem)
    assert _is_found(submission_own_for, person, problem) == is_visible
    person.is_active = False
    assert not _is_found(submission_own_for, person, problem)


def _is_found(find: Callable[..., object], person: User, problem: ContestProblem) -> bool:
    try:
        find(person, problem.public_id)
    except Http404:
        return False
    return True


def test_a_text_of_another_student_is_not_found(charlie: User) -> None:
    problem = tried(charlie)
    paper = problem.contest.papers.get()
    Submission.objects.create(paper=paper, problem=problem)
    other = User.objects.create_user("erin", role=Role.STUDENT)
    tried(other, problem.problem)
    with pytest.raises(Http404):
        submission_own_for(other, problem.public_id)
    assert submission_own_for(charlie, problem.public_id).paper == paper
