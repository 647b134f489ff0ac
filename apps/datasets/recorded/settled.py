"""Settled groups of a live run: no answer will be added, and all rewards are known.

MarsRL §3.3: an agent learns as soon as its group is complete, before the trajectory ends. This needs a scaffold whose actions
show that it will not examine a solution again.
"""

from apps.datasets.recorded.recorded import Recorded, Solution
from apps.datasets.recorded.unread import SOLVER, unread_calls, unread_verdicts
from apps.datasets.rewards import Judge
from apps.reasoning.scaffolds.grouped_agents import ROLES

#: Scaffolds of one chain: a solution is not examined again after a readable correction (`candidates/streaks.py`).
CHAINS = ("solver_verifier_corrector", "self_check")
#: Scaffold whose roles run one after another, each with all its groups at once.
GROUPS = "grouped_agents"
EARLY = (*CHAINS, GROUPS)


def settled_calls(recorded: Recorded, judge: Judge) -> set[str]:
    """Calls of a live run in complete groups, for recipes that compare agents."""
    return _of_groups(recorded, judge) if recorded.run.scaffold == GROUPS else _of_chain(recorded, judge)


def _of_groups(recorded: Recorded, judge: Judge) -> set[str]:
    """Settled calls of grouped agents.

    A role's calls are complete once the next role has answered. A solution's reward is known at once (by answer), or once its
    verifiers' calls are complete; without verifiers it stays unknown.
    """
    reached = max((ROLES.index(call.role) for call in recorded.calls.values() if call.role in ROLES), default=0)
    whole = {key for key, call in recorded.calls.items() if call.role in ROLES[:reached]}
    found = {call.key for call in unread_calls(recorded)} & whole
    for solution in recorded.solutions.values():
        verdicts = {call for call, _ in solution.judged}
        if judge == "answer":
            found |= whole & {solution.call, *verdicts}
        elif verdicts and verdicts <= whole:
            found |= verdicts | {solution.call}
    return found


def _of_chain(recorded: Recorded, judge: Judge) -> set[str]:
    """Settled calls of a chain.

    A first solution is settled once its reward is known, verdicts once their solution was corrected, a correction once its
    reward is known. A group with an unrecorded call is not settled.
    """
    found = {call.key for call in unread_calls(recorded) if call.role == SOLVER}
    for solution in recorded.solutions.values():
        if not solution.parents and _is_known(solution, judge):
            found |= _whole(recorded, [solution.call])
        if solution.children:
            found |= _whole(recorded, [*(call for call, _ in solution.judged), *unread_verdicts(recorded, solution)])
            made = [recorded.solutions[name] for name in solution.children]
            if all(_is_known(one, judge) for one in made):
                found |= _whole(recorded, [one.call for one in made])
    return found


def _is_known(solution: Solution, judge: Judge) -> bool:
    """Whether its reward is final: by answer at once, by the share of passes after its correction."""
    return judge == "answer" or bool(solution.children)


def _whole(recorded: Recorded, calls: list[str]) -> set[str]:
    return set(calls) if all(call in recorded.calls for call in calls) else set()
