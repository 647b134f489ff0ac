"""Refuse gradings that would reveal held-back solutions, or grader results on scripts that are still being marked.

The run of a grading contains the problem's references, guidelines, scheme and pieces, and its owner may read them. Pieces are
found by statement, so a copy of the problem would reveal them as well.

A pasted or imported script may belong to a contest that is still being marked. Its coaches must not see a grader's result.
"""

from collections.abc import Container
from functools import cached_property

from django.db.models import Count, F, Q, QuerySet

from apps.accounts.models import User
from apps.graded_sets.models import GradedScript
from apps.graders.planning.plans import PlanWrong
from apps.marks.models import SETTLED
from apps.problems.holding import Text, held_back
from apps.problems.models import Problem, ProblemVersion
from apps.reasoning.texts.latex_steps import latex_steps
from apps.reasoning.texts.segmentation import segment
from apps.reasoning.texts.source import source_of
from apps.submissions.models import Step, SubmissionVersion

TO_BE_MARKED = (
    "This text is a script of a contest in which you mark or organise, and it is not settled yet. It was not graded, "
    "because you could no longer mark it independently. Grade it once it is settled."
)


class OpenScripts:
    """The unsettled scripts of a coach's contests; none for None, as the terminal has full access."""

    def __init__(self, user: User | None) -> None:
        theirs = SubmissionVersion.objects.filter(submission__problem__contest__coaches__person=user)
        # A version that was replaced before marking is as open as its replacement.
        replaced = Q(case=None, submission__versions__case__state__in=SETTLED)
        self._versions = theirs.exclude(Q(case__state__in=SETTLED) | replaced)
        self._known: dict[str, bool] = {}
        self._has_user = user is not None

    @cached_property
    def _exist(self) -> bool:
        return self._has_user and self._versions.exists()

    def have(self, source: str) -> bool:
        """Whether a text shares at least half of its own steps, or at least half and two of a script's steps."""
        if not self._exist:
            return False
        if source not in self._known:
            self._known[source] = self._found(source)
        return self._known[source]

    def _found(self, source: str) -> bool:
        # A submission in LaTeX is split into steps differently.
        ways = {frozenset(step.digest for step in steps) for steps in (segment(source), latex_steps(source))}
        return any(self._shares(digests) for digests in ways)

    def _shares(self, digests: frozenset[str]) -> bool:
        rows = Step.objects.filter(version__in=self._versions.values("pk"), digest__in=digests)
        shared = rows.values("version").annotate(
            count=Count("digest", distinct=True), all=Count("version__steps__digest", distinct=True)
        )
        half = Q(count__gte=max(1, (len(digests) + 1) // 2))
        return shared.filter(half | Q(count__gte=2, all__lte=2 * F("count"))).exists()


def statements_held(user: User | None) -> QuerySet[ProblemVersion]:
    """The versions of problems whose solutions a user may not read; for None, those held back from anyone."""
    return ProblemVersion.objects.filter(problem__in=Problem.objects.filter(held_back(Text.SOLUTIONS, user)))


def script_require(script: GradedScript, held: Container[str], open_ones: OpenScripts) -> None:
    """Raise `PlanWrong` for held-back solutions or an unsettled script of a contest."""
    if script.problem is not None and script.problem.statement in held:
        raise PlanWrong(f"{script.name}: the solutions of {script.problem_name} are held back from the experiment's owner.")
    if open_ones.have(source_of(script.text)):
        raise PlanWrong(f"{script.name}: {TO_BE_MARKED[0].lower()}{TO_BE_MARKED[1:]}")


def pasted_require(user: User, stated: ProblemVersion, source: str) -> None:
    """Raise `PlanWrong` for held-back solutions or a pasted script that is unsettled in a contest of the user."""
    if _is_held(user, stated):
        raise PlanWrong("The solutions of this problem are held back from you for now, so its scripts cannot be graded.")
    if OpenScripts(user).have(source):
        raise PlanWrong(TO_BE_MARKED)


def _is_held(user: User | None, stated: ProblemVersion) -> bool:
    return statements_held(user).filter(statement=stated.statement).exists()
