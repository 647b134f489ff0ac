"""What the page of AlphaApollo shows: turns with code and responses, repairs, the memory, and how tool calls fared."""

import contextlib
from collections.abc import AsyncIterator, Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.explorations.calls.tool_rates import tool_rate
from apps.explorations.candidates.solutions import solutions
from apps.explorations.replay import replay_page
from apps.reasoning.domain.events import CallFailed, Event
from apps.reasoning.domain.generation import GenerationRequest, Sampling
from apps.reasoning.domain.prompt_events import PromptRefused
from apps.reasoning.domain.tools import Execution
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.inference.scripted_tools import ScriptedTools
from apps.reasoning.ports import Dispatcher
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import RoleSpec
from apps.runs.journal.run_journal import RunJournal
from apps.runs.models import Run
from tests.explorations.factory import add_event
from tests.reasoning.agents import CHECKPOINTS, SUMMED, ask, python, report, solved
from tests.runs.driving import drive
from tests.runs.factory import make_run

pytestmark = pytest.mark.django_db(transaction=True)
SCAFFOLD = SCAFFOLDS["alpha_apollo"]
TEXTS = {
    "solve/c1.1/turn/1": python("```python\nprint(2+2)\n```"),
    "solve/c1.1/turn/2": ask(),
    "solve/c2.1/turn/1": "I like turtles.",
    "judge/c1.1/1/turn/1": report(0, "Step 1 is false."),
    "judge/c1.1/2/turn/1": report(0, "It does not follow."),
}


def _write(request: GenerationRequest) -> str:
    if request.role in ("abstractor", "summarizer"):
        return CHECKPOINTS if request.role == "abstractor" else SUMMED
    return TEXTS.get(request.key.removesuffix("/again")) or (report(1) if request.role == "evaluator" else solved(request))


def _run_it(request: GenerationRequest) -> Execution:
    return Execution(stdout='{"hits": []}' if request.job == "search" else "4\n")


@contextlib.asynccontextmanager
async def _dispatcher(run: Run, journal: RunJournal) -> AsyncIterator[Dispatcher]:
    yield LocalDispatcher({"scripted": ScriptedBackend(_write), "sandbox": ScriptedTools(_run_it)})


def played() -> Run:
    run = make_run(
        scaffold="alpha_apollo",
        preset="quick",
        params=SCAFFOLD.presets["quick"].params.model_dump(mode="json"),
        roles={role.name: RoleSpec(alias="scripted", sampling=Sampling()) for role in SCAFFOLD.roles},
        prompt_hashes=SCAFFOLD.prompts,
    )
    assert drive(run, _dispatcher) == "finished"
    run.refresh_from_db()
    return run


@pytest.mark.parametrize("failed", [CallFailed, PromptRefused])
def test_a_turn_whose_call_failed_or_was_not_made_says_why_and_ends_its_conversation(failed: type[Event]) -> None:
    run = played()
    talk = solutions(run).rounds[0].talks[0]
    before, reason = len(talk.turns), "The prompt has 2091 tokens; the context holds 2048."
    asked_for = {"call": f"{talk.id}/turn/{before + 1}", "role": "solver", "reason": reason}
    add_event(run, "failed", failed(**{name: asked_for[name] for name in asked_for if name in failed.model_fields}))
    talk = solutions(run).rounds[0].talks[0]
    assert len(talk.turns) == before + 1
    assert talk.is_over
    assert (talk.turns[-1].word, talk.turns[-1].problem) == ("failed", reason.rstrip("."))


def test_the_fold_knows_turns_repairs_and_the_success_of_tool_calls() -> None:
    found = solutions(played())
    talk = found.rounds[0].talks[0]
    assert [(turn.action, turn.succeeded) for turn in talk.turns] == [
        ("python_code", True),
        ("local_rag", True),
        ("answer", None),
    ]
    assert talk.turns[0].repairs == ("took the code out of its Markdown fence",)
    assert talk.is_over
    assert (found.agents.worked, found.agents.wanted) == (2, 3)
    assert found.agents.rate == pytest.approx(66.67, abs=0.01)


def test_the_fold_knows_what_is_remembered_of_each_solution() -> None:
    found = solutions(played())
    first, second = found.rounds[0].solutions[0], found.rounds[1].solutions[0]
    assert first.memory is not None
    assert (first.remembered, first.memory.judgement) == ("judged incorrect, 0 of 2", "All agree.")
    assert second.remembered == "judged correct, 4 of 4"
    assert [talk.title for talk in second.talks] == ["Evaluator 1", "Evaluator 2", "Evaluator 3", "Evaluator 4"]
    assert second.parents == ("c1.1",)


def test_the_page_shows_code_response_repairs_and_memory(client_for: Callable[[User | None], Client], alice: User) -> None:
    run = played()
    page = client_for(alice).get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    for words in (
        "print(2+2)",
        "Repaired before it ran: took the code out of its Markdown fence.",
        "Memory entry",
        "judged incorrect, 0 of 2",
        "2 of 3</strong> worked",
        "67 %",
        "There is no action",
        "nothing found",
    ):
        assert words in page, words


def test_a_replay_receives_turns_tools_and_memories() -> None:
    events = replay_page(played())["events"]
    by_kind = {kind: body for _, _, kind, body in reversed(events)}
    assert by_kind["turn.taken"] == {"conversation": "solve/c1.1", "turn": 1, "succeeded": True, "mended": True}
    assert by_kind["memory.stored"] == {"candidate": "c1.1", "correct": False, "ayes": 0, "valid": 2}
    assert by_kind["tool.began"]["call"] == by_kind["tool.ended"]["call"]
    assert {False} <= {body.get("succeeded") for _, _, kind, body in events if kind == "turn.taken"}


def test_a_tool_call_has_a_page_with_what_was_run_and_what_it_printed(
    client_for: Callable[[User | None], Client], alice: User
) -> None:
    run = played()
    address = reverse("explorations:call", args=[run.public_id, "solve/c1.1/turn/1/python"])
    page = client_for(alice).get(address).content.decode()
    assert "Tool call" in page
    assert "print(2+2)" in page
    assert "succeeded" in page
    missing = reverse("explorations:call", args=[run.public_id, "solve/c1.1/turn/9/python"])
    assert client_for(alice).get(missing).status_code == 404


def test_tool_calls_are_in_no_budget_and_no_count_of_calls() -> None:
    run = played()
    assert run.steps.filter(kind="tool", role__in=("python", "search")).count() == 2
    assert run.calls == run.steps.filter(kind="call").count()


def test_the_list_of_runs_shows_the_rate_over_the_listed_runs(client_for: Callable[[User | None], Client], alice: User) -> None:
    make_run()
    address = reverse("explorations:run_list")
    assert "Tool calls" not in client_for(alice).get(address).content.decode()
    played()
    played()
    rate = tool_rate(Run.objects.all())
    assert rate is not None
    assert (rate.worked, rate.wanted, rate.runs) == (4, 6, 2)
    assert "Tool calls: 4 of 6 worked (67 %) in the newest 2 runs with tools" in client_for(alice).get(address).content.decode()
    assert "Tool calls" not in client_for(alice).get(address, {"scaffold": "rsa"}).content.decode()


def test_other_scaffolds_have_no_conversations() -> None:
    run = make_run()
    assert solutions(run).agents.rate is None
