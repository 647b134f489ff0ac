"""The state machines of a task and of a mark as tables: every move from every state, allowed or refused."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.marks.access import TaskGone
from apps.marks.leases import LEASE, lease_renew
from apps.marks.models import Mark, MarkingTask, MarkState, Pass, PassReason, Reveal, RevealKind
from apps.marks.sealing.revising import RevisionRefused, mark_confirm, mark_revise
from apps.marks.sealing.sealing import NotReady, mark_seal, mark_unseal
from apps.marks.workspace.claims import task_next
from apps.marks.workspace.drafts import draft_of
from apps.marks.workspace.passes import PassRefused, question_answer, task_pass
from apps.reasoning.marking.sheets.commands import CommandRefused
from tests.marks.factory import claimed, commanded, marker, past_grace, problem_to_mark, sealed, task_whole
from tests.moves import REFUSED, Moves, tried

FREE, HELD, LAPSED, ASKED, DONE, OTHERS = "free", "held", "held, lapsed", "asked about", "sealed", "held by another"


class Script:
    """One script: Dana holds it, Eve tries to claim it, and Bob is captain."""

    def __init__(self, bob: User, dana: User) -> None:
        self.bob, self.dana, self.eve = bob, dana, marker("eve")
        self.problem = problem_to_mark(bob, dana, self.eve, scripts=1)

    @property
    def task(self) -> MarkingTask:
        return task_whole(MarkingTask.objects.get())

    def state(self) -> str:
        task = self.task
        if task.done_at is not None:
            return DONE
        if task.assignee is None:
            return FREE
        if task.assignee != self.dana:
            return OTHERS
        if task.lease_until is None:
            return ASKED
        return HELD if task.lease_until > timezone.now() else LAPSED

    def moved_to(self, state: str) -> "Script":
        """Move the script to a state and return it."""
        if state != FREE:
            commanded(claimed(self.problem, self.dana), self.dana, "points", points=7)
        if state == LAPSED:
            MarkingTask.objects.update(lease_until=timezone.now() - LEASE)
        elif state == ASKED:
            self.asked(self.dana)
        elif state == DONE:
            sealed(self.task, self.dana)
        assert self.state() == state
        return self

    def asked(self, who: User) -> Pass:
        return task_pass(task=self.task, user=who, reason=PassReason.UNSURE, words="How much?")

    def seal_by(self, who: User) -> Mark:
        mark = Mark.objects.filter(task=self.task).first()
        return mark_seal(task=self.task, user=who, row_version=mark.row_version if mark else 0, active_seconds=1)

    def answered(self) -> Pass | None:
        question = Pass.objects.filter(reason=PassReason.UNSURE).first()
        return question_answer(question=question, by=self.bob, words="Two points.") if question else None

    def moves(self) -> Moves:
        return {
            "holder claims": lambda: task_next(self.problem, self.dana),
            "other claims": lambda: task_next(self.problem, self.eve),
            "holder renews": lambda: lease_renew(self.task, self.dana),
            "other renews": lambda: lease_renew(self.task, self.eve),
            "holder hands back": lambda: task_pass(task=self.task, user=self.dana, reason=PassReason.SKIP),
            "other hands back": lambda: task_pass(task=self.task, user=self.eve, reason=PassReason.SKIP),
            "holder knows the author": lambda: task_pass(task=self.task, user=self.dana, reason=PassReason.CONFLICT),
            "holder asks": lambda: self.asked(self.dana),
            "other asks": lambda: self.asked(self.eve),
            "captain answers": self.answered,
            "holder seals": lambda: self.seal_by(self.dana),
            "other seals": lambda: self.seal_by(self.eve),
            "holder reopens": lambda: mark_unseal(task=self.task, user=self.dana),
            "other reopens": lambda: mark_unseal(task=self.task, user=self.eve),
        }


_OTHER_NEVER = {
    "other renews": REFUSED,
    "other hands back": REFUSED,
    "other asks": REFUSED,
    "other seals": REFUSED,
    "other reopens": REFUSED,
}
_HOLDER = {
    "holder renews": HELD, "holder hands back": FREE, "holder knows the author": FREE, "holder asks": ASKED,
    "holder seals": DONE, "holder reopens": REFUSED, "captain answers": REFUSED,
}  # fmt: skip
_NO_HOLDER = dict.fromkeys(_HOLDER, REFUSED)
SLOTS = {
    FREE: {**_NO_HOLDER, **_OTHER_NEVER, "holder claims": HELD, "other claims": OTHERS},
    HELD: {**_HOLDER, **_OTHER_NEVER, "holder claims": HELD, "other claims": REFUSED},
    LAPSED: {**_HOLDER, **_OTHER_NEVER, "holder claims": HELD, "other claims": OTHERS},
    ASKED: {
        **_HOLDER, **_OTHER_NEVER, "holder claims": REFUSED, "other claims": REFUSED, "holder renews": ASKED,
        "captain answers": HELD,
    },
    DONE: {
        **_NO_HOLDER, **_OTHER_NEVER, "holder claims": REFUSED, "other claims": REFUSED, "holder seals": DONE,
        "holder reopens": HELD,
    },
}  # fmt: skip


@pytest.mark.parametrize("state", SLOTS)
def test_a_task_moves_as_the_table_says(state: str, bob: User, dana: User) -> None:
    script = Script(bob, dana).moved_to(state)
    assert tried(script.moves(), script.state, TaskGone, PassRefused, NotReady) == SLOTS[state]


def test_a_script_with_an_open_question_stays_reserved_without_a_limit(bob: User, dana: User) -> None:
    script = Script(bob, dana).moved_to(ASKED)
    lease_renew(script.task, dana)
    MarkingTask.objects.filter(lease_until__isnull=False).update(lease_until=timezone.now() - timedelta(hours=1))
    assert task_next(script.problem, script.eve) is None


DRAFT, SEALED, SHOWN, FINAL, CONFIRMED, REVISED = "draft", "sealed", "sealed, shown", "sealed, final", "confirmed", "revised"
_SEALED_FOR_GOOD = {"command": REFUSED, "open again": REFUSED, "seal": SEALED, "confirm": CONFIRMED, "revise": REVISED}
MARKS = {
    DRAFT: {"command": DRAFT, "seal": SEALED, "open again": REFUSED, "confirm": REFUSED, "revise": REFUSED},
    SEALED: {**_SEALED_FOR_GOOD, "open again": DRAFT},
    SHOWN: _SEALED_FOR_GOOD,
    FINAL: _SEALED_FOR_GOOD,
    CONFIRMED: {**_SEALED_FOR_GOOD, "seal": CONFIRMED, "confirm": REFUSED},
    REVISED: {**_SEALED_FOR_GOOD, "seal": REVISED, "confirm": REFUSED},
}


def mark_moved_to(task: MarkingTask, user: User, state: str) -> Mark:
    """Move the mark of a task to a state and return it."""
    commanded(task, user, "points", points=7)
    if state == DRAFT:
        return draft_of(task, user)
    mark = sealed(task, user)
    if state == SHOWN:
        Reveal.objects.create(case=task.case, person=user, kind=RevealKind.PRECEDENTS, trigger="test")
    elif state == FINAL:
        past_grace(mark)
    elif state == CONFIRMED:
        mark_confirm(mark=mark, user=user)
    elif state == REVISED:
        mark_revise(mark=mark, user=user, points=Decimal(5), reason="I missed it.")
    return mark


def mark_moves(task: MarkingTask, user: User) -> Moves:
    def mark() -> Mark:
        return Mark.objects.select_related("task__case__problem__contest", "scheme_version").get()

    moves: dict[str, Callable[[], object]] = {
        "command": lambda: commanded(task, user, "points", points=6),
        "seal": lambda: mark_seal(task=task, user=user, row_version=mark().row_version, active_seconds=1),
        "open again": lambda: mark_unseal(task=task, user=user),
        "confirm": lambda: mark_confirm(mark=mark(), user=user),
        "revise": lambda: mark_revise(mark=mark(), user=user, points=Decimal(4), reason="I missed a step."),
    }
    return moves


@pytest.mark.parametrize("state", MARKS)
def test_a_mark_moves_as_the_table_says_and_keeps_its_sealed_points(state: str, bob: User, dana: User) -> None:
    task = claimed(problem_to_mark(bob, dana, scripts=1), dana)
    mark_moved_to(task, dana, state)
    before = Mark.objects.get().sealed_points

    def now() -> str:
        mark = Mark.objects.get()
        if state not in (DRAFT, SEALED) and before is not None:
            assert mark.sealed_points == before, "sealed points never change"
        return MarkState(mark.state).value

    assert tried(mark_moves(task, dana), now, TaskGone, CommandRefused, NotReady, RevisionRefused) == MARKS[state]
