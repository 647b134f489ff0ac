"""The marker's home page: contests being marked, their problems and the work left. It shows no points."""

from dataclasses import dataclass

from apps.accounts.models import User
from apps.contests.access import contest_visible_to
from apps.contests.models import Contest, ContestProblem, ContestState
from apps.contests.selectors import problem_list
from apps.marks import selectors
from apps.marks.leases import present
from apps.marks.models import MarkingCase, MarkingSetup
from apps.marks.sealing.sealing import cases_settle
from apps.marks.setups import cases_prepare
from apps.marks.workspace.questions import questions_for


@dataclass(frozen=True)
class ProblemRow:
    """A problem for one marker. `setup` is None until an organiser chooses how it is marked; all counts are 0 then.

    `left`: scripts that wait for a mark by this marker; `mine`: those they sealed; `present`: other markers at work;
    `questions`: open questions to the captain, for users who may answer them.
    """

    problem: ContestProblem
    setup: MarkingSetup | None
    scripts: int
    left: int
    mine: int
    questions: int
    present: list[str]
    is_captain: bool


@dataclass(frozen=True)
class ContestRow:
    """A contest that is being marked."""

    contest: Contest
    is_organiser: bool
    problems: list[ProblemRow]

    @property
    def is_captain(self) -> bool:
        """Whether the user may rule on at least one problem, as captain or organiser."""
        return any(one.is_captain for one in self.problems)


def home_rows(user: User) -> list[ContestRow]:
    """The contests being marked that the user coaches. Creates cases for new submissions."""
    contests = contest_visible_to(user).filter(state=ContestState.MARKING, coaches__person=user)
    return [_contest_row(contest, user) for contest in contests.prefetch_related("coaches")]


def _contest_row(contest: Contest, user: User) -> ContestRow:
    is_organiser = any(coach.is_organiser and coach.person_id == user.pk for coach in contest.coaches.all())
    rows = [_problem_row(problem, user, is_organiser) for problem in problem_list(contest)]
    cases_settle(contest)
    return ContestRow(contest, is_organiser, rows)


def _problem_row(problem: ContestProblem, user: User, is_organiser: bool) -> ProblemRow:
    setup = cases_prepare(problem)
    is_captain = problem.captain_id == user.pk or is_organiser
    if setup is None:
        return ProblemRow(problem, None, 0, 0, 0, 0, [], is_captain)
    return ProblemRow(
        problem=problem,
        setup=setup,
        scripts=MarkingCase.objects.filter(problem=problem).count(),
        left=selectors.scripts_left(problem, user),
        mine=selectors.marks_sealed(problem, user).count(),
        questions=questions_for(user, problem).filter(answered_at=None).count() if is_captain else 0,
        present=present(problem, user),
        is_captain=is_captain,
    )
