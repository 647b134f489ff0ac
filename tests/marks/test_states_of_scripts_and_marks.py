"""The state machines of a script in a slot and of a mark, as tables: from every state every move, allowed or refused."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.marks.access import TaskGone
from apps.marks.claims import task_next
from apps.marks.drafts import draft_of
from apps.marks.leases import LEASE, lease_renew
from apps.marks.models import Mark, MarkingTask, MarkState, Pass, PassReason, Reveal, RevealKind
from apps.marks.passes import PassRefused, question_answer, task_pass
from apps.marks.revising import RevisionRefused, mark_confirm, mark_revise
from apps.marks.sealing import NotReady, mark_seal, mark_unseal
from apps.reasoning.marking.commands import CommandRefused
from tests.marks.factory import claimed, commanded, marker, past_grace, problem_to_mark, sealed, task_whole
from tests.moves import REFUSED, Moves, tried

FREE, HELD, LAPSED, ASKED, DONE, OTHERS = "free", "hers", "hers, lapsed", "asked about", "sealed", "his"


class Script:
    """One script of a problem with Dana, who is in the middle of it, Eve, who would like it, and Bob, who rules."""

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

    def brought(self, state: str) -> "Script":
        """The script, moved to a state."""
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

    def sealed_by(self, who: User) -> Mark:
        mark = Mark.objects.filter(task=self.task).first()
        return mark_seal(task=self.task, user=who, row_version=mark.row_version if mark else 0, active_seconds=1)

    def answered(self) -> Pass | None:
        question = Pass.objects.filter(reason=PassReason.UNSURE).first()
        return question_answer(question=question, by=self.bob, words="Two points.") if question else None

    def moves(self) -> Moves:
        return {
            "she claims": lambda: task_next(self.problem, self.dana),
            "he claims": lambda: task_next(self.problem, self.eve),
            "she lives": lambda: lease_renew(self.task, self.dana),
            "he lives": lambda: lease_renew(self.task, self.eve),
            "she hands back": lambda: task_pass(task=self.task, user=self.dana, reason=PassReason.SKIP),
            "he hands back": lambda: task_pass(task=self.task, user=self.eve, reason=PassReason.SKIP),
            "she knows whose": lambda: task_pass(task=self.task, user=self.dana, reason=PassReason.CONFLICT),
            "she asks": lambda: self.asked(self.dana),
            "he asks": lambda: self.asked(self.eve),
            "captain answers": self.answered,
            "she seals": lambda: self.sealed_by(self.dana),
            "he seals": lambda: self.sealed_by(self.eve),
            "she opens again": lambda: mark_unseal(task=self.task, user=self.dana),
            "he opens again": lambda: mark_unseal(task=self.task, user=self.eve),
        }


_HIS_NEVER = {"he lives": REFUSED, "he hands back": REFUSED, "he asks": REFUSED, "he seals": REFUSED, "he opens again": REFUSED}
_HERS = {
    "she lives": HELD, "she hands back": FREE, "she knows whose": FREE, "she asks": ASKED, "she seals": DONE,
    "she opens again": REFUSED, "captain answers": REFUSED,
}  # fmt: skip
_NOT_HERS = dict.fromkeys(_HERS, REFUSED)
SLOTS = {
    FREE: {**_NOT_HERS, **_HIS_NEVER, "she claims": HELD, "he claims": OTHERS},
    HELD: {**_HERS, **_HIS_NEVER, "she claims": HELD, "he claims": REFUSED},
    LAPSED: {**_HERS, **_HIS_NEVER, "she claims": HELD, "he claims": OTHERS},
    ASKED: {
        **_HERS, **_HIS_NEVER, "she claims": REFUSED, "he claims": REFUSED, "she lives": ASKED, "captain answers": HELD,
    },
    DONE: {
        **_NOT_HERS, **_HIS_NEVER, "she claims": REFUSED, "he claims": REFUSED, "she seals": DONE, "she opens again": HELD,
    },
}  # fmt: skip


@pytest.mark.parametrize("state", SLOTS)
def test_a_script_in_a_slot_moves_as_the_table_says(state: str, bob: User, dana: User) -> None:
    script = Script(bob, dana).brought(state)
    assert tried(script.moves(), script.state, TaskGone, PassRefused, NotReady) == SLOTS[state]


def test_a_script_about_which_the_captain_was_asked_is_nobody_else_s_however_long_it_takes(bob: User, dana: User) -> None:
    script = Script(bob, dana).brought(ASKED)
    lease_renew(script.task, dana)
    MarkingTask.objects.filter(lease_until__isnull=False).update(lease_until=timezone.now() - timedelta(hours=1))
    assert task_next(script.problem, script.eve) is None


DRAFT, SEALED, SHOWN, FINAL, CONFIRMED, REVISED = "draft", "sealed", "sealed, shown", "sealed, final", "confirmed", "revised"
_STANDS = {"command": REFUSED, "open again": REFUSED, "seal": SEALED, "confirm": CONFIRMED, "revise": REVISED}
MARKS = {
    DRAFT: {"command": DRAFT, "seal": SEALED, "open again": REFUSED, "confirm": REFUSED, "revise": REFUSED},
    SEALED: {**_STANDS, "open again": DRAFT},
    SHOWN: _STANDS,
    FINAL: _STANDS,
    CONFIRMED: {**_STANDS, "seal": CONFIRMED, "confirm": REFUSED},
    REVISED: {**_STANDS, "seal": REVISED, "confirm": REFUSED},
}


def mark_brought(task: MarkingTask, user: User, state: str) -> Mark:
    """The mark of a task, moved to a state."""
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
def test_a_mark_moves_as_the_table_says_and_what_was_sealed_stays(state: str, bob: User, dana: User) -> None:
    task = claimed(problem_to_mark(bob, dana, scripts=1), dana)
    mark_brought(task, dana, state)
    before = Mark.objects.get().sealed_points

    def now() -> str:
        mark = Mark.objects.get()
        if state not in (DRAFT, SEALED) and before is not None:
            assert mark.sealed_points == before, "what was sealed never changes"
        return MarkState(mark.state).value

    assert tried(mark_moves(task, dana), now, TaskGone, CommandRefused, NotReady, RevisionRefused) == MARKS[state]
