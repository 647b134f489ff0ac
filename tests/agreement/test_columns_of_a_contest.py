"""Pitfalls in comparing columns of a contest: imported points with themselves, graders with different views."""

import pytest

from apps.accounts.models import User
from apps.agreement.sources.contests import ContestSource
from apps.agreement.sources.sources import Chosen
from apps.contests.models import ContestProblem
from apps.marks.models import Suggestion
from apps.submissions.models import ForeignJudgement
from tests.agreement import test_the_page_of_a_contest as contest
from tests.agreement.factory import GRADER
from tests.agreement.test_the_page_of_a_contest import ClientFor, case, page

problem = contest.problem
pytestmark = pytest.mark.django_db


def test_imported_points_are_not_compared_with_themselves(bob: User, problem: ContestProblem) -> None:
    for row in problem.cases.select_related("version"):
        ForeignJudgement.objects.create(version=row.version, points=3, out_of=7)
    source = ContestSource(bob, problem.contest)
    assert "imported" in source.gather(Chosen(human="first")).graders
    assert list(source.gather(Chosen(human="imported")).graders) == [GRADER]


def test_a_grader_whose_view_changed_is_listed_with_both_views(
    bob: User, problem: ContestProblem, client_for: ClientFor
) -> None:
    Suggestion.objects.update(grader="workflow:single_turn@small")
    row = Suggestion.objects.get(version=case(problem).version)
    Suggestion.objects.filter(pk=row.pk).update(body=row.body | {"view": ["problem"]})
    text = page(client_for(bob), problem)
    assert "These graders had different views" in text
    assert "as recorded before views: the problem and the guidelines for markers" in text
