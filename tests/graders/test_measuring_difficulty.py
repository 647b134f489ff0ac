"""Measuring difficulty: whose points are in the mean, which attempts count, and what an early end leaves of them."""

from decimal import Decimal

from apps.reasoning.domain.control import Command
from apps.reasoning.domain.errors import BackendError
from apps.reasoning.domain.grading_events import DifficultyFound, GradingReached
from apps.reasoning.graders.registry import PREPARERS
from apps.reasoning.scaffolds.running.controls import ScriptedControls
from apps.reasoning.scaffolds.spec import Budget
from tests.graders.grade import Table, grading
from tests.graders.programs import PROOF, play
from tests.graders.schemes import CHAINS, PLAIN, decided, given

TICKED = "<grading>" + "".join(decided("A1")) + "</grading>"


async def test_difficulty_is_the_mean_of_the_points() -> None:
    full = "<grading>" + "".join(decided("A1", "A2")) + "</grading>"
    table = {"*/solve": PROOF, "attempt/1/grade/*": full, "*": TICKED}
    found = (await play("difficulty", table, scheme=CHAINS, attempts=5)).events(DifficultyFound)[0]
    assert found.points == (7.0, 2.0, 2.0, 2.0, 2.0)
    assert found.mean == 3.0
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 3 < found.high < 7


async def test_an_attempt_without_a_proof_has_no_points_and_one_whose_call_failed_is_none() -> None:
    table: Table = {
        "attempt/1/solve": "<no-proof>I am stuck.</no-proof>",
        "attempt/2/solve": BackendError("gone"),
        "*/solve": PROOF,
        "attempt/3/grade*": "turtles",
        "*": grading(6),
    }
    run = await play("difficulty", table, workflow="single_turn", attempts=5)
    found = run.events(DifficultyFound)[0]
    assert found.points == (0.0, None, None, 6.0, 6.0)
    assert (found.unwritten, found.mean) == (1, 4.0)
    names = [event.name for event in run.events(GradingReached)]
    assert sorted(names) == [f"attempt/{number}" for number in range(1, 6)]


async def test_no_difficulty_is_given_where_most_gradings_cannot_be_read() -> None:
    table: Table = {"*/solve": PROOF, "attempt/1/*": grading(7), "*": "turtles"}
    run = await play("difficulty", table, workflow="single_turn", attempts=4)
    assert run.events(DifficultyFound)[0].mean is None
    assert "1 of 4 attempts have points" in run.outcome.reason


async def test_attempts_can_be_graded_by_points_or_are_refused_without_a_scheme() -> None:
    table: Table = {"*/solve": PROOF, "*": grading(3, *given(1, 0, 2))}
    run = await play("difficulty", table, workflow="points8", scheme=PLAIN, attempts=2, runs=2)
    assert run.events(DifficultyFound)[0].mean == float(Decimal(3))
    program = PREPARERS["difficulty"]
    assert "no marking scheme" in program.lacks(program.read_params({}))
    assert program.lacks(program.read_params({"workflow": "points8", "scheme": CHAINS}))
    assert not program.lacks(program.read_params({"scheme": CHAINS}))


async def test_a_person_can_end_the_attempts_early_with_what_is_there() -> None:
    controls = ScriptedControls({1: [Command(id="c1", name="write_up", by="alice")]})
    table: Table = {"*/solve": PROOF, "*": TICKED}
    run = await play("difficulty", table, scheme=CHAINS, attempts=40, controls=controls)
    found = run.events(DifficultyFound)[0]
    assert (found.attempts, found.mean, controls.points) == (16, 2.0, 2)
    assert run.outcome.ended_by == "written-up"


async def test_a_budget_that_ends_inside_a_group_leaves_its_finished_attempts() -> None:
    run = await play("difficulty", {"*/solve": PROOF, "*": TICKED}, budget=Budget(calls=31), scheme=CHAINS, attempts=40)
    found = run.events(DifficultyFound)[0]
    assert (found.points, found.mean) == ((*(2.0,) * 15, None), 2.0)
    assert run.outcome.ended_by == "budget"


async def test_proofs_that_a_budget_leaves_ungraded_are_not_outvoted_by_attempts_without_a_proof() -> None:
    table: Table = {"attempt/1/solve": "<no-proof>I am stuck.</no-proof>", "*/solve": PROOF, "*": TICKED}
    run = await play("difficulty", table, shuffle=1, budget=Budget(calls=16), scheme=CHAINS, attempts=16)
    found = run.events(DifficultyFound)[0]
    assert found.points[0] == 0
    assert found.points.count(None) > len(found.points) / 2
    assert found.mean is None
    graded = [event.name for event in run.events(GradingReached)]
    assert len(graded) == len(found.points) - found.points.count(None), "an ungraded proof has no grading event"


async def test_where_all_attempts_have_the_same_points_no_interval_looks_certain() -> None:
    run = await play("difficulty", {"*/solve": PROOF, "*": grading(0)}, workflow="single_turn", attempts=8)
    found = run.events(DifficultyFound)[0]
    assert (found.mean, found.low, found.high) == (0.0, None, None)
