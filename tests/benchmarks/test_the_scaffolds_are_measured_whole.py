"""The texts of the scaffold benchmark follow every format, and no search ends early, so that it measures everything."""

import pytest

from apps.reasoning.domain.candidate_events import CandidateDrafted
from apps.reasoning.domain.events import OutputUnread
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from benchmarks.scaffold_texts import reply
from benchmarks.scaffolds import MEASURE, AtOnce, spec_of

#: Searches of pools and rounds make every call that their parameters allow. Others end by their own rules.
WHOLE = {"reasoning_cache", "rsa", "deepseek_math", "grouped_agents", "single_call", "majority_vote"}


def test_the_measure_comes_first() -> None:
    assert next(iter(SCAFFOLDS)) == MEASURE


@pytest.mark.parametrize("name", sorted(SCAFFOLDS))
async def test_every_answer_is_read_and_no_search_ends_early(name: str) -> None:
    journal, scaffold = InMemoryJournal(), SCAFFOLDS[name]
    params = scaffold.read_params(scaffold.measured_with)
    spec = spec_of(name)
    outcome = await scaffold.solve(spec.problem, RunContext(spec, journal, AtOnce(), NoControls()), params)
    events = [event for _, _, event in journal.events]
    assert not [event for event in events if isinstance(event, OutputUnread)]
    assert outcome.ended_by == "exhausted"
    assert outcome.proof
    estimate = scaffold.estimate(params)
    assert estimate.calls_min <= journal.spent.calls <= estimate.calls_max
    assert name not in WHOLE or journal.spent.calls == estimate.calls_max
    assert name == MEASURE or any(isinstance(event, CandidateDrafted) for event in events)


def test_an_answer_depends_only_on_its_key() -> None:
    first = reply("check/3", "verifier")
    reply.cache_clear()
    assert reply("check/3", "verifier") == first
    assert "<decision>fail</decision>" in first.text
    assert "<decision>pass</decision>" in reply("check/4", "verifier").text
