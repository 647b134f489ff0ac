"""Graders that are made of several: eight runs over grading points, a mean of methods, a jury."""

from decimal import Decimal

import pytest

from apps.reasoning.domain.errors import ParamsError
from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored
from apps.reasoning.graders.judging.judging import ItemsReading, Worth
from apps.reasoning.graders.judging.said import GradingSaid
from apps.reasoning.graders.registry import GRADERS
from tests.graders.answers import FOLLOWS
from tests.graders.grade import REFERENCES, finding, grade, grading
from tests.graders.schemes import CHAINS, PLAIN, given


async def test_the_mean_of_eight_runs_is_proposed_with_its_distribution() -> None:
    table = {"grade/points/1": grading(7, *given(1, 2, 4)), "grade/points/*": grading(3.5, *given(1, 0.5, 2))}
    run = await grade("points8", table, scheme=PLAIN)
    assert len(run.dispatcher.keys) == 8
    assert run.points == Decimal("3.94")
    assert run.grading.shares == {Decimal("3.5"): 7 / 8, Decimal(7): 1 / 8}
    assert "those of run 2" in run.grading.remarks
    assert run.named("run/1").points == 7


@pytest.mark.parametrize("points", [(0.5, 0, 0), (1, 2.5, 0), (1, 0.25, 0)])
async def test_a_point_worth_one_is_given_in_full_or_not_and_none_beyond_its_worth(points: tuple[float, ...]) -> None:
    run = await grade("points8", {"*": grading(sum(points), *given(*points))}, scheme=PLAIN, runs=1)
    assert run.points is None


async def test_runs_that_cannot_be_read_do_not_count_as_0() -> None:
    table = {"grade/points/1*": "turtles", "grade/points/*": grading(6, *given(0, 2, 4))}
    run = await grade("points8", table, scheme=PLAIN, runs=3)
    assert run.points == 6
    assert [one.points for one in run.grading.passes] == [None, 6, 6]


async def test_without_a_readable_majority_there_is_no_mean() -> None:
    table = {"grade/points/1": grading(6, *given(0, 2, 4)), "*": "turtles"}
    run = await grade("points8", table, scheme=PLAIN, runs=2)
    assert run.points is None
    assert run.grading.unscored.startswith("1 of 2 gradings could be read")
    assert run.grading.raw == "turtles"


def test_only_a_plain_list_has_grading_points() -> None:
    params = GRADERS["points8"].params.model_validate({"script": "x", "scheme": CHAINS})
    assert "plain list" in GRADERS["points8"].lacks(params)  # type: ignore[arg-type]


async def test_an_ensemble_prepares_once_and_takes_the_mean() -> None:
    run = await grade("ensemble", FOLLOWS, references=REFERENCES)
    assert run.points == Decimal("2.38")
    prepared = {"cluster", "match", "analyse/C1/plain", "analyse/C1/scored"}
    rubrics = {"rubric/C1/plain/steps", "rubric/C1/plain/milestones", "rubric/C1/scored/steps"}
    graded = {"grade/ref3", "grade/ref5_plain", "grade/ref5_approachability", "grade/ref5_milestones"}
    assert len(run.dispatcher.keys) == 11
    assert set(run.dispatcher.keys) == prepared | rubrics | graded
    assert {one.name: one.points for one in run.grading.passes}["ref3"] == 2
    later = await grade("ensemble", FOLLOWS, references=REFERENCES, prepared=run.pieces)
    assert len(later.dispatcher.keys) == 5


async def test_a_member_that_cannot_be_read_is_left_out_and_named() -> None:
    run = await grade("ensemble", {"grade/ref3*": "turtles"} | FOLLOWS, references=REFERENCES)
    assert run.points == Decimal("2.5")
    assert "Not counted, since unscored: ref3." in run.grading.remarks


async def test_an_ensemble_takes_the_findings_nearest_to_the_mean_even_if_a_member_gave_0_points() -> None:
    table = {"grade/single_turn": grading(0, finding()), "grade/ref3": grading(3)} | FOLLOWS
    members = ["single_turn", "ref3", "ref5_milestones"]
    run = await grade("ensemble", table, references=REFERENCES, members=members)
    points = {one.name: one.points for one in run.grading.passes}
    assert points["single_turn"] == 0
    nearest = min(points, key=lambda name: abs((points[name] or Decimal(0)) - (run.points or Decimal(0))))
    assert nearest != "single_turn"
    assert f"Findings are those of {nearest}, which" in run.grading.remarks


async def test_members_without_references_need_no_preparation() -> None:
    table = {"grade/single_turn": grading(4)} | FOLLOWS
    run = await grade("ensemble", table, references=REFERENCES, members=["single_turn", "ref3"])
    assert run.points == 3


@pytest.mark.parametrize("members", [["ref3"], ["ref3", "ref3"], ["ref3", "oracle"]])
def test_members_are_at_least_two_known_and_different(members: list[str]) -> None:
    with pytest.raises(ParamsError):
        GRADERS["ensemble"].read_params({"script": "x", "members": members})


async def test_a_jury_that_agrees_needs_one_round_and_gives_the_lowest() -> None:
    table = {"judge_a/1": grading(6), "judge_b/1": grading(5, finding()), "judge_c/1": grading(7)}
    run = await grade("jury", table)
    assert run.points == 5
    assert len(run.dispatcher.keys) == 3
    assert run.grading.shares == {Decimal(points): pytest.approx(1 / 3) for points in (5, 6, 7)}
    assert run.grading.findings[0].id == "E1"


async def test_judges_who_lie_apart_see_the_reports_of_the_others() -> None:
    table = {
        "judge_a/1": grading(7),
        "judge_b/1": grading(0, finding()),
        "judge_c/1": grading(7),
        "judge_?/2": grading(1, finding()),
    }
    run = await grade("jury", table)
    assert len(run.dispatcher.keys) == 6
    assert run.points == 1
    prompt = run.dispatcher.prompt("judge_a/2")
    assert "Three instances prove nothing." in prompt
    assert "Judge B" in prompt
    assert "Judge A" not in prompt


@pytest.mark.parametrize(("counts", "points"), [("minimum", "2"), ("median", "3"), ("mean", "3.67")])
async def test_what_counts_of_a_jury_is_a_choice(counts: str, points: str) -> None:
    table = {"judge_a/1": grading(3, finding()), "judge_b/1": grading(2), "judge_c/1": grading(6)}
    run = await grade("jury", table, counts=counts, more_rounds=0)
    assert run.points == Decimal(points)
    assert f"The {'lowest' if counts == 'minimum' else counts} of 3 judges after 1 round" in run.grading.remarks
    assert len(run.grading.findings) == (counts != "minimum")


async def test_a_wider_spread_asks_no_second_round_and_unknown_counts_are_refused() -> None:
    table = {"judge_a/1": grading(7), "judge_b/1": grading(2), "judge_c/1": grading(6)}
    assert len((await grade("jury", table, spread=5)).dispatcher.keys) == 3
    for params in ({"counts": "best"}, {"spread": 8}, {"more_rounds": 5}):
        with pytest.raises(ParamsError):
            GRADERS["jury"].read_params({"script": "x"} | params)


def test_a_jury_by_default_is_that_of_matharena_without_its_rewriting() -> None:
    presets = {name: preset.params for name, preset in GRADERS["jury"].presets.items()}
    assert presets["original"].model_dump(include={"spread", "more_rounds", "counts", "neutral"}) == {
        "spread": 2, "more_rounds": 1, "counts": "minimum", "neutral": False,
    }  # fmt: skip
    assert presets["matharena"] == presets["original"].model_copy(update={"neutral": True})


async def test_a_member_unread_in_the_second_round_keeps_its_first_points() -> None:
    table = {"judge_a/1": grading(7), "judge_b/1": grading(0), "judge_c/1": grading(6), "judge_b/2*": "x", "*/2": grading(4)}
    run = await grade("jury", table)
    assert run.points == 0


async def test_a_jury_of_which_two_cannot_be_read_gives_no_points() -> None:
    run = await grade("jury", {"judge_a/1": grading(7), "*": "turtles"})
    assert run.points is None
    assert run.grading.unscored == "only 1 of 3 judges could be read"


def test_items_each_on_a_grid_of_their_own_sum_to_what_need_be_on_none() -> None:
    three_quarters = Decimal("0.75")
    worth = [
        Worth(code="P1", title="a", points=three_quarters, grid=three_quarters), Worth(code="P2", title="b", points=Decimal(4))
    ]  # fmt: skip
    said = grading(4.25, *given(0.75, 3.5))
    found = ItemsReading(1, tuple(worth), Decimal("4.75"))(Final(text=said, finish_reason="stop", duration_s=0.1))
    assert isinstance(found, GradingSaid)
    assert found.points == Decimal("4.25")
    off = ItemsReading(1, tuple(worth), Decimal("4.75"))(
        Final(text=grading(4, *given(0.5, 3.5)), finish_reason="stop", duration_s=0.1)
    )
    assert isinstance(off, Unscored)
