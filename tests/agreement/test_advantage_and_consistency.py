"""The advantage error of a grader, and its consistency."""

import pytest

from apps.reasoning.agreement.consistency import Consistency, consistency
from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.agreement.report import agree
from apps.reasoning.domain.values import Unscored
from apps.reasoning.statistics.intervals import Undefined
from tests.agreement.tables import pairs_of


def advantage(pairs: list[Pair]) -> float | Undefined:
    return agree(pairs, draws=0).estimate("advantage_error").value


def test_a_constant_generosity_gives_no_advantage_error() -> None:
    pairs = pairs_of([float(number % 4) for number in range(40)], [number % 4 + 2.0 for number in range(40)], problems=5)
    assert advantage(pairs) == pytest.approx(0)


def test_the_advantage_error_by_hand() -> None:
    # Each problem has marks 0 and 6 (advantages −3, 3) and predictions 4 and 6 (−1, 1): every difference is 2.
    pairs = [
        Pair(paper=f"{number}{mark}", problem=f"p{number}", human=mark, predicted=points)
        for number in range(15)
        for mark, points in ((0, 4), (6, 6))
    ]
    assert advantage(pairs) == pytest.approx(2)
    alone = Pair(paper="x", problem="alone", human=0, predicted=7)
    assert advantage([*pairs, alone]) == pytest.approx(2)


def test_the_advantage_error_is_undefined_without_problems_or_with_one_paper_each() -> None:
    human, predicted = [0.0, 7.0] * 20, [7.0] * 40
    assert advantage(pairs_of(human, predicted)) == Undefined(reason="the papers do not say which problem they are of")
    assert advantage(pairs_of(human, predicted, problems=40)) == Undefined(reason="no problem has two papers")


def test_consistency_over_runs_excludes_unscored_runs() -> None:
    nothing = Unscored(reason="no verdict")
    found = consistency([[7, 7, 7], [0, 4, nothing], [3, nothing], [nothing, nothing]])
    assert found == Consistency(papers=2, left_out=2, same=0.5, spread=1, range=2)
    assert consistency([[3], [nothing]]) == Unscored(reason="no paper was scored twice")
