"""What each scaffold makes of fails that stand in prose, of verdicts that disagree, and of checks that cannot be read.

Calls are written as in test_golden_traces.py. A fail always counts, and its prose is the report of whoever writes next.
"""

from dataclasses import dataclass
from typing import Any

import pytest

from apps.reasoning.domain.candidate_events import CandidateJudged
from apps.reasoning.domain.values import Value
from apps.reasoning.scaffolds import deepseek_math, grouped_agents, nomos, rsa, self_check, solver_verifier_corrector
from apps.reasoning.scaffolds.alpha_apollo.params import Params as ApolloParams
from apps.reasoning.scaffolds.intern_s1_mo.params import Params as InternParams
from apps.reasoning.scaffolds.registry import SCAFFOLDS
from tests.reasoning.agents import follows, report
from tests.reasoning.candidates import PASS, better, decision, named, score
from tests.reasoning.play import FOLLOWS, play, proof, verdict
from tests.reasoning.test_golden_traces import Golden, written_calls

WORDS = "Step 1 assumes what is to be shown."
PROSE_FAIL = f"{WORDS}\n<decision>fail</decision>"
UNREAD = "I cannot say."
CHECKED = self_check.Params(accept=2, give_up=3, iterations=6)
CONVERSED = solver_verifier_corrector.Params(accept=2, give_up=2, corrections=4)
PROVED = InternParams(rounds=1, lemma_votes=1, proof_votes=3, revisions=1)
EXPLORED = "s0/r1/reason s0/r1/summarise s0/r1/verify/s0.1/1 s0/r1/verify/s0.2/1 final/write/1 final/check/1/{1,2,3}"
MARKED = """solve/1 mark/c1.1 solve/2 mark/c1.2 solve/3 mark/c1.3 consolidate final/1/c1.1-c1.3/{1,2}"""
ONE_GROUP = '<group number="1">1, 2</group><likeliest>1</likeliest>'
PAIRED = "step/0/{1,2} step/1/{1,2} final/1/c2.1-c2.2/{1,2}"

#: Scaffolds in which no call judges a solution.
JUDGES_NOTHING = {"reasoning_cache"}


@dataclass(frozen=True)
class Shown(Golden):
    """A trace in which the prompt of the call `to` holds the verifier's prose."""

    to: str = ""


def every_third_passes(request: Any) -> str:
    return PASS if int(request.key.rpartition("/")[2]) % 3 == 0 else PROSE_FAIL


def checks(
    params: Value, table: dict[str, Any], calls: str, ended_by: str, accepted: bool | None, reason: str, to: str = ""
) -> Shown:
    return Shown(params, {**table, "*": named}, calls, ended_by, accepted, reason, to)


PROSE_ONLY: dict[str, Shown] = {
    "self_check": checks(
        CHECKED, {"check/*": PROSE_FAIL}, "solve improve check/1 correct/1 check/2 correct/2 check/3",
        "exhausted", False, "3 checks in a row failed", to="correct/1",
    ),
    "solver_verifier_corrector": checks(
        CONVERSED, {"check/*": PROSE_FAIL}, "solve check/1 correct/1 check/2",
        "exhausted", False, "2 checks in a row failed", to="correct/1",
    ),
    "grouped_agents": checks(
        grouped_agents.Params(group=2, inputs=1, steps=4), {"step/[24]/*": PROSE_FAIL},
        "step/1/{1,2} step/2/c1.1/{1,2} step/3/1/{1,2} step/4/c2.2/{1,2}",
        "exhausted", False, "0 of 2 verdicts on it found no fault", to="step/3/1/1",
    ),
    "intern_s1_mo": Shown(
        PROVED, {"final/check/1/*": f"{WORDS}\n<verdict>1</verdict>", "final/revise/*": proof("Divide.")} | FOLLOWS,
        f"{EXPLORED} final/revise/1/1 final/check/2/{{1,2,3}}",
        "accepted", True, "3 of 3 valid votes", to="final/revise/1/1",
    ),
    "alpha_apollo": Shown(
        ApolloParams(rounds=1, evaluators=2, turns=1), follows({"judge/*": report(0, WORDS)}),
        "solve/c1.1/turn/1 condense/c1.1 judge/c1.1/{1,2}/turn/1 sum-up/c1.1",
        "exhausted", False, "0 of 2 evaluators found it correct", to="sum-up/c1.1",
    ),
    "deepseek_math": Shown(
        deepseek_math.Params(proofs=1, examinations=2, rounds=2),
        {"round/*": named, "examine/*": f"{WORDS}\n<score>0</score>"},
        "round/1/1 examine/c1.1/{1,2} round/2/1 examine/c2.1/{1,2}",
        "exhausted", False, "is 0.00", to="round/2/1",
    ),
    "nomos": Shown(
        nomos.Params(solutions=3, kept=2),
        {"solve/*": named, "mark/c1.2": f"{WORDS}\n<score>0</score>", "mark/*": score(5), "consolidate": ONE_GROUP,
         "final/*/1": better("A"), "final/*/2": better("B")},
        MARKED, "exhausted", None, "won the knock-out",
    ),
    "rsa": Shown(
        rsa.Params(population=2, subset=2, steps=1),
        {"step/*": named, "final/*/1": f"{WORDS}\n<better>B</better>", "final/*/2": f"{WORDS}\n<better>A</better>"},
        PAIRED, "exhausted", None, "won the knock-out",
    ),
}  # fmt: skip

MIXED: dict[str, Shown] = {
    "self_check": checks(
        CHECKED, {"check/*": every_third_passes},
        "solve improve check/1 correct/1 check/2 correct/2 check/3 check/4 correct/3 check/5 correct/4 check/6",
        "exhausted", False, "no streak was long enough; of all versions 1 of 6 checks passed it.",
    ),
    # A pass next to a gap is a fail as well.
    "solver_verifier_corrector": checks(
        CONVERSED, {"check/1": PASS, "check/*": decision("pass", ("gap", "Why is $n$ even?"))},
        "solve check/1 check/2 correct/1 check/3", "exhausted", False, "2 checks in a row failed",
    ),
    "grouped_agents": checks(
        grouped_agents.Params(group=8, inputs=1, steps=2), {"step/2/*/[1-4]": PROSE_FAIL, "step/2/*": PASS},
        "step/1/{1,2,3,4,5,6,7,8} step/2/c1.6/{1,2,3,4,5,6,7,8}",
        "exhausted", False, "Not accepted: 4 of 8 verdicts on it found no fault.",
    ),
    # A verdict that all steps hold, next to a step that its log calls unsound.
    "intern_s1_mo": Shown(
        PROVED, {"final/check/1/1": verdict(-1, 2, steps=2), "final/revise/*": proof("Divide.")} | FOLLOWS,
        f"{EXPLORED} final/revise/1/1 final/check/2/{{1,2,3}}", "accepted", True, "3 of 3 valid votes",
    ),
    "alpha_apollo": Shown(
        ApolloParams(rounds=1, evaluators=2, turns=1), follows({"judge/*/1/turn/*": report(0, WORDS)}),
        "solve/c1.1/turn/1 condense/c1.1 judge/c1.1/{1,2}/turn/1",
        "exhausted", None, "Undecided: 1 of 2 evaluators found it correct",
    ),
    "deepseek_math": Shown(
        deepseek_math.Params(proofs=1, examinations=2, rounds=1), {"round/*": named, "*/1": score(0), "*/2": score(1)},
        "round/1/1 examine/c1.1/{1,2}", "exhausted", False, "is 0.50",
    ),
    # Both orders name the one shown first: the marks decide.
    "nomos": Shown(
        nomos.Params(solutions=3, kept=2),
        {"solve/*": named, "mark/c1.1": score(6), "mark/c1.2": score(1), "mark/*": score(5), "consolidate": ONE_GROUP,
         "final/*": better("A")},
        MARKED, "exhausted", None, "c1.1 won the knock-out",
    ),
    "rsa": Shown(
        rsa.Params(population=2, subset=2, steps=1), {"step/*": named, "final/*": better("A")},
        PAIRED, "exhausted", None, "won the knock-out",
    ),
}  # fmt: skip

UNREAD_BETWEEN: dict[str, Shown] = {
    # Two passes, but not in a row.
    "self_check": checks(
        CHECKED, {"check/2": UNREAD, "check/*": PASS}, "solve improve check/1 check/2 check/2/again check/3 check/4",
        "accepted", True, "2 checks in a row",
    ),
    # Two fails, but not in a row; nothing is corrected from a check that could not be read.
    "solver_verifier_corrector": checks(
        CONVERSED, {"check/2": UNREAD, "check/*": PROSE_FAIL},
        "solve check/1 correct/1 check/2 check/2/again check/3 correct/2 check/4",
        "exhausted", False, "2 checks in a row failed; of all versions no check passed. 1 of 4 checks could not be read.",
    ),
    "grouped_agents": checks(
        grouped_agents.Params(group=4, inputs=1, steps=2), {"step/2/*/[2-4]": UNREAD, "step/2/*": PASS},
        "step/1/{1,2,3,4} step/2/c1.2/{1,2,2/again,3,3/again,4,4/again}", "exhausted", False,
        "Not accepted: 1 of 1 verdicts on it found no fault; 3 of 4 could not be read, and 2 are needed.",
    ),
    "intern_s1_mo": Shown(
        PROVED, {"final/check/1/2": UNREAD} | FOLLOWS, EXPLORED.replace("{1,2,3}", "{1,2,2/again,3}"),
        "exhausted", False, "2 of 2 valid votes found no fault, but 3 valid votes are needed",
    ),
    "alpha_apollo": Shown(
        ApolloParams(rounds=1, evaluators=2, turns=1), follows({"judge/*/1/turn/*": UNREAD}),
        "solve/c1.1/turn/1 condense/c1.1 judge/c1.1/1/turn/1{,/again} judge/c1.1/2/turn/1",
        "exhausted", None, "of 2 reports no more could be read",
    ),
    "deepseek_math": Shown(
        deepseek_math.Params(proofs=1, examinations=2, rounds=1), {"round/*": named, "*/1": UNREAD, "*/2": score(1)},
        "round/1/1 examine/c1.1/1{,/again} examine/c1.1/2", "exhausted", None, "only 1 of 2 count, and 2 are needed",
    ),
    # A solution without a mark comes last.
    "nomos": Shown(
        nomos.Params(solutions=3, kept=2),
        {"solve/*": named, "mark/c1.2": UNREAD, "mark/*": score(0), "consolidate": ONE_GROUP,
         "final/*/1": better("A"), "final/*/2": better("B")},
        MARKED.replace("mark/c1.2", "mark/c1.2 mark/c1.2/again"), "exhausted", None, "won the knock-out",
    ),
    "rsa": Shown(
        rsa.Params(population=2, subset=2, steps=1), {"step/*": named, "final/*/1": better("A"), "final/*/2": UNREAD},
        f"{PAIRED} final/1/c2.1-c2.2/2/again", "exhausted", None, "won the knock-out",
    ),
}  # fmt: skip
TRACES = {
    f"{name}: {method}": (method, trace)
    for name, traces in (("prose only", PROSE_ONLY), ("mixed", MIXED), ("unread between", UNREAD_BETWEEN))
    for method, trace in traces.items()
}


@pytest.mark.parametrize("traces", [PROSE_ONLY, MIXED, UNREAD_BETWEEN])
def test_every_scaffold_that_judges_has_its_trace(traces: dict[str, Shown]) -> None:
    assert {*traces} | JUDGES_NOTHING == {*SCAFFOLDS}


@pytest.mark.parametrize("name", sorted(TRACES))
async def test_verdicts_lead_to_these_calls_and_this_end(name: str) -> None:
    method, trace = TRACES[name]
    run = await play(trace.table, trace.params, scaffold=method)
    assert run.dispatcher.keys == written_calls(trace.calls)
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
