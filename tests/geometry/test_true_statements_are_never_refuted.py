"""The corpus: true statements survive 200 configurations, slightly wrong ones are refuted at a configuration."""

import pytest

from apps.geometry.checking import REFUTED, SURVIVED, check, residual
from apps.geometry.configurations import WANTED, build
from apps.geometry.loci import digits
from apps.geometry.statement import read
from tests.geometry.corpus import PAIRS, false_statements, true_statements


def test_the_corpus_has_forty_statements_of_each_kind() -> None:
    assert len(PAIRS) >= 40
    assert len(set(true_statements())) == len(set(false_statements())) == len(PAIRS)


@pytest.mark.parametrize("text", true_statements())
def test_a_true_statement_survives(text: str) -> None:
    outcomes = check(read(text)).outcomes
    assert outcomes
    assert {one.outcome for one in outcomes} == {SURVIVED}
    assert {one.configurations for one in outcomes} == {WANTED}


@pytest.mark.parametrize("text", false_statements())
def test_a_false_statement_is_refuted_at_a_configuration(text: str) -> None:
    statement = read(text)
    (outcome,) = check(statement).outcomes
    assert outcome.outcome == REFUTED
    assert outcome.at is not None
    assert {name for name, _, _ in outcome.coordinates} == set(statement.points)
    # The configuration can be computed again, with more digits than the check used.
    numbers = digits(80)
    assert residual(outcome.goal, build(statement, outcome.at.seed, numbers).points, numbers) > 1e-6
