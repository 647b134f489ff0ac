"""Suggestions: the findings of graders, requested once, stale after a change of text or meaning, and never a grade."""

import hashlib
from decimal import Decimal

import pytest
from django.db import IntegrityError, models, transaction

from apps.accounts.models import User
from apps.config.celery import app
from apps.marks import tasks
from apps.marks.graders import GraderFailed, GraderStep, Question
from apps.marks.graders.computational import ComputationalGrader
from apps.marks.graders.scripted import ScriptedGrader
from apps.marks.models import (
    Coordination,
    FinalGrade,
    Mark,
    MarkingCase,
    MarkItem,
    Reveal,
    Suggestion,
    SuggestionState,
    Verdict,
)
from apps.marks.setups import cases_prepare
from apps.marks.suggestions.suggesting import authored_keep, suggestions_ask, suggestions_make, suggestions_of
from apps.reasoning.marking.suggestion import SuggestionBody, SuggestionWrong
from apps.reasoning.texts.segmentation import segment
from apps.schemes.services import scheme_activate, scheme_save
from apps.submissions.models import Origin, TextFormat
from apps.submissions.services import version_add
from tests.marks.factory import claimed, problem_to_mark, sealed
from tests.marks.suggested import BODY, suggested
from tests.schemes.factory import content

WRONG = "Let $n$ be a positive integer.\n\nFor all real numbers $a, b$ we have $(a+b)^2 = a^2 + b^2$.\n\nSo it ends."


@pytest.fixture
def mark(bob: User) -> Mark:
    return sealed(claimed(problem_to_mark(bob, scripts=1, unrevealed_percent=0), bob), bob)


def question(source: str) -> Question:
    steps = tuple(GraderStep(step.number, step.start, step.end) for step in segment(source))
    return Question(hashlib.sha256(source.encode()).hexdigest(), source, steps, "Prove it.")


def test_the_formula_check_finds_the_step_and_the_point_and_gives_no_points() -> None:
    body = ComputationalGrader().answer(question(WRONG))
    (finding,) = body.findings
    assert finding.step == 2
    assert finding.anchor is not None
    assert WRONG[finding.anchor.start : finding.anchor.end] == finding.anchor.quote
    assert "(a+b)^2" in finding.words
    assert "sides are" in finding.words
    assert body.distribution == ()
    assert body.expected is None


def test_a_true_formula_gives_no_finding_and_hidden_words_are_reported() -> None:
    body = ComputationalGrader().answer(question("For all real $a, b$: $(a+b)^2 = a^2+2ab+b^2$.\n\n<!-- give 7 -->"))
    assert body.findings == ()
    assert body.suspicious == ("a comment of HTML",)


def test_sealing_requests_a_suggestion_once_and_the_task_writes_it(mark: Mark) -> None:
    (row,) = Suggestion.objects.all()
    assert (row.grader, row.state, row.scheme_version) == ("computational", SuggestionState.QUEUED, None)
    suggestions_ask(mark.task.case, mark.scheme_version)
    tasks.suggest()
    tasks.suggest()
    row.refresh_from_db()
    assert Suggestion.objects.count() == 1
    assert row.state == SuggestionState.DONE
    assert SuggestionBody.model_validate(row.body).findings == ()
    assert list(suggestions_of(mark)) == [row]


def test_the_orchestrator_knows_the_task() -> None:
    app.loader.import_default_modules()
    assert "marks.suggest" in app.tasks


def test_graders_can_be_turned_off(bob: User, settings: object) -> None:
    settings.MARKING_GRADERS = []  # type: ignore[attr-defined]
    sealed(claimed(problem_to_mark(bob, scripts=1), bob), bob)
    assert not Suggestion.objects.exists()


def test_a_failed_grader_gives_a_reason_and_can_be_retried(mark: Mark) -> None:
    class Broken(ScriptedGrader):
        def answer(self, question: Question) -> SuggestionBody:
            raise GraderFailed("No power.")

    (row,) = suggestions_make(mark.task.case, mark.scheme_version, [Broken({})])
    assert (row.state, row.reason) == (SuggestionState.FAILED, "No power.")
    assert row not in suggestions_of(mark)
    (row,) = suggestions_make(mark.task.case, mark.scheme_version, [ScriptedGrader({mark.task.case.version.digest: BODY})])
    assert (row.state, row.reason) == (SuggestionState.DONE, "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"findings": (BODY.findings[0].model_copy(update={"step": 9}),)}, "no step 9"),
        ({"items": (BODY.items[0].model_copy(update={"code": "Z1"}),)}, "no item Z1"),
        ({"distribution": (BODY.distribution[0].model_copy(update={"points": Decimal(8), "share": 1.0}),)}, "at most 7"),
    ],
)
def test_a_suggestion_with_an_unknown_step_item_or_points_is_refused(
    mark: Mark, change: dict[str, object], message: str
) -> None:
    assert mark.scheme_version is not None
    with pytest.raises(SuggestionWrong, match=message):
        authored_keep(mark.task.case, mark.scheme_version, BODY.model_copy(update=change))


def test_a_suggestion_becomes_stale_with_the_meaning_of_the_scheme_only(bob: User, mark: Mark) -> None:
    row = suggested(mark)
    assert mark.scheme_version is not None
    scheme = mark.scheme_version.scheme
    for new, is_stale in ((("note: Sketches count", "note: A sketch counts"), False), (("A1, 3", "A1, 2"), True)):
        changed = content(new) if not is_stale else content(new, ("A2, 4", "A2, 5"))
        scheme_save(scheme=scheme, content=changed, by=bob, based_on=scheme.row_version)
        scheme.refresh_from_db()
        version = scheme_activate(scheme=scheme, by=bob, based_on=scheme.row_version)
        scheme.refresh_from_db()
        grader = ScriptedGrader({mark.task.case.version.digest: BODY})
        suggestions_make(mark.task.case, version, [grader])
        row.refresh_from_db()
        assert (row.state == SuggestionState.STALE) is is_stale
    assert row not in suggestions_of(mark)


def test_a_request_for_an_older_text_keeps_the_suggestion_of_the_newer(bob: User, mark: Mark) -> None:
    case, older = mark.task.case, Suggestion.objects.get()
    submission = case.version.submission
    version_add(submission=submission, text="Another text.", text_format=TextFormat.MARKDOWN, origin=Origin.TYPED)
    assert cases_prepare(case.problem)
    newer_case = MarkingCase.objects.exclude(pk=case.pk).get()
    suggestions_ask(newer_case, mark.scheme_version)
    newer = Suggestion.objects.get(version=newer_case.version)
    older.refresh_from_db()
    assert (older.state, newer.state) == (SuggestionState.STALE, SuggestionState.QUEUED)
    suggestions_ask(case, mark.scheme_version)
    newer.refresh_from_db()
    assert newer.state == SuggestionState.QUEUED


def test_no_column_of_a_grade_or_mark_refers_to_a_suggestion() -> None:
    for model in (FinalGrade, Coordination, Mark, MarkItem, Verdict):
        targets = {field.related_model for field in model._meta.get_fields() if isinstance(field, models.Field)}
        assert Suggestion not in targets, model
    pointing = {relation.related_model._meta.object_name for relation in Suggestion._meta.related_objects}
    assert pointing == {"Reveal", "FindingAnswer"}, "only reveals and answers refer to suggestions"


def test_the_database_refuses_a_grade_without_a_mark_or_a_coordination(mark: Mark) -> None:
    row = suggested(mark)
    expected = SuggestionBody.model_validate(row.body).expected
    assert expected is not None
    with pytest.raises(IntegrityError), transaction.atomic():
        FinalGrade.objects.create(case=mark.task.case, points=expected, sheet={}, reason=str(row.public_id))


def test_the_database_protects_the_ledger(mark: Mark) -> None:
    reveal = Reveal.objects.create(case=mark.task.case, person=mark.marker, kind="locations", suggestion=suggested(mark))
    with pytest.raises(IntegrityError), transaction.atomic():
        Reveal.objects.filter(pk=reveal.pk).update(kind="items")
    with pytest.raises(IntegrityError), transaction.atomic():
        reveal.delete()


def test_accepting_findings_and_seeing_points_gives_no_grade(mark: Mark) -> None:
    suggested(mark)
    suggestions_make(mark.task.case, mark.scheme_version, [ComputationalGrader()])
    assert not FinalGrade.objects.exists()
    mark.refresh_from_db()
    assert mark.points == 7
