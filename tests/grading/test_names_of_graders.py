"""A grader has one name: its workflow, its manner, and the models of its roles; what cannot be meant is refused in words."""

import pytest

from apps.grading.naming import VARIANTS, aliases_in, graders_of, players_read, players_written, variant_of
from apps.grading.plans import PlanWrong
from apps.reasoning.graders.registry import GRADERS

JURY, RUBRIC, SINGLE = GRADERS["jury"], GRADERS["ref5_plain"], GRADERS["single_turn"]


@pytest.mark.parametrize(
    ("workflow", "given", "written"),
    [
        ("jury", "a", "a"),
        ("jury", "a,b,c", "a,b,c"),
        ("jury", "a, a ,a", "a"),
        ("jury", "a,judge_b=b", "a,b,a"),
        ("jury", "judge_c=c,judge_b=b,judge_a=a", "a,b,c"),
        ("ref5_plain", "small,grader=big", "small,grader=big"),
        ("ref5_plain", "big,clusterer=small,matcher=small,analyst=small,designer=small", "small,grader=big"),
        ("ref3", "a,b,c", "a,matcher=b,grader=c"),
        ("single_turn", "grader=a", "a"),
    ],
)
def test_whatever_way_it_is_written_the_same_players_have_one_name(workflow: str, given: str, written: str) -> None:
    grader = GRADERS[workflow]
    assert players_written(players_read(given, grader), grader) == written
    assert players_read(written, grader) == players_read(given, grader)
    assert aliases_in(given) == set(players_read(given, grader).values())


@pytest.mark.parametrize(
    ("workflow", "given", "why"),
    [
        ("jury", "", "A name is missing"),
        ("jury", "a,,c", "A name is missing"),
        ("jury", "a,judge_b=", "A name is missing"),
        ("jury", "a,b", "3 roles .judge_a, judge_b, judge_c.: name one model for all of them, or 3"),
        ("jury", "a,b,c,judge_a=d", "name one model"),
        ("jury", "a,grader=b", "Jury has no role grader; there are judge_a, judge_b, judge_c"),
        ("jury", "a,judge_a=b,judge_a=c", "A role stands twice"),
        ("jury", "judge_a=a", "say which model plays Judge B, Judge C"),
        ("single_turn", "a,b", "name one model for all of them"),
    ],
)
def test_players_that_cannot_be_meant_are_refused(workflow: str, given: str, why: str) -> None:
    with pytest.raises(PlanWrong, match=why):
        players_read(given, GRADERS[workflow])


def test_names_that_would_be_too_long_are_refused() -> None:
    with pytest.raises(PlanWrong, match="more than 200 letters"):
        players_written({"judge_a": "a" * 60, "judge_b": "b" * 60, "judge_c": "c" * 90}, JURY)


def test_manners_have_one_order_and_only_a_scheme_is_advisory() -> None:
    assert variant_of("scheme+neutral+advisory").name == "scheme+advisory+neutral"
    assert variant_of("scheme+advisory+neutral").overrides == {"strict": False, "neutral": True}
    assert variant_of("jury+neutral").title == "Jury in a neutral rewriting"
    assert variant_of("jury+neutral+guidelines").name == "jury+guidelines+neutral"
    assert variant_of("jury+guidelines").title == "Jury with guidelines"
    # Neutral or not; and besides a scheme by advice, and four that may be shown guidelines.
    assert len(VARIANTS) == 2 * (len(GRADERS) + 1 + 4)
    for name, why in (
        ("oracle", "no grader oracle"),
        ("jury+advisory", "Only Marking scheme can be advisory"),
        ("ref5_hybrid+guidelines", "cannot be shown the guidelines for markers: its prompts have no place for that"),
        ("jury+kind", "no manner “kind”"),
        ("jury+neutral+neutral", "write each once"),
    ):
        with pytest.raises(PlanWrong, match=why):
            variant_of(name)


def test_graders_that_come_to_the_same_are_one() -> None:
    teams = [{"": "a"}, {"": "a", "judge_b": "b"}]
    assert graders_of(["jury", "single_turn"], teams) == [("jury", "a"), ("jury", "a,b,a"), ("single_turn", "a")]
    with pytest.raises(PlanWrong, match="say which model plays"):
        graders_of(["jury"], [{"judge_a": "a"}])
    assert players_read("a", SINGLE) == {"grader": "a"}
    assert len(players_read("a", RUBRIC)) == 5
