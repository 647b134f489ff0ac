"""Hints proposed by a model: coaches approve, change or decline each one before a student sees it."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import User
from apps.contests.models import ContestProblem, ContestState
from apps.marks.models import AuditEvent
from apps.reasoning.domain.errors import BackendUnavailable
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.feedback.ladder import Rules
from apps.reasoning.inference.aliases import Alias, parse_aliases
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import Faults, ScriptedBackend
from apps.reasoning.ports import Dispatcher
from apps.results import feedback, proposing
from apps.results.models import FeedbackRequest, HintProposal, RungAsked
from apps.results.proposals import ProposalRefused, proposal_again
from tests.contests.factory import enter, hand_in, make_contest
from tests.problems.factory import SECRET

ClientFor = Callable[[User | None], Client]
MODELS = """
[tutor]
backend = "openai_http"
title = "The tutor"
model = "m"
base_url = "http://localhost:1/v1"

[second]
backend = "openai_http"
title = "The second"
model = "m"
base_url = "http://localhost:1/v1"
"""
GOOD = "Which primes did step 2 look at?"
LONG_SOLUTION = f"{SECRET} of the equation in order to see a contradiction with its size."


@pytest.fixture(autouse=True)
def _no_formula_check(settings: Settings) -> None:
    settings.MARKING_GRADERS = []


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    """Create a problem of an open contest with hints proposed by a model."""
    problem = make_contest(bob, state=ContestState.OPEN).problems.get()
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(highest=7), by=bob, writer="tutor")
    return problem


@pytest.fixture
def request_asked(problem: ContestProblem, charlie: User) -> FeedbackRequest:
    version = hand_in(*enter(problem.contest, charlie))
    return feedback.request_open(version=version, track="repair", words="Is step 2 right?")


def models() -> dict[str, Alias]:
    return parse_aliases(MODELS)


def worked(answer: Callable[[GenerationRequest], str] | str, faults: Faults | None = None) -> int:
    """Run the orchestrator with a scripted model and return the number of tasks."""

    @asynccontextmanager
    async def scripted(_run: str, aliases: Sequence[Alias]) -> AsyncIterator[Dispatcher]:
        backend = ScriptedBackend(answer if callable(answer) else lambda _: answer, faults=faults)
        yield LocalDispatcher({alias.name: backend for alias in aliases})

    return proposing.proposals_work(scripted, models)


def page_of(request: FeedbackRequest) -> str:
    return reverse("results:feedback_answer", kwargs={"request_id": request.public_id})


def command(request: FeedbackRequest, verb: str) -> str:
    return reverse("results:feedback_proposal", kwargs={"request_id": request.public_id, "verb": verb})


def own_page(request: FeedbackRequest, client: Client) -> str:
    return client.get(reverse("results:feedback_own", kwargs={"version_id": request.version.public_id})).content.decode()


def test_a_proposal_waits_for_a_coach_and_is_labelled(
    problem: ContestProblem, request_asked: FeedbackRequest, bob: User, charlie: User, client_for: ClientFor
) -> None:
    assert "is writing a proposal" in client_for(bob).get(page_of(request_asked)).content.decode()
    assert worked(f"<hint>{GOOD}</hint>") == 1
    assert GOOD not in own_page(request_asked, client_for(charlie))
    queue = client_for(bob).get(reverse("results:feedback_queue", kwargs={"contest_id": problem.contest.public_id}))
    assert "proposal to approve" in queue.content.decode()
    page = client_for(bob).get(page_of(request_asked)).content.decode()
    assert GOOD in page
    assert "Approve and give" in page
    proposal = HintProposal.objects.get()
    client_for(bob).post(page_of(request_asked), {"text": GOOD, "proposal": str(proposal.public_id)})
    own = own_page(request_asked, client_for(charlie))
    assert GOOD in own
    assert "Written by AI, read and approved by a coach" in own
    proposal.refresh_from_db()
    assert (proposal.state, proposal.calls) == ("given", 1)
    assert AuditEvent.objects.get(verb="feedback.given").body["origin"] == "model"


def test_changed_proposals_and_hints_by_coaches_have_their_own_labels(
    request_asked: FeedbackRequest, bob: User, charlie: User, client_for: ClientFor
) -> None:
    worked(f"<hint>{GOOD}</hint>")
    proposal = HintProposal.objects.get()
    client_for(bob).post(page_of(request_asked), {"text": f"{GOOD} Only one?", "proposal": str(proposal.public_id)})
    assert request_asked.asked.get().origin == "changed"
    assert "Written by AI, changed by a coach" in own_page(request_asked, client_for(charlie))
    RungAsked.objects.update(given_at=timezone.now() - timedelta(hours=1))
    asked = feedback.rung_ask(request=request_asked, level=1, tried="I tried.")
    worked(f"<hint>{GOOD}</hint>")
    client_for(bob).post(page_of(request_asked), {"text": "My own words."})
    asked.refresh_from_db()
    assert asked.origin == "coach", "the editor was empty when the coach began"
    assert asked.proposal.state == "declined"


def test_a_declined_proposal_leaves_the_coach_an_empty_editor(
    request_asked: FeedbackRequest, bob: User, charlie: User, client_for: ClientFor
) -> None:
    worked(f"<hint>{GOOD}</hint>")
    client_for(bob).post(command(request_asked, "decline"))
    page = client_for(bob).get(page_of(request_asked)).content.decode()
    assert GOOD not in page
    assert "Request another proposal" in page
    assert AuditEvent.objects.filter(verb="feedback.declined").count() == 1
    client_for(bob).post(command(request_asked, "again"))
    worked("<hint>Look at step 2 again.</hint>")
    assert "Look at step 2 again." in client_for(bob).get(page_of(request_asked)).content.decode()
    assert "Look at step 2 again." not in own_page(request_asked, client_for(charlie))


def test_a_leaking_proposal_is_retried_a_level_lower_or_left_to_the_coach(
    request_asked: FeedbackRequest, bob: User, charlie: User, client_for: ClientFor
) -> None:
    problem = request_asked.version.submission.problem.problem
    problem.reference_solutions.update(text=LONG_SOLUTION)
    worked(f"<hint>{LONG_SOLUTION}</hint>")
    proposal = HintProposal.objects.get()
    assert (proposal.state, proposal.text) == ("failed", "")
    assert "reveals too much" in proposal.reason
    assert "reveals too much" in client_for(bob).get(page_of(request_asked)).content.decode()
    assert "reveals too much" not in own_page(request_asked, client_for(charlie))
    feedback.rung_give(asked=request_asked.asked.get(), text="First.", by=bob)
    RungAsked.objects.update(given_at=timezone.now() - timedelta(hours=1))
    feedback.rung_ask(request=request_asked, level=1, tried="I tried.")
    worked(lambda request: f"<hint>{LONG_SOLUTION if request.key == '1/hint' else GOOD}</hint>")
    proposal = HintProposal.objects.get(rung__level=1)
    assert (proposal.state, proposal.level, proposal.text) == ("ready", 0, GOOD)
    assert (
        "for hint 0, because its text for hint 1 revealed too much"
        in client_for(bob).get(page_of(request_asked)).content.decode()
    )


@pytest.mark.parametrize(
    ("answer", "faults", "reason"),
    [
        ("Something without tags.", None, "cannot be read"),
        ("<no-hint>It is empty.</no-hint>", None, "declined to write a hint"),
        ("", Faults(fail={1: BackendUnavailable()}), "cannot be reached"),
    ],
)
def test_a_failed_proposal_is_left_to_the_coach(
    request_asked: FeedbackRequest, bob: User, client_for: ClientFor, answer: str, faults: Faults | None, reason: str
) -> None:
    worked(answer, faults)
    page = client_for(bob).get(page_of(request_asked)).content.decode()
    assert "proposed nothing" in page
    assert reason in page
    client_for(bob).post(page_of(request_asked), {"text": "A coach's."})
    assert request_asked.asked.get().origin == "coach"


def test_an_empty_answer_ends_the_proposal(
    request_asked: FeedbackRequest, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HINT_WITHIN_S = 0.05
    stopped: list[str] = []
    monkeypatch.setattr(proposing, "stop_calls", stopped.append)
    worked("<hint>x</hint>", Faults(hang=frozenset({1})))
    proposal = HintProposal.objects.get()
    assert proposal.state == "failed"
    assert "took longer" in proposal.reason or "Nothing came back" in proposal.reason


def test_a_missing_model_is_named(request_asked: FeedbackRequest) -> None:
    HintProposal.objects.update(writer="removed")
    assert worked("never asked") == 0
    assert "no model removed" in HintProposal.objects.get().reason


def test_no_hint_is_proposed_without_a_model(bob: User, charlie: User) -> None:
    contest = make_contest(bob, state=ContestState.OPEN)
    problem = contest.problems.get()
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(), by=bob)
    asked = feedback.request_open(version=hand_in(*enter(contest, charlie)), track="stuck", words="").asked.get()
    assert not HintProposal.objects.exists()
    with pytest.raises(ProposalRefused, match="No model"):
        proposal_again(rung=asked, rules=feedback.rules_of(problem), by=bob)


def test_rungs_close_to_the_solution_are_for_coaches(
    request_asked: FeedbackRequest, problem: ContestProblem, bob: User
) -> None:
    for level in range(6):
        asked = request_asked.asked.filter(level=level).first() or feedback.rung_ask(
            request=request_asked, level=level, tried="x"
        )
        feedback.rung_give(asked=asked, text=f"Hint {level}.", by=bob, confirms=True)
        RungAsked.objects.update(given_at=timezone.now() - timedelta(hours=1))
    asked = feedback.rung_ask(request=request_asked, level=6, tried="x")
    assert not HintProposal.objects.filter(rung=asked).exists()
    with pytest.raises(ProposalRefused, match="coaches only"):
        proposal_again(rung=asked, rules=feedback.rules_of(problem), by=bob)


def test_no_proposal_is_written_for_a_hint_that_was_given(request_asked: FeedbackRequest, bob: User) -> None:
    feedback.rung_give(asked=request_asked.asked.get(), text="First.", by=bob)
    assert worked("never asked") == 0
    assert HintProposal.objects.get().state == "declined"


def test_two_workers_write_a_proposal_once(request_asked: FeedbackRequest) -> None:
    HintProposal.objects.update(state="running", started_at=timezone.now())
    assert worked("never asked") == 0
    HintProposal.objects.update(started_at=timezone.now() - timedelta(hours=1))
    assert worked(f"<hint>{GOOD}</hint>") == 1, "the first worker died"


def test_only_coaches_of_the_contest_reach_a_proposal(
    request_asked: FeedbackRequest, alice: User, charlie: User, dana: User, client_for: ClientFor
) -> None:
    worked(f"<hint>{GOOD}</hint>")
    for person in (alice, charlie, dana):
        assert client_for(person).post(command(request_asked, "decline")).status_code == 404
    assert HintProposal.objects.get().state == "ready"


def test_an_unknown_command_is_404(request_asked: FeedbackRequest, bob: User, client_for: ClientFor) -> None:
    assert client_for(bob).post(command(request_asked, "publish")).status_code == 404


def test_a_coach_chooses_the_models_on_the_page(
    problem: ContestProblem, bob: User, client_for: ClientFor, settings: Settings, tmp_path: Path
) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)
    url = reverse("results:feedback_rules", kwargs={"problem_id": problem.public_id})
    values = {"is_on": "on", "highest": 4, "budget": 3, "first_wait": 1, "later_wait": 2}
    client_for(bob).post(url, {**values, "writer": "tutor", "guesser": "second"})
    rules = feedback.rules_of(problem)
    assert (rules.writer, rules.guesser) == ("tutor", "second")
    client_for(bob).post(url, {**values, "writer": "unknown"})
    assert feedback.rules_of(problem).writer == "tutor"
    client_for(bob).post(url, values)
    assert feedback.rules_of(problem).writer == ""
    queue = reverse("results:feedback_queue", kwargs={"contest_id": problem.contest.public_id})
    assert "The tutor" in client_for(bob).get(queue).content.decode()
    settings.MODELS_FILE.write_text("broken = ")
    assert client_for(bob).get(queue).status_code == 200
