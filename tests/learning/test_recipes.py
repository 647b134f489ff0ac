"""Recipes turn trajectories into rows: chosen turns, groups and advantages, with golden numbers."""

from math import log
from typing import Any

import numpy as np
import pytest

from apps.recipes import grpo_rubric, marsrl, orealh, rc_rl, sft_proofs, turn_dapo, turn_grpo, turn_ppo, turn_sft
from apps.recipes.mathematics.arrays import NothingToLearn, NotLearnable
from apps.recipes.mathematics.conjugate_reward import conjugate_reward, highest_reward
from apps.recipes.mathematics.rows import Row
from apps.recipes.registry import RECIPES
from apps.recipes.trajectory import Trajectory, Turn


def turn(**more: Any) -> Turn:
    return Turn(prompt_ids=(1, 2), completion_ids=more.pop("completion_ids", (3, 4)), logprobs=(-1.0, -2.0), **more)


def attempt(reward: float, *turns: Turn, name: str = "t", problem: str = "p", **more: Any) -> Trajectory:
    return Trajectory(id=name, problem_id=problem, turns=turns or (turn(),), reward=reward, **more)


def advantages(rows: list[Row]) -> list[float]:
    return [row.advantage for row in rows if row.advantage is not None]


def test_rubric_grades_are_centred_and_not_scaled() -> None:
    rows = grpo_rubric.rows([attempt(grade) for grade in (7, 3, 0, 0)])
    assert advantages(rows) == pytest.approx([0.642857, 0.071429, -0.357143, -0.357143], abs=1e-6)
    assert [row.reward for row in rows] == pytest.approx([1, 3 / 7, 0, 0])


def test_silent_groups_are_left_out_and_silent_groups_alone_are_rejected() -> None:
    rows = grpo_rubric.rows([attempt(7, problem="a"), attempt(7, problem="a"), attempt(7), attempt(0)])
    assert {row.problem_id for row in rows} == {"p"}
    with pytest.raises(NotLearnable, match="equal"):
        grpo_rubric.rows([attempt(7), attempt(7)])
    with pytest.raises(NotLearnable, match="single"):
        grpo_rubric.rows([attempt(7)])
    with pytest.raises(NotLearnable, match="no trajectories"):
        grpo_rubric.rows([])
    with pytest.raises(NotLearnable, match="grade"):
        grpo_rubric.rows([attempt(float("nan")), attempt(1)])


def test_filtered_prompts_exclude_those_that_earn_nearly_all_or_nothing() -> None:
    easy, hard = [attempt(7, problem="a"), attempt(6, problem="a")], [attempt(7), attempt(0)]
    assert {row.problem_id for row in grpo_rubric.rows(easy + hard, prompts="filtered")} == {"p"}
    with pytest.raises(NotLearnable, match="earned 93% of the marks"):
        grpo_rubric.rows(easy, prompts="filtered")
    states = [
        turn(group="p/0", reward=7),
        turn(group="p/0", reward=6),
        turn(group="p/2", reward=7),
        turn(group="p/2", reward=0),
    ]
    assert {row.group_id for row in rc_rl.rows([attempt(0, *states)], prompts="filtered")} == {"p/2"}


def test_attempts_at_a_reasoning_cache_are_compared_within_their_state_and_summaries_give_no_rows() -> None:
    states = [turn(kind="summary"), turn(group="p/0", reward=7), turn(group="p/0", reward=0), turn(group="p/2", reward=7)]
    rows = rc_rl.rows([attempt(0, *states), attempt(0, turn(group="p/2", reward=0), name="u")])
    assert [(row.group_id, row.advantage) for row in rows] == [("p/0", 0.5), ("p/0", -0.5), ("p/2", 0.5), ("p/2", -0.5)]
    with pytest.raises(NotLearnable, match="a state and a grade"):
        rc_rl.rows([attempt(0, turn(reward=7))])


def test_the_baseline_of_turns_is_over_trajectories_or_over_all_rows() -> None:
    group = [attempt(1, turn(), turn(), turn(), name="a"), attempt(0, turn(), name="b")]
    assert advantages(turn_grpo.rows(group)) == pytest.approx([0.707106] * 3 + [-0.707106], abs=1e-5)
    assert advantages(turn_grpo.rows(group, baseline="rows")) == pytest.approx([0.5, 0.5, 0.5, -1.5], abs=1e-5)
    assert [row.step_index for row in turn_grpo.rows(group)] == [0, 1, 2, 0]


def test_an_invalid_action_costs_a_tenth_and_a_turn_can_have_its_own_reward() -> None:
    group = [attempt(1, turn(), turn(invalid=True), turn(), name="a"), attempt(0, turn(), name="b")]
    found = advantages(turn_grpo.rows(group, baseline="rows"))
    assert found == pytest.approx([0.566277, 0.360358, 0.566277, -1.492913], abs=1e-5)
    own = [attempt(1, turn(reward=0), turn(reward=1), name="a"), attempt(0, turn(reward=0), name="b")]
    assert [row.reward for row in turn_grpo.rows(own, scope="turn")] == [0, 1, 0]
    with pytest.raises(NotLearnable, match="turn 0 has no grade"):
        turn_grpo.rows(group, scope="turn")


def test_dapo_penalises_a_turn_near_the_limit() -> None:
    short, long = turn(), turn(completion_ids=tuple(range(90)))
    group = [attempt(1, short, name="a"), attempt(1, long, name="b"), attempt(0, short, name="c")]
    assert [row.reward for row in turn_dapo.rows(group, longest=100, margin=20)] == [1, 0.5, 0]
    assert [row.reward for row in turn_dapo.rows(group)] == [1, 1, 0]


def test_ppo_needs_no_group_and_leaves_advantages_to_the_value_head() -> None:
    (row,) = turn_ppo.rows([attempt(1)])
    assert (row.reward, row.advantage) == (1, None)
    with pytest.raises(NotLearnable, match="trajectory t"):
        turn_ppo.rows([attempt(float("inf"))])


def test_supervised_recipes_imitate_what_succeeded() -> None:
    group = [attempt(1, turn(), turn(invalid=True), turn(), name="a"), attempt(0, turn(), name="b")]
    assert [(row.trajectory_id, row.step_index) for row in turn_sft.rows(group)] == [("a", 0), ("a", 2)]
    with pytest.raises(NotLearnable, match="None of 1"):
        turn_sft.rows(group[1:])
    proofs = [attempt(1, name="a"), attempt(1, turn(finish_reason="length"), name="b"), attempt(0, name="c")]
    assert [row.trajectory_id for row in sft_proofs.rows(proofs, accepted=0.5)] == ["a"]
    with pytest.raises(NotLearnable, match="1 were not accepted, 1 were cut off"):
        sft_proofs.rows(proofs[1:], accepted=0.5)


def test_proofs_to_imitate_are_filtered_by_form_only_unless_a_reward_is_required() -> None:
    proofs = [attempt(0, name="failed"), attempt(0, name="unjudged", is_judged=False)]
    unfit = [attempt(1, turn(finish_reason="length")), attempt(1, turn(completion_ids=()))]
    assert [row.trajectory_id for row in sft_proofs.rows([*proofs, *unfit])] == ["failed", "unjudged"]
    accepted = sft_proofs.rows([*proofs, attempt(0.1, name="part")], accepted=0)
    assert [row.trajectory_id for row in accepted] == ["part"]


def worked_example() -> list[Trajectory]:
    """The example of learning.md: two trajectories that share the lemma a, and one that finds d and then nothing."""

    def rounds(*lemmas: str) -> list[Turn]:
        found = [turn(kind="round", lemmas=[name] if name else []) for name in lemmas]
        return [*found, turn(kind="answer")]

    return [
        attempt(0, *rounds("a", "b"), name="1", votes=(4, 4), derived=frozenset({("a", "b")}), used=frozenset("b")),
        attempt(0, *rounds("a", "c"), name="2", votes=(1, 4), derived=frozenset({("a", "c")}), used=frozenset("c")),
        attempt(0, *rounds("d", ""), name="3", votes=(4, 4), answer_ok=False, used=frozenset("d")),
    ]


@pytest.mark.parametrize(
    ("credit", "expected"),
    [
        ("corrected", [1.1297, 2.1363, 0, 1.1297, 0, -2.1363, -2.2594, 0, 0]),
        ("printed", [2.1363, 0, 0, -2.1363, 0, 0, 0, 0, 0]),
    ],
)
def test_rounds_are_credited_by_the_values_of_their_lemmas(credit: Any, expected: list[float]) -> None:
    rows = orealh.rows(worked_example(), credit=credit)
    assert np.array(advantages(rows)) * highest_reward(4) == pytest.approx(expected, abs=2e-4)
    assert [row.reward for row in rows[::3]] == pytest.approx([log(251), log(3.5), 0])
    assert [(row.verdict_k, row.verdict_n) for row in rows[::3]] == [(4, 4), (1, 4), (4, 4)]


def test_a_round_can_be_valued_by_its_own_best_lemma_and_later_values_can_be_discounted() -> None:
    """With `round`, learning.md's other column: the second round of the second trajectory has only c."""
    found = np.array(advantages(orealh.rows(worked_example(), scope="round"))) * highest_reward(4)
    assert found == pytest.approx([1.1297, 2.1363, 0, 1.1297, -2.1363, 0, -2.2594, 0, 0], abs=2e-4)
    half = np.array(advantages(orealh.rows(worked_example(), gamma=0.5))) * highest_reward(4)
    mean = (log(251) + log(3.5)) / 3
    assert half[0] == pytest.approx(0.5 * (log(251) + log(3.5)) / 2 - mean, abs=1e-6)


def test_failed_proofs_can_be_left_out_of_the_values_as_in_the_printed_algorithm() -> None:
    """One of three proofs that use a succeeds: a has a third of the reward with all, and the whole with successes only."""
    turns = [turn(kind="round", lemmas=["a"]), turn(kind="answer")]
    group = [attempt(0, *turns, name=str(k), votes=(k, 4), used=frozenset("a")) for k in (4, 0, 0)]
    first = [
        np.array(advantages(orealh.rows(group, terminals=terminals)))[0] * highest_reward(4) for terminals in ("all", "nonzero")
    ]
    assert first == pytest.approx([0, log(251) * 2 / 3])
    even = orealh.rows(group, terminals="all", weighting="uniform")
    assert advantages(even)[0] == pytest.approx(0)


def test_one_right_and_one_wrong_trajectory_per_problem_can_be_kept_with_advantages_over_all() -> None:
    """A trajectory with a reward is right, as for the token reward model; an accepted proof of a wrong answer is not."""
    turns = [turn(kind="round"), turn(kind="answer")]
    group = [attempt(1, *turns, name=f"{place}", votes=(4 * right, 4)) for place, right in enumerate([1, 0, 0, 1, 0])]
    group.append(attempt(1, *turns, name="wrong", votes=(4, 4), answer_ok=False))
    every = {(row.trajectory_id, row.step_index): row.advantage for row in orealh.rows(group, credit="trajectory")}
    kept = orealh.rows(group, credit="trajectory", keep="pair")
    assert [row.reward > 0 for row in kept if row.reward is not None] == [True, True, False, False]
    assert all(every[row.trajectory_id, row.step_index] == row.advantage for row in kept)
    assert orealh.rows(group, credit="trajectory", keep="pair") == kept
    with pytest.raises(NothingToLearn, match="no problem has both"):
        orealh.rows([attempt(0, *turns, votes=(k, 4)) for k in (1, 2)], keep="pair")


def test_whole_trajectories_can_be_credited_instead() -> None:
    found = np.array(advantages(orealh.rows(worked_example(), credit="trajectory"))) * highest_reward(4)
    assert found[0] == pytest.approx(log(251) - log(3.5) / 2)
    assert found.sum() == pytest.approx(0)


def test_proofs_without_votes_or_with_different_numbers_of_votes_are_rejected() -> None:
    with pytest.raises(NotLearnable, match="no votes"):
        orealh.rows([attempt(1)])
    with pytest.raises(NotLearnable, match="different scales"):
        orealh.rows([attempt(1, votes=(1, 4)), attempt(1, votes=(1, 8))])


def test_a_revision_without_a_verdict_gets_no_credit_and_does_not_count_as_failed() -> None:
    def revised(*rewards: float | None, votes: tuple[int, int]) -> Trajectory:
        turns = [turn(kind="answer"), *(turn(kind="revision", reward=reward) for reward in rewards)]
        return attempt(0, *turns, name=f"{votes}", votes=votes)

    scale = highest_reward(4)
    rows = orealh.rows([revised(None, scale, votes=(2, 4)), revised(votes=(0, 4))])
    (first,) = (row for row in rows if row.step_index == 2)
    assert [row.step_index for row in rows] == [0, 2, 0]
    assert first.advantage == pytest.approx((scale - conjugate_reward(2, 4)) / scale)


def test_the_cold_start_keeps_rounds_with_a_readable_summary() -> None:
    turns = [turn(kind="round"), turn(kind="round", well_formed=False), turn(kind="answer")]
    assert [row.step_index for row in orealh.cold_start_rows([attempt(0, *turns)])] == [0, 2]
    with pytest.raises(NotLearnable, match="well-formed"):
        orealh.cold_start_rows([attempt(0, turns[1])])


def test_roles_are_compared_within_their_input_and_a_cut_off_output_has_reward_0() -> None:
    turns = [
        turn(role="solver", group="p", reward=1),
        turn(role="solver", group="p", reward=1, finish_reason="length"),
        turn(role="verifier1", group="p/0", reward=0),
        turn(role="verifier1", group="p/0", reward=0),
    ]
    rows = marsrl.rows([attempt(0, *turns)])
    assert [(row.role, row.reward) for row in rows] == [("solver", 1), ("solver", 0)]
    assert advantages(rows) == pytest.approx([0.7071, -0.7071], abs=1e-4)
    with pytest.raises(NotLearnable, match="a group"):
        marsrl.rows([attempt(0, turn(reward=1))])


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_names_its_paper_and_the_needs_of_its_rows(name: str) -> None:
    training = RECIPES[name].training
    assert training.name == name
    assert training.source
    assert training.needs_logprobs == (training.objective != "supervised")
    assert (training.loss is None) == (training.objective == "supervised")
