"""AlphaApollo with the option `earlier_lemmas`: what its prompts say, what is searched, and what is recorded."""

import json

import pytest

from apps.reasoning.domain.agent_events import TurnTaken
from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.generation import ToolProtocol
from apps.reasoning.domain.tools import LemmaOrigin, LemmaScope
from apps.reasoning.scaffolds.alpha_apollo.params import Params
from tests.reasoning.agents import Table, ask, called, follows, printed
from tests.reasoning.play import Answer, Played, play

ORIGIN = LemmaOrigin(run="8f0c", lemma="s0.2", name="Lemma 2 of run 8f0c on “Squares”", verdict="verified by 3 of 4 votes")
STATEMENT = "For every odd integer $a$ we have $8 \\mid a^2 - 1$."
HIT = {"library": "lemmas", "name": ORIGIN.name, "text": STATEMENT, "score": 2.0, "origin": ORIGIN.model_dump()}
QUESTION = ask("odd squares modulo 8", "lemmas")


async def _play(table: Table, scope: LemmaScope = "topic", tools: ToolProtocol = "text") -> Played:
    params = Params(mode="reasoning", turns=3, earlier_lemmas=scope)
    found = {"*/search": printed(json.dumps({"hits": [HIT]})), **table}
    return await play(follows(found), params, scaffold="alpha_apollo", tools=tools)


def _first(run: Played) -> TurnTaken:
    return next(event for event in run.of("turn.taken") if isinstance(event, TurnTaken))


def _searched(run: Played) -> dict[str, object]:
    request = next(request for request in run.dispatcher.requests if request.job == "search")
    found: dict[str, object] = json.loads(request.messages[0].content)
    return found


@pytest.mark.parametrize("scope", ["topic", "problem"])
async def test_the_question_is_searched_as_written_with_the_scope_of_the_run(scope: LemmaScope) -> None:
    run = await _play({"solve/c1.1/turn/1": QUESTION}, scope)
    assert _searched(run) == {"query": "odd squares modulo 8", "library": "lemmas", "top": 4, "scope": scope}
    assert {request.role for request in run.dispatcher.requests if request.job == "generate"} == {"solver"}


async def test_the_model_reads_statement_verdict_and_origin_and_the_turn_records_the_origin() -> None:
    run = await _play({"solve/c1.1/turn/1": QUESTION})
    shown = f"{ORIGIN.name} [lemmas; verified by 3 of 4 votes]\n{STATEMENT}"
    assert shown in run.dispatcher.prompt("solve/c1.1/turn/2")
    lookup = _first(run).lookup
    assert lookup is not None
    assert (lookup.library, lookup.lemmas, lookup.sources) == ("lemmas", (ORIGIN,), (ORIGIN.name,))
    assert run.outcome.proof


@pytest.mark.parametrize(
    ("answer", "said"),
    [(printed('{"hits": []}'), "Nothing was found"), (RequestRejected("This run has no owner."), "This run has no owner.")],
)
async def test_a_search_without_a_result_says_so_and_the_run_continues(answer: Answer, said: str) -> None:
    run = await _play({"solve/c1.1/turn/1": QUESTION, "*/search": answer})
    assert said in run.dispatcher.prompt("solve/c1.1/turn/2")
    assert run.outcome.proof


@pytest.mark.parametrize("tools", ["text", "native"])
async def test_only_prompts_of_a_run_with_the_option_name_the_lemmas(tools: ToolProtocol) -> None:
    question = QUESTION if tools == "text" else called("local_rag", {"library": "lemmas", "query": "odd squares"})
    on, off = [await _play({"solve/c1.1/turn/1": question}, scope, tools) for scope in ("topic", "none")]
    assert "With the library `lemmas`" in on.dispatcher.prompt("solve/c1.1/turn/1")
    assert "With the library `lemmas`" not in off.dispatcher.prompt("solve/c1.1/turn/1")
    offered = ["lemmas" in str(run.dispatcher.requests[0].tools[1].parameters) for run in (on, off) if tools == "native"]
    assert offered == ([True, False] if tools == "native" else [])
    assert (_searched(on)["library"], _searched(off)["library"]) == ("lemmas", ""), "without it, the name means nothing"
    assert "scope" not in _searched(off), "answers recorded before this option still fit"


async def test_other_libraries_are_searched_as_before() -> None:
    run = await _play({"solve/c1.1/turn/1": ask(), "*/search": printed('{"hits": []}')})
    assert (_searched(run)["library"], _searched(run)["query"]) == ("sympy", "solve a polynomial equation")
    lookup = _first(run).lookup
    assert lookup is not None
    assert "lemmas" not in lookup.model_dump()
