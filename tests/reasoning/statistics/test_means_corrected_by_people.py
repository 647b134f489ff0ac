"""Prediction-powered means: a grader's bias is removed with the marks of people, by whole problems."""

import numpy as np
import pytest

from apps.reasoning.statistics.intervals import Undefined
from apps.reasoning.statistics.prediction_powered import Corrected, corrected_mean
from apps.reasoning.statistics.scores import Scores
from tests.reasoning.statistics.tables import NAN, scores


def generous(problems: int, part: float = 0.25, noise: float = 0.05) -> tuple[Scores, Scores, float]:
    """Grades that are too high by .2, marks on a part of the cells, and the true mean of all cells."""
    rng = np.random.default_rng(6)
    true = rng.uniform(0, 0.6, (problems, 4))
    graded = true + 0.2 + rng.uniform(-noise, noise, true.shape)
    marked = rng.random(true.shape) < part
    return scores(graded), scores(np.where(marked, true, NAN)), float(true.mean())


def corrected(graded: Scores, marks: Scores, tuning: float | None = None) -> Corrected:
    found = corrected_mean(graded, marks, tuning=tuning)
    assert isinstance(found, Corrected)
    return found


def test_a_generous_grader_is_corrected() -> None:
    graded, marks, true = generous(60)
    found = corrected(graded, marks)
    assert found.raw == pytest.approx(true + 0.2, abs=0.01)
    assert found.value == pytest.approx(true, abs=0.01)
    assert found.interval.low < true < found.interval.high < found.raw
    assert found.marked == int((marks.scored).sum())


def test_a_good_grader_makes_it_more_certain_than_the_marks_alone() -> None:
    graded, marks, _ = generous(60, 0.1)
    found, alone = corrected(graded, marks), corrected(graded, marks, tuning=0)
    assert found.tuning > 0.7
    assert found.error < 0.7 * alone.error
    assert alone.value == pytest.approx(float(np.nanmean(marks.cells)))


def test_a_grader_that_guesses_is_not_used() -> None:
    _, marks, _ = generous(60)
    guesses = [scores(np.random.default_rng(seed).uniform(0, 1, marks.cells.shape)) for seed in range(15)]
    assert np.median([corrected(one, marks).tuning for one in guesses]) < 0.1
    assert all(corrected(one, marks).error <= corrected(one, marks, tuning=0).error for one in guesses)


def test_a_grader_against_the_marks_is_not_used_backwards() -> None:
    graded, marks, _ = generous(60)
    assert corrected(scores(1 - graded.cells), marks).tuning == 0


def test_cells_of_one_problem_err_together() -> None:
    rng = np.random.default_rng(1)
    true = np.repeat(rng.uniform(0, 1, (40, 1)), 8, axis=1)
    graded = np.clip(true + np.repeat(rng.normal(0, 0.3, (40, 1)), 8, axis=1), 0, 1)
    marked = np.arange(8) < 4
    together = corrected(scores(graded), scores(np.where(marked, true, NAN)))
    apart = corrected(scores(graded.reshape(-1, 1)), scores(np.where(marked, true, NAN).reshape(-1, 1)))
    assert together.error > 1.3 * apart.error


def test_a_grader_that_agrees_with_all_marks_is_not_certain() -> None:
    table = scores(np.ones((20, 4)))
    marks = scores(np.where(np.arange(4) < 1, table.cells, NAN))
    found = corrected(table, marks)
    assert found.value == 1
    assert found.interval.low < 0.95


def test_too_few_marks_or_nothing_unmarked_is_undefined() -> None:
    graded, marks, _ = generous(9, 0.9)
    assert corrected_mean(graded, marks) == Undefined(reason="9 problems have a mark; 10 are needed")
    graded, marks, _ = generous(12, 1.1)
    assert corrected_mean(graded, marks) == Undefined(reason="all grades have a mark, so that nothing is left to predict")
    with pytest.raises(ValueError, match="the same problems"):
        corrected_mean(graded, scores([[1.0]]))


def test_marks_without_a_grade_do_not_count() -> None:
    graded, marks, _ = generous(30)
    ungraded = np.where(np.arange(4) == 3, NAN, graded.cells)
    both = scores(ungraded), marks
    cut = scores(graded.cells[:, :3]), scores(marks.cells[:, :3])
    assert corrected(*both) == corrected(*cut)
