"""Evidence is shown where the text says it, and formulas stay whole."""

import pytest

from apps.lemmas.anchors import Quoted, quoted

STEPS = ["By Lemma 2, $x_1 > 0$.", "Then $a$ follows from Lemma 3."]


def anchor(where: str, start: int, quote: str) -> dict[str, object]:
    return {"where": where, "start": start, "end": start + len(quote), "quote": quote}


def test_the_quote_is_set_apart_in_its_step() -> None:
    assert quoted(anchor("step 1", 3, "Lemma 2"), STEPS) == Quoted("step 1", "By ", "Lemma 2", ", $x_1 > 0$.")


def test_a_quote_whose_offsets_do_not_fit_is_found_by_its_words() -> None:
    assert quoted(anchor("step 2", 0, "Lemma 3"), STEPS).mark == "Lemma 3"


def test_a_quote_in_the_statement_or_the_whole_text() -> None:
    assert quoted(anchor("statement", 0, "If"), STEPS, "If so.") == Quoted("statement", "", "If", " so.")


@pytest.mark.parametrize("quote", ["x_1", "> 0$."])
def test_a_quote_that_cuts_a_formula_is_not_set_apart(quote: str) -> None:
    found = quoted(anchor("step 1", STEPS[0].index(quote), quote), STEPS)
    assert (found.before, found.mark) == (STEPS[0], "")


def test_a_quote_that_is_nowhere_is_shown_alone() -> None:
    assert quoted(anchor("step 1", 0, "elsewhere"), STEPS) == Quoted("step 1", "elsewhere", "", "")
