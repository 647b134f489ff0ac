"""Pairs that count in statistics; other pairs are reported and never count as 0."""

import pytest

from apps.reasoning.agreement.pairs import Pair, by_author, split
from apps.reasoning.agreement.report import FEW, AuthorsMixed, agree, points_or_unscored
from apps.reasoning.agreement.scales import Scale
from apps.reasoning.domain.values import Unscored
from tests.agreement.tables import pairs_of


def clean(count: int = 30) -> list[Pair]:
    return pairs_of([0.0, 1.0, 7.0] * (count // 3), [0.0, 2.0, 7.0] * (count // 3), problems=5)


def test_an_unscored_paper_changes_no_statistic() -> None:
    without = agree(clean(), draws=50)
    unread = [pair.model_copy(update={"paper": "x", "predicted": Unscored(reason="no verdict")}) for pair in clean(3)]
    found = agree(clean() + unread, draws=50)
    assert found.estimates == without.estimates
    assert found.counts == without.counts
    assert {missing.reason for missing in found.unscored} == {"no verdict"}


def test_only_the_accuracy_counts_unscored_papers_as_wrong() -> None:
    found = agree(pairs_of([7, 7, 7, 7], [7, 7, 7, None]))
    assert found.accuracy == 3 / 4
    assert (found.counts.pairs, found.counts.same) == (3, 3)


def test_a_contaminated_pair_is_counted_and_excluded() -> None:
    seen = [pair.model_copy(update={"contaminated": "made after a reveal"}) for pair in pairs_of([0] * 10, [7] * 10)]
    found = agree(clean() + seen, draws=0)
    assert found.estimates == agree(clean(), draws=0).estimates
    assert {missing.reason for missing in found.contaminated} == {"made after a reveal"}
    assert len(found.contaminated) == 10


def test_a_contaminated_pair_does_not_affect_the_scale() -> None:
    half = Pair(paper="x", human=3.5, predicted=7, contaminated="made after a reveal")
    assert agree([*clean(), half]).scale.step == 1
    assert agree([*clean(), half.model_copy(update={"contaminated": ""})]).scale.step == 0.5


def test_a_paper_without_a_mark_is_neither_right_nor_wrong() -> None:
    unmarked = Pair(paper="x", human=Unscored(reason="not marked yet"), predicted=7)
    found = agree([*clean(), unmarked], draws=0)
    assert found.accuracy == agree(clean(), draws=0).accuracy
    assert [missing.paper for missing in found.unmarked] == ["x"]


def test_below_thirty_pairs_there_are_only_counts() -> None:
    few = agree(clean(27))
    assert few.counts.pairs == 27 < FEW
    assert few.estimates == ()
    assert few.counts.same == 18
    with pytest.raises(KeyError):
        few.estimate("qwk")
    assert agree(clean(30), draws=0).estimate("qwk")


def test_a_comparison_without_pairs_raises_no_error() -> None:
    found = agree([Pair(paper="x", human=7, predicted=Unscored(reason="no verdict"))])
    assert (found.counts.pairs, found.accuracy, found.estimates, found.confusion) == (0, 0, (), ())
    assert agree([]).accuracy is None


def test_papers_by_people_and_by_models_are_never_pooled() -> None:
    student, model = (
        [pair.model_copy(update={"author": author}) for pair in clean()] for author in ("student", "model")
    )  # fmt: skip
    with pytest.raises(AuthorsMixed):
        agree(student + model)
    assert {author: agree(part, draws=0).counts.pairs for author, part in by_author(student + model).items()} == {
        "model": 30,
        "student": 30,
    }


def test_a_split_keeps_every_pair_once_including_those_without_the_group() -> None:
    algebra = [pair.model_copy(update={"groups": {"topic": "algebra"}}) for pair in clean(6)]
    parts = split([*algebra, *clean(3)], "topic")
    assert {name: len(part) for name, part in parts.items()} == {"": 3, "algebra": 6}


def test_points_off_the_scale_are_refused_and_the_reader_converts_them_to_unscored() -> None:
    with pytest.raises(ValueError, match="off the scale"):
        agree(pairs_of([7], [9]))
    assert points_or_unscored(7, Scale()) == 7
    for off in (9, -1, float("nan"), float("inf")):
        assert isinstance(points_or_unscored(off, Scale()), Unscored)


def test_the_confusion_matrix_contains_the_papers() -> None:
    found = agree(pairs_of([0, 0, 0, 7], [0, 7, 0, 7]))
    assert [(cell.human, cell.predicted, cell.count, cell.papers) for cell in found.confusion] == [
        (0, 0, 2, ("paper-0", "paper-2")),
        (0, 7, 1, ("paper-1",)),
        (7, 7, 1, ("paper-3",)),
    ]
    assert [cell.share for cell in found.confusion] == [2 / 3, 1 / 3, 1]


def test_bands_have_a_bias_only_with_enough_pairs() -> None:
    found = agree(pairs_of([0.0] * 30 + [4.0] * 3, [1.0] * 30 + [7.0] * 3), draws=0)
    bias = {(band.low, band.high): (band.counts.pairs, band.counts.over, band.bias) for band in found.bands}
    assert bias == {(0, 0): (30, 30, 1), (1, 2): (0, 0, None), (3, 5): (3, 3, None), (6, 7): (0, 0, None)}
