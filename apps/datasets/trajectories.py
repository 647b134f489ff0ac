"""Trajectories of a recorded run for each family of recipes: which calls are turns, what shares a group, what each is worth.

A trajectory is a plain dictionary (docs/datasets.md); tokens are named by shard and row and read by the export program. What
cannot be taken is counted under its reason in `Left`.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from apps.datasets.recipes import Family, Judge, Recipe
from apps.datasets.recorded import Call, Recorded, Solution
from apps.datasets.rounds import rounds_of
from apps.reasoning.answers.comparison import answer_compared
from apps.reasoning.answers.outcomes import Comparison
from apps.runs.texts import texts_get

Trajectory = dict[str, Any]
MOST_EXAMPLES = 5
CORRECT_FROM = 0.5
_NOBODY = "a solution that nobody judged"
_UNDECIDED = "a final answer that could not be compared with the problem's"
_DELIMITER = re.compile(r"<<<(?:CONTENT|END) [0-9a-f]{16}>>>")


@dataclass
class Left:
    """What was left out: by reason how much, and the first few by name."""

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def out(self, reason: str, what: str) -> None:
        self.counts[reason] = self.counts.get(reason, 0) + 1
        named = self.examples.setdefault(reason, [])
        if len(named) < MOST_EXAMPLES:
            named.append(what)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The reasons, the most frequent first."""
        ordered = sorted(self.counts.items(), key=lambda pair: -pair[1])
        return [{"reason": reason, "count": count, "examples": self.examples[reason]} for reason, count in ordered]


def problem_id(recorded: Recorded) -> str:
    """The problem's version: another statement is another problem."""
    version = recorded.run.problem_version
    return f"{version.problem.public_id}@{version.number}"


def trajectories_of(recorded: Recorded, recipe: Recipe, judge: Judge, left: Left) -> list[Trajectory]:
    """The trajectories of a run for `recipe`, in the run's order."""
    found = list(_FAMILIES[recipe.family](recorded, recipe, judge, left))
    return [one for one in found if one["turns"]]


def _proofs(recorded: Recorded, recipe: Recipe, judge: Judge, left: Left) -> Iterator[Trajectory]:
    for solution in recorded.solutions.values():
        if recipe.fresh_only and solution.parents:
            left.out("made from another solution, so its prompt is its own", _name(recorded, solution.id))
            continue
        reward = reward_of(recorded, solution, judge)
        if reward is None:
            _unscored(recorded, solution, judge, left)
            continue
        more = {"group": f"{problem_id(recorded)}/{_question_of(recorded, solution)}"} if recipe.fresh_only else {}
        if turns := turns_of(recorded, [(solution.call, more)], left):
            yield trajectory(recorded, solution.id, turns, recipe.scale * reward, solution.votes)


def _turns(recorded: Recorded, recipe: Recipe, judge: Judge, left: Left) -> Iterator[Trajectory]:
    for solution in recorded.solutions.values():
        if solution.children and not recorded.talks:
            continue  # A turn of those that were made from it.
        reward = reward_of(recorded, solution, judge)
        if reward is None:
            _unscored(recorded, solution, judge, left)
            continue
        talk = recorded.talks.get(solution.id, [])
        line = [] if talk else recorded.line(solution)
        if recipe.grades_turns and judge == "answer":
            unclear = [one for one in line if reward_of(recorded, one, judge) is None]
            for one in unclear:
                _unscored(recorded, one, judge, left)
            if unclear:
                continue
        calls: list[tuple[str, dict[str, Any]]] = [
            (turn.call, {"invalid": turn.invalid, "tool_ok": turn.tool_ok}) for turn in talk
        ] or [(one.call, {"reward": reward_of(recorded, one, judge)}) for one in line]
        if turns := turns_of(recorded, calls, left):
            yield trajectory(recorded, solution.id, turns, recipe.scale * reward, solution.votes)


def _agents(recorded: Recorded, recipe: Recipe, judge: Judge, left: Left) -> Iterator[Trajectory]:
    """Solver, verifiers and correctors (MarsRL §3): a solution is right by `judge`, a verdict where it says so."""
    problem, run = problem_id(recorded), recorded.run.public_id
    calls: list[tuple[str, dict[str, Any]]] = []
    for solution in recorded.solutions.values():
        share = reward_of(recorded, solution, judge)
        if share is None:
            _unscored(recorded, solution, judge, left)
            continue
        right = share >= CORRECT_FROM
        # Two reports on one solution are two inputs, so a correction's group is told by its prompt.
        made_from = f"{run}/{solution.parents[0]}/correct/{_prompt_of(recorded, solution)}" if solution.parents else ""
        group = made_from or f"{problem}/solve"
        calls.append((solution.call, {"reward": float(right), "group": group}))
        for call, passed in solution.judged:
            of_verdict = {"reward": float(passed == right), "group": f"{run}/{solution.id}/verify", "passed": passed}
            calls.append((call, of_verdict))
    if turns := turns_of(recorded, calls, left, one_by_one=True):
        yield trajectory(recorded, "", turns, max(float(turn["reward"] or 0) for turn in turns), None)


def _states(recorded: Recorded, recipe: Recipe, judge: Judge, left: Left) -> Iterator[Trajectory]:
    """Attempts at a state of a reasoning cache (QED-Nano §4.2): what was given exactly the same prompt is one group.

    Where states were tried again only that is learned from, and not the line of turns that made them.
    """
    again = any(key.startswith("state/") for key in recorded.calls)
    for solution in recorded.solutions.values():
        if again and not solution.call.startswith("state/"):
            continue
        reward = reward_of(recorded, solution, judge)
        if reward is None:
            _unscored(recorded, solution, judge, left)
            continue
        more = {"reward": recipe.scale * reward, "group": f"{problem_id(recorded)}/{_prompt_of(recorded, solution)}"}
        if turns := turns_of(recorded, [(solution.call, more)], left):
            yield trajectory(recorded, solution.id, turns, recipe.scale * reward, solution.votes)


def _prompt_of(recorded: Recorded, solution: Solution) -> str:
    """A name for the prompt that a solution was written from; empty where its call was not recorded."""
    call = recorded.calls.get(solution.call)
    return hashlib.sha256("|".join(call.prompt_shas).encode()).hexdigest()[:16] if call else ""


def _question_of(recorded: Recorded, solution: Solution) -> str:
    """A name for what a solution was asked: its prompt without the delimiters, which every run draws anew."""
    call = recorded.calls.get(solution.call)
    texts = texts_get(call.prompt_shas) if call else {}
    asked = "|".join(_DELIMITER.sub("", texts.get(sha, sha)) for sha in (call.prompt_shas if call else ()))
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


def _rounds(recorded: Recorded, recipe: Recipe, judge: Judge, left: Left) -> Iterator[Trajectory]:
    found = rounds_of(recorded)
    if found is None:
        left.out("a run without rounds and lemmas", str(recorded.run.public_id))
        return
    if found.rollouts > 1 and not recipe.is_supervised:
        # What one line found is not what the next one began with: together they are no trajectory.
        left.out("a run of several rollouts, whose rounds are not one line", str(recorded.run.public_id))
        return
    expected = _answer(recorded)
    if judge == "answer" and not expected:
        left.out(_NOBODY, str(recorded.run.public_id))
        return
    compared = answer_compared(found.answer, expected) if expected and found.answer else None
    if compared is not None and compared.is_equal is None:
        left.out(_UNDECIDED, f"{recorded.run.public_id}: {compared.reason}")
        return
    if turns := turns_of(recorded, found.calls, left):
        # A wrong answer is worth nothing whatever its verifiers say (Intern-S1-MO §4.3).
        answer = (compared is not None and bool(compared.is_equal)) if expected else None
        more = {"answer_ok": answer, "derived": found.derived, "used": found.used}
        yield trajectory(recorded, "", turns, found.reward, found.votes) | more


_FAMILIES: dict[Family, Callable[[Recorded, Recipe, Judge, Left], Iterator[Trajectory]]] = {
    "proofs": _proofs,
    "turns": _turns,
    "agents": _agents,
    "states": _states,
    "rounds": _rounds,
}


def reward_of(recorded: Recorded, solution: Solution, judge: Judge) -> float | None:
    """From 0 to 1, or None where nothing tells."""
    if judge == "answer":
        compared = _compared(recorded, solution)
        return None if compared is None or compared.is_equal is None else float(compared.is_equal)
    return solution.share


def _compared(recorded: Recorded, solution: Solution) -> Comparison | None:
    """Its final answer beside the problem's; None where that has none."""
    expected = _answer(recorded)
    return answer_compared(solution.text, expected) if expected else None


def _unscored(recorded: Recorded, solution: Solution, judge: Judge, left: Left) -> None:
    """Count a solution without a reward under its reason: an undecided answer is no wrong one."""
    compared = _compared(recorded, solution) if judge == "answer" else None
    if compared is None:
        left.out(_NOBODY, _name(recorded, solution.id))
    else:
        left.out(_UNDECIDED, f"{_name(recorded, solution.id)}: {compared.reason}")


def turns_of(
    recorded: Recorded, calls: list[tuple[str, dict[str, Any]]], left: Left, *, one_by_one: bool = False
) -> list[dict[str, Any]]:
    """The turns of these calls. A call whose tokens were not recorded takes the others with it, unless `one_by_one`."""
    found = []
    for key, more in calls:
        call = recorded.calls.get(key)
        if call is None or (recorded.has_tokens and not call.shard):
            left.out("a call without recorded tokens", f"{recorded.run.public_id} {key}")
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
    recorded: Recorded, name: str, turns: list[dict[str, Any]], reward: float, votes: tuple[int, int] | None
) -> Trajectory:
    run = str(recorded.run.public_id)
    return {"id": f"{run}/{name}" if name else run, "run_id": run, "turns": turns, "reward": reward, "votes": votes}


def _answer(recorded: Recorded) -> str:
    return recorded.run.problem_version.answer.strip()


def _name(recorded: Recorded, solution: str) -> str:
    return f"{recorded.run.public_id} {solution}"
