"""Models at their worst: no action ever, lemmas that rest on themselves, judges that agree to all, texts beyond a context.

Each leads to a clear event, and the run continues or ends with what it has. README.md here lists every such case and its tests.
"""

from collections.abc import Callable

import pytest

from apps.reasoning.domain.agent_events import TurnTaken
from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.events import CallFailed, EdgeAdded, OutputUnread
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds import reasoning_cache
from apps.reasoning.scaffolds.alpha_apollo.params import Params as ApolloParams
from apps.reasoning.scaffolds.intern_s1_mo.params import Params as InternParams
from tests.reasoning.candidates import named
from tests.reasoning.play import FOLLOWS, Answer, lemma, play
from tests.reasoning.plays import Table, plays_of

CONTEXT = 60_000
"""Characters that a prompt may have here."""


async def test_a_model_that_never_acts_is_informed_every_turn_and_none_of_its_tool_calls_counts_as_successful() -> None:
    run = await play({"*": "I like turtles."}, ApolloParams(rounds=2, turns=3), scaffold="alpha_apollo")
    turns = [event for event in run.of("turn.taken") if isinstance(event, TurnTaken)]
    assert [(turn.turn, turn.succeeded) for turn in turns] == [(1, False), (2, False), (3, False)] * 2
    assert {turn.problem.split(":")[0] for turn in turns} == {"there is no action"}
    assert run.outcome.ended_by == "nothing-readable"
    assert not run.of("tool.began")


async def test_a_lemma_that_depends_on_itself_has_no_edge_to_itself_and_is_reported() -> None:
    table: Table = {"s0/r1/summarise": lemma(1, "First.", "By Lemma 1 itself.") + lemma(2, "Second.", "By Lemma 1.")} | FOLLOWS
    run = await play(table, InternParams(lemma_votes=1, proof_votes=1, rounds=2))
    edges = {(event.user, event.used) for event in run.of("edge.added") if isinstance(event, EdgeAdded)}
    assert ("s0.1", "s0.1") not in edges
    assert ("s0.2", "s0.1") in edges
    notes = [event.reason for event in run.of("output.unread") if isinstance(event, OutputUnread)]
    assert notes == ["s0.1, step 1: 'Lemma 1' would make the lemma rest on itself"]
    assert run.outcome.proof


async def test_a_lemma_that_says_what_it_proves_does_not_rest_on_itself() -> None:
    table: Table = {"s0/r1/summarise": lemma(1, "First.", "It is plain. This proves Lemma 1.")} | FOLLOWS
    run = await play(table, InternParams(lemma_votes=1, proof_votes=1, rounds=2))
    assert not run.of("output.unread") or all("rest on itself" not in str(event) for event in run.of("output.unread"))


JUDGED = {name: plays.yes for name in SCAFFOLDS if (plays := plays_of(name)).yes}


@pytest.mark.parametrize("method", sorted(JUDGED))
async def test_a_judge_that_always_says_yes_is_asked_as_often_as_the_rules_say(method: str) -> None:
    yes = JUDGED[method]
    run = await play(yes.table, yes.params, scaffold=method)
    prefix = yes.calls.removesuffix("*")
    assert len([key for key in run.dispatcher.keys if key.startswith(prefix)]) == yes.times
    assert run.outcome.proof
    assert run.outcome.accepted is yes.accepted


def _within_the_context(answer: Callable[[GenerationRequest], Answer]) -> Callable[[GenerationRequest], Answer]:
    """A model whose server refuses a longer prompt."""

    def answered(request: GenerationRequest) -> Answer:
        if sum(len(message.content) for message in request.messages) > CONTEXT:
            return RequestRejected("The prompt is longer than the context of scripted.")
        return answer(request)

    return answered


async def test_a_summary_longer_than_the_context_fails_the_calls_that_are_shown_it_and_leaves_what_there_is() -> None:
    endless = "Let $n$ be a number. " * 5_000
    table = {
        "s0/r1/reason": "<claim>partial</claim>",
        "s0/r[23]/summarise": "<no-lemmas/>",
        "s0/r1/summarise": lemma(1, "The sum is $S$.", "It is plain.")
        + lemma(2, f"We have $2S=n(n+1)$. {endless}", "By Lemma 1."),
    } | FOLLOWS
    bounded: Table = {
        key: _within_the_context(lambda _, text=answer: text)  # type: ignore[misc]
        for key, answer in table.items()
    }
    run = await play(bounded, InternParams(rounds=3, lemma_votes=2, proof_votes=2))
    failed = [event for event in run.of("call.failed") if isinstance(event, CallFailed)]
    assert failed
    assert all("longer than the context" in event.reason for event in failed)
    assert run.outcome.ended_by in {"exhausted", "nothing-readable", "accepted"}
    assert run.outcome.reason
    assert run.of("lemma.proposed")


async def test_a_state_longer_than_the_context_is_cut_before_anybody_is_shown_it() -> None:
    endless = "\n\n".join(f"Paragraph {number}. " + "We try again. " * 200 for number in range(200))
    table: Table = {
        "*/solve": _within_the_context(named),
        "*/summarise": _within_the_context(lambda _: f"<state>{endless}</state>"),
    }
    run = await play(table, reasoning_cache.Params(turns=3), scaffold="reasoning_cache")
    assert not run.of("call.failed")
    assert run.outcome.proof
