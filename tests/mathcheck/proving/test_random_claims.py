"""Random claims: none is proved that fails at a point, none is refuted that is true. The benchmark `proofs` plays 100,000."""

from benchmarks.mathcheck import families
from benchmarks.mathcheck.proofs import played


def test_a_few_hundred_random_claims() -> None:
    count, wrong = played(250, seed=7)
    assert wrong == []
    assert count["proved"] > 60
    assert count["refuted"] > 60


def test_a_few_hundred_sums_and_inequalities_that_no_test_sees_before_the_provers() -> None:
    count, wrong = families.played(150, seed=11)
    assert wrong == []
    assert count["proved"] > 15
