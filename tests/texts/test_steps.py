"""How a submission falls into numbered steps."""

import csv
import os
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given

from apps.reasoning.texts.formulas import formulas
from apps.reasoning.texts.segmentation import segment, sentences
from apps.reasoning.texts.source import source_of
from tests.texts.made import ANYTHING, RAW, examples

SHARED = Path(__file__).resolve().parents[2] / os.environ.get("SHARED_DATA", "../shared/data")
LARGE = 80_000
needs_shared_data = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not SHARED.is_dir() and os.environ.get("CI") != "true", reason="there is no SHARED_DATA"),
]


def texts(source: str) -> list[str]:
    return [step.text_in(source) for step in segment(source)]


def assert_covered(source: str) -> None:
    """Steps are in order, apart, trimmed, and hold everything that is not white space."""
    place = 0
    for number, step in enumerate(segment(source), start=1):
        text = step.text_in(source)
        assert step.number == number
        assert text == text.strip() != ""
        assert source[place : step.start].strip() == ""
        assert place <= step.start < step.end
        place = step.end
    assert source[place:].strip() == ""


@examples(200)
@given(RAW | ANYTHING)
def test_every_character_lies_in_exactly_one_step(raw: str) -> None:
    assert_covered(source_of(raw))


@examples(200)
@given(RAW)
def test_no_formula_is_cut(raw: str) -> None:
    source = source_of(raw)
    edges = {place for step in segment(source) for place in (step.start, step.end)}
    for formula in formulas(source):
        assert not any(formula.start < place < formula.end for place in edges)


@examples(100)
@given(RAW)
def test_the_same_source_gives_the_same_steps(raw: str) -> None:
    assert segment(source_of(raw)) == segment(source_of(source_of(raw)))


def test_paragraphs_headings_items_and_named_parts_are_steps() -> None:
    source = (
        "# Solution\nLet $n>0$.\n\nCase 1: $n$ even.\nFine.\nCase 2: odd.\n- one\n  continues\n- two\n\n\\section{Next}\nEnd."
    )
    assert texts(source) == [
        "# Solution",
        "Let $n>0$.",
        "Case 1: $n$ even.\nFine.",
        "Case 2: odd.",
        "- one\n  continues",
        "- two",
        "\\section{Next}",
        "End.",
    ]
    assert [step.number for step in segment(source) if step.kind == "heading"] == [1, 7]


def test_a_formula_on_lines_of_its_own_belongs_to_its_sentence() -> None:
    source = "We claim\n\n$$a = b\n\n- 5$$\n\nwhere $a$ is even.\n\nNext."
    assert texts(source) == ["We claim\n\n$$a = b\n\n- 5$$\n\nwhere $a$ is even.", "Next."]


def test_a_wrapped_line_is_no_list_item_and_no_part() -> None:
    assert len(texts("The value is at least\n5. Then it follows. In this\ncase we are done, as in point\nA. So be it.")) == 1


def test_the_end_of_a_proof_belongs_to_it() -> None:
    assert texts("\\begin{proof}\nTrivial.\n\n\\end{proof}\n\nIndeed.\n\n$\\blacksquare$") == [
        "\\begin{proof}\nTrivial.\n\n\\end{proof}",
        "Indeed.\n\n$\\blacksquare$",
    ]


def test_code_and_tables_stay_whole() -> None:
    assert texts("```\na\n\nCase 1\n```\nAfter.\n\n| a |\n|---|\n| b |") == [
        "```\na\n\nCase 1\n```\nAfter.",
        "| a |\n|---|\n| b |",
    ]


def test_a_long_paragraph_is_cut_at_ends_of_sentences() -> None:
    sentence = "Since $f(x). Y$ is odd, i.e. $f(-x) = -f(x)$, we may take cf. Lemma 2 as given for all real numbers. "
    steps = texts(sentence * 15)
    assert len(steps) >= 2
    assert all(step.startswith("Since") and step.endswith("numbers.") and 100 < len(step) <= 800 for step in steps)


def test_a_text_without_substance_has_no_steps() -> None:
    assert segment("") == segment(" \n\n\t") == ()


def test_steps_of_a_large_text_are_found_quickly() -> None:
    source = "Let $x_1$ be odd. Then $$x^2$$ is odd and `x` is not.\n\n" * 2_000
    start = time.perf_counter()
    assert len(segment(source)) == 2_000
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize(
    "piece",
    ["a\n", "a\n\n", "5. b\n", "A. A. ", "- x\n", "$a$ ", "`a ", "# a\n", "\\( ", "\\begin{align} ", "$$\n", "```\n", ". " * 9],
)
def test_no_large_text_takes_long(piece: str) -> None:
    source = (piece * (LARGE // len(piece) + 1))[:LARGE]
    start = time.perf_counter()
    assert_covered(source)
    assert time.perf_counter() - start < 15


def test_a_backtick_in_a_formula_does_not_open_it() -> None:
    source = "We have $a `b`\n- c$ here. ``` $x\n- y$."
    edges = {place for step in segment(source) for place in (step.start, step.end)}
    assert not any(one.start < place < one.end for one in formulas(source) for place in edges)


class TestSharedSubmissions:
    pytestmark = needs_shared_data

    def test_real_proofs_fall_into_steps_of_a_readable_size(self) -> None:
        with (SHARED / "gradingbench/gradingbench_filtered_100_test.csv").open(newline="") as file:
            sources = [source_of(row["Response"]) for row in csv.DictReader(file)]
        sizes = sorted(step.end - step.start for source in sources for step in segment(source))
        for source in sources:
            assert_covered(source)
        assert 60 < sizes[len(sizes) // 2] < 400
        assert sizes[len(sizes) * 95 // 100] < 900


def test_sentences_are_smaller_places_and_cut_no_formula_and_no_abbreviation() -> None:
    source = "Let $n=1.\\ A$ hold, cf. Fig. 2. Then we are done. $\\blacksquare$\n\n# Rest\nNo. 3 is $x$. It is:\n\n$$\nz\n$$"
    assert [one.text_in(source) for one in sentences(source)] == [
        "Let $n=1.\\ A$ hold, cf. Fig. 2.",
        "Then we are done. $\\blacksquare$",
        "# Rest",
        "No. 3 is $x$.",
        "It is:\n\n$$\nz\n$$",
    ]
    assert [one.number for one in sentences(source)] == [1, 2, 3, 4, 5]
    assert sentences("  ") == ()


@given(ANYTHING)
@examples(50)
def test_sentences_of_anything_fill_its_steps(source: str) -> None:
    source = source_of(source)
    spans = [(one.start, one.end) for one in sentences(source)]
    for step in segment(source):
        inside = [span for span in spans if step.start <= span[0] < step.end]
        assert (inside[0][0], inside[-1][1]) == (step.start, step.end)
    assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))
