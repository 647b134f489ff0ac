"""The fake engine's answers are well formed for every role, so that the benchmark makes every expected call."""

import pytest

from apps.reasoning.domain.events import LemmaMerged, OutputUnread, VerdictReached
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Sampling
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
from benchmarks.contest.contest import calls_expected
from benchmarks.contest.contest_engine import ContestEngine
from benchmarks.contest.contest_texts import reply

PARAMS = {"rollouts": 30, "rounds": 2, "lemma_votes": 4, "proof_votes": 4, "revisions": 2, "candidates": 2}


async def played() -> InMemoryJournal:
    scaffold = SCAFFOLDS["intern_s1_mo"]
    problem = ProblemText(id="contest", version=1, title="A contest", statement="Show that $1 + 1 = 2$.")
    roles = {role.name: RoleSpec(alias="contest", sampling=Sampling()) for role in scaffold.roles}
    spec = RunSpec(problem=problem, scaffold=scaffold.name, params=PARAMS, roles=roles, seed=1)
    journal = InMemoryJournal()
    context = RunContext(spec, journal, LocalDispatcher({"contest": ContestEngine(0.0001)}), NoControls(), backoff_s=0)
    outcome = await scaffold.solve(problem, context, scaffold.read_params(PARAMS))
    assert outcome.ended_by == "exhausted"
    return journal


async def test_every_call_is_made_and_every_answer_is_read() -> None:
    journal = await played()
    events = [event for _, _, event in journal.events]
    assert sum(record.kind == "call" for record in journal.records) == calls_expected(PARAMS)
    assert not [event for event in events if isinstance(event, OutputUnread)]
    verdicts = {event.status for event in events if isinstance(event, VerdictReached)}
    assert {"verified", "not accepted"} < verdicts
    assert any(isinstance(event, LemmaMerged) for event in events)


async def test_two_runs_have_the_same_texts() -> None:
    first, second = await played(), await played()
    assert {record.key: record.final and record.final.text for record in first.records} == {
        record.key: record.final and record.final.text for record in second.records
    }


async def test_the_pieces_of_an_answer_add_up_to_the_whole() -> None:
    request = GenerationRequest(run="r", key="s0/r1/summarise", role="summarizer", alias="contest", messages=())
    found = [item async for item in ContestEngine(0.001).generate(request)]
    final, deltas = found[-1], [item for item in found if isinstance(item, Delta)]
    assert isinstance(final, Final)
    assert "".join(delta.text for delta in deltas) == final.text
    assert "".join(delta.reasoning for delta in deltas) == final.reasoning


def test_an_unknown_role_is_an_error() -> None:
    with pytest.raises(KeyError, match="painter"):
        reply(GenerationRequest(run="r", key="s0/r1/paint", role="painter", alias="contest", messages=()))
