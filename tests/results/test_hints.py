"""Hints one rung at a time: requests, answers, waiting times, hints of coaches, and the check for leaks."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestProblem, ContestState
from apps.marks.models import MarkingTask, Slot
from apps.reasoning.feedback.ladder import Rules
from apps.results import feedback
from apps.results.feedback import FeedbackRefused, HintLeaks
from apps.results.models import FeedbackRequest, RungAsked
from apps.results.releasing import batch_undo
from apps.submissions.models import SubmissionVersion
from tests.contests.factory import TEXT, enter, hand_in, make_contest, moved
from tests.marks.factory import marker
from tests.problems.factory import SECRET
from tests.results.factory import case_of, marked, released, version_of

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    """Create a problem of an open contest that offers hints."""
    problem = make_contest(bob, state=ContestState.OPEN).problems.get()
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(), by=bob)
    return problem


@pytest.fixture
def version(problem: ContestProblem, charlie: User) -> SubmissionVersion:
    return hand_in(*enter(problem.contest, charlie))


def opened(version: SubmissionVersion, track: str = "repair") -> FeedbackRequest:
    return feedback.request_open(version=version, track=track, words="Is step 2 right?")


def given(request: FeedbackRequest, level: int, by: User, minutes_ago: int = 60) -> RungAsked:
    """Give the hint of this level and move its time back."""
    asked = request.asked.filter(level=level).first() or feedback.rung_ask(request=request, level=level, tried="I tried $n=1$.")
    feedback.rung_give(asked=asked, text=f"Look again, hint {level}.", by=by, confirms=True)
    RungAsked.objects.filter(pk=asked.pk).update(given_at=timezone.now() - timedelta(minutes=minutes_ago))
    return asked


def test_a_student_reads_the_hint_that_a_coach_wrote(
    problem: ContestProblem, version: SubmissionVersion, bob: User, charlie: User, client_for: ClientFor
) -> None:
    own = reverse("results:feedback_own", kwargs={"version_id": version.public_id})
    client_for(charlie).post(own, {"track": "repair", "words": "Is step 2 right?"})
    request = FeedbackRequest.objects.get()
    coach = client_for(bob)
    queue = coach.get(reverse("results:feedback_queue", kwargs={"contest_id": problem.contest.public_id})).content.decode()
    answer = reverse("results:feedback_answer", kwargs={"request_id": request.public_id})
    assert answer in queue
    page = coach.get(answer).content.decode()
    assert "Is step 2 right?" in page
    for text in (queue, page):
        assert "charlie" not in text.lower()
        assert "<time" not in text
    coach.post(answer, {"text": "The first step holds."})
    assert "The first step holds." in client_for(charlie).get(own).content.decode()


def test_a_draft_of_a_hint_is_not_shown(version: SubmissionVersion, charlie: User, client_for: ClientFor) -> None:
    request = opened(version)
    RungAsked.objects.filter(request=request).update(text="sentinel of a draft")
    own = reverse("results:feedback_own", kwargs={"version_id": version.public_id})
    assert "sentinel" not in client_for(charlie).get(own).content.decode()


def test_hints_are_off_until_a_coach_offers_them(bob: User, charlie: User) -> None:
    contest = make_contest(bob, state=ContestState.OPEN)
    version = hand_in(*enter(contest, charlie))
    with pytest.raises(FeedbackRefused, match="do not offer"):
        opened(version)


def test_the_next_hint_needs_an_attempt_and_a_waiting_time(version: SubmissionVersion, bob: User) -> None:
    request = opened(version)
    with pytest.raises(FeedbackRefused, match="being written"):
        feedback.rung_ask(request=request, level=1, tried="Something.")
    given(request, 0, bob, minutes_ago=5)
    with pytest.raises(FeedbackRefused, match="Try with this"):
        feedback.rung_ask(request=request, level=1, tried="Something.")
    RungAsked.objects.update(given_at=timezone.now() - timedelta(minutes=11))
    with pytest.raises(FeedbackRefused, match="in a sentence"):
        feedback.rung_ask(request=request, level=1, tried="  ")
    with pytest.raises(FeedbackRefused):
        feedback.rung_ask(request=request, level=2, tried="I skip one.")
    assert feedback.rung_ask(request=request, level=1, tried="I tried $n=1$.").level == 1
    given(request, 1, bob, minutes_ago=20)
    with pytest.raises(FeedbackRefused, match="Try with this"):
        feedback.rung_ask(request=request, level=2, tried="Again.")


def test_a_newer_version_answers_a_hint_without_words(version: SubmissionVersion, bob: User, charlie: User) -> None:
    request = opened(version)
    given(request, 0, bob)
    newer = hand_in(version.submission.paper, version.submission.problem, TEXT + "\n\nMore.")
    asked = feedback.rung_ask(request=request, level=1, tried="")
    assert asked.revision == newer


def test_a_hint_is_requested_only_once(version: SubmissionVersion, bob: User) -> None:
    request = opened(version)
    given(request, 0, bob)
    assert feedback.rung_ask(request=request, level=1, tried="A.") == feedback.rung_ask(request=request, level=1, tried="B.")
    with pytest.raises(FeedbackRefused, match="already"):
        opened(version)


def test_the_ladder_ends_at_the_highest_rung_and_a_coach_can_raise_it(
    problem: ContestProblem, version: SubmissionVersion, bob: User
) -> None:
    request = opened(version)
    for level in range(5):
        given(request, level, bob)
    with pytest.raises(FeedbackRefused, match="no further hints"):
        feedback.rung_ask(request=request, level=5, tried="More.")
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(highest=7), by=bob)
    assert feedback.rung_ask(request=request, level=5, tried="More.").level == 5


def test_a_full_solution_waits_for_the_end_of_the_contest(
    problem: ContestProblem, version: SubmissionVersion, bob: User
) -> None:
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(highest=7, budget=20), by=bob)
    request = opened(version)
    for level in range(7):
        given(request, level, bob)
    with pytest.raises(FeedbackRefused, match="when the time is over"):
        feedback.rung_ask(request=request, level=7, tried="Please.")
    contest = problem.contest
    type(contest).objects.filter(pk=contest.pk).update(closes_at=timezone.now() - timedelta(minutes=1))
    request = FeedbackRequest.objects.get(pk=request.pk)
    assert feedback.rung_ask(request=request, level=7, tried="Please.").level == 7


def test_the_hints_of_a_problem_are_limited_over_all_versions(
    problem: ContestProblem, version: SubmissionVersion, bob: User
) -> None:
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(budget=2), by=bob)
    request = opened(version)
    given(request, 0, bob)
    given(request, 1, bob)
    with pytest.raises(FeedbackRefused, match="2 hints"):
        feedback.rung_ask(request=request, level=2, tried="More.")
    newer = hand_in(version.submission.paper, version.submission.problem, "Another way.")
    with pytest.raises(FeedbackRefused, match="2 hints"):
        opened(newer)


def test_a_request_on_a_newer_version_ends_the_older_one_and_keeps_its_hints(
    version: SubmissionVersion, bob: User, charlie: User, client_for: ClientFor
) -> None:
    request = opened(version)
    given(request, 0, bob)
    newer = hand_in(version.submission.paper, version.submission.problem, "Another way.")
    opened(newer, "stuck")
    request.refresh_from_db()
    assert request.ended_at is not None
    with pytest.raises(FeedbackRefused, match="has ended"):
        feedback.rung_ask(request=request, level=1, tried="More.")
    page = client_for(charlie).get(reverse("results:feedback_own", kwargs={"version_id": newer.public_id})).content.decode()
    assert "Look again, hint 0." in page


def test_hints_are_refused_while_a_text_is_being_marked(problem: ContestProblem, version: SubmissionVersion, bob: User) -> None:
    request = opened(version)
    given(request, 0, bob)
    moved(problem.contest, ContestState.MARKING)
    request = FeedbackRequest.objects.get(pk=request.pk)
    with pytest.raises(FeedbackRefused, match="being marked"):
        feedback.rung_ask(request=request, level=1, tried="More.")
    with pytest.raises(FeedbackRefused, match="being marked"):
        opened(SubmissionVersion.objects.get(pk=version.pk))


def test_a_hint_with_a_leak_needs_the_confirmation_of_a_coach(
    version: SubmissionVersion, bob: User, client_for: ClientFor
) -> None:
    request = opened(version)
    leaking = f"{SECRET} of the equation in order to see a contradiction and the answer: secret answer 4711."
    with pytest.raises(HintLeaks) as caught:
        feedback.rung_give(asked=request.asked.get(), text=leaking, by=bob)
    assert [leak.kind.value for leak in caught.value.leaks] == ["answer"]
    answer = reverse("results:feedback_answer", kwargs={"request_id": request.public_id})
    page = client_for(bob).post(answer, {"text": leaking})
    assert page.status_code == 422
    assert "This reveals more than hint 0 should" in page.content.decode()
    client_for(bob).post(answer, {"text": leaking, "confirms": "on"})
    assert request.asked.get().leaks == ["secret answer 4711"]


def test_a_hint_is_given_once(version: SubmissionVersion, bob: User) -> None:
    asked = opened(version).asked.get()
    feedback.rung_give(asked=asked, text="First.", by=bob)
    with pytest.raises(FeedbackRefused, match="meanwhile"):
        feedback.rung_give(asked=asked, text="Second.", by=bob)


def test_a_coach_sees_that_a_student_argues_back(
    problem: ContestProblem, version: SubmissionVersion, bob: User, charlie: User, client_for: ClientFor
) -> None:
    request = opened(version)
    given(request, 0, bob)
    url = reverse("results:feedback_ask", kwargs={"request_id": request.public_id, "level": 1})
    client_for(charlie).post(url, {"tried": "Step 2 uses $p>2$, which is assumed.", "argues": "on"})
    queue = client_for(bob).get(reverse("results:feedback_queue", kwargs={"contest_id": problem.contest.public_id}))
    assert "argues back" in queue.content.decode()


def test_a_request_is_closed_to_other_users(
    version: SubmissionVersion, bob: User, alice: User, dana: User, client_for: ClientFor
) -> None:
    request = opened(version)
    ask = reverse("results:feedback_ask", kwargs={"request_id": request.public_id, "level": 1})
    answer = reverse("results:feedback_answer", kwargs={"request_id": request.public_id})
    for stranger in (alice, dana):
        assert client_for(stranger).post(ask, {"tried": "x"}).status_code == 404
        assert client_for(stranger).get(answer).status_code == 404
    assert client_for(bob).post(ask, {"tried": "x"}).status_code == 404


def test_a_coach_saves_the_rules_on_the_page(problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor) -> None:
    url = reverse("results:feedback_rules", kwargs={"problem_id": problem.public_id})
    values = {"is_on": "on", "highest": 6, "budget": 3, "first_wait": 1, "later_wait": 2}
    client_for(bob).post(url, values)
    assert feedback.rules_of(problem).rules == Rules(highest=6, budget=3, first_wait=1, later_wait=2)
    client_for(bob).post(url, {**values, "highest": 9})
    assert feedback.rules_of(problem).highest == 6
    assert client_for(charlie).post(url, values).status_code == 404


@pytest.mark.parametrize("slot", [Slot.REMARK, Slot.CALIBRATION, Slot.AGAIN, Slot.SECOND])
def test_further_marking_of_a_released_text_does_not_block_hints(bob: User, charlie: User, slot: Slot) -> None:
    problem = marked(bob, charlie, scripts=0)
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(), by=bob)
    version = version_of(problem, charlie)
    assert "marked" in feedback.request_refusal(version), "before the release"
    batch = released(problem.contest, bob)
    MarkingTask.objects.create(case=case_of(problem, charlie), slot=slot, assignee=marker("eve"))
    assert feedback.request_refusal(version) == ""
    batch_undo(batch=batch, by=bob)
    assert "marked" in feedback.request_refusal(version), "after the release was undone"
