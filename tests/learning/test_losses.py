"""Losses and their gradients: golden cases, numerical derivatives, and no effect of masked tokens."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.recipes.mathematics.arrays import Array, NotLearnable
from apps.recipes.mathematics.losses import Aggregation, Clip, well_mastered
from tests.learning.numpy_losses import clipped_loss, divergence, supervised_loss

PI = np.log([[0.6, 0.3], [0.1, 0.5]])
OLD = np.log([[0.4, 0.3], [0.2, 0.5]])
MASK = [[1, 1], [1, 0]]
SIGNS = [1.0, -1.0]


@pytest.mark.parametrize(
    ("aggregation", "plain", "higher"),
    [("token", -0.466667, -0.493333), ("seq", -0.15, -0.17), ("fixed", -0.175, -0.185), ("sum", -0.7, -0.74)],
)
def test_clipped_losses_equal_those_computed_by_hand(aggregation: Aggregation, plain: float, higher: float) -> None:
    for high, expected in ((0.2, plain), (0.28, higher)):
        found = clipped_loss(PI, OLD, SIGNS, MASK, Clip(0.2, high, aggregation=aggregation, longest=4))
        assert found.value == pytest.approx(expected, abs=1e-6)


def test_only_the_token_inside_the_clip_has_a_gradient() -> None:
    assert clipped_loss(PI, OLD, SIGNS, MASK).gradient == pytest.approx(np.array([[0, -1 / 3], [0, 0]]), abs=1e-6)


def test_on_policy_the_gradient_is_minus_the_advantage_over_the_tokens() -> None:
    found = clipped_loss(PI, PI, [0.5, -2.0], MASK).gradient
    assert found == pytest.approx(np.array([[-0.5 / 3, -0.5 / 3], [2 / 3, 0]]))


def test_dynamic_masking_silences_tokens_and_keeps_the_denominator() -> None:
    kept = clipped_loss(PI, OLD, SIGNS, MASK, kept=[[0, 1], [1, 1]])
    assert kept.value == pytest.approx((-1.0 + 0.8) / 3, abs=1e-6)


def test_well_mastered_tokens_are_masked_only_while_the_entropy_is_low() -> None:
    probabilities, ones = [[0.995, 0.5], [0.995, 0.99]], np.ones((2, 2))
    low = well_mastered(probabilities, [1, 0], ones, entropy=0.0975, target=0.2)
    assert low.tolist() == [[0, 1], [1, 1]]
    assert well_mastered(probabilities, [1, 0], ones, entropy=0.0975, target=0.05).tolist() == ones.tolist()


def test_divergence_is_zero_at_the_reference_and_never_negative() -> None:
    points = np.linspace(-4, 0, 41)
    assert divergence(points, points).max() == 0
    assert divergence(points, points[::-1]).min() >= 0


def test_supervised_loss_is_the_mean_surprise_of_unmasked_tokens() -> None:
    found = supervised_loss(PI, MASK)
    assert found.value == pytest.approx(-(np.log(0.6) + np.log(0.3) + np.log(0.1)) / 3)
    assert found.gradient.tolist() == (-np.array(MASK) / 3).tolist()


def by_differences(loss: Any, at: Array, step: float = 1e-6) -> Array:
    found = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        up, down = at.copy(), at.copy()
        up[place] += step
        down[place] -= step
        found[place] = (loss(up).value - loss(down).value) / (2 * step)
    return found


@settings(max_examples=25)
@given(st.integers(0, 2**31), st.sampled_from(["token", "seq", "fixed", "sum"]), st.sampled_from([0.0, 0.05]))
def test_gradients_are_the_derivatives_and_masked_tokens_have_none(seed: int, aggregation: Aggregation, beta: float) -> None:
    random = np.random.default_rng(seed)
    policy, sampled, anchor = random.uniform(-3, -0.1, (3, 3, 4))
    advantages = random.normal(size=(3, 4))
    mask = random.integers(0, 2, (3, 4))
    clip = Clip(0.2, 0.28, beta, aggregation, 4)

    def loss(at: Array) -> Any:
        return clipped_loss(at, sampled, advantages, mask, clip, reference=anchor)

    found = loss(policy)
    assert found.gradient == pytest.approx(by_differences(loss, policy), abs=1e-5)
    assert (found.gradient[mask == 0] == 0).all()


def test_a_tools_text_does_not_change_the_loss() -> None:
    other = PI.copy()
    other[1, 1] = np.nan
    assert clipped_loss(other, OLD, SIGNS, MASK).value == clipped_loss(PI, OLD, SIGNS, MASK).value


def test_duplicated_rows_give_the_same_mean_loss() -> None:
    twice = clipped_loss(np.vstack([PI, PI]), np.vstack([OLD, OLD]), SIGNS * 2, np.vstack([MASK, MASK]))
    assert twice.value == pytest.approx(clipped_loss(PI, OLD, SIGNS, MASK).value)


def test_losses_reject_invalid_inputs() -> None:
    with pytest.raises(NotLearnable, match=r"shape \(2,\)"):
        clipped_loss(PI, OLD, SIGNS, [1, 1])
    with pytest.raises(NotLearnable, match="other than 0 and 1"):
        clipped_loss(PI, OLD, SIGNS, [[1, 2], [1, 0]])
    with pytest.raises(NotLearnable, match="behaviour's log-probabilities: nan"):
        clipped_loss(PI, [[np.nan, 0.0], [0.0, 0.0]], SIGNS, MASK)
    with pytest.raises(NotLearnable, match="reference's log-probabilities"):
        clipped_loss(PI, OLD, SIGNS, MASK, Clip(beta=0.1))
    with pytest.raises(NotLearnable, match="maximum length"):
        clipped_loss(PI, OLD, SIGNS, MASK, Clip(aggregation="fixed"))
    with pytest.raises(NotLearnable, match="Advantages have shape"):
        clipped_loss(PI, OLD, [1.0, 2.0, 3.0], MASK)
