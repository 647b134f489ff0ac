"""Store many imported texts at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max

from apps.contests.models import ContestProblem, Paper
from apps.reasoning.texts import segmentation
from apps.reasoning.texts.latex_steps import segmenter_of, steps_of
from apps.reasoning.texts.segmentation import digest_of
from apps.reasoning.texts.source import source_of
from apps.submissions.models import Origin, Step, Submission, SubmissionVersion, TextFormat

_BATCH = 200
#: Keys of a paper and of a problem of its contest.
Place = tuple[int, int]


@dataclass(frozen=True)
class PreparedText:
    """A text with its source and its steps. Preparing many takes seconds, so that it is done before a transaction."""

    raw: str
    source: str
    steps: tuple[segmentation.Step, ...]


def text_prepare(text: str) -> PreparedText:
    """Normalise a text and cut it into steps."""
    source = source_of(text)
    return PreparedText(text, source, steps_of(source, TextFormat.MARKDOWN))


def text_digest(text: str) -> str:
    """The digest that a version of this text has."""
    return digest_of(source_of(text))


def text_digests(contest_id: int) -> dict[Place, str]:
    """The digest of the newest version of each text of a contest; a withdrawn one counts as none."""
    rows = SubmissionVersion.objects.filter(submission__paper__contest=contest_id).order_by("number")
    values = rows.values_list("submission__paper", "submission__problem", "digest", "withdrawn_at")
    newest = {(paper, problem): "" if withdrawn else digest for paper, problem, digest, withdrawn in values.iterator()}
    return {place: digest for place, digest in newest.items() if digest}


@transaction.atomic
def texts_add(*, texts: Sequence[tuple[Paper, ContestProblem, PreparedText]]) -> list[SubmissionVersion]:
    """Add a version with its steps for each text, in the same order, at most one for a paper and a problem."""
    papers = [paper for paper, _, _ in texts]
    known: dict[Place, Submission] = {}
    for first in range(0, len(papers), _BATCH):
        rows = Submission.objects.filter(paper__in=papers[first : first + _BATCH])
        known |= {(row.paper_id, row.problem_id): row for row in rows.annotate(newest=Max("versions__number"))}
    missing = [Submission(paper=paper, problem=row) for paper, row, _ in texts if (paper.pk, row.pk) not in known]
    for row in Submission.objects.bulk_create(missing, batch_size=_BATCH):
        known[row.paper_id, row.problem_id] = row
    versions = []
    for paper, problem, text in texts:
        submission = known[paper.pk, problem.pk]
        versions.append(
            SubmissionVersion(
                submission=submission,
                number=(getattr(submission, "newest", None) or 0) + 1,
                format=TextFormat.MARKDOWN,
                origin=Origin.IMPORTED,
                raw=text.raw,
                source=text.source,
                digest=digest_of(text.source),
                segmenter=segmenter_of(TextFormat.MARKDOWN),
            )
        )
    SubmissionVersion.objects.bulk_create(versions, batch_size=_BATCH)
    Step.objects.bulk_create(
        (
            Step(version=version, number=step.number, start=step.start, end=step.end, kind=step.kind, digest=step.digest)
            for version, (_, _, text) in zip(versions, texts, strict=True)
            for step in text.steps
        ),
        batch_size=_BATCH,
    )
    return versions
