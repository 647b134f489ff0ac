"""Other measures of difficulty: attempts by a whole scaffold, and attempts graded with references that are prepared once."""

from typing import Any

import pytest

from apps.reasoning.domain.errors import BackendError
from apps.reasoning.domain.events import ProofDrafted
from apps.reasoning.domain.grading_events import DifficultyFound, GradingPrepared
from apps.reasoning.graders.problems import difficulty
from apps.reasoning.graders.problems.attempting import ATTEMPTING
from apps.reasoning.graders.registry import PREPARERS
from apps.reasoning.scaffolds.spec import Budget
from tests.graders.answers import FOLLOWS
from tests.graders.grade import REFERENCES, Table, grading
from tests.graders.programs import PROOF, play
from tests.reasoning.candidates import FAIL, PASS

CHECKED: dict[str, Any] = {
    "scaffold": "self_check", "attempt": {"accept": 2, "iterations": 4, "give_up": 3}, "workflow": "single_turn", "attempts": 3
}  # fmt: skip
BY_METHOD: Table = {"*/by/check/*": PASS, "*/by/*": PROOF, "*/grade": grading(6)}
WITH_REFERENCES: dict[str, Any] = {"workflow": "ref5_plain", "references": REFERENCES, "attempts": 4}
SECOND = {key.replace("/C1/", "/C2/"): said for key, said in FOLLOWS.items()}
BY_RUBRIC: Table = {"*/solve": PROOF, **{f"*{key}": said for key, said in (FOLLOWS | SECOND).items()}}


async def test_each_attempt_is_the_work_of_a_scaffold_by_roles_of_its_own() -> None:
    run = await play("difficulty", BY_METHOD, **CHECKED)
    found = run.events(DifficultyFound)[0]
    assert (found.points, found.unwritten) == ((6.0,) * 3, 0)
    roles = {request.role for request in run.dispatcher.requests}
    assert roles == {"attempt_solver", "attempt_improver", "attempt_verifier", "grader"}
    assert not run.events(ProofDrafted), "events of one attempt's search would clash with those of another"
    (asked,) = (one for one in run.dispatcher.requests if one.key == "attempt/2/grade")
    assert "One of two neighbours is even." in "".join(message.content for message in asked.messages)


async def test_a_method_that_ends_without_a_proof_is_worth_nothing_and_one_whose_call_failed_is_none() -> None:
    table: Table = {"attempt/1/by/*": "I like turtles.", "attempt/2/by/solve": BackendError("gone"), **BY_METHOD}
    found = (await play("difficulty", table, **CHECKED)).events(DifficultyFound)[0]
    assert found.points == (0.0, None, 6.0)
    assert found.unwritten == 1


async def test_a_solution_that_its_own_method_did_not_accept_is_graded_like_any_other() -> None:
    found = (await play("difficulty", {**BY_METHOD, "*/by/check/*": FAIL}, **CHECKED)).events(DifficultyFound)[0]
    assert found.points == (6.0,) * 3


@pytest.mark.parametrize(("params", "table"), [(CHECKED, BY_METHOD), (WITH_REFERENCES, BY_RUBRIC)])
async def test_resumed_anywhere_and_in_any_order_it_ends_alike(params: dict[str, Any], table: Table) -> None:
    whole = await play("difficulty", table, **params)
    calls = len(whole.dispatcher.requests)
    for cut in range(0, calls + 1, 3):
        again = await play("difficulty", table, journal=whole.journal.cut(cut), **params)
        assert again.outcome == whole.outcome
        assert dict(again.kinds) == dict(whole.kinds)
        assert len(again.dispatcher.requests) == calls - cut
    shuffled = await play("difficulty", table, shuffle=3, **params)
    assert (shuffled.outcome, dict(shuffled.kinds)) == (whole.outcome, dict(whole.kinds))


@pytest.mark.parametrize(
    ("params", "table"),
    [(CHECKED, BY_METHOD), (WITH_REFERENCES, BY_RUBRIC), (WITH_REFERENCES | {"workflow": "ref3"}, BY_RUBRIC)],
)
async def test_the_estimate_has_every_role_and_holds(params: dict[str, Any], table: Table) -> None:
    program = PREPARERS["difficulty"]
    read = program.read_params(params)
    assert isinstance(read, difficulty.Params)
    estimate = program.estimate(read)
    played = {*difficulty.attempting_by(read.scaffold), *difficulty.grading_by(read.workflow)}
    assert {role.role for role in estimate.roles} == {role.name for role in played}
    calls = len((await play("difficulty", table, **params)).dispatcher.requests)
    assert estimate.calls_min <= calls <= estimate.calls_max
    if not read.scaffold:
        assert calls == estimate.calls_expected
    turtles = await play("difficulty", {"*/solve": PROOF, "*": "turtles"}, **params)
    first = [key for key in turtles.dispatcher.keys if not key.endswith("/again")]
    assert len(first) <= estimate.calls_max
    assert len(turtles.dispatcher.keys) <= 2 * estimate.calls_max


async def test_references_are_prepared_once_for_all_attempts() -> None:
    run = await play("difficulty", BY_RUBRIC, **WITH_REFERENCES)
    keys = run.dispatcher.keys
    assert sorted(keys[:5]) == [
        "analyse/C1/plain",
        "analyse/C2/plain",
        "cluster",
        "rubric/C1/plain/steps",
        "rubric/C2/plain/steps",
    ]
    assert sum(key.endswith("/match") for key in keys) == 4
    assert len(run.events(GradingPrepared)) == 5
    assert run.events(DifficultyFound)[0].mean == 2.5


async def test_references_that_cannot_be_prepared_end_it_before_anything_is_attempted() -> None:
    run = await play("difficulty", {"*/solve": PROOF, "*": "turtles"}, **WITH_REFERENCES)
    assert run.outcome.ended_by == "nothing-readable"
    assert "The references could not be prepared" in run.outcome.reason
    assert run.dispatcher.keys == ["cluster", "cluster/again"]


async def test_a_budget_that_ends_inside_attempts_counts_no_attempt_that_had_no_text() -> None:
    run = await play("difficulty", BY_METHOD, budget=Budget(calls=4), **CHECKED | {"attempts": 40})
    assert run.outcome.ended_by == "budget"
    assert all(one.points.count(0.0) == 0 for one in run.events(DifficultyFound))
    assert len(run.dispatcher.requests) == 4


def test_what_cannot_be_measured_so_says_why() -> None:
    program = PREPARERS["difficulty"]
    assert "no reference solution" in program.lacks(program.read_params({"workflow": "ref3"}))
    for params, why in (
        ({"workflow": "jury"}, "cannot grade attempts"),
        ({"scaffold": "oracle"}, "cannot make attempts"),
        ({"scaffold": "alpha_apollo"}, "cannot make attempts"),
        ({"scaffold": "majority_vote"}, "cannot make attempts"),
        ({"scaffold": "self_check", "attempt": {"accept": -1}}, "accept"),
    ):
        with pytest.raises(Exception, match=why):
            program.read_params(params)
    assert {"intern_s1_mo", "single_call"} <= set(ATTEMPTING)
