"""What markers claim in a coordination: a line of codes, of points, or of both; and where claims and verdicts differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.marking.sheets.positions import (
    Position,
    PositionWrong,
    item_differences,
    position_line,
    position_of,
    position_read,
    sheet_at,
    step_differences,
)
from apps.reasoning.marking.sheets.sheet import Fallacy, MarkSheet, Role, StepVerdict
from tests.schemes.factory import content

SCHEME = content()
CODES = [item.code for item in SCHEME.items]


@given(st.frozensets(st.sampled_from(CODES)), st.none() | st.integers(0, 7))
def test_a_line_comes_back(ticks: frozenset[str], typed: int | None) -> None:
    position = Position(ticks=ticks, typed=typed)
    line = position_line(SCHEME, position)
    if line:
        assert position_read(SCHEME, line) == position
    else:
        with pytest.raises(PositionWrong):
            position_read(SCHEME, line)


@pytest.mark.parametrize("line", ["A9", "=8", "5", "A1 = five", "", "  ", "=5 A1", "A1 !A2", "=-1", "=７"])
def test_what_is_not_understood_is_no_guess(line: str) -> None:
    with pytest.raises(PositionWrong):
        position_read(SCHEME, line)


@pytest.mark.parametrize("line", ["=-1", "A1 =７", "= five", "=1.234"])
def test_invalid_points_are_reported_as_points(line: str) -> None:
    with pytest.raises(PositionWrong, match="End the line with “=” and a number from 0 to 7"):
        position_read(SCHEME, line)


def test_points_may_have_a_comma_and_a_space() -> None:
    assert position_read(SCHEME, "A1 = 2,5") == position_read(SCHEME, "A1 =2.5")


def test_only_items_with_different_ticks_are_listed() -> None:
    rows = item_differences(SCHEME, [position_read(SCHEME, "A1 A2"), position_read(SCHEME, "A1 -D1")])
    assert [(row.code, row.held) for row in rows] == [("A2", (True, False)), ("D1", (False, True))]


def verdict(step: int, fallacy: Fallacy = Fallacy.GAP, role: Role = Role.INDEPENDENT) -> StepVerdict:
    return StepVerdict(id=f"v{step}", step=step, fallacy=fallacy, role=role)


def test_steps_differ_by_type_or_role_not_by_words_and_harmless_ones_do_not() -> None:
    one = MarkSheet(verdicts=(verdict(1), verdict(2), verdict(3, role=Role.HARMLESS), verdict(4)))
    other = MarkSheet(
        verdicts=(verdict(1, Fallacy.CASE), verdict(2).model_copy(update={"words": "Else."}), verdict(4, role=Role.ROOT))
    )
    assert [row.step for row in step_differences([one, other])] == [1, 4]


def test_a_claim_changes_points_and_leaves_notes() -> None:
    sheet = MarkSheet(ticks=frozenset({"A1"}), verdicts=(verdict(1),), reason="So.")
    changed = sheet_at(sheet, position_read(SCHEME, "B1 =6"))
    assert [changed.ticks, changed.typed, changed.verdicts, changed.reason] == [{"B1"}, 6, sheet.verdicts, "So."]
    assert position_of(changed) == position_read(SCHEME, "B1 =6")
