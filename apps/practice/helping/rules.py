"""Which help a student may have on a problem now, and why not."""

from django.conf import settings
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.holding import HOLDING
from apps.contests.models import Contest, ContestKind, ContestProblem, ContestState
from apps.contests.practice import sheet_row_of
from apps.contests.windows import is_begun
from apps.practice.models import HelpRules, SolutionAt
from apps.problems.holding import Text, held_back
from apps.problems.models import Problem

HELD = "This problem is part of a contest that is running. Help is available again when the contest is closed."
UNRELEASED = "A contest with this problem has not released its solutions yet."
MARKED = "This sheet is being marked. You get comments with the results."


class HelpRefused(Exception):
    """Help cannot be asked for or given now; the message gives the reason."""


def rules_of(contest: Contest) -> HelpRules:
    """The rules of help: those of the sheet, else the defaults; in practice everything after an own attempt."""
    if contest.kind == ContestKind.PRACTICE:
        return HelpRules(
            contest=contest,
            solution_at=SolutionAt.ATTEMPT,
            model=settings.PRACTICE_MODEL,
            hint_wait=settings.PRACTICE_HINT_WAIT_MIN,
        )
    return HelpRules.objects.filter(contest=contest).first() or HelpRules(contest=contest)


def rules_save(*, contest: Contest, by: User, **values: object) -> HelpRules:
    """Save the rules of a sheet. The caller has checked that `by` organises it."""
    saved, _ = HelpRules.objects.update_or_create(contest=contest, defaults=values)
    return saved


def help_refusal(problem: ContestProblem) -> str:
    """Why no help at all is given on this problem now; empty if it is.

    A problem of a running contest gets none anywhere: its students could practise it at the same time.
    """
    contest = problem.contest
    running = ContestProblem.objects.filter(contest__kind=ContestKind.CONTEST, contest__state__in=HOLDING)
    if running.filter(problem=problem.problem_id).exists():
        return HELD
    if contest.state == ContestState.MARKING:
        return MARKED
    if contest.kind == ContestKind.PRACTICE and (row := sheet_row_of(problem)) is not None:
        when = "" if is_begun(row) and is_begun(row.contest) else " from its opening time"
        return f"This problem is on your sheet “{row.contest.title}”. Help is given there{when}, by its rules."
    return ""


def solutions_refusal(problem: ContestProblem) -> str:
    """Why neither hints nor solutions of this problem may be read now: a closed contest has not released them."""
    held = Problem.objects.filter(held_back(Text.SOLUTIONS, None), pk=problem.problem_id)
    return UNRELEASED if held.exists() else ""


def solution_refusal(problem: ContestProblem, *, has_attempt: bool) -> str:
    """Why the student may not compare with a solution now; empty if they may."""
    if refusal := help_refusal(problem) or solutions_refusal(problem):
        return refusal
    rules = rules_of(problem.contest)
    if rules.solution_at == SolutionAt.NEVER:
        return "The coaches of this sheet do not show solutions."
    if rules.solution_at == SolutionAt.END and not _is_over(problem):
        return "Solutions can be read when the time of this problem is over."
    if not problem.problem.reference_solutions.exists():
        return "The library has no solution of this problem yet."
    if not has_attempt:
        return "Hand in an attempt of your own first: a few sentences, or a photographed page."
    return ""


def _is_over(problem: ContestProblem) -> bool:
    now, contest = timezone.now(), problem.contest
    ends = [at for at in (problem.closes_at, contest.closes_at) if at is not None]
    return contest.state == ContestState.CLOSED or any(at <= now for at in ends)
