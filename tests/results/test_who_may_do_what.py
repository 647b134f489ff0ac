"""Every change is refused to users without the permission, and organisers who mark stay blind."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.models import Appeal, AppealState, MarkingTask, Reveal
from apps.results.releasing import examples, readiness
from tests.marks.factory import marker
from tests.results.factory import appeal_of, case_of, day_after, marked, released

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def problem(bob: User, charlie: User) -> ContestProblem:
    return marked(bob, charlie, marker("eve"))


def test_only_the_author_withdraws_an_appeal(
    problem: ContestProblem, bob: User, charlie: User, dana: User, client_for: ClientFor
) -> None:
    day_after(problem.contest, bob)
    appeal = appeal_of(problem, charlie)
    withdraw = reverse("results:appeal_withdraw", kwargs={"appeal_id": appeal.public_id})
    for stranger in (bob, dana, marker("eve")):
        assert client_for(stranger).post(withdraw).status_code == 404
    assert Appeal.objects.get().state == AppealState.WRITTEN
    client_for(charlie).post(withdraw)
    assert Appeal.objects.get().state == AppealState.WITHDRAWN


@pytest.mark.parametrize("verb", ["take", "reject", "uphold"])
def test_students_and_strangers_cannot_decide_an_appeal(
    problem: ContestProblem, bob: User, charlie: User, dana: User, client_for: ClientFor, verb: str
) -> None:
    day_after(problem.contest, bob)
    appeal = appeal_of(problem, charlie)
    url = reverse("results:appeal_command", kwargs={"appeal_id": appeal.public_id, "verb": verb})
    for stranger in (charlie, dana):
        assert client_for(stranger).post(url, {"answer": "The step is correct."}).status_code == 404
    appeal.refresh_from_db()
    assert appeal.state == AppealState.WRITTEN


def test_only_organisers_undo_a_release(problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor) -> None:
    batch = released(problem.contest, bob)
    where = {"contest_id": problem.contest.public_id, "batch_id": batch.public_id}
    for stranger in (charlie, marker("eve")):
        assert client_for(stranger).post(reverse("results:release_undo", kwargs=where)).status_code == 404
    batch.refresh_from_db()
    assert batch.undone_at is None


def test_a_form_without_a_csrf_token_changes_nothing(problem: ContestProblem, bob: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(bob)
    url = reverse("results:release", kwargs={"contest_id": problem.contest.public_id})
    assert client.post(url, {"parts": ["comments"], "expected": "x"}).status_code == 403
    assert not problem.contest.releases.exists()


def test_an_organiser_who_marks_a_text_does_not_see_its_grade(
    problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor
) -> None:
    case = case_of(problem, charlie)
    task = MarkingTask.objects.create(case=case, slot="remark", assignee=bob)
    url = reverse("results:preview", kwargs={"contest_id": problem.contest.public_id, "case_id": case.public_id})
    assert client_for(bob).get(url).status_code == 404
    shown = [grade.case_id for _, grades in examples(readiness(problem.contest), bob) for grade in grades]
    assert case.pk not in shown
    task.delete()
    assert client_for(bob).get(url).status_code == 200


def test_a_reader_of_a_preview_is_in_the_ledger(charlie: User, dana: User, bob: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie, dana)
    problem.contest.coaches.filter(person=dana).update(is_organiser=True)
    case = case_of(problem, charlie)
    url = reverse("results:preview", kwargs={"contest_id": problem.contest.public_id, "case_id": case.public_id})
    client_for(dana).get(url)
    seen = Reveal.objects.get(case=case)
    assert (seen.person, seen.kind, seen.trigger) == (dana, "colleague", "release preview")
