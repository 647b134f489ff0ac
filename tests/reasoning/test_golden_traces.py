"""The course of every scaffold call by call, in a small case that shows the rule by which it stops.

The rules are those of the papers (reasoning notes §1–§8). Keys of calls, in the order in which they are made.
"""

import pytest

from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds import self_check, solver_verifier_corrector
from tests.reasoning.candidates import FAIL, PASS, named
from tests.reasoning.play import play
from tests.reasoning.plays import Golden, plays_of

GOLDEN = {name: plays_of(name) for name in SCAFFOLDS}

#: Other rules by which a scaffold stops.
OTHER_ENDS: dict[str, tuple[str, Golden]] = {
    "too many failures in a row": (
        "self_check",
        Golden(
            self_check.Params(accept=2, give_up=3, iterations=9),
            {"check/*": FAIL, "*": named},
            "solve improve check/1 correct/1 check/2 correct/2 check/3",
            "exhausted",
            False,
            "3 checks in a row failed",
        ),
    ),
    "enough checks in all": (
        "self_check",
        Golden(
            self_check.Params(accept=2, give_up=3, iterations=4, improve=False),
            {"check/2": FAIL, "check/4": FAIL, "check/*": PASS, "*": named},
            "solve check/1 check/2 correct/1 check/3 check/4",
            "exhausted",
            False,
            "4 checks",
        ),
    ),
    "enough passes in a row": (
        "solver_verifier_corrector",
        Golden(
            solver_verifier_corrector.Params(accept=2, give_up=3, corrections=4),
            {"check/1": FAIL, "check/*": PASS, "*": named},
            "solve check/1 correct/1 check/2 check/3",
            "accepted",
            True,
            "2 checks in a row",
        ),
    ),
}


@pytest.mark.parametrize("method", sorted(GOLDEN))
async def test_the_calls_of_a_small_case_are_these_and_no_others(method: str) -> None:
    golden = GOLDEN[method].golden
    run = await play(golden.table, golden.params, scaffold=method, problem=GOLDEN[method].problem)
    assert run.dispatcher.keys == golden.keys
    assert (run.outcome.ended_by, run.outcome.accepted) == (golden.ended_by, golden.accepted)
    assert golden.reason in run.outcome.reason


@pytest.mark.parametrize("method", sorted(GOLDEN))
@pytest.mark.parametrize("seed", range(3))
async def test_in_whatever_order_calls_end_the_same_are_made(method: str, seed: int) -> None:
    golden = GOLDEN[method].golden
    run = await play(golden.table, golden.params, scaffold=method, shuffle=seed, problem=GOLDEN[method].problem)
    assert sorted(run.dispatcher.keys) == sorted(golden.keys)
    assert (run.outcome.ended_by, run.outcome.accepted) == (golden.ended_by, golden.accepted)


@pytest.mark.parametrize("rule", sorted(OTHER_ENDS))
async def test_a_search_of_checks_ends_by_each_of_its_rules(rule: str) -> None:
    method, golden = OTHER_ENDS[rule]
    run = await play(golden.table, golden.params, scaffold=method)
    assert run.dispatcher.keys == golden.keys
    assert (run.outcome.ended_by, run.outcome.accepted) == (golden.ended_by, golden.accepted)
    assert golden.reason in run.outcome.reason
