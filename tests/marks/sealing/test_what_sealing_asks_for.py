"""The pure rules of sealing: the points of a sheet, and what is missing."""

from decimal import Decimal
from typing import Any

import pytest

from apps.reasoning.marking.schemes.scheme import Scheme
from apps.reasoning.marking.schemes.text_form import text_read
from apps.reasoning.marking.sheets.commands import Script, sheet_apply
from apps.reasoning.marking.sheets.sealing import missing_for_seal, sheet_points
from apps.reasoning.marking.sheets.sheet import MarkSheet
from apps.reasoning.texts.segmentation import segment
from tests.contests.factory import TEXT
from tests.schemes.factory import content

SCRIPT = Script(source=TEXT, steps=segment(TEXT))
PLACE = ("verdict", {"id": "v1", "step": 1, "fallacy": "gap"})
ONE, HALF = Decimal(1), Decimal("0.5")


def written(*commands: tuple[str, dict[str, Any]], scheme: Scheme | None = None) -> MarkSheet:
    sheet = MarkSheet()
    for verb, args in commands:
        sheet = sheet_apply(sheet, verb, args, scheme or content(), SCRIPT)
    return sheet


def lacks(*commands: tuple[str, dict[str, Any]], step: Decimal = ONE, asks_place: bool = True, **more: Scheme) -> str:
    scheme = more.get("scheme", content())
    return " ".join(missing_for_seal(written(*commands, scheme=scheme), scheme, step, asks_place=asks_place))


def ticked(*codes: str) -> list[tuple[str, dict[str, Any]]]:
    return [("tick", {"code": code}) for code in codes]


def test_an_empty_sheet_cannot_be_sealed() -> None:
    assert "Give points" in lacks()


@pytest.mark.parametrize("points", [0, 7])
def test_no_points_and_all_points_need_nothing_more(points: int) -> None:
    assert lacks(("points", {"points": points})) == ""


def test_ticks_that_give_all_points_need_nothing_more() -> None:
    assert lacks(*ticked("A1", "A2")) == ""
    assert sheet_points(written(*ticked("A1", "A2")), content(), ONE).points == 7


def test_points_between_none_and_all_need_a_place() -> None:
    assert "an item ticked at a step or page, or a verdict or a comment there" in lacks(("points", {"points": 6}))
    assert "ticked at a step" in lacks(*ticked("A1"))
    assert lacks(("tick", {"code": "A1", "step": 2})) == ""
    assert lacks(("points", {"points": 6}), PLACE) == ""
    assert lacks(("points", {"points": 6}), ("comment", {"id": "c", "step": 2, "words": "Say more."})) == ""
    assert "ticked at a step" in lacks(("points", {"points": 6}), ("comment", {"id": "c", "words": "About it all."}))
    assert lacks(("points", {"points": 6}), asks_place=False) == ""


def test_all_points_with_an_error_that_matters_need_a_reason() -> None:
    assert "in spite of an independent error" in lacks(("points", {"points": 7}), PLACE)
    assert lacks(("points", {"points": 7}), PLACE, ("verdict_role", {"id": "v1", "role": "harmless"})) == ""
    assert lacks(("points", {"points": 7}), PLACE, ("reason", {"words": "The gap is a slip of the pen."})) == ""


def test_points_in_the_middle_need_a_chain_or_a_reason() -> None:
    assert "in the middle" in lacks(("points", {"points": 4}), PLACE)
    assert lacks(("points", {"points": 4}), ("reason", {"words": "Half of it."}), PLACE) == ""
    assert lacks(("points", {"points": 4}), ("approach", {"words": "Lattices."}), PLACE) == ""
    assert lacks(*ticked("A1"), PLACE) == ""
    assert "in the middle" not in lacks(("points", {"points": 2}), PLACE)


def test_the_middle_depends_on_the_scale() -> None:
    twenty_one = text_read("scale 21\ncheckpoint A1, 21 points: All.")
    assert "in the middle" in lacks(("points", {"points": 12}), PLACE, scheme=twenty_one)
    assert lacks(("points", {"points": 7}), PLACE, scheme=twenty_one) == ""


def test_typed_points_that_differ_from_the_ticks_need_a_reason() -> None:
    assert "The items give 3 and you typed 6" in lacks(*ticked("A1"), ("points", {"points": 6}), PLACE)
    assert lacks(*ticked("A1"), ("points", {"points": 6}), ("reason", {"words": "A2 nearly."}), PLACE) == ""
    assert lacks(*ticked("A1"), ("points", {"points": 3}), PLACE) == ""


def test_points_follow_the_step_and_the_scale() -> None:
    assert "no multiple of 1" in lacks(("points", {"points": "6.5"}), PLACE)
    assert lacks(("points", {"points": "6.5"}), PLACE, step=HALF) == ""
    assert "more than the scale of 7" in lacks(("points", {"points": 8}))


def test_items_between_two_steps_need_a_choice() -> None:
    halves = text_read("step 0.5\ncheckpoint A1, 6.5 points: Nearly.\ncheckpoint A2, 0.5 points: The rest.")
    assert "type 6 or 7" in lacks(*ticked("A1"), PLACE, scheme=halves)
    assert lacks(*ticked("A1"), ("points", {"points": 6}), PLACE, scheme=halves) == ""
    assert lacks(*ticked("A1"), PLACE, scheme=halves, step=HALF) == ""


def test_a_consequence_needs_its_root() -> None:
    follows = ("verdict", {"id": "v2", "step": 2, "fallacy": "gap", "role": "consequence"})
    assert "Step 2: say which error" in lacks(("points", {"points": 0}), follows)
    root = ("verdict", {"id": "v1", "step": 1, "fallacy": "gap", "role": "root"})
    assert lacks(("points", {"points": 0}), root, follows) == ""


def test_a_band_that_differs_from_the_points_needs_a_reason() -> None:
    assert "essentially a solution" in lacks(("band", {"band": "solution"}), ("points", {"points": 2}), PLACE)
    assert "a beginning" in lacks(("band", {"band": "beginning"}), ("points", {"points": 7}))
    assert lacks(("band", {"band": "solution"}), ("points", {"points": 7})) == ""


def test_a_mixed_case_needs_a_reason() -> None:
    mixing = text_read(
        "mixing: Parts are independent.\nchain A: a\nchain B: b\n"
        "checkpoint A1, 3 points, chain A: One.\ncheckpoint A2, 4 points, chain A: More.\n"
        "checkpoint B1, 7 points, chain B: All."
    )
    mixed = [*ticked("A1", "A2"), ("mixed", {"on": True})]
    assert "mixed case needs a reason" in lacks(*mixed, scheme=mixing)
    assert lacks(*ticked("A1", "A2"), ("mixed", {"on": True, "reason": "Both parts."}), scheme=mixing) == ""


def test_comments_to_the_student_give_no_points() -> None:
    scheme = text_read("checkpoint A1, 7 points: All.\nfeedback F1: Write more neatly.")
    assert sheet_points(written(*ticked("F1"), scheme=scheme), scheme, ONE).points is None
    assert "Give points" in lacks(*ticked("F1"), scheme=scheme)
