"""Sealing: the frozen data, the grace time, the settling of cases, and the rows that the database protects."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.marks.models import (
    AuditEvent,
    CaseState,
    FinalGrade,
    Mark,
    MarkingCase,
    MarkItem,
    MarkState,
    Phrase,
    Reveal,
    RevealKind,
    Verdict,
)
from apps.marks.sealing.revising import RevisionRefused, mark_confirm, mark_revise
from apps.marks.sealing.sealing import NotReady, cases_settle, mark_seal, mark_unseal
from apps.marks.selectors import phrase_list
from apps.marks.setups import cases_prepare
from apps.marks.workspace.drafts import draft_of
from tests.marks.factory import ONE_PLACE, claimed, commanded, past_grace, problem_to_mark, script_add, sealed

SIX = (("points", {"points": 6}), ("verdict", ONE_PLACE), ("comment", {"id": "c", "step": 2, "words": "Why not $p=2$?"}))
ITEMS = (("claim", {"line": "A1 A2 -D1"}), ("verdict", ONE_PLACE))


def test_sealing_freezes_sheet_points_items_verdicts_and_the_scheme(bob: User) -> None:
    problem = problem_to_mark(bob)
    mark = sealed(claimed(problem, bob), bob, *ITEMS)
    mark.refresh_from_db()
    assert (mark.state, mark.points, mark.sealed_points, mark.active_seconds) == ("sealed", Decimal(6), Decimal(6), 12.0)
    assert mark.sealed_sheet == mark.sheet
    assert set(MarkItem.objects.filter(mark=mark).values_list("item__code", flat=True)) == {"A1", "A2", "D1"}
    verdict = Verdict.objects.get(mark=mark)
    assert (verdict.key, verdict.step, verdict.fallacy, verdict.words) == ("v1", 1, "gap", "Why?")
    assert mark.scheme_version is not None
    assert mark.scheme_version.used_at is not None
    assert mark.task.done_at is not None
    event = AuditEvent.objects.get(verb="mark.sealed")
    assert (event.actor, event.body["sealed_mark"], event.body["points"]) == (bob, str(mark.public_id), "6")
    assert "A1 3 + A2 4 = 7" in event.body["derivation"]


def test_an_incomplete_sheet_is_not_sealed(bob: User) -> None:
    task = claimed(problem_to_mark(bob), bob)
    with pytest.raises(NotReady) as refused:
        sealed(task, bob, ("points", {"points": 6}))
    assert refused.value.needs == [
        "Points between none and all need an item ticked at a step or page, or a verdict or a comment there."
    ]
    assert draft_of(task, bob).state == MarkState.DRAFT


def test_only_the_sheet_that_the_marker_saw_is_sealed(bob: User) -> None:
    task = claimed(problem_to_mark(bob), bob)
    commanded(task, bob, "points", points=7)
    with pytest.raises(NotReady, match="another window"):
        mark_seal(task=task, user=bob, row_version=0, active_seconds=0)


def test_sealing_twice_seals_once(bob: User) -> None:
    task = claimed(problem_to_mark(bob), bob)
    first = sealed(task, bob)
    again = mark_seal(task=task, user=bob, row_version=first.row_version, active_seconds=99)
    assert again.sealed_at == first.sealed_at
    assert AuditEvent.objects.filter(verb="mark.sealed").count() == 1


def test_comments_become_reusable_phrases(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana)
    sealed(claimed(problem, bob), bob, *SIX)
    sealed(claimed(problem, bob), bob, *SIX)
    (phrase,) = phrase_list(problem, dana, "why")
    assert phrase.uses == 2
    assert not phrase_list(problem, dana, "nonsense")


def test_phrases_of_others_are_hidden_with_two_blind_markers(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, markers=2)
    sealed(claimed(problem, bob), bob, *SIX)
    assert phrase_list(problem, bob).count() == 1
    assert phrase_list(problem, dana).count() == 0
    assert Phrase.objects.get().author == bob


def test_a_mark_can_be_reopened_within_its_grace_time(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=1)
    task = claimed(problem, bob)
    sealed(task, bob, *ITEMS)
    mark = mark_unseal(task=task, user=bob)
    assert (mark.state, mark.sealed_sheet, mark.points) == (MarkState.DRAFT, None, None)
    assert not MarkItem.objects.exists()
    assert not Verdict.objects.exists()
    assert claimed(problem, bob) == task
    commanded(task, bob, "untick", code="D1")
    assert sealed(task, bob, ("reason", {"words": "The gap is a slip."})).points == 7


def test_a_mark_stays_sealed_after_its_grace_time_or_a_reveal(bob: User) -> None:
    problem = problem_to_mark(bob)
    task = claimed(problem, bob)
    past_grace(sealed(task, bob))
    with pytest.raises(NotReady, match="30 seconds"):
        mark_unseal(task=task, user=bob)
    other = claimed(problem, bob)
    sealed(other, bob)
    Reveal.objects.create(case=other.case, person=bob, kind=RevealKind.LOCATIONS, trigger="asked")
    with pytest.raises(NotReady, match="30 seconds"):
        mark_unseal(task=other, user=bob)


def test_one_mark_settles_its_case_after_the_grace_time(bob: User) -> None:
    problem = problem_to_mark(bob)
    mark = sealed(claimed(problem, bob), bob, *ITEMS)
    assert cases_settle(problem.contest) == 0
    past_grace(mark)
    assert cases_settle(problem.contest) == 1
    assert cases_settle(problem.contest) == 0
    grade = FinalGrade.objects.get()
    assert (grade.mark_id, grade.points, grade.case.state) == (mark.pk, Decimal(6), CaseState.SETTLED)
    assert "−1" in grade.derivation


@pytest.mark.parametrize(("second", "state"), [(ITEMS, CaseState.SETTLED), (SIX, CaseState.DISPUTED)])
def test_two_marks_settle_a_case_with_equal_points_and_ticks(
    bob: User, dana: User, second: tuple[tuple[str, dict[str, object]], ...], state: CaseState
) -> None:
    problem = problem_to_mark(bob, dana, scripts=1, markers=2)
    past_grace(sealed(claimed(problem, bob), bob, *ITEMS))
    assert cases_settle(problem.contest) == 0
    past_grace(sealed(claimed(problem, dana), dana, *second))
    assert cases_settle(problem.contest) == 1
    assert MarkingCase.objects.get().state == state
    assert FinalGrade.objects.count() == (state == CaseState.SETTLED)


def test_a_revision_keeps_the_sealed_points_and_supersedes_the_grade(bob: User) -> None:
    problem = problem_to_mark(bob)
    mark = past_grace(sealed(claimed(problem, bob), bob, *ITEMS))
    cases_settle(problem.contest)
    mark.task.case.refresh_from_db()
    mark = mark_revise(mark=mark, user=bob, points=Decimal(5), reason="I missed it.")
    mark.refresh_from_db()
    assert (mark.points, mark.sealed_points, mark.state) == (Decimal(5), Decimal(6), MarkState.REVISED)
    assert mark.sealed_sheet != mark.sheet
    old, new = FinalGrade.objects.order_by("pk")
    assert (new.points, new.supersedes, old.points) == (Decimal(5), old, Decimal(6))
    for points, reason in ((Decimal(9), "More."), (Decimal("5.5"), "Half."), (Decimal(4), "  ")):
        with pytest.raises(RevisionRefused):
            mark_revise(mark=mark, user=bob, points=points, reason=reason)


def test_only_a_sealed_mark_is_confirmed(bob: User) -> None:
    problem = problem_to_mark(bob)
    task = claimed(problem, bob)
    with pytest.raises(RevisionRefused):
        mark_confirm(mark=draft_of(task, bob), user=bob)
    assert mark_confirm(mark=sealed(task, bob), user=bob).state == MarkState.CONFIRMED


def refused_by_the_database(change: str) -> bool:
    """Report whether the database refuses an SQL statement."""
    from django.db import connection

    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(change)
    except IntegrityError:
        return True
    return False


def test_the_database_protects_sealed_marks_grades_reveals_and_events(bob: User) -> None:
    problem = problem_to_mark(bob)
    mark = past_grace(sealed(claimed(problem, bob), bob, *ITEMS))
    Reveal.objects.create(case=mark.task.case, person=bob, kind=RevealKind.LOCATIONS, trigger="asked")
    cases_settle(problem.contest)
    for change in (
        "UPDATE marks_mark SET sealed_points = 7",
        "UPDATE marks_mark SET sealed_sheet = '{}'",
        "UPDATE marks_mark SET state = 'draft'",
        "UPDATE marks_mark SET state = 'draft', sealed_sheet = NULL, sealed_points = NULL",
        "DELETE FROM marks_mark",
        "UPDATE marks_finalgrade SET points = 7",
        "DELETE FROM marks_finalgrade",
        "UPDATE marks_reveal SET kind = 'items'",
        "DELETE FROM marks_reveal",
        "UPDATE marks_auditevent SET verb = 'nothing'",
        "DELETE FROM marks_auditevent",
    ):
        assert refused_by_the_database(change), change
    assert not refused_by_the_database("UPDATE marks_mark SET points = 5, state = 'revised'")
    assert Mark.objects.get(pk=mark.pk).sealed_points == 6


def test_a_grade_is_based_only_on_people(bob: User) -> None:
    names = {field.name for field in FinalGrade._meta.get_fields() if field.is_relation and not field.auto_created}
    assert names == {"case", "mark", "coordination", "scheme_version", "supersedes", "by"}
    case = MarkingCase.objects.filter(problem=problem_to_mark(bob, scripts=1)).get()
    with pytest.raises(IntegrityError), transaction.atomic():
        FinalGrade.objects.create(case=case, points=7, sheet={})


def test_the_grace_time_is_thirty_seconds(bob: User) -> None:
    task = claimed(problem_to_mark(bob), bob)
    mark = sealed(task, bob)
    for seconds, is_open in ((29, True), (31, False)):
        Mark.objects.filter(pk=mark.pk).update(sealed_at=timezone.now() - timedelta(seconds=seconds))
        if is_open:
            mark_unseal(task=task, user=bob)
            mark = mark_seal(task=task, user=bob, row_version=draft_of(task, bob).row_version, active_seconds=0)
        else:
            with pytest.raises(NotReady):
                mark_unseal(task=task, user=bob)


def test_a_script_of_photos_needs_only_a_comment_on_the_whole(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=0)
    script_add(problem, "author of photos", "")
    cases_prepare(problem)
    task = claimed(problem, bob)
    assert not task.case.version.steps.exists()
    with pytest.raises(NotReady) as refused:
        sealed(task, bob, ("points", {"points": 6}))
    assert refused.value.needs == ["Points between none and all need a comment."]
    mark = sealed(task, bob, ("comment", {"id": "c", "step": 0, "words": "Page 2: why not $p = 2$?"}))
    assert mark.points == 6
