"""A grade after a release is hidden until the next one; old feedback stays readable after a newer version."""

from collections.abc import Callable

from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.contests.services import contest_move
from apps.marks.grades import grade_give
from apps.marks.models import CaseState, FinalGrade, Mark, MarkingCase, MarkingTask, ReleasePart, Slot
from apps.results.appeals import appeal_reject
from apps.results.releasing import readiness
from tests.contests.factory import hand_in
from tests.marks.factory import claimed, marker, past_grace, sealed
from tests.results.factory import (
    FOR_STUDENT,
    FULL,
    TEXT,
    VERDICT_WORDS,
    appeal_of,
    case_of,
    day_after,
    marked,
    released,
    version_of,
)

ClientFor = Callable[[User | None], Client]


def page_of(client: Client, version: object) -> str:
    address = reverse("results:result", kwargs={"version_id": version.public_id})  # type: ignore[attr-defined]
    return client.get(address).content.decode()


def regrade(problem: object, student: User, by: User) -> FinalGrade:
    """Create a later grade of all points, as a changed scheme or a ruling does."""
    case = case_of(problem, student)  # type: ignore[arg-type]
    mark = Mark.objects.select_related("scheme_version").get(task__case=case)
    sheet = {**mark.sheet, "ticks": ["A1", "A2"]}
    Mark.objects.filter(pk=mark.pk).update(sheet=sheet, points=7, state="revised", change_reason="I missed it")
    mark.refresh_from_db()
    return grade_give(case=case, mark=mark, by=by, reason="I missed it")


def test_a_later_grade_is_a_pending_revision_without_new_points(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie)
    released(problem.contest, bob, ReleasePart.POINTS)
    regrade(problem, charlie, bob)
    client, version = client_for(charlie), version_of(problem, charlie)
    assert "<strong>3</strong> of 7" in page_of(client, version)
    assert readiness(problem.contest).news == 1
    released(problem.contest, bob, ReleasePart.POINTS)
    assert "<strong>7</strong> of 7" in page_of(client, version)


def test_a_part_that_is_not_released_again_stays_as_it_was(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie)
    released(problem.contest, bob, ReleasePart.COMMENTS, ReleasePart.POINTS)
    regrade(problem, charlie, bob)
    released(problem.contest, bob, ReleasePart.COMMENTS)
    page = page_of(client_for(charlie), version_of(problem, charlie))
    assert "<strong>3</strong> of 7" in page
    assert FOR_STUDENT in page


def test_a_new_upload_leaves_old_feedback_readable(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie)
    contest = problem.contest
    released(contest, bob)
    old = version_of(problem, charlie)
    contest.refresh_from_db()
    contest_move(contest=contest, verb="reopen", based_on=contest.row_version)
    paper = type(old.submission.paper).objects.select_related("contest").get(pk=old.submission.paper_id)
    assert paper.contest.state == ContestState.OPEN
    newer = hand_in(paper, type(problem).objects.get(pk=problem.pk), TEXT.replace("Then $p", "Hence $p"))
    client = client_for(charlie)
    before = page_of(client, old)
    assert FOR_STUDENT in before
    assert VERDICT_WORDS.split("$")[0].strip() in before
    assert "<strong>3</strong> of 7" in before
    now = page_of(client, newer)
    assert "No results are released for this version." in now
    assert "of 7" not in now
    own = client.get(reverse("results:own", kwargs={"contest_id": contest.public_id})).content.decode()
    assert "for version 1" in own


def test_an_appeal_leaves_a_script_that_was_sent_back_with_its_markers(bob: User, charlie: User) -> None:
    eve = marker("eve")
    problem = marked(bob, charlie, eve)
    day_after(problem.contest, bob)
    case = case_of(problem, charlie)
    MarkingTask.objects.create(case=case, slot=Slot.AGAIN)
    MarkingCase.objects.filter(pk=case.pk).update(state=CaseState.OPEN)
    appeal = appeal_of(problem, charlie)
    assert case_of(problem, charlie).state == CaseState.OPEN
    again = past_grace(sealed(claimed(problem, bob), bob, *FULL))
    assert readiness(problem.contest).missing == 0
    assert case_of(problem, charlie).state == CaseState.APPEALED, "the appeal still waits for an answer"
    assert FinalGrade.objects.get(case=case, superseded_by=None).mark == again
    appeal_reject(appeal=appeal, by=eve, answer="It was marked again.")
    assert case_of(problem, charlie).state == CaseState.SETTLED, "students have not seen the new grade"
