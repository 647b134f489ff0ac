"""Hints discuss a text: none is given while the text is marked, and its markers read none."""

from collections.abc import Callable

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.agreement.sources.judgements import reveals_of
from apps.contests.models import Contest, ContestProblem, ContestState
from apps.contests.services import contest_move
from apps.marks.coordination.comparing import fresh_people
from apps.marks.models import EarlyReveal, MarkingCase, MarkingTask, Reveal, RevealKind, Slot
from apps.marks.setups import cases_prepare
from apps.marks.workspace.claims import task_next
from apps.reasoning.feedback.ladder import Rules
from apps.results import feedback
from apps.results.feedback import FeedbackRefused
from apps.results.models import FeedbackRequest, HintProposal
from apps.results.proposals import ProposalRefused, proposal_again
from apps.submissions.models import SubmissionVersion
from tests.contests.factory import moved
from tests.marks.factory import claimed, past_grace, problem_to_mark, sealed
from tests.results.factory import marked, released, version_of
from tests.results.hinted import hinted

ClientFor = Callable[[User | None], Client]
GIVEN, PROPOSED = "Colleagueword of a hint.", "Modelword of a proposal."


@pytest.fixture
def problem(bob: User, dana: User) -> ContestProblem:
    """Create a problem that Bob organises, with Bob and Dana as markers and one unmarked text."""
    problem = problem_to_mark(bob, dana, scripts=1)
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(), by=bob, writer="tutor")
    return problem


def text_of(problem: ContestProblem) -> SubmissionVersion:
    return SubmissionVersion.objects.get(submission__problem=problem)


def reopened(contest: Contest) -> None:
    contest.refresh_from_db()
    contest_move(contest=contest, verb="reopen", based_on=contest.row_version)


def page_of(request: FeedbackRequest) -> str:
    return reverse("results:feedback_answer", args=[request.public_id])


def queue_of(problem: ContestProblem) -> str:
    return reverse("results:feedback_queue", args=[problem.contest.public_id])


def test_no_hint_is_given_proposed_or_listed_while_a_text_is_marked(
    problem: ContestProblem, bob: User, client_for: ClientFor
) -> None:
    request = hinted(text_of(problem), bob, GIVEN, PROPOSED)
    asked, client = request.asked.get(level=1), client_for(bob)
    with pytest.raises(FeedbackRefused, match="being marked"):
        feedback.rung_give(asked=asked, text="Look again.", by=bob)
    with pytest.raises(ProposalRefused, match="being marked"):
        proposal_again(rung=asked, rules=feedback.rules_of(problem), by=bob)
    assert page_of(request) not in client.get(queue_of(problem)).content.decode()
    page = client.get(page_of(request)).content.decode()
    assert "This text is being marked" in page
    assert PROPOSED not in page
    assert "Give the hint" not in page
    assert client.post(page_of(request), {"text": "Look again."}).status_code == 422
    asked.refresh_from_db()
    assert asked.given_at is None
    assert HintProposal.objects.get().text == PROPOSED


def test_hints_continue_once_the_results_are_released(bob: User, charlie: User, client_for: ClientFor) -> None:
    problem = marked(bob, charlie, scripts=0)
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(), by=bob, writer="tutor")
    request = hinted(version_of(problem, charlie), bob, GIVEN, PROPOSED)
    released(problem.contest, bob)
    assert page_of(request) in client_for(bob).get(queue_of(problem)).content.decode()
    assert PROPOSED in client_for(bob).get(page_of(request)).content.decode()
    client_for(bob).post(page_of(request), {"text": "Look again."})
    assert request.asked.get(level=1).text == "Look again."


@pytest.mark.parametrize("is_open_again", [False, True])
def test_a_marker_of_the_text_reads_no_hint_about_it(
    problem: ContestProblem, bob: User, dana: User, client_for: ClientFor, is_open_again: bool
) -> None:
    claimed(problem, dana)
    request = hinted(text_of(problem), bob, GIVEN, PROPOSED)
    if is_open_again:
        reopened(problem.contest)
    client = client_for(dana)
    assert client.get(page_of(request)).status_code == 404
    assert client.post(page_of(request), {"text": "Look again."}).status_code == 404
    assert client.post(reverse("results:feedback_proposal", args=[request.public_id, "decline"])).status_code == 404
    assert page_of(request) not in client.get(queue_of(problem)).content.decode()
    assert (page_of(request) in client_for(bob).get(queue_of(problem)).content.decode()) is is_open_again
    assert not Reveal.objects.filter(person=dana).exists()


def test_the_request_stays_closed_during_the_grace_time(
    problem: ContestProblem, bob: User, dana: User, client_for: ClientFor
) -> None:
    request = hinted(text_of(problem), bob, GIVEN)
    mark = sealed(claimed(problem, dana), dana)
    assert client_for(dana).get(page_of(request)).status_code == 404
    past_grace(mark)
    assert client_for(dana).get(page_of(request)).status_code == 200


def test_a_reader_of_a_colleagues_hint_does_not_get_the_text(
    problem: ContestProblem, bob: User, dana: User, client_for: ClientFor
) -> None:
    request = hinted(text_of(problem), bob, GIVEN)
    for person in (dana, dana, bob):
        assert GIVEN in client_for(person).get(page_of(request)).content.decode()
    shown = Reveal.objects.get()
    assert (shown.person, shown.kind, shown.case) == (dana, RevealKind.HINTS, MarkingTask.objects.get().case)
    assert task_next(problem, dana) is None
    assert task_next(problem, bob) is not None, "Bob read only his own words"


def test_a_reader_of_a_proposal_is_recorded_as_well(
    problem: ContestProblem, bob: User, dana: User, client_for: ClientFor
) -> None:
    request = hinted(text_of(problem), dana, GIVEN, PROPOSED)
    client_for(dana).get(page_of(request))
    assert not Reveal.objects.exists(), "the proposal is hidden while the text is marked"
    reopened(problem.contest)
    assert PROPOSED in client_for(dana).get(page_of(request)).content.decode()
    assert Reveal.objects.get().person == dana


@pytest.fixture
def early(problem: ContestProblem, bob: User) -> FeedbackRequest:
    """Return a request on a text that can still be replaced: the contest is open and nothing is marked."""
    request = hinted(text_of(problem), bob, GIVEN, PROPOSED)
    reopened(problem.contest)
    MarkingTask.objects.all().delete()
    text_of(problem).case.delete()
    return request


def test_a_hint_read_before_marking_is_in_the_ledger_once(
    problem: ContestProblem, early: FeedbackRequest, bob: User, dana: User, client_for: ClientFor
) -> None:
    for _ in range(2):
        assert PROPOSED in client_for(dana).get(page_of(early)).content.decode()
    kept = EarlyReveal.objects.get()
    assert (kept.person, kept.kind, kept.submission) == (dana, RevealKind.HINTS, text_of(problem).submission)
    assert not Reveal.objects.exists(), "there is no case yet"
    moved(problem.contest, ContestState.MARKING)
    cases_prepare(problem)
    case = text_of(problem).case
    ledger = client_for(bob).get(reverse("marks:case_ledger", args=[case.public_id])).content.decode()
    assert "before the text came to marking" in ledger
    assert "Dana" in ledger or dana.username in ledger
    assert task_next(problem, dana) is not None, "a coach with hints can still mark"
    assert not reveals_of(MarkingCase.objects.none())
    assert [kind for _, kind in reveals_of(MarkingCase.objects.all())[case.pk, dana.pk]] == [RevealKind.HINTS]


def test_reading_only_ones_own_hint_before_marking_is_not_recorded(
    problem: ContestProblem, early: FeedbackRequest, bob: User, client_for: ClientFor
) -> None:
    HintProposal.objects.all().delete()
    assert GIVEN in client_for(bob).get(page_of(early)).content.decode()
    assert not EarlyReveal.objects.exists()


def test_a_reader_before_marking_makes_no_fresh_mark(
    problem: ContestProblem, early: FeedbackRequest, dana: User, client_for: ClientFor
) -> None:
    client_for(dana).get(page_of(early))
    moved(problem.contest, ContestState.MARKING)
    cases_prepare(problem)
    MarkingTask.objects.update(slot=Slot.THIRD)
    assert not fresh_people(text_of(problem).case).filter(person=dana).exists()
    assert task_next(problem, dana) is None


def test_a_record_of_reading_before_marking_never_changes(early: FeedbackRequest, dana: User, client_for: ClientFor) -> None:
    client_for(dana).get(page_of(early))
    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        EarlyReveal.objects.update(trigger="something else")
    dana.delete()
    assert EarlyReveal.objects.get().person is None
