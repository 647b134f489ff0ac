"""A grader has one name of workflow, manners and models of its roles; invalid names are refused with the reason."""

import pytest

from apps.graders.planning.naming import VARIANTS, aliases_in, graders_of, players_read, players_written, variant_of
from apps.graders.planning.plans import PlanWrong
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
def test_equivalent_notations_of_players_have_one_canonical_name(workflow: str, given: str, written: str) -> None:
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
        ("jury", "a,b", r"3 roles .judge_a, judge_b, judge_c.\. Name one model for all roles, or 3 models"),
        ("jury", "a,b,c,judge_a=d", "Name one model"),
        ("jury", "a,grader=b", r"Jury has no role grader\. Choose from: judge_a, judge_b, judge_c"),
        ("jury", "a,judge_a=b,judge_a=c", "Duplicate role"),
        ("jury", "judge_a=a", "has no model for Judge B, Judge C"),
        ("single_turn", "a,b", "Name one model for all roles"),
    ],
)
def test_invalid_players_are_refused(workflow: str, given: str, why: str) -> None:
    with pytest.raises(PlanWrong, match=why):
        players_read(given, GRADERS[workflow])


def test_names_that_are_too_long_are_refused() -> None:
    with pytest.raises(PlanWrong, match="exceed 200 characters"):
        players_written({"judge_a": "a" * 60, "judge_b": "b" * 60, "judge_c": "c" * 90}, JURY)


def test_manners_have_one_order_and_only_a_scheme_can_be_advisory() -> None:
    assert variant_of("scheme+neutral+advisory").name == "scheme+advisory+neutral"
    assert variant_of("scheme+advisory+neutral").overrides == {"strict": False, "neutral": True}
    assert variant_of("jury+neutral").title == "Jury in a neutral rewriting"
    assert variant_of("jury+neutral+guidelines").name == "jury+guidelines+neutral"
    assert variant_of("jury+guidelines").title == "Jury with guidelines"
    assert variant_of("jury+marks+neutral").name == "jury+neutral+marks"
    assert variant_of("single_turn+marks").title == "Single turn with marks of formulas"
    assert variant_of("single_turn+marks").overrides == {"marks": True}
    # Each with and without neutral and marks: the graders, one advisory scheme, and four with guidelines.
    assert len(VARIANTS) == 4 * (len(GRADERS) + 1 + 4)
    for name, why in (
        ("oracle", "No grader oracle"),
        ("jury+advisory", "Only Marking scheme can be advisory"),
        ("ref5_hybrid+guidelines", "cannot be shown the guidelines for markers: its prompts have no place for that"),
        ("jury+kind", "no variant “kind”"),
        ("jury+neutral+neutral", "at most once"),
    ):
        with pytest.raises(PlanWrong, match=why):
            variant_of(name)


def test_equivalent_graders_are_listed_once() -> None:
    teams = [{"": "a"}, {"": "a", "judge_b": "b"}]
    assert graders_of(["jury", "single_turn"], teams) == [("jury", "a"), ("jury", "a,b,a"), ("single_turn", "a")]
    with pytest.raises(PlanWrong, match="has no model for"):
        graders_of(["jury"], [{"judge_a": "a"}])
    assert players_read("a", SINGLE) == {"grader": "a"}
    assert len(players_read("a", RUBRIC)) == 5
