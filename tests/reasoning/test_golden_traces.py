"""The course of every scaffold call by call, in a small case that shows the rule by which it stops.

The rules are those of the papers (reasoning notes §1–§8). Keys of calls, in the order in which they are made.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.domain.values import Value
from apps.reasoning.scaffolds import (
    deepseek_math,
    grouped_agents,
    nomos,
    reasoning_cache,
    rsa,
    self_check,
    solver_verifier_corrector,
)
from apps.reasoning.scaffolds.alpha_apollo.params import Params as ApolloParams
from apps.reasoning.scaffolds.intern_s1_mo.params import Params as InternParams
from apps.reasoning.scaffolds.registry import SCAFFOLDS
from tests.reasoning.agents import follows, python, report
from tests.reasoning.candidates import FAIL, PASS, better, named, score
from tests.reasoning.play import FOLLOWS, Answer, lemma, play, proof, verdict

Table = Mapping[str, Answer | Callable[[GenerationRequest], Answer]]


@dataclass(frozen=True)
class Golden:
    """What is played, the calls it makes (`a/{1,2}` is two), and how it ends."""

    params: Value
    table: Table
    calls: str
    ended_by: str
    accepted: bool | None
    reason: str


GOLDEN: dict[str, Golden] = {
    # A claim whose lemmas hold ends the rounds before the third; the proof is revised until all votes pass.
    "intern_s1_mo": Golden(
        InternParams(rounds=3, lemma_votes=2, proof_votes=3, revisions=2),
        {
            "s0/r1/reason": "<claim>partial</claim>",
            "s0/r2/reason": "<claim>complete</claim>",
            "s0/r2/summarise": lemma(3, "Three.", "It is plain."),
            "final/check/1/1": verdict(2),
            "final/revise/*": proof("By Lemma 2 it holds.", "Divide."),
        }
        | FOLLOWS,
        """s0/r1/reason s0/r1/summarise s0/r1/verify/s0.1/{1,2} s0/r1/verify/s0.2/{1,2}
        s0/r2/reason s0/r2/summarise s0/r2/verify/s0.3/{1,2}
        final/write/1 final/check/1/{1,2,3} final/revise/1/1 final/check/2/{1,2,3}""",
        "accepted",
        True,
        "3 of 3 valid votes found no fault",
    ),
    # All turns are made, and nobody summarises after the last.
    "reasoning_cache": Golden(
        reasoning_cache.Params(turns=3),
        {"*/solve": named, "*": "<state>So far.</state>"},
        "turn/1/solve turn/1/summarise turn/2/solve turn/2/summarise turn/3/solve",
        "exhausted",
        None,
        "Nobody judged it",
    ),
    # One failure starts the streak of passes anew.
    "self_check": Golden(
        self_check.Params(accept=2, give_up=3, iterations=9),
        {"check/2": FAIL, "check/*": PASS, "*": named},
        "solve improve check/1 check/2 correct/1 check/3 check/4",
        "accepted",
        True,
        "2 checks in a row",
    ),
    # So many failures in a row end it, without a last correction.
    "solver_verifier_corrector": Golden(
        solver_verifier_corrector.Params(accept=2, give_up=3, corrections=4),
        {"check/*": FAIL, "*": named},
        "solve check/1 correct/1 check/2 correct/2 check/3",
        "exhausted",
        False,
        "3 checks in a row failed",
    ),
    # One drawn solution is examined, one report that objects is corrected, and so on to the fifth role.
    "grouped_agents": Golden(
        grouped_agents.Params(group=2, inputs=1),
        {"step/2/*/1": PASS, "step/[24]/*": FAIL, "*": named},
        "step/1/{1,2} step/2/c1.1/{1,2} step/3/1/{1,2} step/4/c2.2/{1,2} step/5/1/{1,2}",
        "exhausted",
        False,
        "1 of 2 verdicts on it found no fault",
    ),
    # The worst marked is not kept, the smaller group is out, the pair is judged in both orders.
    "nomos": Golden(
        nomos.Params(solutions=4, kept=3),
        {
            "solve/*": named,
            "mark/c1.2": score(1),
            "mark/*": score(5),
            "consolidate": '<group number="1">1, 2</group><group number="2">3</group><likeliest>1</likeliest>',
            "final/*": better("A"),
        },
        """solve/1 mark/c1.1 solve/2 mark/c1.2 solve/3 mark/c1.3 solve/4 mark/c1.4 consolidate
        final/1/c1.1-c1.3/{1,2}""",
        "exhausted",
        None,
        "won the knock-out in the group held most likely right (2 of 3",
    ),
    # T steps after the first population, then the knock-out in the last one.
    "rsa": Golden(
        rsa.Params(population=2, subset=2, steps=2),
        {"step/*": named, "final/*/1": better("A"), "final/*/2": better("B")},
        "step/0/{1,2} step/1/{1,2} step/2/{1,2} final/1/c3.1-c3.2/{1,2}",
        "exhausted",
        None,
        "among the 2 solutions of the last step",
    ),
    # A mean of 1 ends it, though two more rounds were allowed.
    "deepseek_math": Golden(
        deepseek_math.Params(proofs=2, examinations=2, rounds=4),
        {"round/*": named, "examine/c2.1/*": score(1), "examine/*": score(0.5)},
        """round/1/{1,2} examine/c1.1/{1,2} examine/c1.2/{1,2}
        round/2/{1,2} examine/c2.1/{1,2} examine/c2.2/{1,2}""",
        "accepted",
        True,
        "the mean of 2 examinations of c2.1 is 1.00",
    ),
    # A solution that the panel refuses is remembered; the next is passed by two panels, which ends the rounds.
    "alpha_apollo": Golden(
        ApolloParams(rounds=5, evaluators=2, turns=2),
        follows({"judge/c1.1/*": report(0), "solve/c1.1/turn/1": python("print(1)")}),
        """solve/c1.1/turn/1 solve/c1.1/turn/1/python solve/c1.1/turn/2 condense/c1.1 judge/c1.1/{1,2}/turn/1 sum-up/c1.1
        solve/c2.1/turn/1 condense/c2.1 judge/c2.1/{1,2,3,4}/turn/1 sum-up/c2.1""",
        "accepted",
        True,
        "4 of 4 evaluators found it correct, in two panels",
    ),
}

#: Rules by which a scaffold stops beside the one above.
OTHER_ENDS: dict[str, tuple[str, Golden]] = {
    "so many failures in a row": (
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
    "so many checks in all": (
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
    "so many passes in a row": (
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


def written_calls(written: str) -> list[str]:
    found: list[str] = []
    for key in written.split():
        before, opened, rest = key.partition("{")
        choices, _, after = rest.partition("}")
        found += [f"{before}{choice}{after}" for choice in choices.split(",")] if opened else [key]
    return found


def test_every_scaffold_has_its_trace() -> None:
    assert set(GOLDEN) == set(SCAFFOLDS)


@pytest.mark.parametrize("method", sorted(GOLDEN))
async def test_the_calls_of_a_small_case_are_these_and_no_others(method: str) -> None:
    golden = GOLDEN[method]
    run = await play(golden.table, golden.params, scaffold=method)
    assert run.dispatcher.keys == written_calls(golden.calls)
    assert (run.outcome.ended_by, run.outcome.accepted) == (golden.ended_by, golden.accepted)
    assert golden.reason in run.outcome.reason


@pytest.mark.parametrize("method", sorted(GOLDEN))
@pytest.mark.parametrize("seed", range(3))
async def test_in_whatever_order_calls_end_the_same_are_made(method: str, seed: int) -> None:
    golden = GOLDEN[method]
    run = await play(golden.table, golden.params, scaffold=method, shuffle=seed)
    assert sorted(run.dispatcher.keys) == sorted(written_calls(golden.calls))
    assert (run.outcome.ended_by, run.outcome.accepted) == (golden.ended_by, golden.accepted)


@pytest.mark.parametrize("rule", sorted(OTHER_ENDS))
async def test_a_search_of_checks_ends_by_each_of_its_rules(rule: str) -> None:
    method, golden = OTHER_ENDS[rule]
    run = await play(golden.table, golden.params, scaffold=method)
    assert run.dispatcher.keys == written_calls(golden.calls)
    assert (run.outcome.ended_by, run.outcome.accepted) == (golden.ended_by, golden.accepted)
    assert golden.reason in run.outcome.reason
