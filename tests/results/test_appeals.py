"""Appeals: a window from one day to one week, a fresh mark by another marker, and an answer with the next release."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.services import coach_add
from apps.marks.models import Appeal, AppealState, AuditEvent, CaseState, FinalGrade, MarkingTask, ReleasePart
from apps.results import appeals
from apps.results.appeals import AppealRefused
from apps.results.releasing import ReleaseRefused, batch_undo
from apps.results.shown import parts_of
from tests.marks.factory import marker, past_grace, sealed, task_whole
from tests.results.factory import appeal_of, case_of, day_after, marked, passed, points_now, released, version_of

ClientFor = Callable[[User | None], Client]
ANSWER = "We read the last step again; it is right."
SECOND_ANSWER = "This was looked at together with it."


def test_a_student_appeals_against_a_verdict_with_its_link(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie)
    day_after(problem.contest, bob)
    client, version = client_for(charlie), version_of(problem, charlie)
    url = reverse("results:appeal_write", kwargs={"version_id": version.public_id})
    page = client.get(reverse("results:result", kwargs={"version_id": version.public_id})).content.decode()
    assert f"{url}?about=verdict:v1" in page
    form = client.get(f"{url}?about=verdict:v1").content.decode()
    assert "checked" in form.split('value="verdict:v1"')[1].split(">")[0]
    answer = client.post(url, {"target": "verdict:v1", "words": "Step 4 looks at the case $p = 2$."}, follow=True)
    appeal = Appeal.objects.get()
    assert (appeal.verdict, appeal.state) == ("v1", AppealState.WRITTEN)
    assert "Handed in" in answer.content.decode()
    assert case_of(problem, charlie).state == CaseState.APPEALED


def test_an_appeal_does_not_reveal_its_author(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    day_after(problem.contest, bob)
    appeal_of(problem, charlie)
    event = AuditEvent.objects.get(verb="appeal.written")
    assert event.actor is None
    assert "charlie" not in str(event.body).lower()


def test_appeals_are_refused_before_a_day_and_after_a_week(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    batch = released(problem.contest, bob)
    with pytest.raises(AppealRefused, match="can be handed in from"):
        appeal_of(problem, charlie)
    passed(batch, days=8)
    with pytest.raises(AppealRefused, match="over"):
        appeal_of(problem, charlie)


def test_an_appeal_needs_a_released_target(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    day_after(problem.contest, bob, ReleasePart.POINTS)
    targets = appeals.targets_of(parts_of([version_of(problem, charlie)])[version_of(problem, charlie).pk])
    assert [target.words.split(":")[0] for target in targets] == ["A1 (3), found"]
    with pytest.raises(AppealRefused, match="Choose"):
        appeal_of(problem, charlie, "verdict:v1")
    assert appeal_of(problem, charlie, targets[0].key).lineage


def test_a_target_can_be_appealed_against_once(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    day_after(problem.contest, bob)
    first = appeal_of(problem, charlie)
    with pytest.raises(AppealRefused, match="already"):
        appeal_of(problem, charlie)
    appeals.appeal_withdraw(appeal=first)
    assert case_of(problem, charlie).state == CaseState.RELEASED
    assert appeal_of(problem, charlie).state == AppealState.WRITTEN


def test_an_appeal_without_a_reason_or_about_a_foreign_text_is_refused(
    bob: User, charlie: User, alice: User, client_for: ClientFor
) -> None:
    problem = marked(bob, charlie)
    day_after(problem.contest, bob)
    url = reverse("results:appeal_write", kwargs={"version_id": version_of(problem, charlie).public_id})
    assert client_for(charlie).post(url, {"target": "verdict:v1", "words": "No."}).status_code == 422
    assert client_for(alice).post(url, {"target": "verdict:v1", "words": "It is right, I think."}).status_code == 404
    assert not Appeal.objects.exists()


def test_the_marker_of_a_text_does_not_answer_its_appeal(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    day_after(problem.contest, bob)
    appeal = appeal_of(problem, charlie)
    for answer in (appeals.appeal_reject, appeals.appeal_uphold):
        with pytest.raises(AppealRefused):
            answer(appeal=appeal, by=bob, answer=ANSWER)
    with pytest.raises(AppealRefused, match="another coach"):
        appeals.appeal_take(appeal=appeal, by=bob)


def test_a_fresh_mark_becomes_the_grade_and_appears_with_the_next_release(
    bob: User, charlie: User, client_for: ClientFor
) -> None:
    eve = marker("eve")
    problem = marked(bob, charlie, eve)
    day_after(problem.contest, bob)
    appeal = appeal_of(problem, charlie)
    client = client_for(eve)
    where = {"appeal_id": appeal.public_id}
    client.post(reverse("results:appeal_command", kwargs={**where, "verb": "take"}))
    task = appeals.task_of(case_of(problem, charlie), eve)
    assert task is not None
    read = re.sub(r"<[^>]*>", " ", client.get(reverse("results:appeal", kwargs=where)).content.decode())
    assert "Bob" not in read
    with pytest.raises(AppealRefused, match="fresh mark"):
        appeals.appeal_uphold(appeal=appeal, by=eve, answer=ANSWER)
    mark = sealed(task_whole(task), eve, ("claim", {"line": "A1 A2"}))
    with pytest.raises(AppealRefused, match="seconds"):
        appeals.appeal_uphold(appeal=appeal, by=eve, answer=ANSWER)
    past_grace(mark)
    client.post(reverse("results:appeal_command", kwargs={**where, "verb": "uphold"}), {"answer": ANSWER})
    case = case_of(problem, charlie)
    assert (points_now(case), case.state) == ("7.00", CaseState.SETTLED)
    grade = FinalGrade.objects.get(case=case, superseded_by=None)
    assert grade.mark == mark
    version = version_of(problem, charlie)
    own = reverse("results:result", kwargs={"version_id": version.public_id})
    page = client_for(charlie).get(own).content.decode()
    assert "<strong>3</strong> of 7" in page
    assert ANSWER in page
    assert "Granted" in page
    released(problem.contest, bob)
    assert "<strong>7</strong> of 7" in client_for(charlie).get(own).content.decode()


def test_a_rejected_appeal_has_an_answer_and_changes_no_grade(bob: User, charlie: User, client_for: ClientFor) -> None:
    eve = marker("eve")
    problem = marked(bob, charlie, eve)
    day_after(problem.contest, bob)
    appeal = appeal_of(problem, charlie)
    url = reverse("results:appeal_command", kwargs={"appeal_id": appeal.public_id, "verb": "reject"})
    assert client_for(eve).post(url, {"answer": ""}).status_code == 422
    client_for(eve).post(url, {"answer": ANSWER})
    appeal.refresh_from_db()
    assert (appeal.state, appeal.answered_by) == (AppealState.REJECTED, eve)
    assert (points_now(case_of(problem, charlie)), case_of(problem, charlie).state) == ("3.00", CaseState.RELEASED)
    with pytest.raises(AppealRefused, match="already"):
        appeal_of(problem, charlie)


def test_one_coach_hears_an_appeal(bob: User, charlie: User) -> None:
    eve, fay = marker("eve"), marker("fay")
    problem = marked(bob, charlie, eve, fay)
    day_after(problem.contest, bob)
    appeal = appeal_of(problem, charlie)
    task = appeals.appeal_take(appeal=appeal, by=eve)
    assert appeals.appeal_take(appeal=appeal, by=eve) == task
    with pytest.raises(AppealRefused, match="colleague"):
        appeals.appeal_take(appeal=appeal, by=fay)
    with pytest.raises(AppealRefused, match="looking"):
        appeals.appeal_withdraw(appeal=appeal)


def test_a_coach_who_answered_an_appeal_does_not_hear_the_next_one(bob: User, charlie: User) -> None:
    eve = marker("eve")
    problem = marked(bob, charlie, eve)
    day_after(problem.contest, bob)
    appeal = appeal_of(problem, charlie)
    task = appeals.appeal_take(appeal=appeal, by=eve)
    past_grace(sealed(task_whole(task), eve, ("tick", {"code": "A1"}), ("comment", {"id": "k", "step": 1, "words": "So?"})))
    appeals.appeal_uphold(appeal=appeal, by=eve, answer=ANSWER)
    passed(released(problem.contest, bob), hours=25)
    parts = parts_of([version_of(problem, charlie)])[version_of(problem, charlie).pk]
    target = next(one.key for one in appeals.targets_of(parts) if one.key.startswith("item:"))
    again = appeal_of(problem, charlie, target)
    assert "another coach" in appeals.hearing_refusal(eve, again)


def two_heard(bob: User, charlie: User, eve: User) -> tuple[Appeal, Appeal]:
    """Return two appeals about one text, both heard by Eve with a sealed mark of all points."""
    problem = marked(bob, charlie, eve)
    day_after(problem.contest, bob)
    parts = parts_of([version_of(problem, charlie)])[version_of(problem, charlie).pk]
    target = next(one.key for one in appeals.targets_of(parts) if one.key.startswith("item:"))
    first, second = appeal_of(problem, charlie), appeal_of(problem, charlie, target)
    past_grace(sealed(task_whole(appeals.appeal_take(appeal=first, by=eve)), eve, ("claim", {"line": "A1 A2"})))
    second.refresh_from_db()
    assert second.state == AppealState.HEARD
    return first, second


@pytest.mark.parametrize(("verb", "state"), [("reject", AppealState.REJECTED), ("uphold", AppealState.UPHELD)])
def test_a_coach_who_granted_an_appeal_answers_the_others_about_the_text(
    bob: User, charlie: User, client_for: ClientFor, verb: str, state: AppealState
) -> None:
    eve = marker("eve")
    first, second = two_heard(bob, charlie, eve)
    client = client_for(eve)
    page = reverse("results:appeal", kwargs={"appeal_id": second.public_id})
    answer = client.post(
        reverse("results:appeal_command", kwargs={"appeal_id": first.public_id, "verb": "uphold"}), {"answer": ANSWER}
    )
    assert answer["Location"] == page
    shown = client.get(page).content.decode()
    assert "is the result already" in shown
    assert "Grant this one too" in shown
    case = first.grade.case
    client.post(
        reverse("results:appeal_command", kwargs={"appeal_id": second.public_id, "verb": verb}), {"answer": SECOND_ANSWER}
    )
    second.refresh_from_db()
    case.refresh_from_db()
    assert (second.state, second.answer, second.answered_by) == (state, SECOND_ANSWER, eve)
    assert (FinalGrade.objects.filter(case=case).count(), points_now(case)) == (2, "7.00"), "one grade for both"
    assert case.state == CaseState.SETTLED
    assert MarkingTask.objects.filter(slot="appeal").count() == 1


def test_a_coach_who_granted_an_appeal_hears_neither_it_nor_a_later_one(bob: User, charlie: User) -> None:
    eve, fay = marker("eve"), marker("fay")
    first, second = two_heard(bob, charlie, eve)
    coach_add(contest=first.grade.case.problem.contest, person=fay)
    appeals.appeal_uphold(appeal=first, by=eve, answer=ANSWER)
    second.refresh_from_db()
    assert "colleague" in appeals.hearing_refusal(fay, second)
    hearing = MarkingTask.objects.get(slot="appeal")
    assert appeals.appeal_take(appeal=second, by=eve) == hearing
    first.refresh_from_db()
    with pytest.raises(AppealRefused, match="answered"):
        appeals.appeal_reject(appeal=first, by=eve, answer=ANSWER)
    later = Appeal.objects.create(grade=first.grade, verdict="v2", words="And the next step?")
    assert "another coach" in appeals.hearing_refusal(eve, later)
    assert "colleague" in appeals.hearing_refusal(fay, later), "the second one still has no answer"
    appeals.appeal_reject(appeal=second, by=eve, answer=ANSWER)
    assert appeals.hearing_refusal(fay, later) == ""


def test_a_release_with_an_open_appeal_is_not_taken_back(bob: User, charlie: User, settings: object) -> None:
    settings.APPEAL_WAIT_H = 0  # type: ignore[attr-defined]
    problem = marked(bob, charlie)
    batch = released(problem.contest, bob)
    appeal_of(problem, charlie)
    with pytest.raises(ReleaseRefused, match="appealed"):
        batch_undo(batch=batch, by=bob)


def test_the_queue_shows_numbers_without_names_or_times(bob: User, charlie: User, client_for: ClientFor) -> None:
    eve = marker("eve")
    problem = marked(bob, charlie, eve)
    day_after(problem.contest, bob)
    appeal = appeal_of(problem, charlie)
    client = client_for(eve)
    queue = client.get(reverse("results:appeal_list", kwargs={"contest_id": problem.contest.public_id})).content.decode()
    detail = client.get(reverse("results:appeal", kwargs={"appeal_id": appeal.public_id})).content.decode()
    number = version_of(problem, charlie).submission.paper.number
    for page in (queue, detail):
        assert number in page
        assert "charlie" not in page.lower()
        assert "<time" not in page
    assert client_for(charlie).get(reverse("results:appeal", kwargs={"appeal_id": appeal.public_id})).status_code == 404
