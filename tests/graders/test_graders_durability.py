"""Whatever interrupts a grader, and in whatever order calls end, it ends alike; its estimate is kept."""

from typing import Any

import pytest

from apps.reasoning.graders.registry import GRADERS, PREPARERS
from apps.reasoning.programs.registry import PROGRAMS, SCAFFOLDS
from apps.reasoning.scaffolds.spec import Budget
from tests.graders.answers import EXAMINED, FOLLOWS, WHOLE, by_items, value
from tests.graders.grade import REFERENCES, SCRIPT, Table, finding, grade, grading
from tests.graders.schemes import CHAINS, PLAIN, decided, given

WITH = {"references": REFERENCES}
PROSE = "## Issue\nThe solution only checks the formula for three instances and says that it holds for all."
JURY: Table = {"judge_a/1": grading(7), "judge_b/1": grading(1, finding()), "judge_b/2": "half", "*": grading(3)}
#: The second report has no value at first and is unfounded, of the third one check of three says so.
EXAMINED_APART: Table = {
    "examine/1": value(1),
    "examine/2": PROSE,
    "examine/2/again": '{"score": 0}',
    "examine/*": value(0.5),
    "meta/2/*": value(0),
    "meta/3/1": value(0),
    "meta/*": value(1),
}
CASES: dict[str, tuple[dict[str, Any], Table]] = {
    "single_turn": ({}, {"grade": "half", "grade/again": grading(3)}),
    "ref3": (WITH, FOLLOWS),
    "ref5_plain": (WITH, {"grade/ref5_plain": "half", "grade/ref5_plain/again": by_items(2, 1)} | FOLLOWS),
    "ref5_approachability": (WITH, {"analyse/C1/scored": "no", "analyse/*/again": FOLLOWS["analyse/C1/scored"]} | FOLLOWS),
    "ref5_milestones": (WITH, FOLLOWS),
    "ref5_hybrid": (WITH, FOLLOWS),
    "scheme": ({"scheme": CHAINS}, {"*": "<grading>" + "".join(decided("A1")) + "</grading>"}),
    "points8": ({"scheme": PLAIN}, {"grade/points/3": "half", "*": grading(3, *given(1, 0, 2))}),
    "proofbench_strict": ({"scheme": PLAIN}, {"grade/proofbench_strict": PROSE, "grade/*/again": '{"score": 4}'}),
    "proofbench_strict_ref": ({"scheme": PLAIN, **WITH}, {"grade/*": grading(3)}),
    "proofbench": ({"scheme": PLAIN}, {"grade/*/again": grading(3), "grade/*": "half"}),
    "gimo": ({"scheme": PLAIN}, {"grade/*": grading(3, finding())}),
    "simple": ({"scheme": PLAIN, **WITH}, {"grade/*": f"{PROSE}\n**Points:** 3/7"}),
    "opc": ({"scheme": PLAIN}, {"grade/*": grading(3)}),
    "deepseek_verifier": ({"checks": 3}, EXAMINED_APART),
    "ensemble": (WITH, {"grade/ref5_milestones": "half", "grade/*/again": "half"} | FOLLOWS),
    "jury": (
        {"counts": "median"},
        {"judge_a/1": grading(7), "judge_b/1": grading(1, finding()), "judge_b/2": "half", "*": grading(3)},
    ),
}
NAMES = sorted(CASES)


def test_every_grader_is_tried_here_and_none_is_a_scaffold() -> None:
    assert set(CASES) == set(GRADERS)
    assert set(PROGRAMS) == set(SCAFFOLDS) | set(GRADERS) | set(PREPARERS)
    assert len(PROGRAMS) == len(SCAFFOLDS) + len(GRADERS) + len(PREPARERS)


@pytest.mark.parametrize("name", NAMES)
async def test_resumed_at_every_call_it_ends_as_the_uninterrupted_one(name: str) -> None:
    params, table = CASES[name]
    whole = await grade(name, table, **params)
    assert whole.points is not None
    for cut in range(len(whole.journal.records) + 1):
        again = await grade(name, table, journal=whole.journal.cut(cut), **params)
        assert again.outcome == whole.outcome
        assert again.grading == whole.grading
        assert dict(again.kinds) == dict(whole.kinds), cut
        assert len(again.dispatcher.requests) == len(whole.journal.records) - cut


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
async def test_the_order_in_which_calls_end_changes_nothing(name: str, seed: int) -> None:
    params, table = CASES[name]
    whole, shuffled = await grade(name, table, **params), await grade(name, table, shuffle=seed, **params)
    assert shuffled.grading == whole.grading
    assert dict(shuffled.kinds) == dict(whole.kinds)


@pytest.mark.parametrize("name", NAMES)
async def test_the_calls_made_lie_within_the_estimate(name: str) -> None:
    params, table = CASES[name]
    grader = GRADERS[name]
    estimate = grader.estimate(grader.read_params({"script": SCRIPT} | params))
    for said in (table, {"*": "I like turtles."}):
        keys = (await grade(name, said, **params)).dispatcher.keys
        made = len([key for key in keys if not key.endswith("/again")])
        assert estimate.calls_min <= made <= estimate.calls_max
        assert len(keys) <= 2 * made, "a second question at most"
    assert estimate.calls_min <= estimate.calls_expected <= estimate.calls_max
    assert {role.role for role in estimate.roles} == {role.name for role in grader.roles}


@pytest.mark.parametrize("name", NAMES)
async def test_where_every_answer_keeps_to_its_form_the_estimate_is_exact(name: str) -> None:
    params = CASES[name][0]
    good: Table = {
        "judge_?/1": grading(5),
        "grade": grading(5),
        "grade/points/*": grading(3, *given(1, 0, 2)),
        "grade/scheme": "<grading>" + "".join(decided("A1")) + "</grading>",
        **WHOLE,
        **EXAMINED,
        **FOLLOWS,
    }
    run = await grade(name, good, **params)
    grader = GRADERS[name]
    assert grader.estimate(grader.read_params({"script": SCRIPT} | params)).calls_expected == len(run.dispatcher.requests)
    again = grader.estimate(grader.read_params({"script": SCRIPT, "prepared": run.pieces} | params))
    later = await grade(name, good, prepared=run.pieces, **params)
    assert again.calls_expected == len(later.dispatcher.requests)


@pytest.mark.parametrize("name", NAMES)
async def test_a_model_that_keeps_to_no_form_leaves_the_script_unscored(name: str) -> None:
    run = await grade(name, {"*": "I like turtles."}, **CASES[name][0])
    assert run.points is None
    assert run.grading.unscored
    assert "turtles" in run.grading.raw
    assert run.outcome.ended_by == "nothing-readable"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("calls", [1, 2, 4])
async def test_a_budget_that_ends_it_leaves_points_or_the_reason(name: str, calls: int) -> None:
    run = await grade(name, CASES[name][1], budget=Budget(calls=calls), **CASES[name][0])
    assert len(run.dispatcher.requests) <= calls + 8
    assert (run.points is None) == bool(run.grading.unscored)
