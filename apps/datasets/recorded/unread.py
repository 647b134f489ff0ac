"""Answers that were cut off or could not be read. Recipes with the option `unread` count them with reward 0.

A second request for an unreadable answer has another prompt. So the first answer belongs to the group of its prompt, and the
second one to none.
"""

from collections.abc import Iterable, Iterator

from apps.datasets.recorded.recorded import Call, Recorded, Solution
from apps.reasoning.scaffolds.running.hearing import asked_before

SOLVER = "solver"


def is_cut_off(recorded: Recorded, key: str) -> bool:
    """Whether an answer ended at its limit of tokens."""
    call = recorded.calls.get(key)
    return call is not None and call.finish_reason == "length"


def unread_calls(recorded: Recorded) -> Iterator[Call]:
    """First answers that could not be read, in the run's order."""
    for key, call in recorded.calls.items():
        if key in recorded.unread and not asked_before(key):
            yield call


def unread_verdicts(recorded: Recorded, solution: Solution) -> list[str]:
    """Calls of the first answers to a verifier's prompt about `solution` that could not be read."""
    firsts = dict.fromkeys(asked_before(key) or key for key in solution.reports)
    return [key for key in firsts if key in recorded.unread and key in recorded.calls]


def lost_attempts(recorded: Recorded) -> list[list[str]]:
    """Calls of each solver's attempt that led to no solution: unreadable answers, and conversations without a solution."""
    talks = {name: [turn.call for turn in turns] for name, turns in recorded.talks.items()}
    done = {asked_before(one.call) or one.call for one in recorded.solutions.values()} | _all(talks.values())
    found: dict[str, list[str]] = {}
    for key, call in recorded.calls.items():
        first = asked_before(key) or key
        if call.role == SOLVER and key in recorded.unread and first not in done:
            found.setdefault(first, []).append(key)
    for name, calls in talks.items():
        written = [recorded.calls[key] for key in calls if key in recorded.calls]
        is_solver = all(call.role.startswith(SOLVER) for call in written)
        if name not in recorded.solutions and len(written) == len(calls) and is_solver:
            found[name] = calls
    return list(found.values())


def _all(lists: Iterable[list[str]]) -> set[str]:
    return {key for keys in lists for key in keys}
