"""What trajectories tell beside their rewards: a verifier's two rates by role, tools, what a turn's reward is made of, rounds
that found nothing, values of lemmas.

Sums with their counts, so that they add up over groups and over time. Names are those of a job's metrics
(docs/learning_jobs.md). All that was played counts, also the groups that teach nothing: a Verifier that flags everything has
no other kind (MarsRL §3; docs/learning.md).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from workers.learning.advantages import INVALID_ACTION
from workers.learning.conjugate_reward import Form
from workers.learning.lemma_values import Terminals, Weighting
from workers.learning.progress import progress_advantages
from workers.recipes.orealh import group_rewards, rounds_of, values_of
from workers.recipes.trajectory import Trajectory, by_problem
from workers.recipes.turn_dapo import length_penalty

#: Sum and count by name.
Tally = dict[str, tuple[float, float]]


def tally_of(recipe: str, trajectories: Sequence[Trajectory], options: Mapping[str, Any] | None = None) -> Tally:
    """All that applies to the recipe with these options. Raises `NotLearnable` as `orealh.group_rewards` where it is that
    recipe.
    """
    given = options or {}
    found = added(verdicts_tally(trajectories), tools_tally(trajectories), rewards_tally(recipe, trajectories, given))
    if recipe != "orealh":
        return found
    graph = {name: given[name] for name in ("weighting", "terminals") if name in given}
    return added(found, rounds_tally(trajectories, form=given.get("form", "logodds"), **graph))


def verdicts_tally(trajectories: Sequence[Trajectory]) -> Tally:
    """By role: `found`, wrong solutions that were flagged (TPR), and `spared`, right ones that were passed (TNR).

    A verdict's reward is 1 where it is right, so it tells with what was said whether the solution was.
    """
    judged: dict[str, list[bool]] = {}
    for turn in (turn for one in trajectories for turn in one.turns):
        if turn.passed is not None and turn.reward is not None:
            is_right = turn.passed == (turn.reward > 0)
            judged.setdefault(f"role/{turn.role}/{'spared' if is_right else 'found'}", []).append(turn.passed == is_right)
    return {name: (float(sum(found)), float(len(found))) for name, found in judged.items()}


def tools_tally(trajectories: Sequence[Trajectory]) -> Tally:
    """`tool_calls`, the share of turns that called a tool, `tool_errors`, of these the share that failed, and `unread`, the
    share of turns whose action could not be read; nothing where no turn has to do with tools.
    """
    turns = [turn for one in trajectories for turn in one.turns]
    called = [turn.tool_ok for turn in turns if turn.tool_ok is not None]
    unread = sum(turn.invalid for turn in turns)
    if not called and not unread:
        return {}
    found: Tally = {"tool_calls": (float(len(called)), float(len(turns))), "unread": (float(unread), float(len(turns)))}
    return found | ({"tool_errors": (float(called.count(False)), float(len(called)))} if called else {})


def rewards_tally(recipe: str, trajectories: Sequence[Trajectory], options: Mapping[str, Any]) -> Tally:
    """What the reward of a turn is made of, as means a turn: the episode's, what unread actions cost, and what length costs.

    Of recipes with one kind of reward there is nothing to take apart.
    """
    if recipe not in ("turn_grpo", "turn_dapo", "turn_ppo") or options.get("scope") == "turn":
        return {}
    turns = float(sum(len(one.turns) for one in trajectories))
    unread = sum(turn.invalid for one in trajectories for turn in one.turns)
    found: Tally = {
        "reward/episode": (float(sum(one.reward * len(one.turns) for one in trajectories)), turns),
        "reward/unread": (-float(options.get("penalty", INVALID_ACTION)) * unread, turns),
    }
    if recipe == "turn_dapo" and (longest := options.get("longest")):
        cost = sum(length_penalty(one, longest, options.get("margin")) * len(one.turns) for one in trajectories)
        found["reward/length"] = (float(cost), turns)
    return found if turns else {}


def rounds_tally(
    trajectories: Sequence[Trajectory],
    *,
    form: Form = "logodds",
    weighting: Weighting = "counts",
    terminals: Terminals = "all",
) -> Tally:
    """`masked_rounds`, those that added no valid lemma and so have no credit, and `mean_value`, v(l) over all lemmas."""
    masked, rounds, values, lemmas = 0, 0, 0.0, 0
    for group in by_problem(trajectories).values():
        rewards = group_rewards(group, form=form)
        known = values_of(group, rewards, weighting=weighting, terminals=terminals).of
        taken = [rounds_of(one, reward) for one, reward in zip(group, rewards, strict=True)]
        for given in progress_advantages(taken, known):
            rounds += len(given.progressed)
            masked += given.progressed.count(False)
        values, lemmas = values + sum(known.values()), lemmas + len(known)
    found: Tally = {"masked_rounds": (float(masked), float(rounds)), "mean_value": (values, float(lemmas))}
    return {name: pair for name, pair in found.items() if pair[1]}


def added(*tallies: Mapping[str, Sequence[float]]) -> Tally:
    """All of them together."""
    found: Tally = {}
    for tally in tallies:
        for name, (total, count) in tally.items():
            known = found.get(name, (0.0, 0.0))
            found[name] = (known[0] + total, known[1] + count)
    return found


def means_of(tally: Mapping[str, Sequence[float]], since: Mapping[str, Sequence[float]] | None = None) -> dict[str, float]:
    """Each sum by its count, of what came on top of `since`; a name for which nothing came is left out, never 0."""
    before = since or {}
    found = {}
    for name, (total, count) in tally.items():
        known = before.get(name, (0.0, 0.0))
        if count > known[1]:
            found[name] = (total - known[0]) / (count - known[1])
    return found
