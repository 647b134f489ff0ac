"""Blank scripts are settled with no points in one decision, which can be taken back until the release."""

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.contests.models import ContestProblem, Paper
from apps.marks.grades import grade_of
from apps.marks.models import AuditEvent, MarkingCase
from apps.marks.sealing.sealing import cases_settle
from apps.marks.setups import cases_prepare
from apps.marks.team.blanks import BlanksRefused, blanks_of, blanks_settle, blanks_undo
from apps.marks.workspace.claims import task_next, task_of_case
from apps.marks.workspace.drafts import draft_of
from apps.scanning.models import ScanFile, ScannedPage
from apps.submissions.models import Scan, SubmissionVersion, VersionScan
from tests.marks.factory import commanded, past_grace, problem_to_mark, script_add, sealed, task_whole


def blank_add(problem: ContestProblem, author: str, *inks: float | None) -> MarkingCase:
    """A script without text, with a page for each ink; None for a page that was never measured."""
    script_add(problem, author, text="")
    version = SubmissionVersion.objects.latest("pk")
    for number, ink in enumerate(inks, 1):
        scan = Scan.objects.create(submission=version.submission, jpeg=b"x", width=1, height=1)
        VersionScan.objects.create(version=version, scan=scan, number=number)
        if ink is not None:
            file, _ = ScanFile.objects.get_or_create(contest=problem.contest, path=f"{author}.pdf", size=1)
            ScannedPage.objects.create(file=file, number=number, jpeg=b"x", ink=ink, scan=scan)
    cases_prepare(problem)
    return MarkingCase.objects.get(version=version)


def settle(problem: ContestProblem, by: User, *cases: MarkingCase) -> int:
    return blanks_settle(problem=problem, cases=[str(case.public_id) for case in cases], by=by)


def test_a_script_with_anything_on_it_is_never_listed(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=1)
    empty, without_ink = blank_add(problem, "empty"), blank_add(problem, "no ink", 0.0, 0.0)
    blank_add(problem, "a stroke", 0.0, 0.0001)
    blank_add(problem, "a photo", None)
    assert {one.case for one in blanks_of(problem)} == {empty, without_ink}


def test_a_script_that_a_marker_holds_or_began_is_not_listed(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=0)
    case = blank_add(problem, "empty")
    task = task_of_case(problem, dana, case.pk)
    assert task is not None
    assert blanks_of(problem) == []
    commanded(task_whole(task), dana, "points", points=1)
    case.tasks.update(assignee=None, lease_until=None)
    assert blanks_of(problem) == []
    with pytest.raises(BlanksRefused, match="begun"):
        settle(problem, bob, case)


@pytest.mark.parametrize("markers", [1, 2])
def test_one_decision_settles_them_with_no_points_and_is_recorded(bob: User, dana: User, markers: int) -> None:
    problem = problem_to_mark(bob, dana, scripts=0, markers=markers)
    cases = [blank_add(problem, "one"), blank_add(problem, "two", 0.0)]
    assert settle(problem, bob, *cases) == 2
    for case in cases:
        case.refresh_from_db()
        grade = grade_of(case)
        assert grade is not None
        assert (case.state, int(grade.points), grade.by) == ("settled", 0, bob)
    event = AuditEvent.objects.get(verb="blank.settled")
    assert sorted(event.body["list"]) == sorted(Paper.objects.values_list("number", flat=True))
    assert task_next(problem, dana) is None
    assert cases_settle(problem.contest) == 0
    with pytest.raises(BlanksRefused):
        settle(problem, bob, *cases)


def test_the_decision_is_taken_back_and_the_scripts_are_marked(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=0, markers=2)
    case = blank_add(problem, "one")
    settle(problem, bob, case)
    assert blanks_undo(problem=problem, event=AuditEvent.objects.get(verb="blank.settled"), by=bob) == 1
    assert [one.case for one in blanks_of(problem)] == [case]
    for user in (bob, dana):
        task = task_next(problem, user)
        assert task is not None
        past_grace(sealed(task_whole(task), user))
    cases_settle(problem.contest)
    case.refresh_from_db()
    grade = grade_of(case)
    assert grade is not None
    assert (case.state, int(grade.points)) == ("settled", 7)


def test_a_released_script_is_not_taken_back(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=0)
    case = blank_add(problem, "one")
    settle(problem, bob, case)
    MarkingCase.objects.update(state="released")
    with pytest.raises(BlanksRefused, match="released"):
        blanks_undo(problem=problem, event=AuditEvent.objects.get(verb="blank.settled"), by=bob)


def test_an_organiser_settles_and_takes_back_on_the_page_and_a_coach_cannot(bob: User, dana: User, client: Client) -> None:
    problem = problem_to_mark(bob, dana, scripts=0)
    case = blank_add(problem, "one", 0.0)
    url = f"/office/problem/{problem.public_id}/blank"
    client.force_login(dana)
    assert client.post(url, {"case": str(case.public_id)}).status_code == 404
    client.force_login(bob)
    assert "Choose at least one" in client.post(url, {"case": "x"}, follow=True).content.decode()
    assert "1 blank script settled" in client.post(url, {"case": str(case.public_id)}, follow=True).content.decode()
    event = AuditEvent.objects.get(verb="blank.settled")
    answer = client.post(f"{url}/{event.pk}/undo", follow=True).content.decode()
    assert "1 script waits for a mark again." in answer
    assert client.get(f"/marking/case/{case.public_id}/ledger/").status_code == 200
    coordination = case.coordinations.get()
    assert client.get(f"/marking/coordination/{coordination.public_id}/").status_code == 200


def test_a_script_that_was_only_opened_is_settled_and_given_to_no_marker(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=0)
    case = blank_add(problem, "empty")
    task = task_of_case(problem, dana, case.pk)
    assert task is not None
    draft_of(task_whole(task), dana)
    case.tasks.update(assignee=None, lease_until=None)
    assert settle(problem, bob, case) == 1
    assert task_next(problem, dana) is None
    assert not case.tasks.exists()
