"""Tallies of trajectories: a verifier's two rates by role, tool use, parts of a turn's reward, empty rounds, lemma values.

A tally has sums and counts, so that it can be added over groups and time. Names are those of a job's metrics
(docs/learning_jobs.md). Silent groups count as well: a Verifier that flags everything has only silent groups (MarsRL §3;
docs/learning.md).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.recipes.mathematics.advantages import INVALID_ACTION
from apps.recipes.mathematics.conjugate_reward import Form
from apps.recipes.mathematics.lemma_values import Terminals, Weighting
from apps.recipes.mathematics.progress import progress_advantages
from apps.recipes.orealh import group_rewards, rounds_of, values_of
from apps.recipes.trajectory import Trajectory, by_problem
from apps.recipes.turn_dapo import length_penalty

#: Sum and count by name.
Tally = dict[str, tuple[float, float]]
#: Key of a tally in JSON files: a stream's state, its shards' metadata and a dataset's counts.
TALLY_KEY = "told"


def tally_of(recipe: str, trajectories: Sequence[Trajectory], options: Mapping[str, Any] | None = None) -> Tally:
    """All tallies that apply to the recipe with these options. For OREAL-H, raises like `orealh.group_rewards`."""
    given = options or {}
    found = added(verdicts_tally(trajectories), tools_tally(trajectories), rewards_tally(recipe, trajectories, given))
    if recipe != "orealh":
        return found
    graph = {name: given[name] for name in ("weighting", "terminals") if name in given}
    return added(found, rounds_tally(trajectories, form=given.get("form", "logodds"), **graph))


def verdicts_tally(trajectories: Sequence[Trajectory]) -> Tally:
    """By role: `found`, wrong solutions flagged (TPR), and `spared`, right solutions passed (TNR).

    A verdict has reward 1 where it is right, so verdict and reward together determine whether the solution was right.
    """
    judged: dict[str, list[bool]] = {}
    for turn in (turn for one in trajectories for turn in one.turns):
        if turn.passed is not None and turn.reward is not None:
            is_right = turn.passed == (turn.reward > 0)
            judged.setdefault(f"role/{turn.role}/{'spared' if is_right else 'found'}", []).append(turn.passed == is_right)
    return {name: (float(sum(found)), float(len(found))) for name, found in judged.items()}


def tools_tally(trajectories: Sequence[Trajectory]) -> Tally:
    """Shares: `tool_calls`, turns that called a tool; `tool_errors`, failed calls; `unread`, turns with an unreadable action.

    Empty where no turn involves tools.
    """
    turns = [turn for one in trajectories for turn in one.turns]
    called = [turn.tool_ok for turn in turns if turn.tool_ok is not None]
    unread = sum(turn.invalid for turn in turns)
    if not called and not unread:
        return {}
    found: Tally = {"tool_calls": (float(len(called)), float(len(turns))), "unread": (float(unread), float(len(turns)))}
    return found | ({"tool_errors": (float(called.count(False)), float(len(called)))} if called else {})


def rewards_tally(recipe: str, trajectories: Sequence[Trajectory], options: Mapping[str, Any]) -> Tally:
    """Parts of a turn's reward, per turn: episode, penalty of unreadable actions, length penalty.

    Empty for recipes whose reward has a single part.
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
    """`masked_rounds`: rounds without a new valid lemma and thus without credit; `mean_value`: v(l) over all lemmas."""
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
    """Sum of tallies."""
    found: Tally = {}
    for tally in tallies:
        for name, (total, count) in tally.items():
            known = found.get(name, (0.0, 0.0))
            found[name] = (known[0] + total, known[1] + count)
    return found


def means_of(tally: Mapping[str, Sequence[float]], since: Mapping[str, Sequence[float]] | None = None) -> dict[str, float]:
    """Means of what was added since `since`; names without new counts are left out."""
    before = since or {}
    found = {}
    for name, (total, count) in tally.items():
        known = before.get(name, (0.0, 0.0))
        if count > known[1]:
            found[name] = (total - known[0]) / (count - known[1])
    return found
