"""The estimators for verl give our advantages, over the policy's own tokens only."""

import pytest
import torch

from apps.recipes.mathematics.advantages import centred, grpo, leave_one_out
from apps.recipes.mathematics.arrays import NotLearnable
from workers.training.verl_estimators import GROUPED, of_groups, of_rows, of_tokens

#: Four rows of three tokens; the second row's middle token is a tool's, the last row is short.
MASK = torch.tensor([[1, 1, 1], [1, 0, 1], [1, 1, 1], [1, 0, 0]])
UIDS = ["p", "q", "p", "p"]


def rewards_of(*values: float) -> torch.Tensor:
    """Rewards at each row's last own token, as in verl."""
    found = torch.zeros(MASK.shape)
    for row, value in enumerate(values):
        found[row, int(MASK[row].nonzero()[-1])] = value
    return found


@pytest.mark.parametrize(
    ("name", "ours"), [("lemmascope_grpo", grpo), ("lemmascope_centred", centred), ("lemmascope_rloo", leave_one_out)]
)
def test_group_estimators_equal_ours_and_a_group_of_one_is_silent(name: str, ours: object) -> None:
    found, returns = of_groups(GROUPED[name])(rewards_of(1, 1, 0, 0), MASK, index=UIDS, config=None)
    wanted = ours([1, 0, 0])  # type: ignore[operator]
    assert found[[0, 2, 3], 0].tolist() == pytest.approx(list(wanted), abs=1e-6)
    assert found[1].tolist() == [0, 0, 0]
    assert found[3].tolist() == [found[3, 0], 0, 0]
    assert torch.equal(found, returns)


def test_advantages_of_rows_and_of_tokens_are_unchanged() -> None:
    rows, _ = of_rows(rewards_of(0.5, -0.7, 0, 2), MASK, index=UIDS)
    assert rows.tolist() == [[0.5, 0.5, 0.5], [pytest.approx(-0.7), 0, pytest.approx(-0.7)], [0, 0, 0], [2, 0, 0]]
    at_a_tools = torch.tensor([[0.0, 0.0, 0.5]])
    assert of_rows(at_a_tools, torch.tensor([[1, 1, 0]]))[0].tolist() == [[0.5, 0.5, 0]]
    tokens = torch.arange(12.0).reshape(4, 3)
    assert torch.equal(of_tokens(tokens, MASK)[0], tokens * MASK)


def test_invalid_rewards_and_groups_are_rejected() -> None:
    with pytest.raises(NotLearnable, match="Row 2 has a reward that is not a finite number"):
        of_rows(rewards_of(1, 1, float("nan"), 0), MASK)
    with pytest.raises(NotLearnable, match="needs its group"):
        of_groups(grpo)(rewards_of(1, 1, 0, 0), MASK)
    with pytest.raises(NotLearnable, match="shape"):
        of_rows(torch.zeros(4, 2), MASK)


def test_verl_finds_them_by_name_and_its_own_agree_on_whole_groups() -> None:
    algorithms = pytest.importorskip("verl.trainer.ppo.core_algos", reason="verl is not installed here (docs/learning.md)")
    import workers.training.verl_plugin  # noqa: F401

    for name in ("lemmascope_rows", "lemmascope_tokens", *GROUPED):
        assert algorithms.get_adv_estimator_fn(name)
    given = {"token_level_rewards": rewards_of(1, 1, 0, 0), "response_mask": MASK, "index": UIDS}
    ours = algorithms.get_adv_estimator_fn("lemmascope_grpo")(**given)[0]
    theirs = algorithms.get_adv_estimator_fn("grpo")(**given)[0]
    assert ours[[0, 2, 3]].tolist() == [pytest.approx(row, abs=1e-5) for row in theirs[[0, 2, 3]].tolist()]
