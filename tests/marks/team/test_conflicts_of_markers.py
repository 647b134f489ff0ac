"""A marker gets no script of a student of a school or group in conflict, and no page shows which script that is."""

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from apps.accounts.models import GroupMember, StudentGroup, User
from apps.contests.models import ContestProblem
from apps.marks.coordination.comparing import fresh_people
from apps.marks.models import AuditEvent, MarkerConflict
from apps.marks.sealing.calibration import calibration_left, calibration_set
from apps.marks.sealing.sealing import cases_settle
from apps.marks.team.assigning import Share, scripts_assign
from apps.marks.team.conflicts import ConflictRefused, conflict_declare, conflict_remove
from apps.marks.workspace.claims import task_next, task_of_case
from apps.marks.workspace.passes import knows_author
from tests.marks.factory import claimed, past_grace, problem_to_mark, script_add, sealed, task_whole


def with_schools(bob: User, dana: User) -> ContestProblem:
    """Two scripts: one by a student of the school Hilltop."""
    problem = problem_to_mark(bob, dana, scripts=2)
    first = problem.contest.identities.order_by("pk")[0]
    first.school = "Hilltop"
    first.save()
    return problem


def test_a_marker_gets_no_script_of_a_school_in_conflict(bob: User, dana: User) -> None:
    problem = with_schools(bob, dana)
    conflict_declare(contest=problem.contest, person=dana, school="Hilltop", group=None, by=bob)
    kept = problem.cases.get(version__submission__paper__in=problem.contest.identities.filter(school="Hilltop").values("paper"))
    task = claimed(problem, dana)
    assert task.case_id != kept.pk
    sealed(task, dana)
    assert task_next(problem, dana) is None
    assert task_of_case(problem, dana, kept.pk) is None
    assert claimed(problem, bob).case_id == kept.pk


def test_an_assignment_of_such_a_script_leaves_it_to_others(bob: User, dana: User) -> None:
    problem = with_schools(bob, dana)
    conflict_declare(contest=problem.contest, person=dana, school="Hilltop", group=None, by=bob)
    scripts_assign(problem=problem, markers=[dana], share=Share(), by=bob)
    sealed(claimed(problem, dana), dana)
    assert task_next(problem, dana) is None
    assert claimed(problem, bob)


def test_a_marker_gets_no_script_of_a_student_of_a_group_in_conflict(bob: User, dana: User, charlie: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=0)
    script_add(problem, "Charlie", person=charlie)
    from apps.marks.setups import cases_prepare

    cases_prepare(problem)
    group = StudentGroup.objects.create(name="Camp", made_by=dana)
    GroupMember.objects.create(group=group, person=charlie)
    assert task_of_case(problem, dana, problem.cases.get().pk) is not None
    problem.cases.get().tasks.update(assignee=None, lease_until=None)
    conflict_declare(contest=problem.contest, person=dana, school="", group=group, by=bob)
    assert task_next(problem, dana) is None


def test_only_schools_and_groups_of_the_roster_are_accepted(bob: User, dana: User) -> None:
    problem = with_schools(bob, dana)
    empty = StudentGroup.objects.create(name="Empty", made_by=bob)
    for school, group in (("Valley", None), ("", empty), ("", None), ("Hilltop", empty)):
        with pytest.raises(ConflictRefused):
            conflict_declare(contest=problem.contest, person=dana, school=school, group=group, by=bob)
    assert not MarkerConflict.objects.exists()


def test_a_conflict_is_removed_only_by_another_organiser(bob: User, dana: User, alice: User) -> None:
    problem = with_schools(bob, dana)
    conflict = conflict_declare(contest=problem.contest, person=dana, school="Hilltop", group=None, by=bob)
    for by in (bob, dana):
        with pytest.raises(ConflictRefused, match="another organiser"):
            conflict_remove(conflict=conflict, by=by)
    conflict_remove(conflict=conflict, by=alice)
    assert not MarkerConflict.objects.exists()


def test_a_researcher_who_organises_sees_no_school(bob: User, dana: User, alice: User, client: Client) -> None:
    problem = with_schools(bob, dana)
    problem.contest.coaches.create(person=alice, is_organiser=True)
    page = f"/office/{problem.contest.public_id}/team/"
    client.force_login(bob)
    assert "Hilltop" in client.get(page).content.decode()
    client.force_login(alice)
    assert "Hilltop" not in client.get(page).content.decode()


def test_a_conflict_keeps_calibration_fresh_marks_and_hearings_away(bob: User, dana: User) -> None:
    problem = with_schools(bob, dana)
    kept = problem.cases.get(version__submission__paper__in=problem.contest.identities.filter(school="Hilltop").values("paper"))
    task = task_of_case(problem, bob, kept.pk)
    assert task is not None
    past_grace(sealed(task_whole(task), bob))
    cases_settle(problem.contest)
    kept.refresh_from_db()
    calibration_set(case=kept, by=bob, is_on=True)
    assert calibration_left(problem, dana) == [kept]
    assert not knows_author(kept, dana)
    MarkerConflict.objects.create(contest=problem.contest, person=dana, school=" hilltop ", by=bob)
    assert calibration_left(problem, dana) == []
    assert knows_author(kept, dana)
    assert not fresh_people(kept).filter(person=dana).exists()


def test_a_conflict_is_stored_once_and_its_school_is_not_in_the_record(bob: User, dana: User) -> None:
    problem = with_schools(bob, dana)
    for _ in range(2):
        conflict_declare(contest=problem.contest, person=dana, school="Hilltop", group=None, by=bob)
    with pytest.raises(IntegrityError), transaction.atomic():
        MarkerConflict.objects.create(contest=problem.contest, person=dana, school="Hilltop", by=bob)
    (event,) = AuditEvent.objects.filter(verb="team.conflict")
    assert "Hilltop" not in str(event.body)
