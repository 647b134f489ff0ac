"""Statistics of steps and scheme items on hand-made tables."""

import pytest

from apps.reasoning.agreement.items import TickedPair, items_found
from apps.reasoning.agreement.places import PlacedPair, Places, places_found
from apps.reasoning.domain.values import Unscored


def seen(first: int | None, *roots: tuple[int, str]) -> Places:
    return Places(first=first, roots=roots)


PAIRS = [
    PlacedPair(paper="exact", human=seen(2, (2, "gap")), grader=seen(2, (2, "gap"))),
    PlacedPair(paper="one off", human=seen(3, (3, "gap"), (5, "unclear")), grader=seen(4, (4, "gap"), (5, "gap"))),
    PlacedPair(paper="far off", human=seen(1, (1, "missing-case")), grader=seen(6, (6, "gap"))),
    PlacedPair(paper="person only", human=seen(2, (2, "gap")), grader=seen(None)),
    PlacedPair(paper="grader only", human=seen(None), grader=seen(1, (1, "gap"))),
    PlacedPair(paper="neither", human=seen(None), grader=seen(None)),
]


def test_the_first_error_is_compared_if_both_find_one() -> None:
    found = places_found(PAIRS)
    assert (found.first_exact.count, found.first_exact.of, found.first_exact.papers) == (1, 3, ("exact",))
    assert found.first_within_one.papers == ("exact", "one off")
    assert (found.only_human.papers, found.only_grader.papers) == (("person only",), ("grader only",))
    assert (found.neither.count, found.neither.of) == (1, 6)


def test_precision_and_recall_of_root_errors_are_computed_by_step() -> None:
    found = places_found(PAIRS)
    assert (found.precision.count, found.precision.of) == (2, 5)
    assert (found.recall.count, found.recall.of) == (2, 5)
    assert found.precision.papers == ("one off", "far off", "grader only")
    assert found.recall.papers == ("one off", "far off", "person only")
    assert found.f1 == pytest.approx(0.4)


def test_types_are_compared_on_the_steps_that_both_name() -> None:
    assert [(one.human, one.grader, one.count, one.papers) for one in places_found(PAIRS).types] == [
        ("gap", "gap", 1, ("exact",)),
        ("unclear", "gap", 1, ("one off",)),
    ]


def test_two_types_at_one_step_give_one_count_per_pair_of_types() -> None:
    pair = PlacedPair(paper="a", human=seen(1, (1, "gap"), (1, "unclear")), grader=seen(1, (1, "gap")))
    found = places_found([pair])
    assert [(one.human, one.grader) for one in found.types] == [("gap", "gap"), ("unclear", "gap")]
    assert (found.precision.count, found.precision.of) == (1, 1)


def test_without_scripts_or_errors_shares_are_unscored() -> None:
    for pairs in ([], [PAIRS[-1]]):
        found = places_found(pairs)
        for rate in (found.first_exact, found.precision, found.recall):
            assert isinstance(rate.share, Unscored)
        assert isinstance(found.f1, Unscored)


def test_items_are_counted_in_four_groups_with_their_denominator() -> None:
    def ticks(paper: str, human: str, grader: str) -> TickedPair:
        return TickedPair(paper=paper, human=frozenset(human), grader=frozenset(grader))

    pairs = [ticks("1", "A", "A"), ticks("2", "A", ""), ticks("3", "", "A"), ticks("4", "", ""), ticks("5", "AB", "AX")]
    a, b = items_found(["A", "B"], pairs)
    assert (a.both, a.human_only, a.grader_only, a.neither, a.of) == (("1", "5"), ("2",), ("3",), ("4",), 5)
    assert [a.prevalence, a.agreement] == pytest.approx([0.6, 0.6])
    assert (b.both, b.human_only) == ((), ("5",))
    assert b.prevalence == pytest.approx(0.2)


def test_an_item_without_judged_scripts_has_no_share() -> None:
    (item,) = items_found(["A"], [])
    assert isinstance(item.prevalence, Unscored)
    assert isinstance(item.agreement, Unscored)
