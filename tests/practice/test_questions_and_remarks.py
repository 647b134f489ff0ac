"""A student asks, a coach answers with remarks at steps, and the student disagrees, revises and settles."""

import re
import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.practice import questions, remarks
from apps.practice.coaching.queue import next_version, queue_rows
from apps.practice.helping import formulas
from apps.practice.helping.rules import HELD, HelpRefused, rules_save
from apps.practice.models import Disagreement, Question, Remark, RemarkOrigin, Settlement
from apps.practice.shown import unsettled_before
from apps.practice.story import changes_between, story_of
from tests.contests.factory import make_contest, moved
from tests.practice.factory import OWN, attempted, handed_in, on_sheet, sheet_of
from tests.problems.factory import make_problem

ClientFor = Callable[[User | None], Client]


def test_a_question_is_answered_and_the_student_reads_it(charlie: User, bob: User, client_for: ClientFor) -> None:
    version = attempted(charlie)
    student, coach = client_for(charlie), client_for(bob)
    student.post(reverse("practice:ask", args=[version.public_id]), {"words": "Is step two enough?", "step": "2"})
    assert "Is step two enough?" in coach.get(reverse("practice:queue")).content.decode()
    answer = reverse("practice:answer", args=[version.public_id])
    assert coach.get(reverse("practice:next"))["Location"] == answer
    refused = coach.post(answer, {"outcome": "nearly", "words": ""})
    assert "Write a sentence, or a remark at a step." in refused.content.decode()
    coach.post(reverse("practice:remark", args=[version.public_id]), {"step": "2", "kind": "gap", "words": "Why is one even?"})
    coach.post(reverse("practice:remark", args=[version.public_id]), {"step": "1", "grants": "on"})
    done = coach.post(answer, {"outcome": "nearly", "words": "Good idea."})
    assert done["Location"] == reverse("practice:queue")
    assert "answered" in student.get(reverse("home")).content.decode()
    page = student.get(reverse("practice:attempt", args=[version.public_id])).content.decode()
    for words in ("Nearly: small repairs", "Good idea.", "Why is one even?", "This step is granted", "A gap"):
        assert words in page
    assert Question.objects.get().read_at is not None
    assert coach.post(answer, {"outcome": "complete", "words": "Again"})["Location"] == answer
    assert Question.objects.get().answer == "Good idea."


@pytest.mark.parametrize("words", ["", "help", "I do"])
def test_a_question_says_something(words: str, charlie: User, client_for: ClientFor) -> None:
    version = attempted(charlie)
    page = client_for(charlie).post(reverse("practice:ask", args=[version.public_id]), {"words": words, "step": "0"})
    assert page.status_code == 422
    assert not Question.objects.exists()


def test_only_one_question_waits_and_it_is_about_the_newest_version(charlie: User) -> None:
    first = attempted(charlie)
    questions.question_ask(version=first, words="Is step two enough?")
    with pytest.raises(HelpRefused, match="already asked"):
        questions.question_ask(version=first, words="Is step three enough?")
    second = handed_in(first.submission.problem, OWN + "\n\nThe end of it.")
    with pytest.raises(HelpRefused, match="newer version"):
        questions.question_ask(version=first, words="Is step three enough?")
    questions.question_ask(version=second, words="Is it better now?")
    assert [one.version.number for one in Question.objects.filter(withdrawn_at=None)] == [2]


def test_the_queue_is_oldest_first_by_course_and_topic(charlie: User, bob: User, client_for: ClientFor) -> None:
    row = sheet_of(bob, charlie)
    on = on_sheet(row.contest, charlie)
    questions.question_ask(version=on_sheet(row.contest, charlie, OWN + " More."), words="Is step two enough?")
    assert [one.kind for one in queue_rows(bob, course=str(row.contest.public_id))] == ["question"]
    assert queue_rows(bob, course="practice") == []
    assert queue_rows(bob, topic="G") == []
    assert next_version(bob) != on
    home = client_for(bob).get(reverse("home")).content.decode()
    assert "student question to answer" in home


def test_a_problem_of_a_running_contest_gets_no_help_anywhere(charlie: User, bob: User, client_for: ClientFor) -> None:
    version = attempted(charlie)
    problem = version.submission.problem.problem
    make_contest(bob, problem, state=ContestState.OPEN)
    client = client_for(charlie)
    assert HELD in client.get(reverse("practice:attempt", args=[version.public_id])).content.decode()
    with pytest.raises(HelpRefused, match="running"):
        questions.question_ask(version=version, words="Is step two enough?")
    assert HELD in client.get(reverse("practice:compare", args=[version.public_id])).content.decode()
    with pytest.raises(HelpRefused, match="running"):
        remarks.remark_add(version=version, step=1, words="Look", kind="", by=bob)


def test_a_running_contest_also_stops_what_was_begun_before(charlie: User, bob: User, client_for: ClientFor) -> None:
    remark = a_remark(charlie, bob)
    model = Remark.objects.create(
        version=remark.version, origin=RemarkOrigin.MODEL, step=2, pointer="Why is it even?", words="No reason.", stage=1
    )
    remarks.disagree(remark=remark, words="Neighbours have different parity.")
    newer = handed_in(remark.version.submission.problem, OWN + "\n\nThe end.")
    claim = remarks.settle(remark=remark, version=newer)
    make_contest(bob, remark.version.submission.problem.problem, state=ContestState.OPEN)
    with pytest.raises(HelpRefused, match="running"):
        remarks.settlement_decide(settlement=claim, holds=True, by=bob)
    client = client_for(charlie)
    for one, verb, sent in ((model, "more", {"stage": "1"}), (model, "settle", {"version": str(newer.public_id)})):
        client.post(reverse("practice:remark_reply", args=[one.public_id, verb]), sent)
    model.refresh_from_db()
    assert model.stage == 1
    assert Settlement.objects.get(holds=None) == claim
    decide = reverse("practice:remark_decide", args=[remark.public_id, "dispute"])
    client_for(bob).post(decide, {"holds": "yes", "reply": "It is even, because …"})
    assert Disagreement.objects.get().is_upheld is None


def test_practice_does_not_evade_the_rules_of_a_sheet(charlie: User, bob: User, client_for: ClientFor) -> None:
    version = attempted(charlie)
    row = sheet_of(bob, charlie, version.submission.problem.problem)
    assert "is on your sheet “Sheet 1”" in questions.ask_refusal(version)
    page = client_for(charlie).get(reverse("practice:compare", args=[version.public_id])).content.decode()
    assert "is on your sheet" in page
    moved(row.contest, ContestState.CLOSED)
    assert questions.ask_refusal(version) == ""


def test_a_closed_sheet_takes_no_disagreement(charlie: User, bob: User) -> None:
    row = sheet_of(bob, charlie)
    remark = remarks.remark_add(version=on_sheet(row.contest, charlie), step=2, words="Why?", kind="gap", by=bob)
    moved(row.contest, ContestState.CLOSED)
    remark.version.submission.problem.contest.refresh_from_db()
    with pytest.raises(HelpRefused, match="closed"):
        remarks.disagree(remark=remark, words="Neighbours have different parity.")


def test_a_claim_needs_a_version_that_was_not_withdrawn(charlie: User, bob: User, client_for: ClientFor) -> None:
    remark = a_remark(charlie, bob)
    second = handed_in(remark.version.submission.problem, OWN + "\n\nThe end.")
    remarks.settle(remark=remark, version=second)
    client_for(charlie).post(reverse("submissions:version_withdraw", args=[second.public_id]))
    second.refresh_from_db()
    with pytest.raises(HelpRefused, match="withdrawn"):
        remarks.settle(remark=remark, version=second)
    third = handed_in(remark.version.submission.problem, OWN + "\n\nAnother end.")
    assert remarks.settle(remark=remark, version=third).version == third


def test_the_next_key_passes_on_a_question(charlie: User, bob: User, client_for: ClientFor) -> None:
    first, second = attempted(charlie), attempted(charlie, make_problem("Another"))
    for version in (first, second):
        questions.question_ask(version=version, words="Is step two enough?")
    client, url = client_for(bob), reverse("practice:next")
    answers = [reverse("practice:answer", args=[version.public_id]) for version in (first, second)]
    assert client.get(url)["Location"] == answers[0]
    assert client.get(f"{url}?after={first.public_id}")["Location"] == answers[1]
    assert client.get(f"{url}?after={second.public_id}")["Location"] == answers[0]


def test_a_sheet_that_is_marked_gets_no_answers(charlie: User, bob: User) -> None:
    row = sheet_of(bob, charlie)
    version = on_sheet(row.contest, charlie)
    question = questions.question_ask(version=version, words="Is step two enough?")
    moved(row.contest, ContestState.MARKING)
    assert queue_rows(bob) == []
    question.refresh_from_db()
    with pytest.raises(HelpRefused, match="being marked"):
        questions.question_answer(question=question, words="Yes", outcome="complete", by=bob)


def test_a_sheet_may_forbid_questions(charlie: User, bob: User, client_for: ClientFor) -> None:
    row = sheet_of(bob, charlie)
    rules_save(contest=row.contest, by=bob, asks_coaches=False, checks_formulas=False)
    version = on_sheet(row.contest, charlie)
    with pytest.raises(HelpRefused, match="do not answer"):
        questions.question_ask(version=version, words="Is step two enough?")
    page = client_for(charlie).get(reverse("practice:attempt", args=[version.public_id])).content.decode()
    assert "Ask a coach" not in page
    assert "Check the formulas" not in page


def a_remark(version_of: User, by: User) -> Remark:
    version = attempted(version_of)
    questions.question_ask(version=version, words="Is step two enough?")
    return remarks.remark_add(version=version, step=2, words="Why is one of them even?", kind="gap", by=by)


def test_a_student_disagrees_and_a_coach_agrees_with_them(charlie: User, bob: User, client_for: ClientFor) -> None:
    remark = a_remark(charlie, bob)
    student, coach = client_for(charlie), client_for(bob)
    reply = reverse("practice:remark_reply", args=[remark.public_id, "disagree"])
    student.post(reply, {"words": "no"})
    assert not Disagreement.objects.exists()
    student.post(reply, {"words": "Neighbours have different parity."})
    student.post(reply, {"words": "And I say it again."})
    assert Disagreement.objects.get().words == "Neighbours have different parity."
    assert "Disagrees with a remark" in coach.get(reverse("practice:queue")).content.decode()
    coach.post(
        reverse("practice:remark_decide", args=[remark.public_id, "dispute"]), {"holds": "yes", "reply": "You are right."}
    )
    page = student.get(reverse("practice:attempt", args=[remark.version.public_id])).content.decode()
    assert "A coach agrees with you." in page
    assert "finding--settled" in page
    with pytest.raises(HelpRefused, match="meanwhile"):
        remarks.disagreement_answer(disagreement=Disagreement.objects.get(), is_upheld=False, reply="", by=bob)


def test_a_remark_that_got_a_reply_stays(charlie: User, bob: User) -> None:
    remark = a_remark(charlie, bob)
    remarks.disagree(remark=remark, words="Neighbours have different parity.")
    with pytest.raises(HelpRefused, match="stays"):
        remarks.remark_remove(remark=remark, by=bob)


def test_a_newer_version_settles_a_remark_when_a_coach_confirms(charlie: User, bob: User, client_for: ClientFor) -> None:
    remark = a_remark(charlie, bob)
    student, coach = client_for(charlie), client_for(bob)
    settle = reverse("practice:remark_reply", args=[remark.public_id, "settle"])
    student.post(settle, {"version": str(remark.version.public_id)})
    assert not Settlement.objects.exists()
    newer = handed_in(remark.version.submission.problem, OWN.replace("is even", "is even, as they are neighbours"))
    assert [one.step for one in unsettled_before(newer)] == [None]
    student.post(settle, {"version": str(newer.public_id)})
    assert "Says a remark is settled" in coach.get(reverse("practice:queue")).content.decode()
    coach.post(reverse("practice:remark_decide", args=[remark.public_id, "claim"]), {"holds": "no"})
    with pytest.raises(HelpRefused, match="already said"):
        remarks.settle(remark=remark, version=newer)
    newest = handed_in(remark.version.submission.problem, OWN + "\n\nNeighbours have different parity.")
    remarks.settle(remark=remark, version=newest)
    remarks.settlement_decide(settlement=Settlement.objects.get(), holds=True, by=bob)
    assert unsettled_before(newest) == []
    story = [one.words for one in story_of(newest.submission)]
    assert "Version 3 handed in" in story
    assert "Settled, confirmed by a coach" in story


def test_the_formula_check_confirms_what_it_found(charlie: User, client_for: ClientFor) -> None:
    version = attempted(charlie, text="We compute $(a+b)^2 = a^2 + b^2$ for all $a$ and $b$.")
    client = client_for(charlie)
    client.post(reverse("practice:check_version", args=[version.public_id]))
    remark = Remark.objects.get()
    assert (remark.origin, remark.step) == (RemarkOrigin.FORMULA, 1)
    page = client.get(reverse("practice:attempt", args=[version.public_id])).content.decode()
    assert "Check this formula again" in page
    assert "Show where it fails" in page
    same = handed_in(version.submission.problem, "So we compute $(a+b)^2 = a^2 + b^2$ for all $a$ and $b$.")
    settle = reverse("practice:remark_reply", args=[remark.public_id, "settle"])
    client.post(settle, {"version": str(same.public_id)})
    assert Settlement.objects.get().holds is False
    right = handed_in(version.submission.problem, "We compute $(a+b)^2 = a^2 + 2ab + b^2$ for all $a$ and $b$.")
    client.post(settle, {"version": str(right.public_id)})
    assert (Settlement.objects.get().holds, Settlement.objects.get().by) == (True, None)


def test_the_draft_is_checked_while_it_is_written(charlie: User, client_for: ClientFor) -> None:
    row = attempted(charlie).submission.problem
    url, client = reverse("practice:check", args=[row.public_id]), client_for(charlie)
    draft = {"text": "First.\n\nThen $(a+b)^2 = a^2 + b^2$ for all $a$ and $b$.", "text_format": "markdown"}
    found = client.post(url, draft).content.decode()
    assert "Step 2:" in found
    assert "check this formula again" in found
    assert client.post(url, {**draft, "text": "Then $(a+b)^2 = a^2 + 2ab + b^2$."}).content.decode().strip() == ""
    assert client.post(url, {**draft, "text_format": "docx"}).content == b""
    long = client.post(url, {**draft, "text": draft["text"] + " Again." * 2_000}).content.decode()
    assert "Texts of more than 12,000 characters are checked after you hand them in." in long


def test_a_busy_check_is_asked_again_by_the_page_after_a_while(
    charlie: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.practice.helping.formulas._PLACES", threading.BoundedSemaphore(1))
    url = reverse("practice:check", args=[attempted(charlie).submission.problem.public_id])
    with formulas._PLACES:
        asked = client_for(charlie).post(url, {"text": "Then $1 = 2$.", "text_format": "markdown"}).content.decode()
    found = re.search(r'hx-post="([^"]+)" hx-trigger="load delay:(\d+)s"', asked)
    assert found
    assert found[1] == url
    assert 3 <= int(found[2]) <= 20


def test_changes_between_versions_are_by_step(charlie: User) -> None:
    first = attempted(charlie)
    steps = OWN.split("\n\n")
    second = handed_in(
        first.submission.problem, "\n\n".join([steps[0], "Then something new is said here.", steps[2], "And an end."])
    )
    assert [(one.fate, one.number) for one in changes_between(first, second)] == [
        ("kept", 1), ("changed", 2), ("kept", 3), ("new", 4),
    ]  # fmt: skip


def test_the_typical_wait_is_the_median(charlie: User, bob: User) -> None:
    assert questions.typical_wait() is None
    version = attempted(charlie)
    question = questions.question_ask(version=version, words="Is step two enough?")
    answered = questions.question_answer(question=question, words="Yes.", outcome="complete", by=bob)
    assert answered.answered_at is not None
    Question.objects.update(asked_at=answered.answered_at - timedelta(hours=5))
    wait = questions.typical_wait()
    assert wait is not None
    assert (wait.words, wait.answers) == ("about 5 hours", 1)
