"""Claims: one script at a time, one marker for each slot, an order for each marker, never one's own paper."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from apps.accounts.models import User
from apps.marks.access import TaskGone
from apps.marks.leases import lease_renew, present
from apps.marks.models import AuditEvent, MarkingCase, MarkingTask, PassReason, Slot
from apps.marks.sealing.sealing import mark_unseal
from apps.marks.setups import Choices, SetupRefused, cases_prepare, setup_for, setup_save
from apps.marks.workspace.claims import task_next
from apps.marks.workspace.drafts import draft_of
from apps.marks.workspace.free import order_of
from apps.marks.workspace.passes import PassRefused, question_answer, task_pass
from apps.submissions.models import Origin, TextFormat
from apps.submissions.services import version_add
from tests.contests.factory import make_contest
from tests.marks.factory import claimed, commanded, marker, problem_to_mark, scheme_active, script_add, sealed, task_whole
from tests.schemes.factory import make_scheme


def lapse(task: MarkingTask) -> None:
    """Let the lease of a task run out a minute ago."""
    MarkingTask.objects.filter(pk=task.pk).update(lease_until=timezone.now() - timedelta(minutes=1))


def test_a_marker_continues_with_the_script_they_hold(bob: User) -> None:
    problem = problem_to_mark(bob)
    task = claimed(problem, bob)
    assert claimed(problem, bob) == task
    lapse(task)
    assert claimed(problem, bob) == task


def test_two_markers_get_different_scripts_until_none_is_left(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=2)
    assert claimed(problem, bob).case_id != claimed(problem, dana).case_id
    assert task_next(problem, marker("third")) is None


def test_the_next_script_is_claimed_in_advance_and_renewed_with_the_first(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=2)
    first = claimed(problem, bob)
    ahead = task_next(problem, bob, after=first)
    assert ahead is not None
    assert ahead.pk != first.pk
    assert task_next(problem, bob, after=first) == ahead
    soon = timezone.now() + timedelta(seconds=5)
    MarkingTask.objects.filter(pk=ahead.pk).update(lease_until=soon)
    lease_renew(first, bob)
    ahead.refresh_from_db()
    assert ahead.lease_until is not None
    assert ahead.lease_until > soon


@pytest.mark.parametrize("beats", [0, 1])
def test_mark_returns_to_the_script_that_was_left_and_not_to_the_next_one(bob: User, beats: int) -> None:
    problem = problem_to_mark(bob, scripts=4)
    for _ in range(3):  # The order of keys must not matter.
        current = claimed(problem, bob)
        ahead = task_next(problem, bob, after=current)
        assert ahead is not None
        for _ in range(beats):
            lease_renew(current, bob)
        assert task_next(problem, bob) == current
        assert task_next(problem, bob, after=current) == ahead, "the script claimed in advance is still held"
        assert task_next(problem, bob) == current
        sealed(current, bob)


def test_an_expired_lease_can_be_claimed_and_its_holder_gets_an_error(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    task = claimed(problem, bob)
    assert task_next(problem, dana) is None
    lapse(task)
    lease_renew(task, bob)  # The task is still free.
    lapse(task)
    assert claimed(problem, dana) == task
    with pytest.raises(TaskGone):
        lease_renew(task, bob)
    with pytest.raises(TaskGone):
        commanded(task, bob, "points", points=1)


def test_a_draft_returns_to_its_author(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    task = claimed(problem, bob)
    commanded(task, bob, "comment", id="c", step=1, words="Look again.")
    lapse(task)
    other = claimed(problem, dana)
    assert draft_of(other, dana).sheet.get("comments", []) == [], "a colleague must not see the draft"
    assert AuditEvent.objects.get(verb="draft.left").actor == bob
    lapse(task)
    assert draft_of(claimed(problem, bob), bob).sheet["comments"][0]["words"] == "Look again."


def test_a_reopened_mark_that_was_left_does_not_block_the_case(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    task = claimed(problem, bob)
    sealed(task, bob)
    mark_unseal(task=task, user=bob)
    lapse(task)
    assert claimed(problem, dana) == task
    assert draft_of(task_whole(task), dana).marker == dana
    assert AuditEvent.objects.filter(verb="mark.opened", actor=bob).exists()


def test_scripts_with_a_draft_come_after_untouched_ones(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=3)
    begun = claimed(problem, bob)
    commanded(begun, bob, "points", points=3)
    lapse(begun)
    for _ in range(2):
        assert sealed(claimed(problem, dana), dana).task_id != begun.pk
    assert claimed(problem, dana) == begun


def test_a_marker_gets_only_one_slot_of_a_script(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1, markers=2)
    sealed(claimed(problem, bob), bob)
    assert task_next(problem, bob) is None
    assert claimed(problem, dana).case.tasks.count() == 2


def test_each_marker_has_a_fixed_order_of_their_own(bob: User, dana: User) -> None:
    setup = problem_to_mark(bob).setup
    cases = range(40)

    def ordered(user: User) -> list[int]:
        return list(order_of(setup, user, cases))

    assert ordered(bob) == ordered(bob) != ordered(dana)
    assert ordered(bob) != list(cases)


def test_every_script_comes_once_in_the_order_of_its_marker(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=12)
    cases = list(problem.cases.values_list("pk", flat=True))
    expected = list(order_of(problem.setup, bob, cases))
    assert [sealed(claimed(problem, bob), bob).task.case_id for _ in cases] == expected
    assert sorted(expected) == sorted(cases)


@pytest.mark.postgresql  # SQLite keeps no prepared statements
def test_postgresql_keeps_the_plans_of_claims(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=2)
    sealed(claimed(problem, bob), bob)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%%WITH papers AS%%'")
        assert cursor.fetchone() > (0,)


def test_the_position_of_a_script_in_the_order_of_its_marker_is_kept(bob: User) -> None:
    problem = problem_to_mark(bob)
    assert [sealed(claimed(problem, bob), bob).order_index for _ in range(3)] == [1, 2, 3]


def test_a_coach_never_gets_their_own_paper(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=1)
    marking = marker("turncoat")
    script_add(problem, "Turncoat", person=marking)
    problem.contest.coaches.create(person=marking)
    cases_prepare(problem)
    papers = problem.contest.identities.filter(person=marking).values("paper")
    own = MarkingCase.objects.get(version__submission__paper__in=papers)
    task = claimed(problem, marking)
    assert task.case_id != own.pk
    sealed(task, marking)
    assert task_next(problem, marking) is None
    assert claimed(problem, bob).case_id == own.pk


def test_a_postponed_script_comes_last(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=2)
    first = claimed(problem, bob)
    task_pass(task=first, user=bob, reason=PassReason.SKIP)
    second = claimed(problem, bob)
    assert second != first
    sealed(second, bob)
    assert claimed(problem, bob) == first


def test_a_marker_who_knows_the_author_never_gets_the_script_again(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    task = claimed(problem, bob)
    commanded(task, bob, "points", points=0)
    task_pass(task=task, user=bob, reason=PassReason.CONFLICT)
    assert task_next(problem, bob) is None
    assert draft_of(claimed(problem, dana), dana).sheet.get("typed") is None


def test_a_question_keeps_the_script_until_the_captain_has_answered(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1)
    task = claimed(problem, dana)
    commanded(task, dana, "approach", words="Lattices.")
    question = task_pass(task=task, user=dana, reason=PassReason.APPROACH, words="Is this chain C?")
    assert task_next(problem, dana) is None
    assert task_next(problem, bob) is None
    question_answer(question=question, by=bob, words="Give it 7.")
    assert claimed(problem, dana) == task
    assert draft_of(task, dana).sheet["approach"] == "Lattices."
    with pytest.raises(PassRefused, match="answered already"):
        question_answer(question=question, by=bob, words="No, 6.")


def test_an_answered_script_stays_reserved_while_its_marker_works_on_another(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=3)
    asked = claimed(problem, dana)
    question = task_pass(task=asked, user=dana, reason=PassReason.UNSURE, words="Is this enough?")
    other = claimed(problem, dana)
    question_answer(question=question, by=bob, words="It is.")
    long = timezone.now() + timedelta(minutes=50)
    for sign_of_life in (
        lambda: lease_renew(other, dana),
        lambda: task_next(problem, dana, after=other),
        lambda: lease_renew(task_whole(asked), dana),
    ):
        sign_of_life()
        asked.refresh_from_db()
        assert asked.lease_until is not None
        assert asked.lease_until > long
    other.refresh_from_db()
    assert other.lease_until is not None
    assert other.lease_until < timezone.now() + timedelta(minutes=3), "other scripts are held for two minutes"


def test_a_script_is_passed_by_its_holder_with_a_known_reason(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana)
    task = claimed(problem, bob)
    with pytest.raises(PassRefused):
        task_pass(task=task, user=bob, reason="boredom")
    with pytest.raises(TaskGone):
        task_pass(task=task, user=dana, reason=PassReason.SKIP)


def test_other_markers_at_work_are_listed_by_name(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana)
    claimed(problem, dana)
    assert present(problem, bob) == ["dana"]
    assert present(problem, dana) == []


def test_a_single_active_scheme_is_used_and_two_require_a_choice(bob: User) -> None:
    problem = problem_to_mark(bob)
    other = make_contest(bob, problem.problem).problems.get()
    assert (setup := setup_for(other)) is not None
    assert setup.scheme == problem.setup.scheme
    scheme_active(bob, make_scheme(bob, problem.problem))
    third = make_contest(bob, problem.problem).problems.get()
    assert setup_for(third) is None
    assert cases_prepare(third) is None


def test_cases_follow_later_and_replaced_texts(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=1)
    script_add(problem, "late")
    cases_prepare(problem)
    assert MarkingTask.objects.filter(case__problem=problem).count() == 2
    case = MarkingCase.objects.filter(problem=problem).order_by("pk")[0]
    task = claimed(problem, bob)
    newer = version_add(submission=case.version.submission, text="New.", text_format=TextFormat.MARKDOWN, origin=Origin.TYPED)
    cases_prepare(problem)
    assert not MarkingCase.objects.filter(pk=case.pk).exists()
    assert MarkingCase.objects.filter(version=newer).exists()
    assert task.pk


def test_a_second_marker_is_added_and_removed(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=2)
    scheme = problem.setup.scheme
    setup_save(problem=problem, choices=Choices(scheme=scheme, markers=2), by=bob)
    assert MarkingTask.objects.filter(slot=Slot.SECOND).count() == 2
    setup_save(problem=problem, choices=Choices(scheme=scheme, markers=1), by=bob)
    assert not MarkingTask.objects.filter(slot=Slot.SECOND).exists()
    sealed(claimed(problem, bob), bob)
    with pytest.raises(SetupRefused, match="sealed with this scheme"):
        setup_save(problem=problem, choices=Choices(scheme=None), by=bob)
