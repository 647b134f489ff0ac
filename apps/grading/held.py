"""Problems whose solutions are held back from who lets scripts be graded.

What a grader is given of a problem (references, words to markers, scheme, prepared pieces) stands in its run, which its owner
may read. Pieces are known by the statement, so that a copy of the problem would show them as well.

A script that was pasted, or put into a set, may be one that is still to be marked: what a grader says of it is then for nobody
of its contest.
"""

from collections.abc import Container
from functools import cached_property

from django.db.models import Count, F, Q, QuerySet

from apps.accounts.models import User
from apps.grading.experiment_access import SETTLED
from apps.grading.models import GradedScript
from apps.grading.plans import PlanWrong
from apps.problems.holding import Text, held_back
from apps.problems.models import Problem, ProblemVersion
from apps.reasoning.texts.latex_steps import latex_steps
from apps.reasoning.texts.segmentation import segment
from apps.reasoning.texts.source import source_of
from apps.submissions.models import Step, SubmissionVersion

TO_BE_MARKED = (
    "This text is a script of a contest in which you mark or organise, and it is not settled yet. Whoever knew what a grader "
    "says of it could not mark it on their own."
)


class OpenScripts:
    """The scripts of contests of a coach that are not settled yet; of nobody, none: the terminal knows all."""

    def __init__(self, user: User | None) -> None:
        theirs = SubmissionVersion.objects.filter(submission__problem__contest__coaches__person=user)
        # A text that was replaced before anybody marked it is as open as the one that is marked in its place.
        replaced = Q(case=None, submission__versions__case__state__in=SETTLED)
        self._versions = theirs.exclude(Q(case__state__in=SETTLED) | replaced)
        self._known: dict[str, bool] = {}
        self._is_anybody = user is not None

    @cached_property
    def _are_some(self) -> bool:
        return self._is_anybody and self._versions.exists()

    def have(self, source: str) -> bool:
        """Whether half of its steps or more are those of one, or it holds half of the steps of one, two at least."""
        if not self._are_some:
            return False
        if source not in self._known:
            self._known[source] = self._found(source)
        return self._known[source]

    def _found(self, source: str) -> bool:
        # A text may have been handed in as LaTeX, whose steps are others.
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
    """The versions of problems whose solutions the person may not read; of nobody: that are held back from anybody."""
    return ProblemVersion.objects.filter(problem__in=Problem.objects.filter(held_back(Text.SOLUTIONS, user)))


def script_require(script: GradedScript, held: Container[str], open_ones: OpenScripts) -> None:
    """Raises `PlanWrong` where the solutions of a script's problem are held back, or it is a script of an open contest."""
    if script.problem is not None and script.problem.statement in held:
        raise PlanWrong(f"{script.name}: the solutions of {script.problem_name} are held back from who started this.")
    if open_ones.have(source_of(script.text)):
        raise PlanWrong(f"{script.name}: {TO_BE_MARKED[0].lower()}{TO_BE_MARKED[1:]}")


def pasted_require(user: User, stated: ProblemVersion, source: str) -> None:
    """The same for a script that was pasted; nor may it be one of a contest of this coach that is not settled yet."""
    if _is_held(user, stated):
        raise PlanWrong("The solutions of this problem are held back from you for now.")
    if OpenScripts(user).have(source):
        raise PlanWrong(TO_BE_MARKED)


def _is_held(user: User | None, stated: ProblemVersion) -> bool:
    return statements_held(user).filter(statement=stated.statement).exists()
