"""The state machines of a release and of an appeal as tables: every move from every state, allowed or refused."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.access import TaskGone
from apps.marks.models import Appeal, AppealState, CaseState, MarkingCase, MarkingTask, PassReason, ReleaseBatch, Slot
from apps.marks.sealing.sealing import cases_settle
from apps.marks.setups import cases_prepare
from apps.marks.workspace.passes import task_pass
from apps.results import appeals
from apps.results.appeals import AppealRefused
from apps.results.releasing import ReleaseRefused, batch_undo
from tests.marks.factory import claimed, marker, past_grace, problem_to_mark, script_add, sealed, task_whole
from tests.moves import REFUSED, Moves, tried
from tests.results.factory import ALL, FULL, JUDGED, TEXT, appeal_of, case_of, day_after, marked, passed, released, version_of

UNSETTLED, SETTLED, RELEASED, FINAL, UNDONE, APPEALED = "unsettled", "settled", "released", "final", "taken back", "appealed"
ANSWER = "We read the step again."


class Release:
    """A problem with two texts: only one is marked in state `UNSETTLED`, both in every other state."""

    def __init__(self, bob: User, charlie: User) -> None:
        self.bob, self.charlie = bob, charlie
        self.problem = problem_to_mark(bob, scripts=1)
        script_add(self.problem, "Charlie", TEXT, person=charlie)
        cases_prepare(self.problem)
        self.mark_one()

    def mark_one(self) -> None:
        task = claimed(self.problem, self.bob)
        is_own = task.case.version_id == version_of(self.problem, self.charlie).pk
        past_grace(sealed(task, self.bob, *(JUDGED if is_own else FULL)))
        cases_settle(self.problem.contest)

    def moved_to(self, state: str) -> "Release":
        if state == UNSETTLED:
            return self
        self.mark_one()
        if state == SETTLED:
            return self
        batch = released(self.problem.contest, self.bob)
        if state == FINAL:
            passed(batch, hours=1)
        elif state == UNDONE:
            batch_undo(batch=batch, by=self.bob)
        elif state == APPEALED:
            passed(batch, hours=25)
            appeal_of(self.problem, self.charlie)
            ReleaseBatch.objects.update(undo_until=timezone.now() + timedelta(minutes=5))
        return self

    def state(self) -> str:
        shown = ReleaseBatch.objects.filter(undone_at=None).count()
        return f"{shown} shown, {', '.join(sorted(MarkingCase.objects.values_list('state', flat=True)))}"

    def undone(self) -> bool | None:
        batch = ReleaseBatch.objects.order_by("pk").last()
        if batch is None:
            return None
        batch_undo(batch=batch, by=self.bob)
        return True

    def moves(self) -> Moves:
        contest = self.problem.contest
        return {
            "release": lambda: released(contest, self.bob),
            "release comments": lambda: released(contest, self.bob, "comments"),
            "release, leave out": lambda: released(contest, self.bob, leaves_out=True),
            "release nothing": lambda: released(contest, self.bob, "no part"),
            "take back": self.undone,
        }


BOTH = "1 shown, released, released"
_NEWS = {"release": BOTH, "release comments": BOTH, "release, leave out": BOTH, "release nothing": REFUSED}
_SEEN = dict.fromkeys(_NEWS, REFUSED)
RELEASES = {
    UNSETTLED: {**_SEEN, "release, leave out": "1 shown, open, released", "take back": REFUSED},
    SETTLED: {**_NEWS, "take back": REFUSED},
    RELEASED: {**_SEEN, "take back": "0 shown, settled, settled"},
    FINAL: {**_SEEN, "take back": REFUSED},
    UNDONE: {**_NEWS, "take back": REFUSED},
    APPEALED: {**_SEEN, "take back": REFUSED},
}


@pytest.mark.parametrize("state", RELEASES)
def test_a_release_moves_as_the_table_says(state: str, bob: User, charlie: User) -> None:
    release = Release(bob, charlie).moved_to(state)
    assert tried(release.moves(), release.state, ReleaseRefused) == RELEASES[state]


def test_a_further_release_adds_a_part_and_only_the_newest_can_be_undone(bob: User, charlie: User) -> None:
    release = Release(bob, charlie).moved_to(SETTLED)
    first = released(release.problem.contest, bob, "comments")
    assert tried(release.moves(), release.state, ReleaseRefused) == {
        "release": "2 shown, released, released",
        "release comments": REFUSED,
        "release, leave out": "2 shown, released, released",
        "release nothing": REFUSED,
        "take back": "0 shown, settled, settled",
    }
    released(release.problem.contest, bob, *ALL)
    with pytest.raises(ReleaseRefused, match="newest"):
        batch_undo(batch=first, by=bob)


def test_an_earlier_appeal_does_not_block_undoing_a_release(bob: User, charlie: User) -> None:
    release = Release(bob, charlie).moved_to(SETTLED)
    passed(released(release.problem.contest, bob, "comments", "verdicts"), hours=25)
    appeal_of(release.problem, charlie)
    second = released(release.problem.contest, bob)
    batch_undo(batch=second, by=bob)
    assert release.state() == "1 shown, appealed, released"
    assert Appeal.objects.get().state == AppealState.WRITTEN


WRITTEN, HEARD, MARKED, UPHELD, REJECTED, WITHDRAWN = "written", "heard", "heard, marked", "upheld", "rejected", "withdrawn"


class Hearing:
    """Charlie's appeal against Bob's mark: Eve hears it, and Fay is eligible as well."""

    def __init__(self, bob: User, charlie: User) -> None:
        self.bob, self.eve, self.fay = bob, marker("eve"), marker("fay")
        self.problem: ContestProblem = marked(bob, charlie, self.eve, self.fay, scripts=0)
        day_after(self.problem.contest, bob)
        self.key = appeal_of(self.problem, charlie).pk
        self.charlie = charlie

    @property
    def appeal(self) -> Appeal:
        return Appeal.objects.select_related("grade__case__problem__contest").get(pk=self.key)

    def state(self) -> str:
        hears = MarkingTask.objects.filter(slot=Slot.APPEAL, mark__grades=None).order_by("-pk").first()
        who = hears.assignee.username if hears and hears.assignee and self.appeal.state == AppealState.HEARD else ""
        case = case_of(self.problem, self.charlie)
        return " ".join(
            part for part in (self.appeal.state, who, "" if case.state == CaseState.APPEALED else case.state) if part
        )

    def moved_to(self, state: str) -> "Hearing":
        if state == WITHDRAWN:
            appeals.appeal_withdraw(appeal=self.appeal)
        elif state != WRITTEN:
            task = task_whole(appeals.appeal_take(appeal=self.appeal, by=self.eve))
            if state in (MARKED, UPHELD):
                past_grace(sealed(task, self.eve, *FULL))
            if state == UPHELD:
                appeals.appeal_uphold(appeal=self.appeal, by=self.eve, answer=ANSWER)
            elif state == REJECTED:
                appeals.appeal_reject(appeal=self.appeal, by=self.eve, answer=ANSWER)
        return self

    def handed_on(self) -> object:
        task = MarkingTask.objects.filter(slot=Slot.APPEAL, assignee=self.eve).order_by("-pk").first()
        return task and task_pass(task=task_whole(task), user=self.eve, reason=PassReason.SKIP)

    def rejected(self, by: User, answer: str = ANSWER) -> bool:
        appeals.appeal_reject(appeal=self.appeal, by=by, answer=answer)
        return True

    def withdrawn(self) -> bool:
        appeals.appeal_withdraw(appeal=self.appeal)
        return True

    def moves(self) -> Moves:
        return {
            "author takes back": self.withdrawn,
            "author appeals again": lambda: appeal_of(self.problem, self.charlie),
            "she takes it": lambda: appeals.appeal_take(appeal=self.appeal, by=self.eve),
            "he takes it": lambda: appeals.appeal_take(appeal=self.appeal, by=self.fay),
            "its marker takes it": lambda: appeals.appeal_take(appeal=self.appeal, by=self.bob),
            "she hands it on": self.handed_on,
            "she grants it": lambda: appeals.appeal_uphold(appeal=self.appeal, by=self.eve, answer=ANSWER),
            "she does not": lambda: self.rejected(self.eve),
            "she says nothing": lambda: self.rejected(self.eve, " "),
            "he does not": lambda: self.rejected(self.fay),
            "its marker does not": lambda: self.rejected(self.bob),
        }


_NOTHING = dict.fromkeys(
    (
        "author takes back", "author appeals again", "she takes it", "he takes it", "its marker takes it", "she hands it on",
        "she grants it", "she does not", "she says nothing", "he does not", "its marker does not",
    ),
    REFUSED,
)  # fmt: skip
_HEARD = {**_NOTHING, "she takes it": "heard eve", "she does not": "rejected released"}
APPEALS = {
    WRITTEN: {
        **_NOTHING, "author takes back": "withdrawn released", "she takes it": "heard eve", "he takes it": "heard fay",
        "she does not": "rejected released", "he does not": "rejected released",
    },
    HEARD: {**_HEARD, "she hands it on": "written"},
    MARKED: {**_HEARD, "she grants it": "upheld settled"},
    UPHELD: _NOTHING,
    REJECTED: {**_NOTHING, "she hands it on": "rejected released"},
    WITHDRAWN: {**_NOTHING, "author appeals again": "withdrawn"},
}  # fmt: skip


@pytest.mark.parametrize("state", APPEALS)
def test_an_appeal_moves_as_the_table_says(state: str, bob: User, charlie: User) -> None:
    hearing = Hearing(bob, charlie).moved_to(state)
    assert tried(hearing.moves(), hearing.state, AppealRefused, TaskGone) == APPEALS[state]
