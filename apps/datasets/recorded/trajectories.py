"""Trajectories of a recorded run for each family of recipes: turns, groups and rewards.

A trajectory is a plain dictionary (docs/datasets.md). Tokens are named by shard and row; the export program reads them.
`LeftOut` counts what cannot be used, by reason.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from apps.datasets.recorded.groups import group_of, problem_id, prompt_of
from apps.datasets.recorded.recorded import Call, Recorded, Solution
from apps.datasets.recorded.rounds import rounds_of
from apps.datasets.recorded.unread import SOLVER, is_cut_off, lost_attempts, unread_calls, unread_verdicts
from apps.datasets.rewards import Judge
from apps.reasoning.answers.comparison import answer_compared
from apps.reasoning.answers.outcomes import Comparison
from apps.reasoning.scaffolds.running.hearing import asked_before
from apps.recipes.options import UNREAD
from apps.recipes.recipe import Family, Training

Trajectory = dict[str, Any]
MOST_EXAMPLES = 5
CORRECT_FROM = 0.5
_UNJUDGED = "a solution without a verdict"
_SECOND = "an answer to a second request, whose prompt is unique"
_NO_PAIR = "an answer with thinking, without acceptance or made from another one, which is no cold start"
_UNDECIDED = "a final answer that could not be compared with the problem's"
_ZERO = {"reward": 0.0, "unread": True}


@dataclass
class LeftOut:
    """Items left out: count and first examples by reason."""

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, what: str) -> None:
        self.counts[reason] = self.counts.get(reason, 0) + 1
        named = self.examples.setdefault(reason, [])
        if len(named) < MOST_EXAMPLES:
            named.append(what)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Reasons with counts and examples, most frequent first."""
        ordered = sorted(self.counts.items(), key=lambda pair: -pair[1])
        return [{"reason": reason, "count": count, "examples": self.examples[reason]} for reason, count in ordered]


def trajectories_of(recorded: Recorded, recipe: Training, judge: Judge, left: LeftOut) -> list[Trajectory]:
    """Trajectories of a run for `recipe`, in the run's order."""
    found = list(_FAMILIES[recipe.family](recorded, recipe, judge, left))
    return [one for one in found if one["turns"]]


def _proofs(recorded: Recorded, recipe: Training, judge: Judge, left: LeftOut) -> Iterator[Trajectory]:
    for solution in recorded.solutions.values():
        if recipe.fresh_only and solution.parents:
            left.add("made from another solution, so its prompt is unique", _name(recorded, solution.id))
            continue
        is_lost = _is_lost(recorded, recipe, solution.call)
        reward = 0.0 if is_lost else reward_of(recorded, solution, judge)
        if reward is None and not recipe.is_supervised:
            _unscored(recorded, solution, judge, left)
            continue
        more = {"group": group_of(recorded, solution.call), "unread": is_lost} if recipe.fresh_only else {}
        if turns := turns_of(recorded, [(solution.call, more)], left):
            scored = None if reward is None else recipe.scale * reward
            yield trajectory(recorded, solution.id, turns, scored, solution.votes)
    if recipe.fresh_only and UNREAD in recipe.options:
        for call in unread_calls(recorded):
            if call.role == SOLVER:
                yield from _lost(recorded, [call.key], {"group": group_of(recorded, call.key)}, left)


def _lost(recorded: Recorded, calls: list[str], more: dict[str, Any], left: LeftOut) -> Iterator[Trajectory]:
    """Trajectory of an attempt without a readable solution, with reward 0."""
    zero = {"reward": 0.0, "unread": True, **more}
    if turns := turns_of(recorded, [(key, zero) for key in calls], left):
        yield trajectory(recorded, calls[0], turns, 0.0, None)


def _is_lost(recorded: Recorded, recipe: Training, call: str) -> bool:
    """Whether the recipe gives reward 0 to an answer because it was cut off."""
    return UNREAD in recipe.options and is_cut_off(recorded, call)


def _turns(recorded: Recorded, recipe: Training, judge: Judge, left: LeftOut) -> Iterator[Trajectory]:
    for solution in recorded.solutions.values():
        if solution.children and not recorded.talks:
            continue  # It becomes a turn of the solutions made from it.
        is_lost = _is_lost(recorded, recipe, solution.call)
        reward = 0.0 if is_lost else reward_of(recorded, solution, judge)
        if reward is None:
            _unscored(recorded, solution, judge, left)
            continue
        calls = _calls_of_turns(recorded, recipe, solution, judge, left)
        if turns := turns_of(recorded, calls, left):
            turns[-1] |= {"reward": 0.0, "unread": True} if is_lost else {}
            yield trajectory(recorded, solution.id, turns, recipe.scale * reward, solution.votes)
    for lost in lost_attempts(recorded) if UNREAD in recipe.options else ():
        yield from _lost(recorded, lost, {}, left)


def _calls_of_turns(
    recorded: Recorded, recipe: Training, solution: Solution, judge: Judge, left: LeftOut
) -> list[tuple[str, dict[str, Any]]]:
    """Calls of a conversation, or of a line of corrections; none where an earlier version needs a grade and has none."""
    if talk := recorded.talks.get(solution.id):
        return [(turn.call, {"invalid": turn.invalid, "tool_ok": turn.tool_ok}) for turn in talk]
    line = recorded.line(solution)
    if recipe.grades_turns and judge == "answer":
        fit = [one for one in line if not _is_lost(recorded, recipe, one.call)]
        unclear = [one for one in fit if reward_of(recorded, one, judge) is None]
        for one in unclear:
            _unscored(recorded, one, judge, left)
        if unclear:
            return []
    return [(one.call, {"reward": reward_of(recorded, one, judge)}) for one in line]


def _agents(recorded: Recorded, recipe: Training, judge: Judge, left: LeftOut) -> Iterator[Trajectory]:
    """Solver, verifiers and correctors (MarsRL §3): `judge` decides a solution; a verdict is right if it agrees."""
    problem, run = problem_id(recorded), recorded.run.public_id
    calls: list[tuple[str, dict[str, Any]]] = []
    for solution in recorded.solutions.values():
        share = reward_of(recorded, solution, judge)
        if share is None:
            _unscored(recorded, solution, judge, left)
            continue
        right = share >= CORRECT_FROM
        # Two reports on one solution are two inputs, so the prompt identifies a correction's group.
        made_from = f"{run}/{solution.parents[0]}/correct/{prompt_of(recorded, solution.call)}" if solution.parents else ""
        calls.append((solution.call, {"reward": float(right), "group": made_from or f"{problem}/solve"}))
        verify = {"group": f"{run}/{solution.id}/verify"}
        calls += [(call, verify | {"reward": float(passed == right), "passed": passed}) for call, passed in solution.judged]
        calls += [(call, verify | _ZERO) for call in unread_verdicts(recorded, solution)]
    calls += _unread_agents(recorded, calls)
    for key in [key for key, _ in calls if asked_before(key)]:
        left.add(_SECOND, f"{run} {key}")
    cut_off = _ZERO | {"passed": None}
    calls = [(key, more | (cut_off if is_cut_off(recorded, key) else {})) for key, more in calls if not asked_before(key)]
    if turns := turns_of(recorded, calls, left, one_by_one=True):
        yield trajectory(recorded, "", turns, max(float(turn["reward"] or 0) for turn in turns), None)


def _unread_agents(recorded: Recorded, calls: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    """Unread solutions and corrections, in the group of the answers to the same prompt."""
    known, found = dict(calls), []
    by_prompt = {
        (call.role, prompt_of(recorded, key)): known[key]["group"] for key, call in recorded.calls.items() if key in known
    }
    for call in unread_calls(recorded):
        group = (
            f"{problem_id(recorded)}/solve"
            if call.role == SOLVER
            else by_prompt.get((call.role, prompt_of(recorded, call.key)))
        )
        if group and call.key not in known:
            found.append((call.key, {"group": group, **_ZERO}))
    return found


def _states(recorded: Recorded, recipe: Training, judge: Judge, left: LeftOut) -> Iterator[Trajectory]:
    """Attempts at a state of a reasoning cache (QED-Nano §4.2); attempts with exactly the same prompt form a group.

    Where a run repeats states, only those attempts are used, not the turns that made the states.
    """
    again = any(key.startswith("state/") for key in recorded.calls)
    for solution in recorded.solutions.values():
        if again and not solution.call.startswith("state/"):
            continue
        is_lost = _is_lost(recorded, recipe, solution.call)
        reward = 0.0 if is_lost else reward_of(recorded, solution, judge)
        if reward is None:
            _unscored(recorded, solution, judge, left)
            continue
        more = {"reward": recipe.scale * reward, "group": f"{problem_id(recorded)}/{prompt_of(recorded, solution.call)}"}
        if turns := turns_of(recorded, [(solution.call, more | {"unread": is_lost})], left):
            yield trajectory(recorded, solution.id, turns, recipe.scale * reward, solution.votes)
    for call in unread_calls(recorded):
        if call.role == SOLVER and (call.key.startswith("state/") or not again):
            group = f"{problem_id(recorded)}/{prompt_of(recorded, call.key)}"
            yield from _lost(recorded, [call.key], {"group": group}, left)


def _rounds(recorded: Recorded, recipe: Training, judge: Judge, left: LeftOut) -> Iterator[Trajectory]:
    found = rounds_of(recorded)
    if found is None:
        if recipe.is_supervised:
            yield from _pairs(recorded, judge, left)
            return
        left.add("a run without rounds and lemmas", str(recorded.run.public_id))
        return
    if found.rollouts > 1 and not recipe.is_supervised:
        # A rollout does not start from the lemmas of another one, so together they are not a trajectory.
        left.add("a run of several rollouts, whose rounds are not one line", str(recorded.run.public_id))
        return
    expected = _answer(recorded)
    if judge == "answer" and not expected:
        left.add(_UNJUDGED, str(recorded.run.public_id))
        return
    compared = answer_compared(found.answer, expected) if expected and found.answer else None
    if compared is not None and compared.is_equal is None:
        left.add(_UNDECIDED, f"{recorded.run.public_id}: {compared.reason}")
        return
    if turns := turns_of(recorded, found.calls, left):
        # A wrong answer has reward 0 whatever its votes (Intern-S1-MO §4.3).
        answer = (compared is not None and bool(compared.is_equal)) if expected else None
        more = {"answer_ok": answer, "derived": found.derived, "used": found.used}
        yield trajectory(recorded, "", turns, found.reward, found.votes) | more


def _pairs(recorded: Recorded, judge: Judge, left: LeftOut) -> Iterator[Trajectory]:
    """Accepted answers without thinking of a run without rounds, for a cold start (Intern-S1-MO §4.2)."""
    for solution in recorded.solutions.values():
        call, reward = recorded.calls.get(solution.call), reward_of(recorded, solution, judge)
        if call is None or call.reasoning_sha or solution.parents or (reward or 0.0) < CORRECT_FROM:
            left.add(_NO_PAIR, _name(recorded, solution.id))
        elif turns := turns_of(recorded, [(solution.call, {"kind": "answer"})], left):
            yield trajectory(recorded, solution.id, turns, reward, solution.votes)


_FAMILIES: dict[Family, Callable[[Recorded, Training, Judge, LeftOut], Iterator[Trajectory]]] = {
    "proofs": _proofs,
    "turns": _turns,
    "agents": _agents,
    "states": _states,
    "rounds": _rounds,
}


def reward_of(recorded: Recorded, solution: Solution, judge: Judge) -> float | None:
    """Reward of a solution, 0 to 1; None where it is unknown."""
    if judge == "answer":
        compared = _compared(recorded, solution)
        return None if compared is None or compared.is_equal is None else float(compared.is_equal)
    given = recorded.given.get(solution.id)
    return solution.share if judge != "grader" else given.share if given else None


def _compared(recorded: Recorded, solution: Solution) -> Comparison | None:
    """Comparison of its final answer with the problem's; None where the problem has none."""
    return answer_compared(solution.text, expected) if (expected := _answer(recorded)) else None


def _unscored(recorded: Recorded, solution: Solution, judge: Judge, left: LeftOut) -> None:
    """Count a solution without a reward under its reason: an undecided answer is not a wrong one."""
    compared = _compared(recorded, solution) if judge == "answer" else None
    why, detail = (_UNDECIDED, compared.reason) if compared else (_UNJUDGED, "")
    if given := recorded.given.get(solution.id):
        why, detail = given.why, given.detail
    left.add(why, f"{_name(recorded, solution.id)}{detail and f': {detail}'}")


def turns_of(
    recorded: Recorded, calls: list[tuple[str, dict[str, Any]]], left: LeftOut, *, one_by_one: bool = False
) -> list[dict[str, Any]]:
    """Turns of these calls. Without `one_by_one`, one call without recorded tokens drops all of them."""
    found = []
    for key, more in calls:
        call = recorded.calls.get(key)
        if call is None or (recorded.has_tokens and not call.shard):
            left.add("a call without recorded tokens", f"{recorded.run.public_id} {key}")
            if one_by_one:
                continue
            return []
        found.append(_turn(call) | more)
    return found


def _turn(call: Call) -> dict[str, Any]:
    return {
        "call": call.key,
        "role": call.role.replace("_", ""),
        "shard": call.shard,
        "row": call.row,
        "sha256": call.sha256,
        "finish_reason": call.finish_reason,
        "prompt_shas": call.prompt_shas,
        "text_shas": (call.reasoning_sha, call.text_sha),
        "reward": None,
    }


def trajectory(
    recorded: Recorded, name: str, turns: list[dict[str, Any]], reward: float | None, votes: tuple[int, int] | None
) -> Trajectory:
    run = str(recorded.run.public_id)
    return {"id": f"{run}/{name}" if name else run, "run_id": run, "turns": turns, "reward": reward, "votes": votes}


def _answer(recorded: Recorded) -> str:
    return recorded.run.problem_version.answer.strip()


def _name(recorded: Recorded, solution: str) -> str:
    return f"{recorded.run.public_id} {solution}"
