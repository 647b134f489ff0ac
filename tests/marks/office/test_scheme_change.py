"""A change of a scheme with marks: shown first, applied exactly as shown, and without effect on sealed marks."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.grades import grade_of
from apps.marks.models import (
    AuditEvent,
    CaseState,
    FinalGrade,
    Mark,
    MarkingCase,
    MarkingTask,
    ReleaseBatch,
    ReleasedGrade,
    Slot,
)
from apps.marks.office.scheme_change import ChangeRefused, Impact, change_apply, impact, target_of
from apps.marks.sealing.sealing import cases_settle
from apps.reasoning.marking.schemes.evaluation import evaluate
from apps.reasoning.marking.schemes.rescoring import Choice, Fate
from apps.reasoning.marking.schemes.text_form import text_read
from apps.reasoning.marking.sheets.sheet import MarkSheet
from apps.schemes.models import MarkingScheme, VersionStatus
from apps.schemes.services import scheme_save
from tests.marks.factory import claimed, past_grace, problem_to_mark, sealed

ClientFor = Callable[[User | None], Client]
OLD = """
chain A: Descent
chain B: Rings
checkpoint A1, 3 points, chain A: Half of it.
checkpoint A2, 4 points, chain A, needs A1: The rest.
checkpoint B1, 7 points, chain B: Everything.
deduction D, 1 point: A slip.
"""
CHEAPER = OLD.replace("A1, 3 points", "A1, 2 points")
WHY = "A1 was given away in the statement."
CLAIMS = (["A1", "A2"], ["A1"], ["D"], ["A1", "A2", "D"])


def scheme_of(problem: ContestProblem) -> MarkingScheme:
    scheme = problem.setup.scheme
    assert scheme is not None
    scheme.refresh_from_db()
    return scheme


def written(problem: ContestProblem, by: User, text: str) -> None:
    """Write a draft of the problem's scheme."""
    scheme = scheme_of(problem)
    scheme_save(scheme=scheme, content=text_read(text), by=by, based_on=scheme.row_version)


def preview(problem: ContestProblem, **choices: Choice) -> Impact:
    """Return the effects of the draft; choices are given by item code."""
    target = target_of(problem.setup)
    assert target is not None
    keys = {one.code: one.key for one in impact(problem, target, {}).differences}
    return impact(problem, target, {keys[code]: choice for code, choice in choices.items()})


def applied(problem: ContestProblem, by: User, **choices: Choice) -> Impact:
    found = preview(problem, **choices)
    return change_apply(
        problem=problem, choices=found.choices, reason=WHY, by=by, based_on=scheme_of(problem).row_version, token=found.token
    )


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    """Create four scripts with the claims above, marked by Bob and settled."""
    problem = problem_to_mark(bob, scripts=4, asks_place=False)
    written(problem, bob, OLD)
    applied(problem, bob)
    for claim in CLAIMS:
        line = " ".join(claim).replace("D", "-D")
        past_grace(sealed(claimed(problem, bob), bob, ("claim", {"line": line}), ("reason", {"words": "So it is."})))
    cases_settle(problem.contest)
    assert sorted(points(problem)) == [0, 3, 6, 7]
    return problem


def points(problem: ContestProblem) -> list[Decimal]:
    return [grade.points for case in MarkingCase.objects.filter(problem=problem) if (grade := grade_of(case))]


def released(problem: ContestProblem, by: User) -> None:
    batch = ReleaseBatch.objects.create(
        contest=problem.contest, parts=["points"], by=by, undo_until=timezone.now() + timedelta(minutes=15)
    )
    for grade in FinalGrade.objects.filter(case__problem=problem, superseded_by=None):
        ReleasedGrade.objects.create(batch=batch, grade=grade)
    MarkingCase.objects.filter(problem=problem).update(state=CaseState.RELEASED)


def test_the_preview_shows_the_effects_and_changes_nothing(problem: ContestProblem, bob: User) -> None:
    written(problem, bob, CHEAPER)
    found = preview(problem)
    assert [(one.code, found.touched(one.key)) for one in found.differences] == [("A1", 3)]
    assert (found.count(Fate.RECOMPUTED), found.count(Fate.UNTOUCHED)) == (3, 1)
    histogram = [(int(given), before, after) for given, before, after in found.histogram]
    assert histogram == [(0, 1, 1), (2, 0, 1), (3, 1, 0), (5, 0, 1), (6, 1, 1), (7, 1, 0)]
    assert sorted(points(problem)) == [0, 3, 6, 7]
    assert scheme_of(problem).versions.filter(status=VersionStatus.DRAFT).count() == 1


def test_recomputed_grades_keep_their_marks_and_use_the_new_version(problem: ContestProblem, bob: User) -> None:
    written(problem, bob, CHEAPER)
    before = {mark.pk: (mark.sealed_points, mark.sealed_sheet, mark.points) for mark in Mark.objects.all()}
    applied(problem, bob)
    assert sorted(points(problem)) == [0, 2, 5, 6]
    assert before == {mark.pk: (mark.sealed_points, mark.sealed_sheet, mark.points) for mark in Mark.objects.all()}
    new = scheme_of(problem).versions.get(status=VersionStatus.ACTIVE)
    grades = FinalGrade.objects.filter(superseded_by=None, scheme_version=new)
    assert len(grades) == 3
    for grade in grades:
        assert grade.supersedes is not None
        assert (grade.mark_id, grade.reason, grade.by) == (grade.supersedes.mark_id, WHY, bob)
        assert grade.points == evaluate(new.content, MarkSheet.model_validate(grade.sheet).ticks).points
        assert grade.derivation.startswith("Chain A: A1 2")


def test_the_change_and_every_new_grade_are_recorded(problem: ContestProblem, bob: User) -> None:
    written(problem, bob, CHEAPER)
    applied(problem, bob)
    changed = AuditEvent.objects.filter(verb="scheme.changed").order_by("-pk")[0]
    assert (changed.actor, changed.body["reason"], changed.body["choices"]) == (bob, WHY, {"A1": "recompute"})
    each = AuditEvent.objects.filter(verb="grade.recomputed")
    assert sorted((event.body["before"], event.body["after"]) for event in each) == [("3", "2"), ("6", "5"), ("7", "6")]


def test_scripts_left_alone_keep_their_grade_and_version(problem: ContestProblem, bob: User) -> None:
    written(problem, bob, CHEAPER)
    old = scheme_of(problem).versions.get(status=VersionStatus.ACTIVE)
    found = applied(problem, bob, A1=Choice.LEAVE)
    assert found.count(Fate.LEFT) == 3
    assert sorted(points(problem)) == [0, 3, 6, 7]
    assert FinalGrade.objects.filter(superseded_by=None, scheme_version=old).count() == 4
    assert applied(problem, bob).count(Fate.RECOMPUTED) == 3, "grades left alone can be recomputed later"
    assert sorted(points(problem)) == [0, 2, 5, 6]


def test_scripts_sent_back_keep_their_grade_until_they_are_marked_again(problem: ContestProblem, bob: User) -> None:
    written(problem, bob, CHEAPER)
    found = applied(problem, bob, A1=Choice.REMARK)
    assert found.count(Fate.REMARKED) == 3
    assert sorted(points(problem)) == [0, 3, 6, 7]
    assert MarkingTask.objects.filter(slot=Slot.AGAIN, done_at=None).count() == 3
    task = claimed(problem, bob)
    assert task.slot == Slot.AGAIN
    case = MarkingCase.objects.get(pk=task.case_id)
    assert case.state == CaseState.OPEN
    past_grace(sealed(task, bob, ("claim", {"line": "A1"}), ("reason", {"words": "So it is."})))
    cases_settle(problem.contest)
    case.refresh_from_db()
    grade = grade_of(case)
    assert grade is not None
    assert grade.mark is not None
    assert grade.points == 2
    assert case.state == CaseState.SETTLED
    assert grade.mark.task.slot == Slot.AGAIN
    assert grade.supersedes is not None


def test_a_new_item_can_send_every_script_back(problem: ContestProblem, bob: User) -> None:
    written(problem, bob, OLD + "zero-credit Z: Only examples.")
    assert preview(problem).count(Fate.UNTOUCHED) == 4
    assert applied(problem, bob, Z=Choice.REMARK).count(Fate.REMARKED) == 4


def test_released_grades_wait_for_the_next_release(problem: ContestProblem, bob: User) -> None:
    released(problem, bob)
    shown = set(ReleasedGrade.objects.values_list("grade", "grade__points"))
    written(problem, bob, CHEAPER)
    found = applied(problem, bob)
    assert found.pending == 3
    assert set(ReleasedGrade.objects.values_list("grade", "grade__points")) == shown
    states = sorted(MarkingCase.objects.filter(problem=problem).values_list("state", flat=True))
    assert states == [CaseState.RELEASED, CaseState.SETTLED, CaseState.SETTLED, CaseState.SETTLED]


def test_two_changes_give_a_chain_of_grades(problem: ContestProblem, bob: User) -> None:
    for text in (CHEAPER, CHEAPER.replace("A2, 4", "A2, 5")):
        written(problem, bob, text)
        applied(problem, bob)
    assert sorted(points(problem)) == [0, 2, 6, 7]
    assert max(len(list(case.grades.all())) for case in MarkingCase.objects.filter(problem=problem)) == 3


def test_a_change_is_refused_unless_it_matches_the_preview(problem: ContestProblem, bob: User) -> None:
    written(problem, bob, CHEAPER)
    found = preview(problem)
    based_on = scheme_of(problem).row_version
    with pytest.raises(ChangeRefused, match="Enter a reason"):
        change_apply(problem=problem, choices={}, reason=" ", by=bob, based_on=based_on, token=found.token)
    written(problem, bob, OLD.replace("A1, 3 points", "A1, 1 point"))
    with pytest.raises(ChangeRefused, match="Something changed"):
        change_apply(problem=problem, choices={}, reason=WHY, by=bob, based_on=based_on, token=found.token)
    other, token = {one.key: Choice.LEAVE for one in found.differences}, preview(problem).token
    with pytest.raises(ChangeRefused, match="Something changed"):
        change_apply(problem=problem, choices=other, reason=WHY, by=bob, based_on=based_on, token=token)
    assert sorted(points(problem)) == [0, 3, 6, 7]


def test_a_change_without_a_draft_and_older_grades_is_refused(problem: ContestProblem, bob: User) -> None:
    found = preview(problem)
    assert found.count(Fate.UNTOUCHED) == 4
    with pytest.raises(ChangeRefused, match="change nothing"):
        applied(problem, bob)


def page(client: Client, problem: ContestProblem, **query: str) -> str:
    return client.get(reverse("office:scheme_change", args=[problem.public_id]), query).content.decode()


def test_the_page_leads_from_the_differences_to_the_change(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    written(problem, bob, CHEAPER)
    client = client_for(bob)
    first = page(client, problem)
    assert "touches 3 graded scripts" in first
    assert "3 · Apply" not in first
    key = preview(problem).differences[0].key
    second = page(client, problem, preview="1", **{f"choice-{key}": "leave"})
    assert "3 · Apply" in second
    data = {"choice-" + key: "leave", "reason": WHY, "based_on": scheme_of(problem).row_version, "token": "old"}
    address = reverse("office:scheme_change", args=[problem.public_id])
    assert client.post(address, data).status_code == 422
    data["token"] = preview(problem, A1=Choice.LEAVE).token
    assert client.post(address, data).status_code == 302
    assert scheme_of(problem).versions.get(status=VersionStatus.ACTIVE).number == 3


def test_a_page_without_changes_links_to_the_editor(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    said = page(client_for(bob), problem, preview="1")
    assert reverse("schemes:edit", args=[scheme_of(problem).public_id]) in said
    assert "Preview the effects" not in said
    assert "3 · Apply" not in said


def test_the_page_no_longer_offers_an_applied_change(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    written(problem, bob, CHEAPER)
    applied(problem, bob)
    assert FinalGrade.objects.filter(superseded_by=None).values("scheme_version").distinct().count() == 2
    said = page(client_for(bob), problem)
    assert "There is nothing to do" in said
    assert "Preview the effects" not in said


def test_grades_left_alone_can_move_to_the_new_version_later(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    written(problem, bob, CHEAPER)
    applied(problem, bob, A1=Choice.LEAVE)
    said = page(client_for(bob), problem)
    assert "touches 3 graded scripts" in said
    assert "Preview the effects" in said


def test_only_captains_and_organisers_change_a_scheme(
    problem: ContestProblem, alice: User, charlie: User, dana: User, client_for: ClientFor
) -> None:
    address = reverse("office:scheme_change", args=[problem.public_id])
    for user in (alice, charlie, dana):
        assert client_for(user).get(address).status_code == 404
        assert client_for(user).post(address, {}).status_code == 404
    assert client_for(dana).get(reverse("office:scheme_change", args=[uuid.uuid4()])).status_code == 404
