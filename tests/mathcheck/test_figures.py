"""The figures of the formula check on its corpora: the first one, and the two halves of the one written before the provers."""

from pathlib import Path

import pytest

from apps.mathcheck.figures import CORPUS, Case, cases, figures

SEEN, UNSEEN = CORPUS.parent / "seen", CORPUS.parent / "unseen"


@pytest.fixture(scope="module")
def checked() -> dict[Path, list[Case]]:
    return {folder: cases(folder) for folder in (CORPUS, SEEN, UNSEEN)}


@pytest.mark.parametrize(("folder", "true", "false"), [(CORPUS, 480, 210), (SEEN, 150, 300), (UNSEEN, 150, 300)])
def test_a_corpus_has_enough_true_and_false_formulas(
    checked: dict[Path, list[Case]], folder: Path, true: int, false: int
) -> None:
    found = figures(checked[folder])
    assert found.true >= true
    assert found.false >= false


def test_no_true_formula_is_refuted(checked: dict[Path, list[Case]]) -> None:
    every = [case for found in checked.values() for case in found]
    assert [(case.text, case.wrongly_refuted) for case in every if case.wrongly_refuted] == []


def test_no_false_formula_is_proved(checked: dict[Path, list[Case]]) -> None:
    every = [case for found in checked.values() for case in found]
    assert [case.text for case in every if not case.true and case.outcome == "proved"] == []


def test_false_formulas_that_are_understood_are_refuted(checked: dict[Path, list[Case]]) -> None:
    assert figures(checked[CORPUS]).recall >= 0.95


def test_most_formulas_are_understood(checked: dict[Path, list[Case]]) -> None:
    found = figures(checked[CORPUS])
    assert found.understood >= 0.60
    assert found.understood_of_false >= 0.60


@pytest.mark.parametrize(("folder", "share"), [(CORPUS, 0.65), (SEEN, 0.60), (UNSEEN, 0.60)])
def test_most_true_formulas_that_hold_are_proved(checked: dict[Path, list[Case]], folder: Path, share: float) -> None:
    assert figures(checked[folder]).proved >= share
