"""Tallies of trajectories: a verifier's two rates, tool use, parts of rewards, rounds without lemmas, lemma values."""

from math import log
from statistics import fmean
from typing import Any

import pytest

from apps.recipes import turn_dapo
from apps.recipes.tallies import added, means_of, rewards_tally, rounds_tally, tally_of, tools_tally, verdicts_tally
from apps.recipes.trajectory import Kind, Trajectory, Turn


def verdict(role: str, passed: bool | None, reward: float | None) -> Turn:
    return Turn((1,), (2,), role=role, reward=reward, passed=passed, group="g")


def test_a_verifier_that_flags_everything_finds_all_and_spares_none() -> None:
    turns = [verdict("verifier", False, reward) for reward in (1.0, 1.0, 1.0, 0.0)]
    tally = verdicts_tally([Trajectory("t", "p", turns)])
    assert tally == {"role/verifier/found": (3, 3), "role/verifier/spared": (0, 1)}
    assert means_of(tally) == {"role/verifier/found": 1.0, "role/verifier/spared": 0.0}


def test_passing_a_wrong_solution_lowers_found_and_passing_a_right_one_raises_spared() -> None:
    turns = [verdict("verifier1", True, 0.0), verdict("verifier1", True, 1.0), verdict("verifier2", False, 1.0)]
    found = means_of(verdicts_tally([Trajectory("t", "p", turns)]))
    assert found == {"role/verifier1/found": 0.0, "role/verifier1/spared": 1.0, "role/verifier2/found": 1.0}


def test_turns_without_a_verdict_or_a_reward_have_no_tally() -> None:
    turns = [verdict("solver", None, 1.0), verdict("verifier", None, 0.0), verdict("verifier", True, None)]
    assert tally_of("marsrl", [Trajectory("t", "p", turns)]) == {}


def a_prover(name: str, votes: tuple[int, int], *rounds: str, used: str = "") -> Trajectory:
    def turn(kind: Kind, lemmas: str) -> Turn:
        return Turn((1,), (2,), kind=kind, lemmas=tuple(lemmas))

    turns = [*(turn("round", lemmas) for lemmas in rounds), turn("answer", "")]
    return Trajectory(name, "p", turns, votes=votes, used=frozenset(used))


def test_rounds_without_a_new_lemma_have_no_credit_and_values_come_from_the_lemma_graph() -> None:
    """The second round of the first prover finds a again, and one round of the other finds nothing. Only a is used."""
    tally = rounds_tally([a_prover("one", (4, 4), "a", "a", "b", used="a"), a_prover("two", (0, 4), "", "c")])
    assert means_of(tally) == pytest.approx({"masked_rounds": 2 / 5, "mean_value": log(251) / 3}), "b and c are unused"


def test_provers_without_lemmas_have_no_mean_value() -> None:
    assert means_of(rounds_tally([a_prover("one", (1, 4), ""), a_prover("two", (0, 4), "")])) == {"masked_rounds": 1.0}


def test_only_provers_with_lemmas_have_rounds() -> None:
    assert tally_of("grpo_rubric", [Trajectory("t", "p", [Turn((1,), (2,))])]) == {}
    assert set(tally_of("orealh", [a_prover("one", (4, 4), "a", used="a")])) == {"masked_rounds", "mean_value"}


def test_tool_calls_failed_calls_and_unreadable_actions_are_counted() -> None:
    turns = [Turn((1,), (2,), tool_ok=True), Turn((1,), (2,), tool_ok=False), Turn((1,), (2,), invalid=True), Turn((1,), (2,))]
    found = means_of(tools_tally([Trajectory("t", "p", turns)]))
    assert found == {"tool_calls": 0.5, "tool_errors": 0.5, "unread": 0.25}
    assert tools_tally([Trajectory("t", "p", turns[3:])]) == {}, "no turn involves tools"


def test_the_parts_of_a_turns_reward_add_up_to_the_mean_reward_of_the_rows() -> None:
    long, short = Turn((1,), (2,) * 90), Turn((1,), (2,), invalid=True)
    played = [Trajectory("a", "p", [long, short], reward=1.0), Trajectory("b", "p", [short], reward=0.0)]
    options: dict[str, Any] = {"longest": 100, "penalty": 0.3}
    parts = means_of(rewards_tally("turn_dapo", played, options))
    assert parts == pytest.approx({"reward/episode": 2 / 3, "reward/unread": -0.2, "reward/length": -1 / 3})
    rewards = [row.reward for row in turn_dapo.rows(played, **options) if row.reward is not None]
    assert sum(parts.values()) == pytest.approx(fmean(rewards))
    assert set(rewards_tally("turn_grpo", played, {})) == {"reward/episode", "reward/unread"}
    assert rewards_tally("marsrl", played, {}) == {}
    assert rewards_tally("turn_grpo", played, {"scope": "turn"}) == {}


def test_tallies_can_be_added_and_subtracted() -> None:
    before, later = {"x": (1.0, 4.0)}, {"x": (3.0, 4.0), "y": (0.0, 2.0)}
    both = added(before, later)
    assert both == {"x": (4.0, 8.0), "y": (0.0, 2.0)}
    assert means_of(both, since=before) == {"x": 0.75, "y": 0.0}
    assert means_of(before, since=both) == {}, "a restarted count is behind"
