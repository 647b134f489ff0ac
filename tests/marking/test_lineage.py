"""Which item of a new version is which of the old one, and what the two hashes notice."""

from collections.abc import Callable
from itertools import count

import pytest

from apps.reasoning.marking.schemes.lineage import Change, changes, content_hash, lineages_carried, meaning_hash
from apps.reasoning.marking.schemes.scheme import Scheme
from apps.reasoning.marking.schemes.text_form import text_read

TEXT = """scale 7
chain A: One
checkpoint a1, 3 points, chain A: Finds the invariant.
checkpoint a2, 4 points, chain A, needs a1: Uses it, for all $n$.
  note: Sketches count.
cap k, at most 5: A case is missing.
"""


def fresh() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"new{next(numbers)}"


OLD = lineages_carried(text_read(TEXT), None, iter(["L1", "L2", "L3"]).__next__)


def later(*replacements: tuple[str, str]) -> Scheme:
    text = TEXT
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return lineages_carried(text_read(text), OLD, fresh())


def test_every_item_of_a_first_version_gets_a_lineage_of_its_own() -> None:
    assert [item.lineage for item in OLD.items] == ["L1", "L2", "L3"]


def test_an_item_keeps_its_lineage_by_its_code() -> None:
    new = later(("Finds the invariant.", "Finds another invariant."), ("3 points", "2 points"))
    assert [item.lineage for item in new.items] == ["L1", "L2", "L3"]


def test_a_renamed_item_keeps_its_lineage_by_its_text() -> None:
    new = later(("a1", "inv"))
    assert [(item.code, item.lineage) for item in new.items] == [("inv", "L1"), ("a2", "L2"), ("k", "L3")]
    assert changes(OLD, new) == (Change(lineage="L1", code="inv", kind="renamed"),)


def test_two_items_that_swap_codes_follow_their_codes() -> None:
    new = later(("a1", "tmp"), ("a2", "a1"), ("tmp", "a2"))
    assert [(item.code, item.lineage) for item in new.items][:2] == [("a2", "L2"), ("a1", "L1")]


def test_a_new_item_gets_a_fresh_lineage_and_a_removed_one_is_reported() -> None:
    new = later(("cap k, at most 5: A case is missing.", "deduction d, 1 point: A slip."))
    assert [item.lineage for item in new.items] == ["L1", "L2", "new1"]
    assert [(change.code, change.kind) for change in changes(OLD, new)] == [("d", "added"), ("k", "removed")]


def test_a_lineage_from_elsewhere_is_not_believed() -> None:
    stranger = OLD.model_copy(
        update={"items": tuple(item.model_copy(update={"lineage": "X", "code": "q"}) for item in OLD.items[2:])}
    )
    brought = lineages_carried(stranger, text_scheme_without_caps(), fresh())
    assert [item.lineage for item in brought.items] == ["new1"]


def text_scheme_without_caps() -> Scheme:
    return OLD.model_copy(update={"items": OLD.items[:2]})


@pytest.mark.parametrize(
    "replacement",
    [
        ("Finds the invariant.", "finds  the INVARIANT"),
        ("Uses it, for all", "Uses it for all"),
        ("Sketches count.", "Sketches do not count."),
        ("chain A: One", "chain A: The first"),
        ("a1", "inv"),
    ],
)
def test_a_change_that_no_mark_depends_on_keeps_the_meaning(replacement: tuple[str, str]) -> None:
    new = later(replacement)
    assert meaning_hash(new) == meaning_hash(OLD)
    assert content_hash(new) != content_hash(OLD)


@pytest.mark.parametrize(
    ("replacement", "field"),
    [
        (("3 points", "2 points"), "points"),
        (("for all $n$", "for even $n$"), "text"),
        (("for all $n$", "for all $n<m$"), "text"),
        ((", needs a1", ""), "requires"),
        (("a2, 4 points, chain A", "a2, 4 points"), "chains"),
        (("at most 5:", "at most 4:"), "points"),
    ],
)
def test_a_change_that_marks_depend_on_changes_the_meaning(replacement: tuple[str, str], field: str) -> None:
    new = later(replacement)
    assert meaning_hash(new) != meaning_hash(OLD)
    assert [(change.kind, change.fields) for change in changes(OLD, new)] == [("meaning", (field,))]


def test_the_scale_and_the_order_of_items() -> None:
    assert meaning_hash(later(("scale 7", "scale 10"))) != meaning_hash(OLD)
    turned = OLD.model_copy(update={"items": OLD.items[::-1]})
    assert meaning_hash(turned) == meaning_hash(OLD)
    assert content_hash(turned) != content_hash(OLD)


def test_a_change_of_wording_is_reported_as_such() -> None:
    new = later(("Sketches count.", "Sketches do not count."))
    assert changes(OLD, new) == (Change(lineage="L2", code="a2", kind="wording", fields=("note",)),)


def test_the_content_does_not_depend_on_lineage() -> None:
    assert content_hash(text_read(TEXT)) == content_hash(OLD)
