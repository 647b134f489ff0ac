"""The papers' settings, as listed in the design."""

from apps.recipes.mathematics import defaults
from apps.recipes.mathematics.conjugate_reward import DEFAULT_VOTES
from apps.recipes.mathematics.losses import Clip, OrealFactors
from apps.recipes.mathematics.segments import Segments


def test_clips_equal_those_of_the_papers() -> None:
    assert (defaults.DAPO.low, defaults.DAPO.high, defaults.DAPO.beta, defaults.DAPO.aggregation) == (0.2, 0.28, 0.0, "token")
    assert defaults.QED_NANO.loss == Clip(4.0, 4.0, aggregation="sum")
    assert defaults.MARS.loss == defaults.DAPO
    assert defaults.OREAL_H.loss == OrealFactors(positive=1.0, negative=0.5, beta=0.01)


def test_a_step_of_mars_has_at_most_9216_answers_of_four_segments() -> None:
    groups = 1 + 4 * 2
    assert defaults.MARS.rollouts.prompts * defaults.MARS.rollouts.group * groups == 9216
    assert Segments().cap == defaults.MARS.rollouts.new_tokens


def test_the_learning_rate_of_orealh_falls_to_a_fifth() -> None:
    assert defaults.OREAL_H.rate.first / defaults.OREAL_H.rate.last == 5
    assert DEFAULT_VOTES == 4
