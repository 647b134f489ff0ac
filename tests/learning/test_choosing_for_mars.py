"""MarsRL: rewards of the roles, choice of inputs, and a Verifier's rates."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.scaffolds.candidates.inputs import chosen
from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.mars import (
    Output,
    Role,
    Strategy,
    VerifierRates,
    choose_inputs,
    rates,
    solver_reward,
    verifier_reward,
)

OUTPUTS = st.lists(st.builds(Output, st.sampled_from([0.0, 1.0]), st.booleans()), max_size=8)


@pytest.mark.parametrize(("correct", "flagged", "reward"), [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_a_verifier_is_right_to_flag_wrong_solutions_only(correct: bool, flagged: bool, reward: float) -> None:
    assert verifier_reward(bool(correct), bool(flagged)) == reward


def test_solver_and_corrector_are_rewarded_for_the_answer() -> None:
    assert (solver_reward(True), solver_reward(False)) == (1.0, 0.0)


@given(
    OUTPUTS, st.sampled_from(["verifier1", "corrector1"]), st.sampled_from(["random", "balanced", "adaptive"]), st.integers()
)
def test_at_most_two_inputs_are_chosen_and_correctors_get_flagged_ones_only(
    outputs: list[Output], role: Role, strategy: Strategy, seed: int
) -> None:
    picked = choose_inputs(outputs, role, strategy=strategy, random=Random(seed))
    open_ = [place for place, output in enumerate(outputs) if output.flagged or role == "verifier1"]
    assert len(picked) == len(set(picked)) == min(2, len(open_))
    assert set(picked) <= set(open_)
    of_kind = [sum((outputs[place].reward > 0) == good for place in open_) for good in (False, True)]
    good = sum(outputs[place].reward > 0 for place in picked)
    if strategy == "balanced" and min(of_kind) > 0:
        assert good == 1
    if strategy == "adaptive":
        wanted = len(picked) - good if role == "verifier1" else good
        assert wanted == min(len(picked), of_kind[role == "corrector1"])


def test_the_choice_depends_on_the_seed_and_ties_are_broken_at_random() -> None:
    outputs = [Output(0.0)] * 8
    picks = {tuple(choose_inputs(outputs, "verifier1", strategy="adaptive", random=Random(seed))) for seed in range(20)}
    again = {tuple(choose_inputs(outputs, "verifier1", strategy="adaptive", random=Random(seed))) for seed in range(20)}
    assert picks == again
    assert len(picks) > 5


def test_the_solver_has_no_inputs_from_other_roles() -> None:
    with pytest.raises(NotLearnable, match="Solver"):
        choose_inputs([Output(1.0)], "solver", strategy="random", random=Random(0))


def test_a_verifier_that_flags_everything_shows_in_its_rates_and_silent_groups() -> None:
    groups = [[(True, True), (True, True)], [(False, True), (False, True)]]
    assert rates(groups) == VerifierRates(found=1.0, spared=0.0, silent_groups=1.0)
    assert rates([[(False, True), (False, False)]]) == VerifierRates(found=0.5, spared=None, silent_groups=0.0)


@given(
    OUTPUTS, st.sampled_from(["verifier1", "corrector1"]), st.sampled_from(["random", "balanced", "adaptive"]), st.integers()
)
def test_the_scaffold_of_real_runs_chooses_like_the_toy(
    outputs: list[Output], role: Role, strategy: Strategy, seed: int
) -> None:
    of_toy = choose_inputs(outputs, role, strategy=strategy, random=Random(seed))
    corrects = role == "corrector1"
    open_ = [place for place, output in enumerate(outputs) if output.flagged or not corrects]
    rewards = [outputs[place].reward for place in open_]
    of_run = chosen(open_, rewards, choice=strategy, high_first=corrects, wanted=2, rng=Random(seed))
    assert of_run == of_toy
