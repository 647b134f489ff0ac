"""Every command on a sheet and its refusals; no sequence of commands makes an invalid sheet."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.marking.sheets.commands import VERBS, CommandRefused, Script, fields_differing, sheet_apply, sheet_json
from apps.reasoning.marking.sheets.positions import Position, sheet_at
from apps.reasoning.marking.sheets.sealing import missing_for_seal, sheet_points
from apps.reasoning.marking.sheets.sheet import Band, Fallacy, MarkSheet, Role
from apps.reasoning.texts.anchors import anchor_span
from apps.reasoning.texts.segmentation import segment
from tests.contests.factory import TEXT
from tests.marks.sealing.test_what_sealing_asks_for import ONE, SCRIPT, written
from tests.schemes.factory import content

ROOT = ("verdict", {"id": "r", "step": 1, "fallacy": "gap", "role": "root"})
NEXT = ("verdict", {"id": "n", "step": 2, "fallacy": "unclear", "role": "consequence", "root": "r"})


def refused(*commands: tuple[str, dict[str, Any]]) -> str:
    with pytest.raises(CommandRefused) as error:
        written(*commands)
    return str(error.value)


def test_band_points_reason_and_approach_are_set_and_cleared() -> None:
    sheet = written(("band", {"band": "solution"}), ("points", {"points": "3.5"}), ("reason", {"words": " because "}))
    assert (sheet.band, str(sheet.typed), sheet.reason) == (Band.SOLUTION, "3.5", "because")
    cleared = sheet_apply(sheet, "points", {"points": None}, content(), SCRIPT)
    assert cleared.typed is None
    assert sheet_apply(cleared, "band", {"band": None}, content(), SCRIPT).band is None
    assert "points" in refused(("points", {"points": "many"}))
    assert "band" in refused(("band", {"band": "middling"}))


def test_ticks_are_items_of_the_scheme() -> None:
    assert written(("tick", {"code": "A1"}), ("tick", {"code": "A1"})).ticks == {"A1"}
    assert written(("tick", {"code": "A1"}), ("untick", {"code": "A1"})).ticks == frozenset()
    assert refused(("tick", {"code": "Z9"})) == "Z9 is no item of this scheme."


def test_a_tick_may_have_the_step_at_which_it_was_found() -> None:
    sheet = written(("tick", {"code": "A1", "step": 2}), ("tick", {"code": "A2"}))
    assert sheet.places == {"A1": 2}
    assert written(("tick", {"code": "A1", "step": 2}), ("untick", {"code": "A1"})).places == {}
    assert written(("tick", {"code": "A1", "step": 2}), ("claim", {"line": "B1"})).places == {}
    assert refused(("tick", {"code": "A1", "step": 9})) == "The script has no step 9."
    assert sheet_at(sheet, Position(ticks=frozenset({"B1"}))).places == {}, "another claim keeps no place of an item that went"


def test_a_claim_line_replaces_all_ticks() -> None:
    sheet = written(("tick", {"code": "B1"}), ("claim", {"line": "A1 A2 !K5"}))
    assert sheet.ticks == {"A1", "A2", "K5"}
    assert "Did you mean A1" in refused(("claim", {"line": "a1"}))


def test_a_mixed_case_needs_a_scheme_that_allows_it() -> None:
    assert "does not add" in refused(("mixed", {"on": True}))


def test_a_verdict_has_a_step_and_a_place() -> None:
    place = {"start": TEXT.index("a^2"), "end": TEXT.index("a^2") + 2}
    sheet = written(("verdict", {"id": "v", "step": 1, "fallacy": "gap", "anchor": place, "items": ["A1", "A1"]}))
    (verdict,) = sheet.verdicts
    assert verdict.anchor is not None
    start, end = anchor_span(TEXT, verdict.anchor)
    assert TEXT[start:end] == "$p = a^2 + b^2$"  # A formula is never cut.
    assert verdict.items == ("A1",)
    assert refused(("verdict", {"id": "v", "step": 9, "fallacy": "gap"})) == "The script has no step 9."
    assert "is not in step 2" in refused(("verdict", {"id": "v", "step": 2, "fallacy": "gap", "anchor": place}))
    assert "no place" in refused(("verdict", {"id": "v", "step": 1, "fallacy": "gap", "anchor": {"start": 5, "end": 5}}))
    assert "fallacy" in refused(("verdict", {"id": "v", "step": 1, "fallacy": "boredom"}))


def test_a_verdict_with_the_same_id_replaces_the_old_one() -> None:
    sheet = written(ROOT, ("verdict", {"id": "r", "step": 2, "fallacy": "unclear"}))
    assert [(one.step, one.fallacy) for one in sheet.verdicts] == [(2, Fallacy.UNCLEAR)]


def test_a_consequence_follows_from_the_last_root() -> None:
    sheet = written(ROOT, ("verdict", {"id": "n", "step": 2, "fallacy": "gap", "role": "consequence"}))
    assert sheet.verdicts[1].root == "r"
    assert sheet.first_error == 1


def test_the_cause_of_a_consequence_becomes_a_root() -> None:
    independent = ("verdict", {"id": "r", "step": 1, "fallacy": "gap"})
    assert written(independent, NEXT).verdicts[0].role is Role.ROOT


def test_a_consequence_follows_neither_from_a_consequence_nor_from_itself() -> None:
    third = {"id": "t", "step": 2, "fallacy": "gap", "role": "consequence"}
    assert "not from a consequence" in refused(ROOT, NEXT, ("verdict", third | {"root": "n"}))
    assert "of itself" in refused(ROOT, ("verdict_role", {"id": "r", "role": "consequence", "root": "r"}))
    assert "no longer there" in refused(("verdict", third | {"root": "gone"}))


def test_a_consequence_without_its_root_is_reported() -> None:
    for undone in (("verdict_remove", {"id": "r"}), ("verdict_role", {"id": "r", "role": "harmless"})):
        sheet = written(ROOT, NEXT, undone)
        assert sheet.verdicts[-1].root == ""
        assert any("say which error" in one for one in missing_for_seal(sheet, content(), ONE, asks_place=True))
    assert "no longer there" in refused(("verdict_remove", {"id": "r"}))


def test_a_harmless_error_is_not_the_first_error() -> None:
    sheet = written(ROOT, ("verdict_role", {"id": "r", "role": "harmless"}))
    assert sheet.first_error is None


def test_comments_are_about_a_step_or_the_whole_script() -> None:
    sheet = written(("comment", {"id": "c", "words": "Well  done.\r\n"}), ("comment", {"id": "d", "step": 2, "words": "Why?"}))
    assert [(one.step, one.words) for one in sheet.comments] == [(0, "Well  done."), (2, "Why?")]
    assert sheet_apply(sheet, "comment_remove", {"id": "c"}, content(), SCRIPT).comments == sheet.comments[1:]
    assert refused(("comment", {"id": "c", "words": "  "})) == "The comment is empty."
    assert "no longer there" in refused(("comment_remove", {"id": "c"}))


def test_a_step_is_granted_and_withdrawn() -> None:
    assert written(("grant", {"step": 1, "on": True})).granted == {1}
    assert written(("grant", {"step": 1, "on": True}), ("grant", {"step": 1, "on": False})).granted == frozenset()
    assert "no step 7" in refused(("grant", {"step": 7, "on": True}))


def test_evidence_is_linked_to_items() -> None:
    link = {"kind": "verdict", "id": "r", "code": "K5", "on": True}
    assert written(ROOT, ("link", link), ("link", link)).verdicts[0].items == ("K5",)
    assert written(ROOT, ("link", link), ("link", link | {"on": False})).verdicts[0].items == ()
    assert "no item" in refused(ROOT, ("link", link | {"code": "Z"}))
    assert "no longer there" in refused(("link", link))


def test_clear_empties_the_sheet_and_unknown_commands_are_refused() -> None:
    assert written(ROOT, ("clear", {})) == MarkSheet()
    assert "no command" in refused(("explode", {}))
    assert "clear" in refused(("clear", {"really": True}))


def test_differing_fields_are_named() -> None:
    assert fields_differing(written(ROOT), written(("points", {"points": 1}))) == ["typed", "verdicts"]
    assert fields_differing(written(ROOT), written(ROOT)) == []


IDS = st.sampled_from(["a", "b", "c", "d"])
ARGS = {
    "band": st.fixed_dictionaries({"band": st.sampled_from(["solution", "beginning", None])}),
    "points": st.fixed_dictionaries({"points": st.sampled_from([None, 0, 3, "3.5", 7, 9])}),
    "tick": st.fixed_dictionaries(
        {"code": st.sampled_from(["A1", "A2", "B1", "K5", "D1", "Z"])}, optional={"step": st.sampled_from([1, 2, 9])}
    ),
    "untick": st.fixed_dictionaries({"code": st.sampled_from(["A1", "A2", "Z"])}),
    "claim": st.fixed_dictionaries({"line": st.sampled_from(["A1 A2", "B1 !K5", "A1 -D1", "what"])}),
    "mixed": st.fixed_dictionaries({"on": st.booleans()}),
    "reason": st.fixed_dictionaries({"words": st.text(max_size=20)}),
    "approach": st.fixed_dictionaries({"words": st.text(max_size=20)}),
    "verdict": st.fixed_dictionaries(
        {"id": IDS, "step": st.integers(0, 3), "fallacy": st.sampled_from(list(Fallacy)), "role": st.sampled_from(list(Role))},
        optional={"root": IDS, "words": st.text(max_size=20)},
    ),
    "verdict_role": st.fixed_dictionaries({"id": IDS, "role": st.sampled_from(list(Role))}, optional={"root": IDS}),
    "verdict_remove": st.fixed_dictionaries({"id": IDS}),
    "comment": st.fixed_dictionaries({"id": IDS, "step": st.integers(0, 3), "words": st.text(max_size=20)}),
    "comment_remove": st.fixed_dictionaries({"id": IDS}),
    "grant": st.fixed_dictionaries({"step": st.integers(0, 3), "on": st.booleans()}),
    "link": st.fixed_dictionaries(
        {"kind": st.sampled_from(["verdict", "comment"]), "id": IDS, "code": st.sampled_from(["A1", "Z"]), "on": st.booleans()}
    ),
    "clear": st.just({}),
}
COMMANDS = st.sampled_from(sorted(VERBS)).flatmap(lambda verb: st.tuples(st.just(verb), ARGS[verb]))


@given(st.lists(COMMANDS, max_size=25))
def test_every_sequence_of_commands_gives_a_valid_sheet(commands: list[tuple[str, dict[str, Any]]]) -> None:
    sheet = MarkSheet()
    for verb, args in commands:
        with suppress(CommandRefused):
            sheet = sheet_apply(sheet, verb, args, content(), SCRIPT)
    assert MarkSheet.model_validate(sheet_json(sheet)) == sheet
    roles = {one.id: one.role for one in sheet.verdicts}
    for one in sheet.verdicts:
        assert one.root == "" or roles[one.root] is Role.ROOT
        assert one.role is Role.CONSEQUENCE or one.root == ""
    assert sheet.ticks <= {item.code for item in content().items}
    worth = sheet_points(sheet, content(), ONE)
    lacks = missing_for_seal(sheet, content(), ONE, asks_place=True)
    assert lacks or (worth.points is not None and 0 <= worth.points <= 7 and worth.points % 1 == 0)


def test_places_count_code_points() -> None:
    source = "Let 𝔽 be a field 👩‍🚀.\n\nThen $x \\in 𝔽$."
    script = Script(source=source, steps=segment(source))
    start = source.index("field")
    place = {"start": start, "end": start + 5}
    sheet = sheet_apply(MarkSheet(), "comment", {"id": "c", "step": 1, "words": "!", "anchor": place}, content(), script)
    anchor = sheet.comments[0].anchor
    assert anchor is not None
    assert anchor.quote == "field"
