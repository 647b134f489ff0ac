"""What each scaffold makes of fails that stand in prose, of verdicts that disagree, and of checks that cannot be read.

Calls are written as in test_golden_traces.py. A fail always counts, and its prose is the report for the next writer.
"""

from dataclasses import fields
from typing import Any

import pytest

from apps.reasoning.domain.candidate_events import CandidateJudged
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds import grouped_agents, self_check, solver_verifier_corrector
from tests.reasoning.candidates import PASS, named
from tests.reasoning.play import play
from tests.reasoning.plays import PROSE_FAIL, UNREAD, WORDS, Shown, Verdicts, every_third_passes, plays_of

CHECKED = self_check.Params(accept=2, give_up=3, iterations=6)
#: Events by which a call judges a solution or a lemma.
JUDGEMENTS = ("candidate.judged", "candidate.scored", "pair.judged", "vote.cast")
PLAYS = {name: plays_of(name) for name in SCAFFOLDS}
TRACES: dict[str, tuple[str, Shown]] = {
    f"{one.name}: {method}": (method, getattr(plays.verdicts, one.name))
    for method, plays in PLAYS.items()
    for one in fields(Verdicts)
    if plays.verdicts
}


@pytest.mark.parametrize("method", sorted(PLAYS))
async def test_every_scaffold_that_judges_has_its_traces(method: str) -> None:
    plays = PLAYS[method]
    params, table = plays.course
    run = await play(table, params, scaffold=method, problem=plays.problem)
    judges = any(run.of(kind) for kind in JUDGEMENTS)
    assert judges == bool(plays.verdicts), "calls that judge need verdicts and yes in PLAYS, and only these do"
    assert judges == bool(plays.yes)


@pytest.mark.parametrize("name", sorted(TRACES))
async def test_verdicts_lead_to_these_calls_and_this_end(name: str) -> None:
    method, trace = TRACES[name]
    run = await play(trace.table, trace.params, scaffold=method, problem=PLAYS[method].problem)
    assert run.dispatcher.keys == trace.keys
    assert (run.outcome.ended_by, run.outcome.accepted) == (trace.ended_by, trace.accepted)
    assert trace.reason in run.outcome.reason
    if trace.to:
        assert WORDS in run.dispatcher.prompt(trace.to)


async def test_two_fails_of_three_are_never_accepted() -> None:
    """With the papers' own limits: these runs were once accepted, with 10 fails of 15 checks and with 8 of 12."""
    table: dict[str, Any] = {"check/*": every_third_passes, "*": named}
    checked = await play(table, self_check.Params(), scaffold="self_check")
    assert (checked.outcome.accepted, checked.dispatcher.keys[-1]) == (False, "check/30")
    conversed = await play(table, solver_verifier_corrector.Params(), scaffold="solver_verifier_corrector")
    assert (conversed.outcome.accepted, conversed.dispatcher.keys[-1]) == (False, "check/16")


async def test_the_streaks_of_every_check_are_published_and_an_unread_one_ends_both() -> None:
    table: dict[str, Any] = {
        "check/1": PASS,
        "check/2": UNREAD,
        "check/3": PROSE_FAIL,
        "check/4": UNREAD,
        "check/*": PASS,
        "*": named,
    }
    run = await play(table, CHECKED, scaffold="self_check")
    judged = [event for event in run.of("candidate.judged") if isinstance(event, CandidateJudged)]
    assert [(one.passed, one.passes, one.failures) for one in judged] == [
        (True, 1, 0), (None, 0, 0), (False, 0, 1), (None, 0, 0), (True, 1, 0), (True, 2, 0),
    ]  # fmt: skip
    assert [one.overruled for one in judged] == [False] * 6
    assert judged[1].unscored == "there is no decision"


async def test_a_verdict_read_in_part_of_a_group_hides_no_solution_that_all_of_a_group_passed() -> None:
    table: dict[str, Any] = {"step/2/c1.2/[2-4]": UNREAD, "step/2/*": PASS, "step/1/[34]": "nothing", "*": named}
    run = await play(table, grouped_agents.Params(group=4, inputs=2, steps=2), scaffold="grouped_agents")
    assert (run.outcome.accepted, run.outcome.reason) == (True, "Accepted: 4 of 4 verdicts on it found no fault.")
