"""A jury's suggestion is compared by its proposed points, the lowest of its judges."""

from decimal import Decimal

import pytest

from apps.accounts.models import User
from apps.agreement.sources.judgements import Given, answer_given, answers_by_case
from apps.marks.models import MarkingCase, Suggestion
from apps.marks.suggestions.answering import FAMILIES, suggestions_work
from apps.reasoning.marking.suggestion import SuggestionBody
from tests.graders.grade import finding, grading
from tests.grading import suggesting as played
from tests.grading.suggesting import Model, sealed_with

pytestmark = pytest.mark.django_db
model = played.model
JURY = "workflow:jury@served"


def test_a_jury_is_compared_by_its_proposed_points_and_not_by_the_mean(bob: User, model: Model) -> None:
    model.answers |= {"judge_a/*": grading(7), "judge_b/*": grading(7), "judge_c/*": grading(0, finding())}
    mark = sealed_with(bob, JURY)
    suggestions_work(FAMILIES)
    row = Suggestion.objects.get()
    body = SuggestionBody.model_validate(row.body)
    assert body.expected == 0
    assert [one.points for one in body.distribution] == [0, 7]
    cases, given = MarkingCase.objects.filter(pk=mark.task.case_id), Given(Decimal(7), scale=Decimal(14))
    assert answer_given(answers_by_case(cases, JURY)[mark.task.case_id], given).points == 0
    older = {name: value for name, value in row.body.items() if name != "proposed"}
    Suggestion.objects.update(body=older)
    mean = answer_given(answers_by_case(cases, JURY)[mark.task.case_id], given).points
    assert mean == pytest.approx(Decimal(28) / 3), (
        "older suggestions without proposed points have the mean of their distribution"
    )
