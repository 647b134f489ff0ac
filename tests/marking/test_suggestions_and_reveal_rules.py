"""Values of suggestions and the pure rules of the reveal."""

from decimal import Decimal

import pytest
from pydantic import ValidationError

from apps.reasoning.marking.revealing import (
    Shown,
    Stage,
    change_faults,
    drawn_order,
    is_large,
    is_without_reveal,
    locations,
    next_stage,
)
from apps.reasoning.marking.sheets.sheet import Fallacy, MarkSheet, StepVerdict
from apps.reasoning.marking.suggestion import (
    Finding,
    PointsShare,
    SuggestedItem,
    SuggestionBody,
    SuggestionWrong,
    suggestion_checked,
    suggestion_key,
)
from apps.reasoning.texts.anchors import Anchor, anchor_make

SOURCE = "Let $n$ be odd.\n\nThen $n^2$ is odd."


def finding(key: str, step: int) -> Finding:
    return Finding(id=key, step=step, fallacy=Fallacy.GAP, words="Claims it.")


def shares(*pairs: tuple[int, float]) -> tuple[PointsShare, ...]:
    return tuple(PointsShare(points=Decimal(points), share=share) for points, share in pairs)


def test_a_distribution_sums_to_one_or_is_empty() -> None:
    assert SuggestionBody().expected is None
    assert SuggestionBody(distribution=shares((0, 0.25), (7, 0.75))).expected == Decimal("5.25")
    for wrong in (shares((3, 0.5)), shares((3, 0.5), (3, 0.5)), shares((3, 0.9), (4, 0.9))):
        with pytest.raises(ValidationError):
            SuggestionBody(distribution=wrong)


def test_what_a_grader_proposes_is_expected_of_it_whatever_else_it_holds_possible() -> None:
    body = SuggestionBody(distribution=shares((0, 1 / 3), (7, 2 / 3)), proposed=Decimal(0), scale=Decimal(7))
    assert body.expected == 0
    assert body.model_copy(update={"proposed": Decimal(2)}).expected_of(Decimal(14)) == 4
    with pytest.raises(ValidationError, match="what is unscored has no points"):
        SuggestionBody(unscored="It was not read.", proposed=Decimal(3))
    with pytest.raises(SuggestionWrong, match="at most 7"):
        suggestion_checked(body.model_copy(update={"proposed": Decimal(8)}), SOURCE, {1, 2}, (), None)


def test_nothing_is_listed_twice() -> None:
    with pytest.raises(ValidationError, match="duplicate finding"):
        SuggestionBody(findings=(finding("f", 1), finding("f", 2)))
    with pytest.raises(ValidationError, match="duplicate item"):
        SuggestionBody(items=(SuggestedItem(code="A1"), SuggestedItem(code="A1")))


def test_a_finding_lies_in_the_text_it_is_about() -> None:
    good = finding("f", 1).model_copy(update={"anchor": anchor_make(SOURCE, 4, 7)})
    assert suggestion_checked(SuggestionBody(findings=(good,)), SOURCE, {1, 2}, (), None).findings == (good,)
    lost = good.model_copy(update={"anchor": Anchor(start=4, end=7, quote="$m$")})
    with pytest.raises(SuggestionWrong, match="does not say this"):
        suggestion_checked(SuggestionBody(findings=(lost,)), SOURCE, {1, 2}, (), None)


def test_the_same_question_has_one_key_and_any_other_another() -> None:
    keys = {
        suggestion_key("text", "meaning", "grader", "1"),
        suggestion_key("text2", "meaning", "grader", "1"),
        suggestion_key("text", "meaning2", "grader", "1"),
        suggestion_key("text", "meaning", "grader2", "1"),
        suggestion_key("text", "meaning", "grader", "2"),
    }
    assert len(keys) == 5
    assert suggestion_key("text", "meaning", "grader", "1") in keys


def test_stages_follow_each_other_and_items_wait_for_answers() -> None:
    assert next_stage(set(), open_findings=0) is Stage.LOCATIONS
    assert next_stage({Stage.LOCATIONS}, open_findings=0) is Stage.FINDINGS
    assert next_stage({Stage.LOCATIONS, Stage.FINDINGS}, open_findings=1) is None
    assert next_stage({Stage.LOCATIONS, Stage.FINDINGS}, open_findings=0) is Stage.ITEMS
    assert next_stage(set(Stage), open_findings=0) is None


def test_locations_are_where_the_marker_said_nothing() -> None:
    body = SuggestionBody(findings=(finding("a", 1), finding("b", 2), finding("c", 3), finding("d", 2)))
    sheet = MarkSheet(verdicts=(StepVerdict(id="v", step=1, fallacy=Fallacy.CASE),), granted=frozenset({3}))
    assert locations(sheet, [body]) == [2]
    assert locations(MarkSheet(), [body]) == [1, 2, 3]


def test_the_order_is_the_seeds_and_stays() -> None:
    shown = [Shown("s", finding(str(number), number)) for number in range(1, 8)]
    first = [one.finding.id for one in drawn_order(shown, "1")]
    assert first == [one.finding.id for one in drawn_order(shown[::-1], "1")]
    assert first != [one.finding.id for one in drawn_order(shown, "2")]


def test_the_share_without_reveal_is_about_what_was_asked_for() -> None:
    drawn = sum(is_without_reveal(17, str(case), 15) for case in range(4_000))
    assert 480 < drawn < 720
    assert not any(is_without_reveal(17, str(case), 0) for case in range(50))
    assert all(is_without_reveal(17, str(case), 100) for case in range(50))


@pytest.mark.parametrize(
    ("difference", "scale", "large"),
    [("2", "7", True), ("-2", "7", True), ("1.5", "7", False), ("3", "21", False), ("6", "21", True), ("2", "10", False)],
)
def test_two_of_seven_is_a_large_difference_on_any_scale(difference: str, scale: str, *, large: bool) -> None:
    assert is_large(Decimal(difference), Decimal(scale)) is large


def test_a_change_upwards_needs_no_step_and_one_downwards_does() -> None:
    def faults(before: int, after: int, step: int | None) -> list[str]:
        return change_faults(
            before=Decimal(before), after=Decimal(after), reason="missed", step=step, steps={1, 2}, is_changed=True
        )

    assert faults(3, 4, None) == []
    assert faults(4, 3, 2) == []
    (fault,) = faults(4, 3, None)
    assert fault.startswith("Name the step")
