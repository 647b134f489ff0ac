"""Collect the material for hints. `apps.reasoning.hints.material` decides which part each rung may use."""

import logging

from django.conf import settings

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.graders import GraderFailed, GraderStep, Question
from apps.marks.graders.computational import COMPUTATIONAL, ComputationalGrader
from apps.marks.models import ReleasePart, Suggestion, SuggestionState
from apps.marks.setups import schemes_usable, setup_of
from apps.marks.workspace.drafts import version_active
from apps.reasoning.feedback.ladder import Source, Track, sources_at
from apps.reasoning.hints.material import Fault, HintMaterial, Secret
from apps.reasoning.marking.schemes.scheme import Kind
from apps.reasoning.marking.sheets.pages import FIRST
from apps.reasoning.marking.sheets.sheet import MarkSheet, Role
from apps.reasoning.marking.suggestion import SuggestionBody
from apps.reasoning.texts.segmentation import segment
from apps.results.access import request_may_answer
from apps.results.models import FeedbackRequest, RungAsked
from apps.results.revisions import earlier_feedback
from apps.results.shown import parts_of, parts_released
from apps.results.words import FALLACIES
from apps.schemes.models import SchemeVersion, VersionStatus
from apps.submissions.models import Scan, SubmissionVersion

logger = logging.getLogger(__name__)
#: Most steps of a reference solution that a writer gets.
REFERENCE_AT_MOST = 30


def text_answered(asked: RungAsked) -> SubmissionVersion:
    """The version that a hint is about: the newest, if one was handed in as an answer to the last hint."""
    if asked.revision_id is None:
        return asked.request.version
    newest = asked.request.version.submission.versions.order_by("-number").first()
    return newest or asked.request.version


def text_shown(request: FeedbackRequest) -> SubmissionVersion:
    """The version shown to coaches with a request: the one the waiting hint is about, else the requested one."""
    waiting = request.asked.filter(given_at=None).first()
    return text_answered(waiting) if waiting is not None else request.version


def page_shown_with_hints(user: User, scan: Scan) -> bool:
    """Whether the page belongs to a text that this coach reads together with a request for hints."""
    requests = FeedbackRequest.objects.filter(version__submission=scan.submission_id)
    return any(scan.pages.filter(version=text_shown(one)).exists() for one in requests if request_may_answer(user, one))


def material_of(asked: RungAsked) -> HintMaterial:
    """All material for hints on a request. It contains nothing about the author."""
    version, request = text_answered(asked), asked.request
    problem = version.submission.problem
    is_checked = Source.LOCATIONS in sources_at(asked.level)
    return HintMaterial(
        problem=problem.version.statement,
        track=Track(request.track),
        steps=tuple(step.text for step in version.steps.select_related("version")),
        question=request.words,
        tried=asked.tried,
        argues=asked.argues,
        earlier=tuple(one.text for one in request.asked.exclude(given_at=None).order_by("level")),
        faults=(*_released(version), *(_refuted(version) if is_checked else ())),
        scheme=_scheme(asked),
        reference=_reference(asked),
    )


def secret_of(asked: RungAsked) -> Secret:
    """What a hint for this rung must not reveal: solutions, final answer and scheme, each until it is released."""
    submission = asked.request.version.submission
    problem = submission.problem
    released = parts_released(problem.contest)
    is_solved = ReleasePart.SOLUTION in released
    return Secret(
        solutions=() if is_solved else tuple(solution.text for solution in problem.problem.reference_solutions.all()),
        scheme=() if ReleasePart.SCHEME in released else _items(problem),
        answer="" if is_solved else problem.version.answer,
        known=(problem.version.statement, asked.request.words, asked.tried, *(one.source for one in submission.versions.all())),
    )


def _released(version: SubmissionVersion) -> tuple[Fault, ...]:
    """Verdicts on steps that students see: of this version, or of an older one if they still apply to this one."""
    grade = parts_of([version]).get(version.pk, {}).get(ReleasePart.VERDICTS)
    if grade is not None:
        verdicts = [(one.step, one) for one in MarkSheet.model_validate(grade.sheet).verdicts]
    else:
        earlier = earlier_feedback(version)
        steps = earlier.steps if earlier is not None else []
        verdicts = [(step.number, one.value) for step in steps for one in step.verdicts if step.number]
    return tuple(
        Fault(step=step, kind=FALLACIES[one.fallacy])
        for step, one in verdicts
        if step < FIRST and one.role is not Role.HARMLESS
    )


def _refuted(version: SubmissionVersion) -> tuple[Fault, ...]:
    """Formulas that are false at a point, found by computation; empty if that check is off or failed."""
    if COMPUTATIONAL not in settings.MARKING_GRADERS:
        return ()
    made = Suggestion.objects.filter(version=version, grader=COMPUTATIONAL, state=SuggestionState.DONE).first()
    try:
        body = SuggestionBody.model_validate(made.body) if made else ComputationalGrader().answer(_question(version))
    except GraderFailed as error:
        logger.info("no formula check for a hint: %s", error)
        return ()
    return tuple(Fault(step=one.step, kind=FALLACIES[one.fallacy], counterexample=one.words) for one in body.findings)


def _question(version: SubmissionVersion) -> Question:
    steps = tuple(GraderStep(step.number, step.start, step.end) for step in version.steps.all())
    return Question(version.digest, version.source, steps, version.submission.problem.version.statement)


def _scheme(asked: RungAsked) -> tuple[str, ...]:
    """The checkpoints of the active scheme in their wording for students; no notes, caps or points."""
    setup = setup_of(asked.request.version.submission.problem)
    version = version_active(setup) if setup is not None else None
    return tuple(item.text for item in version.content.of_kind(Kind.CHECKPOINT) if item.text) if version is not None else ()


def _items(problem: ContestProblem) -> tuple[str, ...]:
    """The text of every item in use at any time; of all usable schemes if none has been chosen yet."""
    setup = setup_of(problem)
    schemes = [setup.scheme] if setup is not None else schemes_usable(problem)
    marked_with = (VersionStatus.ACTIVE, VersionStatus.RETIRED)
    versions = SchemeVersion.objects.filter(scheme__in=[one for one in schemes if one], status__in=marked_with)
    return tuple(dict.fromkeys(item.text for version in versions for item in version.content.items if item.text))


def _reference(asked: RungAsked) -> tuple[str, ...]:
    """The steps of the first reference solution."""
    solution = asked.request.version.submission.problem.problem.reference_solutions.first()
    if solution is None:
        return ()
    return tuple(solution.text[step.start : step.end] for step in segment(solution.text)[:REFERENCE_AT_MOST])
