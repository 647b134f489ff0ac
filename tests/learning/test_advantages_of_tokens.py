"""GAE skips a tool's tokens."""

from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.ppo import token_advantages


@pytest.mark.parametrize("hidden", [0.0, 99.0, nan])
def test_the_value_at_a_tools_token_does_not_matter(hidden: float) -> None:
    advantages, returns = token_advantages([0, 0, 0, 1], [0.2, 0.4, hidden, 0.6], [1, 1, 0, 1])
    assert advantages == pytest.approx([0.751, 0.58, 0, 0.4], abs=1e-6)
    assert returns == pytest.approx([0.951, 0.98, 0, 1], abs=1e-6)


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.integers(0, 1)), min_size=1, max_size=8))
def test_removing_masked_tokens_changes_nothing(tokens: list[tuple[float, float, int]]) -> None:
    tokens = [(reward if seen else 0.0, value, seen) for reward, value, seen in tokens]
    whole, _ = token_advantages(*map(list, zip(*tokens, strict=True)))
    short = [token for token in tokens if token[2]]
    if short:
        alone, _ = token_advantages(*map(list, zip(*short, strict=True)))
        assert [value for value, token in zip(whole, tokens, strict=True) if token[2]] == pytest.approx(list(alone))


def test_rows_of_different_length_are_rejected() -> None:
    with pytest.raises(NotLearnable, match="shape"):
        token_advantages([0, 1], [0.5], [1, 1])
