"""Remarks are carried to a newer text only on exact match and with their root; what a student reads has nothing for markers."""

import random
from decimal import Decimal

import pytest

from apps.reasoning.marking.schemes.text_form import text_read
from apps.reasoning.marking.sheets.carrying import Carrying, remarks_carried
from apps.reasoning.marking.sheets.commands import Script
from apps.reasoning.marking.sheets.sheet import Comment, Fallacy, MarkSheet, Role, StepVerdict
from apps.reasoning.marking.sheets.student_view import (
    comments_shown,
    derivation_shown,
    items_ticked,
    items_written,
    remarks_ticked,
)
from apps.reasoning.texts.anchors import Anchor, anchor_make
from apps.reasoning.texts.segmentation import segment

PARTS = ["Let $a$ be one.", "Then $b = a$.", "Similarly $c = a$.", "Hence $b = c$.", "This ends it."]
SCHEME = text_read(
    """scale 7
mixing: Both halves stand alone.
remarks: sentinel-remarks
chain A: One
chain B: Two
checkpoint A1, 3 points, chain A: First half.
  note: sentinel-note
checkpoint A2, 4 points, chain A: Second half.
checkpoint B1, 7 points, chain B: All.
zero-credit Z1: Small cases.
cap K5, at most 5: The sign.
deduction D1, 1 point: A slip.
feedback F1: Write more.
"""
)


def script(*parts: str) -> Script:
    source = "\n\n".join(parts)
    return Script(source=source, steps=segment(source))


def verdict(key: str, step: int, role: Role = Role.INDEPENDENT, root: str = "", anchor: Anchor | None = None) -> StepVerdict:
    return StepVerdict(id=key, step=step, fallacy=Fallacy.GAP, role=role, root=root, anchor=anchor)


def carried(new: Script, *verdicts: StepVerdict, comments: tuple[Comment, ...] = ()) -> Carrying:
    return remarks_carried(verdicts, comments, script(*PARTS), new)


def test_a_verdict_moves_with_its_step() -> None:
    found = carried(script("A new beginning.", *PARTS), verdict("v", 2)).verdicts[0]
    assert (found.fate, found.step) == ("kept", 3)


def test_an_anchor_moves_with_its_words() -> None:
    old = script(*PARTS)
    place = old.source.index("$b = a$")
    one = verdict("v", 2, anchor=anchor_make(old.source, place, place + 7))
    new = script("New.", *PARTS)
    found = carried(new, one).verdicts[0]
    assert found.anchor is not None
    assert new.source[found.anchor.start : found.anchor.end] == "$b = a$"


def test_an_anchor_over_two_steps_of_which_one_was_changed_needs_a_person() -> None:
    old = script(*PARTS)
    one = verdict("v", 2, anchor=anchor_make(old.source, old.source.index("Then"), old.source.index("Hence")))
    found = carried(script(PARTS[0], PARTS[1], "Similarly $d = a$.", *PARTS[3:]), one).verdicts[0]
    assert (found.fate, found.step, found.anchor) == ("needs confirmation", 2, None)


def test_a_consequence_is_kept_only_with_its_root_however_far_away() -> None:
    chain = (verdict("r", 1, Role.ROOT), verdict("m", 3, Role.CONSEQUENCE, "r"), verdict("e", 4, Role.CONSEQUENCE, "m"))
    kept = carried(script(*PARTS, "More."), *chain)
    assert [one.fate for one in kept.verdicts] == ["kept"] * 3
    changed = carried(script("Let $a$ be two.", *PARTS[1:]), *chain)
    assert [one.fate for one in changed.verdicts] == ["needs confirmation"] * 3


def test_circular_consequences_end_and_are_kept_by_no_remark() -> None:
    circle = (verdict("x", 1, Role.CONSEQUENCE, "y"), verdict("y", 2, Role.CONSEQUENCE, "x"))
    assert {one.fate for one in carried(script(*PARTS, "More."), *circle).verdicts} == {"needs confirmation"}


def test_removed_passages_are_reported_and_a_remark_about_the_whole_waits() -> None:
    comment = Comment(id="c", step=0, words="Well begun.")
    found = carried(script(*PARTS[:4]), verdict("v", 5), comments=(comment,))
    assert found.verdicts[0].fate == "orphaned"
    assert found.comments[0].fate == "needs confirmation"
    assert carried(script(*PARTS), comments=(comment,)).comments[0].fate == "kept"


@pytest.mark.parametrize("seed", range(30))
def test_no_kept_remark_is_ever_placed_at_other_words(seed: int) -> None:
    draw = random.Random(seed)
    old = script(*PARTS)
    parts = [part for part in PARTS if draw.random() > 0.2]
    draw.shuffle(parts)
    for _ in range(draw.randrange(3)):
        parts.insert(draw.randrange(len(parts) + 1), draw.choice([*PARTS, "Quite new."]))
    new = script(*(parts or ["Nothing."]))
    verdicts = [verdict(f"v{step.number}", step.number) for step in old.steps]
    texts = {step.number: step.text_in(new.source) for step in new.steps}
    for one, fate in zip(verdicts, remarks_carried(verdicts, (), old, new).verdicts, strict=True):
        if fate.fate == "kept":
            assert texts[fate.step or 0] == PARTS[one.step - 1]


def test_a_derivation_for_students_names_no_cap_that_did_not_hold() -> None:
    sheet = MarkSheet(ticks=frozenset({"A1", "Z1", "F1"}))
    assert derivation_shown(SCHEME, sheet, Decimal(3)) == "Chain A: A1 3 = 3"
    capped = MarkSheet(ticks=frozenset({"A1", "A2", "K5"}))
    assert derivation_shown(SCHEME, capped, Decimal(5)) == "Chain A: A1 3 + A2 4 = 7; cap 5 → 5"


def test_points_decided_by_people_are_reported_as_such() -> None:
    assert derivation_shown(SCHEME, MarkSheet(ticks=frozenset({"A1"})), Decimal(2)).endswith("the markers decided 2")
    assert derivation_shown(SCHEME, MarkSheet(typed=Decimal(4), reason="sentinel"), Decimal(4)) == ""


def test_students_read_items_without_notes_and_comments_for_them_only() -> None:
    sheet = MarkSheet(
        ticks=frozenset({"A1", "Z1", "F1"}),
        comments=(Comment(id="a", words="Yes."), Comment(id="b", words="sentinel", audience="markers")),
    )
    assert [item.code for item in items_ticked(SCHEME, sheet)] == ["A1", "Z1"]
    assert len(items_written(SCHEME, sheet)) == 7
    assert remarks_ticked(SCHEME, sheet) == ("Write more.",)
    assert [one.words for one in comments_shown(sheet)] == ["Yes."]
    assert "sentinel" not in str([*items_ticked(SCHEME, sheet), *items_written(SCHEME, sheet)])
