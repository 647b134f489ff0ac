"""Random claims: none is proved that fails at a point, none is refuted that is true. The benchmark `proofs` plays 100,000."""

from benchmarks.mathcheck.proofs import played


def test_a_few_hundred_random_claims() -> None:
    count, wrong = played(250, seed=7)
    assert wrong == []
    assert count["proved"] > 60
    assert count["refuted"] > 60
