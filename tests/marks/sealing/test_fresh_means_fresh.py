"""A fresh mark of a graded script is not for users who could read the grade on a page without a ledger."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.contests.services import captain_set, coach_remove
from apps.marks.coordination.comparing import fresh_open
from apps.marks.coordination.coordination import claim_make
from apps.marks.models import AuditEvent, CaseState, Coordination, FinalGrade, MarkingCase, MarkingTask, Slot
from apps.marks.sealing.revealing import Change, mark_change
from apps.marks.sealing.sealing import cases_settle
from apps.marks.workspace.claims import task_next
from apps.marks.workspace.passes import task_pass
from tests.marks.factory import claimed, marker, past_grace, problem_to_mark, sealed
from tests.marks.sealing.test_coordination import BOTH, disputed
from tests.marks.suggested import SEVEN, THREE, answered, suggested

ClientFor = Callable[[User | None], Client]


def changed_far(organiser: User, by: User, *others: User) -> ContestProblem:
    """Return a settled script whose marker then goes from seven points to three."""
    problem = problem_to_mark(organiser, by, *others, scripts=1, unrevealed_percent=0)
    mark = past_grace(sealed(claimed(problem, by), by, *SEVEN))
    suggested(mark)
    cases_settle(problem.contest)
    assert FinalGrade.objects.get().points == 7
    answered(mark)
    mark_change(mark=mark, change=Change("A1", "missed", 2, "A gap."))
    return problem


def state() -> str:
    return MarkingCase.objects.get().state


def listed(client: Client) -> str:
    return client.get(reverse("marks:coordination_list")).content.decode()


def test_a_coach_gets_the_fresh_mark_and_an_organiser_does_not(bob: User, dana: User) -> None:
    eve = marker("eve")
    problem = changed_far(bob, dana, eve)
    assert state() == CaseState.OPEN
    assert task_next(problem, bob) is None, "the result list showed the seven to organisers"
    assert claimed(problem, eve).slot == Slot.THIRD


def test_the_captain_does_not_get_the_fresh_mark(bob: User, dana: User) -> None:
    eve, mallory = marker("eve"), marker("mallory")
    problem = changed_far(bob, dana, eve, mallory)
    captain_set(row=problem, captain=eve)
    problem.refresh_from_db()
    assert task_next(problem, eve) is None
    assert claimed(problem, mallory).slot == Slot.THIRD


def test_organisers_read_that_no_coach_is_eligible_for_a_fresh_mark(bob: User, dana: User, client_for: ClientFor) -> None:
    changed_far(bob, dana)
    case = MarkingCase.objects.get()
    assert not MarkingTask.objects.filter(slot=Slot.THIRD).exists()
    assert case.state == CaseState.SETTLED, "the case must not wait for ever"
    assert FinalGrade.objects.get(superseded_by=None).points == 3
    page = listed(client_for(bob))
    assert "no coach is eligible for a fresh mark" in page
    assert reverse("marks:case_ledger", args=[case.public_id]) in page
    assert "no third coach is left" not in listed(client_for(dana))
    fresh_open(case=case, why="again")
    assert AuditEvent.objects.filter(verb="fresh.nobody").count() == 1


def test_an_organiser_can_make_the_fresh_mark_of_a_script_without_a_grade(bob: User, dana: User, client_for: ClientFor) -> None:
    eve = marker("eve")
    problem = problem_to_mark(bob, dana, eve, scripts=1, markers=2)
    for person, said in ((dana, SEVEN), (eve, THREE)):
        past_grace(sealed(claimed(problem, person), person, *said))
    cases_settle(problem.contest)
    assert not FinalGrade.objects.exists()
    assert claimed(problem, bob).slot == Slot.THIRD
    assert "no third coach is left" not in listed(client_for(bob))


def test_two_marks_go_to_coordination_after_one_was_changed(bob: User, dana: User, client_for: ClientFor) -> None:
    eve = marker("eve")
    problem = problem_to_mark(bob, dana, eve, scripts=1, markers=2, unrevealed_percent=0)
    marks = [past_grace(sealed(claimed(problem, person), person, *SEVEN)) for person in (dana, eve)]
    suggested(marks[0])
    cases_settle(problem.contest)
    answered(marks[0])
    mark_change(mark=marks[0], change=Change("A1", "missed", 2, "A gap."))
    assert state() == CaseState.DISPUTED
    assert "no coach is eligible for a fresh mark" in listed(client_for(bob))


def test_a_case_settles_without_a_fresh_mark_when_the_last_eligible_coach_leaves(
    bob: User, dana: User, client_for: ClientFor
) -> None:
    eve = marker("eve")
    problem = changed_far(bob, dana, eve)
    assert "no third coach is left" not in listed(client_for(bob))
    coach_remove(coach=problem.contest.coaches.get(person=eve))
    assert "no third coach is left" in listed(client_for(bob))
    client_for(bob).post(reverse("marks:fresh_skip", args=[MarkingCase.objects.get().public_id]))
    assert state() == CaseState.SETTLED


@pytest.mark.parametrize("is_led", [True, False])
def test_every_coach_can_mark_again_under_a_changed_scheme(bob: User, dana: User, is_led: bool) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    past_grace(sealed(claimed(problem, dana), dana, *SEVEN))
    cases_settle(problem.contest)
    MarkingTask.objects.create(case=MarkingCase.objects.get(), slot=Slot.AGAIN)
    assert claimed(problem, bob if is_led else dana).slot == Slot.AGAIN


def test_the_captain_reads_when_no_third_coach_is_left(bob: User, dana: User, client_for: ClientFor) -> None:
    eve = marker("eve")
    problem, _ = disputed(bob, dana, eve, lines=(BOTH, "A1"))
    listed = client_for(bob).get(reverse("marks:coordination_list")).content.decode()
    assert "no third coach is left" not in listed
    task_pass(task=claimed(problem, eve), user=eve, reason="conflict")
    listed = client_for(bob).get(reverse("marks:coordination_list")).content.decode()
    assert "no third coach is left" in listed
    assert "Settle without</em>: its two markers then coordinate." in listed
    assert f'{reverse("contests:detail", args=[problem.contest.public_id])}#coaches">Add a coach</a>' in listed


def test_markers_read_that_no_third_coach_was_left_once_all_have_claimed(bob: User, dana: User, client_for: ClientFor) -> None:
    disputed(bob, dana, lines=(BOTH, "A1"))
    coordination = Coordination.objects.get()
    address = reverse("marks:coordination", args=[coordination.public_id])
    words = "no third coach is left who may mark this script. Its markers settle it here"
    assert words not in client_for(dana).get(address).content.decode(), "it would reveal how far the sealed marks are apart"
    for person, line in ((bob, BOTH), (dana, "A1")):
        coordination = claim_make(coordination=coordination, by=person, line=line)
    assert words in client_for(dana).get(address).content.decode()
