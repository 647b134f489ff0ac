"""OREAL's loss, its gradient, and the weights of the token reward model."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.recipes.mathematics.arrays import Array
from apps.recipes.mathematics.losses import OrealFactors
from tests.learning.numpy_losses import oreal_loss, reward_model_loss, token_weights
from tests.learning.test_losses import by_differences

PI = np.log([[0.5, 0.25], [0.8, 0.1]])
OLD = np.log([[0.5, 0.25], [0.4, 0.1]])
REFERENCE = np.log([[0.4, 0.25], [0.8, 0.2]])
MASK = [[1, 1], [1, 0]]


def test_the_loss_and_its_three_parts_equal_those_computed_by_hand() -> None:
    found = oreal_loss(PI, OLD, REFERENCE, [1.5, -0.5], MASK)
    assert found.positive == pytest.approx(1.559581, abs=1e-6)
    assert found.negative == pytest.approx(0.5, abs=1e-6)
    assert found.divergence == pytest.approx(7.7145e-05, abs=1e-9)
    assert found.value == pytest.approx(2.059658, abs=1e-6)
    assert found.gradient == pytest.approx(np.array([[-0.749333, -0.75], [0.5, 0]]), abs=1e-6)


def test_a_row_without_advantage_contributes_divergence_only() -> None:
    found = oreal_loss(PI, OLD, REFERENCE, [0.0, 0.0], MASK)
    assert (found.positive, found.negative) == (0, 0)
    assert found.value == found.divergence > 0


def test_a_batch_without_a_positive_row_has_no_cloning_part() -> None:
    assert oreal_loss(PI, OLD, REFERENCE, [-1.0, -0.5], MASK, factors=OrealFactors(beta=0)).positive == 0


def test_tokens_are_weighted_by_the_mean_of_the_logits_so_far() -> None:
    positive = token_weights([[2, 0, -1, 0.5]], [[1, 1, 0, 1]], [True])
    assert positive[0] == pytest.approx([0.761594, 0.462117, 0, 0.394119], abs=1e-6)
    negative = token_weights([[-2, 0, 1, -0.5]], np.ones((1, 4)), [False])
    assert negative[0] == pytest.approx([0.761594, 0.462117, 0.165140, 0.185333], abs=1e-6)


def test_tokens_against_their_rows_sign_have_weight_0() -> None:
    assert token_weights([[-3.0]], [[1]], [True]).tolist() == [[0.0]]


def test_token_weights_apply_to_both_parts() -> None:
    half = oreal_loss(PI, OLD, REFERENCE, [1.5, -0.5], MASK, token_weights=np.full((2, 2), 0.5))
    whole = oreal_loss(PI, OLD, REFERENCE, [1.5, -0.5], MASK)
    assert (half.positive, half.negative) == pytest.approx((whole.positive / 2, whole.negative / 2))


@settings(max_examples=20)
@given(st.integers(0, 2**31))
def test_gradients_are_the_derivatives(seed: int) -> None:
    random = np.random.default_rng(seed)
    policy, sampled, anchor = random.uniform(-3, -0.1, (3, 3, 4))
    mask, advantages = random.integers(0, 2, (3, 4)), random.normal(size=3)

    def loss(at: Array) -> Any:
        return oreal_loss(at, sampled, anchor, advantages, mask)

    def fit(at: Array) -> Any:
        return reward_model_loss(at, mask, [True, False, True])

    assert loss(policy).gradient == pytest.approx(by_differences(loss, policy), abs=1e-5)
    assert fit(policy).gradient == pytest.approx(by_differences(fit, policy), abs=1e-5)


def test_the_reward_model_is_fitted_by_cross_entropy_of_the_rows_mean() -> None:
    assert reward_model_loss([[2.0, 0.0, 9.0]], [[1, 1, 0]], [True]).value == pytest.approx(np.log1p(np.exp(-1.0)))
