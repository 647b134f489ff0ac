"""Write operations of submissions. A draft never overwrites a newer one; a version never changes."""

from datetime import timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem, Paper
from apps.contests.record_keepers import event_publish
from apps.contests.services import ContestRefused
from apps.contests.windows import writing_refusal
from apps.reasoning.texts.latex_steps import segmenter_of, steps_of
from apps.reasoning.texts.segmentation import digest_of
from apps.reasoning.texts.source import source_of
from apps.submissions.models import (
    FILENAME_LENGTH,
    TEXT_LENGTH,
    ForeignJudgement,
    ImportFile,
    Origin,
    Step,
    Submission,
    SubmissionVersion,
    TextFormat,
    VersionScan,
)

VERSIONS_AT_MOST = 100
KEPT_FOR = timedelta(days=1)


class DraftChanged(Exception):
    """The draft was changed in another window; `submission` is its stored state."""

    def __init__(self, submission: Submission) -> None:
        super().__init__("The draft was changed in another window.")
        self.submission = submission


def submission_of(paper: Paper, problem: ContestProblem) -> Submission:
    """The submission of a paper to a problem, unsaved if none is stored."""
    found = Submission.objects.filter(paper=paper, problem=problem).first()
    return found or Submission(paper=paper, problem=problem)


def draft_save(*, paper: Paper, problem: ContestProblem, text: str, text_format: str, based_on: int) -> Submission:
    """Save a draft of this paper as `draft_store` does."""
    submission = submission_of(paper, problem)
    return draft_store(submission=submission, text=text, text_format=text_format, based_on=based_on)


def draft_store(*, submission: Submission, text: str, text_format: str, based_on: int) -> Submission:
    """Save a draft if it is still at revision `based_on`. `submission` may be unsaved.

    Needs no transaction: the update changes nothing if the revision is another one by then. Raises `ContestRefused` outside the
    time window or for a text that is too long, and `DraftChanged`.
    """
    paper, problem = submission.paper, submission.problem
    _may_write(problem, text, text_format)
    if submission._state.adding:
        submission, _ = Submission.objects.get_or_create(paper=paper, problem=problem)
    if submission.draft == text and submission.draft_format == text_format:
        return submission
    values = {"draft": text, "draft_format": text_format, "draft_saved_at": timezone.now(), "row_version": based_on + 1}
    if not Submission.objects.filter(pk=submission.pk, row_version=based_on).update(**values):
        raise DraftChanged(Submission.objects.get(pk=submission.pk))
    for name, value in values.items():
        setattr(submission, name, value)
    return submission


@transaction.atomic
def version_hand_in(*, paper: Paper, problem: ContestProblem, text: str, text_format: str, based_on: int) -> SubmissionVersion:
    """Hand in a text as the newest version; an unchanged text and pages return the existing version.

    Concurrent calls are serialised. Raises `ContestRefused`, `DraftChanged`.
    """
    _may_write(problem, text, text_format)
    Submission.objects.get_or_create(paper=paper, problem=problem)
    Submission.objects.select_for_update().get(paper=paper, problem=problem)
    submission = draft_save(paper=paper, problem=problem, text=text, text_format=text_format, based_on=based_on)
    scans = list(submission.scans.exclude(position=None).defer("jpeg"))
    if not text.strip() and not scans:
        raise ContestRefused("There is nothing to hand in yet. Write a text or upload pages first.")
    newest = submission.versions.order_by("-number").first()
    pages = [page.scan_id for page in newest.pages.all()] if newest and newest.withdrawn_at is None else None
    if newest and (newest.raw, newest.format, pages) == (text, text_format, [scan.pk for scan in scans]):
        return newest
    if newest and newest.number >= VERSIONS_AT_MOST:
        raise ContestRefused(f"Not handed in: you have reached the limit of {VERSIONS_AT_MOST} versions.")
    version = version_add(submission=submission, text=text, text_format=text_format, origin=Origin.TYPED)
    VersionScan.objects.bulk_create(
        VersionScan(version=version, scan=scan, number=number) for number, scan in enumerate(scans, 1)
    )
    return version


@transaction.atomic
def version_withdraw(*, version: SubmissionVersion) -> None:
    """Withdraw the newest version; its text is kept. Raises `ContestRefused` outside the time window and for older versions."""
    if refusal := writing_refusal(version.submission.problem):
        raise ContestRefused(refusal)
    if version.submission.versions.filter(number__gt=version.number).exists():
        raise ContestRefused("Not withdrawn: there is a newer version. Only the newest can be withdrawn.")
    if version.withdrawn_at is None:
        SubmissionVersion.objects.filter(pk=version.pk).update(withdrawn_at=timezone.now())
        paper, problem = version.submission.paper, version.submission.problem
        event_publish(paper.contest, "contest.withdrawn", None, problem=str(problem.public_id), number=paper.number)


@transaction.atomic
def version_add(*, submission: Submission, text: str, text_format: str, origin: Origin) -> SubmissionVersion:
    """Create a version with its steps. The caller has checked the permission."""
    newest = submission.versions.order_by("-number").first()
    source = source_of(text)
    version = SubmissionVersion.objects.create(
        submission=submission,
        number=newest.number + 1 if newest else 1,
        format=text_format,
        origin=origin,
        raw=text,
        source=source,
        digest=digest_of(source),
        segmenter=segmenter_of(text_format),
    )
    Step.objects.bulk_create(
        Step(version=version, number=step.number, start=step.start, end=step.end, kind=step.kind, digest=step.digest)
        for step in steps_of(source, text_format)
    )
    return version


def judgement_keep(*, version: SubmissionVersion, points: Decimal, out_of: Decimal, words: str) -> ForeignJudgement:
    """Store an external judgement of a text, hidden from markers."""
    return ForeignJudgement.objects.create(version=version, points=points, out_of=out_of, words=words)


@transaction.atomic
def import_file_keep(*, contest: Contest, user: User, filename: str, data: bytes, adds_problems: bool) -> ImportFile:
    """Store an upload until its confirmation. Deletes the owner's earlier upload and expired ones."""
    ImportFile.objects.filter(Q(owner=user) | Q(created_at__lt=timezone.now() - KEPT_FOR)).delete()
    return ImportFile.objects.create(
        contest=contest, owner=user, filename=filename[:FILENAME_LENGTH], data=data, adds_problems=adds_problems
    )


def _may_write(problem: ContestProblem, text: str, text_format: str) -> None:
    if refusal := writing_refusal(problem):
        raise ContestRefused(refusal)
    if len(text) > TEXT_LENGTH:
        raise ContestRefused(f"Not saved: the text has {len(text):,} characters; the limit is {TEXT_LENGTH:,}. Shorten it.")
    if text_format not in TextFormat.values:
        raise ContestRefused("Not saved: unknown text format. Choose text with formulas or LaTeX.")
