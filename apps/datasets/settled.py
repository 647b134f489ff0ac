"""What of a run that still goes on is settled: groups to which no answer comes any more, with all their rewards known.

MarsRL §3.3: an agent learns as soon as its group is whole, not when the trajectory has ended. That holds where a scaffold
tells by what it did that it will not look at a solution again.
"""

from apps.datasets.recipes import Judge
from apps.datasets.recorded import Recorded, Solution
from apps.reasoning.scaffolds.grouped_agents import ROLES

#: Scaffolds of one chain: a solution is not examined again once a correction of it could be read (`candidates/streaks.py`).
CHAINS = ("solver_verifier_corrector", "self_check")
#: A scaffold whose roles follow one another, each with all its groups at once.
GROUPS = "grouped_agents"
EARLY = (*CHAINS, GROUPS)


def settled_calls(recorded: Recorded, judge: Judge) -> set[str]:
    """The calls of groups that are whole, for recipes whose groups are agents': of a run that has not ended."""
    return _of_groups(recorded, judge) if recorded.run.scaffold == GROUPS else _of_chain(recorded, judge)


def _of_groups(recorded: Recorded, judge: Judge) -> set[str]:
    """A role's calls are whole once the next role has answered; the reward of a solution is known at once, or once its
    verifiers' calls are whole, or, where they never looked at it, not at all."""
    reached = max((ROLES.index(call.role) for call in recorded.calls.values() if call.role in ROLES), default=0)
    whole = {key for key, call in recorded.calls.items() if call.role in ROLES[:reached]}
    found: set[str] = set()
    for solution in recorded.solutions.values():
        verdicts = {call for call, _ in solution.judged}
        if judge == "answer":
            found |= whole & {solution.call, *verdicts}
        elif verdicts and verdicts <= whole:
            found |= verdicts | {solution.call}
    return found


def _of_chain(recorded: Recorded, judge: Judge) -> set[str]:
    """A first solution counts once its reward is known; verdicts once their solution was corrected; a correction once its
    reward is known too. A group of which a call has not been recorded yet waits."""
    found: set[str] = set()
    for solution in recorded.solutions.values():
        if not solution.parents and _is_known(solution, judge):
            found |= _whole(recorded, [solution.call])
        if solution.children:
            found |= _whole(recorded, [call for call, _ in solution.judged])
            made = [recorded.solutions[name] for name in solution.children]
            if all(_is_known(one, judge) for one in made):
                found |= _whole(recorded, [one.call for one in made])
    return found


def _is_known(solution: Solution, judge: Judge) -> bool:
    """Whether its reward is final: an answer is right or wrong at once, the share of passes when it was corrected."""
    return judge == "answer" or bool(solution.children)


def _whole(recorded: Recorded, calls: list[str]) -> set[str]:
    return set(calls) if all(call in recorded.calls for call in calls) else set()
