"""A change of a scheme: what it touches, what becomes of a sheet, and that nothing it does not touch changes its worth."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.marking.schemes.evaluation import evaluate
from apps.reasoning.marking.schemes.lineage import lineages_carried
from apps.reasoning.marking.schemes.rescoring import FRAME, Choice, Effect, Fate, Rescorer, differences, fate
from apps.reasoning.marking.schemes.scheme import Scheme, SchemeItem
from apps.reasoning.marking.schemes.text_form import text_read
from apps.reasoning.marking.sheets.sheet import Comment, Fallacy, MarkSheet, StepVerdict
from tests.marking.made import examples, schemes, sound

ONE = Decimal(1)
OLD = """
checkpoint A1, 3 points: Half of it.
checkpoint A2, 4 points, needs A1: The rest.
cap K, at most 5: The sign is never discussed.
deduction D, 1 point: A slip.
"""


class Fresh:
    """Lineages in a row."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> str:
        self.count += 1
        return f"{self.count:036d}"


def versions(old: str, new: str) -> tuple[Scheme, Scheme]:
    fresh = Fresh()
    before = lineages_carried(text_read(old), None, fresh)
    return before, lineages_carried(text_read(new), before, fresh)


def key_of(scheme: Scheme, code: str) -> str:
    return next(item.lineage for item in scheme.items if item.code == code)


def ticked(*codes: str, **more: object) -> MarkSheet:
    return MarkSheet.model_validate({"ticks": codes, **more})


def test_a_change_touches_the_sheets_that_tick_its_item_and_no_others() -> None:
    old, new = versions(OLD, OLD.replace("A2, 4 points", "A2, 3 points"))
    rescorer = Rescorer(old, new, ONE)
    assert [(one.code, one.fields) for one in rescorer.differences] == [("A2", ("points",))]
    touched, other = rescorer.effect(ticked("A1", "A2")), rescorer.effect(ticked("A1", "D"))
    assert (touched.points, touched.keys) == (Decimal(6), frozenset({key_of(old, "A2")}))
    assert touched.derivation.startswith("A1 3 + A2 3 = 6")
    assert (other.points, other.keys) == (Decimal(2), frozenset())


def test_a_renamed_item_keeps_its_ticks_and_its_links() -> None:
    old, new = versions(OLD, OLD.replace("A1", "B"))
    sheet = ticked(
        "A1",
        "A2",
        verdicts=[StepVerdict(id="v", step=1, fallacy=Fallacy.GAP, items=("A1",))],
        comments=[Comment(id="c", words="Good.", items=("A1", "A2"))],
    )
    effect = Rescorer(old, new, ONE).effect(sheet)
    assert (effect.points, effect.keys, effect.sheet.ticks) == (Decimal(7), frozenset(), frozenset({"B", "A2"}))
    assert effect.sheet.verdicts[0].items == ("B",)
    assert effect.sheet.comments[0].items == ("B", "A2")


def test_the_tick_of_an_item_that_went_is_left_out() -> None:
    old, new = versions(OLD, "\n".join(line for line in OLD.splitlines() if not line.startswith("deduction")))
    effect = Rescorer(old, new, ONE).effect(ticked("A1", "D"))
    assert (effect.points, effect.sheet.ticks, effect.keys) == (Decimal(3), frozenset({"A1"}), frozenset({key_of(old, "D")}))


def test_the_frame_touches_every_sheet() -> None:
    old, new = versions(OLD, "scale 10\n" + OLD)
    assert Rescorer(old, new, ONE).effect(ticked("A1")).keys == {FRAME}
    assert differences(old, new)[0].fields == ("scale",)


def test_words_of_notes_and_codes_are_no_difference() -> None:
    old, new = versions(OLD, OLD.replace("A slip.", "A slip!\n  note: Ask the captain.").replace("K, at", "K2, at"))
    assert differences(old, new) == ()


@pytest.mark.parametrize(
    ("old", "new", "sheet", "why"),
    [
        (OLD, OLD.replace("3 points", "2 points"), ticked("A1", typed=4, reason="An idea."), "was given 4 points by hand"),
        (OLD, OLD.replace("3 points", "2.5 points"), ticked("A1"), "not on the contest's step"),
        ("mixing: Parts.\n" + OLD, OLD, ticked("A1", is_mixed=True, reason="Both."), "mixed case"),
        (OLD, "scale 6\n" + OLD, MarkSheet(typed=Decimal(7)), "was given 7 points by hand, which no longer fits the scale"),
    ],
    ids=["typed", "step", "mixed", "scale"],
)
def test_where_a_person_must_decide_recomputing_becomes_re_marking(old: str, new: str, sheet: MarkSheet, why: str) -> None:
    effect = Rescorer(*versions(old, new), ONE).effect(sheet)
    assert effect.points is None
    assert why in effect.why
    assert fate(effect, dict.fromkeys(effect.keys, Choice.RECOMPUTE)) is Fate.REMARKED
    assert fate(effect, dict.fromkeys(effect.keys, Choice.LEAVE)) is Fate.LEFT


def test_points_that_were_typed_without_items_stay() -> None:
    effect = Rescorer(*versions(OLD, OLD.replace("3 points", "2 points")), ONE).effect(MarkSheet(typed=Decimal(1)))
    assert (effect.points, fate(effect, {})) == (ONE, Fate.UNTOUCHED)


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({"a": Choice.RECOMPUTE, "b": Choice.RECOMPUTE}, Fate.RECOMPUTED),
        ({"a": Choice.RECOMPUTE, "b": Choice.LEAVE}, Fate.LEFT),
        ({"a": Choice.RECOMPUTE}, Fate.LEFT),
        ({"a": Choice.LEAVE, "b": Choice.REMARK}, Fate.REMARKED),
        ({"a": Choice.RECOMPUTE, "b": Choice.RECOMPUTE, "new": Choice.REMARK}, Fate.REMARKED),
        ({"a": Choice.RECOMPUTE, "b": Choice.RECOMPUTE, "new": Choice.LEAVE}, Fate.RECOMPUTED),
    ],
)
def test_of_several_choices_the_most_careful_holds(choices: dict[str, Choice], expected: Fate) -> None:
    effect = Effect(keys=frozenset("ab"), sheet=MarkSheet(), points=ONE)
    assert fate(effect, choices, added=["new"]) is expected


def test_a_new_item_can_be_left_or_asks_for_re_marking() -> None:
    old, new = versions(OLD, OLD + "zero-credit Z: Only examples.")
    (one,) = differences(old, new)
    assert (one.kind, one.choices) == ("added", (Choice.LEAVE, Choice.REMARK))


@st.composite
def two_versions(draw: st.DrawFn) -> tuple[Scheme, Scheme, frozenset[str]]:
    """A scheme, a later version of it in which some items changed, went or came, and a set of ticks."""
    fresh = Fresh()
    old = lineages_carried(draw(schemes().filter(sound)), None, fresh)
    items = [_changed(draw, item) for item in old.items if draw(st.integers(0, 9)) > 0]
    codes = {item.code for item in items}
    items = [
        item.model_copy(
            update={name: tuple(code for code in getattr(item, name) if code in codes) for name in ("requires", "excludes")}
        )
        for item in items
    ]
    scale = draw(st.sampled_from([old.scale, old.scale, old.scale + 1]))
    new = old.model_copy(update={"items": tuple(items), "scale": scale})
    return old, new, frozenset(draw(st.sets(st.sampled_from([item.code for item in old.items]))))


def _changed(draw: st.DrawFn, item: SchemeItem) -> SchemeItem:
    if item.points and draw(st.integers(0, 3)) == 0:
        return item.model_copy(update={"points": item.points + ONE})
    return item


@examples(150)
@given(two_versions().filter(lambda three: sound(three[1])))
def test_what_no_change_touches_is_worth_the_same(three: tuple[Scheme, Scheme, frozenset[str]]) -> None:
    old, new, ticks = three
    effect = Rescorer(old, new, Decimal("0.5")).effect(MarkSheet(ticks=ticks))
    if not effect.keys and ticks:
        assert effect.points == evaluate(old, ticks).points
        assert fate(effect, {}) is Fate.UNTOUCHED


@examples(150)
@given(two_versions().filter(lambda three: sound(three[1])))
def test_recomputing_is_evaluating_the_ticks_under_the_new_version(three: tuple[Scheme, Scheme, frozenset[str]]) -> None:
    old, new, ticks = three
    effect = Rescorer(old, new, Decimal("0.01")).effect(MarkSheet(ticks=ticks))
    kept = {item.code for item in new.items}
    if ticks:
        assert effect.points == evaluate(new, ticks & kept).points
