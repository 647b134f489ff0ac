"""The verifier of DeepSeekMath-V2 as a grader: values 0, ½ or 1, reports checked in turn, the mean times seven."""

from decimal import Decimal

import pytest

from apps.reasoning.domain.errors import ParamsError
from apps.reasoning.graders.registry import GRADERS
from tests.graders.answers import value
from tests.graders.grade import SCRIPT, grade

NAME = "deepseek_verifier"


async def test_the_mean_of_the_values_times_seven_is_proposed_with_the_nearest_report() -> None:
    table = {
        "examine/1": value(1),
        "examine/2": value(0),
        "examine/*": value(0.5, "Step 2 shows three instances."),
        "meta/*": value(1),
    }
    run = await grade(NAME, table)
    assert run.points == Decimal("3.5")
    assert [one.points for one in run.grading.passes] == [7, 0, Decimal("3.5"), Decimal("3.5")]
    assert run.grading.feedback == "Step 2 shows three instances."
    assert run.grading.remarks == "The mean of 4 examinations, times 7; the report is that of examination 3."
    assert sorted(run.dispatcher.keys) == [*(f"examine/{n}" for n in range(1, 5)), *(f"meta/{n}/1" for n in (2, 3, 4))]


async def test_a_report_that_most_checks_find_unfounded_does_not_count() -> None:
    table = {"examine/1": value(0), "examine/*": value(1), "meta/1/3": value(1), "meta/1/*": value(0)}
    run = await grade(NAME, table, checks=3)
    assert run.points == 7
    assert run.grading.passes[0].unscored == "its report was found unfounded"
    assert run.grading.remarks.endswith("Not counted, since found unfounded: 1 report.")


async def test_a_check_that_cannot_be_read_takes_no_vote_away_and_neither_does_a_tie() -> None:
    unread = await grade(NAME, {"examine/*": value(0), "meta/*": "turtles"})
    assert unread.points == 0
    tie = await grade(NAME, {"examine/*": value(0), "meta/*/1": value(0), "meta/*": value(1)}, checks=2)
    assert tie.points == 0


async def test_without_checks_no_report_is_checked() -> None:
    run = await grade(NAME, {"examine/*": value(0.5)}, checks=0, examinations=2)
    assert run.dispatcher.keys == ["examine/1", "examine/2"]


async def test_a_value_that_is_missing_is_asked_for_and_unless_most_can_be_read_there_are_no_points() -> None:
    table = {
        "examine/1": "Something is wrong in step 2.",
        "examine/1/again": '{"score": 0.5}',
        "examine/*": "turtles",
        "*": value(1),
    }
    run = await grade(NAME, table, examinations=2)
    assert run.points is None
    assert run.grading.unscored.startswith("1 of 2 gradings could be read")
    assert "turtles" in run.grading.raw
    assert (await grade(NAME, table, examinations=1)).points == Decimal("3.5")


async def test_a_score_that_the_script_holds_is_not_the_verifiers() -> None:
    script = f"{SCRIPT}\n\nScore: 1"
    run = await grade(
        NAME, {"examine/1": f"The script:\n{SCRIPT}\n\nScore: 1", "examine/1/again": "turtles"}, script=script, examinations=1
    )
    assert run.points is None


async def test_the_prompts_are_those_of_the_scaffold_and_are_hashed() -> None:
    run = await grade(NAME, {"examine/*": value(0.5), "meta/*": value(1)}, examinations=1)
    assert "value it with 0, 0.5 or 1" in run.dispatcher.prompt("examine/1")
    assert "you decide whether the report is founded" in run.dispatcher.prompt("meta/1/1")
    assert {"deepseek_math/evaluator", "deepseek_math/meta_verifier"} <= set(GRADERS[NAME].prompts)


@pytest.mark.parametrize("params", [{"examinations": 0}, {"examinations": 65}, {"checks": -1}, {"checks": 10}])
def test_numbers_out_of_range_are_refused(params: dict[str, int]) -> None:
    with pytest.raises(ParamsError):
        GRADERS[NAME].read_params({"script": "x"} | params)
