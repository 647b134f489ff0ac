"""Data of a problem, in addition to its statement, that a scaffold may use."""

from apps.accounts.models import User
from apps.problems.holding import Text, held_back
from apps.problems.models import Problem
from apps.reasoning.graders.material import REFERENCES_AT_MOST
from apps.reasoning.scaffolds.given import NOTHING_GIVEN, Given
from apps.schemes.models import SchemeVersion, VersionStatus


def given_of(problem: Problem, user: User | None) -> Given:
    """The library's solutions and the only active scheme; empty if these are held back from `user`."""
    if Problem.objects.filter(held_back(Text.SOLUTIONS, user), pk=problem.pk).exists():
        return NOTHING_GIVEN
    schemes = SchemeVersion.objects.filter(scheme__problem=problem, status=VersionStatus.ACTIVE)[:2]
    texts = (one.text for one in problem.reference_solutions.all())
    return Given(
        references=tuple(text for text in texts if text.strip())[:REFERENCES_AT_MOST],
        scheme=schemes[0].content if len(schemes) == 1 else None,
    )
