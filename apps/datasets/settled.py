"""What of a run that still goes on is settled: groups to which no answer comes any more, with all their rewards known.

MarsRL §3.3: an agent learns as soon as its group is whole, not when the trajectory has ended. That holds where a scaffold
tells by what it did that it will not look at a solution again.
"""

from apps.datasets.recipes import Judge
from apps.datasets.recorded import Recorded, Solution

#: Scaffolds of one chain: a solution is not examined again once a correction of it could be read (`candidates/streaks.py`).
CHAINS = ("solver_verifier_corrector", "self_check")


def settled_calls(recorded: Recorded, judge: Judge) -> set[str]:
    """The calls of groups that are whole, for recipes whose groups are agents': of a chain that has not ended.

    A first solution counts once its reward is known; verdicts once their solution was corrected; a correction once its reward
    is known too. A group of which a call has not been recorded yet waits.
    """
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
