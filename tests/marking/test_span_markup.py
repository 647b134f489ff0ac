"""Errors marked in a text: read, written, read again the same; the scale of 1 to 4 as points of 7."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.marking.sheets.sheet import Fallacy
from apps.reasoning.marking.span_markup import (
    Marked,
    findings_of,
    markup_read,
    markup_write,
    places_of,
    points_of_four,
)
from apps.reasoning.texts.segmentation import segment

TEXT = (
    'We try values.\n\n<span class= "proof-by-example"> As it holds for $n = 1,2,3$ it holds for all $n$. </span>\n\nSo '
    "<span class='calculation-mistakes wrong-logical-conclusion'>$2+2=5$</span>."
)


def test_marked_places_are_taken_out_without_the_white_space_at_their_ends() -> None:
    read = markup_read(TEXT)
    assert "span" not in read.source
    assert [read.source[one.start : one.end] for one in read.places] == [
        "As it holds for $n = 1,2,3$ it holds for all $n$.",
        "$2+2=5$",
    ]
    assert read.places[1].fallacies == (Fallacy.CALCULATION, Fallacy.CONCLUSION)
    assert read.faults == ()


def test_each_fallacy_becomes_a_finding_at_its_step_and_they_go_back_to_the_same_markup() -> None:
    read = markup_read(TEXT)
    steps = [(one.start, one.end) for one in segment(read.source)]
    found = findings_of(read, steps)
    assert [(one.id, one.step, one.fallacy) for one in found] == [
        ("E1", 2, Fallacy.EXAMPLE),
        ("E2", 3, Fallacy.CALCULATION),
        ("E3", 3, Fallacy.CONCLUSION),
    ]
    again = markup_read(markup_write(read.source, places_of(found)))
    assert (again.source, again.places) == (read.source, read.places)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('<span class="proof-by-example">a', "never closed"),
        ("a</span>", "never opened"),
        ("<span>a</span>", "names no fallacy"),
        ('<span class="magic">a</span>', "no fallacy “magic”"),
        ('<span class="gap">  </span>', "marks nothing"),
    ],
)
def test_unreadable_markup_is_reported_and_marks_nothing(text: str, fault: str) -> None:
    read = markup_read(text)
    assert read.places == ()
    assert any(fault in one for one in read.faults)
    assert "<" not in read.source


def test_names_are_known_however_they_are_written_and_an_unknown_one_costs_only_itself() -> None:
    read = markup_read('<SPAN CLASS="Proof_By_Example, magic" id=7>a</span>')
    assert read.places[0].fallacies == (Fallacy.EXAMPLE,)
    assert len(read.faults) == 1


def test_a_text_that_speaks_of_spans_comes_back_as_it_was() -> None:
    source = "The tag <span> and &lt;span and &amp;lt;/span, a < b & c."
    written = markup_write(source, [Marked(start=0, end=3, fallacies=(Fallacy.GAP,))])
    read = markup_read(written)
    assert read.source == source
    assert [(one.start, one.end) for one in read.places] == [(0, 3)]


def test_spans_that_cross_are_written_in_pieces() -> None:
    places = [Marked(start=0, end=5, fallacies=(Fallacy.GAP,)), Marked(start=3, end=8, fallacies=(Fallacy.CASE,))]
    read = markup_read(markup_write("abcdefgh", places))
    assert [(one.start, one.end, one.fallacies[0].value) for one in read.places] == [
        (0, 5, "gap"),
        (3, 5, "missing-case"),
        (5, 8, "missing-case"),
    ]


@given(
    st.text(alphabet="ab <>&;$span/lt", min_size=1, max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 8), st.sampled_from(list(Fallacy))), max_size=6),
)
def test_what_is_written_is_read_again(source: str, drawn: list[tuple[int, int, Fallacy]]) -> None:
    marked: dict[tuple[int, int], Marked] = {}
    for start, length, fallacy in drawn:
        end = min(start + length, len(source))
        inside = source[start:end]
        apart = all(end <= one.start or one.end <= start for one in marked.values())
        if inside.strip() == inside and inside and apart:
            marked[(start, end)] = Marked(start=start, end=end, fallacies=(fallacy,))
    read = markup_read(markup_write(source, marked.values()))
    assert read.source == source
    assert list(read.places) == sorted(marked.values(), key=lambda one: one.start)
    assert read.faults == ()


def test_grades_of_four_are_points_of_seven() -> None:
    assert [points_of_four(grade) for grade in (1, 2, 3, 4)] == [1, 3, 5, 7]
    with pytest.raises(ValueError, match="no grade"):
        points_of_four(5)
