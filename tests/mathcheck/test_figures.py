"""The project's target figures, measured on the corpus in this folder."""

import pytest

from apps.mathcheck.figures import Case, cases, figures


@pytest.fixture(scope="module")
def checked() -> list[Case]:
    return cases()


def test_the_corpus_has_enough_true_and_false_formulas(checked: list[Case]) -> None:
    found = figures(checked)
    assert found.true >= 120
    assert found.false >= 120


def test_no_true_formula_is_refuted(checked: list[Case]) -> None:
    assert [(case.text, case.wrongly_refuted) for case in checked if case.wrongly_refuted] == []


def test_false_formulas_that_are_understood_are_refuted(checked: list[Case]) -> None:
    assert figures(checked).recall >= 0.80


def test_most_formulas_are_understood(checked: list[Case]) -> None:
    found = figures(checked)
    assert found.understood >= 0.60
    assert found.understood_of_false >= 0.60
